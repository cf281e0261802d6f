package index

import (
	"sort"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// Modes of entries; git stores no others.
const (
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeGitlink    uint32 = 0o160000
	ModeDir        uint32 = 0o040000 // a sparse directory in the index; a directory in FileStat

	typeMask    uint32 = 0o170000
	typeRegular uint32 = 0o100000
)

// CanonicalMode returns the entry mode for the mode of a file: only type and
// the owner's execute bit matter (create_ce_mode).
func CanonicalMode(mode uint32) uint32 {
	switch mode & typeMask {
	case ModeSymlink:
		return ModeSymlink
	case ModeDir, ModeGitlink:
		return ModeGitlink
	}
	if mode&0o100 != 0 {
		return ModeExecutable
	}
	return ModeFile
}

// Flags of an entry. The first three are stored, the others live in memory.
type Flags uint16

// The flags.
const (
	AssumeValid  Flags = 1 << iota // CE_VALID: do not look at the file
	SkipWorktree                   // CE_SKIP_WORKTREE: the file need not be there
	IntentToAdd                    // CE_INTENT_TO_ADD: `add -N`
	UpToDate                       // CE_UPTODATE: compared in this process, no need to lstat again
	Added                          // CE_ADDED: put there by this process
	Remove                         // CE_REMOVE: left out when the index is written; see RemoveMarked
	Update                         // CE_UPDATE: for the caller's use

	extendedFlags = SkipWorktree | IntentToAdd
)

// An Entry is one path at one stage.
type Entry struct {
	Name  string
	Stat  Stat
	Mode  uint32
	ID    oid.ID
	Stage uint8 // 0, or 1 to 3 for the sides of a conflict
	Flags Flags
}

// IsGitlink reports whether the entry is a commit of another repository.
func (e *Entry) IsGitlink() bool { return e.Mode&typeMask == ModeGitlink }

// IsRegular reports whether the entry is a file, executable or not.
func (e *Entry) IsRegular() bool { return e.Mode&typeMask == typeRegular }

// IsSymlink reports whether the entry is a symbolic link.
func (e *Entry) IsSymlink() bool { return e.Mode&typeMask == ModeSymlink }

// Has reports whether all of the flags f are set.
func (e *Entry) Has(f Flags) bool { return e.Flags&f == f }

// An Index is the content of an index file. It is not safe for concurrent use.
//
// Entries may be read freely. Callers that change an entry in place, other
// than its in-memory flags, call Touch; all else goes through the methods.
type Index struct {
	Algo    oid.Algo
	Version uint32 // as read, or 0: chosen when written
	Entries []*Entry
	Options Options

	// Changed is set by every change that has to be written.
	Changed bool
	// Checksum is the trailer of the file as read or written; null for a new index and with index.skipHash.
	Checksum oid.ID
	// Tree is the cache-tree: the trees already known for the directories. Nil if there is none.
	Tree *CacheTree
	// Undo holds the sides of the conflicts that were resolved, sorted by path; HasUndo says that the extension exists.
	Undo    []Undo
	HasUndo bool
	// Warnings are lines for stderr that reading the file gave.
	Warnings []string
	// WorkTreeUpdated and SkipWorktreeUpdated are the two arguments of the post-index-change hook.
	WorkTreeUpdated, SkipWorktreeUpdated bool

	time      timestamp // of the file as read: decides what is racy
	untracked []byte    // UNTR, verbatim
	fsmonitor []byte    // FSMN, verbatim
	good      chan bool // will say whether the checksum of the file held; nil: it did
	emptyBlob oid.ID
	fold      map[string]*Entry
	foldDirs  map[string]string
}

type timestamp struct{ sec, nsec uint32 }

// New returns an empty index that has no file yet.
func New(algo oid.Algo, o Options) *Index {
	return &Index{Algo: algo, Options: o, Checksum: algo.Null()}
}

// compareName orders entries: bytes of the path, then stage (cache_name_stage_compare).
func (e *Entry) compareName(name string, stage uint8) int {
	switch {
	case e.Name < name:
		return -1
	case e.Name > name:
		return 1
	}
	return int(e.Stage) - int(stage)
}

// Search returns the position of name at the stage, or where it would be inserted.
func (x *Index) Search(name string, stage uint8) (pos int, found bool) {
	n := len(x.Entries)
	if n == 0 || x.Entries[n-1].compareName(name, stage) < 0 {
		return n, false // the common case while a sorted list is added
	}
	pos = sort.Search(n, func(i int) bool { return x.Entries[i].compareName(name, stage) >= 0 })
	return pos, pos < n && x.Entries[pos].compareName(name, stage) == 0
}

// Find returns the entry of name at the stage, or nil.
func (x *Index) Find(name string, stage uint8) *Entry {
	if pos, ok := x.Search(name, stage); ok {
		return x.Entries[pos]
	}
	return nil
}

// FindAny returns the entry of name whatever its stage: 0 if there, else the
// side to prefer in a conflict: 2, 1, 3 (index_name_pos_also_unmerged).
func (x *Index) FindAny(name string) *Entry {
	pos, ok := x.Search(name, 0)
	if ok {
		return x.Entries[pos]
	}
	if pos >= len(x.Entries) || x.Entries[pos].Name != name {
		return nil
	}
	e := x.Entries[pos]
	if e.Stage == 1 && pos+1 < len(x.Entries) {
		if next := x.Entries[pos+1]; next.Name == name && next.Stage == 2 {
			return next
		}
	}
	return e
}

// HasDir reports whether any entry lies below the directory dir ("a/b", no slash at the end).
func (x *Index) HasDir(dir string) bool {
	prefix := dir + "/"
	pos, _ := x.Search(prefix, 0)
	return pos < len(x.Entries) && hasPrefix(x.Entries[pos].Name, prefix)
}

// Range returns the positions [from, to) of the entries whose path starts with prefix.
func (x *Index) Range(prefix string) (from, to int) {
	from = sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Name >= prefix })
	rest := x.Entries[from:]
	return from, from + sort.Search(len(rest), func(i int) bool { return !hasPrefix(rest[i].Name, prefix) })
}

// Unmerged reports whether any path is in conflict.
func (x *Index) Unmerged() bool {
	for _, e := range x.Entries {
		if e.Stage != 0 {
			return true
		}
	}
	return false
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }
