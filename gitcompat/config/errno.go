package config

import "github.com/sluicegit/sluice/gitcompat/lockfile"

// errnoText returns C's text of the system error in err.
func errnoText(err error) string { return lockfile.Strerror(err) }
