package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
)

// Adopt stages what others have written into the transaction's folder: loose
// objects, and packs in git's order, their .idx last. Call it when they are done,
// and before the barrier is hardened or committed; it may be called again.
func (t *Transaction) Adopt() error {
	t.mu.Lock()
	s := t.store
	t.mu.Unlock()
	if s == nil {
		return nil
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return &sysError{"unable to read " + s.dir, err}
	}
	for _, e := range entries {
		if n, ok := parseShard(e.Name()); ok && e.IsDir() {
			if err := t.adoptShard(s, n); err != nil {
				return err
			}
		}
	}
	s.list(true)
	return t.adoptPacks(filepath.Join(s.dir, "pack"))
}

func parseShard(name string) (byte, bool) {
	if len(name) != 2 {
		return 0, false
	}
	hi, lo := strings.IndexByte(hexDigits, name[0]), strings.IndexByte(hexDigits, name[1])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

func (t *Transaction) adoptShard(s *store, n byte) error {
	for _, id := range looseNames(filepath.Join(s.dir, shardName(n)), t.db.algo) {
		if err := t.once(id, func() error { return t.adoptLoose(s, id) }); err != nil {
			return err
		}
	}
	return nil
}

// adoptLoose stages a loose object that somebody else wrote.
func (t *Transaction) adoptLoose(s *store, id oid.ID) error {
	path := s.loosePath(id)
	f, err := t.fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return &sysError{"unable to open " + path, err}
	}
	return t.stageLoose(id, f, inShard)
}

// packPriority is the order in which the files of packs are published: readers
// must not meet an .idx before what belongs to it, nor a pack without its .keep.
func packPriority(name string) int {
	if !strings.HasPrefix(name, "pack") {
		return 0
	}
	switch filepath.Ext(name) {
	case ".keep":
		return 1
	case ".pack":
		return 2
	case ".rev":
		return 3
	case ".idx":
		return 5
	}
	return 4
}

func (t *Transaction) adoptPacks(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &sysError{"unable to read " + dir, err}
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.Type().IsRegular() && name[0] != '.' && !strings.HasPrefix(name, "tmp_") {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return packPriority(a) - packPriority(b) })
	for _, name := range names {
		if err := t.AdoptPackFile(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// AdoptPackFile stages one file of a pack, which need not be in the transaction's
// folder but on its file system; publish it under its own name in objects/pack.
func (t *Transaction) AdoptPackFile(path string) error {
	t.mu.Lock()
	known := t.staged[path]
	t.staged[path] = true
	t.mu.Unlock()
	if known {
		return nil
	}
	f, err := t.fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return &sysError{"unable to open " + path, err}
	}
	c := syncpolicy.PackMetadata
	if strings.HasSuffix(path, ".pack") {
		c = syncpolicy.Pack
	}
	packs := filepath.Join(t.db.own.dir, "pack")
	final := filepath.Join(packs, filepath.Base(path))
	publish := func() error { return t.publishPackFile(path, final) }
	if err := t.b.StageFunc(syncpolicy.Packs, c, f, publish, nil, packs); err != nil {
		return &sysError{"unable to close " + path, err}
	}
	return nil
}

// publishPackFile renames a file of a pack; one of that name which is there
// already must be the same.
func (t *Transaction) publishPackFile(path, final string) error {
	if exists(final) == nil {
		same, err := sameContent(path, final)
		if err != nil {
			return err
		}
		if !same {
			return fmt.Errorf("files '%s' and '%s' differ in contents", path, final)
		}
		if strings.HasSuffix(final, ".keep") {
			return nil
		}
	}
	if _, err := t.db.opts.Shared.MkdirAll(t.fsys, filepath.Dir(final)); err != nil {
		return &sysError{"unable to create directory " + filepath.Dir(final), err}
	}
	if err := t.db.opts.Shared.Adjust(t.fsys, path); err != nil {
		return fmt.Errorf("unable to set permission to '%s'", final)
	}
	if err := t.fsys.Rename(path, final); err != nil {
		return &sysError{"unable to write file " + final, err}
	}
	t.fsys.Keep(path)
	t.db.own.forgetList()
	return nil
}

func sameContent(a, b string) (bool, error) {
	fa, err := os.Open(a)
	if err != nil {
		return false, &sysError{"unable to open " + a, err}
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // gone meanwhile: nothing to differ from
	}
	if err != nil {
		return false, &sysError{"unable to open " + b, err}
	}
	defer fb.Close()
	bufA, bufB := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(fa, bufA)
		m, errB := io.ReadFull(fb, bufB)
		if n != m || !bytes.Equal(bufA[:n], bufB[:m]) {
			return false, nil
		}
		if errA != nil || errB != nil {
			break
		}
	}
	return true, nil
}
