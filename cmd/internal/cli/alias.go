package cli

import (
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/trace2"
)

// aliasKey splits what follows "alias." in a key: <name>, or
// <name>.command. plain is true where case does not matter.
func aliasKey(rest string) (name string, plain bool) {
	if sub, ok := strings.CutSuffix(rest, ".command"); ok && sub != "" {
		return sub, false
	}
	return strings.TrimPrefix(rest, "."), true
}

// lookupAlias returns the last definition of an alias.
func lookupAlias(cfg *config.Config, name string) (value string, ok bool, err error) {
	for _, e := range cfg.Entries() {
		rest, is := strings.CutPrefix(e.Key, "alias.")
		if !is {
			continue
		}
		key, plain := aliasKey(rest)
		if key != name && !(plain && strings.EqualFold(key, name)) {
			continue
		}
		if value, err = e.Text(); err != nil {
			return "", false, err
		}
		ok = true
	}
	return value, ok, nil
}

// expandAlias replaces args[0] by what an alias says. found is false if there
// is no such alias; done is true if the run ended.
func (p *process) expandAlias(args []string, seen *[]string) (_ []string, found bool, st builtin.Status, done bool) {
	cfg, err := p.config()
	if err != nil {
		return nil, false, builtin.Fatal(err), true
	}
	name := args[0]
	text, found, err := lookupAlias(cfg, name)
	if err != nil {
		return nil, false, builtin.Fatal(err), true
	}
	if !found {
		return args, false, st, false
	}
	if len(args) == 2 && args[1] == "-h" {
		p.print("", fmt.Sprintf("'%s' is aliased to '%s'", name, text))
	}
	if shell, ok := strings.CutPrefix(text, "!"); ok {
		p.env.Trace.Alias(name, append([]string{shell}, args[1:]...))
		return nil, true, p.shellAlias(name, shell, args[1:]), true
	}
	words, err := splitCommandLine(text)
	if err != nil {
		return nil, true, builtin.Fatalf("bad alias.%s string: %s", name, err), true
	}
	changed := false
	words, st, done = p.globalOptions(words, &changed)
	switch {
	case done:
		return nil, true, st, true
	case changed:
		st = builtin.Fatalf("alias '%s' changes environment variables.\nYou can use '!git' in the alias to do this", name)
	case len(words) == 0:
		st = builtin.Fatalf("empty alias for %s", name)
	case words[0] == name:
		st = builtin.Fatalf("recursive alias: %s", name)
	default:
		*seen = append(*seen, name)
		if loop := aliasLoop(*seen, words[0]); loop != "" {
			st = builtin.Fatalf("alias loop detected: expansion of '%s' does not terminate:%s", (*seen)[0], loop)
			break
		}
		p.env.Trace.Alias(name, words)
		return append(words, args[1:]...), true, builtin.OK, false
	}
	return nil, true, st, true
}

// aliasLoop draws the loop that next closes, if it does.
func aliasLoop(seen []string, next string) string {
	var b strings.Builder
	closed := false
	for i, name := range seen {
		b.WriteString("\n  " + name)
		switch {
		case name == next:
			closed = true
			b.WriteString(" <==")
		case i == len(seen)-1:
			b.WriteString(" ==>")
		}
	}
	if !closed {
		return ""
	}
	return b.String()
}

// shellAlias runs an alias that is a shell command, in the top of the working
// tree.
func (p *process) shellAlias(name, command string, args []string) builtin.Status {
	p.env.Trace.CommandName("_run_shell_alias_")
	dir, err := p.prepareShell()
	if err != nil {
		return builtin.Fatal(err)
	}
	argv := []string{"sh", "-c", command}
	if strings.ContainsAny(command, "|&;<>()$`\\\"' \t\n*?[#~=%") {
		if len(args) > 0 {
			argv[2] += ` "$@"`
		}
		argv = append(append(argv, command), args...)
	} else {
		argv = append([]string{command}, args...)
	}
	child := p.env.Trace.ChildStart(trace2.ChildInfo{Class: "shell_alias", Shell: true, Argv: append([]string{command}, args...)})
	code, err := p.spawn(dir, command, argv)
	child.Exit(0, code)
	if err != nil {
		p.print("fatal: ", fmt.Sprintf("cannot exec '%s': %s", argv[0], builtin.ErrnoText(err)))
		return builtin.Fatalf("while expanding alias '%s': '%s': %s", name, command, builtin.ErrnoText(err))
	}
	return builtin.Exit(code)
}

// splitCommandLine splits an alias into words: white space, both quotes, and
// backslash outside single quotes.
func splitCommandLine(s string) ([]string, error) {
	var words []string
	var word []byte
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && isSpace(c):
			words = append(words, string(word))
			word = word[:0]
			for i+1 < len(s) && isSpace(s[i+1]) {
				i++
			}
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case c == '\\' && quote != '\'':
			i++
			if i == len(s) {
				return nil, fmt.Errorf("cmdline ends with \\")
			}
			word = append(word, s[i])
		default:
			word = append(word, c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unclosed quote")
	}
	return append(words, string(word)), nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
