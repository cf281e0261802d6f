package repo

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A Repo is the repository of a command. Its parts are opened when they are
// first asked for; it is meant for one command and may be used by its goroutines.
type Repo struct {
	GitDir    string // of this working tree
	CommonDir string // shared by all working trees
	WorkTree  string // "" for none
	Prefix    string // the directory of the command below WorkTree: "" or with a slash at the end
	Dir       string // where git would be after setup: WorkTree, or the directory of the command
	Bare      bool   // no working tree, and core.bare does not say otherwise
	Algo      oid.Algo
	Format    Format
	Config    *config.Config
	FS        *vfs.FS

	// The names that git has for GitDir and CommonDir in messages and output:
	// ".git", ".", or absolute; relative ones as seen from Dir.
	GitDirName, CommonDirName string

	// RefHook runs the reference-transaction hook with a state and its input; to
	// be set before Refs is first called.
	RefHook func(state string, input []byte) error

	environ   []string
	env       config.LookupEnv
	warn      func(line string)
	exported  bool
	implicit0 bool
	bareCfg   int
	bogus     bool // core.bare and core.worktree at once

	policyOnce sync.Once
	policy     *syncpolicy.Policy
	policyErr  error
	lockerOnce sync.Once
	locker     *lockfile.Locker
	lockerErr  error
	identOnce  sync.Once
	ident      *ident.Source
	identErr   error
	odbOnce    sync.Once
	odb        *odb.DB
	odbErr     error
	refsOnce   sync.Once
	refs       *refs.Store
	refsErr    error
}

// repo makes the Repo of what was found, and reads its configuration.
func (d *discovery) repo(fsys *vfs.FS) (*Repo, error) {
	common, shared, err := d.commonDir(d.gitdir)
	if err != nil {
		return nil, err
	}
	r := &Repo{
		GitDir: d.gitdir.path, GitDirName: d.gitdir.name, CommonDir: common.path, CommonDirName: common.name,
		WorkTree: d.workTree, Prefix: d.prefix, Dir: d.top, Algo: d.format.Algo, Format: d.format, FS: fsys,
		environ: d.o.Environ, env: d.env, warn: d.warn,
		exported: d.exported, implicit0: d.implicit0, bareCfg: d.format.bare,
	}
	if !shared {
		r.CommonDirName = r.GitDirName
	}
	r.Bare = r.bareCfg != 0 && r.WorkTree == ""
	if r.bareCfg > 0 && d.format.hasWorkTree {
		d.warn("warning: core.bare and core.worktree do not make sense")
		r.bogus = true
	}
	if name, ok := d.env("GIT_REFERENCE_BACKEND"); ok && name != "files" {
		kind, _, _ := strings.Cut(name, "://")
		if kind != "files" && kind != "reftable" {
			return nil, fmt.Errorf("unknown ref storage format: '%s'", kind)
		}
		return nil, &UnsupportedError{Extension: "refstorage", Value: name}
	}
	// The file was read under the name it had during discovery.
	d.local.Origin.Name = strings.TrimPrefix(r.CommonDirName+"/config", "./")
	if d.o.NoConfig {
		return r, nil
	}
	if r.Config, err = config.Load(r.configOptions(d.local)); err != nil {
		return nil, err
	}
	if e := r.Config.Lookup("core.bare"); e != nil {
		bare, err := e.Bool()
		if err != nil {
			return nil, err
		}
		r.Bare = bare && r.WorkTree == ""
	}
	return r, nil
}

func (r *Repo) configOptions(local *config.File) config.Options {
	return config.Options{
		LookupEnv: r.env, Dir: r.Dir, GitDir: r.GitDirName, CommonDir: r.CommonDirName, WorkTree: r.WorkTree,
		Local: local, WorktreeConfig: r.Format.WorktreeConfig, Warn: r.warn,
	}
}

// ConfigOptions say where to read the configuration of r.
func (r *Repo) ConfigOptions() config.Options { return r.configOptions(nil) }

// ReloadConfig reads the configuration again, after it was written.
func (r *Repo) ReloadConfig() (err error) {
	r.Config, err = config.Load(r.ConfigOptions())
	return err
}

// Getenv looks a variable up in the environment of the command.
func (r *Repo) Getenv(name string) (string, bool) { return r.env(name) }

// Environ returns the environment that git would hand to children: that of the
// command, with GIT_DIR where it was named, GIT_PREFIX and the like.
func (r *Repo) Environ() []string {
	out := make([]string, 0, len(r.environ)+3)
	for _, kv := range r.environ {
		if !strings.HasPrefix(kv, "GIT_PREFIX=") && !(r.exported && strings.HasPrefix(kv, "GIT_DIR=")) &&
			!(r.implicit0 && strings.HasPrefix(kv, "GIT_IMPLICIT_WORK_TREE=")) {
			out = append(out, kv)
		}
	}
	if r.exported {
		out = append(out, "GIT_DIR="+r.GitDirName)
	}
	if r.implicit0 {
		out = append(out, "GIT_IMPLICIT_WORK_TREE=0")
	}
	return append(out, "GIT_PREFIX="+r.Prefix)
}

// RequireWorkTree is what a command that needs a working tree asks for before
// it begins: from outside of it, git changes to its top.
func (r *Repo) RequireWorkTree() error {
	if r.bogus {
		return fmt.Errorf("unable to set up work tree using invalid config")
	}
	if r.WorkTree == "" {
		return fmt.Errorf("this operation must be run in a work tree")
	}
	if r.Dir != r.WorkTree {
		r.Dir = r.WorkTree
		if !filepath.IsAbs(r.GitDirName) {
			r.GitDirName = r.relative(r.GitDir)
		}
		if !filepath.IsAbs(r.CommonDirName) {
			r.CommonDirName = r.relative(r.CommonDir)
		}
	}
	return nil
}

// relative names path as seen from Dir, where it is below it.
func (r *Repo) relative(path string) string {
	if off := inside(path, r.Dir); off > 0 {
		return path[off:]
	} else if off == 0 {
		return "."
	}
	return path
}

// InsideWorkTree reports whether the command was called inside the working tree.
func (r *Repo) InsideWorkTree() bool { return r.WorkTree != "" && inside(r.Dir, r.WorkTree) >= 0 }

// InsideGitDir reports whether the command was called inside the git directory.
func (r *Repo) InsideGitDir() bool { return inside(r.Dir, realPath(r.GitDir)) >= 0 }

// Policy returns what the configuration says about hardening.
func (r *Repo) Policy() (*syncpolicy.Policy, error) {
	r.policyOnce.Do(func() {
		p, warnings, err := LoadPolicy(r.Config)
		for _, w := range warnings {
			r.warn("warning: " + w)
		}
		r.policy, r.policyErr = p, err
	})
	return r.policy, r.policyErr
}

// NewBarrier begins the barrier of a command that writes.
func (r *Repo) NewBarrier() (*syncpolicy.Barrier, error) {
	p, err := r.Policy()
	if err != nil {
		return nil, err
	}
	return syncpolicy.NewBarrier(r.FS, p, r.CommonDir), nil
}

// Locker returns the settings for locks of the repository.
func (r *Repo) Locker() (*lockfile.Locker, error) {
	r.lockerOnce.Do(func() {
		r.locker, r.lockerErr = LoadLocker(r.FS, r.Config, r.warn)
		if r.lockerErr == nil {
			r.locker.Books = r.CommonDir
		}
	})
	return r.locker, r.lockerErr
}

// LoadLocker makes the settings for locks out of the configuration c.
func LoadLocker(fsys *vfs.FS, c *config.Config, warn func(line string)) (*lockfile.Locker, error) {
	l := &lockfile.Locker{FS: fsys, Warn: func(line string) { warn("warning: " + line) }}
	var err error
	if e := c.Lookup("core.sharedrepository"); e != nil {
		if l.Shared, err = lockfile.ParseShared(e.Value, !e.HasValue); err != nil {
			return nil, err
		}
	}
	if l.PIDFiles, err = c.Bool("core.lockfilepid", false); err != nil {
		return nil, err
	}
	keep, _ := c.Get("sluice.stalelocks")
	l.KeepStale = keep == "never"
	return l, nil
}

// LoadPolicy makes the policy out of the configuration c. The warnings are
// git's, without "warning: ".
func LoadPolicy(c *config.Config) (*syncpolicy.Policy, []string, error) {
	var s syncpolicy.Settings
	for _, list := range []struct {
		key string
		to  *[]syncpolicy.Value
	}{{"core.fsync", &s.Fsync}, {"core.fsyncmethod", &s.FsyncMethod}} {
		for _, e := range c.Multi(list.key) {
			if _, err := e.Text(); err != nil {
				return nil, nil, err
			}
			*list.to = append(*list.to, syncpolicy.Value{Text: e.Value})
		}
	}
	if e := c.Lookup("core.fsyncobjectfiles"); e != nil {
		b, err := e.Bool()
		if err != nil {
			return nil, nil, err
		}
		s.FsyncObjectFiles = &b
	}
	s.Default, _ = c.Get("sluice.default")
	s.Settle, _ = c.Get("sluice.settle")
	s.Barrier, _ = c.Get("sluice.barrier")
	if value, ok := c.LookupEnv("GIT_TEST_FSYNC"); ok {
		b, ok := config.ParseBool(value, true)
		if !ok {
			return nil, nil, fmt.Errorf("bad boolean environment value '%s' for 'GIT_TEST_FSYNC'", value)
		}
		s.TestFsync = &b
	}
	return syncpolicy.NewPolicy(s)
}
