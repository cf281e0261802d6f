package builtin

import (
	"bytes"

	"github.com/sluicegit/sluice/gitcompat/ident"
)

const cherryPicked = "(cherry picked from commit "

// appendSignoff adds a sign-off of who to a message, whose last ignore bytes
// stay at its end.
func appendSignoff(text []byte, ignore int, who ident.Ident) []byte {
	line := []byte(signoffHeader + who.Name + " <" + who.Email + ">\n")
	head, tail := text[:len(text)-ignore], text[len(text)-ignore:]
	if ignore == 0 && len(head) > 0 && head[len(head)-1] != '\n' {
		head = append(bytes.Clone(head), '\n')
	}
	footer, last := hasTrailers(head, line)
	if bytes.Equal(head, line) {
		footer, last = true, true
	}
	out := bytes.Clone(head)
	if !footer {
		switch n := len(head); {
		case n == 0:
			out = append(out, "\n\n"...)
		case n == 1, head[n-2] != '\n':
			out = append(out, '\n')
		}
	}
	if !last {
		out = append(out, line...)
	}
	return append(out, tail...)
}

// hasTrailers reports whether a message ends in a block of trailers, and whether
// line is the last of them.
func hasTrailers(text, line []byte) (footer, last bool) {
	block := trailerBlock(text)
	if block == nil {
		return false, false
	}
	return true, bytes.HasSuffix(block, line) && (len(block) == len(line) || block[len(block)-len(line)-1] == '\n')
}

// trailerBlock returns the last paragraph of a message, other than the first,
// if it is made of trailers: all of its lines, or a quarter of them and one
// that git itself makes.
func trailerBlock(text []byte) []byte {
	body := bytes.TrimRight(text, "\n")
	at := bytes.LastIndex(body, []byte("\n\n"))
	if at < 0 {
		return nil
	}
	block := text[at+2:]
	trailers, others, known := 0, 0, false
	after := false // the line before was a trailer
	for rest := bytes.TrimRight(block, "\n"); len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		switch {
		case bytes.HasPrefix(line, []byte(signoffHeader)), bytes.HasPrefix(line, []byte(cherryPicked)):
			trailers++
			known, after = true, true
		case len(line) > 0 && (line[0] == ' ' || line[0] == '\t'):
			if !after {
				others++
			}
		case trailerLine(line):
			trailers++
			after = true
		default:
			others++
			after = false
		}
	}
	if trailers > 0 && others == 0 || known && trailers*3 >= others {
		return block
	}
	return nil
}

// trailerLine reports whether a line is "Token: value".
func trailerLine(line []byte) bool {
	space := false
	for i, c := range line {
		switch {
		case c == ':':
			return i > 0
		case c == ' ' || c == '\t':
			space = i > 0
		case space || !(c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'):
			return false
		}
	}
	return false
}
