package revision

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A stock is a repository in which stock git is run.
type stock struct {
	t   testing.TB
	git string
	dir string
	env []string
}

func newStock(t testing.TB) *stock {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stock{t: t, git: git, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "TZ=UTC", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@x",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000",
	}}
	s.run("init", "-q", "-b", "main", ".")
	return s
}

func (s *stock) try(args ...string) (string, error) {
	cmd := exec.Command(s.git, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.Output()
	return strings.TrimRight(string(out), "\n"), err
}

func (s *stock) run(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("git %v: %v", args, err)
	}
	return out
}

// script runs shell commands, in which git is stock git.
func (s *stock) script(text string) {
	s.t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", text)
	cmd.Dir, cmd.Env = s.dir, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", text, err, out)
	}
}

func (s *stock) open() *repo.Repo {
	s.t.Helper()
	r, err := repo.Discover(vfs.OS(), repo.Options{Dir: s.dir, Environ: s.env})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *stock) id(name string) oid.ID {
	s.t.Helper()
	id, err := oid.SHA1.FromHex(s.run("rev-parse", "--verify", name))
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

const history = `
n=0
c() { n=$((n+1)); echo $n >f$1; git add f$1; GIT_COMMITTER_DATE="$((1700000000+n*100)) +0000" git commit -q -m "$1"; }
c a; git tag -a -m 'tag a' ta; c b; git branch side; c c; mkdir -p d/e; echo x >d/e/f; git add d; c d
git checkout -q side; c s1; c s2; git checkout -q main
GIT_COMMITTER_DATE='1700005000 +0000' git merge -q -m merge side; c z; git tag light; git tag -a -m outer -f outer ta
git checkout -q --orphan alone; git rm -q -rf .; c lone; git checkout -q main
git remote add origin /nowhere; git update-ref refs/remotes/origin/main main~2
git config branch.main.remote origin; git config branch.main.merge refs/heads/main
`

// names are expressions that both sides must resolve alike.
var names = []string{
	"HEAD", "@", "main", "heads/main", "refs/heads/main", "side", "light", "ta", "tags/ta", "outer", "origin/main",
	"nope", "", "@{0}", "main@{0}", "main@{1}", "main@{2}", "@{1}", "HEAD@{3}", "@{-1}", "@{-2}", "@{-9}", "side@{0}",
	"HEAD^", "HEAD^1", "HEAD^2", "HEAD~", "HEAD~1", "HEAD~1^2", "HEAD~3", "HEAD^0", "HEAD~0", "HEAD^3", "HEAD~99", "main~1^2~1",
	"ta^0", "ta^{}", "ta^{commit}", "ta^{tree}", "ta^{tag}", "ta^{blob}", "ta^{object}", "outer^{}", "outer^{commit}", "HEAD^{tree}",
	"HEAD^{nonsense}", "HEAD^{", "HEAD^{/merge}", "HEAD^{/^b}", "HEAD^{/nowhere}", ":/s1", ":/!-z", ":/nowhere", ":/!!", "HEAD^{/!-z}",
	"HEAD:", "HEAD:d", "HEAD:d/e/f", "HEAD:d/e/", "HEAD:nope", "HEAD:fa/x", ":fa", ":0:fa", ":1:fa", ":d/e/f", ":nope", ":./fa", "HEAD:./d",
	"@{u}", "@{upstream}", "main@{u}", "main@{UPSTREAM}", "@{u}~1", "main@{u}@{0}", "side@{u}", "refs/heads/main@{u}",
	"v1-0-gdeadbeef", "HEAD@{now}", "main@{1700000000}", "main@{2001-01-01}", "~", "^", "HEAD~x", "a..b", "main@", "@@", "@@{u}", "HEAD@{u}",
	"4b825dc642cb6eb9a060e54bf8d69288fbee4904", "4B825DC642CB6EB9A060E54BF8D69288FBEE4904", "main^{commit}~1", "ta~1", "ta^2",
}

func TestResolveLikeGit(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.script(history)
	r := s.open()
	head := s.run("rev-parse", "HEAD")
	all := append([]string{head, head[:7], head[:4], head[:3], "x-3-g" + head[:8], head[:12] + "zz"}, names...)
	for _, name := range all {
		want, err := s.try("rev-parse", "--verify", "-q", name)
		id, gotErr := New(r).Resolve(name, Any)
		got := ""
		if gotErr == nil {
			got = id.String()
		}
		if err != nil {
			want = ""
		}
		if got != want {
			t.Errorf("%q: got %q (%v), git has %q", name, got, gotErr, want)
		}
	}
}

func TestWalkLikeGit(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.script(history)
	r := s.open()
	cases := [][]string{
		{"main"}, {"main", "^side"}, {"side..main"}, {"side...main"}, {"main^!"}, {"main~1^@"}, {"main~1^-1"}, {"main~1^-2"},
		{"main", "alone"}, {"ta"}, {"outer"}, {"main", "^ta"}, {"^main", "side"}, {"main:d"}, {"main:d", "^main~4"}, {"main~2", "side", "^main~4"},
	}
	for _, args := range cases {
		for _, objects := range []bool{false, true} {
			cmd := []string{"rev-list"}
			if objects {
				cmd = append(cmd, "--objects")
			}
			want := s.run(append(cmd, args...)...)
			w, err := NewRepoWalk(r)
			if err != nil {
				t.Fatal(err)
			}
			req := Request{Objects: objects}
			for _, a := range args {
				revs, err := New(r).Arg(a, ArgOptions{})
				if err != nil {
					t.Fatalf("%s: %v", a, err)
				}
				for _, rev := range revs {
					req.Tips = append(req.Tips, rev.Tip)
				}
			}
			var b strings.Builder
			err = w.Run(&req, func(it *Item) error {
				b.WriteString(it.ID.String())
				if it.Type != object.Commit {
					b.WriteString(" " + string(it.Path))
				}
				b.WriteByte('\n')
				return nil
			})
			if got := strings.TrimRight(b.String(), "\n"); err != nil || got != want {
				t.Errorf("%v objects=%v: %v\ngot:\n%s\ngit:\n%s", args, objects, err, got, want)
			}
		}
	}
}

func TestMergeBasesLikeGit(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.script(history + `
git checkout -q -b x main~3; c x1; git checkout -q -b y main~3; c y1
git checkout -q x; git merge -q -m xy y~0; git checkout -q y; git merge -q -m yx x~1; c y2`)
	r := s.open()
	revs := []string{"main", "side", "main~3", "main~1", "x", "y", "x~1", "y~2", "alone"}
	for _, a := range revs {
		for _, b := range revs {
			out, _ := s.try("merge-base", "--all", a, b)
			w, err := NewRepoWalk(r)
			if err != nil {
				t.Fatal(err)
			}
			bases, err := w.MergeBases(s.id(a), s.id(b))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, id := range bases {
				got = append(got, id.String())
			}
			if g := strings.Join(got, "\n"); g != out {
				t.Errorf("merge-base %s %s: got %q, git %q", a, b, g, out)
			}
			_, ancErr := s.try("merge-base", "--is-ancestor", a, b)
			if anc, err := w.IsAncestor(s.id(a), s.id(b)); err != nil || anc != (ancErr == nil) {
				t.Errorf("is-ancestor %s %s: %v %v", a, b, anc, err)
			}
			left := s.run("rev-list", "--left-right", "--count", a+"..."+b)
			ahead, behind, err := w.AheadBehind(s.id(a), s.id(b))
			if err != nil || left != fmt.Sprintf("%d\t%d", ahead, behind) {
				t.Errorf("ahead-behind %s %s: %d %d %v, git %q", a, b, ahead, behind, err, left)
			}
		}
	}
}

func TestCheckConnected(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.script(history)
	r := s.open()
	head, side := s.id("main"), s.id("side")
	check := func() error {
		w, err := NewRepoWalk(r)
		if err != nil {
			t.Fatal(err)
		}
		return w.CheckConnected([]oid.ID{head}, []oid.ID{side, r.Algo.EmptyBlob()})
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main:d/e/f", "main:d", "main~3", "main^{tree}"} {
		id := s.id(name).String()
		path := filepath.Join(s.dir, ".git/objects", id[:2], id[2:])
		saved, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(path)
		r = s.open()
		if check() == nil {
			t.Errorf("%s is missing and nobody noticed", name)
		}
		if err := os.WriteFile(path, saved, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	// What the other side has is taken on trust.
	id := s.id("side~1^{tree}").String()
	os.Remove(filepath.Join(s.dir, ".git/objects", id[:2], id[2:]))
	r = s.open()
	if err := check(); err != nil {
		t.Errorf("an object behind a tip that is there: %v", err)
	}
}
