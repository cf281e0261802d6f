package cli

import (
	"errors"
	"io"
	"os"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/repo"
)

// setup is step 4: it gives the command the repository that its table line
// asks for. For -h that is never more than one which happens to be there.
func (p *process) setup(c *builtin.Command, args []string) builtin.Status {
	need := c.Setup
	help := len(args) == 1 && (args[0] == "-h" || args[0] == "--help-all")
	if help && need != builtin.NeedNothing {
		need = builtin.MayRepo
	}
	if need == builtin.NeedNothing {
		return builtin.OK
	}
	err := p.env.Discover()
	var none *repo.NotRepoError
	var foreign *repo.UnsupportedError
	switch {
	case errors.As(err, &foreign):
		return p.delegate(foreign.Error())
	case errors.As(err, &none) && need == builtin.MayRepo:
		if none.Warn {
			p.print("warning: ", none.Msg)
		}
		err = p.env.LoadConfig()
	case err == nil && need == builtin.NeedWorkTree:
		err = p.env.Repo.RequireWorkTree()
	}
	return builtin.Fatal(err)
}

// config is the configuration in force where the command runs. What is wrong
// with the repository is left for the command to say.
func (p *process) config() (*config.Config, error) {
	early := *p.env
	early.Stderr = io.Discard
	if err := early.Discover(); err == nil {
		return early.Config, nil
	}
	err := early.LoadConfig()
	return early.Config, err
}

// prepareShell readies the environment for a shell alias and returns the
// directory it runs in.
func (p *process) prepareShell() (string, error) {
	err := p.env.Discover()
	var none *repo.NotRepoError
	switch {
	case errors.As(err, &none):
		return p.env.Dir, nil
	case err != nil:
		return "", err
	}
	return p.env.Repo.Dir, nil
}

// isTerminal tells whether f is a terminal.
func isTerminal(f *os.File) bool {
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}
