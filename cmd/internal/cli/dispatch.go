package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
	"github.com/sluicegit/sluice/cmd/internal/parseopt"
)

// dispatch finds what args names: a builtin, a command that only real git has,
// git-<name> on PATH, an alias, in this order; for a deprecated command the
// alias comes first.
func (p *process) dispatch(args []string) builtin.Status {
	first := args[0]
	var aliases []string
	for {
		if isDeprecated(args[0]) { // so that people can keep a name whose command goes away
			expanded, found, st, done := p.expandAlias(args, &aliases)
			if done {
				return st
			}
			if found {
				args = expanded
				continue
			}
		}
		if st, done := p.command(args); done {
			return st
		}
		if path := p.findExternal(args[0]); path != "" {
			if p.paginate {
				return p.delegate("option '--paginate' is not implemented")
			}
			err := p.replace(path, append([]string{"git-" + args[0]}, args[1:]...))
			return builtin.Fatalf("cannot exec '%s': %s", "git-"+args[0], builtin.ErrnoText(err))
		}
		expanded, found, st, done := p.expandAlias(args, &aliases)
		if done {
			return st
		}
		if !found {
			return p.unknown(first, args[0], len(aliases) > 0)
		}
		args = expanded
	}
}

// dashed runs "git-x": a builtin or nothing.
func (p *process) dashed(args []string) builtin.Status {
	if st, done := p.command(args); done {
		return st
	}
	return builtin.Fatalf("cannot handle %s as a builtin", args[0])
}

// command runs what the tables know.
func (p *process) command(args []string) (builtin.Status, bool) {
	name := args[0]
	switch {
	case len(args) > 1 && args[1] == "--help":
		return p.delegate("'help' is not implemented"), true
	case name == "help" && len(args) == 1:
		p.env.Print(helpText())
		return builtin.OK, true
	}
	if c := builtin.Lookup(name); c != nil {
		return p.runBuiltin(c, args[1:]), true
	}
	if isGitCommand(name) {
		return p.delegate("'" + name + "' is not implemented"), true
	}
	return builtin.OK, false
}

// runBuiltin is steps 4 and 5.
func (p *process) runBuiltin(c *builtin.Command, args []string) builtin.Status {
	if p.paginate && isTerminal(os.Stdout) {
		return p.delegate("option '--paginate' is not implemented")
	}
	p.env.FS.OnTemp(p.watchSignals)
	st := p.setup(c, args)
	if st.Err == nil && st.Code == 0 {
		p.traceByConfig()
		p.traceSetup(c.Name)
		st = c.Run(p.env, args)
	}
	var native *parseopt.NotNativeError
	if errors.As(st.Err, &native) {
		return p.delegate(fmt.Sprintf("option '%s' of '%s' is not implemented", native.Option, c.Name))
	}
	return st
}

// unknown answers for a command that nobody has. Real git may have more, and
// makes suggestions.
func (p *process) unknown(first, last string, wasAlias bool) builtin.Status {
	if git := p.realGit(); git != "" && !wasAlias {
		return p.delegate("'" + last + "' is not implemented")
	}
	if wasAlias {
		p.print("", fmt.Sprintf("expansion of alias '%s' failed; '%s' is not a git command", first, last))
	} else {
		p.print("", fmt.Sprintf("git: '%s' is not a git command. See 'git --help'.", last))
	}
	return builtin.Exit(1)
}

// findExternal looks for an executable git-<name> on PATH.
func (p *process) findExternal(name string) string {
	if strings.Contains(name, "/") {
		return ""
	}
	return p.lookPath("git-" + name)
}
