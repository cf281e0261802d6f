package worktree

import (
	"github.com/sluicegit/sluice/gitcompat/index"
)

// RefreshOptions limit Refresh (the REFRESH_* of git).
type RefreshOptions struct {
	Pathspec           *Pathspec
	Seen               []Match
	Really             bool // look also at what is assumed unchanged
	Unmerged           bool // conflicts are no news
	IgnoreMissing      bool
	IgnoreSubmodules   bool
	IgnoreSkipWorktree bool // entries outside of a sparse checkout are passed over
}

// A RefreshNote is an entry that isn't as its file.
type RefreshNote struct {
	Name string
	Kind RefreshKind
}

// RefreshKind says what is the matter.
type RefreshKind uint8

const (
	NeedsMerge RefreshKind = iota
	NeedsUpdate
	FileDeleted
	TypeDiffers
	IntentOnly
)

// Letter is the one-letter form that porcelain commands print.
func (k RefreshKind) Letter() byte { return "UMDTA"[k] }

// Plain is the text that plumbing commands print after the path.
func (k RefreshKind) Plain() string {
	if k == NeedsMerge {
		return "needs merge"
	}
	return "needs update"
}

type refreshJob struct {
	e       *index.Entry
	st      index.FileStat
	touched bool // same content, other stat data
	note    RefreshKind
	noted   bool
	invalid bool
}

// Refresh brings the stat data of the index up to date with files that still
// have the recorded content, and returns those that don't.
func (t *Tree) Refresh(x *index.Index, o RefreshOptions) []RefreshNote {
	var jobs []refreshJob
	for i := 0; i < len(x.Entries); i++ {
		e := x.Entries[i]
		if o.IgnoreSubmodules && e.IsGitlink() || o.IgnoreSkipWorktree && e.Has(index.SkipWorktree) || e.Mode == index.ModeDir {
			continue
		}
		out := o.Pathspec != nil && o.Pathspec.MatchEntry(e, o.Seen) == NoMatch
		if e.Stage != 0 {
			for i+1 < len(x.Entries) && x.Entries[i+1].Name == e.Name {
				i++
			}
			if !o.Unmerged && !out {
				jobs = append(jobs, refreshJob{e: e, noted: true, note: NeedsMerge})
			}
			continue
		}
		if out || e.Has(index.UpToDate) {
			continue
		}
		if e.Has(index.SkipWorktree) || !o.Really && e.Has(index.AssumeValid) {
			e.Flags |= index.UpToDate
			continue
		}
		jobs = append(jobs, refreshJob{e: e})
	}
	x.MatchBasic(&index.Entry{}, &index.FileStat{}) // from here on matching only reads
	parallel(len(jobs), 256, func(lo, hi int) {
		links := leadingLinks{root: t.Root}
		for i := lo; i < hi; i++ {
			if !jobs[i].noted {
				t.refreshOne(x, &jobs[i], &links, o)
			}
		}
	})
	var notes []RefreshNote
	for i := range jobs {
		j := &jobs[i]
		switch {
		case j.noted:
			notes = append(notes, RefreshNote{j.e.Name, j.note})
			if j.invalid && o.Really && j.e.Has(index.AssumeValid) {
				j.e.Flags &^= index.AssumeValid
				x.Touch()
			}
		case j.touched:
			x.FillStat(j.e, &j.st)
			x.Touch()
		case !j.e.IsGitlink():
			j.e.Flags |= index.UpToDate
		}
	}
	return notes
}

func (t *Tree) refreshOne(x *index.Index, j *refreshJob, links *leadingLinks, o RefreshOptions) {
	var match index.MatchOptions
	if o.Really {
		match = index.IgnoreValid
	}
	err := index.Lstat(t.abs(j.e.Name), &j.st)
	if err != nil || links.beyond(j.e.Name) {
		if o.IgnoreMissing && (err == nil || absent(err)) {
			return
		}
		j.noted, j.note = true, NeedsUpdate
		if err == nil || absent(err) {
			j.note = FileDeleted
		}
		return
	}
	c := x.Match(j.e, &j.st, match)
	if c == 0 {
		return
	}
	if d := x.Modified(j.e, &j.st, match); d == 0 {
		j.touched = true
		return
	}
	j.noted, j.invalid, j.note = true, true, NeedsUpdate
	switch {
	case j.e.Has(index.IntentToAdd):
		j.note = IntentOnly
	case c&index.TypeChanged != 0:
		j.note = TypeDiffers
	}
}
