package worktree

import "strings"

type matchFlags uint8

const (
	matchDir matchFlags = 1 << iota
	matchLeading
)

// Match matches a file of the working tree or the index. seen may be nil;
// else it has one entry an element, raised to the closest match so far.
func (ps *Pathspec) Match(path string, seen []Match) Match { return ps.match(path, seen, 0) }

// MatchDir matches a directory, or a gitlink: "sub/" names "sub" too.
func (ps *Pathspec) MatchDir(path string, seen []Match) Match { return ps.match(path, seen, matchDir) }

// MatchLeading is MatchDir, and also matches a directory that something
// named by the pathspec may be below.
func (ps *Pathspec) MatchLeading(path string, seen []Match) Match {
	return ps.match(path, seen, matchDir|matchLeading)
}

func (ps *Pathspec) match(path string, seen []Match, flags matchFlags) Match {
	if ps == nil || len(ps.Items) == 0 {
		return MatchRecursive
	}
	how := ps.matchSome(path, seen, flags, 0)
	if how == NoMatch || ps.Magic&MagicExclude == 0 {
		return how
	}
	if ps.matchSome(path, seen, flags, MagicExclude) != NoMatch {
		return NoMatch
	}
	return how
}

// matchSome matches the elements that exclude, or those that don't.
func (ps *Pathspec) matchSome(path string, seen []Match, flags matchFlags, exclude Magic) Match {
	best := NoMatch
	ps.candidates(path, flags&matchLeading != 0, func(i int) {
		it := &ps.Items[i]
		if it.Magic&MagicExclude != exclude {
			return
		}
		if seen != nil && seen[i] == MatchExact && it.simple == len(it.Match) && best != NoMatch {
			return
		}
		if seen != nil && exclude != 0 {
			seen[i] = MatchGlob // an exclusion is never reported as unmatched
		}
		how := it.match(path, flags, ps.Attrs)
		best = max(best, how)
		if seen != nil {
			seen[i] = max(seen[i], how)
		}
	})
	return best
}

func (it *PathspecItem) match(path string, flags matchFlags, attrs *Attributes) Match {
	fold := it.Magic&MagicIcase != 0
	// The prefix comes from the command's directory and is never folded.
	if fold && it.Prefix > 0 && (len(path) < it.Prefix || path[:it.Prefix] != it.Match[:it.Prefix]) {
		return NoMatch
	}
	if len(it.attrs) > 0 && !it.matchAttrs(path, attrs) {
		return NoMatch
	}
	m := it.Match
	if m == "" {
		return MatchRecursive
	}
	if len(m) <= len(path) {
		if pathEqual(m, path[:len(m)], fold) {
			if len(m) == len(path) {
				return MatchExact
			}
			if m[len(m)-1] == '/' || path[len(m)] == '/' {
				return MatchRecursive
			}
		}
	} else if flags&matchDir != 0 && len(path) == len(m)-1 && m[len(m)-1] == '/' && pathEqual(m[:len(path)], path, fold) {
		return MatchExact
	}
	if it.simple < len(m) && it.glob(path, fold) {
		return MatchGlob
	}
	if flags&matchLeading != 0 && it.Magic&MagicExclude == 0 && it.mayLead(path, fold) {
		return MatchLeading
	}
	return NoMatch
}

func (it *PathspecItem) glob(path string, fold bool) bool {
	if len(path) < it.simple || !pathEqual(it.Match[:it.simple], path[:it.simple], fold) {
		return false
	}
	pattern, text := it.Match[it.simple:], path[it.simple:]
	if it.oneStar {
		tail := pattern[1:]
		return len(text) >= len(tail) && pathEqual(tail, text[len(text)-len(tail):], fold)
	}
	f := wildFold(0, fold)
	if it.Magic&MagicGlob != 0 {
		f |= WildPathname
	}
	return Wildmatch(pattern, text, f)
}

// mayLead reports whether the directory path may hold something that the
// element names. It errs on the side of yes.
func (it *PathspecItem) mayLead(path string, fold bool) bool {
	m := it.Match
	dir := strings.TrimSuffix(path, "/")
	if len(path) < len(m) && m[len(dir)] == '/' && pathEqual(dir, m[:len(dir)], fold) {
		return true
	}
	if it.simple == len(m) {
		return false
	}
	n := min(it.simple, len(path))
	return pathEqual(m[:n], path[:n], fold) && (n == it.simple)
}

func (it *PathspecItem) matchAttrs(path string, attrs *Attributes) bool {
	names := make([]string, len(it.attrs))
	for i := range it.attrs {
		names[i] = it.attrs[i].name
	}
	for i, v := range attrs.Lookup(path, names) {
		want := &it.attrs[i]
		if v.State != want.state || v.State == AttrValue && v.Text != want.value {
			return false
		}
	}
	return true
}

// CommonDir is the longest directory, "" or ending in "/", that everything
// matched is below.
func (ps *Pathspec) CommonDir() string {
	if ps == nil {
		return ""
	}
	common, first := "", true
	for i := range ps.Items {
		it := &ps.Items[i]
		if it.Magic&MagicExclude != 0 {
			continue
		}
		n := it.simple
		if it.Magic&MagicIcase != 0 {
			n = it.Prefix
		}
		dir := it.Match[:strings.LastIndexByte(it.Match[:n], '/')+1]
		if first {
			common, first = dir, false
			continue
		}
		k, slash := 0, 0
		for k < len(common) && k < len(dir) && common[k] == dir[k] {
			if k++; common[k-1] == '/' {
				slash = k
			}
		}
		common = common[:slash]
	}
	return common
}

// away reports whether neither path nor anything below it can match.
func (ps *Pathspec) away(path string) bool {
	if ps == nil || len(ps.Items) == 0 {
		return false
	}
	if ps.exact != nil && len(ps.rest) == 0 {
		// Many plain arguments: leave it to the closer look.
		return false
	}
	for i := range ps.Items {
		it := &ps.Items[i]
		n := min(it.simple, len(path))
		if pathEqual(it.Match[:n], path[:n], it.Magic&MagicIcase != 0) {
			return false
		}
	}
	return true
}

// namesExcluded reports whether path, which is ignored, was asked for by
// name, itself or something below it.
func (ps *Pathspec) namesExcluded(path string) bool {
	if ps == nil {
		return false
	}
	for i := range ps.Items {
		it := &ps.Items[i]
		n := it.simple
		if n < len(path) || !pathEqual(it.Match[:len(path)], path, it.Magic&MagicIcase != 0) {
			continue
		}
		if n == len(path) || it.Match[len(path)] == '/' {
			return true
		}
	}
	return false
}

// Unmatched returns the elements, as the user gave them, that nothing matched
// according to seen. One that was given twice is fine if either did.
func (ps *Pathspec) Unmatched(seen []Match) []string {
	var out []string
	for i := range ps.Items {
		if seen[i] == NoMatch && ps.Items[i].Magic&MagicExclude == 0 && !ps.twinSeen(i, seen) {
			out = append(out, ps.Items[i].Original)
		}
	}
	return out
}

func (ps *Pathspec) twinSeen(i int, seen []Match) bool {
	for j := range ps.Items {
		if j != i && seen[j] != NoMatch && ps.Items[j].Original == ps.Items[i].Original {
			return true
		}
	}
	return false
}
