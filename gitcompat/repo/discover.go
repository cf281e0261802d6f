package repo

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/trace2"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Options are what a command knows before there is a repository.
type Options struct {
	Dir     string // the directory of the command, as getcwd(2) gives it
	Environ []string
	Warn    func(line string) // takes whole lines, "warning: ..."; may be nil

	// Bare says that --bare was given: core.bare and core.worktree do not count.
	Bare bool
	// NoConfig leaves Repo.Config nil, for a command that must be able to repair
	// the configuration. ReloadConfig reads it.
	NoConfig bool
	// Trace is told of what git traces during discovery; it may be nil.
	Trace *trace2.Tracer
}

// discovery is one search for a repository.
type discovery struct {
	o   Options
	cwd string
	env config.LookupEnv

	format    Format
	local     *config.File
	gitdir    place
	workTree  string // "" for none
	prefix    string
	top       string // the directory that git would change to
	exported  bool   // git sets GIT_DIR for its children
	implicit0 bool   // and GIT_IMPLICIT_WORK_TREE=0
	noCommon  string // the git directory that was found to have no commondir
}

// Discover finds the repository of a command. A *NotRepoError says that there is none.
func Discover(fsys *vfs.FS, o Options) (*Repo, error) {
	d := &discovery{o: o, cwd: o.Dir, top: o.Dir, env: config.Environ(o.Environ)}
	if dir, ok := d.env("GIT_DIR"); ok {
		if err := d.explicit(d.at(dir)); err != nil {
			return nil, err
		}
		return d.repo(fsys)
	}
	if err := d.walk(); err != nil {
		return nil, err
	}
	return d.repo(fsys)
}

// walk looks for a repository in the directory of the command and above it.
func (d *discovery) walk() error {
	ceiling := d.ceiling()
	across, err := d.envBool("GIT_DISCOVERY_ACROSS_FILESYSTEM", false)
	if err != nil {
		return err
	}
	var dev uint64
	for dir := d.cwd; ; {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("failed to stat '%s': %s", dir, errnoText(err))
		}
		if dir == d.cwd {
			dev = device(info)
		} else if !across && device(info) != dev {
			return &NotRepoError{Msg: fmt.Sprintf("not a git repository (or any parent up to mount point %s)\n"+
				"Stopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).", dir)}
		}
		if found, err := d.try(dir, info); found || err != nil {
			return err
		}
		parent := filepath.Dir(dir)
		if parent == dir || len(parent) <= len(ceiling) && ceiling != "" {
			return &NotRepoError{Msg: "not a git repository (or any of the parent directories): .git"}
		}
		dir = parent
	}
}

// ceiling returns the longest usable entry of GIT_CEILING_DIRECTORIES above the
// directory of the command: neither it nor what is above it is looked at.
func (d *discovery) ceiling() string {
	list, _ := d.env("GIT_CEILING_DIRECTORIES")
	if list == "" {
		return ""
	}
	best, raw := "", false
	for _, entry := range filepath.SplitList(list) {
		if entry == "" {
			raw = true
			continue
		}
		if !filepath.IsAbs(entry) {
			continue
		}
		if entry = filepath.Clean(entry); !raw {
			real, err := strictRealPath(entry)
			if err != nil {
				continue
			}
			entry = real
		}
		if len(entry) > len(best) && inside(d.cwd, entry) > 0 {
			best = entry
		}
	}
	return best
}

// inside returns where in path the part below dir begins, 0 if path is dir
// itself, and -1 if it is not inside.
func inside(path, dir string) int {
	if path == dir {
		return 0
	}
	if !strings.HasPrefix(path, dir) {
		return -1
	}
	if dir[len(dir)-1] == filepath.Separator {
		return len(dir)
	}
	if path[len(dir)] == filepath.Separator {
		return len(dir) + 1
	}
	return -1
}

// try looks at one directory: .git in it, and whether it is a git directory itself.
func (d *discovery) try(dir string, dirInfo fs.FileInfo) (bool, error) {
	dotgit := filepath.Join(dir, ".git")
	info, err := os.Lstat(dotgit)
	if err == nil {
		found, err := d.tryDotGit(dir, dotgit, dirInfo, info)
		if found || err != nil {
			return found, err
		}
	}
	ok, err := d.isGitDir(place{dir, dir})
	if err != nil || !ok {
		return false, err
	}
	d.o.Trace.Data("setup", "implicit-bare-repository", dir)
	if err := d.bareAllowed(dir); err != nil {
		return false, err
	}
	if err := d.checkOwner(dir, dir, dirInfo); err != nil {
		return false, err
	}
	return true, d.bare(dir)
}

func (d *discovery) tryDotGit(dir, dotgit string, dirInfo, info fs.FileInfo) (bool, error) {
	name := place{name: dotgit, path: dotgit}
	if info.IsDir() || info.Mode()&fs.ModeSymlink != 0 && isDir(dotgit) {
		ok, err := d.isGitDir(name)
		if err != nil || !ok {
			return false, err
		}
		if err := d.checkOwner(dir, dir, dirInfo, info); err != nil {
			return false, err
		}
		return true, d.implicit(dir, place{".git", dotgit})
	}
	target, state, err := d.readGitfile(name)
	switch {
	case err != nil:
		return false, err
	case state == gitfileMissing:
		return false, nil
	case state == gitfileStatFailed:
		return false, fmt.Errorf("error reading '%s'", dotgit)
	case state != gitfileOK:
		return false, fmt.Errorf("not a regular file: '%s'", dotgit)
	}
	targetInfo, err := os.Lstat(target)
	if err != nil {
		return false, err
	}
	if err := d.checkOwner(dir, dir, info, dirInfo, targetInfo); err != nil {
		return false, err
	}
	return true, d.implicit(dir, place{target, target})
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// explicit sets up the repository that GIT_DIR names.
func (d *discovery) explicit(gitdir place) error {
	target, state, err := d.readGitfile(gitdir)
	if err != nil {
		return err
	}
	if state == gitfileOK {
		gitdir = place{target, target}
	}
	ok, err := d.isGitDir(gitdir)
	if err != nil {
		return err
	}
	if !ok {
		return &NotRepoError{Msg: fmt.Sprintf("not a git repository: '%s'", gitdir.name)}
	}
	if err := d.loadFormat(gitdir); err != nil {
		return err
	}
	d.gitdir, d.exported = gitdir, true
	tree, err := d.explicitWorkTree(gitdir)
	if err != nil || tree == "" {
		return err
	}
	d.workTree = tree
	if off := inside(d.cwd, tree); off > 0 {
		real := realPath(gitdir.path)
		d.gitdir = place{real, real}
		d.top = tree
		d.prefix = filepath.ToSlash(d.cwd[off:]) + "/"
	}
	return nil
}

// explicitWorkTree finds the working tree of a git directory that was named; "" for none.
func (d *discovery) explicitWorkTree(gitdir place) (string, error) {
	if env, ok := d.env("GIT_WORK_TREE"); ok {
		d.format.workTree, d.format.hasWorkTree = "", false
		return strictRealPath(join(d.cwd, env))
	}
	if d.format.bare > 0 {
		return "", nil
	}
	if d.format.hasWorkTree {
		tree := d.format.workTree
		if filepath.IsAbs(tree) {
			return strictRealPath(tree)
		}
		path := join(gitdir.path, tree)
		real, err := filepath.EvalSymlinks(path)
		if err == nil && !isDir(real) {
			err = fs.ErrNotExist
		}
		if err != nil {
			return "", fmt.Errorf("cannot chdir to '%s': %s", tree, errnoText(err))
		}
		return real, nil
	}
	yes, err := d.envBool("GIT_IMPLICIT_WORK_TREE", true)
	if err != nil || !yes {
		return "", err
	}
	return d.cwd, nil
}

// implicit sets up a .git found in dir.
func (d *discovery) implicit(dir string, gitdir place) error {
	if err := d.loadFormat(gitdir); err != nil {
		return err
	}
	if _, ok := d.env("GIT_WORK_TREE"); ok || d.format.hasWorkTree {
		if dir != d.cwd {
			real := realPath(gitdir.path)
			gitdir = place{real, real}
		}
		return d.explicit(gitdir)
	}
	if d.format.bare > 0 {
		d.gitdir, d.exported = gitdir, true
		if dir != d.cwd {
			real := realPath(gitdir.path)
			d.gitdir = place{real, real}
		}
		return nil
	}
	d.gitdir, d.exported = gitdir, gitdir.name != ".git"
	d.workTree, d.top = dir, dir
	if off := inside(d.cwd, dir); off > 0 {
		d.prefix = filepath.ToSlash(d.cwd[off:]) + "/"
	}
	return nil
}

// bare sets up dir, which is a git directory itself.
func (d *discovery) bare(dir string) error {
	if err := d.loadFormat(place{".", dir}); err != nil {
		return err
	}
	d.implicit0 = true
	gitdir := place{dir, dir}
	if dir == d.cwd {
		gitdir.name = "."
	}
	if _, ok := d.env("GIT_WORK_TREE"); ok || d.format.hasWorkTree {
		return d.explicit(gitdir)
	}
	d.gitdir, d.exported = gitdir, true
	return nil
}

// loadFormat reads the common configuration file and checks the format.
func (d *discovery) loadFormat(gitdir place) error {
	common, shared, err := d.commonDir(gitdir)
	if err != nil {
		return err
	}
	file, err := readNamed(common, "config", config.ScopeLocal)
	if err != nil {
		return err
	}
	if d.format, err = readFormat(file); err != nil {
		return err
	}
	d.local = file
	if d.format.Version < 0 {
		return nil
	}
	if err := d.format.verify(); err != nil {
		return err
	}
	if d.format.WorktreeConfig {
		own, err := readNamed(gitdir, "config.worktree", config.ScopeWorktree)
		if err != nil {
			return err
		}
		for i := range own.Entries {
			if err := d.format.setWorkTree(&own.Entries[i]); err != nil {
				return err
			}
		}
		shared = false
	}
	switch {
	case d.o.Bare:
		d.format.bare, d.format.hasWorkTree = 1, false
	case shared:
		d.format.bare, d.format.hasWorkTree = -1, false
	}
	return nil
}

// readNamed reads a file of dir under the name that git has for it.
func readNamed(dir place, base string, scope config.Scope) (*config.File, error) {
	return config.ReadFileAs(dir.path+"/"+base, dir.name+"/"+base, scope)
}

func (d *discovery) envBool(name string, def bool) (bool, error) {
	value, ok := d.env(name)
	if !ok {
		return def, nil
	}
	b, ok := config.ParseBool(value, true)
	if !ok {
		return false, fmt.Errorf("bad boolean environment value '%s' for '%s'", value, name)
	}
	return b, nil
}
