//go:build !linux && !darwin

package index

import (
	"io/fs"
	"os"
)

// Lstat fills st from the file at path, without following a symbolic link.
func Lstat(path string, st *FileStat) error {
	fi, err := os.Lstat(path)
	if err != nil {
		return err
	}
	*st = StatOf(fi)
	return nil
}

// StatOf converts what package os says of a file. Owner, inode and change time
// stay zero, as git has them on Windows.
func StatOf(fi fs.FileInfo) FileStat {
	t := fi.ModTime()
	st := FileStat{
		Stat:  Stat{MTimeSec: uint32(t.Unix()), MTimeNsec: uint32(t.Nanosecond()), Size: mungeSize(fi.Size())},
		Mode:  uint32(fi.Mode().Perm()),
		Bytes: fi.Size(),
	}
	st.CTimeSec, st.CTimeNsec = st.MTimeSec, st.MTimeNsec
	switch {
	case fi.IsDir():
		st.Mode |= ModeDir
	case fi.Mode()&fs.ModeSymlink != 0:
		st.Mode |= ModeSymlink
	case fi.Mode().IsRegular():
		st.Mode |= typeRegular
	}
	return st
}
