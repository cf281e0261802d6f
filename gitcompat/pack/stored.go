package pack

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"
)

// scansBeforeOrder is how many entries are looked up by looking at all of the
// index before it is worth to sort it.
const scansBeforeOrder = 48

// extent returns the place in the index of the entry at off, and where the entry
// ends.
func (p *Pack) extent(off int64) (n int, end int64, err error) {
	if p.scans.Add(1) <= scansBeforeOrder {
		return p.scanExtent(off)
	}
	p.orderOnce.Do(p.loadOrder)
	if p.orderErr != nil {
		return 0, 0, p.orderErr
	}
	i, ok := slices.BinarySearchFunc(p.order, off, func(n uint32, off int64) int {
		at, err := p.idx.Offset(int(n))
		if err != nil {
			return -1
		}
		return cmp.Compare(at, off)
	})
	if !ok {
		return 0, 0, p.noEntry(off)
	}
	end = p.size
	if i+1 < len(p.order) {
		end, err = p.idx.Offset(int(p.order[i+1]))
	}
	return int(p.order[i]), end, err
}

func (p *Pack) noEntry(off int64) error {
	return fmt.Errorf("could not find object at offset %d in pack %s", off, p.path)
}

func (p *Pack) scanExtent(off int64) (n int, end int64, err error) {
	n, end = -1, p.size
	for i := range p.idx.count {
		at, err := p.idx.Offset(i)
		switch {
		case err != nil:
			return 0, 0, err
		case at == off:
			n = i
		case at > off && at < end:
			end = at
		}
	}
	if n < 0 {
		return 0, 0, p.noEntry(off)
	}
	return n, end, nil
}

// loadOrder learns the order of the entries: from the .rev, or by sorting.
func (p *Pack) loadOrder() {
	if p.order = p.readRev(); p.order != nil {
		return
	}
	offs := make([]int64, p.idx.count)
	p.order = make([]uint32, p.idx.count)
	for n := range offs {
		p.order[n] = uint32(n)
		if offs[n], p.orderErr = p.idx.Offset(n); p.orderErr != nil {
			return
		}
	}
	slices.SortFunc(p.order, func(a, b uint32) int { return cmp.Compare(offs[a], offs[b]) })
}

// readRev reads the .rev; nil where there is none that is right.
func (p *Pack) readRev() []uint32 {
	base, _ := strings.CutSuffix(p.path, ".pack")
	data, err := os.ReadFile(base + ".rev")
	size, hashSz := p.idx.count, p.idx.hashSz
	if err != nil || len(data) != 12+4*size+2*hashSz || binary.BigEndian.Uint32(data) != revSignature ||
		binary.BigEndian.Uint32(data[4:]) != 1 || string(data[12+4*size:12+4*size+hashSz]) != string(p.idx.PackChecksum()) {
		return nil
	}
	order := make([]uint32, size)
	for i := range order {
		order[i] = binary.BigEndian.Uint32(data[12+4*i:])
		if order[i] >= uint32(size) {
			return nil
		}
	}
	return order
}

// A storedEntry is an entry that may be copied as it is.
type storedEntry struct {
	pack *Pack
	off  int64
	end  int64 // where the next entry begins
	n    int   // place in the index
	e    entry
}

// stored looks at the entry at off.
func (p *Pack) stored(off int64) (s storedEntry, err error) {
	c := p.cursor()
	defer p.cursors.Put(c)
	s = storedEntry{pack: p, off: off}
	if s.e, err = p.entry(c, off); err == nil {
		s.n, s.end, err = p.extent(off)
	}
	return s, err
}

// copyTo copies the deflated bytes of s to w, after it made sure, by the CRC-32
// in the index or by inflating them, that they are what they were.
func (s *storedEntry) copyTo(w io.Writer) error {
	if err := s.verify(); err != nil {
		return err
	}
	_, err := io.Copy(w, io.NewSectionReader(s.pack.f, s.e.data, s.end-s.e.data))
	return err
}

func (s *storedEntry) verify() error {
	if want, ok := s.pack.idx.CRC(s.n); ok {
		h := crc32.NewIEEE()
		if _, err := io.Copy(h, io.NewSectionReader(s.pack.f, s.off, s.end-s.off)); err != nil {
			return err
		}
		if h.Sum32() != want {
			return fmt.Errorf("bad packed object CRC for %s", s.pack.idx.ID(s.n))
		}
		return nil
	}
	c := s.pack.cursor()
	defer s.pack.cursors.Put(c)
	c.seek(s.pack.f, s.e.data)
	z, err := c.inflater()
	if err != nil {
		return inflateError(err)
	}
	if k, err := io.Copy(io.Discard, z); err != nil || uint64(k) != s.e.size {
		return fmt.Errorf("corrupt packed object for %s", s.pack.idx.ID(s.n))
	}
	return nil
}
