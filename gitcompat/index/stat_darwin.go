package index

import (
	"io/fs"
	"syscall"
)

// Lstat fills st from the file at path, without following a symbolic link.
// Errors are those of the system call.
func Lstat(path string, st *FileStat) error {
	var s syscall.Stat_t
	for {
		err := syscall.Lstat(path, &s)
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return &fs.PathError{Op: "lstat", Path: path, Err: err}
		}
	}
	fillFileStat(st, &s)
	return nil
}

// StatOf converts what package os says of a file.
func StatOf(fi fs.FileInfo) FileStat {
	var st FileStat
	if s, ok := fi.Sys().(*syscall.Stat_t); ok {
		fillFileStat(&st, s)
	}
	return st
}

func fillFileStat(st *FileStat, s *syscall.Stat_t) {
	*st = FileStat{
		Stat: Stat{
			CTimeSec: uint32(s.Ctimespec.Sec), CTimeNsec: uint32(s.Ctimespec.Nsec),
			MTimeSec: uint32(s.Mtimespec.Sec), MTimeNsec: uint32(s.Mtimespec.Nsec),
			Dev: uint32(s.Dev), Ino: uint32(s.Ino), UID: s.Uid, GID: s.Gid,
			Size: mungeSize(s.Size),
		},
		Mode:  uint32(s.Mode),
		Bytes: s.Size,
	}
}
