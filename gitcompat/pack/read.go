package pack

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/sluicegit/sluice/gitcompat/object"
)

// keepDelta is the biggest delta that is kept in memory on the way down a chain;
// bigger ones are read a second time on the way up (K6).
const keepDelta = 64 << 10

// A link is a delta on the way from an object down to its innermost base.
type link struct {
	off   int64
	e     entry
	delta []byte // nil: read it again
}

// Read returns the object at off, in memory of its own. Where an object that
// the chain needs cannot be read from this pack and elsewhere is not nil, a
// copy of it elsewhere takes its place; the object at off itself never comes
// from elsewhere.
func (p *Pack) Read(off int64, elsewhere ReadFunc) (object.Type, []byte, error) {
	c := p.cursor()
	defer p.cursors.Put(c)
	var chain []link
	var typ object.Type
	var data []byte
	var err error
	cached := false
	at := off
	for {
		if typ, data, cached = p.cache.get(baseKey{p, at}); cached {
			break
		}
		var e entry
		if e, err = p.entry(c, at); err != nil {
			break
		}
		if !isDelta(e.kind) {
			typ = object.Type(e.kind)
			data, err = p.inflateAt(c, e)
			break
		}
		l := link{off: at, e: e}
		if e.size <= keepDelta {
			if l.delta, err = p.inflateAt(c, e); err != nil {
				err = fmt.Errorf("failed to unpack compressed delta at offset %d from %s: %w", e.data, p.path, err)
				break
			}
		}
		next, berr := p.baseOffset(e)
		if berr == nil && len(chain) >= p.idx.count {
			berr = p.badBase(e.data)
		}
		if berr != nil {
			err = berr
			break
		}
		chain = append(chain, l)
		at = next
	}
	return p.unwind(c, chain, at, typ, data, cached, elsewhere, err)
}

// unwind applies the deltas of chain, innermost last, to the base at offset at,
// or to a copy of it from elsewhere where err says that it could not be read.
func (p *Pack) unwind(c *cursor, chain []link, at int64, typ object.Type, data []byte, cached bool,
	elsewhere ReadFunc, err error) (object.Type, []byte, error) {
	for i := len(chain) - 1; i >= 0; i-- {
		foreign := err != nil
		if foreign {
			if typ, data, err = p.readElsewhere(at, elsewhere, err); err != nil {
				at = chain[i].off
				continue
			}
		}
		var result []byte
		if result, err = p.applyLink(c, &chain[i], data); err == nil && !foreign && !cached {
			p.cache.put(baseKey{p, at}, typ, data)
		}
		chain[i].delta = nil
		at, data, cached = chain[i].off, result, false
	}
	if err != nil {
		return object.Bad, nil, err
	}
	if cached {
		data = bytes.Clone(data)
	}
	return typ, data, nil
}

func (p *Pack) applyLink(c *cursor, l *link, base []byte) ([]byte, error) {
	delta := l.delta
	if delta == nil {
		c.seek(p.f, l.e.data)
		var err error
		if delta, err = p.inflateAt(c, l.e); err != nil {
			return nil, fmt.Errorf("failed to unpack compressed delta at offset %d from %s: %w", l.e.data, p.path, err)
		}
	}
	return applyDelta(nil, base, delta)
}

// inflateAt inflates the stream of e, where c is.
func (p *Pack) inflateAt(c *cursor, e entry) ([]byte, error) {
	if !p.plausible(e) {
		return nil, errShorter
	}
	return c.inflate(make([]byte, 0, e.size), e.size)
}

// plausible reports whether so many bytes can inflate from what is left of the
// pack: deflate makes at most 1032 bytes of one (K2).
func (p *Pack) plausible(e entry) bool {
	return e.size <= maxObjectSize && e.size/1040 <= uint64(p.size-e.data)
}

// Reader returns the object at off as a stream: of a blob that is no delta, at
// no cost of memory.
func (p *Pack) Reader(off int64, elsewhere ReadFunc) (object.Type, int64, io.ReadCloser, error) {
	c := p.cursor()
	e, err := p.entry(c, off)
	if err != nil || isDelta(e.kind) || e.size < keepDelta || e.size > math.MaxInt64 {
		p.cursors.Put(c)
		typ, data, err := p.Read(off, elsewhere)
		return typ, int64(len(data)), io.NopCloser(bytes.NewReader(data)), err
	}
	typ := object.Type(e.kind)
	z, err := c.inflater()
	if err != nil {
		p.cursors.Put(c)
		return typ, 0, nil, inflateError(err)
	}
	return typ, int64(e.size), &stream{pack: p, c: c, z: z, left: int64(e.size)}, nil
}

// A stream reads one entry that is no delta. It ends in io.EOF only where as
// much was inflated as the entry said and the checksum was right.
type stream struct {
	pack *Pack
	c    *cursor
	z    io.Reader
	left int64
	err  error
}

// Read implements io.Reader.
func (s *stream) Read(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.left == 0 {
		if s.err = inflateEnd(s.z); s.err == nil {
			s.err = io.EOF
		}
		return 0, s.err
	}
	n, err := s.z.Read(b[:min(int64(len(b)), s.left)])
	s.left -= int64(n)
	if err != nil && (s.left > 0 || err != io.EOF) {
		s.err = inflateError(err)
	}
	if n > 0 {
		return n, nil
	}
	return 0, s.err
}

// Close gives the stream's buffers back.
func (s *stream) Close() error {
	if s.c != nil {
		s.pack.cursors.Put(s.c)
		s.c, s.z = nil, nil
		if s.err == nil {
			s.err = io.ErrClosedPipe
		}
	}
	return nil
}
