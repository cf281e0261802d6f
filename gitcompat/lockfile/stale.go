package lockfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// An owner is what the side file of a lock says of the process that took it.
type owner struct {
	pid                   int
	host, boot, ns, start string
}

func ownerPath(path string) string { return path + "~pid.lock" }

// writeOwner writes the side file of path.lock, for messages, git's among them.
// git wants "pid <n>" and nothing after it; a NUL ends what it reads, and what
// sluice adds comes after that. Nothing depends on the file: what may be taken
// away is decided by books.
func (l *Locker) writeOwner(path string) bool {
	// The lock is ours, so a side file that is there is nobody's.
	f, err := l.FS.OpenFile(ownerPath(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return false
	}
	l.FS.Temp(ownerPath(path), false)
	_, err = f.Write([]byte(ownerText()))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		l.FS.Remove(ownerPath(path))
		l.FS.Keep(ownerPath(path))
	}
	return err == nil
}

func ownerText() string {
	host, _ := os.Hostname()
	boot, ns := vfs.Machine()
	pid := os.Getpid()
	return fmt.Sprintf("pid %d\x00\nhost %s\nboot %s\nns %s\nstart %s\n", pid, host, boot, ns, vfs.StartTime(pid))
}

// maxOwner bounds how much of a side file is read.
const maxOwner = 4096

func readOwner(path string) (owner, bool) {
	f, err := os.Open(ownerPath(path))
	if err != nil {
		return owner{}, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxOwner))
	if err != nil {
		return owner{}, false
	}
	o := parseOwner(string(b))
	return o, o.pid > 0
}

func parseOwner(text string) (o owner) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == 0 }) {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "pid":
			o.pid, _ = strconv.Atoi(value)
		case "host":
			o.host = value
		case "boot":
			o.boot = value
		case "ns":
			o.ns = value
		case "start":
			o.start = value
		}
	}
	return o
}

// dead reports whether the process that o describes provably no longer runs on
// this machine.
func (o owner) dead() bool {
	host, _ := os.Hostname()
	boot, ns := vfs.Machine()
	if o.boot == "" || boot == "" || o.host != host {
		return false
	}
	if o.boot != boot {
		return true
	}
	if o.ns != ns {
		return false // a process of another container
	}
	if !vfs.Alive(o.pid) {
		return true
	}
	start := vfs.StartTime(o.pid)
	return o.start != "" && start != "" && start != o.start // the number was given to another process
}

// staleReason says why nobody can hold path.lock any more; "" if somebody may.
func (l *Locker) staleReason(path string) string {
	if book := l.deadBookOf(path); book != nil {
		return fmt.Sprintf("its owner, process %d, is dead", book.owner.pid)
	}
	if olderThanBoot(path + ".lock") {
		return "it is older than this boot"
	}
	return ""
}

// olderThanBoot reports whether the file at path was last written before this
// machine booted, on a file system that no other machine writes.
func olderThanBoot(path string) bool {
	boot, ok := vfs.BootTime()
	if !ok {
		return false
	}
	st, err := os.Lstat(path)
	// A second's grace for coarse time stamps.
	if err != nil || !st.Mode().IsRegular() || !st.ModTime().Before(boot.Add(-time.Second)) {
		return false
	}
	switch vfs.Detect(path).Type {
	case "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "overlay":
		return true
	}
	return false
}

// reclaim removes path.lock if nobody can hold it any more, with the other locks
// of the same dead transaction, and reports whether it is worth trying again.
func (l *Locker) reclaim(path string) bool {
	if l.KeepStale {
		return false
	}
	book := l.deadBookOf(path)
	again := l.take(path)
	if again && book != nil {
		l.clear(book)
	}
	return again
}

// take removes path.lock if nobody can hold it any more. The lock's own inode
// is locked around check and removal, so that of two who find the same stale
// lock the second cannot remove the lock that the first has taken since.
func (l *Locker) take(path string) bool {
	if l.staleReason(path) == "" {
		return false
	}
	lock := path + ".lock"
	f, err := l.FS.OpenFile(lock, os.O_RDONLY, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if err := f.LockInode(); err != nil {
		return false
	}
	reason := l.staleReason(path)
	opened, err := f.Stat()
	if err != nil || reason == "" {
		return false
	}
	now, err := os.Lstat(lock)
	if err != nil || !os.SameFile(opened, now) {
		return true
	}
	if err := l.FS.Remove(lock); err != nil {
		return false
	}
	l.FS.Remove(ownerPath(path))
	if l.Warn != nil {
		l.Warn("removed stale lock '" + lock + "': " + reason)
	}
	return true
}

// Abandoned reports whether the temporary file at path, which only the holder
// of a lock may have, is left from a process that died: whoever now holds that
// lock may remove it. It is false where sluice.staleLocks says so.
func (l *Locker) Abandoned(path string) bool {
	if l.KeepStale {
		return false
	}
	_, err := os.Lstat(path)
	return err == nil
}

// A HeldError says that somebody has the lock.
type HeldError struct {
	LockPath string
	PID      int // 0 if unknown
	Host     string
	Age      time.Duration // since the lock was taken; 0 if unknown
	Dead     bool          // the owner does not run any more
}

func (l *Locker) held(path string) *HeldError {
	e := &HeldError{LockPath: path + ".lock"}
	if st, err := os.Lstat(e.LockPath); err == nil {
		e.Age = time.Since(st.ModTime())
	}
	if o, ok := readOwner(path); ok {
		e.PID, e.Host = o.pid, o.host
		host, _ := os.Hostname()
		e.Dead = (o.host == "" || o.host == host) && !vfs.Alive(o.pid)
	}
	return e
}

// Error is git's message, with what is known of the owner.
func (e *HeldError) Error() string {
	text := "Unable to create '" + e.LockPath + "': File exists.\n\n"
	switch {
	case e.PID == 0:
		return text + "Another git process seems to be running in this repository, or the lock file may be stale"
	case e.Dead:
		return text + fmt.Sprintf("Lock was held by process %d%s, which is no longer running; the lock file appears to be stale", e.PID, e.on())
	}
	return text + fmt.Sprintf("Lock may be held by process %d%s; if no git process is running, the lock file may be stale (PIDs can be reused)", e.PID, e.on())
}

// on says on which host and for how long, where that is known.
func (e *HeldError) on() string {
	var s string
	if e.Host != "" {
		s = " on host " + e.Host
	}
	if e.Age > 0 {
		s += fmt.Sprintf(" since %s", e.Age.Round(time.Second))
	}
	return s
}

// Is makes a HeldError an fs.ErrExist.
func (e *HeldError) Is(target error) bool { return target == fs.ErrExist }
