package builtin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/diff"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// diffForeign is what the diff commands leave to real git.
var diffForeign = []string{
	"-p", "--patch", "-u", "-U", "--unified", "--dirstat", "--cumulative", "--compact-summary", "--patch-with-stat", "--patch-with-raw",
	"--binary", "--check", "--color", "--color-words", "--word-diff", "--follow", "--no-index", "--pickaxe", "-S", "-G", "-B", "-C -C", "-O",
	"-w", "-b", "--ignore-*", "--relative", "--output", "--ext-diff", "--textconv", "--cc", "-c", "-m", "--stdin", "--pretty", "--merge-base",
	"--ours", "--theirs", "--base", "-D", "-l", "--skip-to", "--rotate-to", "--line-prefix", "--submodule",
}

var (
	cmdDiff      = &Command{Name: "diff", Setup: MayRepo, Run: runDiff, NotNative: diffForeign}
	cmdDiffFiles = &Command{Name: "diff-files", Setup: NeedRepo, Run: runDiffFiles, NotNative: diffForeign}
	cmdDiffIndex = &Command{Name: "diff-index", Setup: NeedRepo, Run: runDiffIndex, NotNative: diffForeign}
	cmdDiffTree  = &Command{Name: "diff-tree", Setup: NeedRepo, Run: runDiffTree, NotNative: diffForeign}
)

// Output formats, which may be combined.
const (
	showRaw = 1 << iota
	showNameOnly
	showNameStatus
	showNumStat
	showShortStat
	showSummary
	showStat
	showNothing // -s
)

// A differ is one run of a diff command.
type differ struct {
	env   *Env
	res   *revision.Resolver
	files *Files
	plumb bool // one of the plumbing commands

	formats              int
	widths               statWidths
	cached, quiet, exit  bool
	nul, reverse         bool
	renames, copies      bool
	score, limit, abbrev int
	filter               string
	submodules           string
	recurse, trees, root bool
	noCommitID           bool

	revs     []revision.Rev
	paths    []string
	dashdash bool
	ps       *worktree.Pathspec
	changes  []diff.Change
}

func newDiffer(env *Env, plumb bool) *differ {
	d := &differ{env: env, plumb: plumb, abbrev: -1}
	if plumb {
		d.abbrev = 0
	}
	return d
}

func runDiff(env *Env, argv []string) Status {
	if len(argv) == 1 && argv[0] == "-h" {
		env.Print("usage: git diff [<options>] [<commit>] [--] [<path>...]\n")
		return Exit(129)
	}
	if env.Repo == nil {
		return NotNative("--no-index")
	}
	d := newDiffer(env, false)
	if err := d.porcelainSettings(); err != nil {
		return Fatal(err)
	}
	if err := d.parse(argv); err != nil {
		return Fatal(err)
	}
	if err := d.compare(); err != nil {
		return foreignIndex(err)
	}
	return d.finish()
}

// porcelainSettings reads the configuration that only git diff itself obeys.
func (d *differ) porcelainSettings() error {
	c := d.env.Config
	d.renames = true
	if v, ok := c.Get("diff.renames"); ok {
		if v == "copies" || v == "copy" {
			d.copies = true
		} else {
			var err error
			if d.renames, err = c.Bool("diff.renames", true); err != nil {
				return err
			}
		}
	}
	if v, ok := c.Get("diff.ignoresubmodules"); ok {
		d.submodules = v
	}
	for _, key := range []string{"diff.orderfile", "diff.relative"} {
		if v, ok := c.Get(key); ok && v != "false" {
			return NotNative(key).Err
		}
	}
	return nil
}

// parse reads options, revisions and paths.
func (d *differ) parse(argv []string) error {
	d.res = newResolver(d.env)
	limit := &committer{env: d.env}
	d.limit = limit.renameLimit()
	for i, a := range argv {
		if a == "--" {
			d.dashdash = true
			d.paths = argv[i+1:]
			argv = argv[:i]
			break
		}
	}
	only := false // the rest are paths
	for _, arg := range argv {
		switch {
		case only:
			if err := d.res.VerifyFile(arg, false); err != nil {
				return err
			}
			d.paths = append(d.paths, arg)
		case len(arg) > 1 && arg[0] == '-':
			if err := d.option(arg); err != nil {
				return err
			}
		default:
			isRev, err := d.revision(arg)
			if err != nil {
				return err
			}
			if !isRev {
				only = true
				d.paths = append(d.paths, arg)
			}
		}
	}
	var err error
	d.ps, err = worktree.ParsePathspec(d.paths, pathspecOptions(d.env))
	return err
}

// revision reads an argument that is no option; false if it is a path.
func (d *differ) revision(arg string) (bool, error) {
	revs, err := d.res.Arg(arg, revision.ArgOptions{NotFile: d.dashdash})
	if errors.Is(err, revision.ErrUnknown) {
		if d.dashdash {
			return false, fmt.Errorf("bad revision '%s'", arg)
		}
		return false, d.res.VerifyFile(arg, true)
	}
	d.revs = append(d.revs, revs...)
	return true, err
}

func (d *differ) option(arg string) error {
	name, value, has := strings.Cut(arg, "=")
	switch name {
	case "--raw":
		d.formats |= showRaw
	case "--name-only":
		d.formats |= showNameOnly
	case "--name-status":
		d.formats |= showNameStatus
	case "--numstat":
		d.formats |= showNumStat
	case "--stat":
		return d.statOption(value)
	case "--shortstat":
		d.formats |= showShortStat
	case "--summary":
		d.formats |= showSummary
	case "-s", "--no-patch":
		d.formats |= showNothing
	case "-z":
		d.nul = true
	case "-R":
		d.reverse = true
	case "--quiet":
		d.quiet, d.exit = true, true
	case "--exit-code":
		d.exit = true
	case "--cached", "--staged":
		d.cached = true
	case "--no-renames":
		d.renames, d.copies = false, false
	case "--no-abbrev", "--full-index":
		d.abbrev = 0
	case "--diff-filter":
		if !has {
			return NotNative(name).Err
		}
		d.filter = value
	case "--ignore-submodules":
		if d.submodules = value; !has {
			d.submodules = "all"
		}
	case "--abbrev":
		if d.abbrev = -1; has {
			d.abbrev = min(max(leadingDigits(value), 4), d.env.Repo.Algo.HexSize())
		}
	case "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix", "--no-relative", "--no-color-moved":
	default:
		return d.moreOption(arg, name, value, has)
	}
	return nil
}

// statOption reads --stat and its widths.
func (d *differ) statOption(value string) error {
	d.formats |= showStat
	w, err := parseStat(value)
	if err != nil {
		return err
	}
	if w.graph, err = d.env.Config.Int("diff.statgraphwidth", 0); err != nil {
		return err
	}
	if w.name == 0 {
		if w.name, err = d.env.Config.Int("diff.statnamewidth", 0); err != nil {
			return err
		}
	}
	if w.total == 0 {
		if w.total, err = strconv.Atoi(d.env.Getenv("COLUMNS")); err != nil || w.total <= 0 {
			w.total = 80
		}
	}
	d.widths = w
	return nil
}

func (d *differ) moreOption(arg, name, value string, has bool) error {
	switch {
	case d.plumb && arg == "-r":
		d.recurse = true
	case d.plumb && arg == "-t":
		d.recurse, d.trees = true, true
	case d.plumb && arg == "--root":
		d.root = true
	case d.plumb && arg == "--no-commit-id":
		d.noCommitID = true
	case d.plumb && arg == "-q":
		// git takes it and does nothing
	case strings.HasPrefix(arg, "-M"), name == "--find-renames":
		d.renames = true
		return d.setScore(arg, "-M", value, has)
	case strings.HasPrefix(arg, "-C"), name == "--find-copies":
		if d.copies {
			return NotNative("--find-copies-harder").Err
		}
		d.copies = true
		return d.setScore(arg, "-C", value, has)
	default:
		return NotNative(name).Err
	}
	return nil
}

func (d *differ) setScore(arg, short, value string, has bool) error {
	if rest, ok := strings.CutPrefix(arg, short); ok {
		value = rest
	} else if !has {
		value = ""
	}
	score, ok := parseScore(value)
	if !ok {
		return fmt.Errorf("invalid argument to %s", arg)
	}
	if d.score = score; value == "" {
		d.score = 0
	}
	return nil
}

// compare finds the changes of git diff.
func (d *differ) compare() error {
	trees, err := d.endpoints()
	if err != nil {
		return err
	}
	if err := d.open(len(trees) < 2); err != nil {
		return err
	}
	base := d.comparer()
	base.Recurse = true
	switch {
	case len(trees) == 2:
		return base.TreeTree(trees[0], trees[1], d.add)
	case d.cached && len(trees) == 1:
		return base.TreeIndex(trees[0], d.files.Index, d.add)
	case d.cached:
		return d.withHead(base)
	}
	if err := d.env.Repo.RequireWorkTree(); err != nil {
		return err
	}
	d.files.Index.Refresh(index.RefreshOptions{Quiet: true, Unmerged: true})
	w := d.workTree(base)
	if len(trees) == 1 {
		return w.TreeFiles(trees[0], d.files.Index, d.add)
	}
	return w.IndexFiles(d.files.Index, d.add)
}

func (d *differ) withHead(base *diff.Comparer) error {
	tree := d.env.Repo.Algo.Null()
	id, err := d.res.Resolve("HEAD", revision.Any)
	if err == nil {
		tree, err = d.peelTree(id, "HEAD")
	} else if errors.Is(err, revision.ErrUnknown) {
		err = nil
	}
	if err != nil {
		return err
	}
	return base.TreeIndex(tree, d.files.Index, d.add)
}

func (d *differ) peelTree(id oid.ID, name string) (oid.ID, error) {
	db, err := d.env.Repo.ODB()
	if err != nil {
		return id, err
	}
	typ, _, err := db.Info(id)
	if err != nil {
		return id, fmt.Errorf("bad object %s", name)
	}
	if typ == object.Blob {
		return id, NotNative("<blob>").Err
	}
	tree, err := db.Peel(id, object.Tree)
	if err != nil {
		return id, fmt.Errorf("bad object %s", name)
	}
	return tree, nil
}

// endpoints returns the trees that the revisions stand for.
func (d *differ) endpoints() ([]oid.ID, error) {
	revs := d.revs
	var bases []revision.Rev
	for len(revs) > 0 && revs[0].Base {
		bases, revs = append(bases, revs[0]), revs[1:]
	}
	if len(revs) > 2 {
		return nil, NotNative("<commit>...").Err
	}
	if len(revs) == 2 && revs[0].Left {
		a, b := revs[0].Name, revs[1].Name
		if len(bases) == 0 {
			return nil, fmt.Errorf("%s...%s: no merge base", a, b)
		}
		if len(bases) > 1 {
			d.env.Warn("%s...%s: multiple merge bases, using %s", a, b, bases[0].ID)
		}
		revs = []revision.Rev{bases[0], revs[1]}
	} else if len(revs) == 2 && revs[1].Not && !revs[0].Not {
		revs[0], revs[1] = revs[1], revs[0]
	}
	if d.cached && len(revs) > 1 {
		return nil, NotNative("--cached <commit> <commit>").Err
	}
	var trees []oid.ID
	for _, r := range revs {
		tree, err := d.peelTree(r.ID, r.Name)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

// open opens the object database and, if need be, index and working tree.
func (d *differ) open(withIndex bool) error {
	if d.env.Repo.WorkTree != "" || withIndex {
		if f := foreignFiles(d.env); f != "" && withIndex {
			return NotNative(f).Err
		}
	}
	var err error
	if withIndex {
		if d.files, err = openFiles(d.env); err != nil {
			return err
		}
		if f := foreignSubmodules(d.env, d.files.Index); f != "" {
			return NotNative(f).Err
		}
		if d.ps.Magic&worktree.MagicAttr != 0 {
			d.ps.Attrs = d.files.Attrs
		}
		return nil
	}
	if d.ps.Magic&worktree.MagicAttr != 0 {
		return NotNative(":(attr)").Err
	}
	d.files = &Files{}
	d.files.Objects, err = d.env.Repo.ODB()
	return err
}

func (d *differ) comparer() *diff.Comparer {
	c := &diff.Comparer{DB: d.files.Objects, Recurse: d.recurse, Trees: d.trees}
	if len(d.ps.Items) > 0 {
		c.Paths = d.ps
	}
	return c
}

func (d *differ) workTree(base *diff.Comparer) *diff.WorkTree {
	w := &diff.WorkTree{Comparer: base, Tree: d.files.Tree}
	if d.submodules != "all" && d.submodules != "dirty" {
		w.Submodule = func(e *index.Entry) (diff.Dirt, error) { return submoduleDirt(d.env, e.Name, d.submodules == "none") }
	}
	return w
}

// add takes one change.
func (d *differ) add(c diff.Change) error {
	if d.submodules == "all" && (c.Old.Mode|c.New.Mode)&0o170000 == 0o160000 {
		return nil
	}
	if d.reverse {
		c.Old, c.New = c.New, c.Old
		switch c.Status {
		case diff.Added:
			c.Status = diff.Deleted
		case diff.Deleted:
			c.Status = diff.Added
		}
	}
	d.changes = append(d.changes, c)
	return nil
}

// finish finds renames, prints the changes and returns the exit status.
func (d *differ) finish() Status {
	defer d.files.Close()
	changes := d.changes
	if d.renames || d.copies {
		o := diff.Renames{Copies: d.copies, Score: d.score, Limit: d.limit, Content: d.files.content}
		changes, _ = o.Find(d.files.Objects, changes)
	}
	changes = d.filtered(changes)
	if len(changes) > 0 && !d.quiet {
		if d.formats == 0 && !d.plumb {
			return NotNative("-p")
		}
		if err := d.print(changes); err != nil {
			return Fatal(err)
		}
	}
	if !d.plumb && d.files.Index != nil && !d.cached {
		d.saveRefreshed()
	}
	if d.exit && len(changes) > 0 {
		return Exit(1)
	}
	return OK
}

// saveRefreshed writes down stat data that turned out to be out of date.
func (d *differ) saveRefreshed() {
	if auto, err := d.env.Config.Bool("diff.autorefreshindex", true); err != nil || !auto || !d.files.Index.Changed {
		return
	}
	if lock := optionalLock(d.env); lock != nil {
		defer lock.Rollback()
		writeRefreshed(d.env, d.files.Index, lock)
	}
}

// filtered applies --diff-filter.
func (d *differ) filtered(changes []diff.Change) []diff.Change {
	if d.filter == "" {
		return changes
	}
	wanted := func(c byte) bool {
		any := false
		for i := 0; i < len(d.filter); i++ {
			f := d.filter[i]
			if f == c {
				return true
			}
			if f|0x20 == f && f&^0x20 == c {
				return false
			}
			any = any || f|0x20 != f
		}
		return !any
	}
	var out []diff.Change
	for _, c := range changes {
		if wanted(c.Status) {
			out = append(out, c)
		}
	}
	if strings.Contains(d.filter, "*") && len(out) > 0 {
		return changes
	}
	return out
}

func (d *differ) print(changes []diff.Change) error {
	out := &diffOutput{env: d.env, db: d.files.Objects, content: d.files.content, nul: d.nul, abbrev: d.abbrev, high: true}
	var err error
	if out.high, err = d.env.Config.Bool("core.quotepath", true); err != nil {
		return err
	}
	formats := d.formats
	if formats == 0 {
		formats = showRaw
	}
	if formats&showNothing != 0 {
		return nil
	}
	switch {
	case formats&showNameOnly != 0:
		for i := range changes {
			out.name(changes[i].Path())
		}
	case formats&showNameStatus != 0:
		out.nameStatus(changes)
	case formats&showRaw != 0:
		out.raw(changes)
	}
	if formats&showNumStat != 0 {
		if err := out.numStat(changes); err != nil {
			return err
		}
	}
	if formats&showStat != 0 {
		if err := out.stats(changes, d.widths); err != nil {
			return err
		}
	}
	if formats&showShortStat != 0 {
		if err := out.shortStat(changes); err != nil {
			return err
		}
	}
	if formats&showSummary != 0 {
		out.summary(changes)
	}
	return nil
}
