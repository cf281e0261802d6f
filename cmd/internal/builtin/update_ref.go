package builtin

import (
	"errors"
	"fmt"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

var cmdUpdateRef = &Command{
	Name:    "update-ref",
	Setup:   NeedRepo,
	Run:     runUpdateRef,
	Options: func() *parseopt.Parser { return new(updateRef).parser() },
}

// updateRef is one run of update-ref.
type updateRef struct {
	env                                          *Env
	message                                      *string
	del, noDeref, nul, stdin, createReflog, lazy bool
}

func (u *updateRef) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{
			"git update-ref [<options>] -d <refname> [<old-oid>]",
			"git update-ref [<options>]    <refname> <new-oid> [<old-oid>]",
			"git update-ref [<options>] --stdin [-z] [--batch-updates]",
		},
		Options: []parseopt.Option{
			parseopt.StringP('m', "", &u.message, "reason", "why, for the reflog"),
			parseopt.Bool('d', "", &u.del, "delete the ref"),
			parseopt.Bool(0, "no-deref", &u.noDeref, "change <refname> itself, not the ref that it points to"),
			parseopt.Bool('z', "", &u.nul, "arguments on standard input end in NUL"),
			parseopt.Bool(0, "stdin", &u.stdin, "read the changes from standard input"),
			parseopt.Bool(0, "create-reflog", &u.createReflog, "begin a reflog"),
			parseopt.Bool('0', "batch-updates", &u.lazy, "a change that is refused does not stop the others"),
		},
	}
}

func runUpdateRef(env *Env, argv []string) Status {
	u := &updateRef{env: env}
	p := u.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if u.message != nil && *u.message == "" {
		return Fatalf("Refusing to perform update with empty message.")
	}
	switch {
	case u.stdin && (u.del || len(args) > 0):
		return Fatal(p.UsageError(""))
	case u.stdin:
		return u.batch()
	case u.lazy:
		return Fatalf("--batch-updates can only be used with --stdin")
	case u.nul:
		return Fatal(p.UsageError(""))
	}
	least := 2
	if u.del {
		least = 1
	}
	if len(args) < least || len(args) > least+1 {
		return Fatal(p.UsageError(""))
	}
	return u.one(args, least)
}

// one is the form with a single ref; values has least arguments before the old value.
func (u *updateRef) one(args []string, least int) Status {
	c := u.change(args[0])
	c.New = null(u.env)
	if !u.del {
		id, err := resolveQuietly(u.env, args[1])
		if err != nil {
			return Fatal(invalid(err, "%s: not a valid SHA1", args[1]))
		}
		c.New = refs.OID(id)
	}
	if len(args) > least {
		c.Old = null(u.env)
		if args[least] != "" {
			id, err := resolveQuietly(u.env, args[least])
			if err != nil {
				return Fatal(invalid(err, "%s: not a valid old SHA1", args[least]))
			}
			c.Old = refs.OID(id)
		}
		if u.del && c.Old.ID().IsNull() {
			c.Old = refs.Value{}
		}
	}
	err := changeRefs(u.env, c)
	var hook *refs.HookError
	var packed *refs.PackedError
	switch {
	case err == nil:
		return OK
	case errors.As(err, &packed):
		return Fatal(err)
	case u.del:
		return refError(1, err)
	case errors.As(err, &hook):
		return Fatal(err)
	}
	return Fatal(fmt.Errorf("update_ref failed for ref '%s': %w", c.Name, err))
}

// change is a change of name with what the command line says for all of them.
func (u *updateRef) change(name string) refs.Change {
	c := refs.Change{Name: name, NoDeref: u.noDeref, CreateReflog: u.createReflog && !u.del}
	if u.message != nil {
		c.Message = *u.message
	}
	return c
}

// invalid is the message for an expression that names nothing; any other
// error of it is a reason to die by itself.
func invalid(err error, format string, a ...any) error {
	if errors.Is(err, revision.ErrUnknown) {
		return fmt.Errorf(format, a...)
	}
	return err
}
