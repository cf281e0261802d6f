package repo

import (
	"fmt"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// ResolveGitDir returns the git directory that name is, or that the .git file
// name leads to (rev-parse --resolve-git-dir).
func ResolveGitDir(name string, o Options) (string, error) {
	d := &discovery{o: o, cwd: o.Dir, top: o.Dir, env: config.Environ(o.Environ)}
	at := d.at(name)
	ok, err := d.isGitDir(at)
	if ok || err != nil {
		return name, err
	}
	target, state, err := d.readGitfile(at)
	if err == nil && state != gitfileOK {
		err = fmt.Errorf("not a gitdir '%s'", name)
	}
	return target, err
}
