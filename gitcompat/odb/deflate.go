package odb

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
)

// A Level is a zlib compression level. The zero value is "not set".
type Level uint8

// NewLevel returns the level n, -1 (zlib's default) to 9.
func NewLevel(n int) (Level, error) {
	if n < -1 || n > 9 {
		return 0, fmt.Errorf("bad zlib compression level %d", n)
	}
	return Level(n + 2), nil
}

// value returns zlib's number of the level, or def where none is set.
func (l Level) value(def int) int {
	if l == 0 {
		return def
	}
	return int(l) - 2
}

// looseLevel is git's default for loose objects.
const looseLevel = zlib.BestSpeed

// bufferSize is the size of the writes of a big object; smaller ones take one.
const bufferSize = 1 << 20

// A deflater is a zlib writer with a buffer of its output, kept for the next object.
type deflater struct {
	z   *zlib.Writer
	out outBuffer
}

// outBuffer gathers output for few writes.
type outBuffer struct {
	w   io.Writer
	buf []byte
}

func (b *outBuffer) Write(p []byte) (int, error) {
	if len(b.buf) > 0 && len(b.buf)+len(p) > bufferSize {
		if err := b.flush(); err != nil {
			return 0, err
		}
	}
	b.buf = append(b.buf, p...)
	return len(p), nil
}

func (b *outBuffer) flush() error {
	_, err := b.w.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}

func newDeflater(l Level) *deflater {
	d := &deflater{}
	z, err := zlib.NewWriterLevel(&d.out, l.value(looseLevel))
	if err != nil {
		panic("BUG: " + err.Error()) // NewLevel lets no other level pass
	}
	d.z = z
	return d
}

// start begins an object that goes to w.
func (d *deflater) start(w io.Writer) {
	d.out.w = w
	d.out.buf = d.out.buf[:0]
	d.z.Reset(&d.out)
}

// finish ends the object; everything is written after it.
func (d *deflater) finish() error {
	if err := d.z.Close(); err != nil {
		return err
	}
	err := d.out.flush()
	d.out.w = nil
	return err
}
