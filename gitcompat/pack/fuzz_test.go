package pack

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

func FuzzApplyDelta(f *testing.F) {
	base := bytes.Repeat([]byte("0123456789"), 20)
	f.Add(base, []byte{200, 1, 5, 5, 'a', 'b', 'c', 'd', 'e'})
	f.Add(base, []byte{200, 1, 10, 0x90, 10})
	f.Add(base, []byte{200, 1, 200, 1, 0x91, 190, 10, 0xb0, 190, 0})
	f.Add(base, []byte{200, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0xff, 1, 1, 1, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		out, err := applyDelta(nil, base, delta)
		if err != nil {
			return
		}
		if _, size, _, ok := deltaSizes(delta); !ok || size != uint64(len(out)) {
			t.Errorf("made %d bytes, delta says %d", len(out), size)
		}
	})
}

func FuzzIndex(f *testing.F) {
	v1 := make([]byte, fanoutSize+40+24)
	for i := range 256 {
		v1[4*i+3] = 1
	}
	f.Add(v1)
	v2 := append([]byte("\377tOc\x00\x00\x00\x02"), v1[:fanoutSize]...)
	v2 = append(v2, make([]byte, 28+40)...)
	f.Add(v2)
	v2 = bytes.Clone(v2)
	v2[8+fanoutSize+24] = 0x80
	f.Add(append(v2, make([]byte, 8)...))
	f.Add(v2)
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := NewIndex("x.idx", oid.SHA1, data)
		if err != nil {
			return
		}
		for n := range x.Len() {
			x.Find(x.ID(n))
			x.CRC(n)
		}
		x.idAt(12)
		x.Prefix([]byte{0x12, 0x34}, 3)
		x.CheckTrailer()
	})
}

func FuzzEntryHeader(f *testing.F) {
	f.Add([]byte{0x95, 0x0a})
	f.Add(bytes.Repeat([]byte{0xff}, 12))
	f.Add(append([]byte{0x65}, bytes.Repeat([]byte{0xff}, 12)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		kind, size, n, err := readEntryHeader(r)
		if err != nil {
			return
		}
		if back, m, err := readOfsBase(r); err == nil {
			again, k, err := readOfsBase(bytes.NewReader(appendOfsBase(nil, back)))
			if err != nil || again != back || k > m {
				t.Errorf("distance %d came back as %d, %v", back, again, err)
			}
		}
		k2, s2, m, err := readEntryHeader(bytes.NewReader(appendEntryHeader(nil, kind, size)))
		if err != nil || k2 != kind || s2 != size || m > n {
			t.Errorf("kind %d size %d came back as %d, %d, %v", kind, size, k2, s2, err)
		}
	})
}

// seal makes a pack of count entries, whatever they are.
func seal(count uint8, entries []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count))
	b = append(b, entries...)
	h := oid.SHA1.NewChecksum()
	h.Write(b)
	return h.Sum(b)
}

func deflated(b []byte) []byte {
	var buf bytes.Buffer
	z := zlib.NewWriter(&buf)
	z.Write(b)
	z.Close()
	return buf.Bytes()
}

// FuzzPack gives the same entries to both ways of taking a pack: they agree on
// what is a pack, and on the objects in it.
func FuzzPack(f *testing.F) {
	blob := append(appendEntryHeader(nil, kindBlob, 5), deflated([]byte("hello"))...)
	delta := deflated([]byte{5, 6, 0x90, 5, 1, '!'})
	ofs := append(appendOfsBase(appendEntryHeader(nil, kindOfsDelta, 6), uint64(len(blob))), delta...)
	ref := append(oid.SHA1.Sum("blob", []byte("hello")).Append(appendEntryHeader(nil, kindRefDelta, 6)), delta...)
	f.Add(uint8(1), blob)
	f.Add(uint8(2), append(bytes.Clone(blob), ofs...))
	f.Add(uint8(2), append(bytes.Clone(ref), blob...))
	f.Add(uint8(3), append(append(bytes.Clone(blob), ofs...), ref...))
	f.Add(uint8(1), ref)
	f.Add(uint8(200), []byte{})
	f.Fuzz(func(t *testing.T, count uint8, entries []byte) {
		data := seal(count, entries)
		o := IndexOptions{Threads: 2, BigFile: 1 << 16}
		x := newIndexer(&o, bytes.NewReader(data), bytes.NewReader(data))
		ierr := x.run()
		if ierr == nil && x.unsolved() > 0 {
			ierr = unresolved(x.unsolved())
		}
		var h heap
		_, uerr := h.unpack(data, UnpackOptions{BigFile: 1 << 16})
		if (ierr == nil) != (uerr == nil) {
			t.Fatalf("index-pack: %v, unpack-objects: %v", ierr, uerr)
		}
		if ierr != nil {
			return
		}
		for n := range x.t.rows {
			if o, ok := h.objects[x.t.id(n)]; !ok || o.typ != object.Type(x.t.rows[n].typ) {
				t.Errorf("%s was not unpacked", x.t.id(n))
			}
		}
	})
}
