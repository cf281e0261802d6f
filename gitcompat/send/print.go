package send

import (
	"fmt"
	"io"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A Printer shows what became of the refs, as git push does.
type Printer struct {
	Stdout, Stderr io.Writer
	URL            string // as it is shown
	Porcelain      bool
	Verbose        bool
	Abbrev         func(oid.ID) string
	width          int
	printed        bool
}

// Print shows the refs: with Verbose those that were up to date, then those
// that were pushed, then those that were not.
func (p *Printer) Print(list []*Ref) {
	p.width = 2*p.longest(list) + 3
	if p.Verbose {
		p.each(list, func(s Status) bool { return s == UpToDate })
	}
	p.each(list, func(s Status) bool { return s == StatusOK })
	p.each(list, func(s Status) bool { return s != StatusNone && s != UpToDate && s != StatusOK })
}

// longest returns the length of the longest abbreviation that will be shown.
func (p *Printer) longest(list []*Ref) int {
	n := 0
	for _, r := range list {
		for _, id := range []oid.ID{r.Old, r.New} {
			if !id.IsNull() {
				n = max(n, len(p.Abbrev(id)))
			}
		}
	}
	if n == 0 {
		n = defaultAbbrev
	}
	return n
}

// defaultAbbrev is the shortest length to which git cuts object names.
const defaultAbbrev = 7

func (p *Printer) each(list []*Ref, want func(Status) bool) {
	for _, r := range list {
		if !want(r.Status) {
			continue
		}
		if !p.printed {
			p.printed = true
			w := p.Stderr
			if p.Porcelain {
				w = p.Stdout
			}
			fmt.Fprintf(w, "To %s\n", p.URL)
		}
		p.ref(r)
	}
}

func (p *Printer) ref(r *Ref) {
	switch r.Status {
	case StatusOK:
		p.success(r)
	case UpToDate:
		p.line('=', "[up to date]", r, true, "")
	case RejectNoDelete:
		p.line('!', "[rejected]", r, false, "remote does not support deleting refs")
	case RemoteReject:
		p.line('!', "[remote rejected]", r, !r.Deletion(), r.Reason)
	case ExpectingReport:
		p.line('!', "[remote failure]", r, !r.Deletion(), "remote failed to report status")
	default:
		p.line('!', "[rejected]", r, true, rejected(r.Status))
	}
}

func rejected(s Status) string {
	switch s {
	case RejectNonFastForward:
		return "non-fast-forward"
	case RejectAlreadyExists:
		return "already exists"
	case RejectFetchFirst:
		return "fetch first"
	case RejectNeedsForce:
		return "needs force"
	case RejectStale:
		return "stale info"
	case RejectRemoteUpdated:
		return "remote ref updated since checkout"
	case RejectShallow:
		return "new shallow roots not allowed"
	}
	return "atomic push failed"
}

func (p *Printer) success(r *Ref) {
	switch {
	case r.Deletion():
		p.line('-', "[deleted]", r, false, "")
	case !r.Old.IsNull() && r.Forced:
		p.line('+', p.Abbrev(r.Old)+"..."+p.Abbrev(r.New), r, true, "forced update")
	case !r.Old.IsNull():
		p.line(' ', p.Abbrev(r.Old)+".."+p.Abbrev(r.New), r, true, "")
	case strings.HasPrefix(r.Name, "refs/tags/"):
		p.line('*', "[new tag]", r, true, "")
	case strings.HasPrefix(r.Name, "refs/heads/"):
		p.line('*', "[new branch]", r, true, "")
	default:
		p.line('*', "[new reference]", r, true, "")
	}
}

func (p *Printer) line(flag byte, summary string, r *Ref, from bool, reason string) {
	from = from && r.Peer != nil
	if reason != "" {
		reason = " (" + reason + ")"
	}
	if p.Porcelain {
		src := ""
		if from {
			src = r.Peer.Name
		}
		fmt.Fprintf(p.Stdout, "%c\t%s:%s\t%s%s\n", flag, src, r.Name, summary, reason)
		return
	}
	names := pretty(r.Name)
	if from {
		names = pretty(r.Peer.Name) + " -> " + names
	}
	fmt.Fprintf(p.Stderr, " %c %-*s %s%s\n", flag, p.width, summary, names, reason)
}

// pretty leaves out what every name of its kind begins with.
func pretty(name string) string {
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "refs/remotes/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}
