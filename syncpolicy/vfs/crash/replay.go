package crash

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A Model says what a disk keeps (C2, C3).
type Model int

// The two models.
const (
	Journal Model = iota
	Unordered
)

// String names the model.
func (m Model) String() string {
	if m == Unordered {
		return "unordered"
	}
	return "journal"
}

// A State is what one power cut leaves.
type State struct {
	At     int      // calls made before the cut
	What   string   // what was lost, for messages
	Passed []string // labels of the marks passed
	files  map[string]file
}

type file struct {
	dir  bool
	perm os.FileMode
	data []byte
}

// loss is what happens to bytes that are not sure (C4).
type loss int

const (
	keepAll loss = iota
	loseAll
	tear
	zeros
	perFile // one of the others for each file, by chance
	losses
)

func (l loss) String() string {
	return [...]string{"bytes kept", "bytes lost", "bytes torn", "bytes zeroed", "bytes mixed"}[l]
}

// States yields every distinct state that a power cut can leave under the
// model: at each position, with the names that are not sure all there, all gone
// and, extra times, some there; with each kind of loss of bytes. The choice is a
// function of seed.
func (r *Recorder) States(m Model, seed uint64, extra int) iter.Seq[State] {
	return func(yield func(State) bool) {
		rnd := rand.New(rand.NewPCG(seed, uint64(m)))
		seen := map[[32]byte]bool{}
		for at := 0; at <= len(r.log); at++ {
			for pick := range 2 + extra {
				for l := range losses {
					s := r.state(m, at, pick, l, rnd)
					key := s.key()
					if seen[key] {
						continue
					}
					seen[key] = true
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}

// state builds one state. pick 0 keeps all names, 1 only those that are sure,
// others some.
func (r *Recorder) state(m Model, at, pick int, l loss, rnd *rand.Rand) State {
	done := r.log[:at]
	names, sure := m.names(done, pick, rnd)
	s := State{At: at, files: map[string]file{}}
	s.What = fmt.Sprintf("%s, call %d, names %d of %d (%s), %s", m, at, len(names), count(done, isName), [...]string{"all", "sure", "some"}[min(pick, 2)], l)
	for _, e := range done {
		if e.kind == mark {
			s.Passed = append(s.Passed, e.label)
		}
	}
	live := maps.Clone(r.base)
	for _, e := range names {
		apply(live, e)
	}
	paths := slices.Sorted(maps.Keys(live))
	for _, path := range paths {
		n := live[path]
		f := file{dir: n.dir, perm: n.perm}
		if !n.dir {
			f.data = m.content(n, done, sure, l, rnd)
		}
		s.files[path] = f
	}
	return s
}

func count(log []event, f func(event) bool) (n int) {
	for _, e := range log {
		if f(e) {
			n++
		}
	}
	return n
}

func isName(e event) bool {
	switch e.kind {
	case vfs.OpOpen, vfs.OpMkdir, vfs.OpRename, vfs.OpLink, vfs.OpRemove, vfs.OpRmdir:
		return true
	}
	return false
}

// names returns the name changes that survive, and the position up to which
// bytes that were written out by then are sure.
func (m Model) names(done []event, pick int, rnd *rand.Rand) (names []event, sure int) {
	if m == Unordered {
		return unorderedNames(done, pick, rnd)
	}
	committed := journalCommitted(done)
	end := len(done)
	switch pick {
	case 0:
	case 1:
		end = committed
	default:
		end = committed + rnd.IntN(len(done)-committed+1)
	}
	sure = committed
	for i, e := range done[:end] {
		if isName(e) {
			names = append(names, e)
			sure = max(sure, i)
		}
	}
	return names, sure
}

// journalCommitted returns up to where the journal is on the disk (C2).
func journalCommitted(done []event) int {
	committed := 0
	for i, e := range done {
		switch e.kind {
		case vfs.OpSyncFS:
			committed = i
		case vfs.OpSync, vfs.OpSyncDir:
			committed = max(committed, lastChange(done[:i], e)+1)
		}
	}
	return committed
}

// lastChange returns the position of the last event that changed the inode that
// e flushes; -1 if none did.
func lastChange(before []event, e event) int {
	for i := len(before) - 1; i >= 0; i-- {
		b := before[i]
		if e.kind == vfs.OpSync && b.ino == e.ino && (isName(b) || b.kind == vfs.OpWrite || b.kind == vfs.OpTruncate) {
			return i
		}
		if e.kind == vfs.OpSyncDir && isName(b) && touches(b, e.path) {
			return i
		}
	}
	return -1
}

// touches reports whether e changes a name in the directory dir.
func touches(e event, dir string) bool {
	return filepath.Dir(e.path) == dir || e.to != "" && filepath.Dir(e.to) == dir
}

func unorderedNames(done []event, pick int, rnd *rand.Rand) (names []event, sure int) {
	lastSyncFS := 0
	synced := map[string]int{}
	for i, e := range done {
		switch e.kind {
		case vfs.OpSyncFS:
			lastSyncFS = i
		case vfs.OpSyncDir:
			synced[e.path] = i
		}
	}
	for i, e := range done {
		if !isName(e) {
			continue
		}
		certain := i < lastSyncFS || i < synced[filepath.Dir(e.path)] && (e.to == "" || i < synced[filepath.Dir(e.to)]) || e.to != "" && i < synced[filepath.Dir(e.to)]
		if certain || pick == 0 || pick > 1 && rnd.IntN(2) == 0 {
			names = append(names, e)
		}
	}
	return names, lastSyncFS
}

// apply changes one name, if the names it needs are there.
func apply(live map[string]*inode, e event) {
	parent := filepath.Dir(e.path)
	if e.to != "" {
		parent = filepath.Dir(e.to)
	}
	if parent != "." && live[parent] == nil {
		return
	}
	switch e.kind {
	case vfs.OpOpen, vfs.OpMkdir:
		live[e.path] = e.ino
	case vfs.OpRename:
		// The inode is what counts: its old name may have been lost.
		if live[e.path] != nil && live[e.path] == e.ino {
			move(live, e.path, e.to)
		} else if !e.ino.dir {
			live[e.to] = e.ino
		}
	case vfs.OpLink:
		live[e.to] = e.ino
	case vfs.OpRemove:
		if live[e.path] == e.ino {
			delete(live, e.path)
		}
	case vfs.OpRmdir:
		if live[e.path] == e.ino && !occupied(live, e.path) {
			delete(live, e.path)
		}
	}
}

// occupied reports whether the directory dir still has a name in it: the removal
// of the directory can only have come after that of the name.
func occupied(live map[string]*inode, dir string) bool {
	for path := range live {
		if filepath.Dir(path) == dir {
			return true
		}
	}
	return false
}

// content returns the bytes of n: its sure writes, and of the others what the
// loss leaves.
func (m Model) content(n *inode, done []event, sure int, l loss, rnd *rand.Rand) []byte {
	hardened := -1
	for i, e := range done {
		switch {
		case e.kind == vfs.OpSyncFS,
			e.kind == vfs.OpSync && e.ino == n,
			m == Journal && e.kind == vfs.OpWriteout && e.ino == n && i <= sure:
			hardened = i
		}
	}
	if l == perFile {
		l = loss(rnd.IntN(int(perFile)))
	}
	data := slices.Clone(n.content)
	for i, e := range done {
		if e.ino != n {
			continue
		}
		switch e.kind {
		case vfs.OpTruncate:
			data = resize(data, e.off)
		case vfs.OpWrite:
			data = write(data, e, i <= hardened, l)
		}
	}
	return data
}

func resize(data []byte, size int64) []byte {
	if int64(len(data)) >= size {
		return data[:size]
	}
	return append(data, make([]byte, size-int64(len(data)))...)
}

func write(data []byte, e event, sure bool, l loss) []byte {
	chunk := e.data
	if !sure {
		switch l {
		case loseAll:
			return data
		case tear:
			chunk = chunk[:len(chunk)/2]
		case zeros:
			chunk = make([]byte, len(chunk))
		}
	}
	data = resize(data, max(int64(len(data)), e.off+int64(len(chunk))))
	copy(data[e.off:], chunk)
	return data
}

func (s State) key() [32]byte {
	h := sha256.New()
	fmt.Fprintln(h, s.Passed)
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[path]
		fmt.Fprintf(h, "%q %v %d\n", path, f.dir, len(f.data))
		h.Write(f.data)
	}
	return [32]byte(h.Sum(nil))
}

// Write makes the directory dir, which must not exist, hold the state.
func (s State) Write(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		f := s.files[path]
		full := filepath.Join(dir, filepath.FromSlash(path))
		var err error
		if f.dir {
			err = os.Mkdir(full, f.perm|0o700)
		} else {
			err = os.WriteFile(full, f.data, f.perm|0o200)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether the mark label was passed before the cut.
func (s State) Has(label string) bool { return slices.Contains(s.Passed, label) }

// Leftovers returns the paths that look like locks or temporaries.
func (s State) Leftovers() []string {
	var list []string
	for path := range s.files {
		base := filepath.Base(path)
		if strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_") {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}
