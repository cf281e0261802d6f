// Package hook runs a repository's hooks: the programs in its hooks folder,
// and the commands that the configuration gives for an event.
//
// Source: githooks(5), git-hook(1), hook.c of git 2.55.
//
// Invariants:
//
//	K1  directory, environment and input of a hook are given, never those of this process.
//	K2  commands of the configuration run first, in its order, then the program of the folder;
//	    all run, and one that fails makes the whole fail.
//	K3  a hook that is not executable does not exist, and the user is told once.
package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/gitcompat/trace2"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A Runner runs the hooks of one repository.
type Runner struct {
	repo  *repo.Repo
	trace *trace2.Tracer
	tell  func(line string)

	once   sync.Once
	events map[string][]command // event -> commands of the configuration
	err    error

	mu      sync.Mutex
	advised map[string]bool
}

// command is a hook of the configuration.
type command struct {
	name, line string
	disabled   bool
}

// New returns the Runner of r. tell takes whole lines for the standard error:
// hints, warnings and errors; it may be nil, and so may trace.
func New(r *repo.Repo, trace *trace2.Tracer, tell func(line string)) *Runner {
	if tell == nil {
		tell = func(string) {}
	}
	return &Runner{repo: r, trace: trace, tell: tell, advised: map[string]bool{}}
}

// Options describe one run.
type Options struct {
	Args    []string
	Environ []string // complete; nil: that of the repository
	Dir     string   // where to run; "" is where git would be
	Stdin   io.Reader
	Stdout  io.Writer // nil: the same as Stderr
	Stderr  io.Writer
}

// An ExitError says that a hook failed; Code is as of a shell.
type ExitError struct {
	Hook string
	Code int
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("hook '%s' exited with code %d", e.Hook, e.Code)
}

// Exists reports whether there is anything to run for an event. What is wrong
// with the configuration shows when the hook is run.
func (r *Runner) Exists(name string) bool {
	r.once.Do(r.load)
	if r.err != nil {
		return true
	}
	for _, c := range r.events[name] {
		if !c.disabled {
			return true
		}
	}
	return r.find(name) != ""
}

// Run runs the hooks for an event. ran says whether there was any.
func (r *Runner) Run(name string, o Options) (ran bool, err error) {
	r.once.Do(r.load)
	if r.err != nil {
		return false, r.err
	}
	var todo []command
	for _, c := range r.events[name] {
		if !c.disabled {
			todo = append(todo, c)
		}
	}
	path := r.find(name)
	if path == "" && len(todo) == 0 {
		return false, nil
	}
	if o.Environ == nil {
		o.Environ = r.repo.Environ()
	}
	if o.Stdout == nil {
		o.Stdout = o.Stderr
	}
	var input []byte
	if len(todo) > 0 && o.Stdin != nil {
		if input, err = io.ReadAll(o.Stdin); err != nil {
			return false, err
		}
	}
	code := 0
	for _, c := range todo {
		if input != nil {
			o.Stdin = bytes.NewReader(input)
		}
		code |= r.one(name, c.line, true, o)
	}
	if path != "" {
		if input != nil {
			o.Stdin = bytes.NewReader(input)
		}
		code |= r.one(name, path, false, o)
	}
	if code != 0 {
		return true, &ExitError{name, code}
	}
	return true, nil
}

// find returns the name of the program of the hooks folder, or "".
func (r *Runner) find(name string) string {
	full := r.repo.GitPath("hooks/" + name)
	info, err := os.Stat(full)
	if err == nil && executable(info) {
		return r.repo.GitPathName("hooks/" + name)
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.advised[name] || !r.advice() {
		return ""
	}
	r.advised[name] = true
	r.tell("hint: The '" + r.repo.GitPathName("hooks/"+name) + "' hook was ignored because it's not set as executable.")
	r.tell("hint: You can disable this warning with `git config set advice.ignoredHook false`.")
	return ""
}

// advice reports whether the hint about ignored hooks is wanted.
func (r *Runner) advice() bool {
	if v, ok := r.repo.Getenv("GIT_ADVICE"); ok {
		if b, ok := config.ParseBool(v, true); ok && !b {
			return false
		}
	}
	on, err := r.repo.Config.Bool("advice.ignoredhook", true)
	return on && err == nil
}

// one runs one program, or one line of shell, and returns its exit status.
func (r *Runner) one(name, what string, shell bool, o Options) int {
	argv := append([]string{what}, o.Args...)
	cmd := &exec.Cmd{Path: what, Args: argv, Env: o.Environ, Dir: o.Dir, Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr}
	if cmd.Dir == "" {
		cmd.Dir = r.repo.Dir
	}
	info := trace2.ChildInfo{Hook: name, Dir: o.Dir, Shell: shell, Argv: argv}
	if o.Dir != "" && !shell {
		cmd.Path = r.repo.GitPath("hooks/" + name)
	}
	if shell {
		line := what
		if len(o.Args) > 0 {
			line += ` "$@"`
		}
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"/bin/sh", "-c", line}, argv...)
	}
	child := r.trace.ChildStart(info)
	err := cmd.Start()
	if errors.Is(err, syscall.ENOEXEC) {
		// No "#!": git lets the shell try.
		cmd = &exec.Cmd{Path: "/bin/sh", Args: append([]string{"/bin/sh", cmd.Path}, o.Args...), Env: cmd.Env, Dir: cmd.Dir,
			Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr}
		err = cmd.Start()
	}
	if err != nil {
		r.tell("error: cannot exec '" + what + "': " + vfs.Strerror(err))
		child.Exit(0, -1)
		return 1
	}
	code := r.wait(cmd, what)
	child.Exit(cmd.Process.Pid, code)
	return code
}

func (r *Runner) wait(cmd *exec.Cmd, what string) int {
	err := cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		signo := int(status.Signal())
		if status.Signal() != syscall.SIGINT && status.Signal() != syscall.SIGQUIT && status.Signal() != syscall.SIGPIPE {
			r.tell(fmt.Sprintf("error: %s died of signal %d", what, signo))
		}
		return signo + 128
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		return code
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		// The hook is content, but what it printed got lost.
		r.tell("error: " + what + ": " + err.Error())
		return 1
	}
	return 0
}

// Environ returns base with each variable of set replaced or added.
func Environ(base []string, set ...string) []string {
	out := make([]string, 0, len(base)+len(set))
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		replaced := false
		for _, s := range set {
			replaced = replaced || strings.HasPrefix(s, name+"=")
		}
		if !replaced {
			out = append(out, kv)
		}
	}
	return append(out, set...)
}
