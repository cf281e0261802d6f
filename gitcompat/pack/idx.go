package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"sort"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

const (
	idxSignature = 0xff744f63 // "\377tOc"
	fanoutSize   = 4 * 256
)

// An Index is an open .idx file of version 1 or 2. It is mapped, not read, and
// safe for concurrent use.
type Index struct {
	path    string
	algo    oid.Algo
	data    []byte
	unmap   func()
	version int
	count   int
	hashSz  int

	fanout int // where the tables begin in data
	names  int
	stride int // of names
	crcs   int // 0 in version 1
	offs   int
	offs64 int
	tail   int
}

// OpenIndex opens the .idx file at path and checks its size and its fanout table.
func OpenIndex(path string, algo oid.Algo) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < int64(fanoutSize+2*algo.Size()) {
		return nil, fmt.Errorf("index file %s is too small", path)
	}
	if st.Size() > math.MaxInt {
		return nil, fmt.Errorf("pack too large for current definition of off_t in %s", path)
	}
	data, unmap, err := mapFile(f, st.Size())
	if err != nil {
		return nil, err
	}
	x, err := NewIndex(path, algo, data)
	if err != nil {
		unmap()
		return nil, err
	}
	x.unmap = unmap
	return x, nil
}

// NewIndex returns the index that data, the content of an .idx, is; path is how
// messages call it.
func NewIndex(path string, algo oid.Algo, data []byte) (*Index, error) {
	x := &Index{path: path, algo: algo, data: data, version: 1, hashSz: algo.Size()}
	if len(data) < fanoutSize+2*x.hashSz {
		return nil, fmt.Errorf("index file %s is too small", path)
	}
	if binary.BigEndian.Uint32(data) == idxSignature {
		if v := binary.BigEndian.Uint32(data[4:]); v != 2 {
			return nil, fmt.Errorf("index file %s is version %d and is not supported by this binary"+
				" (try upgrading GIT to a newer version)", path, v)
		}
		x.version, x.fanout = 2, 8
		if len(data) < 8+fanoutSize+2*x.hashSz {
			return nil, fmt.Errorf("wrong index v2 file size in %s", path)
		}
	}
	last := uint32(0)
	for i := range 256 {
		n := x.fan(i)
		if n < last {
			return nil, fmt.Errorf("non-monotonic index %s", path)
		}
		last = n
	}
	return x, x.layout(int64(last))
}

// layout checks the size of the file against the n entries it claims and sets
// where each table begins. All in 64 bits: n is at most 2^32-1.
func (x *Index) layout(n int64) error {
	size, hashSz := int64(len(x.data)), int64(x.hashSz)
	x.names = x.fanout + fanoutSize
	if x.version == 1 {
		if size != fanoutSize+n*(hashSz+4)+2*hashSz {
			return fmt.Errorf("wrong index v1 file size in %s", x.path)
		}
		x.offs, x.names, x.stride = x.names, x.names+4, x.hashSz+4
	} else {
		low := 8 + fanoutSize + n*(hashSz+8) + 2*hashSz
		high := low
		if n > 0 {
			high += (n - 1) * 8
		}
		if size < low || size > high {
			return fmt.Errorf("wrong index v2 file size in %s", x.path)
		}
		x.stride = x.hashSz
		x.crcs = x.names + int(n)*x.hashSz
		x.offs = x.crcs + int(n)*4
		x.offs64 = x.offs + int(n)*4
	}
	x.count = int(n)
	x.tail = len(x.data) - 2*x.hashSz
	return nil
}

// Close unmaps the file; nothing of the Index may be used afterwards.
func (x *Index) Close() {
	if x.unmap != nil {
		x.unmap()
		x.unmap, x.data = nil, nil
	}
}

// Path returns the path that the index was opened with.
func (x *Index) Path() string { return x.path }

// Version is 1 or 2.
func (x *Index) Version() int { return x.version }

// Len returns the number of objects.
func (x *Index) Len() int { return x.count }

// PackChecksum returns the trailer of the pack that the index belongs to.
func (x *Index) PackChecksum() []byte { return bytes.Clone(x.data[x.tail : x.tail+x.hashSz]) }

// CheckTrailer reports whether the index has the checksum that it ends in.
func (x *Index) CheckTrailer() bool {
	h := x.algo.NewChecksum()
	h.Write(x.data[:x.tail+x.hashSz])
	return bytes.Equal(h.Sum(nil), x.data[x.tail+x.hashSz:])
}

func (x *Index) fan(i int) uint32 { return binary.BigEndian.Uint32(x.data[x.fanout+4*i:]) }

// name returns the raw name at position n.
func (x *Index) name(n int) []byte {
	at := x.names + n*x.stride
	return x.data[at : at+x.hashSz]
}

// ID returns the name at position n of the sorted list, 0 <= n < Len.
func (x *Index) ID(n int) oid.ID { return x.algo.FromBytes(x.name(n)) }

// bucket returns the positions of the names that begin with byte b.
func (x *Index) bucket(b byte) (lo, hi int) {
	if b > 0 {
		lo = int(x.fan(int(b) - 1))
	}
	return lo, int(x.fan(int(b)))
}

// Position returns where id is in the sorted list.
func (x *Index) Position(id oid.ID) (n int, ok bool) {
	var raw [oid.MaxSize]byte
	return x.position(id.Append(raw[:0]))
}

func (x *Index) position(raw []byte) (n int, ok bool) {
	lo, hi := x.bucket(raw[0])
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := bytes.Compare(x.name(mid), raw); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// Find returns the offset of id in the pack; ok is false where the pack has no
// such object.
func (x *Index) Find(id oid.ID) (off int64, ok bool, err error) {
	n, ok := x.Position(id)
	if !ok {
		return 0, false, nil
	}
	off, err = x.Offset(n)
	return off, err == nil, err
}

// Offset returns the offset in the pack of the object at position n.
func (x *Index) Offset(n int) (int64, error) {
	if x.version == 1 {
		return int64(binary.BigEndian.Uint32(x.data[x.offs+n*x.stride:])), nil
	}
	off := binary.BigEndian.Uint32(x.data[x.offs+4*n:])
	if off&0x80000000 == 0 {
		return int64(off), nil
	}
	at := x.offs64 + int(off&0x7fffffff)*8
	if at < 0 || at+8 > x.tail {
		return 0, fmt.Errorf("offset beyond end of pack index for %s (truncated index?)", x.path)
	}
	wide := binary.BigEndian.Uint64(x.data[at:])
	if wide > math.MaxInt64 {
		return 0, fmt.Errorf("pack too large for current definition of off_t in %s", x.path)
	}
	return int64(wide), nil
}

// CRC returns the CRC-32 of the stored bytes of the object at position n; ok is
// false in a version 1 index, which has none.
func (x *Index) CRC(n int) (crc uint32, ok bool) {
	if x.version == 1 {
		return 0, false
	}
	return binary.BigEndian.Uint32(x.data[x.crcs+4*n:]), true
}

// Prefix returns the positions lo <= n < hi of the names whose first digits
// hexadecimal digits are those of prefix, which holds at least (digits+1)/2
// bytes; an odd last digit is in the high half of the last byte.
func (x *Index) Prefix(prefix []byte, digits int) (lo, hi int) {
	if digits == 0 {
		return 0, x.count
	}
	if digits == 1 {
		first := prefix[0] & 0xf0
		lo, _ = x.bucket(first)
		_, hi = x.bucket(first | 0x0f)
		return lo, hi
	}
	start, end := x.bucket(prefix[0])
	lo = start + sort.Search(end-start, func(i int) bool { return comparePrefix(x.name(start+i), prefix, digits) >= 0 })
	hi = lo + sort.Search(end-lo, func(i int) bool { return comparePrefix(x.name(lo+i), prefix, digits) > 0 })
	return lo, hi
}

// comparePrefix compares the first digits digits of name with those of prefix.
func comparePrefix(name, prefix []byte, digits int) int {
	whole := digits / 2
	if c := bytes.Compare(name[:whole], prefix[:whole]); c != 0 || digits%2 == 0 {
		return c
	}
	return int(name[whole]>>4) - int(prefix[whole]>>4)
}

// idAt returns the name of the object at an offset, by looking at every entry:
// only for messages about, and recovery from, a corrupt pack.
func (x *Index) idAt(off int64) (oid.ID, bool) {
	for n := range x.count {
		if o, err := x.Offset(n); err == nil && o == off {
			return x.ID(n), true
		}
	}
	return oid.ID{}, false
}
