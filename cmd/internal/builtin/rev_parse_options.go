package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// option carries out one option of rev-parse, or shows one of others.
func (p *revParse) option(arg string) error {
	name, value, hasValue := strings.Cut(arg, "=")
	switch name {
	case "--git-path", "--default", "--prefix", "--path-format", "--short", "--abbrev-ref", "--disambiguate", "--branches", "--tags",
		"--remotes", "--glob", "--exclude", "--exclude-hidden", "--since", "--after", "--before", "--until", "--show-object-format":
		if done, err := p.valueOption(name, value, hasValue); done || err != nil {
			return err
		}
	}
	if done, err := p.filterOption(arg); done || err != nil {
		return err
	}
	if done, err := p.queryOption(arg); done || err != nil {
		return err
	}
	switch name {
	case "--show-superproject-working-tree", "--output-object-format":
		return NotNative(name).Err
	}
	if p.showFlag(arg) && p.verify {
		return p.noSingle()
	}
	return nil
}

// filterOption carries out options that say what is shown, and how.
func (p *revParse) filterOption(arg string) (done bool, err error) {
	switch arg {
	case "-n":
		n, err := p.next("-n")
		if err == nil && p.flags && p.revs {
			p.show(arg)
			p.show(n)
		}
		return true, err
	case "--revs-only":
		p.noRevs = false
	case "--no-revs":
		p.revs = false
	case "--flags":
		p.nonFlags = false
	case "--no-flags":
		p.flags = false
	case "--verify":
		p.flags, p.noRevs, p.verify = false, false, true
	case "--quiet", "-q":
		p.quiet = true
	case "--sq":
		p.sq = true
	case "--not":
		p.reversed = !p.reversed
	case "--symbolic":
		p.symbolic, p.full = true, false
	case "--symbolic-full-name":
		p.symbolic, p.full = false, true
	case "--all":
		return true, p.showRefs("refs/", "", nil)
	case "--bisect":
		return true, p.showBisect()
	case "--end-of-options":
		p.endOfOptions = true
		if p.flags || p.revs {
			_, err = p.showFileRaw(arg)
		}
		return true, err
	default:
		if strings.HasPrefix(arg, "-n") {
			if p.flags && p.revs {
				p.show(arg)
			}
			return true, nil
		}
		return false, nil
	}
	return true, nil
}

// valueOption carries out options that have a value, or may have.
func (p *revParse) valueOption(name, value string, has bool) (done bool, err error) {
	switch name {
	case "--git-path", "--default", "--prefix":
		if has {
			return false, nil
		}
		return true, p.separateOption(name)
	case "--path-format":
		switch {
		case !has:
			return true, fmt.Errorf("--path-format requires an argument")
		case value == "absolute":
			p.canon, p.relative = true, false
		case value == "relative":
			p.canon, p.relative = false, true
		default:
			return true, fmt.Errorf("unknown argument to --path-format: %s", value)
		}
	case "--short":
		p.flags, p.noRevs, p.verify = false, false, true
		p.abbrev = -1
		if n := p.res.AbbrevLen(); n > 0 {
			p.abbrev = n
		}
		if has {
			p.abbrev = min(max(leadingDigits(value), 4), p.env.Repo.Algo.HexSize())
		}
	case "--abbrev-ref":
		return true, p.abbrevRefOption(value, has)
	case "--disambiguate":
		if !has {
			return false, nil
		}
		return true, p.disambiguate(value)
	case "--branches":
		return true, p.showKind(name, "refs/heads/", value, has)
	case "--tags":
		return true, p.showKind(name, "refs/tags/", value, has)
	case "--remotes":
		return true, p.showKind(name, "refs/remotes/", value, has)
	case "--glob":
		if !has {
			return false, nil
		}
		return true, p.showGlob("", value, true)
	case "--exclude":
		if !has {
			return false, nil
		}
		p.exclude.patterns = append(p.exclude.patterns, value)
	case "--exclude-hidden":
		if !has {
			return false, nil
		}
		return true, p.exclude.hide(p.env, value)
	case "--since", "--after":
		if has {
			p.showDate("--max-age=", value)
		}
		return has, nil
	case "--before", "--until":
		if has {
			p.showDate("--min-age=", value)
		}
		return has, nil
	case "--show-object-format":
		return true, p.objectFormat(value, has)
	}
	return true, nil
}

// separateOption carries out options whose value is the next argument.
func (p *revParse) separateOption(name string) error {
	value, err := p.next(name)
	if err != nil {
		return err
	}
	switch name {
	case "--git-path":
		p.printPath(p.env.Repo.GitPathName(value), sharedRelative)
	case "--default":
		p.def = &value
	case "--prefix":
		p.prefix, p.outputPrefix = value, true
		p.env.Repo.Prefix = value
	}
	return nil
}

// leadingDigits reads the digits that s starts with, as strtoul does.
func leadingDigits(s string) int {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}

func (p *revParse) abbrevRefOption(value string, has bool) error {
	p.abbrevRef = true
	strict, err := p.env.Config.Bool("core.warnambiguousrefs", true)
	if err != nil {
		return err
	}
	p.abbrevStrict = strict
	switch {
	case !has:
	case value == "strict":
		p.abbrevStrict = true
	case value == "loose":
		p.abbrevStrict = false
	default:
		return fmt.Errorf("unknown mode for --abbrev-ref: %s", value)
	}
	return nil
}

func (p *revParse) disambiguate(prefix string) error {
	for _, c := range []byte(prefix) {
		if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return nil
		}
	}
	db, err := p.env.Repo.ODB()
	if err != nil {
		return err
	}
	ids, err := db.Abbrev(strings.ToLower(prefix))
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := p.showRev(false, id, ""); err != nil {
			return err
		}
	}
	return nil
}

func (p *revParse) objectFormat(value string, has bool) error {
	if !has {
		value = "storage"
	}
	switch value {
	case "storage", "input", "output":
		p.env.Print(p.env.Repo.Algo.String(), "\n")
	case "compat":
		p.env.Print("\n")
	default:
		return fmt.Errorf("unknown mode for --show-object-format: %s", value)
	}
	return nil
}

// showKind is showGlob for an option that does not go with --exclude-hidden.
func (p *revParse) showKind(option, prefix, pattern string, has bool) error {
	if err := p.exclude.refuse(option); err != nil {
		p.env.Error(err)
		return statusError(255)
	}
	return p.showGlob(prefix, pattern, has)
}

// showGlob shows the refs below prefix that match a pattern; without a prefix
// the pattern starts at refs/.
func (p *revParse) showGlob(prefix, pattern string, has bool) error {
	if !has {
		return p.showRefs(prefix, prefix, nil)
	}
	match := refGlob(prefix, pattern)
	return p.showRefs("refs/", prefix, match)
}

// refGlob returns a test for the refs that --glob, --branches=<pattern> and the
// like mean.
func refGlob(prefix, pattern string) func(name string) bool {
	full := prefix + pattern
	if prefix == "" && !strings.HasPrefix(pattern, "refs/") {
		full = "refs/" + pattern
	}
	if !strings.ContainsAny(pattern, "*?[\\") {
		full = strings.TrimSuffix(full, "/") + "/*"
	}
	return func(name string) bool { return worktree.Wildmatch(full, name, 0) }
}

// showRefs shows refs, without the part trim of their names, and forgets what
// was excluded.
func (p *revParse) showRefs(prefix, trim string, match func(string) bool) error {
	exclude := p.exclude
	p.exclude = refExclusions{}
	return eachRefBut(p.env, prefix, trim, match, exclude, func(name string, id oid.ID) error {
		return p.showRev(false, id, name)
	})
}

// queryOption answers questions about the repository.
func (p *revParse) queryOption(arg string) (done bool, err error) {
	r := p.env.Repo
	switch arg {
	case "--show-toplevel":
		if r.WorkTree == "" {
			return true, fmt.Errorf("this operation must be run in a work tree")
		}
		p.printPath(r.WorkTree, asIs)
	case "--show-prefix":
		p.env.Print(p.prefix, "\n")
	case "--show-cdup":
		p.showCdup()
	case "--git-dir":
		p.gitDir(false)
	case "--absolute-git-dir":
		p.gitDir(true)
	case "--git-common-dir":
		p.printPath(r.CommonDirName, sharedRelative)
	case "--is-inside-git-dir":
		p.printBool(r.InsideGitDir())
	case "--is-inside-work-tree":
		p.printBool(r.InsideWorkTree())
	case "--is-bare-repository":
		p.printBool(r.Bare)
	case "--is-shallow-repository":
		fi, err := os.Stat(r.ShallowPath())
		p.printBool(err == nil && fi.Size() > 0)
	case "--shared-index-path":
		o, err := indexOptions(p.env)
		if err != nil {
			return true, err
		}
		_, err = readIndex(p.env, o) // a split index is refused
		return true, err
	case "--show-ref-format":
		p.env.Print("files\n")
	default:
		return false, nil
	}
	return true, nil
}

// showBisect shows the refs of a bisection: bad ones, and good ones excluded.
func (p *revParse) showBisect() error {
	bad, good := "bad", "good"
	if data, err := os.ReadFile(p.env.Repo.GitPath("BISECT_TERMS")); err == nil {
		if lines := strings.Split(string(data), "\n"); len(lines) > 1 {
			bad, good = lines[0], lines[1]
		}
	}
	for _, side := range []struct {
		term string
		not  bool
	}{{bad, false}, {good, true}} {
		err := eachRef(p.env, "refs/bisect/"+side.term, nil, nil, func(name string, id oid.ID) error {
			return p.showRev(side.not, id, name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *revParse) printBool(b bool) { p.env.Print(strconv.FormatBool(b), "\n") }

func (p *revParse) showCdup() {
	r := p.env.Repo
	if !r.InsideWorkTree() {
		if r.WorkTree != "" {
			p.env.Print(r.WorkTree, "\n")
		}
		return
	}
	p.env.Print(strings.Repeat("../", strings.Count(p.prefix, "/")), "\n")
}

func (p *revParse) gitDir(absolute bool) {
	dir, exported := p.env.LookupEnv("GIT_DIR")
	switch {
	case absolute && !exported && p.prefix == "":
		dir = p.real(".git")
	case absolute && exported:
		dir = p.real(dir)
	case exported:
		p.printPath(dir, asIs)
		return
	case p.prefix == "":
		p.printPath(".git", asIs)
		return
	default:
		dir = strings.TrimSuffix(p.env.Repo.Dir, "/") + "/.git"
		if absolute {
			dir = p.real(dir)
		} else {
			p.printPath(dir, canonical)
			return
		}
	}
	p.env.Print(dir, "\n")
}

// The forms in which paths are printed unless --path-format says otherwise.
type pathForm uint8

const (
	asIs           pathForm = iota
	canonical               // absolute, links resolved
	sharedRelative          // relative if both are
)

func (p *revParse) printPath(path string, form pathForm) {
	switch {
	case p.canon || !p.relative && form == canonical:
		path = p.real(path)
	case p.relative:
		base := p.prefix
		if base == "" {
			base = p.env.Repo.Dir
		}
		if !filepath.IsAbs(path) {
			path = p.real(path)
		}
		if !filepath.IsAbs(base) {
			base = p.real(base)
		}
		path = relativeName(path, base)
	case form == sharedRelative:
		path = relativeName(path, p.prefix)
	}
	p.env.Print(path, "\n")
}

// real resolves the links in a path that is relative to where git would be;
// its last parts need not exist.
func (p *revParse) real(path string) string {
	if !filepath.IsAbs(path) {
		path = p.env.Repo.Dir + "/" + path
	}
	path = filepath.Clean(path)
	rest := ""
	for dir := path; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
}

// relativeName names path as seen from the directory base, where both are
// absolute or both are not.
func relativeName(path, base string) string {
	switch {
	case path == "":
		return "./"
	case base == "" || filepath.IsAbs(path) != filepath.IsAbs(base):
		return path
	}
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == '/' })
	}
	to, from := split(path), split(base)
	for len(to) > 0 && len(from) > 0 && to[0] == from[0] {
		to, from = to[1:], from[1:]
	}
	rel := strings.Repeat("../", len(from)) + strings.Join(to, "/")
	if rel == "" {
		return "./"
	}
	return rel
}
