package diff

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/gitcompat/worktree"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A stock is a repository in which stock git is run.
type stock struct {
	t   *testing.T
	dir string
	env []string
}

func newStock(t *testing.T) *stock {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stock{t: t, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@x",
	}}
	s.sh("git init -q -b main .")
	return s
}

// sh runs shell commands, in which git is stock git, and returns their output.
func (s *stock) sh(text string) string {
	s.t.Helper()
	cmd := exec.Command("/bin/sh", "-ec", text)
	cmd.Dir, cmd.Env = s.dir, s.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", text, err, errs.Bytes())
	}
	return string(out)
}

func (s *stock) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stock) comparer() (*Comparer, *repo.Repo) {
	s.t.Helper()
	r, err := repo.Discover(vfs.OS(), repo.Options{Dir: s.dir, Environ: s.env})
	if err != nil {
		s.t.Fatal(err)
	}
	db, err := r.ODB()
	if err != nil {
		s.t.Fatal(err)
	}
	return &Comparer{DB: db, Recurse: true}, r
}

func (s *stock) tree(rev string) oid.ID {
	s.t.Helper()
	id, err := oid.SHA1.FromHex(strings.TrimSpace(s.sh("git rev-parse " + rev + "^{tree}")))
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// raw is what diff --raw prints.
func raw(changes []Change) string {
	var b strings.Builder
	for i := range changes {
		c := &changes[i]
		fmt.Fprintf(&b, ":%06o %06o %s %s %c", c.Old.Mode, c.New.Mode, hex(c.Old.ID), hex(c.New.ID), c.Status)
		if c.Status == Renamed || c.Status == Copied {
			fmt.Fprintf(&b, "%03d\t%s", c.Percent(), c.Old.Path)
		}
		fmt.Fprintf(&b, "\t%s\n", c.New.Path)
	}
	return b.String()
}

func hex(id oid.ID) string { return id.String() }

func collect(t *testing.T, run func(Emit) error) []Change {
	t.Helper()
	var out []Change
	if err := run(func(c Change) error { out = append(out, c); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

const twoCommits = `
mkdir -p d/e f; seq 200 >d/a; seq 50 >d/e/b; echo b >b; ln -s b l; seq 30 >f/m1; seq 31 >f/m2; seq 32 >f/m3; mkdir dfile; echo x >dfile/x; : >empty1
git add .; git commit -qm 1
seq 5 205 >d/a; git mv d/e/b d/e/c; git mv f g; seq 40 >g/m1; cp g/m2 g/m4; chmod +x b; git rm -q l; git rm -q -r dfile; echo f >dfile; cp d/a d/copy; git mv empty1 empty2
git add .; git commit -qm 2`

func TestTreesLikeGit(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.sh(twoCommits)
	c, _ := s.comparer()
	old, cur := s.tree("HEAD~1"), s.tree("HEAD")
	content := func(f File) ([]byte, error) {
		_, b, err := c.DB.Read(f.ID)
		return b, err
	}
	plain := collect(t, func(e Emit) error { return c.TreeTree(old, cur, e) })
	cases := []struct {
		flags string
		o     *Renames
	}{
		{"--no-renames", nil}, {"-M", &Renames{}}, {"-M100%", &Renames{Score: MaxScore}}, {"-M20%", &Renames{Score: MaxScore / 5}},
		{"-C", &Renames{Copies: true}}, {"-M --no-rename-empty", &Renames{NoEmpty: true}},
	}
	for _, k := range cases {
		got := append([]Change(nil), plain...)
		if k.o != nil {
			k.o.Content = content
			got, _ = k.o.Find(c.DB, got)
		}
		if want := s.sh("git diff-tree -r " + k.flags + " HEAD~1 HEAD"); raw(got) != want {
			t.Errorf("%s: got\n%sgit:\n%s", k.flags, raw(got), want)
		}
	}
	flat := *c
	flat.Recurse = false
	if got, want := raw(collect(t, func(e Emit) error { return flat.TreeTree(old, cur, e) })), s.sh("git diff-tree HEAD~1 HEAD"); got != want {
		t.Errorf("not recursive: got\n%sgit:\n%s", got, want)
	}
}

func TestIndexLikeGit(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.sh(twoCommits + `
echo w >>d/a; echo staged >g/m2; git add g; rm g/m3; echo new >new; git add new; chmod -x b; git rm -q --cached d/copy; git write-tree >/dev/null
echo i >ita; git add -N ita; mkdir z; echo z >z/z; git add z`)
	c, r := s.comparer()
	tree := &worktree.Tree{Root: s.dir, Algo: r.Algo, FS: r.FS, Convert: worktree.NewConverter(worktree.ConvertSettings{}, worktree.NewAttributes(worktree.AttrSources{Root: s.dir}))}
	x, err := index.Read(r.IndexPath(), r.Algo, index.Options{WorkTree: s.dir, Content: tree.Differs})
	if err != nil {
		t.Fatal(err)
	}
	for _, rev := range []string{"HEAD", "HEAD~1"} {
		got := raw(collect(t, func(e Emit) error { return c.TreeIndex(s.tree(rev), x, e) }))
		if want := s.sh("git diff-index --ita-invisible-in-index --cached " + rev); got != want {
			t.Errorf("--cached %s: got\n%sgit:\n%s", rev, got, want)
		}
	}
	w := &WorkTree{Comparer: c, Tree: tree}
	got := raw(collect(t, func(e Emit) error { return w.IndexFiles(x, e) }))
	if want := s.sh("git diff-files"); got != want {
		t.Errorf("diff-files: got\n%sgit:\n%s", got, want)
	}
	got = raw(collect(t, func(e Emit) error { return w.TreeFiles(s.tree("HEAD"), x, e) }))
	if want := s.sh("git diff-index HEAD"); got != want {
		t.Errorf("diff-index: got\n%sgit:\n%s", got, want)
	}
}

// mangle makes another file of lines, in one of the ways in which files change.
func mangle(r *rand.Rand, lines []string) []string {
	out := append([]string(nil), lines...)
	switch r.Intn(4) {
	case 0:
		for range 1 + r.Intn(20) {
			out[r.Intn(len(out))] = fmt.Sprintf("x%d\n", r.Intn(30))
		}
	case 1:
		at, n := r.Intn(len(out)), r.Intn(30)
		block := append([]string(nil), out[at:min(at+n, len(out))]...)
		out = append(out[:at], out[at+len(block):]...)
		to := r.Intn(len(out) + 1)
		out = append(out[:to], append(block, out[to:]...)...)
	case 2:
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	default:
		out = out[r.Intn(len(out)/2):]
		for range r.Intn(40) {
			out = append(out, "}\n")
		}
	}
	return out
}

func TestCountLinesLikeGit(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	r := rand.New(rand.NewSource(11))
	const files = 60
	var before, after [files]string
	for i := range files {
		var lines []string
		for range 20 + r.Intn(400) {
			switch r.Intn(5) {
			case 0:
				lines = append(lines, "}\n")
			case 1:
				lines = append(lines, "\n")
			default:
				lines = append(lines, fmt.Sprintf("line %d\n", r.Intn(200)))
			}
		}
		before[i], after[i] = strings.Join(lines, ""), strings.Join(mangle(r, lines), "")
		if i%7 == 0 {
			after[i] = strings.TrimSuffix(after[i], "\n")
		}
		s.write(fmt.Sprintf("%03d", i), before[i])
	}
	s.sh("git add .; git commit -qm 1")
	var got strings.Builder
	for i := range files {
		name := fmt.Sprintf("%03d", i)
		s.write(name, after[i])
		if ins, del := CountLines([]byte(before[i]), []byte(after[i])); ins+del > 0 {
			fmt.Fprintf(&got, "%d\t%d\t%s\n", ins, del, name)
		}
	}
	if want := s.sh("git diff --numstat"); got.String() != want {
		t.Errorf("got\n%sgit:\n%s", got.String(), want)
	}
}

func FuzzCountLines(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\nb\n"))
	f.Add([]byte(""), []byte("x"))
	f.Add([]byte("\n\n\n"), []byte("\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		ins, del := CountLines(a, b)
		la, lb := len(splitLines(a)), len(splitLines(b))
		if ins < 0 || del < 0 || ins > lb || del > la || lb-ins != la-del {
			t.Errorf("%d lines against %d: +%d -%d", la, lb, ins, del)
		}
		if bytes.Equal(a, b) != (ins == 0 && del == 0) {
			t.Errorf("equal %v: +%d -%d", bytes.Equal(a, b), ins, del)
		}
	})
}
