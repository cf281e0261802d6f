package index

// Stat is what the index remembers of a file, truncated to 32 bits each.
type Stat struct {
	CTimeSec, CTimeNsec uint32
	MTimeSec, MTimeNsec uint32
	Dev, Ino            uint32
	UID, GID            uint32
	Size                uint32
}

// A FileStat is what lstat says of a file, in the index's terms.
type FileStat struct {
	Stat
	Mode  uint32 // type and permission bits as in st_mode
	Bytes int64  // the whole st_size
}

// IsDir reports whether it is a directory.
func (st *FileStat) IsDir() bool { return st.Mode&typeMask == ModeDir }

// IsRegular reports whether it is a regular file.
func (st *FileStat) IsRegular() bool { return st.Mode&typeMask == typeRegular }

// IsSymlink reports whether it is a symbolic link.
func (st *FileStat) IsSymlink() bool { return st.Mode&typeMask == ModeSymlink }

// mungeSize truncates a file size; a multiple of 4 GiB must not look like the
// zero that marks a racily clean entry.
func mungeSize(size int64) uint32 {
	if uint32(size) == 0 && size != 0 {
		return 0x80000000
	}
	return uint32(size)
}

// A Change says in what an entry and its file differ.
type Change uint8

// The differences (MTIME_CHANGED and so on in git).
const (
	MTimeChanged Change = 1 << iota
	CTimeChanged
	OwnerChanged
	ModeChanged
	InodeChanged
	DataChanged
	TypeChanged
)

// StatRules are the settings that decide what a difference of stat data means.
// The zero value has all of git's defaults for a file system that keeps
// execute bits and symbolic links.
type StatRules struct {
	DistrustCTime      bool // core.trustctime=false
	Minimal            bool // core.checkStat=minimal
	DistrustExecutable bool // core.fileMode=false
	NoSymlinks         bool // core.symlinks=false
	AssumeUnchanged    bool // core.ignoreStat
	IgnoreCase         bool // core.ignoreCase
}

// matchStat compares stat data alone. Nanoseconds and the device are stored
// but not compared, as in a git built without USE_NSEC and USE_STDEV.
func (r *StatRules) matchStat(a *Stat, b *Stat) Change {
	var c Change
	if a.MTimeSec != b.MTimeSec {
		c |= MTimeChanged
	}
	if !r.Minimal {
		if !r.DistrustCTime && a.CTimeSec != b.CTimeSec {
			c |= CTimeChanged
		}
		if a.UID != b.UID || a.GID != b.GID {
			c |= OwnerChanged
		}
		if a.Ino != b.Ino {
			c |= InodeChanged
		}
	}
	if a.Size != b.Size {
		c |= DataChanged
	}
	return c
}

// MatchBasic compares the entry with the file by type, mode and stat data, and
// not by content (ce_match_stat_basic). For a gitlink it says only whether the
// file is a directory; whether the repository in it is at the entry's commit
// is for the caller to add. emptyBlob is the name of the blob without content.
func (r *StatRules) MatchBasic(e *Entry, st *FileStat, emptyBlob bool) Change {
	if e.Flags&Remove != 0 {
		return ModeChanged | DataChanged | TypeChanged
	}
	var c Change
	switch e.Mode & typeMask {
	case typeRegular:
		if !st.IsRegular() {
			c |= TypeChanged
		}
		if !r.DistrustExecutable && (e.Mode^st.Mode)&0o100 != 0 {
			c |= ModeChanged
		}
	case ModeSymlink:
		if !st.IsSymlink() && (!r.NoSymlinks || !st.IsRegular()) {
			c |= TypeChanged
		}
	default:
		if !st.IsDir() {
			c |= TypeChanged
		}
		return c
	}
	c |= r.matchStat(&e.Stat, &st.Stat)
	if e.Stat.Size == 0 && !emptyBlob {
		c |= DataChanged // racily clean when it was written, so nothing is known of it (I4)
	}
	return c
}

// ModeFromStat returns the mode of the entry for a file, taking from old (the
// entry it replaces, or nil) what the file system cannot say (ce_mode_from_stat).
func (r *StatRules) ModeFromStat(old *Entry, mode uint32) uint32 {
	if r.NoSymlinks && mode&typeMask == typeRegular && old != nil && old.IsSymlink() {
		return old.Mode
	}
	if r.DistrustExecutable && mode&typeMask == typeRegular {
		if old != nil && old.IsRegular() {
			return old.Mode
		}
		return ModeFile
	}
	return CanonicalMode(mode)
}

// FillStat makes the entry remember st, as of a file just found equal to it
// (fill_stat_cache_info).
func (x *Index) FillStat(e *Entry, st *FileStat) {
	e.Stat = st.Stat
	if x.Options.Stat.AssumeUnchanged {
		e.Flags |= AssumeValid
	}
	if st.IsRegular() {
		e.Flags |= UpToDate
	}
}

// MatchBasic is StatRules.MatchBasic with the index's rules.
func (x *Index) MatchBasic(e *Entry, st *FileStat) Change {
	empty := false
	if e.Stat.Size == 0 {
		if x.emptyBlob.IsNull() {
			x.emptyBlob = x.Algo.EmptyBlob()
		}
		empty = e.ID == x.emptyBlob
	}
	return x.Options.Stat.MatchBasic(e, st, empty)
}

// MatchOptions changes what Match pays attention to.
type MatchOptions uint8

// The options (CE_MATCH_* in git).
const (
	IgnoreValid        MatchOptions = 1 << iota // look at the file in spite of assume-unchanged
	IgnoreSkipWorktree                          // and of skip-worktree
	RacyIsDirty                                 // do not open a racy entry's file; call it changed
)

// Match says how the file of an entry differs from it (ie_match_stat). Racy
// entries are compared by content through Options.Content.
func (x *Index) Match(e *Entry, st *FileStat, o MatchOptions) Change {
	if o&IgnoreSkipWorktree == 0 && e.Flags&SkipWorktree != 0 {
		return 0
	}
	if o&IgnoreValid == 0 && e.Flags&AssumeValid != 0 {
		return 0
	}
	if e.Flags&IntentToAdd != 0 {
		return DataChanged | TypeChanged | ModeChanged
	}
	c := x.MatchBasic(e, st)
	if e.IsGitlink() {
		if c == 0 && x.contentDiffers(e, st) {
			c |= DataChanged
		}
		return c
	}
	if c == 0 && x.IsRacy(e) {
		if o&RacyIsDirty != 0 {
			return DataChanged
		}
		c |= x.compareFile(e, st)
	}
	return c
}

// Modified is Match, followed by a look at the content wherever stat data
// alone cannot tell (ie_modified).
func (x *Index) Modified(e *Entry, st *FileStat, o MatchOptions) Change {
	c := x.Match(e, st, o)
	if c == 0 {
		return 0
	}
	return x.modified(e, st, c)
}

// modified settles what Match has found.
func (x *Index) modified(e *Entry, st *FileStat, c Change) Change {
	if c&(ModeChanged|TypeChanged) != 0 {
		return c
	}
	// A size that differs says that the content does, except for the zero of a racy entry.
	if c&DataChanged != 0 && (e.IsGitlink() || e.Stat.Size != 0) {
		return c
	}
	if d := x.compareFile(e, st); d != 0 {
		return c | d
	}
	return 0
}

// compareFile is the look at the content (ce_modified_check_fs).
func (x *Index) compareFile(e *Entry, st *FileStat) Change {
	switch st.Mode & typeMask {
	case typeRegular, ModeSymlink:
	case ModeDir:
		if !e.IsGitlink() {
			return TypeChanged
		}
	default:
		return TypeChanged
	}
	if x.contentDiffers(e, st) {
		return DataChanged
	}
	return 0
}

func (x *Index) contentDiffers(e *Entry, st *FileStat) bool {
	if x.Options.Content == nil {
		return !e.IsGitlink()
	}
	return x.Options.Content(e, st)
}

// IsRacy reports whether the file of e may have changed after e was recorded
// and in the same second in which the index was written.
func (x *Index) IsRacy(e *Entry) bool {
	return !e.IsGitlink() && x.time.sec != 0 && x.time.sec <= e.Stat.MTimeSec
}

// HasRacy reports whether any entry is racy.
func (x *Index) HasRacy() bool {
	for _, e := range x.Entries {
		if x.IsRacy(e) {
			return true
		}
	}
	return false
}
