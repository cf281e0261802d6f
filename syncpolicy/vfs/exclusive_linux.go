package vfs

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"io/fs"

	"golang.org/x/sys/unix"
)

// createExclusive creates path, which must not exist. The file is made without
// a name first, so that announce knows it before anybody can see it.
func createExclusive(path string, perm fs.FileMode, announce func(inode uint64, birth time.Time)) (*handle, error) {
	if announce == nil {
		return openHandle(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	}
	h, err := openHandle(filepath.Dir(path), unix.O_TMPFILE|os.O_RDWR, perm)
	if err != nil {
		return createThenAnnounce(path, perm, announce)
	}
	h.name = path
	if birth, inode, ok := birthTime(h.fd, ""); ok {
		announce(inode, birth)
	}
	self := "/proc/self/fd/" + strconv.Itoa(h.fd)
	err = ignoringEINTR(func() error {
		return unix.Linkat(unix.AT_FDCWD, self, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	})
	if err == nil {
		return h, nil
	}
	h.Close()
	if errors.Is(err, unix.EEXIST) {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return createThenAnnounce(path, perm, announce)
}

// createThenAnnounce is for file systems without nameless files, and for
// whatever else is in the way, of which the ordinary call gives the ordinary error.
func createThenAnnounce(path string, perm fs.FileMode, announce func(inode uint64, birth time.Time)) (*handle, error) {
	h, err := openHandle(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	if birth, inode, ok := birthTime(h.fd, ""); ok {
		announce(inode, birth)
	}
	return h, nil
}

// BirthTime returns when the file at path was created, where the file system
// keeps that, and its inode number.
func BirthTime(path string) (birth time.Time, inode uint64, ok bool) {
	return birthTime(unix.AT_FDCWD, path)
}

func birthTime(fd int, path string) (birth time.Time, inode uint64, ok bool) {
	flags := unix.AT_SYMLINK_NOFOLLOW
	if path == "" {
		flags = unix.AT_EMPTY_PATH
	}
	var st unix.Statx_t
	err := unix.Statx(fd, path, flags, unix.STATX_BTIME|unix.STATX_INO, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}, 0, false
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), st.Ino, true
}
