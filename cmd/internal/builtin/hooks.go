package builtin

import (
	"bytes"
	"io"

	"github.com/sluicegit/sluice/gitcompat/hook"
	"github.com/sluicegit/sluice/gitcompat/repo"
)

// hooksOf returns what runs the hooks of r.
func (e *Env) hooksOf(r *repo.Repo) *hook.Runner {
	return hook.New(r, e.Trace, func(line string) { io.WriteString(e.Stderr, Message("", line)) })
}

// setRefHook has the ref transactions of r run the reference-transaction hook,
// if there is one.
func (e *Env) setRefHook(r *repo.Repo) {
	hooks := e.hooksOf(r)
	if !hooks.Exists("reference-transaction") {
		return
	}
	r.RefHook = func(state string, input []byte) error {
		_, err := hooks.Run("reference-transaction", hook.Options{
			Args: []string{state}, Stdin: bytes.NewReader(input), Stdout: e.Stderr, Stderr: e.Stderr,
		})
		return err
	}
}

// agent is what this program calls itself on the wire.
func (e *Env) agent() string { return "git/" + e.Version }
