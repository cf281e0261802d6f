package builtin

import (
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// plumbing prepares a plumbing command.
func plumbing(env *Env, argv []string) (*differ, error) {
	d := newDiffer(env, true)
	if err := d.parse(argv); err != nil {
		return nil, err
	}
	return d, nil
}

func runDiffFiles(env *Env, argv []string) Status {
	if err := env.Repo.RequireWorkTree(); err != nil {
		return Fatal(err)
	}
	d, err := plumbing(env, argv)
	if err != nil {
		return Fatal(err)
	}
	if len(d.revs) > 0 || d.cached {
		return UsageLine("git diff-files [-q] [-0 | -1 | -2 | -3 | -c | --cc] [<common-diff-options>] [<path>...]")
	}
	if err := d.open(true); err != nil {
		return foreignIndex(err)
	}
	if err := d.workTree(d.comparer()).IndexFiles(d.files.Index, d.add); err != nil {
		return Fatal(err)
	}
	return d.finish()
}

func runDiffIndex(env *Env, argv []string) Status {
	d, err := plumbing(env, argv)
	if err != nil {
		return Fatal(err)
	}
	if len(d.revs) != 1 {
		return UsageLine("git diff-index [-m] [--cached] [--merge-base] [<common-diff-options>] <tree-ish> [<path>...]")
	}
	if !d.cached {
		if err := env.Repo.RequireWorkTree(); err != nil {
			return Fatal(err)
		}
	}
	tree, err := d.peelTree(d.revs[0].ID, d.revs[0].Name)
	if err != nil {
		return Fatal(err)
	}
	if err := d.open(true); err != nil {
		return foreignIndex(err)
	}
	base := d.comparer()
	if d.cached {
		base.ShowIntent = true
		err = base.TreeIndex(tree, d.files.Index, d.add)
	} else {
		err = d.workTree(base).TreeFiles(tree, d.files.Index, d.add)
	}
	if err != nil {
		return Fatal(err)
	}
	return d.finish()
}

func runDiffTree(env *Env, argv []string) Status {
	d, err := plumbing(env, argv)
	if err != nil {
		return Fatal(err)
	}
	// Formats other than raw look into subdirectories.
	if d.formats&^(showRaw|showNameOnly|showNameStatus) != 0 {
		d.recurse = true
	}
	trees, err := d.endpoints()
	if err != nil {
		return Fatal(err)
	}
	if err := d.open(false); err != nil {
		return Fatal(err)
	}
	switch len(trees) {
	case 2:
		err = d.comparer().TreeTree(trees[0], trees[1], d.add)
	case 1:
		err = d.commitChanges()
	default:
		return UsageLine("git diff-tree [--stdin] [-m] [-s] [-v] [--no-commit-id] [--pretty] [-t] [-r] [-c | --cc] [--combined-all-paths] " +
			"[--root] [--merge-base] [<common-diff-options>] <tree-ish> [<tree-ish>] [<path>...]")
	}
	if err != nil {
		return Fatal(err)
	}
	if len(trees) == 1 && len(d.changes) > 0 && !d.noCommitID && !d.quiet {
		env.Print(d.revs[0].ID.String())
		if d.nul {
			env.Print("\x00")
		} else {
			env.Print("\n")
		}
	}
	return d.finish()
}

// commitChanges compares a commit with its only parent.
func (d *differ) commitChanges() error {
	w, err := revision.NewRepoWalk(d.env.Repo)
	if err != nil {
		return err
	}
	c, err := w.Committish(d.revs[0].ID)
	if err != nil {
		return err
	}
	d.revs[0].ID = c.ID
	old := d.env.Repo.Algo.Null()
	switch {
	case len(c.Parents) > 1, len(c.Parents) == 0 && !d.root:
		return nil
	case len(c.Parents) == 1:
		p, err := w.Commit(c.Parents[0].ID)
		if err != nil {
			return err
		}
		old = p.Tree
	}
	return d.comparer().TreeTree(old, c.Tree, d.add)
}
