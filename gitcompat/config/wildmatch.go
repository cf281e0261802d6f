package config

import "strings"

// wildmatch matches text against a glob in which "*" stops at a slash and "**"
// does not (git's WM_PATHNAME). Patterns here are short and the user's own.
func wildmatch(pattern, text string, icase bool) bool {
	if icase {
		pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	}
	return glob(pattern, text, true)
}

// glob matches; atStart says that a slash, or nothing, stands before pattern.
func glob(p, t string, atStart bool) bool {
	for p != "" {
		switch p[0] {
		case '*':
			return globStar(p, t, atStart)
		case '?':
			if t == "" || t[0] == '/' {
				return false
			}
			p = p[1:]
		case '[':
			n, ok := globClass(p, t)
			if !ok {
				return false
			}
			p = p[n:]
		default:
			if p[0] == '\\' && len(p) > 1 {
				p = p[1:]
			}
			if t == "" || t[0] != p[0] {
				return false
			}
			atStart = p[0] == '/'
			p, t = p[1:], t[1:]
			continue
		}
		atStart, t = false, t[1:]
	}
	return t == ""
}

func globStar(p, t string, atStart bool) bool {
	rest := strings.TrimLeft(p, "*")
	across := len(p)-len(rest) > 1 && atStart && (rest == "" || rest[0] == '/')
	if across && rest != "" && glob(rest[1:], t, true) {
		return true
	}
	for {
		if glob(rest, t, false) {
			return true
		}
		if t == "" || t[0] == '/' && !across {
			return false
		}
		t = t[1:]
	}
}

// globClass matches one character against the class at the front of p, and
// returns the length of the class.
func globClass(p, t string) (int, bool) {
	if t == "" || t[0] == '/' {
		return 0, false
	}
	i, negated, matched := 1, false, false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		negated = true
		i++
	}
	for first := true; i < len(p) && (first || p[i] != ']'); first = false {
		if strings.HasPrefix(p[i:], "[:") {
			end := strings.Index(p[i:], ":]")
			if end > 0 {
				matched = matched || inClass(p[i+2:i+end], t[0])
				i += end + 2
				continue
			}
		}
		lo := p[i]
		if lo == '\\' && i+1 < len(p) {
			i++
			lo = p[i]
		}
		hi := lo
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			i += 2
			if hi = p[i]; hi == '\\' && i+1 < len(p) {
				i++
				hi = p[i]
			}
		}
		i++
		matched = matched || lo <= t[0] && t[0] <= hi
	}
	return i + 1, i < len(p) && matched != negated
}

func inClass(name string, c byte) bool {
	switch name {
	case "alpha":
		return isAlpha(c)
	case "digit":
		return c >= '0' && c <= '9'
	case "alnum":
		return isKeyChar(c) && c != '-'
	case "lower":
		return c >= 'a' && c <= 'z'
	case "upper":
		return c >= 'A' && c <= 'Z'
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r'
	case "blank":
		return c == ' ' || c == '\t'
	case "xdigit":
		return digit(c) < 16
	case "punct":
		return c > ' ' && c < 0x7f && (!isKeyChar(c) || c == '-')
	case "graph":
		return c > ' ' && c < 0x7f
	case "print":
		return c >= ' ' && c < 0x7f
	case "cntrl":
		return c < ' ' || c == 0x7f
	}
	return false
}
