package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
)

var cmdShowIndex = &Command{
	Name:    "show-index",
	Setup:   MayRepo,
	Run:     runShowIndex,
	Options: func() *parseopt.Parser { return showIndexParser(new(string)) },
}

func showIndexParser(format *string) *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git show-index [--object-format=<hash-algorithm>] < <pack-idx-file>"},
		Options: []parseopt.Option{
			parseopt.String(0, "object-format", format, "hash-algorithm", "the hash of object names"),
		},
	}
}

func runShowIndex(env *Env, argv []string) Status {
	var format string
	if _, err := env.Parse(showIndexParser(&format), argv); err != nil {
		return Fatal(err)
	}
	var algo oid.Algo
	if env.Repo != nil {
		algo = env.Repo.Algo
	}
	if format != "" {
		var ok bool
		if algo, ok = oid.ParseAlgo(format); !ok {
			return Fatal(errors.New("Unknown hash algorithm"))
		}
	}
	data, err := io.ReadAll(env.Stdin)
	if err != nil || len(data) < 8 {
		return Fatal(errors.New("unable to read header"))
	}
	x, err := pack.NewIndex("standard input", algo, data)
	if err != nil {
		return Fatal(err)
	}
	out := bufio.NewWriter(env.Stdout)
	for n := range x.Len() {
		off, err := x.Offset(n)
		if err != nil {
			out.Flush()
			return Fatal(errors.New("inconsistent 64b offset index"))
		}
		fmt.Fprintf(out, "%d %s", off, x.ID(n))
		if crc, ok := x.CRC(n); ok {
			fmt.Fprintf(out, " (%08x)", crc)
		}
		out.WriteByte('\n')
	}
	return Fatal(out.Flush())
}
