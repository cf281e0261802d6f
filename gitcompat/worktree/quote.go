package worktree

import "strings"

// unquoteC reads the C string that s begins with and returns its value and
// the length it had in s.
func unquoteC(s string) (value string, n int, ok bool) {
	if s == "" || s[0] != '"' {
		return "", 0, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), i + 1, true
		case '\\':
			i++
			if i == len(s) {
				return "", 0, false
			}
			if k := strings.IndexByte(`abfnrtv\"`, s[i]); k >= 0 {
				b.WriteByte("\a\b\f\n\r\t\v\\\""[k])
				continue
			}
			if i+2 >= len(s) || !within(s[i], '0', '3') || !within(s[i+1], '0', '7') || !within(s[i+2], '0', '7') {
				return "", 0, false
			}
			b.WriteByte((s[i]-'0')<<6 | (s[i+1]-'0')<<3 | (s[i+2] - '0'))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}
