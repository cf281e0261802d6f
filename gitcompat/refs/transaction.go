package refs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/syncpolicy"
)

// A Value is what a ref holds or should hold: an object name, nothing, or the
// name of another ref. Its zero value is no opinion.
type Value struct {
	given  bool
	id     oid.ID
	target string
}

// OID is an object name; the null name means that the ref does not exist.
func OID(id oid.ID) Value { return Value{given: true, id: id} }

// Symref is a symbolic ref to target.
func Symref(target string) Value { return Value{given: true, target: target} }

// Given reports whether v is more than the zero value.
func (v Value) Given() bool { return v.given }

// ID returns the object name; Target the ref that a symbolic ref points to.
func (v Value) ID() oid.ID { return v.id }

// Target returns the ref that v is symbolic for, or "".
func (v Value) Target() string { return v.target }

func (v Value) null() bool { return v.given && v.target == "" && v.id.IsNull() }

// A Change is what a Transaction is to do with one ref.
type Change struct {
	Name string
	New  Value // null: delete; not given: only check Old
	Old  Value // null: must not exist; not given: whatever it is

	NoDeref      bool // act on a symbolic ref itself
	CreateReflog bool // whatever core.logAllRefUpdates says
	SkipReflog   bool // write no reflog entry
	Message      string
}

// A Reason classifies why the change of one ref was refused.
type Reason uint8

// The reasons. Generic ones end the whole transaction even if it allows failures.
const (
	Generic Reason = iota
	NameConflict
	CreateExists
	NonexistentRef
	IncorrectOldValue
	InvalidNewValue
	ExpectedSymref
	CaseConflict
)

// String returns git's words, as in the reports of receive-pack.
func (r Reason) String() string {
	switch r {
	case NameConflict:
		return "refname conflict"
	case CreateExists:
		return "reference already exists"
	case NonexistentRef:
		return "reference does not exist"
	case IncorrectOldValue:
		return "incorrect old value provided"
	case InvalidNewValue:
		return "invalid new value provided"
	case ExpectedSymref:
		return "expected symref but found regular ref"
	case CaseConflict:
		return "reference conflict due to case-insensitive filesystem"
	}
	return "unknown failure"
}

// An UpdateError says why the change of one ref was refused.
type UpdateError struct {
	Ref    string
	Reason Reason
	err    error
}

// Error is git's message.
func (e *UpdateError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *UpdateError) Unwrap() error { return e.err }

func refuse(ref string, reason Reason, format string, args ...any) *UpdateError {
	return &UpdateError{ref, reason, fmt.Errorf(format, args...)}
}

// A HookError says that the reference-transaction hook stopped a transaction.
type HookError struct{ State string }

// Error is git's message.
func (e *HookError) Error() string {
	return "in '" + e.State + "' phase, update aborted by the reference-transaction hook"
}

// A Rejection is a change that was refused while the others go on.
type Rejection struct {
	Change
	Reason Reason
	Err    error
}

// update is a Change on its way. A change may lead to more of them: of the ref
// that a symbolic ref points to, and of HEAD's reflog.
type update struct {
	Change
	parent *update // of which it is a consequence

	logOnly bool // only the reflog is written
	viaHead bool // the change named HEAD
	split   bool // HEAD's reflog, for a change of the branch that HEAD points to
	pruning bool // the loose file goes, the ref stays: it is packed
	silent  bool // not the hook's business

	logFrom  string // file whose entries the reflog takes over
	lock     *refLock
	deleting bool
	symref   bool   // the ref was symbolic
	target   string // to what
	packed   bool   // its value was in packed-refs only
	assumed  bool   // its value, or that there is none, was taken from packed-refs
	write    bool   // the lock file holds a new value
	rejected bool
}

// origin returns the ref that the caller named.
func (u *update) origin() string {
	for u.parent != nil {
		u = u.parent
	}
	return u.Name
}

// must reports whether the ref has to exist.
func (u *update) must() bool { return !u.logOnly && u.Old.given && !u.Old.null() }

// A Transaction changes any number of refs. Add them, then Prepare, which takes
// the locks and checks everything, then Commit, which hands the rest to the
// Barrier; the refs change when the Barrier commits, and if it does not, none of
// them does. After an error of Prepare or Commit the Barrier must be rolled back.
type Transaction struct {
	s            *Store
	allowFailure bool
	prunes       bool // nothing that goes wrong with one ref stops the others

	updates []*update
	names   map[string]*update // those that change refs and were not rejected
	sorted  []string           // the names, in order; made by Prepare
	objects map[oid.ID]error   // objects that were looked at, with what is wrong for a branch
	rejects []Rejection

	packed packedChange
	snap   *snapshot
	dirs   map[string]bool // directories that no ref is in the way of
	state  state
	ident  string // for reflog entries
	book   *lockfile.Book
	logdir map[string]logDir
}

type state uint8

const (
	open state = iota
	prepared
	committing
	closed
)

// Begin starts a transaction. With allowFailure a change that is refused for a
// reason of its own does not stop the others: see Rejections.
func (s *Store) Begin(allowFailure bool) *Transaction {
	return &Transaction{s: s, allowFailure: allowFailure, names: map[string]*update{}, objects: map[oid.ID]error{}, dirs: map[string]bool{}, logdir: map[string]logDir{}}
}

// Len returns how many changes were added.
func (tx *Transaction) Len() int { return len(tx.updates) }

// Rejections returns the changes that were refused, in the order in which that
// was found out.
func (tx *Transaction) Rejections() []Rejection { return tx.rejects }

// Add queues a change. It checks the name and the new value; the error is an
// *UpdateError, and the change is then not part of the transaction.
func (tx *Transaction) Add(c Change) error {
	if c.CreateReflog && c.SkipReflog {
		return refuse(c.Name, Generic, "refusing to force and skip creation of reflog")
	}
	if refname.IsPseudo(c.Name) {
		return refuse(c.Name, Generic, "refusing to update pseudoref '%s'", c.Name)
	}
	ok := refname.IsSafe
	if c.New.given && c.New.target == "" && !c.New.id.IsNull() {
		ok = func(name string) bool { return refname.Check(name, refname.AllowOneLevel) }
	}
	if !ok(c.Name) {
		return refuse(c.Name, Generic, "refusing to update ref with bad name '%s'", c.Name)
	}
	if c.New.given && c.New.target == "" && !c.New.id.IsNull() {
		if err := tx.checkObject(c.Name, c.New.id); err != nil {
			return err
		}
	}
	c.Message = normalizeMessage(c.Message)
	tx.add(&update{Change: c})
	return nil
}

func (tx *Transaction) add(u *update) {
	tx.updates = append(tx.updates, u)
	if u.logOnly {
		return
	}
	if tx.names[u.Name] != nil && tx.state == open {
		tx.sorted = append(tx.sorted, u.Name) // a duplicate, for Prepare to refuse
	}
	tx.names[u.Name] = u
	if tx.state != open {
		at, _ := slices.BinarySearch(tx.sorted, u.Name)
		tx.sorted = slices.Insert(tx.sorted, at, u.Name)
	}
}

var (
	errNoObject  = errors.New("nonexistent")
	errNotCommit = errors.New("not a commit")
)

func (tx *Transaction) checkObject(name string, id oid.ID) error {
	if tx.s.o.ObjectType == nil {
		return nil
	}
	verdict, known := tx.objects[id]
	if !known {
		typ, err := tx.s.o.ObjectType(id)
		switch {
		case err != nil:
			verdict = errNoObject
		case typ != object.Commit:
			verdict = errNotCommit
		}
		tx.objects[id] = verdict
	}
	switch {
	case verdict == errNoObject:
		return refuse(name, InvalidNewValue, "trying to write ref '%s' with nonexistent object %s", name, id)
	case verdict == errNotCommit && refname.IsBranch(name):
		return refuse(name, InvalidNewValue, "trying to write non-commit object %s to branch '%s'", id, name)
	}
	return nil
}

// Prepare takes all locks and checks all old values. With an error nothing has
// changed. A reference-transaction hook that refuses is a *HookError.
func (tx *Transaction) Prepare(b *syncpolicy.Barrier) error {
	if tx.s.o.Forbidden {
		return errors.New("ref updates forbidden inside quarantine environment")
	}
	if err := tx.refuseDuplicates(); err != nil {
		return err
	}
	if tx.s.o.Hook != nil {
		// The hook may look at what the refs will point to.
		if err := b.Flush(syncpolicy.Packs); err != nil {
			return err
		}
	}
	if err := tx.hook("preparing", tx.hookInput); err != nil {
		return err
	}
	b.OnEnd(tx.end)
	tx.state = prepared
	tx.book = tx.s.o.Locker.NewBook()
	if err := tx.lockAll(b); err != nil {
		tx.state = closed
		return err
	}
	return tx.hook("prepared", tx.hookInput)
}

// Abort gives the transaction up. After Prepare it is the Barrier's Rollback
// that releases the locks.
func (tx *Transaction) Abort(b *syncpolicy.Barrier) {
	switch tx.state {
	case open:
		tx.state = closed
		if tx.s.o.Hook != nil {
			tx.s.o.Hook("aborted", tx.hookInput())
		}
	case prepared:
		b.Rollback()
	}
}

func (tx *Transaction) refuseDuplicates() error {
	if len(tx.sorted) > 0 {
		return fmt.Errorf("multiple updates for ref '%s' not allowed", slices.Min(tx.sorted))
	}
	tx.sorted = make([]string, 0, len(tx.names))
	for _, u := range tx.updates {
		if !u.logOnly {
			tx.sorted = append(tx.sorted, u.Name)
		}
	}
	if !slices.IsSorted(tx.sorted) {
		slices.Sort(tx.sorted)
	}
	return nil
}

// hook runs the hook; if it refuses, it is also told that the transaction is off.
func (tx *Transaction) hook(state string, input func() []byte) error {
	if tx.s.o.Hook == nil || tx.silent() {
		return nil
	}
	if tx.s.o.Hook(state, input()) == nil {
		return nil
	}
	tx.state = closed
	tx.s.o.Hook("aborted", input())
	return &HookError{state}
}

func (tx *Transaction) silent() bool {
	for _, u := range tx.updates {
		if !u.silent {
			return false
		}
	}
	return len(tx.updates) > 0
}

func (tx *Transaction) hookInput() []byte {
	var b []byte
	for _, u := range tx.updates {
		if u.logOnly || u.silent {
			continue
		}
		b = tx.appendValue(b, u.Old)
		b = tx.appendValue(b, u.New)
		b = append(append(b, u.Name...), '\n')
	}
	return b
}

func (tx *Transaction) appendValue(b []byte, v Value) []byte {
	switch {
	case v.target != "":
		b = append(append(b, "ref:"...), v.target...)
	case v.given && !v.id.IsNull():
		b = v.id.AppendHex(b)
	default:
		b = tx.s.o.Algo.Null().AppendHex(b)
	}
	return append(b, ' ')
}

// reject takes u out of the transaction, if that allows it for this error.
func (tx *Transaction) reject(u *update, err error) error {
	var refused *UpdateError
	if !errors.As(err, &refused) || !tx.prunes && (!tx.allowFailure || refused.Reason == Generic) {
		return err
	}
	u.rejected = true
	if tx.names[u.Name] == u {
		delete(tx.names, u.Name)
		if at, ok := slices.BinarySearch(tx.sorted, u.Name); ok {
			tx.sorted = slices.Delete(tx.sorted, at, at+1)
		}
	}
	tx.rejects = append(tx.rejects, Rejection{u.Change, refused.Reason, err})
	return nil
}

// within returns a name of the transaction that begins with prefix, or "".
func (tx *Transaction) within(prefix string) string {
	at, _ := slices.BinarySearch(tx.sorted, prefix)
	if at < len(tx.sorted) && strings.HasPrefix(tx.sorted[at], prefix) {
		return tx.sorted[at]
	}
	return ""
}
