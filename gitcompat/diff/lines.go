package diff

import (
	"bytes"
)

// Limits of the line comparison. Where they cut the search short, they decide
// what is counted, so they are git's.
const (
	maxEqual   = 1024 // lines with that many equals may be passed over
	scanWindow = 100
	minMaxCost = 256
	runFactor  = 4
)

// CountLines returns how many lines of b are not in a and how many of a are not
// in b, as git's default algorithm counts them.
func CountLines(a, b []byte) (inserted, deleted int) {
	d := newLineDiff(splitLines(a), splitLines(b))
	d.prune()
	d.compare(0, len(d.a), 0, len(d.b))
	return d.inserted, d.deleted
}

// splitLines cuts content after each LF.
func splitLines(content []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(content, []byte{'\n'})+1)
	for len(content) > 0 {
		n := bytes.IndexByte(content, '\n') + 1
		if n == 0 {
			n = len(content)
		}
		lines = append(lines, content[:n])
		content = content[n:]
	}
	return lines
}

// A lineDiff compares two files whose lines were replaced by numbers.
type lineDiff struct {
	a, b              []int32
	countA, countB    []int32 // by number: how many lines each file has of it
	totalA, totalB    int     // lines of the whole files
	inserted, deleted int
	fwd, back         []int // furthest points of the search, by diagonal
	zero              int   // index of diagonal 0 in them
	maxCost           int
}

func newLineDiff(a, b [][]byte) *lineDiff {
	numbers := make(map[string]int32)
	d := &lineDiff{totalA: len(a), totalB: len(b)}
	number := func(lines [][]byte) []int32 {
		out := make([]int32, len(lines))
		for i, l := range lines {
			n, ok := numbers[string(l)]
			if !ok {
				n = int32(len(numbers))
				numbers[string(l)] = n
			}
			out[i] = n
		}
		return out
	}
	d.a, d.b = number(a), number(b)
	d.countA, d.countB = make([]int32, len(numbers)), make([]int32, len(numbers))
	for _, n := range d.a {
		d.countA[n]++
	}
	for _, n := range d.b {
		d.countB[n]++
	}
	return d
}

// prune drops what both files begin and end with, lines that the other file
// does not have, and lines that are too common to say anything among those.
func (d *lineDiff) prune() {
	a, b := d.a, d.b
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	d.a, d.deleted = keep(a, d.countB, d.totalA)
	d.b, d.inserted = keep(b, d.countA, d.totalB)
	n := len(d.a) + len(d.b) + 3
	d.zero = len(d.b) + 1
	d.fwd, d.back = make([]int, n), make([]int, n)
	d.maxCost = max(bogoSqrt(n), minMaxCost)
}

// bogoSqrt is a power of two near the square root of n.
func bogoSqrt(n int) int {
	i := 1
	for ; n > 0; n >>= 2 {
		i <<= 1
	}
	return i
}

const (
	keepLine byte = iota
	dropLine
	doubtLine
)

// keep returns the lines that are worth comparing, and how many others there are.
func keep(lines, other []int32, total int) (kept []int32, dropped int) {
	limit := int32(min(bogoSqrt(total), maxEqual))
	what := make([]byte, len(lines))
	for i, n := range lines {
		switch {
		case other[n] == 0:
			what[i] = dropLine
		case other[n] >= limit:
			what[i] = doubtLine
		}
	}
	kept = make([]int32, 0, len(lines))
	for i, n := range lines {
		if what[i] == dropLine || what[i] == doubtLine && lost(what, i) {
			dropped++
		} else {
			kept = append(kept, n)
		}
	}
	return kept, dropped
}

// lost reports whether the doubtful line i stands in the middle of lines that
// are dropped for sure.
func lost(what []byte, i int) bool {
	dropped, doubts := 0, 2
	for _, step := range [2]int{-1, 1} {
		here := 0
		for j, n := i+step, 0; j >= 0 && j < len(what) && n < scanWindow && what[j] != keepLine; j, n = j+step, n+1 {
			if what[j] == dropLine {
				here++
			} else {
				doubts++
			}
		}
		if here == 0 {
			return false
		}
		dropped += here
	}
	return doubts*runFactor < doubts+dropped
}

// compare counts the lines of a[a0:a1] and b[b0:b1] that have no partner.
func (d *lineDiff) compare(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 || b0 == b1 {
		d.deleted += a1 - a0
		d.inserted += b1 - b0
		return
	}
	x, y := d.split(a0, a1, b0, b1)
	d.compare(a0, x, b0, y)
	d.compare(x, a1, y, b1)
}

// split returns a point on a shortest path between the two corners of the box,
// by searching from both (Myers 1986); after maxCost steps, the furthest point
// that was reached.
func (d *lineDiff) split(a0, a1, b0, b1 int) (int, int) {
	low, high := a0-b1, a1-b0 // diagonals x-y of the box
	fmid, bmid := a0-b0, a1-b1
	odd := (fmid-bmid)&1 != 0
	f, b := d.fwd, d.back
	z := d.zero
	fmin, fmax, bmin, bmax := fmid, fmid, bmid, bmid
	f[z+fmid], b[z+bmid] = a0, a1
	for cost := 1; ; cost++ {
		fmin, fmax = widen(f, z, fmin, fmax, low, high, -1)
		for k := fmax; k >= fmin; k -= 2 {
			x := max(f[z+k-1]+1, f[z+k+1])
			for y := x - k; x < a1 && y < b1 && d.a[x] == d.b[y]; y++ {
				x++
			}
			f[z+k] = x
			if odd && bmin <= k && k <= bmax && b[z+k] <= x {
				return x, x - k
			}
		}
		bmin, bmax = widen(b, z, bmin, bmax, low, high, int(^uint(0)>>1))
		for k := bmax; k >= bmin; k -= 2 {
			x := min(b[z+k-1], b[z+k+1]-1)
			for y := x - k; x > a0 && y > b0 && d.a[x-1] == d.b[y-1]; y-- {
				x--
			}
			b[z+k] = x
			if !odd && fmin <= k && k <= fmax && x <= f[z+k] {
				return x, x - k
			}
		}
		if cost >= d.maxCost {
			return d.furthest(a0, a1, b0, b1, fmin, fmax, bmin, bmax)
		}
	}
}

// widen extends the range of diagonals by one on each side, within the box.
func widen(v []int, z, lo, hi, low, high, outside int) (int, int) {
	if lo > low {
		lo--
		v[z+lo-1] = outside
	} else {
		lo++
	}
	if hi < high {
		hi++
		v[z+hi+1] = outside
	} else {
		hi--
	}
	return lo, hi
}

// furthest returns the point furthest from its corner in either search.
func (d *lineDiff) furthest(a0, a1, b0, b1, fmin, fmax, bmin, bmax int) (int, int) {
	fbest, fx := -1, -1
	for k := fmax; k >= fmin; k -= 2 {
		x := min(d.fwd[d.zero+k], a1)
		y := x - k
		if y > b1 {
			x, y = b1+k, b1
		}
		if x+y > fbest {
			fbest, fx = x+y, x
		}
	}
	bbest, bx := int(^uint(0)>>1), bmax
	for k := bmax; k >= bmin; k -= 2 {
		x := max(a0, d.back[d.zero+k])
		y := x - k
		if y < b0 {
			x, y = b0+k, b0
		}
		if x+y < bbest {
			bbest, bx = x+y, x
		}
	}
	if (a1+b1)-bbest < fbest-(a0+b0) {
		return fx, fbest - fx
	}
	return bx, bbest - bx
}
