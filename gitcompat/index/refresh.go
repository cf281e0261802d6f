package index

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// A Problem is why an entry could not be refreshed.
type Problem uint8

// The problems; what they are called is the caller's business.
const (
	NeedsMerge   Problem = iota // the path is in conflict
	FileMissing                 // the file is not there
	FileAdded                   // the entry is an intended addition
	FileRetyped                 // the file is of another type
	FileModified                // anything else
)

// RefreshOptions choose what Refresh looks at.
type RefreshOptions struct {
	Really             bool // look at files assumed to be unchanged
	Unmerged           bool // pass over conflicts in silence
	Quiet              bool // files that differ are no failure and not reported
	IgnoreMissing      bool
	IgnoreSubmodules   bool
	IgnoreSkipWorktree bool
	// Filter, unless nil, leaves out the entries for which it is false.
	Filter func(e *Entry) bool
	// Report, unless nil, gets each path that differs, in order.
	Report func(p Problem, name string)
}

// Refresh brings the stat data of entries up to date whose files have the
// recorded content (refresh_index). It returns false if some do not. It needs
// Options.WorkTree.
func (x *Index) Refresh(o RefreshOptions) bool {
	x.Preload(o.Filter)
	r := refresher{x: x, o: o}
	if o.Really {
		r.match = IgnoreValid
	}
	clean := true
	for i := 0; i < len(x.Entries); i++ {
		e := x.Entries[i]
		if o.IgnoreSubmodules && e.IsGitlink() || o.IgnoreSkipWorktree && e.Flags&SkipWorktree != 0 {
			continue
		}
		selected := o.Filter == nil || o.Filter(e)
		if e.Stage != 0 {
			for i+1 < len(x.Entries) && x.Entries[i+1].Name == e.Name {
				i++
			}
			if !o.Unmerged {
				clean = false
				if selected {
					r.report(NeedsMerge, e.Name)
				}
			}
			continue
		}
		if !selected {
			continue
		}
		if p, ok := r.entry(e); !ok && !o.Quiet {
			clean = false
			r.report(p, e.Name)
		}
	}
	return clean
}

type refresher struct {
	x     *Index
	o     RefreshOptions
	match MatchOptions
	lead  Leading
}

func (r *refresher) report(p Problem, name string) {
	if r.o.Report != nil {
		r.o.Report(p, name)
	}
}

// entry refreshes one entry; ok is false if its file differs.
func (r *refresher) entry(e *Entry) (p Problem, ok bool) {
	x := r.x
	if e.Flags&UpToDate != 0 {
		return 0, true
	}
	if e.Flags&SkipWorktree != 0 || !r.o.Really && e.Flags&AssumeValid != 0 {
		e.Flags |= UpToDate
		return 0, true
	}
	var st FileStat
	err := error(syscall.ENOENT)
	if !r.lead.Symlink(x.Options.WorkTree, e.Name) {
		err = Lstat(x.Options.WorkTree+"/"+e.Name, &st)
	}
	if err != nil {
		switch {
		case r.o.IgnoreMissing && errors.Is(err, fs.ErrNotExist):
			return 0, true
		case errors.Is(err, fs.ErrNotExist):
			return FileMissing, false
		}
		return r.changed(e, 0), false
	}
	c := x.Match(e, &st, r.match)
	again := r.o.Really && x.Options.Stat.AssumeUnchanged && e.Flags&AssumeValid == 0
	if c == 0 && !again {
		if !e.IsGitlink() {
			e.Flags |= UpToDate
		}
		return 0, true
	}
	if c != 0 && x.modified(e, &st, c) != 0 {
		if r.o.Really && e.Flags&AssumeValid != 0 {
			e.Flags &^= AssumeValid
			x.Touch()
		}
		return r.changed(e, c), false
	}
	valid := e.Flags & AssumeValid
	x.FillStat(e, &st)
	if !r.o.Really {
		e.Flags = e.Flags&^AssumeValid | valid
	}
	x.Touch()
	return 0, true
}

func (r *refresher) changed(e *Entry, c Change) Problem {
	switch {
	case e.Flags&IntentToAdd != 0:
		return FileAdded
	case c&TypeChanged != 0:
		return FileRetyped
	}
	return FileModified
}

// perWorker is the number of entries that git finds worth a thread.
const perWorker = 500

// Preload marks, with all processors, the entries that stat data alone shows
// to be unchanged, so that the loop that comes after need not look at them
// (core.preloadIndex). It halves the time of a status of 50,000 files here.
func (x *Index) Preload(filter func(e *Entry) bool) {
	workers := min(runtime.GOMAXPROCS(0), len(x.Entries)/perWorker)
	if x.Options.NoPreload || x.Options.WorkTree == "" || workers < 2 {
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		from, to := len(x.Entries)*w/workers, len(x.Entries)*(w+1)/workers
		wg.Go(func() { x.preload(x.Entries[from:to], filter) })
	}
	wg.Wait()
}

func (x *Index) preload(list []*Entry, filter func(e *Entry) bool) {
	var st FileStat
	var lead Leading
	path := append(make([]byte, 0, 512), x.Options.WorkTree+"/"...)
	root := len(path)
	for _, e := range list {
		if e.Stage != 0 || e.IsGitlink() || e.Flags&(UpToDate|SkipWorktree|AssumeValid|IntentToAdd) != 0 || x.IsRacy(e) ||
			e.Stat.Size == 0 || filter != nil && !filter(e) || lead.Symlink(x.Options.WorkTree, e.Name) {
			continue
		}
		path = append(path[:root], e.Name...)
		if Lstat(string(path), &st) == nil && x.Options.Stat.MatchBasic(e, &st, false) == 0 {
			e.Flags |= UpToDate
		}
	}
}

// Leading tells whether paths pass through symbolic links; it remembers the
// directory that it looked at last, since paths come sorted.
type Leading struct {
	dir  string // relative to the root, known to be directories all the way
	link string // a symbolic link, with a slash at the end; or ""
}

// Symlink reports whether a directory above name is a symbolic link
// (has_symlink_leading_path).
func (l *Leading) Symlink(root, name string) bool {
	end := strings.LastIndexByte(name, '/')
	if end < 0 {
		return false
	}
	dir := name[:end]
	if dir == l.dir {
		return false
	}
	if l.link != "" && hasPrefix(name, l.link) {
		return true
	}
	start := 0
	for start < len(dir) && start < len(l.dir) && dir[start] == l.dir[start] {
		start++
	}
	if !(start == len(l.dir) && start < len(dir) && dir[start] == '/') && !(start == len(dir) && start < len(l.dir) && l.dir[start] == '/') {
		start = strings.LastIndexByte(dir[:start], '/')
	}
	if start == len(dir) {
		return false
	}
	var st FileStat
	for start < len(dir) {
		next := strings.IndexByte(dir[start+1:], '/')
		if next < 0 {
			start = len(dir)
		} else {
			start += 1 + next
		}
		if Lstat(root+"/"+dir[:start], &st) != nil {
			return false // what is missing is not a link
		}
		if st.IsSymlink() {
			l.link = dir[:start] + "/"
			return true
		}
		if !st.IsDir() {
			return false
		}
		l.dir = dir[:start]
	}
	return false
}
