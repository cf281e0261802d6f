package crash

import (
	"fmt"
	"io/fs"
	"sync"
	"syscall"
	"testing"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// An Injector is a Hook that makes one call fail, or that call and all after it.
type Injector struct {
	N      int           // which call, from 0
	Err    syscall.Errno // 0: a short write, of a write; other calls pass
	Sticky bool          // and every call after it

	mu    sync.Mutex
	calls int
	hit   *vfs.Op
}

// Hook counts calls and fails those that are to fail.
func (in *Injector) Hook(op *vfs.Op, call func() error) error {
	in.mu.Lock()
	n := in.calls
	in.calls++
	fail := n == in.N || in.Sticky && n > in.N
	if fail && in.hit == nil {
		copied := *op
		in.hit = &copied
	}
	in.mu.Unlock()
	if !fail {
		return call()
	}
	if in.Err == 0 {
		if op.Kind == vfs.OpWrite && len(op.Data) > 1 {
			op.Data = op.Data[:len(op.Data)/2]
		}
		return call()
	}
	return &fs.PathError{Op: string(op.Kind), Path: op.Path, Err: in.Err}
}

// Hit returns the call that failed; nil if the run ended before it.
func (in *Injector) Hit() *vfs.Op {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.hit
}

// String describes the fault.
func (in *Injector) String() string {
	s := fmt.Sprintf("call %d fails with %v", in.N, in.Err)
	if in.Err == 0 {
		s = fmt.Sprintf("call %d is a short write", in.N)
	}
	if in.Sticky {
		s += ", and all after it"
	}
	if op := in.Hit(); op != nil {
		s += fmt.Sprintf(" (%s %s)", op.Kind, op.Path)
	}
	return s
}

// Loop makes system call n = 0, 1, 2, ... fail until a run meets no fault, with
// each of the errors that disks give, once and from then on. attempt must make
// a fresh state, run with in.Hook, and check what holds after any fault.
func Loop(t *testing.T, attempt func(t *testing.T, in *Injector)) {
	t.Helper()
	for _, kind := range []struct {
		err    syscall.Errno
		sticky bool
	}{
		{syscall.EIO, false}, {syscall.ENOSPC, false}, {syscall.EDQUOT, false}, {syscall.EINTR, false}, {0, false},
		{syscall.EIO, true}, {syscall.ENOSPC, true},
	} {
		for n := 0; ; n++ {
			in := &Injector{N: n, Err: kind.err, Sticky: kind.sticky}
			attempt(t, in)
			if t.Failed() {
				t.Fatalf("with fault: %v", in)
			}
			if in.Hit() == nil {
				if n == 0 {
					t.Fatal("the run made no call")
				}
				break
			}
		}
	}
}

// NoFlush is a Hook that leaves out the calls that wait for the disk: what a
// recorder or an injector says of them is all that a test needs.
func NoFlush(op *vfs.Op, call func() error) error {
	switch op.Kind {
	case vfs.OpSync, vfs.OpSyncDir, vfs.OpSyncFS, vfs.OpWriteout, vfs.OpStartWriteout:
		return nil
	}
	return call()
}
