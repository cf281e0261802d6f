package index

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestRoundTrip checks I1: what git wrote is written again byte for byte.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	yes := true
	cases := []struct {
		name string
		make func(r *testRepo)
		opts Options
	}{
		{"v2", func(r *testRepo) { r.files() }, Options{}},
		{"v3", func(r *testRepo) {
			r.files()
			r.write("later", "x")
			r.git("add", "-N", "later")
			r.git("update-index", "--skip-worktree", "a0/b/c")
			r.git("update-index", "--assume-unchanged", "a")
		}, Options{}},
		{"v4", func(r *testRepo) { r.files(); r.git("update-index", "--index-version", "4") }, Options{}},
		{"v4 extended", func(r *testRepo) {
			r.files()
			r.git("update-index", "--index-version", "4")
			r.git("update-index", "--skip-worktree", "dir/y")
		}, Options{}},
		{"tree", func(r *testRepo) { r.files(); r.git("commit", "-qm", "x") }, Options{}},
		{"partial tree", func(r *testRepo) {
			r.files()
			r.git("commit", "-qm", "x")
			r.write("dir/sub/x", "changed")
			r.git("add", ".")
		}, Options{}},
		{"conflict and undo", func(r *testRepo) { r.conflict() }, Options{}},
		{"empty", func(r *testRepo) { r.files(); r.git("read-tree", "--empty") }, Options{}},
		{"untracked cache", func(r *testRepo) {
			r.files()
			r.write("junk", "x")
			r.git("update-index", "--force-untracked-cache")
			r.git("status")
		}, Options{}},
		{"threads", func(r *testRepo) { r.git("config", "index.threads", "4"); r.files() }, Options{Threads: 4, ThreadsSet: true}},
		{"threads v4", func(r *testRepo) {
			r.git("config", "index.threads", "3")
			r.files()
			r.git("update-index", "--index-version", "4")
		}, Options{Threads: 3, ThreadsSet: true}},
		{"threads, tree", func(r *testRepo) {
			r.git("config", "index.threads", "2")
			r.files()
			r.git("commit", "-qm", "x")
		}, Options{Threads: 2, ThreadsSet: true}},
		{"end of entries only", func(r *testRepo) {
			r.git("config", "index.recordEndOfIndexEntries", "true")
			r.files()
		}, Options{RecordEndOfEntries: &yes}},
		{"long names", func(r *testRepo) {
			var b strings.Builder
			id := strings.Repeat("1", 40)
			for _, n := range []int{4094, 4095, 4096, 5000} {
				fmt.Fprintf(&b, "100644 %s 0\t%s\n", id, strings.Repeat("x", n))
			}
			r.gitIn(b.String(), "update-index", "--index-info")
		}, Options{}},
		{"long names v4", func(r *testRepo) {
			var b strings.Builder
			id := strings.Repeat("1", 40)
			for _, n := range []int{4094, 4095, 4096, 5000} {
				fmt.Fprintf(&b, "100644 %s 0\t%s\n", id, strings.Repeat("x", n))
			}
			r.gitIn(b.String(), "update-index", "--index-info")
			r.git("update-index", "--index-version", "4")
		}, Options{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newTestRepo(t)
			c.make(r)
			want := r.indexBytes()
			got := encode(t, r.parse(c.opts))
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, git wrote %d; first difference at %d\n%q\n%q", len(got), len(want), firstDiff(got, want), got, want)
			}
		})
	}
}

func firstDiff(a, b []byte) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestRoundTripMany covers the path with a second goroutine, and blocks of the offset table.
func TestRoundTripMany(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "4"} {
		t.Run("v"+version, func(t *testing.T) {
			t.Parallel()
			r := newTestRepo(t)
			r.git("config", "index.threads", "7")
			r.git("config", "index.version", version)
			var b strings.Builder
			id := strings.Repeat("2", 40)
			for i := range 30000 {
				fmt.Fprintf(&b, "100644 %s 0\tdirectory%03d/file%05d\n", id, i/100, i)
			}
			r.gitIn(b.String(), "update-index", "--index-info")
			want := r.indexBytes()
			if got := encode(t, r.parse(Options{Threads: 7, ThreadsSet: true})); !bytes.Equal(got, want) {
				t.Fatalf("differs from git's at %d of %d", firstDiff(got, want), len(want))
			}
		})
	}
}

func TestSkipHash(t *testing.T) {
	t.Parallel()
	r := newTestRepo(t)
	r.files()
	x := r.parse(Options{SkipHash: true})
	r.replace(x)
	b := r.indexBytes()
	if !bytes.Equal(b[len(b)-20:], make([]byte, 20)) {
		t.Fatal("trailer is not zero")
	}
	if out := r.git("status", "--porcelain"); !strings.Contains(out, "A  z") {
		t.Fatal(out)
	}
	r.parse(Options{})
}

// TestVersionChoice checks that 2 and 3 are chosen by what the entries need, and 4 stays.
func TestVersionChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		have, config uint32
		extended     bool
		want         uint32
	}{
		{0, 0, false, 2}, {0, 0, true, 3}, {0, 2, true, 3}, {0, 3, false, 2}, {0, 4, false, 4}, {0, 4, true, 4},
		{2, 4, false, 2}, {2, 4, true, 3}, {3, 0, false, 2}, {4, 2, false, 4},
	} {
		x := New(0, Options{})
		if c.config != 0 {
			x.Options.Version = func() uint32 { return c.config }
		}
		x.Version = c.have
		e := &Entry{Name: "a", Mode: ModeFile, ID: x.Algo.EmptyBlob()}
		if c.extended {
			e.Flags |= SkipWorktree
		}
		if err := x.Add(e, OKToAdd); err != nil {
			t.Fatal(err)
		}
		if encode(t, x); x.Version != c.want {
			t.Errorf("version %d, index.version %d, extended %v: wrote %d, want %d", c.have, c.config, c.extended, x.Version, c.want)
		}
	}
}
