package pack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// ErrEarlyEOF says that a pack ended before what it announced.
var ErrEarlyEOF = errors.New("early EOF")

// A TooBigError says that a pack is bigger than its reader wants.
type TooBigError struct{ Max int64 }

// Error is index-pack's message.
func (e *TooBigError) Error() string {
	return fmt.Sprintf("pack exceeds maximum allowed size (%s)", humanBytes(e.Max))
}

// humanBytes writes a size as git's progress meter and messages do.
func humanBytes(n int64) string {
	switch {
	case n > 1<<30:
		return fmt.Sprintf("%d.%02d GiB", n>>30, (n&(1<<30-1))/10737419)
	case n > 1<<20:
		x := n + 5243
		return fmt.Sprintf("%d.%02d MiB", x>>20, ((x&(1<<20-1))*100)>>20)
	case n > 1<<10:
		x := n + 5
		return fmt.Sprintf("%d.%02d KiB", x>>10, ((x&(1<<10-1))*100)>>10)
	case n == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

var errSignature = errors.New("pack signature mismatch")

// A versionError is the version of a pack that is not known.
type versionError uint32

func (v versionError) Error() string { return fmt.Sprintf("pack version %d unsupported", uint32(v)) }

// An input is a pack that comes in as a stream. It hands every byte on to sink
// once it is consumed, and keeps the checksum of all of them and the CRC-32 of
// those of the current entry.
type input struct {
	br   *bufio.Reader
	src  io.Reader
	sink func([]byte) error // may be nil
	sum  hash.Hash
	max  int64 // 0: no limit

	// held is what br read last; it is br's own buffer, which br overwrites only
	// after it asked for more.
	held    []byte
	base    int64 // stream offset of held
	crcDone int   // bytes of held that are in crc
	sumDone int   // bytes of held that are in sum and went to sink
	crc     uint32
	z       io.ReadCloser
}

const inputBuffer = 256 << 10

// newInput returns an input of src, before which comes what was read already.
func newInput(src io.Reader, read []byte, algo oid.Algo, max int64) *input {
	in := &input{src: src, sum: algo.NewChecksum(), max: max}
	if len(read) > 0 {
		in.src = io.MultiReader(bytes.NewReader(read), src)
	}
	in.br = bufio.NewReaderSize(fillFunc(in.fill), inputBuffer)
	return in
}

type fillFunc func([]byte) (int, error)

func (f fillFunc) Read(p []byte) (int, error) { return f(p) }

// fill is called by br when everything it holds is consumed.
func (in *input) fill(p []byte) (int, error) {
	if err := in.handOn(len(in.held)); err != nil {
		return 0, err
	}
	in.crc = crc32.Update(in.crc, crc32.IEEETable, in.held[in.crcDone:])
	in.base += int64(len(in.held))
	in.held, in.crcDone, in.sumDone = nil, 0, 0
	if in.max > 0 && in.base > in.max {
		return 0, &TooBigError{in.max}
	}
	n, err := in.src.Read(p)
	in.held = p[:n]
	if n == 0 && err != nil {
		if err == io.EOF {
			return 0, ErrEarlyEOF
		}
		return 0, fmt.Errorf("read error on input: %s", lockfile.Strerror(err))
	}
	return n, nil
}

func (in *input) used() int { return len(in.held) - in.br.Buffered() }

// offset returns how much of the stream is consumed.
func (in *input) offset() int64 { return in.base + int64(in.used()) }

// handOn passes the first n held bytes to the checksum and to the sink.
func (in *input) handOn(n int) error {
	b := in.held[in.sumDone:n]
	in.sumDone = n
	if in.sum == nil || len(b) == 0 {
		return nil
	}
	in.sum.Write(b)
	if in.sink == nil {
		return nil
	}
	return in.sink(b)
}

// beginEntry starts a new CRC-32.
func (in *input) beginEntry() { in.crc, in.crcDone = 0, in.used() }

// endEntry returns the CRC-32 of what was consumed since beginEntry.
func (in *input) endEntry() (uint32, error) {
	n := in.used()
	in.crc = crc32.Update(in.crc, crc32.IEEETable, in.held[in.crcDone:n])
	in.crcDone = n
	if in.max > 0 && in.offset() > in.max {
		return 0, &TooBigError{in.max}
	}
	return in.crc, nil
}

// header reads the head of the pack and returns the number of its entries.
func (in *input) header() (uint32, error) {
	var hdr [headerSize]byte
	if err := in.full(hdr[:]); err != nil {
		return 0, err
	}
	if binary.BigEndian.Uint32(hdr[:]) != packSignature {
		return 0, errSignature
	}
	if v := binary.BigEndian.Uint32(hdr[4:]); v != 2 && v != 3 {
		return 0, versionError(v)
	}
	return binary.BigEndian.Uint32(hdr[8:]), nil
}

func (in *input) full(p []byte) error {
	_, err := io.ReadFull(in.br, p)
	return err
}

// trailer reads the end of the pack and returns the checksum, which must be
// that of all bytes before it.
func (in *input) trailer(size int) (sum []byte, match bool, err error) {
	if err := in.handOn(in.used()); err != nil {
		return nil, false, err
	}
	sum = in.sum.Sum(nil)
	in.sum = nil
	stated := make([]byte, size)
	if err := in.full(stated); err != nil {
		return nil, false, err
	}
	return sum, bytes.Equal(sum, stated), nil
}

// rest returns what was read of the stream beyond the pack.
func (in *input) rest() []byte { return bytes.Clone(in.held[in.used():]) }

// junk reports whether more follows the pack in a regular file.
func (in *input) junk() (bool, error) {
	f, ok := in.src.(*os.File)
	if !ok {
		return false, nil
	}
	st, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("cannot fstat packfile: %s", lockfile.Strerror(err))
	}
	if !st.Mode().IsRegular() {
		return false, nil
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return false, nil
	}
	return at-int64(in.br.Buffered()) != st.Size(), nil
}

// A head is what an entry of the stream begins with.
type head struct {
	off  int64
	len  int // of the head itself
	kind byte
	size uint64
	base base
}

// entry reads the head of the next entry and leaves the input at its deflated
// stream. An error of the entry itself is a *BadObjectError.
func (in *input) entry(algo oid.Algo) (h head, err error) {
	h.off = in.offset()
	in.beginEntry()
	h.kind, h.size, _, err = readEntryHeader(in.br)
	if err == errEntryHeader || h.size > math.MaxInt64 {
		return h, errTooLarge
	}
	if err != nil {
		return h, err
	}
	switch h.kind {
	case kindRefDelta:
		var raw [oid.MaxSize]byte
		if err := in.full(raw[:algo.Size()]); err != nil {
			return h, err
		}
		h.base.id = algo.FromBytes(raw[:])
	case kindOfsDelta:
		back, _, err := readOfsBase(in.br)
		if err == errOfsOverflow {
			return h, &BadObjectError{h.off, badOffset, err.Error()}
		}
		if err != nil {
			return h, err
		}
		if back == 0 || back >= uint64(h.off) {
			return h, &BadObjectError{h.off, badBound, "delta base offset is out of bound"}
		}
		h.base.off = h.off - int64(back)
	case kindCommit, kindTree, kindBlob, kindTag:
	default:
		return h, &BadObjectError{h.off, badKind, fmt.Sprintf("unknown object type %d", h.kind)}
	}
	h.len = int(in.offset() - h.off)
	return h, nil
}

// inflater starts to inflate the entry of h.
func (in *input) inflater(h head) (io.Reader, error) {
	z, err := resetInflater(&in.z, in.br)
	if err != nil {
		return nil, in.inflateError(h, err)
	}
	return z, nil
}

// inflate inflates the entry of h into dst's array if that is big enough.
func (in *input) inflate(h head, dst []byte) ([]byte, error) {
	z, err := in.inflater(h)
	if err != nil {
		return nil, err
	}
	data, err := inflateAll(z, dst, h.size)
	if err != nil {
		return nil, in.inflateError(h, err)
	}
	return data, nil
}

// inflateError puts what went wrong with the entry of h into index-pack's words.
func (in *input) inflateError(h head, err error) error {
	var bad *InflateError
	switch {
	case errors.Is(err, ErrEarlyEOF):
		return ErrEarlyEOF
	case err == errShorter:
		return &BadObjectError{h.off, badData, "inflate returned 1"}
	case err == errLonger:
		return &BadObjectError{h.off, badData, "inflate returned -5"}
	}
	if err = inflateError(err); errors.As(err, &bad) {
		return &BadObjectError{h.off, badData, fmt.Sprintf("inflate returned %d", bad.code)}
	}
	return err
}

// A BadObjectError is an entry that cannot be decoded.
type BadObjectError struct {
	Offset int64
	reason badReason
	Msg    string
}

// A badReason is what is bad about an entry, for readers that word it otherwise.
type badReason uint8

const (
	badOffset badReason = iota
	badBound
	badKind
	badData
	badDelta
)

// Error is index-pack's message.
func (e *BadObjectError) Error() string {
	return fmt.Sprintf("pack has bad object at offset %d: %s", e.Offset, e.Msg)
}
