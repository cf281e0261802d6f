package index

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A TreeError means that the index cannot be made into trees. Lines is what
// git writes to stderr before it says so itself.
type TreeError struct{ Lines []string }

func (e *TreeError) Error() string { return "error building trees" }

// Before returns the lines that belong before the message.
func (e *TreeError) Before() []string { return e.Lines }

// maxReported is the number of paths named before "...".
const maxReported = 10

// Verify checks that the index can be a tree: no conflicts, and no path that
// is both a file and a directory.
func (x *Index) Verify() error {
	var bad TreeError
	for _, e := range x.Entries {
		if e.Stage == 0 {
			continue
		}
		if !bad.add("%s: unmerged (%s)", e.Name, e.ID) {
			break
		}
	}
	if bad.Lines != nil {
		return &bad
	}
	for i := 0; i+1 < len(x.Entries); i++ {
		a, b := x.Entries[i].Name, x.Entries[i+1].Name
		if len(a) >= len(b) || b[len(a)] > '/' || b[:len(a)] != a {
			continue
		}
		if b[len(a)] != '/' { // "a-b" comes between "a" and "a/b"
			pos, _ := x.Search(a+"/", 0)
			if pos >= len(x.Entries) || !hasPrefix(x.Entries[pos].Name, a+"/") {
				continue
			}
			b = x.Entries[pos].Name
		}
		if !bad.add("You have both %s and %s", a, b) {
			break
		}
	}
	if bad.Lines != nil {
		return &bad
	}
	return nil
}

func (e *TreeError) add(format string, args ...any) bool {
	if len(e.Lines) == maxReported {
		e.Lines = append(e.Lines, "...")
		return false
	}
	e.Lines = append(e.Lines, fmt.Sprintf(format, args...))
	return true
}

// A TreeWriter is where the trees of an index go.
type TreeWriter struct {
	// Has reports whether an object exists.
	Has func(oid.ID) bool
	// Write stores a tree and returns its name.
	Write func(content []byte) (oid.ID, error)
	// MissingOK leaves unchecked whether the blobs exist.
	MissingOK bool
}

// TreesValid reports whether all trees of the index are known and exist, so that
// WriteTrees has nothing to do.
func (x *Index) TreesValid(has func(oid.ID) bool) bool {
	var valid func(t *CacheTree) bool
	valid = func(t *CacheTree) bool {
		if !t.Valid() || !has(t.ID) {
			return false
		}
		for _, c := range t.Children {
			if !valid(c) {
				return false
			}
		}
		return true
	}
	return valid(x.Tree)
}

// WriteTrees writes the trees that the cache-tree does not know, records them
// in it, and returns the name of the root. A *TreeError says why it cannot.
func (x *Index) WriteTrees(w TreeWriter) (oid.ID, error) {
	x.RemoveMarked()
	if err := x.Verify(); err != nil {
		return oid.ID{}, err
	}
	if x.Tree == nil {
		x.Tree = &CacheTree{Count: -1}
	}
	u := treeUpdate{x: x, TreeWriter: w, emptyTree: x.Algo.EmptyTree()}
	if _, err := u.update(x.Tree, x.Entries, ""); err != nil {
		return oid.ID{}, err
	}
	x.Changed = true
	return x.Tree.ID, nil
}

type treeUpdate struct {
	x *Index
	TreeWriter
	emptyTree oid.ID
}

// update makes t the tree of the entries at the front of list whose path
// starts with base, and returns how many these are.
func (u *treeUpdate) update(t *CacheTree, list []*Entry, base string) (int, error) {
	if t.Count >= 0 && u.Has(t.ID) {
		return t.Count, nil
	}
	for _, c := range t.Children {
		c.used = false
	}
	n := 0
	for n < len(list) && hasPrefix(list[n].Name, base) && len(list[n].Name) > len(base) {
		path := list[n].Name
		slash := strings.IndexByte(path[len(base):], '/')
		if slash < 0 {
			n++
			continue
		}
		sub := t.child(path[len(base) : len(base)+slash])
		count, err := u.update(sub, list[n:], path[:len(base)+slash+1])
		if err != nil {
			return 0, err
		}
		if count == 0 {
			return 0, fmt.Errorf("index cache-tree records empty sub-tree")
		}
		sub.covers, sub.used = count, true
		n += count
	}
	kept := t.Children[:0]
	for _, c := range t.Children {
		if c.used {
			kept = append(kept, c)
		}
	}
	t.Children = kept
	content, incomplete, err := u.content(t, list[:n], base)
	if err != nil {
		return 0, err
	}
	if t.ID, err = u.Write(content); err != nil {
		return 0, err
	}
	t.Count = n
	if incomplete {
		t.Count = -1
	}
	return n, nil
}

// content returns the tree object of a directory whose subtrees are done, and
// whether it leaves out an entry that the index keeps, so that the tree must
// not be taken for those entries.
func (u *treeUpdate) content(t *CacheTree, list []*Entry, base string) (tree []byte, incomplete bool, err error) {
	for i := 0; i < len(list); {
		e := list[i]
		id, mode, name := e.ID, e.Mode, e.Name[len(base):]
		var sub *CacheTree
		if slash := strings.IndexByte(name, '/'); slash >= 0 {
			name = name[:slash]
			sub = t.child(name)
			i += sub.covers
			id, mode = sub.ID, ModeDir
		} else {
			i++
		}
		partial := sub != nil && sub.Count < 0
		if partial {
			incomplete = true
		}
		if id.IsNull() || !(mode == ModeGitlink || u.MissingOK || sub != nil) && !u.Has(id) {
			return nil, false, &TreeError{Lines: []string{fmt.Sprintf("error: invalid object %06o %s for '%s'", mode, id, base+name)}}
		}
		if sub == nil && e.Flags&IntentToAdd != 0 {
			incomplete = true
			continue
		}
		if partial && id == u.emptyTree {
			continue // nothing in it but intended additions
		}
		tree = append(strconv.AppendUint(tree, uint64(mode), 8), ' ')
		tree = append(append(tree, name...), 0)
		tree = id.Append(tree)
	}
	return tree, incomplete, nil
}

// PrimeTree makes the cache-tree that of the tree root, which must hold what
// the index holds. read returns the entries of a tree.
func (x *Index) PrimeTree(root oid.ID, read func(oid.ID) ([]TreeEntry, error)) error {
	t, err := primeTree("", root, read)
	if err != nil {
		return err
	}
	x.Tree, x.Changed = t, true
	return nil
}

// A TreeEntry is an entry of a tree object.
type TreeEntry struct {
	Name string
	Mode uint32
	ID   oid.ID
}

func primeTree(name string, id oid.ID, read func(oid.ID) ([]TreeEntry, error)) (*CacheTree, error) {
	entries, err := read(id)
	if err != nil {
		return nil, err
	}
	t := &CacheTree{Name: name, ID: id}
	for _, e := range entries {
		if e.Mode&typeMask != ModeDir {
			t.Count++
			continue
		}
		c, err := primeTree(e.Name, e.ID, read)
		if err != nil {
			return nil, err
		}
		t.Count += c.Count
		pos, found := t.search(e.Name)
		if found {
			return nil, fmt.Errorf("tree %s has '%s' twice", id, e.Name)
		}
		t.Children = append(t.Children, nil)
		copy(t.Children[pos+1:], t.Children[pos:])
		t.Children[pos] = c
	}
	return t, nil
}
