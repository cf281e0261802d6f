package syncpolicy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

const (
	nObjects = 3
	content  = "the bytes of an object, long enough to be torn"
)

func policy(t testing.TB, fsync, method, barrier string) *syncpolicy.Policy {
	t.Helper()
	s := syncpolicy.Settings{Barrier: barrier}
	if fsync != "" {
		s.Fsync = []syncpolicy.Value{{Text: fsync}}
	}
	if method != "" {
		s.FsyncMethod = []syncpolicy.Value{{Text: method}}
	}
	p, _, err := syncpolicy.NewPolicy(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// layout makes the directories of a toy repository: a ref names three objects,
// and a log tells of the ref.
func layout(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	for _, d := range []string{"objects", "tmp", "refs", "logs"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"refs/main": "old", "refs/gone": "loose", "packed": "old"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func stage(b *syncpolicy.Barrier, ph syncpolicy.Phase, c syncpolicy.Component, temp, final, text string) error {
	f, err := b.FS().OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	b.FS().Temp(temp, false)
	if _, err := f.Write([]byte(text)); err != nil {
		f.Close()
		b.FS().Remove(temp)
		return err
	}
	return b.Stage(ph, c, f, final)
}

// command is a whole toy command: objects, a ref with its log, and the deletion
// of another ref that packed-refs still has.
func command(fsys *vfs.FS, p *syncpolicy.Policy, root string) error {
	b := syncpolicy.NewBarrier(fsys, p, root)
	defer b.Rollback()
	path := func(elem ...string) string { return filepath.Join(append([]string{root}, elem...)...) }
	for i := range nObjects {
		name := fmt.Sprint(i)
		if err := stage(b, syncpolicy.Objects, syncpolicy.LooseObject, path("tmp", name), path("objects", name), content); err != nil {
			return err
		}
	}
	if err := stage(b, syncpolicy.PackedDeletions, syncpolicy.Reference, path("packed.new"), path("packed"), "new"); err != nil {
		return err
	}
	b.AppendLog(path("logs", "main"), []byte("old new\n"), func(string) error { return nil }, nil)
	if err := stage(b, syncpolicy.Refs, syncpolicy.Reference, path("refs", "main.lock"), path("refs", "main"), "new"); err != nil {
		return err
	}
	b.Do(syncpolicy.Removals, func() error { return b.FS().Remove(path("refs", "gone")) }, path("refs"))
	return b.Commit()
}

// judge says what is wrong with a state, in the terms of the promises.
func judge(s crash.State, dir string) (faults []string) {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "missing"
		}
		return string(b)
	}
	for i := range nObjects {
		if c := read(fmt.Sprintf("objects/%d", i)); c != content && c != "missing" {
			faults = append(faults, "P1: object with wrong bytes")
		} else if c == "missing" && read("refs/main") == "new" {
			faults = append(faults, "P1: ref without its object")
		}
	}
	for _, name := range []string{"refs/main", "packed"} {
		if c := read(name); c != "old" && c != "new" {
			faults = append(faults, "P2: "+name+" is neither old nor new")
		}
	}
	if read("packed") == "new" && read("refs/main") != "new" {
		faults = append(faults, "P2: a packed ref is gone before the ref that the same command makes is there")
	}
	if read("refs/gone") == "missing" && read("packed") != "new" {
		faults = append(faults, "P1: the deleted ref is back with its packed value")
	}
	if s.Has("ok") {
		if read("refs/main") != "new" || read("refs/gone") != "missing" || read("logs/main") != "old new\n" {
			faults = append(faults, "P3: acknowledged and lost")
		}
	}
	return faults
}

// TestBarrier_crash replays power cuts (B1, B2, B3).
func TestBarrier_crash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		policy  *syncpolicy.Policy
		model   crash.Model
		bad     bool // must show bad states, or the test is blind
		flushes int  // -1: not looked at
	}{
		{"journal", policy(t, "all", "batch", "journal"), crash.Journal, false, 1},
		{"syncfs on a journal", policy(t, "all", "batch", "syncfs"), crash.Journal, false, -1},
		{"syncfs", policy(t, "all", "batch", "syncfs"), crash.Unordered, false, 5},
		{"fsync barrier", policy(t, "all", "batch", "fsync"), crash.Unordered, false, -1},
		{"fsync method", policy(t, "all", "fsync", ""), crash.Unordered, false, -1},
		{"fsync method on a journal", policy(t, "all", "fsync", ""), crash.Journal, false, -1},
		{"none", policy(t, "none", "", ""), crash.Journal, true, 0},
		{"git's default", policy(t, "pack", "fsync", ""), crash.Journal, true, 0},
		{"journal where it does not hold", policy(t, "all", "batch", "journal"), crash.Unordered, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := layout(t)
			rec, err := crash.Record(root)
			if err != nil {
				t.Fatal(err)
			}
			if err := command(vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), c.policy, root); err != nil {
				t.Fatal(err)
			}
			rec.Mark("ok")
			if c.flushes >= 0 && rec.Flushes() != c.flushes {
				t.Errorf("%d flushes, want %d: %v", rec.Flushes(), c.flushes, rec.Calls())
			}
			if _, counted := c.policy.Counters.Totals(); int(counted) != rec.Flushes() {
				t.Errorf("%d flushes counted, %d made", counted, rec.Flushes())
			}
			states, bad := replay(t, rec, c.model)
			if c.bad != (bad != "") {
				t.Errorf("%d states; bad: %q", states, bad)
			}
		})
	}
}

func replay(t *testing.T, rec *crash.Recorder, m crash.Model) (states int, bad string) {
	dir := t.TempDir()
	for s := range rec.States(m, 1, 2) {
		states++
		sub := filepath.Join(dir, fmt.Sprint(states))
		if err := s.Write(sub); err != nil {
			t.Fatal(err)
		}
		if faults := judge(s, sub); faults != nil && bad == "" {
			bad = s.What + ": " + strings.Join(faults, "; ")
		}
		os.RemoveAll(sub)
	}
	return states, bad
}

// TestBarrier_faults makes each system call fail in turn (B4, B6).
func TestBarrier_faults(t *testing.T) {
	t.Parallel()
	for _, barrier := range []string{"journal", "syncfs", "fsync"} {
		t.Run(barrier, func(t *testing.T) {
			t.Parallel()
			crash.Loop(t, func(t *testing.T, in *crash.Injector) {
				root := layout(t)
				err := command(vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook), policy(t, "all", "batch", barrier), root)
				if (err != nil) != (in.Hit() != nil) && !harmless(in) {
					t.Errorf("err = %v", err)
				}
				s := crash.State{}
				if err == nil {
					s.Passed = []string{"ok"}
				}
				for _, f := range judge(s, root) {
					t.Error(f)
				}
				if hit := in.Hit(); err != nil && hit != nil && !in.Sticky && (hit.Kind == vfs.OpWriteout || hit.Kind == vfs.OpSync) {
					if _, err := os.Stat(filepath.Join(root, "logs", "main")); err == nil {
						t.Error("a log tells of a ref that did not change")
					}
				}
				if !in.Sticky {
					for _, f := range leftovers(root) {
						if hit := in.Hit(); hit == nil || !(hit.Kind == vfs.OpRemove && hit.Path == f) {
							t.Errorf("left behind: %s", f)
						}
					}
				}
			})
		})
	}
}

// harmless says which call's failure need not fail the command: the start of a
// writeback, which is waited for later; and a short write is only one of a write.
func harmless(in *crash.Injector) bool {
	op := in.Hit()
	return op != nil && !in.Sticky && (op.Kind == vfs.OpStartWriteout || in.Err == 0 && op.Kind != vfs.OpWrite)
}

func leftovers(root string) (list []string) {
	filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, ".new") || filepath.Base(filepath.Dir(path)) == "tmp") {
			list = append(list, path)
		}
		return err
	})
	return list
}

// TestBarrier_none makes no sync call whatever is staged (B5, P8).
func TestBarrier_none(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"fsync", "writeout-only", "batch"} {
		root := layout(t)
		rec, err := crash.Record(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := command(vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), policy(t, "none", method, ""), root); err != nil {
			t.Fatal(err)
		}
		calls := rec.Calls()
		if n := rec.Flushes() + calls[vfs.OpWriteout]; n != 0 {
			t.Errorf("%s: %d sync calls: %v", method, n, calls)
		}
	}
}
