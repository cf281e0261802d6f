package pack

import (
	"bufio"
	"encoding/binary"
	"hash"
	"io"
	"math"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// IndexFormat says how an .idx is to be written. The zero value stands for
// version 2.
type IndexFormat struct {
	Version    int    // 1 or 2; 0 stands for 2
	Off32Limit uint32 // bigger offsets go to the table of 64 bits; 0 stands for 2^31-1
	Strict     bool   // an object that is there twice is an error

	wide map[int64]bool // offsets that are in the table of 64 bits without need
}

// A sumWriter writes through a checksum and ends in it.
type sumWriter struct {
	w   *bufio.Writer
	sum hash.Hash
	err error
	b   [8]byte
}

func newSumWriter(w io.Writer, algo oid.Algo) *sumWriter {
	s := &sumWriter{sum: algo.NewChecksum()}
	s.w = bufio.NewWriterSize(io.MultiWriter(w, s.sum), 64<<10)
	return s
}

func (s *sumWriter) write(b []byte) { s.w.Write(b) } // bufio keeps the error
func (s *sumWriter) uint32(v uint32) {
	binary.BigEndian.PutUint32(s.b[:4], v)
	s.w.Write(s.b[:4])
}
func (s *sumWriter) uint64(v uint64) {
	binary.BigEndian.PutUint64(s.b[:8], v)
	s.w.Write(s.b[:8])
}

// finish writes the checksum and returns it.
func (s *sumWriter) finish(w io.Writer) ([]byte, error) {
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	sum := s.sum.Sum(nil)
	_, err := w.Write(sum)
	return sum, err
}

// writeIndex writes the .idx of the pack that t describes; order is that of the
// names, packSum the trailer of the pack.
func (t *table) writeIndex(w io.Writer, order []uint32, packSum []byte, f IndexFormat) error {
	if f.Strict {
		if err := t.checkTwice(order); err != nil {
			return err
		}
	}
	limit := int64(math.MaxInt32)
	if f.Off32Limit != 0 {
		limit = min(limit, int64(f.Off32Limit))
	}
	wide := len(t.rows) > 0 && t.rows[len(t.rows)-1].off > limit
	s := newSumWriter(w, t.algo)
	if f.Version == 1 && !wide {
		t.writeV1(s, order)
	} else {
		t.writeV2(s, order, func(off int64) bool { return off > limit || f.wide[off] })
	}
	s.write(packSum)
	_, err := s.finish(w)
	return err
}

func (t *table) writeFanout(s *sumWriter, order []uint32) {
	n := 0
	for b := range 256 {
		for n < len(order) && t.raw(int(order[n]))[0] <= byte(b) {
			n++
		}
		s.uint32(uint32(n))
	}
}

func (t *table) writeV1(s *sumWriter, order []uint32) {
	t.writeFanout(s, order)
	for _, n := range order {
		s.uint32(uint32(t.rows[n].off))
		s.write(t.raw(int(n)))
	}
}

func (t *table) writeV2(s *sumWriter, order []uint32, wide func(int64) bool) {
	s.uint32(idxSignature)
	s.uint32(2)
	t.writeFanout(s, order)
	for _, n := range order {
		s.write(t.raw(int(n)))
	}
	for _, n := range order {
		s.uint32(t.rows[n].crc)
	}
	var big []uint32
	for _, n := range order {
		off := t.rows[n].off
		if wide(off) {
			s.uint32(0x80000000 | uint32(len(big)))
			big = append(big, n)
			continue
		}
		s.uint32(uint32(off))
	}
	for _, n := range big {
		s.uint64(uint64(t.rows[n].off))
	}
}

const revSignature = 0x52494458 // "RIDX"

// writeRev writes the .rev: for the entries in the order of the pack, their
// places in the order of the names.
func (t *table) writeRev(w io.Writer, order []uint32, packSum []byte) error {
	places := make([]uint32, len(order))
	for place, n := range order {
		places[n] = uint32(place)
	}
	s := newSumWriter(w, t.algo)
	s.uint32(revSignature)
	s.uint32(1)
	s.uint32(uint32(t.algo) + 1)
	for _, place := range places { // rows are in the order of the pack
		s.uint32(place)
	}
	s.write(packSum)
	_, err := s.finish(w)
	return err
}
