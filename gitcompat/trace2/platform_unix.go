//go:build unix

package trace2

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// dial connects to a socket: "stream:<path>", "dgram:<path>" or either.
func dial(spec string) (*os.File, error) {
	kinds := []int{syscall.SOCK_STREAM, syscall.SOCK_DGRAM}
	path := spec
	if rest, ok := strings.CutPrefix(spec, "stream:"); ok {
		kinds, path = kinds[:1], rest
	} else if rest, ok := strings.CutPrefix(spec, "dgram:"); ok {
		kinds, path = kinds[1:], rest
	}
	if !filepath.IsAbs(path) {
		return nil, syscall.EINVAL
	}
	var err error
	for _, kind := range kinds {
		var fd int
		if fd, err = syscall.Socket(syscall.AF_UNIX, kind, 0); err != nil {
			return nil, err
		}
		syscall.CloseOnExec(fd)
		if err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		syscall.Close(fd)
		if err != syscall.EPROTOTYPE {
			return nil, err
		}
	}
	return nil, err
}
