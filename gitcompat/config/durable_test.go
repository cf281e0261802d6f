package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

func policy(t testing.TB, fsync, method string) *syncpolicy.Policy {
	t.Helper()
	p, _, err := syncpolicy.NewPolicy(syncpolicy.Settings{
		Fsync:       []syncpolicy.Value{{Text: fsync}},
		FsyncMethod: []syncpolicy.Value{{Text: method}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const oldFile = "# a comment\n[core]\n\tbare = false\n[k]\n\tv = 1\n"

// configDir is a directory with a configuration file.
func configDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(oldFile), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// addValue is a command that adds a value to k.v.
func addValue(fsys *vfs.FS, p *syncpolicy.Policy, dir string) error {
	b := syncpolicy.NewBarrier(fsys, p, dir)
	defer b.Rollback()
	e, err := NewEdit(&lockfile.Locker{FS: fsys, KeepStale: true}, dir+"/config", "config", 0, nil)
	if err != nil {
		return err
	}
	defer e.Rollback()
	if err := e.Apply(Change{Key: "k.v", Value: "new", Add: true}); err != nil {
		return err
	}
	if err := e.Stage(b); err != nil {
		return err
	}
	return b.Commit()
}

func countValues(t testing.TB, dir string) int {
	t.Helper()
	c, err := LoadFile(Options{Dir: dir, LookupEnv: Environ(nil)}, "config", ScopeUnknown, false)
	if err != nil {
		t.Fatal(err)
	}
	return len(c.All("k.v"))
}

// TestFaults makes every call of a rewrite fail (C4).
func TestFaults(t *testing.T) {
	t.Parallel()
	crash.Loop(t, func(t *testing.T, in *crash.Injector) {
		dir := configDir(t)
		err := addValue(vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook), policy(t, "all", "batch"), dir)
		n := countValues(t, dir)
		if n != 1 && n != 2 || err == nil && n != 2 {
			t.Fatalf("%s: %d values, %v", in, n, err)
		}
		left, _ := filepath.Glob(filepath.Join(dir, "*lock*"))
		if hit := in.Hit(); left != nil && hit != nil && !in.Sticky && hit.Kind != vfs.OpRemove {
			t.Fatalf("%s: left %s (%v)", in, left, err)
		}
		for _, l := range left {
			os.Remove(l) // where not even removing worked
		}
		if err := addValue(vfs.OS().WithHook(crash.NoFlush), policy(t, "all", "batch"), dir); err != nil || countValues(t, dir) != n+1 {
			t.Fatalf("%s: the next command: %v", in, err)
		}
	})
}

// TestCrash cuts the power at every point of a rewrite; stock git judges.
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fsync, method string
		holds         bool
	}{
		{"all", "fsync", true}, {"all", "batch", true}, {"reference", "fsync", true}, {"none", "fsync", false},
	} {
		for _, model := range []crash.Model{crash.Journal, crash.Unordered} {
			if model == crash.Unordered && c.method == "batch" {
				continue // the strategy follows the file system under the test, which is of the other model
			}
			bad := badStates(t, policy(t, c.fsync, c.method), model)
			if c.holds && bad > 0 || !c.holds && bad == 0 {
				t.Errorf("core.fsync=%s by %s on %s: %d bad states", c.fsync, c.method, model, bad)
			}
		}
	}
}

func badStates(t *testing.T, p *syncpolicy.Policy, model crash.Model) (bad int) {
	t.Helper()
	dir := configDir(t)
	rec, err := crash.Record(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := addValue(vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), p, dir); err != nil {
		t.Fatal(err)
	}
	rec.Mark("done")
	scratch, n := t.TempDir(), 0
	verdicts := map[string]int{} // content -> values that git finds, -1 for an error
	for s := range rec.States(model, 1, 2) {
		state := filepath.Join(scratch, fmt.Sprint(n))
		n++
		if err := s.Write(state); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(state, "config"))
		if err != nil {
			bad++
			continue
		}
		values, known := verdicts[string(content)]
		if !known {
			out, _, code := stockGit(t, state, nil, "config", "-f", "config", "--get-all", "k.v")
			if values = strings.Count(out, "\n"); code != 0 {
				values = -1
			}
			verdicts[string(content)] = values
		}
		if values < 1 || s.Has("done") && values != 2 {
			bad++
		}
	}
	return bad
}

// TestFlushes counts the sync calls of a rewrite.
func TestFlushes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fsync, method string
		want          int
	}{
		{"none", "fsync", 0}, {"none", "batch", 0}, {"all", "writeout-only", 0}, {"index", "fsync", 2},
	} {
		dir := configDir(t)
		rec, err := crash.Record(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := addValue(vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), policy(t, c.fsync, c.method), dir); err != nil {
			t.Fatal(err)
		}
		if got := rec.Flushes(); got != c.want {
			t.Errorf("core.fsync=%s by %s: %d flushes, want %d", c.fsync, c.method, got, c.want)
		}
	}
}
