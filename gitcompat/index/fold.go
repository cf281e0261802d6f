package index

import "strings"

// foldName is how core.ignoreCase compares names: ASCII letters only.
func foldName(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; 'A' <= c && c <= 'Z' {
			return strings.Map(func(r rune) rune {
				if 'A' <= r && r <= 'Z' {
					return r + 'a' - 'A'
				}
				return r
			}, name)
		}
	}
	return name
}

// FindFold returns an entry whose name is that of name but for the case of its letters, or nil.
func (x *Index) FindFold(name string) *Entry {
	x.startFold()
	return x.fold[foldName(name)]
}

// FoldDir returns the spelling that the index has for the directories above
// name, whatever their case in name, followed by the last part of name
// (adjust_dirname_case).
func (x *Index) FoldDir(name string) string {
	x.startFold()
	for end := len(name); ; {
		end = strings.LastIndexByte(name[:end], '/')
		if end < 0 {
			return name
		}
		if dir, ok := x.foldDirs[foldName(name[:end])]; ok {
			return dir + name[end:]
		}
	}
}

func (x *Index) startFold() {
	if x.fold != nil {
		return
	}
	x.fold, x.foldDirs = make(map[string]*Entry, len(x.Entries)), make(map[string]string)
	for _, e := range x.Entries {
		x.refold(e)
	}
}

func (x *Index) refold(e *Entry) {
	if x.fold == nil {
		return
	}
	x.fold[foldName(e.Name)] = e
	for end := strings.LastIndexByte(e.Name, '/'); end > 0; end = strings.LastIndexByte(e.Name[:end], '/') {
		key := foldName(e.Name[:end])
		if _, known := x.foldDirs[key]; known {
			break
		}
		x.foldDirs[key] = e.Name[:end]
	}
}

func (x *Index) unfold(e *Entry) {
	if x.fold != nil && x.fold[foldName(e.Name)] == e {
		// Rebuilt on the next use: another entry may fold to the same name, and directories may be gone.
		x.fold, x.foldDirs = nil, nil
	}
}
