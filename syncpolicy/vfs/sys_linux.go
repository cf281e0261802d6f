package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func rename(old, new string) error {
	if err := ignoringEINTR(func() error { return unix.Rename(old, new) }); err != nil {
		return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
	}
	return nil
}

func unlink(name string) error {
	if err := ignoringEINTR(func() error { return unix.Unlink(name) }); err != nil {
		return &os.PathError{Op: "unlink", Path: name, Err: err}
	}
	return nil
}

func rmdir(name string) error {
	if err := ignoringEINTR(func() error { return unix.Rmdir(name) }); err != nil {
		return &os.PathError{Op: "rmdir", Path: name, Err: err}
	}
	return nil
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func startWriteout(h *handle) error {
	return onFd(h, "sync_file_range", func(fd int) error {
		return unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	})
}

// writeout is git's: one call, not retried (wrapper.c, git_fsync).
func writeout(h *handle) error {
	return onFd(h, "sync_file_range", func(fd int) error {
		return unix.SyncFileRange(fd, 0, 0,
			unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
	})
}

func hardwareFlush(h *handle) error {
	return onFd(h, "fsync", func(fd int) error {
		return ignoringEINTR(func() error { return unix.Fsync(fd) })
	})
}

func syncDir(name string) error {
	return withDir(name, "fsync", unix.Fsync)
}

func syncFS(name string) error {
	return withDir(name, "syncfs", unix.Syncfs)
}

func withDir(name, op string, call func(fd int) error) error {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	if err := ignoringEINTR(func() error { return call(fd) }); err != nil {
		return &os.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func onFd(h *handle, op string, call func(fd int) error) error {
	return h.wrap(op, call(h.fd))
}
