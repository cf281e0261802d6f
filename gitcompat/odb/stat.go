package odb

import (
	"os"
	"slices"
	"sync"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
)

// A Stat is what is known of an object without its content.
type Stat struct {
	Type  object.Type
	Size  int64
	Disk  int64  // bytes that it takes on the disk
	Delta oid.ID // what it is stored as a difference to; null if it is not
}

// Stat describes an object and the way it is stored.
func (db *DB) Stat(id oid.ID) (st Stat, err error) {
	st.Delta = db.algo.Null()
	if id == db.emptyTree && !db.stored(id) {
		st.Type = object.Tree
		return st, nil
	}
	err = db.try(id, nil, func(c copyOf) (err error) {
		if c.big != nil {
			st.Type, st.Size = object.Blob, c.big.size
			return nil
		}
		if c.pack != nil {
			return c.pack.stat(db, c.off, &st)
		}
		info, err := os.Stat(c.path)
		if err != nil {
			return err
		}
		st.Disk = info.Size()
		st.Type, st.Size, err = infoLoose(c.path, id)
		return err
	})
	return st, err
}

func (db *DB) stored(id oid.ID) bool {
	for _, s := range db.stores() {
		if s.has(id) {
			return true
		}
	}
	return false
}

// offsets are those of all entries of a pack, sorted; its end is one of them.
type offsets struct {
	once   sync.Once
	sorted []int64
	ids    map[int64]int // position in the index
	err    error
}

func (p *packFile) offsets(db *DB, opened *pack.Pack) (*offsets, error) {
	o := &p.offs
	o.once.Do(func() {
		idx := opened.Index()
		info, err := os.Stat(opened.Path())
		if err != nil {
			o.err = err
			return
		}
		o.ids = make(map[int64]int, idx.Len())
		o.sorted = make([]int64, 0, idx.Len()+1)
		for n := range idx.Len() {
			off, err := idx.Offset(n)
			if err != nil {
				o.err = err
				return
			}
			o.sorted = append(o.sorted, off)
			o.ids[off] = n
		}
		o.sorted = append(o.sorted, info.Size()-int64(db.algo.Size()))
		slices.Sort(o.sorted)
	})
	return o, o.err
}

func (p *packFile) stat(db *DB, off int64, st *Stat) error {
	opened, err := p.open(db)
	if err != nil {
		return err
	}
	if st.Type, st.Size, err = opened.Info(off, db.elsewhere([]*packFile{p})); err != nil {
		return err
	}
	o, err := p.offsets(db, opened)
	if err != nil {
		return err
	}
	if at, ok := slices.BinarySearch(o.sorted, off); ok && at+1 < len(o.sorted) {
		st.Disk = o.sorted[at+1] - off
	}
	base, ofs, err := packBase(opened.Path(), off, db.algo)
	if err != nil {
		return err
	}
	if n, ok := o.ids[ofs]; ofs > 0 && ok {
		base = opened.Index().ID(n)
	}
	st.Delta = base
	return nil
}

const (
	kindOfsDelta = 6
	kindRefDelta = 7
)

// packBase reads what the entry at off is a delta to: a name, or an offset.
func packBase(path string, off int64, algo oid.Algo) (id oid.ID, ofs int64, err error) {
	id = algo.Null()
	f, err := os.Open(path)
	if err != nil {
		return id, 0, err
	}
	defer f.Close()
	var buf [10 + 10 + oid.MaxSize]byte
	n, err := f.ReadAt(buf[:], off)
	if n < 2 {
		return id, 0, err
	}
	head := buf[:n]
	kind := head[0] >> 4 & 7
	for len(head) > 1 && head[0]&0x80 != 0 {
		head = head[1:]
	}
	head = head[1:]
	switch {
	case kind == kindRefDelta && len(head) >= algo.Size():
		return algo.FromBytes(head), 0, nil
	case kind == kindOfsDelta && len(head) > 0:
		back := int64(head[0] & 0x7f)
		for head[0]&0x80 != 0 && len(head) > 1 && back < 1<<55 {
			head = head[1:]
			back = (back+1)<<7 | int64(head[0]&0x7f)
		}
		return id, off - back, nil
	}
	return id, 0, nil
}

// All calls fn with every object there is, one or more times, in no order; packs
// in the order of their entries.
func (db *DB) All(fn func(oid.ID) error) error {
	for _, s := range db.stores() {
		for n := range 256 {
			var ids []oid.ID
			if s.tx != nil {
				ids = s.tx.names(s, byte(n))
			} else {
				ids = looseNames(s.dir+string(os.PathSeparator)+shardName(byte(n)), db.algo)
			}
			for _, id := range ids {
				if err := fn(id); err != nil {
					return err
				}
			}
		}
		for _, p := range s.known() {
			opened, err := p.open(db)
			if err != nil {
				continue // reported when it was opened
			}
			o, err := p.offsets(db, opened)
			if err != nil {
				return err
			}
			for _, off := range o.sorted {
				n, ok := o.ids[off]
				if !ok {
					continue
				}
				if err := fn(opened.Index().ID(n)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
