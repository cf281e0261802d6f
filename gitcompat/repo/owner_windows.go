package repo

import (
	"io/fs"
	"os"
)

func device(fs.FileInfo) uint64 { return 0 }

// ownedByUser trusts: the file system has no owner that package os shows.
func (d *discovery) ownedByUser(fs.FileInfo) bool { return true }

func canEnter(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isNotDir(error) bool { return false }
