package worktree

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sluicegit/sluice/gitcompat/index"
)

// WalkOptions choose what a walk reports.
type WalkOptions struct {
	Root   string // the working tree, absolute
	GitDir string // the repository's own; a directory above it isn't another repository
	Index  *index.Index
	// Pathspec limits the walk; nil is everything.
	Pathspec *Pathspec
	// Ignore is nil if nothing is to be ignored.
	Ignore *Ignore

	// CollapseDirs reports a directory without tracked files as one path.
	CollapseDirs bool
	// HideEmpty drops directories that hold no file (with CollapseDirs).
	HideEmpty bool
	// OnlyIgnored puts ignored paths in Untracked, and nothing else.
	OnlyIgnored bool
	// Ignored lists ignored paths in Ignored, beside the untracked ones.
	Ignored bool
	// IgnoredMatching lists those that a pattern matches, instead of the
	// directories that hold nothing else (status --ignored=matching).
	IgnoredMatching bool
	// IgnoredAsked lists ignored paths that the pathspec names, for add.
	IgnoredAsked bool

	FoldCase bool
	Report   func(line string) // takes a whole line for stderr; may be nil
}

// A WalkResult holds sorted paths; directories end in "/".
type WalkResult struct{ Untracked, Ignored []string }

// Walk reads the working tree, on all cores, and finds what the index doesn't
// have.
func Walk(o WalkOptions) WalkResult {
	all := &walkShared{o: o}
	if o.Index != nil {
		all.entries = o.Index.Entries
		if o.FoldCase {
			o.Index.FindFold("") // from here on looking up only reads
			all.folded = foldedDirs(all.entries)
		}
	}
	if o.Pathspec == nil || o.Pathspec.Magic&MagicAttr == 0 { // attributes are for one goroutine
		all.spare.Store(int64(runtime.GOMAXPROCS(0)) - 1)
	}
	w := &walker{walkShared: all}
	lead := o.Pathspec.CommonDir()
	var links index.Leading
	if lead != "" && links.Symlink(o.Root, lead) {
		return w.res
	}
	if lead == "" || w.leading(lead) {
		lo, hi := w.rangeOf(lead, 0, len(w.entries))
		w.readAll(lead, lo, hi)
	}
	all.wg.Wait()
	w.res.Untracked = append(w.res.Untracked, all.res.Untracked...)
	w.res.Ignored = append(w.res.Ignored, all.res.Ignored...)
	slices.Sort(w.res.Untracked)
	slices.Sort(w.res.Ignored)
	return w.res
}

// treatment is what becomes of an entry; the order counts.
type treatment uint8

const (
	treatNone treatment = iota
	treatRecurse
	treatExcluded
	treatUntracked
)

// walkShared is what the goroutines of a walk have in common.
type walkShared struct {
	o       WalkOptions
	entries []*index.Entry
	folded  map[string]bool // with FoldCase, the directories of the index in lower case

	spare atomic.Int64 // cores that nobody uses
	wg    sync.WaitGroup

	mu     sync.Mutex
	res    WalkResult // of goroutines that are done
	gitDir string     // resolved, once needed
}

// walker is one goroutine of a walk.
type walker struct {
	*walkShared
	res WalkResult
}

// readAll walks dir where only the result counts, not what dir is as a whole,
// and lets others have part of the work.
func (w *walker) readAll(dir string, lo, hi int) {
	entries, err := readDirUnsorted(w.o.Root + "/" + dir)
	if err != nil {
		w.cannotOpen(dir, err)
		return
	}
	for _, e := range entries {
		path, t := w.treat(dir, e.Name(), e.Type(), lo, hi)
		if t != treatRecurse {
			w.add(path, t)
			continue
		}
		l, h := w.rangeOf(path, lo, hi)
		if w.spare.Add(-1) < 0 {
			w.spare.Add(1)
			w.readAll(path, l, h)
			continue
		}
		w.wg.Go(func() {
			other := &walker{walkShared: w.walkShared}
			other.readAll(path, l, h)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.walkShared.res.Untracked = append(w.walkShared.res.Untracked, other.res.Untracked...)
			w.walkShared.res.Ignored = append(w.walkShared.res.Ignored, other.res.Ignored...)
			w.spare.Add(1)
		})
	}
}

// rangeOf narrows [lo, hi) to the entries below dir, which ends in "/".
func (w *walker) rangeOf(dir string, lo, hi int) (int, int) {
	if dir == "" {
		return lo, hi
	}
	if w.o.FoldCase {
		return 0, len(w.entries)
	}
	lo = w.search(dir, lo, hi)
	end := dir[:len(dir)-1] + "0" // "0" follows "/"
	return lo, w.search(end, lo, hi)
}

// search finds the first entry in [lo, hi) that isn't before name.
func (w *walker) search(name string, lo, hi int) int {
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if w.entries[mid].Name < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (w *walker) tracked(path string, lo, hi int) bool {
	i := w.search(path, lo, hi)
	if i < hi && w.entries[i].Name == path {
		return true
	}
	return w.o.FoldCase && w.o.Index.FindFold(path) != nil
}

// dirInIndex says how the index knows a directory: by files in it, as a
// gitlink, or not at all.
func (w *walker) dirInIndex(dir string, lo, hi int) (files, gitlink bool) {
	name := dir[:len(dir)-1]
	if w.o.FoldCase {
		if w.folded[strings.ToLower(name)] {
			return true, false
		}
		e := w.o.Index.FindFold(name)
		return false, e != nil && e.IsGitlink()
	}
	if i := w.search(name, lo, hi); i < hi && w.entries[i].Name == name && w.entries[i].IsGitlink() {
		return false, true
	}
	i := w.search(dir, lo, hi)
	return i < hi && strings.HasPrefix(w.entries[i].Name, dir), false
}

func foldedDirs(entries []*index.Entry) map[string]bool {
	dirs := map[string]bool{}
	for _, e := range entries {
		name := strings.ToLower(e.Name)
		for {
			i := strings.LastIndexByte(name, '/')
			if i < 0 || dirs[name[:i]] {
				break
			}
			name = name[:i]
			dirs[name] = true
		}
	}
	return dirs
}

// leading asks about each directory of lead, as if it had been met on the
// way down, and reports whether the walk goes into the last.
func (w *walker) leading(lead string) bool {
	lo, hi := 0, len(w.entries)
	for at := 0; at < len(lead); {
		end := at + strings.IndexByte(lead[at:], '/')
		dir := lead[:end]
		if fi, err := os.Stat(w.o.Root + "/" + dir); err != nil || !fi.IsDir() {
			return false
		}
		path, t := w.treat(lead[:at], lead[at:end], os.ModeDir, lo, hi)
		if t != treatRecurse {
			w.add(path, t)
			return false
		}
		lo, hi = w.rangeOf(path, lo, hi)
		at = end + 1
	}
	return true
}

// read walks dir and returns the largest treatment of anything in it: that of
// an untracked directory depends on it. With check nothing is added to the
// result; with first, one file is enough.
func (w *walker) read(dir string, lo, hi int, check, first bool) treatment {
	state := treatNone
	entries, err := readDirUnsorted(w.o.Root + "/" + dir)
	if err != nil {
		w.cannotOpen(dir, err)
		return state
	}
	for _, e := range entries {
		path, t := w.treat(dir, e.Name(), e.Type(), lo, hi)
		state = max(state, t)
		if t == treatRecurse {
			l, h := w.rangeOf(path, lo, hi)
			state = max(state, w.read(path, l, h, check, first))
		}
		switch {
		case !check:
			w.add(path, t)
		case first && state >= treatExcluded:
			return treatExcluded
		case state == treatUntracked:
			return state
		}
	}
	return state
}

func readDirUnsorted(path string) ([]os.DirEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (w *walker) cannotOpen(dir string, err error) {
	if w.o.Report == nil {
		return
	}
	if dir == "" {
		dir = "."
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.o.Report("warning: could not open directory '" + dir + "': " + errnoText(err))
}

// add puts the path on the list that its treatment calls for.
func (w *walker) add(path string, t treatment) {
	switch t {
	case treatExcluded:
		if w.o.OnlyIgnored {
			w.res.Untracked = append(w.res.Untracked, path)
		} else if w.o.Ignored || w.o.IgnoredAsked && w.o.Pathspec.namesExcluded(path) {
			w.res.Ignored = append(w.res.Ignored, path)
		}
	case treatUntracked:
		if !w.o.OnlyIgnored {
			w.res.Untracked = append(w.res.Untracked, path)
		}
	}
}

// treat decides on one entry of a directory. The path of a directory gets
// its slash here.
func (w *walker) treat(dir, name string, typ os.FileMode, lo, hi int) (string, treatment) {
	if pathEqual(name, ".git", w.o.FoldCase) {
		return "", treatNone
	}
	path := dir + name
	if w.o.Pathspec.away(path) {
		return path, treatNone
	}
	isDir := typ&os.ModeDir != 0
	if !isDir && w.tracked(path, lo, hi) {
		return path, treatNone
	}
	excluded := false
	if w.o.Ignore != nil {
		p := w.o.Ignore.decideIn(w.o.Ignore.dir(dir), path, len(dir), isDir)
		excluded = p != nil && !p.Negative
		if excluded && !w.o.OnlyIgnored && !w.o.Ignored {
			return path, treatExcluded
		}
	}
	switch {
	case isDir:
		path += "/"
		return path, w.treatDir(path, lo, hi, excluded)
	case typ&os.ModeType != 0 && typ&os.ModeSymlink == 0:
		return path, treatNone
	case w.o.Pathspec.Match(path, nil) == NoMatch:
		return path, treatNone
	case excluded:
		return path, treatExcluded
	}
	return path, treatUntracked
}

func (w *walker) treatDir(dir string, lo, hi int, excluded bool) treatment {
	files, gitlink := w.dirInIndex(dir, lo, hi)
	if files {
		return treatRecurse
	}
	if gitlink {
		return treatNone
	}
	how := NoMatch
	if !excluded {
		if how = w.o.Pathspec.MatchLeading(dir, nil); how == NoMatch {
			return treatNone
		}
	}
	if w.nested(dir) {
		switch {
		case how == MatchLeading:
			return treatNone
		case excluded:
			return treatExcluded
		}
		return treatUntracked
	}
	if !w.o.CollapseDirs {
		return w.treatFlat(dir, lo, hi, excluded)
	}
	if how == MatchLeading {
		return treatRecurse
	}
	if excluded && (!w.o.HideEmpty || w.o.Ignored && w.o.IgnoredMatching) {
		return treatExcluded
	}
	if !excluded && !w.o.OnlyIgnored && !w.o.Ignored && !w.o.HideEmpty {
		return treatUntracked
	}
	return w.collapse(dir, lo, hi, excluded)
}

// treatFlat decides on a directory where each file is listed by itself.
func (w *walker) treatFlat(dir string, lo, hi int, excluded bool) treatment {
	if !excluded || !w.o.Ignored || !w.o.IgnoredMatching {
		return treatRecurse
	}
	if !w.o.HideEmpty {
		return treatExcluded
	}
	l, h := w.rangeOf(dir, lo, hi)
	if w.read(dir, l, h, true, true) == treatExcluded {
		return treatExcluded
	}
	return treatNone
}

// collapse looks into an untracked directory to know what it is as a whole.
func (w *walker) collapse(dir string, lo, hi int, excluded bool) treatment {
	check := w.o.HideEmpty && !w.o.Ignored
	nIgnored, nUntracked := len(w.res.Ignored), len(w.res.Untracked)
	l, h := w.rangeOf(dir, lo, hi)
	state := w.read(dir, l, h, check, check && excluded)
	if state == treatExcluded {
		if w.o.Ignored && w.o.IgnoredMatching {
			state = treatNone // the paths below are listed instead
		} else {
			w.res.Ignored = w.res.Ignored[:nIgnored]
		}
	}
	if w.o.Ignored {
		w.res.Untracked = w.res.Untracked[:nUntracked]
	}
	if state == treatNone && !w.o.HideEmpty {
		state = treatUntracked
		if excluded {
			state = treatExcluded
		}
	}
	return state
}

// nested reports whether dir, which ends in "/", is the working tree of
// another repository.
func (w *walker) nested(dir string) bool {
	git := w.o.Root + "/" + dir + ".git"
	if !IsRepositoryDir(git) {
		return false
	}
	real, err := filepath.EvalSymlinks(git)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gitDir == "" && w.o.GitDir != "" {
		w.gitDir, _ = filepath.EvalSymlinks(w.o.GitDir)
	}
	return err != nil || real != w.gitDir
}
