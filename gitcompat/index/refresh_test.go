package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// TestRefresh compares with git update-index --refresh: what it says, and the index it leaves.
func TestRefresh(t *testing.T) {
	t.Parallel()
	r := newTestRepo(t)
	r.conflict()
	r.files()
	old := time.Now().Add(-time.Hour)
	for i := range 1100 {
		r.write(fmt.Sprintf("many/%03d/f", i), "x")
	}
	r.write("a0/b/link/f", "x")
	r.git("add", ".")
	r.git("update-index", "--assume-unchanged", "a-b")
	for _, name := range []string{"a", "a-b", "dir/y"} {
		r.write(name, "something else")
	}
	for i := range 1100 {
		if i%3 == 0 {
			os.Chtimes(filepath.Join(r.dir, fmt.Sprintf("many/%03d/f", i)), old, old)
		}
	}
	os.Remove(filepath.Join(r.dir, "dir/sub/x"))
	os.Remove(filepath.Join(r.dir, "z"))
	os.Symlink("a", filepath.Join(r.dir, "z"))
	r.write("moved/f", "x")
	os.RemoveAll(filepath.Join(r.dir, "a0/b/link"))
	os.Symlink("../../moved", filepath.Join(r.dir, "a0/b/link"))
	for _, args := range [][]string{nil, {"-q"}, {"--ignore-missing"}, {"--unmerged"}, {"--really"}} {
		data := r.indexBytes()
		x, err := Read(r.indexPath(), oid.SHA1, Options{WorkTree: r.dir, Content: contentOf(r.dir)})
		if err != nil {
			t.Fatal(err)
		}
		var o RefreshOptions
		cmd := append([]string{"update-index"}, args...)
		switch strings.Join(args, "") {
		case "-q":
			o.Quiet = true
		case "--ignore-missing":
			o.IgnoreMissing = true
		case "--unmerged":
			o.Unmerged = true
		case "--really":
			o.Really = true
			// With the preload, git takes what is assumed for what it has seen.
			cmd = []string{"-c", "core.preloadIndex=false", "update-index", "--really-refresh"}
		}
		if !o.Really {
			cmd = append(cmd, "--refresh")
		}
		var got strings.Builder
		o.Report = func(p Problem, name string) {
			word := "update"
			if p == NeedsMerge {
				word = "merge"
			}
			fmt.Fprintf(&got, "%s: needs %s\n", name, word)
		}
		clean := x.Refresh(o)
		want, err := r.try("", cmd...)
		if got.String() != want || clean != (err == nil) {
			t.Errorf("%v: %v\n%sgit: %v\n%s", cmd, clean, got.String(), err, want)
		}
		y := r.parse(Options{})
		for i, e := range y.Entries {
			if x.Entries[i].Stat != e.Stat || (x.Entries[i].Flags^e.Flags)&AssumeValid != 0 {
				t.Errorf("%v: %s: %+v %b, git recorded %+v %b", cmd, e.Name, x.Entries[i].Stat, x.Entries[i].Flags, e.Stat, e.Flags)
			}
		}
		r.replaceBytes(data)
	}
}

func TestLeading(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, d := range []string{"a/b/c", "ab", "x/y"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	os.Symlink("b", filepath.Join(root, "a/l"))
	os.Symlink("a", filepath.Join(root, "l"))
	var l Leading
	for _, c := range []struct {
		name string
		want bool
	}{
		{"f", false}, {"a/f", false}, {"a/b/c/f", false}, {"a/b/f", false}, {"a/l/c/f", true}, {"a/l/f", true}, {"a/b/c/g", false},
		{"ab/f", false}, {"a/f", false}, {"l/b/c/f", true}, {"l", false}, {"x/y/f", false}, {"x/f", false}, {"missing/f", false}, {"a/l/f", true},
	} {
		if got := l.Symlink(root, c.name); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
