package worktree

import (
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/index"
)

// ChangeKind says how a file and its index entry differ.
type ChangeKind uint8

const (
	Unchanged ChangeKind = iota
	Modified             // by its stat data; the content was not looked at unless the entry is racy
	Deleted
	Unmerged // and there is a file, or none if Stat is zero
)

// A FileChange is an entry of the index whose file isn't as recorded.
type FileChange struct {
	Entry *index.Entry // of the lowest stage, if unmerged
	Kind  ChangeKind
	Stat  index.FileStat // zero if there is no file
	Err   error          // lstat failed in another way than by absence
}

// ChangeOptions limit Changes.
type ChangeOptions struct {
	Pathspec *Pathspec
	Seen     []Match // raised for elements of Pathspec that match an entry
	// RacyIsDirty counts a racy entry as modified without reading its file.
	RacyIsDirty bool
}

// Changes compares the index with the working tree, in the order of the
// index, on all cores. Entries found equal are flagged UpToDate.
func (t *Tree) Changes(x *index.Index, o ChangeOptions) []FileChange {
	picked := make([]FileChange, 0, len(x.Entries))
	for i := 0; i < len(x.Entries); i++ {
		e := x.Entries[i]
		kind := Unchanged
		if e.Stage != 0 {
			kind = Unmerged
			for i+1 < len(x.Entries) && x.Entries[i+1].Name == e.Name {
				i++
			}
		}
		if o.Pathspec != nil && o.Pathspec.MatchEntry(e, o.Seen) == NoMatch {
			continue
		}
		if kind == Unchanged && e.Flags&(index.UpToDate|index.SkipWorktree) != 0 {
			continue
		}
		picked = append(picked, FileChange{Entry: e, Kind: kind})
	}
	var match index.MatchOptions
	if o.RacyIsDirty {
		match = index.RacyIsDirty
	}
	x.MatchBasic(&index.Entry{}, &index.FileStat{}) // from here on matching only reads
	parallel(len(picked), 256, func(lo, hi int) {
		w := comparer{t: t, x: x, match: match}
		for i := lo; i < hi; i++ {
			w.compare(&picked[i])
		}
	})
	out := picked[:0]
	for _, c := range picked {
		if c.Kind != Unchanged {
			out = append(out, c)
		} else if !c.Entry.IsGitlink() {
			c.Entry.Flags |= index.UpToDate
		}
	}
	return out
}

// MatchEntry matches an entry of the index; "sub/" names the gitlink "sub".
func (ps *Pathspec) MatchEntry(e *index.Entry, seen []Match) Match {
	if e.IsGitlink() || e.Mode == index.ModeDir {
		return ps.MatchDir(e.Name, seen)
	}
	return ps.Match(e.Name, seen)
}

type comparer struct {
	t     *Tree
	x     *index.Index
	match index.MatchOptions
	links index.Leading
}

func (w *comparer) compare(c *FileChange) {
	gone, err := w.gone(c)
	switch {
	case err != nil:
		c.Err, c.Kind = err, Deleted
	case c.Kind == Unmerged:
		if gone {
			c.Stat = index.FileStat{}
		}
	case gone:
		c.Stat, c.Kind = index.FileStat{}, Deleted
	case w.x.Match(c.Entry, &c.Stat, w.match) != 0:
		c.Kind = Modified
	}
}

// gone reports whether there is no file for the entry: nothing, something
// reached through a symbolic link, or a directory that isn't a repository.
func (w *comparer) gone(c *FileChange) (bool, error) {
	err := index.Lstat(w.t.abs(c.Entry.Name), &c.Stat)
	if err != nil {
		if absent(err) {
			return true, nil
		}
		return true, err
	}
	if w.links.Symlink(w.t.Root, c.Entry.Name) {
		return true, nil
	}
	if c.Stat.IsDir() && !c.Entry.IsGitlink() {
		_, err := w.t.Gitlink(c.Entry.Name)
		return err != nil, nil
	}
	return false, nil
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// parallel calls f for pieces of [0, n), on as many cores as there is work for.
func parallel(n, piece int, f func(lo, hi int)) {
	workers := min(runtime.GOMAXPROCS(0), (n+piece-1)/piece)
	if workers <= 1 {
		f(0, n)
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				lo := int(next.Add(int64(piece))) - piece
				if lo >= n {
					return
				}
				f(lo, min(lo+piece, n))
			}
		})
	}
	wg.Wait()
}
