package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unsafe"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A CorruptError means that a file is not a valid index.
type CorruptError struct {
	Lines  []string // what git writes to stderr first, whole lines
	Reason string   // what git dies of

	version bool // it is no index of a known version, whatever its checksum
}

func (e *CorruptError) Error() string { return e.Reason }

// Before returns the lines that belong before the message.
func (e *CorruptError) Before() []string { return e.Lines }

// An UnsupportedError means that the index is of a kind that this package does
// not read. Nothing may be guessed about such an index.
type UnsupportedError struct {
	Feature string // "split index", "sparse index"
}

func (e *UnsupportedError) Error() string { return "a " + e.Feature + " is not implemented" }

func corrupt(format string, args ...any) *CorruptError {
	return &CorruptError{Reason: "index file corrupt", Lines: []string{"error: " + fmt.Sprintf(format, args...)}}
}

const (
	headerSize = 12
	signature  = "DIRC"
	statSize   = 40 // ten u32 before the object name

	minVersion = 2
	maxVersion = 4

	onDiskAssumeValid  = 1 << 15
	onDiskExtended     = 1 << 14
	onDiskStageShift   = 12
	onDiskNameMask     = 0xfff
	onDiskSkipWorktree = 1 << 14 // of the extended flags
	onDiskIntentToAdd  = 1 << 13
)

// Read reads the index file at path. A file that does not exist is an empty index.
func Read(path string, algo oid.Algo, o Options) (*Index, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return New(algo, o), nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: index file open failed: %s", path, vfs.Strerror(err))
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: cannot stat the open index: %s", path, vfs.Strerror(err))
	}
	if fi.Size() < int64(headerSize+algo.Size()) {
		return nil, fmt.Errorf("%s: index file smaller than expected", path)
	}
	x, err := readOpen(f, fi.Size(), algo, o)
	if err != nil {
		return nil, err
	}
	st := StatOf(fi)
	x.time = timestamp{st.MTimeSec, st.MTimeNsec}
	return x, nil
}

// mapFrom is the size from which a file is mapped instead of read: a million
// entries then take half the time and half the memory.
const mapFrom = 1 << 20

// readOpen reads the index of the given size in f.
func readOpen(f *os.File, size int64, algo oid.Algo, o Options) (*Index, error) {
	if size >= mapFrom {
		if data, unmap, err := mapFile(f, size); err == nil {
			return parseMapped(data, unmap, algo, o)
		}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: unable to map index file: %s", f.Name(), vfs.Strerror(err))
	}
	return Parse(data, algo, o)
}

// parseMapped is Parse for a mapped file. The checksum, which git does not look
// at when it reads, is taken beside the parsing and not waited for; whoever
// writes the index again asks for it (I7).
func parseMapped(data []byte, unmap func(), algo oid.Algo, o Options) (*Index, error) {
	parsed, good := make(chan struct{}), make(chan bool, 1)
	go func() {
		ok := checksumHolds(data, algo)
		<-parsed
		unmap()
		good <- ok
	}()
	x, err := parse(data, algo, o, true)
	close(parsed)
	if err != nil {
		// A checksum that does not hold explains whatever else is wrong.
		if !<-good {
			return nil, errChecksum()
		}
		return nil, err
	}
	x.good = good
	return x, nil
}

// verified waits for the checksum of the file that x was read from.
func (x *Index) verified() error {
	if x.good == nil {
		return nil
	}
	ok := <-x.good
	x.good <- ok
	if !ok {
		return errChecksum()
	}
	return nil
}

func checksumHolds(data []byte, algo oid.Algo) bool {
	end := len(data) - algo.Size()
	want := algo.FromBytes(data[end:])
	if want.IsNull() { // index.skipHash
		return true
	}
	h := algo.NewChecksum()
	h.Write(data[:end])
	return algo.FromHash(h) == want
}

func errChecksum() error { return corrupt("bad index file sha1 signature") }

// A reader walks over the bytes of an index file.
type reader struct {
	x    *Index
	data []byte // without the trailer
	text string // the same bytes, for names
	off  int

	apart    bool // names may not be part of the data
	nameless bool // an entry has no name, as those of a split index that replace others
}

// Parse reads an index from data, which it keeps: names of versions 2 and 3 are
// parts of it.
func Parse(data []byte, algo oid.Algo, o Options) (*Index, error) {
	x, err := parse(data, algo, o, false)
	if len(data) >= headerSize+algo.Size() && string(data[:4]) == signature && !checksumHolds(data, algo) {
		var c *CorruptError
		if err == nil || !errors.As(err, &c) || !c.version {
			return nil, errChecksum()
		}
	}
	return x, err
}

// parse reads an index without a look at its checksum. With apart nothing in
// the result is part of data.
func parse(data []byte, algo oid.Algo, o Options, apart bool) (*Index, error) {
	if len(data) < headerSize+algo.Size() {
		return nil, &CorruptError{Reason: "index file smaller than expected"}
	}
	if string(data[:4]) != signature {
		// git prints the word as the machine, little-endian, reads it
		return nil, corrupt("bad signature 0x%08x", binary.LittleEndian.Uint32(data))
	}
	version := binary.BigEndian.Uint32(data[4:])
	if version < minVersion || version > maxVersion {
		err := corrupt("bad index version %d", int32(version))
		err.version = true
		return nil, err
	}
	end := len(data) - algo.Size()
	x := New(algo, o)
	x.Version = version
	x.Checksum = algo.FromBytes(data[end:])
	r := reader{x: x, data: data[:end:end], off: headerSize, apart: apart}
	r.text = unsafe.String(&data[0], end) // data is never written to again
	err := r.entries(binary.BigEndian.Uint32(data[8:]))
	if err == nil {
		err = r.extensions()
	}
	if err == nil && r.nameless {
		err = corrupt("an entry of the index has no name")
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

func (r *reader) entries(count uint32) error {
	hashSize := r.x.Algo.Size()
	fixed := statSize + hashSize + 2
	smallest := fixed + 2 // v4: a number, a NUL
	if r.x.Version < 4 {
		smallest = (fixed + 8) &^ 7
	}
	if int64(count)*int64(smallest) > int64(len(r.data)-headerSize) {
		return corrupt("index has no room for %d entries", count) // I5
	}
	if count == 0 {
		return nil
	}
	names := nameBuffer{budget: int64(count)*maxNameAverage + int64(len(r.data))}
	// Few and large allocations, the largest last: the collector then has at most one look at
	// them, and nobody who allocates bit by bit has to help it, which costs more than the reading.
	if r.apart && r.x.Version < 4 {
		names.free = make([]byte, len(r.data)-headerSize-int(count)*fixed)
	}
	r.x.Entries = make([]*Entry, count, int(count)+int(count)/64+16)
	block := make([]Entry, count)
	prev := ""
	for i := range block {
		e := &block[i]
		if err := r.entry(e, hashSize, prev, &names); err != nil {
			return err
		}
		if e.Name == "" {
			r.nameless = true
		} else if i > 0 && prev >= e.Name {
			if err := checkOrder(&block[i-1], e); err != nil {
				return err
			}
		}
		prev = e.Name
		r.x.Entries[i] = e
	}
	return nil
}

// checkOrder checks I3 for an entry whose path is not after that of the one before it.
func checkOrder(a, b *Entry) error {
	switch {
	case a.Name > b.Name:
		return &CorruptError{Reason: "unordered stage entries in index"}
	case a.Stage == 0:
		return &CorruptError{Reason: fmt.Sprintf("multiple stage entries for merged file '%s'", a.Name)}
	case a.Stage >= b.Stage:
		return &CorruptError{Reason: fmt.Sprintf("unordered stage entries for '%s'", a.Name)}
	}
	return nil
}

// entry reads one entry.
func (r *reader) entry(e *Entry, hashSize int, prev string, names *nameBuffer) error {
	fixed := statSize + hashSize + 2
	if len(r.data)-r.off < fixed {
		return corrupt("index ends within an entry")
	}
	b := r.data[r.off : r.off+fixed]
	be := binary.BigEndian
	e.Stat = Stat{
		CTimeSec: be.Uint32(b), CTimeNsec: be.Uint32(b[4:]),
		MTimeSec: be.Uint32(b[8:]), MTimeNsec: be.Uint32(b[12:]),
		Dev: be.Uint32(b[16:]), Ino: be.Uint32(b[20:]),
		UID: be.Uint32(b[28:]), GID: be.Uint32(b[32:]), Size: be.Uint32(b[36:]),
	}
	e.Mode = be.Uint32(b[24:])
	e.ID = r.x.Algo.FromBytes(b[statSize:])
	flags := be.Uint16(b[statSize+hashSize:])
	e.Stage = uint8(flags>>onDiskStageShift) & 3
	if flags&onDiskAssumeValid != 0 {
		e.Flags |= AssumeValid
	}
	start := r.off
	r.off += fixed
	if flags&onDiskExtended != 0 {
		if err := r.extendedFlags(e); err != nil {
			return err
		}
	}
	length := int(flags & onDiskNameMask)
	var err error
	if r.x.Version == 4 {
		e.Name, err = r.compressedName(length, prev, names)
	} else {
		e.Name, err = r.paddedName(length, start)
		if r.apart && err == nil {
			e.Name, _ = names.join("", e.Name)
		}
	}
	if err == nil && e.Mode&typeMask == ModeDir {
		err = &UnsupportedError{Feature: "sparse index"}
	}
	return err
}

func (r *reader) extendedFlags(e *Entry) error {
	if len(r.data)-r.off < 2 {
		return corrupt("index ends within an entry")
	}
	ext := binary.BigEndian.Uint16(r.data[r.off:])
	r.off += 2
	if ext&^(onDiskSkipWorktree|onDiskIntentToAdd) != 0 {
		return &CorruptError{Reason: fmt.Sprintf("unknown index entry format 0x%08x", uint32(ext)<<16)}
	}
	if ext&onDiskSkipWorktree != 0 {
		e.Flags |= SkipWorktree
	}
	if ext&onDiskIntentToAdd != 0 {
		e.Flags |= IntentToAdd
	}
	return nil
}

// paddedName reads the name of an entry that began at start (versions 2 and 3).
func (r *reader) paddedName(length, start int) (string, error) {
	rest := r.text[r.off:]
	nul := indexNUL(rest)
	if nul < 0 || (nul != length && (length < onDiskNameMask || nul < onDiskNameMask)) {
		return "", corrupt("malformed name field in the index, near offset %d", r.off)
	}
	next := start + ((r.off-start)+nul+8)&^7
	if next > len(r.data) {
		return "", corrupt("index ends within an entry")
	}
	r.off = next
	return rest[:nul], nil
}

// compressedName reads a name of version 4: how many bytes of the previous one
// to drop, and what to append to the rest.
func (r *reader) compressedName(length int, prev string, names *nameBuffer) (string, error) {
	strip, n := uvarint(r.data[r.off:])
	if n <= 0 || strip > uint64(len(prev)) {
		return "", &CorruptError{Reason: fmt.Sprintf("malformed name field in the index, near path '%s'", prev)}
	}
	r.off += n
	rest := r.text[r.off:]
	nul := indexNUL(rest)
	keep := len(prev) - int(strip)
	total := keep + nul
	if nul < 0 || (total != length && (length < onDiskNameMask || total < onDiskNameMask)) {
		return "", &CorruptError{Reason: fmt.Sprintf("malformed name field in the index, near path '%s'", prev)}
	}
	r.off += nul + 1
	name, ok := names.join(prev[:keep], rest[:nul])
	if !ok {
		return "", corrupt("names in the index are too long")
	}
	return name, nil
}

// maxNameAverage bounds what the names of a version 4 index may expand to (I5).
const maxNameAverage = 4096

// nameBlock is how many bytes of names are allocated at once.
const nameBlock = 64 << 10

// A nameBuffer holds the names of a version 4 index, many to an allocation.
type nameBuffer struct {
	free   []byte
	budget int64
}

func (b *nameBuffer) join(head, tail string) (string, bool) {
	n := len(head) + len(tail)
	if n == 0 {
		return "", true
	}
	if b.budget -= int64(n); b.budget < 0 {
		return "", false
	}
	if len(b.free) < n {
		b.free = make([]byte, max(n, nameBlock))
	}
	name := b.free[:n:n]
	b.free = b.free[n:]
	copy(name, head)
	copy(name[len(head):], tail)
	return unsafe.String(&name[0], n), true // n > 0; name is never written to again
}

// uvarint decodes the offset encoding of packfiles, which git also uses here.
func uvarint(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i > 9 {
			return 0, -1
		}
		if i > 0 {
			v++
		}
		v = v<<7 | uint64(c&0x7f)
		if c&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, -1
}

func appendUvarint(dst []byte, v uint64) []byte {
	var buf [10]byte
	i := len(buf) - 1
	buf[i] = byte(v & 0x7f)
	for v >>= 7; v != 0; v >>= 7 {
		v--
		i--
		buf[i] = 0x80 | byte(v&0x7f)
	}
	return append(dst, buf[i:]...)
}
