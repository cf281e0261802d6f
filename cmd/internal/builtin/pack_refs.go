package builtin

import (
	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

var cmdPackRefs = &Command{
	Name:    "pack-refs",
	Setup:   NeedRepo,
	Run:     runPackRefs,
	Options: func() *parseopt.Parser { return new(packRefs).parser() },
}

type packRefs struct {
	all, prune, auto bool
	include, exclude []string
}

func (o *packRefs) parser() *parseopt.Parser {
	o.prune = true
	return &parseopt.Parser{
		Usage: []string{"git pack-refs [--all] [--no-prune] [--auto] [--include <pattern>] [--exclude <pattern>]"},
		Options: []parseopt.Option{
			parseopt.Bool(0, "all", &o.all, "pack all refs, not only tags and what is packed already"),
			parseopt.Bool(0, "prune", &o.prune, "remove the loose files (default)"),
			parseopt.Bool(0, "auto", &o.auto, "only if it is worth it"),
			parseopt.StringList(0, "include", &o.include, "pattern", "refs to pack"),
			parseopt.StringList(0, "exclude", &o.exclude, "pattern", "refs to leave alone"),
		},
	}
}

func runPackRefs(env *Env, argv []string) Status {
	o := new(packRefs)
	p := o.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if len(args) > 0 {
		return Fatal(p.UsageError(""))
	}
	store, err := env.Repo.Refs()
	if err != nil {
		return Fatal(err)
	}
	b, err := env.Repo.NewBarrier()
	if err != nil {
		return Fatal(err)
	}
	kept, err := store.Pack(b, refs.PackOptions{Wanted: o.wanted(), Prune: o.prune, Auto: o.auto})
	for _, r := range kept {
		env.Error(r.Err)
	}
	return Fatal(err)
}

func (o *packRefs) wanted() func(string) bool {
	include := o.include
	if o.all {
		include = append(include, "*")
	}
	if len(include) == 0 {
		include = []string{"refs/tags/*"}
	}
	return func(name string) bool {
		return !matchesGlob(name, o.exclude) && matchesGlob(name, include)
	}
}

func matchesGlob(name string, patterns []string) bool {
	for _, p := range patterns {
		if worktree.Wildmatch(p, name, 0) {
			return true
		}
	}
	return false
}
