package diff

import (
	"strings"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// TreeIndex compares a tree with the index (diff-index --cached). A null tree is empty.
func (c *Comparer) TreeIndex(tree oid.ID, x *index.Index, emit Emit) error {
	w := &indexWalk{c: c, x: x, visit: func(path string, old File, e *index.Entry) error {
		return c.cached(path, old, e, emit)
	}, skipEqual: true}
	return w.run(tree)
}

// cached compares one path of a tree with the index.
func (c *Comparer) cached(path string, old File, e *index.Entry, emit Emit) error {
	if e != nil && e.Has(index.IntentToAdd) && !c.ShowIntent {
		e = nil
	}
	switch {
	case e == nil && old.Mode == 0:
		return nil
	case e == nil:
		return emit(newChange(path, old, File{}))
	case e.Stage != 0:
		ch := Change{Status: Unmerged, Old: old, New: File{Path: path}}
		ch.Old.Path = path
		return emit(ch)
	case old.Mode == e.Mode && old.ID == e.ID:
		return nil
	}
	return emit(newChange(path, old, File{Mode: e.Mode, ID: e.ID}))
}

// An indexWalk goes through a tree and the index side by side.
type indexWalk struct {
	c *Comparer
	x *index.Index
	// visit gets each path that is in the tree (old) or in the index (e, at its
	// lowest stage) or in both.
	visit     func(path string, old File, e *index.Entry) error
	skipEqual bool // subtrees that the cache-tree knows to be equal are passed over
	pos       int
}

func (w *indexWalk) run(tree oid.ID) error {
	if w.skipEqual && w.x.Tree.Valid() && w.x.Tree.ID == tree {
		return nil
	}
	if err := w.dir("", tree, w.x.Tree, 0); err != nil {
		return err
	}
	return w.rest("")
}

// rest visits what the index has below base and the tree has not.
func (w *indexWalk) rest(base string) error {
	for w.pos < len(w.x.Entries) && strings.HasPrefix(w.x.Entries[w.pos].Name, base) {
		if err := w.step(File{}); err != nil {
			return err
		}
	}
	return nil
}

// step visits the current path of the index and moves past all of its stages.
func (w *indexWalk) step(old File) error {
	e := w.x.Entries[w.pos]
	for w.pos++; w.pos < len(w.x.Entries) && w.x.Entries[w.pos].Name == e.Name; w.pos++ {
	}
	if !w.c.wants(e.Name) {
		return nil
	}
	return w.visit(e.Name, old, e)
}

func (w *indexWalk) dir(base string, tree oid.ID, cached *index.CacheTree, depth int) error {
	if depth > maxTreeDepth {
		return errDepth
	}
	it, err := w.c.readTree(tree)
	if err != nil {
		return err
	}
	for it.Next() {
		path := base + string(it.Name())
		old := File{Mode: it.Mode(), ID: it.ID()}
		isDir := old.Mode&typeMask == modeTree
		key := path
		if isDir {
			key += "/"
		}
		// What the index has before this entry, the tree lacks.
		for w.pos < len(w.x.Entries) && w.x.Entries[w.pos].Name < key && strings.HasPrefix(w.x.Entries[w.pos].Name, base) {
			if err := w.step(File{}); err != nil {
				return err
			}
		}
		if isDir {
			err = w.subdir(key, old, child(cached, string(it.Name())), depth)
		} else if w.pos < len(w.x.Entries) && w.x.Entries[w.pos].Name == path {
			err = w.step(old)
		} else if w.c.wants(path) {
			err = w.visit(path, old, nil)
		}
		if err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	return w.rest(base)
}

func (w *indexWalk) subdir(dir string, old File, cached *index.CacheTree, depth int) error {
	if !w.c.enters(dir[:len(dir)-1]) {
		w.pos = w.end(dir)
		return nil
	}
	if w.skipEqual && cached.Valid() && cached.ID == old.ID {
		w.pos += cached.Count
		return nil
	}
	return w.dir(dir, old.ID, cached, depth+1)
}

// end returns the position after all entries below dir.
func (w *indexWalk) end(dir string) int {
	_, to := w.x.Range(dir)
	return max(to, w.pos)
}

func child(t *index.CacheTree, name string) *index.CacheTree {
	if t == nil {
		return nil
	}
	return t.Find(name)
}
