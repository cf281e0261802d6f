package builtin

import (
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// leaveOut reports whether the gitlink path is not to be staged: .gitmodules
// has ignore=all for it, and it was not named together with --force.
func (a *adder) leaveOut(path string) bool {
	if !isDirectory(a.env.Repo.WorkTree+"/"+path) || !a.submodules()[path] {
		return false
	}
	for i := range a.ps.Items {
		if strings.TrimRight(a.ps.Items[i].Match, "/") != path {
			continue
		}
		if a.force {
			return false
		}
		a.env.adviseIf("addIgnoredFile", "Skipping submodule due to ignore=all: "+path+
			"\nUse --force if you really want to add the submodule.")
		break
	}
	return true
}

// submodules are the paths for which .gitmodules has ignore=all.
func (a *adder) submodules() map[string]bool {
	if a.ignoredModules != nil {
		return a.ignoredModules
	}
	a.ignoredModules = map[string]bool{}
	f, err := config.ReadFile(a.env.Repo.WorkTree, ".gitmodules", config.ScopeLocal)
	if err != nil || f.Missing {
		return a.ignoredModules
	}
	path, ignore := map[string]string{}, map[string]string{}
	for i := range f.Entries {
		e := &f.Entries[i]
		section, name, ok, key := config.SplitKey(e.Key)
		switch {
		case section != "submodule" || !ok:
		case key == "path":
			path[name] = e.Value
		case key == "ignore":
			ignore[name] = e.Value
		}
	}
	for name, p := range path {
		if ignore[name] == "all" {
			a.ignoredModules[p] = true
		}
	}
	return a.ignoredModules
}
