package cli

import (
	"os"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
	"github.com/sluicegit/sluice/gitcompat/config"
)

// setup is step 4: it gives the command the repository that its table line
// asks for.
func (p *process) setup(c *builtin.Command, args []string) builtin.Status {
	return builtin.OK
}

// config is the configuration in force where the command runs.
func (p *process) config() (*config.Config, error) {
	return config.Load(config.Options{LookupEnv: p.env.LookupEnv, Dir: p.env.Dir})
}

// prepareShell readies the environment for a shell alias and returns the
// directory it runs in.
func (p *process) prepareShell() (string, error) { return p.env.Dir, nil }

func (p *process) policy() builtin.Status { return refusal("'policy' is not implemented") }

// isTerminal tells whether f is a terminal.
func isTerminal(f *os.File) bool {
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0
}
