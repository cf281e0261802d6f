// Package vfs is the seam below the write paths: the system calls that change
// files, and one Hook around them. Readers use package os; only what writes
// comes through here.
//
// Invariants:
//
//	V1  every call that changes the file system passes the Hook exactly once, before it is made.
//	V2  Close closes, even where the Hook fails it: no descriptor leaks through a fault.
//	V3  fsync is retried on EINTR only where the kernel made no attempt (git's xfsync); any other failure is final.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Kind names a system call.
type Kind string

// The calls that a Hook sees.
const (
	OpOpen          Kind = "open" // only when it may create or write
	OpWrite         Kind = "write"
	OpTruncate      Kind = "truncate"
	OpStartWriteout Kind = "start-writeout" // sync_file_range, not waited for
	OpWriteout      Kind = "writeout"       // sync_file_range, waited for
	OpSync          Kind = "fsync"
	OpClose         Kind = "close" // of a file opened for writing
	OpRename        Kind = "rename"
	OpLink          Kind = "link"
	OpSymlink       Kind = "symlink"
	OpRemove        Kind = "unlink"
	OpMkdir         Kind = "mkdir"
	OpRmdir         Kind = "rmdir"
	OpChmod         Kind = "chmod"
	OpChtimes       Kind = "utime"
	OpSyncDir       Kind = "fsync-dir"
	OpSyncFS        Kind = "syncfs"
)

// An Op is one call, as a Hook sees it.
type Op struct {
	Kind Kind
	Path string
	New  string // target of rename, link and symlink
	Off  int64  // offset of a write, length of a truncate
	Data []byte // bytes of a write; a Hook may shorten it, and the write is then short
	Flag int    // of an open
	Perm fs.FileMode
}

// A Hook stands around each call: it must run call at most once and return what
// the caller is to see. Faults, recorders, counters and failpoints are Hooks.
// It may be run by several goroutines at a time.
type Hook func(op *Op, call func() error) error

// FS makes the calls. Its zero value has no hook.
type FS struct {
	hook  Hook
	temps *temps
}

// OS returns the real file system, with an empty list of temporaries.
func OS() *FS { return &FS{temps: newTemps()} }

// WithHook returns an FS with h around every call, outside of any hook fs has.
// It shares the list of temporaries.
func (fsys *FS) WithHook(h Hook) *FS {
	inner := fsys.hook
	if inner == nil {
		return &FS{hook: h, temps: fsys.temps}
	}
	return &FS{temps: fsys.temps, hook: func(op *Op, call func() error) error {
		return h(op, func() error { return inner(op, call) })
	}}
}

func (fsys *FS) run(op *Op, call func() error) error {
	if fsys.hook == nil {
		return call()
	}
	return fsys.hook(op, call)
}

const writing = os.O_WRONLY | os.O_RDWR | os.O_CREATE | os.O_TRUNC | os.O_APPEND

// OpenFile opens name as os.OpenFile does.
func (fsys *FS) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	return fsys.open(name, flag, perm, func() (*handle, error) { return openHandle(name, flag, perm) })
}

// CreateExclusive creates the file name, which must not exist, for reading and
// writing. announce, unless nil, is told which file it will be: before the name
// is there, where the file system can do that.
func (fsys *FS) CreateExclusive(name string, perm fs.FileMode, announce func(inode uint64, birth time.Time)) (*File, error) {
	return fsys.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm, func() (*handle, error) {
		return createExclusive(name, perm, announce)
	})
}

func (fsys *FS) open(name string, flag int, perm fs.FileMode, call func() (*handle, error)) (*File, error) {
	f := &File{fsys: fsys, name: name, ro: flag&writing == 0, append: flag&os.O_APPEND != 0}
	open := func() (err error) {
		f.f, err = call()
		return err
	}
	var err error
	if f.ro || fsys.hook == nil {
		err = open()
	} else {
		err = fsys.hook(&Op{Kind: OpOpen, Path: name, Flag: flag, Perm: perm}, open)
		if err != nil && f.f != nil {
			f.f.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename renames a file over new.
func (fsys *FS) Rename(old, new string) error {
	if fsys.hook == nil {
		return rename(old, new)
	}
	return fsys.hook(&Op{Kind: OpRename, Path: old, New: new}, func() error { return rename(old, new) })
}

// Link makes new another name of old.
func (fsys *FS) Link(old, new string) error {
	return fsys.run(&Op{Kind: OpLink, Path: old, New: new}, func() error { return os.Link(old, new) })
}

// Symlink makes new a symbolic link to target.
func (fsys *FS) Symlink(target, new string) error {
	return fsys.run(&Op{Kind: OpSymlink, Path: target, New: new}, func() error { return os.Symlink(target, new) })
}

// Remove unlinks a file; it never removes a directory.
func (fsys *FS) Remove(name string) error {
	if fsys.hook == nil {
		return unlink(name)
	}
	return fsys.hook(&Op{Kind: OpRemove, Path: name}, func() error { return unlink(name) })
}

// Rmdir removes an empty directory.
func (fsys *FS) Rmdir(name string) error {
	return fsys.run(&Op{Kind: OpRmdir, Path: name}, func() error { return rmdir(name) })
}

// RemoveAll removes a temporary directory and all below it, call by call.
func (fsys *FS) RemoveAll(name string) error {
	entries, err := os.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		sub := name + string(os.PathSeparator) + e.Name()
		var rerr error
		if e.IsDir() {
			rerr = fsys.RemoveAll(sub)
		} else {
			rerr = fsys.Remove(sub)
		}
		if err == nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = rerr
		}
	}
	if err != nil {
		return err
	}
	return fsys.Rmdir(name)
}

// Mkdir makes a directory.
func (fsys *FS) Mkdir(name string, perm fs.FileMode) error {
	return fsys.run(&Op{Kind: OpMkdir, Path: name, Perm: perm}, func() error { return os.Mkdir(name, perm) })
}

// Chmod changes the mode of a file.
func (fsys *FS) Chmod(name string, mode fs.FileMode) error {
	return fsys.run(&Op{Kind: OpChmod, Path: name, Perm: mode}, func() error { return os.Chmod(name, mode) })
}

// Chtimes sets access and modification time.
func (fsys *FS) Chtimes(name string, atime, mtime time.Time) error {
	return fsys.run(&Op{Kind: OpChtimes, Path: name}, func() error { return os.Chtimes(name, atime, mtime) })
}

// SyncDir flushes a directory: after it the names in it are durable.
func (fsys *FS) SyncDir(name string) error {
	return fsys.run(&Op{Kind: OpSyncDir, Path: name}, func() error { return syncDir(name) })
}

// SyncFS flushes the whole file system that holds the directory name.
func (fsys *FS) SyncFS(name string) error {
	return fsys.run(&Op{Kind: OpSyncFS, Path: name}, func() error { return syncFS(name) })
}

// A File is an open file.
type File struct {
	fsys   *FS
	f      *handle
	name   string
	off    int64 // where the next Write goes, for the Hook
	ro     bool
	append bool
}

// Name returns the path it was opened with.
func (f *File) Name() string { return f.name }

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.f.Stat() }

// Read reads from the current offset.
func (f *File) Read(p []byte) (int, error) { return f.f.Read(p) }

// ReadAt reads from off.
func (f *File) ReadAt(p []byte, off int64) (int, error) { return f.f.ReadAt(p, off) }

// Seek moves the current offset.
func (f *File) Seek(off int64, whence int) (int64, error) {
	n, err := f.f.Seek(off, whence)
	if err == nil {
		f.off = n
	}
	return n, err
}

// Write writes at the current offset.
func (f *File) Write(p []byte) (int, error) {
	if f.fsys.hook == nil {
		n, err := f.f.Write(p)
		f.off += int64(n)
		return n, err
	}
	off := f.off
	if f.append {
		off = -1
	}
	return f.write(p, off, f.f.Write, true)
}

// WriteAt writes at off and leaves the current offset alone.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if f.fsys.hook == nil {
		return f.f.WriteAt(p, off)
	}
	return f.write(p, off, func(p []byte) (int, error) { return f.f.WriteAt(p, off) }, false)
}

func (f *File) write(p []byte, off int64, write func([]byte) (int, error), advance bool) (int, error) {
	op := &Op{Kind: OpWrite, Path: f.name, Data: p, Off: off}
	var n int
	err := f.fsys.hook(op, func() (err error) {
		n, err = write(op.Data)
		return err
	})
	if advance {
		f.off += int64(n)
	}
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// Truncate sets the length of the file.
func (f *File) Truncate(size int64) error {
	return f.fsys.run(&Op{Kind: OpTruncate, Path: f.name, Off: size}, func() error { return f.f.Truncate(size) })
}

// Chmod changes the mode of the file.
func (f *File) Chmod(mode fs.FileMode) error {
	return f.fsys.run(&Op{Kind: OpChmod, Path: f.name, Perm: mode}, func() error { return f.f.Chmod(mode) })
}

// StartWriteout tells the kernel to begin writing the file's pages, and does
// not wait. It promises nothing; an error of it means nothing.
func (f *File) StartWriteout() error {
	return f.fsys.run(&Op{Kind: OpStartWriteout, Path: f.name}, func() error { return startWriteout(f.f) })
}

// Writeout hands the file's pages to the device and waits until it has taken
// them. It flushes no cache of the device and promises nothing about names.
// errors.ErrUnsupported where the platform has no such call.
func (f *File) Writeout() error {
	return f.fsys.run(&Op{Kind: OpWriteout, Path: f.name}, func() error { return writeout(f.f) })
}

// Sync makes the content of the file durable.
func (f *File) Sync() error {
	return f.fsys.run(&Op{Kind: OpSync, Path: f.name}, func() error { return hardwareFlush(f.f) })
}

// Close closes the file (V2).
func (f *File) Close() error {
	if f.ro || f.fsys.hook == nil {
		return f.f.Close()
	}
	closed := false
	err := f.fsys.hook(&Op{Kind: OpClose, Path: f.name}, func() error {
		closed = true
		return f.f.Close()
	})
	if !closed {
		f.f.Close()
	}
	return err
}
