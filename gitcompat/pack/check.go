package pack

import (
	"errors"
	"fmt"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A Checker checks the objects of a pack as they come: their content, and that
// all that they refer to is in the pack or in the object database.
type Checker struct {
	Algo   oid.Algo
	Fsck   *object.Fsck // nil: content is only parsed
	Links  bool
	Report func(object.Problem) // gets what Fsck says; may be nil
	// MissingModules, if set, gets the .gitmodules blobs that are nowhere; they
	// are no errors then (a partial clone asks for them next).
	MissingModules func(oid.ID)

	seen  map[oid.ID]object.Type
	links map[oid.ID]object.Type
}

// Object checks one object; data is nil for a blob that is too big for memory.
// Its error is index-pack's.
func (c *Checker) Object(id oid.ID, typ object.Type, data []byte) error {
	if c.seen == nil {
		c.seen, c.links = map[oid.ID]object.Type{}, map[oid.ID]object.Type{}
	}
	c.seen[id] = typ
	links, err := c.linksOf(id, typ, data)
	if err != nil {
		return fmt.Errorf("invalid %s", typ)
	}
	if c.Fsck != nil && c.report(c.Fsck.Check(id, typ, data)) {
		return errors.New("fsck error in packed object")
	}
	for _, l := range links {
		if known, ok := c.links[l.id]; ok && known != l.typ && known != object.Bad && l.typ != object.Bad {
			return fmt.Errorf("object type mismatch at %s", l.id)
		}
		if l.typ != object.Bad || c.links[l.id] == object.Bad {
			c.links[l.id] = l.typ
		}
	}
	return nil
}

// report hands problems on and tells whether one of them is an error.
func (c *Checker) report(problems []object.Problem) (bad bool) {
	for _, p := range problems {
		if p.Msg == object.MsgGitmodulesMissing && c.MissingModules != nil {
			c.MissingModules(p.ID)
			continue
		}
		if c.Report != nil {
			c.Report(p)
		}
		bad = bad || p.Severity >= object.Error
	}
	return bad
}

type linked struct {
	id  oid.ID
	typ object.Type
}

// linksOf returns what an object refers to.
func (c *Checker) linksOf(id oid.ID, typ object.Type, data []byte) (links []linked, err error) {
	switch typ {
	case object.Commit:
		commit, err := object.ParseCommit(id, data)
		if err != nil || !c.Links {
			return nil, err
		}
		links = append(links, linked{commit.Tree, object.Tree})
		for _, parent := range commit.Parents {
			links = append(links, linked{parent, object.Commit})
		}
	case object.Tag:
		tag, err := object.ParseTag(id, data)
		if err != nil || !c.Links {
			return nil, err
		}
		links = append(links, linked{tag.Object, tag.Type})
	case object.Tree:
		if !c.Links {
			return nil, nil
		}
		it := object.IterTree(c.Algo, data)
		for it.Next() {
			if !object.IsGitlink(it.Mode()) {
				links = append(links, linked{it.ID(), object.ModeType(it.Mode())})
			}
		}
	}
	return links, nil
}

// Finish ends the check. info says what the object database has besides the
// pack, read reads from both. It returns how many links lead out of the pack.
func (c *Checker) Finish(info func(oid.ID) (object.Type, error), read ReadFunc) (foreign int, err error) {
	if foreign, err = c.FinishLinks(info); err != nil {
		return foreign, err
	}
	return foreign, c.FinishContent(read)
}

// FinishLinks makes sure that all that was referred to is there.
func (c *Checker) FinishLinks(info func(oid.ID) (object.Type, error)) (foreign int, err error) {
	for id, want := range c.links {
		got, inPack := c.seen[id]
		if !inPack {
			foreign++
			if got, err = info(id); err != nil {
				return foreign, fmt.Errorf("did not receive expected object %s", id)
			}
		}
		if want != object.Bad && got != want {
			return foreign, fmt.Errorf("object %s: expected type %s, found %s", id, want, got)
		}
	}
	return foreign, nil
}

// FinishContent checks what trees named specially and was not met since.
func (c *Checker) FinishContent(read ReadFunc) error {
	if c.Fsck != nil && c.report(c.Fsck.Finish(read)) {
		return errors.New("fsck error in pack objects")
	}
	return nil
}
