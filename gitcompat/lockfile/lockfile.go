// Package lockfile implements git's "<path>.lock" protocol: one writer at a
// time, and a reader sees the old content or the new, never a mix. It also
// finds out which locks nobody holds any more.
//
// Source: lockfile.h, lockfile.c, tempfile.h and path.c (adjust_shared_perm) of git 2.55.
//
// Invariants:
//
//	L1  path changes only by a rename from path.lock, done by a Barrier.
//	L2  when a lock ended in a commit or a roll-back, path.lock is gone, and no
//	    lock that somebody else took since is touched.
//	L3  a foreign lock is removed only if its owner cannot be alive: it is older
//	    than this boot, or its owner said who it was and is dead.
package lockfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Strerror returns C's text for the errno inside err.
func Strerror(err error) string { return vfs.Strerror(err) }

// A Locker takes the locks of one repository.
type Locker struct {
	FS        *vfs.FS
	Shared    SharedRepository
	PIDFiles  bool         // core.lockfilePid: a side file for every lock
	KeepStale bool         // sluice.staleLocks=never
	Books     string       // the common directory, where books are kept; "": beside each lock
	Warn      func(string) // gets one line for each stale lock removed; may be nil
}

// Options of one lock.
type Options struct {
	Timeout time.Duration // how long to wait for a lock that is held; 0: not at all, <0: for ever
	Perm    fs.FileMode   // of path.lock before umask; 0 means 0666
	NoDeref bool          // lock a symbolic link itself, not what it points to
	PIDFile bool          // say who holds the lock, in a book and in git's side file (2.54, core.lockfilePid)
	Book    *Book         // say it there, with other locks
}

// A Lock is a held lock. It must end in Stage and the end of the Barrier, or in Rollback.
type Lock struct {
	locker *Locker
	path   string
	f      *vfs.File // nil once closed, staged or rolled back
	pid    bool      // the side file is there
	book   *Book     // of this lock alone; nil if it is in another, or in none
	staged bool      // the Barrier has it
	done   bool
}

// Hold creates path.lock. It fails with *HeldError if somebody has it, and with
// a *CreateError if it cannot be created.
func (l *Locker) Hold(path string, o Options) (*Lock, error) {
	if !o.NoDeref {
		path = resolve(path)
	}
	deadline := time.Now().Add(o.Timeout)
	for multiplier, n := 1, 1; ; {
		lock, err := l.try(path, o)
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, &CreateError{path + ".lock", err}
		}
		if l.reclaim(path) {
			continue
		}
		if o.Timeout == 0 || o.Timeout > 0 && time.Now().After(deadline) {
			return nil, l.held(path)
		}
		// 1, 4, 9, ... milliseconds up to 1000, each give or take a quarter (lockfile.c).
		backoff := time.Duration(multiplier) * time.Millisecond
		time.Sleep(backoff * time.Duration(750+rand.IntN(500)) / 1000)
		multiplier += 2*n + 1
		if multiplier > 1000 {
			multiplier = 1000
		} else {
			n++
		}
	}
}

func (l *Locker) try(path string, o Options) (*Lock, error) {
	perm := o.Perm
	if perm == 0 {
		perm = 0o666
	}
	lock := &Lock{locker: l, path: path}
	book, side := o.Book, o.PIDFile || l.PIDFiles
	if book == nil && side {
		lock.book = l.NewBook()
		book = lock.book
	}
	var announce func(inode uint64, birth time.Time)
	if book != nil {
		announce = func(inode uint64, birth time.Time) { book.note(path, inode, birth) }
	}
	f, err := l.FS.CreateExclusive(path+".lock", perm, announce)
	if err != nil {
		lock.dropOwner()
		return nil, err
	}
	lock.f = f
	l.FS.Temp(path+".lock", false)
	if err := l.Shared.Adjust(l.FS, path+".lock"); err != nil {
		lock.Rollback()
		return nil, err
	}
	if side {
		lock.pid = l.writeOwner(path)
	}
	return lock, nil
}

// maxLinks is how many symbolic links in a row are followed (lockfile.c, MAXDEPTH).
const maxLinks = 5

// resolve follows symbolic links at the end of path, as git does; a dangling
// one is followed too.
func resolve(path string) string {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if filepath.IsAbs(target) {
			path = target
		} else {
			path = filepath.Join(filepath.Dir(path), target)
		}
	}
	return path
}

// Path returns the path that the lock protects.
func (l *Lock) Path() string { return l.path }

// LockPath returns the path of the lock file.
func (l *Lock) LockPath() string { return l.path + ".lock" }

// File returns the open lock file; nil after Close.
func (l *Lock) File() *vfs.File { return l.f }

// Write appends to the new content.
func (l *Lock) Write(p []byte) (int, error) { return l.f.Write(p) }

// Close closes the lock file and keeps the lock.
func (l *Lock) Close() error {
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}

// Stage hands the content to b, which publishes it in phase ph, hardened as
// component c. The lock is released when it is published or b ends.
func (l *Lock) Stage(b *syncpolicy.Barrier, ph syncpolicy.Phase, c syncpolicy.Component) error {
	f := l.f
	l.f = nil
	l.staged = true
	if f == nil {
		// Closed meanwhile, to let a hook change it.
		var err error
		if f, err = l.locker.FS.OpenFile(l.LockPath(), os.O_RDWR, 0); err != nil {
			l.release()
			return err
		}
	}
	return b.StageFunc(ph, c, f, l.publish, l.release, filepath.Dir(l.path))
}

func (l *Lock) publish() error {
	if err := l.locker.FS.Rename(l.LockPath(), l.path); err != nil {
		l.release()
		return err
	}
	l.done = true
	l.locker.FS.Keep(l.LockPath())
	l.dropOwner()
	return nil
}

// Rollback releases the lock and leaves path as it is. It does nothing after
// Stage, when the lock is the Barrier's, or after the lock has ended; so it can
// be deferred.
func (l *Lock) Rollback() {
	if !l.staged {
		l.release()
	}
}

func (l *Lock) release() {
	if l.done {
		return
	}
	l.done = true
	l.Close()
	l.locker.FS.Remove(l.LockPath())
	l.locker.FS.Keep(l.LockPath())
	l.dropOwner()
}

func (l *Lock) dropOwner() {
	if l.pid {
		l.locker.FS.Remove(ownerPath(l.path))
		l.locker.FS.Keep(ownerPath(l.path))
		l.pid = false
	}
	if l.book != nil {
		l.book.Close()
	}
}

// A CreateError says that a lock could not be created, though nobody holds it.
type CreateError struct {
	Path string
	Err  error
}

// Error is git's message.
func (e *CreateError) Error() string {
	return "Unable to create '" + e.Path + "': " + Strerror(e.Err)
}

// Unwrap returns the error of the system call.
func (e *CreateError) Unwrap() error { return e.Err }
