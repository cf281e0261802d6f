package vfs

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// BootTime returns when this machine booted, by the clock of now.
func BootTime() (time.Time, bool) {
	var up unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return time.Time{}, false
	}
	return time.Now().Add(-time.Duration(up.Nano())), true
}

// Machine returns what tells this boot of this machine, and the process
// namespace of the caller, from all others; "" where the system does not say.
func Machine() (boot, namespace string) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", ""
	}
	namespace, _ = os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(b)), namespace
}

// StartTime returns when process pid started, in the kernel's ticks since boot;
// "" where it does not say.
func StartTime(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses, which may hold blanks.
	_, rest, _ := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
	if f := strings.Fields(rest); len(f) > 19 {
		return f[19]
	}
	return ""
}

// Alive reports whether process pid exists.
func Alive(pid int) bool {
	return !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// LockInode waits for the exclusive advisory lock of the open file f; Close
// gives it back, and so does death.
func (f *File) LockInode() error { return unix.Flock(f.f.fd, unix.LOCK_EX) }
