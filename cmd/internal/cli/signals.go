package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSignals removes the temporaries when a signal ends the process, and
// raises the signal again, so that the parent sees what happened. SIGPIPE is
// left to the runtime, which does the right thing for standard output.
func (p *process) watchSignals() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		sig := <-c
		p.env.FS.Cleanup()
		p.env.Trace.Signal(int(sig.(syscall.Signal)))
		raise(sig.(syscall.Signal))
	}()
}
