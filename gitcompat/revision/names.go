package revision

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

// basic resolves a full object name, the name of a ref in any of its shorter
// forms, and entries of reflogs.
func (r *Resolver) basic(name string) (oid.ID, error) {
	if len(name) == r.Repo.Algo.HexSize() {
		if id, err := r.Repo.Algo.FromHex(name); err == nil {
			r.checkName(name)
			return id, nil
		}
	}
	base, entry, hasEntry, nth := splitReflog(name)
	if nth < 0 {
		return oid.ID{}, ErrUnknown
	}
	if base != "" && ambiguousPath(base) {
		return oid.ID{}, ErrUnknown
	}
	if nth > 0 {
		if prior, err := r.priorCheckout(base); err == nil {
			if id, err := r.Repo.Algo.FromHex(prior); err == nil && len(prior) == r.Repo.Algo.HexSize() {
				return id, nil
			}
		}
	}
	var ref refs.Resolved
	var n int
	var err error
	switch {
	case base == "" && hasEntry:
		ref, n, err = r.findRef("HEAD")
	case hasEntry:
		ref, n, err = r.findLog(base)
	default:
		ref, n, err = r.findRef(base)
	}
	if err != nil {
		return oid.ID{}, err
	}
	if n == 0 {
		return oid.ID{}, ErrUnknown
	}
	if r.Say != nil && r.warnAmbiguous() && (n > 1 || r.isShort(base)) {
		r.say(fmt.Sprintf("warning: refname '%s' is ambiguous.", base))
	}
	if !hasEntry {
		return ref.ID, nil
	}
	return r.reflogEntry(base, entry, ref)
}

// checkName warns of a ref that has a full object name for its name.
func (r *Resolver) checkName(name string) {
	if r.Say == nil || !r.warnAmbiguous() {
		return
	}
	if v, err := r.Repo.Config.Bool("advice.objectnamewarning", true); err != nil || !v {
		return
	}
	if _, n, err := r.quiet().findRef(name); err == nil && n > 0 {
		r.say(fmt.Sprintf("warning: refname '%s' is ambiguous.", name))
		r.say(hexRefAdvice)
	}
}

const hexRefAdvice = `Git normally never creates a ref that ends with 40 hex characters
because it will be ignored when you just specify 40-hex. These refs
may be created by mistake. For example,

  git switch -c $br $(git rev-parse ...)

where "$br" is somehow empty and a 40-hex ref is created. Please
examine these refs and maybe delete them. Turn this message off by
running "git config set advice.objectNameWarning false"`

func (r *Resolver) warnAmbiguous() bool {
	if r.warn == 0 {
		r.warn = 1
		if v, err := r.Repo.Config.Bool("core.warnambiguousrefs", true); err == nil && v {
			r.warn = 2
		}
	}
	return r.warn == 2
}

// splitReflog cuts base@{entry}. nth is 1 if the name starts with @{-n}, and -1
// if @{-n} stands elsewhere.
func splitReflog(name string) (base, entry string, ok bool, nth int) {
	base = name
	if len(name) == 0 || name[len(name)-1] != '}' {
		return base, "", false, 0
	}
	for at := len(name) - 4; at >= 0; at-- {
		if name[at] != '@' || name[at+1] != '{' {
			continue
		}
		if name[at+2] == '-' {
			if at != 0 {
				return base, "", false, -1
			}
			nth = 1
			continue
		}
		if markLen(name[at:], "@{upstream}", "@{u}") == 0 && markLen(name[at:], "@{push}") == 0 {
			return name[:at], name[at+2 : len(name)-1], true, nth
		}
		break
	}
	return base, "", false, nth
}

func markLen(s string, marks ...string) int {
	for _, m := range marks {
		if len(s) >= len(m) && strings.EqualFold(s[:len(m)], m) {
			return len(m)
		}
	}
	return 0
}

// ambiguousPath reports whether a path has empty or dot components.
func ambiguousPath(path string) bool {
	slash := true
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '/':
			if slash {
				return true
			}
			slash = true
		case '.':
		default:
			slash = false
		}
	}
	return slash
}

// findLog is findRef for names of reflogs. The name that it returns is that of
// the reflog.
func (r *Resolver) findLog(name string) (refs.Resolved, int, error) {
	var first refs.Resolved
	full, err := r.expandBranch(name)
	if err != nil {
		return first, 0, err
	}
	store, err := r.refs()
	if err != nil {
		return first, 0, err
	}
	n := 0
	for _, rule := range refname.Rules() {
		path := rule.Apply(full)
		ref, err := store.Resolve(path, refs.Reading)
		switch {
		case err != nil:
			continue
		case store.HasLog(path):
			ref.Name = path
		case ref.Name != path && store.HasLog(ref.Name):
		default:
			continue
		}
		if n++; n == 1 {
			first = ref
		}
		if !r.warnAmbiguous() {
			break
		}
	}
	return first, n, nil
}

// reflogEntry returns the value that ref had at the given entry or time.
func (r *Resolver) reflogEntry(base, entry string, ref refs.Resolved) (oid.ID, error) {
	nth, when, err := r.parseEntry(entry)
	if err != nil {
		return oid.ID{}, err
	}
	at, err := r.logAt(ref.Name, ref.ID, when, nth)
	if err != nil {
		return oid.ID{}, err
	}
	if at.found {
		return at.id, nil
	}
	if base == "" {
		base = "HEAD"
		if short, ok := strings.CutPrefix(ref.Name, "refs/heads/"); ok {
			base = short
		}
	}
	switch {
	case when != 0:
		r.say(fmt.Sprintf("warning: log for '%s' only goes back to %s", base, rfc2822(at.date, at.zone)))
	case nth == at.count && !at.id.IsNull():
	default:
		return oid.ID{}, fmt.Errorf("log for '%s' only has %d entries", base, at.count)
	}
	return at.id, nil
}

// parseEntry reads what stands in @{}: a number of entries or a time.
func (r *Resolver) parseEntry(entry string) (nth int, when int64, err error) {
	n, err := strconv.ParseUint(entry, 10, 63)
	switch {
	case err == nil && n >= 100000000:
		return -1, int64(n), nil
	case err == nil:
		return int(n), 0, nil
	}
	src := ident.Source{LookupEnv: r.Repo.Getenv}
	now, _ := src.Datestamp()
	when, ok := ident.Approxidate(entry, time.Unix(now, 0), src.Location())
	if !ok {
		return 0, 0, ErrUnknown
	}
	return -1, when, nil
}

type logPoint struct {
	id    oid.ID
	found bool
	date  int64
	zone  int
	count int
}

// logAt looks through the reflog of name, newest first, for the nth entry or
// the last one not after when. current is the value of the ref.
func (r *Resolver) logAt(name string, current oid.ID, when int64, nth int) (logPoint, error) {
	p := logPoint{id: current}
	var later, last refs.LogEntry // of the entry before, in this order
	left := nth
	err := r.log(name, func(e *refs.LogEntry) bool {
		p.count++
		p.date, p.zone = int64(e.Time), e.Zone
		last = *e
		if p.date > when && left != 0 {
			later = *e
			if left > 0 {
				left--
			}
			return false
		}
		p.found = true
		date := func() string { return rfc2822(p.date, p.zone) }
		switch {
		case p.count > 1 && !later.Old.IsNull():
			p.id = e.New
			if later.Old != e.New {
				r.say(fmt.Sprintf("warning: log for ref %s has gap after %s", name, date()))
			}
		case p.date == when:
			p.id = e.New
		case e.New != p.id:
			r.say(fmt.Sprintf("warning: log for ref %s unexpectedly ended on %s", name, date()))
		}
		return true
	})
	if err != nil || p.found {
		return p, err
	}
	if p.count == 0 {
		if nth != 0 {
			return p, fmt.Errorf("log for %s is empty", name)
		}
		return p, nil
	}
	p.id = last.Old
	if when != 0 && p.id.IsNull() {
		p.id = last.New
	}
	return p, nil
}
