package pack

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	smallestDelta = 50       // objects below it are not worth a delta
	deltaChunk    = 512      // objects that one goroutine searches at a time
	deltasKept    = 64 << 20 // bytes of deflated deltas; those beyond are made again
)

// search looks for deltas: objects of one type are sorted so that like ones are
// near each other, and each is tried against those in a window before it.
func (p *packer) search() error {
	list, err := p.candidates()
	if err != nil {
		return err
	}
	var chunks [][]int32
	for len(list) > 0 {
		n := min(deltaChunk, len(list))
		for n < len(list) && p.objs[list[n]].hash == p.objs[list[n-1]].hash && p.objs[list[n]].hash != 0 && n < 4*deltaChunk {
			n++ // versions of one file stay together
		}
		chunks = append(chunks, list[:n])
		list = list[n:]
	}
	var next, done, kept atomic.Int64
	total := 0
	for _, c := range chunks {
		total += len(c)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(p.o.Threads, len(chunks)) {
		wg.Go(func() {
			w := &window{p: p, d: p.newDeflater(), kept: &kept}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(chunks) {
					return
				}
				w.search(chunks[i])
				if p.o.Progress != nil {
					mu.Lock()
					p.o.Progress(Compressing, int(done.Add(int64(len(chunks[i])))), total)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// candidates returns the objects that may become deltas, or bases, sorted.
func (p *packer) candidates() ([]int32, error) {
	var list []int32
	for i := range p.objs {
		obj := &p.objs[i]
		if obj.reuse {
			continue
		}
		if obj.kind == 0 || isDelta(obj.kind) {
			_, size, err := p.o.Info(obj.id)
			if err != nil && obj.base {
				continue
			}
			if err != nil {
				return nil, err
			}
			obj.size = uint64(size)
		}
		if obj.size < smallestDelta || obj.size > uint64(p.o.BigFile) {
			continue
		}
		list = append(list, int32(i))
	}
	slices.SortFunc(list, func(a, b int32) int {
		x, y := &p.objs[a], &p.objs[b]
		return cmp.Or(
			-cmp.Compare(x.typ, y.typ),
			-cmp.Compare(x.hash, y.hash),
			boolFirst(x.base, y.base),
			-cmp.Compare(x.size, y.size),
			cmp.Compare(a, b))
	})
	return list, nil
}

func boolFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// A window is the last objects that were looked at, as bases for the next.
// Objects are read when they are first compared.
type window struct {
	p     *packer
	d     *deflater
	kept  *atomic.Int64
	slots []slot
	best  []byte
	trial []byte
}

type slot struct {
	n    int32
	bad  bool // cannot be read, which shows when it is written
	data []byte
	idx  *deltaIndex // made when it is first tried; its base is nil before
}

func (w *window) search(list []int32) {
	w.slots = w.slots[:0]
	for _, n := range list {
		obj := &w.p.objs[n]
		s := slot{n: n}
		if !obj.base && !obj.kids {
			w.try(obj, &s)
		}
		if s.bad || int(obj.depth) >= w.p.o.Depth {
			continue
		}
		if len(w.slots) == w.p.o.Window { // in the place of the oldest, whose memory is used again
			if s.idx = w.slots[0].idx; s.idx != nil {
				s.idx.base = nil
			}
			copy(w.slots, w.slots[1:])
			w.slots = w.slots[:len(w.slots)-1]
		}
		w.slots = append(w.slots, s)
	}
}

// load reads the object of s, once.
func (w *window) load(s *slot) bool {
	if s.data != nil || s.bad {
		return !s.bad
	}
	obj := &w.p.objs[s.n]
	typ, data, err := w.p.o.Read(obj.id)
	if err != nil || typ != obj.typ || uint64(len(data)) != obj.size || !w.d.right(obj, typ, data) {
		s.bad = true
		return false
	}
	s.data = data
	return true
}

// try looks for the smallest delta of obj, which is in t.
func (w *window) try(obj *packObject, t *slot) {
	w.best = w.best[:0]
	from := int32(-1)
	for i := len(w.slots) - 1; i >= 0; i-- {
		s := &w.slots[i]
		src := &w.p.objs[s.n]
		limit := w.limit(obj, src, from)
		if limit <= 0 || s.bad || !w.worth(obj, src, limit) || !w.load(t) || !w.load(s) {
			continue
		}
		if s.idx == nil || s.idx.base == nil {
			s.idx = newDeltaIndex(s.idx, s.data)
		}
		delta := s.idx.make(w.trial, t.data, limit)
		if delta == nil {
			continue
		}
		w.best, w.trial = delta, w.best
		from = s.n
	}
	if from < 0 {
		return
	}
	obj.from, obj.dsize = from+1, uint32(len(w.best))
	obj.depth = w.p.objs[from].depth + 1
	w.keep(obj)
}

// worth reports whether a delta of obj from src, of at most limit bytes, is
// worth an attempt.
func (w *window) worth(obj, src *packObject, limit int) bool {
	if src.typ != obj.typ || obj.size < src.size/32 || int64(obj.size)-int64(src.size) >= int64(limit) {
		return false
	}
	stored := obj.kind != 0 && !isDelta(obj.kind) && src.kind == obj.kind && src.pack == obj.pack
	return w.p.o.NoReuseDelta || src.base || !stored // else whoever made that pack has tried it
}

// limit is how long a delta of obj from src may be: half of the object, or less
// than the best so far, and less the deeper src is.
func (w *window) limit(obj, src *packObject, from int32) int {
	limit, depth := int(obj.size/2)-w.p.o.Algo.Size(), 1
	if from >= 0 {
		limit, depth = len(w.best)-1, int(w.p.objs[from].depth)+1
	}
	return limit * (w.p.o.Depth - int(src.depth)) / (w.p.o.Depth - depth + 1)
}

// keep deflates the delta and keeps it if there is room.
func (w *window) keep(obj *packObject) {
	var buf bytes.Buffer
	if w.kept.Load() > deltasKept || w.d.deflate(&buf, w.best) != nil {
		return
	}
	w.kept.Add(int64(buf.Len()))
	obj.delta = bytes.Clone(buf.Bytes())
}
