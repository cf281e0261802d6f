package diff

import (
	"io/fs"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// A WorkTree compares with the files on disk. The index that it is given was
// refreshed, unless stat data that is out of date is to count as a change.
type WorkTree struct {
	*Comparer
	Tree *worktree.Tree
	// Submodule returns how the working tree of the gitlink e differs beside the
	// commit that is checked out; nil: that does not count.
	Submodule func(e *index.Entry) (Dirt, error)
}

// IndexFiles compares the index with the working tree (diff-files).
func (w *WorkTree) IndexFiles(x *index.Index, emit Emit) error {
	return w.changes(x, func(c *worktree.FileChange) error {
		if c.Kind == worktree.Unmerged {
			return w.unmerged(x, c, emit)
		}
		ch, err := w.compare(x, c)
		if err != nil || ch == nil {
			return err
		}
		return emit(*ch)
	})
}

// changes calls visit with the entries whose files differ, or may.
func (w *WorkTree) changes(x *index.Index, visit func(*worktree.FileChange) error) error {
	found := w.Tree.Changes(x, worktree.ChangeOptions{Pathspec: w.Paths})
	links := w.links(x)
	for i := range found {
		for len(links) > 0 && links[0].Name < found[i].Entry.Name {
			if err := visit(&worktree.FileChange{Entry: links[0]}); err != nil {
				return err
			}
			links = links[1:]
		}
		if len(links) > 0 && links[0] == found[i].Entry {
			links = links[1:]
		}
		if err := visit(&found[i]); err != nil {
			return err
		}
	}
	for _, e := range links {
		if err := visit(&worktree.FileChange{Entry: e}); err != nil {
			return err
		}
	}
	return nil
}

// links returns the gitlinks, which can be dirty though at the right commit.
func (w *WorkTree) links(x *index.Index) []*index.Entry {
	if w.Submodule == nil {
		return nil
	}
	var out []*index.Entry
	for _, e := range x.Entries {
		if e.IsGitlink() && e.Stage == 0 && (w.Paths == nil || w.Paths.MatchEntry(e, nil) != worktree.NoMatch) {
			out = append(out, e)
		}
	}
	return out
}

// TreeFiles compares a tree with the working tree, by way of the index
// (diff-index without --cached). A null tree is empty.
func (w *WorkTree) TreeFiles(tree oid.ID, x *index.Index, emit Emit) error {
	type state struct {
		change   *Change
		mode     uint32
		unmerged bool
	}
	states := make(map[string]state)
	err := w.changes(x, func(c *worktree.FileChange) error {
		if c.Kind == worktree.Unmerged {
			states[c.Entry.Name] = state{mode: fileMode(c), unmerged: true}
			return nil
		}
		ch, err := w.compare(x, c)
		if ch != nil {
			states[c.Entry.Name] = state{change: ch}
		}
		return err
	})
	if err != nil {
		return err
	}
	walk := &indexWalk{c: w.Comparer, x: x}
	walk.visit = func(path string, old File, e *index.Entry) error {
		if e == nil {
			return emit(newChange(path, old, File{}))
		}
		s := states[path]
		if e.Stage != 0 {
			return unmergedTree(path, old, s.mode, emit)
		}
		return changedTree(path, old, e, s.change, emit)
	}
	return walk.run(tree)
}

// unmergedTree compares a path of a tree that is in conflict with its file.
func unmergedTree(path string, old File, mode uint32, emit Emit) error {
	if old.Mode == 0 && mode == 0 {
		return nil
	}
	return emit(newChange(path, old, File{Mode: mode}))
}

// changedTree compares a path of a tree with its file, which differs from the
// index as ch says.
func changedTree(path string, old File, e *index.Entry, ch *Change, emit Emit) error {
	cur := File{Mode: e.Mode, ID: e.ID}
	var dirt Dirt
	if ch != nil {
		cur, dirt = ch.New, ch.Submodule
	}
	switch {
	case old.Mode == 0 && cur.Mode == 0:
		return nil
	case old.Mode == cur.Mode && old.ID == cur.ID && dirt == 0:
		return nil
	}
	out := newChange(path, old, cur)
	out.Submodule = dirt
	return emit(out)
}

func fileMode(c *worktree.FileChange) uint32 {
	if c.Err != nil || c.Stat.Mode == 0 || c.Stat.IsDir() {
		return 0
	}
	return index.CanonicalMode(c.Stat.Mode)
}

// compare returns the change of a merged entry, or nil.
func (w *WorkTree) compare(x *index.Index, c *worktree.FileChange) (*Change, error) {
	e := c.Entry
	if c.Err != nil {
		return nil, &fs.PathError{Op: "stat", Path: e.Name, Err: c.Err}
	}
	old, cur := File{Mode: e.Mode, ID: e.ID}, File{}
	intent := e.Has(index.IntentToAdd) && !w.ShowIntent
	if c.Kind == worktree.Deleted && !intent {
		ch := newChange(e.Name, old, cur)
		return &ch, nil
	}
	if e.IsGitlink() && (c.Kind == worktree.Unchanged || c.Stat.IsDir()) {
		return w.gitlink(c)
	}
	cur.Mode = x.Options.Stat.ModeFromStat(e, c.Stat.Mode)
	if intent {
		if c.Kind == worktree.Deleted {
			return nil, nil
		}
		old = File{}
	}
	ch := newChange(e.Name, old, cur)
	ch.IntentToAdd = intent
	return &ch, nil
}

// gitlink compares a gitlink with the repository that is there.
func (w *WorkTree) gitlink(c *worktree.FileChange) (*Change, error) {
	var dirt Dirt
	cur := File{Mode: modeGitlink, ID: c.Entry.ID}
	if c.Kind == worktree.Modified {
		dirt, cur.ID = NewCommits, oid.ID{}
	}
	if w.Submodule != nil {
		more, err := w.Submodule(c.Entry)
		if err != nil {
			return nil, err
		}
		dirt |= more
	}
	if dirt == 0 {
		return nil, nil
	}
	ch := newChange(c.Entry.Name, File{Mode: modeGitlink, ID: c.Entry.ID}, cur)
	ch.Submodule = dirt
	return &ch, nil
}

// unmerged reports a path in conflict, and how its file differs from our side.
func (w *WorkTree) unmerged(x *index.Index, c *worktree.FileChange, emit Emit) error {
	path := c.Entry.Name
	mode := fileMode(c)
	u := Change{Status: Unmerged, Old: File{Path: path}, New: File{Path: path, Mode: mode}}
	if err := emit(u); err != nil {
		return err
	}
	ours := x.Find(path, 2)
	if ours == nil {
		return nil
	}
	cur := File{Mode: mode}
	if mode != 0 {
		cur.Mode = x.Options.Stat.ModeFromStat(ours, c.Stat.Mode)
	}
	return emit(newChange(path, File{Mode: ours.Mode, ID: ours.ID}, cur))
}
