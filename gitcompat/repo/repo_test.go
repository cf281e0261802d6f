package repo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// stockGit runs the installed git, which is the oracle.
func stockGit(t testing.TB, dir string, env []string, args ...string) (string, string, int) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// world makes a folder of repositories and returns it with the base environment.
func world(t *testing.T) (string, []string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH"), "GIT_CEILING_DIRECTORIES=" + filepath.Dir(root),
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b"}
	git := func(args ...string) {
		if _, errs, code := stockGit(t, root, env, args...); code != 0 {
			t.Fatalf("git %v: %s", args, errs)
		}
	}
	git("init", "-q", "-b", "main", "plain")
	git("init", "-q", "--bare", "bare.git")
	git("-C", "plain", "commit", "-q", "--allow-empty", "-m", "x")
	git("-C", "plain", "worktree", "add", "-q", "../linked")
	git("init", "-q", "--separate-git-dir", "sep.git", "sep")
	git("init", "-q", "treeconf")
	for _, dir := range []string{"plain/a/b", "bare.git/refs/x", "linked/c", "sep/d", "elsewhere/e", "none/n", "treeconf/t"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	git("-C", "treeconf", "config", "core.worktree", "../../elsewhere")
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, config := range map[string]string{
		"v2":      "[core]\nrepositoryformatversion = 2\n",
		"unknown": "[core]\nrepositoryformatversion = 1\n[extensions]\nnope = 1\nother = 2\n",
		"one":     "[core]\nrepositoryformatversion = 1\n[extensions]\nnope = 1\nnoop\n",
		"v1only":  "[core]\nrepositoryformatversion = 0\n[extensions]\nobjectformat = sha1\n",
		"v0":      "[core]\nrepositoryformatversion = 0\n[extensions]\nnope = 1\npreciousobjects = true\n",
		"nover":   "[core]\nbare = true\n[extensions]\nnope = 1\n",
		"badobj":  "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = md5\n",
		"badbare": "[core]\nrepositoryformatversion = 0\nbare = maybe\n",
		"garbage": "garbage\n",
		"barewt":  "[core]\nrepositoryformatversion = 0\nbare = true\nworktree = /\n",
	} {
		git("init", "-q", name)
		write(name+"/.git/config", config)
	}
	for name, content := range map[string]string{"gf1": "gitdir: /nonexist\n", "gf2": "bogus\n", "gf3": "gitdir: \n", "gf4": "gitdir: ../plain/.git\n\n"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(name+"/.git", content)
	}
	if err := os.Symlink("../plain/.git", filepath.Join(root, "gf1/link")); err != nil {
		t.Fatal(err)
	}
	return root, env
}

// override returns base with the variables of extra, each once.
func override(base, extra []string) []string {
	env := append([]string(nil), extra...)
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		dup := false
		for _, e := range extra {
			dup = dup || strings.HasPrefix(e, name+"=")
		}
		if !dup {
			env = append(env, kv)
		}
	}
	return env
}

func (r *Repo) describe() string {
	var b strings.Builder
	gitdir := r.GitDirName
	if r.Prefix != "" {
		gitdir = r.GitDir // rev-parse makes it so
	}
	fmt.Fprintf(&b, "%v\n%v\n%v\n%s\n%s\n", r.Bare, r.InsideGitDir(), r.InsideWorkTree(), r.Prefix, gitdir)
	return b.String()
}

// older reports whether the installed git is older than the reference version,
// which differs in some of the cases.
func older(t *testing.T) bool {
	out, _, _ := stockGit(t, "/", nil, "version")
	var major, minor int
	fmt.Sscanf(out, "git version %d.%d", &major, &minor)
	return major < 2 || major == 2 && minor < 55
}

// likeOlder puts an answer of the reference version into the older git's words.
func likeOlder(out, errs string, extra []string) (string, string) {
	errs = strings.Replace(errs, "bad boolean environment value", "bad boolean config value", 1)
	if i := strings.Index(errs, "gitfile does not point to a valid repository"); i >= 0 {
		errs = "fatal: not a git repository: /nonexist\n"
	}
	// Whether a directory is inside the git directory was decided in another way.
	if lines := strings.SplitN(out, "\n", 3); len(extra) > 0 && len(lines) == 3 {
		out = lines[0] + "\n?\n" + lines[2]
	}
	return out, errs
}

func TestDiscoverAsGit(t *testing.T) {
	t.Parallel()
	root, base := world(t)
	old := older(t)
	dirs := []string{".", "plain", "plain/a", "plain/a/b", "plain/.git", "plain/.git/refs", "bare.git", "bare.git/refs/x", "linked", "linked/c",
		"sep", "sep/d", "sep.git", "treeconf", "treeconf/t", "elsewhere/e", "none/n", "v2", "unknown", "one", "v1only", "v0", "nover", "badobj", "badbare", "garbage", "barewt",
		"gf1", "gf2", "gf3", "gf4", "plain/.git/worktrees/linked"}
	envs := [][]string{nil, {"GIT_DIR=" + root + "/plain/.git"}, {"GIT_DIR=../plain/.git"}, {"GIT_DIR=" + root + "/bare.git"}, {"GIT_DIR=.git"}, {"GIT_DIR=nope"},
		{"GIT_WORK_TREE=" + root + "/plain"}, {"GIT_WORK_TREE=."}, {"GIT_WORK_TREE=.."}, {"GIT_DIR=" + root + "/plain/.git", "GIT_WORK_TREE=" + root},
		{"GIT_DIR=" + root + "/gf4/.git"}, {"GIT_DIR=" + root + "/gf1/link"}, {"GIT_DIR=" + root + "/plain/.git", "GIT_IMPLICIT_WORK_TREE=0"},
		{"GIT_CEILING_DIRECTORIES=" + root + "/plain:" + root + "/bare.git/refs"}, {"GIT_CEILING_DIRECTORIES=:" + root + "/plain/a/"}, {"GIT_DISCOVERY_ACROSS_FILESYSTEM=maybe"}}
	all := os.Getenv("SLUICE_ALL_DISCOVERIES") != ""
	for i, dir := range dirs {
		for j, extra := range envs {
			if !all && (i+j)%4 != 0 && len(extra) > 0 {
				continue
			}
			env := override(base, extra)
			abs := filepath.Join(root, dir)
			want, wantErr, code := stockGit(t, abs, env, "rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--is-inside-work-tree", "--show-prefix", "--git-dir")
			var warnings strings.Builder
			r, err := Discover(vfs.OS(), Options{Dir: abs, Environ: env, Warn: func(l string) { warnings.WriteString(l + "\n") }})
			if err != nil {
				got := "fatal: " + err.Error() + "\n"
				var before interface{ Before() []string }
				if errors.As(err, &before) && len(before.Before()) > 0 {
					got = strings.Join(before.Before(), "\n") + "\n" + got
				}
				if old {
					_, got = likeOlder("", got, extra)
				}
				if code == 0 || got != wantErr {
					t.Errorf("%s %q: %q, git %d %q %q", dir, extra, got, code, wantErr, want)
				}
				continue
			}
			got := r.describe()
			if old {
				got, _ = likeOlder(got, "", extra)
				want, _ = likeOlder(want, "", extra)
			}
			if got != want || code != 0 || warnings.String() != wantErr {
				t.Errorf("%s %q: %q %q, git %d %q %q", dir, extra, got, warnings.String(), code, want, wantErr)
				continue
			}
			if r.WorkTree != "" {
				want, _, _ := stockGit(t, abs, env, "rev-parse", "--show-toplevel")
				if r.WorkTree+"\n" != want {
					t.Errorf("%s %q: work tree %q, git %q", dir, extra, r.WorkTree, want)
				}
			}
			checkConfig(t, r, abs, env)
		}
	}
}

// checkConfig compares the origins of all values with git's.
func checkConfig(t *testing.T, r *Repo, dir string, env []string) {
	t.Helper()
	want, _, _ := stockGit(t, dir, env, "config", "-z", "--list", "--show-origin")
	var b strings.Builder
	for _, e := range r.Config.Entries() {
		b.WriteString(e.Origin.String() + "\x00" + e.Key)
		if e.HasValue {
			b.WriteString("\n" + e.Value)
		}
		b.WriteByte(0)
	}
	if b.String() != want {
		t.Errorf("%s: config %q, git %q", dir, b.String(), want)
	}
}

func TestGitPathAsGit(t *testing.T) {
	t.Parallel()
	root, base := world(t)
	names := []string{"HEAD", "index", "index.lock", "config", "config.worktree", "packed-refs", "packed-refs.lock", "shallow", "logs/HEAD", "logs/HEAD.lock", "logs/refs/heads/x",
		"refs/heads/x", "refs/bisect/x", "refs/worktree/x", "logs/refs/worktree/x", "refs", "objects", "objects/ab", "hooks/pre-commit", "info/exclude", "info/sparse-checkout",
		"info/grafts", "ORIG_HEAD", "rr-cache/x", "common", "commonx", "worktrees/x", "gc.pid", "refsx", "modules/a", "logs", "MERGE_HEAD"}
	for _, dir := range []string{"plain", "plain/a", "linked", "linked/c", "bare.git", "sep"} {
		for _, extra := range [][]string{nil, {"GIT_INDEX_FILE=foo", "GIT_OBJECT_DIRECTORY=" + root + "/plain/.git/objects", "GIT_GRAFT_FILE=bar"},
			{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/hooks"}} {
			env := override(base, extra)
			abs := filepath.Join(root, dir)
			r, err := Discover(vfs.OS(), Options{Dir: abs, Environ: env})
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"rev-parse"}
			for _, n := range names {
				args = append(args, "--git-path", n)
			}
			want, _, _ := stockGit(t, abs, env, args...)
			lines := strings.Split(want, "\n")
			for i, n := range names {
				// rev-parse prints relative to where it was called.
				w := lines[i]
				if !filepath.IsAbs(w) {
					w = filepath.Join(abs, w)
				}
				if got := r.GitPath(n); got != w {
					t.Errorf("%s %q: %s: %q, git %q", dir, extra, n, got, w)
				}
			}
		}
	}
}

func TestOwnership(t *testing.T) {
	t.Parallel()
	root, base := world(t)
	values := []string{"", "*", root + "/plain", "~/plain", "%(prefix)/x", root + "/bare.git", root + "/linked", root + "/plain/.git",
		root + "/*|", "|*", "/nonexist/x/y", root + "/pla*"}
	if !older(t) {
		values = append(values, root+"/*", root+"/./plain/", ".", "plain")
	}
	for _, dir := range []string{"plain", "plain/a", "bare.git", "linked", "sep", "plain/.git"} {
		for _, safe := range values {
			env := append([]string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}, base...)
			var file strings.Builder
			for _, v := range strings.Split(safe, "|") {
				fmt.Fprintf(&file, "[safe]\n\tdirectory = %s\n", v)
			}
			if err := os.WriteFile(root+"/.gitconfig", []byte(file.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			abs := filepath.Join(root, dir)
			_, wantErr, code := stockGit(t, abs, env, "rev-parse", "--git-dir")
			warnings := ""
			_, err := Discover(vfs.OS(), Options{Dir: abs, Environ: env, Warn: func(l string) { warnings += l + "\n" }})
			if (err != nil) != (code != 0) {
				t.Errorf("%s, safe.directory %q: %v, git %q", dir, safe, err, wantErr)
			} else if err != nil && warnings+"fatal: "+err.Error()+"\n" != wantErr {
				t.Errorf("%s, safe.directory %q: %q, git %q", dir, safe, err, wantErr)
			}
		}
	}
}

func TestEnter(t *testing.T) {
	t.Parallel()
	root, base := world(t)
	for path, want := range map[string]string{
		"plain": "plain/.git", "plain/": "plain/.git", "bare.git": "bare.git", "bare": "bare.git", "sep": "sep.git", "plain/.git": "plain/.git",
		"~/bare": "bare.git", "none": "", "nope": "", "linked": "plain/.git/worktrees/linked",
	} {
		r, err := Enter(vfs.OS(), path, false, Options{Dir: root, Environ: base})
		var not *NotRepoError
		if want == "" {
			if !errors.As(err, &not) {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if r.GitDir != filepath.Join(root, want) || r.WorkTree != "" || r.GitDirName != "." {
			t.Errorf("%s: %q %q %q", path, r.GitDir, r.WorkTree, r.GitDirName)
		}
	}
}
