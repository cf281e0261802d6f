package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// IndexPack receives the pack that comes from src into a file, indexes it, and
// stages pack and index where out says. Nothing is visible before the barrier
// publishes it.
func IndexPack(src io.Reader, out Output, o IndexOptions) (*Indexed, error) {
	f, err := out.temp("tmp_pack_", out.Pack)
	if err != nil {
		return nil, err
	}
	x := newIndexer(&o, src, f)
	x.in.sink = func(b []byte) error {
		if _, err := f.Write(b); err != nil {
			return fmt.Errorf("write error: %s", lockfile.Strerror(err))
		}
		return nil
	}
	res, err := x.receive(f, &out)
	if err != nil {
		if x.pack != nil {
			out.remove(f)
		}
		return nil, err
	}
	return res, nil
}

// receive does all of it; it sets x.pack to nil once the barrier has f.
func (x *indexer) receive(f *vfs.File, out *Output) (*Indexed, error) {
	if err := x.run(); err != nil {
		return nil, err
	}
	received := len(x.t.rows)
	if err := x.conclude(f); err != nil {
		return nil, err
	}
	res := &Indexed{
		Checksum:  x.o.Algo.FromBytes(x.sum),
		Objects:   len(x.t.rows),
		Completed: len(x.t.rows) - received,
		Rest:      x.in.rest(),
	}
	tables, err := x.writeTables(out)
	if err != nil {
		return nil, err
	}
	final := out.path(out.Pack, res.Checksum, "pack")
	if res.Kept, err = out.stageMarks(final); err != nil {
		tables.discard(out)
		return nil, err
	}
	x.pack = nil
	if err := out.stage(syncpolicy.Pack, f, final); err != nil {
		tables.discard(out)
		return nil, err
	}
	return res, tables.stage(out)
}

// conclude is the third pass: it completes a thin pack and writes the trailer.
func (x *indexer) conclude(f *vfs.File) error {
	if x.unsolved() > 0 && x.o.FixThin {
		if err := x.complete(f); err != nil {
			return err
		}
	}
	if n := x.unsolved(); n > 0 {
		return unresolved(n)
	}
	if _, err := f.WriteAt(x.sum, x.t.end); err != nil {
		return writeError(f, err)
	}
	return nil
}

// complete appends, from the object database, the bases that the pack lacks. It
// goes through the deltas in the order of the pack, since most bases come
// before what needs them, and so appends few.
func (x *indexer) complete(f *vfs.File) error {
	old := x.t.end
	byPlace := make([]int, len(x.refs))
	for i := range byPlace {
		byPlace[i] = i
	}
	slices.SortFunc(byPlace, func(a, b int) int { return int(x.refs[a].n) - int(x.refs[b].n) })
	r := newResolver(x)
	ap := newAppender(f, x.o.Compression)
	for _, i := range byPlace {
		if x.taken[i].Load() || x.o.Read == nil {
			continue
		}
		id := x.refs[i].base
		typ, data, err := x.o.Read(id)
		if err != nil {
			continue
		}
		if !bytes.Equal(r.namer.of(typ, data), id.Bytes()) {
			return fmt.Errorf("local object %s is corrupt", id)
		}
		n, err := ap.append(&x.t, byte(typ), data)
		if err != nil {
			return err
		}
		copy(x.t.raw(n), id.Append(nil))
		if err := r.resolve(n, data); err != nil {
			return err
		}
		if err := x.failed(); err != nil {
			return err
		}
	}
	if x.t.end == old {
		return nil
	}
	return x.rewrite(f, old)
}

// rewrite puts the new number of objects into the head of the pack and computes
// its trailer anew; on the way it makes sure that the disk holds what came in.
func (x *indexer) rewrite(f *vfs.File, old int64) error {
	var hdr, oldHdr [headerSize]byte
	if _, err := f.ReadAt(oldHdr[:], 0); err != nil {
		return readError(f, err)
	}
	hdr = oldHdr
	binary.BigEndian.PutUint32(hdr[8:], uint32(len(x.t.rows)))
	before, after := x.o.Algo.NewChecksum(), x.o.Algo.NewChecksum()
	before.Write(oldHdr[:])
	after.Write(hdr[:])
	buf := make([]byte, 1<<20)
	both := io.MultiWriter(before, after)
	if _, err := io.CopyBuffer(onlyWriter{both}, io.NewSectionReader(f, headerSize, old-headerSize), buf); err != nil {
		return readError(f, err)
	}
	if !bytes.Equal(before.Sum(nil), x.sum) {
		return fmt.Errorf("Unexpected tail checksum for %s (disk corruption?)", f.Name())
	}
	if _, err := io.CopyBuffer(onlyWriter{after}, io.NewSectionReader(f, old, x.t.end-old), buf); err != nil {
		return readError(f, err)
	}
	if _, err := f.WriteAt(hdr[:], 0); err != nil {
		return writeError(f, err)
	}
	x.sum = after.Sum(nil)
	return nil
}

func readError(f *vfs.File, err error) error {
	return fmt.Errorf("error reading from %s: %s", f.Name(), lockfile.Strerror(err))
}

type onlyWriter struct{ io.Writer }

// An appender deflates objects to the end of a pack.
type appender struct {
	f   *vfs.File
	z   *zlib.Writer
	buf bytes.Buffer
}

func newAppender(f *vfs.File, level Level) *appender {
	a := &appender{f: f}
	a.z, _ = zlib.NewWriterLevel(&a.buf, level.zlib()) // no Level is out of range
	return a
}

// append appends one object and a row for it, and returns the number of that.
func (a *appender) append(t *table, kind byte, data []byte) (int, error) {
	a.buf.Reset()
	a.buf.Write(appendEntryHeader(nil, kind, uint64(len(data))))
	r := row{off: t.end, size: uint64(len(data)), hdr: uint8(a.buf.Len()), kind: kind, typ: kind}
	a.z.Reset(&a.buf)
	if _, err := a.z.Write(data); err != nil {
		return 0, err
	}
	if err := a.z.Close(); err != nil {
		return 0, err
	}
	r.crc = crc32.ChecksumIEEE(a.buf.Bytes())
	if _, err := a.f.WriteAt(a.buf.Bytes(), t.end); err != nil {
		return 0, writeError(a.f, err)
	}
	t.end += int64(a.buf.Len())
	return t.add(r), nil
}
