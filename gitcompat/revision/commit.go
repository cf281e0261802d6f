package revision

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A Commit is the part of a commit that walks need.
type Commit struct {
	ID      oid.ID
	Tree    oid.ID
	Parents []*Commit
	Date    int64 // of the committer, in seconds

	flags  uint32
	parsed bool
}

const (
	fUninteresting uint32 = 1 << iota
	fSeen                 // has been put into the queue of a walk
	fShown
	fLeft
	fQueued
	fParentsDone // parents were put into the queue
	fParent1     // merge base painting
	fParent2
	fStale
	fResult
	fListed
)

// A MissingError says that an object which history needs cannot be read.
type MissingError struct {
	ID   oid.ID
	Type object.Type // what it should have been
	Err  error
}

func (e *MissingError) Error() string {
	if e.Type == object.Commit || e.Type == object.Tree {
		return "Could not read " + e.ID.String()
	}
	return fmt.Sprintf("missing %s object '%s'", e.Type, e.ID)
}

// Unwrap returns the error of the object database.
func (e *MissingError) Unwrap() error { return e.Err }

// A brokenError is what git dies of, after an error that says why.
type brokenError struct {
	msg string
	why error
}

func (e *brokenError) Error() string    { return e.msg }
func (e *brokenError) Unwrap() error    { return e.why }
func (e *brokenError) Before() []string { return []string{"error: " + e.why.Error()} }

// A Walk reads commits of one object database. It is not safe for use by
// several goroutines.
type Walk struct {
	db     *odb.DB
	grafts Grafts
	nodes  map[oid.ID]*Commit
	slab   []Commit
}

// NewWalk returns a Walk of the history in db as g changes it.
func NewWalk(db *odb.DB, g Grafts) *Walk {
	return &Walk{db: db, grafts: g, nodes: make(map[oid.ID]*Commit)}
}

// node returns the commit id, not read yet.
func (w *Walk) node(id oid.ID) *Commit {
	if c := w.nodes[id]; c != nil {
		return c
	}
	if len(w.slab) == 0 {
		w.slab = make([]Commit, min(1024, 16+len(w.nodes)))
	}
	c := &w.slab[0]
	w.slab = w.slab[1:]
	c.ID = id
	w.nodes[id] = c
	return c
}

// Commit returns the commit id; tags are not followed.
func (w *Walk) Commit(id oid.ID) (*Commit, error) {
	c := w.node(id)
	return c, w.parse(c)
}

func (w *Walk) parse(c *Commit) error {
	if c.parsed {
		return nil
	}
	typ, body, err := w.db.Read(c.ID)
	if err != nil {
		return &MissingError{ID: c.ID, Type: object.Commit, Err: err}
	}
	if typ != object.Commit {
		return fmt.Errorf("object %s is a %s, not a commit", c.ID, typ)
	}
	h, err := scanHeader(c.ID.Algo(), body)
	if err != nil {
		return fmt.Errorf("bogus commit object %s: %w", c.ID, err)
	}
	parents := h.parents
	if g, ok := w.grafts[c.ID]; ok {
		parents = g
	}
	if len(parents) > 0 {
		c.Parents = make([]*Commit, len(parents))
		for i, p := range parents {
			c.Parents[i] = w.node(p)
		}
	}
	c.Tree, c.Date, c.parsed = h.tree, h.date, true
	return nil
}

type header struct {
	tree    oid.ID
	parents []oid.ID
	date    int64
}

var errHeader = errors.New("malformed header")

// scanHeader reads the tree, the parents and the committer's date of a commit.
func scanHeader(algo oid.Algo, body []byte) (header, error) {
	var h header
	full := body
	id, body, ok := headerID(algo, "tree ", body)
	if !ok {
		return h, errHeader
	}
	h.tree = id
	for {
		id, rest, ok := headerID(algo, "parent ", body)
		if !ok {
			break
		}
		h.parents, body = append(h.parents, id), rest
	}
	if bytes.HasPrefix(body, []byte("parent ")) {
		return h, errHeader
	}
	h.date = object.CommitTime(full)
	return h, nil
}

func headerID(algo oid.Algo, key string, body []byte) (oid.ID, []byte, bool) {
	end := len(key) + algo.HexSize()
	if len(body) <= end || body[end] != '\n' || string(body[:len(key)]) != key {
		return oid.ID{}, body, false
	}
	id, err := algo.FromHex(string(body[len(key):end]))
	return id, body[end+1:], err == nil
}

// reset clears the flags in mask from every commit read so far.
func (w *Walk) reset(mask uint32) {
	for _, c := range w.nodes {
		c.flags &^= mask
	}
}
