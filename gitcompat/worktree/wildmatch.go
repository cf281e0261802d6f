package worktree

import "strings"

// WildFlags alter Wildmatch.
type WildFlags uint8

const (
	// WildPathname makes "*", "?" and "[...]" stop at a slash, and gives
	// "**" its meaning of any number of directories.
	WildPathname WildFlags = 1 << iota
	// WildCaseFold ignores the case of ASCII letters.
	WildCaseFold
)

// Wildmatch reports whether text matches the glob pattern, by git's rules.
//
// A star needs to be retried only while it is the last one met: an earlier
// one can only make the later one start further right, where it has fewer
// choices. So two places to go back to are enough, one for a star that stays
// within a directory and one for a star that crosses directories, and the
// time is bounded by a polynomial, whatever the pattern.
func Wildmatch(pattern, text string, flags WildFlags) bool {
	m := wildMatcher{pattern: pattern, text: text, flags: flags, near: -1, far: -1}
	return m.run()
}

type wildMatcher struct {
	pattern, text string
	flags         WildFlags
	p, t          int
	// near is the pattern position after the last star that can't cross a
	// slash, or -1; nearText is how far it reaches so far.
	near, nearText int
	// far is the same for a star that crosses slashes. farDirs says that it
	// was "**/", which matches whole directories only.
	far, farText int
	farDirs      bool
}

func (m *wildMatcher) run() bool {
	for {
		if m.p == len(m.pattern) {
			if m.t == len(m.text) {
				return true
			}
		} else if m.pattern[m.p] == '*' {
			m.star()
			continue
		} else if m.t < len(m.text) {
			if n := m.one(); n > 0 {
				m.p += n
				m.t++
				continue
			} else if n < 0 {
				return false
			}
		}
		if !m.retry() {
			return false
		}
	}
}

// star takes in a run of stars and notes where to come back to.
func (m *wildMatcher) star() {
	start := m.p
	for m.p < len(m.pattern) && m.pattern[m.p] == '*' {
		m.p++
	}
	rest := m.pattern[m.p:]
	switch {
	case m.flags&WildPathname == 0:
		m.far, m.farText, m.farDirs, m.near = m.p, m.t, false, -1
	case m.p-start >= 2 && (start == 0 || m.pattern[start-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)):
		if rest != "" && rest[0] == '/' {
			m.p++
			m.farDirs = true
		} else {
			m.farDirs = false
		}
		m.far, m.farText, m.near = m.p, m.t, -1
	default:
		m.near, m.nearText = m.p, m.t
	}
}

// retry lets the last star take one more step. It reports false if none can.
func (m *wildMatcher) retry() bool {
	if m.near >= 0 && m.nearText < len(m.text) && m.text[m.nearText] != '/' {
		m.nearText++
		m.p, m.t = m.near, m.nearText
		return true
	}
	m.near = -1
	if m.far < 0 || m.farText >= len(m.text) {
		return false
	}
	if m.farDirs {
		i := strings.IndexByte(m.text[m.farText:], '/')
		if i < 0 {
			return false
		}
		m.farText += i
	}
	m.farText++
	m.p, m.t = m.far, m.farText
	return true
}

// one matches one character and returns the length of the pattern element
// that took it, 0 for no match, -1 if the pattern can't match anything.
func (m *wildMatcher) one() int {
	fold := m.flags&WildCaseFold != 0
	t := m.text[m.t]
	if fold {
		t = lower(t)
	}
	c := m.pattern[m.p]
	n := 1
	switch c {
	case '?':
		if m.flags&WildPathname != 0 && t == '/' {
			return 0
		}
		return 1
	case '[':
		matched, n := bracket(m.pattern[m.p:], t, fold)
		if n < 0 {
			return -1
		}
		if !matched || m.flags&WildPathname != 0 && t == '/' {
			return 0
		}
		return n
	case '\\':
		// What follows a backslash isn't folded: git's own habit.
		if m.p+1 == len(m.pattern) {
			return -1
		}
		c, n = m.pattern[m.p+1], 2
	default:
		if fold {
			c = lower(c)
		}
	}
	if c != t {
		return 0
	}
	return n
}

// bracket matches t against the bracket expression that s begins with, and
// returns its length, or -1 if it is malformed.
func bracket(s string, t byte, fold bool) (bool, int) {
	i := 1
	negated := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negated {
		i++
	}
	matched := false
	prev, havePrev := byte(0), false
	for first := true; ; first = false {
		if i >= len(s) {
			return false, -1
		}
		c := s[i]
		switch {
		case c == ']' && !first:
			return matched != negated, i + 1
		case c == '\\':
			i++
			if i >= len(s) {
				return false, -1
			}
			c = s[i]
			matched = matched || t == c
			prev, havePrev = c, true
		case c == '-' && havePrev && i+1 < len(s) && s[i+1] != ']':
			i++
			hi := s[i]
			if hi == '\\' {
				i++
				if i >= len(s) {
					return false, -1
				}
				hi = s[i]
			}
			if within(t, prev, hi) || fold && t >= 'a' && t <= 'z' && within(t-'a'+'A', prev, hi) {
				matched = true
			}
			havePrev = false
		case c == '[' && i+1 < len(s) && s[i+1] == ':':
			end := strings.IndexByte(s[i+2:], ']')
			if end < 0 {
				return false, -1
			}
			name := s[i+2 : i+2+end]
			if !strings.HasSuffix(name, ":") {
				matched = matched || t == '['
				prev, havePrev = '[', true
				break
			}
			in, ok := inClass(strings.TrimSuffix(name, ":"), t, fold)
			if !ok {
				return false, -1
			}
			matched = matched || in
			i += 2 + end
			havePrev = false
		default:
			matched = matched || t == c
			prev, havePrev = c, true
		}
		i++
	}
}

func within(c, lo, hi byte) bool { return lo <= c && c <= hi }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// inClass reports whether c is in the POSIX class name, ASCII only, and
// whether there is a class of that name.
func inClass(name string, c byte, fold bool) (in, known bool) {
	digit := within(c, '0', '9')
	small, big := within(c, 'a', 'z'), within(c, 'A', 'Z')
	switch name {
	case "alnum":
		return digit || small || big, true
	case "alpha":
		return small || big, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < 0x20 || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return c > 0x20 && c < 0x7f, true
	case "lower":
		return small, true
	case "print":
		return c >= 0x20 && c < 0x7f, true
	case "punct":
		return c > 0x20 && c < 0x7f && !digit && !small && !big, true
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r', true
	case "upper":
		return big || fold && small, true
	case "xdigit":
		return digit || within(c, 'a', 'f') || within(c, 'A', 'F'), true
	}
	return false, false
}
