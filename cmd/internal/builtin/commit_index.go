package builtin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/sluicegit/sluice/gitcompat/diff"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/worktree"
	"github.com/sluicegit/sluice/syncpolicy"
)

// A commitIndex is the index that a commit is made of, in one of three ways:
// as it is; with all or the named files staged first; or, for a partial commit,
// a false index of HEAD and the named files, beside the real one with these
// files staged.
type commitIndex struct {
	c     *committer
	files *Files
	lock  *lockfile.Lock // of the real index; nil once it is let go
	ps    *worktree.Pathspec

	asIs      bool
	partialX  *index.Index // of a partial commit
	falseLock *lockfile.Lock
	exposed   bool   // on disk for hooks to see
	changes   bool   // the real index has to be written
	read      oid.ID // checksum of the real index as it was read
}

// prepareIndex takes the lock of the index and stages what is to be staged.
func (c *committer) prepareIndex() (*commitIndex, error) {
	ix := &commitIndex{c: c}
	if err := ix.open(); err != nil {
		ix.close()
		return nil, err
	}
	return ix, nil
}

func (ix *commitIndex) open() error {
	c := ix.c
	if err := ix.pathspecs(); err != nil {
		return err
	}
	locker, err := c.env.Repo.Locker()
	if err != nil {
		return err
	}
	if !c.dryRun || c.all || c.also || len(ix.ps.Items) > 0 {
		if ix.lock, err = index.Lock(locker, c.env.Repo.IndexPath()); err != nil {
			return err
		}
	}
	if ix.files, err = openFiles(c.env); err != nil {
		return err
	}
	ix.read = ix.files.Index.Checksum
	if f := foreignSubmodules(c.env, ix.files.Index); f != "" && (c.useEditor || c.dryRun) {
		return NotNative(f).Err
	}
	if c.st.summary {
		for _, e := range ix.files.Index.Entries {
			if e.IsGitlink() {
				return NotNative("status.submoduleSummary").Err
			}
		}
	}
	if ix.ps.Magic&worktree.MagicAttr != 0 {
		ix.ps.Attrs = ix.files.Attrs
	}
	c.tx = ix.files.Objects.Begin(c.barrier)
	switch {
	case c.all || c.also && len(ix.ps.Items) > 0:
		err = ix.stageTracked()
		ix.changes = true
	case !c.only && len(ix.ps.Items) == 0:
		ix.asIs = true
	default:
		return ix.partial()
	}
	if err != nil {
		return err
	}
	if !c.dryRun && ix.files.Index.Unmerged() {
		ix.refresh()
		return ix.conflict()
	}
	ix.refresh()
	return nil
}

func (ix *commitIndex) pathspecs() error {
	c := ix.c
	args := c.args
	if c.fromFile != nil {
		switch {
		case c.all:
			return errors.New("options '--pathspec-from-file' and '-a' cannot be used together")
		case len(args) > 0:
			return errors.New("'--pathspec-from-file' and pathspec arguments cannot be used together")
		}
		var err error
		if args, err = readPathspecFile(c.env, prefixFilename(c.env.Repo.Prefix, *c.fromFile), c.fileNul); err != nil {
			return err
		}
	} else if c.fileNul {
		return errors.New("the option '--pathspec-file-nul' requires '--pathspec-from-file'")
	}
	ps, err := worktree.ParsePathspec(args, pathspecOptions(c.env))
	if err != nil {
		return err
	}
	ix.ps = ps
	if len(ps.Items) == 0 && (c.also || c.only && !c.allowEmpty && (!c.amend || c.fixup != nil)) {
		return errors.New("No paths with --include/--only does not make sense.")
	}
	return nil
}

func (ix *commitIndex) refresh() {
	ix.files.Index.Refresh(index.RefreshOptions{Quiet: true, Unmerged: true})
}

// conflict refuses to commit while paths are in conflict.
func (ix *commitIndex) conflict() error {
	x := ix.files.Index
	last := ""
	for _, e := range x.Entries {
		if e.Stage != 0 && e.Name != last {
			ix.c.env.Print("U\t", quotePath(e.Name, ix.c.st.highQuoted), "\n")
			last = e.Name
		}
	}
	ix.c.env.Error(errors.New("Committing is not possible because you have unmerged files."))
	ix.c.env.Advise("Fix them up in the work tree, and then use 'git add/rm <file>'\nas appropriate to mark resolution and make a commit.")
	return errors.New("Exiting because of an unresolved conflict.")
}

// stager puts files into x.
func (ix *commitIndex) stager(x *index.Index) *worktree.Stager {
	c := ix.c
	s := &worktree.Stager{Tree: ix.files.Tree, Index: x, Report: c.env.line, Say: func(string) {}}
	if !c.dryRun {
		s.Sink = &worktree.Sink{
			Write:  func(b []byte) (oid.ID, error) { return c.tx.Write(object.Blob, b) },
			Stream: func(n int64, r io.Reader) (oid.ID, error) { return c.tx.WriteStream(object.Blob, n, r) },
		}
	}
	return s
}

// stageTracked stages what changed in tracked files, of the paths with -i.
func (ix *commitIndex) stageTracked() error {
	c := ix.c
	seen := make([]worktree.Match, len(ix.ps.Items))
	var items []worktree.StageItem
	for _, ch := range ix.files.Tree.Changes(ix.files.Index, worktree.ChangeOptions{Pathspec: ix.ps, Seen: seen, RacyIsDirty: true}) {
		if ch.Err != nil {
			return fmt.Errorf("unable to stat '%s': %s", ch.Entry.Name, ErrnoText(ch.Err))
		}
		gone := ch.Kind == worktree.Deleted || ch.Kind == worktree.Unmerged && ch.Stat.Mode == 0
		items = append(items, worktree.StageItem{Path: ch.Entry.Name, Remove: gone})
	}
	if !c.all {
		if bad := ix.ps.Unmatched(seen); len(bad) > 0 {
			ix.sayUnmatched(bad)
			return statusError(128)
		}
	}
	return ix.stageItems(ix.files.Index, items)
}

func (ix *commitIndex) sayUnmatched(bad []string) {
	for _, s := range bad {
		ix.c.env.Error(fmt.Errorf("pathspec '%s' did not match any file(s) known to git", s))
	}
}

func (ix *commitIndex) stageItems(x *index.Index, items []worktree.StageItem) error {
	failed, err := ix.stager(x).Stage(items)
	if err == nil && failed {
		err = errors.New("updating files failed")
	}
	return err
}

// partial makes the false index of HEAD and the named paths.
func (ix *commitIndex) partial() error {
	c := ix.c
	switch {
	case c.merging:
		return errors.New("cannot do a partial commit during a merge.")
	case c.picking:
		return errors.New("cannot do a partial commit during a cherry-pick.")
	}
	x := ix.files.Index
	base := index.New(x.Algo, x.Options)
	if c.head != nil {
		if err := ix.addTree(base, c.head.Tree, ""); err != nil {
			return err
		}
	}
	items, err := ix.named(x, base)
	if err != nil {
		return err
	}
	if err := ix.stageItems(x, known(items, x)); err != nil {
		return err
	}
	copyStat(base, x)
	if err := ix.stageItems(base, known(items, base)); err != nil {
		return err
	}
	ix.refresh()
	ix.partialX, ix.changes = base, true
	return nil
}

// known drops removals of what x does not have.
func known(items []worktree.StageItem, x *index.Index) []worktree.StageItem {
	out := make([]worktree.StageItem, 0, len(items))
	for _, it := range items {
		if !it.Remove || x.FindAny(it.Path) != nil {
			out = append(out, it)
		}
	}
	return out
}

// named returns the paths of a partial commit: those of the index or HEAD that
// the pathspec matches.
func (ix *commitIndex) named(x, head *index.Index) ([]worktree.StageItem, error) {
	seen := make([]worktree.Match, len(ix.ps.Items))
	var items []worktree.StageItem
	have := make(map[string]bool)
	for _, from := range []*index.Index{x, head} {
		for _, e := range from.Entries {
			if have[e.Name] || ix.ps.MatchEntry(e, seen) == worktree.NoMatch {
				continue
			}
			have[e.Name] = true
			if e.Has(index.SkipWorktree) {
				continue
			}
			var st index.FileStat
			err := index.Lstat(x.Options.WorkTree+"/"+e.Name, &st)
			gone := err != nil || st.IsDir() && !e.IsGitlink()
			items = append(items, worktree.StageItem{Path: e.Name, Remove: gone, Untracked: x.FindAny(e.Name) == nil})
		}
	}
	if bad := ix.ps.Unmatched(seen); len(bad) > 0 {
		ix.sayUnmatched(bad)
		return nil, errNoCommit
	}
	return items, nil
}

// copyStat takes over the stat data that another index has for the same files.
func copyStat(to, from *index.Index) {
	for _, e := range to.Entries {
		if have := from.Find(e.Name, 0); have != nil && have.ID == e.ID && have.Mode == e.Mode && !have.Has(index.IntentToAdd) {
			e.Stat, e.Flags = have.Stat, have.Flags
		}
	}
}

// addTree fills an index with a tree.
func (ix *commitIndex) addTree(to *index.Index, tree oid.ID, base string) error {
	typ, body, err := ix.files.Objects.Read(tree)
	if err != nil {
		return err
	}
	if typ != object.Tree {
		return errors.New("failed to unpack HEAD tree object")
	}
	it := object.IterTree(tree.Algo(), body)
	for it.Next() {
		name := base + string(it.Name())
		if object.IsTree(it.Mode()) {
			if err := ix.addTree(to, it.ID(), name+"/"); err != nil {
				return err
			}
			continue
		}
		e := &index.Entry{Name: name, Mode: it.Mode(), ID: it.ID()}
		if err := to.Add(e, index.OKToAdd|index.JustAppend|index.SkipDFCheck); err != nil {
			return err
		}
	}
	return it.Err()
}

// committed returns the index that is committed.
func (ix *commitIndex) committed() *index.Index {
	if ix.partialX != nil {
		return ix.partialX
	}
	return ix.files.Index
}

// view is the index that is committed with the files, for a status.
func (ix *commitIndex) view() *Files {
	v := *ix.files
	v.Index = ix.committed()
	return &v
}

// name is what hooks are told that the index is.
func (ix *commitIndex) name() string {
	switch {
	case ix.falseLock != nil:
		return ix.falseLock.LockPath()
	case !ix.asIs && ix.lock != nil:
		return ix.lock.LockPath()
	}
	return ix.c.env.Repo.GitPathName("index")
}

// changed reports whether what is committed differs from its parent.
func (ix *commitIndex) changed() (bool, error) {
	x := ix.committed()
	parent := ix.c.head
	if ix.c.amend {
		if parent.Parents == nil {
			parent = nil
		} else {
			var err error
			if parent, err = ix.c.walk.Commit(parent.Parents[0].ID); err != nil {
				return false, err
			}
		}
	}
	if parent == nil {
		for _, e := range x.Entries {
			if !e.Has(index.IntentToAdd) {
				return true, nil
			}
		}
		return false, nil
	}
	differs := errors.New("differs")
	cmp := diff.Comparer{DB: ix.files.Objects}
	err := cmp.TreeIndex(parent.Tree, x, func(diff.Change) error { return differs })
	if err == differs {
		return true, nil
	}
	return false, err
}

// writeTree writes the trees of what is committed.
func (ix *commitIndex) writeTree() (oid.ID, error) {
	x := ix.committed()
	if x.TreesValid(ix.files.Objects.Has) {
		return x.Tree.ID, nil
	}
	id, err := x.WriteTrees(treeWriter(ix.files.Objects, ix.c.tx, false))
	var bad *index.TreeError
	if errors.As(err, &bad) {
		for _, line := range bad.Lines {
			ix.c.env.line(line)
		}
	} else if err != nil {
		ix.c.env.Error(err)
	}
	return id, err
}

// expose puts the index, and the objects it names, where hooks and the editor
// find them.
func (ix *commitIndex) expose() error {
	c := ix.c
	x := ix.files.Index
	ix.exposed = true
	if ix.asIs {
		if x.Changed || !x.TreesValid(ix.files.Objects.Has) {
			if _, err := ix.writeTree(); err != nil {
				return statusError(1)
			}
		}
		if x.Changed {
			if err := x.Write(ix.lock, c.barrier); err != nil {
				return err
			}
			if err := c.barrier.Flush(syncpolicy.IndexFile); err != nil {
				return err
			}
			postIndexChange(c.env, x)
		}
		ix.lock.Rollback()
		ix.lock = nil
		c.tx = ix.files.Objects.Begin(c.barrier)
		return nil
	}
	if _, err := x.WriteTrees(treeWriter(ix.files.Objects, c.tx, true)); err != nil && ix.partialX == nil {
		return statusError(1)
	}
	if err := x.WriteTo(ix.lock); err != nil {
		return err
	}
	if ix.partialX != nil {
		locker, err := c.env.Repo.Locker()
		if err != nil {
			return err
		}
		name := c.env.Repo.Path("next-index-" + strconv.Itoa(os.Getpid()))
		if ix.falseLock, err = index.Lock(locker, name); err != nil {
			return err
		}
		if err := ix.partialX.WriteTo(ix.falseLock); err != nil {
			return err
		}
	}
	if err := c.barrier.Flush(syncpolicy.Objects); err != nil {
		return err
	}
	c.tx = ix.files.Objects.Begin(c.barrier)
	return nil
}

// reread reads the index again, which a hook may have changed.
func (ix *commitIndex) reread() error {
	path := ix.c.env.Repo.IndexPath()
	switch {
	case ix.falseLock != nil:
		path = ix.falseLock.LockPath()
	case ix.lock != nil:
		path = ix.lock.LockPath()
	}
	x, err := index.Read(path, ix.files.Index.Algo, ix.files.Index.Options)
	if err != nil {
		return err
	}
	if ix.partialX != nil {
		ix.partialX = x
		return nil
	}
	return ix.replaced(x)
}

// replaced takes over the index that a hook has written over the locked one.
func (ix *commitIndex) replaced(x *index.Index) error {
	old := ix.files.Index
	ix.files.Index = x
	if ix.lock == nil || x.Checksum == old.Checksum {
		return nil
	}
	// The lock file is not the one that was made any more: take the lock anew.
	locker, err := ix.c.env.Repo.Locker()
	if err != nil {
		return err
	}
	ix.lock.Rollback()
	if ix.lock, err = index.Lock(locker, ix.c.env.Repo.IndexPath()); err != nil {
		return err
	}
	now, err := index.Read(ix.c.env.Repo.IndexPath(), x.Algo, x.Options)
	if err != nil {
		return err
	}
	if now.Checksum != ix.read {
		return errors.New("unable to write new index file")
	}
	return x.WriteTo(ix.lock)
}

// stage hands the real index to the barrier.
func (ix *commitIndex) stage() error {
	x := ix.files.Index
	switch {
	case ix.lock == nil:
		return nil
	case ix.exposed:
		return ix.lock.Stage(ix.c.barrier, syncpolicy.IndexFile, syncpolicy.Index)
	case ix.partialX != nil:
		// As git has it: the trees of the real index are of use to the next command.
		if x.Verify() == nil {
			if _, err := x.WriteTrees(treeWriter(ix.files.Objects, ix.c.tx, true)); err != nil {
				return err
			}
		}
	case !ix.changes && !x.Changed:
		ix.lock.Rollback()
		ix.lock = nil
		return nil
	}
	ix.changes = true
	return x.Write(ix.lock, ix.c.barrier)
}

// published tells the hook for a changed index, after the commit.
func (ix *commitIndex) published() {
	if ix.changes {
		postIndexChange(ix.c.env, ix.files.Index)
	}
}

// close lets go what is held.
func (ix *commitIndex) close() {
	if ix.falseLock != nil {
		ix.falseLock.Rollback()
	}
	if ix.lock != nil {
		ix.lock.Rollback()
	}
	if ix.files != nil {
		ix.files.Close()
	}
}
