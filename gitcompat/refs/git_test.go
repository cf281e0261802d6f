package refs

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

const ident = "C O Mitter <committer@example.com> 1112912053 -0700"

// A fixture is a repository that stock git made.
type fixture struct {
	t    testing.TB
	dir  string // the working tree
	git  string
	home string
	fs   *vfs.FS
	c    []oid.ID // commits, oldest first
	tag  oid.ID   // an annotated tag of c[0]
	blob oid.ID
}

var base *fixture // that fixtures are copies of

func TestMain(m *testing.M) {
	top, err := os.MkdirTemp("", "refs")
	if err == nil {
		base, err = makeBase(top)
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(top)
	os.Exit(code)
}

func makeBase(top string) (*fixture, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	f := &fixture{dir: filepath.Join(top, "repo"), git: git, home: top, fs: vfs.OS()}
	if err := os.Mkdir(f.dir, 0o777); err != nil {
		return nil, err
	}
	run := func(stdin string, args ...string) string {
		out, errs, ok := f.try(stdin, args...)
		if !ok && err == nil {
			err = fmt.Errorf("git %v: %s", args, errs)
		}
		return out
	}
	id := func(hex string) oid.ID {
		id, perr := oid.SHA1.FromHex(hex)
		if perr != nil && err == nil {
			err = perr
		}
		return id
	}
	run("", "init", "-q", "-b", "main", "--template=")
	tree := run("", "write-tree")
	parents := []string{}
	for i := range 4 {
		c := run("", append([]string{"commit-tree", "-m", fmt.Sprint("c", i), tree}, parents...)...)
		f.c = append(f.c, id(c))
		parents = []string{"-p", c}
	}
	f.blob = id(run("content", "hash-object", "-w", "--stdin"))
	f.tag = id(run("object "+f.c[0].String()+"\ntype commit\ntag t\ntagger "+ident+"\n\nmessage\n", "mktag"))
	return f, err
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := *base
	f.t = t
	return f.clone()
}

func (f *fixture) id(hex string) oid.ID {
	f.t.Helper()
	id, err := oid.SHA1.FromHex(strings.TrimSpace(hex))
	if err != nil {
		f.t.Fatalf("%q: %v", hex, err)
	}
	return id
}

// try runs git and returns its output, standard error last, and whether it succeeded.
func (f *fixture) try(stdin string, args ...string) (stdout, stderr string, ok bool) {
	cmd := exec.Command(f.git, args...)
	cmd.Dir = f.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1112911993 -0700",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1112912053 -0700",
	}
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return strings.TrimSuffix(out.String(), "\n"), errs.String(), err == nil
}

func (f *fixture) run(stdin string, args ...string) string {
	f.t.Helper()
	out, errs, ok := f.try(stdin, args...)
	if !ok {
		f.t.Fatalf("git %v: %s", args, errs)
	}
	return out
}

// clone returns a second, equal repository.
func (f *fixture) clone() *fixture {
	f.t.Helper()
	g := *f
	g.dir = filepath.Join(f.t.TempDir(), "repo")
	if out, err := exec.Command("cp", "-a", f.dir, g.dir).CombinedOutput(); err != nil {
		f.t.Fatalf("%s", out)
	}
	return &g
}

func (f *fixture) path(name string) string { return filepath.Join(f.dir, ".git", name) }

func (f *fixture) write(name, content string) {
	f.t.Helper()
	os.MkdirAll(filepath.Dir(f.path(name)), 0o777)
	if err := os.WriteFile(f.path(name), []byte(content), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) options() Options {
	return Options{
		FS: f.fs, GitDir: filepath.Join(f.dir, ".git"), Locker: &lockfile.Locker{FS: f.fs},
		LockTimeout: 0, LogAll: LogNormal,
		Committer: func() (string, error) { return ident, nil },
		ObjectType: func(id oid.ID) (object.Type, error) {
			switch id {
			case f.blob:
				return object.Blob, nil
			case f.tag:
				return object.Tag, nil
			}
			for _, c := range f.c {
				if c == id {
					return object.Commit, nil
				}
			}
			return 0, fs.ErrNotExist
		},
		Peel: func(id oid.ID) (oid.ID, bool) { return f.c[0], id == f.tag },
	}
}

func (f *fixture) store() *Store { return Open(f.options()) }

func (f *fixture) barrier(fsync string) *syncpolicy.Barrier {
	f.t.Helper()
	s := syncpolicy.Settings{Fsync: []syncpolicy.Value{{Text: fsync}}, FsyncMethod: []syncpolicy.Value{{Text: "batch"}}}
	p, _, err := syncpolicy.NewPolicy(s)
	if err != nil {
		f.t.Fatal(err)
	}
	return syncpolicy.NewBarrier(f.fs, p, filepath.Join(f.dir, ".git"))
}

// change makes changes in one transaction.
func (f *fixture) change(changes ...Change) error {
	f.t.Helper()
	return commit(f.store(), f.barrier("none"), changes...)
}

func commit(s *Store, b *syncpolicy.Barrier, changes ...Change) error {
	tx := s.Begin(false)
	for _, c := range changes {
		if err := tx.Add(c); err != nil {
			return err
		}
	}
	return tx.run(b, nil)
}

// state is everything in the git directory but objects, by name. Empty
// directories count only if dirs says so.
func (f *fixture) state(dirs bool) string {
	f.t.Helper()
	var lines []string
	root := filepath.Join(f.dir, ".git")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		switch {
		case d.IsDir():
			if rel == "objects" || rel == "hooks" || rel == "info" {
				return fs.SkipDir
			}
			if dirs {
				lines = append(lines, rel+"/")
			}
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			lines = append(lines, rel+" -> "+target)
		default:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			lines = append(lines, rel+": "+string(data))
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
