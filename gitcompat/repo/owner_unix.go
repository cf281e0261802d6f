//go:build unix

package repo

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// device returns the number of the device that a file is on.
func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

// ownedByUser reports whether the file belongs to the user of the command, or,
// for root under sudo, to the user who called sudo.
func (d *discovery) ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	uid := uint32(os.Geteuid())
	if uid == 0 && st.Uid != 0 {
		if sudo, ok := d.env("SUDO_UID"); ok && sudo != "" {
			if n, err := strconv.ParseUint(sudo, 10, 32); err == nil {
				uid = uint32(n)
			}
		}
	}
	return st.Uid == uid
}

// canEnter is access(path, X_OK).
func canEnter(path string) bool { return syscall.Access(path, 1) == nil }

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
