package builtin

import (
	"errors"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/config"
)

// The actions of the old syntax.
const (
	actGet = 1 << iota
	actGetAll
	actGetRegexp
	actReplaceAll
	actAdd
	actUnset
	actUnsetAll
	actRenameSection
	actRemoveSection
	actList
	actEdit
	actSet
	actSetAll
	actGetColor
	actGetColorBool
	actGetURLMatch
)

func (c *configCmd) legacyParser() *parseopt.Parser {
	mode := func(short byte, long, help string, action int) parseopt.Option {
		return parseopt.CmdMode(short, long, &c.action, help, action)
	}
	p := c.parser("", parseopt.StopAtNonOption, c.locationOptions(), []parseopt.Option{
		parseopt.Group("Action"),
		mode(0, "get", "get a value: name [<value-pattern>]", actGet),
		mode(0, "get-all", "get all values: name [<value-pattern>]", actGetAll),
		mode(0, "get-regexp", "get values of all names that match: name-regex [<value-pattern>]", actGetRegexp),
		mode(0, "get-urlmatch", "get what is configured for a URL: section[.var] URL", actGetURLMatch),
		mode(0, "replace-all", "replace all values: name value [<value-pattern>]", actReplaceAll),
		mode(0, "add", "add a value: name value", actAdd),
		mode(0, "unset", "remove a value: name [<value-pattern>]", actUnset),
		mode(0, "unset-all", "remove all values: name [<value-pattern>]", actUnsetAll),
		mode(0, "rename-section", "rename a section: old-name new-name", actRenameSection),
		mode(0, "remove-section", "remove a section: name", actRemoveSection),
		mode('l', "list", "list all", actList),
		mode('e', "edit", "open the file in an editor", actEdit),
		mode(0, "get-color", "get a colour: slot [<default>]", actGetColor),
		mode(0, "get-colorbool", "get whether to use colours: slot [<stdout-is-tty>]", actGetColorBool),
	}, c.displayOptions(), []parseopt.Option{
		parseopt.Group("Other"),
		parseopt.StringP(0, "default", &c.def, "value", "with --get, use this value where there is none"),
		parseopt.StringP(0, "comment", &c.comment, "value", "a comment to put behind the value (# is added where needed)"),
		parseopt.Bool(0, "fixed-value", &c.fixed, "the pattern is a plain string"),
		c.includesOption(),
	})
	p.Usage = configUsage()
	return p
}

// legacy is git config without a subcommand.
func (c *configCmd) legacy(argv []string) Status {
	p := c.legacyParser()
	args, err := c.env.Parse(p, argv)
	if err == nil {
		err = c.locate()
	}
	if err != nil {
		return Fatal(err)
	}
	if st, done := c.legacyAction(args); done {
		return st
	}
	if err := c.legacyCheck(args); err != nil {
		return Fatal(err)
	}
	if _, err := c.preparedComment(); err != nil {
		return Fatal(err)
	}
	return c.legacyRun(args)
}

func misuse(msg string) error { return &parseopt.UsageError{Msg: msg} }

// legacyAction takes the action from the number of arguments, where none is named.
func (c *configCmd) legacyAction(args []string) (Status, bool) {
	if c.action&(actGetColor|actGetColorBool) != 0 && c.typ != typeNone {
		return Fatal(misuse("--get-color and variable type are incoherent")), true
	}
	if c.action != 0 {
		return OK, false
	}
	switch len(args) {
	case 1:
		c.action = actGet
		if i := strings.LastIndexByte(args[0], '.'); i >= 0 && strings.IndexByte(args[0][i:], '=') >= 0 {
			return c.missingValue(args[0]), true
		}
	case 2:
		c.action = actSet
	case 3:
		c.action = actSetAll
	default:
		return Fatal(misuse("no action specified")), true
	}
	return OK, false
}

// legacyCheck refuses options that do not fit the action.
func (c *configCmd) legacyCheck(args []string) error {
	is := func(actions int) bool { return c.action&actions != 0 }
	switch {
	case c.nameOnly && !is(actList|actGetRegexp):
		return misuse("--name-only is only applicable to --list or --get-regexp")
	case c.showOrigin && !is(actGet|actGetAll|actGetRegexp|actList):
		return misuse("--show-origin is only applicable to --get, --get-all, --get-regexp, and --list")
	case c.def != nil && !is(actGet):
		return misuse("--default is only applicable to --get")
	case c.comment != nil && !is(actAdd|actSet|actSetAll|actReplaceAll):
		return misuse("--comment is only applicable to add/set/replace operations")
	}
	if c.fixed {
		ok := is(actGet|actGetAll|actGetRegexp|actUnset|actUnsetAll) && len(args) > 1 || is(actSetAll|actReplaceAll) && len(args) > 2
		if !ok {
			return misuse("--fixed-value only applies with 'value-pattern'")
		}
	}
	return nil
}

// legacyRun does what the action says.
func (c *configCmd) legacyRun(args []string) Status {
	counts := map[int][2]int{
		actList: {0, 0}, actSet: {2, 2}, actSetAll: {2, 3}, actAdd: {2, 2}, actReplaceAll: {2, 3}, actGet: {1, 2}, actGetAll: {1, 2}, actGetRegexp: {1, 2},
		actGetURLMatch: {2, 2}, actUnset: {1, 2}, actUnsetAll: {1, 2}, actRenameSection: {2, 2}, actRemoveSection: {1, 1}, actGetColor: {1, 2}, actGetColorBool: {1, 2},
	}
	if c.action&(actSet|actSetAll|actAdd|actReplaceAll|actUnset|actUnsetAll|actRenameSection|actRemoveSection) != 0 {
		if err := c.checkWrite(); err != nil {
			return Fatal(err)
		}
	}
	if n, ok := counts[c.action]; ok {
		if err := argCount(args, n[0], n[1]); err != nil {
			return Fatal(err)
		}
	}
	optional := func(i int) *string {
		if i < len(args) {
			return &args[i]
		}
		return nil
	}
	switch c.action {
	case actList:
		return c.showAll()
	case actEdit:
		return c.editFile(false)
	case actSet:
		return c.write(config.Change{Key: args[0]}, args[1], nil, "Use a regexp, --add or --replace-all to change "+args[0]+".")
	case actSetAll:
		return c.write(config.Change{Key: args[0]}, args[1], optional(2), "")
	case actAdd:
		return c.write(config.Change{Key: args[0], Add: true}, args[1], nil, "")
	case actReplaceAll:
		return c.write(config.Change{Key: args[0], All: true}, args[1], optional(2), "")
	case actUnset, actUnsetAll:
		return c.write(config.Change{Key: args[0], Unset: true, All: c.action == actUnsetAll}, "", optional(1), "")
	case actRenameSection:
		return c.section(args[0], &args[1])
	case actRemoveSection:
		return c.section(args[0], nil)
	case actGetURLMatch:
		return c.getURL(args[0], args[1])
	case actGetColor:
		return c.getColor(args[0], optional(1))
	case actGetColorBool:
		return c.getColorBool(args[0], optional(1))
	}
	c.all = c.action != actGet
	c.regexp = c.action == actGetRegexp
	c.showNames = c.showNames || c.regexp
	return c.getValue(args[0], optional(1))
}

// locate decides which file or blob is meant.
func (c *configCmd) locate() error {
	if c.null {
		c.term, c.keySep = "\x00", "\n"
	}
	if c.file == nil {
		if env, ok := c.env.LookupEnv("GIT_CONFIG"); ok {
			c.file = &env
		}
	}
	n := 0
	for _, given := range []bool{c.global, c.system, c.local, c.worktree, c.file != nil, c.blob != nil} {
		if given {
			n++
		}
	}
	if n > 1 {
		return misuse("only one config file at a time")
	}
	if c.repo == nil {
		for name, given := range map[string]bool{"--local": c.local, "--blob": c.blob != nil, "--worktree": c.worktree} {
			if given {
				return errors.New(name + " can only be used inside a git repository")
			}
		}
	}
	return c.locateFile()
}

func (c *configCmd) locateFile() error {
	switch {
	case c.file != nil && *c.file == "-":
		c.source = source{stdin: true, scope: config.ScopeCommand}
	case c.file != nil:
		name := *c.file
		if c.repo != nil && c.repo.Prefix != "" && !strings.HasPrefix(name, "/") {
			name = c.repo.Prefix + name
		}
		c.source = source{name: name, scope: config.ScopeCommand}
	case c.global:
		name := globalFile(c.env.LookupEnv)
		if name == "" {
			return errors.New("$HOME not set")
		}
		c.source = source{name: name, scope: config.ScopeGlobal}
	case c.system:
		c.source = source{name: config.SystemFile(c.env.LookupEnv), scope: config.ScopeSystem}
	case c.local:
		c.source = source{name: c.repo.GitPathName("config"), scope: config.ScopeLocal}
	case c.worktree:
		c.source = source{name: c.repo.GitPathName("config"), scope: config.ScopeLocal}
		if c.repo.Format.WorktreeConfig {
			c.source.name = c.repo.GitPathName("config.worktree")
		} else if linkedWorktrees(c.repo.CommonDir) {
			return errors.New("--worktree cannot be used with multiple working trees unless the config\n" +
				"extension worktreeConfig is enabled. Please read \"CONFIGURATION FILE\"\n" +
				"section in \"git help worktree\" for details")
		}
	case c.blob != nil:
		c.source = source{scope: config.ScopeCommand}
	}
	return nil
}
