package odb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxAlternateDepth is how deep alternates may have alternates (git's MAX of 5).
const maxAlternateDepth = 5

// SplitAlternates splits the value of GIT_ALTERNATE_OBJECT_DIRECTORIES.
func SplitAlternates(value string) []string {
	return parseAlternates(value, os.PathListSeparator)
}

// parseAlternates cuts text at sep; entries may be C-quoted, those that start
// with # are comments.
func parseAlternates(text string, sep byte) []string {
	var paths []string
	for text != "" {
		if text[0] == '"' {
			if path, n, ok := unquote(text); ok {
				text = text[n:]
				if text != "" {
					text = text[1:]
				}
				if path != "" {
					paths = append(paths, path)
				}
				continue
			}
		}
		var entry string
		entry, text, _ = strings.Cut(text, string(sep))
		if entry != "" && entry[0] != '#' {
			paths = append(paths, entry)
		}
	}
	return paths
}

// unquote undoes C quoting at the start of s and returns how much of s it was.
func unquote(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), i + 1, true
		case '\\':
			i++
			if i == len(s) {
				return "", 0, false
			}
			if at := strings.IndexByte(`abtnvfr"\`, s[i]); at >= 0 {
				b.WriteByte("\a\b\t\n\v\f\r\"\\"[at])
				continue
			}
			if i+2 >= len(s) || !octal(s[i], '3') || !octal(s[i+1], '7') || !octal(s[i+2], '7') {
				return "", 0, false
			}
			b.WriteByte((s[i]-'0')<<6 | (s[i+1]-'0')<<3 | (s[i+2] - '0'))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, false
}

func octal(c, most byte) bool { return '0' <= c && c <= most }

// QuoteAlternate is a folder as an entry of GIT_ALTERNATE_OBJECT_DIRECTORIES.
func QuoteAlternate(dir string) string {
	if dir == "" || dir[0] != '"' && strings.IndexByte(dir, os.PathListSeparator) < 0 {
		return dir
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(dir) {
		switch c := dir[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (db *DB) loadAlternates() {
	seen := map[string]bool{realpath(db.own.dir): true}
	db.addAlternates(db.opts.Alternates, "", 0, seen)
	db.addAlternates(readAlternates(db.own.dir), db.own.dir, 0, seen)
}

func readAlternates(dir string) []string {
	data, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if err != nil {
		return nil
	}
	return parseAlternates(string(data), '\n')
}

// addAlternates adds the folders paths, which are relative to base, and theirs.
func (db *DB) addAlternates(paths []string, base string, depth int, seen map[string]bool) {
	for _, path := range paths {
		if !filepath.IsAbs(path) && base != "" {
			path = filepath.Join(realpath(base), path)
		}
		dir := realpath(path)
		if dir == "" {
			db.report(fmt.Errorf("unable to normalize alternate object path: %s", path))
			continue
		}
		if !isDir(dir) {
			db.report(fmt.Errorf("object directory %s does not exist; check .git/objects/info/alternates", dir))
			continue
		}
		if seen[dir] {
			continue
		}
		seen[dir] = true
		db.alts = append(db.alts, &store{db: db, dir: dir})
		more := readAlternates(dir)
		if len(more) > 0 && depth+1 > maxAlternateDepth {
			db.report(fmt.Errorf("%s: ignoring alternate object stores, nesting too deep", dir))
			continue
		}
		db.addAlternates(more, dir, depth+1, seen)
	}
}

// realpath resolves symbolic links; the last component need not exist. "" if
// what is before it does not.
func realpath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	return filepath.Join(dir, filepath.Base(path))
}

// Alternates returns the folders that objects are borrowed from.
func (db *DB) Alternates() []string {
	db.altOnce.Do(db.loadAlternates)
	var dirs []string
	for _, s := range db.alts {
		dirs = append(dirs, s.dir)
	}
	return dirs
}
