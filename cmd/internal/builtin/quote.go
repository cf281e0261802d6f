package builtin

import "strings"

// quotePath is name as git prints it: in double quotes with C's escapes if it
// has bytes that need them. high says whether bytes above 0x7f do (core.quotePath).
func quotePath(name string, high bool) string {
	i := 0
	for i < len(name) && !needsQuote(name[i], high) {
		i++
	}
	if i == len(name) {
		return name
	}
	b := make([]byte, 0, len(name)+16)
	b = append(b, '"')
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !needsQuote(c, high) {
			b = append(b, c)
			continue
		}
		b = append(b, '\\')
		if k := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); k >= 0 {
			b = append(b, `abtnvfr"\`[k])
		} else {
			b = append(b, c>>6+'0', c>>3&7+'0', c&7+'0')
		}
	}
	return string(append(b, '"'))
}

func needsQuote(c byte, high bool) bool {
	return c < ' ' || c == '"' || c == '\\' || c == 0x7f || c >= 0x80 && high
}

// unquotePath is the name that s, all of it, quotes; false if s is not such a thing.
func unquotePath(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return "", false
		case '\\':
			i++
			if i == len(s) {
				return "", false
			}
			if k := strings.IndexByte(`abtnvfr"\`, s[i]); k >= 0 {
				b = append(b, "\a\b\t\n\v\f\r\"\\"[k])
				continue
			}
			if i+2 >= len(s) || s[i] < '0' || s[i] > '3' || s[i+1]&^7 != '0' || s[i+2]&^7 != '0' {
				return "", false
			}
			b = append(b, s[i]&3<<6|s[i+1]&7<<3|s[i+2]&7)
			i += 2
		default:
			b = append(b, c)
		}
	}
	return string(b), true
}

// relativeTo is the path name, which like prefix is relative to the top of the
// working tree, as seen from the directory prefix ("" or with a slash at the end).
func relativeTo(prefix, name string) string {
	if strings.HasPrefix(name, prefix) {
		if len(name) == len(prefix) && name != "" {
			return "./"
		}
		return name[len(prefix):]
	}
	common := 0
	for i := 0; i < len(prefix) && i < len(name) && prefix[i] == name[i]; i++ {
		if name[i] == '/' {
			common = i + 1
		}
	}
	if len(name)+1 <= len(prefix) && prefix[:len(name)] == name && prefix[len(name)] == '/' {
		// name is prefix itself or a directory above it
		if up := strings.Count(prefix[len(name)+1:], "/"); up > 0 {
			return strings.Repeat("../", up)
		}
		return "./"
	}
	return strings.Repeat("../", strings.Count(prefix[common:], "/")) + name[common:]
}
