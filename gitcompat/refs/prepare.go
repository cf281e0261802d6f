package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
)

// refLock is a lock that was taken for an update, and the value that its ref
// had then.
type refLock struct {
	*lockfile.Lock
	old    oid.ID
	staged bool
}

// lockAll locks and checks every update in the order in which they were added,
// then what concerns all of them.
func (tx *Transaction) lockAll(b *syncpolicy.Barrier) error {
	if len(tx.updates) == 0 {
		return nil
	}
	var err error
	if tx.snap, err = tx.s.snapshot(); err != nil {
		return err
	}
	head, err := tx.s.resolve("HEAD", NoRecurse, tx.packedRefs)
	if err != nil && !errors.Is(err, ErrUnresolved) {
		return err
	}
	if !head.Symref {
		head.Name = ""
	}
	var doubtful []*update // whose names are in conflict, if that lasts
	for i := 0; i < len(tx.updates); i++ {
		u := tx.updates[i]
		doubt, err := tx.lockUpdate(b, u, head.Name)
		if err != nil {
			if err = tx.reject(u, err); err != nil {
				return err
			}
			continue
		}
		if doubt {
			doubtful = append(doubtful, u)
		}
		if u.deleting && !u.logOnly && !u.pruning {
			tx.packed.deletions = append(tx.packed.deletions, u.Name)
		}
	}
	if err := tx.revalidate(); err != nil {
		return err
	}
	for _, u := range doubtful {
		if err := tx.settleDoubt(b, u); err != nil {
			return err
		}
	}
	return tx.preparePacked(b)
}

// packedRefs is the one snapshot that a transaction works with (R3).
func (tx *Transaction) packedRefs() (*snapshot, error) { return tx.snap, nil }

// stale reports whether packed-refs changed, and if so takes the new one.
func (tx *Transaction) stale() (bool, error) {
	if tx.snap.current() {
		return false, nil
	}
	snap, err := tx.s.reload()
	if err == nil {
		tx.snap = snap
		clear(tx.dirs)
	}
	return true, err
}

// lockUpdate locks one ref, checks its value, and writes the new one into the
// lock file. It reports whether the name is in doubt: the check of that is for
// later, when all of the transaction is known.
func (tx *Transaction) lockUpdate(b *syncpolicy.Barrier, u *update, head string) (doubt bool, err error) {
	u.deleting = u.New.null()
	if err := tx.splitHead(u, head); err != nil {
		return false, err
	}
	if u.split && u.parent.rejected {
		return false, nil // git 2.55 logs such a change, which was never made
	}
	if err := tx.acquire(b, u); err != nil {
		return false, lockError(u, err)
	}
	create, err := tx.check(u)
	if err != nil {
		return false, err
	}
	if err := tx.fill(u); err != nil {
		return false, err
	}
	if create && tx.conflict(u.Name) != "" {
		return true, u.lock.Close()
	}
	return false, tx.stage(b, u)
}

// lockError is git's message for a ref that could not be locked or read.
func lockError(u *update, err error) error {
	reason := Generic
	var perr *PackedError
	if errors.As(err, &perr) {
		return err
	}
	var refused *UpdateError
	if errors.As(err, &refused) {
		reason = refused.Reason
	}
	return &UpdateError{u.origin(), reason, fmt.Errorf("cannot lock ref '%s': %w", u.origin(), err)}
}

// splitHead adds an update of HEAD's reflog if u changes the branch that HEAD
// points to.
func (tx *Transaction) splitHead(u *update, head string) error {
	if !u.New.given {
		return nil // git 2.55 logs that HEAD was deleted where it was only looked at
	}
	if head == "" || u.Name != head || u.logOnly || u.SkipReflog || u.pruning || u.viaHead || u.silent {
		return nil
	}
	if tx.names["HEAD"] != nil {
		return refuse(u.Name, NameConflict, "multiple updates for 'HEAD' (including one via its referent '%s') are not allowed", u.Name)
	}
	c := u.Change
	c.Name, c.NoDeref = "HEAD", true
	tx.add(&update{Change: c, parent: u, logOnly: true, split: true})
	return nil
}

// splitSymref turns u, of a symbolic ref that is to be followed, into an update
// of its reflog and one of the ref that it points to.
func (tx *Transaction) splitSymref(u *update) error {
	if tx.names[u.target] != nil {
		return refuse(u.Name, NameConflict, "multiple updates for '%s' (including one via symref '%s') are not allowed", u.target, u.Name)
	}
	c := u.Change
	c.Name = u.target
	tx.add(&update{Change: c, parent: u, viaHead: u.viaHead || u.Name == "HEAD"})
	u.logOnly, u.NoDeref = true, true
	return nil
}

// lockAttempts is how often directories are made again that somebody tidies up.
const lockAttempts = 3

// acquire takes the lock of u, making the directories above it.
func (tx *Transaction) acquire(b *syncpolicy.Barrier, u *update) error {
	path := tx.s.path(u.Name)
	o := lockfile.Options{Timeout: tx.s.o.LockTimeout, NoDeref: true, PIDFile: u.Name == "HEAD" && !u.logOnly, Book: tx.book}
	for attempt := 1; ; attempt++ {
		lk, err := tx.s.o.Locker.Hold(path, o)
		switch {
		case err == nil:
			u.lock = &refLock{Lock: lk, old: tx.s.o.Algo.Null()}
			return nil
		case errors.Is(err, fs.ErrExist):
			return &UpdateError{u.Name, CreateExists, err}
		case errors.Is(err, syscall.ENOTDIR):
			return tx.blocked(u, path)
		case !errors.Is(err, fs.ErrNotExist) || attempt == lockAttempts:
			return err
		}
		changed, err := tx.s.o.Locker.Shared.MkdirAll(b.FS(), filepath.Dir(path))
		if len(changed) > 0 {
			b.Do(syncpolicy.Refs, nil, changed...)
		}
		switch {
		case errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist):
			return tx.blocked(u, path)
		case err != nil && !missing(err):
			return fmt.Errorf("unable to create directory for %s", path)
		}
	}
}

// blocked explains why the directories above path could not be made: mostly
// another ref is in the way.
func (tx *Transaction) blocked(u *update, path string) error {
	conflict, err := tx.available(u.Name)
	switch {
	case err != nil:
		return err
	case conflict == "":
		return fmt.Errorf("unable to create lock file %s.lock; non-directory in the way", path)
	case u.must():
		return refuse(u.Name, NonexistentRef, "unable to resolve reference '%s'", u.Name)
	}
	return refuse(u.Name, NameConflict, "%s", conflict)
}

// check reads the ref under its lock and compares (R1). It reports whether the
// ref is about to come into being. A value from packed-refs that does not fit is
// read again if packed-refs has changed (R3).
func (tx *Transaction) check(u *update) (create bool, err error) {
	for {
		create, unreadable, err := tx.checkOnce(u)
		if err == nil {
			return create, nil
		}
		changed := false
		if u.assumed {
			var serr error
			if changed, serr = tx.stale(); serr != nil {
				return false, serr
			}
		}
		if changed {
			continue
		}
		if unreadable {
			u.lock.Rollback()
			u.lock = nil
			err = lockError(u, err)
		}
		return false, err
	}
}

func (tx *Transaction) checkOnce(u *update) (create, unreadable bool, err error) {
	raw, err := tx.s.readRaw(u.Name, tx.packedRefs)
	u.symref, u.target, u.packed = raw.Symref, raw.Target, raw.Packed
	u.assumed = raw.Packed || err != nil
	u.lock.old = tx.s.o.Algo.Null()
	if err != nil {
		if err := tx.unread(u, err); err != nil {
			return false, true, err
		}
	} else if !raw.Symref {
		u.lock.old = raw.ID
	}
	return err != nil, false, tx.compare(u)
}

// unread decides whether a ref that could not be read may be created.
func (tx *Transaction) unread(u *update, err error) error {
	var perr *PackedError
	switch {
	case errors.As(err, &perr):
		return err
	case err == syscall.ENOENT || err == syscall.EISDIR:
		if u.must() {
			return refuse(u.Name, NonexistentRef, "unable to resolve reference '%s'", u.Name)
		}
		if err == syscall.ENOENT {
			return nil
		}
		return tx.clearDirectory(u)
	case err == ErrBroken:
		return fmt.Errorf("unable to resolve reference '%s': reference broken", u.Name)
	}
	return fmt.Errorf("unable to resolve reference '%s': %w", u.Name, errnoText(err))
}

// clearDirectory removes the empty directories in the place of a ref.
func (tx *Transaction) clearDirectory(u *update) error {
	path := tx.s.path(u.Name)
	if tx.s.removeEmpty(path) {
		return nil
	}
	conflict, err := tx.available(u.Name)
	switch {
	case err != nil:
		return err
	case conflict != "":
		return refuse(u.Name, NameConflict, "%s", conflict)
	}
	return refuse(u.Name, NameConflict, "there is a non-empty directory '%s' blocking reference '%s'", path, u.Name)
}

// removeEmpty removes the directory path if it holds nothing but directories
// that hold nothing.
func (s *Store) removeEmpty(path string) bool {
	entries, err := os.ReadDir(path)
	if err != nil {
		return missing(err)
	}
	for _, e := range entries {
		if !e.IsDir() || !s.removeEmpty(path+string(filepath.Separator)+e.Name()) {
			return false
		}
	}
	err = s.o.FS.Rmdir(path)
	return err == nil || missing(err)
}

// compare checks the old value of u, and finds out what else it changes.
func (tx *Transaction) compare(u *update) error {
	switch {
	case u.split:
		if !u.symref || u.parent.Name != u.target {
			return errors.New("HEAD has been racily updated")
		}
		u.lock.old = u.parent.lock.old
		if u.Old.given && u.Old.target == "" {
			u.lock.old = u.Old.id
		}
		return nil
	case u.symref && !u.NoDeref:
		return tx.splitSymref(u)
	case u.symref:
		return tx.compareSymref(u)
	case u.Old.target != "":
		return refuse(u.Name, ExpectedSymref, "cannot lock ref '%s': expected symref with target '%s': but is a regular ref", u.origin(), u.Old.target)
	}
	if err := tx.compareOID(u); err != nil {
		return err
	}
	for p := u.parent; p != nil; p = p.parent {
		p.lock.old = u.lock.old
	}
	return nil
}

// compareSymref checks a symbolic ref that is not followed.
func (tx *Transaction) compareSymref(u *update) error {
	r, err := tx.s.resolve(u.target, 0, tx.packedRefs)
	switch {
	case err == nil:
		u.lock.old = r.ID
		u.assumed = u.assumed || r.Packed || r.ID.IsNull()
	case !errors.Is(err, ErrUnresolved):
		return err
	case u.Old.given:
		return refuse(u.Name, Generic, "cannot lock ref '%s': error reading reference", u.origin())
	}
	if u.Old.target == "" {
		return tx.compareOID(u)
	}
	return u.compareTarget(u.target)
}

func (u *update) compareTarget(target string) error {
	switch target {
	case u.Old.target:
		return nil
	case "":
		return refuse(u.Name, NonexistentRef, "verifying symref target: '%s': reference is missing but expected %s", u.origin(), u.Old.target)
	}
	return refuse(u.Name, IncorrectOldValue, "verifying symref target: '%s': is at %s but expected %s", u.origin(), target, u.Old.target)
}

func (tx *Transaction) compareOID(u *update) error {
	if u.logOnly || !u.Old.given {
		return nil
	}
	is, want := u.lock.old, u.Old.id
	switch {
	case is == want || is.IsNull() && want.IsNull():
		if u.NoDeref && u.symref && is.IsNull() {
			// Nothing is expected, and a symbolic ref to nothing is not nothing.
			return refuse(u.Name, CreateExists, "cannot lock ref '%s': dangling symref already exists", u.origin())
		}
		return nil
	case want.IsNull():
		return refuse(u.Name, CreateExists, "cannot lock ref '%s': reference already exists", u.origin())
	case is.IsNull():
		return refuse(u.Name, NonexistentRef, "cannot lock ref '%s': reference is missing but expected %s", u.origin(), want)
	}
	return refuse(u.Name, IncorrectOldValue, "cannot lock ref '%s': is at %s but expected %s", u.origin(), is, want)
}

// fill writes the new value into the lock file.
func (tx *Transaction) fill(u *update) error {
	var content []byte
	switch {
	case u.logOnly || !u.New.given || u.deleting:
		return nil
	case u.New.target != "":
		content = []byte("ref: " + u.New.target + "\n")
	case !u.symref && u.lock.old == u.New.id:
		return nil // the ref has the value
	default:
		content = append(u.New.id.AppendHex(make([]byte, 0, 2*oid.MaxSize+1)), '\n')
	}
	if _, err := u.lock.Write(content); err != nil {
		if u.New.target != "" {
			return fmt.Errorf("unable to write to %s: %w", u.lock.LockPath(), errnoText(err))
		}
		return fmt.Errorf("cannot update ref '%s': couldn't write '%s'", u.Name, u.lock.LockPath())
	}
	u.write = true
	return nil
}

// stage hands the lock file to the barrier, or closes it if the ref stays.
func (tx *Transaction) stage(b *syncpolicy.Barrier, u *update) error {
	if u.logFrom != "" {
		if err := tx.stageLog(b, u); err != nil {
			return err
		}
	}
	var err error
	switch {
	case !u.write || u.New.target != "" && tx.s.o.SymlinkRefs:
		if u.lock.Close() != nil {
			return fmt.Errorf("couldn't close '%s.lock'", u.Name)
		}
		return nil
	case u.New.target != "":
		err = u.lock.Stage(b, syncpolicy.Symrefs, syncpolicy.Symref)
	default:
		err = u.lock.Stage(b, syncpolicy.Refs, syncpolicy.Reference)
	}
	u.lock.staged = err == nil
	return err
}

// revalidate makes sure that what was taken from packed-refs still holds now
// that every lock is held (R3).
func (tx *Transaction) revalidate() error {
	changed, err := tx.stale()
	if err != nil || !changed {
		return err
	}
	for _, u := range tx.updates {
		if !u.assumed || u.rejected || u.logOnly {
			continue
		}
		was := u.lock.old
		raw, err := tx.s.readRaw(u.Name, tx.packedRefs)
		switch {
		case err == nil && !raw.Symref:
			u.lock.old = raw.ID
		case err != nil && err != syscall.ENOENT && err != syscall.EISDIR:
			return lockError(u, errnoText(err))
		}
		if u.lock.old == was {
			continue
		}
		if err := tx.compareOID(u); err != nil {
			return err
		}
		for p := u.parent; p != nil; p = p.parent {
			p.lock.old = u.lock.old
		}
		if conflict := tx.conflict(u.Name); conflict != "" && was.IsNull() {
			return refuse(u.Name, NameConflict, "%s", conflict)
		}
	}
	return nil
}

// settleDoubt is the last word on a name that was in conflict when its turn came.
func (tx *Transaction) settleDoubt(b *syncpolicy.Barrier, u *update) error {
	if conflict := tx.conflict(u.Name); conflict != "" {
		return tx.reject(u, refuse(u.Name, NameConflict, "%s", conflict))
	}
	return tx.stage(b, u)
}

// conflict reports, in git's words, a packed ref or another name of the
// transaction that is a directory of name, or has name as a directory.
func (tx *Transaction) conflict(name string) string {
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		dir := name[:i]
		if tx.dirs[dir] {
			continue
		}
		if _, found, _ := tx.snap.lookup(dir); found {
			return exists(dir, name)
		}
		if tx.names[dir] != nil {
			return together(name, dir)
		}
		tx.dirs[dir] = true
	}
	if len(tx.snap.records) > 0 {
		if other := tx.snap.below(name + "/"); other != "" {
			return exists(other, name)
		}
	}
	if len(tx.sorted) > 1 {
		if other := tx.within(name + "/"); other != "" {
			return together(name, other)
		}
	}
	return ""
}

func exists(other, name string) string {
	return "'" + other + "' exists; cannot create '" + name + "'"
}

func together(name, other string) string {
	return "cannot process '" + name + "' and '" + other + "' at the same time"
}

// available is conflict over loose and packed refs.
func (tx *Transaction) available(name string) (string, error) {
	return tx.s.available(name, "", tx)
}

// available reports what stands in the way of a new ref: other refs but skip,
// and other names of tx, unless that is nil.
func (s *Store) available(name, skip string, tx *Transaction) (string, error) {
	for i := 0; i < len(name); i++ {
		if name[i] != '/' || name[:i] == skip {
			continue
		}
		dir := name[:i]
		_, err := s.ReadRaw(dir)
		var perr *PackedError
		switch {
		case err == nil:
			return exists(dir, name), nil
		case errors.As(err, &perr):
			return "", err
		case tx != nil && tx.names[dir] != nil:
			return together(name, dir), nil
		}
	}
	for r, err := range s.All(name+"/", IncludeBroken) {
		if err != nil {
			return "", err
		}
		if r.Name != skip {
			return exists(r.Name, name), nil
		}
	}
	if tx != nil {
		if other := tx.within(name + "/"); other != "" && !strings.EqualFold(other, name) {
			return together(name, other), nil
		}
	}
	return "", nil
}
