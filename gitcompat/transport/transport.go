// Package transport connects the two ends of a push. A repository on this
// machine is served by this very process, as a program of its own would: with
// its own configuration and environment, none of the client's.
//
// Source: connect.c and transport.c of git 2.55; git-push(1), GIT URLS.
//
// Invariants:
//
//	N1  nothing of the client's repository reaches the other side: not -c, not GIT_DIR.
//	N2  what this package cannot reach is named, before anything is written.
package transport

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sluicegit/sluice/gitcompat/hook"
	"github.com/sluicegit/sluice/gitcompat/receive"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A NotLocalError says that a URL is not of this machine's file system.
type NotLocalError struct{ URL string }

// Error names the URL.
func (e *NotLocalError) Error() string { return "transport of '" + e.URL + "' is not implemented" }

// Path returns the path that url names on this machine. A word before a colon,
// with no slash before it, is a host (connect.c, url_is_local_not_ssh).
func Path(url string) (string, error) {
	if rest, ok := strings.CutPrefix(url, "file://"); ok {
		return rest, nil
	}
	colon, slash := strings.IndexByte(url, ':'), strings.IndexByte(url, '/')
	if strings.Contains(url, "://") || colon >= 0 && (slash < 0 || colon < slash) {
		return "", &NotLocalError{url}
	}
	return url, nil
}

// localEnv are the variables that speak of one repository, in git's order
// ("git rev-parse --local-env-vars").
func localEnv() []string {
	return []string{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
		"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
		"GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
		"GIT_COMMON_DIR",
	}
}

// Foreign returns environ without what speaks of the client's repository (N1).
func Foreign(environ []string) []string {
	local := map[string]bool{}
	for _, name := range localEnv() {
		local[name] = true
	}
	var kept []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if !local[name] && !strings.HasPrefix(name, "GIT_CONFIG_KEY_") && !strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
			kept = append(kept, kv)
		}
	}
	return kept
}

// Options say how to reach the other side.
type Options struct {
	FS       *vfs.FS
	Dir      string // directory of the command
	Environ  []string
	Stderr   io.Writer
	Program  string               // --receive-pack; "" for the ordinary one
	Self     string               // path of this program, to be run where it serves a part of git's own
	Agent    string               // of this program
	Counters *syncpolicy.Counters // where the other side's sync calls are counted too
	Hooks    func(*repo.Repo) *hook.Runner
}

// A Conn is a connection to a receive-pack.
type Conn struct {
	In   io.Reader
	Out  io.WriteCloser
	wait func() error
	once sync.Once
	err  error
}

// Close ends the connection and waits for the other side; again, it returns what
// it returned before.
func (c *Conn) Close() error {
	c.once.Do(func() {
		c.Out.Close()
		c.err = c.wait()
	})
	return c.err
}

// errSaid says that the other side failed and has told the user why.
var errSaid = errors.New("the other side failed")

// Connect connects to the repository at path on this machine.
func Connect(path string, o Options) (*Conn, error) {
	o.Environ = Foreign(o.Environ)
	if o.Program != "" && o.Program != "git-receive-pack" {
		return spawn(exec.Command("sh", "-c", o.Program+" "+quote(path)), o)
	}
	warn := func(line string) { io.WriteString(o.Stderr, line+"\n") }
	r, err := repo.Enter(o.FS, path, false, repo.Options{Dir: o.Dir, Environ: o.Environ, Warn: warn})
	if err == nil && receive.Unsupported(r.Config) != "" {
		return spawn(exec.Command(o.Self, "receive-pack", path), o)
	}
	if err == nil {
		err = o.share(r)
	}
	if err != nil {
		io.WriteString(o.Stderr, fmt.Sprintf("fatal: %s\n", err))
		return nil, errSaid
	}
	return serve(r, o), nil
}

// Said reports whether err was shown to the user by the other side.
func Said(err error) bool { return errors.Is(err, errSaid) }

// share makes the other side count its sync calls with ours.
func (o Options) share(r *repo.Repo) error {
	p, err := r.Policy()
	if err == nil && o.Counters != nil {
		p.Counters = o.Counters
	}
	return err
}

// serve runs the receiving side in this process.
func serve(r *repo.Repo, o Options) *Conn {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := receive.Serve(r, receive.Options{
			In: toServer, Out: fromServer, Stderr: o.Stderr, Hooks: o.Hooks(r), Agent: o.Agent,
		})
		if err != nil {
			io.WriteString(o.Stderr, fmt.Sprintf("fatal: %s\n", err))
			err = errSaid
		}
		toServer.CloseWithError(io.ErrClosedPipe)
		fromServer.Close()
		done <- err
	}()
	return &Conn{In: toClient, Out: fromClient, wait: func() error {
		toClient.Close()
		return <-done
	}}
}

// spawn runs the receiving side as a program.
func spawn(cmd *exec.Cmd, o Options) (*Conn, error) {
	cmd.Dir, cmd.Env, cmd.Stderr = o.Dir, o.Environ, o.Stderr
	if f, ok := o.Stderr.(*os.File); ok {
		cmd.Stderr = f
	}
	out, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("unable to fork: %w", err)
	}
	return &Conn{In: in, Out: out, wait: cmd.Wait}, nil
}

// quote puts s in single quotes for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Absolute returns path as seen from dir.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
