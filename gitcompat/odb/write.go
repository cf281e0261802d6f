package odb

import (
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// youngAge is how long an object of another program may be unflushed: the kernel
// writes back what is older than half a minute, disks take their time.
const youngAge = 5 * time.Minute

// Hash returns the name of an object, and writes nothing.
func (db *DB) Hash(typ object.Type, content []byte) oid.ID {
	id, _ := db.hash(typ, content)
	return id
}

// hash also says whether the content is part of an attack on SHA-1.
func (db *DB) hash(typ object.Type, content []byte) (oid.ID, error) {
	h := db.hashes.Get().(hash.Hash)
	defer db.hashes.Put(h)
	h.Reset()
	var hdr [object.MaxHeader]byte
	h.Write(object.AppendHeader(hdr[:0], typ, int64(len(content))))
	h.Write(content)
	return Sum(db.algo, h)
}

// Sum returns the name that h has arrived at. It fails where h, a hash of
// algo.New, has found that its input was made to collide with another.
func Sum(algo oid.Algo, h hash.Hash) (oid.ID, error) {
	d, ok := h.(interface{ CollisionResistantSum([]byte) ([]byte, bool) })
	if !ok {
		return algo.FromHash(h), nil
	}
	sum, collides := d.CollisionResistantSum(nil)
	id := algo.FromBytes(sum)
	if collides {
		return id, fmt.Errorf("SHA-1 appears to be part of a collision attack: %s", id)
	}
	return id, nil
}

// Write adds an object, unless it is there already, and returns its name.
func (t *Transaction) Write(typ object.Type, content []byte) (oid.ID, error) {
	id, err := t.db.hash(typ, content)
	if err != nil {
		return oid.ID{}, err
	}
	err = t.once(id, func() error {
		if t.freshen(id, func(path string) bool { return intact(path, id, typ, content) }) {
			return nil
		}
		return t.writeLoose(id, typ, content)
	})
	if err != nil {
		return oid.ID{}, err
	}
	return id, nil
}

// once has one caller do the work for id; the others wait and share the result.
// What failed can be tried again.
func (t *Transaction) once(id oid.ID, do func() error) error {
	t.mu.Lock()
	if _, done := t.places[id]; done {
		t.mu.Unlock()
		return nil
	}
	if c := t.busy[id]; c != nil {
		t.mu.Unlock()
		<-c.done
		return c.err
	}
	c := &claim{done: make(chan struct{})}
	t.busy[id] = c
	t.mu.Unlock()
	c.err = do()
	t.mu.Lock()
	delete(t.busy, id)
	if _, put := t.places[id]; c.err == nil && !put {
		t.places[id] = elsewhere
	}
	t.mu.Unlock()
	close(c.done)
	return c.err
}

// freshen marks an object that is there already as in use, so that no prune takes
// it, and reports whether it may be relied on (D5).
func (t *Transaction) freshen(id oid.ID, intact func(path string) bool) bool {
	now := time.Now()
	t.mu.Lock()
	own := t.store
	t.mu.Unlock()
	for _, s := range t.db.stores() {
		if p, _ := s.inPacks(id, func(p *packFile) bool { return !p.cruft }); p != nil {
			p.freshOnce.Do(func() { p.fresh = t.fsys.Chtimes(p.base+".pack", now, now) == nil })
			if p.fresh {
				return true
			}
		}
		path, maybe := s.loose(id)
		if !maybe {
			continue
		}
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || !intact(path) {
			continue
		}
		if t.fsys.Chtimes(path, now, now) != nil {
			continue
		}
		if s == own {
			if t.adoptLoose(s, id) == nil {
				return true
			}
			continue
		}
		age := now.Sub(st.ModTime())
		if age < youngAge && t.b.HardenExisting(syncpolicy.Objects, syncpolicy.LooseObject, path) != nil {
			continue
		}
		return true
	}
	return false
}

// writeLoose writes a loose object to the transaction's folder.
func (t *Transaction) writeLoose(id oid.ID, typ object.Type, content []byte) error {
	s, err := t.folder()
	if err != nil {
		return err
	}
	path, at, err := t.destination(s, id)
	if err != nil {
		return err
	}
	f, err := t.fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return t.createError(err)
	}
	d := t.db.deflaters.Get().(*deflater)
	defer t.db.deflaters.Put(d)
	d.start(f)
	var hdr [object.MaxHeader]byte
	_, err = d.z.Write(object.AppendHeader(hdr[:0], typ, int64(len(content))))
	if err == nil {
		_, err = d.z.Write(content)
	}
	if err == nil {
		err = d.finish()
	}
	if err != nil {
		t.discard(f)
		return &sysError{"unable to write loose object file", err}
	}
	return t.stageLoose(id, f, at)
}

// destination returns where the file of id goes within the transaction's folder:
// flat, which costs the file system much less than 256 folders, unless children
// look into it.
func (t *Transaction) destination(s *store, id oid.ID) (path string, at place, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sharded {
		return s.flatPath(id), flat, nil
	}
	path = s.loosePath(id)
	if err := t.mkdir(filepath.Dir(path)); err != nil {
		return "", 0, t.createError(err)
	}
	return path, inShard, nil
}

// discard removes a file that is not complete.
func (t *Transaction) discard(f *vfs.File) {
	f.Close()
	t.fsys.Remove(f.Name())
	t.fsys.Keep(f.Name())
}

// stageLoose hands the complete file of a loose object, at its place in the
// transaction's folder, to the barrier.
func (t *Transaction) stageLoose(id oid.ID, f *vfs.File, at place) error {
	if t.db.opts.Shared != lockfile.SharedUmask {
		if err := t.db.opts.Shared.Adjust(t.fsys, f.Name()); err != nil {
			t.discard(f)
			return fmt.Errorf("unable to set permission to '%s'", t.db.own.loosePath(id))
		}
	}
	if err := t.b.StageFunc(syncpolicy.Objects, syncpolicy.LooseObject, f, nil, nil); err != nil {
		return &sysError{"error when closing loose object file", err}
	}
	t.put(id, at)
	return nil
}

// WriteStream adds an object of size bytes that come from r, in bounded memory.
// A blob above core.bigFileThreshold goes to a pack, as in git.
func (t *Transaction) WriteStream(typ object.Type, size int64, r io.Reader) (oid.ID, error) {
	if typ == object.Blob && size > t.db.opts.BigFileThreshold {
		return t.writePacked(size, r)
	}
	return t.WriteLooseStream(typ, size, r)
}

// WriteLooseStream is WriteStream, and the object is loose whatever its size, as
// git's unpack-objects leaves it.
func (t *Transaction) WriteLooseStream(typ object.Type, size int64, r io.Reader) (oid.ID, error) {
	s, err := t.folder()
	if err != nil {
		return oid.ID{}, err
	}
	f, err := t.fsys.CreateTemp(s.dir, "tmp_obj_", 0o444)
	if err != nil {
		return oid.ID{}, t.createError(err)
	}
	id, err := t.deflateStream(f, typ, size, r)
	if err != nil {
		t.discard(f)
		return oid.ID{}, err
	}
	if err := f.Close(); err != nil {
		t.discard(f)
		return oid.ID{}, &sysError{"error when closing loose object file", err}
	}
	err = t.once(id, func() error {
		if t.freshen(id, func(path string) bool { return decodes(path, id) }) {
			return t.drop(f.Name())
		}
		return t.placeLoose(s, id, f.Name())
	})
	if err != nil {
		return oid.ID{}, err
	}
	return id, t.drop(f.Name())
}

// drop removes a temporary that is not needed, if it is still there.
func (t *Transaction) drop(path string) error {
	if exists(path) == nil {
		t.fsys.Remove(path)
	}
	t.fsys.Keep(path)
	return nil
}

// placeLoose gives a complete temporary its name in the transaction's folder.
func (t *Transaction) placeLoose(s *store, id oid.ID, temp string) error {
	path, at, err := t.destination(s, id)
	if err != nil {
		return err
	}
	if err := t.fsys.Rename(temp, path); err != nil {
		return &sysError{"unable to write file " + path, err}
	}
	f, err := t.fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return &sysError{"unable to open " + path, err}
	}
	return t.stageLoose(id, f, at)
}

func (t *Transaction) deflateStream(f io.Writer, typ object.Type, size int64, r io.Reader) (oid.ID, error) {
	h := t.db.hashes.Get().(hash.Hash)
	defer t.db.hashes.Put(h)
	h.Reset()
	d := t.db.deflaters.Get().(*deflater)
	defer t.db.deflaters.Put(d)
	d.start(f)
	sink := &streamSink{h, d}
	var hdr [object.MaxHeader]byte
	if _, err := sink.Write(object.AppendHeader(hdr[:0], typ, size)); err != nil {
		return oid.ID{}, err
	}
	if err := copyExactly(sink, r, size); err != nil {
		return oid.ID{}, err
	}
	if err := d.finish(); err != nil {
		return oid.ID{}, &sysError{"unable to write loose object file", err}
	}
	return Sum(t.db.algo, h)
}

// A streamSink hashes and deflates.
type streamSink struct {
	h hash.Hash
	d *deflater
}

func (s *streamSink) Write(p []byte) (int, error) {
	s.h.Write(p)
	n, err := s.d.z.Write(p)
	if err != nil {
		err = &sysError{"unable to write loose object file", err}
	}
	return n, err
}

// copyExactly copies size bytes; fewer or more are an error.
func copyExactly(w io.Writer, r io.Reader, size int64) error {
	buf := make([]byte, 64<<10)
	var n int64
	for {
		m, err := r.Read(buf)
		n += int64(m)
		if m > 0 && n <= size {
			if _, err := w.Write(buf[:m]); err != nil {
				return err
			}
		}
		if err == io.EOF || n > size {
			break
		}
		if err != nil {
			return fmt.Errorf("failed to read blob data: %w", err)
		}
	}
	if n != size {
		return fmt.Errorf("read %d bytes of blob data, but expected %d bytes", n, size)
	}
	return nil
}

// Each calls do with 0 to n-1 on all cores, and returns the error of the lowest
// number that failed; those above one that failed may not be called. It is for
// writing many objects at a time.
func Each(n int, do func(i int) error) error {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
	var next, stop atomic.Int64
	stop.Store(int64(n))
	var mu sync.Mutex
	var first error
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= stop.Load() {
					return
				}
				err := do(int(i))
				if err == nil {
					continue
				}
				mu.Lock()
				if i < stop.Load() {
					stop.Store(i)
					first = err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return first
}
