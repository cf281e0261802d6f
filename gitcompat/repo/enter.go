package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Enter opens the repository that a client named by path to a server command:
// path/.git, path, path.git/.git and path.git are tried in this order, or with
// strict only path. There is no working tree, and GIT_DIR is "." for children.
// A *NotRepoError says that there is no repository.
func Enter(fsys *vfs.FS, path string, strict bool, o Options) (*Repo, error) {
	d := &discovery{o: o, cwd: o.Dir, top: o.Dir, env: config.Environ(o.Environ)}
	notRepo := &NotRepoError{Msg: fmt.Sprintf("'%s' does not appear to be a git repository", path)}
	name := path
	if !strict {
		var ok bool
		if name, ok = d.suffixed(path); !ok {
			return nil, notRepo
		}
	}
	dir := d.at(name)
	target, state, err := d.readGitfile(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir.path)
	if err != nil {
		return nil, notRepo
	}
	shown := dir.name
	if state == gitfileOK {
		shown = target
		targetInfo, err := os.Lstat(target)
		if err != nil {
			return nil, notRepo
		}
		if err := d.checkOwner(dir.path, shown, info, targetInfo); err != nil {
			return nil, err
		}
		dir.path = target
	} else if err := d.checkOwner(dir.path, shown, info); err != nil {
		return nil, err
	}
	return d.enter(fsys, dir.path, notRepo)
}

// suffixed finds the repository that a client may mean by path.
func (d *discovery) suffixed(path string) (string, bool) {
	for len(path) > 1 && strings.HasSuffix(path, "/") {
		path = path[:len(path)-1]
	}
	path, ok := config.ExpandPath(path, d.env)
	if !ok {
		return "", false
	}
	for _, suffix := range [...]string{"/.git", "", ".git/.git", ".git"} {
		at := d.at(path + suffix)
		info, err := os.Stat(at.path)
		if err != nil {
			continue
		}
		if info.Mode().IsRegular() {
			return at.name, true
		}
		if ok, err := d.isGitDir(at); info.IsDir() && ok && err == nil {
			return at.name, true
		}
	}
	return "", false
}

// enter sets up the git directory dir, as if the command had been called there.
func (d *discovery) enter(fsys *vfs.FS, dir string, notRepo error) (*Repo, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !isDir(real) {
		return nil, notRepo
	}
	d.cwd, d.top = real, real
	gitdir := place{".", real}
	ok, err := d.isGitDir(gitdir)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, notRepo
	}
	if err := d.loadFormat(gitdir); err != nil {
		return nil, err
	}
	d.gitdir, d.exported = gitdir, true
	return d.repo(fsys)
}
