package builtin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

var cmdBranch = &Command{
	Name:    "branch",
	Setup:   NeedRepo,
	Run:     runBranch,
	Options: func() *parseopt.Parser { return new(branchCommand).parser() },
}

// branchCommand is one run of branch.
type branchCommand struct {
	refList
	filterOptions
	res *revision.Resolver

	kind                                           refKind
	verbose, abbrev                                int
	del, move, cp                                  int // 1: carefully, 2: whatever is in the way
	list, quiet, force, reflog, showCurrent, unset bool
	track                                          trackMode
	upstream                                       *string
	format                                         string
	headName                                       string // the current branch
	detached                                       bool
	argv                                           []string
	setUpstream, remotesOnly, allKinds             bool
}

func (o *branchCommand) parser() *parseopt.Parser {
	o.kind, o.abbrev, o.track = kindBranch, -1, trackUnset
	options := []parseopt.Option{
		parseopt.Group("In general"),
		parseopt.CountUp('v', "verbose", &o.verbose, "show commit and subject; twice: the upstream branch as well"),
		parseopt.Bool('q', "quiet", &o.quiet, "say less"),
		parseopt.OptCallback('t', "track", "(direct|inherit)", "set what the branch is to be merged with", o.setTrack).Literal(),
		parseopt.Bool(0, "set-upstream", &o.setUpstream, "no longer of use").Hidden(),
		parseopt.StringP('u', "set-upstream-to", &o.upstream, "upstream", "change the upstream branch"),
		parseopt.Bool(0, "unset-upstream", &o.unset, "forget the upstream branch"),
		parseopt.OptCallback(0, "color", "when", "use colors", o.setBranchColor),
		parseopt.Bool('r', "remotes", &o.remotesOnly, "remote-tracking branches").NoNeg(),
		parseopt.Abbrev(&o.abbrev),
		parseopt.Group("What to do"),
		parseopt.Bool('a', "all", &o.allKinds, "list remote-tracking branches as well").NoNeg(),
		parseopt.Bit('d', "delete", &o.del, "delete a merged branch", 1),
		parseopt.Bit('D', "", &o.del, "delete a branch, merged or not", 2),
		parseopt.Bit('m', "move", &o.move, "rename a branch, with its reflog", 1),
		parseopt.Bit('M', "", &o.move, "rename a branch over another one", 2),
		parseopt.Bool(0, "omit-empty", &o.omitEmpty, "print no line for a branch of which the format makes nothing"),
		parseopt.Bit('c', "copy", &o.cp, "copy a branch, with its reflog", 1),
		parseopt.Bit('C', "", &o.cp, "copy a branch over another one", 2),
		parseopt.Bool('l', "list", &o.list, "list branches"),
		parseopt.Bool(0, "show-current", &o.showCurrent, "print the current branch"),
		parseopt.Bool(0, "create-reflog", &o.reflog, "begin a reflog"),
		parseopt.NotNative(0, "edit-description", "", "edit the description of a branch"),
		parseopt.NotNative(0, "delete-merged", "pattern", "delete merged branches whose upstream matches"),
		parseopt.NotNative(0, "dry-run", "", "with --delete-merged: only say what would be deleted"),
		parseopt.Bool('f', "force", &o.force, "whatever is in the way"),
		parseopt.NotNative(0, "forked", "branch", "only branches whose upstream matches"),
		parseopt.OptCallback(0, "column", "style", "list in columns", func(parseopt.Arg) error { return nil }).NotNative(),
		parseopt.Callback(0, "sort", "key", "field to sort by", o.setSort),
		parseopt.Bool('i', "ignore-case", &o.ignoreCase, "sort and match without regard to case"),
		parseopt.NotNative(0, "recurse-submodules", "", "do the same in submodules"),
		parseopt.String(0, "format", &o.format, "format", "what to print"),
	}
	return &parseopt.Parser{
		Usage: []string{
			"git branch [<options>] [-r | -a] [--merged] [--no-merged]",
			"git branch [<options>] [-f] [--recurse-submodules] <branch-name> [<start-point>]",
			"git branch [<options>] [-l] [<pattern>...]",
			"git branch [<options>] [-r] (-d | -D) <branch-name>...",
			"git branch [<options>] (-m | -M) [<old-branch>] <new-branch>",
			"git branch [<options>] (-c | -C) [<old-branch>] <new-branch>",
			"git branch [<options>] [-r | -a] [--points-at]",
			"git branch [<options>] [-r | -a] [--format]",
		},
		Options: append(options, o.options()...),
	}
}

// setBranchColor leaves colored lists to real git.
func (o *branchCommand) setBranchColor(a parseopt.Arg) error {
	err := o.setColor(a)
	if err == nil && o.color {
		err = &parseopt.NotNativeError{Option: "--color"}
	}
	return err
}

func runBranch(env *Env, argv []string) Status {
	o := new(branchCommand)
	p := o.parser()
	if err := o.defaults(env, "branch.sort"); err != nil {
		return Fatal(err)
	}
	args, err := env.Parse(p, argv)
	if err == nil {
		err = o.start(env)
	}
	if err == nil {
		err = o.readHead()
	}
	if err == nil {
		_, err = o.rebases("") // a malformed setting is an error of every run
	}
	if err != nil {
		return Fatal(err)
	}
	o.res, o.argv = newResolver(env), args
	switch {
	case o.allKinds:
		o.kind = kindBranch | kindRemote
	case o.remotesOnly:
		o.kind = kindRemote
	}
	if len(args) == 0 && o.del+o.move+o.cp == 0 && o.upstream == nil && !o.showCurrent && !o.unset || o.any() {
		o.list = true
	}
	actions := 0
	for _, on := range []bool{o.del > 0, o.move > 0, o.cp > 0, o.upstream != nil, o.showCurrent, o.list, o.unset} {
		if on {
			actions++
		}
	}
	if actions > 1 {
		return Fatal(p.UsageError(""))
	}
	if o.force {
		o.del, o.move, o.cp = o.del*2, o.move*2, o.cp*2
	}
	switch {
	case o.del > 0:
		return o.deleteBranches(args)
	case o.showCurrent:
		return o.printCurrent()
	case o.list:
		return o.listBranches(args)
	case o.cp > 0 || o.move > 0:
		return o.moveBranch(args)
	case o.upstream != nil:
		return o.setUpstreamTo(args)
	case o.unset:
		return o.unsetUpstream(args)
	case len(args) > 0 && len(args) <= 2:
		return o.create(args)
	}
	return Fatal(p.UsageError(""))
}

func (o *branchCommand) readHead() error {
	r, err := o.store.Resolve("HEAD", 0)
	if err != nil {
		if errors.Is(err, refs.ErrUnresolved) {
			err = errors.New("failed to resolve HEAD as a valid ref")
		}
		return err
	}
	if r.Name == "HEAD" {
		o.detached, o.headName = true, "HEAD"
		return nil
	}
	name, ok := strings.CutPrefix(r.Name, "refs/heads/")
	if !ok {
		return errors.New("HEAD not found below refs/heads!")
	}
	o.headName = name
	return nil
}

func (o *branchCommand) printCurrent() Status {
	r, err := o.store.Resolve("HEAD", 0)
	if err != nil {
		return Fatalf("could not resolve HEAD")
	}
	if !r.Symref {
		return OK
	}
	name, ok := strings.CutPrefix(r.Name, "refs/heads/")
	if !ok {
		return Fatalf("HEAD (%s) points outside of refs/heads/", r.Name)
	}
	o.env.Print(name, "\n")
	return OK
}

func (o *branchCommand) listBranches(patterns []string) Status {
	if err := refuseColumns(o.env, "column.branch"); err != nil {
		return Fatal(err)
	}
	if v, ok := o.env.Config.Get("color.branch"); o.color && !ok || v == "always" {
		return NotNative("color.branch")
	}
	keys, err := o.parseSort()
	if err != nil {
		return Fatal(err)
	}
	if st := o.resolve(&o.refList); st != OK {
		return st
	}
	o.kinds, o.patterns, o.headFirst, o.commitsOnly = o.kind, patterns, true, o.verbose > 0
	if o.kind&kindBranch != 0 && o.detached {
		o.kinds |= kindDetached
	}
	list, err := o.choose()
	if err != nil {
		return Fatal(err)
	}
	if o.format == "" {
		if o.format, err = o.defaultFormat(list); err != nil {
			return Fatal(err)
		}
	}
	f, err := o.parseFormat(o.format, 0)
	if errors.Is(err, errMalformedFormat) {
		o.env.Error(err)
		err = errors.New("unable to parse format string")
	}
	if err == nil {
		err = o.sort(list, keys)
	}
	if err == nil {
		err = o.printAll(f, list)
	}
	return Fatal(err)
}

// defaultFormat is what a list of branches looks like.
func (o *branchCommand) defaultFormat(list []*refItem) (string, error) {
	prefix := ""
	if o.kind != kindRemote {
		prefix = "remotes/"
	}
	local := "%(if)%(HEAD)%(then)* %(else)%(if)%(worktreepath)%(then)+ %(else)  %(end)%(end)"
	remote := "  "
	if o.verbose == 0 {
		name := "%(refname:lstrip=2)%(if)%(symref)%(then) -> %(symref:short)%(end)"
		local += name
		remote += prefix + name
	} else {
		width, err := o.width(list, len(prefix))
		if err != nil {
			return "", err
		}
		id := "%(objectname:short)"
		switch {
		case o.abbrev == 0:
			id = "%(objectname)"
		case o.abbrev > 0:
			id = fmt.Sprintf("%%(objectname:short=%d)", o.abbrev)
		}
		local += fmt.Sprintf("%%(align:%d,left)%%(refname:lstrip=2)%%(end) %s ", width, id)
		if o.verbose > 1 {
			local += "%(if:notequals=*)%(HEAD)%(then)%(if)%(worktreepath)%(then)(%(worktreepath)) %(end)%(end)" +
				"%(if)%(upstream)%(then)[%(upstream:short)%(if)%(upstream:track)%(then): %(upstream:track,nobracket)%(end)] %(end)%(contents:subject)"
		} else {
			local += "%(if)%(upstream:track)%(then)%(upstream:track) %(end)%(contents:subject)"
		}
		remote += fmt.Sprintf("%%(align:%d,left)%s%%(refname:lstrip=2)%%(end)%%(if)%%(symref)%%(then) -> %%(symref:short)%%(else) %s %%(contents:subject)%%(end)", width, prefix, id)
	}
	return "%(if:notequals=refs/remotes)%(refname:rstrip=-2)%(then)" + local + "%(else)" + remote + "%(end)", nil
}

// width is that of the widest name.
func (o *branchCommand) width(list []*refItem, bonus int) (int, error) {
	widest := 0
	for _, r := range list {
		name := r.Name
		switch r.kind {
		case kindDetached:
			text, err := headDescription(o.env)
			if err != nil {
				return 0, err
			}
			name = text
		case kindBranch:
			name = strings.TrimPrefix(name, "refs/heads/")
		case kindRemote:
			name = strings.TrimPrefix(name, "refs/remotes/")
		}
		w := displayWidth(name)
		if r.kind == kindRemote {
			w += bonus
		}
		widest = max(widest, w)
	}
	return widest, nil
}

// validName returns the ref of a new branch, and whether it exists.
func (o *branchCommand) validName(name string) (full string, exists bool, status Status) {
	short, err := o.res.BranchName(name)
	if err != nil || !validBranch(name, short) {
		o.env.message("fatal: ", "'"+name+"' is not a valid branch name")
		o.env.adviseIf("refSyntax", "See 'git help check-ref-format'")
		return "", false, Exit(128)
	}
	full = "refs/heads/" + short
	return full, o.store.Exists(full), OK
}

// validNew is validName of a branch that is about to be made.
func (o *branchCommand) validNew(name string, force bool) (full string, exists bool, status Status) {
	full, exists, status = o.validName(name)
	if status != OK || !exists {
		return full, exists, status
	}
	short := strings.TrimPrefix(full, "refs/heads/")
	if !force {
		return full, true, Fatalf("a branch named '%s' already exists", short)
	}
	if use := o.usedBy(full); use != nil {
		return full, true, Fatalf("cannot force update the branch '%s' used by worktree at '%s'", short, use.path)
	}
	return full, true, OK
}

func (o *branchCommand) create(args []string) Status {
	start := o.headName
	if len(args) == 2 {
		start = args[1]
	}
	if o.kind != kindBranch {
		return Fatalf("the -a, and -r, options to 'git branch' do not take a branch name.\nDid you mean to use: -a|-r --list <pattern>?")
	}
	if o.setUpstream {
		return Fatalf("the '--set-upstream' option is no longer supported. Please use '--track' or '--set-upstream-to' instead")
	}
	track, err := o.trackMode()
	if err != nil {
		return Fatal(err)
	}
	full, exists, st := o.validNew(args[0], o.force)
	if st != OK {
		return st
	}
	id, real, st := o.startPoint(start, track)
	if st != OK {
		return st
	}
	c := refs.Change{Name: full, New: refs.OID(id), CreateReflog: o.reflog, Message: "branch: Created from " + start}
	if exists {
		c.Message = "branch: Reset to " + start
	} else {
		c.Old = null(o.env)
	}
	if err := changeRefs(o.env, c); err != nil {
		return Fatal(err)
	}
	if real == "" || track == trackNever {
		return OK
	}
	return o.setupTracking(strings.TrimPrefix(full, "refs/heads/"), real, track)
}
