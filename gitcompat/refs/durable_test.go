package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

// A trial is a write path that is to survive faults and power cuts.
type trial struct {
	setup func(f *fixture)
	run   func(s *Store, b *syncpolicy.Barrier) error
	old   map[string]string // values before, "" for none
	new   map[string]string // and after
}

func (f *fixture) policy(fsync, method string) *syncpolicy.Policy {
	f.t.Helper()
	p, _, err := syncpolicy.NewPolicy(syncpolicy.Settings{Fsync: []syncpolicy.Value{{Text: fsync}}, FsyncMethod: []syncpolicy.Value{{Text: method}}})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// threeRefs moves the current branch, makes a ref, and deletes one that is
// packed and loose.
func (f *fixture) threeRefs() trial {
	a, b, c := f.c[0].String(), f.c[1].String(), f.c[2].String()
	return trial{
		setup: func(f *fixture) {
			f.run("", "update-ref", "refs/heads/main", a)
			f.run("", "update-ref", "refs/heads/gone", a)
			f.run("", "pack-refs", "--all")
			f.run("", "update-ref", "refs/heads/main", b)
			f.run("", "update-ref", "refs/heads/gone", b)
		},
		run: func(s *Store, bar *syncpolicy.Barrier) error {
			return commit(s, bar,
				Change{Name: "refs/heads/main", New: OID(f.c[2]), Old: OID(f.c[1]), Message: "move"},
				Change{Name: "refs/heads/new", New: OID(f.c[2]), Old: OID(oid.SHA1.Null()), Message: "make"},
				Change{Name: "refs/heads/gone", New: OID(oid.SHA1.Null()), Old: OID(f.c[1])})
		},
		old: map[string]string{"refs/heads/main": b, "refs/heads/new": "", "refs/heads/gone": b},
		new: map[string]string{"refs/heads/main": c, "refs/heads/new": c, "refs/heads/gone": ""},
	}
}

// packAll packs refs, of which one is packed already with another value.
func (f *fixture) packAll() trial {
	a, b, c := f.c[0].String(), f.c[1].String(), f.tag.String()
	values := map[string]string{"refs/heads/main": b, "refs/heads/x/y": a, "refs/tags/t": c}
	return trial{
		setup: func(f *fixture) {
			f.run("", "update-ref", "refs/heads/main", a)
			f.run("", "pack-refs", "--all")
			for name, value := range values {
				f.run("", "update-ref", name, value)
			}
		},
		run: func(s *Store, bar *syncpolicy.Barrier) error {
			kept, err := s.Pack(bar, PackOptions{Wanted: func(string) bool { return true }, Prune: true})
			if err == nil && len(kept) > 0 {
				err = kept[0].Err
			}
			return err
		},
		old: values, new: values,
	}
}

func (f *fixture) trials() map[string]trial {
	return map[string]trial{"transaction": f.threeRefs(), "pack": f.packAll()}
}

// dropObjects removes the objects, which neither we nor git look at here, so
// that copies are cheap.
func (f *fixture) dropObjects() {
	f.t.Helper()
	dirs, _ := filepath.Glob(f.path("objects/??"))
	for _, dir := range append(dirs, f.path("index")) {
		if err := os.RemoveAll(dir); err != nil {
			f.t.Fatal(err)
		}
	}
}

// open returns the refs of another directory, written through fsys.
func (f *fixture) open(fsys *vfs.FS, dir string) *Store {
	o := f.options()
	o.FS, o.GitDir, o.Locker = fsys, dir, &lockfile.Locker{FS: fsys, KeepStale: true}
	return Open(o)
}

// values reads refs; "" where there is none.
func values(t testing.TB, s *Store, names map[string]string) map[string]string {
	t.Helper()
	got := map[string]string{}
	for name := range names {
		id, err := s.Read(name)
		switch {
		case err == nil:
			got[name] = id.String()
		case errors.Is(err, ErrUnresolved):
			got[name] = ""
		default:
			t.Fatal(err)
		}
	}
	return got
}

func locksIn(dir string) (locks []string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, ".new")) {
			locks = append(locks, path)
		}
		return nil
	})
	return locks
}

// TestFaults makes every call fail: no ref gets a value that nobody asked for,
// no lock stays, and a second run works.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name := range (&fixture{c: base.c}).trials() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := newFixture(t)
			tr := base.trials()[name]
			tr.setup(base)
			base.dropObjects()
			git := filepath.Join(base.dir, ".git")
			crash.Loop(t, func(t *testing.T, in *crash.Injector) {
				dir := filepath.Join(t.TempDir(), "r")
				if err := os.CopyFS(dir, os.DirFS(git)); err != nil {
					t.Fatal(err)
				}
				fsys := vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook)
				err := tr.run(base.open(fsys, dir), syncpolicy.NewBarrier(fsys, base.policy("all", "batch"), dir))
				got := values(t, base.open(vfs.OS(), dir), tr.old)
				for name, value := range got {
					if value != tr.old[name] && value != tr.new[name] || err == nil && value != tr.new[name] {
						t.Fatalf("%s: %s is %q (%v)", in, name, value, err)
					}
				}
				hit := in.Hit()
				if left := locksIn(dir); len(left) > 0 {
					if hit == nil || !in.Sticky && hit.Kind != vfs.OpRemove {
						t.Fatalf("%s: left %v (%v)", in, left, err)
					}
					for _, l := range left {
						os.Remove(l)
					}
				}
				again := vfs.OS().WithHook(crash.NoFlush)
				s := base.open(again, dir)
				var changes []Change
				for name, value := range tr.new {
					changes = append(changes, Change{Name: name, New: OID(parseOrNull(base, value))})
				}
				if err := commit(s, syncpolicy.NewBarrier(again, base.policy("all", "batch"), dir), changes...); err != nil {
					t.Fatalf("%s: the next command: %v", in, err)
				}
			})
		})
	}
}

func parseOrNull(f *fixture, hex string) oid.ID {
	if hex == "" {
		return oid.SHA1.Null()
	}
	return f.id(hex)
}

// TestCrash cuts the power at every point; stock git judges.
func TestCrash(t *testing.T) {
	t.Parallel()
	// What batch does follows the file system under the test, so it is tried on
	// the model of a journal only.
	for _, c := range []struct {
		trial, fsync, method string
		model                crash.Model
		holds                bool
	}{
		{"transaction", "all", "fsync", crash.Journal, true},
		{"transaction", "all", "fsync", crash.Unordered, true},
		{"transaction", "all", "batch", crash.Journal, true},
		{"transaction", "all", "writeout-only", crash.Journal, true},
		{"transaction", "none", "fsync", crash.Journal, false},
		{"pack", "all", "fsync", crash.Unordered, true},
		{"pack", "all", "batch", crash.Journal, true},
	} {
		t.Run(fmt.Sprint(c.trial, "-", c.fsync, "-", c.method, "-", c.model), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tr := f.trials()[c.trial]
			tr.setup(f)
			f.dropObjects()
			bad, states := f.crashes(tr, f.policy(c.fsync, c.method), c.model, c.method != "writeout-only")
			if c.holds == (len(bad) > 0) {
				t.Errorf("%d of %d states are bad: %v", len(bad), states, bad)
			}
		})
	}
}

// crashes returns what is wrong with the states that a power cut can leave.
func (f *fixture) crashes(tr trial, p *syncpolicy.Policy, model crash.Model, durable bool) (bad []string, states int) {
	f.t.Helper()
	dir := filepath.Join(f.dir, ".git")
	rec, err := crash.Record(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	fsys := vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook)
	if err := tr.run(f.open(fsys, dir), syncpolicy.NewBarrier(fsys, p, dir)); err != nil {
		f.t.Fatal(err)
	}
	rec.Mark("done")
	scratch := f.t.TempDir()
	seen := map[string]string{}
	for s := range rec.States(model, 1, 2) {
		states++
		state := filepath.Join(scratch, "s")
		if err := s.Write(state); err != nil {
			f.t.Fatal(err)
		}
		key := content(state)
		refs, known := seen[key]
		if !known {
			refs = f.judge(state)
			seen[key] = refs
		}
		os.RemoveAll(state)
		if why := tr.wrong(refs, durable && s.Has("done")); why != "" {
			bad = append(bad, fmt.Sprintf("after %d calls, %s: %s", s.At, s.What, why))
		}
	}
	return bad, states
}

// content is what git's verdict depends on.
func content(dir string) string {
	var b strings.Builder
	for _, name := range []string{"HEAD", "packed-refs", "refs"} {
		filepath.WalkDir(filepath.Join(dir, name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				data, _ := os.ReadFile(path)
				rel, _ := filepath.Rel(dir, path)
				fmt.Fprintf(&b, "%s %q\n", rel, data)
			}
			return nil
		})
	}
	return b.String()
}

// judge returns the refs that stock git finds, one a line, or its complaint.
func (f *fixture) judge(dir string) string {
	cmd := exec.Command(f.git, "--git-dir="+dir, "for-each-ref", "--format=%(refname) %(objectname)")
	cmd.Env = []string{"HOME=" + f.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "fatal: " + err.Error() + " " + string(out)
	}
	return string(out)
}

// wrong says what is wrong with the refs of a state, "" if nothing is.
func (tr trial) wrong(refs string, done bool) string {
	got := map[string]string{}
	for line := range strings.Lines(refs) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || !strings.HasPrefix(name, "refs/") || len(value) != 40 {
			return line
		}
		got[name] = value
	}
	for name := range tr.old {
		value := got[name]
		allowed := []string{tr.old[name], tr.new[name]}
		if done {
			allowed = allowed[1:]
		}
		if !slices.Contains(allowed, value) {
			return fmt.Sprintf("%s is %q", name, value)
		}
	}
	return ""
}

// TestFlushes counts the calls that wait for the disk.
func TestFlushes(t *testing.T) {
	t.Parallel()
	for name := range (&fixture{c: base.c}).trials() {
		for _, c := range []struct {
			fsync, method string
			want          int
		}{
			{"none", "fsync", 0}, {"none", "batch", 0}, {"all", "writeout-only", 0}, {"index", "batch", 0},
		} {
			f := newFixture(t)
			tr := f.trials()[name]
			tr.setup(f)
			dir := filepath.Join(f.dir, ".git")
			rec, err := crash.Record(dir)
			if err != nil {
				t.Fatal(err)
			}
			fsys := vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook)
			if err := tr.run(f.open(fsys, dir), syncpolicy.NewBarrier(fsys, f.policy(c.fsync, c.method), dir)); err != nil {
				t.Fatal(err)
			}
			if got := rec.Flushes(); got != c.want {
				t.Errorf("%s, core.fsync=%s by %s: %d flushes, want %d", name, c.fsync, c.method, got, c.want)
			}
		}
	}
}

// TestFlushesByMany asserts that the number of refs does not matter.
func TestFlushesByMany(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := filepath.Join(f.dir, ".git")
	count := func(n int) int {
		rec, err := crash.Record(dir)
		if err != nil {
			t.Fatal(err)
		}
		fsys := vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook)
		p, _, err := syncpolicy.NewPolicy(syncpolicy.Settings{Fsync: []syncpolicy.Value{{Text: "all"}}, FsyncMethod: []syncpolicy.Value{{Text: "batch"}}, Barrier: "journal"})
		if err != nil {
			t.Fatal(err)
		}
		changes := make([]Change, n)
		for i := range changes {
			changes[i] = Change{Name: fmt.Sprintf("refs/heads/many-%d/b%d", n, i), New: OID(f.c[0])}
		}
		if err := commit(f.open(fsys, dir), syncpolicy.NewBarrier(fsys, p, dir), changes...); err != nil {
			t.Fatal(err)
		}
		return rec.Flushes()
	}
	if one, many := count(1), count(500); one != 1 || many != 1 {
		t.Errorf("%d flushes for one ref, %d for 500", one, many)
	}
}
