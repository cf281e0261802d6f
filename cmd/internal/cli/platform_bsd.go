//go:build unix && !linux

package cli

import (
	"os/signal"
	"syscall"
)

// restoreDefault gives a signal the runtime's default action.
func restoreDefault(sig syscall.Signal) { signal.Reset(sig) }
