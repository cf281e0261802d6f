package builtin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/worktree"
	"github.com/sluicegit/sluice/syncpolicy"
)

var cmdAdd = &Command{
	Name:    "add",
	Setup:   NeedWorkTree,
	Run:     runAdd,
	Options: func() *parseopt.Parser { return new(adder).parser() },
}

// adder is one run of add.
type adder struct {
	env *Env

	dryRun, verbose, force, update, renormalize, intentToAdd bool
	refresh, ignoreErrors, ignoreMissing, sparse, fileNul    bool
	warnEmbedded, resolvedOnly                               bool
	all                                                      int // -1: not given
	chmod, fromFile                                          string

	ps             *worktree.Pathspec
	files          *Files
	ignore         *worktree.Ignore
	found          worktree.WalkResult
	seen           []worktree.Match // by any path, tracked or not
	advised        bool             // of embedded repositories
	failed         bool
	ignoredModules map[string]bool // see submodules
	// cantChmod is a failure of its own, with a status of its own.
	cantChmod bool
}

func (a *adder) parser() *parseopt.Parser {
	a.all, a.warnEmbedded = -1, true
	ignoreRemoval := parseopt.Callback(0, "ignore-removal", "", "keep entries of removed files (as --no-all)", func(v parseopt.Arg) error {
		a.all = 0
		if v.Unset {
			a.all = 1
		}
		return nil
	})
	return &parseopt.Parser{
		Usage: []string{"git add [<options>] [--] <pathspec>..."},
		Options: []parseopt.Option{
			parseopt.Bool('n', "dry-run", &a.dryRun, "say what would be done, and do nothing"),
			parseopt.Bool('v', "verbose", &a.verbose, "name each file"),
			parseopt.Group(""),
			parseopt.NotNative('i', "interactive", "", "choose in a menu"),
			parseopt.NotNative('p', "patch", "", "choose hunk by hunk"),
			parseopt.NotNative(0, "auto-advance", "", "go on to the next file when all hunks of one are decided"),
			parseopt.NotNative('U', "unified", "n", "lines of context of a hunk"),
			parseopt.NotNative(0, "inter-hunk-context", "n", "join hunks that are no further apart"),
			parseopt.NotNative('e', "edit", "", "edit the difference and stage the result"),
			parseopt.Bool('f', "force", &a.force, "add ignored files too"),
			parseopt.Bool('u', "update", &a.update, "only files that are tracked"),
			parseopt.Bool(0, "renormalize", &a.renormalize, "convert tracked files afresh (implies -u)"),
			parseopt.Bool(0, "resolved", &a.resolvedOnly, "only files whose conflicts are resolved"),
			parseopt.Bool('N', "intent-to-add", &a.intentToAdd, "only record that the file will be added"),
			parseopt.SetInt('A', "all", &a.all, "new, changed and removed files", 1),
			ignoreRemoval.NoArg(),
			parseopt.Bool(0, "refresh", &a.refresh, "only bring the stat data of the index up to date"),
			parseopt.Bool(0, "ignore-errors", &a.ignoreErrors, "pass over files that can't be added"),
			parseopt.Bool(0, "ignore-missing", &a.ignoreMissing, "with -n, tell whether even missing files are ignored"),
			parseopt.Bool(0, "sparse", &a.sparse, "update entries outside of the sparse checkout too"),
			parseopt.String(0, "chmod", &a.chmod, "(+|-)x", "set or clear the executable bit of the files in the index"),
			parseopt.Bool(0, "warn-embedded-repo", &a.warnEmbedded, "warn when a repository is added").Hidden(),
			parseopt.Filename(0, "pathspec-from-file", &a.fromFile, "read pathspecs from a file"),
			parseopt.Bool(0, "pathspec-file-nul", &a.fileNul, "pathspecs of that file end in NUL"),
		},
	}
}

func runAdd(env *Env, argv []string) Status {
	a := &adder{env: env}
	p := a.parser()
	var err error
	for _, key := range []string{"add.ignore-errors", "add.ignoreerrors"} {
		if a.ignoreErrors, err = env.Config.Bool(key, a.ignoreErrors); err != nil {
			return Fatal(err)
		}
	}
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if err := a.check(); err != nil {
		return Fatal(err)
	}
	if s := foreignFiles(env); s != "" {
		return NotNative(s)
	}
	return a.run(args)
}

// foreignFiles names a setting of the working tree that is not implemented, or "".
func foreignFiles(env *Env) string {
	if on, err := env.Config.Bool("core.sparsecheckout", false); err == nil && on {
		return "core.sparseCheckout"
	}
	if env.Getenv("GIT_ATTR_SOURCE") != "" {
		return "--attr-source"
	}
	if env.Config.Lookup("attr.tree") != nil {
		return "attr.tree"
	}
	return ""
}

// check refuses options that don't go together.
func (a *adder) check() error {
	var modes []string
	for _, m := range []struct {
		on   bool
		name string
	}{{a.update, "-u/--update"}, {a.all > 0, "-A/--all"}, {a.resolvedOnly, "--resolved"}} {
		if m.on {
			modes = append(modes, "'"+m.name+"'")
		}
	}
	switch {
	case len(modes) == 2:
		return fmt.Errorf("options %s and %s cannot be used together", modes[0], modes[1])
	case len(modes) == 3:
		return fmt.Errorf("options %s, %s, and %s cannot be used together", modes[0], modes[1], modes[2])
	case !a.dryRun && a.ignoreMissing:
		return errors.New("the option '--ignore-missing' requires '--dry-run'")
	case a.chmod != "" && a.chmod != "+x" && a.chmod != "-x":
		return fmt.Errorf("--chmod param '%s' must be either -x or +x", a.chmod)
	}
	return nil
}

// run holds the lock of the index from before anything is read.
func (a *adder) run(args []string) Status {
	locker, err := a.env.Repo.Locker()
	if err != nil {
		return Fatal(err)
	}
	lock, err := locker.Hold(a.env.Repo.IndexPath(), lockfile.Options{PIDFile: true})
	if err != nil {
		return Fatal(err)
	}
	defer lock.Rollback()
	if done, err := a.pathspecs(args); done || err != nil {
		return Fatal(err)
	}
	a.files, err = openFiles(a.env)
	var foreign *index.UnsupportedError
	if errors.As(err, &foreign) {
		return NotNative(foreign.Feature)
	}
	if err != nil {
		return Fatal(err)
	}
	defer a.files.Close()
	if a.ps.Magic&worktree.MagicAttr != 0 {
		a.ps.Attrs = a.files.Attrs
	}
	if err := insideGitlink(a.files.Index, a.env.Repo.Prefix, a.ps); err != nil {
		return Fatal(err)
	}
	barrier, err := a.env.Repo.NewBarrier()
	if err != nil {
		return Fatal(err)
	}
	defer barrier.Rollback()
	if err := a.work(barrier); err == errSaid {
		return Exit(128)
	} else if err != nil {
		return Fatal(err)
	}
	if err := a.finish(lock, barrier); err != nil {
		return Fatal(err)
	}
	if a.cantChmod {
		return Exit(255)
	}
	if a.failed {
		return Exit(1)
	}
	return OK
}

// pathspecs parses what is to be added. done says that there is nothing.
func (a *adder) pathspecs(args []string) (done bool, err error) {
	if a.fromFile != "" {
		if len(args) > 0 {
			return false, errors.New("'--pathspec-from-file' and pathspec arguments cannot be used together")
		}
		if args, err = readPathspecFile(a.env, a.fromFile, a.fileNul); err != nil {
			return false, err
		}
	} else if a.fileNul {
		return false, errors.New("the option '--pathspec-file-nul' requires '--pathspec-from-file'")
	}
	o := pathspecOptions(a.env)
	o.BeyondSymlink = true
	if a.ps, err = worktree.ParsePathspec(args, o); err != nil {
		return false, err
	}
	if !a.update && a.all <= 0 && !a.resolvedOnly && len(a.ps.Items) == 0 {
		a.env.line("Nothing specified, nothing added.")
		a.env.adviseIf("addEmptyPathspec", "Maybe you wanted to say 'git add .'?")
		return true, nil
	}
	return false, nil
}

func (a *adder) work(barrier *syncpolicy.Barrier) error {
	var items []worktree.StageItem
	if !a.update && !a.refresh && !a.renormalize && !a.resolvedOnly {
		if err := a.walk(); err != nil {
			return err
		}
	}
	if a.refresh {
		return a.refreshIndex()
	}
	if err := a.unmatched(); err != nil {
		return err
	}
	tracked, err := a.tracked()
	if err != nil {
		return err
	}
	items = append(items, tracked...)
	a.sayIgnored()
	for _, p := range a.found.Untracked {
		items = append(items, worktree.StageItem{Path: p, Untracked: true})
	}
	tx := a.files.Objects.Begin(barrier)
	s := &worktree.Stager{
		Tree: a.files.Tree, Index: a.files.Index,
		Sink: &worktree.Sink{
			Write:  func(b []byte) (oid.ID, error) { return tx.Write(object.Blob, b) },
			Stream: func(n int64, r io.Reader) (oid.ID, error) { return tx.WriteStream(object.Blob, n, r) },
		},
		Verbose: a.verbose, Pretend: a.dryRun, IntentToAdd: a.intentToAdd, IgnoreErrors: a.ignoreErrors,
		Say:    func(line string) { a.env.Print(line, "\n") },
		Report: a.env.line,
		Added:  a.embedded,
	}
	failed, err := s.Stage(items)
	a.failed = a.failed || failed
	if err != nil {
		return err
	}
	if a.chmod != "" && len(a.ps.Items) > 0 {
		a.chmodEntries()
	}
	return nil
}

// walk finds the files that are not tracked.
func (a *adder) walk() error {
	r := a.env.Repo
	x := a.files.Index
	o := worktree.WalkOptions{
		Root: r.WorkTree, GitDir: r.GitDir, Index: x, Pathspec: a.ps, IgnoredAsked: !a.force,
		FoldCase: x.Options.Stat.IgnoreCase, Report: a.env.line,
	}
	if !a.force {
		src := standardIgnore(a.env, a.files.skippedBlob)
		a.ignore = worktree.NewIgnore(src)
		o.Ignore = a.ignore
	}
	a.found = worktree.Walk(o)
	if len(a.ps.Items) == 0 {
		return nil
	}
	a.seen = make([]worktree.Match, len(a.ps.Items))
	kept := a.found.Untracked[:0]
	for _, p := range a.found.Untracked {
		if a.ps.MatchDir(strings.TrimSuffix(p, "/"), a.seen) != worktree.NoMatch {
			kept = append(kept, p)
		}
	}
	a.found.Untracked = kept
	a.seeTracked()
	return nil
}

// seeTracked notes which elements of the pathspec match entries of the index.
func (a *adder) seeTracked() {
	missing := false
	for _, m := range a.seen {
		missing = missing || m == worktree.NoMatch
	}
	if !missing {
		return
	}
	for _, e := range a.files.Index.Entries {
		if !e.Has(index.SkipWorktree) {
			a.ps.MatchEntry(e, a.seen)
		}
	}
}

// unmatched refuses elements of the pathspec that name nothing.
func (a *adder) unmatched() error {
	if len(a.ps.Items) == 0 {
		return nil
	}
	if a.seen == nil {
		a.seen = make([]worktree.Match, len(a.ps.Items))
		a.seeTracked()
	}
	var outside []string
	for i := range a.ps.Items {
		it := &a.ps.Items[i]
		if it.Magic&worktree.MagicExclude != 0 || a.seen[i] != worktree.NoMatch {
			continue
		}
		if !a.sparse && a.onlySkipped(i) {
			outside = append(outside, it.Original)
			continue
		}
		if it.Match == "" {
			continue // `git add .` in an empty directory is no mistake
		}
		if it.Magic&(worktree.MagicGlob|worktree.MagicIcase) == 0 && exists(a.env.Repo.WorkTree+"/"+it.Match) {
			continue
		}
		if !a.ignoreMissing {
			return fmt.Errorf("pathspec '%s' did not match any files", it.Original)
		}
		if a.ignore != nil && a.ignore.Ignored(it.Match, isDirectory(a.env.Repo.WorkTree+"/"+it.Match)) {
			a.found.Ignored = append(a.found.Ignored, it.Match)
		}
	}
	if len(outside) > 0 {
		a.env.sparsePaths(outside)
		a.failed = true
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDirectory(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

// onlySkipped reports whether element i matches entries that are outside of
// the sparse checkout.
func (a *adder) onlySkipped(i int) bool {
	seen := make([]worktree.Match, len(a.ps.Items))
	for _, e := range a.files.Index.Entries {
		if e.Has(index.SkipWorktree) {
			a.ps.MatchEntry(e, seen)
		}
	}
	return seen[i] != worktree.NoMatch
}

// tracked finds what has become of the files in the index.
func (a *adder) tracked() ([]worktree.StageItem, error) {
	if a.resolvedOnly {
		return a.resolved()
	}
	if a.renormalize {
		return a.renormalized(), nil
	}
	// A removal counts with -A, with -u, and for paths that were named.
	removals := a.update || a.all > 0 || a.all < 0 && len(a.ps.Items) > 0
	seen := make([]worktree.Match, len(a.ps.Items))
	o := worktree.ChangeOptions{Pathspec: a.ps, Seen: seen, RacyIsDirty: true}
	var items []worktree.StageItem
	for _, c := range a.files.Tree.Changes(a.files.Index, o) {
		gone := c.Kind == worktree.Deleted || c.Kind == worktree.Unmerged && c.Stat.Mode == 0 && removals
		if c.Err != nil {
			a.env.line("error: " + c.Entry.Name + ": " + ErrnoText(c.Err))
			continue
		}
		if gone && !removals {
			continue
		}
		if !gone && c.Entry.IsGitlink() && a.leaveOut(c.Entry.Name) {
			continue
		}
		items = append(items, worktree.StageItem{Path: c.Entry.Name, Remove: gone})
	}
	if a.update && !a.ignoreErrors {
		if bad := a.ps.Unmatched(seen); len(bad) > 0 {
			for _, s := range bad {
				a.env.Error(fmt.Errorf("pathspec '%s' did not match any file(s) known to git", s))
			}
			return nil, errSaid
		}
	}
	return items, nil
}

// errSaid ends a command with 128 after its errors were printed.
var errSaid = errors.New("")

func (a *adder) renormalized() []worktree.StageItem {
	var items []worktree.StageItem
	for _, e := range a.files.Index.Entries {
		if e.Stage != 0 || !a.sparse && e.Has(index.SkipWorktree) || !e.IsRegular() && !e.IsSymlink() {
			continue
		}
		if a.ps.MatchEntry(e, nil) != worktree.NoMatch {
			items = append(items, worktree.StageItem{Path: e.Name, Renormalize: true})
		}
	}
	return items
}

// sayIgnored complains of paths that were asked for and are ignored.
func (a *adder) sayIgnored() {
	if len(a.found.Ignored) == 0 {
		return
	}
	a.env.line("The following paths are ignored by one of your .gitignore files:")
	for _, p := range a.found.Ignored {
		a.env.line(p)
	}
	a.env.adviseIf("addIgnoredFile", "Use -f if you really want to add them.")
	a.failed = true
}

// embedded warns of a repository that was added as a gitlink.
func (a *adder) embedded(path string) {
	name, ok := strings.CutSuffix(path, "/")
	if !ok || !a.warnEmbedded {
		return
	}
	a.env.Warn("adding embedded git repository: %s", name)
	if a.advised {
		return
	}
	a.advised = true
	a.env.adviseIf("addEmbeddedRepo", "You've added another git repository inside your current repository.\n"+
		"Clones of the outer repository will not contain the contents of\n"+
		"the embedded repository and will not know how to obtain it.\n"+
		"If you meant to add a submodule, use:\n\n\tgit submodule add <url> "+name+
		"\n\nIf you added this path by mistake, you can remove it from the\nindex with:\n\n\tgit rm --cached "+name+
		"\n\nSee \"git help submodule\" for more information.")
}

func (a *adder) chmodEntries() {
	x := a.files.Index
	for _, e := range x.Entries {
		if !a.sparse && e.Has(index.SkipWorktree) || a.ps.MatchEntry(e, nil) == worktree.NoMatch {
			continue
		}
		if !e.IsRegular() {
			a.env.Error(fmt.Errorf("cannot chmod %s '%s'", a.chmod, e.Name))
			a.cantChmod = true
			continue
		}
		if a.dryRun {
			continue
		}
		e.Mode = index.ModeFile
		if a.chmod == "+x" {
			e.Mode = index.ModeExecutable
		}
		x.InvalidatePath(e.Name)
		x.Touch()
	}
}

// refreshIndex is --refresh.
func (a *adder) refreshIndex() error {
	x := a.files.Index
	seen := make([]worktree.Match, len(a.ps.Items))
	header := false
	x.Refresh(index.RefreshOptions{
		Quiet: !a.verbose, IgnoreSkipWorktree: true,
		Filter: func(e *index.Entry) bool { return a.ps.MatchEntry(e, seen) != worktree.NoMatch },
		Report: func(p index.Problem, name string) {
			if !header {
				a.env.Print("Unstaged changes after refreshing the index:\n")
				header = true
			}
			a.env.Printf("%c\t%s\n", problemLetter(p), name)
		},
	})
	var outside []string
	for i := range a.ps.Items {
		if seen[i] != worktree.NoMatch || a.ps.Items[i].Magic&worktree.MagicExclude != 0 {
			continue
		}
		if !a.onlySkipped(i) {
			return fmt.Errorf("pathspec '%s' did not match any files", a.ps.Items[i].Original)
		}
		outside = append(outside, a.ps.Items[i].Original)
	}
	if len(outside) > 0 {
		a.env.sparsePaths(outside)
		a.failed = true
	}
	return nil
}

func problemLetter(p index.Problem) byte {
	switch p {
	case index.NeedsMerge:
		return 'U'
	case index.FileMissing:
		return 'D'
	case index.FileAdded:
		return 'A'
	case index.FileRetyped:
		return 'T'
	}
	return 'M'
}

// finish writes the index and hardens it with the objects.
func (a *adder) finish(lock *lockfile.Lock, barrier *syncpolicy.Barrier) error {
	x := a.files.Index
	if !x.Changed {
		lock.Rollback()
		return barrier.Commit()
	}
	if err := writeIndex(a.env, x, lock, barrier); err != nil {
		return fmt.Errorf("unable to write new index file: %w", err)
	}
	return nil
}
