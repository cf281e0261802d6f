package index

import (
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// bufferSize is how much is encoded before it is hashed and written.
const bufferSize = 1 << 20

// An encoder writes an index file.
type encoder struct {
	x     *Index
	w     io.Writer
	buf   []byte
	done  int // bytes before buf
	sum   hash.Hash
	eoie  hash.Hash // over the headers of the extensions; nil if EOIE is not to be written
	ieot  []byte    // payload of IEOT after its version
	full  chan []byte
	empty chan []byte
	err   error // of the goroutine that hashes and writes; valid once it has ended
	ended chan struct{}
}

// Encode writes the index file to w, and records its version and checksum in
// x. Entries that may be racily clean are smudged first (I4).
func (x *Index) Encode(w io.Writer) error {
	if err := x.verified(); err != nil {
		return err
	}
	if err := x.prepare(); err != nil {
		return err
	}
	enc := &encoder{x: x, w: w, buf: make([]byte, 0, x.bufferSize())}
	if !x.Options.SkipHash {
		enc.sum = x.Algo.NewChecksum()
	}
	enc.start()
	enc.header()
	enc.entries()
	enc.extensions()
	return enc.finish()
}

// bufferSize is the size of the file if that is small: most are.
func (x *Index) bufferSize() int {
	const perEntry = 160
	return min(bufferSize, 4096+len(x.Entries)*perEntry)
}

// prepare makes the entries fit to be written, in one pass over them: with a
// million, each pass counts. It chooses the version.
func (x *Index) prepare() error {
	var all Flags
	racy := x.time.sec != 0 && x.Options.WorkTree != ""
	for _, e := range x.Entries {
		all |= e.Flags
		if racy && e.Flags&(UpToDate|Remove) == 0 && x.IsRacy(e) {
			x.smudge(e)
		}
		if e.ID.IsNull() && e.Flags&Remove == 0 {
			if err := x.null(e); err != nil {
				return err
			}
		}
	}
	if all&Remove != 0 {
		x.RemoveMarked()
	}
	if x.Version == 0 {
		x.Version = 3
		if x.Options.Version != nil {
			x.Version = x.Options.Version()
		}
	}
	if x.Version <= 3 {
		x.Version = 2
		if all&extendedFlags != 0 {
			x.Version = 3
		}
	}
	return nil
}

// null refuses an entry without an object, as git does; where it is allowed
// after all, no tree can be known.
func (x *Index) null(e *Entry) error {
	if !x.Options.AllowNullID {
		return fmt.Errorf("cache entry has null sha1: %s", e.Name)
	}
	x.Warnings = append(x.Warnings, "warning: cache entry has null sha1: "+e.Name)
	x.Tree = nil
	return nil
}

// smudge sets the size of a racy entry to zero if its file looks unchanged and
// is not, where the stat data could never tell (I4).
func (x *Index) smudge(e *Entry) {
	var st FileStat
	if Lstat(x.Options.WorkTree+"/"+e.Name, &st) != nil || x.MatchBasic(e, &st) != 0 {
		return
	}
	if x.compareFile(e, &st) != 0 {
		e.Stat.Size = 0
	}
}

// start begins to hash and write beside the encoding where there is enough of
// it: with a million entries that takes a third off.
func (enc *encoder) start() {
	if cap(enc.buf) < bufferSize {
		return
	}
	enc.full, enc.empty, enc.ended = make(chan []byte), make(chan []byte, 1), make(chan struct{})
	enc.empty <- make([]byte, 0, bufferSize)
	go func() {
		for b := range enc.full {
			if enc.err == nil {
				enc.err = enc.emit(b)
			}
			enc.empty <- b[:0]
		}
		close(enc.ended)
	}()
}

func (enc *encoder) emit(b []byte) error {
	if enc.sum != nil {
		enc.sum.Write(b)
	}
	_, err := enc.w.Write(b)
	return err
}

// flush passes the buffer on.
func (enc *encoder) flush() {
	enc.done += len(enc.buf)
	if enc.full == nil {
		if enc.err == nil {
			enc.err = enc.emit(enc.buf)
		}
		enc.buf = enc.buf[:0]
		return
	}
	enc.full <- enc.buf
	enc.buf = <-enc.empty
}

func (enc *encoder) offset() int { return enc.done + len(enc.buf) }

func (enc *encoder) header() {
	enc.buf = append(enc.buf, signature...)
	enc.buf = binary.BigEndian.AppendUint32(enc.buf, enc.x.Version)
	enc.buf = binary.BigEndian.AppendUint32(enc.buf, uint32(len(enc.x.Entries)))
}

func (enc *encoder) entries() {
	x := enc.x
	block := x.Options.blockSize(len(x.Entries))
	prev, blockStart, inBlock := "", enc.offset(), 0
	for i, e := range x.Entries {
		if block > 0 && i > 0 && i%block == 0 {
			enc.addBlock(blockStart, inBlock)
			// With nothing in common, the first entry of a block is readable without the one before it.
			blockStart, inBlock = enc.offset(), 0
			if prev != "" {
				prev = "\x00" + prev[1:]
			}
		}
		inBlock++
		if room := cap(enc.buf) - len(enc.buf); room < statSize+oid.MaxSize+4+10+8+len(e.Name) && len(enc.buf) > 0 {
			enc.flush()
		}
		enc.buf = appendEntry(enc.buf, e, x.Version, prev)
		prev = e.Name
	}
	if block > 0 && inBlock > 0 {
		enc.addBlock(blockStart, inBlock)
	}
}

func (enc *encoder) addBlock(start, n int) {
	enc.ieot = binary.BigEndian.AppendUint32(enc.ieot, uint32(start))
	enc.ieot = binary.BigEndian.AppendUint32(enc.ieot, uint32(n))
}

// appendEntry encodes e, which follows an entry named prev.
func appendEntry(dst []byte, e *Entry, version uint32, prev string) []byte {
	start := len(dst)
	be := binary.BigEndian
	dst = slices.Grow(dst, statSize+oid.MaxSize+4)[:start+statSize]
	b, s := dst[start:], &e.Stat
	be.PutUint32(b[36:], s.Size) // last first: one check of bounds for all
	be.PutUint32(b[0:], s.CTimeSec)
	be.PutUint32(b[4:], s.CTimeNsec)
	be.PutUint32(b[8:], s.MTimeSec)
	be.PutUint32(b[12:], s.MTimeNsec)
	be.PutUint32(b[16:], s.Dev)
	be.PutUint32(b[20:], s.Ino)
	be.PutUint32(b[24:], e.Mode)
	be.PutUint32(b[28:], s.UID)
	be.PutUint32(b[32:], s.GID)
	dst = e.ID.Append(dst)
	flags := uint16(e.Stage)<<onDiskStageShift | uint16(min(len(e.Name), onDiskNameMask))
	if e.Flags&AssumeValid != 0 {
		flags |= onDiskAssumeValid
	}
	if e.Flags&extendedFlags != 0 {
		var ext uint16
		if e.Flags&SkipWorktree != 0 {
			ext |= onDiskSkipWorktree
		}
		if e.Flags&IntentToAdd != 0 {
			ext |= onDiskIntentToAdd
		}
		dst = be.AppendUint16(dst, flags|onDiskExtended)
		dst = be.AppendUint16(dst, ext)
	} else {
		dst = be.AppendUint16(dst, flags)
	}
	if version == 4 {
		common := 0
		for common < len(prev) && common < len(e.Name) && prev[common] == e.Name[common] {
			common++
		}
		dst = appendUvarint(dst, uint64(len(prev)-common))
		return append(append(dst, e.Name[common:]...), 0)
	}
	dst = append(dst, e.Name...)
	const padding = "\x00\x00\x00\x00\x00\x00\x00\x00"
	return append(dst, padding[:8-(len(dst)-start)&7]...)
}

// extensions writes what follows the entries, in git's order.
func (enc *encoder) extensions() {
	x := enc.x
	end := enc.offset()
	if x.Options.recordEOIE() {
		enc.eoie = x.Algo.NewChecksum()
	}
	if enc.ieot != nil {
		enc.extension("IEOT", append([]byte{0, 0, 0, 1}, enc.ieot...))
	}
	if x.Tree != nil {
		enc.extension("TREE", x.Tree.append(nil))
	}
	if x.HasUndo {
		enc.extension("REUC", x.appendUndo(nil))
	}
	if x.untracked != nil {
		enc.extension("UNTR", x.untracked)
	}
	if x.fsmonitor != nil {
		enc.extension("FSMN", x.fsmonitor)
	}
	if enc.eoie != nil {
		sum := enc.eoie
		enc.eoie = nil
		enc.extension("EOIE", sum.Sum(binary.BigEndian.AppendUint32(nil, uint32(end))))
	}
}

func (enc *encoder) extension(sig string, payload []byte) {
	var header [8]byte
	copy(header[:], sig)
	binary.BigEndian.PutUint32(header[4:], uint32(len(payload)))
	if enc.eoie != nil {
		enc.eoie.Write(header[:])
	}
	enc.append(header[:])
	enc.append(payload)
}

func (enc *encoder) append(b []byte) {
	for len(b) > 0 {
		if len(enc.buf) == cap(enc.buf) {
			enc.flush()
		}
		n := min(len(b), cap(enc.buf)-len(enc.buf))
		enc.buf = append(enc.buf, b[:n]...)
		b = b[n:]
	}
}

// finish writes what is left, and the trailer in the same call.
func (enc *encoder) finish() error {
	if enc.full != nil {
		close(enc.full)
		<-enc.ended
	}
	if enc.err != nil {
		return enc.err
	}
	x := enc.x
	x.Checksum = x.Algo.Null()
	if enc.sum != nil {
		enc.sum.Write(enc.buf)
		x.Checksum = x.Algo.FromHash(enc.sum)
	}
	enc.buf = x.Checksum.Append(enc.buf)
	_, err := enc.w.Write(enc.buf)
	return err
}
