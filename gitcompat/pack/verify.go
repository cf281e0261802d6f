package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// An EntryInfo is what verify-pack shows of one entry.
type EntryInfo struct {
	ID     oid.ID
	Type   object.Type
	Size   uint64 // of what inflates from the entry
	Stored int64  // bytes in the pack
	Offset int64
	Depth  int    // of the chain, 0 for a whole object
	Base   oid.ID // of a delta
}

// VerifyFile indexes the packfile at path and compares the result with its
// index, and with its .rev if there is one and o says so. each, unless nil, is
// called with the entries in the order of the pack.
func VerifyFile(path, index string, o IndexOptions, each func(EntryInfo)) (*Indexed, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	idx, err := OpenIndex(index, o.Algo)
	if err != nil {
		return nil, fmt.Errorf("Cannot open existing pack idx file for '%s': %w", index, err)
	}
	o.Index = idx.format()
	idx.Close()
	x := newIndexer(&o, f, f)
	if each != nil {
		x.chains = []link32{}
	}
	if err := x.run(); err != nil {
		return nil, err
	}
	if n := x.unsolved(); n > 0 {
		return nil, unresolved(n)
	}
	if each != nil {
		x.each(each)
	}
	order := x.t.sorted()
	err = compareFile(index, func(w io.Writer) error { return x.t.writeIndex(w, order, x.sum, o.Index) })
	if base, ok := strings.CutSuffix(index, ".idx"); err == nil && o.RevIndex && ok {
		err = compareFile(base+".rev", func(w io.Writer) error { return x.t.writeRev(w, order, x.sum) })
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	return &Indexed{Checksum: o.Algo.FromBytes(x.sum), Objects: len(x.t.rows)}, err
}

func (x *indexer) each(f func(EntryInfo)) {
	for n := range x.t.rows {
		r := &x.t.rows[n]
		e := EntryInfo{
			ID: x.t.id(n), Type: object.Type(r.typ), Size: r.size,
			Stored: x.t.stop(n) - r.off, Offset: r.off,
		}
		if isDelta(r.kind) {
			e.Depth, e.Base = int(x.chains[n].depth), x.t.id(int(x.chains[n].base))
		}
		f(e)
	}
}

// format returns the format in which an index like x is written again.
func (x *Index) format() IndexFormat {
	f := IndexFormat{Version: x.version, Strict: true}
	if x.version == 1 {
		return f
	}
	for n := range x.count {
		if binary.BigEndian.Uint32(x.data[x.offs+4*n:])&0x80000000 == 0 {
			continue
		}
		if off, err := x.Offset(n); err == nil && off <= 1<<32-1 {
			if f.wide == nil {
				f.wide = map[int64]bool{}
			}
			f.wide[off] = true
		}
	}
	return f
}

// compareFile fails unless the file at path holds what write writes.
func compareFile(path string, write func(io.Writer) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := &comparer{f: f, path: path}
	if err := write(c); err != nil {
		return err
	}
	var more [1]byte
	if n, _ := f.Read(more[:]); n != 0 {
		return c.differs()
	}
	return nil
}

type comparer struct {
	f    *os.File
	path string
	buf  []byte
}

func (c *comparer) differs() error { return fmt.Errorf("sha1 file '%s' validation error", c.path) }

// Write implements io.Writer.
func (c *comparer) Write(b []byte) (int, error) {
	if cap(c.buf) < len(b) {
		c.buf = make([]byte, len(b))
	}
	if _, err := io.ReadFull(c.f, c.buf[:len(b)]); err != nil || !bytes.Equal(c.buf[:len(b)], b) {
		return 0, c.differs()
	}
	return len(b), nil
}
