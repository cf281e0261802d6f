package refs

import (
	"fmt"
	"math/bits"
	"os"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/syncpolicy"
)

// PackOptions say what Pack does.
type PackOptions struct {
	Wanted func(name string) bool // which refs to pack
	Prune  bool                   // remove the loose files of packed refs
	Auto   bool                   // do nothing while there are few loose refs
}

// Pack moves loose refs into packed-refs: one rewrite, then the removal of the
// loose files that did not change meanwhile. A loose file that cannot be removed
// hides the packed value and does no harm; why it stays is in the first result.
func (s *Store) Pack(b *syncpolicy.Barrier, o PackOptions) ([]Rejection, error) {
	defer b.Rollback()
	if o.Auto {
		wanted, err := s.worthPacking(o)
		if err != nil || !wanted {
			return nil, err
		}
	}
	lk, snap, err := s.lockPacked()
	if err != nil {
		return nil, err
	}
	b.OnEnd(func(error) { lk.Rollback() })
	list, err := s.packable(o)
	if err != nil {
		return nil, err
	}
	report := s.packHook(list)
	for _, state := range []string{"preparing", "prepared"} {
		if err := report(state); err != nil {
			report("aborted")
			return nil, &HookError{state}
		}
		if state == "preparing" {
			if err := s.stagePacked(b, syncpolicy.PackedRefs, lk, snap, s.entries(list)); err != nil {
				return nil, fmt.Errorf("unable to write new packed-refs: %w", err)
			}
		}
	}
	b.OnEnd(func(err error) {
		if err == nil {
			report("committed")
		}
	})
	tx := s.Begin(true)
	if o.Prune {
		if err := s.prune(b, tx, list); err != nil {
			return nil, err
		}
	}
	return tx.rejects, b.Commit()
}

// prune removes the loose files of list that still hold what was packed. It
// does not wait for locks: packed-refs is locked, and others wait for that.
func (s *Store) prune(b *syncpolicy.Barrier, tx *Transaction, list []Ref) error {
	quick := &Store{o: s.o, packed: s.packed}
	quick.o.LockTimeout = 0
	tx.s, tx.prunes = quick, true
	null := OID(s.o.Algo.Null())
	for _, r := range list {
		if refname.Check(r.Name, 0) {
			tx.add(&update{Change: Change{Name: r.Name, New: null, Old: OID(r.ID), NoDeref: true}, pruning: true})
		}
	}
	if len(tx.updates) == 0 {
		return nil
	}
	if err := tx.Prepare(b); err != nil {
		return err
	}
	return tx.Commit(b)
}

func (s *Store) packable(o PackOptions) ([]Ref, error) {
	all, err := s.loose("", 0)
	if err != nil {
		return nil, err
	}
	list := all[:0]
	for _, r := range all {
		if s.shouldPack(&r, o) {
			list = append(list, r)
		}
	}
	return list, nil
}

func (s *Store) shouldPack(r *Ref, o PackOptions) bool {
	owner, _, _ := refname.Worktree(r.Name)
	return owner == refname.Shared && !r.Symref && s.resolvesToObject(r) && o.Wanted(r.Name)
}

func (s *Store) entries(list []Ref) func(func(packedEntry) bool) {
	return func(yield func(packedEntry) bool) {
		for _, r := range list {
			if !yield(packedEntry{name: r.Name, id: r.ID, peeled: s.peel(r.ID)}) {
				return
			}
		}
	}
}

// packHook returns what tells the hook of a packed-refs rewrite.
func (s *Store) packHook(list []Ref) func(state string) error {
	if s.o.Hook == nil {
		return func(string) error { return nil }
	}
	var input []byte
	for _, r := range list {
		input = s.o.Algo.Null().AppendHex(input)
		input = r.ID.AppendHex(append(input, ' '))
		input = append(append(append(input, ' '), r.Name...), '\n')
	}
	return func(state string) error { return s.o.Hook(state, input) }
}

// worthPacking is git's heuristic: five loose refs for each doubling of the
// packed ones, at least sixteen.
func (s *Store) worthPacking(o PackOptions) (bool, error) {
	var size int64
	st, err := os.Stat(s.packedPath())
	switch {
	case err == nil:
		size = st.Size()
	case !missing(err):
		return false, fmt.Errorf("cannot determine packed-refs size: %s", lockfile.Strerror(err))
	}
	limit := max(16, 5*(bits.Len64(uint64(size/100))-1))
	list, err := s.packable(o)
	return len(list) >= limit, err
}
