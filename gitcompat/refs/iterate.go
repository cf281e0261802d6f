package refs

import (
	"errors"
	"iter"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
)

// A Ref is one ref of an iteration.
type Ref struct {
	Name    string
	ID      oid.ID // with symbolic refs followed
	Target  string // of a symbolic ref: the last ref it leads to
	Symref  bool
	Packed  bool
	Broken  bool // no value, or no object behind it
	BadName bool

	peeled      oid.ID
	knowsPeeled bool
}

// IterFlags choose what All yields.
type IterFlags uint8

const (
	// IncludeBroken yields refs that lead to no object too.
	IncludeBroken IterFlags = 1 << iota
	// OmitDangling leaves out symbolic refs that lead to no value, even with IncludeBroken.
	OmitDangling
	// IncludeRoot yields HEAD and the other refs of the git directory too.
	IncludeRoot
	// PerWorktree yields refs of this worktree alone.
	PerWorktree

	// Paranoid is what most of git's commands see, since it does not let a broken
	// ref go unnoticed (GIT_REF_PARANOIA): look at Ref.Broken.
	Paranoid = IncludeBroken | OmitDangling
)

// All yields the refs whose names begin with prefix, in byte order of names.
// Without IncludeBroken a ref that leads to no object is passed over with git's
// warning. An error ends the iteration.
func (s *Store) All(prefix string, flags IterFlags) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		loose, err := s.loose(prefix, flags)
		if err != nil {
			yield(Ref{}, err)
			return
		}
		sn, err := s.snapshot() // after the loose refs (R2)
		if err != nil {
			yield(Ref{}, err)
			return
		}
		for r, err := range merge(loose, sn.from(prefix)) {
			if err != nil {
				yield(Ref{}, err)
				return
			}
			if s.wanted(&r, flags) && !yield(r, nil) {
				return
			}
		}
	}
}

func (s *Store) wanted(r *Ref, flags IterFlags) bool {
	if flags&PerWorktree != 0 {
		if owner, _, _ := refname.Worktree(r.Name); owner != refname.Current {
			return false
		}
	}
	if flags&OmitDangling != 0 && r.Symref && r.Broken {
		return false
	}
	if flags&IncludeBroken != 0 {
		return true
	}
	return s.resolvesToObject(r)
}

func (s *Store) resolvesToObject(r *Ref) bool {
	if r.Broken {
		return false
	}
	if !s.hasObject(r.ID) {
		s.o.Say("error: " + r.Name + " does not point to a valid object!")
		return false
	}
	return true
}

// merge yields loose refs and packed refs in order; a loose ref hides the packed
// one of its name.
func merge(loose []Ref, packed iter.Seq2[Ref, error]) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		for r, err := range packed {
			if err != nil {
				yield(r, err)
				return
			}
			for len(loose) > 0 && loose[0].Name < r.Name {
				if !yield(loose[0], nil) {
					return
				}
				loose = loose[1:]
			}
			if len(loose) > 0 && loose[0].Name == r.Name {
				continue
			}
			if !yield(r, nil) {
				return
			}
		}
		for _, r := range loose {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// from yields the packed refs whose names begin with prefix.
func (sn *snapshot) from(prefix string) iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		at := 0
		if prefix != "" {
			at, _ = sn.search(prefix)
		}
		for at < len(sn.records) {
			p, end, err := sn.next(at)
			if err != nil {
				yield(Ref{}, &PackedError{err})
				return
			}
			if !strings.HasPrefix(p.name, prefix) {
				return
			}
			r := Ref{Name: p.name, ID: p.id, Packed: true, Broken: p.bad, BadName: p.bad, peeled: p.peeled, knowsPeeled: p.known}
			if !yield(r, nil) {
				return
			}
			at = end
		}
	}
}

// loose reads the loose refs whose names begin with prefix, in order.
func (s *Store) loose(prefix string, flags IterFlags) ([]Ref, error) {
	var list []Ref
	if flags&IncludeRoot != 0 {
		for _, name := range s.rootRefs() {
			if strings.HasPrefix(name, prefix) {
				if err := s.addLoose(&list, name); err != nil {
					return nil, err
				}
			}
		}
	}
	err := s.walk("refs/", prefix, func(name string) error { return s.addLoose(&list, name) })
	return list, err
}

// walk calls f for each file below dir whose name begins with prefix, in order.
func (s *Store) walk(dir, prefix string, f func(name string) error) error {
	if !related(dir, prefix) {
		return nil
	}
	for _, name := range s.list(dir) {
		if !related(name, prefix) {
			continue
		}
		var err error
		if strings.HasSuffix(name, "/") {
			err = s.walk(name, prefix, f)
		} else if strings.HasPrefix(name, prefix) {
			err = f(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// related reports whether something below name can begin with prefix.
func related(name, prefix string) bool {
	return strings.HasPrefix(name, prefix) || strings.HasPrefix(prefix, name)
}

// list returns the full names of what is in dir, which ends in a slash, as do
// the directories in it; in byte order. A directory that is not there is empty.
func (s *Store) list(dir string) []string {
	entries, _ := os.ReadDir(s.path(dir))
	names := make([]string, 0, len(entries)+3)
	for _, e := range entries {
		name := e.Name()
		if name[0] == '.' || strings.HasSuffix(name, ".lock") {
			continue
		}
		mode := e.Type()
		if mode&os.ModeSymlink != 0 {
			st, err := os.Stat(s.path(dir + name))
			if err != nil {
				continue
			}
			mode = st.Mode().Type()
		}
		switch {
		case mode.IsDir():
			names = append(names, dir+name+"/")
		case mode.IsRegular():
			names = append(names, dir+name)
		}
	}
	if dir == "refs/" && s.o.GitDir != s.o.CommonDir {
		// Those of a linked worktree are not in the common directory.
		for _, name := range []string{"refs/bisect/", "refs/rewritten/", "refs/worktree/"} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (s *Store) rootRefs() []string {
	entries, _ := os.ReadDir(s.o.GitDir)
	var names []string
	for _, e := range entries {
		if refname.IsRoot(e.Name()) && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// addLoose reads the ref called name and appends it to list.
func (s *Store) addLoose(list *[]Ref, name string) error {
	r := Ref{Name: name}
	if !refname.Check(name, refname.AllowOneLevel) {
		if !refname.IsSafe(name) {
			return errors.New("loose refname is dangerous: " + name)
		}
		r.BadName = true
	}
	res, err := s.Resolve(name, Reading)
	switch {
	case err == nil:
	case !errors.Is(err, ErrUnresolved):
		return err
	default:
		if raw, rerr := s.ReadRaw(name); rerr == syscall.ENOENT || rerr == syscall.EISDIR {
			return nil // deleted meanwhile
		} else if rerr == nil && raw.Symref && !r.BadName {
			res.Symref, res.Name = true, raw.Target
		}
	}
	r.ID, r.Symref = res.ID, res.Symref
	r.Broken = err != nil || res.Broken || res.ID.IsNull() || r.BadName
	if r.Broken {
		r.ID = s.o.Algo.Null()
	}
	if r.Symref {
		r.Target = res.Name
	}
	*list = append(*list, r)
	return nil
}

// Peeled returns what the annotated tag that r points to leads to; false where r
// does not point to a tag.
func (s *Store) Peeled(r *Ref) (oid.ID, bool) {
	if r.knowsPeeled {
		return r.peeled, !r.peeled.IsNull()
	}
	if s.o.Peel == nil {
		return oid.ID{}, false
	}
	return s.o.Peel(r.ID)
}
