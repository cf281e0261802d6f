package builtin

import (
	"os"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// A wtState is what is under way in a working tree.
type wtState struct {
	merge, am, amEmpty, rebase, interactive bool
	cherryPick, revert, bisect              bool
	pickHead                                bool   // CHERRY_PICK_HEAD exists
	branch, onto                            string // of a rebase
	cherryID, revertID                      oid.ID
	bisectFrom                              string
	detachedFrom                            string
	detachedAt                              bool
}

func (t *wtState) read(env *Env, detached bool) error {
	r := env.Repo
	has := func(name string) bool { return exists(r.GitPath(name)) }
	store, err := r.Refs()
	if err != nil {
		return err
	}
	t.pickHead = has("CHERRY_PICK_HEAD")
	if t.merge = has("MERGE_HEAD"); t.merge {
		t.readRebase(env, has)
	} else if t.readRebase(env, has) {
	} else if id, err := store.Read("CHERRY_PICK_HEAD"); err == nil {
		t.cherryPick, t.cherryID = true, id
	}
	if t.bisect = has("BISECT_LOG"); t.bisect {
		t.bisectFrom = t.name(env, "BISECT_START")
	}
	if id, err := store.Read("REVERT_HEAD"); err == nil {
		t.revert, t.revertID = true, id
	}
	switch todo, _ := os.ReadFile(r.GitPath("sequencer/todo")); {
	case t.cherryPick || t.revert:
	case strings.HasPrefix(string(todo), "pick "), strings.HasPrefix(string(todo), "p "):
		t.cherryPick = true
	case strings.HasPrefix(string(todo), "revert "):
		t.revert = true
	}
	if detached {
		t.readDetached(env, store)
	}
	return nil
}

// readRebase reports whether a rebase, or am, is under way.
func (t *wtState) readRebase(env *Env, has func(string) bool) bool {
	switch {
	case has("rebase-apply"):
		if t.am = has("rebase-apply/applying"); t.am {
			fi, err := os.Stat(env.Repo.GitPath("rebase-apply/patch"))
			t.amEmpty = err == nil && fi.Size() == 0
			return true
		}
		t.rebase = true
		t.branch, t.onto = t.name(env, "rebase-apply/head-name"), t.name(env, "rebase-apply/onto")
	case has("rebase-merge"):
		t.interactive = has("rebase-merge/interactive")
		t.rebase = !t.interactive
		t.branch, t.onto = t.name(env, "rebase-merge/head-name"), t.name(env, "rebase-merge/onto")
	default:
		return false
	}
	return true
}

// name reads a branch or commit from a file of a rebase or bisection.
func (t *wtState) name(env *Env, file string) string {
	data, err := os.ReadFile(env.Repo.GitPath(file))
	text := strings.TrimRight(string(data), "\n")
	if err != nil || text == "" || text == "detached HEAD" {
		return ""
	}
	if short, ok := strings.CutPrefix(text, "refs/heads/"); ok {
		return short
	}
	if id, err := env.Repo.Algo.FromHex(text); err == nil {
		return shortName(env, id)
	}
	return text
}

// shortName abbreviates an object name for people.
func shortName(env *Env, id oid.ID) string {
	db, err := env.Repo.ODB()
	if err != nil {
		return id.String()
	}
	n := revision.New(env.Repo).AbbrevLen()
	if n == 0 {
		n = -1
	}
	return db.UniqueAbbrev(id, n)
}

// readDetached finds out from the reflog what was checked out when HEAD was detached.
func (t *wtState) readDetached(env *Env, store *refs.Store) {
	var to string
	var id oid.ID
	found := false
	for e, err := range store.LogReverse("HEAD") {
		if err != nil {
			return
		}
		rest, ok := strings.CutPrefix(e.Message, "checkout: moving from ")
		if !ok {
			continue
		}
		if _, to, ok = strings.Cut(rest, " to "); ok {
			id, found = e.New, true
			break
		}
	}
	if !found {
		return
	}
	if to == "HEAD" {
		to = shortName(env, id)
	}
	t.detachedFrom = shortName(env, id)
	if ref, n, err := revision.New(env.Repo).FindRef(to); err == nil && n == 1 && leadsTo(env, ref.ID, id) {
		t.detachedFrom = ref.Name
		if short, ok := strings.CutPrefix(ref.Name, "refs/tags/"); ok {
			t.detachedFrom = short
		} else if short, ok := strings.CutPrefix(ref.Name, "refs/remotes/"); ok {
			t.detachedFrom = short
		}
	}
	head, err := store.Read("HEAD")
	t.detachedAt = err == nil && head == id
}

// leadsTo reports whether a is the commit b, or a tag of it.
func leadsTo(env *Env, a, b oid.ID) bool {
	if a == b {
		return true
	}
	w, err := revision.NewRepoWalk(env.Repo)
	if err != nil {
		return false
	}
	c, err := w.Committish(a)
	return err == nil && c.ID == b
}
