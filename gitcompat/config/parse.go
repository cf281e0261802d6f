package config

import (
	"fmt"
	"math"
	"strings"
)

// A tokenKind says what a stretch of a file is.
type tokenKind uint8

const (
	tokNone tokenKind = iota
	tokWhitespace
	tokComment
	tokSection
	tokEntry
	tokEOF
)

// A token is a stretch of a file, for the writer. It ends where the next begins.
type token struct {
	kind       tokenKind
	begin, end int
	stem       string // of a section: its canonical name with a dot at the end
	legacy     bool   // of a section: written as [a.b], so that case does not matter
	entry      int    // of an entry: its number
}

// parser reads one file, in one pass.
type parser struct {
	s       string
	pos     int
	line    int
	eof     bool
	stem    string
	legacy  bool
	entries []Entry
	origin  *Origin
	tokens  *[]token // only the writer asks for them
}

// parse reads the entries of s. tokens may be nil. The entries that stand
// before an error are returned with it.
func parse(s string, origin *Origin, tokens *[]token) ([]Entry, error) {
	p := parser{s: s, line: 1, origin: origin, tokens: tokens}
	if len(s) > math.MaxInt32 || !p.run() {
		return p.entries, &Error{Msg: fmt.Sprintf("bad config line %d%s", p.line, origin.inLine())}
	}
	return p.entries, nil
}

func (o *Origin) inLine() string {
	if o.Kind == OriginCommandLine {
		return " in command line " + o.Name
	}
	return o.in()
}

// next returns the next character: CRLF is a newline, and so is the end of the file.
func (p *parser) next() byte {
	if p.pos >= len(p.s) {
		p.eof = true
		p.line++
		return '\n'
	}
	c := p.s[p.pos]
	p.pos++
	if c == '\r' && p.pos < len(p.s) && p.s[p.pos] == '\n' {
		p.pos++
		c = '\n'
	}
	if c == '\n' {
		p.line++
	}
	return c
}

// mark begins a token at the character just read.
func (p *parser) mark(kind tokenKind) {
	if p.tokens == nil {
		return
	}
	list := *p.tokens
	off := p.pos
	if kind != tokEOF {
		off--
	}
	if n := len(list); n > 0 {
		if kind == tokWhitespace && list[n-1].kind == kind {
			return
		}
		list[n-1].end = off
	}
	*p.tokens = append(list, token{kind: kind, begin: off, end: len(p.s)})
}

const utf8BOM = "\xef\xbb\xbf"

func (p *parser) run() bool {
	if p.s != "" && p.s[0] == utf8BOM[0] {
		if !strings.HasPrefix(p.s, utf8BOM) {
			return false
		}
		p.pos = len(utf8BOM)
	}
	for {
		c := p.next()
		switch {
		case c == '\n' && p.eof:
			p.mark(tokEOF)
			return true
		case isSpace(c):
			p.mark(tokWhitespace)
		case c == '#' || c == ';':
			p.mark(tokComment)
			p.skipLine()
		case c == '[':
			p.mark(tokSection)
			ok := p.section()
			if p.tokens != nil {
				t := &(*p.tokens)[len(*p.tokens)-1]
				t.stem, t.legacy = p.stem, p.legacy
			}
			if !ok {
				return false
			}
		case isAlpha(c):
			p.mark(tokEntry)
			if !p.entry() {
				return false
			}
		default:
			return false
		}
	}
}

// skipLine stops before the newline, which is whitespace of its own.
func (p *parser) skipLine() {
	if i := strings.IndexByte(p.s[p.pos:], '\n'); i >= 0 {
		p.pos += i
		if p.s[p.pos-1] == '\r' {
			p.pos--
		}
	} else {
		p.pos = len(p.s)
	}
}

// section reads a header after its "[". Where it fails, stem is what there was
// of a name.
func (p *parser) section() bool {
	start := p.pos
	for p.pos < len(p.s) && (isKeyChar(p.s[p.pos]) || p.s[p.pos] == '.') {
		p.pos++
	}
	p.stem, p.legacy = strings.ToLower(p.s[start:p.pos]), true
	switch c := p.next(); {
	case p.eof:
		return false
	case c == ']':
		if p.stem == "" {
			return false
		}
		p.stem += "."
		return true
	case isSpace(c):
		p.legacy = false
		return p.subsection(p.stem, c)
	}
	return false
}

// subsection reads the quoted rest of a header after the blank c.
func (p *parser) subsection(name string, c byte) bool {
	for {
		if c == '\n' {
			p.line--
			return false
		}
		if c = p.next(); !isSpace(c) {
			break
		}
	}
	if c != '"' {
		return false
	}
	b := append(make([]byte, 0, len(name)+32), name...)
	b = append(b, '.')
	for {
		c := p.next()
		if c == '"' {
			break
		}
		if c == '\\' {
			c = p.next()
		}
		if c == '\n' {
			p.line--
			p.stem = string(b)
			return false
		}
		b = append(b, c)
	}
	p.stem = string(append(b, '.'))
	return p.next() == ']'
}

// entry reads a variable whose first letter was just read.
func (p *parser) entry() bool {
	start := p.pos - 1
	for p.pos < len(p.s) && isKeyChar(p.s[p.pos]) {
		p.pos++
	}
	name := p.s[start:p.pos]
	c := p.next()
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	e := Entry{Origin: p.origin}
	if c != '\n' {
		if c != '=' {
			return false
		}
		var ok bool
		if e.Value, ok = p.value(); !ok {
			return false
		}
		e.HasValue = true
	}
	e.Line = p.line - 1
	e.Key = p.stem + strings.ToLower(name)
	// git keeps both as C strings.
	if i := strings.IndexByte(e.Key, 0); i >= 0 {
		e.Key = e.Key[:i]
	}
	if i := strings.IndexByte(e.Value, 0); i >= 0 {
		e.Value = e.Value[:i]
	}
	if p.tokens != nil {
		(*p.tokens)[len(*p.tokens)-1].entry = len(p.entries)
	}
	p.entries = append(p.entries, e)
	return true
}

// value reads a value after its "=", to the end of the line.
func (p *parser) value() (string, bool) {
	rest := p.s[p.pos:]
	i := strings.IndexAny(rest, "\n\r;#\"\\")
	if i < 0 {
		p.pos = len(p.s)
		p.next()
		return trimBlanks(rest), true
	}
	switch rest[i] {
	case '\n':
		p.pos += i
		p.next()
		return trimBlanks(rest[:i]), true
	case ';', '#':
		p.pos += i
		p.skipLine()
		p.next()
		return trimBlanks(rest[:i]), true
	}
	return p.slowValue()
}

func trimBlanks(s string) string {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// slowValue reads a value with quotes, escapes or carriage returns.
func (p *parser) slowValue() (string, bool) {
	var b []byte
	quoted := false
	trim := 0 // where the blanks at the end begin; 0 for none
	for {
		c := p.next()
		if c == '\n' {
			if quoted {
				p.line--
				return "", false
			}
			if trim > 0 {
				b = b[:trim]
			}
			return string(b), true
		}
		if isSpace(c) && !quoted {
			if trim == 0 {
				trim = len(b)
			}
			if len(b) > 0 {
				b = append(b, c)
			}
			continue
		}
		if !quoted && (c == ';' || c == '#') {
			p.skipLine()
			continue
		}
		trim = 0
		switch c {
		case '\\':
			switch c = p.next(); c {
			case '\n':
				if p.eof {
					// git reads on and meets the end of the file again.
					p.line--
				}
				continue
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case '\\', '"':
			default:
				return "", false
			}
			b = append(b, c)
		case '"':
			quoted = !quoted
		default:
			b = append(b, c)
		}
	}
}
