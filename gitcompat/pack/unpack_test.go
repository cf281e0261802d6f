package pack

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A heap is an object database in memory.
type heap struct {
	mu      sync.Mutex
	objects map[oid.ID]heapObject
	base    *Pack // may be nil
}

type heapObject struct {
	typ  object.Type
	data []byte
}

func (h *heap) read(id oid.ID) (object.Type, []byte, error) {
	h.mu.Lock()
	o, ok := h.objects[id]
	h.mu.Unlock()
	if ok {
		return o.typ, o.data, nil
	}
	if h.base == nil {
		return 0, nil, errors.New("missing")
	}
	return lookup(h.base)(id)
}

func (h *heap) write(typ object.Type, data []byte) (oid.ID, error) {
	id := oid.SHA1.Sum(typ.String(), data)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.objects == nil {
		h.objects = map[oid.ID]heapObject{}
	}
	h.objects[id] = heapObject{typ, data}
	return id, nil
}

func (h *heap) stream(typ object.Type, size int64, r io.Reader) (oid.ID, error) {
	data, err := io.ReadAll(io.LimitReader(r, size))
	if err == nil && int64(len(data)) < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return oid.ID{}, err
	}
	return h.write(typ, data)
}

func (h *heap) unpack(data []byte, o UnpackOptions) (*Unpacked, error) {
	o.Read, o.Write, o.WriteStream = h.read, h.write, h.stream
	return Unpack(bytes.NewReader(data), o)
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(120, 300<<10)
	want := s.objects()
	for _, args := range [][]string{nil, {"--no-delta-base-offset"}} {
		for _, o := range []UnpackOptions{{}, {BigFile: 100 << 10}, {DryRun: true}} {
			var h heap
			res, err := h.unpack(append(readFile(t, s.pack(args...)+".pack"), "rest"...), o)
			if err != nil {
				t.Fatal(err)
			}
			if string(res.Rest) != "rest" || res.Bad || res.Objects != len(want) {
				t.Errorf("%+v", res)
			}
			if o.DryRun {
				if len(h.objects) > 0 {
					t.Error("a dry run wrote")
				}
				continue
			}
			for hex := range want {
				id, _ := oid.SHA1.FromHex(hex)
				if _, ok := h.objects[id]; !ok {
					t.Errorf("%s is missing", hex)
				}
			}
		}
	}
}

// Deltas may come before their bases.
func TestUnpackBackwards(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(60, 0)
	base := s.pack()
	p := openPack(t, base)
	var raw []byte
	order := make([]int, 0, p.idx.Len())
	offs := map[int64]bool{}
	for n := range p.idx.Len() {
		off, _ := p.idx.Offset(n)
		offs[off] = true
		order = append(order, n)
	}
	raw = append(raw, "PACK\x00\x00\x00\x02\x00\x00"...)
	raw = append(raw, byte(len(order)>>8), byte(len(order)))
	for i := len(order) - 1; i >= 0; i-- {
		off, _ := p.idx.Offset(order[i])
		c := new(cursor)
		e, err := p.entry(c, off)
		if err != nil {
			t.Fatal(err)
		}
		kind := e.kind
		if isDelta(kind) {
			kind = kindRefDelta
		}
		raw = appendEntryHeader(raw, kind, e.size)
		if isDelta(e.kind) {
			at, _ := p.baseOffset(e)
			id, _ := p.idx.idAt(at)
			raw = id.Append(raw)
		}
		end := p.size
		for o := range offs {
			if o > off && o < end {
				end = o
			}
		}
		stored := make([]byte, end-e.data)
		p.f.ReadAt(stored, e.data)
		raw = append(raw, stored...)
	}
	h := oid.SHA1.NewChecksum()
	h.Write(raw)
	raw = h.Sum(raw)
	var got heap
	if _, err := got.unpack(raw, UnpackOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(got.objects) != len(order) {
		t.Errorf("%d objects of %d", len(got.objects), len(order))
	}
	if _, err := indexInto(t, t.TempDir(), raw, IndexOptions{}); err != nil {
		t.Error(err)
	}
}

func TestUnpackThin(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(100, 0)
	data, all := thin(t, s, "20")
	var h heap
	if _, err := h.unpack(data, UnpackOptions{}); err == nil || err.Error() != "unresolved deltas left after unpacking" {
		t.Error(err)
	}
	h = heap{base: all}
	if _, err := h.unpack(data, UnpackOptions{}); err != nil {
		t.Error(err)
	}
}

// What is bad gets the words of the installed git, and its status.
func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(20, 0)
	good := readFile(t, s.pack()+".pack")
	sink := newStock(t)
	edit := func(f func(b []byte)) []byte { b := bytes.Clone(good); f(b); return b }
	for i, data := range [][]byte{
		nil,
		good[:5],
		good[:len(good)/2],
		edit(func(b []byte) { b[0] = 'Q' }),
		edit(func(b []byte) { b[7] = 9 }),
		edit(func(b []byte) { b[len(b)-1] ^= 1 }),
		edit(func(b []byte) { b[12] = b[12]&0x8f | 0x50 }),
		edit(func(b []byte) { b[14] ^= 0xff }),
	} {
		var h heap
		_, err := h.unpack(data, UnpackOptions{})
		if err == nil {
			t.Errorf("%d: taken", i)
			continue
		}
		want := "fatal: " + err.Error()
		var entry *EntryError
		if errors.As(err, &entry) {
			want = "error: " + err.Error()
		}
		out, _ := sink.cmd(data, "unpack-objects", "-q").CombinedOutput()
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%d: %q, git says %q", i, want, out)
		}
	}
	var h heap
	var said []string
	o := UnpackOptions{Recover: true, Report: func(err error) { said = append(said, err.Error()) }}
	h.unpack(edit(func(b []byte) { b[14] ^= 0xff }), o)
	if len(said) == 0 || said[0] != "inflate returned -3" {
		t.Errorf("reported: %q", said)
	}
}

func TestChecker(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	s.fill(30, 0)
	data := readFile(t, s.pack()+".pack")
	missing := func(oid.ID) (object.Type, error) { return 0, errors.New("missing") }
	c := &Checker{Links: true, Fsck: &object.Fsck{}}
	var h heap
	if _, err := h.unpack(data, UnpackOptions{Check: c.Object}); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Finish(missing, h.read); n != 0 || err != nil {
		t.Error(n, err)
	}
	part, all := thin(t, s, "5")
	c = &Checker{Links: true}
	h = heap{base: all}
	if _, err := h.unpack(part, UnpackOptions{Check: c.Object}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Finish(missing, h.read); err == nil {
		t.Error("objects outside of the pack were not missed")
	}
	n, err := c.Finish(func(id oid.ID) (object.Type, error) { typ, _, err := h.read(id); return typ, err }, h.read)
	if n == 0 || err != nil {
		t.Error(n, err)
	}
}
