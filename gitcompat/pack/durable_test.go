package pack

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
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

// A thinPack is a pack that needs bases, and where they are.
type thinPack struct {
	data []byte
	all  *Pack
}

func newThinPack(t testing.TB) *thinPack {
	s := newStock(t)
	s.fill(12, 0)
	data, all := thin(t, s, "3")
	return &thinPack{data, all}
}

// receive is a command that takes the pack into dir/pack.
func (p *thinPack) receive(fsys *vfs.FS, policy *syncpolicy.Policy, dir string) error {
	b := syncpolicy.NewBarrier(fsys, policy, dir)
	defer b.Rollback()
	keep := "kept"
	out := Output{Barrier: b, Dir: filepath.Join(dir, "pack"), Keep: &keep}
	o := IndexOptions{FixThin: true, RevIndex: true, Threads: 1, Read: lookup(p.all)}
	if _, err := IndexPack(bytes.NewReader(p.data), out, o); err != nil {
		return err
	}
	return b.Commit()
}

// whole reports how many packs dir/pack has, and whether all of them are good,
// every object. git passes over an .idx without its pack, and does without .rev.
func whole(dir string) (packs int, good bool) {
	indexes, _ := filepath.Glob(filepath.Join(dir, "pack", "*.idx"))
	for _, path := range indexes {
		if _, err := os.Stat(strings.TrimSuffix(path, ".idx") + ".pack"); err != nil {
			continue
		}
		if packs++; !wholePack(path) {
			return packs, false
		}
	}
	return packs, true
}

func wholePack(path string) bool {
	idx, err := OpenIndex(path, oid.SHA1)
	if err != nil {
		return false
	}
	defer idx.Close()
	base := strings.TrimSuffix(path, ".idx")
	if !idx.CheckTrailer() {
		return false
	}
	p, err := Open(base+".pack", idx, NewBaseCache(1<<20))
	if err != nil {
		return false
	}
	defer p.f.Close()
	for n := range idx.Len() {
		off, err := idx.Offset(n)
		if err != nil {
			return false
		}
		typ, data, err := p.Read(off, nil)
		if err != nil || oid.SHA1.Sum(typ.String(), data) != idx.ID(n) {
			return false
		}
	}
	return true
}

// TestFaults makes every call fail that takes a pack in.
func TestFaults(t *testing.T) {
	t.Parallel()
	thin := newThinPack(t)
	batch := policy(t, "all", "batch")
	crash.Loop(t, func(t *testing.T, in *crash.Injector) {
		dir := t.TempDir()
		err := thin.receive(vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook), batch, dir)
		packs, good := whole(dir)
		if !good || err == nil && packs != 1 {
			t.Fatalf("%s: %d packs, good: %v, after %v", in, packs, good, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "pack", "tmp_*")); left != nil && !in.Sticky && in.Hit() != nil && in.Hit().Kind != vfs.OpRemove {
			t.Fatalf("%s: left %s (%v)", in, left, err)
		}
		if err := thin.receive(vfs.OS().WithHook(crash.NoFlush), batch, dir); err != nil {
			t.Fatalf("%s: the next command: %v", in, err)
		}
		if packs, good := whole(dir); packs != 1 || !good {
			t.Fatalf("%s: after the next command: %d packs, good: %v", in, packs, good)
		}
	})
}

// TestCrash cuts the power at every point of taking a pack in (K1).
func TestCrash(t *testing.T) {
	t.Parallel()
	thin := newThinPack(t)
	for _, c := range []struct {
		fsync, method string
		holds, acked  bool
	}{
		{"all", "fsync", true, true},
		{"all", "batch", true, true},
		{"pack,pack-metadata", "fsync", true, false},
		{"none", "fsync", false, false},
	} {
		for _, model := range []crash.Model{crash.Journal, crash.Unordered} {
			if model == crash.Unordered && c.method == "batch" {
				continue // the strategy follows the file system under the test, which is of the other model
			}
			bad, lost := thin.crashes(t, policy(t, c.fsync, c.method), model)
			if c.holds && bad > 0 || !c.holds && bad == 0 {
				t.Errorf("core.fsync=%s by %s on %s: %d bad states", c.fsync, c.method, model, bad)
			}
			if c.acked && lost > 0 {
				t.Errorf("core.fsync=%s by %s on %s: acknowledged and lost in %d states", c.fsync, c.method, model, lost)
			}
		}
	}
}

// crashes counts the states in which a pack is broken, and those in which one
// that was acknowledged is not there.
func (p *thinPack) crashes(t *testing.T, policy *syncpolicy.Policy, model crash.Model) (bad, lost int) {
	t.Helper()
	root := t.TempDir()
	rec, err := crash.Record(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.receive(vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), policy, root); err != nil {
		t.Fatal(err)
	}
	rec.Mark("ok")
	n := 0
	for state := range rec.States(model, 1, 1) {
		dir := filepath.Join(t.TempDir(), "state")
		if err := state.Write(dir); err != nil {
			t.Fatal(err)
		}
		packs, good := whole(dir)
		if !good {
			bad++
			if policy.Hardens(syncpolicy.Pack) {
				t.Logf("%d %s %v: %v", state.At, state.What, state.Passed, files(t, filepath.Join(dir, "pack")))
			}
		}
		if state.Has("ok") && packs != 1 {
			lost++
			if policy.Hardens(syncpolicy.Reference) {
				t.Logf("%d %s: lost", state.At, state.What)
			}
		}
		n++
	}
	if n < 10 {
		t.Fatalf("only %d states", n)
	}
	return bad, lost
}

// What is flushed is what the policy names: the pack, its index and its .rev.
func TestFlushes(t *testing.T) {
	t.Parallel()
	thin := newThinPack(t)
	for _, c := range []struct {
		fsync, method  string
		pack, metadata int64 // flushes
		most           int64 // in all
	}{
		{"none", "fsync", 0, 0, 0},
		{"pack,pack-metadata", "fsync", 1, 2, 3},
		{"all", "fsync", 1, 2, 4},
		{"all", "batch", 1, 2, 4},
	} {
		p, dir := policy(t, c.fsync, c.method), t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "pack"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := thin.receive(vfs.OS().WithHook(crash.NoFlush), p, dir); err != nil {
			t.Fatal(err)
		}
		_, packs := p.Counters.Of(syncpolicy.Pack)
		_, metadata := p.Counters.Of(syncpolicy.PackMetadata)
		_, all := p.Counters.Totals()
		if packs > c.pack || metadata > c.metadata || all > c.most || c.method == "fsync" && (packs < c.pack || metadata < c.metadata) {
			t.Errorf("core.fsync=%s by %s: %d flushes of packs, %d of metadata, %d in all", c.fsync, c.method, packs, metadata, all)
		}
	}
}
