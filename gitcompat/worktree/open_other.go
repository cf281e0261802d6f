//go:build !unix

package worktree

import (
	"io"
	"os"
)

// readWhole fills buf, which is as long as the file was by lstat, from the
// file at path.
func readWhole(path string, buf []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return &openError{err}
	}
	defer f.Close()
	_, err = io.ReadFull(f, buf)
	return err
}

const noFollow, noWait = 0, 0

// exitStatus is the status of a child.
func exitStatus(_ any, code int) int { return code }
