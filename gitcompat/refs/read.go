package refs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
)

// ErrBroken is the error of a ref whose file holds neither an object name nor a
// symbolic ref.
var ErrBroken = errors.New("reference broken")

// ErrUnresolved is the error of a ref that leads to no value.
var ErrUnresolved = errors.New("unable to resolve reference")

// A PackedError says that packed-refs could not be used; git dies of it.
type PackedError struct{ Err error }

// Error is git's message.
func (e *PackedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PackedError) Unwrap() error { return e.Err }

// Raw is what a ref holds, without following symbolic refs.
type Raw struct {
	ID     oid.ID
	Target string // of a symbolic ref
	Symref bool
	Packed bool // the value is in packed-refs only
}

// ReadRaw reads a ref. A ref that is missing is an fs.ErrNotExist, a directory
// in its place syscall.EISDIR, garbage in it ErrBroken.
func (s *Store) ReadRaw(name string) (Raw, error) {
	return s.readRaw(name, s.snapshot)
}

func (s *Store) readRaw(name string, packed func() (*snapshot, error)) (Raw, error) {
	raw, err := s.readLoose(name)
	if err != syscall.ENOENT && err != syscall.EISDIR || refname.IsPseudo(name) {
		return raw, err
	}
	sn, perr := packed()
	if perr != nil {
		return Raw{}, &PackedError{perr}
	}
	id, ok, perr := sn.lookup(name)
	switch {
	case perr != nil:
		return Raw{}, &PackedError{perr}
	case ok:
		return Raw{ID: id, Packed: true}, nil
	}
	return Raw{}, err
}

// looseSize is more than a loose ref takes, so that one read suffices.
const looseSize = 512

// readLoose reads the file of a ref. Its errors are errno values and ErrBroken.
func (s *Store) readLoose(name string) (Raw, error) {
	path := s.path(name)
	var scratch [looseSize]byte
	data, err := readFile(path, openNoFollow, scratch[:])
	if err != nil && isLink(err) {
		target, lerr := os.Readlink(path)
		if lerr == nil && strings.HasPrefix(target, "refs/") && refname.Check(target, 0) {
			return Raw{Target: target, Symref: true}, nil
		}
		data, err = readFile(path, 0, scratch[:])
	}
	if err != nil {
		return Raw{}, err
	}
	return parseLoose(data, s.o.Algo)
}

func parseLoose(data []byte, algo oid.Algo) (Raw, error) {
	for len(data) > 0 && isSpace(data[len(data)-1]) {
		data = data[:len(data)-1]
	}
	text := string(data)
	if n := strings.IndexByte(text, 0); n >= 0 {
		text = text[:n] // where C ends
	}
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		return Raw{Target: strings.TrimLeft(target, " \t\n\v\f\r"), Symref: true}, nil
	}
	n := algo.HexSize()
	if len(text) < n || len(text) > n && !isSpace(text[n]) {
		return Raw{}, ErrBroken
	}
	id, err := algo.FromHex(text[:n])
	if err != nil {
		return Raw{}, ErrBroken
	}
	return Raw{ID: id}, nil
}

// ResolveFlags choose how Resolve treats names that lead to no value.
type ResolveFlags uint8

const (
	// Reading fails unless the ref leads to a value.
	Reading ResolveFlags = 1 << iota
	// NoRecurse stops at the first symbolic ref's target.
	NoRecurse
	// AllowBadName accepts safe names that are badly formed.
	AllowBadName
)

// Resolved is where a ref leads to.
type Resolved struct {
	Name    string // of the last ref; "" if it cannot be resolved
	ID      oid.ID // null where the last ref does not exist
	Symref  bool   // at least one ref on the way was symbolic
	Packed  bool   // the value was in packed-refs
	Broken  bool   // a file on the way held garbage
	BadName bool   // a name on the way is badly formed
}

const maxSymrefs = 5

// Resolve follows name to its value. Without Reading the last ref need not
// exist, and its name is that of the ref to create. The error is ErrUnresolved,
// or one that makes all refs unreadable.
func (s *Store) Resolve(name string, flags ResolveFlags) (Resolved, error) {
	return s.resolve(name, flags, s.snapshot)
}

func (s *Store) resolve(name string, flags ResolveFlags, packed func() (*snapshot, error)) (Resolved, error) {
	var r Resolved
	fail := func() (Resolved, error) {
		r.Name = ""
		return r, ErrUnresolved
	}
	if !refname.Check(name, refname.AllowOneLevel) {
		if flags&AllowBadName == 0 || !refname.IsSafe(name) {
			return fail()
		}
		r.BadName = true
	}
	for range maxSymrefs {
		raw, err := s.readRaw(name, packed)
		if err != nil {
			var perr *PackedError
			if errors.As(err, &perr) {
				return Resolved{}, err
			}
			r.Broken = r.Broken || err == ErrBroken
			if flags&Reading != 0 || err != syscall.ENOENT && err != syscall.EISDIR && err != syscall.ENOTDIR {
				return fail()
			}
			r.Broken = r.Broken || r.BadName
			r.Name, r.ID = name, s.o.Algo.Null()
			return r, nil
		}
		if !raw.Symref {
			r.Name, r.ID, r.Packed = name, raw.ID, raw.Packed
			if r.BadName {
				r.ID, r.Broken = s.o.Algo.Null(), true
			}
			return r, nil
		}
		r.Symref = true
		name = raw.Target
		if flags&NoRecurse != 0 {
			r.Name, r.ID = name, s.o.Algo.Null()
			if name == "" {
				return fail()
			}
			return r, nil
		}
		if !refname.Check(name, refname.AllowOneLevel) {
			if flags&AllowBadName == 0 || !refname.IsSafe(name) {
				return fail()
			}
			r.Broken, r.BadName = true, true
		}
	}
	return fail()
}

// Read returns the value of a ref, with symbolic refs followed; an error if it
// has none.
func (s *Store) Read(name string) (oid.ID, error) {
	r, err := s.Resolve(name, Reading)
	return r.ID, err
}

// Exists reports whether a ref leads to a value.
func (s *Store) Exists(name string) bool {
	_, err := s.Resolve(name, Reading)
	return err == nil
}

// Head returns the branch that HEAD points to, "" if HEAD is detached or broken.
func (s *Store) Head() string {
	r, err := s.Resolve("HEAD", NoRecurse)
	if err != nil || !r.Symref {
		return ""
	}
	return r.Name
}

// Expand completes an abbreviated name as gitrevisions(7) says, and returns the
// refs that it can mean, best first: their names with symbolic refs followed.
// With first only the best is looked for. Warnings are git's.
func (s *Store) Expand(short string, first bool) ([]Resolved, error) {
	var found []Resolved
	for _, rule := range refname.Rules() {
		name := rule.Apply(short)
		r, err := s.Resolve(name, Reading)
		switch {
		case err == nil:
			found = append(found, r)
			if first {
				return found, nil
			}
		case !errors.Is(err, ErrUnresolved):
			return nil, err
		case r.Symref && name != "HEAD":
			s.o.Say("warning: ignoring dangling symref " + name)
		case r.Broken && strings.Contains(name, "/"):
			s.o.Say("warning: ignoring broken ref " + name)
		}
	}
	return found, nil
}

// Shorten returns the shortest name that means the ref called full: with strict
// none of the other completions of it may exist, else none of those that win.
func (s *Store) Shorten(full string, strict bool) string {
	rules := refname.Rules()
	for i := len(rules) - 1; i > 0; i-- {
		short, ok := rules[i].Shorten(full)
		if !ok {
			continue
		}
		last := i
		if strict {
			last = len(rules)
		}
		if !s.anyExists(rules[:last], i, short) {
			return short
		}
	}
	return full
}

func (s *Store) anyExists(rules []refname.Rule, but int, short string) bool {
	for j, r := range rules {
		if j != but && s.Exists(r.Apply(short)) {
			return true
		}
	}
	return false
}

// notExist reports whether err says that a ref is not there.
func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
