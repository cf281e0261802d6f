package vfs

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// temps is the list of files and directories that must not outlive the process.
type temps struct {
	mu   sync.Mutex
	list map[string]bool // path -> is a directory
	used bool
	use  func() // runs before the first path is put on the list; or nil
}

func newTemps() *temps { return &temps{list: map[string]bool{}} }

// Temp puts path on the list of temporaries, to be removed by Cleanup.
func (fsys *FS) Temp(path string, dir bool) {
	fsys.temps.mu.Lock()
	defer fsys.temps.mu.Unlock()
	if !fsys.temps.used && fsys.temps.use != nil {
		fsys.temps.use()
	}
	fsys.temps.used = true
	fsys.temps.list[path] = dir
}

// OnTemp has f run before the first path is put on the list of temporaries:
// watching for signals costs as much as a small command, and one that writes
// nothing need not pay for it.
func (fsys *FS) OnTemp(f func()) { fsys.temps.use = f }

// Keep takes path off the list of temporaries: it was published or removed.
func (fsys *FS) Keep(path string) {
	fsys.temps.mu.Lock()
	delete(fsys.temps.list, path)
	fsys.temps.mu.Unlock()
}

// Cleanup removes every temporary on the list; at exit and on signals. Files go
// first, so that a directory that lost its last file to it is still found.
func (fsys *FS) Cleanup() {
	fsys.temps.mu.Lock()
	list := fsys.temps.list
	fsys.temps.list = map[string]bool{}
	fsys.temps.mu.Unlock()
	for path, dir := range list {
		if !dir {
			fsys.Remove(path)
		}
	}
	for path, dir := range list {
		if dir {
			fsys.RemoveAll(path)
		}
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func randomName() string {
	var b [6]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b[:])
}

const tempAttempts = 16384 // as git's git_mkstemps_mode

// CreateTemp creates dir/prefixXXXXXX for reading and writing, with the given
// mode, and puts it on the list of temporaries.
func (fsys *FS) CreateTemp(dir, prefix string, perm fs.FileMode) (*File, error) {
	for i := 0; ; i++ {
		path := filepath.Join(dir, prefix+randomName())
		f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			fsys.Temp(path, false)
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) || i >= tempAttempts {
			return nil, err
		}
	}
}

// MkdirTemp creates the directory dir/prefixXXXXXX with mode 0700 and puts it
// on the list of temporaries.
func (fsys *FS) MkdirTemp(dir, prefix string) (string, error) {
	for i := 0; ; i++ {
		path := filepath.Join(dir, prefix+randomName())
		err := fsys.Mkdir(path, 0o700)
		if err == nil {
			fsys.Temp(path, true)
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) || i >= tempAttempts {
			return "", err
		}
	}
}
