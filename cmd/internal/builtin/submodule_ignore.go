package builtin

import (
	"os"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/index"
)

// foreignSubmodules names what a submodule of x is configured to hide, or "":
// only real git obeys that.
func foreignSubmodules(env *Env, x *index.Index) string {
	any := false
	for _, e := range x.Entries {
		if any = e.IsGitlink(); any {
			break
		}
	}
	if !any {
		return ""
	}
	for _, e := range env.Config.Entries() {
		if strings.HasPrefix(e.Key, "submodule.") && strings.HasSuffix(e.Key, ".ignore") {
			return e.Key
		}
	}
	if data, err := os.ReadFile(env.Repo.WorkTree + "/.gitmodules"); err == nil && strings.Contains(strings.ToLower(string(data)), "ignore") {
		return "submodule.*.ignore"
	}
	return ""
}
