package syncpolicy

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A Phase is a place in the order of publishing (B2).
type Phase uint8

// The phases, in order.
const (
	Objects Phase = iota
	Packs         // the .idx of a pack last
	PackedRefs
	IndexFile
	Reflogs
	Refs
	Symrefs
	ConfigFile
	PackedDeletions // a packed-refs that only forgets: after the refs that the same command makes
	Removals        // of loose refs: after packed-refs has forgotten or learnt them
	phases
)

// ErrRolledBack is what OnEnd functions get when a Barrier is rolled back.
var ErrRolledBack = errors.New("rolled back")

// openFiles bounds how many staged files are kept open; the others are closed
// and opened again when they are waited for.
const openFiles = 400

// A Barrier makes durable all that one command writes. Files are staged as they
// are finished; Commit hardens all of them, publishes them in the order of the
// phases and settles their names. Stage, Do, AppendLog and OnEnd may be called
// by several goroutines at a time.
type Barrier struct {
	fsys   *vfs.FS
	policy *Policy
	dir    string

	mu     sync.Mutex
	steps  [phases][]*step
	logs   []*appendix
	ready  []func() error
	onEnd  []func(error)
	open   int
	staged Component // every component staged so far
	ended  bool

	detect sync.Once
	on     vfs.Filesystem // where dir is, once it was looked at
}

// filesystem describes where the repository is.
func (b *Barrier) filesystem() vfs.Filesystem {
	b.detect.Do(func() { b.on = vfs.Detect(b.dir) })
	return b.on
}

// waitsFor reports whether files hardened by m are written out one by one, so
// that the writeback of each should begin as early as it can. A flush of the
// whole file system would only be disturbed by that.
func (b *Barrier) waitsFor(m Method) bool {
	if m != Batch {
		return m == WriteoutOnly
	}
	name, _ := b.policy.Strategy(b.filesystem(), manyFiles+1)
	return name == "journal"
}

// A step is one action of a phase: the publication of a file, or a function.
type step struct {
	file *staged // nil for a function
	run  func() error
	undo func()   // instead of run, when the barrier ends without it
	dirs []string // where names change
}

// staged is a file whose bytes have to be hardened.
type staged struct {
	comp     Component
	temp     string
	f        *vfs.File // nil when closed
	hardened bool
}

func (s *staged) close() error {
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	return err
}

// NewBarrier returns a Barrier for a command in the repository on whose file
// system dir is.
func NewBarrier(fsys *vfs.FS, p *Policy, dir string) *Barrier {
	return &Barrier{fsys: fsys, policy: p, dir: dir}
}

// FS returns the file system through which the command writes.
func (b *Barrier) FS() *vfs.FS { return b.fsys }

// Policy returns the policy in force.
func (b *Barrier) Policy() *Policy { return b.policy }

// Stage takes over f, an open temporary or lock file whose content is complete;
// the caller must not use f afterwards, even on an error. Commit hardens it as
// the policy says for c and renames it to final in phase ph.
func (b *Barrier) Stage(ph Phase, c Component, f *vfs.File, final string) error {
	temp := f.Name()
	publish := func() error {
		if err := b.fsys.Rename(temp, final); err != nil {
			return err
		}
		b.fsys.Keep(temp)
		return nil
	}
	undo := func() {
		b.fsys.Remove(temp)
		b.fsys.Keep(temp)
	}
	return b.StageFunc(ph, c, f, publish, undo, filepath.Dir(final))
}

// StageFunc is Stage with a publication of the caller's own, which changes names
// in dirs, and with undo for what must happen if the barrier ends without it;
// either may be nil.
func (b *Barrier) StageFunc(ph Phase, c Component, f *vfs.File, publish func() error, undo func(), dirs ...string) error {
	s := &staged{comp: c, temp: f.Name(), f: f}
	hardens := b.policy.Hardens(c) && !b.policy.idle()
	if hardens && b.waitsFor(b.policy.methodFor(c)) {
		f.StartWriteout() // its errors come again when it is waited for
	}
	b.mu.Lock()
	b.staged |= c
	b.steps[ph] = append(b.steps[ph], &step{file: s, run: publish, undo: undo, dirs: dirs})
	keep := hardens && b.open < openFiles
	if keep {
		b.open++
	}
	b.mu.Unlock()
	if keep {
		return nil
	}
	return s.close()
}

// HardenExisting hardens a file that is there already, on which what is staged
// relies, with the rest; a file that has gone is left to whoever needs it.
func (b *Barrier) HardenExisting(ph Phase, c Component, path string) error {
	if !b.policy.Hardens(c) || b.policy.idle() {
		return nil
	}
	f, err := b.fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return b.StageFunc(ph, c, f, nil, nil, filepath.Dir(path))
}

// Do registers an action of phase ph that changes names in dirs.
func (b *Barrier) Do(ph Phase, action func() error, dirs ...string) {
	b.mu.Lock()
	b.steps[ph] = append(b.steps[ph], &step{run: action, dirs: dirs})
	b.mu.Unlock()
}

// Prepare registers f to run whenever the barrier is about to harden: it brings
// files that are staged already, and grew since, into their final form. It may be
// called more than once, and must not stage.
func (b *Barrier) Prepare(f func() error) {
	b.mu.Lock()
	b.ready = append(b.ready, f)
	b.mu.Unlock()
}

// OnEnd registers f to run when the barrier ends: with nil after a Commit that
// succeeded, else with the error. Locks are released here.
func (b *Barrier) OnEnd(f func(err error)) {
	b.mu.Lock()
	b.onEnd = append(b.onEnd, f)
	b.mu.Unlock()
}

// Commit hardens, publishes and settles all that was staged, and ends the
// barrier. After an error what was not yet published is removed (B6).
func (b *Barrier) Commit() error {
	if b.ended {
		return ErrRolledBack
	}
	err := b.run(Removals, false)
	b.end(err)
	return err
}

// Flush hardens, publishes and settles what was staged for the phases up to
// through, so that a hook can see and rely on it. The barrier goes on.
func (b *Barrier) Flush(through Phase) error {
	return b.run(through, false)
}

// Harden makes the bytes staged for the phases up to through durable where they
// are, without publishing them: for hooks that look into a quarantine.
func (b *Barrier) Harden(through Phase) error {
	return b.run(through, true)
}

// Rollback removes what was staged and not published, and ends the barrier. It
// does nothing after Commit, so it can be deferred.
func (b *Barrier) Rollback() { b.end(ErrRolledBack) }

func (b *Barrier) end(err error) {
	if b.ended {
		return
	}
	b.ended = true
	for ph := range b.steps {
		for _, st := range b.steps[ph] {
			b.discard(st)
		}
		b.steps[ph] = nil
	}
	for _, f := range b.onEnd {
		f(err)
	}
	b.onEnd = nil
}

// discard removes the temporary of a step that was not published.
func (b *Barrier) discard(st *step) {
	if st.file != nil {
		st.file.close()
	}
	if st.undo != nil {
		st.undo()
	}
}

func (b *Barrier) settles() bool { return b.policy.settles(b.staged) }

// A round is one run of the write protocol over the phases up to some phase.
type round struct {
	b       *Barrier
	by      strategy
	changed []string // directories in which names changed since the last order; the last one last
	packed  bool     // packed-refs was published
	named   bool     // names that refer to bytes began to be published
	logged  []appended
}

// run is the write protocol: harden all, publish bytes (objects and packs),
// then the names that refer to them, then remove, then settle.
func (b *Barrier) run(through Phase, hardenOnly bool) error {
	for _, f := range b.ready {
		if err := f(); err != nil {
			return err
		}
	}
	r := &round{b: b, by: noStrategy{}}
	err := r.run(through, hardenOnly)
	if err != nil && !r.named {
		r.unlog()
	}
	return err
}

func (r *round) run(through Phase, hardenOnly bool) error {
	b := r.b
	files := b.toHarden(through)
	if !b.policy.idle() {
		r.by = b.strategy(len(files))
	}
	bytesFirst := b.pending(Packs)
	if !bytesFirst && !hardenOnly && through >= Reflogs {
		logs, err := r.appendLogs()
		if err != nil {
			return err
		}
		files = append(files, logs...)
	}
	if err := r.harden(files, hardenOnly); err != nil || hardenOnly {
		return err
	}
	if bytesFirst {
		if err := r.publishBytes(through); err != nil {
			return err
		}
	}
	r.named = through >= PackedRefs
	if err := r.publish(PackedRefs, min(through, ConfigFile)); err != nil {
		return err
	}
	if through == Removals {
		if err := r.remove(); err != nil {
			return err
		}
	}
	if len(r.changed) > 0 && b.settles() {
		return r.by.settle(b, r.changed)
	}
	return nil
}

// toHarden returns the staged files of the phases up to through that the policy hardens.
func (b *Barrier) toHarden(through Phase) []*staged {
	var files []*staged
	for ph := Objects; ph <= through; ph++ {
		for _, st := range b.steps[ph] {
			if st.file != nil && !st.file.hardened && b.policy.Hardens(st.file.comp) {
				files = append(files, st.file)
			}
		}
	}
	return files
}

// harden makes files safe to be named. Where no name will be settled, and so
// no later flush covers them, they are flushed now.
func (r *round) harden(files []*staged, now bool) error {
	b := r.b
	if len(files) == 0 {
		return nil
	}
	// Files whose component is flushed file by file whatever the method.
	apart := slices.DeleteFunc(slices.Clone(files), func(s *staged) bool { return b.policy.methodFor(s.comp) == b.policy.Method })
	if len(apart) > 0 {
		if err := (fsyncStrategy{}).harden(b, apart); err != nil {
			return err
		}
		files = slices.DeleteFunc(files, func(s *staged) bool { return b.policy.methodFor(s.comp) != b.policy.Method })
		if len(files) == 0 {
			return nil
		}
	}
	if err := r.by.harden(b, files); err != nil {
		return err
	}
	for _, s := range files {
		s.hardened = true
	}
	if now || !b.settles() {
		return r.by.flush(b, files)
	}
	return nil
}

// publishBytes publishes objects and packs, appends the reflogs that refer to
// them, and orders both before the names that come next.
func (r *round) publishBytes(through Phase) error {
	b := r.b
	if err := r.publish(Objects, min(through, Packs)); err != nil {
		return err
	}
	if through < Reflogs {
		return nil
	}
	if !b.pending(Removals) && len(b.logs) == 0 {
		return nil // no name comes after
	}
	if !r.by.ordersLogs() {
		if err := r.by.order(b, r.changed, nil); err != nil {
			return err
		}
		r.changed = r.changed[max(0, len(r.changed)-1):]
	}
	logs, err := r.appendLogs()
	if err != nil {
		return err
	}
	err = r.by.order(b, r.changed, logs)
	r.changed = r.changed[max(0, len(r.changed)-1):]
	return err
}

// publish runs the steps of the phases from to through, in order.
func (r *round) publish(from, through Phase) error {
	b := r.b
	for ph := from; ph <= through; ph++ {
		steps := b.steps[ph]
		r.packed = r.packed || (ph == PackedRefs || ph == PackedDeletions) && len(steps) > 0
		for i, st := range steps {
			if st.file != nil {
				if err := st.file.close(); err != nil {
					b.steps[ph] = steps[i:]
					return err
				}
			}
			if st.run != nil {
				if err := st.run(); err != nil {
					b.steps[ph] = steps[i:]
					return err
				}
			}
			for _, dir := range st.dirs {
				r.touch(dir)
			}
		}
		b.steps[ph] = nil
	}
	return nil
}

// remove publishes what only takes names away: a packed-refs without them, when
// the names that the command made are there to stay; then it unlinks what
// packed-refs now speaks for, when that is there to stay.
func (r *round) remove() error {
	b := r.b
	if b.pendingIn(PackedDeletions) && len(r.changed) > 0 && b.settles() {
		if err := r.by.order(b, r.changed, nil); err != nil {
			return err
		}
	}
	if err := r.publish(PackedDeletions, PackedDeletions); err != nil {
		return err
	}
	if b.pendingIn(Removals) && r.packed && b.settles() {
		if err := r.by.order(b, r.changed, nil); err != nil {
			return err
		}
	}
	return r.publish(Removals, Removals)
}

// touch notes that a name in dir changed, last of all.
func (r *round) touch(dir string) {
	if n := len(r.changed); n > 0 && r.changed[n-1] == dir {
		return
	}
	if i := slices.Index(r.changed, dir); i >= 0 {
		r.changed = slices.Delete(r.changed, i, i+1)
	}
	r.changed = append(r.changed, dir)
}

func (b *Barrier) pendingIn(ph Phase) bool { return len(b.steps[ph]) > 0 }

// pending reports whether anything is staged in the phases up to through.
func (b *Barrier) pending(through Phase) bool {
	for ph := Objects; ph <= through; ph++ {
		if b.pendingIn(ph) {
			return true
		}
	}
	return false
}
