package builtin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// trackMode says when a new branch gets an upstream branch.
type trackMode uint8

const (
	trackUnset trackMode = iota
	trackNever
	trackRemote // from remote-tracking branches
	trackAlways
	trackExplicit
	trackOverride // --set-upstream-to
	trackInherit
	trackSimple
)

func (o *branchCommand) setTrack(a parseopt.Arg) error {
	switch {
	case a.Unset:
		o.track = trackNever
	case !a.Given || a.Value == "direct":
		o.track = trackExplicit
	case a.Value == "inherit":
		o.track = trackInherit
	default:
		return errors.New(`option '--track' expects "direct" or "inherit"`)
	}
	return nil
}

// trackMode is that of the command line, else of branch.autoSetupMerge.
func (o *branchCommand) trackMode() (trackMode, error) {
	if o.track != trackUnset {
		return o.track, nil
	}
	e := o.env.Config.Lookup("branch.autosetupmerge")
	if e == nil {
		return trackRemote, nil
	}
	switch strings.ToLower(e.Value) {
	case "always":
		return trackAlways, nil
	case "inherit":
		return trackInherit, nil
	case "simple":
		return trackSimple, nil
	}
	on, err := e.Bool()
	if err != nil || on {
		return trackRemote, err
	}
	return trackNever, nil
}

// startPoint returns the commit that a new branch begins at, and the branch that
// its name means, "" if it means none.
func (o *branchCommand) startPoint(start string, track trackMode) (id oid.ID, real string, st Status) {
	explicit := track == trackExplicit || track == trackOverride
	if strings.Contains(start, "...") {
		return id, "", NotNative("<start-point> " + start)
	}
	id, err := o.res.Resolve(start, revision.Any)
	switch {
	case err == nil:
	case !errors.Is(err, revision.ErrUnknown):
		return id, "", Fatal(err)
	case explicit:
		o.env.message("fatal: ", "the requested upstream branch '"+start+"' does not exist")
		o.env.adviseIf("setUpstreamFailure", "\nIf you are planning on basing your work on an upstream\n"+
			"branch that already exists at the remote, you may need to\n"+
			"run \"git fetch\" to retrieve it.\n\n"+
			"If you are planning to push out a new local branch that\n"+
			"will track its remote counterpart, you may want to use\n"+
			"\"git push -u\" to set the upstream config as you push.")
		return id, "", Exit(128)
	default:
		return id, "", Fatalf("not a valid object name: '%s'", start)
	}
	ref, n, err := o.res.FindRef(start)
	notBranch := func() Status {
		return Fatalf("cannot set up tracking information; starting point '%s' is not a branch", start)
	}
	switch {
	case err != nil && !errors.Is(err, revision.ErrUnknown) || n > 1:
		return id, "", Fatalf("ambiguous object name: '%s'", start)
	case n == 0 && explicit:
		return id, "", notBranch()
	case n == 1:
		real, id = ref.Name, ref.ID
		if !strings.HasPrefix(real, "refs/heads/") && len(o.tracked(real)) == 0 {
			if explicit {
				return id, "", notBranch()
			}
			real = ""
		}
	}
	c, err := o.walk.Committish(id)
	if err != nil {
		o.notCommit(id)
		return id, "", Fatalf("not a valid branch point: '%s'", start)
	}
	return c.ID, real, OK
}

// A trackedBy is a branch of a remote.
type trackedBy struct{ remote, src string }

// tracked returns what is fetched into the ref dst.
func (o *branchCommand) tracked(dst string) []trackedBy {
	var found []trackedBy
	cfg := o.env.Config
	for _, remote := range cfg.Subsections("remote") {
		for _, spec := range cfg.All("remote." + remote + ".fetch") {
			if src, ok := sourceOf(spec, dst); ok {
				found = append(found, trackedBy{remote, src})
				break
			}
		}
	}
	return found
}

// sourceOf returns what a refspec fetches into dst.
func sourceOf(spec, dst string) (string, bool) {
	src, to, ok := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
	if !ok || strings.HasPrefix(spec, "^") {
		return "", false
	}
	before, after, glob := strings.Cut(to, "*")
	if !glob {
		return src, to == dst
	}
	if len(dst) < len(before)+len(after) || !strings.HasPrefix(dst, before) || !strings.HasSuffix(dst, after) {
		return "", false
	}
	return strings.Replace(src, "*", dst[len(before):len(dst)-len(after)], 1), true
}

// setupTracking makes real the upstream branch of name.
func (o *branchCommand) setupTracking(name, real string, track trackMode) Status {
	remote, sources := "", []string(nil)
	if track == trackInherit {
		var ok bool
		if remote, sources, ok = o.inherited(real); !ok {
			return OK
		}
	} else {
		found := o.tracked(real)
		switch {
		case len(found) > 1:
			return o.ambiguousTracking(real, found)
		case len(found) == 1:
			remote, sources = found[0].remote, []string{found[0].src}
		case track != trackAlways && track != trackExplicit && track != trackOverride:
			return OK
		}
	}
	if track == trackSimple && (len(sources) == 0 || sources[0] != "refs/heads/"+name) {
		return OK
	}
	if len(sources) == 0 {
		sources = []string{real}
	}
	return o.install(name, remote, sources)
}

func (o *branchCommand) ambiguousTracking(real string, found []trackedBy) Status {
	o.env.message("fatal: ", "not tracking: ambiguous information for ref '"+real+"'")
	list := ""
	for _, t := range found {
		list += "  " + t.remote + "\n"
	}
	on, err := o.env.Config.Bool("advice.ambiguousfetchrefspec", true)
	if err == nil && on {
		o.env.Advise("There are multiple remotes whose fetch refspecs map to the remote\n" +
			"tracking ref '" + real + "':\n" + list + "\n" +
			"This is typically a configuration error.\n\n" +
			"To support setting up tracking branches, ensure that\n" +
			"different remotes' fetch refspecs map into different\n" +
			"tracking namespaces.")
	}
	return Exit(128)
}

// inherited returns the settings of the branch that a new one begins at.
func (o *branchCommand) inherited(real string) (remote string, sources []string, ok bool) {
	name := strings.TrimPrefix(real, "refs/heads/")
	remote, ok = o.env.Config.Get("branch." + name + ".remote")
	if !ok {
		o.env.Warn("asked to inherit tracking from '%s', but no remote is set", name)
		return "", nil, false
	}
	sources = o.env.Config.All("branch." + name + ".merge")
	if len(sources) == 0 {
		o.env.Warn("asked to inherit tracking from '%s', but no merge configuration is set", name)
		return "", nil, false
	}
	if remote == "." {
		remote = ""
	}
	return remote, sources, true
}

// rebases reports whether new branches are to be rebased on their upstream.
func (o *branchCommand) rebases(remote string) (bool, error) {
	e := o.env.Config.Lookup("branch.autosetuprebase")
	if e == nil {
		return false, nil
	}
	v, err := e.Text()
	switch {
	case err != nil:
		return false, err
	case v == "never":
		return false, nil
	case v == "always":
		return true, nil
	case v == "local":
		return remote == "", nil
	case v == "remote":
		return remote != "", nil
	}
	return false, fmt.Errorf("malformed value for branch.autosetuprebase")
}

// install writes the settings of a branch whose upstream is in remote, "" for
// this repository.
func (o *branchCommand) install(name, remote string, sources []string) Status {
	rebase, err := o.rebases(remote)
	if err != nil {
		return Fatal(err)
	}
	if rebase && len(sources) > 1 {
		return Fatalf("cannot inherit upstream tracking configuration of multiple refs when rebasing is requested")
	}
	for _, src := range sources {
		if remote == "" && src == "refs/heads/"+name {
			o.env.Warn("not setting branch '%s' as its own upstream", name)
			return OK
		}
	}
	value := cmpOr(remote, ".")
	key := "branch." + name + "."
	err = o.env.Repo.EditConfig(func(e *config.Edit) error {
		changes := []config.Change{{Key: key + "remote", Value: value, All: true}, {Key: key + "merge", Value: sources[0], All: true}}
		for _, src := range sources[1:] {
			changes = append(changes, config.Change{Key: key + "merge", Value: src, Add: true})
		}
		if rebase {
			changes = append(changes, config.Change{Key: key + "rebase", Value: "true", All: true})
		}
		for _, c := range changes {
			if err := e.Apply(c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		o.env.Error(err)
		o.env.Error(errors.New("unable to write upstream branch configuration"))
		from := sources[0]
		if remote != "" {
			from = remote + "/" + from
		}
		o.env.Advise("\nAfter fixing the error cause you may try to fix up\nthe remote tracking information by invoking:")
		o.env.Advise("  git branch --set-upstream-to=" + from)
		return Exit(1)
	}
	if !o.quiet {
		o.reportTracking(name, remote, sources, rebase)
	}
	return OK
}

func (o *branchCommand) reportTracking(name, remote string, sources []string, rebase bool) {
	var friendly []string
	for _, src := range sources {
		src = strings.TrimPrefix(src, "refs/heads/")
		if remote != "" {
			src = remote + "/" + src
		}
		friendly = append(friendly, src)
	}
	switch {
	case len(friendly) > 1:
		o.env.Printf("branch '%s' set up to track:\n", name)
		for _, f := range friendly {
			o.env.Printf("  %s\n", f)
		}
	case rebase:
		o.env.Printf("branch '%s' set up to track '%s' by rebasing.\n", name, friendly[0])
	default:
		o.env.Printf("branch '%s' set up to track '%s'.\n", name, friendly[0])
	}
}

// target returns the branch that --set-upstream-to and --unset-upstream are
// about; "" for a detached HEAD.
func (o *branchCommand) target(args []string) string {
	if len(args) == 0 || args[0] == "HEAD" || args[0] == "@" {
		if o.detached {
			return ""
		}
		return o.headName
	}
	name, err := o.res.BranchName(args[0])
	if err != nil {
		return args[0]
	}
	return name
}

func (o *branchCommand) setUpstreamTo(args []string) Status {
	if len(args) > 1 {
		return Fatalf("too many arguments to set new upstream")
	}
	name := o.target(args)
	if name == "" {
		return Fatalf("could not set upstream of HEAD to %s when it does not point to any branch", *o.upstream)
	}
	if !o.store.Exists("refs/heads/" + name) {
		if len(args) == 0 || o.usedBy("refs/heads/"+name) != nil {
			return Fatalf("no commit on branch '%s' yet", name)
		}
		return o.noSuchBranch(name, args[0])
	}
	_, real, st := o.startPoint(*o.upstream, trackOverride)
	if st != OK {
		return st
	}
	return o.setupTracking(name, real, trackOverride)
}

// noSuchBranch is the end of --set-upstream-to for a branch that does not exist.
func (o *branchCommand) noSuchBranch(name, arg string) Status {
	remote := *o.upstream
	if on, err := o.env.Config.Bool("advice.setupstreamfailure", true); err == nil && on && !strings.Contains(remote, "/") {
		for _, r := range o.env.Config.Subsections("remote") {
			if r == remote && o.store.Exists("refs/remotes/"+remote+"/"+arg) {
				o.env.message("fatal: ", "--set-upstream-to takes a single <remote>/<branch> argument")
				o.env.adviseIf("setUpstreamFailure", "Did you mean to use: git branch --set-upstream-to="+remote+"/"+arg+"?")
				return Exit(128)
			}
		}
	}
	return Fatalf("branch '%s' does not exist", name)
}

func (o *branchCommand) unsetUpstream(args []string) Status {
	if len(args) > 1 {
		return Fatalf("too many arguments to unset upstream")
	}
	name := o.target(args)
	if name == "" {
		return Fatalf("could not unset upstream of HEAD when it does not point to any branch")
	}
	if _, ok := o.env.Config.Get("branch." + name + ".merge"); !ok {
		return Fatalf("branch '%s' has no upstream information", name)
	}
	err := o.env.Repo.EditConfig(func(e *config.Edit) error {
		for _, key := range []string{"remote", "merge"} {
			if _, ok := o.env.Config.Get("branch." + name + "." + key); !ok {
				continue
			}
			if err := e.Apply(config.Change{Key: "branch." + name + "." + key, Unset: true, All: true}); err != nil {
				return err
			}
		}
		return nil
	})
	return Fatal(err)
}
