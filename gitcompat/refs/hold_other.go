//go:build !unix

package refs

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// hold is empty here: a file that is open cannot be replaced.
type hold struct{}

func holdFile(f *os.File, size int64) ([]byte, *hold, error) {
	defer f.Close()
	data, err := io.ReadAll(f)
	return data, &hold{}, err
}

const openNoFollow = 1

func isLink(err error) bool { return errors.Is(err, syscall.ELOOP) }

func readFile(path string, flag int, buf []byte) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, errno(err)
	}
	if flag == openNoFollow && info.Mode()&os.ModeSymlink != 0 {
		return nil, syscall.ELOOP
	}
	if info.IsDir() {
		return nil, syscall.EISDIR
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, errno(err)
	}
	return data, nil
}

func errno(err error) error {
	var e syscall.Errno
	switch {
	case errors.Is(err, os.ErrNotExist):
		return syscall.ENOENT
	case errors.As(err, &e):
		return e
	}
	return err
}

func withoutDirs(os.FileInfo) bool { return false }
