package diff

import (
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// The statuses of a change.
const (
	Added       = 'A'
	Deleted     = 'D'
	Modified    = 'M'
	TypeChanged = 'T'
	Renamed     = 'R'
	Copied      = 'C'
	Unmerged    = 'U'
)

// A File is one side of a change.
type File struct {
	Path string
	Mode uint32 // 0 if there is no file on this side
	ID   oid.ID // null if the content is that of the working tree
	Hash oid.ID // what ID would be, where the search for renames found it out
}

// A Change is one path, or with a rename two, that differ.
type Change struct {
	Status   byte
	Score    int // similarity of a rename, of MaxScore
	Old, New File
	// IntentToAdd: the index entry was made by add -N.
	IntentToAdd bool
	// Submodule says how a submodule's working tree differs.
	Submodule Dirt
}

// Dirt is what is different inside a submodule.
type Dirt uint8

// The ways in which a submodule can differ.
const (
	NewCommits Dirt = 1 << iota
	ModifiedContent
	UntrackedContent
)

// Path returns the path that the change is listed under.
func (c *Change) Path() string {
	if c.New.Path != "" {
		return c.New.Path
	}
	return c.Old.Path
}

// Percent returns the score as git prints it.
func (c *Change) Percent() int { return c.Score * 100 / MaxScore }

// newChange makes the change between two sides of the same path.
func newChange(path string, old, cur File) Change {
	c := Change{Old: old, New: cur, Status: Modified}
	c.Old.Path, c.New.Path = path, path
	switch {
	case old.Mode == 0:
		c.Status = Added
	case cur.Mode == 0:
		c.Status = Deleted
	case old.Mode&typeMask != cur.Mode&typeMask:
		c.Status = TypeChanged
	}
	return c
}

const (
	typeMask    = 0o170000
	modeTree    = 0o040000
	modeFile    = 0o100000
	modeGitlink = 0o160000
)

// A Comparer holds what all comparisons need.
type Comparer struct {
	DB    *odb.DB
	Paths *worktree.Pathspec // nil: everything
	// Trees lists changed trees too, or with Recurse unset instead of what is in them.
	Recurse, Trees bool
	// ShowIntent compares entries of add -N as if they were in the index as empty
	// files; else they do not count as being in it.
	ShowIntent bool
}

// wants reports whether a file at path is to be compared.
func (c *Comparer) wants(path string) bool {
	return c.Paths == nil || len(c.Paths.Items) == 0 || c.Paths.Match(path, nil) > worktree.MatchLeading
}

// enters reports whether something below the directory path is to be compared.
func (c *Comparer) enters(path string) bool {
	return c.Paths == nil || len(c.Paths.Items) == 0 || c.Paths.MatchLeading(path, nil) > worktree.NoMatch
}
