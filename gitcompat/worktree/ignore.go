package worktree

import (
	"fmt"
	"strings"
	"sync"
)

const ignoreMaxFile = 100 << 20

// IgnoreSources say what ignore patterns come from.
type IgnoreSources struct {
	Root   string   // the working tree, absolute
	PerDir string   // name of the file read in each directory, usually ".gitignore"; may be ""
	Files  []string // core.excludesFile, then info/exclude: the last wins
	// Names are what messages call Files, if not the same.
	Names []string
	// Blob reads a PerDir file from the index where the working tree lacks
	// it, as it does in a sparse checkout; may be nil.
	Blob       func(path string) ([]byte, bool)
	IgnoreCase bool
	Report     func(line string) // takes a whole line for stderr; may be nil
}

// Ignore answers whether paths are ignored. It is safe for concurrent use once
// AddLine and AddFile are done.
type Ignore struct {
	src   IgnoreSources
	lines []Pattern // given on the command line; they win
	files []ignoreList

	mu   sync.Mutex
	dirs map[string]*ignoreDir
	said sync.Mutex // one message at a time
}

type ignoreList []Pattern

// ignoreDir is what holds for the entries of one directory.
type ignoreDir struct {
	once     sync.Once
	parent   *ignoreDir
	list     ignoreList
	excluded *Pattern // the directory itself is ignored, by this
}

// NewIgnore reads the files of src that are not per directory.
func NewIgnore(src IgnoreSources) *Ignore {
	ig := &Ignore{src: src, dirs: map[string]*ignoreDir{}}
	for i, f := range src.Files {
		name := f
		if i < len(src.Names) {
			name = src.Names[i]
		}
		if l := ig.readFile(f, "", name, 0); l != nil {
			ig.files = append(ig.files, l)
		}
	}
	return ig
}

// AddLine adds a pattern of the command line (ls-files --exclude).
func (ig *Ignore) AddLine(pattern string) {
	ig.lines = append(ig.lines, newPattern(pattern, "", "--exclude option", len(ig.lines)+1))
}

// AddFile adds the patterns of a file (ls-files --exclude-from).
func (ig *Ignore) AddFile(path, name string) error {
	data, err := readPatternFile(path, 0, ignoreMaxFile)
	if err != nil {
		return fmt.Errorf("cannot use %s as an exclude file", name)
	}
	ig.files = append(ig.files, parseIgnore(data, "", name))
	return nil
}

// Ignored reports whether path is ignored, itself or by a directory above.
func (ig *Ignore) Ignored(path string, isDir bool) bool {
	p := ig.Decide(path, isDir)
	return p != nil && !p.Negative
}

// Decide returns the pattern that decides on path, or nil if none does. One
// that ignores a directory above decides on everything in it.
func (ig *Ignore) Decide(path string, isDir bool) *Pattern {
	path = strings.TrimSuffix(path, "/")
	base := baseOf(path)
	return ig.decideIn(ig.dir(path[:base]), path, base, isDir)
}

func (ig *Ignore) decideIn(d *ignoreDir, path string, base int, isDir bool) *Pattern {
	if d.excluded != nil {
		return d.excluded
	}
	return ig.lastMatch(d, path, base, isDir)
}

// lastMatch finds the last pattern of the first list that has one.
func (ig *Ignore) lastMatch(d *ignoreDir, path string, base int, isDir bool) *Pattern {
	if p := ig.matchList(ig.lines, path, base, isDir); p != nil {
		return p
	}
	for ; d != nil; d = d.parent {
		if p := ig.matchList(d.list, path, base, isDir); p != nil {
			return p
		}
	}
	for i := len(ig.files) - 1; i >= 0; i-- {
		if p := ig.matchList(ig.files[i], path, base, isDir); p != nil {
			return p
		}
	}
	return nil
}

func (ig *Ignore) matchList(l ignoreList, path string, base int, isDir bool) *Pattern {
	for i := len(l) - 1; i >= 0; i-- {
		p := &l[i]
		if (!p.DirOnly || isDir) && p.match(path, base, ig.src.IgnoreCase) {
			return p
		}
	}
	return nil
}

// dir is what holds inside dir, "" or ending in "/".
func (ig *Ignore) dir(dir string) *ignoreDir {
	ig.mu.Lock()
	d := ig.dirs[dir]
	if d == nil {
		d = &ignoreDir{}
		ig.dirs[dir] = d
	}
	ig.mu.Unlock()
	d.once.Do(func() { ig.fill(d, dir) })
	return d
}

func (ig *Ignore) fill(d *ignoreDir, dir string) {
	if dir == "" {
		d.list = ig.readDir("")
		return
	}
	base := baseOf(dir)
	d.parent = ig.dir(dir[:base])
	if d.excluded = d.parent.excluded; d.excluded != nil {
		return
	}
	if p := ig.lastMatch(d.parent, dir[:len(dir)-1], base, true); p != nil && !p.Negative {
		d.excluded = p
		return
	}
	d.list = ig.readDir(dir)
}

func (ig *Ignore) readDir(dir string) ignoreList {
	if ig.src.PerDir == "" {
		return nil
	}
	name := dir + ig.src.PerDir
	if l := ig.readFile(ig.src.Root+"/"+name, dir, name, noFollow); l != nil {
		return l
	}
	if ig.src.Blob != nil {
		if data, ok := ig.src.Blob(name); ok {
			return parseIgnore(data, dir, name)
		}
	}
	return nil
}

// readFile returns nil if the file can't be read.
func (ig *Ignore) readFile(path, base, name string, flags int) ignoreList {
	data, err := readPatternFile(path, flags, ignoreMaxFile)
	if err != nil {
		w := accessWarning(name, err)
		if err == errTooLarge {
			w = "warning: ignoring excessively large pattern file: " + name
		}
		if w != "" && ig.src.Report != nil {
			ig.said.Lock()
			defer ig.said.Unlock()
			ig.src.Report(w)
		}
		return nil
	}
	return parseIgnore(data, base, name)
}

func parseIgnore(data []byte, base, source string) ignoreList {
	l := ignoreList{}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for n := 1; text != ""; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		line = strings.TrimSuffix(line, "\r")
		// A NUL ends the line: git's patterns are C strings.
		if i := strings.IndexByte(line, 0); i >= 0 {
			line = line[:i]
		}
		l = append(l, newPattern(trimSpaces(line), base, source, n))
	}
	return l
}

// trimSpaces drops the spaces at the end that no backslash protects.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(s) {
				return s
			}
		}
		end = i + 1
	}
	return s[:end]
}
