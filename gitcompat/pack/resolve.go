package pack

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sluicegit/sluice/gitcompat/object"
)

// deltas returns the number of deltas in the pack.
func (x *indexer) deltas() int { return len(x.ofs) + len(x.refs) }

// unsolved returns the number of deltas without an object.
func (x *indexer) unsolved() int { return x.deltas() - int(x.solved.Load()) }

// resolveAll is the second pass. Each whole object with the deltas above it is
// one piece of work.
func (x *indexer) resolveAll() error {
	if x.deltas() == 0 {
		return nil
	}
	slices.SortFunc(x.ofs, func(a, b ofsDelta) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.n, b.n))
	})
	slices.SortFunc(x.refs, func(a, b refDelta) int {
		return cmp.Or(a.base.Compare(b.base), cmp.Compare(a.n, b.n))
	})
	x.taken = make([]atomic.Bool, len(x.refs))
	if x.chains != nil {
		x.chains = make([]link32, len(x.t.rows))
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range x.o.Threads {
		wg.Go(func() {
			r := newResolver(x)
			for x.failed() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(x.t.rows) {
					return
				}
				if isDelta(x.t.rows[n].kind) {
					continue
				}
				if err := r.resolve(n, nil); err != nil {
					x.fail(err)
				}
			}
		})
	}
	wg.Wait()
	return x.failed()
}

// A frame is an object whose deltas are being resolved. Its data may be dropped
// to save memory, and is then made again from the frames below it.
type frame struct {
	n             int
	data          []byte
	ofs, ofsEnd   int // children left
	refs, refsEnd int
}

func (f *frame) done() bool { return f.ofs >= f.ofsEnd && f.refs >= f.refsEnd }

// A resolver resolves all deltas that come of one base, depth first.
type resolver struct {
	x     *indexer
	namer *namer
	c     cursor
	delta []byte // for a delta that was not kept
	stack []frame
	used  int64 // bytes in the frames
	free  [][]byte
}

func newResolver(x *indexer) *resolver { return &resolver{x: x, namer: newNamer(x.o.Algo)} }

// frame returns the frame of row n with its children.
func (r *resolver) frame(n int) frame {
	x := r.x
	f := frame{n: n}
	off := x.t.rows[n].off
	f.ofs = sort.Search(len(x.ofs), func(i int) bool { return x.ofs[i].base >= off })
	for f.ofsEnd = f.ofs; f.ofsEnd < len(x.ofs) && x.ofs[f.ofsEnd].base == off; f.ofsEnd++ {
	}
	if len(x.refs) > 0 {
		id := x.t.id(n)
		f.refs = sort.Search(len(x.refs), func(i int) bool { return x.refs[i].base.Compare(id) >= 0 })
		for f.refsEnd = f.refs; f.refsEnd < len(x.refs) && x.refs[f.refsEnd].base == id; f.refsEnd++ {
		}
	}
	return f
}

// child takes the next child of f that nobody else has taken.
func (r *resolver) child(f *frame) (n int, ok bool) {
	for f.refs < f.refsEnd {
		i := f.refs
		f.refs++
		if !r.x.taken[i].Swap(true) {
			return int(r.x.refs[i].n), true
		}
	}
	if f.ofs < f.ofsEnd {
		f.ofs++
		return int(r.x.ofs[f.ofs-1].n), true
	}
	return 0, false
}

// resolve resolves what comes of the whole object of row root, whose content is
// data, or is read from the pack where data is nil.
func (r *resolver) resolve(root int, data []byte) error {
	f := r.frame(root)
	if f.done() {
		return nil
	}
	r.push(f, data)
	for len(r.stack) > 0 {
		if r.x.failed() != nil {
			r.stack, r.used = r.stack[:0], 0
			return nil
		}
		top := len(r.stack) - 1
		n, ok := r.child(&r.stack[top])
		if !ok {
			r.drop(top)
			r.stack = r.stack[:top]
			continue
		}
		if err := r.grow(top, n); err != nil {
			return err
		}
	}
	return nil
}

// grow makes the object of row n, a delta of the frame top.
func (r *resolver) grow(top, n int) error {
	x := r.x
	if err := r.load(top); err != nil {
		return err
	}
	data, err := r.apply(n, r.stack[top].data)
	if err != nil {
		return err
	}
	row := &x.t.rows[n]
	row.typ = x.t.rows[r.stack[0].n].typ
	typ := object.Type(row.typ)
	copy(x.t.raw(n), r.namer.of(typ, data))
	if err := x.accept(x.t.id(n), typ, data); err != nil {
		return err
	}
	if x.chains != nil {
		x.chains[n] = link32{x.chains[r.stack[top].n].depth + 1, uint32(r.stack[top].n)}
	}
	x.progress(Resolving, int(x.solved.Add(1)), x.deltas())
	if r.stack[top].done() { // nobody needs it any more
		r.drop(top)
	}
	if f := r.frame(n); !f.done() {
		r.push(f, data)
	} else {
		r.release(data)
	}
	return nil
}

// apply returns what the delta of row n makes of base.
func (r *resolver) apply(n int, base []byte) ([]byte, error) {
	row := &r.x.t.rows[n]
	delta := []byte(nil)
	if row.kept != 0 {
		delta = r.x.slabs.get(row.kept, int(row.size))
	} else {
		var err error
		if delta, err = r.read(n, r.delta); err != nil {
			return nil, err
		}
		if cap(delta) <= inlineSize {
			r.delta = delta
		}
	}
	_, size, _, _ := deltaSizes(delta)
	data, err := applyDelta(r.buffer(size), base, delta)
	if err != nil {
		return nil, &BadObjectError{row.off, badDelta, errDelta.Error()}
	}
	return data, nil
}

// read inflates the entry of row n into dst's array if that is big enough.
func (r *resolver) read(n int, dst []byte) ([]byte, error) {
	row := &r.x.t.rows[n]
	r.c.seek(r.x.pack, row.off+int64(row.hdr))
	data, err := r.c.inflate(dst, row.size)
	if err != nil { // it was inflated without error before
		return nil, errInconsistent
	}
	return data, nil
}

func (r *resolver) push(f frame, data []byte) {
	f.data = data
	r.stack = append(r.stack, f)
	r.used += int64(len(data))
	for i := 0; r.used > r.x.o.CacheLimit && i < len(r.stack)-1; i++ {
		r.drop(i)
	}
}

// drop gives up the data of frame i.
func (r *resolver) drop(i int) {
	f := &r.stack[i]
	if f.data != nil {
		r.used -= int64(len(f.data))
		r.release(f.data)
		f.data = nil
	}
}

// load makes sure that frame i has its data.
func (r *resolver) load(i int) error {
	from := i
	for from > 0 && r.stack[from].data == nil {
		from--
	}
	data := r.stack[from].data
	if data == nil {
		var err error
		n := r.stack[0].n
		if data, err = r.read(n, r.buffer(r.x.t.rows[n].size)); err != nil {
			return err
		}
	} else if from == i {
		return nil
	}
	for k := from + 1; k <= i; k++ {
		next, err := r.apply(r.stack[k].n, data)
		if err != nil {
			return err
		}
		if r.stack[k-1].data == nil {
			r.release(data)
		}
		data = next
	}
	if data == nil {
		data = []byte{}
	}
	r.stack[i].data = data
	r.used += int64(len(data))
	return nil
}

const freeBuffers = 8

// buffer returns room for size bytes if there is some to be used again.
func (r *resolver) buffer(size uint64) []byte {
	for i := len(r.free) - 1; i >= 0; i-- {
		if b := r.free[i]; uint64(cap(b)) >= size {
			r.free = slices.Delete(r.free, i, i+1)
			return b[:0]
		}
	}
	return nil
}

func (r *resolver) release(b []byte) {
	if cap(b) == 0 || cap(b) > inlineSize {
		return
	}
	if len(r.free) < freeBuffers {
		r.free = append(r.free, b)
		return
	}
	if cap(r.free[0]) < cap(b) {
		r.free[0] = b
	}
}
