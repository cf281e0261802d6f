package send

import (
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A Status is what became of one ref. The numbers are git's (remote.h), which
// a message shows.
type Status int

// The statuses, in git's order.
const (
	StatusNone Status = iota
	StatusOK
	RejectNonFastForward
	RejectAlreadyExists
	RejectNoDelete
	RejectFetchFirst
	RejectNeedsForce
	RejectStale
	RejectShallow
	RejectRemoteUpdated
	UpToDate
	RemoteReject
	ExpectingReport
	AtomicPushFailed
)

// A Lease is one --force-with-lease=<ref>[:<expect>].
type Lease struct {
	Ref      string
	Expect   oid.ID
	Tracking bool // expect what the remote-tracking ref holds
}

// Leases are all of them.
type Leases struct {
	All        bool // --force-with-lease alone: every ref, by its tracking ref
	List       []Lease
	IfIncludes bool // --force-if-includes
}

// Empty reports whether no lease was given.
func (l Leases) Empty() bool { return !l.All && len(l.List) == 0 }

// Graph answers what the verdict must know of the objects on this side.
type Graph interface {
	Has(id oid.ID) bool
	IsCommit(id oid.ID) bool // or a tag of one
	IsAncestor(old, new oid.ID) (bool, error)
}

// Tracking finds what this side knows of a ref of the other: the value of its
// remote-tracking ref; false if there is none.
type Tracking func(name string) (oid.ID, bool)

// ApplyLeases notes what each ref is expected to hold. includes, for
// --force-if-includes, reports whether a tip was part of a local branch.
func ApplyLeases(list []*Ref, l Leases, tracking Tracking, includes func(branch string, tip oid.ID) bool) {
	for _, r := range list {
		expect, byTracking, ok := l.expectation(r.Name, tracking)
		if !ok {
			continue
		}
		r.expect = &expect
		if l.IfIncludes && byTracking && r.Peer != nil && !r.Peer.ID.IsNull() {
			r.unreachable = !includes(r.Peer.Name, r.Old)
		}
	}
}

func (l Leases) expectation(name string, tracking Tracking) (expect oid.ID, byTracking, ok bool) {
	for _, lease := range l.List {
		if !abbreviates(lease.Ref, name) {
			continue
		}
		if !lease.Tracking {
			return lease.Expect, false, true
		}
		expect, _ = tracking(name)
		return expect, true, true
	}
	if !l.All {
		return oid.ID{}, false, false
	}
	expect, _ = tracking(name)
	return expect, true, true
}

// Judge decides for each ref whether it may be pushed, as far as this side can
// know (remote.c, set_ref_status_for_push).
func Judge(list []*Ref, g Graph, mirror, force bool) error {
	for _, r := range list {
		if r.Peer != nil {
			r.New = r.Peer.ID
		} else if !mirror {
			continue
		}
		if !r.Deletion() && r.Old == r.New {
			r.Status = UpToDate
			continue
		}
		if err := r.judge(g, r.Force || force); err != nil {
			return err
		}
	}
	return nil
}

func (r *Ref) judge(g Graph, force bool) error {
	reason := StatusNone
	if r.expect != nil {
		switch {
		case r.Old != *r.expect:
			reason = RejectStale
		case r.unreachable:
			reason = RejectRemoteUpdated
		default:
			force = true
		}
	}
	if reason == StatusNone && !r.Deletion() && !r.Old.IsNull() {
		var err error
		if reason, err = r.forward(g); err != nil {
			return err
		}
	}
	if !force {
		r.Status = reason
	} else if reason != StatusNone {
		r.Forced = true
	}
	return nil
}

// forward is the rule that only a branch may move, and only forward.
func (r *Ref) forward(g Graph) (Status, error) {
	switch {
	case strings.HasPrefix(r.Name, "refs/tags/"):
		return RejectAlreadyExists, nil
	case !g.Has(r.Old):
		return RejectFetchFirst, nil
	case !g.IsCommit(r.Old) || !g.IsCommit(r.New):
		return RejectNeedsForce, nil
	}
	forward, err := g.IsAncestor(r.Old, r.New)
	if err != nil {
		return StatusNone, err
	}
	if !forward {
		return RejectNonFastForward, nil
	}
	return StatusNone, nil
}

// ParseLease parses the value of --force-with-lease.
func ParseLease(l *Leases, value string, given bool, resolve func(string) (oid.ID, bool)) error {
	if !given {
		l.All = true
		return nil
	}
	ref, expect, hasExpect := strings.Cut(value, ":")
	lease := Lease{Ref: ref, Tracking: !hasExpect}
	if expect != "" {
		id, ok := resolve(expect)
		if !ok {
			return fmt.Errorf("cannot parse expected object name '%s'", expect)
		}
		lease.Expect = id
	}
	l.List = append(l.List, lease)
	return nil
}
