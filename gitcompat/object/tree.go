package object

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// The modes that a tree or index entry has.
const (
	ModeTree    uint32 = 0o040000
	ModeRegular uint32 = 0o100644
	ModeExec    uint32 = 0o100755
	ModeSymlink uint32 = 0o120000
	ModeGitlink uint32 = 0o160000

	modeFormat uint32 = 0o170000
)

// IsTree reports whether mode is that of a directory.
func IsTree(mode uint32) bool { return mode&modeFormat == ModeTree }

// IsGitlink reports whether mode is that of a submodule commit.
func IsGitlink(mode uint32) bool { return mode&modeFormat == ModeGitlink }

// IsSymlink reports whether mode is that of a symbolic link.
func IsSymlink(mode uint32) bool { return mode&modeFormat == ModeSymlink }

// IsRegular reports whether mode is that of a file.
func IsRegular(mode uint32) bool { return mode&modeFormat == 0o100000 }

// CanonMode maps a mode to the one of git's five that readers take it for.
func CanonMode(mode uint32) uint32 {
	switch {
	case IsRegular(mode):
		if mode&0o100 != 0 {
			return ModeExec
		}
		return ModeRegular
	case IsSymlink(mode):
		return ModeSymlink
	case IsTree(mode):
		return ModeTree
	}
	return ModeGitlink
}

// ModeType returns the type of the object that an entry with mode names.
func ModeType(mode uint32) Type {
	switch {
	case IsTree(mode):
		return Tree
	case IsGitlink(mode):
		return Commit
	}
	return Blob
}

// An Entry is one name in a tree.
type Entry struct {
	Mode uint32
	Name string
	ID   oid.ID
}

// What a tree that cannot be read is wrong about; git's words.
var (
	errTreeShort = errors.New("too-short tree object")
	errTreeMode  = errors.New("malformed mode in tree entry")
	errTreeName  = errors.New("empty filename in tree entry")
)

// A TreeIter walks the entries of a tree without allocating for them.
type TreeIter struct {
	algo oid.Algo
	rest []byte
	name []byte
	id   []byte
	mode uint32
	zero bool
	err  error
}

// IterTree starts a walk over the entries of the tree with content data.
func IterTree(algo oid.Algo, data []byte) TreeIter { return TreeIter{algo: algo, rest: data} }

// Next moves to the next entry; false at the end or at an error.
func (it *TreeIter) Next() bool {
	if it.err != nil || len(it.rest) == 0 {
		return false
	}
	buf, hash := it.rest, it.algo.Size()
	if len(buf) < hash+3 || buf[len(buf)-hash-1] != 0 {
		it.err = errTreeShort
		return false
	}
	mode, i := uint16(0), 0
	for ; buf[i] != ' '; i++ {
		if buf[i] < '0' || buf[i] > '7' {
			it.err = errTreeMode
			return false
		}
		mode = mode<<3 + uint16(buf[i]-'0')
	}
	if i == 0 {
		it.err = errTreeMode
		return false
	}
	end := i + 1 + bytes.IndexByte(buf[i+1:], 0)
	if end == i+1 {
		it.err = errTreeName
		return false
	}
	if len(buf)-end-1 < hash {
		it.err = errTreeShort
		return false
	}
	it.mode, it.zero = uint32(mode), buf[0] == '0'
	it.name = buf[i+1 : end]
	it.id = buf[end+1 : end+1+hash]
	it.rest = buf[end+1+hash:]
	return true
}

// Mode returns the mode as readers take it, one of git's five.
func (it *TreeIter) Mode() uint32 { return CanonMode(it.mode) }

// RawMode returns the mode as it is written.
func (it *TreeIter) RawMode() uint32 { return it.mode }

// Name returns the name of the entry: a slice of the tree.
func (it *TreeIter) Name() []byte { return it.name }

// ID returns the object that the entry names.
func (it *TreeIter) ID() oid.ID { return it.algo.FromBytes(it.id) }

// Entry returns the entry.
func (it *TreeIter) Entry() Entry { return Entry{it.Mode(), string(it.name), it.ID()} }

// Err returns what ended the walk before the end of the tree.
func (it *TreeIter) Err() error { return it.err }

// ParseTree returns the entries of a tree. The names share one string.
func ParseTree(algo oid.Algo, data []byte) ([]Entry, error) {
	whole := string(data)
	var entries []Entry
	it := IterTree(algo, data)
	for it.Next() {
		at := len(data) - len(it.rest) - algo.Size() - 1
		entries = append(entries, Entry{it.Mode(), whole[at-len(it.name) : at], it.ID()})
	}
	return entries, it.err
}

// AppendEntry appends one entry of a tree, as git writes it: no leading zeros.
func AppendEntry(dst []byte, mode uint32, name string, id oid.ID) []byte {
	dst = strconv.AppendUint(dst, uint64(mode), 8)
	dst = append(dst, ' ')
	dst = append(dst, name...)
	dst = append(dst, 0)
	return id.Append(dst)
}

// AppendTree appends entries, which must be in tree order.
func AppendTree(dst []byte, entries []Entry) []byte {
	for _, e := range entries {
		dst = AppendEntry(dst, e.Mode, e.Name, e.ID)
	}
	return dst
}

// CompareNames is the order of a tree: bytewise, where a directory's name
// compares as if it ended in a slash (git's base_name_compare).
func CompareNames(name1 string, mode1 uint32, name2 string, mode2 uint32) int {
	n := min(len(name1), len(name2))
	if c := strings.Compare(name1[:n], name2[:n]); c != 0 {
		return c
	}
	return int(byteAfter(name1, n, mode1)) - int(byteAfter(name2, n, mode2))
}

func byteAfter(name string, n int, mode uint32) byte {
	if n < len(name) {
		return name[n]
	}
	if IsTree(mode) {
		return '/'
	}
	return 0
}

// CompareEntries is CompareNames for slices.SortFunc.
func CompareEntries(a, b Entry) int { return CompareNames(a.Name, a.Mode, b.Name, b.Mode) }
