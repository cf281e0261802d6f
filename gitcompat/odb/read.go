package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
)

func notDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// A copyOf is one place where an object may be read from.
type copyOf struct {
	pack *packFile // nil: loose, at path
	off  int64
	path string
	big  *bigBlob // of a transaction
}

// try calls get with each copy of id until one of them yields the object.
// Damaged copies are reported and passed over (D2).
func (db *DB) try(id oid.ID, not []*packFile, get func(c copyOf) error) error {
	var damage error
	for pass := range 2 {
		more := false
		for _, s := range db.stores() {
			if pass > 0 && !s.list(true) {
				continue
			}
			more = true
			found, err := db.tryStore(s, id, not, get)
			if found {
				return nil
			}
			if damage == nil {
				damage = err
			}
		}
		if pass > 0 && !more {
			break
		}
	}
	if damage != nil {
		return damage
	}
	return &MissingError{id}
}

func (db *DB) tryStore(s *store, id oid.ID, not []*packFile, get func(c copyOf) error) (found bool, damage error) {
	if s.tx != nil {
		if b, ok := s.tx.findBig(id); ok {
			err := get(copyOf{big: &b})
			return err == nil, err
		}
	}
	bad := not
	for {
		want := func(p *packFile) bool { return !contains(bad, p) }
		if len(bad) == 0 {
			want = nil
		}
		p, off := s.inPacks(id, want)
		if p == nil {
			break
		}
		err := get(copyOf{pack: p, off: off})
		if err == nil {
			return true, nil
		}
		db.report(err)
		damage = &CorruptError{id, s.shown(p.base + ".pack"), true, err}
		bad = append(bad[:len(bad):len(bad)], p)
	}
	path, maybe := s.loose(id)
	if !maybe {
		return false, damage
	}
	err := get(copyOf{path: path})
	if err == nil {
		return true, nil
	}
	if !absent(err) {
		if errors.Is(err, object.ErrHeaderType) {
			return false, err // git dies of it, whatever it was to do
		}
		if empty, ok := errors.AsType[*emptyError](err); ok {
			empty.path = s.shown(path)
		}
		if bad, ok := errors.AsType[*inflateError](err); ok && bad.note() != nil {
			db.report(bad.note())
		}
		db.report(err)
		if damage == nil {
			damage = &CorruptError{id, s.shown(path), false, err}
		}
	}
	return false, damage
}

func contains(list []*packFile, p *packFile) bool {
	for _, q := range list {
		if p == q {
			return true
		}
	}
	return false
}

// elsewhere reads bases that a pack cannot yield; every pack on the way is left
// out, so that it ends.
func (db *DB) elsewhere(not []*packFile) pack.ReadFunc {
	return func(id oid.ID) (object.Type, []byte, error) { return db.read(id, not) }
}

// Read returns the type and the content of an object.
func (db *DB) Read(id oid.ID) (object.Type, []byte, error) {
	if id == db.emptyTree {
		return object.Tree, nil, nil
	}
	return db.read(id, nil)
}

func (db *DB) read(id oid.ID, not []*packFile) (typ object.Type, data []byte, err error) {
	err = db.try(id, not, func(c copyOf) (err error) {
		if c.big != nil {
			typ, data, err = c.big.read()
			return err
		}
		if c.pack == nil {
			typ, data, err = readLoose(c.path, id)
			return err
		}
		p, err := c.pack.open(db)
		if err != nil {
			return err
		}
		typ, data, err = p.Read(c.off, db.elsewhere(append(not[:len(not):len(not)], c.pack)))
		return err
	})
	return typ, data, err
}

// Info returns the type and the size of an object.
func (db *DB) Info(id oid.ID) (typ object.Type, size int64, err error) {
	if id == db.emptyTree {
		return object.Tree, 0, nil
	}
	err = db.try(id, nil, func(c copyOf) (err error) {
		if c.big != nil {
			typ, size = object.Blob, c.big.size
			return nil
		}
		if c.pack == nil {
			typ, size, err = infoLoose(c.path, id)
			return err
		}
		p, err := c.pack.open(db)
		if err != nil {
			return err
		}
		typ, size, err = p.Info(c.off, db.elsewhere([]*packFile{c.pack}))
		return err
	})
	return typ, size, err
}

// Has reports whether an object exists, whether or not it can be read.
func (db *DB) Has(id oid.ID) bool {
	if id == db.emptyTree {
		return true
	}
	return db.try(id, nil, func(c copyOf) error {
		if c.pack != nil || c.big != nil {
			return nil
		}
		return exists(c.path)
	}) == nil
}

// HasLocal is Has for the repository's own folder and an open transaction: not
// what alternates have.
func (db *DB) HasLocal(id oid.ID) bool {
	for _, s := range db.stores() {
		if s.local && s.has(id) {
			return true
		}
	}
	return false
}

func (s *store) has(id oid.ID) bool {
	if s.tx != nil {
		if _, ok := s.tx.findBig(id); ok {
			return true
		}
	}
	if p, _ := s.inPacks(id, nil); p != nil {
		return true
	}
	path, maybe := s.loose(id)
	return maybe && exists(path) == nil
}

// Reader returns an object as a stream, which must be closed. A damaged object
// may show only while it is read.
func (db *DB) Reader(id oid.ID) (typ object.Type, size int64, r io.ReadCloser, err error) {
	if id == db.emptyTree {
		return object.Tree, 0, io.NopCloser(bytes.NewReader(nil)), nil
	}
	err = db.try(id, nil, func(c copyOf) (err error) {
		if c.big != nil {
			typ, size = object.Blob, c.big.size
			r, err = c.big.stream()
			return err
		}
		if c.pack == nil {
			typ, size, r, err = streamLoose(c.path, id)
			return err
		}
		p, err := c.pack.open(db)
		if err != nil {
			return err
		}
		typ, size, r, err = p.Reader(c.off, db.elsewhere([]*packFile{c.pack}))
		return err
	})
	return typ, size, r, err
}

// readType reads an object that must be of one type.
func (db *DB) readType(id oid.ID, want object.Type) ([]byte, error) {
	typ, data, err := db.Read(id)
	if err == nil && typ != want {
		return nil, &TypeError{id, typ, want}
	}
	return data, err
}

// ReadCommit reads and parses a commit.
func (db *DB) ReadCommit(id oid.ID) (*object.CommitObject, error) {
	data, err := db.readType(id, object.Commit)
	if err != nil {
		return nil, err
	}
	return object.ParseCommit(id, data)
}

// ReadTag reads and parses an annotated tag.
func (db *DB) ReadTag(id oid.ID) (*object.TagObject, error) {
	data, err := db.readType(id, object.Tag)
	if err != nil {
		return nil, err
	}
	return object.ParseTag(id, data)
}

// ReadTree reads the entries of the tree that id peels to.
func (db *DB) ReadTree(id oid.ID) ([]object.Entry, error) {
	typ, data, err := db.Read(id)
	if err != nil {
		return nil, err
	}
	if typ != object.Tree {
		if id, err = db.Peel(id, object.Tree); err != nil {
			return nil, err
		}
		if data, err = db.readType(id, object.Tree); err != nil {
			return nil, err
		}
	}
	entries, err := object.ParseTree(db.algo, data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, id)
	}
	return entries, nil
}

// Peel follows tags, and a commit to its tree if want is Tree, until an object
// of type want. With object.Bad it follows tags until there is none.
func (db *DB) Peel(id oid.ID, want object.Type) (oid.ID, error) {
	typ, _, err := db.Info(id)
	for first := id; ; {
		switch {
		case err != nil:
			return oid.ID{}, err
		case typ == want, want == object.Bad && typ != object.Tag:
			return id, nil
		case typ == object.Tag:
			tag, err := db.ReadTag(id)
			if err != nil {
				return oid.ID{}, err
			}
			id = tag.Object
			typ, _, err = db.Info(id)
			if err != nil {
				return oid.ID{}, err
			}
		case typ == object.Commit && want == object.Tree:
			commit, err := db.ReadCommit(id)
			if err != nil {
				return oid.ID{}, err
			}
			return commit.Tree, nil
		default:
			return oid.ID{}, &TypeError{first, typ, want}
		}
	}
}
