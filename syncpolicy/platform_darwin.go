package syncpolicy

// What git is built with on macOS (compat/darwin, FSYNC_METHOD_DEFAULT).
const (
	defaultMethod = WriteoutOnly
	platformBase  = GitDefault
	dirsFlush     = true // a directory can be flushed
)
