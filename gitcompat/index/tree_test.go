package index

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// memory is an object database of trees; blobs are all there.
type memory map[oid.ID][]byte

func (m memory) writer() TreeWriter {
	return TreeWriter{
		Has: func(oid.ID) bool { return true },
		Write: func(b []byte) (oid.ID, error) {
			id := oid.SHA1.Sum("tree", b)
			m[id] = b
			return id, nil
		},
	}
}

func (m memory) read(id oid.ID) ([]TreeEntry, error) {
	var list []TreeEntry
	for b := string(m[id]); b != ""; {
		head, rest, _ := strings.Cut(b, "\x00")
		mode, name, _ := strings.Cut(head, " ")
		n, err := strconv.ParseUint(mode, 8, 32)
		if err != nil {
			return nil, err
		}
		list = append(list, TreeEntry{Name: name, Mode: uint32(n), ID: oid.SHA1.FromBytes([]byte(rest))})
		b = rest[20:]
	}
	return list, nil
}

// TestWriteTrees compares trees, and the cache-tree left behind, with those of git write-tree.
func TestWriteTrees(t *testing.T) {
	t.Parallel()
	r := newTestRepo(t)
	r.files()
	r.write("intended/one/a", "x")
	r.write("intended/b", "x")
	r.git("add", "-N", "intended/one/a")
	steps := []func(){
		func() {},
		func() { r.write("dir/sub/x", "new"); r.git("add", "dir") },
		func() { r.git("rm", "-rq", "--cached", "a0") },
		func() { r.git("add", "intended/b") },
		func() { r.git("rm", "-q", "--cached", "intended/one/a") },
	}
	for i, step := range steps {
		step()
		x := r.parse(Options{})
		m := memory{}
		got, err := x.WriteTrees(m.writer())
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSpace(r.git("write-tree")); got.String() != want {
			t.Fatalf("step %d: tree %s, git's is %s", i, got, want)
		}
		if got, want := string(x.Tree.append(nil)), string(r.parse(Options{}).Tree.append(nil)); got != want {
			t.Fatalf("step %d: cache-tree\n%q, git's is\n%q", i, got, want)
		}
		if i == len(steps)-1 { // a clean cache-tree is what priming it gives
			x.Tree = nil
			if got, err = x.WriteTrees(m.writer()); err != nil {
				t.Fatal(err)
			}
			written := string(x.Tree.append(nil))
			if err := x.PrimeTree(got, m.read); err != nil || string(x.Tree.append(nil)) != written {
				t.Fatalf("primed cache-tree\n%q, written\n%q (%v)", x.Tree.append(nil), written, err)
			}
		}
	}
}

func TestWriteTrees_refusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ paths, want string }{
		{"a#1 a#2", "a: unmerged (e69de29bb2d1d6434b8b29ae775ad8c2e48c5391)|a: unmerged (e69de29bb2d1d6434b8b29ae775ad8c2e48c5391)"},
		{"a a-b a/c", "You have both a and a/c"},
		{"a a/c", "You have both a and a/c"},
	} {
		_, err := indexOf(t, strings.Fields(c.paths)...).WriteTrees(memory{}.writer())
		te, ok := err.(*TreeError)
		if !ok || strings.Join(te.Lines, "|") != c.want {
			t.Errorf("%s: %v", c.paths, err)
		}
	}
	w := memory{}.writer()
	w.Has = func(oid.ID) bool { return false }
	_, err := indexOf(t, "d/f").WriteTrees(w)
	if te, ok := err.(*TreeError); !ok || te.Lines[0] != "error: invalid object 100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 for 'd/f'" {
		t.Error(err)
	}
	w.MissingOK = true
	if _, err := indexOf(t, "d/f").WriteTrees(w); err != nil {
		t.Error(err)
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("f%02d#1", i))
	}
	_, err = indexOf(t, many...).WriteTrees(memory{}.writer())
	if te := err.(*TreeError); len(te.Lines) != 11 || te.Lines[10] != "..." {
		t.Error(te.Lines)
	}
}

// TestInvalidate checks that no directory above a changed path keeps its tree (I2).
func TestInvalidate(t *testing.T) {
	t.Parallel()
	x := indexOf(t, "a/b/c", "a/d", "e/f", "g")
	if _, err := x.WriteTrees(memory{}.writer()); err != nil {
		t.Fatal(err)
	}
	if err := x.Add(entry("a/b"), OKToAdd|OKToReplace); err != nil {
		t.Fatal(err)
	}
	if x.Tree.Valid() || x.Tree.Find("a").Valid() || x.Tree.Find("a/b") != nil || !x.Tree.Find("e/").Valid() {
		t.Errorf("%q", x.Tree.append(nil))
	}
	if x.Tree.Find("nosuch") != nil {
		t.Error("found a directory that is not there")
	}
}
