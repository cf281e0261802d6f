package refs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
)

// Rename gives a ref another name, its reflog included; a ref that has the new
// name is replaced. It commits barriers that it gets from newBarrier: one, so
// that old and new name change together, or two where one name is a directory of
// the other, so that they cannot exist at the same time.
func (s *Store) Rename(newBarrier func() *syncpolicy.Barrier, from, to, message string) error {
	id, err := s.movable(from, to, "renaming")
	if err != nil {
		return err
	}
	if from == to {
		tx := s.Begin(false)
		tx.add(&update{Change: Change{Name: from, New: OID(id), NoDeref: true, Message: normalizeMessage(message)}, logOnly: true, silent: true})
		return tx.run(newBarrier(), nil)
	}
	if strings.HasPrefix(to, from+"/") || strings.HasPrefix(from, to+"/") {
		return s.renameInSteps(newBarrier, from, to, message, id)
	}
	tx := s.Begin(false)
	tx.add(&update{Change: Change{Name: from, New: OID(s.o.Algo.Null()), Old: OID(id), NoDeref: true, Message: normalizeMessage(message)}})
	tx.add(s.moved(to, id, message, s.logOf(from)))
	return tx.run(newBarrier(), nil)
}

// Copy makes another ref of the same value and reflog.
func (s *Store) Copy(newBarrier func() *syncpolicy.Barrier, from, to, message string) error {
	id, err := s.movable(from, to, "copying")
	if err != nil {
		return err
	}
	tx := s.Begin(false)
	tx.add(s.moved(to, id, message, s.logOf(from)))
	return tx.run(newBarrier(), nil)
}

func (s *Store) movable(from, to, what string) (oid.ID, error) {
	if st, err := os.Lstat(s.logPath(from)); err == nil && st.Mode()&os.ModeSymlink != 0 {
		return oid.ID{}, fmt.Errorf("reflog for %s is a symlink", from)
	}
	r, err := s.Resolve(from, Reading|NoRecurse)
	switch {
	case errors.Is(err, ErrUnresolved):
		return oid.ID{}, fmt.Errorf("refname %s not found", from)
	case err != nil:
		return oid.ID{}, err
	case r.Symref:
		return oid.ID{}, fmt.Errorf("refname %s is a symbolic ref, %s it is not supported", from, what)
	}
	conflict, err := s.available(to, from, nil)
	if err == nil && conflict != "" {
		err = errors.New(conflict)
	}
	return r.ID, err
}

func (s *Store) logOf(name string) string {
	if !s.HasLog(name) {
		return ""
	}
	return s.logPath(name)
}

// moved is the update of the new name. The hook sees no more than git's does:
// that the old name goes.
func (s *Store) moved(name string, id oid.ID, message, logFrom string) *update {
	return &update{
		Change:  Change{Name: name, New: OID(id), NoDeref: true, Message: normalizeMessage(message)},
		silent:  true,
		logFrom: logFrom,
	}
}

func (tx *Transaction) run(b *syncpolicy.Barrier, also func(*syncpolicy.Barrier)) error {
	defer b.Rollback()
	if err := tx.Prepare(b); err != nil {
		return err
	}
	if also != nil {
		also(b)
	}
	if err := tx.Commit(b); err != nil {
		return err
	}
	return b.Commit()
}

// renameInSteps deletes the old ref, with its reflog put aside as git puts it
// aside, and then makes the new one.
func (s *Store) renameInSteps(newBarrier func() *syncpolicy.Barrier, from, to, message string, id oid.ID) error {
	aside := s.logPath("refs/.tmp-renamed-log")
	log := s.logOf(from)
	tx := s.Begin(false)
	tx.add(&update{Change: Change{Name: from, New: OID(s.o.Algo.Null()), Old: OID(id), NoDeref: true, Message: normalizeMessage(message)}})
	err := tx.run(newBarrier(), func(b *syncpolicy.Barrier) {
		if log != "" {
			b.Do(syncpolicy.Removals, func() error { return s.o.FS.Rename(log, aside) }, filepath.Dir(aside))
		}
	})
	if err != nil {
		return fmt.Errorf("unable to delete old %s: %w", from, err)
	}
	from2 := aside
	if log == "" {
		from2 = ""
	}
	if err = s.finishMove(newBarrier, to, id, message, from2); err == nil {
		return nil
	}
	// Back to where we came from.
	if rerr := s.finishMove(newBarrier, from, id, "", from2); rerr != nil {
		return fmt.Errorf("unable to write current sha1 into %s: %w", from, rerr)
	}
	return fmt.Errorf("unable to rename '%s' to '%s': %w", from, to, err)
}

func (s *Store) finishMove(newBarrier func() *syncpolicy.Barrier, to string, id oid.ID, message, aside string) error {
	tx := s.Begin(false)
	tx.add(s.moved(to, id, message, aside))
	return tx.run(newBarrier(), func(b *syncpolicy.Barrier) {
		if aside != "" {
			b.Do(syncpolicy.Removals, func() error { return s.o.FS.Remove(aside) }, filepath.Dir(aside))
		}
	})
}

// stageLog stages the reflog of u: what the old one held, and the entry of this
// change. It is published before the ref.
func (tx *Transaction) stageLog(b *syncpolicy.Barrier, u *update) error {
	path := tx.s.logPath(u.Name)
	if st, err := os.Lstat(path); err == nil && st.IsDir() && !tx.s.removeEmpty(path) {
		return fmt.Errorf("directory not empty: %s", path)
	}
	changed, err := tx.s.o.Locker.Shared.MkdirAll(b.FS(), filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("unable to create directory for '%s': %w", path, errnoText(err))
	}
	b.Do(syncpolicy.Refs, nil, changed...)
	lk, err := tx.s.o.Locker.Hold(path, lockfile.Options{NoDeref: true})
	if err != nil {
		return err
	}
	if err := tx.copyLog(lk, u); err != nil {
		lk.Rollback()
		return fmt.Errorf("unable to append to '%s': %w", path, errnoText(err))
	}
	return lk.Stage(b, syncpolicy.Refs, syncpolicy.Reflog)
}

func (tx *Transaction) copyLog(lk *lockfile.Lock, u *update) error {
	old, err := os.Open(u.logFrom)
	if err != nil {
		return err
	}
	defer old.Close()
	if _, err := io.Copy(lk, old); err != nil {
		return err
	}
	if tx.ident == "" {
		if tx.ident, err = tx.s.o.Committer(); err != nil {
			return err
		}
	}
	if u.Message == "" {
		return nil // put back, not moved
	}
	_, err = lk.Write(appendLogLine(nil, u.New.id, u.New.id, tx.ident, u.Message))
	return err
}
