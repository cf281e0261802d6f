package odb

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

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
	busy    map[oid.ID]*claim
	places  map[oid.ID]place // of objects that are done
	shards  [256]*shard
	staged  map[string]bool // files of packs that are staged
	big     bigBlobs
	sharded bool // children look into the folder: it must be a proper one
}

// A place says where an object of a transaction is.
type place uint8

const (
	elsewhere place = iota // in the repository, published or found there
	flat                   // <folder>/<name>
	inShard                // <folder>/xx/<rest of name>
	inBigPack              // in the pack of big blobs
)

// A shard is one of the 256 folders of loose objects to which some will go.
type shard struct{ ids []oid.ID }

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
	return &Transaction{db: db, b: b, fsys: b.FS(), purpose: purpose,
		busy: map[oid.ID]*claim{}, places: map[oid.ID]place{}, staged: map[string]bool{}}
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
	t.store = &store{db: t.db, dir: dir, local: true, tx: t}
	t.db.setTemp(t.store, true)
	t.b.OnEnd(t.end)
	return t.store, nil
}

// createError is what git says when it cannot create a file for an object.
func (t *Transaction) createError(err error) error {
	if errors.Is(err, syscall.EACCES) {
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
	t.big.mu.Lock()
	for _, p := range slices.Clone(t.big.packs) {
		t.endBig(p)
	}
	t.big.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.db.setTemp(t.store, false)
	t.db.forget()
	if err := t.fsys.RemoveAll(t.store.dir); err == nil {
		t.fsys.Keep(t.store.dir)
	}
	t.store, t.shards, t.sharded = nil, [256]*shard{}, false
	clear(t.staged)
	clear(t.places)
}

// locate returns where the transaction's folder has, or may have, a loose object.
func (t *Transaction) locate(s *store, id oid.ID) (path string, maybe bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.places[id] {
	case flat:
		return s.flatPath(id), true
	case inShard:
		return s.loosePath(id), true
	case inBigPack:
		return "", false
	}
	return s.loosePath(id), t.sharded
}

func (t *Transaction) path(s *store, id oid.ID) string {
	if t.places[id] == flat {
		return s.flatPath(id)
	}
	return s.loosePath(id)
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
	if t.sharded {
		return s.dir, nil
	}
	if err := t.mkdir(filepath.Join(s.dir, "pack")); err != nil {
		return "", &sysError{"unable to create temporary object directory", err}
	}
	for id, place := range t.places {
		if place != flat {
			continue
		}
		// A second name; the barrier knows the file by its first.
		path := s.loosePath(id)
		if err := t.mkdir(filepath.Dir(path)); err != nil {
			return "", t.createError(err)
		}
		if err := t.fsys.Link(s.flatPath(id), path); err != nil {
			return "", &sysError{"unable to write file " + path, err}
		}
	}
	t.sharded = true
	return s.dir, nil
}

func (t *Transaction) mkdir(path string) error {
	err := t.fsys.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
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

// put notes that the file of id is complete in the transaction's folder, and makes
// sure that it will be published.
func (t *Transaction) put(id oid.ID, at place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := id.Byte(0)
	if t.shards[n] == nil {
		t.shards[n] = &shard{}
		final := filepath.Join(t.db.own.dir, shardName(n))
		dirs := []string{final}
		if exists(final) != nil {
			dirs = []string{t.db.own.dir, final} // the last is where a name changes last
		}
		t.b.Do(syncpolicy.Objects, func() error { return t.publishShard(n) }, dirs...)
	}
	t.shards[n].ids = append(t.shards[n].ids, id)
	t.places[id] = at
}

const hexDigits = "0123456789abcdef"

func shardName(n byte) string { return string([]byte{hexDigits[n>>4], hexDigits[n&15]}) }

// publishShard moves the loose objects of one shard into the repository.
func (t *Transaction) publishShard(n byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := t.shards[n].ids
	t.shards[n] = nil
	dir := filepath.Join(t.db.own.dir, shardName(n))
	if _, err := t.db.opts.Shared.Mkdir(t.fsys, dir); err != nil {
		return &sysError{"unable to create directory " + dir, err}
	}
	for _, id := range ids {
		final := t.db.own.loosePath(id)
		if err := t.fsys.Rename(t.path(t.store, id), final); err != nil {
			return &sysError{"unable to write file " + final, err}
		}
		t.places[id] = elsewhere
	}
	return nil
}
