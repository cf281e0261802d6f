package builtin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

// commitWorld is a repository with a history, and changes of all kinds.
func commitWorld(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shell(t, dir, `git init -q -b main .
mkdir -p d/e; echo 1 >a; seq 40 >d/moved; echo 3 >d/e/c; echo 4 >gone; echo 5 >"sp ace"; git add .; git commit -q -m one
echo two >a; git commit -q -a -m 'two

body'
git mv d/moved moved; echo 41 >>moved; git add moved; echo staged >new; git add new; echo unstaged >d/e/c; rm gone; chmod +x "sp ace"; echo u >untracked
printf 'from a file\n\n\n\nbody  \n# no comment\n' >msg`)
	return dir
}

// shell runs commands, in which git is stock git.
func shell(t *testing.T, dir, text string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", text)
	cmd.Dir, cmd.Env = dir, append([]string{"HOME=" + dir}, addEnviron...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
}

// compareRun runs a command line of both programs on equal copies of world and
// compares what they say and what they leave.
func compareRun(t *testing.T, world, sub string, args ...string) {
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
			out, errs, code = stockGit(t, filepath.Join(dir, sub), args...)
		} else {
			out, errs, code = ownGit(t, filepath.Join(dir, sub), args[0], args[1:]...)
		}
		var b strings.Builder
		first, _, _ := strings.Cut(errs, "\n")
		fmt.Fprintf(&b, "status %d\nstdout %s\nstderr %s\n", code, out, first)
		asks := []string{"status --porcelain", "reflog -2 --format=%H:%gs", "ls-files -s -v"}
		if args[0] != "commit" {
			asks = nil
		}
		for _, ask := range asks {
			said, _, _ := stockGit(t, dir, strings.Fields(ask)...)
			fmt.Fprintf(&b, "%s\n%s", ask, said)
		}
		edit, _ := os.ReadFile(filepath.Join(dir, ".git/COMMIT_EDITMSG"))
		fmt.Fprintf(&b, "message\n%s", edit)
		results[i] = b.String()
		if left, _ := filepath.Glob(filepath.Join(dir, ".git/*.lock")); left != nil {
			t.Errorf("left %s", left)
		}
		if err := os.Rename(dir, fmt.Sprintf("%s.%d", dir, i)); err != nil {
			t.Fatal(err)
		}
	}
	if results[0] != results[1] {
		t.Errorf("git\n%s\nthis program\n%s", results[0], results[1])
	}
}

func TestCommitGit(t *testing.T) {
	t.Parallel()
	world := commitWorld(t)
	for _, args := range [][]string{
		{"-m", "x"}, {"-q", "-m", "x"}, {"-a", "-m", "all"}, {"-m", "one", "-m", "two\n"}, {"-m", "only", "d"}, {"-m", "gone", "gone"},
		{"-i", "-m", "inc", "d/e/c"}, {"-o", "-m", "only", "new"}, {"-m", "x", "nothing"}, {"-m", "x", "untracked"}, {"-F", "msg"},
		{"-F", "msg", "--cleanup=strip"}, {"-F", "msg", "--cleanup=verbatim"}, {"-F", "none"}, {"-m", ""}, {"--allow-empty-message", "-m", ""},
		{"--amend", "--no-edit"}, {"--amend", "-m", "new"}, {"--amend", "--reset-author", "--no-edit"}, {"-C", "HEAD~1"},
		{"-s", "-m", "signed"}, {"-s", "-m", "signed\n\nAcked-by: me"}, {"--author=O <o@o>", "-m", "x"}, {"--date=2001-02-03T04:05:06+0700", "-m", "x"},
		{"--date=nonsense", "-m", "x"}, {"--fixup=HEAD"}, {"--squash=HEAD~1", "-m", "more"}, {"--allow-empty", "-m", "e"}, {"-a", "x"}, {"-o"}, {"-m", "x", "-F", "msg"},
		{"--dry-run"}, {"--short"}, {"--porcelain", "-a"}, {"--dry-run", "-z"}, {"--reset-author", "-m", "x"}, {"-m", "gr\xfcn"}, {"-m", "x", "--pathspec-from-file=msg"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			compareRun(t, world, "", append([]string{"commit"}, args...)...)
		})
	}
	for _, args := range [][]string{{"-m", "x", "."}, {"-m", "x", "e"}, {"-F", "../msg"}, {"-m", "x", "../gone"}, {"--dry-run"}} {
		t.Run("in d "+strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			compareRun(t, world, "d", append([]string{"commit"}, args...)...)
		})
	}
}

func TestStatusGit(t *testing.T) {
	t.Parallel()
	worlds := map[string]string{"changes": commitWorld(t), "conflict": commitWorld(t), "empty": commitWorld(t)}
	shell(t, worlds["conflict"], `git commit -q -a -m three; git checkout -q -b side HEAD~1; echo side >a; git commit -q -a -m side; git checkout -q main; echo main >a; git rm -q --cached new
git commit -q -a -m main; git merge -q side >/dev/null || :`)
	shell(t, worlds["empty"], `git checkout -q --orphan fresh; echo '*.o' >.gitignore; echo o >x.o`)
	for name, world := range worlds {
		for _, args := range []string{"", "-s", "--porcelain=v2 -b", "-z", "-uall", "-uno", "--ignored -s", "--no-renames", "-s .", "-s e nothing"} {
			t.Run(name+" "+args, func(t *testing.T) {
				t.Parallel()
				compareRun(t, world, "d", append([]string{"status"}, strings.Fields(args)...)...)
			})
		}
	}
}

func TestDiffGit(t *testing.T) {
	t.Parallel()
	world := commitWorld(t)
	for _, form := range []string{"--stat", "--stat=40,10", "--name-only", "--name-status -z", "--raw", "--numstat", "--shortstat", "--summary", "--quiet", "--name-status -C", "--diff-filter=MR --name-status"} {
		for _, what := range []string{"", "--cached", "HEAD", "HEAD~1 HEAD", "HEAD~1...HEAD", "HEAD -- a gone"} {
			t.Run(form+" "+what, func(t *testing.T) {
				t.Parallel()
				compareRun(t, world, "", strings.Fields("diff "+form+" "+what)...)
			})
		}
	}
}

// whole fails unless HEAD is one of ids and everything behind it can be read.
func whole(t *testing.T, what any, dir string, ids ...string) {
	t.Helper()
	head, err := os.ReadFile(filepath.Join(dir, ".git/refs/heads/main"))
	if err != nil {
		t.Fatalf("%v: %v", what, err)
	}
	text := strings.TrimSpace(string(head))
	known := false
	for _, id := range ids {
		known = known || id == text
	}
	if !known {
		t.Fatalf("%v: HEAD is at %q, not one of %v", what, text, ids)
	}
	db, err := odb.Open(vfs.OS(), filepath.Join(dir, ".git/objects"), oid.SHA1, odb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	id, err := oid.SHA1.FromHex(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.ReadCommit(id)
	if err != nil {
		t.Fatalf("%v: %v", what, err)
	}
	var walk func(tree oid.ID)
	walk = func(tree oid.ID) {
		entries, err := db.ReadTree(tree)
		if err != nil {
			t.Fatalf("%v: %v", what, err)
		}
		for _, e := range entries {
			if e.Mode == 0o040000 {
				walk(e.ID)
			} else if _, _, err := db.Read(e.ID); err != nil {
				t.Fatalf("%v: %s: %v", what, e.Name, err)
			}
		}
	}
	walk(c.Tree)
}

// heads returns where main is before and after a commit in world.
func heads(t *testing.T, world string, args ...string) (before, after string) {
	t.Helper()
	out, _, _ := stockGit(t, world, "rev-parse", "HEAD")
	dir := copyWorld(t, world)
	if _, errs, code := stockGit(t, dir, append([]string{"commit", "-q"}, args...)...); code != 0 {
		t.Fatal(errs)
	}
	new, _, _ := stockGit(t, dir, "rev-parse", "HEAD")
	return strings.TrimSpace(out), strings.TrimSpace(new)
}

// durableWorld is a small world with a first commit and something to commit.
func durableWorld(t *testing.T, method string) string {
	t.Helper()
	dir := smallWorld(t, method)
	shell(t, dir, "git symbolic-ref HEAD refs/heads/main; git commit -q -m one; rm -rf .git/hooks .git/info .git/description d; echo changed >old; git add .")
	return dir
}

// TestCommitFaults makes every call of a commit fail.
func TestCommitFaults(t *testing.T) {
	t.Parallel()
	world := durableWorld(t, "batch")
	before, after := heads(t, world, "-m", "x")
	crash.Loop(t, func(t *testing.T, in *crash.Injector) {
		dir := copyWorld(t, world)
		_, errs, code := ownGitOn(t, vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook), dir, "commit", "-q", "-m", "x")
		if code == 0 {
			whole(t, in, dir, after)
			return
		}
		if errs == "" {
			t.Fatalf("%s: failed without a word", in)
		}
		whole(t, in, dir, before, after)
		for _, pattern := range []string{".git/*.lock", ".git/refs/heads/*.lock"} {
			left, _ := filepath.Glob(filepath.Join(dir, pattern))
			if left != nil && !in.Sticky && in.Hit() != nil && in.Hit().Kind != vfs.OpRemove {
				t.Fatalf("%s: left %s", in, left)
			}
			for _, l := range left {
				os.Remove(l)
			}
		}
		if head, _ := os.ReadFile(filepath.Join(dir, ".git/refs/heads/main")); strings.TrimSpace(string(head)) == after {
			return // it was published before the fault
		}
		if _, errs, code := ownGitOn(t, vfs.OS().WithHook(crash.NoFlush), dir, "commit", "-q", "-m", "x"); code != 0 {
			t.Fatalf("%s: the next commit: %s", in, errs)
		}
		whole(t, in, dir, after)
	})
}

// TestCommitCrash cuts the power at every moment of a commit.
func TestCommitCrash(t *testing.T) {
	t.Parallel()
	for method, model := range map[string]crash.Model{"batch": crash.Journal, "fsync": crash.Unordered} {
		for _, args := range [][]string{{"-m", "x"}, {"-a", "-m", "x"}, {"-m", "x", "old"}} {
			t.Run(method+" "+strings.Join(args, " "), func(t *testing.T) {
				t.Parallel()
				world := durableWorld(t, method)
				before, after := heads(t, world, args...)
				dir := copyWorld(t, world)
				rec, err := crash.Record(dir)
				if err != nil {
					t.Fatal(err)
				}
				if _, errs, code := ownGitOn(t, vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), dir, "commit", append([]string{"-q"}, args...)...); code != 0 {
					t.Fatal(errs)
				}
				rec.Mark("acknowledged")
				n := 0
				for s := range rec.States(model, 1, 1) {
					if n++; n%3 != 0 && !s.Has("acknowledged") {
						continue // each is one of many alike
					}
					state := filepath.Join(t.TempDir(), "s")
					if err := s.Write(state); err != nil {
						t.Fatal(err)
					}
					if s.Has("acknowledged") {
						whole(t, s.What, state, after)
					} else {
						whole(t, s.What, state, before, after)
					}
					os.RemoveAll(state)
				}
			})
		}
	}
}

// TestCommitFlushes counts the calls that flush the disk.
func TestCommitFlushes(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]int{"batch": 1, "writeout-only": 0} {
		for _, args := range [][]string{{"-m", "x"}, {"-a", "-m", "x"}, {"-m", "x", "old"}, {"--amend", "-m", "x"}} {
			dir := copyWorld(t, durableWorld(t, method))
			rec, err := crash.Record(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, errs, code := ownGitOn(t, vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), dir, "commit", append([]string{"-q"}, args...)...); code != 0 {
				t.Fatal(errs)
			}
			if got := rec.Flushes(); got != want {
				t.Errorf("%s %v: %d flushes, wanted %d", method, args, got, want)
			}
		}
	}
}
