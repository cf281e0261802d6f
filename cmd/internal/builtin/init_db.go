package builtin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

var cmdInit = &Command{
	Name:    "init",
	Setup:   NeedNothing,
	Run:     runInit,
	Options: func() *parseopt.Parser { return new(initDB).parser() },
}

// cmdInitDB is the old name of init.
var cmdInitDB = &Command{
	Name:    "init-db",
	Setup:   NeedNothing,
	Run:     runInit,
	Options: func() *parseopt.Parser { return new(initDB).parser() },
}

type initDB struct {
	template  *string
	bare      int // -1: not said
	quiet     bool
	shared    *lockfile.SharedRepository
	separate  string
	branch    string
	hash, ref string
}

func (o *initDB) parser() *parseopt.Parser {
	o.bare = -1
	return &parseopt.Parser{
		Usage: []string{
			"git init [-q | --quiet] [--bare] [--template=<template-directory>]\n" +
				"         [--separate-git-dir <git-dir>] [--object-format=<format>]\n" +
				"         [--ref-format=<format>]\n" +
				"         [-b <branch-name> | --initial-branch=<branch-name>]\n" +
				"         [--shared[=<permissions>]] [<directory>]",
		},
		Options: []parseopt.Option{
			parseopt.StringP(0, "template", &o.template, "template-directory", "take templates from this directory"),
			parseopt.SetInt(0, "bare", &o.bare, "make a bare repository", 1),
			parseopt.OptCallback(0, "shared", "permissions", "let several users share the repository", o.setShared).NoNeg(),
			parseopt.Bool('q', "quiet", &o.quiet, "print nothing but errors and warnings"),
			parseopt.String(0, "separate-git-dir", &o.separate, "gitdir", "put the git directory somewhere else"),
			parseopt.String('b', "initial-branch", &o.branch, "name", "name of the first branch"),
			parseopt.String(0, "object-format", &o.hash, "hash", "hash algorithm of object names"),
			parseopt.String(0, "ref-format", &o.ref, "format", "how refs are stored"),
		},
	}
}

func (o *initDB) setShared(a parseopt.Arg) error {
	shared, err := lockfile.ParseShared(a.Value, !a.Given)
	if err != nil {
		return &parseopt.FatalError{Err: errors.New(strings.Replace(err.Error(), "'core.sharedrepository'", "'arg'", 1))}
	}
	o.shared = &shared
	return nil
}

func runInit(env *Env, argv []string) Status {
	o := new(initDB)
	p := o.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if o.bare < 0 && env.Bare {
		o.bare = 1
	}
	if o.separate != "" && o.bare == 1 {
		return Fatalf("options '--separate-git-dir' and '--bare' cannot be used together")
	}
	if len(args) > 1 {
		return UsageLine(p.Usage[0])
	}
	opt := repo.InitOptions{Dir: env.Dir, Trace: env.Trace, InitialBranch: o.branch, Quiet: o.quiet, ObjectFormat: o.hash, RefFormat: o.ref, Shared: o.shared}
	opt.Warn = func(line string) { io.WriteString(env.Stderr, Message("", line)) }
	if o.separate != "" {
		opt.SeparateGitDir = env.Abs(o.separate)
	}
	if o.template != nil {
		dir := *o.template
		if dir != "" {
			dir = env.Abs(dir)
		}
		opt.Template = &dir
	}
	if len(args) == 1 {
		if opt.Made, err = enterDirectory(env, args[0]); err != nil {
			return Fatal(err)
		}
		opt.Dir = env.Dir
	}
	if err := o.where(env, &opt, len(args) > 0); err != nil {
		return Fatal(err)
	}
	return o.make(env, opt)
}

// enterDirectory makes name where it is missing and goes there. It returns the
// directories in which a name was made.
func enterDirectory(env *Env, name string) (made []string, err error) {
	path := env.Abs(name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if made, err = lockfile.SharedUmask.MkdirAll(env.FS, filepath.Dir(path)); err == nil {
			err = env.FS.Mkdir(path, 0o777)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot mkdir %s: %s", name, mkdirReason(path, err))
		}
		made = append(made, filepath.Dir(path))
	} else if err != nil {
		return nil, fmt.Errorf("cannot mkdir %s: %s", name, mkdirReason(path, err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("cannot mkdir %s: File exists", name)
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		_, err = os.ReadDir(real)
		if errors.Is(err, fs.ErrPermission) {
			err = nil // search permission is enough
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot chdir to %s: %s", name, vfs.Strerror(err))
	}
	env.Dir = real
	return made, nil
}

// mkdirReason is why path cannot be made; a file in the way "exists".
func mkdirReason(path string, err error) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, serr := os.Stat(dir); serr == nil {
			if !info.IsDir() {
				return "File exists"
			}
			break
		} else if dir == filepath.Dir(dir) {
			break
		}
	}
	return vfs.Strerror(err)
}

// where decides where the git directory and the working tree are to be.
func (o *initDB) where(env *Env, opt *repo.InitOptions, named bool) error {
	gitdir, given := env.LookupEnv("GIT_DIR")
	if o.bare == 1 && (named || !given) {
		env.Setenv("GIT_DIR", env.Dir)
		gitdir, given = env.Dir, true
	}
	tree, hasTree := env.LookupEnv("GIT_WORK_TREE")
	if hasTree && (!given || o.bare == 1) {
		return errors.New("GIT_WORK_TREE (or --work-tree=<directory>) not allowed without specifying GIT_DIR (or --git-dir=<directory>)")
	}
	if !given {
		gitdir = ".git"
	}
	opt.GitDir, opt.Environ = gitdir, env.Environ
	if opt.SeparateGitDir != "" {
		if main, ok := mainGitDir(env.Abs(gitdir)); ok {
			// In a linked working tree it is the repository itself that moves.
			gitdir, opt.GitDir = main, main
			env.Dir = strings.TrimSuffix(main, "/.git")
			opt.Dir = env.Dir
		}
	}
	if o.bare < 0 {
		o.bare = 0
		if looksBare(gitdir, env.Dir) {
			o.bare = 1
		}
	}
	if o.bare == 1 && opt.SeparateGitDir != "" {
		return errors.New("--separate-git-dir incompatible with bare repository")
	}
	if o.bare == 1 && !hasTree {
		return nil
	}
	switch i := strings.LastIndexByte(gitdir, '/'); {
	case hasTree:
		opt.WorkTree = env.Abs(tree)
	case i >= 0:
		opt.WorkTree = env.Abs(gitdir[:i])
	default:
		opt.WorkTree = env.Dir
	}
	if _, err := os.Stat(opt.WorkTree); err != nil {
		return fmt.Errorf("Cannot access work tree '%s': %s", opt.WorkTree, vfs.Strerror(err))
	}
	real, err := filepath.EvalSymlinks(opt.WorkTree)
	if err == nil {
		opt.WorkTree = real
	}
	return nil
}

// mainGitDir follows the gitfile of a linked working tree to the repository
// that it belongs to.
func mainGitDir(path string) (string, bool) {
	data, err := os.ReadFile(path)
	target, ok := strings.CutPrefix(string(data), "gitdir: ")
	if err != nil || !ok {
		return "", false
	}
	admin := strings.TrimRight(target, "\r\n")
	if !filepath.IsAbs(admin) {
		admin = filepath.Join(filepath.Dir(path), admin)
	}
	common, err := os.ReadFile(admin + "/commondir")
	if err != nil {
		return "", false
	}
	dir := strings.TrimRight(string(common), "\r\n")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(admin, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	return real, err == nil
}

// looksBare guesses from the name of a git directory.
func looksBare(gitdir, cwd string) bool {
	if gitdir == "." || gitdir == cwd {
		return true
	}
	return gitdir != ".git" && !strings.HasSuffix(gitdir, "/.git")
}

func (o *initDB) make(env *Env, opt repo.InitOptions) Status {
	opt.Advise = func(name, format, arg string) {
		if env.Config != nil || env.LoadConfig() == nil {
			env.adviseIf(name, fmt.Sprintf(format, arg))
		}
	}
	done, err := repo.Init(env.FS, opt)
	var other *repo.UnsupportedError
	if errors.As(err, &other) {
		option := map[string]string{"objectformat": "--object-format=", "refstorage": "--ref-format="}[other.Extension]
		return NotNative(option + other.Value)
	}
	if err != nil {
		return Fatal(err)
	}
	if o.quiet {
		return OK
	}
	what, shared := "Initialized empty", ""
	if done.Reinit {
		what = "Reinitialized existing"
	}
	if done.Shared {
		shared = " shared"
	}
	env.Printf("%s%s Git repository in %s/\n", what, shared, strings.TrimSuffix(done.GitDir, "/"))
	return OK
}
