package builtin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// maxFollowed is how many symbolic links lead to one object.
const maxFollowed = 40

// follow finds <tree-ish>:<path>, where the colon is at at, through symbolic links
// within the tree. status is the whole answer where that ends at no object.
func (c *catFile) follow(name string, at int) (obj revision.Object, status string, err error) {
	root, err := c.resolver.Resolve(name[:at], revision.WantTreeish)
	if err == nil {
		root, err = c.db.Peel(root, object.Tree)
	}
	if err != nil {
		return obj, c.state(name, "missing"), nil
	}
	w := &linkWalk{c: c, dirs: []oid.ID{root}, path: name[at+1:]}
	word, err := w.run()
	switch {
	case err != nil:
		return obj, "", err
	case word == "":
		return revision.Object{ID: w.id, Mode: w.mode, Has: true, Path: name[at+1:]}, "", nil
	case word == "missing":
		return obj, c.state(name, word), nil
	}
	end, text := string(c.batch.out), name
	if word == "symlink" {
		text = w.outside
	}
	return obj, fmt.Sprintf("%s %d%s%s%s", word, len(text), end, text, end), nil
}

// A linkWalk is on its way down a path.
type linkWalk struct {
	c       *catFile
	dirs    []oid.ID // from the root to where it is
	path    string   // what is left of it
	links   int
	id      oid.ID
	mode    uint32
	outside string // where a link leaves the tree
}

// run walks to the end; word is "" where there is an object.
func (w *linkWalk) run() (word string, err error) {
	miss := func() string {
		if w.links > 0 {
			return "dangling"
		}
		return "missing"
	}
	for {
		w.path = strings.TrimLeft(w.path, "/")
		here := w.dirs[len(w.dirs)-1]
		if w.path == "" {
			w.id, w.mode = here, object.ModeTree
			return "", nil
		}
		first, rest, more := strings.Cut(w.path, "/")
		if first == ".." {
			if len(w.dirs) == 1 {
				w.outside = w.path
				return "symlink", nil
			}
			w.dirs, w.path = w.dirs[:len(w.dirs)-1], rest
			continue
		}
		e, err := w.lookup(here, first)
		if err != nil || e == nil {
			return miss(), err
		}
		switch {
		case object.IsTree(e.Mode):
			w.dirs, w.path = append(w.dirs, e.ID), rest
		case object.IsSymlink(e.Mode):
			if word, err := w.link(e.ID, rest, more); word != "" || err != nil {
				return word, err
			}
		case more && object.IsRegular(e.Mode):
			return "notdir", nil
		case more:
			return miss(), nil
		default:
			w.id, w.mode = e.ID, e.Mode
			return "", nil
		}
	}
}

// lookup finds a name in a tree; nil where it is not.
func (w *linkWalk) lookup(tree oid.ID, name string) (*object.Entry, error) {
	entries, err := w.c.db.ReadTree(tree)
	if err != nil {
		return nil, errors.New("unable to read tree (" + tree.String() + ")")
	}
	for i := range entries {
		if entries[i].Name == name {
			return &entries[i], nil
		}
	}
	return nil, nil
}

func (w *linkWalk) link(id oid.ID, rest string, more bool) (word string, err error) {
	if w.links++; w.links > maxFollowed {
		return "loop", nil
	}
	_, target, err := w.c.db.Read(id)
	if err != nil {
		return "dangling", nil
	}
	if len(target) > 0 && target[0] == '/' {
		w.outside = string(target)
		return "symlink", nil
	}
	w.path = string(target)
	if more {
		w.path += "/" + rest
	}
	return "", nil
}
