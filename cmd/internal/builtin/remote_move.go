package builtin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/send"
	"github.com/sluicegit/sluice/syncpolicy"
)

// remove forgets a remote: its settings, those of branches that follow it, and
// its remote-tracking refs, all behind one barrier.
func (r *remoteCmd) remove(argv []string) Status {
	args, err := r.options(argv, 1, 1, []string{"git remote remove <name>"})
	if err != nil {
		return Fatal(err)
	}
	name := args[0]
	remote, st := r.load(name, ":")
	if remote == nil {
		return st
	}
	b, err := r.env.Repo.NewBarrier()
	if err != nil {
		return Fatal(err)
	}
	defer b.Rollback()
	skipped, err := r.dropRefs(b, remote)
	if err != nil {
		return Fatal(err)
	}
	if err := r.env.Repo.StageConfig(b, func(e *config.Edit) error { return r.forgetRemote(e, name) }); err != nil {
		return editStatus(err)
	}
	if err := b.Commit(); err != nil {
		return Fatal(err)
	}
	if len(skipped) > 0 {
		r.env.line("Note: Some branches outside the refs/remotes/ hierarchy were not removed;\nto delete them, use:")
		for _, branch := range skipped {
			r.env.line("  git branch -d " + branch)
		}
	}
	return OK
}

// dropRefs deletes the refs that only this remote fills. Branches are not
// deleted, but named.
func (r *remoteCmd) dropRefs(b *syncpolicy.Barrier, remote *send.Remote) (skipped []string, err error) {
	store, err := r.env.Repo.Refs()
	if err != nil {
		return nil, err
	}
	others, err := r.others(remote.Name)
	if err != nil {
		return nil, err
	}
	tx := store.Begin(false)
	for ref, err := range store.All("refs/", refs.IncludeBroken) {
		if err != nil {
			return nil, err
		}
		head := ref.Name == "refs/remotes/"+remote.Name+"/HEAD"
		if !head && !fills(remote.Fetch, ref.Name) || fills(others, ref.Name) {
			continue
		}
		if branch, ok := strings.CutPrefix(ref.Name, "refs/heads/"); ok {
			skipped = append(skipped, branch)
			continue
		}
		if !strings.HasPrefix(ref.Name, "refs/remotes/") {
			continue
		}
		change := refs.Change{Name: ref.Name, New: refs.OID(r.env.Repo.Algo.Null()), NoDeref: true, Message: "remote: remove"}
		if err := tx.Add(change); err != nil {
			return nil, err
		}
	}
	if tx.Len() == 0 {
		return skipped, nil
	}
	if err := tx.Prepare(b); err != nil {
		return nil, err
	}
	return skipped, tx.Commit(b)
}

// others returns the fetch refspecs of all other remotes.
func (r *remoteCmd) others(name string) (specs []send.Refspec, err error) {
	for _, other := range send.Names(r.env.Config) {
		if other == name {
			continue
		}
		remote, err := send.LoadRemote(r.env.Config, other)
		if err != nil {
			return nil, err
		}
		specs = append(specs, remote.Fetch...)
	}
	return specs, nil
}

// fills reports whether a fetch by the refspecs writes the local ref name.
func fills(specs []send.Refspec, name string) bool {
	for _, spec := range specs {
		if spec.Fills(name) {
			return true
		}
	}
	return false
}

// forgetRemote removes the settings that speak of a remote.
func (r *remoteCmd) forgetRemote(e *config.Edit, name string) error {
	for _, key := range r.branchKeys(name) {
		keys := []string{key}
		if branch, ok := strings.CutSuffix(key, ".remote"); ok {
			keys = append(keys, branch+".merge")
		}
		for _, key := range keys {
			err := e.Apply(config.Change{Key: key, Unset: true, All: true})
			if edit := (*config.EditError)(nil); err != nil && !(errors.As(err, &edit) && edit.Code == config.CodeNothingSet) {
				return err
			}
		}
	}
	if n, err := e.RemoveSection("remote." + name); err != nil || n == 0 {
		if err == nil {
			err = fmt.Errorf("Could not remove config section 'remote.%s'", name)
		}
		return err
	}
	if v, ok := r.env.Config.Get("remote.pushdefault"); ok && v == name {
		return e.Apply(config.Change{Key: "remote.pushDefault", Unset: true, All: true})
	}
	return nil
}

// branchKeys returns branch.<name>.remote and branch.<name>.pushRemote of the
// branches that follow a remote.
func (r *remoteCmd) branchKeys(name string) (keys []string) {
	for _, branch := range r.env.Config.Subsections("branch") {
		for _, variable := range []string{"remote", "pushRemote"} {
			key := "branch." + branch + "." + variable
			if v, ok := r.env.Config.Get(key); ok && v == name {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// rename gives a remote another name, with its remote-tracking refs.
func (r *remoteCmd) rename(argv []string) Status {
	var progress bool
	args, err := r.options(argv, 2, 2, []string{"git remote rename [--[no-]progress] <old> <new>"},
		parseopt.Bool(0, "progress", &progress, "show progress"))
	if err != nil {
		return Fatal(err)
	}
	from, to := args[0], args[1]
	remote, st := r.load(from, ":")
	if remote == nil {
		return st
	}
	if from == to {
		return OK
	}
	if other, err := send.LoadRemote(r.env.Config, to); err != nil {
		return Fatal(err)
	} else if other.Configured {
		return Failure(3, fmt.Errorf("remote %s already exists.", to))
	}
	if !refname.Check("refs/remotes/"+to+"/test", 0) {
		return Fatalf("'%s' is not a valid remote name", to)
	}
	moved := false
	if err := r.env.Repo.EditConfig(func(e *config.Edit) (err error) {
		moved, err = r.renameSettings(e, from, to, remote)
		return err
	}); err != nil {
		return editStatus(err)
	}
	if !moved {
		return OK
	}
	return Fatal(r.renameRefs("refs/remotes/"+from+"/", "refs/remotes/"+to+"/"))
}

// renameSettings reports whether the remote's refs have to move too: not if its
// refspecs do not follow its name.
func (r *remoteCmd) renameSettings(e *config.Edit, from, to string, remote *send.Remote) (moved bool, err error) {
	if n, err := e.RenameSection("remote."+from, "remote."+to); err != nil || n == 0 {
		if err == nil {
			err = fmt.Errorf("Could not rename config section 'remote.%s' to 'remote.%s'", from, to)
		}
		return false, err
	}
	for i, spec := range remote.Fetch {
		change := config.Change{Key: "remote." + to + ".fetch", Value: strings.Replace(spec.String(), ":refs/remotes/"+from+"/", ":refs/remotes/"+to+"/", 1)}
		if change.Value == spec.String() {
			r.env.Warn("Not updating non-default fetch refspec\n\t%s\n\tPlease update the configuration manually if necessary.", spec)
			continue
		}
		moved = true
		change.Match = func(v string, _ bool) bool { return v == remote.Fetch[i].String() }
		if err := e.Apply(change); err != nil {
			return false, err
		}
	}
	for _, key := range r.branchKeys(from) {
		if err := e.Apply(config.Change{Key: key, Value: to, All: true}); err != nil {
			return false, err
		}
	}
	if v, ok := r.env.Config.Get("remote.pushdefault"); ok && v == from {
		return moved, e.Apply(config.Change{Key: "remote.pushDefault", Value: to, All: true})
	}
	return moved, nil
}

// renameRefs moves every ref below one prefix, and its reflog, below another.
func (r *remoteCmd) renameRefs(from, to string) error {
	store, err := r.env.Repo.Refs()
	if err != nil {
		return err
	}
	newBarrier := func() *syncpolicy.Barrier {
		b, _ := r.env.Repo.NewBarrier() // the policy was read before
		return b
	}
	var list []refs.Ref
	for ref, err := range store.All(from, refs.IncludeBroken) {
		if err != nil {
			return err
		}
		list = append(list, ref)
	}
	for _, ref := range list {
		name := to + strings.TrimPrefix(ref.Name, from)
		if !ref.Symref {
			message := fmt.Sprintf("remote: renamed %s to %s", ref.Name, name)
			if err := store.Rename(newBarrier, ref.Name, name, message); err != nil {
				return err
			}
			continue
		}
		target := ref.Target
		if rest, ok := strings.CutPrefix(target, from); ok {
			target = to + rest
		}
		if err := r.moveSymref(store, ref.Name, name, target); err != nil {
			return err
		}
	}
	return nil
}

func (r *remoteCmd) moveSymref(store *refs.Store, from, to, target string) error {
	tx := store.Begin(false)
	message := fmt.Sprintf("remote: renamed %s to %s", from, to)
	for _, c := range []refs.Change{
		{Name: from, New: refs.OID(r.env.Repo.Algo.Null()), NoDeref: true, Message: message},
		{Name: to, New: refs.Symref(target), NoDeref: true, Message: message},
	} {
		if err := tx.Add(c); err != nil {
			return err
		}
	}
	return r.commit(tx)
}

func (r *remoteCmd) setSymref(name, target, message, failure string) Status {
	store, err := r.env.Repo.Refs()
	if err != nil {
		return Fatal(err)
	}
	tx := store.Begin(false)
	err = tx.Add(refs.Change{Name: name, New: refs.Symref(target), NoDeref: true, Message: message})
	if err == nil {
		err = r.commit(tx)
	}
	if err != nil {
		return Failure(1, errors.New(failure))
	}
	return OK
}

func (r *remoteCmd) commit(tx *refs.Transaction) error {
	b, err := r.env.Repo.NewBarrier()
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := tx.Prepare(b); err != nil {
		return err
	}
	if err := tx.Commit(b); err != nil {
		return err
	}
	return tx.Explain(b.Commit())
}
