package builtin

import (
	"bufio"
	"fmt"
	"math/bits"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
)

var cmdForEachRef = &Command{
	Name:    "for-each-ref",
	Setup:   NeedRepo,
	Run:     runForEachRef,
	Options: func() *parseopt.Parser { return new(forEachRef).parser() },
}

type forEachRef struct {
	refList
	filterOptions
	quote               quoting
	format              string
	count               int
	stdin, includeRoot  bool
	colorWhen           string
	unsorted, colorSeen bool
}

func (o *forEachRef) parser() *parseopt.Parser {
	o.format = "%(objectname) %(objecttype)\t%(refname)"
	o.sortKeys = []string{"refname"}
	options := []parseopt.Option{
		parseopt.Bit('s', "shell", &o.quote, "quote values for a shell", quoteShell),
		parseopt.Bit('p', "perl", &o.quote, "quote values for Perl", quotePerl),
		parseopt.Bit(0, "python", &o.quote, "quote values for Python", quotePython),
		parseopt.Bit(0, "tcl", &o.quote, "quote values for Tcl", quoteTcl),
		parseopt.Bool(0, "omit-empty", &o.omitEmpty, "print no line for a ref of which the format makes nothing"),
		parseopt.Group(""),
		parseopt.Integer(0, "count", &o.count, "no more than <n> refs"),
		parseopt.String(0, "format", &o.format, "format", "what to print"),
		parseopt.String(0, "start-after", &o.startAfter, "marker", "begin behind the marker"),
		parseopt.OptCallback(0, "color", "when", "whether the colors of the format count", o.setColor),
		parseopt.StringList(0, "exclude", &o.exclude, "pattern", "leave out refs that match"),
		parseopt.Callback(0, "sort", "key", "field to sort by", o.setSort),
	}
	options = append(options, o.options()...)
	options = append(options,
		parseopt.Bool(0, "ignore-case", &o.ignoreCase, "sort and match without regard to case"),
		parseopt.Bool(0, "stdin", &o.stdin, "read patterns from standard input"),
		parseopt.Bool(0, "include-root-refs", &o.includeRoot, "list HEAD and its like too"),
	)
	return &parseopt.Parser{
		Usage: []string{
			"git for-each-ref [--count=<count>] [--shell|--perl|--python|--tcl]\n" +
				"                  [(--sort=<key>)...] [--format=<format>]\n" +
				"                  [--include-root-refs] [--points-at=<object>]\n" +
				"                  [--merged[=<object>]] [--no-merged[=<object>]]\n" +
				"                  [--contains[=<object>]] [--no-contains[=<object>]]\n" +
				"                  [(--exclude=<pattern>)...] [--start-after=<marker>]\n" +
				"                  [ --stdin | (<pattern>...)]",
		},
		Options: options,
	}
}

func (l *refList) setColor(a parseopt.Arg) error {
	switch {
	case a.Unset, a.Value == "never", a.Value == "auto", a.Value == "false":
		l.color = false
	case !a.Given || a.Value == "" || a.Value == "always" || a.Value == "true":
		l.color = true
	default:
		return fmt.Errorf("option `color' expects \"always\", \"auto\", or \"never\"")
	}
	return nil
}

func (l *refList) setSort(a parseopt.Arg) error {
	if a.Unset {
		l.sortKeys = nil
	} else {
		l.sortKeys = append(l.sortKeys, a.Value)
	}
	return nil
}

func runForEachRef(env *Env, argv []string) Status {
	o := new(forEachRef)
	p := o.parser()
	if err := o.defaults(env, ""); err != nil {
		return Fatal(err)
	}
	args, err := env.Parse(p, argv)
	if err == nil {
		err = o.start(env)
	}
	if err != nil {
		return Fatal(err)
	}
	switch {
	case o.count < 0:
		return Fatal(p.UsageError(fmt.Sprintf("invalid --count argument: `%d'", o.count)))
	case bits.OnesCount8(uint8(o.quote)) > 1:
		return Fatal(p.UsageError("more than one quoting style?"))
	}
	f, err := o.parseFormat(o.format, o.quote)
	if err != nil {
		return formatStatus(err, p)
	}
	if o.startAfter != "" && len(o.sortKeys) > 1 {
		return Fatalf("cannot use --start-after with custom sort options")
	}
	keys, err := o.parseSort()
	if err != nil {
		return Fatal(err)
	}
	if o.stdin {
		if len(args) > 0 {
			return Fatalf("unknown arguments supplied with --stdin")
		}
		if args, err = readLines(env); err != nil {
			return Fatal(err)
		}
	}
	if o.startAfter != "" && len(args) > 0 {
		return Fatalf("cannot use --start-after with patterns")
	}
	o.kinds, o.patterns, o.asPath, o.max = kindAll, args, true, o.count
	if o.includeRoot {
		o.kinds |= kindRoot | kindDetached
	}
	if st := o.resolve(&o.refList); st != OK {
		return st
	}
	return Fatal(o.print(f, keys))
}

// readLines returns the lines of standard input.
func readLines(env *Env) ([]string, error) {
	var lines []string
	in := bufio.NewScanner(env.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	return lines, in.Err()
}
