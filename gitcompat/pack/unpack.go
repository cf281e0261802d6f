package pack

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// UnpackOptions says how a pack is to be exploded. Read, Write and WriteStream
// are called by several goroutines at a time.
type UnpackOptions struct {
	Algo    oid.Algo
	Header  []byte // the head of the pack, where it was read already
	MaxSize int64  // of the stream; 0: no limit
	DryRun  bool   // inflate, and write nothing
	Recover bool   // go on behind an entry that is bad
	BigFile int64  // blobs above it are streamed; 0: DefaultBigFile

	// Read reads from the object database, and what was written.
	Read        ReadFunc
	Write       func(typ object.Type, data []byte) (oid.ID, error)
	WriteStream func(typ object.Type, size int64, r io.Reader) (oid.ID, error)

	// Check is called with each object, one at a time; with nil data for a
	// streamed blob.
	Check    func(id oid.ID, typ object.Type, data []byte) error
	Report   func(error) // gets errors that Recover goes on behind
	Progress func(step Step, done, total int)
}

// Unpacked is what came of a pack.
type Unpacked struct {
	Objects int
	Bad     bool   // something was left out
	Rest    []byte // what was read of the stream beyond the pack
}

// An EntryError is a bad entry: git calls it an error, not a fatal one, and
// leaves with status 1.
type EntryError struct{ Msg string }

// Error is unpack-objects' message.
func (e *EntryError) Error() string { return e.Msg }

// An unpacker writes each object of a stream as soon as it is known. The
// goroutine that reads resolves the deltas; others name, deflate and write.
type unpacker struct {
	o       *UnpackOptions
	in      *input
	entries []*unpackedEntry
	cache   *BaseCache
	res     Unpacked

	byOff map[int64][]held  // deltas whose base is an entry that is not known yet
	byID  map[oid.ID][]held // deltas whose base is nowhere yet

	work    chan written
	pending sync.WaitGroup
	workers sync.WaitGroup
	checkMu sync.Mutex
	failed  atomic.Bool
	failMu  sync.Mutex
	err     error
}

// An unpackedEntry is what is known of an entry.
type unpackedEntry struct {
	off int64
	typ object.Type // Bad: not known
	id  oid.ID      // set by a writer; to be read when none is pending
}

type held struct {
	n     int
	delta []byte
}

type written struct {
	e    *unpackedEntry
	data []byte
}

// Unpack reads the pack that comes from src and writes its objects.
func Unpack(src io.Reader, o UnpackOptions) (*Unpacked, error) {
	if o.BigFile <= 0 {
		o.BigFile = DefaultBigFile
	}
	u := &unpacker{
		o:     &o,
		in:    newInput(src, o.Header, o.Algo, o.MaxSize),
		cache: NewBaseCache(DefaultCacheLimit / 4),
		byOff: map[int64][]held{},
		byID:  map[oid.ID][]held{},
	}
	u.start()
	err := u.run()
	u.stop()
	if err == nil {
		err = u.err
	}
	var big *TooBigError
	if errors.As(err, &big) {
		err = errors.New("pack exceeds maximum allowed size")
	}
	return &u.res, err
}

// start starts the writers. The channel holds none: few objects are in memory.
func (u *unpacker) start() {
	u.work = make(chan written)
	if u.o.DryRun {
		return
	}
	for range threads(runtime.GOMAXPROCS(0)) {
		u.workers.Go(func() {
			for w := range u.work {
				if !u.failed.Load() {
					if err := u.write(w); err != nil {
						u.fail(err)
					}
				}
				u.pending.Done()
			}
		})
	}
}

func (u *unpacker) stop() {
	close(u.work)
	u.workers.Wait()
}

func (u *unpacker) fail(err error) {
	u.failMu.Lock()
	if u.err == nil {
		u.err = err
	}
	u.failMu.Unlock()
	u.failed.Store(true)
}

func (u *unpacker) run() error {
	count, err := u.in.header()
	var version versionError
	switch {
	case err == errSignature:
		return errors.New("bad pack file")
	case errors.As(err, &version):
		return fmt.Errorf("unknown pack file version %d", uint32(version))
	case err != nil:
		return err
	}
	for n := range int(count) {
		if u.failed.Load() {
			return nil
		}
		if err := u.one(n); err != nil {
			if err = u.excuse(err); err != nil {
				return err
			}
		}
		if u.o.Progress != nil {
			u.o.Progress(Unpacking, n+1, int(count))
		}
	}
	if err := u.leftovers(); err != nil {
		return err
	}
	_, match, err := u.in.trailer(u.o.Algo.Size())
	if err == nil && !match {
		err = errors.New("final sha1 did not match")
	}
	u.res.Rest = u.in.rest()
	u.res.Objects = int(count)
	return err
}

// excuse words an error of an entry, and lets it pass with Recover.
func (u *unpacker) excuse(err error) error {
	var bad *BadObjectError
	if errors.As(err, &bad) {
		switch bad.reason {
		case badBound:
			return errors.New("offset value out of bound for delta base object")
		case badKind:
			err = &EntryError{fmt.Sprintf("bad object type %s", bad.Msg[len("unknown object type "):])}
		case badData:
			err = &EntryError{bad.Msg}
		default:
			return errors.New(bad.Msg)
		}
	}
	var entry *EntryError
	if !errors.As(err, &entry) || !u.o.Recover {
		return err
	}
	u.res.Bad = true
	if u.o.Report != nil {
		u.o.Report(err)
	}
	return nil
}

// one takes the next entry.
func (u *unpacker) one(n int) error {
	h, err := u.in.entry(u.o.Algo)
	u.entries = append(u.entries, &unpackedEntry{off: h.off})
	if err != nil {
		return err
	}
	typ := object.Type(h.kind)
	switch {
	case u.o.DryRun:
		return u.inflateTo(h, io.Discard)
	case isDelta(h.kind):
		delta, err := u.in.inflate(h, nil)
		if err != nil {
			return err
		}
		return u.delta(n, h, delta)
	case typ == object.Blob && h.size > uint64(u.o.BigFile):
		return u.big(n, h)
	}
	data, err := u.in.inflate(h, nil)
	if err != nil {
		return err
	}
	_, err = u.in.endEntry()
	if err == nil {
		err = u.known(n, typ, data)
	}
	return err
}

// inflateTo inflates the entry of h to w.
func (u *unpacker) inflateTo(h head, w io.Writer) error {
	x := indexer{in: u.in}
	if err := x.stream(h, w); err != nil {
		return err
	}
	_, err := u.in.endEntry()
	return err
}

// big streams a blob.
func (u *unpacker) big(n int, h head) error {
	z, err := u.in.inflater(h)
	if err != nil {
		return err
	}
	id, err := u.o.WriteStream(object.Blob, int64(h.size), z)
	if err != nil {
		return u.in.inflateError(h, err)
	}
	if err := inflateEnd(z); err != nil {
		return u.in.inflateError(h, err)
	}
	u.entries[n].id, u.entries[n].typ = id, object.Blob
	if _, err := u.in.endEntry(); err != nil {
		return err
	}
	return u.check(id, object.Blob, nil)
}

func (u *unpacker) check(id oid.ID, typ object.Type, data []byte) error {
	if u.o.Check == nil {
		return nil
	}
	u.checkMu.Lock()
	defer u.checkMu.Unlock()
	return u.o.Check(id, typ, data)
}

// known takes the content of entry n, and makes all that waited for it.
func (u *unpacker) known(n int, typ object.Type, data []byte) error {
	type made struct {
		n    int
		data []byte
	}
	for todo := []made{{n, data}}; len(todo) > 0; {
		m := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		e := u.entries[m.n]
		e.typ = typ
		u.cache.put(baseKey{off: e.off}, typ, m.data)
		if err := u.hand(written{e, m.data}); err != nil {
			return err
		}
		for _, w := range u.byOff[e.off] {
			child, err := applyDelta(nil, m.data, w.delta)
			if err != nil {
				return err
			}
			todo = append(todo, made{w.n, child})
		}
		delete(u.byOff, e.off)
	}
	return nil
}

// hand gives an object to the writers; one that is not small is written at once.
func (u *unpacker) hand(w written) error {
	if len(w.data) >= inlineSize {
		return u.write(w)
	}
	u.pending.Add(1)
	u.work <- w
	return nil
}

func (u *unpacker) write(w written) error {
	id, err := u.o.Write(w.e.typ, w.data)
	if err != nil {
		return err
	}
	w.e.id = id
	return u.check(id, w.e.typ, w.data)
}

// delta resolves the delta of entry n now if its base is known.
func (u *unpacker) delta(n int, h head, delta []byte) error {
	if _, err := u.in.endEntry(); err != nil {
		return err
	}
	if h.kind == kindRefDelta {
		typ, base, err := u.o.Read(h.base.id)
		if err != nil { // it may have come in this pack just now
			u.pending.Wait()
			typ, base, err = u.o.Read(h.base.id)
		}
		if err != nil {
			u.byID[h.base.id] = append(u.byID[h.base.id], held{n, delta})
			return nil
		}
		return u.resolve(n, typ, base, delta)
	}
	i, ok := slices.BinarySearchFunc(u.entries, h.base.off, func(e *unpackedEntry, off int64) int {
		switch {
		case e.off < off:
			return -1
		case e.off > off:
			return 1
		}
		return 0
	})
	if !ok || u.entries[i].typ == object.Bad {
		u.byOff[h.base.off] = append(u.byOff[h.base.off], held{n, delta})
		return nil
	}
	typ, base, err := u.base(i)
	if err != nil {
		return err
	}
	return u.resolve(n, typ, base, delta)
}

// base returns the content of entry i.
func (u *unpacker) base(i int) (object.Type, []byte, error) {
	if typ, data, ok := u.cache.get(baseKey{off: u.entries[i].off}); ok {
		return typ, data, nil
	}
	u.pending.Wait()
	typ, data, err := u.o.Read(u.entries[i].id)
	if err != nil {
		err = &EntryError{"failed to read delta-pack base object " + u.entries[i].id.String()}
	}
	return typ, data, err
}

func (u *unpacker) resolve(n int, typ object.Type, base, delta []byte) error {
	data, err := applyDelta(nil, base, delta)
	if err != nil {
		return err
	}
	return u.known(n, typ, data)
}

// leftovers resolves, when all has come, the deltas whose base had not been known.
func (u *unpacker) leftovers() error {
	for progress := true; progress && len(u.byID) > 0 && !u.failed.Load(); {
		progress = false
		u.pending.Wait()
		ids := make([]oid.ID, 0, len(u.byID))
		for id := range u.byID {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b oid.ID) int { return u.byID[a][0].n - u.byID[b][0].n })
		for _, id := range ids {
			typ, base, err := u.o.Read(id)
			if err != nil {
				continue
			}
			waiting := u.byID[id]
			delete(u.byID, id)
			progress = true
			for _, w := range waiting {
				if err := u.resolve(w.n, typ, base, w.delta); err != nil {
					return err
				}
			}
		}
	}
	u.pending.Wait()
	if len(u.byID)+len(u.byOff) > 0 && !u.failed.Load() {
		return errors.New("unresolved deltas left after unpacking")
	}
	return nil
}
