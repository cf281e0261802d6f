package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/revision"
)

func atomUpstream(l *refList, r *refItem, a *refAtom, _ *refObject) (atomValue, error) {
	branch, ok := strings.CutPrefix(r.Name, "refs/heads/")
	if !ok {
		return atomValue{}, nil
	}
	name, err := revision.New(l.env.Repo).Upstream(branch)
	if err != nil {
		return atomValue{}, nil
	}
	return l.remoteRef(r, a, branch, name)
}

func atomPush(l *refList, r *refItem, a *refAtom, _ *refObject) (atomValue, error) {
	branch, ok := strings.CutPrefix(r.Name, "refs/heads/")
	if !ok {
		return atomValue{}, nil
	}
	name, err := revision.New(l.env.Repo).PushTarget(branch)
	if err != nil && !strings.Contains(a.arg, "remotename") {
		return atomValue{}, nil
	}
	return l.remoteRef(r, a, branch, name)
}

// remoteRef evaluates %(upstream) and %(push) of a branch whose counterpart is name.
func (l *refList) remoteRef(r *refItem, a *refAtom, branch, name string) (atomValue, error) {
	option, bracket := "", true
	for s := range strings.SplitSeq(a.arg, ",") {
		switch s {
		case "nobracket":
			bracket = false
		case "track", "trackshort", "remotename", "remoteref":
			option = s
		}
	}
	switch option {
	case "remotename":
		return textValue(l.remoteName(branch, a.base == "push"))
	case "remoteref":
		merge, _ := l.env.Config.Get("branch." + branch + ".merge")
		return textValue(merge)
	case "":
		return textValue(l.stripped(a, name))
	}
	ahead, behind, gone, err := l.track(r, name)
	switch {
	case err != nil:
		return atomValue{}, err
	case option == "trackshort":
		return textValue(trackSign(ahead, behind, gone))
	}
	text := trackText(ahead, behind, gone)
	if bracket && text != "" {
		text = "[" + text + "]"
	}
	return textValue(text)
}

func (l *refList) remoteName(branch string, push bool) string {
	keys := []string{"branch." + branch + ".remote"}
	if push {
		keys = []string{"branch." + branch + ".pushremote", "remote.pushdefault", keys[0]}
	}
	for _, key := range keys {
		if name, ok := l.env.Config.Get(key); ok {
			return name
		}
	}
	return ""
}

// track compares a branch with its counterpart.
func (l *refList) track(r *refItem, name string) (ahead, behind int, gone bool, err error) {
	theirs, err := l.store.Read(name)
	if err != nil {
		return 0, 0, true, nil
	}
	if theirs == r.ID {
		return 0, 0, false, nil
	}
	a, err1 := l.walk.Committish(r.ID)
	b, err2 := l.walk.Committish(theirs)
	if err1 != nil || err2 != nil {
		return 0, 0, true, nil
	}
	ahead, behind, err = l.walk.AheadBehind(a.ID, b.ID)
	return ahead, behind, false, err
}

func trackSign(ahead, behind int, gone bool) string {
	switch {
	case gone:
		return ""
	case ahead > 0 && behind > 0:
		return "<>"
	case ahead > 0:
		return ">"
	case behind > 0:
		return "<"
	}
	return "="
}

func trackText(ahead, behind int, gone bool) string {
	switch {
	case gone:
		return "gone"
	case ahead > 0 && behind > 0:
		return fmt.Sprintf("ahead %d, behind %d", ahead, behind)
	case ahead > 0:
		return fmt.Sprintf("ahead %d", ahead)
	case behind > 0:
		return fmt.Sprintf("behind %d", behind)
	}
	return ""
}

// A linkedTree is a working tree of the repository.
type linkedTree struct {
	path string // of the working tree
	id   string // "" for the main one
	head string // the branch that is checked out there
	git  string // its git directory
}

// workingTrees lists the working trees of the repository, the main one first.
func workingTrees(env *Env) []linkedTree {
	common := env.Repo.CommonDir
	main := common
	if filepath.Base(common) == ".git" {
		main = filepath.Dir(common)
	}
	list := []linkedTree{{path: main, git: common, head: branchOf(filepath.Join(common, "HEAD"))}}
	entries, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	for _, e := range entries {
		dir := filepath.Join(common, "worktrees", e.Name())
		text, err := os.ReadFile(filepath.Join(dir, "gitdir"))
		if err != nil {
			continue
		}
		path := strings.TrimRight(string(text), "\n")
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		list = append(list, linkedTree{path: filepath.Dir(path), id: e.Name(), git: dir, head: branchOf(filepath.Join(dir, "HEAD"))})
	}
	return list
}

// mainIsBare reports whether the repository has no main working tree.
func mainIsBare(env *Env) bool {
	if env.Repo.GitDir == env.Repo.CommonDir {
		return env.Repo.Bare
	}
	bare, err := env.Config.Bool("core.bare", false)
	return err == nil && bare
}

// branchOf returns the ref that a HEAD file points to.
func branchOf(path string) string {
	if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, "refs/") {
		return target
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	target, ok := strings.CutPrefix(string(text), "ref:")
	if !ok {
		return ""
	}
	return strings.TrimSpace(target)
}

func atomWorktreePath(l *refList, r *refItem, _ *refAtom, _ *refObject) (atomValue, error) {
	if r.kind != kindBranch {
		return atomValue{}, nil
	}
	if l.trees == nil {
		l.trees = workingTrees(l.env)
	}
	for _, t := range l.trees {
		if t.head == r.Name && !(t.id == "" && mainIsBare(l.env)) {
			return textValue(t.path)
		}
	}
	return atomValue{}, nil
}

// headDescription says what HEAD is where it is no branch.
func headDescription(env *Env) (string, error) {
	var t wtState
	if err := t.read(env, true); err != nil {
		return "", err
	}
	switch {
	case (t.rebase || t.interactive) && t.branch != "":
		return "(no branch, rebasing " + t.branch + ")", nil
	case t.rebase || t.interactive:
		return "(no branch, rebasing detached HEAD " + t.detachedFrom + ")", nil
	case t.bisect:
		return "(no branch, bisect started on " + t.bisectFrom + ")", nil
	case t.detachedFrom != "" && t.detachedAt:
		return "(HEAD detached at " + t.detachedFrom + ")", nil
	case t.detachedFrom != "":
		return "(HEAD detached from " + t.detachedFrom + ")", nil
	}
	return "(no branch)", nil
}
