package repo

import (
	"path/filepath"
	"strings"
)

// Path returns the path of a file of this working tree's git directory, as is.
func (r *Repo) Path(elem ...string) string {
	return filepath.Join(append([]string{r.GitDir}, elem...)...)
}

// CommonPath returns the path of a file of the common directory, as is.
func (r *Repo) CommonPath(elem ...string) string {
	return filepath.Join(append([]string{r.CommonDir}, elem...)...)
}

// IndexPath returns the path of the index.
func (r *Repo) IndexPath() string {
	if env, ok := r.env("GIT_INDEX_FILE"); ok {
		return join(r.Dir, env)
	}
	return r.GitDir + "/index"
}

// ObjectDir returns the directory of the primary object database.
func (r *Repo) ObjectDir() string {
	if env, ok := r.env("GIT_OBJECT_DIRECTORY"); ok {
		return join(r.Dir, env)
	}
	return r.CommonDir + "/objects"
}

// ShallowPath returns the path of the file that lists the shallow boundary.
func (r *Repo) ShallowPath() string {
	if env, ok := r.env("GIT_SHALLOW_FILE"); ok {
		return join(r.Dir, env)
	}
	return r.CommonDir + "/shallow"
}

// HooksDir returns the directory of hooks: core.hooksPath, else that of the
// repository.
func (r *Repo) HooksDir() (string, error) {
	path, ok, err := r.Config.Path("core.hookspath")
	if err != nil {
		return "", err
	}
	if ok {
		return join(r.Dir, path), nil
	}
	return r.CommonDir + "/hooks", nil
}

// GitPath returns where the file that git calls $GIT_DIR/name really is: in the
// common directory if all working trees share it, or where the environment or
// the configuration says.
func (r *Repo) GitPath(name string) string { return r.place(name, r.GitDir, r.CommonDir) }

// GitPathName is GitPath as git prints it.
func (r *Repo) GitPathName(name string) string {
	return strings.TrimPrefix(r.place(name, r.GitDirName, r.CommonDirName), "./")
}

func (r *Repo) place(name, gitdir, common string) string {
	env := func(key string) (string, bool) {
		value, ok := r.env(key)
		if ok && filepath.IsAbs(gitdir) {
			value = join(r.Dir, value)
		}
		return value, ok
	}
	switch {
	case name == "info/grafts":
		if file, ok := env("GIT_GRAFT_FILE"); ok {
			return file
		}
	case name == "index":
		if file, ok := env("GIT_INDEX_FILE"); ok {
			return file
		}
	case below(name, "objects"):
		if dir, ok := env("GIT_OBJECT_DIRECTORY"); ok {
			return dir + name[len("objects"):]
		}
	case below(name, "hooks"):
		if path, ok, err := r.Config.Path("core.hookspath"); ok && err == nil {
			if filepath.IsAbs(gitdir) {
				path = join(r.Dir, path)
			}
			return path + name[len("hooks"):]
		}
	}
	if Shared(name) {
		return common + "/" + name
	}
	return gitdir + "/" + name
}

func below(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir) && name[len(dir)] == '/'
}

// Shared reports whether all working trees of a repository share the file
// $GIT_DIR/name.
func Shared(name string) bool {
	name = strings.TrimSuffix(name, ".lock")
	switch name {
	case "config", "gc.pid", "packed-refs", "shallow":
		return true
	case "logs/HEAD", "info/sparse-checkout":
		return false
	}
	for _, dir := range [...]string{"refs/bisect", "refs/rewritten", "refs/worktree"} {
		if strings.HasPrefix(name, dir+"/") || strings.HasPrefix(name, "logs/"+dir+"/") {
			return false
		}
	}
	for _, dir := range [...]string{"branches", "common", "hooks", "info", "logs", "lost-found", "objects", "refs", "remotes", "worktrees", "rr-cache", "svn"} {
		if below(name, dir) {
			return true
		}
	}
	return false
}
