package builtin

import (
	"bufio"
	"errors"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
)

// A scriptParser parses options for a shell script (rev-parse --parseopt): the
// script writes its option table to standard input, and evaluates what comes out.
type scriptParser struct {
	keepDashDash, stopAtNonOption, stuckLong bool

	usage   []string
	options []parseopt.Option
	out     strings.Builder
}

func (s *scriptParser) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git rev-parse --parseopt [<options>] -- [<args>...]"},
		Flags: parseopt.KeepDashDash,
		Options: []parseopt.Option{
			parseopt.Bool(0, "keep-dashdash", &s.keepDashDash, "keep a `--` among the arguments"),
			parseopt.Bool(0, "stop-at-non-option", &s.stopAtNonOption, "the first other argument ends the options"),
			parseopt.Bool(0, "stuck-long", &s.stuckLong, "write options in their long form, with the value stuck to them"),
		},
	}
}

// runParseOpt is rev-parse --parseopt.
func runParseOpt(env *Env, argv []string) Status {
	s := &scriptParser{}
	own := s.parser()
	args, err := env.Parse(own, argv)
	if err != nil {
		return Fatal(err)
	}
	if len(args) == 0 || args[0] != "--" {
		return Fatal(own.UsageError(""))
	}
	if err := s.read(env.Input()); err != nil {
		return Fatal(err)
	}
	p := &parseopt.Parser{Usage: s.usage, Options: s.options, Flags: parseopt.ShellEval}
	if s.keepDashDash {
		p.Flags |= parseopt.KeepDashDash
	}
	if s.stopAtNonOption {
		p.Flags |= parseopt.StopAtNonOption
	}
	rest, err := env.Parse(p, args[1:])
	if err != nil {
		return Fatal(err)
	}
	env.Print("set --", s.out.String(), " --")
	for _, a := range rest {
		env.Print(" ", Quote(a))
	}
	env.Print("\n")
	return OK
}

// read reads the usage lines, and after "--" the option table.
func (s *scriptParser) read(in *bufio.Reader) error {
	line := func() (string, bool) {
		l, err := in.ReadString('\n')
		if l == "" && err != nil {
			return "", false
		}
		return strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r"), true
	}
	for {
		l, ok := line()
		if !ok {
			return errors.New("premature end of input")
		}
		if l == "--" {
			break
		}
		s.usage = append(s.usage, l)
	}
	if s.usage == nil {
		return errors.New("no usage string given before the `--' separator")
	}
	for {
		l, ok := line()
		if !ok {
			return nil
		}
		if l == "" {
			continue
		}
		if err := s.addOption(l); err != nil {
			return err
		}
	}
}

const shellSpace = " \t\n\v\f\r"

// addOption reads one line of the table: names, flags, the name of the value,
// and after a space the help.
func (s *scriptParser) addOption(line string) error {
	at := strings.IndexAny(line, shellSpace)
	if at <= 0 {
		s.options = append(s.options, parseopt.Group(strings.TrimLeft(line, shellSpace)))
		return nil
	}
	spec, help := line[:at], strings.TrimLeft(line[at+1:], shellSpace)
	names := spec
	if i := strings.IndexAny(spec, "*=?!"); i >= 0 {
		names = spec[:i]
	}
	if names == "" {
		return errors.New("missing opt-spec before option flags")
	}
	var short byte
	long := names
	switch {
	case len(names) == 1:
		short, long = names[0], ""
	case names[1] == ',':
		short, long = names[0], names[2:]
	}
	rest := spec[len(names):]
	flags := rest[:len(rest)-len(strings.TrimLeft(rest, "*=?!"))]
	argh := rest[len(flags):]
	dump := func(a parseopt.Arg) error {
		s.dump(short, long, a)
		return nil
	}
	var o parseopt.Option
	switch {
	case strings.Contains(flags, "?"):
		o = parseopt.OptCallback(short, long, argh, help, dump)
	case strings.Contains(flags, "="):
		o = parseopt.Callback(short, long, argh, help, dump)
	default:
		o = parseopt.Callback(short, long, argh, help, dump).NoArg()
	}
	if strings.Contains(flags, "!") {
		o = o.NoNeg()
	}
	if strings.Contains(flags, "*") {
		o = o.Hidden()
	}
	s.options = append(s.options, o)
	return nil
}

// dump writes one option that was met, for the script.
func (s *scriptParser) dump(short byte, long string, a parseopt.Arg) {
	switch {
	case a.Unset:
		s.out.WriteString(" --no-" + long)
	case short != 0 && (long == "" || !s.stuckLong):
		s.out.WriteString(" -" + string(rune(short)))
	default:
		s.out.WriteString(" --" + long)
	}
	if !a.Given {
		return
	}
	if !s.stuckLong {
		s.out.WriteByte(' ')
	} else if long != "" {
		s.out.WriteByte('=')
	}
	s.out.WriteString(Quote(a.Value))
}
