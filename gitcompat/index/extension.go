package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

func indexNUL(s string) int { return strings.IndexByte(s, 0) }

// extensions reads all that follows the entries.
func (r *reader) extensions() error {
	for len(r.data)-r.off >= 8 {
		sig := string(r.data[r.off : r.off+4])
		size := binary.BigEndian.Uint32(r.data[r.off+4:])
		r.off += 8
		if uint64(size) > uint64(len(r.data)-r.off) {
			return corrupt("index ends within its %s extension", printable(sig))
		}
		payload := r.data[r.off : r.off+int(size)]
		r.off += int(size)
		if err := r.extension(sig, payload); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) extension(sig string, payload []byte) error {
	x := r.x
	switch sig {
	case "TREE":
		x.Tree = parseCacheTree(payload, x.Algo)
	case "REUC":
		undo, ok := parseUndo(payload, x.Algo)
		if !ok {
			x.Warnings = append(x.Warnings, "error: Index records invalid resolve-undo information")
			return nil
		}
		x.Undo, x.HasUndo = undo, true
	case "UNTR":
		x.untracked = bytes.Clone(payload)
	case "FSMN":
		x.fsmonitor = bytes.Clone(payload)
	case "EOIE", "IEOT":
		// Offsets of this very file; the writer makes its own.
	case "link":
		return &UnsupportedError{Feature: "split index"}
	case "sdir":
		return &UnsupportedError{Feature: "sparse index"}
	default:
		if sig[0] < 'A' || sig[0] > 'Z' {
			return corrupt("index uses %s extension, which we do not understand", printable(sig))
		}
		x.Warnings = append(x.Warnings, "ignoring "+printable(sig)+" extension")
	}
	return nil
}

func printable(sig string) string {
	if i := indexNUL(sig); i >= 0 {
		sig = sig[:i]
	}
	return sig
}

// An Undo is a conflict that was resolved: what the sides were, so that
// `update-index --unresolve` can bring them back.
type Undo struct {
	Name  string
	Modes [3]uint32 // of stages 1 to 3; 0 where the stage was not there
	IDs   [3]oid.ID
	Used  bool // brought back already: kept in memory, not written
}

func parseUndo(data []byte, algo oid.Algo) ([]Undo, bool) {
	var list []Undo
	for len(data) > 0 {
		var u Undo
		field, rest, ok := bytes.Cut(data, []byte{0})
		if !ok || len(rest) == 0 {
			return nil, false
		}
		u.Name, data = string(field), rest
		for i := range u.Modes {
			field, rest, ok = bytes.Cut(data, []byte{0})
			mode, err := strconv.ParseUint(string(field), 8, 32)
			if !ok || err != nil {
				return nil, false
			}
			u.Modes[i], data = uint32(mode), rest
		}
		for i, mode := range u.Modes {
			if mode == 0 {
				continue
			}
			if len(data) < algo.Size() {
				return nil, false
			}
			u.IDs[i], data = algo.FromBytes(data), data[algo.Size():]
		}
		list = append(list, u)
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, true
}

func (x *Index) appendUndo(dst []byte) []byte {
	for i := range x.Undo {
		u := &x.Undo[i]
		if u.Used {
			continue
		}
		dst = append(append(dst, u.Name...), 0)
		for _, mode := range u.Modes {
			dst = append(strconv.AppendUint(dst, uint64(mode), 8), 0)
		}
		for i, mode := range u.Modes {
			if mode != 0 {
				dst = u.IDs[i].Append(dst)
			}
		}
	}
	return dst
}

func (x *Index) searchUndo(name string) (int, bool) {
	i := sort.Search(len(x.Undo), func(i int) bool { return x.Undo[i].Name >= name })
	return i, i < len(x.Undo) && x.Undo[i].Name == name
}

// recordUndo remembers a side of a conflict that is about to be removed.
func (x *Index) recordUndo(e *Entry) {
	if e.Stage == 0 {
		return
	}
	i, found := x.searchUndo(e.Name)
	if !found {
		x.Undo = append(x.Undo, Undo{})
		copy(x.Undo[i+1:], x.Undo[i:])
		x.Undo[i] = Undo{Name: e.Name}
	} else if x.Undo[i].Used {
		x.Undo[i] = Undo{Name: e.Name}
	}
	x.HasUndo = true
	x.Undo[i].Modes[e.Stage-1] = e.Mode
	x.Undo[i].IDs[e.Stage-1] = e.ID
}

// ClearUndo forgets all resolved conflicts.
func (x *Index) ClearUndo() {
	if x.HasUndo {
		x.Undo, x.HasUndo, x.Changed = nil, false, true
	}
}

// Unresolve brings the sides of a resolved conflict back in place of the
// entry of name (unmerge_index_entry). Without a record of name it does nothing.
func (x *Index) Unresolve(name string) error {
	i, found := x.searchUndo(name)
	if !found || x.Undo[i].Used {
		return nil
	}
	u := x.Undo[i]
	pos, merged := x.Search(name, 0)
	if merged {
		x.removeAt(pos)
	} else if pos < len(x.Entries) && x.Entries[pos].Name == name {
		x.Undo[i].Used = true
		return nil // in conflict already
	}
	x.Undo[i].Used = true
	for stage, mode := range u.Modes {
		if mode == 0 {
			continue
		}
		e := &Entry{Name: name, Mode: CanonicalMode(mode), ID: u.IDs[stage], Stage: uint8(stage + 1)}
		if err := x.Add(e, OKToAdd); err != nil {
			return fmt.Errorf("cannot unmerge '%s'", name)
		}
	}
	return nil
}

// untrackedHeader returns the length of the part of UNTR that describes the
// place and the settings, which entries cannot make false: all before the
// number of directories. 0 if the payload is not understood.
func (x *Index) untrackedHeader() int {
	b := x.untracked
	identSize, n := uvarint(b)
	if n <= 0 || identSize > uint64(len(b)) {
		return 0
	}
	const stat = 36 // of $GIT_DIR/info/exclude, and as much of core.excludesFile
	hash := x.Algo.Size()
	off := n + int(identSize) + 2*stat + 4 + 2*hash
	if off >= len(b) {
		return 0
	}
	nul := bytes.IndexByte(b[off:], 0) // the name of the per-directory file, .gitignore
	if nul < 0 || off+nul+1 >= len(b) {
		return 0
	}
	return off + nul + 1
}

// resetUntracked empties the untracked cache: it is then rebuilt by the next
// git that uses it, and the user's choice to have one is kept (I2).
func (x *Index) resetUntracked() {
	if x.untracked == nil {
		return
	}
	if n := x.untrackedHeader(); n > 0 {
		x.untracked = append(bytes.Clone(x.untracked[:n]), 0)
	} else {
		x.untracked = nil
	}
}

// Touch tells the index that an entry was changed in place, so that what
// depended on it is forgotten (mark_fsmonitor_invalid).
func (x *Index) Touch() {
	x.Changed = true
	x.fsmonitor = nil
}
