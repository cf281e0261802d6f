package pack

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/sluicegit/sluice/gitcompat/object"
)

// A payload is the deflated part of an entry, ready to be written.
type payload struct {
	kind byte
	size uint64 // of what inflates from it
	from int32  // 1 + the base of a delta
	data []byte // nil: it is big, and streamed when its turn comes
	copy *storedEntry
}

// A packBatch is a run of objects that one goroutine prepares.
type packBatch struct {
	list []int32
	out  []payload
	err  error
	done chan struct{}
}

const (
	packBatchObjects = 128
	packBatchBytes   = 256 << 10
	streamCopy       = 1 << 20 // stored entries from here on are copied as a stream
)

// writeAll prepares the entries on all processors and writes them in order.
func (p *packer) writeAll(s *sumWriter, order []int32) error {
	work := make(chan *packBatch, p.o.Threads)
	queue := make(chan *packBatch, 2*p.o.Threads) // bounds what is prepared ahead
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { p.dispatch(order, work, queue, stop) })
	for range p.o.Threads {
		wg.Go(func() {
			d := p.newDeflater()
			for b := range work {
				b.err = d.prepare(b)
				close(b.done)
			}
		})
	}
	err := p.drain(s, queue)
	close(stop)
	for range queue { // until dispatch has ended
	}
	wg.Wait()
	return err
}

// dispatch hands out batches of about the same work.
func (p *packer) dispatch(order []int32, work, queue chan *packBatch, stop chan struct{}) {
	defer close(queue)
	defer close(work)
	for len(order) > 0 {
		n, bytes := 0, uint64(0)
		for n < len(order) && n < packBatchObjects && bytes < packBatchBytes {
			size := p.objs[order[n]].size
			if size == 0 {
				size = 4 << 10 // loose: not known
			}
			bytes += size
			n++
		}
		b := &packBatch{list: order[:n], done: make(chan struct{})}
		order = order[n:]
		select {
		case <-stop:
			return
		case queue <- b:
			work <- b
		}
	}
}

// drain writes the batches as they become ready.
func (p *packer) drain(s *sumWriter, queue chan *packBatch) error {
	done := 0
	for b := range queue {
		<-b.done
		for i := range b.out {
			if err := p.emit(s, b.list[i], &b.out[i]); err != nil {
				return err
			}
			done++
			if p.o.Progress != nil {
				p.o.Progress(Writing, done, p.total)
			}
		}
		if b.err != nil {
			return b.err
		}
	}
	return nil
}

// emit writes one entry.
func (p *packer) emit(s *sumWriter, n int32, pl *payload) error {
	obj := &p.objs[n]
	off := p.t.end
	var buf [48]byte
	hdr := buf[:0]
	if pl.from != 0 {
		base := &p.objs[pl.from-1]
		p.res.Deltas++
		if base.out != 0 && p.o.OfsDelta {
			hdr = appendEntryHeader(hdr, kindOfsDelta, pl.size)
			hdr = appendOfsBase(hdr, uint64(off-base.out))
		} else {
			hdr = appendEntryHeader(hdr, kindRefDelta, pl.size)
			hdr = base.id.Append(hdr)
		}
	} else {
		hdr = appendEntryHeader(hdr, pl.kind, pl.size)
	}
	if pl.copy != nil {
		p.res.Reused++
		if pl.from != 0 {
			p.res.ReusedDeltas++
		}
	}
	c := &counter{w: s.w, crc: crc32.ChecksumIEEE(hdr)}
	s.write(hdr)
	var err error
	switch {
	case pl.data != nil:
		_, err = c.Write(pl.data)
	case pl.copy != nil:
		err = pl.copy.copyTo(c)
	default:
		err = p.streamTo(c, obj, pl)
	}
	if err != nil {
		return err
	}
	obj.out = off
	obj.delta = nil
	row := p.t.add(row{off: off, size: pl.size, crc: c.crc, hdr: uint8(len(hdr)), kind: pl.kind})
	obj.id.Append(p.t.raw(row)[:0])
	p.t.end += int64(len(hdr)) + c.n
	return nil
}

// A counter counts and sums what is written through it.
type counter struct {
	w   io.Writer
	n   int64
	crc uint32
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, b[:n])
	return n, err
}

// streamTo deflates a big object to w.
func (p *packer) streamTo(w io.Writer, obj *packObject, pl *payload) error {
	_, size, r, err := p.o.Open(obj.id)
	if err != nil {
		return err
	}
	defer r.Close()
	if uint64(size) != pl.size {
		return fmt.Errorf("object %s changed while it was read", obj.id)
	}
	z, err := zlib.NewWriterLevel(w, p.o.Level.zlib())
	if err != nil {
		return err
	}
	if n, err := io.Copy(z, r); err != nil || n != size {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("unable to read %s: %w", obj.id, err)
	}
	return z.Close()
}

// A deflater prepares batches.
type deflater struct {
	p   *packer
	z   *zlib.Writer
	raw []byte
	idx *deltaIndex

	namer *namer
}

func (p *packer) newDeflater() *deflater { return &deflater{p: p} }

func (d *deflater) prepare(b *packBatch) error {
	var buf bytes.Buffer
	ends := make([]int, 0, len(b.list))
	b.out = make([]payload, 0, len(b.list))
	var err error
	for _, n := range b.list {
		var pl payload
		if pl, err = d.payload(&buf, &d.p.objs[n]); err != nil {
			break
		}
		b.out = append(b.out, pl)
		ends = append(ends, buf.Len())
	}
	at := 0
	for i, end := range ends { // buf does not grow any more
		if end > at {
			b.out[i].data = buf.Bytes()[at:end:end]
		}
		at = end
	}
	return err
}

// payload appends the deflated bytes of obj to buf, unless they are to be streamed.
func (d *deflater) payload(buf *bytes.Buffer, obj *packObject) (payload, error) {
	p := d.p
	if obj.kind != 0 && !p.o.NoReuse && (obj.reuse || !isDelta(obj.kind) && obj.from == 0) {
		pl, err := d.copyStored(buf, obj)
		if err == nil {
			return pl, nil
		}
		p.report(err) // and take it from somewhere else
	} else if obj.from != 0 && !obj.reuse {
		pl, err := d.found(buf, obj)
		if err == nil {
			return pl, nil
		}
		p.report(err)
	}
	return d.whole(buf, obj)
}

// copyStored takes the entry as it is stored.
func (d *deflater) copyStored(buf *bytes.Buffer, obj *packObject) (payload, error) {
	in := d.p.packs[obj.pack]
	s, err := in.stored(obj.off)
	if err != nil {
		return payload{}, err
	}
	pl := payload{kind: s.e.kind, size: s.e.size, copy: &s}
	if obj.reuse {
		pl.from = obj.from
	}
	size := s.end - s.off
	if size >= streamCopy {
		return pl, s.verify()
	}
	if int64(cap(d.raw)) < size {
		d.raw = make([]byte, streamCopy)
	}
	raw := d.raw[:size]
	if _, err := in.f.ReadAt(raw, s.off); err != nil {
		return payload{}, err
	}
	if want, ok := in.idx.CRC(s.n); !ok {
		err = s.verify()
	} else if crc32.ChecksumIEEE(raw) != want {
		err = fmt.Errorf("bad packed object CRC for %s", obj.id)
	}
	if err != nil {
		return payload{}, err
	}
	buf.Write(raw[s.e.data-s.off:])
	return pl, nil
}

// found takes the delta that the search found, making it again if it was not kept.
func (d *deflater) found(buf *bytes.Buffer, obj *packObject) (payload, error) {
	pl := payload{kind: byte(obj.typ), size: uint64(obj.dsize), from: obj.from}
	if obj.delta != nil {
		buf.Write(obj.delta)
		return pl, nil
	}
	_, base, err := d.p.o.Read(d.p.objs[obj.from-1].id)
	if err != nil {
		return pl, err
	}
	_, data, err := d.p.o.Read(obj.id)
	if err != nil {
		return pl, err
	}
	d.idx = newDeltaIndex(d.idx, base)
	delta := d.idx.make(nil, data, int(obj.dsize))
	if delta == nil {
		return pl, fmt.Errorf("unable to pack the delta of %s again", obj.id)
	}
	pl.size = uint64(len(delta))
	return pl, d.deflate(buf, delta)
}

// whole deflates the object itself.
func (d *deflater) whole(buf *bytes.Buffer, obj *packObject) (payload, error) {
	p := d.p
	if (obj.typ == object.Blob || obj.typ == object.Bad) && p.o.Open != nil {
		typ, size, r, err := p.o.Open(obj.id)
		if err == nil {
			defer r.Close()
			if size > p.o.BigFile {
				return payload{kind: byte(typ), size: uint64(size)}, nil
			}
			data, rerr := inflateAll(r, nil, uint64(size))
			if rerr == nil && d.right(obj, typ, data) {
				return payload{kind: byte(typ), size: uint64(size)}, d.deflate(buf, data)
			}
		}
	}
	typ, data, err := p.o.Read(obj.id)
	if err != nil {
		return payload{}, err
	}
	if !d.right(obj, typ, data) {
		return payload{}, fmt.Errorf("object %s is corrupt", obj.id)
	}
	return payload{kind: byte(typ), size: uint64(len(data))}, d.deflate(buf, data)
}

// right reports whether data is obj's. A delta that was damaged may still yield
// something, so what comes from packs is checked.
func (d *deflater) right(obj *packObject, typ object.Type, data []byte) bool {
	if obj.kind == 0 {
		return true
	}
	if d.namer == nil {
		d.namer = newNamer(d.p.o.Algo)
	}
	return string(d.namer.of(typ, data)) == string(obj.id.Append(nil))
}

func (d *deflater) deflate(w io.Writer, data []byte) error {
	if d.z == nil {
		var err error
		if d.z, err = zlib.NewWriterLevel(w, d.p.o.Level.zlib()); err != nil {
			return err
		}
	} else {
		d.z.Reset(w)
	}
	if _, err := d.z.Write(data); err != nil {
		return err
	}
	return d.z.Close()
}
