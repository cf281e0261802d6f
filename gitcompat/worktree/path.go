package worktree

import (
	"path/filepath"
	"strings"
)

// RelativePath makes path, which is absolute or relative to prefix, relative
// to root. kept is how much of prefix is left at the start of rel. ok is
// false if path is outside. A trailing slash stays.
func RelativePath(root, prefix, path string, fold bool) (rel string, kept int, ok bool) {
	if strings.HasPrefix(path, "/") {
		abs, _, ok := normalize(path[1:], 0)
		if !ok {
			return "", 0, false
		}
		rel, ok = insideRoot(root, "/"+abs, fold)
		return rel, 0, ok
	}
	return normalize(prefix+path, len(prefix))
}

// normalize resolves ".", ".." and repeated slashes by text alone. prefix
// shrinks when ".." climbs into it.
func normalize(path string, prefix int) (string, int, bool) {
	if !needsNormalize(path) {
		return path, prefix, true
	}
	out := make([]byte, 0, len(path))
	for path != "" {
		part, rest, slash := strings.Cut(path, "/")
		path = rest
		switch part {
		case "", ".":
			continue
		case "..":
			if len(out) == 0 {
				return "", 0, false
			}
			end := len(out)
			if out[end-1] == '/' {
				end--
			}
			for end > 0 && out[end-1] != '/' {
				end--
			}
			out = out[:end]
			prefix = min(prefix, end)
			continue
		}
		out = append(out, part...)
		if slash {
			out = append(out, '/')
		}
	}
	return string(out), min(prefix, len(out)), true
}

func needsNormalize(path string) bool {
	for i := 0; i < len(path); i++ {
		if (i == 0 || path[i-1] == '/') && (path[i] == '/' || path[i] == '.') {
			return true
		}
	}
	return false
}

// insideRoot strips root from the absolute path, also if path reaches it
// through a symbolic link.
func insideRoot(root, path string, fold bool) (string, bool) {
	at := 0
	if len(path) >= len(root) && pathEqual(path[:len(root)], root, fold) {
		rest := path[len(root):]
		switch {
		case rest == "":
			return "", true
		case rest[0] == '/':
			return rest[1:], true
		case strings.HasSuffix(root, "/"):
			return rest, true
		}
		at = len(root)
	}
	for at < len(path) {
		i := strings.IndexByte(path[at+1:], '/')
		end := len(path)
		if i >= 0 {
			end = at + 1 + i
		}
		if real, err := filepath.EvalSymlinks(path[:end]); err == nil && pathEqual(real, root, fold) {
			return strings.TrimPrefix(path[end:], "/"), true
		}
		at = end
	}
	return "", false
}
