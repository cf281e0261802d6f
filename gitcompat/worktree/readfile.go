package worktree

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// readAllLimit reads r, which is expected to hold size bytes, up to limit.
func readAllLimit(r io.Reader, size, limit int64) ([]byte, error) {
	buf := make([]byte, 0, min(size, limit)+1)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) >= limit {
			return nil, errTooLarge
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// accessWarning is git's line for an ignore or attributes file that is there
// and can't be opened, or "".
func accessWarning(name string, err error) string {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return ""
	}
	return "warning: unable to access '" + name + "': " + errnoText(err)
}
