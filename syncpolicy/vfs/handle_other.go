//go:build !linux

package vfs

import (
	"io/fs"
	"os"
)

// A handle is an open file.
type handle struct{ *os.File }

func openHandle(name string, flag int, perm fs.FileMode) (*handle, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &handle{f}, nil
}
