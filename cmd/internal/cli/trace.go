package cli

import (
	"io"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/trace2"
)

// startTrace opens the traces that the environment asks for.
func (p *process) startTrace() {
	if trace2.Wanted(p.env.LookupEnv) {
		p.openTrace(nil)
	}
}

// traceByConfig opens the traces that the system's or the user's configuration
// asks for, once it has been read for other reasons.
func (p *process) traceByConfig() {
	if p.env.Trace != nil || p.env.Config == nil {
		return
	}
	entries := p.env.Config.Entries()
	wanted := false
	for i := range entries {
		wanted = wanted || strings.HasPrefix(entries[i].Key, "trace2.")
	}
	if !wanted {
		return
	}
	p.openTrace(func(key string) (value string, ok bool) {
		for i := range entries {
			e := &entries[i]
			if e.Key == key && (e.Origin.Scope == config.ScopeSystem || e.Origin.Scope == config.ScopeGlobal) {
				value, ok = e.Value, true
			}
		}
		return value, ok
	})
}

func (p *process) openTrace(configured func(string) (string, bool)) {
	p.env.Trace = trace2.New(trace2.Options{
		LookupEnv: p.env.LookupEnv,
		Config:    configured,
		Stderr:    p.env.Stderr,
		FS:        p.env.FS,
		Version:   p.env.Version,
		Start:     p.start,
		Warn:      func(line string) { io.WriteString(p.env.Stderr, builtin.Message("", line)) },
	})
	p.env.Trace.CommandStart(p.argv)
	for _, kv := range p.env.Trace.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		p.env.Setenv(name, value)
	}
}

// traceSetup shows what a command found when it was set up.
func (p *process) traceSetup(name string) {
	t := p.env.Trace
	if t == nil {
		return
	}
	t.CommandName(name)
	if r := p.env.Repo; r != nil {
		if r.WorkTree != "" {
			t.Worktree(r.WorkTree)
		}
		if policy, err := r.Policy(); err == nil {
			t.Count(policy.Counters)
		}
	}
	if p.env.Config == nil {
		return
	}
	patterns := t.ParamPatterns()
	for _, e := range p.env.Config.Entries() {
		for _, pattern := range patterns {
			if matchKey(pattern, e.Key) {
				t.Param(e.Origin.Scope.String(), e.Key, e.Value, e.HasValue)
				break
			}
		}
	}
}

// matchKey matches a configuration key against a pattern in which * stands for
// anything.
func matchKey(pattern, key string) bool {
	head, rest, star := strings.Cut(strings.ToLower(pattern), "*")
	key, ok := strings.CutPrefix(key, head)
	if !ok || !star {
		return ok && key == ""
	}
	for i := 0; i <= len(key); i++ {
		if matchKey(rest, key[i:]) {
			return true
		}
	}
	return false
}
