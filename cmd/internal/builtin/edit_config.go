package builtin

import (
	"github.com/sluicegit/sluice/gitcompat/config"
)

// editConfig changes the repository's configuration file: all changes under one
// lock and behind one barrier.
func (e *Env) editConfig(change func(*config.Edit) error) error {
	locker, err := e.Repo.Locker()
	if err != nil {
		return err
	}
	timeout, err := e.Config.LockTimeout()
	if err != nil {
		return err
	}
	path := e.Repo.CommonPath("config")
	edit, err := config.NewEdit(locker, path, e.Repo.GitPathName("config"), timeout, e.line)
	if err != nil {
		return err
	}
	defer edit.Rollback()
	if err := change(edit); err != nil {
		return err
	}
	b, err := e.Repo.NewBarrier()
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := edit.Stage(b); err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	return e.Repo.ReloadConfig()
}
