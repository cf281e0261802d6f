package repo

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// checkOwner refuses a repository of which one of the files belongs to somebody
// else, unless safe.directory names it. path identifies the repository; shown
// is what the message calls it.
func (d *discovery) checkOwner(path, shown string, files ...fs.FileInfo) error {
	different, err := d.envBool("GIT_TEST_ASSUME_DIFFERENT_OWNER", false)
	if err != nil {
		return err
	}
	for _, info := range files {
		different = different || !d.ownedByUser(info)
	}
	if !different {
		return nil
	}
	safe, err := d.safeDirectory(path)
	if err != nil || safe {
		return err
	}
	return &NotRepoError{Msg: fmt.Sprintf("detected dubious ownership in repository at '%s'\n"+
		"To add an exception for this directory, call:\n\n\tgit config --global --add safe.directory %s", shown, shellWord(shown))}
}

// protected reads the configuration that no repository can set (G3).
func (d *discovery) protected() (*config.Config, error) {
	return config.Load(config.Options{LookupEnv: d.env, Dir: d.cwd, SystemGently: true, Warn: d.o.Warn})
}

func (d *discovery) safeDirectory(path string) (bool, error) {
	path, err := strictRealPath(path)
	if err != nil {
		return false, nil
	}
	c, err := d.protected()
	if err != nil {
		return false, err
	}
	safe := false
	for _, e := range c.Multi("safe.directory") {
		if e.Value == "" {
			safe = false
			continue
		}
		if e.Value == "*" {
			safe = true
			continue
		}
		allowed, ok, err := e.Path(d.env)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if !filepath.IsAbs(allowed) && allowed != "." {
			d.warn(fmt.Sprintf("warning: safe.directory '%s' not absolute", allowed))
			continue
		}
		// The last component need not exist, so "<dir>/*" survives this.
		normal, err := strictRealPath(join(d.cwd, allowed))
		if err != nil {
			continue
		}
		if prefix, ok := strings.CutSuffix(normal, "/*"); ok {
			safe = safe || strings.HasPrefix(path, prefix+"/")
		} else if path == normal {
			safe = true
		}
	}
	return safe, nil
}

// bareAllowed applies safe.bareRepository to a bare repository that nobody named.
func (d *discovery) bareAllowed(dir string) error {
	c, err := d.protected()
	if err != nil {
		return err
	}
	explicit := false
	for _, e := range c.Multi("safe.bareRepository") {
		switch e.Value {
		case "explicit":
			explicit = true
		case "all":
			explicit = false
		}
	}
	implicitlyNamed := filepath.Base(dir) == ".git" || strings.Contains(dir, "/.git/worktrees/") || strings.Contains(dir, "/.git/modules/")
	if !explicit || implicitlyNamed {
		return nil
	}
	return &NotRepoError{Msg: fmt.Sprintf("cannot use bare repository '%s' (safe.bareRepository is 'explicit')", dir)}
}

func (d *discovery) warn(line string) {
	if d.o.Warn != nil {
		d.o.Warn(line)
	}
}
