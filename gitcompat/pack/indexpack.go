package pack

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// IndexOptions says how a pack is to be indexed. Has, Read and Open look into
// the object database that the pack is meant for, without the pack; all three
// are nil where there is none. Functions are called by several goroutines at a
// time, but for Check and Progress.
type IndexOptions struct {
	Algo        oid.Algo
	FixThin     bool   // append the bases that deltas of the pack need
	Header      []byte // the head of the pack, where it was read already
	MaxSize     int64  // of the stream; 0: no limit
	Threads     int    // 0: as many as git would take
	Index       IndexFormat
	RevIndex    bool  // write a .rev too
	Compression Level // of appended bases
	CacheLimit  int64 // core.deltaBaseCacheLimit; 0: DefaultCacheLimit
	BigFile     int64 // blobs above it are streamed; 0: DefaultBigFile

	Has  func(oid.ID) bool
	Read ReadFunc
	Open func(oid.ID) (object.Type, int64, io.ReadCloser, error)

	// Check is called with each object; with nil data for a streamed blob.
	Check    func(id oid.ID, typ object.Type, data []byte) error
	Progress func(step Step, done, total int)
}

// DefaultBigFile is git's default of core.bigFileThreshold.
const DefaultBigFile = 512 << 20

// A Step is a part of the work that progress is reported of.
type Step uint8

// The steps of indexing, unpacking and making a pack.
const (
	Receiving Step = iota
	Resolving
	Unpacking
	Enumerating
	Compressing
	Writing
)

// threads returns git's choice for n processors.
func threads(n int) int {
	switch {
	case n < 4:
		return n
	case n < 6:
		return 3
	case n < 40:
		return n / 2
	}
	return 20
}

func (o *IndexOptions) setDefaults() {
	if o.Threads <= 0 {
		o.Threads = threads(runtime.GOMAXPROCS(0))
	}
	if o.CacheLimit <= 0 {
		o.CacheLimit = DefaultCacheLimit
	}
	if o.BigFile <= 0 {
		o.BigFile = DefaultBigFile
	}
}

// An indexer turns a stream into a table: the first pass names what is whole
// and notes what is a delta, the second resolves the deltas from their bases up,
// the third appends bases that the pack lacks.
type indexer struct {
	o    *IndexOptions
	in   *input
	pack io.ReaderAt // what was received so far
	t    table
	sum  []byte // trailer

	ofs    []ofsDelta    // sorted by base after the first pass
	refs   []refDelta    // the same
	taken  []atomic.Bool // of refs: somebody resolves it
	slabs  slabs
	bigs   []int // rows of streamed blobs, to be checked
	solved atomic.Int64
	chains []link32 // by row, where somebody wants to know; else nil

	checkMu sync.Mutex // around o.Check and o.Progress
	failMu  sync.Mutex
	err     error
}

type ofsDelta struct {
	base int64
	n    uint32
}

// A link32 says what a delta is made of, and how deep its chain is.
type link32 struct{ depth, base uint32 }

type refDelta struct {
	base oid.ID
	n    uint32
}

func newIndexer(o *IndexOptions, src io.Reader, pack io.ReaderAt) *indexer {
	o.setDefaults()
	return &indexer{
		o:     o,
		in:    newInput(src, o.Header, o.Algo, o.MaxSize),
		pack:  pack,
		t:     table{algo: o.Algo},
		slabs: slabs{limit: int(min(o.CacheLimit, 64<<20))},
	}
}

// run is the first two passes.
func (x *indexer) run() error {
	count, err := x.in.header()
	if err != nil {
		return err
	}
	if err := x.parse(int(count)); err != nil {
		return err
	}
	return x.resolveAll()
}

// fail notes the first error of any goroutine.
func (x *indexer) fail(err error) {
	x.failMu.Lock()
	if x.err == nil {
		x.err = err
	}
	x.failMu.Unlock()
}

func (x *indexer) failed() error {
	x.failMu.Lock()
	defer x.failMu.Unlock()
	return x.err
}

// parse is the first pass: it reads the whole stream.
func (x *indexer) parse(count int) error {
	names := x.startNaming()
	err := x.parseEntries(count, names)
	if werr := names.wait(); err == nil {
		err = werr
	}
	if err != nil {
		return err
	}
	x.t.end = x.in.offset()
	sum, match, err := x.in.trailer(x.o.Algo.Size())
	if err != nil {
		return err
	}
	if !match {
		return errors.New("pack is corrupted (SHA1 mismatch)")
	}
	x.sum = sum
	if junk, err := x.in.junk(); err != nil {
		return err
	} else if junk {
		return errors.New("pack has junk at the end")
	}
	for _, n := range x.bigs {
		if err := x.checkBig(n); err != nil {
			return err
		}
	}
	return nil
}

func (x *indexer) parseEntries(count int, names *naming) error {
	for n := range count {
		h, err := x.in.entry(x.o.Algo)
		if err != nil {
			return err
		}
		r := row{off: h.off, size: h.size, hdr: uint8(h.len), kind: h.kind}
		switch {
		case isDelta(h.kind):
			err = x.parseDelta(n, h, &r)
		case h.kind == kindBlob && h.size > uint64(x.o.BigFile):
			r.typ = h.kind
			err = x.parseBig(n, h, &r)
		default:
			r.typ = h.kind
			err = x.parseWhole(n, h, &r, names)
		}
		if err != nil {
			return err
		}
		if n&0xff == 0 || n == count-1 {
			if err := x.failed(); err != nil {
				return err
			}
		}
		x.progress(Receiving, n+1, count)
	}
	return nil
}

func (x *indexer) progress(step Step, done, total int) {
	if x.o.Progress == nil {
		return
	}
	x.checkMu.Lock()
	x.o.Progress(step, done, total)
	x.checkMu.Unlock()
}

// addRow ends the entry at which the input is.
func (x *indexer) addRow(r *row) (err error) {
	if r.crc, err = x.in.endEntry(); err == nil {
		x.t.add(*r)
	}
	return err
}

func (x *indexer) parseDelta(n int, h head, r *row) error {
	var dst []byte
	if h.size <= keepDelta {
		dst, r.kept = x.slabs.take(int(h.size))
	}
	if r.kept != 0 {
		if _, err := x.in.inflate(h, dst); err != nil {
			return err
		}
	} else if err := x.discard(h); err != nil {
		return err
	}
	if h.kind == kindOfsDelta {
		x.ofs = append(x.ofs, ofsDelta{h.base.off, uint32(n)})
	} else {
		x.refs = append(x.refs, refDelta{h.base.id, uint32(n)})
	}
	return x.addRow(r)
}

// discard inflates the entry of h to nowhere.
func (x *indexer) discard(h head) error { return x.stream(h, io.Discard) }

// stream inflates the entry of h to w.
func (x *indexer) stream(h head, w io.Writer) error {
	z, err := x.in.inflater(h)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(z, int64(min(h.size, 1<<62))))
	if err == nil && uint64(n) < h.size {
		err = errShorter
	}
	if err == nil {
		err = inflateEnd(z)
	}
	if err != nil {
		return x.in.inflateError(h, err)
	}
	return nil
}

// parseBig names a blob that is too big for memory.
func (x *indexer) parseBig(n int, h head, r *row) error {
	sum := x.o.Algo.New()
	sum.Write(object.AppendHeader(nil, object.Blob, int64(h.size)))
	if err := x.stream(h, sum); err != nil {
		return err
	}
	if err := x.addRow(r); err != nil {
		return err
	}
	sum.Sum(x.t.raw(n)[:0])
	x.bigs = append(x.bigs, n)
	return nil
}

func (x *indexer) parseWhole(n int, h head, r *row, names *naming) error {
	data, err := x.in.inflate(h, names.buffer(h.size))
	if err != nil {
		return err
	}
	if err := x.addRow(r); err != nil {
		return err
	}
	return names.add(job{n, object.Type(h.kind), data})
}

// A namer computes names.
type namer struct {
	algo oid.Algo
	sum  hash.Hash
	hdr  [object.MaxHeader]byte
	name [oid.MaxSize]byte
}

func newNamer(algo oid.Algo) *namer { return &namer{algo: algo, sum: algo.New()} }

// of returns the raw name of an object, good until the next call.
func (m *namer) of(typ object.Type, data []byte) []byte {
	m.sum.Reset()
	m.sum.Write(object.AppendHeader(m.hdr[:0], typ, int64(len(data))))
	m.sum.Write(data)
	return m.sum.Sum(m.name[:0])
}

// accept checks an object that was decoded: against one of the same name that
// is there already (K5), and by the caller's Check.
func (x *indexer) accept(id oid.ID, typ object.Type, data []byte) error {
	if x.o.Has != nil && x.o.Has(id) {
		if err := x.compare(id, typ, data); err != nil {
			return err
		}
	}
	if x.o.Check == nil {
		return nil
	}
	x.checkMu.Lock()
	defer x.checkMu.Unlock()
	return x.o.Check(id, typ, data)
}

func (x *indexer) compare(id oid.ID, typ object.Type, data []byte) error {
	hasType, has, err := x.o.Read(id)
	if err != nil {
		return fmt.Errorf("cannot read existing object %s", id)
	}
	if hasType != typ || !bytes.Equal(has, data) {
		return collision(id)
	}
	return nil
}

func collision(id oid.ID) error { return fmt.Errorf("SHA1 COLLISION FOUND WITH %s !", id) }

// checkBig is accept for a streamed blob.
func (x *indexer) checkBig(n int) error {
	id, size := x.t.id(n), int64(x.t.rows[n].size)
	if x.o.Has != nil && x.o.Open != nil && x.o.Has(id) {
		typ, hasSize, has, err := x.o.Open(id)
		if err != nil {
			return fmt.Errorf("cannot read existing object %s", id)
		}
		defer has.Close()
		if typ != object.Blob || hasSize != size {
			return collision(id)
		}
		if err := x.compareStream(n, id, has); err != nil {
			return err
		}
	}
	if x.o.Check == nil {
		return nil
	}
	return x.o.Check(id, object.Blob, nil)
}

func (x *indexer) compareStream(n int, id oid.ID, has io.Reader) error {
	var c cursor
	c.seek(x.pack, x.t.rows[n].off+int64(x.t.rows[n].hdr))
	z, err := c.inflater()
	if err != nil {
		return errInconsistent
	}
	var a, b [64 << 10]byte
	for left := int64(x.t.rows[n].size); left > 0; {
		k := min(left, int64(len(a)))
		if _, err := io.ReadFull(z, a[:k]); err != nil {
			return errInconsistent
		}
		if _, err := io.ReadFull(has, b[:k]); err != nil {
			return fmt.Errorf("unable to read %s", id)
		}
		if !bytes.Equal(a[:k], b[:k]) {
			return collision(id)
		}
		left -= k
	}
	return nil
}

var errInconsistent = errors.New("serious inflate inconsistency")

// IndexFile indexes the packfile that is at path already and writes the index,
// and the .rev if wanted, where out says.
func IndexFile(path string, out Output, o IndexOptions) (*Indexed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x := newIndexer(&o, f, f)
	if err := x.run(); err != nil {
		return nil, err
	}
	if n := x.unsolved(); n > 0 {
		return nil, unresolved(n)
	}
	tables, err := x.writeTables(&out)
	if err != nil {
		return nil, err
	}
	res := &Indexed{Checksum: o.Algo.FromBytes(x.sum), Objects: len(x.t.rows)}
	if res.Kept, err = out.stageMarks(path); err != nil {
		tables.discard(&out)
		return nil, err
	}
	return res, tables.stage(&out)
}

func unresolved(n int) error {
	if n == 1 {
		return errors.New("pack has 1 unresolved delta")
	}
	return fmt.Errorf("pack has %d unresolved deltas", n)
}
