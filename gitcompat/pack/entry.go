package pack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// The kinds of an entry, as its header says them; the first four are the types.
const (
	kindCommit   = byte(object.Commit)
	kindTree     = byte(object.Tree)
	kindBlob     = byte(object.Blob)
	kindTag      = byte(object.Tag)
	kindOfsDelta = byte(6)
	kindRefDelta = byte(7)
)

func isDelta(kind byte) bool { return kind == kindOfsDelta || kind == kindRefDelta }

// appendEntryHeader appends the header of an entry: kind and inflated size.
func appendEntryHeader(dst []byte, kind byte, size uint64) []byte {
	c := kind<<4 | byte(size&15)
	for size >>= 4; size != 0; size >>= 7 {
		dst = append(dst, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(dst, c)
}

// appendOfsBase appends the distance from a delta back to its base.
func appendOfsBase(dst []byte, distance uint64) []byte {
	var b [10]byte
	i := len(b) - 1
	b[i] = byte(distance & 0x7f)
	for distance >>= 7; distance != 0; distance >>= 7 {
		distance--
		i--
		b[i] = 0x80 | byte(distance&0x7f)
	}
	return append(dst, b[i:]...)
}

var (
	errEntryHeader = errors.New("bad object header")
	errOfsOverflow = errors.New("offset value overflow for delta base object")
)

// readEntryHeader reads the header of an entry.
func readEntryHeader(r io.ByteReader) (kind byte, size uint64, n int, err error) {
	c, err := r.ReadByte()
	if err != nil {
		return 0, 0, 0, err
	}
	n = 1
	kind, size = c>>4&7, uint64(c&15)
	for shift := uint(4); c&0x80 != 0; shift += 7 {
		if c, err = r.ReadByte(); err != nil {
			return 0, 0, n, err
		}
		n++
		if shift > 57 { // as git: the next seven bits might not fit
			return 0, 0, n, errEntryHeader
		}
		size |= uint64(c&0x7f) << shift
	}
	return kind, size, n, nil
}

// readOfsBase reads the distance from a delta back to its base.
func readOfsBase(r io.ByteReader) (distance uint64, n int, err error) {
	c, err := r.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	n = 1
	distance = uint64(c & 0x7f)
	for c&0x80 != 0 {
		distance++
		if distance == 0 || distance>>56 != 0 {
			return 0, n, errOfsOverflow
		}
		if c, err = r.ReadByte(); err != nil {
			return 0, n, err
		}
		n++
		distance = distance<<7 | uint64(c&0x7f)
	}
	return distance, n, nil
}

// A cursor reads entries of a pack. It is reused, since a zlib reader is dear.
type cursor struct {
	sec section
	br  *bufio.Reader
	z   io.ReadCloser
	buf bytes.Buffer
}

// section reads a ReaderAt from off on.
type section struct {
	r   io.ReaderAt
	off int64
}

func (s *section) Read(p []byte) (int, error) {
	n, err := s.r.ReadAt(p, s.off)
	s.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// seek places the cursor at off of r.
func (c *cursor) seek(r io.ReaderAt, off int64) {
	c.sec = section{r, off}
	if c.br == nil {
		c.br = bufio.NewReaderSize(&c.sec, 8<<10)
	} else {
		c.br.Reset(&c.sec)
	}
}

// inflater starts to inflate at the cursor.
func (c *cursor) inflater() (io.Reader, error) { return resetInflater(&c.z, c.br) }

func resetInflater(z *io.ReadCloser, r io.Reader) (io.Reader, error) {
	var err error
	if *z == nil {
		*z, err = zlib.NewReader(r)
	} else {
		err = (*z).(zlib.Resetter).Reset(r, nil)
	}
	return *z, err
}

const firstAlloc = 1 << 20 // what a stated size may allocate before any byte was inflated

// inflate inflates exactly size bytes at the cursor, and to the end of the
// deflated stream, into dst's array if that is big enough.
func (c *cursor) inflate(dst []byte, size uint64) ([]byte, error) {
	z, err := c.inflater()
	if err != nil {
		return nil, inflateError(err)
	}
	return inflateAll(z, dst, size)
}

func inflateAll(z io.Reader, dst []byte, size uint64) ([]byte, error) {
	if size > maxObjectSize {
		return nil, errTooLarge
	}
	out := dst[:0]
	if uint64(cap(out)) < min(size, firstAlloc) {
		out = make([]byte, 0, min(size, firstAlloc))
	}
	for uint64(len(out)) < size {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(size, 4*uint64(cap(out))))
			copy(grown, out)
			out = grown
		}
		n, err := io.ReadFull(z, out[len(out):min(uint64(cap(out)), size)])
		out = out[:len(out)+n]
		if err != nil {
			return nil, inflateError(err)
		}
	}
	return out, inflateEnd(z)
}

// inflateEnd reads the end of a deflated stream, with its checksum.
func inflateEnd(z io.Reader) error {
	var more [1]byte
	switch n, err := z.Read(more[:]); {
	case n > 0:
		return errLonger
	case err == io.EOF:
		return nil
	case err == nil: // zlib never returns 0, nil
		return errLonger
	default:
		return inflateError(err)
	}
}

var (
	// errLonger: the deflated stream holds more than the header said.
	errLonger = errors.New("inflate: data stream error (garbage at end of object)")
	// errShorter: it ends before.
	errShorter = errors.New("inflate: data stream error (object is shorter than it says)")
)

// An InflateError is a deflated stream that does not inflate.
type InflateError struct {
	msg  string
	code int // zlib's
	err  error
}

func (e *InflateError) Error() string { return e.msg }
func (e *InflateError) Unwrap() error { return e.err }

// inflateError turns an error of the zlib reader into git's words; an error of
// the reader below it stays what it is.
func inflateError(err error) error {
	switch {
	case err == io.EOF:
		return errShorter
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &InflateError{"inflate: data stream error (unexpected end of data)", -5, err}
	case errors.Is(err, zlib.ErrChecksum):
		return &InflateError{"inflate: data stream error (incorrect data check)", -3, err}
	case errors.Is(err, zlib.ErrHeader):
		return &InflateError{"inflate: data stream error (incorrect header check)", -3, err}
	case errors.Is(err, zlib.ErrDictionary):
		return &InflateError{"inflate: needs dictionary (no message)", 2, err}
	case isFlateError(err):
		return &InflateError{fmt.Sprintf("inflate: data stream error (%v)", err), -3, err}
	}
	return err
}

func isFlateError(err error) bool {
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	return errors.As(err, &corrupt) || errors.As(err, &internal)
}

// base is where an entry finds its delta base.
type base struct {
	off int64  // of a kindOfsDelta
	id  oid.ID // of a kindRefDelta
}
