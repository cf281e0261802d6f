package revision

import (
	"errors"
	"fmt"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// maxTreeDepth is the default of core.maxTreeDepth.
const maxTreeDepth = 2048

// mark is what a listing knows about an object that is no commit.
type mark uint8

const (
	avoided mark = 1 << iota // the other side has it
	listed
	expanded // an avoided tree whose entries were marked
)

// objects lists tags, trees and blobs, each once, and none that is avoided.
type objects struct {
	w     *Walk
	req   *Request
	fn    func(*Item) error
	marks map[oid.ID]mark
	// sparse mode: avoided trees by path, whose entries are not marked yet
	border map[string][]oid.ID
	path   []byte
}

func newObjects(w *Walk, req *Request, fn func(*Item) error) *objects {
	o := &objects{w: w, req: req, fn: fn, marks: make(map[oid.ID]mark)}
	if req.Sparse {
		o.border = make(map[string][]oid.ID)
	}
	return o
}

func (o *objects) avoid(id oid.ID) { o.marks[id] |= avoided }

// avoidTip marks a tree or blob that the request itself excludes.
func (o *objects) avoidTip(id oid.ID, typ object.Type) {
	if typ == object.Tree {
		o.avoidAll(id, 0)
		return
	}
	o.avoid(id)
}

// avoidTree marks the root tree of a commit at the border.
func (o *objects) avoidTree(id oid.ID) {
	if o.border == nil {
		o.avoidAll(id, 0)
		return
	}
	o.avoid(id)
	if o.marks[id]&expanded == 0 {
		o.border[""] = append(o.border[""], id)
	}
}

// avoidAll marks a tree and all that it holds; what is missing is passed over.
func (o *objects) avoidAll(id oid.ID, depth int) {
	if o.marks[id]&expanded != 0 || depth > maxTreeDepth {
		return
	}
	o.marks[id] |= avoided | expanded
	body, err := o.tree(id)
	if err != nil {
		return
	}
	for it := object.IterTree(id.Algo(), body); it.Next(); {
		switch object.ModeType(it.Mode()) {
		case object.Tree:
			o.avoidAll(it.ID(), depth+1)
		case object.Blob:
			o.avoid(it.ID())
		}
	}
}

// expand marks the entries of avoided trees at the current path.
func (o *objects) expand(path []byte) {
	trees := o.border[string(path)]
	if len(trees) == 0 {
		return
	}
	delete(o.border, string(path))
	for _, id := range trees {
		if o.marks[id]&expanded != 0 {
			continue
		}
		o.marks[id] |= expanded
		body, err := o.tree(id)
		if err != nil {
			continue
		}
		for it := object.IterTree(id.Algo(), body); it.Next(); {
			kind, kid := object.ModeType(it.Mode()), it.ID()
			if kind == object.Commit {
				continue
			}
			o.avoid(kid)
			if kind == object.Tree && o.marks[kid]&expanded == 0 {
				sub := string(append(append(path, it.Name()...), '/'))
				o.border[sub] = append(o.border[sub], kid)
			}
		}
	}
}

func (o *objects) tree(id oid.ID) ([]byte, error) {
	typ, body, err := o.w.db.Read(id)
	if err != nil {
		return nil, &MissingError{ID: id, Type: object.Tree, Err: err}
	}
	if typ != object.Tree {
		return nil, fmt.Errorf("object %s is a %s, not a tree", id, typ)
	}
	return body, nil
}

// finish lists the pending tags, trees and blobs with all they hold.
func (o *objects) finish(pending []Tip, types []object.Type) error {
	for i, t := range pending {
		if o.marks[t.ID]&(avoided|listed) != 0 {
			continue
		}
		var err error
		switch types[i] {
		case object.Tree:
			o.path = append(o.path[:0], t.Path...)
			err = o.listTree(t.ID, 0)
		case object.Blob:
			o.path = append(o.path[:0], t.Path...)
			err = o.listBlob(t.ID)
		default:
			o.marks[t.ID] |= listed
			err = o.fn(&Item{ID: t.ID, Type: object.Tag, Path: []byte(t.Name)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// listTree lists the tree id, whose path is in o.path, and what it holds.
func (o *objects) listTree(id oid.ID, depth int) error {
	if depth > maxTreeDepth {
		return errors.New("exceeded maximum allowed tree depth")
	}
	body, err := o.tree(id)
	if err != nil {
		if o.req.IgnoreMissing {
			return nil
		}
		return &brokenError{"bad tree object " + id.String(), err}
	}
	o.marks[id] |= listed
	if err := o.fn(&Item{ID: id, Type: object.Tree, Path: o.path}); err != nil {
		return err
	}
	base := len(o.path)
	defer func() { o.path = o.path[:base] }()
	if base > 0 {
		o.path = append(o.path, '/')
	}
	if o.border != nil {
		o.expand(o.path)
	}
	dir := len(o.path)
	it := object.IterTree(id.Algo(), body)
	for it.Next() {
		kind, kid := object.ModeType(it.Mode()), it.ID()
		if kind == object.Commit || o.marks[kid]&(avoided|listed) != 0 {
			continue
		}
		o.path = append(o.path[:dir], it.Name()...)
		if kind == object.Tree {
			err = o.listTree(kid, depth+1)
		} else {
			err = o.listBlob(kid)
		}
		if err != nil {
			return err
		}
	}
	if err := it.Err(); err != nil {
		return &brokenError{"bad tree object " + id.String(), err}
	}
	return nil
}

func (o *objects) listBlob(id oid.ID) error {
	o.marks[id] |= listed
	if o.req.VerifyBlobs && !o.w.db.Has(id) {
		if o.req.IgnoreMissing {
			return nil
		}
		return &MissingError{ID: id, Type: object.Blob}
	}
	return o.fn(&Item{ID: id, Type: object.Blob, Path: o.path})
}
