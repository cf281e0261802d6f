package worktree

import "github.com/sluicegit/sluice/gitcompat/lockfile"

// errnoText is C's text for the system error in err.
func errnoText(err error) string { return lockfile.Strerror(err) }
