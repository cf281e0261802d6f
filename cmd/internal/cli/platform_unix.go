//go:build unix

package cli

import (
	"os"
	"syscall"
	"time"
)

// executable tells whether path is a file that this user may run.
func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && syscall.Access(path, 1) == nil
}

// searchable tells whether this user may enter dir.
func searchable(dir string) error { return syscall.Access(dir, 1) }

// raise ends the process by a signal.
func raise(sig syscall.Signal) {
	restoreDefault(sig)
	syscall.Kill(os.Getpid(), sig)
	time.Sleep(time.Second)
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
