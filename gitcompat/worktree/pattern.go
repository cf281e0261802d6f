package worktree

import "strings"

// A Pattern is one line of an ignore or attributes file.
type Pattern struct {
	Text     string // without "!" and without the trailing slash
	Original string // as it stands in the file, spaces trimmed
	Source   string // the file, as it is named in messages
	Line     int
	Negative bool
	DirOnly  bool   // it ended in a slash
	base     string // directory of the file, "" or ending in "/"
	simple   int    // length of Text up to the first wildcard
	baseName bool   // no slash: it is matched against the last component
	suffix   bool   // "*" and then nothing special
}

// newPattern takes a line that is neither empty nor a comment.
func newPattern(line, base, source string, lineno int) Pattern {
	p := Pattern{Original: line, base: base, Source: source, Line: lineno}
	text := line
	if strings.HasPrefix(text, "!") {
		p.Negative = true
		text = text[1:]
	}
	p.suffix = strings.HasPrefix(text, "*") && simpleLen(text[1:]) == len(text)-1
	if strings.HasSuffix(text, "/") {
		p.DirOnly = true
		text = text[:len(text)-1]
	}
	p.baseName = !strings.Contains(text, "/")
	p.simple = min(simpleLen(text), len(text))
	p.Text = text
	return p
}

// simpleLen is the length of s up to its first glob character.
func simpleLen(s string) int {
	if i := strings.IndexAny(s, `*?[\`); i >= 0 {
		return i
	}
	return len(s)
}

// match reports whether the pattern names path, whose last component starts
// at name. It leaves DirOnly to the caller.
func (p *Pattern) match(path string, name int, fold bool) bool {
	if p.baseName {
		return p.matchName(path[name:], fold)
	}
	return p.matchPath(path, fold)
}

func (p *Pattern) matchName(name string, fold bool) bool {
	switch {
	case p.simple == len(p.Text):
		return pathEqual(p.Text, name, fold)
	case p.suffix:
		tail := len(p.Text) - 1
		return tail <= len(name) && pathEqual(p.Text[1:], name[len(name)-tail:], fold)
	}
	return Wildmatch(p.Text, name, wildFold(0, fold))
}

func (p *Pattern) matchPath(path string, fold bool) bool {
	text, simple := p.Text, p.simple
	if strings.HasPrefix(text, "/") {
		text, simple = text[1:], simple-1
	}
	n := len(p.base)
	if len(path) < n || !pathEqual(p.base, path[:n], fold) {
		return false
	}
	name := path[n:]
	if simple > 0 {
		if simple > len(name) || !pathEqual(text[:simple], name[:simple], fold) {
			return false
		}
		if simple == len(text) && simple == len(name) {
			return true
		}
		// One literal character stays, so that "**" can see whether it
		// stands at the start of a component.
		text, name = text[simple-1:], name[simple-1:]
	}
	return Wildmatch(text, name, wildFold(WildPathname, fold))
}

func wildFold(f WildFlags, fold bool) WildFlags {
	if fold {
		f |= WildCaseFold
	}
	return f
}

// pathEqual compares as core.ignoreCase says; only ASCII folds.
func pathEqual(a, b string, fold bool) bool {
	if len(a) != len(b) {
		return false
	}
	if a == b {
		return true
	}
	if !fold {
		return false
	}
	for i := 0; i < len(a); i++ {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}
