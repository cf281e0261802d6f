package index

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A CacheTree is a node of the cache-tree: the tree object of one directory of
// the index, if it is known, and the same for the directories in it.
type CacheTree struct {
	Name     string // within its parent; "" for the root
	Count    int    // entries of the index it covers, or -1: the tree is not known
	ID       oid.ID // of the tree, if Count >= 0
	Children []*CacheTree
	used     bool // during an update: the index has this directory
	covers   int  // during an update: entries of the index below it, whether or not they are in the tree
}

// Valid reports whether the tree of this directory is known.
func (t *CacheTree) Valid() bool { return t != nil && t.Count >= 0 }

// before orders the children of a node: by length of the name, then by its
// bytes (subtree_name_cmp). Part of the format.
func before(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

func (t *CacheTree) search(name string) (int, bool) {
	lo, hi := 0, len(t.Children)
	for lo < hi {
		mid := (lo + hi) / 2
		if before(t.Children[mid].Name, name) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(t.Children) && t.Children[lo].Name == name
}

// child returns the node of a directory in t, made if it is not there.
func (t *CacheTree) child(name string) *CacheTree {
	i, found := t.search(name)
	if found {
		return t.Children[i]
	}
	c := &CacheTree{Name: name, Count: -1}
	t.Children = append(t.Children, nil)
	copy(t.Children[i+1:], t.Children[i:])
	t.Children[i] = c
	return c
}

// Find returns the node of a directory ("" or "a/b/", slashes at the end or
// doubled do not matter), or nil.
func (t *CacheTree) Find(dir string) *CacheTree {
	for t != nil && dir != "" {
		name, rest, _ := strings.Cut(dir, "/")
		i, found := t.search(name)
		if !found {
			return nil
		}
		t, dir = t.Children[i], strings.TrimLeft(rest, "/")
	}
	return t
}

// InvalidatePath makes the trees of all directories above path unknown.
func (x *Index) InvalidatePath(path string) {
	t := x.Tree
	if t == nil {
		return
	}
	x.Changed = true
	for {
		t.Count = -1
		name, rest, deeper := strings.Cut(path, "/")
		i, found := t.search(name)
		if !found {
			return
		}
		if !deeper {
			// A file takes the place of the directory.
			t.Children = append(t.Children[:i], t.Children[i+1:]...)
			return
		}
		t, path = t.Children[i], rest
	}
}

// maxTreeDepth bounds the recursion over a cache-tree that was read; a path has fewer slashes.
const maxTreeDepth = 1 << 14

// parseCacheTree reads the TREE extension; nil if it is malformed, as git does.
func parseCacheTree(data []byte, algo oid.Algo) *CacheTree {
	if len(data) == 0 || data[0] != 0 {
		return nil
	}
	p := treeParser{data: data, algo: algo}
	t, ok := p.node(0)
	if !ok {
		return nil
	}
	return t
}

type treeParser struct {
	data []byte
	algo oid.Algo
}

func (p *treeParser) node(depth int) (*CacheTree, bool) {
	name, rest, ok := bytes.Cut(p.data, []byte{0})
	if !ok || depth > maxTreeDepth {
		return nil, false
	}
	line, rest, ok := bytes.Cut(rest, []byte{'\n'})
	countText, childrenText, ok2 := bytes.Cut(line, []byte{' '})
	count, err := strconv.ParseInt(string(countText), 10, 32)
	children, err2 := strconv.ParseInt(string(childrenText), 10, 32)
	if !ok || !ok2 || err != nil || err2 != nil {
		return nil, false
	}
	t := &CacheTree{Name: string(name), Count: int(max(count, -1))}
	if count >= 0 {
		if len(rest) < p.algo.Size() {
			return nil, false
		}
		t.ID, rest = p.algo.FromBytes(rest), rest[p.algo.Size():]
	}
	p.data = rest
	for i := int64(0); i < children; i++ {
		c, ok := p.node(depth + 1)
		if !ok {
			return nil, false
		}
		pos, found := t.search(c.Name)
		if found || c.Name == "" {
			return nil, false
		}
		t.Children = append(t.Children, nil)
		copy(t.Children[pos+1:], t.Children[pos:])
		t.Children[pos] = c
	}
	return t, true
}

// append writes the node and all below it, in preorder.
func (t *CacheTree) append(dst []byte) []byte {
	dst = append(append(dst, t.Name...), 0)
	dst = append(strconv.AppendInt(dst, int64(t.Count), 10), ' ')
	dst = append(strconv.AppendInt(dst, int64(len(t.Children)), 10), '\n')
	if t.Count >= 0 {
		dst = t.ID.Append(dst)
	}
	for _, c := range t.Children {
		dst = c.append(dst)
	}
	return dst
}
