package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
)

// Commit hands what Prepare has made ready to the barrier: reflog entries,
// renames and removals. The refs change, and their locks are released, when the
// barrier ends.
func (tx *Transaction) Commit(b *syncpolicy.Barrier) error {
	if tx.state != prepared {
		panic("BUG: commit of a reference transaction that is not prepared")
	}
	for _, u := range tx.updates {
		if u.rejected || u.lock == nil {
			continue
		}
		if (u.write || u.logOnly) && u.logFrom == "" {
			if err := tx.log(b, u); err != nil {
				return fmt.Errorf("cannot update the ref '%s': %w", u.Name, err)
			}
		}
		if u.write && !u.lock.staged {
			tx.symlink(b, u)
		}
	}
	for _, u := range tx.updates {
		if u.deleting && !u.rejected && !u.logOnly && !u.pruning {
			tx.removeLog(b, u.Name)
		}
	}
	for _, u := range tx.updates {
		if u.deleting && !u.rejected && !u.logOnly && (!u.packed || u.symref) {
			path := tx.s.path(u.Name)
			b.Do(syncpolicy.Removals, func() error {
				if err := tx.s.o.FS.Remove(path); err != nil && !missing(err) {
					return fmt.Errorf("unable to unlink '%s': %w", path, errnoText(err))
				}
				return nil
			}, filepath.Dir(path))
		}
	}
	tx.state = committing
	return nil
}

// symlink writes a symbolic ref as a symbolic link, for core.preferSymlinkRefs.
func (tx *Transaction) symlink(b *syncpolicy.Barrier, u *update) {
	path, target := tx.s.path(u.Name), u.New.target
	b.Do(syncpolicy.Symrefs, func() error {
		if err := tx.s.o.FS.Remove(path); err != nil && !missing(err) {
			return fmt.Errorf("couldn't set '%s'", u.Name)
		}
		if err := tx.s.o.FS.Symlink(target, path); err != nil {
			return fmt.Errorf("couldn't set '%s'", u.Name)
		}
		return nil
	}, filepath.Dir(path))
}

// log registers the reflog entry of u (R6).
func (tx *Transaction) log(b *syncpolicy.Barrier, u *update) error {
	if u.SkipReflog {
		return nil
	}
	id := u.New.id
	switch {
	case u.New.target != "":
		r, err := tx.s.Resolve(u.New.target, Reading)
		if pending := tx.names[u.New.target]; pending != nil && pending.write && pending.New.target == "" {
			r.ID, err = pending.New.id, nil
		}
		if errors.Is(err, ErrUnresolved) {
			return nil // git logs no switch to a ref that does not exist
		} else if err != nil {
			return err
		}
		id = r.ID
	case !u.New.given || id.IsNull():
		id = tx.s.o.Algo.Null()
	}
	return tx.appendLog(b, u.Name, u.lock.old, id, u.CreateReflog, u.Message)
}

func (tx *Transaction) appendLog(b *syncpolicy.Barrier, name string, old, id oid.ID, force bool, message string) error {
	path := tx.s.logPath(name)
	ok, err := tx.logFile(b, path, force || tx.s.o.LogAll.creates(name))
	if err != nil || !ok {
		return err
	}
	if tx.ident == "" {
		if tx.ident, err = tx.s.o.Committer(); err != nil {
			return err
		}
	}
	line := make([]byte, 0, 2*(2*oid.MaxSize+1)+len(tx.ident)+len(message)+2)
	line = appendLogLine(line, old, id, tx.ident, message)
	b.AppendLog(path, line, tx.s.adjust, func(err error) error {
		if errors.Is(err, syscall.EISDIR) {
			return fmt.Errorf("cannot update the ref '%s': there are still logs under '%s'", name, path)
		}
		return fmt.Errorf("cannot update the ref '%s': unable to append to '%s': %w", name, path, errnoText(err))
	})
	return nil
}

func (s *Store) adjust(path string) error { return s.o.Locker.Shared.Adjust(s.o.FS, path) }

// logDir is what is known of a directory of reflogs.
type logDir struct {
	there bool
	flat  bool // no directory is in it, so none can be in the way of a reflog
}

// logFile makes sure that a reflog can be appended to, and reports whether it
// should be: it is there, or is to be created.
func (tx *Transaction) logFile(b *syncpolicy.Barrier, path string, create bool) (bool, error) {
	dir := filepath.Dir(path)
	d, known := tx.logdir[dir]
	if !known {
		st, err := os.Stat(dir)
		d = logDir{there: err == nil && st.IsDir()}
		d.flat = d.there && withoutDirs(st)
		tx.logdir[dir] = d
	}
	switch {
	case !d.there && !create:
		return false, nil
	case !d.there:
		tx.makeLogDir(b, dir, path)
		tx.logdir[dir] = logDir{there: true, flat: true}
		return true, nil
	case d.flat && create:
		return true, nil
	}
	st, err := os.Lstat(path)
	switch {
	case err == nil && st.IsDir():
		if !create {
			return false, nil
		}
		if !tx.s.removeEmpty(path) {
			return false, fmt.Errorf("there are still logs under '%s'", path)
		}
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.ENOTDIR):
		return false, fmt.Errorf("unable to append to '%s': %w", path, errnoText(err))
	}
	return create, nil
}

// makeLogDir has the barrier make the directories of a reflog.
func (tx *Transaction) makeLogDir(b *syncpolicy.Barrier, dir, path string) {
	var changed []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		changed = append(changed, filepath.Dir(d))
	}
	b.Do(syncpolicy.Reflogs, func() error {
		if _, err := tx.s.o.Locker.Shared.MkdirAll(tx.s.o.FS, dir); err != nil {
			return fmt.Errorf("unable to create directory for '%s': %w", path, errnoText(err))
		}
		return nil
	}, changed...)
}

// removeLog has the barrier remove a reflog, and the directories that it leaves
// empty. A log that stays behind does no harm, so a failure is only a warning.
func (tx *Transaction) removeLog(b *syncpolicy.Barrier, name string) {
	path := tx.s.logPath(name)
	if d, known := tx.logdir[filepath.Dir(path)]; known && !d.there {
		return
	}
	if _, err := os.Lstat(path); err != nil {
		return
	}
	b.Do(syncpolicy.Removals, func() error {
		if err := tx.s.o.FS.Remove(path); err != nil && !missing(err) {
			tx.s.o.Say("warning: unable to unlink '" + path + "': " + errnoText(err).Error())
			return nil
		}
		tx.s.removeParents(name, tx.s.logPath)
		return nil
	}, filepath.Dir(path))
}

// removeParents removes the directories above the file of name that are empty,
// but not refs/ and what is directly in it.
func (s *Store) removeParents(name string, path func(string) string) {
	first := strings.IndexByte(name, '/')
	if first < 0 {
		return
	}
	second := strings.IndexByte(name[first+1:], '/')
	if second < 0 {
		return
	}
	keep := first + 1 + second
	for at := strings.LastIndexByte(name, '/'); at > keep; at = strings.LastIndexByte(name[:at], '/') {
		if s.o.FS.Rmdir(path(name[:at])) != nil {
			return
		}
	}
}

// end releases the locks when the barrier has ended, and tells the hook.
func (tx *Transaction) end(err error) {
	for _, u := range tx.updates {
		if u.lock == nil {
			continue
		}
		if !u.lock.staged {
			u.lock.Rollback()
		}
		if err != nil || u.rejected || u.deleting && !u.logOnly {
			tx.s.removeParents(u.Name, tx.s.path)
		}
	}
	was := tx.state
	tx.state = closed
	tx.packed.end(err)
	tx.book.Close()
	if tx.s.o.Hook == nil || tx.silent() {
		return
	}
	switch {
	case err == nil && was == committing:
		if tx.packed.staged {
			tx.s.o.Hook("committed", tx.packed.hookInput(tx))
		}
		tx.s.o.Hook("committed", tx.hookInput())
	case was == prepared:
		if tx.packed.staged {
			tx.s.o.Hook("aborted", tx.packed.hookInput(tx))
		}
		tx.s.o.Hook("aborted", tx.hookInput())
	}
}

// Rejected reports whether the change of a ref was refused by Prepare.
func (tx *Transaction) Rejected(name string) bool {
	for _, r := range tx.rejects {
		if r.Name == name {
			return true
		}
	}
	return false
}

// Explain puts an error of the Barrier's Commit into git's words, where it is
// about one ref of the transaction.
func (tx *Transaction) Explain(err error) error {
	var link *os.LinkError
	if err == nil || !errors.As(err, &link) {
		return err
	}
	if link.New == tx.s.packedPath() {
		return fmt.Errorf("error replacing %s: %w", link.New, errnoText(err))
	}
	for _, u := range tx.updates {
		if u.write && tx.s.path(u.Name) == link.New {
			return fmt.Errorf("couldn't set '%s'", u.Name)
		}
	}
	return err
}
