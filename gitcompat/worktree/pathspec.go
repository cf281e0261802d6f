package worktree

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/index"
)

// Magic is the set of signatures of a pathspec element.
type Magic uint8

const (
	MagicTop Magic = 1 << iota
	MagicLiteral
	MagicGlob
	MagicIcase
	MagicExclude
	MagicAttr
)

// Match says how closely a path matched a pathspec; the larger, the closer.
type Match uint8

const (
	NoMatch        Match = iota
	MatchLeading         // the path is a directory above what the element may name
	MatchRecursive       // the element is a directory above the path
	MatchGlob
	MatchExact
)

// PathspecOptions are what a command and its environment ask of every
// element. Root is the absolute working tree, Prefix the slash path of the
// command's directory in it, "" or ending in "/".
type PathspecOptions struct {
	Root, Prefix string
	// Environ looks a variable up: GIT_LITERAL_PATHSPECS and its sisters.
	Environ func(string) string
	// PreferCwd makes no argument mean Prefix, where the default is everything.
	PreferCwd bool
	// BeyondSymlink refuses an element that passes through a symbolic link.
	BeyondSymlink bool
	// Deny is the magic that the command doesn't support.
	Deny     Magic
	FoldCase bool // core.ignoreCase, for absolute paths
}

// A Pathspec is a parsed list of pathspec elements.
type Pathspec struct {
	Items []PathspecItem
	Magic Magic // of all elements
	// Attrs answers attribute elements; it has to be set before a match if
	// Magic has MagicAttr.
	Attrs *Attributes
	exact map[string][]int // literal elements by their path; nil for a few
	rest  []int            // the elements that are not in exact
}

// A PathspecItem is one element.
type PathspecItem struct {
	Match    string // relative to Root
	Original string // as the user gave it
	Magic    Magic
	Prefix   int // length of the part that comes from the command's directory
	simple   int // length up to the first wildcard
	oneStar  bool
	attrs    []attrMatch
}

type attrMatch struct {
	name, value string
	state       AttrState
}

// ParsePathspec parses args. Errors have git's words.
func ParsePathspec(args []string, o PathspecOptions) (*Pathspec, error) {
	ps := &Pathspec{}
	if len(args) == 0 {
		if o.PreferCwd && o.Prefix != "" {
			n := len(o.Prefix)
			ps.Items = []PathspecItem{{Match: o.Prefix, Original: o.Prefix, Prefix: n, simple: n}}
		}
		return ps, nil
	}
	global, err := globalMagic(o.Environ)
	if err != nil {
		return nil, err
	}
	var links index.Leading
	excludes := 0
	for _, arg := range args {
		if arg == "" {
			return nil, fmt.Errorf("empty string is not a valid pathspec. please use . instead if you meant to match all paths")
		}
		it, err := parseItem(arg, global, &o)
		if err != nil {
			return nil, err
		}
		if bad := it.Magic & o.Deny; bad != 0 {
			return nil, fmt.Errorf("%s: pathspec magic not supported by this command: %s", arg, magicNames(bad))
		}
		if o.BeyondSymlink && links.Symlink(o.Root, it.Match) {
			return nil, fmt.Errorf("pathspec '%s' is beyond a symbolic link", arg)
		}
		if it.Magic&MagicExclude != 0 {
			excludes++
		}
		ps.Magic |= it.Magic
		ps.Items = append(ps.Items, it)
	}
	if excludes == len(args) {
		// Only exclusions: they are taken from everything.
		all := PathspecItem{Original: "."}
		if o.PreferCwd {
			all.Match, all.Prefix, all.simple = o.Prefix, len(o.Prefix), len(o.Prefix)
		}
		ps.Items = append(ps.Items, all)
	}
	ps.indexLiterals()
	return ps, nil
}

// indexLiterals prepares for many plain arguments, as xargs gives them: a
// path then finds its elements by its own name and those of its parents.
func (ps *Pathspec) indexLiterals() {
	if len(ps.Items) < 16 {
		return
	}
	ps.exact = make(map[string][]int, len(ps.Items))
	for i := range ps.Items {
		it := &ps.Items[i]
		if it.Magic&^(MagicTop|MagicLiteral|MagicGlob) != 0 || it.simple < len(it.Match) || it.Match == "" {
			ps.rest = append(ps.rest, i)
			continue
		}
		key := strings.TrimSuffix(it.Match, "/")
		ps.exact[key] = append(ps.exact[key], i)
	}
}

// candidates calls f for the elements that can match path, or that path can
// lead to if leading is set.
func (ps *Pathspec) candidates(path string, leading bool, f func(i int)) {
	if ps.exact == nil || leading {
		for i := len(ps.Items) - 1; i >= 0; i-- {
			f(i)
		}
		return
	}
	for i := 0; i < len(path); i++ {
		if path[i] == '/' {
			for _, n := range ps.exact[path[:i]] {
				f(n)
			}
		}
	}
	if !strings.HasSuffix(path, "/") {
		for _, n := range ps.exact[path] {
			f(n)
		}
	}
	for _, n := range ps.rest {
		f(n)
	}
}

func parseItem(arg string, global globals, o *PathspecOptions) (PathspecItem, error) {
	it := PathspecItem{Original: arg}
	rest, prefixLen := arg, -1
	var err error
	if !global.literal && strings.HasPrefix(arg, ":") {
		if strings.HasPrefix(arg, ":(") {
			rest, prefixLen, err = it.parseLong(arg)
		} else {
			rest, err = it.parseShort(arg)
		}
		if err != nil {
			return it, err
		}
	}
	it.Magic |= global.magic(it.Magic)
	if it.Magic&MagicLiteral != 0 && it.Magic&MagicGlob != 0 {
		return it, fmt.Errorf("%s: 'literal' and 'glob' are incompatible", arg)
	}
	switch {
	case prefixLen >= 0:
		it.Match, it.Prefix = rest, min(prefixLen, len(rest))
	case it.Magic&MagicTop != 0:
		it.Match = rest
	default:
		var ok bool
		it.Match, it.Prefix, ok = RelativePath(o.Root, o.Prefix, rest, o.FoldCase)
		if !ok {
			return it, fmt.Errorf("%s: '%s' is outside repository at '%s'", arg, rest, o.Root)
		}
	}
	if it.Magic&MagicLiteral != 0 {
		it.simple = len(it.Match)
	} else {
		it.simple = max(simpleLen(it.Match), it.Prefix)
		it.oneStar = it.Magic&MagicGlob == 0 && it.simple < len(it.Match) && it.Match[it.simple] == '*' &&
			simpleLen(it.Match[it.simple+1:]) == len(it.Match)-it.simple-1
	}
	return it, nil
}

// parseLong parses ":(top,attr:x)path" and returns the path, and the value of
// "prefix:" or -1.
func (it *PathspecItem) parseLong(arg string) (rest string, prefix int, err error) {
	prefix = -1
	pos := 2
	for pos < len(arg) && arg[pos] != ')' {
		n := spanEscaped(arg[pos:])
		word := arg[pos : pos+n]
		pos += n
		if pos < len(arg) && arg[pos] == ',' {
			pos++
		}
		if word == "" {
			continue
		}
		if v, ok := strings.CutPrefix(word, "prefix:"); ok {
			if prefix, err = strconv.Atoi(v); err != nil || prefix < 0 {
				return "", 0, fmt.Errorf("invalid parameter for pathspec magic 'prefix'")
			}
			continue
		}
		if v, ok := strings.CutPrefix(word, "attr:"); ok {
			if err := it.parseAttrs(v); err != nil {
				return "", 0, err
			}
			it.Magic |= MagicAttr
			continue
		}
		m := magicByName(word)
		if m == 0 {
			return "", 0, fmt.Errorf("Invalid pathspec magic '%s' in '%s'", word, arg)
		}
		it.Magic |= m
	}
	if pos >= len(arg) {
		return "", 0, fmt.Errorf("Missing ')' at the end of pathspec magic in '%s'", arg)
	}
	return arg[pos+1:], prefix, nil
}

// spanEscaped is the length of s up to a comma or parenthesis that no
// backslash precedes.
func spanEscaped(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) {
				i++
			}
		case ',', ')':
			return i
		}
	}
	return len(s)
}

// parseShort parses ":/path", ":!path" and the like.
func (it *PathspecItem) parseShort(arg string) (string, error) {
	pos := 1
loop:
	for ; pos < len(arg) && arg[pos] != ':'; pos++ {
		switch c := arg[pos]; {
		case c == '/':
			it.Magic |= MagicTop
		case c == '!' || c == '^':
			it.Magic |= MagicExclude
		case strings.IndexByte("\"#%&',-;<=>@_`~", c) >= 0:
			return "", fmt.Errorf("Unimplemented pathspec magic '%c' in '%s'", c, arg)
		default:
			break loop
		}
	}
	if pos < len(arg) && arg[pos] == ':' {
		pos++
	}
	return arg[pos:], nil
}

// parseAttrs parses the value of "attr:": requirements apart by spaces.
func (it *PathspecItem) parseAttrs(value string) error {
	if it.attrs != nil {
		return fmt.Errorf("Only one 'attr:' specification is allowed.")
	}
	if value == "" {
		return fmt.Errorf("attr spec must not be empty")
	}
	it.attrs = []attrMatch{}
	for _, w := range strings.Split(value, " ") {
		if w == "" {
			continue
		}
		m := attrMatch{state: AttrSet, name: w}
		switch w[0] {
		case '!':
			m.state, m.name = AttrUnspecified, w[1:]
		case '-':
			m.state, m.name = AttrUnset, w[1:]
		default:
			if name, v, ok := strings.Cut(w, "="); ok {
				m.state, m.name = AttrValue, name
				var err error
				if m.value, err = unescapeAttrValue(v); err != nil {
					return err
				}
			}
		}
		if !validAttrName(m.name) {
			return fmt.Errorf("invalid attribute name %s", m.name)
		}
		it.attrs = append(it.attrs, m)
	}
	return nil
}

func unescapeAttrValue(v string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' {
			if i++; i == len(v) {
				return "", fmt.Errorf("Escape character '\\' not allowed as last character in attr value")
			}
		}
		c := v[i]
		if !within(lower(c), 'a', 'z') && !within(c, '0', '9') && strings.IndexByte(",-_", c) < 0 {
			return "", fmt.Errorf("cannot use '%c' for value matching", c)
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

func magicByName(word string) Magic {
	switch word {
	case "top":
		return MagicTop
	case "literal":
		return MagicLiteral
	case "glob":
		return MagicGlob
	case "icase":
		return MagicIcase
	case "exclude":
		return MagicExclude
	case "attr":
		return MagicAttr
	}
	return 0
}

func magicNames(m Magic) string {
	var names []string
	for _, n := range []string{"top", "literal", "glob", "icase", "exclude", "attr"} {
		switch b := magicByName(n); {
		case m&b == 0:
		case b == MagicTop:
			names = append(names, "'top' (mnemonic: '/')")
		case b == MagicExclude:
			names = append(names, "'exclude' (mnemonic: '!')")
		default:
			names = append(names, "'"+n+"'")
		}
	}
	return strings.Join(names, ", ")
}

// globals are the settings that hold for every element.
type globals struct{ literal, glob, noglob, icase bool }

func globalMagic(getenv func(string) string) (globals, error) {
	var g globals
	if getenv == nil {
		return g, nil
	}
	for _, v := range []struct {
		name string
		to   *bool
	}{{"LITERAL", &g.literal}, {"GLOB", &g.glob}, {"NOGLOB", &g.noglob}, {"ICASE", &g.icase}} {
		name := "GIT_" + v.name + "_PATHSPECS"
		var err error
		if *v.to, err = envBool(name, getenv(name)); err != nil {
			return g, err
		}
	}
	if g.glob && g.noglob {
		return g, fmt.Errorf("global 'glob' and 'noglob' pathspec settings are incompatible")
	}
	if g.literal && (g.glob || g.icase) {
		return g, fmt.Errorf("global 'literal' pathspec setting is incompatible with all other global pathspec settings")
	}
	return g, nil
}

func (g globals) magic(element Magic) Magic {
	var m Magic
	if g.literal || g.noglob && element&MagicGlob == 0 {
		m |= MagicLiteral
	}
	if g.glob && element&MagicLiteral == 0 {
		m |= MagicGlob
	}
	if g.icase {
		m |= MagicIcase
	}
	return m
}

// envBool reads a boolean environment variable.
func envBool(name, value string) (bool, error) {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off":
		return false, nil
	case "1", "true", "yes", "on":
		return true, nil
	}
	if n, err := strconv.Atoi(value); err == nil {
		return n != 0, nil
	}
	return false, fmt.Errorf("bad boolean environment value '%s' for '%s'", value, name)
}
