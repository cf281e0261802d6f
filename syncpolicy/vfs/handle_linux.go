package vfs

import (
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A handle is an open file. It is a bare descriptor: os.File asks the poller
// about every file, five calls that a regular file has no use for, and the
// write paths open many.
type handle struct {
	fd   int
	name string
}

func openHandle(name string, flag int, perm fs.FileMode) (*handle, error) {
	var fd int
	err := ignoringEINTR(func() (err error) {
		fd, err = unix.Open(name, flag|unix.O_CLOEXEC|unix.O_LARGEFILE, uint32(perm.Perm()))
		return err
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return &handle{fd, name}, nil
}

func (h *handle) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: h.name, Err: err}
}

// transfer calls once until all of p is done, or it fails or does nothing.
func transfer(p []byte, once func(p []byte, done int) (int, error)) (done int, err error) {
	for done < len(p) {
		n, err := once(p[done:min(len(p), done+1<<30)], done)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.ErrUnexpectedEOF
		}
		done += n
	}
	return done, nil
}

// Write writes all of p.
func (h *handle) Write(p []byte) (int, error) {
	n, err := transfer(p, func(p []byte, _ int) (int, error) { return unix.Write(h.fd, p) })
	return n, h.wrap("write", err)
}

// WriteAt writes all of p at off.
func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	n, err := transfer(p, func(p []byte, done int) (int, error) { return unix.Pwrite(h.fd, p, off+int64(done)) })
	return n, h.wrap("write", err)
}

// Read reads what there is, at least a byte.
func (h *handle) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	err = ignoringEINTR(func() (err error) {
		n, err = unix.Read(h.fd, p)
		return err
	})
	switch {
	case err != nil:
		return 0, h.wrap("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// ReadAt reads all of p from off.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	n, err := transfer(p, func(p []byte, done int) (int, error) { return unix.Pread(h.fd, p, off+int64(done)) })
	if err == io.ErrUnexpectedEOF {
		return n, io.EOF
	}
	return n, h.wrap("read", err)
}

// Seek moves the offset.
func (h *handle) Seek(off int64, whence int) (int64, error) {
	n, err := unix.Seek(h.fd, off, whence)
	return n, h.wrap("seek", err)
}

// Stat describes the file.
func (h *handle) Stat() (fs.FileInfo, error) {
	fd, err := unix.FcntlInt(uintptr(h.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, h.wrap("stat", err)
	}
	f := os.NewFile(uintptr(fd), h.name)
	defer f.Close()
	return f.Stat()
}

// Truncate sets the length.
func (h *handle) Truncate(size int64) error {
	return h.wrap("truncate", ignoringEINTR(func() error { return unix.Ftruncate(h.fd, size) }))
}

// Chmod sets the permissions.
func (h *handle) Chmod(mode fs.FileMode) error {
	return h.wrap("chmod", ignoringEINTR(func() error { return unix.Fchmod(h.fd, uint32(mode.Perm())) }))
}

// Close closes the descriptor; on Linux it is gone even after EINTR.
func (h *handle) Close() error {
	if h.fd < 0 {
		return h.wrap("close", os.ErrClosed)
	}
	err := unix.Close(h.fd)
	h.fd = -1
	return h.wrap("close", err)
}
