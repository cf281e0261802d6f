package builtin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/diff"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// How a status is printed.
const (
	formatUnset = iota - 1
	formatNone  // as formatLong, but not asked for
	formatLong
	formatShort
	formatV1
	formatV2
)

// Which untracked or ignored files a status shows.
const (
	showNone = iota
	showNormal
	showAll
)

// A wtChange is what a status knows of one path.
type wtChange struct {
	path                          string
	index, work                   byte // statuses; 0: none
	stages                        uint8
	headMode, indexMode, workMode uint32
	headID, indexID               oid.ID
	renameFrom                    string
	renameStatus                  byte
	renameScore                   int
	dirt                          diff.Dirt
}

// A wtStatus is the state of the working tree and the index.
type wtStatus struct {
	env   *Env
	res   *revision.Resolver
	files *Files
	ps    *worktree.Pathspec
	out   io.Writer

	// Settings.
	format                      int
	nul, relative               bool
	summary                     bool // status.submoduleSummary
	branchHeader                int  // -1: not said
	showStash, hints            bool
	aheadBehind                 int // -1: not said
	untrackedMode, ignoredMode  int
	renames, copies, renamesSet bool
	renameScore                 int
	renameLimit                 int
	ignoreSubmodules            string
	comment                     string // "#" in a commit template, else ""
	reference                   string // HEAD, or HEAD^ when amending
	amend, noWarn, template     bool
	highQuoted                  bool // core.quotePath

	// What was found.
	branch      string // full name, "HEAD" if detached, "" if broken
	initial     bool
	commit      oid.ID
	changes     []*wtChange
	byPath      map[string]*wtChange
	untracked   []string
	ignored     []string
	dirty       bool // the working tree differs from the index
	committable bool
	state       wtState
	walkTime    time.Duration // that it took to find untracked files
}

// newStatus reads the settings of status.
func newStatus(env *Env) (*wtStatus, error) {
	s := &wtStatus{
		env: env, res: newResolver(env), out: env.Stdout, relative: true, branchHeader: -1, aheadBehind: -1, untrackedMode: showNormal,
		renames: true, reference: "HEAD", hints: true, byPath: make(map[string]*wtChange),
	}
	if err := s.settings(); err != nil {
		return nil, err
	}
	store, err := env.Repo.Refs()
	if err != nil {
		return nil, err
	}
	if head, err := store.Resolve("HEAD", 0); err == nil {
		s.branch = head.Name
	}
	return s, nil
}

func (s *wtStatus) settings() error {
	c := s.env.Config
	var err error
	boolean := func(key string, to *bool) {
		if err == nil {
			*to, err = c.Bool(key, *to)
		}
	}
	boolean("status.relativepaths", &s.relative)
	boolean("status.showstash", &s.showStash)
	boolean("advice.statushints", &s.hints)
	if on, e := s.env.EnvBool("GIT_ADVICE", true); e == nil && !on {
		s.hints = false
	}
	comment := false
	boolean("status.displaycommentprefix", &comment)
	if comment {
		s.comment = commentString(s.env)
	}
	s.highQuoted = true
	boolean("core.quotepath", &s.highQuoted)
	if err != nil {
		return err
	}
	for _, key := range []string{"status.renames", "diff.renames"} {
		if v, ok := c.Get(key); ok {
			if v == "copies" || v == "copy" {
				s.copies = true
			} else if s.renames, err = c.Bool(key, true); err != nil {
				return err
			}
			break
		}
	}
	for _, key := range []string{"status.renamelimit", "diff.renamelimit"} {
		if c.Lookup(key) != nil {
			s.renameLimit, err = c.Int(key, 0)
			if s.renameLimit == 0 {
				s.renameLimit = -1
			}
			break
		}
	}
	if v, ok := c.Get("status.showuntrackedfiles"); ok && err == nil {
		if s.untrackedMode, ok = untrackedMode(v, c.Lookup("status.showuntrackedfiles").HasValue); !ok {
			return fmt.Errorf("Invalid untracked files mode '%s'", v)
		}
	}
	if e := c.Lookup("status.submodulesummary"); e != nil && err == nil {
		var n int
		_, n, err = e.BoolOrInt()
		s.summary = n != 0
	}
	return err
}

// untrackedMode reads a value of -u or status.showUntrackedFiles.
func untrackedMode(v string, has bool) (int, bool) {
	switch strings.ToLower(v) {
	case "no", "false", "off", "0":
		return showNone, true
	case "normal", "true", "yes", "on", "1":
		return showNormal, true
	case "all":
		return showAll, true
	}
	return showNormal, !has
}

// foreignStatus names what a status is asked for that only real git does, or "".
func foreignStatus(env *Env) string {
	if s := foreignFiles(env); s != "" {
		return s
	}
	for _, key := range []string{"color.status", "status.color", "color.ui", "column.status", "column.ui"} {
		if v, ok := env.Config.Get(key); ok && strings.HasPrefix(v, "always") {
			return key
		}
	}
	return ""
}

// commentString is core.commentString: what begins a line of comment.
func commentString(env *Env) string {
	for _, key := range []string{"core.commentstring", "core.commentchar"} {
		if v, ok := env.Config.Get(key); ok && v != "" && !strings.EqualFold(v, "auto") {
			return v
		}
	}
	return "#"
}

// change returns what is known of a path, a new record if need be.
func (s *wtStatus) change(path string) *wtChange {
	c := s.byPath[path]
	if c == nil {
		c = &wtChange{path: path, headID: s.env.Repo.Algo.Null(), indexID: s.env.Repo.Algo.Null()}
		s.byPath[path] = c
		s.changes = append(s.changes, c)
	}
	return c
}

// collect compares HEAD, index and working tree.
func (s *wtStatus) collect() error {
	tree, err := s.headTree()
	if err != nil {
		return err
	}
	base := &diff.Comparer{DB: s.files.Objects, Paths: s.ps}
	if err := s.collectWork(base); err != nil {
		return err
	}
	if err := s.collectIndex(base, tree); err != nil {
		return err
	}
	slices.SortFunc(s.changes, func(a, b *wtChange) int { return strings.Compare(a.path, b.path) })
	s.collectUntracked()
	if err := s.state.read(s.env, s.branch == "HEAD"); err != nil {
		return err
	}
	if s.state.merge && !s.hasUnmerged() {
		s.committable = true
	}
	return nil
}

// headTree returns the tree to compare with; null for an initial commit.
func (s *wtStatus) headTree() (oid.ID, error) {
	id, err := s.res.Resolve(s.reference, revision.Any)
	if err != nil {
		if !errors.Is(err, revision.ErrUnknown) {
			return oid.ID{}, err
		}
		s.initial = true
		return s.env.Repo.Algo.Null(), nil
	}
	s.commit = id
	tree, err := s.files.Objects.Peel(id, object.Tree)
	if err != nil {
		return oid.ID{}, fmt.Errorf("bad object %s", s.reference)
	}
	return tree, nil
}

// renamed finds renames among changes.
func (s *wtStatus) renamed(changes []diff.Change) []diff.Change {
	if !s.renames && !s.copies {
		return changes
	}
	o := diff.Renames{Copies: s.copies, Score: s.renameScore, Limit: s.renameLimit, Content: s.files.content}
	out, _ := o.Find(s.files.Objects, changes)
	return out
}

// content reads one side of a change, for rename detection.
func (f *Files) content(file diff.File) ([]byte, error) {
	if !file.ID.IsNull() {
		_, content, err := f.Objects.Read(file.ID)
		return content, err
	}
	name := f.Tree.Root + "/" + file.Path
	if file.Mode&0o170000 == 0o120000 {
		target, err := os.Readlink(name)
		return []byte(target), err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	plan, err := f.Tree.Convert.Plan(file.Path)
	if err != nil {
		return nil, err
	}
	return f.Tree.Convert.ToGit(&plan, file.Path, content, worktree.ConvertOptions{})
}

func (s *wtStatus) collectWork(base *diff.Comparer) error {
	w := &diff.WorkTree{Comparer: base, Tree: s.files.Tree}
	if s.ignoreSubmodules != "all" && s.ignoreSubmodules != "dirty" {
		w.Submodule = s.submoduleDirt
	}
	var found []diff.Change
	err := w.IndexFiles(s.files.Index, func(c diff.Change) error {
		if c.New.Mode&0o170000 == 0o160000 && s.ignoreSubmodules == "all" {
			return nil
		}
		found = append(found, c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range s.renamed(found) {
		s.dirty = true
		s.workChange(&c)
	}
	return nil
}

// workChange records a difference between index and working tree.
func (s *wtStatus) workChange(c *diff.Change) {
	d := s.change(c.New.Path)
	if d.work == 0 {
		d.work = c.Status
	}
	if c.New.Mode&0o170000 == 0o160000 {
		d.dirt = c.Submodule
		if s.format == formatShort {
			d.work = shortSubmodule(d)
		}
	}
	switch c.Status {
	case diff.Added:
		d.workMode = c.New.Mode
		return
	case diff.Deleted:
		d.indexMode, d.indexID = c.Old.Mode, c.Old.ID
		return
	case diff.Renamed, diff.Copied:
		d.renameFrom, d.renameScore, d.renameStatus = c.Old.Path, c.Percent(), c.Status
	}
	d.indexMode, d.workMode, d.indexID = c.Old.Mode, c.New.Mode, c.Old.ID
}

func shortSubmodule(d *wtChange) byte {
	switch {
	case d.dirt&diff.NewCommits != 0:
		return 'M'
	case d.dirt&diff.ModifiedContent != 0:
		return 'm'
	case d.dirt&diff.UntrackedContent != 0:
		return '?'
	}
	return d.work
}

func (s *wtStatus) collectIndex(base *diff.Comparer, tree oid.ID) error {
	if s.initial {
		s.collectInitial(base)
		return nil
	}
	var found []diff.Change
	err := base.TreeIndex(tree, s.files.Index, func(c diff.Change) error {
		if s.ignoreSubmodules == "all" && (c.New.Mode&0o170000 == 0o160000 || c.Old.Mode&0o170000 == 0o160000) {
			return nil
		}
		found = append(found, c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range s.renamed(found) {
		s.indexChange(&c)
	}
	return nil
}

// indexChange records a difference between HEAD and index.
func (s *wtStatus) indexChange(c *diff.Change) {
	d := s.change(c.New.Path)
	if d.index == 0 {
		d.index = c.Status
	}
	switch c.Status {
	case diff.Unmerged:
		d.stages = s.stages(c.New.Path)
		return
	case diff.Added:
		d.indexMode, d.indexID = c.New.Mode, c.New.ID
	case diff.Deleted:
		d.headMode, d.headID = c.Old.Mode, c.Old.ID
	case diff.Renamed, diff.Copied:
		d.renameFrom, d.renameScore, d.renameStatus = c.Old.Path, c.Percent(), c.Status
		fallthrough
	default:
		d.headMode, d.indexMode = c.Old.Mode, c.New.Mode
		d.headID, d.indexID = c.Old.ID, c.New.ID
	}
	s.committable = true
}

// stages returns which sides of a conflict the index has: bit 0 for stage 1.
func (s *wtStatus) stages(path string) uint8 {
	var mask uint8
	for stage := uint8(1); stage <= 3; stage++ {
		if s.files.Index.Find(path, stage) != nil {
			mask |= 1 << (stage - 1)
		}
	}
	return mask
}

func (s *wtStatus) collectInitial(base *diff.Comparer) {
	for _, e := range s.files.Index.Entries {
		if e.Has(index.IntentToAdd) || s.ps != nil && s.ps.MatchEntry(e, nil) == worktree.NoMatch {
			continue
		}
		d := s.change(e.Name)
		s.committable = true
		if e.Stage != 0 {
			d.index = diff.Unmerged
			d.stages |= 1 << (e.Stage - 1)
			continue
		}
		d.index, d.indexMode, d.indexID = diff.Added, e.Mode, e.ID
	}
}

func (s *wtStatus) collectUntracked() {
	if s.untrackedMode == showNone {
		return
	}
	r := s.env.Repo
	o := worktree.WalkOptions{
		Root: r.WorkTree, GitDir: r.GitDir, Index: s.files.Index, Pathspec: s.ps,
		Ignore:       worktree.NewIgnore(standardIgnore(s.env, nil)),
		CollapseDirs: s.untrackedMode != showAll, HideEmpty: s.untrackedMode != showAll,
		Ignored: s.ignoredMode != showNone, IgnoredMatching: s.ignoredMode == showAll,
		FoldCase: s.files.Index.Options.Stat.IgnoreCase, Report: s.env.line,
	}
	begin := time.Now()
	found := worktree.Walk(o)
	s.untracked, s.ignored = found.Untracked, found.Ignored
	s.walkTime = time.Since(begin)
}

func (s *wtStatus) hasUnmerged() bool {
	for _, c := range s.changes {
		if c.stages != 0 {
			return true
		}
	}
	return false
}

// submoduleDirt looks at the working tree of a submodule that is checked out.
func (s *wtStatus) submoduleDirt(e *index.Entry) (diff.Dirt, error) {
	return submoduleDirt(s.env, e.Name, s.untrackedMode != showNone && s.ignoreSubmodules != "untracked")
}

// submoduleDirt returns how the repository at path differs from its own HEAD.
func submoduleDirt(env *Env, path string, untracked bool) (diff.Dirt, error) {
	dir := env.Repo.WorkTree + "/" + path
	if !worktree.IsRepositoryDir(dir + "/.git") {
		return 0, nil
	}
	sub := *env
	sub.Dir, sub.Bare, sub.Stdout = dir, false, io.Discard
	for _, name := range localVariables {
		sub.Unsetenv(name)
	}
	if err := sub.Discover(); err != nil {
		return 0, err
	}
	s, err := newStatus(&sub)
	if err != nil {
		return 0, err
	}
	s.untrackedMode, s.renames = showNone, false
	if untracked {
		s.untrackedMode = showNormal
	}
	if s.files, err = openFiles(&sub); err != nil {
		return 0, err
	}
	defer s.files.Close()
	s.files.Index.Refresh(index.RefreshOptions{Quiet: true, Unmerged: true})
	if err := s.collect(); err != nil {
		return 0, err
	}
	var dirt diff.Dirt
	if len(s.untracked) > 0 {
		dirt |= diff.UntrackedContent
	}
	for _, c := range s.changes {
		inner := c.dirt
		if c.index != 0 || c.stages != 0 || c.work != 0 && inner&^diff.UntrackedContent != 0 || c.work != 0 && inner == 0 {
			dirt |= diff.ModifiedContent
		} else if inner&diff.UntrackedContent != 0 {
			dirt |= diff.UntrackedContent
		}
	}
	return dirt, nil
}

// stashCount counts the entries of the stash.
func (s *wtStatus) stashCount() int {
	store, err := s.env.Repo.Refs()
	if err != nil {
		return 0
	}
	n := 0
	for _, err := range store.Log("refs/stash") {
		if err != nil {
			break
		}
		n++
	}
	return n
}

// A comparedRef says how a branch and another one compare.
type comparedRef struct {
	ref           string // full name of the other
	gone          bool
	same          bool
	ahead, behind int
}

// track compares branch with the ref it tracks.
func (s *wtStatus) track(branch, ref string, full bool) (comparedRef, error) {
	t := comparedRef{ref: ref}
	store, err := s.env.Repo.Refs()
	if err != nil {
		return t, err
	}
	theirs, err := store.Read(ref)
	if err != nil {
		t.gone = true
		return t, nil
	}
	ours, err := store.Read("refs/heads/" + branch)
	if err != nil {
		t.gone = true
		return t, nil
	}
	w, err := revision.NewRepoWalk(s.env.Repo)
	if err != nil {
		return t, err
	}
	a, err := w.Committish(ours)
	if err != nil {
		t.gone = true
		return t, nil
	}
	b, err := w.Committish(theirs)
	if err != nil {
		t.gone = true
		return t, nil
	}
	if t.same = a == b; !t.same && full {
		t.ahead, t.behind, err = w.AheadBehind(a.ID, b.ID)
	}
	return t, err
}

// quote is a path as it is printed: relative, and in quotes if it must be, or if
// it has a space and space is set.
func (s *wtStatus) quote(path string, space bool) string {
	if s.relative {
		path = relativeTo(s.env.Repo.Prefix, path)
	}
	q := quotePath(path, s.highQuoted)
	if space && q == path && strings.IndexByte(q, ' ') >= 0 {
		return `"` + q + `"`
	}
	return q
}
