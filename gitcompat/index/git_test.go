package index

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A testRepo is a scratch repository driven by stock git.
type testRepo struct {
	t   *testing.T
	dir string
	bin string
	env []string
}

func newTestRepo(t *testing.T) *testRepo {
	t.Helper()
	bin, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("these tests compare with stock git: ", err)
	}
	dir := t.TempDir()
	r := &testRepo{t: t, dir: dir, bin: bin}
	r.env = []string{
		"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.org", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
	r.git("init", "-q", "-b", "main", ".")
	return r
}

func (r *testRepo) git(args ...string) string { return r.gitIn("", args...) }

func (r *testRepo) gitIn(stdin string, args ...string) string {
	r.t.Helper()
	out, err := r.try(stdin, args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (r *testRepo) try(stdin string, args ...string) (string, error) {
	cmd := exec.Command(r.bin, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, r.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r *testRepo) write(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRepo) indexPath() string { return filepath.Join(r.dir, ".git", "index") }

func (r *testRepo) indexBytes() []byte {
	r.t.Helper()
	b, err := os.ReadFile(r.indexPath())
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

func (r *testRepo) parse(o Options) *Index {
	r.t.Helper()
	x, err := Parse(r.indexBytes(), oid.SHA1, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return x
}

func encode(t *testing.T, x *Index) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := x.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// replace writes x over the repository's index without any lock.
func (r *testRepo) replace(x *Index) {
	r.t.Helper()
	if err := os.WriteFile(r.indexPath(), encode(r.t, x), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// conflict leaves a merge conflict of f and a resolved one of g.
func (r *testRepo) conflict() {
	r.write("f", "base\n")
	r.write("g", "base\n")
	r.git("add", ".")
	r.git("commit", "-qm", "base")
	r.git("checkout", "-qb", "side")
	r.write("f", "side\n")
	r.write("g", "side\n")
	r.git("commit", "-qam", "side")
	r.git("checkout", "-q", "main")
	r.write("f", "main\n")
	r.write("g", "main\n")
	r.git("commit", "-qam", "main")
	if out, err := r.try("", "merge", "side"); err == nil {
		r.t.Fatal("no conflict: ", out)
	}
	r.write("g", "resolved\n")
	r.git("add", "g")
}

func (r *testRepo) files() {
	for _, name := range []string{"a", "a-b", "a0/b/c", "a0/b/d", "dir/sub/deep/file", "dir/sub/x", "dir/y",
		"long/" + strings.Repeat("n", 200), "caf\u00e9", "z"} {
		r.write(name, name)
	}
	if err := os.Symlink("a", filepath.Join(r.dir, "link")); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(r.dir, "z"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", ".")
}

func (r *testRepo) replaceBytes(b []byte) {
	r.t.Helper()
	if err := os.WriteFile(r.indexPath(), b, 0o666); err != nil {
		r.t.Fatal(err)
	}
}
