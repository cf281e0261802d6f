package refs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Options describe one repository to Open.
type Options struct {
	FS        *vfs.FS
	GitDir    string // absolute; of this worktree
	CommonDir string // absolute; "" if the same
	// PackedName is what messages call packed-refs; "" for its path.
	PackedName string
	Algo       oid.Algo
	Locker     *lockfile.Locker

	LockTimeout       time.Duration // core.filesRefLockTimeout; git's default is DefaultLockTimeout
	PackedLockTimeout time.Duration // core.packedRefsTimeout; git's default is DefaultPackedLockTimeout
	LogAll            LogRefs       // core.logAllRefUpdates, after LogRefs.Resolve
	SymlinkRefs       bool          // core.preferSymlinkRefs
	Forbidden         bool          // GIT_QUARANTINE_PATH is set: no ref may change

	// ObjectType returns the type of an object that it has read and found sound.
	ObjectType func(oid.ID) (object.Type, error)
	// HasObject reports whether an object is there; nil means by ObjectType.
	HasObject func(oid.ID) bool
	// Peel returns what an annotated tag leads to in the end; false if id is not
	// a tag or leads nowhere.
	Peel func(id oid.ID) (oid.ID, bool)
	// Committer returns the identity and time for reflog entries, as in
	// "A U Thor <author@example.com> 1112911993 -0700".
	Committer func() (string, error)
	// Hook runs the reference-transaction hook with a state and its input; nil
	// where there is none.
	Hook func(state string, input []byte) error
	// Say gets the lines that git writes to standard error about refs that are
	// passed over.
	Say func(line string)
}

// git's defaults for the two time-outs.
const (
	DefaultLockTimeout       = 100 * time.Millisecond
	DefaultPackedLockTimeout = time.Second
)

// LogRefs is a value of core.logAllRefUpdates.
type LogRefs uint8

// The values of core.logAllRefUpdates.
const (
	LogUnset  LogRefs = iota
	LogNone           // false
	LogNormal         // true: branches, remote-tracking branches, notes, HEAD
	LogAlways         // always
)

// Resolve gives an unset value its meaning.
func (l LogRefs) Resolve(bare bool) LogRefs {
	switch {
	case l != LogUnset:
		return l
	case bare:
		return LogNone
	}
	return LogNormal
}

func (l LogRefs) creates(name string) bool {
	switch l {
	case LogAlways:
		return true
	case LogNormal:
		return name == "HEAD" || strings.HasPrefix(name, "refs/heads/") ||
			strings.HasPrefix(name, "refs/remotes/") || strings.HasPrefix(name, "refs/notes/")
	}
	return false
}

// A Store is the refs of a repository as one worktree sees them. It may be used
// by several goroutines at a time; a Transaction by one.
type Store struct {
	o      Options
	mu     sync.Mutex // guards packed
	packed *snapshot
}

// Open returns the refs of a repository. It touches no file.
func Open(o Options) *Store {
	if o.CommonDir == "" {
		o.CommonDir = o.GitDir
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.Locker != nil && o.Locker.Books == "" {
		locker := *o.Locker
		locker.Books = o.CommonDir
		o.Locker = &locker
	}
	return &Store{o: o}
}

// Algo returns the hash algorithm of the repository.
func (s *Store) Algo() oid.Algo { return s.o.Algo }

// path returns the file of a ref.
func (s *Store) path(name string) string { return s.file(name, "") }

// logPath returns the file of a reflog.
func (s *Store) logPath(name string) string { return s.file(name, "logs") }

func (s *Store) file(name, sub string) string {
	owner, id, bare := refname.Worktree(name)
	dir := s.o.CommonDir
	switch owner {
	case refname.Current:
		dir = s.o.GitDir
	case refname.Other:
		dir = join(join(dir, "worktrees"), id)
	}
	if sub != "" {
		dir = join(dir, sub)
	}
	return join(dir, bare)
}

// join is filepath.Join without the cleaning, which names do not need (N1) and
// which would hide that they are wrong.
func join(dir, name string) string {
	if filepath.Separator != '/' {
		name = filepath.FromSlash(name)
	}
	return dir + string(filepath.Separator) + name
}

func (s *Store) packedPath() string { return join(s.o.CommonDir, "packed-refs") }

// snapshot returns packed-refs as it is now.
func (s *Store) snapshot() (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.packed != nil && s.packed.current() {
		return s.packed, nil
	}
	return s.load()
}

// reload reads packed-refs again; for when its lock was just taken.
func (s *Store) reload() (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load()
}

func (s *Store) load() (*snapshot, error) {
	snap, err := loadSnapshot(s.packedPath(), s.o.PackedName, s.o.Algo)
	if err != nil {
		return nil, &PackedError{err}
	}
	s.packed = snap
	return snap, nil
}

func (s *Store) hasObject(id oid.ID) bool {
	if s.o.HasObject != nil {
		return s.o.HasObject(id)
	}
	if s.o.ObjectType == nil {
		return true
	}
	_, err := s.o.ObjectType(id)
	return err == nil
}

// peel returns what a tag leads to; null for what is no tag.
func (s *Store) peel(id oid.ID) oid.ID {
	if s.o.Peel != nil {
		if peeled, ok := s.o.Peel(id); ok {
			return peeled
		}
	}
	return oid.ID{}
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// ForWorktree returns the refs as another worktree of the repository sees them,
// whose git directory is gitDir.
func (s *Store) ForWorktree(gitDir string) *Store {
	o := s.o
	o.GitDir = gitDir
	return &Store{o: o}
}
