package revision

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A peelError says that an object leads to none of the type asked for.
type peelError struct {
	id        oid.ID
	want, got object.Type
}

func (e *peelError) Error() string {
	return fmt.Sprintf("object %s is a %s, not a %s", e.id, e.got, e.want)
}

// peel follows tags, and commits to their trees, until an object of type want.
func (w *Walk) peel(id oid.ID, want object.Type) (oid.ID, error) {
	for {
		typ, body, err := w.db.Read(id)
		if err != nil {
			return id, &MissingError{ID: id, Type: want, Err: err}
		}
		switch {
		case typ == want:
			return id, nil
		case typ == object.Tag:
			next, ok := tagTarget(id.Algo(), body)
			if !ok {
				return id, fmt.Errorf("bad tag object %s", id)
			}
			id = next
		case typ == object.Commit && want == object.Tree:
			h, err := scanHeader(id.Algo(), body)
			if err != nil {
				return id, fmt.Errorf("bogus commit object %s", id)
			}
			id = h.tree
		default:
			return id, &peelError{id: id, want: want, got: typ}
		}
	}
}

// derefTag follows tags until something that is none.
func (w *Walk) derefTag(id oid.ID) (oid.ID, object.Type, error) {
	for {
		typ, body, err := w.db.Read(id)
		if err != nil || typ != object.Tag {
			return id, typ, err
		}
		next, ok := tagTarget(id.Algo(), body)
		if !ok {
			return id, typ, fmt.Errorf("bad tag object %s", id)
		}
		id = next
	}
}

// peeled resolves base^{type}, base^{} and base^{/text}.
func (r *Resolver) peeled(name string, want Want) (oid.ID, error) {
	if len(name) < 4 || name[len(name)-1] != '}' {
		return oid.ID{}, ErrUnknown
	}
	i := strings.LastIndex(name, "^{")
	if i < 0 {
		return oid.ID{}, ErrUnknown
	}
	base, what := name[:i], name[i+2:len(name)-1]
	var typ object.Type
	follow := true // peel to typ
	want = Any
	switch {
	case what == "commit" || strings.HasPrefix(what, "/"):
		typ, want = object.Commit, WantCommittish
	case what == "tree":
		typ, want = object.Tree, WantTreeish
	case what == "blob":
		typ = object.Blob
	case what == "tag":
		typ = object.Tag
	case what == "object" || what == "":
		follow = false
	default:
		return oid.ID{}, ErrUnknown
	}
	id, err := r.revision(base, want)
	if err != nil {
		return oid.ID{}, err
	}
	w, err := r.history()
	if err != nil {
		return oid.ID{}, err
	}
	if !follow {
		return r.peelAny(w, id, what == "object")
	}
	id, err = w.peel(id, typ)
	var pe *peelError
	if errors.As(err, &pe) {
		r.say(fmt.Sprintf("error: %s: expected %s type, but the object dereferences to %s type", name, pe.want, pe.got))
	}
	if err != nil {
		return oid.ID{}, ErrUnknown
	}
	if len(what) > 1 && what[0] == '/' {
		return r.matching(w, what[1:], []oid.ID{id})
	}
	return id, nil
}

// peelAny is base^{object}, which only has to exist, and base^{}.
func (r *Resolver) peelAny(w *Walk, id oid.ID, keep bool) (oid.ID, error) {
	var err error
	if keep {
		_, _, err = w.db.Read(id)
	} else {
		id, _, err = w.derefTag(id)
	}
	if err != nil {
		return oid.ID{}, ErrUnknown
	}
	return id, nil
}
