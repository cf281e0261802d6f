package cli

import (
	"errors"
	"strconv"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// policy is `sluice policy`: what is in force here, where it comes from, and
// what it comes to.
func (p *process) policy() builtin.Status {
	err := p.env.Discover()
	var none *repo.NotRepoError
	dir := p.env.Dir
	switch {
	case errors.As(err, &none):
		err = p.env.LoadConfig()
	case err == nil:
		dir = p.env.Repo.CommonDir
	}
	if err != nil {
		return builtin.Fatal(err)
	}
	policy, warnings, err := repo.LoadPolicy(p.env.Config)
	if err != nil {
		return builtin.Fatal(err)
	}
	for _, w := range warnings {
		p.env.Warn("%s", w)
	}
	if p.env.Repo != nil {
		p.row("repository", p.env.Repo.GitDir, "")
	}
	p.settings(policy)
	p.barrier(policy, vfs.Detect(dir))
	p.env.Print("\n")
	all := syncpolicy.All | syncpolicy.Reflog | syncpolicy.Symref | syncpolicy.Config
	all.Each(func(c syncpolicy.Component) { p.row(c.String(), treatment(policy, c), "") })
	return builtin.OK
}

func (p *process) row(name, value, from string) {
	if from == "" {
		p.env.Printf("%-18s %s\n", name, value)
		return
	}
	p.env.Printf("%-18s %-24s %s\n", name, value, from)
}

// settings prints each key, its value in force, and where every value of it
// stands.
func (p *process) settings(policy *syncpolicy.Policy) {
	byDefault := "git's default"
	if policy.Safe {
		byDefault = "sluice's default, where neither core.fsync nor core.fsyncMethod is set"
	}
	components := policy.Components.String()
	if policy.Components == syncpolicy.All {
		components = "all"
	}
	settle := [...]string{syncpolicy.SettleAuto: "auto", syncpolicy.SettleTrue: "true", syncpolicy.SettleFalse: "false"}
	for _, s := range []struct{ name, value, otherwise string }{
		{"core.fsync", components, byDefault},
		{"core.fsyncMethod", policy.Method.String(), byDefault},
		{"sluice.settle", settle[policy.Settle], "default"},
		{"sluice.barrier", policy.Barrier, "default"},
	} {
		entries := p.env.Config.Multi(config.Canonical(s.name))
		if len(entries) == 0 {
			p.row(s.name, s.value, s.otherwise)
			continue
		}
		p.row(s.name, s.value, "")
		for _, e := range entries {
			p.row("", "", "'"+e.Value+"' in "+place(e))
		}
	}
	for _, key := range []string{"core.fsyncObjectFiles", "sluice.default"} {
		if e := p.env.Config.Lookup(key); e != nil {
			p.row(key, e.Value, place(e))
		}
	}
	if v, ok := p.env.LookupEnv("GIT_TEST_FSYNC"); ok {
		p.row("GIT_TEST_FSYNC", v, "environment")
	}
}

// place is where a value stands.
func place(e *config.Entry) string {
	if e.Origin.Kind == config.OriginCommandLine {
		return "the command line or the environment"
	}
	return e.Origin.Scope.String() + " " + e.Origin.Name + ", line " + strconv.Itoa(e.Line)
}

// barrier prints the file system and what batch mode does on it.
func (p *process) barrier(policy *syncpolicy.Policy, fsys vfs.Filesystem) {
	where := fsys.Type
	if fsys.NoJournal {
		where += " without a journal"
	}
	if fsys.Source != "" {
		where += " on " + fsys.Source
	}
	if fsys.Mount != "" {
		where += " at " + fsys.Mount
	}
	p.row("file system", where, "")
	if policy.Method != syncpolicy.Batch || policy.Components == 0 {
		return
	}
	few, why := policy.Strategy(fsys, 1)
	p.row("barrier", few, why)
	if many, why := policy.Strategy(fsys, 1<<20); many != few {
		p.row("", many, why)
	}
}

// treatment says what happens to files of a component.
func treatment(policy *syncpolicy.Policy, c syncpolicy.Component) string {
	method := policy.Method
	switch {
	case !policy.Hardens(c):
		return "nothing"
	case c == syncpolicy.LooseObject && policy.Components&c == 0:
		method = syncpolicy.Fsync // core.fsyncObjectFiles
	}
	switch method {
	case syncpolicy.Batch:
		return "written out, then one barrier for the command"
	case syncpolicy.WriteoutOnly:
		return "written out, not flushed"
	}
	return "flushed, each file"
}
