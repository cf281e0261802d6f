package vfs

import (
	"os"

	"golang.org/x/sys/windows"
)

func rename(old, new string) error { return os.Rename(old, new) }
func unlink(name string) error     { return os.Remove(name) }
func rmdir(name string) error      { return os.Remove(name) }

func startWriteout(*handle) error { return nil }

// writeout is NtFlushBuffersFileEx with FLUSH_FLAGS_FILE_DATA_SYNC_ONLY's
// sibling 1, data only, as git's compat/win32/flush.c.
func writeout(f *handle) error {
	var status windows.IO_STATUS_BLOCK
	proc := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtFlushBuffersFileEx")
	if err := proc.Find(); err != nil {
		return &os.PathError{Op: "NtFlushBuffersFileEx", Path: f.Name(), Err: windows.ERROR_NOT_SUPPORTED}
	}
	if r, _, _ := proc.Call(f.Fd(), 1, 0, 0, statusPointer(&status)); r != 0 {
		return &os.PathError{Op: "NtFlushBuffersFileEx", Path: f.Name(), Err: windows.NTStatus(r)}
	}
	return nil
}

func hardwareFlush(f *handle) error { return f.Sync() }

// syncDir: NTFS and ReFS journal names in order, and a directory cannot be
// flushed by an ordinary user; the flush of a file carries them.
func syncDir(string) error { return nil }

func syncFS(string) error { return nil }
