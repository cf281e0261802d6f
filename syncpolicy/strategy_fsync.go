package syncpolicy

// fsyncStrategy: a flush for each file and for each directory in which a name
// changed, many at a time, so that the journal commits them in groups.
//
// Shown to hold on ext4, xfs and btrfs; the only one that reaches a server.
type fsyncStrategy struct{}

func (fsyncStrategy) harden(b *Barrier, files []*staged) error {
	return inParallel(files, func(s *staged) error {
		if err := b.flushFile(s); err != nil {
			return err
		}
		return s.close()
	})
}

func (s fsyncStrategy) order(b *Barrier, dirs []string, files []*staged) error {
	if err := s.harden(b, files); err != nil {
		return err
	}
	if b.settles() {
		return inParallel(dirs, b.flushDir)
	}
	return nil
}

func (fsyncStrategy) ordersLogs() bool { return false }

func (fsyncStrategy) settle(b *Barrier, dirs []string) error {
	return inParallel(dirs, b.flushDir)
}

func (fsyncStrategy) flush(*Barrier, []*staged) error { return nil } // harden did it

// writeoutStrategy is core.fsyncMethod=writeout-only: each file's pages are on
// the device before its rename, and nothing is flushed.
type writeoutStrategy struct{}

func (writeoutStrategy) harden(b *Barrier, files []*staged) error {
	if b.policy.testOff {
		return nil
	}
	return b.writeoutAll(files)
}

func (s writeoutStrategy) order(b *Barrier, _ []string, files []*staged) error {
	return s.harden(b, files)
}

func (writeoutStrategy) ordersLogs() bool                { return true }
func (writeoutStrategy) settle(*Barrier, []string) error { return nil }
func (writeoutStrategy) flush(*Barrier, []*staged) error { return nil }

// noStrategy does nothing, where nothing survives a power cut anyway.
type noStrategy struct{}

func (noStrategy) harden(*Barrier, []*staged) error          { return nil }
func (noStrategy) order(*Barrier, []string, []*staged) error { return nil }
func (noStrategy) ordersLogs() bool                          { return true }
func (noStrategy) settle(*Barrier, []string) error           { return nil }
func (noStrategy) flush(*Barrier, []*staged) error           { return nil }
