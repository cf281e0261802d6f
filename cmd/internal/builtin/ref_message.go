package builtin

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// atomPerson evaluates author, committer, tagger and creator, and their parts.
func atomPerson(l *refList, _ *refItem, a *refAtom, o *refObject) (atomValue, error) {
	who, part := a.base, ""
	for _, p := range [...]string{"name", "email", "date"} {
		if rest, ok := strings.CutSuffix(who, p); ok {
			who, part = rest, p
		}
	}
	if who == "creator" {
		switch {
		case o.commit != nil:
			who = "committer"
		case o.tag != nil:
			who = "tagger"
		}
	}
	if o.commit == nil && o.tag == nil || o.commit != nil && who == "tagger" || o.tag != nil && who != "tagger" {
		return atomValue{}, nil
	}
	line := headerLine(o.data, who)
	switch part {
	case "name":
		name, _, ok := strings.Cut(line, " <")
		if !ok {
			name = ""
		}
		return textValue(name)
	case "email":
		return textValue(emailPart(line, a.arg))
	case "date":
		return l.date(line, a)
	}
	return textValue(line)
}

// headerLine returns the value of a header of a commit or tag, "" if it has none.
func headerLine(data []byte, name string) string {
	for len(data) > 0 && data[0] != '\n' {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if value, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			return string(value)
		}
		data = rest
	}
	return ""
}

func emailPart(line, arg string) string {
	at := strings.IndexByte(line, '<')
	if at < 0 {
		return ""
	}
	email := line[at:]
	bare := strings.Contains(arg, "trim") || strings.Contains(arg, "localpart")
	if bare {
		email = email[1:]
	}
	if strings.Contains(arg, "localpart") {
		if end := strings.IndexByte(email, '@'); end >= 0 {
			return email[:end]
		}
	}
	end := strings.IndexByte(email, '>')
	switch {
	case end < 0:
		return ""
	case bare:
		return email[:end]
	}
	return email[:end+1]
}

// date shows the date at the end of an identity line.
func (l *refList) date(line string, a *refAtom) (atomValue, error) {
	_, text, ok := strings.Cut(line, "> ")
	if !ok {
		return atomValue{}, nil
	}
	digits, rest := text, ""
	if n := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); n >= 0 {
		digits, rest = text[:n], text[n:]
	}
	when, err := strconv.ParseUint(digits, 10, 63)
	if err != nil && digits != "" {
		return atomValue{}, nil
	}
	zone, _ := strconv.Atoi(strings.TrimSpace(rest))
	minutes := zone/100*60 + zone%100
	return atomValue{a.date.Show(int64(when), minutes, l.now(), time.Local), when}, nil
}

// messageParts are the parts of a commit's or tag's message.
type messageParts struct {
	all       string // from the subject on
	subject   string
	body      string // signature included
	signature string
}

// unsigned is the body without the signature.
func (m *messageParts) unsigned() string { return strings.TrimSuffix(m.body, m.signature) }

func splitMessage(data []byte) *messageParts {
	text := cString(string(data))
	for text != "" && text[0] != '\n' {
		_, text, _ = strings.Cut(text, "\n")
	}
	text = strings.TrimLeft(text, "\n")
	m := &messageParts{all: text}
	sig := signatureStart(text)
	m.signature = text[sig:]
	end := strings.Index(text, "\n\n")
	if end < 0 {
		end = strings.Index(text, "\r\n\r\n")
	}
	if end < 0 || end > sig {
		end = sig
	}
	m.subject = strings.TrimRight(text[:end], "\r\n")
	m.body = strings.TrimLeft(text[end:], "\r\n")
	return m
}

// signatureStart returns where the last signature of a message begins.
func signatureStart(text string) int {
	start := len(text)
	for at := 0; at < len(text); {
		for _, mark := range [...]string{"-----BEGIN PGP SIGNATURE-----", "-----BEGIN PGP MESSAGE-----", "-----BEGIN SIGNED MESSAGE-----", "-----BEGIN SSH SIGNATURE-----"} {
			if strings.HasPrefix(text[at:], mark) {
				start = at
			}
		}
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return start
}

// atomMessage evaluates subject, body and contents.
func atomMessage(_ *refList, _ *refItem, a *refAtom, o *refObject) (atomValue, error) {
	if o.commit == nil && o.tag == nil {
		return atomValue{}, nil
	}
	if o.message == nil {
		o.message = splitMessage(o.data)
	}
	m := o.message
	switch a.base + ":" + a.arg {
	case "subject:", "contents:subject":
		return textValue(oneLine(m.subject))
	case "subject:sanitize":
		return textValue(sanitizeSubject(m.subject))
	case "body:":
		return textValue(m.body)
	case "contents:":
		return textValue(m.all)
	case "contents:body":
		return textValue(m.unsigned())
	case "contents:signature":
		return textValue(m.signature)
	case "contents:size":
		return numberValue(int64(len(m.all)))
	}
	return textValue(firstLines(strings.TrimSuffix(m.all, m.signature), a.lines))
}

// oneLine joins the lines of a subject.
func oneLine(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", " ")
}

// firstLines returns n lines of text, all but the first indented.
func firstLines(text string, n int) string {
	var b strings.Builder
	for i := 0; i < n && text != ""; i++ {
		if i > 0 {
			b.WriteString("\n    ")
		}
		var line string
		line, text, _ = strings.Cut(text, "\n")
		b.WriteString(line)
	}
	return b.String()
}

// sanitizeSubject makes a subject fit for a file name.
func sanitizeSubject(s string) string {
	var b []byte
	gap := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '.' || c == '_') {
			gap = len(b) > 0
			continue
		}
		if gap {
			b = append(b, '-')
			gap = false
		}
		b = append(b, c)
		for c == '.' && i+1 < len(s) && s[i+1] == '.' {
			i++
		}
	}
	return strings.TrimRight(string(b), ".-")
}
