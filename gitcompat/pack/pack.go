package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

const (
	headerSize    = 12
	packSignature = 0x5041434b // "PACK"
)

// A ReadFunc reads an object from somewhere else: another pack, a loose object,
// an alternate. It returns an error where there is none.
type ReadFunc func(id oid.ID) (object.Type, []byte, error)

// A Pack is an open packfile with its index. It is safe for concurrent use.
type Pack struct {
	path    string
	algo    oid.Algo
	f       *os.File
	size    int64 // without the trailer
	idx     *Index
	cache   *BaseCache
	cursors sync.Pool // of *cursor

	scans     atomic.Int32
	orderOnce sync.Once
	order     []uint32 // places in the index, in the order of the pack
	orderErr  error
}

// Open opens the packfile at path, whose index is idx, and checks that the two
// belong together. The Pack takes over idx. Bases of deltas go through cache.
func Open(path string, idx *Index, cache *BaseCache) (*Pack, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &Pack{path: path, algo: idx.algo, f: f, idx: idx, cache: cache}
	if err := p.check(); err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

func (p *Pack) check() error {
	st, err := p.f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("packfile %s not a regular file", p.path)
	}
	var hdr [headerSize]byte
	if n, err := p.f.ReadAt(hdr[:], 0); n < headerSize {
		if err != io.EOF {
			return fmt.Errorf("error reading from %s: %w", p.path, err)
		}
		return fmt.Errorf("file %s is far too short to be a packfile", p.path)
	}
	if binary.BigEndian.Uint32(hdr[:]) != packSignature {
		return fmt.Errorf("file %s is not a GIT packfile", p.path)
	}
	if v := binary.BigEndian.Uint32(hdr[4:]); v != 2 && v != 3 {
		return fmt.Errorf("packfile %s is version %d and not supported (try upgrading GIT to a newer version)", p.path, v)
	}
	if n := binary.BigEndian.Uint32(hdr[8:]); n != uint32(p.idx.count) {
		return fmt.Errorf("packfile %s claims to have %d objects while index indicates %d objects", p.path, n, p.idx.count)
	}
	p.size = st.Size() - int64(p.algo.Size())
	trailer := make([]byte, p.algo.Size())
	if p.size < headerSize {
		return fmt.Errorf("packfile %s signature is unavailable", p.path)
	}
	if _, err := p.f.ReadAt(trailer, p.size); err != nil {
		return fmt.Errorf("error reading from %s: %w", p.path, err)
	}
	if !bytes.Equal(trailer, p.idx.PackChecksum()) {
		return fmt.Errorf("packfile %s does not match index", p.path)
	}
	return nil
}

// Close closes the pack and its index.
func (p *Pack) Close() error {
	p.cache.forget(p)
	p.idx.Close()
	return p.f.Close()
}

// Path returns the path of the packfile.
func (p *Pack) Path() string { return p.path }

// Index returns the index of the pack.
func (p *Pack) Index() *Index { return p.idx }

func (p *Pack) cursor() *cursor {
	if c, ok := p.cursors.Get().(*cursor); ok {
		return c
	}
	return new(cursor)
}

// An entry is the head of an entry of a pack.
type entry struct {
	kind byte
	size uint64 // of what inflates from data
	data int64  // offset of the deflated stream
	base base
}

// entry reads the head of the entry at off and leaves c at its deflated stream.
func (p *Pack) entry(c *cursor, off int64) (e entry, err error) {
	if off < headerSize {
		return e, errors.New("offset before end of packfile (broken .idx?)")
	}
	if off >= p.size {
		return e, errors.New("offset beyond end of packfile (truncated pack?)")
	}
	c.seek(p.f, off)
	var n int
	if e.kind, e.size, n, err = readEntryHeader(c.br); err != nil {
		return e, truncated(err)
	}
	e.data = off + int64(n)
	switch e.kind {
	case kindOfsDelta:
		back, n, err := readOfsBase(c.br)
		if err != nil && err != errOfsOverflow {
			return e, truncated(err)
		}
		e.data += int64(n)
		e.base.off = off - int64(min(back, math.MaxInt64))
		if err != nil || back == 0 || e.base.off < headerSize {
			return e, p.badBase(e.data)
		}
	case kindRefDelta:
		var raw [oid.MaxSize]byte
		if _, err := io.ReadFull(c.br, raw[:p.algo.Size()]); err != nil {
			return e, truncated(err)
		}
		e.base.id = p.algo.FromBytes(raw[:])
		e.data += int64(p.algo.Size())
	case kindCommit, kindTree, kindBlob, kindTag:
	default:
		return e, fmt.Errorf("unknown object type %d at offset %d in %s", int(e.kind), off, p.path)
	}
	return e, nil
}

func (p *Pack) badBase(at int64) error {
	return fmt.Errorf("failed to validate delta base reference at offset %d from %s", at, p.path)
}

func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("offset beyond end of packfile (truncated pack?)")
	}
	return err
}

// baseOffset returns where in this pack the base of the delta e is.
func (p *Pack) baseOffset(e entry) (int64, error) {
	if e.kind == kindOfsDelta {
		return e.base.off, nil
	}
	off, ok, err := p.idx.Find(e.base.id)
	if err == nil && !ok {
		err = p.badBase(e.data)
	}
	return off, err
}

// Info returns the type and the size of the object at off. Of a delta only the
// head is inflated. elsewhere may be nil; else a chain that is broken here is
// followed from a copy of one of its bases there.
func (p *Pack) Info(off int64, elsewhere ReadFunc) (object.Type, int64, error) {
	c := p.cursor()
	defer p.cursors.Put(c)
	size := int64(-1)
	chain := []int64{off}
	for {
		e, err := p.entry(c, chain[len(chain)-1])
		if err == nil && size < 0 {
			size, err = p.resultSize(c, e)
		}
		var next int64
		if err == nil {
			if !isDelta(e.kind) {
				return object.Type(e.kind), size, nil
			}
			next, err = p.baseOffset(e)
		}
		if err == nil && len(chain) > p.idx.count {
			err = p.badBase(e.data)
		}
		if err != nil {
			typ, err := p.typeElsewhere(chain, elsewhere, err)
			return typ, size, err
		}
		chain = append(chain, next)
	}
}

// typeElsewhere returns the type of a copy of one of the bases in chain, the
// innermost first; cause is what is wrong with the chain.
func (p *Pack) typeElsewhere(chain []int64, elsewhere ReadFunc, cause error) (object.Type, error) {
	for i := len(chain) - 1; i > 0; i-- {
		if typ, _, err := p.readElsewhere(chain[i], elsewhere, cause); err == nil {
			return typ, nil
		}
	}
	return object.Bad, cause
}

// resultSize returns the size of the object that e, where c is, stands for.
func (p *Pack) resultSize(c *cursor, e entry) (int64, error) {
	if isDelta(e.kind) {
		return p.deltaResult(c, e)
	}
	return int64(min(e.size, math.MaxInt64)), nil
}

// deltaResult inflates the head of the delta e, where c is, for the size of its result.
func (p *Pack) deltaResult(c *cursor, e entry) (int64, error) {
	var head [20]byte
	z, err := c.inflater()
	if err != nil {
		return 0, errors.New("delta data unpack-initial failed")
	}
	n, err := io.ReadFull(z, head[:min(e.size, uint64(len(head)))])
	if err != nil {
		return 0, errors.New("delta data unpack-initial failed")
	}
	_, size, _, ok := deltaSizes(head[:n])
	if !ok || size > math.MaxInt64 {
		return 0, errDelta
	}
	return int64(size), nil
}

// readElsewhere reads a copy of the object at off, which failed here with cause.
func (p *Pack) readElsewhere(off int64, elsewhere ReadFunc, cause error) (object.Type, []byte, error) {
	if elsewhere == nil {
		return object.Bad, nil, cause
	}
	id, ok := p.idx.idAt(off)
	if !ok {
		return object.Bad, nil, cause
	}
	typ, data, err := elsewhere(id)
	if err != nil {
		return object.Bad, nil, fmt.Errorf("failed to read delta base object %s at offset %d from %s: %w", id, off, p.path, cause)
	}
	return typ, data, nil
}
