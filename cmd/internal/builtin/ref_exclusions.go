package builtin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// refExclusions are the refs that --exclude and --exclude-hidden leave out of
// the next option that stands for many refs.
type refExclusions struct {
	patterns []string
	hidden   []string
	asked    bool // --exclude-hidden
}

// hide adds what the configuration hides for fetch, receive or uploadpack.
func (x *refExclusions) hide(env *Env, section string) error {
	switch section {
	case "fetch", "receive", "uploadpack":
	default:
		return fmt.Errorf("unsupported section for hidden refs: %s", section)
	}
	if x.asked {
		return errors.New("--exclude-hidden= passed more than once")
	}
	x.asked = true
	for _, e := range env.Config.Entries() {
		if e.Key != "transfer.hiderefs" && e.Key != section+".hiderefs" {
			continue
		}
		text, err := e.Text()
		if err != nil {
			return err
		}
		x.hidden = append(x.hidden, strings.TrimRight(text, "/"))
	}
	return nil
}

// refuse is the error of an option that does not go with --exclude-hidden.
func (x *refExclusions) refuse(option string) error {
	if x.asked {
		return fmt.Errorf("options '--exclude-hidden' and '%s' cannot be used together", option)
	}
	return nil
}

// excludes reports whether the ref full, which patterns see as name, is left out.
func (x *refExclusions) excludes(name, full string) bool {
	for _, pattern := range x.patterns {
		if worktree.Wildmatch(pattern, name, 0) {
			return true
		}
	}
	for i := len(x.hidden) - 1; i >= 0; i-- {
		rule, not := strings.CutPrefix(x.hidden[i], "!")
		rule = strings.TrimPrefix(rule, "^")
		if rest, ok := strings.CutPrefix(full, rule); ok && (rest == "" || rest[0] == '/') {
			return !not
		}
	}
	return false
}

// eachRef calls f with the refs below prefix that match; match may be nil.
func eachRef(env *Env, prefix string, match func(string) bool, patterns []string, f func(name string, id oid.ID) error) error {
	return eachRefBut(env, prefix, "", match, refExclusions{patterns: patterns}, f)
}

// eachRefBut calls f with the refs below prefix that match and are not excluded,
// under their names without trim.
func eachRefBut(env *Env, prefix, trim string, match func(string) bool, x refExclusions, f func(name string, id oid.ID) error) error {
	store, err := env.Repo.Refs()
	if err != nil {
		return err
	}
	for ref, err := range store.All(prefix, 0) {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(ref.Name, trim)
		if match != nil && !match(ref.Name) || x.excludes(name, ref.Name) {
			continue
		}
		if err := f(name, ref.ID); err != nil {
			return err
		}
	}
	return nil
}
