package odb

import (
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
	"github.com/sluicegit/sluice/syncpolicy"
)

// bigBlobs are the packs that take the blobs of a transaction which are bigger
// than core.bigFileThreshold: one, unless pack.packSizeLimit asks for more.
type bigBlobs struct {
	mu    sync.Mutex
	packs []*pack.BlobPack // the last one takes the next blob

	registered bool // with the barrier
}

// last returns the pack that takes a blob of size bytes; nil if it needs a new one.
func (b *bigBlobs) last(size, limit int64) *pack.BlobPack {
	if len(b.packs) == 0 {
		return nil
	}
	p := b.packs[len(b.packs)-1]
	if limit > 0 && p.Len() > 0 && p.Size()+size > limit {
		return nil
	}
	return p
}

// writePacked adds a big blob.
func (t *Transaction) writePacked(size int64, r io.Reader) (oid.ID, error) {
	s, err := t.folder()
	if err != nil {
		return oid.ID{}, err
	}
	t.big.mu.Lock()
	defer t.big.mu.Unlock()
	p := t.big.last(size, t.db.opts.PackSizeLimit)
	if p == nil {
		if p, err = t.beginBig(s); err != nil {
			return oid.ID{}, err
		}
	}
	h := t.db.hashes.Get().(hash.Hash)
	defer t.db.hashes.Put(h)
	err = p.Append(size, r, h)
	var id oid.ID
	if err == nil {
		id, err = Sum(t.db.algo, h)
	}
	if err != nil {
		return oid.ID{}, errors.Join(err, p.Drop())
	}
	kept := false
	err = t.once(id, func() error {
		for _, s := range t.db.stores() {
			s.list(true) // what another program packed meanwhile is worth finding
		}
		if t.freshen(id, func(path string) bool { return decodes(path, id) }) {
			return nil
		}
		kept = true
		p.Keep()
		t.mu.Lock()
		t.places[id] = inBigPack
		t.mu.Unlock()
		return nil
	})
	if !kept {
		err = errors.Join(err, p.Drop())
	}
	return id, err
}

// beginBig creates a pack, and stages it: what is appended until the barrier
// hardens it is part of it.
func (t *Transaction) beginBig(s *store) (*pack.BlobPack, error) {
	dir := filepath.Join(s.dir, "pack")
	if err := t.mkdir(dir); err != nil {
		return nil, t.createError(err)
	}
	level, err := pack.NewLevel(t.db.opts.PackCompression.value(-1))
	if err != nil {
		return nil, err
	}
	p, err := pack.NewBlobPack(t.fsys, dir, t.db.algo, level)
	if err != nil {
		return nil, err
	}
	if !t.big.registered {
		t.big.registered = true
		t.b.Prepare(t.finishBig)
	}
	t.big.packs = append(t.big.packs, p)
	stage := func(c syncpolicy.Component, path, ext string) error {
		f, err := t.fsys.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			return &sysError{"unable to open " + path, err}
		}
		packs := filepath.Join(t.db.own.dir, "pack")
		return t.b.StageFunc(syncpolicy.Packs, c, f, func() error { return t.publishBig(p, path, ext) }, nil, packs)
	}
	if err := stage(syncpolicy.Pack, p.Pack(), ".pack"); err != nil {
		return nil, err
	}
	return p, stage(syncpolicy.PackMetadata, p.Index(), ".idx")
}

// finishBig makes the packs whole, before they are hardened.
func (t *Transaction) finishBig() error {
	t.big.mu.Lock()
	defer t.big.mu.Unlock()
	for _, p := range t.big.packs {
		if err := p.Finish(); err != nil {
			return err
		}
	}
	return nil
}

// publishBig publishes one of the two files; the index comes last.
func (t *Transaction) publishBig(p *pack.BlobPack, path, ext string) error {
	t.big.mu.Lock()
	defer t.big.mu.Unlock()
	if p.Len() == 0 {
		t.fsys.Keep(path)
		return nil // it goes with the folder
	}
	if err := t.publishPackFile(path, filepath.Join(t.db.own.dir, "pack", p.Name()+ext)); err != nil {
		return err
	}
	if ext == ".idx" {
		t.endBig(p)
	}
	return nil
}

// endBig forgets a pack; the next big blob begins another.
func (t *Transaction) endBig(p *pack.BlobPack) {
	p.Close()
	t.fsys.Keep(p.Pack())
	t.fsys.Keep(p.Index())
	t.big.packs = slices.DeleteFunc(t.big.packs, func(q *pack.BlobPack) bool { return p == q })
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, at := range t.places {
		if at != inBigPack {
			continue
		}
		if _, _, ok := p.Find(id); ok {
			t.places[id] = elsewhere
		}
	}
}

// findBig looks for a blob in the pack.
func (t *Transaction) findBig(id oid.ID) (b bigBlob, ok bool) {
	t.mu.Lock()
	at := t.places[id]
	t.mu.Unlock()
	if at != inBigPack {
		return b, false
	}
	t.big.mu.Lock()
	defer t.big.mu.Unlock()
	for _, p := range t.big.packs {
		if size, off, ok := p.Find(id); ok {
			return bigBlob{p, size, off}, true
		}
	}
	return b, false
}

// A bigBlob is one that is in the pack of a transaction.
type bigBlob struct {
	pack *pack.BlobPack
	size int64
	off  int64
}

func (b *bigBlob) stream() (io.ReadCloser, error) { return b.pack.Reader(b.off) }

func (b *bigBlob) read() (object.Type, []byte, error) {
	r, err := b.stream()
	if err != nil {
		return object.Bad, nil, err
	}
	defer r.Close()
	data := make([]byte, b.size)
	_, err = io.ReadFull(r, data)
	return object.Blob, data, err
}
