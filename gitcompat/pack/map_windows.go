package pack

import (
	"os"
	"syscall"
	"unsafe"
)

// mapFile maps size bytes of f for reading.
func mapFile(f *os.File, size int64) (data []byte, unmap func(), err error) {
	h, err := syscall.CreateFileMapping(syscall.Handle(f.Fd()), nil, syscall.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	defer syscall.CloseHandle(h)
	addr, err := syscall.MapViewOfFile(h, syscall.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	// The view is no memory of the garbage collector, so the address stays good until it is unmapped.
	data = unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), int(size))
	return data, func() { syscall.UnmapViewOfFile(addr) }, nil
}
