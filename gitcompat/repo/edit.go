package repo

import (
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/syncpolicy"
)

// EditConfig changes the configuration file that all working trees share: all
// that change does makes one new file. The configuration is read again.
func (r *Repo) EditConfig(change func(e *config.Edit) error) error {
	return r.editFile(r.CommonDir+"/config", r.GitPathName("config"), change)
}

// EditWorktreeConfig changes the configuration of this working tree alone,
// where it has a file of its own, else the one that all share.
func (r *Repo) EditWorktreeConfig(change func(e *config.Edit) error) error {
	if !r.Format.WorktreeConfig {
		return r.EditConfig(change)
	}
	return r.editFile(r.GitDir+"/config.worktree", r.GitPathName("config.worktree"), change)
}

func (r *Repo) editFile(path, name string, change func(e *config.Edit) error) error {
	locker, err := r.Locker()
	if err != nil {
		return err
	}
	timeout, err := r.Config.LockTimeout()
	if err != nil {
		return err
	}
	b, err := r.NewBarrier()
	if err != nil {
		return err
	}
	defer b.Rollback()
	e, err := config.NewEdit(locker, path, name, timeout, r.warn)
	if err != nil {
		return err
	}
	defer e.Rollback()
	if err := change(e); err != nil {
		return err
	}
	if err := e.Stage(b); err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	return r.ReloadConfig()
}

// StageConfig stages a change of the configuration file that all working trees
// share into b, for a command that changes more than that.
func (r *Repo) StageConfig(b *syncpolicy.Barrier, change func(e *config.Edit) error) error {
	locker, err := r.Locker()
	if err != nil {
		return err
	}
	timeout, err := r.Config.LockTimeout()
	if err != nil {
		return err
	}
	e, err := config.NewEdit(locker, r.CommonDir+"/config", r.GitPathName("config"), timeout, r.warn)
	if err != nil {
		return err
	}
	defer e.Rollback()
	if err := change(e); err != nil {
		return err
	}
	return e.Stage(b)
}
