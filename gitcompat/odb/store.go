package odb

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
)

// A store is one folder of objects: the repository's own, a transaction's, or
// an alternate.
type store struct {
	db    *DB
	dir   string
	local bool
	tx    *Transaction // whose folder it is; nil for all others

	mu      sync.Mutex
	packs   []*packFile // most recently used first
	listed  time.Time   // mtime of the pack folder when it was listed
	loaded  bool
	suspect bool // the list may be older than the folder within one tick of its clock
}

// A packFile is a pack that is known by its .idx, opened when it is first needed.
type packFile struct {
	base  string // path without extension
	mtime time.Time
	cruft bool

	once sync.Once
	idx  *pack.Index
	err  error

	openOnce sync.Once
	pack     *pack.Pack
	openErr  error

	offs offsets

	freshOnce sync.Once
	fresh     bool
}

// index opens the .idx; packs that cannot be opened are reported once.
func (p *packFile) index(db *DB) *pack.Index {
	p.once.Do(func() {
		if p.idx, p.err = pack.OpenIndex(p.base+".idx", db.algo); p.err != nil {
			db.report(p.err)
		}
	})
	return p.idx
}

func (p *packFile) open(db *DB) (*pack.Pack, error) {
	idx := p.index(db)
	if idx == nil {
		return nil, p.err
	}
	p.openOnce.Do(func() {
		if p.pack, p.openErr = pack.Open(p.base+".pack", idx, db.bases); p.openErr != nil {
			db.report(p.openErr)
		}
	})
	return p.pack, p.openErr
}

// racyTick is how coarse the clock of a file system may be: a folder that changed
// so shortly before it was listed may have changed again without a sign.
const racyTick = 2 * time.Second

// list makes sure that the packs of the folder are known. With again it looks
// whether the folder changed, and says whether there is anything new.
func (s *store) list(again bool) (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded && !again {
		return false
	}
	dir := filepath.Join(s.dir, "pack")
	st, err := os.Stat(dir)
	if err != nil {
		s.loaded = true
		return false
	}
	if s.loaded && !s.suspect && st.ModTime().Equal(s.listed) {
		return false
	}
	s.loaded, s.listed = true, st.ModTime()
	s.suspect = time.Since(s.listed) < racyTick
	return s.scan(dir)
}

// forgetList has the packs listed again when one is next looked for.
func (s *store) forgetList() {
	s.mu.Lock()
	s.loaded = false
	s.mu.Unlock()
}

func (s *store) scan(dir string) (more bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = true
	}
	known := map[string]bool{}
	for _, p := range s.packs {
		known[p.base] = true
	}
	var fresh []*packFile
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		base := filepath.Join(dir, name)
		if !ok || known[base] || !names[name+".pack"] {
			continue
		}
		st, err := os.Stat(base + ".pack")
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		fresh = append(fresh, &packFile{base: base, mtime: st.ModTime(), cruft: names[name+".mtimes"]})
	}
	slices.SortStableFunc(fresh, func(a, b *packFile) int { return b.mtime.Compare(a.mtime) })
	s.packs = append(fresh, s.packs...)
	return len(fresh) > 0
}

// known returns the packs, in the order in which they are to be searched.
func (s *store) known() []*packFile {
	s.list(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.packs)
}

// inPacks returns the first pack that has id and for which want, unless nil, is true.
func (s *store) inPacks(id oid.ID, want func(*packFile) bool) (*packFile, int64) {
	s.list(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.packs {
		if want != nil && !want(p) {
			continue
		}
		idx := p.index(s.db)
		if idx == nil {
			continue
		}
		off, ok, err := idx.Find(id)
		if err != nil {
			s.db.report(err)
		}
		if err != nil || !ok {
			continue
		}
		copy(s.packs[1:i+1], s.packs[:i])
		s.packs[0] = p
		return p, off
	}
	return nil, 0
}

// close closes the packs of the folder.
func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		p.openOnce.Do(func() { p.openErr = errClosed })
		if p.pack != nil {
			p.pack.Close()
		} else if p.idx != nil {
			p.idx.Close()
		}
	}
	s.packs = nil
}

var errClosed = errors.New("object database is closed")

// loosePath returns where id is stored loose.
func (s *store) loosePath(id oid.ID) string {
	buf := make([]byte, 0, len(s.dir)+2+2*oid.MaxSize+1)
	buf = append(buf, s.dir...)
	buf = append(buf, filepath.Separator)
	at := len(buf)
	buf = id.AppendHex(buf)
	buf = append(buf, 0)
	copy(buf[at+3:], buf[at+2:])
	buf[at+2] = filepath.Separator
	return string(buf)
}

// flatPath returns where a transaction keeps id until it is published.
func (s *store) flatPath(id oid.ID) string {
	buf := make([]byte, 0, len(s.dir)+1+2*oid.MaxSize)
	buf = append(buf, s.dir...)
	buf = append(buf, filepath.Separator)
	return string(id.AppendHex(buf))
}

// loose returns where a loose id would be; maybe is false where it cannot be there.
func (s *store) loose(id oid.ID) (path string, maybe bool) {
	if s.tx != nil {
		return s.tx.locate(s, id)
	}
	return s.loosePath(id), true
}

// shown is a path of the folder as git prints it.
func (s *store) shown(path string) string {
	if s == s.db.own {
		return s.db.opts.Name + path[len(s.dir):]
	}
	return path
}
