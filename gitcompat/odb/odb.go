// Package odb is the object database of a repository: loose objects and packs
// of its own folder and of its alternates for reading, and transactions for
// writing.
//
// Source: gitrepository-layout(5), odb.c, odb/source-loose.c, packfile.c,
// object-file.c, object-name.c and tmp-objdir.c of git 2.55.
//
// Invariants:
//
//	D1  an object is looked for in all packs, then loose, folder by folder, and once more after the pack folders were listed again, before it is missing.
//	D2  a damaged copy of an object does not hide a good one.
//	D3  no size that a header states is allocated before the file is known to be able to yield it.
//	D4  objects of a transaction are in a folder of its own until its Barrier publishes them, hardened: no name in the repository ever holds half an object.
//	D5  an object counts as present, and is not written, only if it was read back whole; one that another program may not have flushed yet is hardened with the rest.
//	D6  however a transaction ends, its folder is gone.
package odb

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Options are what configuration and environment say about an object database.
type Options struct {
	Alternates       []string // folders of GIT_ALTERNATE_OBJECT_DIRECTORIES; see SplitAlternates
	Name             string   // how messages call the folder; its path if empty
	Shared           lockfile.SharedRepository
	LooseCompression Level         // core.looseCompression, or core.compression
	PackCompression  Level         // pack.compression, or core.compression
	BigFileThreshold int64         // core.bigFileThreshold; 0 is git's default
	PackSizeLimit    int64         // pack.packSizeLimit, for the packs of big blobs; 0 is none
	PruneExpire      time.Duration // gc.pruneExpire; 0 is git's default, negative never
	BaseCache        int64         // core.deltaBaseCacheLimit; 0 is git's default
	Report           func(error)   // gets what git prints as "error: " and goes on; may be nil
}

// DefaultBigFile is git's default of core.bigFileThreshold.
const DefaultBigFile = 512 << 20

// DefaultPruneExpire is git's default of gc.pruneExpire.
const DefaultPruneExpire = 14 * 24 * time.Hour

// A DB is an open object database. It is safe for concurrent use.
type DB struct {
	fsys *vfs.FS
	algo oid.Algo
	opts Options

	own       *store
	bases     *pack.BaseCache
	emptyTree oid.ID // exists in every repository, stored or not

	tempMu sync.Mutex
	temps  atomic.Pointer[[]*store] // of transactions that are open

	deflaters sync.Pool // of *deflater
	hashes    sync.Pool // of hash.Hash

	altOnce sync.Once
	alts    []*store

	abbrev abbrevCache
}

// Open opens the object database in objdir, an absolute path. That objdir does
// not exist is no error: it has no objects then.
func Open(fsys *vfs.FS, objdir string, algo oid.Algo, o Options) (*DB, error) {
	if o.BigFileThreshold == 0 {
		o.BigFileThreshold = DefaultBigFile
	}
	if o.PruneExpire == 0 {
		o.PruneExpire = DefaultPruneExpire
	}
	if o.BaseCache == 0 {
		o.BaseCache = pack.DefaultCacheLimit
	}
	if o.Name == "" {
		o.Name = objdir
	}
	db := &DB{fsys: fsys, algo: algo, opts: o, bases: pack.NewBaseCache(o.BaseCache), emptyTree: algo.EmptyTree()}
	db.deflaters.New = func() any { return newDeflater(o.LooseCompression) }
	db.hashes.New = func() any { return algo.New() }
	db.own = &store{db: db, dir: objdir, local: true}
	return db, nil
}

// Dir returns the folder that new objects go to.
func (db *DB) Dir() string { return db.own.dir }

// Algo returns the hash algorithm of the repository.
func (db *DB) Algo() oid.Algo { return db.algo }

// Close closes the packs that are open. No object may be read afterwards.
func (db *DB) Close() {
	for _, s := range db.stores() {
		s.close()
	}
}

func (db *DB) report(err error) {
	if db.opts.Report != nil {
		db.opts.Report(err)
	}
}

// stores returns the folders in the order in which they are searched.
func (db *DB) stores() []*store {
	db.altOnce.Do(db.loadAlternates)
	all := make([]*store, 0, len(db.alts)+2)
	if temps := db.temps.Load(); temps != nil {
		all = append(all, *temps...)
	}
	all = append(all, db.own)
	return append(all, db.alts...)
}

// setTemp adds or takes away the folder of a transaction.
func (db *DB) setTemp(s *store, open bool) {
	db.tempMu.Lock()
	defer db.tempMu.Unlock()
	var temps []*store
	if old := db.temps.Load(); old != nil {
		temps = slices.DeleteFunc(slices.Clone(*old), func(t *store) bool { return t == s })
	}
	if open {
		temps = append(temps, s)
	}
	db.temps.Store(&temps)
}

// A MissingError says that there is no such object.
type MissingError struct{ ID oid.ID }

// Error is the message that most of git's commands have for it.
func (e *MissingError) Error() string { return "unable to read " + e.ID.String() }

// A CorruptError says that an object is there, and that no copy of it can be read.
type CorruptError struct {
	ID     oid.ID
	Path   string // of the loose file or the pack
	Packed bool
	Err    error // in git's words
}

// Error is git's message.
func (e *CorruptError) Error() string {
	kind := "loose"
	if e.Packed {
		kind = "packed"
	}
	return fmt.Sprintf("%s object %s (stored in %s) is corrupt", kind, e.ID, e.Path)
}

// Unwrap returns what is wrong with the object.
func (e *CorruptError) Unwrap() error { return e.Err }

// IsMissing reports whether err says that an object does not exist.
func IsMissing(err error) bool {
	_, ok := errors.AsType[*MissingError](err)
	return ok
}

// A TypeError says that an object is of another type than the one asked for.
type TypeError struct {
	ID        oid.ID
	Got, Want object.Type
}

// Error is git's message.
func (e *TypeError) Error() string {
	return fmt.Sprintf("object %s is a %s, not a %s", e.ID, e.Got, e.Want)
}

// A sysError is a failed call in git's words and C's.
type sysError struct {
	text string
	err  error
}

func (e *sysError) Error() string { return e.text + ": " + lockfile.Strerror(e.err) }
func (e *sysError) Unwrap() error { return e.err }

func exists(path string) error {
	_, err := os.Lstat(path)
	return err
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
