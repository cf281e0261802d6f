package syncpolicy

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A strategy is one way to make files and names durable. The Barrier calls
// harden before it publishes what was hardened, order between two groups of
// names of which the second refers to the first, and settle at the end.
type strategy interface {
	// harden makes sure that no name published after it can survive a power cut
	// that the bytes of files do not.
	harden(b *Barrier, files []*staged) error
	// order does the same for the names that were changed in dirs, and for the
	// bytes of files, with regard to names published after it.
	order(b *Barrier, dirs []string, files []*staged) error
	// ordersLogs reports whether bytes that are appended after names were changed
	// cannot survive a power cut that the names do not, even before order.
	ordersLogs() bool
	// settle makes durable the names that were changed in dirs. The last of dirs
	// is the one of the last change.
	settle(b *Barrier, dirs []string) error
	// flush makes hardened files durable where no name is settled: once, for all
	// of files.
	flush(b *Barrier, files []*staged) error
}

// manyFiles is the number of staged files above which one syncfs is cheaper than
// a flush for each, on file systems that do not order data before names.
const manyFiles = 32

// Strategy returns the name of the barrier that batch mode makes on fsys for n
// staged files, and the reason.
func (p *Policy) Strategy(fsys vfs.Filesystem, n int) (name, reason string) {
	if p.Barrier != "auto" {
		return p.Barrier, "sluice.barrier"
	}
	switch {
	case journalHolds(fsys):
		return "journal", fsys.Type + " commits names in order, after data that was written out"
	case fsys.Type == "tmpfs" && p.Safe:
		return "none", "tmpfs does not survive a power cut"
	case fsys.Type == "tmpfs":
		return "journal", "tmpfs does not survive a power cut; flushes cost nothing"
	case fsys.Type == "nfs" || fsys.Type == "cifs" || fsys.Type == "fuse":
		return "fsync", "a server decides when " + fsys.Type + " writes; only a flush of each file reaches it"
	}
	name = fsys.Type
	if fsys.NoJournal {
		name += " without a journal"
	}
	if n > manyFiles {
		return "syncfs", name + " does not order data before names, and there are many files"
	}
	return "fsync", name + " does not order data before names, and there are few files"
}

// strategy returns the strategy for n staged files.
func (b *Barrier) strategy(n int) strategy {
	switch b.policy.Method {
	case Fsync:
		return fsyncStrategy{}
	case WriteoutOnly:
		return writeoutStrategy{}
	}
	name, _ := b.policy.Strategy(b.filesystem(), n)
	switch name {
	case "journal":
		return journalStrategy{}
	case "syncfs":
		return syncfsStrategy{}
	case "none":
		return noStrategy{}
	}
	return fsyncStrategy{}
}

// A FlushError is a sync call that failed (P6).
type FlushError struct {
	Path string
	Err  error
}

// Error is git's message.
func (e *FlushError) Error() string {
	return "fsync error on '" + e.Path + "': " + vfs.Strerror(e.Err)
}

// Unwrap returns the error of the call.
func (e *FlushError) Unwrap() error { return e.Err }

// flushFile is one hardware flush.
func (b *Barrier) flushFile(s *staged) error {
	if b.policy.testOff {
		return nil
	}
	f, err := b.reopen(s)
	if err != nil {
		return err
	}
	b.policy.Counters.flushes[slot(s.comp)].Add(1)
	if err := f.Sync(); err != nil {
		return &FlushError{s.temp, err}
	}
	return nil
}

// writeoutFile is one writeout. Where the call does not exist or does not apply
// to the file, a flush takes its place, as in git; unlike git, an error of the
// disk is not answered by another sync that may then succeed (B4).
func (b *Barrier) writeoutFile(s *staged) error {
	f, err := b.reopen(s)
	if err != nil {
		return err
	}
	b.policy.Counters.writeouts[slot(s.comp)].Add(1)
	err = f.Writeout()
	switch {
	case err == nil:
		return nil
	case unsupported(err):
		return b.flushFile(s)
	}
	return &FlushError{s.temp, err}
}

func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ESPIPE)
}

func (b *Barrier) flushDir(dir string) error {
	return b.flushPath(dir, b.fsys.SyncDir)
}

func (b *Barrier) flushFS() error {
	return b.flushPath(b.dir, b.fsys.SyncFS)
}

func (b *Barrier) flushPath(dir string, call func(string) error) error {
	if b.policy.testOff {
		return nil
	}
	b.policy.Counters.flushes[slot(Directory)].Add(1)
	err := call(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed meanwhile: no name in it is left to settle
	}
	if err != nil {
		return &FlushError{dir, err}
	}
	return nil
}

// reopen returns the file of s, opened again if it had to be closed.
func (b *Barrier) reopen(s *staged) (*vfs.File, error) {
	if s.f != nil {
		return s.f, nil
	}
	f, err := b.fsys.OpenFile(s.temp, os.O_RDONLY, 0)
	if err != nil {
		return nil, &FlushError{s.temp, err}
	}
	s.f = f
	return f, nil
}

// writeoutAll is the second of two passes: the writeback of each file was
// started when it was staged, and is waited for here.
func (b *Barrier) writeoutAll(files []*staged) error {
	for _, s := range files {
		if err := b.writeoutFile(s); err != nil {
			return err
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// parallel is how many flushes are under way at a time: the journal commits
// those that wait together as one.
const parallel = 32

func inParallel[T any](items []T, do func(T) error) error {
	if len(items) == 1 {
		return do(items[0])
	}
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	work := make(chan T)
	for range min(parallel, len(items)) {
		wg.Go(func() {
			for item := range work {
				if err := do(item); err != nil {
					once.Do(func() { first = err })
				}
			}
		})
	}
	for _, item := range items {
		work <- item
	}
	close(work)
	wg.Wait()
	return first
}
