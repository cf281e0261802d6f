package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

var addEnviron = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "PATH=" + os.Getenv("PATH"), "TZ=UTC", "LC_ALL=C",
	"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
	"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000"}

// stockGit runs the installed git.
func stockGit(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("these tests compare with stock git, which is not on PATH")
	}
	cmd := exec.Command(git, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append([]string{"HOME=" + dir}, addEnviron...)
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// ownGit runs a native command in this process.
func ownGit(t *testing.T, dir string, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return ownGitOn(t, vfs.OS(), dir, name, args...)
}

// ownGitOn is ownGit on a file system of the caller's.
func ownGitOn(t *testing.T, fsys *vfs.FS, dir string, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	env := &Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: dir, FS: fsys, Environ: append([]string{"HOME=" + dir}, addEnviron...)}
	if err := env.Discover(); err != nil {
		t.Fatal(err)
	}
	if err := env.Repo.RequireWorkTree(); err != nil {
		t.Fatal(err)
	}
	s := Lookup(name).Run(env, args)
	if s.Err != nil {
		prefix := "error: "
		if s.Fatal {
			prefix = "fatal: "
		}
		var foreign *parseopt.NotNativeError
		if errors.As(s.Err, &foreign) {
			t.Fatalf("%s %v: not native: %s", name, args, foreign.Option)
		}
		errs.WriteString(ErrorText(prefix, s.Err))
	}
	return out.String(), errs.String(), s.Code
}

// addWorld makes a repository to add to: tracked, changed, removed, ignored
// and odd things.
func addWorld(t *testing.T, dir string) {
	t.Helper()
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	stockGit(t, dir, "init", "-q", ".")
	for _, f := range []string{"same", "changed", "gone", "sub/same", "sub/changed", "sub/gone", "todir", "fromdir/x", "crlf.txt", "exec"} {
		put(f, f+"\n")
	}
	stockGit(t, dir, "add", ".")
	stockGit(t, dir, "commit", "-q", "-m", "one")
	for _, f := range []string{"changed", "sub/changed", "new", "sub/new", "newdir/a", "newdir/b/c", "x.o", "newdir/y.o", "-dash", "a b", "q\"uote", "ü"} {
		put(f, "now "+f+"\n")
	}
	for _, f := range []string{"gone", "sub/gone", "todir", "fromdir"} {
		if err := os.RemoveAll(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	put("todir/inner", "i\n")
	put("fromdir", "f\n")
	put(".gitignore", "*.o\n/ignored/\n")
	put("ignored/f", "f\n")
	put("crlf.txt", "a\r\nb\r\n")
	put(".gitattributes", "*.txt text\n")
	if err := os.Chmod(filepath.Join(dir, "exec"), 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "nowhere", "sublink": "sub"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []string{"nested", "hollow"} {
		stockGit(t, dir, "init", "-q", n)
	}
	put("nested/f", "f\n")
	stockGit(t, filepath.Join(dir, "nested"), "add", ".")
	stockGit(t, filepath.Join(dir, "nested"), "commit", "-q", "-m", "n")
}

// TestAddGit runs command lines through both programs on equal worlds; status,
// output, the first message and the index agree.
func TestAddGit(t *testing.T) {
	t.Parallel()
	world, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	addWorld(t, world)
	for _, line := range []string{
		"", ".", "-A", "-u", "-A sub", "-u sub", "sub", "sub/new", "sub/*", "*.o", "x.o", "-f x.o", "-f .", "-n .", "-v -A", "-n -u", "-N new", "-v -N new newdir sub",
		"--no-all .", "--ignore-removal .", "nested", "nested/", "nested/f", "hollow", "--ignore-errors .", "--ignore-errors hollow new", "nothing", "new nothing",
		"--chmod=+x new", "--chmod=-x exec", "--chmod=+x link", "--chmod=x new", "--refresh", "--refresh same", "--refresh nothing", "--refresh -v .",
		"-- -dash", "sublink/new", "link", "sublink", "/", "..", "-u nothing", "-A nothing", "todir", "fromdir", "todir/inner gone", "gone", "sub/gone",
		":(exclude)sub .", ":!sub", ":/", ":(top)new", ":(icase)NEW", ":(glob)**/new", ":(literal)*.o", ":(bogus)x", "--renormalize .", "--renormalize -v crlf.txt",
		"--ignore-missing x", "-n --ignore-missing x.o nothing", "-n --ignore-missing ignored/zz", "ignored", "ignored/f", "ignored/", "newdir", "newdir/", "newdir/y.o", "ü q\"uote a\\b",
		"--pathspec-file-nul", "--pathspec-from-file=none", "--pathspec-from-file=changed new", "sub/changed changed same", "same", "exec", "--verbose exec same",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			compareAdd(t, world, "", strings.Fields(line))
		})
	}
	for _, line := range []string{".", "-A", "-u", "new", "../changed", "../x.o", ":/new", "*", "..", "../..", "gone"} {
		t.Run("in sub "+line, func(t *testing.T) {
			t.Parallel()
			compareAdd(t, world, "sub", strings.Fields(line))
		})
	}
}

// compareAdd runs both programs on copies of world, which are at the same
// path one after the other, so that messages agree.
func compareAdd(t *testing.T, world, sub string, args []string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "w")
	var results [2]string
	for i := range results {
		if out, err := exec.Command("cp", "-a", world, dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var out, errs string
		var code int
		if i == 0 {
			out, errs, code = stockGit(t, filepath.Join(dir, sub), append([]string{"add"}, args...)...)
		} else {
			out, errs, code = ownGit(t, filepath.Join(dir, sub), "add", args...)
		}
		first, _, _ := strings.Cut(errs, "\n")
		files, _, _ := stockGit(t, dir, "ls-files", "-s", "-v")
		diff, _, _ := stockGit(t, dir, "diff-files", "--name-status")
		results[i] = fmt.Sprintf("status %d\nstdout %s\nstderr %s\nfiles\n%sdiff\n%s", code, out, first, files, diff)
		if _, err := os.Stat(filepath.Join(dir, ".git/index.lock")); err == nil {
			t.Error("index.lock is left")
		}
		if err := os.Rename(dir, fmt.Sprintf("%s.%d", dir, i)); err != nil {
			t.Fatal(err)
		}
	}
	if results[0] != results[1] {
		t.Errorf("git\n%s\nthis program\n%s", results[0], results[1])
	}
}

// smallWorld is a repository with one tracked file and three that are not.
func smallWorld(t *testing.T, method string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stockGit(t, dir, "init", "-q", ".")
	stockGit(t, dir, "config", "core.fsync", "all")
	stockGit(t, dir, "config", "core.fsyncMethod", method)
	stockGit(t, dir, "config", "sluice.barrier", "journal")
	for i, f := range []string{"old", "a", "d/b", "d/c"} {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			stockGit(t, dir, "add", ".")
		}
	}
	return dir
}

func copyWorld(t *testing.T, world string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "w")
	if out, err := exec.Command("cp", "-a", world, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// sound fails unless the index holds n files and all of them can be read.
func sound(t *testing.T, what any, dir string, n ...int) {
	t.Helper()
	x, err := index.Read(filepath.Join(dir, ".git/index"), oid.SHA1, index.Options{})
	if err != nil {
		t.Fatalf("%v: %v", what, err)
	}
	if !slices.Contains(n, len(x.Entries)) {
		t.Fatalf("%v: %d entries in the index", what, len(x.Entries))
	}
	db, err := odb.Open(vfs.OS(), filepath.Join(dir, ".git/objects"), oid.SHA1, odb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, e := range x.Entries {
		if _, _, err := db.Read(e.ID); err != nil {
			t.Fatalf("%v: %s: %v", what, e.Name, err)
		}
	}
}

// TestAddFaults makes every call of add fail.
func TestAddFaults(t *testing.T) {
	t.Parallel()
	world := smallWorld(t, "batch")
	crash.Loop(t, func(t *testing.T, in *crash.Injector) {
		dir := copyWorld(t, world)
		_, errs, code := ownGitOn(t, vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook), dir, "add", ".")
		if code == 0 {
			sound(t, in, dir, 4)
		} else if errs == "" {
			t.Fatalf("%s: failed without a word", in)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".git/*.lock")); left != nil {
			if !in.Sticky && in.Hit() != nil && in.Hit().Kind != vfs.OpRemove {
				t.Fatalf("%s: left %s", in, left)
			}
			for _, l := range left {
				os.Remove(l)
			}
		}
		if code != 0 {
			sound(t, in, dir, 1, 4)
		}
		if _, errs, code := ownGitOn(t, vfs.OS().WithHook(crash.NoFlush), dir, "add", "."); code != 0 {
			t.Fatalf("%s: the next add: %s", in, errs)
		}
		sound(t, in, dir, 4)
	})
}

// TestAddFlushes counts the calls that flush the disk: one, whatever the
// number of files, and none where none is asked for.
func TestAddFlushes(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{"batch": 1, "writeout-only": 0} {
		dir := copyWorld(t, smallWorld(t, method))
		rec, err := crash.Record(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, errs, code := ownGitOn(t, vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), dir, "add", "."); code != 0 {
			t.Fatal(errs)
		}
		if got := rec.Flushes(); got != want {
			t.Errorf("%s: %d flushes, wanted %d", method, got, want)
		}
	}
}
