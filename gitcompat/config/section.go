package config

import (
	"fmt"
	"strings"
)

const maxLine = 512 << 10

// sectionNameOK accepts what may name a section: letters, digits and dashes up
// to a dot, anything after it.
func sectionNameOK(name string) bool {
	section, _, _ := strings.Cut(name, ".")
	for i := 0; i < len(section); i++ {
		if !isKeyChar(section[i]) {
			return false
		}
	}
	return name != ""
}

// CheckSection refuses a bad new name of a section.
func CheckSection(name string) error {
	if !sectionNameOK(name) {
		return &EditError{Msg: "invalid section name: " + name, Code: CodeNoLock}
	}
	return nil
}

// RenameSection gives all sections called old, in full and with the case that
// the file has, a new name. It returns how many there were.
func (e *Edit) RenameSection(old, name string) (int, error) {
	if err := CheckSection(name); err != nil {
		return 0, err
	}
	return e.sections(old, func(b *strings.Builder, rest string) {
		b.WriteString(header(name))
		if rest != "" {
			b.WriteString("\t" + rest)
		}
	}, false)
}

// RemoveSection removes all sections called old. It returns how many there were.
func (e *Edit) RemoveSection(old string) (int, error) {
	return e.sections(old, nil, false)
}

// CopySection copies all sections called old under a new name, each right
// behind itself. It returns how many there were.
func (e *Edit) CopySection(old, name string) (int, error) {
	if err := CheckSection(name); err != nil {
		return 0, err
	}
	return e.sections(old, func(b *strings.Builder, _ string) { b.WriteString(header(name)) }, true)
}

// sections goes through the file line by line. replace writes the new header;
// rest is what stands behind the old one in the same line. nil removes.
func (e *Edit) sections(old string, replace func(b *strings.Builder, rest string), copy bool) (int, error) {
	var out, copied strings.Builder
	found, removing := 0, false
	flush := func() {
		out.WriteString(copied.String())
		copied.Reset()
	}
	rest := e.content
	for n := 1; rest != ""; n++ {
		line := rest
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]
		if len(line) >= maxLine {
			return 0, &EditError{Msg: fmt.Sprintf("refusing to work with overly long line in '%s' on line %d", e.name, n), Code: CodeNoLock}
		}
		text := strings.TrimLeft(line, " \t\n\r")
		if !strings.HasPrefix(text, "[") {
			if !removing {
				if copied.Len() > 0 {
					copied.WriteString(line)
				}
				out.WriteString(line)
			}
			continue
		}
		flush()
		end := sectionHeader(text, old)
		if end == 0 {
			removing = false
			out.WriteString(line)
			continue
		}
		found++
		switch {
		case replace == nil:
			removing = true
		case copy:
			removing = false
			replace(&copied, "")
			out.WriteString(line)
		default:
			removing = false
			replace(&out, text[end:])
		}
	}
	flush()
	e.content = out.String()
	return found, nil
}

// sectionHeader returns the length of the header at the front of line, with
// the blanks behind it, if it is that of the section name; else 0.
func sectionHeader(line, name string) int {
	i, j, dot := 1, 0, false
	at := func(s string, i int) byte {
		if i < len(s) {
			return s[i]
		}
		return 0
	}
	for ; at(line, i) != 0 && line[i] != ']'; i++ {
		if !dot && isSpace(line[i]) {
			dot = true
			if j++; at(name, j-1) != '.' {
				break
			}
			for i++; isSpace(at(line, i)); i++ {
			}
			if at(line, i) != '"' {
				break
			}
			continue
		}
		if line[i] == '\\' && dot {
			i++
		} else if line[i] == '"' && dot {
			for i++; isSpace(at(line, i)); i++ {
			}
			break
		}
		if j++; at(line, i) != at(name, j-1) {
			break
		}
	}
	if at(line, i) != ']' || j != len(name) {
		return 0
	}
	for i++; isSpace(at(line, i)); i++ {
	}
	return i
}
