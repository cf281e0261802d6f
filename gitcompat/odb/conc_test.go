package odb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/object"
)

// TestConcurrent has many goroutines write and read through one transaction, the
// same objects among them, while children make it lay its folder out for them.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	dir, objects := newRepo(t)
	db := openDB(t, objects, Options{BigFileThreshold: 4000})
	b := newBarrier(t, db)
	tx := db.Begin(b)
	err := Each(2000, func(i int) error {
		n := i % 700
		text := fmt.Sprint("object ", n)
		if n%100 == 0 {
			text = strings.Repeat(text, 1000)
			if _, err := tx.WriteStream(object.Blob, int64(len(text)), strings.NewReader(text)); err != nil {
				return err
			}
		}
		id, err := tx.Write(object.Blob, []byte(text))
		if err != nil {
			return err
		}
		if i == 900 {
			if _, err := tx.Dir(); err != nil {
				return err
			}
		}
		if _, data, err := db.Read(id); err != nil || string(data) != text {
			return fmt.Errorf("object %d: %w", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Adopt(); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(git(t, dir, "", "cat-file", "--batch-check", "--batch-all-objects"), "\n"); n != 700 {
		t.Errorf("%d objects", n)
	}
	if packs, _ := filepath.Glob(filepath.Join(objects, "pack", "*.pack")); len(packs) != 1 {
		t.Errorf("packs %v", packs)
	}
	git(t, dir, "", "fsck", "--full", "--strict")
	noLeftovers(t, objects)
}
