package object

import (
	"runtime"
	"unicode/utf8"
)

// Names that some file system takes for .git or one of its companions: HFS+
// ignores some code points and case; NTFS ignores trailing dots, spaces and what
// follows a colon, and has short names.

// IsHFSDotgit reports whether HFS+ takes the first component of path for ".git".
func IsHFSDotgit(path string) bool { return isHFSDot(path, "git") }

// IsNTFSDotgit reports whether NTFS takes the first component of name for ".git".
func IsNTFSDotgit(name string) bool {
	var rest string
	switch {
	case hasFold(name, ".git"):
		rest = name[4:]
	case hasFold(name, "git~1"):
		rest = name[5:]
	default:
		return false
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '/', '\\', ':', 0:
			return true
		case '.', ' ':
		default:
			return false
		}
	}
	return true
}

// IsDotgit reports whether any file system takes name for ".git".
func IsDotgit(name string) bool { return IsHFSDotgit(name) || IsNTFSDotgit(name) }

// IsDotGitmodules, IsDotGitattributes, IsDotGitignore and IsDotMailmap do the same
// for the files that git reads from a tree.
func IsDotGitmodules(name string) bool {
	return isHFSDot(name, "gitmodules") || isNTFSDot(name, "gitmodules", "gi7eba")
}

// IsDotGitattributes: see IsDotGitmodules.
func IsDotGitattributes(name string) bool {
	return isHFSDot(name, "gitattributes") || isNTFSDot(name, "gitattributes", "gi7d29")
}

// IsDotGitignore: see IsDotGitmodules.
func IsDotGitignore(name string) bool {
	return isHFSDot(name, "gitignore") || isNTFSDot(name, "gitignore", "gi250a")
}

// IsDotMailmap: see IsDotGitmodules.
func IsDotMailmap(name string) bool {
	return isHFSDot(name, "mailmap") || isNTFSDot(name, "mailmap", "maba30")
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// hasFold reports whether s starts with prefix, which is in lower case.
func hasFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}

func isDirSep(c byte) bool { return c == '/' || c == '\\' && runtime.GOOS == "windows" }

// nextHFS returns the next code point that HFS+ does not ignore; 0 at the end and
// at what is not UTF-8.
func nextHFS(s string) (rune, string) {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n <= 1 {
			return 0, ""
		}
		s = s[n:]
		switch {
		case 0x200c <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x206a <= r && r <= 0x206f, r == 0xfeff:
		default:
			return r, s
		}
	}
	return 0, ""
}

func isHFSDot(path, needle string) bool {
	if len(path) < len(needle)+1 || path[0] != '.' && path[0] < utf8.RuneSelf {
		return false
	}
	r, path := nextHFS(path)
	if r != '.' {
		return false
	}
	for i := range len(needle) {
		if r, path = nextHFS(path); r > 127 || lower(byte(r)) != needle[i] {
			return false
		}
	}
	r, _ = nextHFS(path)
	return r == 0 || r < 128 && isDirSep(byte(r))
}

// isNTFSDot knows ".name", the short name "name6~1" to "name6~4", and the
// fall-back short name that starts with a hash of the long one.
func isNTFSDot(name, long, short string) bool {
	if len(name) > 0 && name[0] == '.' && hasFold(name[1:], long) {
		return onlySpacesAndPeriods(name[1+len(long):])
	}
	if len(name) < 8 {
		return false
	}
	if hasFold(name, long[:6]) && name[6] == '~' && '1' <= name[7] && name[7] <= '4' {
		return onlySpacesAndPeriods(name[8:])
	}
	tilde, i := false, 0
	for ; i < 8; i++ {
		c := name[i]
		switch {
		case tilde:
			if c < '0' || c > '9' {
				return false
			}
		case c == '~':
			i++
			if i >= len(name) || name[i] < '1' || name[i] > '9' {
				return false
			}
			tilde = true
		case i >= 6 || lower(c) != short[i]:
			return false
		}
	}
	return onlySpacesAndPeriods(name[i:])
}

func onlySpacesAndPeriods(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ':':
			return true
		case ' ', '.':
		default:
			return false
		}
	}
	return true
}

// VerifyPath reports whether an index may hold path with mode: no component is
// empty, ".", ".." or, on any of the protected file systems, ".git"; a symbolic
// link is not .gitmodules either. A directory may end in a slash.
func VerifyPath(path string, mode uint32, protectHFS, protectNTFS bool) bool {
	if path == "" {
		return false
	}
	if runtime.GOOS == "windows" && len(path) > 1 && path[1] == ':' {
		return false
	}
	link := IsSymlink(mode)
	for start := 0; ; {
		rest := path[start:]
		if protectHFS && (IsHFSDotgit(rest) || link && isHFSDot(rest, "gitmodules")) {
			return false
		}
		if protectNTFS && ntfsForbids(rest, link) {
			return false
		}
		end := 0
		for end < len(rest) && !isDirSep(rest[end]) {
			if rest[end] == '\\' && protectNTFS && ntfsForbids(rest[end+1:], link) {
				return false
			}
			end++
		}
		if !verifyComponent(rest[:end], link) {
			return false
		}
		if end == len(rest) {
			return true
		}
		start += end + 1
		if start == len(path) {
			return IsTree(mode)
		}
	}
}

func ntfsForbids(rest string, link bool) bool {
	if IsNTFSDotgit(rest) {
		return true
	}
	return link && isNTFSDot(rest, "gitmodules", "gi7eba")
}

func verifyComponent(name string, link bool) bool {
	switch {
	case name == "", name == ".", name == "..":
		return false
	case len(name) == 4 && hasFold(name, ".git"):
		return false
	case link && len(name) == len(".gitmodules") && hasFold(name, ".gitmodules"):
		return false
	}
	return true
}
