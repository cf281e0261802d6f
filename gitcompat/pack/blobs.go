package pack

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zlib"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A BlobPack is a pack to which big blobs are appended one by one, each as a
// stream and none as a delta. After Finish its two files are a valid pack and its
// index, which only want their names. It is for one goroutine, but for Reader.
type BlobPack struct {
	f, idx *vfs.File
	t      table
	z      *zlib.Writer
	sum    hash.Hash // of the file so far; good while there is one blob at most
	next   row       // the blob that was appended last and is neither kept nor dropped
	id     oid.ID
	stop   int64 // where it ends
	trail  []byte
	dirty  bool // Finish has something to do
	index  map[oid.ID]int
}

// NewBlobPack begins a pack in the directory dir, under temporary names.
func NewBlobPack(fsys *vfs.FS, dir string, algo oid.Algo, level Level) (*BlobPack, error) {
	p := &BlobPack{t: table{algo: algo, end: headerSize}, sum: algo.NewChecksum(), index: map[oid.ID]int{}}
	var err error
	if p.f, err = fsys.CreateTemp(dir, "tmp_pack_", 0o444); err != nil {
		return nil, tempError(dir, "tmp_pack_", err)
	}
	if p.idx, err = fsys.CreateTemp(dir, "tmp_idx_", 0o444); err != nil {
		p.f.Close()
		return nil, tempError(dir, "tmp_idx_", err)
	}
	p.z, _ = zlib.NewWriterLevel(io.Discard, level.zlib()) // no Level is out of range
	p.sum.Write(blobHeader(1))
	return p, nil
}

func blobHeader(n int) []byte {
	var hdr [headerSize]byte
	binary.BigEndian.PutUint32(hdr[:], packSignature)
	binary.BigEndian.PutUint32(hdr[4:], 2)
	binary.BigEndian.PutUint32(hdr[8:], uint32(n))
	return hdr[:]
}

// Pack and Index return the paths of the two files.
func (p *BlobPack) Pack() string { return p.f.Name() }

// Index: see Pack.
func (p *BlobPack) Index() string { return p.idx.Name() }

// Len is the number of blobs.
func (p *BlobPack) Len() int { return len(p.t.rows) }

// Size is the length of the pack without its trailer.
func (p *BlobPack) Size() int64 { return p.t.end }

// Name is what the files are to be called, without extension.
func (p *BlobPack) Name() string { return "pack-" + p.t.algo.FromBytes(p.trail).String() }

// Close closes the files.
func (p *BlobPack) Close() error {
	err := p.f.Close()
	if ierr := p.idx.Close(); err == nil {
		err = ierr
	}
	return err
}

// at writes to a file from an offset on.
type at struct {
	f   *vfs.File
	off int64
}

func (w *at) Write(b []byte) (int, error) {
	n, err := w.f.WriteAt(b, w.off)
	w.off += int64(n)
	return n, err
}

// Append appends size bytes of r, whose name is taken with h, a hash of the
// algorithm. Keep or Drop must follow.
func (p *BlobPack) Append(size int64, r io.Reader, h hash.Hash) error {
	h.Reset()
	h.Write(object.AppendHeader(nil, object.Blob, size))
	dst := &at{p.f, p.t.end}
	crc := crc32.NewIEEE()
	sinks := []io.Writer{dst, crc}
	if len(p.t.rows) == 0 {
		sinks = append(sinks, p.sum)
	}
	out := bufio.NewWriterSize(io.MultiWriter(sinks...), 1<<20)
	head := appendEntryHeader(nil, kindBlob, uint64(size))
	out.Write(head)
	p.z.Reset(out)
	n, err := io.Copy(io.MultiWriter(h, p.z), io.LimitReader(r, size))
	if err == nil && n == size {
		var one [1]byte
		if more, _ := io.ReadFull(r, one[:]); more > 0 {
			n++
		}
	}
	if err == nil && n != size {
		err = fmt.Errorf("read %d bytes of blob data, but expected %d bytes", n, size)
	}
	if err == nil {
		err = p.z.Close()
	}
	if err == nil {
		err = out.Flush()
	}
	p.next = row{off: p.t.end, size: uint64(size), hdr: uint8(len(head)), kind: kindBlob, typ: kindBlob, crc: crc.Sum32()}
	p.id, p.stop = p.t.algo.FromHash(h), dst.off
	return err
}

// Drop takes away what was appended last.
func (p *BlobPack) Drop() error {
	if len(p.t.rows) == 0 {
		p.sum.Reset()
		p.sum.Write(blobHeader(1))
	}
	p.dirty = true
	return p.f.Truncate(p.t.end)
}

// Keep makes what was appended last a part of the pack.
func (p *BlobPack) Keep() {
	n := p.t.add(p.next)
	copy(p.t.raw(n), p.id.Bytes())
	p.index[p.id] = n
	p.t.end = p.stop
	p.dirty = true
}

// Finish writes header, trailer and index. The pack may grow after it.
func (p *BlobPack) Finish() error {
	if !p.dirty || len(p.t.rows) == 0 {
		return nil
	}
	if err := p.f.Truncate(p.t.end); err != nil {
		return err
	}
	if _, err := p.f.WriteAt(blobHeader(len(p.t.rows)), 0); err != nil {
		return writeError(p.f, err)
	}
	if len(p.t.rows) > 1 {
		p.sum.Reset()
		if _, err := io.Copy(p.sum, io.NewSectionReader(p.f, 0, p.t.end)); err != nil {
			return readError(p.f, err)
		}
	}
	p.trail = p.sum.Sum(nil)
	if _, err := p.f.WriteAt(p.trail, p.t.end); err != nil {
		return writeError(p.f, err)
	}
	if err := p.idx.Truncate(0); err != nil {
		return err
	}
	if err := p.t.writeIndex(&at{f: p.idx}, p.t.sorted(), p.trail, IndexFormat{}); err != nil {
		return writeError(p.idx, err)
	}
	p.dirty = false
	return nil
}

// Find returns the size and the offset of a blob.
func (p *BlobPack) Find(id oid.ID) (size, off int64, ok bool) {
	n, ok := p.index[id]
	if !ok {
		return 0, 0, false
	}
	r := &p.t.rows[n]
	return int64(r.size), r.off + int64(r.hdr), true
}

// Reader returns the content of a blob at the offset that Find returned. It is
// safe while other blobs are appended.
func (p *BlobPack) Reader(off int64) (io.ReadCloser, error) {
	z, err := zlib.NewReader(bufio.NewReaderSize(io.NewSectionReader(p.f, off, 1<<62-off), 64<<10))
	if err != nil {
		return nil, inflateError(err)
	}
	return z, nil
}
