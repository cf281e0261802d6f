package builtin

import (
	"github.com/sluicegit/sluice/gitcompat/hook"
	"github.com/sluicegit/sluice/gitcompat/index"
)

// postIndexChange runs the hook of that name. What it answers changes nothing.
func postIndexChange(env *Env, x *index.Index) {
	args := []string{"0", "0"}
	if x.WorkTreeUpdated {
		args[0] = "1"
	}
	if x.SkipWorktreeUpdated {
		args[1] = "1"
	}
	x.WorkTreeUpdated, x.SkipWorktreeUpdated = false, false
	hooks := hook.New(env.Repo, env.Trace, func(line string) { env.message("", line) })
	if !hooks.Exists("post-index-change") {
		return
	}
	if env.Flush() != nil {
		return
	}
	hooks.Run("post-index-change", hook.Options{Args: args, Stderr: env.Stderr}) // no answer of it matters
}
