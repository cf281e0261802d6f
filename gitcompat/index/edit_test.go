package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

func entry(name string) *Entry {
	return &Entry{Name: name, Mode: ModeFile, ID: oid.SHA1.EmptyBlob()}
}

func names(x *Index) string {
	var b []string
	for _, e := range x.Entries {
		n := e.Name
		if e.Stage != 0 {
			n = fmt.Sprintf("%s#%d", n, e.Stage)
		}
		b = append(b, n)
	}
	return strings.Join(b, " ")
}

func indexOf(t *testing.T, paths ...string) *Index {
	t.Helper()
	x := New(oid.SHA1, Options{})
	for _, p := range paths {
		e := entry(p)
		if name, stage, ok := strings.Cut(p, "#"); ok {
			e.Name, e.Stage = name, stage[0]-'0'
		}
		if err := x.Add(e, OKToAdd|SkipDFCheck); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func TestAdd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ have, add, want string }{
		{"", "a", "a"},
		{"a c", "b", "a b c"},
		{"a b", "a", "a b"},
		{"a-b a/b a0", "a", "a a-b a0"},                     // a file in place of a directory
		{"a a-b a0", "a/b", "a-b a/b a0"},                   // and the other way round
		{"a", "a/b/c/d", "a/b/c/d"},                         //
		{"a/b", "a/b/c/d", "a/b/c/d"},                       //
		{"x/y z", "x/y/z", "x/y/z z"},                       //
		{"a/b/c a/b/d a/c", "a/b", "a/b a/c"},               //
		{"f#1 f#2 f#3 g", "f", "f g"},                       // a merged entry ends the conflict
		{"f#1 f#2 f#3", "f/x", "f#1 f#2 f#3 f/x"},           // another stage is no clash
		{"d/a#2 d/b", "d", "d d/a#2"},                       //
		{"a a#x", "", ""},                                   //
		{"a.c a/b", "a", "a a.c"},                           //
		{"a/b a/b.c a/b/d b", "a/b/d/e", "a/b.c a/b/d/e b"}, // repairs an index that broke I3
	} {
		if c.add == "" {
			continue
		}
		x := indexOf(t, strings.Fields(c.have)...)
		if err := x.Add(entry(c.add), OKToAdd|OKToReplace); err != nil {
			t.Errorf("%q + %q: %v", c.have, c.add, err)
		} else if got := names(x); got != c.want {
			t.Errorf("%q + %q = %q, want %q", c.have, c.add, got, c.want)
		}
	}
}

func TestAdd_refusals(t *testing.T) {
	t.Parallel()
	x := indexOf(t, "a/b", "c")
	x.Options.VerifyPath = func(path string, _ uint32) bool { return path != "bad" }
	for _, c := range []struct {
		path string
		o    AddOptions
		want string
	}{
		{"a", OKToAdd, "'a' appears as both a file and as a directory"},
		{"c/d", OKToAdd, "'c/d' appears as both a file and as a directory"},
		{"bad", OKToAdd, "invalid path 'bad'"},
		{"new", 0, ErrNotInIndex.Error()},
		{"c", 0, ""},
	} {
		err := x.Add(entry(c.path), c.o)
		if got := fmt.Sprint(err); c.want != "" && got != c.want || c.want == "" && err != nil {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
	if err := x.Add(entry("new"), 0); !errors.Is(err, ErrNotInIndex) {
		t.Error(err)
	}
	if got := names(x); got != "a/b c" {
		t.Error("after refusals: ", got)
	}
}

// TestAdd_random compares with stock git over random orders of clashing paths.
func TestAdd_random(t *testing.T) {
	t.Parallel()
	r := newTestRepo(t)
	pool := []string{"a", "a/b", "a/b/c", "a-x", "a.x", "a0", "a/b.c", "a/b-c", "a/b0", "b", "b/a", "b/a/c", "b/a.c", "c/d/e/f", "c", "c/d"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		x := New(oid.SHA1, Options{})
		var in strings.Builder
		for range 40 {
			p := pool[rng.IntN(len(pool))]
			if rng.IntN(4) == 0 {
				x.RemovePath(p)
				fmt.Fprintf(&in, "0 %s\t%s\n", oid.SHA1.Null(), p)
				continue
			}
			if err := x.Add(entry(p), OKToAdd|OKToReplace); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&in, "100644 %s\t%s\n", oid.SHA1.EmptyBlob(), p)
		}
		r.git("read-tree", "--empty")
		r.gitIn(in.String(), "update-index", "--index-info")
		if got, want := names(x), strings.Join(strings.Fields(r.git("ls-files")), " "); got != want {
			t.Fatalf("got  %s\nwant %s\nafter\n%s", got, want, in.String())
		}
	}
}

func TestRemoveAndRename(t *testing.T) {
	t.Parallel()
	x := indexOf(t, "a", "d/e#1", "d/e#3", "f")
	if !x.RemovePath("d/e") || x.RemovePath("nosuch") {
		t.Error("RemovePath does not say what it found")
	}
	if len(x.Undo) != 1 || x.Undo[0].Modes != [3]uint32{ModeFile, 0, ModeFile} {
		t.Errorf("undo: %+v", x.Undo)
	}
	pos, _ := x.Search("a", 0)
	if err := x.Rename(pos, "f"); err != nil || names(x) != "f" {
		t.Error(names(x), err)
	}
	if err := x.Unresolve("d/e"); err != nil || names(x) != "d/e#1 d/e#3 f" {
		t.Error(names(x), err)
	}
	x.Entries[2].Flags |= Remove
	if x.RemoveMarked(); names(x) != "d/e#1 d/e#3" {
		t.Error(names(x))
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	x := indexOf(t, "Dir/Sub/File", "top")
	if e := x.FindFold("dir/sub/FILE"); e == nil || e.Name != "Dir/Sub/File" {
		t.Error(e)
	}
	for in, want := range map[string]string{"dir/sub/new": "Dir/Sub/new", "dir/other/x": "Dir/other/x", "x": "x", "TOP": "TOP"} {
		if got := x.FoldDir(in); got != want {
			t.Errorf("FoldDir(%s) = %s, want %s", in, got, want)
		}
	}
	x.RemovePath("Dir/Sub/File")
	if x.FindFold("dir/sub/file") != nil || x.FoldDir("dir/x") != "dir/x" {
		t.Error("a removed entry is still found")
	}
}
