package revision

import (
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

// findRef completes name as git does and returns the ref of the highest
// precedence, and how many there are.
func (r *Resolver) findRef(name string) (refs.Resolved, int, error) {
	full, err := r.expandBranch(name)
	if err != nil {
		return refs.Resolved{}, 0, err
	}
	store, err := r.refs()
	if err != nil {
		return refs.Resolved{}, 0, err
	}
	found, err := store.Expand(full, !r.warnAmbiguous())
	if err != nil || len(found) == 0 {
		return refs.Resolved{}, 0, err
	}
	return found[0], len(found), nil
}

// FindRef completes an abbreviated ref name, with @{-n} and the like replaced.
// The name it returns is that of the ref which symbolic refs lead to; n says
// how many refs name can mean.
func (r *Resolver) FindRef(name string) (ref refs.Resolved, n int, err error) {
	return r.findRef(name)
}

func (r *Resolver) refs() (*refs.Store, error) {
	if r.store == nil {
		s, err := r.Repo.Refs()
		if err != nil {
			return nil, err
		}
		r.store = s
	}
	return r.store, nil
}

func (r *Resolver) refExists(name string) bool {
	s, err := r.refs()
	return err == nil && s.Exists(name)
}

// log returns the entries of a reflog, newest first; stop ends it.
func (r *Resolver) log(name string, each func(*refs.LogEntry) (stop bool)) error {
	s, err := r.refs()
	if err != nil {
		return err
	}
	for e, err := range s.LogReverse(name) {
		if err != nil {
			return nil // no reflog is as good as an empty one
		}
		if each(&e) {
			break
		}
	}
	return nil
}

// tips calls add with every ref and with HEAD.
func (r *Resolver) tips(add func(oid.ID)) error {
	s, err := r.refs()
	if err != nil {
		return err
	}
	for ref, err := range s.All("refs/", 0) {
		if err != nil {
			return err
		}
		add(ref.ID)
	}
	if id, err := s.Read("HEAD"); err == nil {
		add(id)
	}
	return nil
}

// CurrentBranch returns the branch that HEAD points to, without refs/heads/.
func (r *Resolver) CurrentBranch() (string, bool) {
	s, err := r.refs()
	if err != nil {
		return "", false
	}
	res, err := s.Resolve("HEAD", 0)
	if err != nil || !res.Symref {
		return "", false
	}
	return cutBranch(res.Name)
}

// Shorten returns the shortest form of a full ref name that means this ref: one
// that wins over the others it could mean or, with strict, that means no other.
func (r *Resolver) Shorten(full string, strict bool) string {
	s, err := r.refs()
	if err != nil {
		return full
	}
	return s.Shorten(full, strict)
}
