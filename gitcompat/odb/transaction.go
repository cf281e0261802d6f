package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A Transaction takes the objects that one command writes. They are in a folder
// of its own, objects/tmp_objdir-<purpose>-XXXXXX, where this process sees them
// at once and children through Environ, until the Barrier publishes them. It has
// no end of its own: Commit or Rollback of the Barrier is its end (D6).
//
// Its methods may be called by several goroutines at a time.
type Transaction struct {
	db      *DB
	b       *syncpolicy.Barrier
	fsys    *vfs.FS
	purpose string

	mu      sync.Mutex
	store   *store // nil until the first object
	shards  [256]*shard
	staged  map[string]bool // files of Adopt
	claims  map[oid.ID]*claim
	strays  bool // a file that must not be published could not be removed
	packDir bool
}

// A shard is one of the 256 folders of loose objects, on its way.
type shard struct {
	names []string // files in it, to be published
}

// A claim is held by whoever writes an object; the others wait for it.
type claim struct {
	done chan struct{}
	err  error
}

// Begin starts a transaction whose objects b publishes.
func (db *DB) Begin(b *syncpolicy.Barrier) *Transaction { return db.BeginFor(b, "bulk-fsync") }

// BeginFor is Begin with the purpose in the name of the folder: git has
// "incoming" for the quarantine of a push.
func (db *DB) BeginFor(b *syncpolicy.Barrier, purpose string) *Transaction {
	return &Transaction{db: db, b: b, fsys: b.FS(), purpose: purpose, claims: map[oid.ID]*claim{}, staged: map[string]bool{}}
}

// DB returns the database that the transaction writes to.
func (t *Transaction) DB() *DB { return t.db }

// folder returns the transaction's folder, which it makes for the first object.
func (t *Transaction) folder() (*store, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.store != nil {
		return t.store, nil
	}
	dir, err := t.fsys.MkdirTemp(t.db.own.dir, "tmp_objdir-"+t.purpose+"-")
	if err != nil {
		return nil, t.createError(err)
	}
	t.db.sweep(t.fsys)
	t.store = &store{db: t.db, dir: dir, local: true}
	t.db.setTemp(t.store, true)
	t.b.OnEnd(t.end)
	return t.store, nil
}

// createError is what git says when it cannot create a file for an object.
func (t *Transaction) createError(err error) error {
	if errors.Is(err, fs.ErrPermission) && strings.HasSuffix((&sysError{"", err}).Error(), "Permission denied") {
		return &PermissionError{t.db.opts.Name, err}
	}
	return &sysError{"unable to create temporary file", err}
}

// A PermissionError says that no object can be added.
type PermissionError struct {
	Dir string
	Err error
}

// Error is git's message.
func (e *PermissionError) Error() string {
	return "insufficient permission for adding an object to repository database " + e.Dir
}

// Unwrap returns the error of the call.
func (e *PermissionError) Unwrap() error { return e.Err }

// end runs when the barrier has ended, however it did.
func (t *Transaction) end(error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.db.setTemp(t.store, false)
	t.db.forget()
	if err := t.fsys.RemoveAll(t.store.dir); err == nil {
		t.fsys.Keep(t.store.dir)
	}
	t.store, t.shards, t.packDir = nil, [256]*shard{}, false
	clear(t.staged)
}

// Dir returns the transaction's folder, for children that read or write objects.
// What they write there is published only after Adopt.
func (t *Transaction) Dir() (string, error) {
	s, err := t.folder()
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.packDir {
		if err := t.fsys.Mkdir(filepath.Join(s.dir, "pack"), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", &sysError{"unable to create temporary object directory", err}
		}
		t.packDir = true
	}
	return s.dir, nil
}

// Environ returns the variables that make a child use the transaction's folder:
// it writes there, and reads the repository as an alternate. alternates is the
// value of GIT_ALTERNATE_OBJECT_DIRECTORIES so far.
func (t *Transaction) Environ(alternates string) ([]string, error) {
	dir, err := t.Dir()
	if err != nil {
		return nil, err
	}
	own := QuoteAlternate(t.db.own.dir)
	if alternates != "" {
		own = alternates + string(filepath.ListSeparator) + own
	}
	return []string{
		"GIT_OBJECT_DIRECTORY=" + dir,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + own,
		"GIT_QUARANTINE_PATH=" + dir,
	}, nil
}

// shardFor makes sure that the folder of the loose object id exists, and that it
// will be published.
func (t *Transaction) shardFor(s *store, id oid.ID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := id.Byte(0)
	if t.shards[n] != nil {
		return nil
	}
	dir := filepath.Join(s.dir, shardName(n))
	if err := t.fsys.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return t.createError(err)
	}
	t.registerShard(n)
	return nil
}

func (t *Transaction) registerShard(n byte) {
	t.shards[n] = &shard{}
	final := filepath.Join(t.db.own.dir, shardName(n))
	dirs := []string{final}
	if exists(final) != nil {
		// The rename changes both; the shard's own inode is what changed last.
		dirs = []string{t.db.own.dir, final}
	}
	t.b.Do(syncpolicy.Objects, func() error { return t.publishShard(n) }, dirs...)
}

const hexDigits = "0123456789abcdef"

func shardName(n byte) string { return string([]byte{hexDigits[n>>4], hexDigits[n&15]}) }

// publishShard moves the loose objects of one shard into the repository: all at
// once where it has no such folder yet.
func (t *Transaction) publishShard(n byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	from := filepath.Join(t.store.dir, shardName(n))
	to := filepath.Join(t.db.own.dir, shardName(n))
	sh := t.shards[n]
	t.shards[n] = nil
	if exists(to) != nil && !t.strays && len(sh.names) > 0 {
		if err := t.db.opts.Shared.Adjust(t.fsys, from); err != nil {
			return fmt.Errorf("unable to set permission to '%s'", to)
		}
		if t.fsys.Rename(from, to) == nil {
			return nil
		}
	}
	if _, err := t.db.opts.Shared.Mkdir(t.fsys, to); err != nil {
		return &sysError{"unable to create directory " + to, err}
	}
	for _, name := range sh.names {
		final := filepath.Join(to, name)
		if err := t.fsys.Rename(filepath.Join(from, name), final); err != nil {
			return &sysError{"unable to write file " + final, err}
		}
	}
	return nil
}
