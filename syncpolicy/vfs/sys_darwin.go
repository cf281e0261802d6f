package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func rename(old, new string) error { return os.Rename(old, new) }

func unlink(name string) error {
	if err := unix.Unlink(name); err != nil {
		return &os.PathError{Op: "unlink", Path: name, Err: err}
	}
	return nil
}

func rmdir(name string) error {
	if err := unix.Rmdir(name); err != nil {
		return &os.PathError{Op: "rmdir", Path: name, Err: err}
	}
	return nil
}

func startWriteout(*handle) error { return nil }

// writeout: fsync(2) of macOS hands the pages to the device's cache (git's wrapper.c).
func writeout(f *handle) error {
	for {
		err := unix.Fsync(int(f.Fd()))
		if err != unix.EINTR {
			return pathError("fsync", f, err)
		}
	}
}

func hardwareFlush(f *handle) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_FULLFSYNC, 0)
	return pathError("fcntl", f, err)
}

func pathError(op string, f *handle, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: f.Name(), Err: err}
}

func syncDir(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return hardwareFlush(&handle{f})
}

// syncFS: sync(2) of macOS does not wait, so a full flush of the directory,
// which empties the device's cache, stands in after it.
func syncFS(name string) error {
	if err := unix.Sync(); err != nil {
		return err
	}
	return syncDir(name)
}
