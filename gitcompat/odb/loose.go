package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// maxRatio is more than deflate can expand by: 258 bytes from two bits, and the
// file's own overhead (D3).
const maxRatio = 1040

// wholeFile is the size up to which a loose file is read in one call.
const wholeFile = 256 << 10

// An inflater is a zlib reader with its input, kept for the next object.
type inflater struct {
	z    io.ReadCloser
	mem  bytes.Reader
	file *os.File // nil while the input is mem
	big  fileReader
	buf  []byte
	hdr  [object.MaxHeader]byte
	have int // of hdr, past the header
	used int
}

// fileReader reads a file for flate, which takes no more than it needs from a
// ByteReader.
type fileReader struct {
	f    *os.File
	buf  []byte
	r, w int
	err  error
}

func (b *fileReader) fill() bool {
	if b.r < b.w {
		return true
	}
	if b.err != nil {
		return false
	}
	if b.buf == nil {
		b.buf = make([]byte, 64<<10)
	}
	b.r = 0
	b.w, b.err = b.f.Read(b.buf)
	return b.w > 0
}

func (b *fileReader) Read(p []byte) (int, error) {
	if !b.fill() {
		return 0, b.err
	}
	n := copy(p, b.buf[b.r:b.w])
	b.r += n
	return n, nil
}

func (b *fileReader) ReadByte() (byte, error) {
	if !b.fill() {
		return 0, b.err
	}
	c := b.buf[b.r]
	b.r++
	return c, nil
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// An emptyError is a loose file without a byte in it.
type emptyError struct{ path string }

func (e *emptyError) Error() string { return "object file " + e.path + " is empty" }

// An inflateError is an object that zlib gives up on.
type inflateError struct {
	error
	cause error
}

// note is what git prints before the error; nil for nothing.
func (e *inflateError) note() error {
	switch e.cause {
	case zlib.ErrDictionary:
		return errors.New("inflate: needs dictionary (no message)")
	case zlib.ErrHeader:
		return errors.New("inflate: data stream error (incorrect header check)")
	}
	return nil
}

// openLoose opens the loose file at path, and the stream in it up to the end of
// the object's header. The inflater must be put back with release.
func openLoose(path string, id oid.ID) (in *inflater, typ object.Type, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	in = inflaters.Get().(*inflater)
	fail := func(err error) (*inflater, object.Type, int64, error) {
		in.release()
		return nil, object.Bad, 0, err
	}
	in.file = f
	length, err := in.input(path)
	if err != nil {
		return fail(err)
	}
	n := 0
	if err = in.start(); err == nil {
		n, err = in.header()
	}
	if err != nil {
		return fail(&inflateError{fmt.Errorf("unable to unpack %s header", id), err})
	}
	typ, size, in.used, err = object.ParseHeader(in.hdr[:n])
	switch err {
	case nil:
	case object.ErrHeaderLong:
		return fail(fmt.Errorf("header for %s too long, exceeds %d bytes", id, object.MaxHeader))
	case object.ErrHeaderType:
		return fail(object.ErrHeaderType)
	default:
		if n < object.MaxHeader && bytes.IndexByte(in.hdr[:n], 0) < 0 {
			return fail(fmt.Errorf("unable to unpack %s header", id))
		}
		return fail(fmt.Errorf("unable to parse %s header", id))
	}
	if size/maxRatio > length {
		return fail(fmt.Errorf("corrupt loose object '%s'", id))
	}
	in.have = n
	return in, typ, size, nil
}

// input makes the content of in.file the input and returns its length.
func (in *inflater) input(path string) (int64, error) {
	st, err := in.file.Stat()
	if err != nil {
		return 0, err
	}
	length := st.Size()
	if length == 0 {
		return 0, &emptyError{path}
	}
	if length > wholeFile {
		in.big = fileReader{f: in.file, buf: in.big.buf}
		return length, nil
	}
	if int64(cap(in.buf)) < length {
		in.buf = make([]byte, length, max(length, 4096))
	}
	n, err := io.ReadFull(in.file, in.buf[:length])
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, &sysError{"unable to read " + path, err}
	}
	in.mem.Reset(in.buf[:n])
	in.file.Close()
	in.file = nil
	return length, nil
}

// start begins to inflate the input.
func (in *inflater) start() (err error) {
	var src io.Reader = &in.mem
	if in.file != nil {
		src = &in.big
	}
	if in.z == nil {
		in.z, err = zlib.NewReader(src)
		return err
	}
	return in.z.(zlib.Resetter).Reset(src, nil)
}

// header inflates what may be the header. Objects can be shorter than it may be.
func (in *inflater) header() (n int, err error) {
	for n < len(in.hdr) && err == nil {
		var m int
		m, err = in.z.Read(in.hdr[n:])
		n += m
		if bytes.IndexByte(in.hdr[:n], 0) >= 0 {
			return n, nil // what is wrong after it shows again
		}
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// Read reads what follows the header.
func (in *inflater) Read(p []byte) (int, error) {
	if in.used < in.have {
		n := copy(p, in.hdr[in.used:in.have])
		in.used += n
		return n, nil
	}
	return in.z.Read(p)
}

// atEnd checks that the stream ends here, and the file with it.
func (in *inflater) atEnd(id oid.ID) error {
	var one [1]byte
	for in.used == in.have {
		n, err := in.z.Read(one[:])
		if n > 0 || err != nil && err != io.EOF {
			break
		}
		if err == nil {
			continue
		}
		if in.mem.Len() > 0 || in.file != nil && in.big.fill() {
			return fmt.Errorf("garbage at end of loose object '%s'", id)
		}
		return nil
	}
	return fmt.Errorf("corrupt loose object '%s'", id)
}

func (in *inflater) release() {
	if in.file != nil {
		in.file.Close()
		in.file = nil
	}
	in.mem.Reset(nil)
	in.have, in.used = 0, 0
	if cap(in.buf) <= wholeFile {
		inflaters.Put(in)
	}
}

// readLoose reads a whole loose object.
func readLoose(path string, id oid.ID) (object.Type, []byte, error) {
	in, typ, size, err := openLoose(path, id)
	if err != nil {
		return object.Bad, nil, err
	}
	defer in.release()
	data, err := in.content(size, id)
	return typ, data, err
}

func (in *inflater) content(size int64, id oid.ID) ([]byte, error) {
	data := make([]byte, size)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, fmt.Errorf("corrupt loose object '%s'", id)
	}
	return data, in.atEnd(id)
}

// infoLoose reads the header of a loose object.
func infoLoose(path string, id oid.ID) (object.Type, int64, error) {
	in, typ, size, err := openLoose(path, id)
	if err != nil {
		return object.Bad, 0, err
	}
	in.release()
	return typ, size, nil
}

// A looseStream is a loose object that is read as a stream.
type looseStream struct {
	in   *inflater
	id   oid.ID
	left int64
	err  error
}

func (s *looseStream) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.left == 0 {
		if s.err = s.in.atEnd(s.id); s.err == nil {
			s.err = io.EOF
		}
		return 0, s.err
	}
	n, err := s.in.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if err != nil && s.left > 0 {
		s.err = fmt.Errorf("corrupt loose object '%s'", s.id)
		return n, s.err
	}
	return n, nil
}

func (s *looseStream) Close() error {
	if s.in != nil {
		s.in.release()
		s.in, s.err = nil, fs.ErrClosed
	}
	return nil
}

func streamLoose(path string, id oid.ID) (object.Type, int64, io.ReadCloser, error) {
	in, typ, size, err := openLoose(path, id)
	if err != nil {
		return object.Bad, 0, nil, err
	}
	return typ, size, &looseStream{in: in, id: id, left: size}, nil
}

// intact reports whether the loose file at path holds the object with the given
// type and content.
func intact(path string, id oid.ID, typ object.Type, content []byte) bool {
	in, t, size, err := openLoose(path, id)
	if err != nil {
		return false
	}
	defer in.release()
	if t != typ || size != int64(len(content)) {
		return false
	}
	buf := make([]byte, min(len(content), 32<<10))
	for len(content) > 0 {
		n, err := in.Read(buf[:min(len(buf), len(content))])
		if !bytes.Equal(buf[:n], content[:n]) {
			return false
		}
		if content = content[n:]; err != nil && len(content) > 0 {
			return false
		}
	}
	return in.atEnd(id) == nil
}

// decodes reports whether the loose file at path can be read to its end.
func decodes(path string, id oid.ID) bool {
	_, size, r, err := streamLoose(path, id)
	if err != nil {
		return false
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	return err == nil && n == size
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || notDir(err)
}
