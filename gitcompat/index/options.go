package index

import "runtime"

// Options are what the reader and writer of an index must know of its
// repository. The zero value is a repository without configuration.
type Options struct {
	Stat StatRules

	// WorkTree is the absolute path of the working tree, or "".
	WorkTree string
	// Content reports whether the file of e, of which lstat said st, differs
	// from e's blob once converted; for a gitlink, whether the repository
	// there is at another commit (one that cannot be read does not differ).
	Content func(e *Entry, st *FileStat) bool
	// NoPreload is core.preloadIndex=false.
	NoPreload bool
	// VerifyPath reports whether a path may be in an index; nil allows all.
	VerifyPath func(path string, mode uint32) bool

	// Version returns the version of new indexes: GIT_INDEX_VERSION, else
	// index.version, else 4 with feature.manyFiles; 3 means 2 or 3, as does nil.
	// It is a function because git complains of a bad value only here.
	Version func() uint32
	// Threads is index.threads if ThreadsSet: true is 0, false is 1.
	Threads    int
	ThreadsSet bool
	// RecordEndOfEntries and RecordOffsetTable are index.recordEndOfIndexEntries
	// and index.recordOffsetTable; nil if unset.
	RecordEndOfEntries, RecordOffsetTable *bool
	// SkipHash is index.skipHash.
	SkipHash bool
	// AllowNullID is GIT_ALLOW_NULL_SHA1.
	AllowNullID bool
}

// recordEOIE reports whether the EOIE extension is to be written.
func (o *Options) recordEOIE() bool {
	if o.RecordEndOfEntries != nil {
		return *o.RecordEndOfEntries
	}
	return o.ThreadsSet && o.Threads != 1
}

// minBlock is the number of entries that git finds worth a thread.
const minBlock = 10000

// blockSize returns the number of entries in a block of the IEOT extension for
// an index of n entries, or 0 if there is to be no such extension.
func (o *Options) blockSize(n int) int {
	if !o.ThreadsSet || o.Threads == 1 || o.RecordOffsetTable != nil && !*o.RecordOffsetTable {
		return 0
	}
	blocks := o.Threads
	if blocks == 0 {
		blocks = min(n/minBlock, runtime.NumCPU()-1)
	} else {
		blocks = min(blocks, n)
	}
	if blocks <= 1 {
		return 0
	}
	return (n + blocks - 1) / blocks
}
