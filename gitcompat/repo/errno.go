package repo

import "github.com/sluicegit/sluice/gitcompat/lockfile"

func errnoText(err error) string { return lockfile.Strerror(err) }
