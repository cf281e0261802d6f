package hook

import (
	"fmt"
	"slices"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// load reads hook.<name>.event, .command and .enabled.
func (r *Runner) load() {
	r.events = map[string][]command{}
	order := map[string][]string{}
	lines := map[string]string{}
	disabled := map[string]bool{}
	known := map[string]bool{} // names of hooks, as opposed to names of events
	entries := r.repo.Config.Entries()
	for i := range entries {
		e := &entries[i]
		section, name, hasName, key := config.SplitKey(e.Key)
		if section != "hook" || !hasName {
			continue
		}
		if !e.HasValue {
			_, r.err = e.Text()
			return
		}
		switch key {
		case "event":
			known[name] = true
			if r.err = r.addEvent(order, name, e.Value); r.err != nil {
				return
			}
		case "command":
			known[name] = true
			lines[name] = e.Value
		case "parallel":
			known[name] = true
		case "enabled":
			if b, ok := config.ParseBool(e.Value, true); ok {
				disabled[name] = !b
			}
		}
	}
	for event, names := range order {
		for _, name := range names {
			line, ok := lines[name]
			off := disabled[name]
			if !ok && !off {
				r.err = fmt.Errorf("'hook.%s.command' must be configured or 'hook.%s.event' must be removed; aborting.", name, name)
				return
			}
			if !ok {
				r.tell("warning: disabled hook '" + name + "' has no command configured")
			}
			off = off || disabled[event] && !known[event]
			r.events[event] = append(r.events[event], command{name, line, off})
		}
	}
}

// addEvent notes that the hook name is for an event; "" takes it back from all.
func (r *Runner) addEvent(order map[string][]string, name, event string) error {
	without := func(list []string) []string {
		return slices.DeleteFunc(list, func(s string) bool { return s == name })
	}
	if event == "" {
		for e, list := range order {
			order[e] = without(list)
		}
		return nil
	}
	if isEvent(name) {
		return fmt.Errorf("hook friendly-name '%s' collides with a known event name; please choose a different friendly-name", name)
	}
	if name == event {
		r.tell("warning: hook friendly-name '" + name + "' is the same as its event; this may cause ambiguity with hook." + name + ".enabled")
	}
	order[event] = append(without(order[event]), name)
	return nil
}

// isEvent reports whether git has a hook of that name.
func isEvent(name string) bool {
	switch name {
	case "applypatch-msg", "commit-msg", "fsmonitor-watchman", "p4-changelist", "p4-post-changelist", "p4-pre-submit", "p4-prepare-changelist",
		"post-applypatch", "post-checkout", "post-commit", "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update",
		"pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg",
		"proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate", "update":
		return true
	}
	return false
}
