package pack

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// source are the functions that find objects in a Pack.
func source(p *Pack, o PackOptions) PackOptions {
	find := func(id oid.ID) (int64, error) {
		off, ok, err := p.Index().Find(id)
		if err == nil && !ok {
			err = os.ErrNotExist
		}
		return off, err
	}
	o.Read = lookup(p)
	o.Info = func(id oid.ID) (object.Type, int64, error) {
		off, err := find(id)
		if err != nil {
			return 0, 0, err
		}
		return p.Info(off, nil)
	}
	o.Open = func(id oid.ID) (object.Type, int64, io.ReadCloser, error) {
		off, err := find(id)
		if err != nil {
			return 0, 0, nil, err
		}
		return p.Reader(off, nil)
	}
	return o
}

func storedIn(p *Pack) func(oid.ID) (*Pack, int64, bool) {
	return func(id oid.ID) (*Pack, int64, bool) {
		off, ok, _ := p.Index().Find(id)
		return p, off, ok
	}
}

// items lists what rev-list names, with the hashes of paths.
func items(t testing.TB, s *stock, revs ...string) []Item {
	t.Helper()
	out := s.run(nil, append([]string{"rev-list", "--objects"}, revs...)...)
	var list []Item
	types := s.objects()
	for line := range strings.Lines(out) {
		hex, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id, err := oid.SHA1.FromHex(hex)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(types[hex], " ")
		typ, _ := object.ParseType(name)
		list = append(list, Item{ID: id, Type: typ, Hash: NameHash(path)})
	}
	return list
}

func TestPackObjects(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(60, 200<<10)
	list := items(t, s, "--all")
	for _, stored := range []string{"", "--index-version=2", "--index-version=1", "--no-delta-base-offset", "--rev"} {
		from := s.pack(strings.Fields(stored)[:min(1, len(stored))]...)
		if stored == "--rev" {
			from = s.pack()
			s.run(nil, "index-pack", "--rev-index", "-o", from+".idx", from+".pack")
		}
		p := openPack(t, from)
		for _, o := range []PackOptions{
			{},
			{OfsDelta: true},
			{OfsDelta: true, Threads: 3, BigFile: 100 << 10},
			{OfsDelta: true, Window: 10, Depth: 50, NoReuse: true},
			{Window: 4, Depth: 3},
		} {
			o = source(p, o)
			if stored != "" {
				o.Stored = storedIn(p)
			}
			var buf bytes.Buffer
			res, err := PackObjects(&buf, list, o)
			if err != nil {
				t.Fatal(err)
			}
			if o.Window == 0 && stored != "" && (res.Reused != len(list) || res.ReusedDeltas == 0) {
				t.Errorf("%+v: not all was reused", res)
			}
			if o.Window > 0 && stored == "" && res.Deltas == 0 {
				t.Errorf("%+v: no delta was found", res)
			}
			checkPack(t, s, buf.Bytes(), len(list), o.Depth)
		}
	}
}

// checkPack lets stock git index and verify a pack.
func checkPack(t *testing.T, s *stock, data []byte, objects, depth int) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.pack")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(nil, "index-pack", "--strict", path)
	out := s.run(nil, "verify-pack", "-v", path)
	got := 0
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) >= 5 && len(f[0]) == 40 {
			got++
		}
		if len(f) == 7 && depth > 0 && len(f[5]) == 1 && int(f[5][0]-'0') > depth {
			t.Errorf("chain too long: %s", line)
		}
	}
	if got != objects {
		t.Errorf("%d objects, want %d", got, objects)
	}
}

func TestPackThin(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(100, 0)
	p := openPack(t, s.pack())
	send := items(t, s, "main", "^main~3")
	has := items(t, s, "main~3")
	for i := range has {
		has[i].Base = true
	}
	for _, stored := range []func(oid.ID) (*Pack, int64, bool){nil, storedIn(p)} {
		o := source(p, PackOptions{OfsDelta: true, Window: 10, Depth: 50, Stored: stored})
		var buf bytes.Buffer
		res, err := PackObjects(&buf, append(has, send...), o)
		if err != nil {
			t.Fatal(err)
		}
		if res.Objects != len(send) || res.Deltas == 0 {
			t.Errorf("%+v", res)
		}
		if _, err := indexInto(t, t.TempDir(), buf.Bytes(), IndexOptions{}); err == nil {
			t.Error("the pack is not thin")
		}
		if _, err := indexInto(t, t.TempDir(), buf.Bytes(), IndexOptions{FixThin: true, Read: lookup(p)}); err != nil {
			t.Error(err)
		}
		s.run(buf.Bytes(), "index-pack", "--stdin", "--fix-thin")
	}
}

func TestPackFiles(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(30, 0)
	p := openPack(t, s.pack())
	dir := t.TempDir()
	b := newBarrier(t, dir)
	defer b.Rollback()
	list := items(t, s, "--all")
	res, err := PackFiles(Output{Barrier: b, Dir: dir}, list, IndexFormat{}, true, source(p, PackOptions{Stored: storedIn(p)}))
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(dir, "pack-"+res.Checksum.String())
	s.run(nil, "verify-pack", base+".idx")
	rev := readFile(t, base+".rev")
	s.run(nil, "index-pack", "--rev-index", "-o", filepath.Join(dir, "want.idx"), base+".pack")
	if !bytes.Equal(rev, readFile(t, filepath.Join(dir, "want.rev"))) {
		t.Error("reverse index differs")
	}
	if !bytes.Equal(readFile(t, base+".idx"), readFile(t, filepath.Join(dir, "want.idx"))) {
		t.Error("index differs")
	}
}

func TestPackNothing(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	if _, err := PackObjects(&buf, nil, PackOptions{}); err != nil {
		t.Fatal(err)
	}
	s := newStock(t)
	want := s.run(nil, "pack-objects", "-q", "--stdout")
	if buf.String() != want {
		t.Errorf("%x, want %x", buf.Bytes(), want)
	}
}

// Stored bytes that are damaged are not passed on: the object is taken from
// elsewhere.
func TestPackDamagedSource(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(10, 0)
	whole := openPack(t, s.pack())
	base := s.pack()
	os.Chmod(base+".pack", 0o600)
	p := openPack(t, base)
	f, err := os.OpenFile(base+".pack", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list := items(t, s, "--all")
	for n := range p.idx.Len() {
		off, _ := p.idx.Offset(n)
		var b [1]byte
		f.ReadAt(b[:], off+6)
		f.WriteAt([]byte{^b[0]}, off+6)
		reported := 0
		o := source(whole, PackOptions{OfsDelta: true, Stored: storedIn(p), Report: func(error) { reported++ }, Threads: 1})
		var buf bytes.Buffer
		if _, err := PackObjects(&buf, list, o); err != nil {
			t.Fatal(err)
		}
		if reported == 0 {
			t.Error("damage went unnoticed")
		}
		if _, err := indexInto(t, t.TempDir(), buf.Bytes(), IndexOptions{}); err != nil {
			t.Fatal(err)
		}
		f.WriteAt(b[:], off+6)
	}
}

// pairPack indexes a pack of two blobs, the second a delta of the first.
func pairPack(t *testing.T, base, of []byte) *Pack {
	t.Helper()
	delta := newDeltaIndex(nil, base).make(nil, of, 1<<20)
	first := append(appendEntryHeader(nil, kindBlob, uint64(len(base))), deflated(base)...)
	second := appendOfsBase(appendEntryHeader(nil, kindOfsDelta, uint64(len(delta))), uint64(len(first)))
	dir := t.TempDir()
	res, err := indexInto(t, dir, seal(2, append(first, append(second, deflated(delta)...)...)), IndexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return openPack(t, filepath.Join(dir, "pack-"+res.Checksum.String()))
}

// Each of two objects is stored as a delta of the other, in another pack.
func TestPackBreaksCycles(t *testing.T) {
	t.Parallel()
	a := bytes.Repeat([]byte("0123456789abcdef-"), 100)
	b := append(bytes.Clone(a), "and more"...)
	idA, idB := oid.SHA1.Sum("blob", a), oid.SHA1.Sum("blob", b)
	deltaA, deltaB := pairPack(t, b, a), pairPack(t, a, b)
	o := source(deltaA, PackOptions{OfsDelta: true, Stored: func(id oid.ID) (*Pack, int64, bool) {
		if id == idA {
			return storedIn(deltaA)(id)
		}
		return storedIn(deltaB)(id)
	}})
	var buf bytes.Buffer
	res, err := PackObjects(&buf, []Item{{ID: idA}, {ID: idB}}, o)
	if err != nil {
		t.Fatal(err)
	}
	if res.ReusedDeltas != 1 {
		t.Errorf("%+v", res)
	}
	var h heap
	if _, err := h.unpack(buf.Bytes(), UnpackOptions{}); err != nil || len(h.objects) != 2 {
		t.Error(len(h.objects), err)
	}
}
