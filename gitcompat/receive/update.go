package receive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// denyCurrentAdvice and denyDeleteAdvice explain refusals that nobody
// configured.
const (
	denyCurrentAdvice = `This branch is checked out in a repository with a working tree. Updating it
from outside would leave index and files behind, so it is refused unless
somebody asked for it.

Set 'receive.denyCurrentBranch' in the remote repository to 'ignore' or
'warn' to allow it, if something there brings the working tree up to date;
set it to 'refuse' to keep the refusal without this message.`
	denyDeleteAdvice = `The branch that HEAD of the remote repository points to would be deleted,
and 'git clone' of it would then check out nothing, so it is refused unless
somebody asked for it.

Set 'receive.denyDeleteCurrent' in the remote repository to 'ignore' or
'warn' to allow it; set it to 'refuse' to keep the refusal without this
message.`
)

// queue checks one command in git's order and adds it to the transaction. It
// returns why the command is refused, or "".
func (s *server) queue(tx *refs.Transaction, c *command) string {
	level := refname.Flags(0)
	if c.deletion() {
		level = refname.AllowOneLevel
	}
	if rest, ok := strings.CutPrefix(c.ref, "refs/"); !ok || !refname.Check(rest, level) && !refname.Check(c.ref, 0) {
		s.errorf("refusing to update funny ref '%s' remotely", c.ref)
		return "funny refname"
	}
	checkedOut, hasTree := s.checkedOut(c.ref)
	for _, check := range []func(*command, bool, bool) string{s.checkCurrent, s.checkObject, s.checkDelete, s.checkForward} {
		if reason := check(c, checkedOut, hasTree); reason != "" {
			return reason
		}
	}
	if !s.updateHook(c) {
		s.errorf("hook declined to update %s", c.ref)
		return "hook declined"
	}
	return s.add(tx, c)
}

// checkCurrent protects the branch that a working tree has checked out.
func (s *server) checkCurrent(c *command, _, hasTree bool) string {
	if !hasTree {
		return ""
	}
	switch s.set.denyCurrent {
	case denyWarn:
		s.warnf("updating the current branch")
	case denyRefuse, denyUnset:
		s.errorf("refusing to update checked out branch: %s", c.ref)
		if s.set.denyCurrent == denyUnset {
			s.errorf("%s", denyCurrentAdvice)
		}
		return "branch is currently checked out"
	}
	return ""
}

func (s *server) checkObject(c *command, _, _ bool) string {
	if !c.deletion() && !s.db.Has(c.new) {
		s.errorf("unpack should have generated %s, but I can't find it!", c.new)
		return "bad pack"
	}
	return ""
}

func (s *server) checkDelete(c *command, checkedOut, _ bool) string {
	if c.old.IsNull() || !c.deletion() {
		return ""
	}
	if s.set.denyDeletes && strings.HasPrefix(c.ref, "refs/heads/") {
		s.errorf("denying ref deletion for %s", c.ref)
		return "deletion prohibited"
	}
	if !checkedOut && s.namespace+c.ref != s.head {
		return ""
	}
	switch s.set.denyDeleteCurrent {
	case denyIgnore:
		return ""
	case denyWarn:
		s.warnf("deleting the current branch")
		return ""
	case denyUnset:
		s.errorf("%s", denyDeleteAdvice)
	}
	s.errorf("refusing to delete the current branch: %s", c.ref)
	return "deletion of the current branch prohibited"
}

func (s *server) checkForward(c *command, _, _ bool) string {
	if !s.set.denyNonFF || c.old.IsNull() || c.deletion() || !strings.HasPrefix(c.ref, "refs/heads/") {
		return ""
	}
	oldType, _, oldErr := s.db.Info(c.old)
	newType, _, newErr := s.db.Info(c.new)
	if oldErr != nil || newErr != nil || oldType != object.Commit || newType != object.Commit {
		s.errorf("bad sha1 objects for %s", c.ref)
		return "bad ref"
	}
	forward, err := revision.NewWalk(s.db, s.grafts).IsAncestor(c.old, c.new)
	if err != nil || !forward {
		s.errorf("denying non-fast-forward %s (you should pull first)", c.ref)
		return "non-fast-forward"
	}
	return ""
}

// add queues the ref update itself.
func (s *server) add(tx *refs.Transaction, c *command) string {
	name := s.namespace + c.ref
	change := refs.Change{Name: name, New: refs.OID(c.new), Old: refs.OID(c.old), Message: "push"}
	if c.deletion() && !s.db.Has(c.old) {
		// What is broken can still be deleted, and what is not there is gone.
		change.Old = refs.Value{}
		if s.store.Exists(name) {
			s.warnf("allowing deletion of corrupt ref")
		} else {
			s.warnf("deleting a non-existent ref")
			c.missing = true
		}
	}
	err := tx.Add(change)
	if err == nil {
		return ""
	}
	s.errorf("%s", err)
	var refused *refs.UpdateError
	switch {
	case c.deletion():
		return "failed to delete"
	case errors.As(err, &refused) && refused.Reason != refs.Generic:
		return refused.Reason.String()
	}
	return "failed to update ref"
}

// checkedOut reports whether a working tree's HEAD is the branch ref, and
// whether that working tree has files.
func (s *server) checkedOut(ref string) (checkedOut, hasTree bool) {
	full := s.namespace + ref
	if s.namespace != "" {
		full = ref
	}
	if s.heads == nil {
		s.heads = s.readHeads()
	}
	hasTree, checkedOut = s.heads[full]
	return checkedOut, hasTree
}

// readHeads returns the branches that HEAD of the repository and of its linked
// working trees point to, and for each whether there are files.
func (s *server) readHeads() map[string]bool {
	heads := map[string]bool{}
	note := func(file string, tree bool) {
		b, err := os.ReadFile(file)
		if err != nil {
			return
		}
		if target, ok := strings.CutPrefix(string(b), "ref:"); ok {
			target = strings.TrimSpace(target)
			heads[target] = heads[target] || tree
		}
	}
	bare, err := s.repo.Config.Bool("core.bare", filepath.Base(s.repo.CommonDir) != ".git")
	note(filepath.Join(s.repo.CommonDir, "HEAD"), err == nil && !bare)
	linked, _ := filepath.Glob(filepath.Join(s.repo.CommonDir, "worktrees", "*", "HEAD"))
	for _, file := range linked {
		note(file, true)
	}
	return heads
}

// refuseAliases refuses commands that name a ref twice, by itself and through a
// symbolic ref, unless both want the same; then only one is carried out.
func (s *server) refuseAliases(commands []*command) {
	byName := map[string]*command{}
	for _, c := range commands {
		byName[c.ref] = c
	}
	for _, c := range commands {
		if c.err != "" {
			continue
		}
		raw, err := s.store.ReadRaw(s.namespace + c.ref)
		if err != nil || !raw.Symref {
			continue
		}
		target, err := s.store.Resolve(s.namespace+c.ref, 0)
		if err != nil || target.Name == "" {
			s.errorf("refusing update to broken symref '%s'", c.ref)
			c.skip, c.err = true, "broken symref"
			continue
		}
		other := byName[strings.TrimPrefix(target.Name, s.namespace)]
		if other == nil {
			continue
		}
		c.skip = true
		if c.old == other.old && c.new == other.new {
			continue
		}
		other.skip = true
		s.errorf("refusing inconsistent update between symref '%s' (%s) and its target '%s' (%s)",
			c.ref, s.span(c), other.ref, s.span(other))
		c.err, other.err = "inconsistent aliased update", "inconsistent aliased update"
	}
}

func (s *server) span(c *command) string {
	return fmt.Sprintf("%s..%s", s.db.UniqueAbbrev(c.old, -1), s.db.UniqueAbbrev(c.new, -1))
}
