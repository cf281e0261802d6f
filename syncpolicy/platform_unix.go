//go:build !windows && !darwin

package syncpolicy

// What git is built with here (git's compat headers).
const (
	defaultMethod = Fsync
	platformBase  = GitDefault
	dirsFlush     = true // a directory can be flushed
)
