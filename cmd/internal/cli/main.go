// Package cli is the command line around the builtins: the name the program
// was called by, git's global options, the command table, aliases, handing
// over to real git, signals, messages and the exit status.
//
// Source: git(1), gitcli(7) and git.c of git 2.55.
//
// Invariants:
//
//	M1  What git would do differently is handed to real git as a whole, before
//	    anything was written, or refused by name with status 125.
//	M2  The directory and the environment of the process stay as they were at
//	    the start, so that handing over needs no undoing.
//	M3  However a command ends, its temporaries are removed and what it printed
//	    is written out, or the status says that it was not.
package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Main runs the command line of this process and returns its exit status.
func Main(version string) int {
	growBeforeCollecting()
	p := &process{argv: os.Args, environ: os.Environ(), start: time.Now()}
	p.env = &builtin.Env{
		Stdin:   os.Stdin,
		Stdout:  bufio.NewWriterSize(os.Stdout, 16<<10),
		Stderr:  os.Stderr,
		Environ: append([]string(nil), p.environ...),
		FS:      vfs.OS(),
		Version: gitcompat.ReferenceVersion + ".sluice." + version,
	}
	if len(p.argv) == 0 {
		p.argv = []string{"sluice"}
	}
	return p.main()
}

// process is one run of the program.
type process struct {
	argv     []string // as started
	environ  []string // as started
	env      *builtin.Env
	execPath string // where this program's git links are
	paginate bool   // -p was given
	start    time.Time
}

func (p *process) main() (code int) {
	defer func() {
		if r := recover(); r != nil {
			code = p.bug(r)
		}
	}()
	st := p.run()
	code = p.finish(st)
	p.env.FS.Cleanup()
	p.env.Trace.Exit(code)
	return code
}

// run is steps 1 to 3: name, options, command.
func (p *process) run() builtin.Status {
	dir, err := syscall.Getwd()
	if err != nil {
		return builtin.Fatalf("Unable to read current working directory: %s", vfs.Strerror(err))
	}
	p.env.Dir = dir
	p.startTrace()
	name := strings.TrimSuffix(p.argv[0][strings.LastIndexAny(p.argv[0], `/\`)+1:], ".exe")
	if cmd, ok := strings.CutPrefix(name, "git-"); ok {
		p.setupPath()
		return p.dashed(append([]string{cmd}, p.argv[1:]...))
	}
	args, st, done := p.globalOptions(p.argv[1:], nil)
	if done {
		return st
	}
	if !strings.HasPrefix(name, "git") {
		if st, done := p.own(args); done {
			return st
		}
	}
	if len(args) == 0 {
		p.env.Print(helpText())
		return builtin.Exit(1)
	}
	switch args[0] {
	case "--version", "-v":
		args[0] = "version"
	case "--help", "-h":
		args[0] = "help"
	}
	p.setupPath()
	return p.dispatch(args)
}

// finish is step 6: it reports st and returns the exit status.
func (p *process) finish(st builtin.Status) int {
	var answer *parseopt.Answer
	var usage *parseopt.UsageError
	var fatal *parseopt.FatalError
	var no *refused
	switch {
	case st.Err == nil:
	case errors.As(st.Err, &no):
		p.print("sluice: ", no.what)
		return st.Code
	case errors.As(st.Err, &fatal):
		p.flush()
		p.report("fatal: ", fatal)
		return 128
	case errors.As(st.Err, &answer):
		p.env.Print(answer.Text)
		st.Code = answer.Status
	case errors.As(st.Err, &usage):
		p.flush()
		p.usage(usage)
		return 129
	default:
		p.flush()
		prefix := "error: "
		if st.Fatal {
			prefix = "fatal: "
		}
		p.report(prefix, st.Err)
		return st.Code
	}
	if err := p.flush(); err != nil && st.Code == 0 && checkedOutput() {
		p.report("fatal: ", fmt.Errorf("write failure on standard output: %s", vfs.Strerror(err)))
		return 128
	}
	return st.Code
}

func (p *process) flush() error { return p.env.Flush() }

// checkedOutput tells whether a failure to write standard output matters: git
// lets it pass for pipes and sockets.
func checkedOutput() bool {
	fi, err := os.Stdout.Stat()
	return err == nil && fi.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0
}

func (p *process) usage(u *parseopt.UsageError) {
	switch {
	case u.Msg != "" && u.Fatal:
		p.print("fatal: ", u.Msg+"\n")
	case u.Msg != "":
		p.print("error: ", u.Msg)
	}
	if u.ShowUsage {
		io.WriteString(p.env.Stderr, u.Usage)
	}
}

// report prints err the way git's die and error do.
func (p *process) report(prefix string, err error) {
	p.env.Trace.Error(err.Error(), err.Error())
	io.WriteString(p.env.Stderr, builtin.ErrorText(prefix, err))
}

func (p *process) print(prefix, text string) {
	io.WriteString(p.env.Stderr, builtin.Message(prefix, text))
}

// bug reports a broken promise inside the program. Status 134 is what git's
// abort looks like to a shell.
func (p *process) bug(r any) int {
	p.env.FS.Cleanup()
	text := strings.TrimPrefix(fmt.Sprint(r), "BUG: ")
	p.print("BUG: ", text)
	p.env.Stderr.Write(debug.Stack())
	return 134
}
