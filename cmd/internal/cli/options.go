package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

const usageText = `git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]
           [--exec-path[=<path>]] [--html-path] [--man-path] [--info-path]
           [-p | --paginate | -P | --no-pager] [--no-replace-objects] [--no-lazy-fetch]
           [--no-optional-locks] [--no-advice] [--bare] [--git-dir=<path>]
           [--work-tree=<path>] [--namespace=<name>] [--config-env=<name>=<envvar>]
           <command> [<args>]`

// globalOptions consumes git's options before the command: no bundles, no
// abbreviations. done is true where they already end the run. changed, unless
// nil, is set when an option changed the environment.
func (p *process) globalOptions(args []string, changed *bool) (rest []string, st builtin.Status, done bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "--help", "-h", "--version", "-v":
			return args, st, false
		}
		n, st, done := p.globalOption(args, changed)
		if done {
			return nil, st, true
		}
		args = args[n:]
	}
	return args, st, false
}

// setting is an option that only sets an environment variable.
type setting struct{ name, value string }

func plainSetting(opt string) (setting, bool) {
	switch opt {
	case "-P", "--no-pager":
		return setting{"GIT_PAGER", "cat"}, true
	case "--no-lazy-fetch":
		return setting{"GIT_NO_LAZY_FETCH", "1"}, true
	case "--no-replace-objects":
		return setting{"GIT_NO_REPLACE_OBJECTS", "1"}, true
	case "--literal-pathspecs":
		return setting{"GIT_LITERAL_PATHSPECS", "1"}, true
	case "--no-literal-pathspecs":
		return setting{"GIT_LITERAL_PATHSPECS", "0"}, true
	case "--glob-pathspecs":
		return setting{"GIT_GLOB_PATHSPECS", "1"}, true
	case "--noglob-pathspecs":
		return setting{"GIT_NOGLOB_PATHSPECS", "1"}, true
	case "--icase-pathspecs":
		return setting{"GIT_ICASE_PATHSPECS", "1"}, true
	case "--no-optional-locks":
		return setting{"GIT_OPTIONAL_LOCKS", "0"}, true
	case "--no-advice":
		return setting{"GIT_ADVICE", "0"}, true
	}
	return setting{}, false
}

// valued maps an option with a value to its variable and to what git says
// where the value is missing. The =form exists for all but --shallow-file.
func valued(opt string) (variable, missing string, ok bool) {
	switch opt {
	case "--git-dir":
		return "GIT_DIR", "no directory given for '--git-dir' option", true
	case "--work-tree":
		return "GIT_WORK_TREE", "no directory given for '--work-tree' option", true
	case "--namespace":
		return "GIT_NAMESPACE", "no namespace given for --namespace", true
	case "--attr-source":
		return "GIT_ATTR_SOURCE", "no attribute source given for --attr-source", true
	case "--shallow-file":
		return "GIT_SHALLOW_FILE", "no shallow file given for --shallow-file", true
	}
	return "", "", false
}

// globalOption handles the first of args, and returns how many it took.
func (p *process) globalOption(args []string, changed *bool) (int, builtin.Status, bool) {
	set := func(name, value string) {
		p.env.Setenv(name, value)
		if changed != nil {
			*changed = true
		}
	}
	opt := args[0]
	if s, ok := plainSetting(opt); ok {
		set(s.name, s.value)
		return 1, builtin.OK, false
	}
	name, value, stuck := strings.Cut(opt, "=")
	if variable, missing, ok := valued(name); ok && !(stuck && name == "--shallow-file") {
		if stuck {
			set(variable, value)
			return 1, builtin.OK, false
		}
		if len(args) < 2 {
			return 0, usageError(missing), true
		}
		set(variable, args[1])
		return 2, builtin.OK, false
	}
	switch {
	case strings.HasPrefix(opt, "--exec-path"):
		return p.optExecPath(strings.TrimPrefix(opt, "--exec-path"))
	case opt == "--html-path", opt == "--man-path", opt == "--info-path":
		return 0, p.delegate("option '" + opt + "' is not implemented"), true
	case opt == "-p", opt == "--paginate":
		p.paginate = true
		return 1, builtin.OK, false
	case opt == "--bare":
		if _, ok := p.env.LookupEnv("GIT_DIR"); !ok {
			p.env.Setenv("GIT_DIR", p.env.Dir)
		}
		p.env.Bare = true
		set("GIT_IMPLICIT_WORK_TREE", "0")
		return 1, builtin.OK, false
	case opt == "-c":
		return p.optConfig(args)
	case name == "--config-env":
		return p.optConfigEnv(args, value, stuck)
	case opt == "-C":
		return p.optDir(args, changed)
	case name == "--list-cmds" && stuck:
		return 0, p.listCommands(value), true
	}
	return 0, usageError("unknown option: " + opt), true
}

// usageError is git's usage(): a line, the usage text, 129.
func usageError(line string) builtin.Status {
	return builtin.Status{Code: 129, Err: &parseopt.UsageError{
		ShowUsage: true,
		Usage:     line + "\nusage: " + usageText + "\n",
	}}
}

func (p *process) optExecPath(rest string) (int, builtin.Status, bool) {
	if value, ok := strings.CutPrefix(rest, "="); ok {
		p.env.Setenv("GIT_EXEC_PATH", value)
		return 1, builtin.OK, false
	}
	p.env.Trace.CommandName("_query_")
	p.env.Print(p.gitExecPath(), "\n")
	return 0, builtin.OK, true
}

func (p *process) optConfig(args []string) (int, builtin.Status, bool) {
	if len(args) < 2 {
		return 0, usageError("-c expects a configuration string"), true
	}
	p.env.Setenv("GIT_CONFIG_PARAMETERS", config.AppendParameter(p.env.Getenv("GIT_CONFIG_PARAMETERS"), args[1]))
	return 2, builtin.OK, false
}

func (p *process) optConfigEnv(args []string, spec string, stuck bool) (int, builtin.Status, bool) {
	n := 1
	if !stuck {
		if len(args) < 2 {
			return 0, usageError("no config key given for --config-env"), true
		}
		spec, n = args[1], 2
	}
	key, value, err := config.ParseConfigEnv(spec, p.env.LookupEnv)
	if err != nil {
		return 0, builtin.Fatal(err), true
	}
	p.env.Setenv("GIT_CONFIG_PARAMETERS", config.AppendPair(p.env.Getenv("GIT_CONFIG_PARAMETERS"), key, value, true))
	return n, builtin.OK, false
}

// optDir is -C. It moves Env.Dir; the process stays where it is (M2).
func (p *process) optDir(args []string, changed *bool) (int, builtin.Status, bool) {
	if len(args) < 2 {
		return 0, usageError("no directory given for '-C' option"), true
	}
	if args[1] == "" {
		return 2, builtin.OK, false
	}
	dir, err := enter(p.env.Abs(args[1]))
	if err != nil {
		return 0, builtin.Fatalf("cannot change to '%s': %s", args[1], vfs.Strerror(err)), true
	}
	p.env.Dir = dir
	if changed != nil {
		*changed = true
	}
	return 2, builtin.OK, false
}

// enter returns what getcwd would say after a chdir to dir.
func enter(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	fi, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !fi.IsDir() {
		return "", syscall.ENOTDIR
	}
	if err := searchable(real); err != nil {
		return "", err
	}
	return real, nil
}

// listCommands is --list-cmds, for what the tables know.
func (p *process) listCommands(spec string) builtin.Status {
	for _, word := range strings.Split(spec, ",") {
		switch word {
		case "builtins":
			for _, c := range builtin.Commands() {
				p.env.Print(c.Name, "\n")
			}
		case "parseopt":
			for _, c := range builtin.Commands() {
				if c.Options != nil {
					p.env.Print(c.Name, " ")
				}
			}
		case "deprecated":
			p.env.Print("pack-redundant\nwhatchanged\n")
		case "alias":
			cfg, err := p.config()
			if err != nil {
				return builtin.Fatal(err)
			}
			for _, e := range cfg.Entries() {
				if rest, ok := strings.CutPrefix(e.Key, "alias."); ok {
					name, _ := aliasKey(rest)
					p.env.Print(name, "\n")
				}
			}
		case "nohelpers":
		default:
			return p.delegate("option '--list-cmds=" + spec + "' is not implemented")
		}
	}
	return builtin.OK
}
