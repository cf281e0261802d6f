package cli

import (
	"syscall"
	"unsafe"
)

// restoreDefault gives a signal the kernel's default action. The runtime's own
// default is not that: for SIGQUIT it prints stacks and exits.
func restoreDefault(sig syscall.Signal) {
	var action [4]uint64 // struct sigaction: SIG_DFL, no flags, no restorer, an empty mask
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
}
