package odb

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// sweep removes what writers that died left in the folder, once it is older than
// gc.pruneExpire. Nothing depends on it, so its errors do not matter.
func (db *DB) sweep(fsys *vfs.FS) {
	if db.opts.PruneExpire < 0 {
		return
	}
	before := time.Now().Add(-db.opts.PruneExpire)
	for _, dir := range []string{db.own.dir, filepath.Join(db.own.dir, "pack")} {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := f.Readdirnames(-1)
		f.Close()
		for _, name := range names {
			if strings.HasPrefix(name, "tmp_") {
				sweepOne(fsys, filepath.Join(dir, name), before)
			}
		}
	}
}

func sweepOne(fsys *vfs.FS, path string, before time.Time) {
	st, err := os.Lstat(path)
	switch {
	case err != nil || !st.ModTime().Before(before):
	case st.IsDir():
		fsys.RemoveAll(path)
	case st.Mode().IsRegular():
		fsys.Remove(path)
	}
}
