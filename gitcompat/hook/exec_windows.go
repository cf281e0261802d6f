package hook

import "io/fs"

func executable(info fs.FileInfo) bool { return !info.IsDir() }
