// Package refname holds the rules for the names of refs: which names are
// allowed, which directory a name lives in, and what an abbreviated name can
// mean.
//
// Source: git-check-ref-format(1), gitrevisions(7) and refs.c of git 2.55.
//
// Invariants:
//
//	N1  a name that Check or IsSafe accepts, joined to a directory, stays below that directory.
//	N2  a name that Check accepts is a file name on every platform that git supports: no control character, no component that ends in .lock.
package refname

import (
	"path"
	"strings"
)

// Flags relax Check.
type Flags uint8

const (
	// AllowOneLevel accepts a name without a slash.
	AllowOneLevel Flags = 1 << iota
	// RefspecPattern accepts one asterisk in the whole name.
	RefspecPattern
)

// Check reports whether name is well-formed.
func Check(name string, flags Flags) bool {
	if name == "" || name == "@" || name[len(name)-1] == '.' {
		return false
	}
	stars := 0
	if flags&RefspecPattern != 0 {
		stars = 1
	}
	components := 0
	for rest, more := name, true; more; components++ {
		var component string
		component, rest, more = strings.Cut(rest, "/")
		if !checkComponent(component, &stars) {
			return false
		}
	}
	return components > 1 || flags&AllowOneLevel != 0
}

func checkComponent(c string, stars *int) bool {
	if c == "" || c[0] == '.' || strings.HasSuffix(c, ".lock") {
		return false
	}
	var last byte
	for i := 0; i < len(c); i++ {
		switch ch := c[i]; {
		case ch <= ' ' || ch == 0x7f:
			return false
		case ch == '.' && last == '.', ch == '{' && last == '@':
			return false
		case ch == '~' || ch == '^' || ch == ':' || ch == '?' || ch == '[' || ch == '\\':
			return false
		case ch == '*':
			if *stars--; *stars < 0 {
				return false
			}
		}
		last = c[i]
	}
	return true
}

// IsSafe reports whether name, though perhaps badly formed, can be read and
// deleted without leaving the repository: below refs/, or all upper case.
func IsSafe(name string) bool {
	if rest, ok := strings.CutPrefix(name, "refs/"); ok {
		return rest != "" && rest[0] != '/' && rest != "." && rest != ".." &&
			!strings.HasPrefix(rest, "../") && !strings.Contains(rest, "\x00") && path.Clean(rest) == rest
	}
	for i := 0; i < len(name); i++ {
		if (name[i] < 'A' || name[i] > 'Z') && name[i] != '_' {
			return false
		}
	}
	return name != ""
}

// Normalize removes a leading slash and doubled slashes, as check-ref-format
// --normalize does before it looks at the name.
func Normalize(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	last := byte('/')
	for i := 0; i < len(name); i++ {
		if name[i] == '/' && last == '/' {
			continue
		}
		last = name[i]
		b.WriteByte(last)
	}
	return b.String()
}

// Sanitize replaces what Check forbids, so that any file name becomes a name
// component that it accepts.
func Sanitize(name string) string {
	if name == "@" {
		return "-"
	}
	var out []string
	for component := range strings.SplitSeq(name, "/") {
		if component != "" {
			out = append(out, sanitizeComponent(component))
		}
	}
	return strings.TrimSuffix(strings.Join(out, "/"), ".")
}

func sanitizeComponent(c string) string {
	b := make([]byte, 0, len(c))
	var last byte
	for i := 0; i < len(c); i++ {
		ch := c[i]
		switch {
		case ch == '.' && last == '.':
			last = ch
			continue
		case ch == '{' && last == '@':
			b[len(b)-1] = '-'
			b = append(b, ch)
			last = ch
			continue
		}
		last = ch
		if ch <= ' ' || ch == 0x7f || strings.IndexByte("~^:?[\\*", ch) >= 0 {
			ch = '-'
		}
		b = append(b, ch)
	}
	if b[0] == '.' {
		b[0] = '-'
	}
	s := string(b)
	for strings.HasSuffix(s, ".lock") {
		s = strings.TrimSuffix(s, ".lock")
	}
	return s
}

// IsBranch reports whether only commits may be written to name.
func IsBranch(name string) bool {
	return name == "HEAD" || strings.HasPrefix(name, "refs/heads/")
}

// IsPseudo reports whether name is one of the files that look like a ref, hold
// more than one, and are never written as a ref.
func IsPseudo(name string) bool { return name == "FETCH_HEAD" || name == "MERGE_HEAD" }

// IsRoot reports whether name is a ref of the git directory itself, such as
// HEAD or ORIG_HEAD.
func IsRoot(name string) bool {
	if !isRootSyntax(name) || IsPseudo(name) {
		return false
	}
	switch name {
	case "HEAD", "AUTO_MERGE", "BISECT_EXPECTED_REV", "NOTES_MERGE_PARTIAL", "NOTES_MERGE_REF", "MERGE_AUTOSTASH":
		return true
	}
	return strings.HasSuffix(name, "_HEAD")
}

func isRootSyntax(name string) bool {
	for i := 0; i < len(name); i++ {
		if (name[i] < 'A' || name[i] > 'Z') && name[i] != '-' && name[i] != '_' {
			return false
		}
	}
	return true
}

// IsPerWorktree reports whether each worktree has its own refs of this prefix.
func IsPerWorktree(name string) bool {
	return strings.HasPrefix(name, "refs/worktree/") ||
		strings.HasPrefix(name, "refs/bisect/") ||
		strings.HasPrefix(name, "refs/rewritten/")
}

// Owner says which directory a ref lives in.
type Owner uint8

// The owners of a ref.
const (
	Shared  Owner = iota // the common directory
	Current              // the git directory of this worktree
	Main                 // the common directory, by way of main-worktree/
	Other                // the git directory of the worktree that Worktree returns
)

// Worktree finds the owner of name, the id of its worktree if that is Other,
// and the name that the ref has there. A bare name of "" is an error of the
// caller's input ("worktrees/x").
func Worktree(name string) (owner Owner, id, bare string) {
	if rest, ok := strings.CutPrefix(name, "worktrees/"); ok {
		id, bare, ok = strings.Cut(rest, "/")
		if !ok || isCurrent(bare) {
			return Other, id, bare
		}
	}
	if rest, ok := strings.CutPrefix(name, "main-worktree/"); ok && isCurrent(rest) {
		return Main, "", rest
	}
	if isCurrent(name) {
		return Current, "", name
	}
	return Shared, "", name
}

func isCurrent(name string) bool { return isRootSyntax(name) || IsPerWorktree(name) }

// Pretty strips refs/heads/, refs/tags/ or refs/remotes/ for display.
func Pretty(name string) string {
	for _, prefix := range [...]string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// A Rule is one of the ways to complete an abbreviated name.
type Rule struct{ Prefix, Suffix string }

// Rules returns the ways to complete an abbreviated name, in order of
// precedence (gitrevisions(7)).
func Rules() [6]Rule {
	return [6]Rule{{"", ""}, {"refs/", ""}, {"refs/tags/", ""}, {"refs/heads/", ""}, {"refs/remotes/", ""}, {"refs/remotes/", "/HEAD"}}
}

// Apply completes short.
func (r Rule) Apply(short string) string { return r.Prefix + short + r.Suffix }

// Shorten is the reverse of Apply.
func (r Rule) Shorten(full string) (string, bool) {
	short, ok := strings.CutPrefix(full, r.Prefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(short, r.Suffix)
}

// Match reports whether abbrev can mean full: 0 if not, else its precedence,
// higher meaning that it wins.
func Match(abbrev, full string) int {
	rules := Rules()
	for i, r := range rules {
		if r.Apply(abbrev) == full {
			return len(rules) - i
		}
	}
	return 0
}
