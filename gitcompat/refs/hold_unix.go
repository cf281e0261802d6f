//go:build unix

package refs

import (
	"io"
	"os"
	"runtime"
	"syscall"
)

// mapSize is the size from which a file is mapped instead of read: a lookup
// then touches a few pages of it only.
const mapSize = 1 << 20

// hold keeps the inode of a file that was read in use.
type hold struct{ f *os.File }

// holdFile returns the content of f and what holds it; it takes over f. The
// content is good as long as the hold is reachable.
func holdFile(f *os.File, size int64) ([]byte, *hold, error) {
	h := &hold{f: f}
	if size < mapSize {
		data, err := io.ReadAll(f)
		if err != nil {
			f.Close()
		}
		return data, h, err // the file is closed when h is collected
	}
	defer f.Close() // the mapping holds the inode
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	h.f = nil
	runtime.AddCleanup(h, func(data []byte) { syscall.Munmap(data) }, data)
	return data, h, nil
}

// openNoFollow makes opening a symbolic link fail with ELOOP.
const openNoFollow = syscall.O_NOFOLLOW

func isLink(err error) bool { return err == syscall.ELOOP || err == syscall.EMLINK }

// readFile returns the content of a small file, without the bookkeeping of
// os.File; buf is scratch space.
func readFile(path string, flag int, buf []byte) ([]byte, error) {
	fd, err := openRead(path, syscall.O_RDONLY|syscall.O_CLOEXEC|flag)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	buf = buf[:0]
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := syscall.Read(fd, buf[len(buf):cap(buf)])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return buf, nil
		}
		buf = buf[:len(buf)+n]
	}
}

func openRead(path string, flag int) (int, error) {
	for {
		fd, err := syscall.Open(path, flag, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// withoutDirs reports whether a directory surely has no directory in it: where
// links are counted, it has its own two and one for each.
func withoutDirs(st os.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && sys.Nlink == 2
}
