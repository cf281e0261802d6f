package repo

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
)

// config writes the configuration file.
func (n *initializer) config() error {
	timeout, err := n.cfg.LockTimeout()
	if err != nil {
		return err
	}
	path := n.common + "/config"
	e, err := config.NewEdit(n.locker, path, path, timeout, n.d.warn)
	if err != nil {
		return err
	}
	defer e.Rollback()
	set := func(key, value string) error { return e.Apply(config.Change{Key: key, Value: value}) }
	version, err := n.version(e)
	if err == nil {
		err = set("core.repositoryformatversion", strconv.Itoa(version))
	}
	if err == nil {
		err = set("core.filemode", strconv.FormatBool(n.fileMode(path)))
	}
	if err == nil {
		err = set("core.bare", strconv.FormatBool(n.o.WorkTree == ""))
	}
	if err == nil && n.o.WorkTree != "" {
		err = n.workTreeConfig(set)
	}
	if err == nil && !n.reinit {
		err = n.probe(set)
	}
	if err == nil && n.locker.Shared != lockfile.SharedUmask {
		if err = set("core.sharedrepository", sharedValue(n.locker.Shared)); err == nil {
			err = set("receive.denyNonFastforwards", "true")
		}
	}
	if err != nil {
		return err
	}
	return e.Stage(n.barrier)
}

// version returns the format version; on the way it takes back extensions that
// an old repository need not name.
func (n *initializer) version(e *config.Edit) (int, error) {
	version := 0
	if n.reinit {
		for _, name := range []string{"objectformat", "refstorage"} {
			if contains(n.d.format.v1only, name) {
				if err := e.Apply(config.Change{Key: "extensions." + name, Unset: true}); err != nil {
					return 0, err
				}
			}
		}
		for _, name := range n.d.format.v1only {
			if name != "objectformat" && name != "refstorage" {
				version = 1
			}
		}
	}
	submodules, err := n.cfg.Bool("init.defaultsubmodulepathconfig", false)
	if err != nil || !submodules {
		return version, err
	}
	return 1, e.Apply(config.Change{Key: "extensions.submodulepathconfig", Value: "true"})
}

// fileMode finds out whether the file system keeps the executable bit. The
// lock of the configuration file serves as the subject.
func (n *initializer) fileMode(path string) bool {
	lock := path + ".lock"
	before, err := os.Lstat(lock)
	if err != nil {
		return false
	}
	if n.fsys.Chmod(lock, before.Mode().Perm()^0o100) != nil {
		return false
	}
	after, err := os.Lstat(lock)
	if err != nil || after.Mode() == before.Mode() || n.fsys.Chmod(lock, before.Mode().Perm()) != nil {
		return false
	}
	// Where even a configuration file is executable, the bit says nothing.
	return n.reinit || before.Mode()&0o100 == 0
}

func (n *initializer) workTreeConfig(set func(key, value string) error) error {
	if n.cfg.Lookup("core.logallrefupdates") == nil {
		if err := set("core.logallrefupdates", "true"); err != nil {
			return err
		}
	}
	if n.original == filepath.Join(n.o.WorkTree, ".git") {
		return nil
	}
	return set("core.worktree", n.o.WorkTree)
}

// probe finds out what else the file system can do.
func (n *initializer) probe(set func(key, value string) error) error {
	links := false
	for i := 0; i < 100 && !links; i++ {
		path := n.gitdir + "/t" + strconv.Itoa(os.Getpid()) + strconv.Itoa(i)
		if err := n.fsys.Symlink("testing", path); err != nil {
			if os.IsExist(err) {
				continue
			}
			break
		}
		info, err := os.Lstat(path)
		links = err == nil && info.Mode()&fs.ModeSymlink != 0
		if err := n.fsys.Remove(path); err != nil {
			return fmt.Errorf("unable to unlink '%s': %s", path, errnoText(err))
		}
	}
	if !links {
		if err := set("core.symlinks", "false"); err != nil {
			return err
		}
	}
	if _, err := os.Stat(n.common + "/CoNfIg.LoCk"); err == nil {
		return set("core.ignorecase", "true")
	}
	return nil
}

// sharedValue is how the configuration names permissions so that any git reads them.
func sharedValue(s lockfile.SharedRepository) string {
	switch {
	case s < 0:
		return fmt.Sprintf("0%o", -int(s))
	case s == lockfile.SharedEverybody:
		return "2"
	}
	return "1"
}
