package revision

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

// expandBranch replaces @{-n}, @, @{upstream} and @{push} at the front of name
// by what they stand for; other names come back as they are.
func (r *Resolver) expandBranch(name string) (string, error) {
	out, used, err := r.interpret(name)
	if err != nil {
		return "", err
	}
	if used == len(name) {
		return out, nil
	}
	return name, nil
}

// BranchName returns the branch that name means, with @{-n}, @{upstream} and
// the like replaced (git check-ref-format --branch).
func (r *Resolver) BranchName(name string) (string, error) { return r.expandBranch(name) }

// interpret returns what the first used bytes of name stand for.
func (r *Resolver) interpret(name string) (string, int, error) {
	if strings.HasPrefix(name, "@{-") {
		out, used := r.interpretPrior(name)
		switch {
		case used == 0:
			return "", 0, nil
		case used == len(name):
			return out, used, nil
		case used > 0:
			return r.reinterpret(name, used, out)
		}
	}
	for at := strings.IndexByte(name, '@'); at >= 0; {
		if at == 0 && !strings.HasPrefix(name, "@{") {
			next := strings.IndexByte(name[1:], '@') + 1
			if next == 0 {
				next = len(name)
			} else if !strings.HasPrefix(name[next:], "@{") {
				next = -1
			}
			if next == 1 {
				return r.reinterpret(name, 1, "HEAD")
			}
		}
		out, used, err := r.interpretMark(name, at)
		if err != nil || used > 0 {
			return out, used, err
		}
		next := strings.IndexByte(name[at+1:], '@')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return "", -1, nil
}

// reinterpret looks for more marks in what follows the part already replaced.
func (r *Resolver) reinterpret(name string, used int, out string) (string, int, error) {
	whole := out + name[used:]
	again, n, err := r.interpret(whole)
	if err != nil {
		return "", 0, err
	}
	if n < 0 {
		return out, used, nil
	}
	return again, n - len(out) + used, nil
}

// interpretPrior is @{-n}. used is -1 if it is not that, 0 if there were not so
// many checkouts.
func (r *Resolver) interpretPrior(name string) (string, int) {
	end := strings.IndexByte(name, '}')
	if end < 4 {
		return "", -1
	}
	n, err := strconv.Atoi(name[3:end])
	if err != nil || n <= 0 {
		return "", -1
	}
	var branch string
	err = r.log("HEAD", func(e *refs.LogEntry) bool {
		rest, ok := strings.CutPrefix(e.Message, "checkout: moving from ")
		if !ok {
			return false
		}
		from, _, ok := strings.Cut(rest, " to ")
		if ok {
			branch = from
			n--
		}
		return n == 0
	})
	if err != nil || n > 0 {
		return "", 0
	}
	return branch, end + 1
}

func cutBranch(full string) (string, bool) { return strings.CutPrefix(full, "refs/heads/") }

// priorCheckout returns the branch or commit that @{-n} stands for.
func (r *Resolver) priorCheckout(name string) (string, error) {
	out, used := r.interpretPrior(name)
	if used <= 0 {
		return "", ErrUnknown
	}
	return out, nil
}

func (r *Resolver) interpretMark(name string, at int) (string, int, error) {
	n := markLen(name[at:], "@{upstream}", "@{u}")
	push := false
	if n == 0 {
		if n = markLen(name[at:], "@{push}"); n == 0 {
			return "", 0, nil
		}
		push = true
	}
	if strings.IndexByte(name[:at], ':') >= 0 {
		return "", 0, nil
	}
	branch := name[:at]
	if branch == "" || branch == "HEAD" || branch == "@" {
		b, ok := r.CurrentBranch()
		if !ok {
			return "", 0, fmt.Errorf("HEAD does not point to a branch")
		}
		branch = b
	} else if expanded, err := r.expandBranch(branch); err == nil {
		branch = expanded
	}
	track := r.Upstream
	if push {
		track = r.PushTarget
	}
	full, err := track(branch)
	if err != nil {
		return "", 0, err
	}
	return r.Shorten(full, false), at + n, nil
}

// Upstream returns the remote-tracking ref, or local branch, that branch is
// configured to be merged with.
func (r *Resolver) Upstream(branch string) (string, error) {
	cfg := r.Repo.Config
	remote, hasRemote := cfg.Get("branch." + branch + ".remote")
	merge, hasMerge := cfg.Get("branch." + branch + ".merge")
	if !hasRemote || !hasMerge || merge == "" || remote == "" {
		if !r.refExists("refs/heads/" + branch) {
			return "", fmt.Errorf("no such branch: '%s'", branch)
		}
		return "", fmt.Errorf("no upstream configured for branch '%s'", branch)
	}
	if remote == "." {
		if !strings.HasPrefix(merge, "refs/") {
			if ref, n, err := r.quiet().findRef(merge); err == nil && n > 0 {
				return ref.Name, nil
			}
		}
		return merge, nil
	}
	if dst, ok := mapRefspecs(cfg.All("remote."+remote+".fetch"), merge); ok {
		return dst, nil
	}
	return "", fmt.Errorf("upstream branch '%s' not stored as a remote-tracking branch", merge)
}

// PushTarget returns the remote-tracking ref of the branch to which git push
// would push branch.
func (r *Resolver) PushTarget(branch string) (string, error) {
	cfg := r.Repo.Config
	remote, ok := r.pushRemote(branch)
	if !ok {
		return "", fmt.Errorf("branch '%s' has no remote for pushing", branch)
	}
	ref := "refs/heads/" + branch
	track := func(dst string) (string, error) {
		if t, ok := mapRefspecs(cfg.All("remote."+remote+".fetch"), dst); ok {
			return t, nil
		}
		return "", fmt.Errorf("push destination '%s' on remote '%s' has no local tracking branch", dst, remote)
	}
	if specs := cfg.All("remote." + remote + ".push"); len(specs) > 0 {
		dst, ok := mapRefspecs(specs, ref)
		if !ok {
			return "", fmt.Errorf("push refspecs for '%s' do not include '%s'", remote, branch)
		}
		return track(dst)
	}
	if mirror, err := cfg.Bool("remote."+remote+".mirror", false); err == nil && mirror {
		return track(ref)
	}
	def, _ := cfg.Get("push.default")
	switch def {
	case "nothing":
		return "", fmt.Errorf("push has no destination (push.default is 'nothing')")
	case "matching", "current":
		return track(ref)
	case "upstream", "tracking":
		return r.Upstream(branch)
	}
	up, err := r.Upstream(branch)
	if err != nil {
		return "", err
	}
	cur, err := track(ref)
	if err != nil {
		return "", err
	}
	if cur != up {
		return "", fmt.Errorf("cannot resolve 'simple' push to a single destination")
	}
	return cur, nil
}

// pushRemote returns the remote that branch is pushed to.
func (r *Resolver) pushRemote(branch string) (string, bool) {
	cfg := r.Repo.Config
	for _, key := range []string{"branch." + branch + ".pushremote", "remote.pushdefault", "branch." + branch + ".remote"} {
		if v, ok := cfg.Get(key); ok && v != "" {
			return v, true
		}
	}
	if names := cfg.Subsections("remote"); len(names) == 1 {
		return names[0], true
	}
	return "origin", true
}

// mapRefspecs returns where the first refspec that matches name sends it.
func mapRefspecs(specs []string, name string) (string, bool) {
	for _, spec := range specs {
		spec = strings.TrimPrefix(spec, "+")
		if strings.HasPrefix(spec, "^") {
			if src := spec[1:]; src == name || globMatches(src, name) {
				return "", false
			}
		}
	}
	for _, spec := range specs {
		spec = strings.TrimPrefix(spec, "+")
		src, dst, ok := strings.Cut(spec, ":")
		if strings.HasPrefix(spec, "^") {
			continue
		}
		if !ok {
			dst = src
		}
		if pre, post, glob := strings.Cut(src, "*"); glob {
			if len(name) >= len(pre)+len(post) && strings.HasPrefix(name, pre) && strings.HasSuffix(name, post) {
				return strings.Replace(dst, "*", name[len(pre):len(name)-len(post)], 1), dst != ""
			}
		} else if refname.Match(src, name) > 0 && dst != "" {
			return completeDst(dst), true
		}
	}
	return "", false
}

func globMatches(pattern, name string) bool {
	pre, post, glob := strings.Cut(pattern, "*")
	return glob && len(name) >= len(pre)+len(post) && strings.HasPrefix(name, pre) && strings.HasSuffix(name, post)
}

// completeDst gives the destination of a refspec the directory it lacks.
func completeDst(dst string) string {
	if strings.HasPrefix(dst, "refs/") {
		return dst
	}
	for _, p := range []string{"heads/", "tags/", "remotes/"} {
		if strings.HasPrefix(dst, p) {
			return "refs/" + dst
		}
	}
	return "refs/heads/" + dst
}
