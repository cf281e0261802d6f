package refs

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"errors"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// packedChange is what a transaction does to packed-refs.
type packedChange struct {
	deletions []string
	lock      *lockfile.Lock
	staged    bool // a new packed-refs is on its way
}

func (p *packedChange) end(error) {
	if p.lock != nil {
		p.lock.Rollback()
	}
}

// hookInput is what the hook sees of the change: git makes it a transaction of
// its own, without values.
func (p *packedChange) hookInput(tx *Transaction) []byte {
	var b []byte
	for _, name := range p.deletions {
		b = tx.appendValue(b, Value{})
		b = tx.appendValue(b, Value{})
		b = append(append(b, name...), '\n')
	}
	return b
}

// preparePacked locks packed-refs if refs are deleted, and stages a new one if
// any of them is in it. The lock is kept either way, so that nobody packs a ref
// that is about to go.
func (tx *Transaction) preparePacked(b *syncpolicy.Barrier) error {
	p := &tx.packed
	if len(p.deletions) == 0 {
		return nil
	}
	lk, snap, err := tx.s.lockPacked()
	if err != nil {
		return err
	}
	p.lock, tx.snap = lk, snap
	input := func() []byte { return p.hookInput(tx) }
	present := false
	for _, name := range p.deletions {
		_, found, err := snap.lookup(name)
		if err != nil {
			return err
		}
		if present = present || found; present {
			break
		}
	}
	if !present {
		if tx.s.o.Hook != nil && !tx.silent() {
			tx.s.o.Hook("aborted", input())
		}
		return nil
	}
	if err := tx.hook("preparing", input); err != nil {
		return err
	}
	changes := make([]packedEntry, len(p.deletions))
	for i, name := range p.deletions {
		changes[i].name = name
	}
	slices.SortFunc(changes, func(a, b packedEntry) int { return strings.Compare(a.name, b.name) })
	if err := tx.s.stagePacked(b, syncpolicy.PackedDeletions, lk, snap, slices.Values(changes)); err != nil {
		return err
	}
	p.staged = true
	return tx.hook("prepared", input)
}

// lockPacked takes the lock of packed-refs, and reads it.
func (s *Store) lockPacked() (*lockfile.Lock, *snapshot, error) {
	lk, err := s.o.Locker.Hold(s.packedPath(), lockfile.Options{Timeout: s.o.PackedLockTimeout, PIDFile: true})
	if err != nil {
		return nil, nil, err
	}
	if err := lk.Close(); err != nil {
		lk.Rollback()
		return nil, nil, fmt.Errorf("unable to close %s: %w", s.packedPath(), errnoText(err))
	}
	snap, err := s.reload()
	if err != nil {
		lk.Rollback()
		return nil, nil, err
	}
	return lk, snap, nil
}

// A packedEntry replaces one record of packed-refs; a null id deletes it.
type packedEntry struct {
	name       string
	id, peeled oid.ID
}

// stagePacked streams the records of snap with changes, which are sorted, into
// packed-refs.new, and has the barrier rename it.
func (s *Store) stagePacked(b *syncpolicy.Barrier, ph syncpolicy.Phase, lk *lockfile.Lock, snap *snapshot, changes func(func(packedEntry) bool)) error {
	path := lk.Path() + ".new"
	f, err := s.createPacked(path)
	if err != nil {
		return fmt.Errorf("unable to create file %s: %w", path, errnoText(err))
	}
	w := &packedWriter{out: bufio.NewWriterSize(f, 1<<18), s: s}
	w.out.WriteString(packedHeader)
	err = w.merge(snap, changes)
	if ferr := w.out.Flush(); ferr != nil {
		err = fmt.Errorf("error writing to %s: %w", path, errnoText(ferr))
	}
	if err != nil {
		f.Close()
		s.o.FS.Remove(path)
		s.o.FS.Keep(path)
		return err
	}
	return b.Stage(ph, syncpolicy.Reference, f, lk.Path())
}

// createPacked creates packed-refs.new. As the lock is held, one that is there
// already was left by a process that died.
func (s *Store) createPacked(path string) (*vfs.File, error) {
	for again := true; ; again = false {
		f, err := s.o.FS.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && again && s.o.Locker.Abandoned(path) {
			if s.o.FS.Remove(path) == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		s.o.FS.Temp(path, false)
		if err := s.adjust(path); err != nil {
			f.Close()
			s.o.FS.Remove(path)
			s.o.FS.Keep(path)
			return nil, err
		}
		return f, nil
	}
}

type packedWriter struct {
	out *bufio.Writer
	s   *Store
	buf []byte
}

func (w *packedWriter) put(name string, id, peeled oid.ID) {
	if id.IsNull() {
		return
	}
	w.buf = appendPacked(w.buf[:0], name, id, peeled)
	w.out.Write(w.buf)
}

// merge writes the records of snap, replaced by changes where the names agree.
// Write errors are kept by the bufio.Writer.
func (w *packedWriter) merge(snap *snapshot, changes func(func(packedEntry) bool)) error {
	at := 0
	var err error
	copyBelow := func(name string, all bool) {
		for err == nil && at < len(snap.records) {
			var r packedRef
			var end int
			if r, end, err = snap.next(at); err != nil {
				return
			}
			if !all && r.name >= name {
				if r.name == name {
					at = end
				}
				return
			}
			w.keep(&r)
			at = end
		}
	}
	for c := range changes {
		if copyBelow(c.name, false); err != nil {
			return err
		}
		w.put(c.name, c.id, c.peeled)
	}
	copyBelow("", true)
	return err
}

// keep writes an old record again, with the peeled line that the header promises.
func (w *packedWriter) keep(r *packedRef) {
	switch {
	case r.bad || r.id.IsNull():
		w.out.Write(r.raw) // neither better nor worse than it was
	case r.known:
		w.put(r.name, r.id, r.peeled)
	default:
		w.put(r.name, r.id, w.s.peel(r.id))
	}
}
