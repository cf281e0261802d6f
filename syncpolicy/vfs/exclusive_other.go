//go:build !linux

package vfs

import (
	"io/fs"
	"os"
	"time"
)

func createExclusive(path string, perm fs.FileMode, _ func(inode uint64, birth time.Time)) (*handle, error) {
	return openHandle(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}
