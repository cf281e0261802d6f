package syncpolicy

// What git is built with on Windows (compat/mingw.h): the base of a core.fsync
// that is set has loose objects in it, an unset core.fsync does not.
const (
	defaultMethod = Batch
	platformBase  = GitDefault | LooseObject
	dirsFlush     = false // a directory can be flushed
)
