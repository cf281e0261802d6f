package pack

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

func newBarrier(t testing.TB, dir string) *syncpolicy.Barrier {
	t.Helper()
	p, _, err := syncpolicy.NewPolicy(syncpolicy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return syncpolicy.NewBarrier(vfs.OS(), p, dir)
}

// lookup reads objects of a Pack.
func lookup(p *Pack) ReadFunc {
	return func(id oid.ID) (object.Type, []byte, error) {
		off, ok, err := p.Index().Find(id)
		if !ok {
			if err == nil {
				err = os.ErrNotExist
			}
			return 0, nil, err
		}
		return p.Read(off, nil)
	}
}

// indexInto indexes data into dir and commits.
func indexInto(t testing.TB, dir string, data []byte, o IndexOptions) (*Indexed, error) {
	t.Helper()
	b := newBarrier(t, dir)
	defer b.Rollback()
	res, err := IndexPack(bytes.NewReader(data), Output{Barrier: b, Dir: dir}, o)
	if err != nil {
		return nil, err
	}
	return res, b.Commit()
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The index and the reverse index have the bytes of git's, whatever the memory
// and the number of threads.
func TestIndexPackAsGit(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(70, 200<<10)
	for _, args := range [][]string{nil, {"--no-delta-base-offset"}} {
		base := s.pack(args...)
		data := readFile(t, base+".pack")
		for _, f := range []struct {
			arg    string
			format IndexFormat
		}{{"2", IndexFormat{}}, {"1", IndexFormat{Version: 1}}, {"2,0x4000", IndexFormat{Off32Limit: 0x4000}}} {
			s.run(nil, "index-pack", "--rev-index", "--index-version="+f.arg, "-o", base+".want.idx", base+".pack")
			for _, o := range []IndexOptions{
				{Threads: 1},
				{Threads: 4, CacheLimit: 1},
				{Threads: 2, CacheLimit: 30000, BigFile: 100 << 10},
			} {
				o.Index, o.RevIndex = f.format, true
				dir := t.TempDir()
				res, err := indexInto(t, dir, data, o)
				if err != nil {
					t.Fatal(err)
				}
				got := filepath.Join(dir, "pack-"+res.Checksum.String())
				if !bytes.Equal(readFile(t, got+".pack"), data) {
					t.Error("the pack differs")
				}
				if !bytes.Equal(readFile(t, got+".idx"), readFile(t, base+".want.idx")) {
					t.Errorf("index-version %s: index differs", f.arg)
				}
				if !bytes.Equal(readFile(t, got+".rev"), readFile(t, base+".want.rev")) {
					t.Errorf("index-version %s: reverse index differs", f.arg)
				}
				if n := files(t, dir); len(n) != 3 {
					t.Errorf("files: %v", n)
				}
			}
		}
	}
}

// thin returns a thin pack of what the last n commits added, and a Pack of all.
func thin(t testing.TB, s *stock, n string, args ...string) ([]byte, *Pack) {
	t.Helper()
	args = append([]string{"pack-objects", "-q", "--stdout", "--revs", "--thin", "--delta-base-offset"}, args...)
	out := s.run([]byte("main\n^main~"+n+"\n"), args...)
	return []byte(out), openPack(t, s.pack())
}

func TestFixThin(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(100, 0)
	data, all := thin(t, s, "20")
	_, err := indexInto(t, t.TempDir(), data, IndexOptions{})
	if err == nil {
		t.Fatal("a thin pack was taken")
	}
	want := s.cmd(data, "index-pack", "--stdin")
	out, _ := want.CombinedOutput()
	if !bytes.Contains(out, []byte("fatal: "+err.Error())) {
		t.Errorf("%v, git says %s", err, out)
	}
	dir := t.TempDir()
	res, err := indexInto(t, dir, data, IndexOptions{FixThin: true, Read: lookup(all)})
	if err != nil {
		t.Fatal(err)
	}
	if res.Completed == 0 {
		t.Error("nothing was completed")
	}
	s.run(nil, "verify-pack", filepath.Join(dir, "pack-"+res.Checksum.String()+".idx"))
	p := openPack(t, filepath.Join(dir, "pack-"+res.Checksum.String()))
	for n := range p.idx.Len() {
		off, _ := p.idx.Offset(n)
		if typ, data, err := p.Read(off, nil); err != nil || oid.SHA1.Sum(typ.String(), data) != p.idx.ID(n) {
			t.Errorf("%s: %v", p.idx.ID(n), err)
		}
	}
}

func TestCollision(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(20, 200<<10)
	base := s.pack()
	data := readFile(t, base+".pack")
	p := openPack(t, base)
	has := func(id oid.ID) bool { _, ok := p.Index().Position(id); return ok }
	read := lookup(p)
	open := func(id oid.ID) (object.Type, int64, io.ReadCloser, error) {
		off, _, _ := p.Index().Find(id)
		return p.Reader(off, nil)
	}
	if _, err := indexInto(t, t.TempDir(), data, IndexOptions{Has: has, Read: read, Open: open, BigFile: 100 << 10}); err != nil {
		t.Fatal("the same pack again:", err)
	}
	for n := range p.Index().Len() {
		victim := p.Index().ID(n)
		forged := func(id oid.ID) (object.Type, []byte, error) {
			typ, data, err := read(id)
			if id == victim && err == nil {
				data[len(data)/2] ^= 1
			}
			return typ, data, err
		}
		dir := t.TempDir()
		_, err := indexInto(t, dir, data, IndexOptions{Has: has, Read: forged})
		if want := "SHA1 COLLISION FOUND WITH " + victim.String() + " !"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if n := files(t, dir); len(n) != 0 {
			t.Errorf("files left: %v", n)
		}
	}
}

func TestIndexPackRefuses(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(20, 0)
	good := readFile(t, s.pack()+".pack")
	sealed := func(b []byte) []byte {
		b = bytes.Clone(b)
		h := oid.SHA1.NewChecksum()
		h.Write(b[:len(b)-20])
		return h.Sum(b[:len(b)-20])
	}
	edit := func(f func(b []byte)) []byte { b := bytes.Clone(good); f(b); return b }
	for _, test := range []struct {
		data []byte
		o    IndexOptions
		want string
	}{
		{nil, IndexOptions{}, "early EOF"},
		{good[:11], IndexOptions{}, "early EOF"},
		{good[:len(good)/2], IndexOptions{}, "early EOF"},
		{good[:len(good)-1], IndexOptions{}, "early EOF"},
		{edit(func(b []byte) { b[0] = 'Q' }), IndexOptions{}, "pack signature mismatch"},
		{edit(func(b []byte) { b[7] = 9 }), IndexOptions{}, "pack version 9 unsupported"},
		{edit(func(b []byte) { b[len(b)-1] ^= 1 }), IndexOptions{}, "pack is corrupted (SHA1 mismatch)"},
		{edit(func(b []byte) { b[9] = 1 }), IndexOptions{}, ""},
		{sealed(edit(func(b []byte) { b[12] = b[12]&0x8f | 0x50 })), IndexOptions{}, "pack has bad object at offset 12: unknown object type 5"},
		{sealed(edit(func(b []byte) { b[12] ^= 1 })), IndexOptions{}, ""},
		{sealed(edit(func(b []byte) { b[14] ^= 0xff })), IndexOptions{}, "pack has bad object at offset 12: inflate returned -3"},
		{good, IndexOptions{MaxSize: 100}, "pack exceeds maximum allowed size (100 bytes)"},
		{good, IndexOptions{MaxSize: 1100}, "pack exceeds maximum allowed size (1.07 KiB)"},
		{make([]byte, 1000), IndexOptions{}, "pack signature mismatch"},
	} {
		dir := t.TempDir()
		_, err := indexInto(t, dir, test.data, test.o)
		if err == nil || test.want != "" && err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
		if n := files(t, dir); len(n) != 0 {
			t.Errorf("%v: files left: %v", err, n)
		}
	}
}

// A header may claim any number of objects and any size of them.
func TestHugeClaims(t *testing.T) {
	t.Parallel()
	data := []byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff")
	if _, err := indexInto(t, t.TempDir(), data, IndexOptions{}); err != ErrEarlyEOF {
		t.Error(err)
	}
	binary.BigEndian.PutUint32(data[8:], 1)
	data = appendEntryHeader(data, kindBlob, 1<<60)
	data = append(data, 0x78, 0x9c, 3, 0, 0, 0, 0, 1)
	if _, err := indexInto(t, t.TempDir(), data, IndexOptions{}); err == nil {
		t.Error("a blob of 2^60 bytes in eight")
	}
	data[12] = data[12]&0x8f | kindTree<<4
	if _, err := indexInto(t, t.TempDir(), data, IndexOptions{}); err == nil {
		t.Error("a tree of 2^60 bytes in eight")
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(5, 0)
	data := readFile(t, s.pack()+".pack")
	dir := t.TempDir()
	for _, want := range []bool{true, false} {
		b := newBarrier(t, dir)
		msg := "because"
		res, err := IndexPack(bytes.NewReader(append(bytes.Clone(data), "rest"...)), Output{Barrier: b, Dir: filepath.Join(dir, "pack"), Keep: &msg}, IndexOptions{})
		if err == nil {
			err = b.Commit()
		}
		if err != nil || res.Kept != want || string(res.Rest) != "rest" {
			t.Fatal(res, err)
		}
		path := filepath.Join(dir, "pack", "pack-"+res.Checksum.String())
		if got := readFile(t, path+".keep"); string(got) != "because\n" {
			t.Errorf("keep file: %q", got)
		}
		if st, _ := os.Stat(path + ".pack"); st.Mode().Perm() != 0o444 {
			t.Error("mode of the pack:", st.Mode())
		}
	}
}
