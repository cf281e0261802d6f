package send

import (
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A Ref is a ref of the other side, with what is to become of it.
type Ref struct {
	Name   string
	Old    oid.ID // null if the other side lacks it
	New    oid.ID // null to delete it
	Peer   *Local // what is sent to it; nil for nothing
	Force  bool
	Status Status
	Reason string // of the other side, if it refused
	Forced bool   // a rule was overruled

	expect      *oid.ID // what a lease says that Old is
	unreachable bool    // --force-if-includes: its tip was never part of the local branch
}

// Deletion reports whether the ref is to be deleted.
func (r *Ref) Deletion() bool { return r.New.IsNull() }

// A Local is a ref of this side, or an expression that names an object.
type Local struct {
	Name string
	ID   oid.ID // null for what deletes
}

// deleter is the source of a deletion.
func deleter() *Local { return &Local{Name: "(delete)"} }

// Sides is what matching needs to know of the two repositories.
type Sides struct {
	Local  []Local
	Remote []*Ref // grows by refs that the other side lacks
	// ResolveObject resolves an expression; false if it names nothing.
	ResolveObject func(expr string) (oid.ID, bool)
	// ResolveRef follows a local symbolic ref; "" if it leads nowhere.
	ResolveRef func(name string) string
	// Say prints an error that does not stop the matching of other refspecs.
	Say func(err error)

	index map[string]*Ref
	local map[string]*Local
}

// MatchOptions are those of a push that bear on matching.
type MatchOptions struct{ All, Mirror, Prune bool }

// errMatch says that at least one refspec matched nothing; it was reported.
var errMatch = fmt.Errorf("refspecs do not match")

// Check reports refspecs whose source cannot be found, before the other side is asked.
func (s *Sides) Check(specs []Refspec) error {
	var err error
	for _, r := range specs {
		if r.Pattern || r.Matching || r.Negative {
			continue
		}
		if _, e := s.source(r); e != nil {
			s.Say(e)
			err = errMatch
		}
	}
	return err
}

// Match gives each ref of the other side what is to be sent to it.
func (s *Sides) Match(specs []Refspec, o MatchOptions) error {
	s.index = map[string]*Ref{}
	for _, r := range s.Remote {
		s.index[r.Name] = r
	}
	if len(specs) == 0 {
		specs = []Refspec{{Matching: true}}
	}
	var failed error
	for _, r := range specs {
		if r.Pattern || r.Matching || r.Negative {
			continue
		}
		if err := s.explicit(r); err != nil {
			if _, fatal := err.(*FatalError); fatal {
				return err
			}
			s.Say(err)
			failed = errMatch
		}
	}
	for i := range s.Local {
		s.general(specs, &s.Local[i], o)
	}
	if o.Prune {
		s.prune(specs, o)
	}
	s.exclude(specs)
	return failed
}

// A FatalError ends a push at once.
type FatalError struct{ Msg string }

// Error returns git's message.
func (e *FatalError) Error() string { return e.Msg }

// source finds what an explicit refspec sends.
func (s *Sides) source(r Refspec) (*Local, error) {
	if r.Src == "" {
		return deleter(), nil
	}
	if s.local == nil {
		s.local = map[string]*Local{}
		for i := range s.Local {
			s.local[s.Local[i].Name] = &s.Local[i]
		}
	}
	name, n := lookup(r.Src, s.local)
	switch {
	case n == 1:
		return s.local[name], nil
	case n > 1:
		return nil, fmt.Errorf("src refspec %s matches more than one", r.Src)
	}
	id, ok := s.ResolveObject(r.Src)
	if !ok {
		return nil, fmt.Errorf("src refspec %s does not match any", r.Src)
	}
	return &Local{Name: r.Src, ID: id}, nil
}

// lookup finds the ref that a short name means: index has those there are. A ref
// outside of branches and tags that is not named in full counts only where no
// other does. It returns the name and how many match.
func lookup[T any](short string, index map[string]T) (name string, n int) {
	weakName, weak := "", 0
	for _, full := range [...]string{short, "refs/" + short, "refs/tags/" + short, "refs/heads/" + short,
		"refs/remotes/" + short, "refs/remotes/" + short + "/HEAD"} {
		if _, ok := index[full]; !ok {
			continue
		}
		if len(full) != len(short) && len(short) != len(full)-5 &&
			!strings.HasPrefix(full, "refs/heads/") && !strings.HasPrefix(full, "refs/tags/") {
			weakName, weak = full, weak+1
			continue
		}
		name, n = full, n+1
	}
	if n == 0 {
		return weakName, weak
	}
	return name, n
}

// abbreviates reports whether short is one of the ways to name the ref full.
func abbreviates(short, full string) bool {
	for _, prefix := range []string{"", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"} {
		if full == prefix+short {
			return true
		}
	}
	return full == "refs/remotes/"+short+"/HEAD"
}

// explicit matches one refspec that names its source.
func (s *Sides) explicit(r Refspec) error {
	src, err := s.source(r)
	if err != nil {
		return err
	}
	name := r.Dst
	if !r.HasDst {
		name = s.ResolveRef(src.Name)
		if name == "" || name != src.Name && !strings.HasPrefix(name, "refs/heads/") {
			return &FatalError{src.Name + " cannot be resolved to branch"}
		}
	}
	dst, err := s.destination(name, src)
	if err != nil {
		return err
	}
	if dst.Peer != nil {
		return fmt.Errorf("dst ref %s receives from more than one src", dst.Name)
	}
	dst.Peer, dst.Force = src, r.Force
	return nil
}

// destination finds or makes the ref that name means on the other side.
func (s *Sides) destination(name string, src *Local) (*Ref, error) {
	full, n := lookup(name, s.index)
	switch {
	case n == 1:
		return s.index[full], nil
	case n > 1:
		return nil, fmt.Errorf("dst refspec %s matches more than one", name)
	case strings.HasPrefix(name, "refs/"):
		return s.grow(name), nil
	case src.ID.IsNull():
		return nil, fmt.Errorf("unable to delete '%s': remote ref does not exist", name)
	}
	switch full := s.ResolveRef(src.Name); {
	case strings.HasPrefix(full, "refs/heads/"):
		return s.grow("refs/heads/" + name), nil
	case strings.HasPrefix(full, "refs/tags/"):
		return s.grow("refs/tags/" + name), nil
	}
	return nil, &UnqualifiedError{Dst: name, Src: src}
}

// An UnqualifiedError says that it is unclear which ref of the other side is meant.
type UnqualifiedError struct {
	Dst string
	Src *Local
}

// Error is the message; its first line is git's.
func (e *UnqualifiedError) Error() string {
	return fmt.Sprintf(`The destination you provided is not a full refname (i.e.,
starting with "refs/"). No ref on the remote side matches '%s',
and the source '%s' is no ref in "refs/{heads,tags}/" whose kind
could be taken over. Name the destination in full.`, e.Dst, e.Src.Name)
}

func (s *Sides) grow(name string) *Ref {
	r := &Ref{Name: name}
	s.Remote = append(s.Remote, r)
	s.index[name] = r
	return r
}

// general matches a local ref with the refspecs that are patterns or ":".
func (s *Sides) general(specs []Refspec, l *Local, o MatchOptions) {
	spec, name := pick(specs, l.Name, o.Mirror, false)
	if spec == nil {
		return
	}
	dst := s.index[name]
	switch {
	case dst == nil && spec.Matching && !o.All && !o.Mirror:
		return
	case dst == nil:
		dst = s.grow(name)
	case dst.Peer != nil:
		return
	}
	dst.Peer, dst.Force = l, spec.Force
}

// pick returns the refspec that speaks of name, and the name on the other side.
func pick(specs []Refspec, name string, mirror, reverse bool) (*Refspec, string) {
	var matching *Refspec
	for i := range specs {
		r := &specs[i]
		switch {
		case r.Negative:
		case r.Matching:
			if matching == nil || r.Force {
				matching = r
			}
		case r.Pattern:
			dst := r.Dst
			if !r.HasDst {
				dst = r.Src
			}
			from, to := r.Src, dst
			if reverse {
				from, to = dst, r.Src
			}
			if other, ok := translate(from, name, to); ok {
				return r, other
			}
		}
	}
	if matching == nil || !mirror && !strings.HasPrefix(name, "refs/heads/") {
		return nil, ""
	}
	return matching, name
}

// prune deletes what the refspecs cover and this side does not have.
func (s *Sides) prune(specs []Refspec, o MatchOptions) {
	have := map[string]bool{}
	for _, l := range s.Local {
		have[l.Name] = true
	}
	for _, r := range s.Remote {
		if r.Peer != nil {
			continue
		}
		if spec, name := pick(specs, r.Name, o.Mirror, true); spec != nil && !have[name] {
			r.Peer = deleter()
		}
	}
}

// exclude drops what a negative refspec names on the sending side.
func (s *Sides) exclude(specs []Refspec) {
	kept := s.Remote[:0]
	for _, r := range s.Remote {
		drop := false
		for _, spec := range specs {
			if spec.Negative && r.Peer != nil && (spec.Src == r.Peer.Name || spec.Pattern && matches(spec.Src, r.Peer.Name)) {
				drop = true
			}
		}
		if !drop {
			kept = append(kept, r)
		}
	}
	s.Remote = kept
}
