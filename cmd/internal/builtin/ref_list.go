package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// refKind is what a ref is by its name.
type refKind uint8

const (
	kindBranch refKind = 1 << iota
	kindRemote
	kindTag
	kindOther
	kindDetached // HEAD
	kindRoot
	kindAll = kindBranch | kindRemote | kindTag | kindOther
)

func kindOf(name string) refKind {
	switch {
	case name == "HEAD":
		return kindDetached
	case strings.HasPrefix(name, "refs/heads/"):
		return kindBranch
	case strings.HasPrefix(name, "refs/remotes/"):
		return kindRemote
	case strings.HasPrefix(name, "refs/tags/"):
		return kindTag
	case refname.IsRoot(name):
		return kindRoot
	}
	return kindOther
}

// A refItem is a ref of a list.
type refItem struct {
	refs.Ref
	kind   refKind
	object *refObject
	tagged *refObject
	values map[*refAtom]atomValue
}

// A refList chooses, sorts and formats refs, for for-each-ref, branch and tag.
type refList struct {
	env   *Env
	store *refs.Store
	db    *odb.DB
	walk  *revision.Walk

	// What to choose.
	kinds             refKind
	patterns, exclude []string
	asPath            bool // patterns match whole names, or directories of them
	ignoreCase        bool
	pointsAt          map[oid.ID]bool
	contains, without []oid.ID // commits of --contains and --no-contains
	merged, unmerged  []oid.ID
	commitsOnly       bool
	startAfter        string

	// How to show it.
	sortKeys  []string
	color     bool
	omitEmpty bool
	max       int
	headFirst bool // a detached HEAD comes before all others

	specs                                []atomSpec
	atoms                                map[string]*refAtom
	needContent, needTagged, strictShort bool
	head                                 *string
	trees                                []linkedTree
	clock                                time.Time
	holds                                [2]map[oid.ID]bool // memories of --contains and --no-contains
}

// defaults takes from the configuration what the command line can override; it
// is called before the options are read.
func (l *refList) defaults(env *Env, sortKey string) error {
	l.env = env
	ui, _ := env.Config.Get("color.ui")
	l.color = ui == "always"
	if sortKey == "" {
		return nil
	}
	return l.configSort(sortKey)
}

// start opens what the list looks at.
func (l *refList) start(env *Env) error {
	l.env, l.atoms = env, map[string]*refAtom{}
	var err error
	if l.store, err = env.Repo.Refs(); err != nil {
		return err
	}
	if l.db, err = env.Repo.ODB(); err != nil {
		return err
	}
	if l.walk, err = revision.NewRepoWalk(env.Repo); err != nil {
		return err
	}
	l.strictShort, err = env.Config.Bool("core.warnambiguousrefs", true)
	return err
}

// filterOptions are the options that for-each-ref, branch and tag share. They
// are only noted: what they name is looked up by resolve.
type filterOptions struct {
	pointsAt, contains, without, merged, unmerged []string
}

func (f *filterOptions) list(long, argh, help string, v *[]string) parseopt.Option {
	return parseopt.Callback(0, long, argh, help, func(a parseopt.Arg) error {
		*v = append(*v, a.Value)
		return nil
	}).NoNeg().LastArgDefault("HEAD")
}

func (f *filterOptions) options() []parseopt.Option {
	return []parseopt.Option{
		f.list("contains", "commit", "only those that contain the commit", &f.contains),
		f.list("no-contains", "commit", "only those that do not contain the commit", &f.without),
		f.list("with", "commit", "only those that contain the commit", &f.contains).Hidden(),
		f.list("without", "commit", "only those that do not contain the commit", &f.without).Hidden(),
		f.list("merged", "commit", "only those that the commit contains", &f.merged),
		f.list("no-merged", "commit", "only those that the commit does not contain", &f.unmerged),
		parseopt.Callback(0, "points-at", "object", "only those that point to the object", func(a parseopt.Arg) error {
			if a.Unset {
				f.pointsAt = nil
			} else {
				f.pointsAt = append(f.pointsAt, a.Value)
			}
			return nil
		}).LastArgDefault("HEAD"),
	}
}

func (f *filterOptions) any() bool {
	return len(f.pointsAt)+len(f.contains)+len(f.without)+len(f.merged)+len(f.unmerged) > 0
}

// resolve looks up what the options name.
func (f *filterOptions) resolve(l *refList) Status {
	res := newResolver(l.env)
	for _, name := range f.pointsAt {
		id, err := res.Resolve(name, revision.Any)
		if err != nil {
			return Failure(129, fmt.Errorf("malformed object name '%s'", name))
		}
		if l.pointsAt == nil {
			l.pointsAt = map[oid.ID]bool{}
		}
		l.pointsAt[id] = true
	}
	for _, o := range []struct {
		names []string
		to    *[]oid.ID
		long  string
	}{{f.contains, &l.contains, ""}, {f.without, &l.without, ""}, {f.merged, &l.merged, "merged"}, {f.unmerged, &l.unmerged, "no-merged"}} {
		for _, name := range o.names {
			id, err := res.Resolve(name, revision.Any)
			switch {
			case err != nil && o.long != "":
				return Fatalf("malformed object name %s", name)
			case err != nil:
				return Failure(129, fmt.Errorf("malformed object name %s", name))
			}
			c, err := l.walk.Committish(id)
			switch {
			case err != nil && o.long != "":
				l.notCommit(id)
				return Failure(129, fmt.Errorf("option `%s' must point to a commit", o.long))
			case err != nil:
				l.notCommit(id)
				return Failure(129, fmt.Errorf("no such commit %s", name))
			}
			*o.to = append(*o.to, c.ID)
		}
	}
	return OK
}

// notCommit prints git's error for an object that had to be a commit.
func (l *refList) notCommit(id oid.ID) {
	if peeled, err := l.db.Peel(id, object.Bad); err == nil {
		id = peeled
	}
	l.env.Error(fmt.Errorf("object %s is a %s, not a commit", id, l.typeName(id)))
}

func (l *refList) typeName(id oid.ID) string {
	typ, _, err := l.db.Info(id)
	if err != nil {
		return "missing"
	}
	return typ.String()
}

// choose returns the refs that the filter lets through, in order of names.
func (l *refList) choose() ([]*refItem, error) {
	var list []*refItem
	take := func(r refs.Ref) error {
		item, err := l.accept(r)
		if item != nil {
			list = append(list, item)
		}
		return err
	}
	flags := refs.Paranoid
	if l.kinds&kindRoot != 0 {
		flags |= refs.IncludeRoot
	}
	for r, err := range l.store.All(l.prefix(), flags) {
		if err == nil && (l.startAfter == "" || r.Name > l.startAfter) {
			err = take(r)
		}
		if err != nil {
			return nil, err
		}
	}
	if l.kinds&(kindDetached|kindRoot) == kindDetached {
		if r, err := l.store.Resolve("HEAD", refs.Reading); err == nil {
			if err := take(refs.Ref{Name: "HEAD", ID: r.ID, Symref: r.Symref, Target: r.Name}); err != nil {
				return nil, err
			}
		}
	}
	return l.reachable(list)
}

// prefix is what the names of all refs that can be chosen begin with.
func (l *refList) prefix() string {
	switch l.kinds &^ kindDetached {
	case kindBranch:
		return "refs/heads/"
	case kindRemote:
		return "refs/remotes/"
	case kindTag:
		return "refs/tags/"
	}
	if !l.asPath || l.ignoreCase || len(l.patterns) != 1 || l.kinds&kindRoot != 0 {
		return ""
	}
	p := l.patterns[0]
	if i := strings.IndexAny(p, "*?[\\"); i >= 0 {
		p = p[:i]
	}
	return p
}

// accept returns the item of a ref, or nil if the filter does not let it through.
func (l *refList) accept(r refs.Ref) (*refItem, error) {
	if r.BadName {
		l.env.Warn("ignoring ref with broken name %s", r.Name)
		return nil, nil
	}
	if r.Broken {
		l.env.Warn("ignoring broken ref %s", r.Name)
		return nil, nil
	}
	kind := kindOf(r.Name)
	if l.kinds&kindRoot != 0 && kind == kindDetached {
		kind = kindRoot
	}
	if kind&l.kinds == 0 || len(l.patterns) > 0 && !l.matches(r.Name, l.patterns) || len(l.exclude) > 0 && l.matches(r.Name, l.exclude) {
		return nil, nil
	}
	if l.pointsAt != nil {
		if ok, err := l.pointsTo(r.ID, r.Name); err != nil || !ok {
			return nil, err
		}
	}
	if l.commitsOnly || len(l.contains)+len(l.without)+len(l.merged)+len(l.unmerged) > 0 {
		c, err := l.walk.Committish(r.ID)
		if err != nil {
			return nil, nil
		}
		if ok, err := l.containing(c); err != nil || !ok {
			return nil, err
		}
	}
	return &refItem{Ref: r, kind: kind}, nil
}

func (l *refList) matches(name string, patterns []string) bool {
	var flags worktree.WildFlags
	if l.ignoreCase {
		flags |= worktree.WildCaseFold
	}
	if !l.asPath {
		for _, prefix := range [...]string{"refs/tags/", "refs/heads/", "refs/remotes/", "refs/"} {
			if rest, ok := strings.CutPrefix(name, prefix); ok {
				name = rest
				break
			}
		}
		return slices.ContainsFunc(patterns, func(p string) bool { return worktree.Wildmatch(p, name, flags) })
	}
	return slices.ContainsFunc(patterns, func(p string) bool {
		if rest, ok := strings.CutPrefix(name, p); ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(p, "/")) {
			return true
		}
		return worktree.Wildmatch(p, name, flags|worktree.WildPathname)
	})
}

// pointsTo reports whether the ref, or a tag that it leads through, is one of
// the objects of --points-at.
func (l *refList) pointsTo(id oid.ID, name string) (bool, error) {
	for !l.pointsAt[id] {
		typ, _, err := l.db.Info(id)
		if err != nil {
			return false, fmt.Errorf("malformed object at '%s'", name)
		}
		if typ != object.Tag {
			return false, nil
		}
		tag, err := l.db.ReadTag(id)
		if err != nil {
			return false, fmt.Errorf("malformed object at '%s'", name)
		}
		id = tag.Object
	}
	return true, nil
}

// containing applies --contains and --no-contains.
func (l *refList) containing(c *revision.Commit) (bool, error) {
	if len(l.contains) > 0 {
		if ok, err := l.reaches(0, c, l.contains); err != nil || !ok {
			return false, err
		}
	}
	if len(l.without) > 0 {
		ok, err := l.reaches(1, c, l.without)
		return !ok, err
	}
	return true, nil
}

// reaches reports whether one of the commits wanted is among the ancestors of
// from, which are visited once in all calls of the same slot.
func (l *refList) reaches(slot int, from *revision.Commit, wanted []oid.ID) (bool, error) {
	if l.holds[slot] == nil {
		l.holds[slot] = map[oid.ID]bool{}
	}
	known := l.holds[slot]
	type step struct {
		c    *revision.Commit
		next int
	}
	stack := []step{{c: from}}
	for len(stack) > 0 {
		s := &stack[len(stack)-1]
		if _, done := known[s.c.ID]; done {
			stack = stack[:len(stack)-1]
			continue
		}
		if s.next == 0 {
			c, err := l.walk.Commit(s.c.ID)
			if err != nil {
				return false, err
			}
			s.c = c
		}
		if slices.Contains(wanted, s.c.ID) || s.next > 0 && known[s.c.Parents[s.next-1].ID] {
			known[s.c.ID] = true
			continue
		}
		if s.next == len(s.c.Parents) {
			known[s.c.ID] = false
			continue
		}
		s.next++
		stack = append(stack, step{c: s.c.Parents[s.next-1]})
	}
	return known[from.ID], nil
}

// reachable applies --merged and --no-merged.
func (l *refList) reachable(list []*refItem) ([]*refItem, error) {
	for _, f := range []struct {
		from []oid.ID
		want bool
	}{{l.merged, true}, {l.unmerged, false}} {
		if len(f.from) == 0 {
			continue
		}
		seen, err := l.ancestors(f.from)
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(r *refItem) bool {
			c, err := l.walk.Committish(r.ID)
			return err != nil || seen[c.ID] != f.want
		})
	}
	return list, nil
}

func (l *refList) ancestors(from []oid.ID) (map[oid.ID]bool, error) {
	seen := map[oid.ID]bool{}
	todo := slices.Clone(from)
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		c, err := l.walk.Commit(id)
		if err != nil {
			return nil, err
		}
		for _, p := range c.Parents {
			todo = append(todo, p.ID)
		}
	}
	return seen, nil
}

// A sortKey is one argument of --sort.
type sortKey struct {
	atom              *refAtom
	reverse, versions bool
}

// parseSort reads the keys; the last one counts most.
func (l *refList) parseSort() ([]sortKey, error) {
	var keys []sortKey
	for _, text := range slices.Backward(l.sortKeys) {
		var k sortKey
		text, k.reverse = strings.CutPrefix(text, "-")
		if rest, ok := strings.CutPrefix(text, "version:"); ok {
			text, k.versions = rest, true
		} else if rest, ok := strings.CutPrefix(text, "v:"); ok {
			text, k.versions = rest, true
		}
		if k.versions {
			for _, name := range []string{"versionsort.suffix", "versionsort.prereleasesuffix"} {
				if _, ok := l.env.Config.Get(name); ok {
					return nil, &parseopt.NotNativeError{Option: name}
				}
			}
		}
		var err error
		if k.atom, err = l.atom(text); err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func (l *refList) sort(list []*refItem, keys []sortKey) error {
	if len(keys) == 0 || len(keys) == 1 && keys[0].atom.name == "refname" && !keys[0].reverse && !keys[0].versions && !l.ignoreCase && !l.headFirst {
		return nil // that is their order
	}
	for _, r := range list {
		for _, k := range keys {
			if _, err := l.value(r, k.atom); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *refItem) int {
		for _, k := range keys {
			if c := l.compare(k, a, b); c != 0 {
				return c
			}
		}
		if l.ignoreCase {
			return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		}
		return strings.Compare(a.Name, b.Name)
	})
	return nil
}

func (l *refList) compare(k sortKey, a, b *refItem) int {
	if l.headFirst && (a.kind|b.kind)&kindDetached != 0 && a.kind != b.kind {
		if a.kind == kindDetached {
			return -1
		}
		return 1
	}
	va, vb := a.values[k.atom], b.values[k.atom]
	c := 0
	switch {
	case k.versions:
		c = compareVersions(va.text, vb.text)
	case k.atom.spec.number && (k.atom.arg == "" || !strings.HasSuffix(k.atom.base, "date")), k.atom.base == "contents" && k.atom.arg == "size", k.atom.base == "raw" && k.atom.arg == "size":
		switch {
		case va.n < vb.n:
			c = -1
		case va.n > vb.n:
			c = 1
		}
	case l.ignoreCase:
		c = strings.Compare(strings.ToLower(va.text), strings.ToLower(vb.text))
	default:
		c = strings.Compare(va.text, vb.text)
	}
	if k.reverse {
		return -c
	}
	return c
}

// compareVersions orders texts as strverscmp(3) does: runs of digits by their
// value, and those that begin with 0 as fractions.
func compareVersions(a, b string) int {
	p := 0
	for p < len(a) && p < len(b) && a[p] == b[p] {
		p++
	}
	ca, cb := byteAt(a, p), byteAt(b, p)
	if ca == cb {
		return 0
	}
	run := p
	for run > 0 && isDigit(a[run-1]) {
		run--
	}
	da, db := isDigit(ca), isDigit(cb)
	zeros := strings.Trim(a[run:p], "0") == ""
	switch {
	case run == p && da && db && ca != '0' && cb != '0', run < p && a[run] != '0' && da && db:
		// Both are numbers: the longer one is greater.
		if na, nb := digits(a[p:]), digits(b[p:]); na != nb {
			return na - nb
		}
	case run < p && a[run] != '0' && da != db:
		if da {
			return 1
		}
		return -1
	case run < p && zeros && da != db:
		if da {
			return -1
		}
		return 1
	}
	return int(ca) - int(cb)
}

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// formatStatus makes a malformed format end as a mistake on the command line.
func formatStatus(err error, p *parseopt.Parser) Status {
	if errors.Is(err, errMalformedFormat) {
		return Fatal(p.UsageError(err.Error()))
	}
	return Fatal(err)
}

// print chooses, sorts and prints the refs.
func (l *refList) print(f *refFormat, keys []sortKey) error {
	list, err := l.choose()
	if err != nil {
		return err
	}
	if err := l.sort(list, keys); err != nil {
		return err
	}
	return l.printAll(f, list)
}

func (l *refList) printAll(f *refFormat, list []*refItem) error {
	if l.max > 0 && len(list) > l.max {
		list = list[:l.max]
	}
	for _, r := range list {
		out, err := f.render(r)
		if err != nil {
			return err
		}
		if len(out) > 0 || !l.omitEmpty {
			l.env.Stdout.Write(append(out, '\n'))
		}
	}
	return nil
}
