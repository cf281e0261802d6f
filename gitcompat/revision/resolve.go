package revision

import (
	"errors"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/repo"
)

// A Want says what kind of object the context asks for. It only helps to
// choose among objects whose names have the same prefix.
type Want uint8

// The kinds of object.
const (
	Any Want = iota
	WantCommit
	WantCommittish
	WantTree
	WantTreeish
	WantBlob
)

var (
	// ErrUnknown means that an expression names nothing. The caller says so,
	// in the words of its command.
	ErrUnknown = errors.New("unknown revision")
	// errAmbiguous is the ErrUnknown of a prefix that several objects have.
	errAmbiguous = &unknownError{"ambiguous object name"}
)

type unknownError struct{ msg string }

func (e *unknownError) Error() string        { return e.msg }
func (e *unknownError) Is(target error) bool { return target == ErrUnknown }

// A Resolver turns expressions into object names.
type Resolver struct {
	Repo *repo.Repo
	// Say receives the lines that git writes to stderr beside the result, such
	// as "warning: refname 'x' is ambiguous.". Nil: they are dropped.
	Say func(line string)

	store *refs.Store
	walk  *Walk
	index *index.Index
	warn  int8 // core.warnAmbiguousRefs: 0 not read, 1 false, 2 true
}

// An Object is what an expression with a path names.
type Object struct {
	ID   oid.ID
	Mode uint32 // 0 if the expression has no path
	Path string
	Has  bool // the expression has a path
}

// New returns a Resolver that drops git's warnings.
func New(r *repo.Repo) *Resolver { return &Resolver{Repo: r} }

// quiet returns a Resolver that says nothing.
func (r *Resolver) quiet() *Resolver {
	q := *r
	q.Say = nil
	return &q
}

func (r *Resolver) say(line string) {
	if r.Say != nil {
		r.Say(line)
	}
}

func (r *Resolver) db() (*odb.DB, error) { return r.Repo.ODB() }

// history returns the Walk behind name~3 and the like.
func (r *Resolver) history() (*Walk, error) {
	if r.walk != nil {
		return r.walk, nil
	}
	w, err := NewRepoWalk(r.Repo)
	if err == nil {
		r.walk = w
	}
	return w, err
}

// NewRepoWalk returns a Walk of the history of a repository, with its grafts.
func NewRepoWalk(r *repo.Repo) (*Walk, error) {
	db, err := r.ODB()
	if err != nil {
		return nil, err
	}
	shallow, grafts := graftPaths(r)
	g, err := ReadGrafts(r.Algo, shallow, grafts)
	if err != nil {
		return nil, err
	}
	return NewWalk(db, g), nil
}

// Resolve returns the object that name means. The error is ErrUnknown where
// there is none; any other error is a reason to die, in git's words.
func (r *Resolver) Resolve(name string, want Want) (oid.ID, error) {
	o, err := r.ResolveObject(name, want)
	return o.ID, err
}

// ResolveObject is Resolve, and also returns the path that the name held.
func (r *Resolver) ResolveObject(name string, want Want) (Object, error) {
	return r.object(name, want, false)
}

// Explain returns the error with which git dies when name had to be an object,
// if it knows more than that there is none; else nil.
func (r *Resolver) Explain(name string) error {
	_, err := r.quiet().object(name, Any, true)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	return err
}

func (r *Resolver) object(name string, want Want, explain bool) (Object, error) {
	id, err := r.revision(name, want)
	if err == nil {
		return Object{ID: id}, nil
	}
	if !errors.Is(err, ErrUnknown) {
		return Object{}, err
	}
	if strings.HasPrefix(name, ":") {
		if !explain && len(name) > 2 && name[1] == '/' {
			id, err := r.newestMatching(name[2:])
			return Object{ID: id}, err
		}
		return r.indexPath(name, explain)
	}
	if i := pathColon(name); i >= 0 {
		return r.treePath(name[:i], name[i+1:], explain)
	}
	return Object{}, err
}

// pathColon finds the colon of rev:path, or returns -1.
func pathColon(name string) int {
	depth := 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case (c == '@' || c == '^') && i+1 < len(name) && name[i+1] == '{':
			i++
			depth++
		case depth > 0 && c == '}':
			depth--
		case depth == 0 && c == ':':
			return i
		}
	}
	return -1
}

// revision resolves a name without a path.
func (r *Resolver) revision(name string, want Want) (oid.ID, error) {
	if base, op, n, ok := cutSuffix(name); ok {
		if n < 0 {
			return oid.ID{}, ErrUnknown
		}
		if op == '^' {
			return r.parent(base, n)
		}
		return r.ancestor(base, n)
	}
	id, err := r.peeled(name, want)
	if !errors.Is(err, ErrUnknown) {
		return id, err
	}
	if id, err = r.basic(name); !errors.Is(err, ErrUnknown) {
		return id, err
	}
	if id, err = r.describeName(name); !errors.Is(err, ErrUnknown) {
		return id, err
	}
	return r.short(name, want)
}

// cutSuffix takes "^n" or "~n" off the end of name. n is -1 if it is too big.
func cutSuffix(name string) (base string, op byte, n int, ok bool) {
	i := len(name) - 1
	for i >= 0 && name[i] >= '0' && name[i] <= '9' {
		i--
	}
	if i < 0 || (name[i] != '~' && name[i] != '^') {
		return "", 0, 0, false
	}
	for _, d := range name[i+1:] {
		if n = n*10 + int(d-'0'); n > 1<<31-1 {
			return name[:i], name[i], -1, true
		}
	}
	if i == len(name)-1 {
		n = 1
	}
	return name[:i], name[i], n, true
}

// committish resolves name and follows tags to a commit.
func (r *Resolver) committish(name string) (*Walk, *Commit, error) {
	id, err := r.revision(name, WantCommittish)
	if err != nil {
		return nil, nil, err
	}
	w, err := r.history()
	if err != nil {
		return nil, nil, err
	}
	c, err := w.Committish(id)
	if err != nil {
		r.say("error: " + err.Error())
		return nil, nil, ErrUnknown
	}
	return w, c, nil
}

// Committish returns the commit that id is, or that the tag id stands for.
func (w *Walk) Committish(id oid.ID) (*Commit, error) {
	if c := w.nodes[id]; c != nil && c.parsed {
		return c, nil
	}
	cid, err := w.peel(id, object.Commit)
	if err != nil {
		return nil, err
	}
	return w.Commit(cid)
}

func (r *Resolver) parent(base string, n int) (oid.ID, error) {
	_, c, err := r.committish(base)
	switch {
	case err != nil:
		return oid.ID{}, err
	case n == 0:
		return c.ID, nil
	case n > len(c.Parents):
		return oid.ID{}, ErrUnknown
	}
	return c.Parents[n-1].ID, nil
}

func (r *Resolver) ancestor(base string, n int) (oid.ID, error) {
	w, c, err := r.committish(base)
	if err != nil {
		return oid.ID{}, err
	}
	for ; n > 0; n-- {
		if len(c.Parents) == 0 {
			return oid.ID{}, ErrUnknown
		}
		c = c.Parents[0]
		if err := w.parse(c); err != nil {
			r.say("error: " + err.Error())
			return oid.ID{}, ErrUnknown
		}
	}
	return c.ID, nil
}
