package pack

import (
	"errors"
	"math"
)

var (
	errDelta    = errors.New("failed to apply delta")
	errTooLarge = errors.New("object size too large for this platform")
)

// maxObjectSize bounds what is ever asked of the allocator for one object; what
// is larger must be streamed.
const maxObjectSize = min(math.MaxInt/2, 1<<42)

// deltaSize reads one size from the head of a delta.
func deltaSize(b []byte) (size uint64, rest []byte, ok bool) {
	for shift := uint(0); ; shift += 7 {
		if len(b) == 0 || shift > 63 {
			return 0, nil, false
		}
		c := b[0]
		b = b[1:]
		if shift == 63 && c&0x7f > 1 {
			return 0, nil, false
		}
		size |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			return size, b, true
		}
	}
}

// deltaSizes reads the two sizes a delta begins with.
func deltaSizes(delta []byte) (baseSize, size uint64, ops []byte, ok bool) {
	if baseSize, ops, ok = deltaSize(delta); ok {
		size, ops, ok = deltaSize(ops)
	}
	return baseSize, size, ops, ok
}

// copyOp reads the operands of a copy instruction whose first byte is c.
func copyOp(c byte, b []byte) (off, n uint64, rest []byte, ok bool) {
	for i := range uint(4) {
		if c&(1<<i) != 0 {
			if len(b) == 0 {
				return 0, 0, nil, false
			}
			off |= uint64(b[0]) << (8 * i)
			b = b[1:]
		}
	}
	for i := range uint(3) {
		if c&(0x10<<i) != 0 {
			if len(b) == 0 {
				return 0, 0, nil, false
			}
			n |= uint64(b[0]) << (8 * i)
			b = b[1:]
		}
	}
	if n == 0 {
		n = 0x10000
	}
	return off, n, b, true
}

// applyDelta returns the object that delta makes of base, in dst's array if
// that is big enough. The instructions are checked before anything is
// allocated (K2), and an instruction that reaches outside of its input or its
// output makes the whole delta bad.
func applyDelta(dst, base, delta []byte) ([]byte, error) {
	baseSize, size, ops, ok := deltaSizes(delta)
	if !ok || baseSize != uint64(len(base)) || !deltaYields(ops, baseSize, size) {
		return nil, errDelta
	}
	if size > maxObjectSize {
		return nil, errTooLarge
	}
	out := dst[:0]
	if uint64(cap(out)) < size {
		out = make([]byte, 0, size)
	}
	for len(ops) > 0 {
		c := ops[0]
		ops = ops[1:]
		if c&0x80 != 0 {
			var off, n uint64
			off, n, ops, _ = copyOp(c, ops)
			out = append(out, base[off:off+n]...)
			continue
		}
		out = append(out, ops[:c]...)
		ops = ops[c:]
	}
	return out, nil
}

// deltaYields reports whether ops are well formed and write exactly size bytes.
func deltaYields(ops []byte, baseSize, size uint64) bool {
	left := size
	for len(ops) > 0 {
		c := ops[0]
		ops = ops[1:]
		n := uint64(c)
		switch {
		case c&0x80 != 0:
			var off uint64
			var ok bool
			if off, n, ops, ok = copyOp(c, ops); !ok || off+n > baseSize {
				return false
			}
		case c == 0 || int(c) > len(ops):
			return false
		default:
			ops = ops[c:]
		}
		if n > left {
			return false
		}
		left -= n
	}
	return left == 0
}
