// Package builtin holds git's commands, one file a command, named as in git's
// own source. A command is a function of an Env and its arguments; it returns
// a Status and never exits.
//
// Source: the manual page of each command, git 2.55.
//
// Invariants:
//
//	B1  A command touches the world through its Env: no package-level state, no
//	    process directory, no os.Getenv. So commands run beside each other in
//	    one process, and a local push can run its receiving side there.
//	B2  What a command does not implement is reported as NotNative before
//	    anything was written.
package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/gitcompat/trace2"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Env is the world of one command.
type Env struct {
	Stdin   io.Reader
	Stdout  io.Writer // buffered: see Flush
	Stderr  io.Writer
	Environ []string // NAME=value, as for a child process
	Dir     string   // working directory, absolute
	Bare    bool     // --bare was given
	FS      *vfs.FS  // for every write
	Version string   // of this program

	// Set by Setup: Repo is nil where there is none, both are for NeedNothing.
	Repo   *repo.Repo
	Config *config.Config

	Trace *trace2.Tracer // nil where nothing is traced; good to call
}

// Getenv returns the value of an environment variable, or "".
func (e *Env) Getenv(name string) string {
	v, _ := e.LookupEnv(name)
	return v
}

// LookupEnv tells an empty variable from an unset one.
func (e *Env) LookupEnv(name string) (string, bool) {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		kv := e.Environ[i]
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:], true
		}
	}
	return "", false
}

// Setenv sets a variable for this command and its children.
func (e *Env) Setenv(name, value string) {
	e.Unsetenv(name)
	e.Environ = append(e.Environ, name+"="+value)
}

// Unsetenv removes a variable.
func (e *Env) Unsetenv(name string) {
	kept := make([]string, 0, len(e.Environ)+1)
	for _, kv := range e.Environ {
		if !strings.HasPrefix(kv, name+"=") {
			kept = append(kept, kv)
		}
	}
	e.Environ = kept
}

// EnvBool reads a boolean variable by git's rules; def stands for unset.
func (e *Env) EnvBool(name string, def bool) (bool, error) {
	v, ok := e.LookupEnv(name)
	if !ok {
		return def, nil
	}
	switch strings.ToLower(v) {
	case "", "false", "no", "off":
		return false, nil
	case "true", "yes", "on":
		return true, nil
	}
	n, inRange, isNum := parseopt.ParseInt(v)
	if !isNum || !inRange {
		return def, fmt.Errorf("bad boolean environment value '%s' for '%s'", v, name)
	}
	return n != 0, nil
}

// Abs makes a path that the user gave, relative to Dir, absolute.
func (e *Env) Abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Dir, path)
}

// Path makes a name that is relative to where git would be after setup, as
// those of Filename options and pathspecs behind the prefix are, absolute.
func (e *Env) Path(name string) string {
	if e.Repo == nil || filepath.IsAbs(name) {
		return e.Abs(name)
	}
	return filepath.Join(e.Repo.Dir, name)
}

// Discover looks for the repository again, in e.Dir and e.Environ; for
// commands that need nothing beforehand.
func (e *Env) Discover() error {
	r, err := repo.Discover(e.FS, repo.Options{
		Dir: e.Dir, Environ: e.Environ, Bare: e.Bare, Trace: e.Trace,
		Warn: func(line string) { io.WriteString(e.Stderr, Message("", line)) },
	})
	if err != nil {
		return err
	}
	e.Repo, e.Config, e.Environ = r, r.Config, r.Environ()
	e.setRefHook(r)
	e.traceSetup(r)
	return nil
}

// LoadConfig reads the configuration that is in force outside of any
// repository.
func (e *Env) LoadConfig() error {
	c, err := config.Load(config.Options{
		LookupEnv: e.LookupEnv, Dir: e.Dir,
		Warn: func(line string) { io.WriteString(e.Stderr, Message("", line)) },
	})
	e.Config = c
	return err
}

// Parse parses argv with p, after filling in what p needs from the
// environment.
func (e *Env) Parse(p *parseopt.Parser, argv []string) ([]string, error) {
	noAbbr, err := e.EnvBool("GIT_TEST_DISALLOW_ABBREVIATED_OPTIONS", false)
	if err != nil {
		return nil, &parseopt.FatalError{Err: err}
	}
	p.NoAbbr = noAbbr
	if e.Repo != nil {
		p.Prefix = e.Repo.Prefix
	}
	p.Missing = func(name string) bool {
		_, err := os.Stat(e.Path(name))
		return errors.Is(err, os.ErrNotExist)
	}
	return p.Parse(argv)
}

// Flush writes out what Stdout has buffered. Needed before a child process
// writes to the same place, and after each answer of a command that a program
// talks to.
func (e *Env) Flush() error {
	if b, ok := e.Stdout.(interface{ Flush() error }); ok {
		return b.Flush()
	}
	return nil
}

// Input returns Stdin as a buffered reader.
func (e *Env) Input() *bufio.Reader { return bufio.NewReaderSize(e.Stdin, 64<<10) }

// Printf writes to Stdout. A failure shows when the command ends.
func (e *Env) Printf(format string, a ...any) { fmt.Fprintf(e.Stdout, format, a...) }

// Print writes to Stdout.
func (e *Env) Print(s ...string) {
	for _, s := range s {
		io.WriteString(e.Stdout, s)
	}
}

// Warn prints a warning.
func (e *Env) Warn(format string, a ...any) { e.message("warning: ", fmt.Sprintf(format, a...)) }

// Error prints an error of a command that goes on.
func (e *Env) Error(err error) { io.WriteString(e.Stderr, ErrorText("error: ", err)) }

// Advise prints advice, each line behind "hint: ".
func (e *Env) Advise(text string) {
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" {
			e.message("hint:", "")
		} else {
			e.message("hint: ", line)
		}
	}
}

// message prints one message, in one write.
func (e *Env) message(prefix, text string) {
	io.WriteString(e.Stderr, Message(prefix, text))
}

// Message is a message as git prints it: control characters, which could
// drive a terminal, become question marks.
func Message(prefix, text string) string {
	clean := []byte(prefix + text + "\n")
	for i, c := range clean {
		if (c < ' ' && c != '\t' && c != '\n') || c == 0x7f {
			clean[i] = '?'
		}
	}
	return string(clean)
}

// ErrorText is err as git's die and error print it, with the lines that belong
// before it and the advice that belongs behind it.
func ErrorText(prefix string, err error) string {
	text := ""
	var notes interface{ Before() []string }
	if errors.As(err, &notes) {
		for _, line := range notes.Before() {
			text += Message("", line)
		}
	}
	msg := err.Error()
	var advice interface{ Advice() string }
	if errors.As(err, &advice) {
		if a := advice.Advice(); a != "" {
			msg += "\n\n" + a
		}
	}
	return text + Message(prefix, msg)
}

// ErrnoText is C's text of the errno in err ("File exists"), else err's own.
func ErrnoText(err error) string { return vfs.Strerror(err) }

// A Status is what a command ends with. Err, if any, is printed behind
// "fatal: " or "error: ".
type Status struct {
	Code  int
	Err   error
	Fatal bool
}

// OK is success.
var OK = Status{}

// Exit ends with a code and prints nothing.
func Exit(code int) Status { return Status{Code: code} }

// Fatal ends with 128 and "fatal: <err>". An error of the option parser ends
// as the parser says, and nil is success.
func Fatal(err error) Status {
	if err == nil {
		return OK
	}
	return Status{Code: 128, Err: err, Fatal: true}
}

// Fatalf is Fatal of a new error.
func Fatalf(format string, a ...any) Status { return Fatal(fmt.Errorf(format, a...)) }

// Failure ends with a code and "error: <err>".
func Failure(code int, err error) Status { return Status{Code: code, Err: err} }

// NotNative hands the whole command to real git; option is what is not
// implemented.
func NotNative(option string) Status {
	return Fatal(&parseopt.NotNativeError{Option: option})
}

// UsageLine ends with 129 and "usage: <line>", as commands do that parse by
// hand.
func UsageLine(line string) Status {
	return Status{Code: 129, Err: &parseopt.UsageError{ShowUsage: true, Usage: "usage: " + line + "\n"}}
}

// Quote is sq_quote: s in single quotes for a shell.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' || s[i] == '!' {
			b.WriteString("'\\" + s[i:i+1] + "'")
			continue
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('\'')
	return b.String()
}
