package builtin

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/send"
	"github.com/sluicegit/sluice/gitcompat/transport"
)

var cmdPush = &Command{
	Name:    "push",
	Setup:   NeedRepo,
	Run:     runPush,
	Options: func() *parseopt.Parser { return new(pusher).parser() },
}

// Bits of pusher.flags.
const (
	pushAll = 1 << iota
	pushMirror
	pushForce
	pushDryRun
	pushPorcelain
	pushUpstream
	pushPrune
	pushNoVerify
	pushAtomic
	pushIncludes
)

// A pusher is one run of push.
type pusher struct {
	env *Env

	flags        uint
	verbosity    int
	tags, delete bool
	thin         bool
	progress     int
	repo         string
	program      string
	options      []string
	leases       []parseopt.Arg

	specs        []send.Refspec
	autoUpstream bool
	branch       string // the current branch, short; "" for a detached HEAD
}

func (p *pusher) parser() *parseopt.Parser {
	p.thin, p.progress = true, -1
	opts := append(parseopt.Verbosity(&p.verbosity),
		parseopt.String(0, "repo", &p.repo, "repository", "where to push, if no argument says"),
		parseopt.Bit(0, "all", &p.flags, "push all branches", pushAll),
		parseopt.Alias(0, "branches", "all"),
		parseopt.Bit(0, "mirror", &p.flags, "make the other side's refs the same as ours", pushMirror|pushForce),
		parseopt.Bool('d', "delete", &p.delete, "delete the refs that are named"),
		parseopt.Bool(0, "tags", &p.tags, "push all tags too (not with --all or --mirror)"),
		parseopt.Bit('n', "dry-run", &p.flags, "say what would be done, and do nothing", pushDryRun),
		parseopt.Bit(0, "porcelain", &p.flags, "output for programs", pushPorcelain),
		parseopt.Bit('f', "force", &p.flags, "update refs that would lose commits", pushForce),
		parseopt.OptCallback(0, "force-with-lease", "<refname>:<expect>", "force, if the ref still is what it is expected to be", func(a parseopt.Arg) error {
			if a.Unset {
				p.leases = nil
				return nil
			}
			p.leases = append(p.leases, a)
			return nil
		}).Literal(),
		parseopt.Bit(0, "force-if-includes", &p.flags, "with a lease: only what was part of the local branch", pushIncludes),
		p.recurseSubmodules(),
		parseopt.Bool(0, "thin", &p.thin, "send deltas against what the other side has"),
		parseopt.String(0, "receive-pack", &p.program, "receive-pack", "program of the other side"),
		parseopt.String(0, "exec", &p.program, "receive-pack", "program of the other side"),
		parseopt.Bit('u', "set-upstream", &p.flags, "make what is pushed the upstream of the branch", pushUpstream),
		parseopt.SetInt(0, "progress", &p.progress, "show progress", 1),
		parseopt.Bit(0, "prune", &p.flags, "delete refs that are gone here", pushPrune),
		parseopt.NegBit(0, "verify", &p.flags, "run the pre-push hook", pushNoVerify),
		parseopt.NotNative(0, "follow-tags", "", "push annotated tags of what is pushed"),
		p.signed(),
		parseopt.Bit(0, "atomic", &p.flags, "all refs or none", pushAtomic),
		parseopt.StringList('o', "push-option", &p.options, "server-specific", "option for the other side's hooks"),
		parseopt.NotNative('4', "ipv4", "", "IPv4 addresses only"),
		parseopt.NotNative('6', "ipv6", "", "IPv6 addresses only"),
	)
	return &parseopt.Parser{Usage: []string{"git push [<options>] [<repository> [<refspec>...]]"}, Options: opts}
}

// recurseSubmodules accepts only what asks for nothing.
func (p *pusher) recurseSubmodules() parseopt.Option {
	return parseopt.Callback(0, "recurse-submodules", "(check|on-demand|no)", "push submodules too", func(a parseopt.Arg) error {
		if a.Unset || a.Value == "no" {
			return nil
		}
		return &parseopt.NotNativeError{Option: "--recurse-submodules"}
	})
}

func (p *pusher) signed() parseopt.Option {
	return parseopt.OptCallback(0, "signed", "(yes|no|if-asked)", "sign the push", func(a parseopt.Arg) error {
		if a.Unset || a.Value == "no" || a.Value == "false" {
			return nil
		}
		return &parseopt.NotNativeError{Option: "--signed"}
	})
}

func runPush(env *Env, argv []string) Status {
	p := &pusher{env: env}
	args, err := env.Parse(p.parser(), argv)
	if err == nil {
		err = p.configure()
	}
	if err == nil {
		err = p.check(args)
	}
	if err != nil {
		return Fatal(err)
	}
	remote, err := p.remote(args)
	if err != nil {
		return Fatal(err)
	}
	if err := p.refspecs(remote, args); err != nil {
		return Fatal(err)
	}
	// Before anything is sent anywhere: can all of it be sent from here?
	for _, url := range remote.PushURLs {
		if _, err := transport.Path(url); err != nil {
			return NotNative(err.Error())
		}
	}
	failed := false
	for _, url := range remote.PushURLs {
		ok, err := p.push(remote, url)
		if err != nil {
			return Fatal(err)
		}
		failed = failed || !ok
	}
	if failed {
		return Exit(1)
	}
	return OK
}

// configure applies push.* settings.
func (p *pusher) configure() error {
	c := p.env.Config
	var err error
	if on, e := c.Bool("push.followtags", false); e == nil && on {
		return &parseopt.NotNativeError{Option: "push.followTags"}
	}
	if v, ok := c.Get("push.gpgsign"); ok {
		if on, known := config.ParseBool(v, true); !known || on {
			return &parseopt.NotNativeError{Option: "push.gpgSign"}
		}
	}
	for _, key := range []string{"push.recursesubmodules", "submodule.recurse"} {
		if v, ok := c.Get(key); ok && v != "no" && v != "false" {
			return &parseopt.NotNativeError{Option: key}
		}
	}
	if p.autoUpstream, err = c.Bool("push.autosetupremote", false); err != nil {
		return err
	}
	if len(p.options) == 0 {
		for _, v := range c.All("push.pushoption") {
			if v == "" {
				p.options = nil
				continue
			}
			p.options = append(p.options, v)
		}
	}
	if on, e := c.Bool("push.useforceifincludes", false); e != nil {
		return e
	} else if on {
		p.flags |= pushIncludes
	}
	store, err := p.env.Repo.Refs()
	if err != nil {
		return err
	}
	if head, err := store.ReadRaw("HEAD"); err == nil && head.Symref {
		p.branch, _ = strings.CutPrefix(head.Target, "refs/heads/")
	}
	return nil
}

func (p *pusher) has(bit uint) bool { return p.flags&bit != 0 }

// check refuses combinations, in git's words.
func (p *pusher) check(args []string) error {
	var given []string
	for _, o := range []struct {
		on   bool
		name string
	}{{p.delete, "--delete"}, {p.tags, "--tags"}, {p.has(pushAll), "--all/--branches"}, {p.has(pushMirror), "--mirror"}} {
		if o.on {
			given = append(given, "'"+o.name+"'")
		}
	}
	switch len(given) {
	case 0, 1:
	case 2:
		return fmt.Errorf("options %s and %s cannot be used together", given[0], given[1])
	default:
		return fmt.Errorf("options %s, and %s cannot be used together", strings.Join(given[:len(given)-1], ", "), given[len(given)-1])
	}
	if p.delete && len(args) < 2 {
		return errors.New("--delete doesn't make sense without any refs")
	}
	for _, o := range p.options {
		if strings.Contains(o, "\n") {
			return errors.New("push options must not have new line characters")
		}
	}
	return nil
}

// remote finds where to push.
func (p *pusher) remote(args []string) (*send.Remote, error) {
	name := p.repo
	if len(args) > 0 {
		name = args[0]
	}
	c := p.env.Config
	if name == "" {
		name = send.ForPush(c, p.branch)
		if len(args) == 0 && p.repo == "" && !p.known(name) {
			return nil, errors.New(noDestination)
		}
	} else if c.Lookup("remotes."+name) != nil {
		return nil, &parseopt.NotNativeError{Option: "remotes." + name}
	}
	r, err := send.LoadRemote(c, name)
	if err != nil {
		return nil, err
	}
	if r.Mirror {
		p.flags |= pushMirror | pushForce
	}
	switch {
	case p.has(pushAll) && len(args) > 1:
		return nil, errors.New("--all can't be combined with refspecs")
	case p.has(pushMirror) && len(args) > 1:
		return nil, errors.New("--mirror can't be combined with refspecs")
	}
	return r, nil
}

func (p *pusher) known(name string) bool {
	r, err := send.LoadRemote(p.env.Config, name)
	return err != nil || r.Configured || strings.Contains(name, "/")
}

const noDestination = `No configured push destination.
Either specify the URL from the command-line or configure a remote repository using

    git remote add <name> <url>

and then push using the remote name

    git push <name>
`

// refspecs decides what to push: arguments, remote.<name>.push, push.default.
func (p *pusher) refspecs(remote *send.Remote, args []string) error {
	if p.tags {
		if err := p.add("refs/tags/*"); err != nil {
			return err
		}
	}
	if len(args) > 1 {
		if err := p.arguments(args[1:]); err != nil {
			return err
		}
	}
	switch {
	case len(p.specs) > 0 || p.has(pushAll):
		return nil
	case len(remote.Push) > 0:
		p.specs = remote.Push
		return nil
	case p.has(pushMirror):
		return nil
	}
	return p.byDefault(remote)
}

func (p *pusher) add(text string) error {
	spec, err := send.ParsePush(text)
	if err != nil {
		return err
	}
	p.specs = append(p.specs, spec)
	return nil
}

func (p *pusher) arguments(args []string) error {
	for i := 0; i < len(args); i++ {
		text := args[i]
		switch {
		case text == "tag":
			i++
			if i == len(args) {
				return errors.New("tag shorthand without <tag>")
			}
			text = "refs/tags/" + args[i]
			if p.delete {
				text = ":" + text
			}
		case p.delete && (strings.Contains(text, ":") || text == ""):
			return errors.New("--delete only accepts plain target ref names")
		case p.delete:
			text = ":" + text
		}
		if err := p.add(text); err != nil {
			return err
		}
	}
	return nil
}

// byDefault applies push.default.
func (p *pusher) byDefault(remote *send.Remote) error {
	mode, set := p.env.Config.Get("push.default")
	switch mode {
	case "nothing":
		return errors.New(`You didn't specify any refspecs to push, and push.default is "nothing".`)
	case "matching":
		return p.add(":")
	case "", "simple", "upstream", "tracking", "current":
		if set && mode == "" {
			return errMalformedDefault(mode)
		}
	default:
		return errMalformedDefault(mode)
	}
	if p.branch == "" {
		return fmt.Errorf("You are not currently on a branch.\n"+
			"To push the history leading to the current (detached HEAD)\n"+
			"state now, use\n\n    git push %s HEAD:<name-of-remote-branch>\n", remote.Name)
	}
	full := "refs/heads/" + p.branch
	dst := full
	upstream := send.Upstream(p.env.Config, p.branch)
	same := remote.Name == send.ForBranch(p.env.Config, p.branch)
	switch {
	case mode == "current" || (mode == "" || mode == "simple") && !same:
	case mode == "" || mode == "simple":
		up, err := p.upstream(upstream, remote.Name)
		if err != nil {
			return err
		}
		if up != full {
			return p.notSimple(up, remote.Name, !set)
		}
	case !same:
		return fmt.Errorf("You are pushing to remote '%s', which is not the upstream of\n"+
			"your current branch '%s', without telling me what to push\nto update which remote branch.", remote.Name, p.branch)
	default:
		up, err := p.upstream(upstream, remote.Name)
		if err != nil {
			return err
		}
		dst = up
	}
	if p.autoUpstream && len(upstream) == 0 {
		p.flags |= pushUpstream
	}
	return p.add(full + ":" + dst)
}

func errMalformedDefault(mode string) error {
	return &config.Error{
		Notes: []string{"error: malformed value for push.default: " + mode,
			"error: must be one of nothing, matching, simple, upstream or current"},
		Msg: "bad config variable 'push.default'",
	}
}

func (p *pusher) upstream(list []string, remote string) (string, error) {
	switch {
	case len(list) == 0 && p.autoUpstream:
		return "refs/heads/" + p.branch, nil
	case len(list) > 1:
		return "", fmt.Errorf("The current branch %s has multiple upstream branches, refusing to push.", p.branch)
	case len(list) == 1 && p.env.Config.Lookup("branch."+p.branch+".remote") != nil:
		return list[0], nil
	}
	return "", fmt.Errorf("The current branch %s has no upstream branch.\n"+
		"To push the current branch and set the remote as upstream, use\n\n"+
		"    git push --set-upstream %s %s\n\n"+
		"To have this happen automatically for branches without a tracking\n"+
		"upstream, see 'push.autoSetupRemote' in 'git help config'.\n", p.branch, remote, p.branch)
}

func (p *pusher) notSimple(up, remote string, unset bool) error {
	text := fmt.Sprintf("The upstream branch of your current branch does not match\n"+
		"the name of your current branch.  To push to the upstream branch\non the remote, use\n\n"+
		"    git push %s HEAD:%s\n\n"+
		"To push to the branch of the same name on the remote, use\n\n"+
		"    git push %s HEAD\n", remote, strings.TrimPrefix(up, "refs/heads/"), remote)
	if unset {
		text += "\nTo choose either option permanently, see push.default in 'git help config'.\n"
	}
	return errors.New(text)
}

// resolve resolves an expression for send.
func (p *pusher) resolve(expr string) (oid.ID, bool) {
	id, err := revision.New(p.env.Repo).Resolve(expr, revision.Any)
	return id, err == nil
}

// say prints an error that does not end the command.
func (p *pusher) say(err error) { p.env.Error(err) }

// failed says that the push to url did not work out.
func (p *pusher) failed(url string) {
	io.WriteString(p.env.Stderr, Message("error: ", "failed to push some refs to '"+url+"'"))
}
