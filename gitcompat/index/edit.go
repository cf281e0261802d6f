package index

import (
	"errors"
	"fmt"
	"strings"
)

// AddOptions say what Add may do.
type AddOptions uint8

// The options (ADD_CACHE_* in git).
const (
	OKToAdd       AddOptions = 1 << iota // a path that is not there yet may be added
	OKToReplace                          // a file may take the place of a directory and the other way round
	SkipDFCheck                          // the caller knows that there is no such clash
	JustAppend                           // the caller knows that the entry comes last
	NewOnly                              // leave an entry that is there as it is
	KeepCacheTree                        // the caller looks after the cache-tree
)

// ErrNotInIndex means that a path is not in the index and OKToAdd was not given.
var ErrNotInIndex = errors.New("not in the index, and adding was not asked for")

// Add puts e, which then belongs to the index, in the place of what has its
// path and stage. A merged entry replaces all sides of a conflict of its path.
func (x *Index) Add(e *Entry, o AddOptions) error {
	if o&JustAppend != 0 {
		x.insert(len(x.Entries), e)
		return nil
	}
	pos, found := x.Search(e.Name, e.Stage)
	if o&KeepCacheTree == 0 {
		x.InvalidatePath(e.Name)
	}
	if found {
		if o&NewOnly == 0 {
			x.Entries[pos] = e
			x.refold(e)
			x.Touch()
		}
		return nil
	}
	if e.Stage == 0 {
		end := pos
		for end < len(x.Entries) && x.Entries[end].Name == e.Name {
			x.recordUndo(x.Entries[end])
			o |= OKToAdd
			end++
		}
		x.cut(pos, end)
	}
	if o&OKToAdd == 0 {
		return ErrNotInIndex
	}
	if x.Options.VerifyPath != nil && !x.Options.VerifyPath(e.Name, e.Mode) {
		return fmt.Errorf("invalid path '%s'", e.Name)
	}
	if o&SkipDFCheck == 0 && e.Flags&Remove == 0 && x.clashes(e, pos, o&OKToReplace != 0) {
		if o&OKToReplace == 0 {
			return fmt.Errorf("'%s' appears as both a file and as a directory", e.Name)
		}
		pos, _ = x.Search(e.Name, e.Stage)
	}
	x.insert(pos, e)
	return nil
}

// insert puts e at pos.
func (x *Index) insert(pos int, e *Entry) {
	x.Entries = append(x.Entries, e)
	if pos < len(x.Entries)-1 {
		copy(x.Entries[pos+1:], x.Entries[pos:])
		x.Entries[pos] = e
	}
	x.refold(e)
	x.resetUntracked()
	x.Touch()
}

// clashes reports whether entries of e's stage are in the way of e: below its
// path, or at a directory above it. With replace it removes them.
func (x *Index) clashes(e *Entry, pos int, replace bool) bool {
	below := x.clashBelow(e, pos, replace)
	if below && !replace {
		return true
	}
	return x.clashAbove(e, replace) || below
}

func (x *Index) clashBelow(e *Entry, pos int, replace bool) bool {
	if pos == len(x.Entries) || !hasPrefix(x.Entries[pos].Name, e.Name) {
		return false // nothing that follows can be below e
	}
	from, to := x.Range(e.Name + "/")
	clash := false
	for i := from; i < to; i++ {
		if other := x.Entries[i]; other.Stage == e.Stage && other.Flags&Remove == 0 {
			clash = true
			if !replace {
				return true
			}
			x.removeAt(i)
			i--
			to--
		}
	}
	return clash
}

func (x *Index) clashAbove(e *Entry, replace bool) bool {
	name := e.Name
	if n := len(x.Entries); n == 0 || x.Entries[n-1].Stage == e.Stage && vouches(x.Entries[n-1].Name, name) {
		return false
	}
	clash := false
	for {
		slash := strings.LastIndexByte(name, '/')
		if slash < 0 {
			return clash
		}
		dir := name[:slash]
		pos, found := x.Search(dir, e.Stage)
		for found && x.Entries[pos].Flags&Remove == 0 {
			clash = true
			if !replace {
				return true
			}
			x.removeAt(pos)
			pos, found = x.Search(dir, e.Stage)
		}
		// An entry of this stage right below dir vouches for dir and all above it.
		for i := pos; i < len(x.Entries); i++ {
			other := x.Entries[i]
			if len(other.Name) <= slash || other.Name[slash] != '/' || other.Name[:slash] != dir {
				break
			}
			if other.Stage == e.Stage && other.Flags&Remove == 0 {
				return clash
			}
		}
		name = dir
	}
}

// vouches reports whether last, the end of the index, shows that no file has
// the path of a directory above name: name comes after it, and what they have
// in common does not end where a directory of name does.
func vouches(last, name string) bool {
	if name <= last {
		return false
	}
	i := 0
	for i < len(last) && last[i] == name[i] {
		i++
	}
	return name[i] != '/'
}

// removeAt takes the entry at pos out; a side of a conflict is remembered.
func (x *Index) removeAt(pos int) {
	x.recordUndo(x.Entries[pos])
	x.cut(pos, pos+1)
}

func (x *Index) cut(from, to int) {
	if from == to {
		return
	}
	for _, e := range x.Entries[from:to] {
		x.unfold(e)
	}
	n := from + copy(x.Entries[from:], x.Entries[to:])
	clear(x.Entries[n:])
	x.Entries = x.Entries[:n]
	x.resetUntracked()
	x.Touch()
}

// RemovePath removes all stages of name and reports whether there were any.
func (x *Index) RemovePath(name string) bool {
	pos, _ := x.Search(name, 0)
	x.InvalidatePath(name)
	end := pos
	for end < len(x.Entries) && x.Entries[end].Name == name {
		x.recordUndo(x.Entries[end])
		end++
	}
	x.cut(pos, end)
	return end > pos
}

// RemoveMarked removes all entries flagged Remove at once.
func (x *Index) RemoveMarked() {
	kept := x.Entries[:0]
	for _, e := range x.Entries {
		if e.Flags&Remove == 0 {
			kept = append(kept, e)
			continue
		}
		x.InvalidatePath(e.Name)
		x.unfold(e)
	}
	if len(kept) == len(x.Entries) {
		return
	}
	clear(x.Entries[len(kept):])
	x.Entries = kept
	x.resetUntracked()
	x.Touch()
}

// Rename gives the merged entry at pos another path, in the place of whatever
// has that path.
func (x *Index) Rename(pos int, name string) error {
	e := *x.Entries[pos]
	x.InvalidatePath(e.Name)
	x.removeAt(pos)
	e.Name = name
	e.Flags &^= UpToDate
	return x.Add(&e, OKToAdd|OKToReplace)
}

// Chmod sets or clears the execute bits of a file's entry; false if e is no file.
func (x *Index) Chmod(e *Entry, executable bool) bool {
	if !e.IsRegular() {
		return false
	}
	e.Mode = ModeFile
	if executable {
		e.Mode = ModeExecutable
	}
	x.InvalidatePath(e.Name)
	x.Touch()
	return true
}

// Reset makes list, which must be sorted, all entries of the index. The
// cache-tree is gone; resolved conflicts stay.
func (x *Index) Reset(list []*Entry) {
	x.Entries, x.Tree, x.fold, x.foldDirs = list, nil, nil, nil
	x.resetUntracked()
	x.Touch()
}
