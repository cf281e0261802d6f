package odb

import (
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
)

// Packed returns a pack that holds the object id, and its place there; for who
// wants stored bytes. The pack stays open as long as the database.
func (db *DB) Packed(id oid.ID) (p *pack.Pack, off int64, ok bool) {
	for _, s := range db.stores() {
		file, off := s.inPacks(id, nil)
		if file == nil {
			continue
		}
		if p, err := file.open(db); err == nil {
			return p, off, true
		}
	}
	return nil, 0, false
}

// HasQuick is Has without another look at the pack folders for what came since
// they were listed: for who asks about many objects that are probably new.
func (db *DB) HasQuick(id oid.ID) bool {
	for _, s := range db.stores() {
		if s.has(id) {
			return true
		}
	}
	return false
}
