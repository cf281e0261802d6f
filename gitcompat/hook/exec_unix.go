//go:build unix

package hook

import "io/fs"

func executable(info fs.FileInfo) bool { return !info.IsDir() && info.Mode()&0o111 != 0 }
