package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A refFormat is a format such as "%(objectname) %(refname:short)".
type refFormat struct {
	l     *refList
	parts []formatPart
	quote quoting
}

// A formatPart is literal text, or an atom.
type formatPart struct {
	literal string
	atom    *refAtom
}

// quoting is how values are quoted, for a program that evaluates the output.
type quoting uint8

const (
	quoteShell quoting = 1 << iota
	quotePerl
	quotePython
	quoteTcl
)

var errMalformedFormat = errors.New("malformed format string")

// parseFormat reads a format. An error that wraps errMalformedFormat is one of
// the command line; others are reasons to die.
func (l *refList) parseFormat(text string, quote quoting) (*refFormat, error) {
	f := &refFormat{l: l, quote: quote}
	for text != "" {
		at := nextAtom(text)
		if at < 0 {
			break
		}
		end := strings.IndexByte(text[at:], ')')
		if end < 0 {
			return nil, fmt.Errorf("%w %s", errMalformedFormat, text[at:])
		}
		name := text[at+2 : at+end]
		a, err := l.atom(name)
		if err != nil {
			return nil, err
		}
		if a.base == "rest" {
			return nil, fmt.Errorf("this command reject atom %%(%s)", name)
		}
		if a.base == "raw" && a.arg == "" && quote&(quoteShell|quotePython|quoteTcl) != 0 {
			return nil, fmt.Errorf("--format=%s cannot be used with --python, --shell, --tcl", name)
		}
		if at > 0 {
			f.parts = append(f.parts, formatPart{literal: literalText(text[:at])})
		}
		f.parts = append(f.parts, formatPart{atom: a})
		text = text[at+end+1:]
	}
	if text != "" {
		f.parts = append(f.parts, formatPart{literal: literalText(text)})
	}
	return f, nil
}

// nextAtom returns where the next "%(" is, -1 if there is none.
func nextAtom(text string) int {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '%' {
			switch text[i+1] {
			case '(':
				return i
			case '%':
				i++
			}
		}
	}
	return -1
}

// literalText resolves %% and %xx.
func literalText(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+1 < len(text) {
			if text[i+1] == '%' {
				i++
			} else if i+2 < len(text) && hexDigit(text[i+1]) >= 0 && hexDigit(text[i+2]) >= 0 {
				b = append(b, byte(hexDigit(text[i+1])<<4|hexDigit(text[i+2])))
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return string(b)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// A frame is the output of one nesting level of %(align) and %(if).
type frame struct {
	out  []byte
	kind frameKind
	atom *refAtom // that opened it
	cond *condition
}

type frameKind uint8

const (
	plainFrame frameKind = iota
	alignFrame
	ifFrame
	elseFrame
)

type condition struct{ then, otherwise, holds bool }

// render returns what the format makes of a ref.
func (f *refFormat) render(r *refItem) ([]byte, error) {
	stack := []*frame{{}}
	for _, p := range f.parts {
		top := stack[len(stack)-1]
		if p.atom == nil {
			top.out = append(top.out, p.literal...)
			continue
		}
		var err error
		switch p.atom.base {
		case "align":
			stack = append(stack, &frame{kind: alignFrame, atom: p.atom})
		case "if":
			stack = append(stack, &frame{kind: ifFrame, atom: p.atom, cond: new(condition)})
		case "then":
			err = top.then()
		case "else":
			if err = top.orElse(); err == nil {
				stack = append(stack, &frame{kind: elseFrame, atom: top.atom, cond: top.cond})
			}
		case "end":
			stack, err = f.endFrame(stack)
		default:
			var v atomValue
			if v, err = f.l.value(r, p.atom); err == nil {
				if len(stack) == 1 {
					top.out = f.quote.appendTo(top.out, v.text)
				} else {
					top.out = append(top.out, v.text...)
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if len(stack) > 1 {
		return nil, errors.New("format: %(end) atom missing")
	}
	return stack[0].out, nil
}

func (t *frame) then() error {
	switch {
	case t.kind != ifFrame && t.kind != elseFrame:
		return errors.New("format: %(then) atom used without a %(if) atom")
	case t.cond.then:
		return errors.New("format: %(then) atom used more than once")
	case t.cond.otherwise:
		return errors.New("format: %(then) atom used after %(else)")
	}
	t.cond.then = true
	if want, ok := strings.CutPrefix(t.atom.arg, "equals="); ok {
		t.cond.holds = string(t.out) == want
	} else if want, ok := strings.CutPrefix(t.atom.arg, "notequals="); ok {
		t.cond.holds = string(t.out) != want
	} else {
		t.cond.holds = len(bytes.TrimLeft(t.out, " \t\n\v\f\r")) > 0
	}
	t.out = nil
	return nil
}

func (t *frame) orElse() error {
	switch {
	case t.kind != ifFrame && t.kind != elseFrame:
		return errors.New("format: %(else) atom used without a %(if) atom")
	case !t.cond.then:
		return errors.New("format: %(else) atom used without a %(then) atom")
	case t.cond.otherwise:
		return errors.New("format: %(else) atom used more than once")
	}
	t.cond.otherwise = true
	return nil
}

// endFrame closes the innermost %(align) or %(if).
func (f *refFormat) endFrame(stack []*frame) ([]*frame, error) {
	top := stack[len(stack)-1]
	switch top.kind {
	case plainFrame:
		return nil, errors.New("format: %(end) atom used without corresponding atom")
	case alignFrame:
		top.out = top.atom.align.pad(top.out)
	default:
		if !top.cond.then {
			return nil, errors.New("format: %(if) atom used without a %(then) atom")
		}
		if top.kind == elseFrame {
			stack = stack[:len(stack)-1]
			branch := stack[len(stack)-1]
			if !top.cond.holds {
				branch.out = top.out
			}
			top = branch
		} else if !top.cond.holds {
			top.out = nil
		}
	}
	stack = stack[:len(stack)-1]
	below := stack[len(stack)-1]
	if len(stack) == 1 {
		below.out = f.quote.appendTo(below.out, string(top.out))
	} else {
		below.out = append(below.out, top.out...)
	}
	return stack, nil
}

// alignment is the argument of %(align).
type alignment struct {
	width    int
	position byte // 'l', 'm', 'r'
}

func (a alignment) pad(text []byte) []byte {
	missing := a.width - displayWidth(string(text))
	if missing <= 0 {
		return text
	}
	left := 0
	switch a.position {
	case 'm':
		left = missing / 2
	case 'r':
		left = missing
	}
	out := bytes.Repeat([]byte(" "), left)
	out = append(out, text...)
	return append(out, bytes.Repeat([]byte(" "), missing-left)...)
}

// displayWidth is how many columns text takes on a terminal: one a character,
// none for a combining one or a colour sequence, two for the wide ones of East Asia.
func displayWidth(text string) int {
	width := 0
	for len(text) > 0 {
		if strings.HasPrefix(text, "\x1b[") {
			if end := strings.IndexByte(text, 'm'); end > 0 {
				text = text[end+1:]
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(text)
		width += runeWidth(r)
		text = text[n:]
	}
	return width
}

func runeWidth(r rune) int {
	switch {
	case r >= 0x300 && r <= 0x36f, r >= 0x200b && r <= 0x200f, r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// appendTo appends text, quoted.
func (q quoting) appendTo(dst []byte, text string) []byte {
	switch q {
	case quoteShell:
		return append(dst, Quote(text)...)
	case quotePerl:
		return quoteWith(dst, text, '\'', `'\`, "")
	case quotePython:
		return quoteWith(dst, text, '\'', `'\`, "\nn")
	case quoteTcl:
		return quoteWith(dst, text, '"', `[]{}$\"`, "\ff\rr\nn\tt\vv")
	}
	return append(dst, text...)
}

// quoteWith puts text between marks, with a backslash before the characters of
// special; of pairs each first one becomes a backslash and the second one.
func quoteWith(dst []byte, text string, mark byte, special, pairs string) []byte {
	dst = append(dst, mark)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if strings.IndexByte(special, c) >= 0 {
			dst = append(dst, '\\')
		} else {
			for k := 0; k+1 < len(pairs); k += 2 {
				if pairs[k] == c {
					dst = append(dst, '\\')
					c = pairs[k+1]
					break
				}
			}
		}
		dst = append(dst, c)
	}
	return append(dst, mark)
}
