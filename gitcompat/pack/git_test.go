package pack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A stock is a bare repository worked on by the installed git.
type stock struct {
	t   testing.TB
	git string
	dir string
}

func newStock(t testing.TB) *stock {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("these tests need git:", err)
	}
	s := &stock{t: t, git: git, dir: t.TempDir()}
	s.run(nil, "init", "-q", "--bare", ".")
	return s
}

func (s *stock) cmd(stdin []byte, args ...string) *exec.Cmd {
	cmd := exec.Command(s.git, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x", "GIT_AUTHOR_DATE=1000000000 +0000",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@x", "GIT_COMMITTER_DATE=1000000000 +0000"}
	cmd.Stdin = bytes.NewReader(stdin)
	return cmd
}

// run runs git and returns its standard output.
func (s *stock) run(stdin []byte, args ...string) string {
	s.t.Helper()
	cmd := s.cmd(stdin, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// fill imports n commits over a few files that grow and change, and a big
// incompressible blob of big bytes.
func (s *stock) fill(n, big int) {
	s.t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	var in bytes.Buffer
	files := make([][]string, 8)
	for i := range n {
		f := i % len(files)
		for range 20 {
			files[f] = append(files[f], fmt.Sprintf("line %d %x", i, rnd.Uint64()))
		}
		files[f][rnd.IntN(len(files[f]))] = fmt.Sprintf("changed %d", i)
		content := strings.Join(files[f], "\n")
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter C <c@x> %d +0000\ndata 3\nc%d\n", 1000000000+i, i%10)
		fmt.Fprintf(&in, "M 100644 inline dir%d/file%d\ndata %d\n%s\n", f%3, f, len(content), content)
	}
	if big > 0 {
		blob := make([]byte, big)
		for i := range blob {
			blob[i] = byte(rnd.Uint32())
		}
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter C <c@x> 1100000000 +0000\ndata 3\nbig\nM 100644 inline big\ndata %d\n", big)
		in.Write(blob)
		in.WriteString("\n")
	}
	fmt.Fprintf(&in, "tag v1\nfrom refs/heads/main\ntagger C <c@x> 1100000000 +0000\ndata 2\nv1\n")
	s.run(in.Bytes(), "fast-import", "--quiet")
}

// pack packs all objects into one pack and returns its path without extension.
func (s *stock) pack(args ...string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	args = append([]string{"pack-objects", "-q", "--all", "--delta-base-offset"}, append(args, filepath.Join(dir, "pack"))...)
	name := strings.TrimSpace(s.run(nil, args...))
	return filepath.Join(dir, "pack-"+name)
}

// objects returns the ids of all objects with their types and sizes as git says.
func (s *stock) objects() map[string]string {
	out := s.run(nil, "cat-file", "--batch-all-objects", "--batch-check")
	objects := map[string]string{}
	for line := range strings.Lines(out) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		objects[id] = rest
	}
	return objects
}
