package builtin

import (
	"io"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
)

var cmdVerifyPack = &Command{
	Name:    "verify-pack",
	Setup:   MayRepo,
	Run:     runVerifyPack,
	Options: func() *parseopt.Parser { return new(verifyPack).parser() },
}

type verifyPack struct {
	verbose, statOnly bool
	format            string
}

func (o *verifyPack) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git verify-pack [-v | --verbose] [-s | --stat-only] [--] <pack>.idx..."},
		Options: []parseopt.Option{
			parseopt.Bool('v', "verbose", &o.verbose, "list the entries"),
			parseopt.Bool('s', "stat-only", &o.statOnly, "print how long the delta chains are"),
			parseopt.String(0, "object-format", &o.format, "hash", "the hash of object names"),
		},
	}
}

func runVerifyPack(env *Env, argv []string) Status {
	var o verifyPack
	p := o.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if len(args) == 0 {
		return Fatal(p.UsageError(""))
	}
	bad := false
	for _, name := range args {
		bad = o.one(env, name) || bad
	}
	if bad {
		return Exit(1)
	}
	return OK
}

// one verifies one pack as index-pack does.
func (o *verifyPack) one(env *Env, name string) (bad bool) {
	base, isIndex := strings.CutSuffix(name, ".idx")
	if isIndex || !strings.HasSuffix(name, ".pack") {
		name = base + ".pack"
	}
	args := []string{"--verify"}
	switch {
	case o.statOnly:
		args[0] = "--verify-stat-only"
	case o.verbose:
		args[0] = "--verify-stat"
	}
	if o.format != "" {
		args = append(args, "--object-format="+o.format)
	}
	st := runIndexPack(env, append(args, name))
	if st.Err != nil {
		io.WriteString(env.Stderr, ErrorText("fatal: ", st.Err))
	}
	bad = st.Code != 0
	switch {
	case bad && (o.verbose || o.statOnly):
		env.Printf("%s: bad\n", name)
	case o.verbose && !o.statOnly:
		env.Printf("%s: ok\n", name)
	}
	return bad
}
