//go:build unix

package pack

import (
	"os"
	"syscall"
)

// mapFile maps size bytes of f for reading.
func mapFile(f *os.File, size int64) (data []byte, unmap func(), err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var merr error
	err = conn.Control(func(fd uintptr) {
		data, merr = syscall.Mmap(int(fd), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	})
	if err == nil {
		err = merr
	}
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return data, func() { syscall.Munmap(data) }, nil
}
