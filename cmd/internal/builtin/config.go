package builtin

import (
	"errors"
	"io"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/repo"
)

var cmdConfig = &Command{
	Name:    "config",
	Setup:   NeedNothing, // it must work where the configuration itself is broken
	Run:     runConfig,
	Options: func() *parseopt.Parser { return new(configCmd).legacyParser() },
}

// configCmd is one run of "git config".
type configCmd struct {
	env  *Env
	repo *repo.Repo // nil outside of a repository

	// where
	global, system, local, worktree bool
	file, blob                      *string
	includes                        int // -1: not said

	// how to show
	null, nameOnly, showOrigin, showScope, showNames bool
	typ                                              configType
	def                                              *string

	// what
	action       int
	all, regexp  bool
	pattern, url *string
	fixed        bool
	comment      *string
	appendOne    bool

	// what the options come to
	source source
	keySep string
	term   string
}

// source is the one place that is meant, if any.
type source struct {
	name  string // of a file, as git names it; "" for none
	stdin bool
	scope config.Scope
}

type configType uint8

const (
	typeNone configType = iota
	typeBool
	typeInt
	typeBoolOrInt
	typeBoolOrStr
	typePath
	typeExpiry
	typeColor
)

var configTypes = [...]struct {
	name, help string
	typ        configType
}{
	{"bool", "the value is \"true\" or \"false\"", typeBool},
	{"int", "the value is a decimal number", typeInt},
	{"bool-or-int", "the value is as for --bool or --int", typeBoolOrInt},
	{"bool-or-str", "the value is as for --bool, or a string", typeBoolOrStr},
	{"path", "the value is the path of a file or directory", typePath},
	{"expiry-date", "the value is a date of expiry", typeExpiry},
}

// The synopses, in git's order.
const (
	configListUsage   = "git config list [<file-option>] [<display-option>] [--includes]"
	configGetUsage    = "git config get [<file-option>] [<display-option>] [--includes] [--all] [--regexp=<regexp>] [--value=<pattern>] [--fixed-value] [--default=<default>] <name>"
	configSetUsage    = "git config set [<file-option>] [--type=<type>] [--comment=<message>] [--all] [--value=<pattern>] [--fixed-value] <name> <value>"
	configUnsetUsage  = "git config unset [<file-option>] [--all] [--value=<pattern>] [--fixed-value] <name>"
	configRenameUsage = "git config rename-section [<file-option>] <old-name> <new-name>"
	configRemoveUsage = "git config remove-section [<file-option>] <name>"
	configEditUsage   = "git config edit [<file-option>]"
)

func configUsage() []string {
	return []string{
		configListUsage,
		"git config get [<file-option>] [<display-option>] [--includes] [--all] [--regexp] [--value=<pattern>] [--fixed-value] [--default=<default>] [--url=<url>] <name>",
		"git config set [<file-option>] [--type=<type>] [--all] [--value=<pattern>] [--fixed-value] <name> <value>",
		configUnsetUsage, configRenameUsage, configRemoveUsage, configEditUsage,
		"git config [<file-option>] --get-colorbool <name> [<stdout-is-tty>]",
	}
}

func (c *configCmd) locationOptions() []parseopt.Option {
	c.includes = -1
	return []parseopt.Option{
		parseopt.Group("Config file location"),
		parseopt.Bool(0, "global", &c.global, "the user's file"),
		parseopt.Bool(0, "system", &c.system, "the system's file"),
		parseopt.Bool(0, "local", &c.local, "the repository's file"),
		parseopt.Bool(0, "worktree", &c.worktree, "the working tree's own file"),
		parseopt.StringP('f', "file", &c.file, "file", "this file"),
		parseopt.StringP(0, "blob", &c.blob, "blob-id", "this blob"),
	}
}

func (c *configCmd) typeOptions() []parseopt.Option {
	list := []parseopt.Option{
		parseopt.Group("Type"),
		parseopt.Callback('t', "type", "type", "the value has this type", func(a parseopt.Arg) error {
			if a.Unset {
				c.typ = typeNone
				return nil
			}
			for _, t := range configTypes {
				if t.name == a.Value {
					return c.setType(t.typ)
				}
			}
			if a.Value == "color" {
				return c.setType(typeColor)
			}
			return &parseopt.FatalError{Err: errors.New("unrecognized --type argument, " + a.Value)}
		}),
	}
	for _, t := range configTypes {
		list = append(list, parseopt.Callback(0, t.name, "", t.help, func(parseopt.Arg) error { return c.setType(t.typ) }).NoArg().NoNeg())
	}
	return list
}

func (c *configCmd) setType(t configType) error {
	if c.typ != typeNone && c.typ != t {
		return &parseopt.UsageError{Msg: "only one type at a time"}
	}
	c.typ = t
	return nil
}

func (c *configCmd) displayOptions() []parseopt.Option {
	return append([]parseopt.Option{
		parseopt.Group("Display options"),
		parseopt.Bool('z', "null", &c.null, "end values with a NUL byte"),
		parseopt.Bool(0, "name-only", &c.nameOnly, "show names of variables only"),
		parseopt.Bool(0, "show-origin", &c.showOrigin, "show where each value comes from (file, standard input, blob, command line)"),
		parseopt.Bool(0, "show-scope", &c.showScope, "show the scope of each value (worktree, local, global, system, command)"),
		parseopt.Bool(0, "show-names", &c.showNames, "show the names of variables too"),
	}, c.typeOptions()...)
}

func (c *configCmd) includesOption() parseopt.Option {
	return parseopt.SetInt(0, "includes", &c.includes, "follow include directives when reading", 1)
}

func (c *configCmd) filterOptions(title, allHelp, valueHelp string) []parseopt.Option {
	return []parseopt.Option{
		parseopt.Group(title),
		parseopt.Bool(0, "all", &c.all, allHelp),
		parseopt.StringP(0, "value", &c.pattern, "pattern", valueHelp),
		parseopt.Bool(0, "fixed-value", &c.fixed, "the pattern is a plain string"),
	}
}

func (c *configCmd) parser(usage string, flags parseopt.Flags, lists ...[]parseopt.Option) *parseopt.Parser {
	p := &parseopt.Parser{Usage: []string{usage}, Flags: flags}
	for _, l := range lists {
		p.Options = append(p.Options, l...)
	}
	return p
}

func runConfig(env *Env, argv []string) Status {
	var sub func(*configCmd, []string) Status
	find := &parseopt.Parser{
		Usage: configUsage(),
		Flags: parseopt.SubcommandOptional | parseopt.KeepUnknownOpt,
		Options: []parseopt.Option{
			parseopt.Subcommand("list", &sub, (*configCmd).list),
			parseopt.Subcommand("get", &sub, (*configCmd).get),
			parseopt.Subcommand("set", &sub, (*configCmd).set),
			parseopt.Subcommand("unset", &sub, (*configCmd).unset),
			parseopt.Subcommand("rename-section", &sub, (*configCmd).renameSection),
			parseopt.Subcommand("remove-section", &sub, (*configCmd).removeSection),
			parseopt.Subcommand("edit", &sub, (*configCmd).edit),
		},
	}
	c := &configCmd{env: env, term: "\n", keySep: " "}
	args, err := env.Parse(find, argv)
	if err != nil {
		return Fatal(err)
	}
	r, err := repo.Discover(env.FS, repo.Options{
		Dir: env.Dir, Environ: env.Environ, Bare: env.Bare, NoConfig: true, Trace: env.Trace,
		Warn: func(line string) { io.WriteString(env.Stderr, Message("", line)) },
	})
	var none *repo.NotRepoError
	var other *repo.UnsupportedError
	switch {
	case err == nil:
		c.repo, env.Repo, env.Environ = r, r, r.Environ()
	case errors.As(err, &other):
		return NotNative(other.Extension)
	case errors.As(err, &none):
		if none.Warn {
			env.Warn("%s", none.Msg)
		}
	default:
		return Fatal(err)
	}
	if sub != nil {
		return sub(c, args)
	}
	return c.legacy(argv)
}

// argCount refuses a wrong number of arguments.
func argCount(args []string, low, high int) error {
	switch {
	case len(args) >= low && len(args) <= high:
		return nil
	case low == high:
		return &parseopt.UsageError{Msg: "wrong number of arguments, should be " + itoa(low)}
	}
	return &parseopt.UsageError{Msg: "wrong number of arguments, should be from " + itoa(low) + " to " + itoa(high)}
}

func itoa(n int) string { return string(rune('0' + n)) }

func (c *configCmd) list(argv []string) Status {
	p := c.parser(configListUsage, 0, c.locationOptions(), c.displayOptions(),
		[]parseopt.Option{parseopt.Group("Other"), c.includesOption()})
	args, err := c.env.Parse(p, argv)
	if err == nil {
		err = argCount(args, 0, 0)
	}
	if err == nil {
		err = c.locate()
	}
	if err != nil {
		return Fatal(err)
	}
	return c.showAll()
}

func (c *configCmd) get(argv []string) Status {
	p := c.parser(configGetUsage, parseopt.StopAtNonOption, c.locationOptions(), []parseopt.Option{
		parseopt.Group("Filter options"),
		parseopt.Bool(0, "all", &c.all, "show all values of a variable"),
		parseopt.Bool(0, "regexp", &c.regexp, "the name is a regular expression"),
		parseopt.StringP(0, "value", &c.pattern, "pattern", "show values that match the pattern"),
		parseopt.Bool(0, "fixed-value", &c.fixed, "the pattern is a plain string"),
		parseopt.StringP(0, "url", &c.url, "URL", "show what is configured for the URL"),
	}, c.displayOptions(), []parseopt.Option{
		parseopt.Group("Other"),
		c.includesOption(),
		parseopt.StringP(0, "default", &c.def, "value", "use this value where there is none"),
	})
	args, err := c.env.Parse(p, argv)
	if err == nil {
		err = argCount(args, 1, 1)
	}
	switch {
	case err != nil:
		return Fatal(err)
	case c.fixed && c.pattern == nil:
		return Fatalf("--fixed-value only applies with 'value-pattern'")
	case c.def != nil && (c.all || c.url != nil):
		return Fatalf("--default= cannot be used with --all or --url=")
	case c.url != nil && (c.all || c.regexp || c.pattern != nil):
		return Fatalf("--url= cannot be used with --all, --regexp or --value")
	}
	if err := c.locate(); err != nil {
		return Fatal(err)
	}
	switch {
	case c.url != nil:
		return c.getURL(args[0], *c.url)
	case c.typ == typeColor && args[0] == "" && c.def != nil:
		return c.getColor("", c.def)
	}
	return c.getValue(args[0], c.pattern)
}

// ownArgs parses a command that changes something and takes low to high arguments.
func (c *configCmd) ownArgs(p *parseopt.Parser, argv []string, low, high int) ([]string, error) {
	args, err := c.env.Parse(p, argv)
	if err == nil {
		err = argCount(args, low, high)
	}
	return args, err
}

func (c *configCmd) set(argv []string) Status {
	p := c.parser(configSetUsage, parseopt.StopAtNonOption, c.locationOptions(), c.typeOptions(),
		c.filterOptions("Filter", "replace all values of a variable", "replace values that match the pattern"),
		[]parseopt.Option{
			parseopt.Group("Other"),
			parseopt.StringP(0, "comment", &c.comment, "value", "a comment to put behind the value (# is added where needed)"),
			parseopt.Bool(0, "append", &c.appendOne, "add one more value and leave those there alone"),
		})
	args, err := c.env.Parse(p, argv)
	if err == nil && len(args) == 1 {
		return c.missingValue(args[0])
	}
	if err == nil {
		err = argCount(args, 2, 2)
	}
	switch {
	case err != nil:
		return Fatal(err)
	case c.fixed && c.pattern == nil:
		return Fatalf("--fixed-value only applies with --value=<pattern>")
	case c.appendOne && c.pattern != nil:
		return Fatalf("--append cannot be used with --value=<pattern>")
	}
	change := config.Change{Key: args[0], All: c.all, Add: c.appendOne}
	hint := ""
	if !c.all && c.pattern == nil && !c.appendOne {
		hint = "Use --value=<pattern>, --append or --all to change " + args[0] + "."
	}
	return c.write(change, args[1], c.pattern, hint)
}

func (c *configCmd) unset(argv []string) Status {
	p := c.parser(configUnsetUsage, parseopt.StopAtNonOption, c.locationOptions(),
		c.filterOptions("Filter", "unset all values of a variable", "unset values that match the pattern"))
	args, err := c.ownArgs(p, argv, 1, 1)
	if err == nil && c.fixed && c.pattern == nil {
		err = errors.New("--fixed-value only applies with 'value-pattern'")
	}
	if err != nil {
		return Fatal(err)
	}
	return c.write(config.Change{Key: args[0], Unset: true, All: c.all}, "", c.pattern, "")
}

func (c *configCmd) renameSection(argv []string) Status {
	args, err := c.ownArgs(c.parser(configRenameUsage, parseopt.StopAtNonOption, c.locationOptions()), argv, 2, 2)
	if err != nil {
		return Fatal(err)
	}
	return c.section(args[0], &args[1])
}

func (c *configCmd) removeSection(argv []string) Status {
	args, err := c.ownArgs(c.parser(configRemoveUsage, parseopt.StopAtNonOption, c.locationOptions()), argv, 1, 1)
	if err != nil {
		return Fatal(err)
	}
	return c.section(args[0], nil)
}

func (c *configCmd) edit(argv []string) Status {
	_, err := c.ownArgs(c.parser(configEditUsage, 0, c.locationOptions()), argv, 0, 0)
	if err != nil {
		return Fatal(err)
	}
	return c.editFile(true)
}

// missingValue says that a value to set is missing.
func (c *configCmd) missingValue(arg string) Status {
	valid := func(key string) bool {
		_, _, err := config.ParseKey(key)
		return err == nil
	}
	prefix, value := "", ""
	if i := strings.LastIndexByte(arg, '.'); i >= 0 {
		if j := strings.IndexByte(arg[i:], '='); j >= 0 && valid(arg[:i+j]) {
			prefix, value = arg[:i+j], arg[i+j+1:]
		}
	}
	if prefix == "" && !valid(arg) {
		c.env.Error(errors.New("missing value to set to a variable with an invalid name '" + arg + "'"))
		return Exit(129)
	}
	c.env.Error(errors.New("missing value to set to the variable '" + arg + "'"))
	if prefix != "" {
		c.env.Advise("did you mean \"git config set " + prefix + " " + value + "\"?")
	}
	return Exit(129)
}
