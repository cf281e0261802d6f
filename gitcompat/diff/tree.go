package diff

import (
	"errors"
	"fmt"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// maxTreeDepth is the default of core.maxTreeDepth.
const maxTreeDepth = 2048

// Emit takes the changes of a comparison, one at a time.
type Emit func(Change) error

// TreeTree compares two trees; a null name stands for an empty one.
func (c *Comparer) TreeTree(a, b oid.ID, emit Emit) error {
	if a == b {
		return nil
	}
	return c.trees("", a, b, 0, emit)
}

func (c *Comparer) readTree(id oid.ID) (object.TreeIter, error) {
	if id.IsNull() || id == id.Algo().EmptyTree() {
		return object.TreeIter{}, nil
	}
	typ, body, err := c.DB.Read(id)
	if err != nil {
		return object.TreeIter{}, fmt.Errorf("unable to read tree (%s): %w", id, err)
	}
	if typ != object.Tree {
		return object.TreeIter{}, fmt.Errorf("unable to read tree (%s)", id)
	}
	return object.IterTree(id.Algo(), body), nil
}

var errDepth = errors.New("exceeded maximum allowed tree depth")

func (c *Comparer) trees(base string, a, b oid.ID, depth int, emit Emit) error {
	if depth > maxTreeDepth {
		return errDepth
	}
	ia, err := c.readTree(a)
	if err != nil {
		return err
	}
	ib, err := c.readTree(b)
	if err != nil {
		return err
	}
	oka, okb := ia.Next(), ib.Next()
	for oka || okb {
		cmp := -1
		switch {
		case !oka:
			cmp = 1
		case okb:
			cmp = object.CompareNames(string(ia.Name()), ia.Mode(), string(ib.Name()), ib.Mode())
		}
		var old, cur File
		var name string
		if cmp <= 0 {
			name, old = string(ia.Name()), File{Mode: ia.Mode(), ID: ia.ID()}
			oka = ia.Next()
		}
		if cmp >= 0 {
			name, cur = string(ib.Name()), File{Mode: ib.Mode(), ID: ib.ID()}
			okb = ib.Next()
		}
		if old.Mode == cur.Mode && old.ID == cur.ID {
			continue
		}
		if err := c.entry(base+name, old, cur, depth, emit); err != nil {
			return err
		}
	}
	if err := ia.Err(); err != nil {
		return err
	}
	return ib.Err()
}

// entry compares one name that is in at least one of two trees. Where one side
// is a tree, so is the other, or it is absent: names sort apart otherwise.
func (c *Comparer) entry(path string, old, cur File, depth int, emit Emit) error {
	isTree := old.Mode&typeMask == modeTree || cur.Mode&typeMask == modeTree
	if !isTree {
		if !c.wants(path) {
			return nil
		}
		return emit(newChange(path, old, cur))
	}
	if !c.enters(path) {
		return nil
	}
	if !c.Recurse || c.Trees {
		if err := emit(newChange(path, old, cur)); err != nil || !c.Recurse {
			return err
		}
	}
	return c.trees(path+"/", old.ID, cur.ID, depth+1, emit)
}
