package receive

import (
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/wire"
)

// capabilities returns the list of what this server does, in git's order.
func (s *server) capabilities() string {
	caps := "report-status report-status-v2 delete-refs side-band-64k quiet"
	if s.set.atomic {
		caps += " atomic"
	}
	if s.set.ofsDelta {
		caps += " ofs-delta"
	}
	if s.set.pushOptions {
		caps += " push-options"
	}
	if s.set.sessionID && s.opt.SessionID != "" {
		caps += " session-id=" + s.opt.SessionID
	}
	return caps + " object-format=" + s.repo.Algo.String() + " agent=" + s.opt.Agent
}

// advertise sends the refs, the tips of alternates, and where history is cut.
func (s *server) advertise() error {
	w := wire.NewWriter(s.out)
	caps := "\x00" + s.capabilities()
	show := func(id oid.ID, name string) {
		w.Printf("%s %s%s\n", id, name, caps)
		caps = ""
	}
	seen := map[oid.ID]bool{}
	for ref, err := range s.store.All("refs/", 0) {
		if err != nil {
			return err
		}
		name, inside := strings.CutPrefix(ref.Name, s.namespace)
		if s.set.hides(name, ref.Name) {
			continue
		}
		// What lies outside of the namespace is named by nothing, but the
		// client need not send it.
		if !inside {
			if seen[ref.ID] {
				continue
			}
			name = ".have"
		}
		seen[ref.ID] = true
		show(ref.ID, name)
	}
	alternates, err := s.alternateTips()
	if err != nil {
		return err
	}
	for _, id := range alternates {
		if !seen[id] {
			seen[id] = true
			show(id, ".have")
		}
	}
	if caps != "" {
		show(s.repo.Algo.Null(), "capabilities^{}")
	}
	shallow, err := s.shallowRoots()
	if err != nil {
		return err
	}
	for _, id := range shallow {
		w.Printf("shallow %s\n", id)
	}
	w.End()
	return w.Flush()
}

// tips returns the values of all refs.
func tips(store *refs.Store) ([]oid.ID, error) {
	var list []oid.ID
	seen := map[oid.ID]bool{}
	for ref, err := range store.All("refs/", 0) {
		if err != nil {
			return nil, err
		}
		if !seen[ref.ID] {
			seen[ref.ID] = true
			list = append(list, ref.ID)
		}
	}
	return list, nil
}
