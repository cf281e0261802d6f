package revision

import (
	"fmt"
	"math"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A Tip is where a walk starts or, with Not, where it stops.
type Tip struct {
	ID   oid.ID
	Not  bool
	Left bool   // left side of a...b
	Name string // for tags: the name under which they are listed
	Path string // for trees and blobs: their path
}

// A Request says what a walk is to list. The zero value of each field but Tips
// asks for what rev-list does without options.
type Request struct {
	Tips []Tip

	Objects bool // list tags, trees and blobs too
	// Sparse marks what uninteresting trees hold only along the paths that the
	// listed trees have (pack.useSparse): an object that moved may be listed
	// although the other side has it.
	Sparse bool
	// Edges lists the uninteresting parents of listed commits first.
	Edges bool
	// VerifyBlobs fails on a blob that the database lacks.
	VerifyBlobs bool
	// IgnoreMissing leaves out tips, and links, that do not exist.
	IgnoreMissing bool

	NoWalk      bool
	FirstParent bool
	Topo        bool // no parent before its children
	DateOrder   bool // with Topo: and by date where that leaves a choice
	Reverse     bool
	LeftOnly    bool
	RightOnly   bool
	Skip        int
	MaxCount    int // 0: no limit; see None
	None        bool
	MinParents  int
	MaxParents  int // 0: no limit, unless NoMerges or Roots say
	LimitMax    bool
	Since       int64 // 0: no limit
	Until       int64
}

// An Item is one object of a listing.
type Item struct {
	ID     oid.ID
	Type   object.Type
	Commit *Commit // of a commit
	Edge   bool    // an uninteresting commit at the border
	Left   bool
	Path   []byte // of a tag, tree or blob; valid during the call only
}

// slop is how many uninteresting commits a walk looks at beyond the point
// where nothing interesting is left, because of clocks that were wrong.
const slop = 5

// A lister is one run of a walk.
type lister struct {
	w   *Walk
	req *Request
	fn  func(*Item) error

	q           queue
	interesting int // commits in q that are not uninteresting
	limited     bool
	pending     []Tip // tags, trees, blobs, in the order given
	types       []object.Type
	obj         *objects
}

// Run lists what req asks for. fn's error ends the walk and is returned.
func (w *Walk) Run(req *Request, fn func(*Item) error) error {
	const used = fUninteresting | fSeen | fShown | fLeft | fQueued | fParentsDone | fListed
	w.reset(used)
	l := &lister{w: w, req: req, fn: fn}
	if req.Objects {
		l.obj = newObjects(w, req, fn)
	}
	for i := range req.Tips {
		if err := l.addTip(req.Tips[i]); err != nil {
			return err
		}
	}
	l.limited = l.limited || req.Since != 0 || req.Until != 0 || req.Topo || req.LeftOnly || req.RightOnly
	return l.run()
}

func (l *lister) run() error {
	next := l.stream
	switch {
	case l.req.NoWalk:
		next = l.given()
	case l.limited:
		list, err := l.limit()
		if err != nil {
			return err
		}
		if l.req.Topo {
			list = l.w.topoSort(list, l.req.DateOrder)
		}
		if l.obj != nil || l.req.Edges {
			if err := l.edges(list); err != nil {
				return err
			}
		}
		next = feed(list)
	}
	if err := l.show(next); err != nil {
		return err
	}
	if l.obj == nil {
		return nil
	}
	return l.obj.finish(l.pending, l.types)
}

func (l *lister) addTip(t Tip) error {
	explicit := !t.Not
	for {
		// Commits are parsed through the walk; the type of others is read first.
		c := l.w.nodes[t.ID]
		if c != nil && c.parsed {
			return l.addCommit(c, t)
		}
		typ, body, err := l.w.db.Read(t.ID)
		if err != nil {
			if l.req.IgnoreMissing || t.Not {
				return nil
			}
			return fmt.Errorf("bad object %s", t.name())
		}
		switch typ {
		case object.Commit:
			c := l.w.node(t.ID)
			if err := l.w.parse(c); err != nil {
				return err
			}
			return l.addCommit(c, t)
		case object.Tag:
			target, ok := tagTarget(t.ID.Algo(), body)
			if !ok {
				return fmt.Errorf("bad object %s", t.name())
			}
			if l.obj != nil && explicit {
				t.Name = headerLine(body, "tag ")
				l.pending, l.types = append(l.pending, t), append(l.types, typ)
			}
			if t.Not && l.obj != nil {
				l.obj.avoid(t.ID)
			}
			t.ID, t.Name = target, ""
		default:
			if l.obj == nil {
				return nil
			}
			if t.Not {
				l.obj.avoidTip(t.ID, typ)
				return nil
			}
			l.pending, l.types = append(l.pending, t), append(l.types, typ)
			return nil
		}
	}
}

func (t *Tip) name() string {
	if t.Name != "" {
		return t.Name
	}
	return t.ID.String()
}

// tagTarget returns the object that a tag's header names.
func tagTarget(algo oid.Algo, body []byte) (oid.ID, bool) {
	id, _, ok := headerID(algo, "object ", body)
	return id, ok
}

func (l *lister) addCommit(c *Commit, t Tip) error {
	if t.Not {
		l.limited = true
		l.markUninteresting(c)
		l.w.markParents(c, l.unqueue)
	}
	if t.Left {
		c.flags |= fLeft
	}
	if c.flags&fSeen == 0 {
		c.flags |= fSeen
		l.push(c)
	}
	return nil
}

func (l *lister) push(c *Commit) {
	c.flags |= fQueued
	if c.flags&fUninteresting == 0 {
		l.interesting++
	}
	l.q.push(c)
}

func (l *lister) pop() *Commit {
	c := l.q.pop()
	c.flags &^= fQueued
	if c.flags&fUninteresting == 0 {
		l.interesting--
	}
	return c
}

// unqueue keeps the count of interesting commits right when c stops being one.
func (l *lister) unqueue(c *Commit) {
	if c.flags&fQueued != 0 {
		l.interesting--
	}
}

func (l *lister) markUninteresting(c *Commit) {
	if c.flags&fUninteresting == 0 {
		l.unqueue(c)
		c.flags |= fUninteresting
	}
}

// markParents makes every ancestor of c uninteresting that was read already.
func (w *Walk) markParents(c *Commit, changed func(*Commit)) {
	stack := append([]*Commit(nil), c.Parents...)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if p.flags&fUninteresting != 0 {
			continue
		}
		changed(p)
		p.flags |= fUninteresting
		stack = append(stack, p.Parents...)
	}
}

// parents reads the parents of c and queues those that are new.
func (l *lister) parents(c *Commit) error {
	if c.flags&fParentsDone != 0 {
		return nil
	}
	c.flags |= fParentsDone
	not := c.flags&fUninteresting != 0
	for _, p := range c.Parents {
		if err := l.w.parse(p); err != nil {
			if not || l.req.IgnoreMissing {
				l.markUninteresting(p)
				continue
			}
			return &brokenError{"Failed to traverse parents of commit " + c.ID.String(), err}
		}
		if not {
			l.markUninteresting(p)
			if len(p.Parents) > 0 {
				l.w.markParents(p, l.unqueue)
			}
		} else {
			p.flags |= c.flags & fLeft
		}
		if p.flags&fSeen == 0 {
			p.flags |= fSeen
			l.push(p)
		}
		if l.req.FirstParent && !not {
			break
		}
	}
	return nil
}

// limit walks until no interesting commit can turn up any more.
func (l *lister) limit() ([]*Commit, error) {
	var list []*Commit
	left := slop
	date := int64(math.MaxInt64)
	for l.q.len() > 0 {
		c := l.pop()
		if l.req.Since != 0 && c.Date < l.req.Since {
			c.flags |= fUninteresting
		}
		if err := l.parents(c); err != nil {
			return nil, err
		}
		if c.flags&fUninteresting != 0 {
			l.w.markParents(c, l.unqueue)
			if left = l.stillInteresting(date, left); left == 0 {
				break
			}
			continue
		}
		if l.req.Until != 0 && c.Date > l.req.Until {
			continue
		}
		date = c.Date
		list = append(list, c)
	}
	return list, nil
}

func (l *lister) stillInteresting(date int64, left int) int {
	switch {
	case l.q.len() == 0:
		return 0
	case date <= l.q.first().Date, l.interesting > 0:
		return slop
	}
	return left - 1
}

// stream returns the next commit of a walk that nothing limits.
func (l *lister) stream() (*Commit, error) {
	if l.q.len() == 0 {
		return nil, nil
	}
	c := l.pop()
	return c, l.parents(c)
}

// given returns the commits of the request, newest first.
func (l *lister) given() func() (*Commit, error) {
	return func() (*Commit, error) {
		if l.q.len() == 0 {
			return nil, nil
		}
		return l.pop(), nil
	}
}

func feed(list []*Commit) func() (*Commit, error) {
	return func() (*Commit, error) {
		if len(list) == 0 {
			return nil, nil
		}
		c := list[0]
		list = list[1:]
		return c, nil
	}
}

// show passes on the commits that the request wants to see.
func (l *lister) show(next func() (*Commit, error)) error {
	var back []*Commit
	skip, shown := l.req.Skip, 0
	for !l.req.None && (l.req.MaxCount == 0 || shown < l.req.MaxCount) {
		c, err := next()
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		if !l.wanted(c) {
			continue
		}
		c.flags |= fShown
		if skip > 0 {
			skip--
			continue
		}
		shown++
		if l.req.Reverse {
			back = append(back, c)
			continue
		}
		if err := l.emit(c); err != nil {
			return err
		}
	}
	for i := len(back) - 1; i >= 0; i-- {
		if err := l.emit(back[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) wanted(c *Commit) bool {
	if c.flags&(fUninteresting|fShown) != 0 {
		return false
	}
	n := len(c.Parents)
	if n < l.req.MinParents || (l.req.LimitMax && n > l.req.MaxParents) {
		return false
	}
	left := c.flags&fLeft != 0
	return !(l.req.LeftOnly && !left) && !(l.req.RightOnly && left)
}

func (l *lister) emit(c *Commit) error {
	if err := l.fn(&Item{ID: c.ID, Type: object.Commit, Commit: c, Left: c.flags&fLeft != 0}); err != nil {
		return err
	}
	if l.obj != nil {
		l.pending, l.types = append(l.pending, Tip{ID: c.Tree}), append(l.types, object.Tree)
	}
	return nil
}

// edges finds the border between what is listed and what is not.
func (l *lister) edges(list []*Commit) error {
	for _, c := range list {
		if c.flags&fUninteresting != 0 {
			if l.obj != nil {
				l.obj.avoidTree(c.Tree)
			}
			continue
		}
		for _, p := range c.Parents {
			if p.flags&fUninteresting == 0 || !p.parsed {
				continue
			}
			if l.obj != nil {
				l.obj.avoidTree(p.Tree)
			}
			if l.req.Edges && p.flags&fShown == 0 {
				p.flags |= fShown
				if err := l.fn(&Item{ID: p.ID, Type: object.Commit, Commit: p, Edge: true}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// topoSort puts no commit before its children; list is by date.
func (w *Walk) topoSort(list []*Commit, byDate bool) []*Commit {
	degree := make(map[*Commit]int, len(list))
	for _, c := range list {
		degree[c] = 1
	}
	for _, c := range list {
		for _, p := range c.Parents {
			if _, ok := degree[p]; ok {
				degree[p]++
			}
		}
	}
	q := queue{lifo: !byDate}
	for _, c := range list {
		if degree[c] == 1 {
			q.push(c)
		}
	}
	if q.lifo {
		for i, j := 0, len(q.items)-1; i < j; i, j = i+1, j-1 {
			q.items[i], q.items[j] = q.items[j], q.items[i]
		}
	}
	out := list[:0:0]
	for q.len() > 0 {
		c := q.pop()
		for _, p := range c.Parents {
			if degree[p] == 0 {
				continue
			}
			if degree[p]--; degree[p] == 1 {
				q.push(p)
			}
		}
		degree[c] = 0
		out = append(out, c)
	}
	return out
}
