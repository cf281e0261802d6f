package vfs

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func statusPointer(s *windows.IO_STATUS_BLOCK) uintptr { return uintptr(unsafe.Pointer(s)) }
