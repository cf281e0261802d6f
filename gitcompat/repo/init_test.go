package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

// tree lists a directory: modes, names, and the content of files.
func tree(t *testing.T, dir string, skip ...string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		for _, s := range skip {
			if strings.HasPrefix(rel, s) {
				return nil
			}
		}
		fmt.Fprintf(&b, "%s %s\n", info.Mode(), rel)
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestInitAsGit(t *testing.T) {
	t.Parallel()
	shared := func(s lockfile.SharedRepository) *lockfile.SharedRepository { return &s }
	none := ""
	for _, c := range []struct {
		args   []string
		o      InitOptions
		twice  bool
		config string
	}{
		{args: []string{}},
		{args: []string{"--bare"}, o: InitOptions{WorkTree: "none"}},
		{args: []string{"--shared"}, o: InitOptions{Shared: shared(lockfile.SharedGroup)}},
		{args: []string{"--shared=0640"}, o: InitOptions{Shared: shared(-0o640)}},
		{args: []string{"--shared=all"}, o: InitOptions{Shared: shared(lockfile.SharedEverybody)}},
		{args: []string{"-b", "topic/x"}, o: InitOptions{InitialBranch: "topic/x"}},
		{args: []string{}, twice: true},
		{args: []string{}, config: "[init]\n\tdefaultBranch = d\n[core]\n\tlogAllRefUpdates = false\n"},
		{args: []string{}, config: "[core]\n\tsharedRepository = world\n"},
	} {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		env := []string{"HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
		if err := os.WriteFile(root+"/.gitconfig", []byte(c.config), 0o666); err != nil {
			t.Fatal(err)
		}
		theirs, ours := root+"/theirs", root+"/ours"
		for n := 0; n < 2; n++ {
			if n == 1 && !c.twice {
				break
			}
			args := append([]string{"init", "-q", "--template="}, c.args...)
			if _, errs, code := stockGit(t, root, env, append(args, theirs)...); code != 0 {
				t.Fatalf("%v: %s", args, errs)
			}
			if n == 0 {
				if err := os.Mkdir(ours, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			o := c.o
			o.Dir, o.Environ, o.GitDir, o.Template, o.Quiet = ours, env, ".git", &none, true
			if o.WorkTree == "none" {
				o.WorkTree, o.GitDir = "", ours
			} else {
				o.WorkTree = ours
			}
			done, err := Init(vfs.OS(), o)
			if err != nil {
				t.Fatalf("%v: %v", c.args, err)
			}
			if done.Reinit != (n == 1) {
				t.Errorf("%v: reinit %v", c.args, done.Reinit)
			}
		}
		// git before 2.30 and without templates made a folder of branches.
		if got, want := tree(t, ours, ".git/branches"), tree(t, theirs, ".git/branches"); got != want {
			t.Errorf("%v: got\n%s\ngit\n%s", c.args, got, want)
		}
	}
}

// makeIn makes a repository in dir, with the templates of the program.
func makeIn(fsys *vfs.FS, dir string) error {
	env := []string{"HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsync", "GIT_CONFIG_VALUE_0=all"}
	_, err := Init(fsys, InitOptions{Dir: dir, Environ: env, GitDir: ".git", WorkTree: dir, InitialBranch: "main", Quiet: true})
	return err
}

// TestInitFaults makes every call of an init fail: the next one completes it.
func TestInitFaults(t *testing.T) {
	t.Parallel()
	whole := func(dir string) error {
		r, err := Discover(vfs.OS(), Options{Dir: dir, Environ: []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}})
		if err == nil && (r.Format.Version != 0 || r.Bare || !isDir(dir+"/.git/objects/pack") || !isDir(dir+"/.git/refs/tags")) {
			err = fmt.Errorf("not whole: %+v", r.Format)
		}
		return err
	}
	crash.Loop(t, func(t *testing.T, in *crash.Injector) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		err = makeIn(vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook), dir)
		if err == nil {
			if err := whole(dir); err != nil {
				t.Fatalf("%s: reported success: %v", in, err)
			}
			return
		}
		if in.Sticky {
			left, _ := filepath.Glob(dir + "/.git/*.lock")
			for _, l := range left {
				os.Remove(l) // not even removing worked
			}
		}
		if err := makeIn(vfs.OS().WithHook(crash.NoFlush), dir); err != nil {
			t.Fatalf("%s: the next command: %v", in, err)
		}
		if err := whole(dir); err != nil {
			t.Fatalf("%s: %v", in, err)
		}
	})
}

// TestInitCrash cuts the power at every point of an init: what is there
// afterwards is a repository, or can be made one.
func TestInitCrash(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := crash.Record(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := makeIn(vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), dir); err != nil {
		t.Fatal(err)
	}
	rec.Mark("done")
	scratch, n := t.TempDir(), 0
	seen := map[string]bool{}
	for s := range rec.States(crash.Journal, 1, 1) {
		state := filepath.Join(scratch, fmt.Sprint(n))
		n++
		if err := s.Write(state); err != nil {
			t.Fatal(err)
		}
		key := tree(t, state)
		if seen[key] && !s.Has("done") {
			continue
		}
		seen[key] = true
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + state, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + scratch}
		_, errs, code := stockGit(t, state, env, "fsck")
		if s.Has("done") && code != 0 {
			t.Errorf("%d %s: acknowledged, and %s", s.At, s.What, errs)
		}
		if code != 0 {
			if err := makeIn(vfs.OS().WithHook(crash.NoFlush), state); err != nil && len(s.Leftovers()) == 0 {
				t.Errorf("%d %s: cannot be completed: %v", s.At, s.What, err)
			}
		}
	}
}
