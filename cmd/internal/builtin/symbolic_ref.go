package builtin

import (
	"errors"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

var cmdSymbolicRef = &Command{
	Name:    "symbolic-ref",
	Setup:   NeedRepo,
	Run:     runSymbolicRef,
	Options: func() *parseopt.Parser { return new(symbolicRef).parser() },
}

type symbolicRef struct {
	quiet, del, short, recurse bool
	message                    *string
}

func (o *symbolicRef) parser() *parseopt.Parser {
	o.recurse = true
	return &parseopt.Parser{
		Usage: []string{
			"git symbolic-ref [-m <reason>] <name> <ref>",
			"git symbolic-ref [-q] [--short] [--no-recurse] <name>",
			"git symbolic-ref --delete [-q] <name>",
		},
		Options: []parseopt.Option{
			parseopt.Bool('q', "quiet", &o.quiet, "no message if the ref is not symbolic"),
			parseopt.Bool('d', "delete", &o.del, "delete the symbolic ref"),
			parseopt.Bool(0, "short", &o.short, "shorten the ref that is printed"),
			parseopt.Bool(0, "recurse", &o.recurse, "follow symbolic refs to the end (default)"),
			parseopt.StringP('m', "", &o.message, "reason", "why, for the reflog"),
		},
	}
}

func runSymbolicRef(env *Env, argv []string) Status {
	o := new(symbolicRef)
	p := o.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if o.message != nil && *o.message == "" {
		return Fatalf("Refusing to perform update with empty message")
	}
	switch {
	case o.del && len(args) != 1:
	case o.del:
		return o.remove(env, args[0])
	case len(args) == 1:
		return o.show(env, args[0])
	case len(args) == 2:
		return o.set(env, args[0], args[1])
	}
	return Fatal(p.UsageError(""))
}

// target returns the ref that name points to.
func (o *symbolicRef) target(env *Env, name string, flags refs.ResolveFlags) (r refs.Resolved, err error) {
	store, err := env.Repo.Refs()
	if err != nil {
		return r, err
	}
	if r, err = store.Resolve(name, flags); errors.Is(err, refs.ErrUnresolved) {
		err = errors.New("No such ref: " + name)
	}
	return r, err
}

func (o *symbolicRef) show(env *Env, name string) Status {
	var flags refs.ResolveFlags
	if !o.recurse {
		flags = refs.NoRecurse
	}
	r, err := o.target(env, name, flags)
	switch {
	case err != nil:
		return Fatal(err)
	case !r.Symref && o.quiet:
		return Exit(1)
	case !r.Symref:
		return Fatalf("ref %s is not a symbolic ref", name)
	}
	out := r.Name
	if o.short {
		store, err := env.Repo.Refs()
		if err != nil {
			return Fatal(err)
		}
		out = store.Shorten(out, false)
	}
	env.Print(out, "\n")
	return OK
}

func (o *symbolicRef) remove(env *Env, name string) Status {
	r, err := o.target(env, name, refs.NoRecurse)
	switch {
	case err != nil:
		return Fatal(err)
	case !r.Symref:
		return Fatalf("Cannot delete %s, not a symbolic ref", name)
	case name == "HEAD":
		return Fatalf("deleting '%s' is not allowed", name)
	}
	if err := changeRefs(env, refs.Change{Name: name, New: null(env), NoDeref: true}); err != nil {
		return refError(1, err)
	}
	return OK
}

func (o *symbolicRef) set(env *Env, name, target string) Status {
	switch {
	case name == "HEAD" && !strings.HasPrefix(target, "refs/"):
		return Fatalf("Refusing to point HEAD outside of refs/")
	case !refname.Check(target, refname.AllowOneLevel):
		return Fatalf("Refusing to set '%s' to invalid ref '%s'", name, target)
	}
	c := refs.Change{Name: name, New: refs.Symref(target), NoDeref: true}
	if o.message != nil {
		c.Message = *o.message
	}
	if err := changeRefs(env, c); err != nil {
		return refError(1, err)
	}
	return OK
}
