package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
)

// setupPath finds the folder of this program's links and puts it first on the
// PATH of children, so that hooks meet the same git.
func (p *process) setupPath() {
	dir := p.gitExecPath()
	if dir == "" {
		return
	}
	path, ok := p.env.LookupEnv("PATH")
	switch {
	case !ok || path == "":
		path = dir + ":/usr/local/bin:/usr/bin:/bin"
	case path == dir || strings.HasPrefix(path, dir+string(os.PathListSeparator)):
		return
	default:
		path = dir + string(os.PathListSeparator) + path
	}
	p.env.Setenv("PATH", path)
}

// gitExecPath is what --exec-path prints: GIT_EXEC_PATH, or the folder of the
// name that this program was called by.
func (p *process) gitExecPath() string {
	if dir := p.env.Getenv("GIT_EXEC_PATH"); dir != "" {
		return dir
	}
	if p.execPath == "" {
		p.execPath = p.ownFolder()
	}
	return p.execPath
}

func (p *process) ownFolder() string {
	name := p.argv[0]
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			dir, err := os.Getwd()
			if err != nil {
				return ""
			}
			name = filepath.Join(dir, name)
		}
		return filepath.Dir(name)
	}
	exe, own, err := self()
	if err != nil {
		return ""
	}
	path := p.searchPath(pathOf(p.environ), name, func(path string) bool {
		fi, err := os.Stat(path)
		return err == nil && os.SameFile(fi, own)
	})
	if path == "" {
		path = exe
	}
	return filepath.Dir(path)
}

// self is this program's file, links resolved.
func self() (string, os.FileInfo, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	fi, err := os.Stat(exe)
	return exe, fi, err
}

// lookPath finds an executable file on the command's PATH.
func (p *process) lookPath(file string) string {
	return p.searchPath(p.env.Getenv("PATH"), file, executable)
}

// searchPath returns the first good file of that name in a list of folders.
func (p *process) searchPath(list, file string, good func(string) bool) string {
	for _, dir := range filepath.SplitList(list) {
		if dir == "" {
			dir = "."
		}
		if path := p.env.Abs(dir) + "/" + file; good(path) {
			return path
		}
	}
	return ""
}

// delegate hands the command line to real git, as it was given; it returns
// only to refuse. reason is what this program cannot do.
func (p *process) delegate(reason string) builtin.Status {
	git := p.realGit()
	if git == "" {
		return refusal(reason)
	}
	p.env.FS.Cleanup()
	argv := p.argv
	base := argv[0][strings.LastIndexByte(argv[0], '/')+1:]
	if cmd, ok := strings.CutPrefix(base, "git-"); ok {
		argv = append([]string{"git", cmd}, argv[1:]...)
	}
	argv = append([]string{"git"}, argv[1:]...)
	p.env.Trace.Exec(git, argv)
	err := syscall.Exec(git, argv, append(p.environ, delegatedMark+"="+strconv.Itoa(os.Getpid())))
	return builtin.Fatalf("cannot run '%s': %s", git, builtin.ErrnoText(err))
}

// delegatedMark names the process that was handed over. exec keeps the process
// number: who finds his own has been handed the command by himself.
const delegatedMark = "SLUICE_DELEGATED"

// realGit returns the path of the git to hand over to, or "".
func (p *process) realGit() string {
	if p.env.Getenv(delegatedMark) == strconv.Itoa(os.Getpid()) {
		return ""
	}
	choice, ok := p.env.LookupEnv("SLUICE_DELEGATE")
	if !ok || choice == "" {
		if cfg, err := p.config(); err == nil {
			choice, _, _ = cfg.Path("sluice.delegate")
		}
	}
	switch choice {
	case "never":
		return ""
	case "", "auto":
	default:
		return p.env.Abs(choice)
	}
	_, own, err := self()
	if err != nil {
		return ""
	}
	return p.searchPath(pathOf(p.environ), "git", func(path string) bool {
		fi, err := os.Stat(path)
		return err == nil && !os.SameFile(fi, own) && executable(path)
	})
}

func pathOf(environ []string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			return v
		}
	}
	return ""
}

// refused is what this program does not do, by name.
type refused struct{ what string }

func (r *refused) Error() string { return r.what }

// refusal is the status of what is neither native nor handed over.
func refusal(reason string) builtin.Status {
	return builtin.Status{Code: 125, Err: &refused{reason}}
}

// replace becomes the program at path, in the command's directory and
// environment. It returns only on failure.
func (p *process) replace(path string, argv []string) error {
	if err := os.Chdir(p.env.Dir); err != nil {
		return err
	}
	p.env.Trace.CommandName("_run_dashed_")
	p.env.Trace.Exec(path, argv)
	err := syscall.Exec(path, argv, p.env.Environ)
	if errors.Is(err, syscall.ENOEXEC) { // a script without "#!"
		err = syscall.Exec("/bin/sh", append([]string{"sh", path}, argv[1:]...), p.env.Environ)
	}
	return err
}

// spawn runs a program in dir and returns its status: 128 and the number of
// the signal that killed it, if one did. Messages call it name.
func (p *process) spawn(dir, name string, argv []string) (int, error) {
	path := argv[0]
	if !strings.Contains(path, "/") {
		if path = p.lookPath(path); path == "" {
			return 0, syscall.ENOENT
		}
	}
	cmd := &exec.Cmd{Path: path, Args: argv, Dir: dir, Env: p.env.Environ,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	// The terminal sends these to the child too; it decides.
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT)
	defer signal.Reset(syscall.SIGINT, syscall.SIGQUIT)
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		ws := exit.Sys().(syscall.WaitStatus)
		if ws.Signaled() {
			switch sig := ws.Signal(); sig {
			case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE:
			default:
				p.print("error: ", fmt.Sprintf("%s died of signal %d", name, sig))
			}
			return 128 + int(ws.Signal()), nil
		}
		return ws.ExitStatus(), nil
	}
	return 0, err
}
