package index

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Lock takes the lock of the index file at path, or fails at once. Without it
// an index may be read, but what is then written may undo somebody's work.
func Lock(l *lockfile.Locker, path string) (*lockfile.Lock, error) {
	return l.Hold(path, lockfile.Options{PIDFile: true})
}

// Write encodes the index into its lock file and stages it: b publishes it
// with the rest of what the command wrote, after all objects (I6). After an
// error the lock is still held and the file as it was.
func (x *Index) Write(lock *lockfile.Lock, b *syncpolicy.Barrier) error {
	if err := x.WriteTo(lock); err != nil {
		return err
	}
	return lock.Stage(b, syncpolicy.IndexFile, syncpolicy.Index)
}

// WriteTo encodes the index into its lock file and leaves the rest to the
// caller, as a command does that runs hooks before it publishes.
func (x *Index) WriteTo(lock *lockfile.Lock) error {
	w := &lockWriter{lock: lock}
	if err := x.Encode(w); err != nil {
		if w.err != nil {
			return fmt.Errorf("sha1 file '%s' write error: %s", lock.LockPath(), vfs.Strerror(w.err))
		}
		return err
	}
	fi, err := lock.File().Stat()
	if err != nil {
		return fmt.Errorf("could not stat '%s': %s", lock.LockPath(), vfs.Strerror(err))
	}
	// From now on these are the times that decide what is racy.
	st := StatOf(fi)
	x.time = timestamp{st.MTimeSec, st.MTimeNsec}
	x.Changed = false
	return nil
}

// lockWriter tells a failed write from the other reasons not to write an index.
type lockWriter struct {
	lock *lockfile.Lock
	err  error
}

func (w *lockWriter) Write(p []byte) (int, error) {
	n, err := w.lock.Write(p)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// UnchangedOnDisk reports whether the file at path is still the one that was
// read, by its checksum: an index refreshed without the lock may only replace
// the very file it was read from.
func (x *Index) UnchangedOnDisk(path string) bool {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return false
	}
	defer f.Close()
	size := int64(x.Algo.Size())
	fi, err := f.Stat()
	if err != nil || fi.Size() < headerSize+size {
		return false
	}
	trailer := make([]byte, size)
	if _, err := f.ReadAt(trailer, fi.Size()-size); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	return x.Algo.FromBytes(trailer) == x.Checksum
}
