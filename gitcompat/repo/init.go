package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/trace2"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// InitOptions say what repository to make.
type InitOptions struct {
	Dir     string // the directory of the command, physical
	Environ []string
	Warn    func(line string)             // takes whole lines; may be nil
	Advise  func(key, format, arg string) // gives advice, unless it is turned off; may be nil

	Trace *trace2.Tracer // told of the sync calls; may be nil

	GitDir         string // as the user named it; relative to Dir
	SeparateGitDir string // where the git directory is to be instead; absolute, "" for none
	WorkTree       string // absolute; "" for a bare repository
	Template       *string
	Shared         *lockfile.SharedRepository
	InitialBranch  string // "" for the default
	Quiet          bool
	ObjectFormat   string   // "" for the default
	RefFormat      string   // "" for the default
	Made           []string // directories in which a name was made for GitDir
}

// InitResult says what was made.
type InitResult struct {
	GitDir string
	Reinit bool
	Shared bool
}

// initializer makes one repository.
type initializer struct {
	o        InitOptions
	fsys     *vfs.FS
	d        *discovery
	gitdir   string
	original string // git directory by its first name, which the working tree may need
	common   string
	cfg      *config.Config
	locker   *lockfile.Locker
	barrier  *syncpolicy.Barrier
	reinit   bool
}

// Init makes a repository, or completes one that is there. All of it is
// published at the end, and durable as the configuration says.
func Init(fsys *vfs.FS, o InitOptions) (*InitResult, error) {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	d := &discovery{o: Options{Dir: o.Dir, Environ: o.Environ, Warn: o.Warn}, cwd: o.Dir, top: o.Dir, env: config.Environ(o.Environ)}
	n := &initializer{o: o, fsys: fsys, d: d}
	defer func() {
		if n.barrier != nil {
			n.barrier.Rollback()
		}
	}()
	for _, step := range []func() error{n.place, n.format, n.begin, n.templates, n.refs, n.objects, n.config} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := n.barrier.Commit(); err != nil {
		return nil, err
	}
	return &InitResult{GitDir: n.gitdir, Reinit: n.reinit, Shared: n.locker.Shared != lockfile.SharedUmask}, nil
}

// place finds out where the git directory is to be, and moves an old one there.
func (n *initializer) place() (err error) {
	if n.original, err = strictRealPath(join(n.o.Dir, n.o.GitDir)); err != nil {
		return err
	}
	n.gitdir = n.original
	if n.o.SeparateGitDir == "" {
		if target, state, err := n.d.readGitfile(place{n.o.GitDir, n.original}); err != nil {
			return err
		} else if state == gitfileOK {
			n.gitdir = target
		}
		return nil
	}
	if n.gitdir, err = strictRealPath(n.o.SeparateGitDir); err != nil {
		return err
	}
	return n.separate()
}

// separate moves an old git directory to its new place, and leaves a gitfile.
func (n *initializer) separate() error {
	info, err := os.Stat(n.original)
	moved := n.original
	switch {
	case err != nil:
		moved = ""
	case info.Mode().IsRegular():
		if moved, _, err = n.d.readGitfile(place{n.original, n.original}); err != nil {
			return err
		}
	case !info.IsDir():
		return fmt.Errorf("unable to handle file type %d", info.Mode())
	}
	if moved != "" && moved != n.gitdir {
		if err := n.fsys.Rename(moved, n.gitdir); err != nil {
			return fmt.Errorf("unable to move %s to %s: %s", moved, n.gitdir, errnoText(err))
		}
		if err := n.repairWorktrees(); err != nil {
			return err
		}
	}
	return n.write(n.original, "gitdir: "+n.gitdir+"\n")
}

// repairWorktrees tells linked working trees where the git directory is now.
func (n *initializer) repairWorktrees() error {
	list, err := os.ReadDir(n.gitdir + "/worktrees")
	if err != nil {
		return nil
	}
	for _, e := range list {
		admin := n.gitdir + "/worktrees/" + e.Name()
		data, err := os.ReadFile(admin + "/gitdir")
		if err != nil {
			continue
		}
		file := join(admin, strings.TrimRight(string(data), "\r\n"))
		if _, err := os.Stat(filepath.Dir(file)); err != nil {
			continue
		}
		if err := n.write(file, "gitdir: "+admin+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// write replaces a small file outside of the git directory.
func (n *initializer) write(path, content string) error {
	f, err := n.fsys.CreateTemp(filepath.Dir(path), ".gitfile", 0o666)
	if err == nil {
		_, err = f.Write([]byte(content))
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err == nil {
			err = n.fsys.Rename(f.Name(), path)
		}
		if err != nil {
			n.fsys.Remove(f.Name())
		}
		n.fsys.Keep(f.Name())
	}
	if err != nil {
		return fmt.Errorf("could not write to '%s': %s", path, errnoText(err))
	}
	n.o.Made = append(n.o.Made, filepath.Dir(path))
	return nil
}

// format checks what is there already, and what is asked for.
func (n *initializer) format() error {
	at := place{n.gitdir, n.gitdir}
	if err := n.d.loadFormat(at); err != nil {
		return err
	}
	common, _, err := n.d.commonDir(at)
	if err != nil {
		return err
	}
	n.common = common.path
	early, err := config.Load(config.Options{LookupEnv: n.d.env, Dir: n.o.Dir, Warn: n.o.Warn})
	if err != nil {
		return err
	}
	hash := formatChoice{option: n.o.ObjectFormat, env: "GIT_DEFAULT_HASH", key: "init.defaultobjectformat", what: "hash algorithm",
		known: []string{"sha1", "sha256"}, other: "hash", old: "sha1", extension: "objectformat"}
	if err := hash.check(n, early); err != nil {
		return err
	}
	ref := formatChoice{option: n.o.RefFormat, env: "GIT_DEFAULT_REF_FORMAT", key: "init.defaultrefformat", what: "ref storage format",
		known: []string{"files", "reftable"}, other: "reference storage format", old: "files", extension: "refstorage"}
	if e := early.Lookup("feature.experimental"); e != nil {
		if ref.experimental, err = e.Bool(); err != nil {
			return err
		}
	}
	return ref.check(n, early)
}

// formatChoice is one thing of which git has two kinds.
type formatChoice struct {
	option, env, key, what, other, old, extension string
	known                                         []string
	experimental                                  bool
}

// check accepts the kind that is implemented; another is reported by name.
func (c formatChoice) check(n *initializer, cfg *config.Config) error {
	exists := n.d.format.Version >= 0
	choice := c.option
	value, configured, err := cfg.String(c.key)
	if err != nil {
		return err
	}
	if configured && !contains(c.known, value) {
		n.o.Warn("warning: unknown " + c.what + " '" + value + "'")
		configured = false
	}
	if choice != "" {
		if !contains(c.known, choice) {
			return fmt.Errorf("unknown %s '%s'", c.what, choice)
		}
		if exists && choice != c.old {
			return fmt.Errorf("attempt to reinitialize repository with different %s", c.other)
		}
	} else if env, ok := n.d.env(c.env); ok {
		if !contains(c.known, env) {
			return fmt.Errorf("unknown %s '%s'", c.what, env)
		}
		choice = env
	} else if configured {
		choice = value
	} else if c.experimental && !exists {
		choice = c.known[1]
	}
	if choice != "" && choice != c.old && !exists {
		return &UnsupportedError{Extension: c.extension, Value: choice}
	}
	return nil
}

// begin makes the git directory and begins the barrier.
func (n *initializer) begin() error {
	made, err := lockfile.SharedUmask.Mkdir(n.fsys, n.gitdir)
	if err != nil {
		return fmt.Errorf("%s: %s", n.gitdir, errnoText(err))
	}
	if made {
		n.o.Made = append(n.o.Made, filepath.Dir(n.gitdir))
	}
	if err := n.loadConfig(); err != nil {
		return err
	}
	policy, warnings, err := LoadPolicy(n.cfg)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		n.o.Warn("warning: " + w)
	}
	n.o.Trace.Count(policy.Counters)
	n.barrier = syncpolicy.NewBarrier(n.fsys, policy, n.gitdir)
	n.settle(syncpolicy.Objects, n.o.Made...)
	return nil
}

// settle makes names durable that were made in dirs.
func (n *initializer) settle(ph syncpolicy.Phase, dirs ...string) {
	if len(dirs) > 0 {
		n.barrier.Do(ph, func() error { return nil }, dirs...)
	}
}

// loadConfig reads the configuration as it is now.
func (n *initializer) loadConfig() (err error) {
	n.cfg, err = config.Load(config.Options{
		LookupEnv: n.d.env, Dir: n.o.Dir, GitDir: n.gitdir, CommonDir: n.common, WorkTree: n.o.WorkTree,
		WorktreeConfig: n.d.format.WorktreeConfig,
	})
	if err != nil {
		return err
	}
	if n.locker, err = LoadLocker(n.fsys, n.cfg, n.d.warn); err != nil {
		return err
	}
	if n.o.Shared != nil {
		n.locker.Shared = *n.o.Shared
	}
	return nil
}

// refs makes the ref store and HEAD.
func (n *initializer) refs() error {
	_, err := os.Lstat(n.gitdir + "/HEAD")
	n.reinit = err == nil
	if n.locker.Shared != lockfile.SharedUmask {
		if err := n.locker.Shared.Adjust(n.fsys, n.gitdir); err != nil {
			return fmt.Errorf("Could not make %s writable by group", n.gitdir)
		}
	}
	if err := n.directories(n.common, "refs", "refs/heads", "refs/tags"); err != nil {
		return err
	}
	if n.reinit {
		if n.o.InitialBranch != "" {
			n.o.Warn("warning: re-init: ignored --initial-branch=" + n.o.InitialBranch)
		}
		return nil
	}
	branch, err := n.branch()
	if err != nil {
		return err
	}
	return n.lockAndStage(n.gitdir+"/HEAD", "ref: refs/heads/"+branch+"\n", syncpolicy.Symrefs, syncpolicy.Symref)
}

func (n *initializer) lockAndStage(path, content string, ph syncpolicy.Phase, c syncpolicy.Component) error {
	lock, err := n.locker.Hold(path, lockfile.Options{})
	if err != nil {
		return err
	}
	if _, err := lock.Write([]byte(content)); err != nil {
		lock.Rollback()
		return fmt.Errorf("unable to write to %s: %s", lock.LockPath(), errnoText(err))
	}
	return lock.Stage(n.barrier, ph, c)
}

const branchAdvice = "Using '%s' as the name for the initial branch. This default branch name\n" +
	"will change to \"main\" in Git 3.0. To configure the initial branch name\n" +
	"to use in all of your new repositories, which will suppress this warning,\n" +
	"call:\n\n" +
	"\tgit config --global init.defaultBranch <name>\n\n" +
	"Names commonly chosen instead of 'master' are 'main', 'trunk' and\n" +
	"'development'. The just-created branch can be renamed via this command:\n\n" +
	"\tgit branch -m <name>\n"

// branch returns the name of the branch that HEAD is to point to.
func (n *initializer) branch() (string, error) {
	name := n.o.InitialBranch
	if name != "" {
		if !refname.Check("refs/heads/"+name, 0) {
			return "", fmt.Errorf("invalid initial branch name: '%s'", name)
		}
		return name, nil
	}
	if name, _ = n.d.env("GIT_TEST_DEFAULT_INITIAL_BRANCH_NAME"); name == "" {
		value, ok, err := n.cfg.String("init.defaultbranch")
		if err != nil {
			return "", err
		}
		if name = value; !ok {
			name = "master"
			if !n.o.Quiet && n.o.Advise != nil {
				n.o.Advise("defaultBranchName", branchAdvice, name)
			}
		}
	}
	if !refname.Check("refs/heads/"+name, 0) {
		return "", fmt.Errorf("invalid branch name: init.defaultBranch = %s", name)
	}
	return name, nil
}

// objects makes the folders of the object database.
func (n *initializer) objects() error {
	dir := n.common + "/objects"
	if env, ok := n.d.env("GIT_OBJECT_DIRECTORY"); ok {
		dir = join(n.o.Dir, env)
	}
	return n.directories(dir, "", "pack", "info")
}

// directories makes directories below base.
func (n *initializer) directories(base string, names ...string) error {
	for _, name := range names {
		dir := filepath.Join(base, name)
		made, err := n.locker.Shared.Mkdir(n.fsys, dir)
		if err != nil {
			return fmt.Errorf("%s: %s", dir, errnoText(err))
		}
		if made {
			n.settle(syncpolicy.Objects, filepath.Dir(dir))
		} else if n.locker.Shared != lockfile.SharedUmask {
			if err := n.locker.Shared.Adjust(n.fsys, dir); err != nil && !errors.Is(err, fs.ErrPermission) {
				return fmt.Errorf("Could not make %s writable by group", dir)
			}
		}
	}
	return nil
}
