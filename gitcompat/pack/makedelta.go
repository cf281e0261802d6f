package pack

import (
	"encoding/binary"
	"math/bits"
)

const (
	blockSize  = 16 // matches shorter than this are not looked for
	maxChain   = 32 // places with the same hash that are tried
	maxCopy    = 1<<16 - 1
	maxInsert  = 127
	hashFactor = 0x9e3779b97f4a7c15
)

// A deltaIndex finds in a base what an object has in common with it: each block
// of the base is known by a hash.
type deltaIndex struct {
	base  []byte
	shift uint
	first []uint32 // by hash: 1 + the block that was added last
	next  []uint32 // by block: 1 + the block with the same hash that was added before
}

func blockHash(b []byte, shift uint) uint64 {
	x := binary.LittleEndian.Uint64(b) * hashFactor
	y := binary.LittleEndian.Uint64(b[8:])
	return (bits.RotateLeft64(x, 32) ^ y) * hashFactor >> shift
}

// newDeltaIndex indexes base, reusing the memory of x unless that is nil.
func newDeltaIndex(x *deltaIndex, base []byte) *deltaIndex {
	if x == nil {
		x = &deltaIndex{}
	}
	blocks := len(base) / blockSize
	width := max(4, bits.Len(uint(blocks)))
	x.base, x.shift = base, uint(64-width)
	x.first = zeroed(x.first, 1<<width)
	x.next = zeroed(x.next, blocks)
	// Backwards, so that the first of equal blocks is the first to be tried.
	for i := blocks - 1; i >= 0; i-- {
		b := base[i*blockSize:]
		if i > 0 && string(b[:blockSize]) == string(base[(i-1)*blockSize:i*blockSize]) {
			continue // a run: its beginning stands for all
		}
		h := blockHash(b, x.shift)
		x.next[i] = x.first[h]
		x.first[h] = uint32(i + 1)
	}
	return x
}

func zeroed(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// make appends to dst a delta that makes target of the base; nil if it would be
// longer than limit.
func (x *deltaIndex) make(dst, target []byte, limit int) []byte {
	out := appendDeltaSize(dst[:0], uint64(len(x.base)))
	out = appendDeltaSize(out, uint64(len(target)))
	plain := 0 // where the bytes begin that no copy covers
	for at := 0; at+blockSize <= len(target); {
		off, back, n := x.match(target, at, plain)
		if n < blockSize {
			at++
			if at-plain > limit { // cannot become small enough
				return nil
			}
			continue
		}
		out = appendInserts(out, target[plain:at-back])
		out = appendCopies(out, off-back, n+back)
		at += n
		plain = at
		if len(out) > limit {
			return nil
		}
	}
	if out = appendInserts(out, target[plain:]); len(out) > limit {
		return nil
	}
	return out
}

// match finds the longest part of the base that goes on as target does at at;
// back bytes before both are equal, too, down to plain.
func (x *deltaIndex) match(target []byte, at, plain int) (off, back, n int) {
	tries := maxChain
	for i := x.first[blockHash(target[at:], x.shift)]; i != 0 && tries > 0; i = x.next[i-1] {
		tries--
		o := int(i-1) * blockSize
		if k := common(x.base[o:], target[at:]); k > n {
			off, n = o, k
			if n > 4096 {
				break
			}
		}
	}
	if n >= blockSize {
		for back < off && at-back > plain && x.base[off-back-1] == target[at-back-1] {
			back++
		}
	}
	return off, back, n
}

// common returns how many bytes a and b have in common at their beginning.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if d := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); d != 0 {
			return i + bits.TrailingZeros64(d)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func appendDeltaSize(dst []byte, n uint64) []byte {
	for ; n >= 0x80; n >>= 7 {
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, byte(n))
}

func appendInserts(dst, b []byte) []byte {
	for len(b) > 0 {
		n := min(len(b), maxInsert)
		dst = append(dst, byte(n))
		dst = append(dst, b[:n]...)
		b = b[n:]
	}
	return dst
}

func appendCopies(dst []byte, off, n int) []byte {
	for n > 0 {
		k := min(n, maxCopy)
		at := len(dst)
		dst = append(dst, 0)
		op := byte(0x80)
		for i := range 4 {
			if c := byte(off >> (8 * i)); c != 0 {
				op |= 1 << i
				dst = append(dst, c)
			}
		}
		for i := range 2 {
			if c := byte(k >> (8 * i)); c != 0 {
				op |= 0x10 << i
				dst = append(dst, c)
			}
		}
		dst[at] = op
		off += k
		n -= k
	}
	return dst
}
