package builtin

import (
	"io"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/receive"
	"github.com/sluicegit/sluice/gitcompat/repo"
)

var cmdReceivePack = &Command{
	Name:    "receive-pack",
	Setup:   NeedNothing,
	Run:     runReceivePack,
	Options: func() *parseopt.Parser { return new(receivePack).parser() },
}

type receivePack struct {
	quiet, skipConnectivity, stateless, advertise bool
}

func (o *receivePack) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git receive-pack <git-dir>"},
		Options: []parseopt.Option{
			parseopt.Bool('q', "quiet", &o.quiet, "be quiet"),
			parseopt.Bool(0, "skip-connectivity-check", &o.skipConnectivity, "take for granted that nothing is missing").Hidden(),
			parseopt.Bool(0, "stateless-rpc", &o.stateless, "the refs were advertised before").Hidden(),
			parseopt.Bool(0, "http-backend-info-refs", &o.advertise, "advertise the refs and end").Hidden(),
			parseopt.Alias(0, "advertise-refs", "http-backend-info-refs"),
			parseopt.NotNative(0, "reject-thin-pack-for-testing", "", "refuse thin packs").Hidden(),
		},
	}
}

func runReceivePack(env *Env, argv []string) Status {
	var o receivePack
	p := o.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	switch {
	case len(args) > 1:
		return Fatal(p.UsageFatal("too many arguments"))
	case len(args) == 0:
		return Fatal(p.UsageFatal("you must specify a directory"))
	}
	r, err := repo.Enter(env.FS, args[0], false, repo.Options{
		Dir: env.Dir, Environ: env.Environ,
		Warn: func(line string) { io.WriteString(env.Stderr, Message("", line)) },
	})
	if err != nil {
		return Fatal(err)
	}
	if key := receive.Unsupported(r.Config); key != "" {
		return NotNative(key)
	}
	env.Repo, env.Config = r, r.Config
	return Fatal(receive.Serve(r, receive.Options{
		In: env.Stdin, Out: flusher{env}, Stderr: env.Stderr, Hooks: env.hooksOf(r), Agent: env.agent(),
		Version1:         wantsVersion1(env.Getenv("GIT_PROTOCOL")),
		AdvertiseOnly:    o.advertise,
		Stateless:        o.stateless,
		SkipConnectivity: o.skipConnectivity,
	}))
}

// wantsVersion1 reads GIT_PROTOCOL: the highest version named counts, and 2 does
// not exist for pushes.
func wantsVersion1(protocol string) bool {
	highest := ""
	for part := range strings.SplitSeq(protocol, ":") {
		if v, ok := strings.CutPrefix(part, "version="); ok && len(v) == 1 && v > highest {
			highest = v
		}
	}
	return highest == "1"
}

// flusher writes to standard output at once: somebody waits for the answer.
type flusher struct{ env *Env }

func (f flusher) Write(b []byte) (int, error) {
	n, err := f.env.Stdout.Write(b)
	if err == nil {
		err = f.env.Flush()
	}
	return n, err
}
