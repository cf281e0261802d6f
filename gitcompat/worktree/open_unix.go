//go:build unix

package worktree

import (
	"io"
	"syscall"
)

// readWhole fills buf, which is as long as the file was by lstat, from the
// file at path. It goes around package os, which would offer each of many
// small files to its poller: a third of the calls is left.
func readWhole(path string, buf []byte) error {
	fd, err := open(path)
	if err != nil {
		return &openError{err}
	}
	defer syscall.Close(fd)
	for len(buf) > 0 {
		n, err := syscall.Read(fd, buf)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			buf = buf[n:]
		}
	}
	return nil
}

func open(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// Flags for files of patterns: those inside the working tree may not be
// symbolic links, and nothing waits for the other end of a pipe.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
)

// exitStatus is the status of a child as a shell gives it.
func exitStatus(sys any, code int) int {
	if ws, ok := sys.(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return code
}
