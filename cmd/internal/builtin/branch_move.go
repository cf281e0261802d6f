package builtin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/syncpolicy"
)

// A branchUse says which working tree works on a branch, and how.
type branchUse struct {
	ref, path    string
	rebase, bise bool
}

// uses lists the branches that working trees work on.
func (o *branchCommand) uses() []branchUse {
	var list []branchUse
	if o.trees == nil {
		o.trees = workingTrees(o.env)
	}
	for _, t := range o.trees {
		if t.id == "" && mainIsBare(o.env) {
			continue
		}
		if t.head != "" {
			list = append(list, branchUse{ref: t.head, path: t.path})
		}
		for _, file := range []string{"rebase-apply/head-name", "rebase-merge/head-name"} {
			if _, err := os.Stat(filepath.Join(t.git, "rebase-apply/applying")); err == nil {
				break
			}
			if name := branchIn(filepath.Join(t.git, file)); name != "" {
				list = append(list, branchUse{ref: name, path: t.path, rebase: true})
			}
		}
		if name := branchIn(filepath.Join(t.git, "BISECT_START")); name != "" {
			if _, err := os.Stat(filepath.Join(t.git, "BISECT_LOG")); err == nil {
				list = append(list, branchUse{ref: name, path: t.path, bise: true})
			}
		}
		if text, err := os.ReadFile(filepath.Join(t.git, "rebase-merge/update-refs")); err == nil {
			lines := strings.Split(string(text), "\n")
			for i := 0; i+2 < len(lines); i += 3 {
				list = append(list, branchUse{ref: lines[i], path: t.path})
			}
		}
	}
	return list
}

// branchIn returns the branch that a state file names.
func branchIn(path string) string {
	text, err := os.ReadFile(path)
	name := strings.TrimSpace(string(text))
	switch {
	case err != nil || name == "" || name == "detached HEAD":
		return ""
	case strings.HasPrefix(name, "refs/heads/"):
		return name
	}
	if _, err := oid.SHA1.FromHex(name); err == nil {
		return ""
	}
	return "refs/heads/" + name
}

// usedBy returns a working tree that works on a branch; one that bisects it first.
func (o *branchCommand) usedBy(ref string) *branchUse {
	var found *branchUse
	for _, u := range o.uses() {
		if u.ref == ref && (found == nil || u.bise) {
			found = &u
		}
	}
	return found
}

func (o *branchCommand) deleteBranches(names []string) Status {
	if len(names) == 0 {
		return Fatalf("branch name required")
	}
	prefix, what := "refs/heads/", "branch"
	switch o.kind {
	case kindBranch:
	case kindRemote:
		prefix, what = "refs/remotes/", "remote-tracking branch"
		o.del = 2
	default:
		return Fatalf("cannot use -a with -d")
	}
	status := OK
	fail := func(format string, a ...any) {
		o.env.Error(fmt.Errorf(format, a...))
		status = Exit(1)
	}
	var list []refs.Ref
	for _, arg := range names {
		name, err := o.res.BranchName(arg)
		if err != nil {
			name = arg
		}
		full := prefix + name
		if o.kind == kindBranch {
			if use := o.usedBy(full); use != nil {
				suffix := ""
				if use.bise {
					suffix = " for bisect"
				}
				fail("cannot delete branch '%s' used by worktree at '%s'%s", name, use.path, suffix)
				continue
			}
		}
		r, err := o.store.Resolve(full, refs.Reading|refs.NoRecurse|refs.AllowBadName)
		switch {
		case errors.Is(err, refs.ErrUnresolved) && o.kind == kindRemote:
			fail("remote-tracking branch '%s' not found", name)
			continue
		case errors.Is(err, refs.ErrUnresolved):
			if _, err := o.store.Resolve("refs/remotes/"+name, refs.Reading|refs.NoRecurse|refs.AllowBadName); err == nil {
				fail("branch '%s' not found.\nDid you forget --remote?", name)
			} else {
				fail("branch '%s' not found", name)
			}
			continue
		case err != nil:
			return Fatal(err)
		}
		if !r.Symref && !r.Broken && o.del < 2 && !o.mayDelete(name, full, r.ID) {
			status = Exit(1)
			continue
		}
		list = append(list, refs.Ref{Name: full, ID: r.ID, Symref: r.Symref, Target: r.Name, Broken: r.Broken})
	}
	if st := deleteRefs(o.env, o.store, list); st != OK {
		if st.Fatal {
			return st
		}
		status = st
	}
	return o.reportDeleted(list, prefix, what, status)
}

// mayDelete reports whether nothing is lost with a branch.
func (o *branchCommand) mayDelete(name, full string, id oid.ID) bool {
	c, err := o.walk.Committish(id)
	if err != nil {
		o.env.Error(fmt.Errorf("couldn't look up commit object for '%s'", full))
		return false
	}
	if o.merged(name, c.ID) {
		return true
	}
	o.env.Error(fmt.Errorf("the branch '%s' is not fully merged", name))
	o.env.adviseIf("forceDeleteBranch", "If you are sure you want to delete it, run 'git branch -D "+name+"'")
	return false
}

// merged reports whether a branch is contained in its upstream or, if it has
// none, in HEAD.
func (o *branchCommand) merged(name string, id oid.ID) bool {
	contained := func(ref string) (known, merged bool) {
		tip, err := o.store.Read(ref)
		if err != nil {
			return false, false
		}
		c, err := o.walk.Committish(tip)
		if err != nil {
			return false, false
		}
		merged, err = o.walk.IsAncestor(id, c.ID)
		return err == nil, merged
	}
	_, inHead := contained("HEAD")
	upstream, err := o.res.Upstream(name)
	if err != nil {
		return inHead
	}
	known, inUpstream := contained(upstream)
	switch {
	case !known:
		return inHead
	case inUpstream && !inHead:
		o.env.Warn("deleting branch '%s' that has been merged to\n         '%s', but not yet merged to HEAD", name, upstream)
	case !inUpstream && inHead:
		o.env.Warn("not deleting branch '%s' that is not yet merged to\n         '%s', even though it is merged to HEAD", name, upstream)
	}
	return inUpstream
}

// reportDeleted says which branches are gone, and forgets their settings.
func (o *branchCommand) reportDeleted(list []refs.Ref, prefix, what string, status Status) Status {
	var gone []string
	for _, r := range list {
		if o.store.Exists(r.Name) {
			continue
		}
		name := strings.TrimPrefix(r.Name, prefix)
		was := ""
		switch {
		case r.Broken:
			was = "broken"
		case r.Symref:
			was = r.Target
		default:
			was = shortName(o.env, r.ID)
		}
		if !o.quiet {
			o.env.Printf("Deleted %s %s (was %s).\n", what, name, was)
		}
		gone = append(gone, name)
	}
	if err := o.forget(gone); err != nil {
		o.env.Error(err)
		o.env.Warn("update of config-file failed")
	}
	return status
}

// forget removes the settings of branches.
func (o *branchCommand) forget(names []string) error {
	some := false
	for _, name := range names {
		some = some || len(o.env.Config.Subsections("branch")) > 0 && o.hasSection(name)
	}
	if !some {
		return nil
	}
	return o.env.Repo.EditConfig(func(e *config.Edit) error {
		for _, name := range names {
			if _, err := e.RemoveSection("branch." + name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (o *branchCommand) hasSection(name string) bool {
	for _, s := range o.env.Config.Subsections("branch") {
		if s == name {
			return true
		}
	}
	return false
}

func (o *branchCommand) moveBranch(args []string) Status {
	copying := o.cp > 0
	force := o.cp+o.move > 1
	switch {
	case len(args) == 0:
		return Fatalf("branch name required")
	case len(args) == 1 && o.detached && copying:
		return Fatalf("cannot copy the current branch while not on any")
	case len(args) == 1 && o.detached:
		return Fatalf("cannot rename the current branch while not on any")
	case len(args) == 1:
		return o.moveTo(o.headName, args[0], copying, force)
	case len(args) == 2:
		return o.moveTo(args[0], args[1], copying, force)
	case copying:
		return Fatalf("too many branches for a copy operation")
	}
	return Fatalf("too many arguments for a rename operation")
}

func (o *branchCommand) moveTo(from, to string, copying, force bool) Status {
	oldShort, err := o.res.BranchName(from)
	recovery := false
	if err != nil || !validBranch(from, oldShort) {
		if recovery = err == nil && o.store.Exists("refs/heads/"+oldShort); !recovery {
			o.env.message("fatal: ", "invalid branch name: '"+from+"'")
			o.env.adviseIf("refSyntax", "See 'git help check-ref-format'")
			return Exit(128)
		}
	}
	oldRef := "refs/heads/" + oldShort
	current, orphan := o.headUse(oldRef)
	if (copying || !current) && !o.store.Exists(oldRef) {
		if current {
			return Fatalf("no commit on branch '%s' yet", from)
		}
		return Fatalf("no branch named '%s'", from)
	}
	newRef, _, st := o.validNew(to, force)
	if from == to {
		newRef, _, st = o.validName(to)
	}
	if st != OK {
		return st
	}
	for _, u := range o.uses() {
		switch {
		case u.ref == oldRef && u.rebase:
			return Fatalf("branch %s is being rebased at %s", oldRef, u.path)
		case u.ref == oldRef && u.bise:
			return Fatalf("branch %s is being bisected at %s", oldRef, u.path)
		}
	}
	newShort := strings.TrimPrefix(newRef, "refs/heads/")
	if st := o.moveRef(oldRef, newRef, copying, orphan); st != OK {
		return st
	}
	message := "Branch: renamed " + oldRef + " to " + newRef
	if recovery && copying {
		o.env.Warn("created a copy of a misnamed branch '%s'", oldShort)
	} else if recovery {
		o.env.Warn("renamed a misnamed branch '%s' away", oldShort)
	}
	if !copying && current && !o.replaceHeads(oldRef, newRef, message) {
		return Fatalf("branch renamed to %s, but HEAD is not updated", to)
	}
	return o.moveSection(oldShort, newShort, copying)
}

// headUse reports whether a branch is the current one of a working tree, and
// whether it has no commit yet.
func (o *branchCommand) headUse(ref string) (current, orphan bool) {
	if o.trees == nil {
		o.trees = workingTrees(o.env)
	}
	for _, t := range o.trees {
		if t.head == ref {
			return true, !o.store.Exists(ref)
		}
	}
	return false, false
}

func (o *branchCommand) moveRef(oldRef, newRef string, copying, orphan bool) Status {
	if _, err := o.env.Repo.Policy(); err != nil {
		return Fatal(err)
	}
	barrier := func() *syncpolicy.Barrier {
		b, _ := o.env.Repo.NewBarrier() // the policy is good: see above
		return b
	}
	var err error
	failed := "branch rename failed"
	switch {
	case copying && oldRef == newRef:
	case copying:
		failed = "branch copy failed"
		err = o.store.Copy(barrier, oldRef, newRef, "Branch: copied "+oldRef+" to "+newRef)
	case !orphan:
		err = o.store.Rename(barrier, oldRef, newRef, "Branch: renamed "+oldRef+" to "+newRef)
	}
	var hook *refs.HookError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &hook):
		return Fatal(err)
	}
	o.env.Error(err)
	return Fatal(errors.New(failed))
}

// replaceHeads makes the working trees that were on oldRef be on newRef.
func (o *branchCommand) replaceHeads(oldRef, newRef, message string) bool {
	ok := true
	for _, t := range o.trees {
		if t.head != oldRef {
			continue
		}
		store := o.store
		if t.git != o.env.Repo.GitDir {
			store = o.store.ForWorktree(t.git)
		}
		tx := store.Begin(false)
		err := tx.Add(refs.Change{Name: "HEAD", New: refs.Symref(newRef), NoDeref: true, Message: message})
		if err == nil {
			err = commitRefs(o.env, tx)
		}
		if err != nil {
			o.env.Error(err)
			o.env.Error(fmt.Errorf("HEAD of working tree %s is not updated", t.path))
			ok = false
		}
	}
	return ok
}

// moveSection renames or copies the settings of a branch.
func (o *branchCommand) moveSection(from, to string, copying bool) Status {
	if from == to || !o.hasSection(from) {
		return OK
	}
	err := o.env.Repo.EditConfig(func(e *config.Edit) (err error) {
		if copying {
			_, err = e.CopySection("branch."+from, "branch."+to)
		} else {
			_, err = e.RenameSection("branch."+from, "branch."+to)
		}
		return err
	})
	switch {
	case err == nil:
		return OK
	case copying:
		o.env.Error(err)
		return Fatalf("branch is copied, but update of config-file failed")
	}
	o.env.Error(err)
	return Fatalf("branch is renamed, but update of config-file failed")
}
