package builtin

import (
	"os"
	"os/exec"

	"github.com/sluicegit/sluice/gitcompat/index"
)

// postIndexChange runs the hook of that name. What it answers changes nothing.
func postIndexChange(env *Env, x *index.Index) {
	args := [2]string{"0", "0"}
	if x.WorkTreeUpdated {
		args[0] = "1"
	}
	if x.SkipWorktreeUpdated {
		args[1] = "1"
	}
	x.WorkTreeUpdated, x.SkipWorktreeUpdated = false, false
	dir, err := env.Repo.HooksDir()
	if err != nil {
		return
	}
	path := dir + "/post-index-change"
	if fi, err := os.Stat(path); err != nil || fi.IsDir() || fi.Mode()&0o111 == 0 {
		return
	}
	env.Flush()
	cmd := exec.Command(path, args[:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = env.Repo.Dir, env.Repo.Environ(), env.Stderr, env.Stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		env.message("error: ", "cannot run "+path+": "+ErrnoText(err))
	}
}
