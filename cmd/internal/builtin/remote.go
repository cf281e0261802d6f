package builtin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/send"
)

var cmdRemote = &Command{
	Name:    "remote",
	Setup:   NeedRepo,
	Run:     runRemote,
	Options: func() *parseopt.Parser { return new(remoteCmd).parser() },
}

// remoteCmd is one run of remote.
type remoteCmd struct {
	env     *Env
	verbose bool
	run     func(argv []string) Status
}

func (r *remoteCmd) parser() *parseopt.Parser {
	notNative := func(name string) func([]string) Status {
		return func([]string) Status { return NotNative(name) }
	}
	return &parseopt.Parser{
		Usage: []string{
			"git remote [-v | --verbose]",
			"git remote add [-t <branch>] [-m <master>] [-f] [--tags | --no-tags] [--mirror=<fetch|push>] <name> <url>",
			"git remote rename [--[no-]progress] <old> <new>",
			"git remote remove <name>",
			"git remote get-url [--push] [--all] <name>",
			"git remote set-url [--push] <name> <newurl> [<oldurl>]",
			"git remote set-url --add <name> <newurl>",
			"git remote set-url --delete <name> <url>",
		},
		Flags: parseopt.SubcommandOptional,
		Options: []parseopt.Option{
			parseopt.Bool('v', "verbose", &r.verbose, "show URLs too"),
			parseopt.Subcommand("add", &r.run, r.add),
			parseopt.Subcommand("rename", &r.run, r.rename),
			parseopt.Subcommand("rm", &r.run, r.remove),
			parseopt.Subcommand("remove", &r.run, r.remove),
			parseopt.Subcommand("get-url", &r.run, r.getURL),
			parseopt.Subcommand("set-url", &r.run, r.setURL),
			parseopt.Subcommand("set-head", &r.run, notNative("set-head")),
			parseopt.Subcommand("set-branches", &r.run, notNative("set-branches")),
			parseopt.Subcommand("show", &r.run, notNative("show")),
			parseopt.Subcommand("prune", &r.run, notNative("prune")),
			parseopt.Subcommand("update", &r.run, notNative("update")),
		},
	}
}

func runRemote(env *Env, argv []string) Status {
	r := &remoteCmd{env: env}
	p := r.parser()
	args, err := env.Parse(p, argv)
	switch {
	case err != nil:
		return Fatal(err)
	case r.run != nil:
		return r.run(args)
	case len(args) > 0:
		return Fatal(p.UsageError("unknown subcommand: `" + args[0] + "'"))
	}
	return r.list()
}

// options parses the options of a subcommand, which takes from min to max arguments.
func (r *remoteCmd) options(argv []string, min, max int, usage []string, options ...parseopt.Option) ([]string, error) {
	p := &parseopt.Parser{Usage: usage, Options: options}
	args, err := r.env.Parse(p, argv)
	if err == nil && (len(args) < min || len(args) > max) {
		err = p.UsageError("")
	}
	return args, err
}

// list prints the remotes, with -v once for each URL.
func (r *remoteCmd) list() Status {
	names := send.Names(r.env.Config)
	slices.Sort(names)
	for _, name := range names {
		if !r.verbose {
			r.env.Printf("%s\n", name)
			continue
		}
		remote, err := send.LoadRemote(r.env.Config, name)
		if err != nil {
			return Fatal(err)
		}
		filter := ""
		if f, ok := r.env.Config.Get("remote." + name + ".partialclonefilter"); ok {
			filter = " [" + f + "]"
		}
		if len(remote.URLs) > 0 {
			r.env.Printf("%s\t%s (fetch)%s\n", name, remote.URLs[0], filter)
		} else {
			r.env.Printf("%s\t\n", name)
		}
		for _, url := range remote.PushURLs {
			r.env.Printf("%s\t%s (push)\n", name, url)
		}
	}
	return OK
}

// load returns a remote that is configured.
func (r *remoteCmd) load(name, colon string) (*send.Remote, Status) {
	remote, err := send.LoadRemote(r.env.Config, name)
	if err != nil {
		return nil, Fatal(err)
	}
	if !remote.Configured {
		return nil, Failure(2, fmt.Errorf("No such remote%s '%s'", colon, name))
	}
	return remote, OK
}

// remoteAdd holds the options of remote add.
type remoteAdd struct {
	track               []string
	master, mirror      string
	tags                int // -1: not given
	mirrorGiven         bool
	fetchMirror, pushTo bool
}

func (r *remoteCmd) add(argv []string) Status {
	o := remoteAdd{tags: -1}
	args, err := r.options(argv, 2, 2, []string{"git remote add [<options>] <name> <url>"},
		parseopt.NotNative('f', "fetch", "", "fetch at once"),
		parseopt.SetInt(0, "tags", &o.tags, "fetch all tags, or with --no-tags none", 1),
		parseopt.StringList('t', "track", &o.track, "branch", "track only this branch"),
		parseopt.String('m', "master", &o.master, "branch", "the remote's main branch"),
		parseopt.OptCallback(0, "mirror", "(push|fetch)", "make it a mirror", func(a parseopt.Arg) error {
			o.mirrorGiven = !a.Unset
			switch {
			case a.Unset:
				o.fetchMirror, o.pushTo = false, false
			case !a.Given:
				r.env.Warn("--mirror is dangerous and deprecated; please\n\t use --mirror=fetch or --mirror=push instead")
				o.fetchMirror, o.pushTo = true, true
			case a.Value == "fetch":
				o.fetchMirror = true
			case a.Value == "push":
				o.pushTo = true
			default:
				return fmt.Errorf("unknown --mirror argument: %s", a.Value)
			}
			return nil
		}).Literal(),
	)
	if err != nil {
		return Fatal(err)
	}
	name, url := args[0], args[1]
	if s := o.check(r.env.Config, name); s.Err != nil {
		return s
	}
	if err := r.env.Repo.EditConfig(func(e *config.Edit) error { return o.apply(e, name, url) }); err != nil {
		return editStatus(err)
	}
	if o.master == "" {
		return OK
	}
	return r.setSymref("refs/remotes/"+name+"/HEAD", "refs/remotes/"+name+"/"+o.master, "remote add", "Could not setup master '"+o.master+"'")
}

// check refuses what makes no sense.
func (o *remoteAdd) check(c *config.Config, name string) Status {
	switch {
	case o.mirrorGiven && o.master != "":
		return Fatalf("specifying a master branch makes no sense with --mirror")
	case o.mirrorGiven && !o.fetchMirror && len(o.track) > 0:
		return Fatalf("specifying branches to track makes sense only with fetch mirrors")
	}
	remote, err := send.LoadRemote(c, name)
	switch {
	case err != nil:
		return Fatal(err)
	case remote.Configured:
		return Failure(3, fmt.Errorf("remote %s already exists.", name))
	case !refname.Check("refs/remotes/"+name+"/test", 0):
		return Fatalf("'%s' is not a valid remote name", name)
	}
	for _, other := range send.Names(c) {
		switch {
		case strings.HasPrefix(name, other+"/"):
			return Fatalf("remote name '%s' is a subset of existing remote '%s'", name, other)
		case strings.HasPrefix(other, name+"/"):
			return Fatalf("remote name '%s' is a superset of existing remote '%s'", name, other)
		}
	}
	return OK
}

func (o *remoteAdd) apply(e *config.Edit, name, url string) error {
	changes := []config.Change{{Key: "remote." + name + ".url", Value: url, All: true}}
	if !o.mirrorGiven || o.fetchMirror {
		track := o.track
		if len(track) == 0 {
			track = []string{"*"}
		}
		for _, branch := range track {
			spec := fmt.Sprintf("+refs/heads/%s:refs/remotes/%s/%s", branch, name, branch)
			if o.fetchMirror {
				spec = fmt.Sprintf("+refs/%s:refs/%s", branch, branch)
			}
			changes = append(changes, config.Change{Key: "remote." + name + ".fetch", Value: spec, Add: true})
		}
	}
	if o.pushTo {
		changes = append(changes, config.Change{Key: "remote." + name + ".mirror", Value: "true", All: true})
	}
	switch o.tags {
	case 1:
		changes = append(changes, config.Change{Key: "remote." + name + ".tagOpt", Value: "--tags", All: true})
	case 0:
		changes = append(changes, config.Change{Key: "remote." + name + ".tagOpt", Value: "--no-tags", All: true})
	}
	for _, c := range changes {
		if err := e.Apply(c); err != nil {
			return err
		}
	}
	return nil
}

func (r *remoteCmd) getURL(argv []string) Status {
	var push, all bool
	args, err := r.options(argv, 1, 1, []string{"git remote get-url [--push] [--all] <name>"},
		parseopt.Bool(0, "push", &push, "URLs for pushing"),
		parseopt.Bool(0, "all", &all, "all URLs"),
	)
	if err != nil {
		return Fatal(err)
	}
	remote, st := r.load(args[0], "")
	if remote == nil {
		return st
	}
	urls := remote.URLs
	if push {
		urls = remote.PushURLs
	}
	if !all && len(urls) > 1 {
		urls = urls[:1]
	}
	for _, url := range urls {
		r.env.Printf("%s\n", url)
	}
	return OK
}

func (r *remoteCmd) setURL(argv []string) Status {
	var push, add, del bool
	usage := []string{
		"git remote set-url [--push] <name> <newurl> [<oldurl>]",
		"git remote set-url --add <name> <newurl>",
		"git remote set-url --delete <name> <url>",
	}
	args, err := r.options(argv, 2, 3, usage,
		parseopt.Bool(0, "push", &push, "URLs for pushing"),
		parseopt.Bool(0, "add", &add, "one URL more"),
		parseopt.Bool(0, "delete", &del, "URLs less"),
	)
	switch {
	case err != nil:
		return Fatal(err)
	case add && del:
		return Fatalf("--add --delete doesn't make sense")
	case (add || del) && len(args) != 2:
		return Fatal((&parseopt.Parser{Usage: usage}).UsageError(""))
	}
	if remote, st := r.load(args[0], ""); remote == nil {
		return st
	}
	key := "remote." + args[0] + ".url"
	if push {
		key = "remote." + args[0] + ".pushurl"
	}
	change := config.Change{Key: key, Value: args[1], Add: add}
	old := ""
	switch {
	case del:
		old, change = args[1], config.Change{Key: key, Unset: true, All: true}
	case len(args) == 3:
		old = args[2]
	}
	if old != "" {
		if change.Match, err = r.matchURL(key, old, del, push); err != nil {
			return Fatal(err)
		}
	}
	return editStatus(r.env.Repo.EditConfig(func(e *config.Edit) error { return e.Apply(change) }))
}

// matchURL compiles the pattern of the URLs to be replaced or deleted, and
// checks that there are such, and that enough are left.
func (r *remoteCmd) matchURL(key, pattern string, del, push bool) (func(string, bool) bool, error) {
	re, err := extended(pattern)
	if err != nil {
		return nil, fmt.Errorf("Invalid old URL pattern: %s", pattern)
	}
	matches, others := 0, 0
	for _, url := range r.env.Config.All(key) {
		if re.MatchString(url) {
			matches++
		} else {
			others++
		}
	}
	switch {
	case !del && matches == 0:
		return nil, fmt.Errorf("No such URL found: %s", pattern)
	case del && others == 0 && !push:
		return nil, fmt.Errorf("Will not delete all non-push URLs")
	}
	return func(value string, _ bool) bool { return re.MatchString(value) }, nil
}
