package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

func openPack(t testing.TB, base string) *Pack {
	t.Helper()
	idx, err := OpenIndex(base+".idx", oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(base+".pack", idx, NewBaseCache(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestReadsWhatGitPacked(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(60, 200<<10)
	want := s.objects()
	for _, args := range [][]string{{"--index-version=2"}, {"--index-version=1"}, {"--index-version=2,0x400"}, {"--no-delta-base-offset"}} {
		t.Run(args[0], func(t *testing.T) {
			p := openPack(t, s.pack(args...))
			x := p.Index()
			if x.Len() != len(want) {
				t.Fatalf("%d objects, want %d", x.Len(), len(want))
			}
			if !x.CheckTrailer() {
				t.Error("trailer of the index")
			}
			for hex, info := range want {
				checkObject(t, p, hex, info)
			}
			if _, ok := x.Position(oid.SHA1.Sum("blob", []byte("absent"))); ok {
				t.Error("found an object that is not there")
			}
		})
	}
}

func checkObject(t *testing.T, p *Pack, hex, info string) {
	t.Helper()
	id, _ := oid.SHA1.FromHex(hex)
	off, ok, err := p.Index().Find(id)
	if !ok || err != nil {
		t.Fatalf("%s: found %v, %v", hex, ok, err)
	}
	typ, size, err := p.Info(off, nil)
	if err != nil || fmt.Sprintf("%s %d", typ, size) != info {
		t.Errorf("Info %s: %s %d %v, want %s", hex, typ, size, err, info)
	}
	typ, data, err := p.Read(off, nil)
	if err != nil || oid.SHA1.Sum(typ.String(), data) != id {
		t.Errorf("Read %s: %v", hex, err)
	}
	_, size, r, err := p.Reader(off, nil)
	if err != nil {
		t.Fatal(err)
	}
	streamed, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(streamed, data) || size != int64(len(data)) {
		t.Errorf("Reader %s: %d bytes, %v", hex, len(streamed), err)
	}
	r.Close()
}

func TestIndexPrefix(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(100, 0)
	x := openPack(t, s.pack()).Index()
	for n := range x.Len() {
		raw, hex := x.ID(n).Bytes(), x.ID(n).String()
		for digits := range 9 {
			lo, hi := x.Prefix(raw, digits)
			for m := range x.Len() {
				if in := strings.HasPrefix(x.ID(m).String(), hex[:digits]); in != (lo <= m && m < hi) {
					t.Fatalf("prefix %s: %d in [%d, %d) is %v", hex[:digits], m, lo, hi, !in)
				}
			}
		}
	}
}

func TestBadIndexFiles(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(10, 0)
	good, err := os.ReadFile(s.pack() + ".idx")
	if err != nil {
		t.Fatal(err)
	}
	edit := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(good)) }
	v1 := append(make([]byte, fanoutSize+40), 0)
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "index file %s is too small", nil},
		{"nul", "wrong index v1 file size in %s", v1},
		{"short", "wrong index v2 file size in %s", good[:len(good)-1]},
		{"long", "wrong index v2 file size in %s", append(bytes.Clone(good), make([]byte, 8*1024)...)},
		{"version", "index file %s is version 3 and is not supported by this binary (try upgrading GIT to a newer version)",
			edit(func(b []byte) []byte { b[7] = 3; return b })},
		{"fanout", "non-monotonic index %s", edit(func(b []byte) []byte { b[8] = 0xff; return b })},
		{"huge", "wrong index v2 file size in %s", edit(func(b []byte) []byte {
			binary.BigEndian.PutUint32(b[8+255*4:], 0xffffffff)
			return b
		})},
	} {
		path := filepath.Join(t.TempDir(), "x.idx")
		if err := os.WriteFile(path, test.data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenIndex(path, oid.SHA1)
		if want := strings.ReplaceAll(test.want, "%s", path); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", test.name, err, want)
		}
	}
}

func TestBadPackFiles(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(10, 0)
	base := s.pack()
	good, err := os.ReadFile(base + ".pack")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.pack")
	open := func(data []byte) error {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		idx, err := OpenIndex(base+".idx", oid.SHA1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Open(path, idx, NewBaseCache(1<<20))
		if err == nil {
			p.Close()
		}
		return err
	}
	if err := open(good); err != nil {
		t.Fatal(err)
	}
	edit := func(at int, c byte) []byte { b := bytes.Clone(good); b[at] = c; return b }
	for _, test := range []struct {
		want string
		data []byte
	}{
		{"file %s is far too short to be a packfile", good[:11]},
		{"packfile %s signature is unavailable", good[:20]},
		{"file %s is not a GIT packfile", edit(0, 'p')},
		{"packfile %s is version 4 and not supported (try upgrading GIT to a newer version)", edit(7, 4)},
		{"packfile %s does not match index", good[:len(good)-1]},
	} {
		if err := open(test.data); err == nil || err.Error() != strings.ReplaceAll(test.want, "%s", path) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	if err := open(edit(9, 1)); err == nil || !strings.Contains(err.Error(), "objects while index indicates") {
		t.Error(err)
	}
}

// Every byte of a pack is damaged in turn: no panic, and somebody notices.
func TestDamagedEntries(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(6, 0)
	base := s.pack()
	p := openPack(t, base)
	if err := os.Chmod(base+".pack", 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(base+".pack", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := int64(headerSize); at < p.size; at++ {
		var b [1]byte
		f.ReadAt(b[:], at)
		f.WriteAt([]byte{^b[0]}, at)
		failed := 0
		for n := range p.idx.Len() {
			off, _ := p.idx.Offset(n)
			p.cache.forget(p)
			typ, data, err := p.Read(off, nil)
			if err != nil || oid.SHA1.Sum(typ.String(), data) != p.idx.ID(n) {
				failed++
			}
			p.Info(off, nil)
		}
		if failed == 0 {
			t.Errorf("damage at %d went unnoticed", at)
		}
		f.WriteAt(b[:], at)
	}
}

// A base that is damaged here and whole elsewhere is taken from there.
func TestBaseFromElsewhere(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(40, 0)
	base := s.pack()
	whole := openPack(t, s.pack())
	p := openPack(t, base)
	os.Chmod(base+".pack", 0o600)
	f, err := os.OpenFile(base+".pack", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls := 0
	elsewhere := func(id oid.ID) (object.Type, []byte, error) {
		calls++
		off, ok, _ := whole.Index().Find(id)
		if !ok {
			return 0, nil, errors.New("absent")
		}
		return whole.Read(off, nil)
	}
	for n := range p.idx.Len() {
		off, _ := p.idx.Offset(n)
		e, err := p.entry(new(cursor), off)
		if err != nil {
			t.Fatal(err)
		}
		if isDelta(e.kind) {
			continue
		}
		f.WriteAt([]byte{0, 0}, e.data)
		for m := range p.idx.Len() {
			p.cache.forget(p)
			off, _ := p.idx.Offset(m)
			typ, data, err := p.Read(off, elsewhere)
			if m == n {
				if err == nil {
					t.Fatal("the damaged object itself was read")
				}
				continue
			}
			if err != nil || oid.SHA1.Sum(typ.String(), data) != p.idx.ID(m) {
				t.Fatalf("%s: %v", p.idx.ID(m), err)
			}
		}
		raw := make([]byte, 2)
		whole.f.ReadAt(raw, e.data)
		f.WriteAt(raw, e.data)
	}
	if calls == 0 {
		t.Error("no base was taken from elsewhere")
	}
}
