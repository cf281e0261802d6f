// Package config reads and writes git's configuration files.
//
// Source: git-config(1), config.c and parse.c of git 2.55.
//
// Invariants:
//
//	C1  a file is read in one pass; every value knows its file, line and scope.
//	C2  entries stand in the order in which git reads them, included ones right after the
//	    include; the last value of a key wins.
//	C3  keys are canonical: section and variable name in lower case, subsection as written.
//	C4  a rewrite copies every byte outside the changed lines, and goes through
//	    "<file>.lock" and the barrier: readers see the old file or the new.
//	C5  nothing is read or written relative to the directory of the process.
package config

import "strings"

// A Scope says which of git's places a value comes from.
type Scope uint8

// The scopes, in the order in which git reads them.
const (
	ScopeUnknown Scope = iota
	ScopeSystem
	ScopeGlobal
	ScopeLocal
	ScopeWorktree
	ScopeCommand
)

// String returns the name that "git config --show-scope" prints.
func (s Scope) String() string {
	switch s {
	case ScopeSystem:
		return "system"
	case ScopeGlobal:
		return "global"
	case ScopeLocal:
		return "local"
	case ScopeWorktree:
		return "worktree"
	case ScopeCommand:
		return "command"
	}
	return "unknown"
}

// An OriginKind says what kind of thing held a value.
type OriginKind uint8

// The kinds of origin.
const (
	OriginFile OriginKind = iota
	OriginStdin
	OriginBlob
	OriginCommandLine
)

// An Origin is the place of some values.
type Origin struct {
	Kind  OriginKind
	Name  string // the file as git names it, or the blob
	Path  string // of a file: its absolute path
	Scope Scope
}

// String returns what "git config --show-origin" prints.
func (o *Origin) String() string {
	switch o.Kind {
	case OriginStdin:
		return "standard input:"
	case OriginBlob:
		return "blob:" + o.Name
	case OriginCommandLine:
		return "command line:"
	}
	return "file:" + o.Name
}

// in names the origin in a message, after a blank; "" for the command line.
func (o *Origin) in() string {
	switch o.Kind {
	case OriginStdin:
		return " in standard input"
	case OriginBlob:
		return " in blob " + o.Name
	case OriginCommandLine:
		return ""
	}
	return " in file " + o.Name
}

// An Entry is one value.
type Entry struct {
	Key      string // canonical (C3)
	Value    string
	HasValue bool // false for a key without "=", which as a boolean is true
	Origin   *Origin
	Line     int
}

// An Error is git's message, with the lines that git prints before it.
type Error struct {
	Notes []string // complete lines for the standard error, printed first: "error: ..."
	Msg   string
}

func (e *Error) Error() string { return e.Msg }

// Before returns the lines that belong before the message.
func (e *Error) Before() []string { return e.Notes }

// fail wraps err, whose text becomes an "error:" line before msg.
func fail(err error, msg string) *Error {
	out := &Error{Msg: msg}
	if err == nil {
		return out
	}
	if ce, ok := err.(*Error); ok {
		out.Notes = append(out.Notes, ce.Notes...)
	}
	if text := err.Error(); text != "" {
		out.Notes = append(out.Notes, "error: "+text)
	}
	return out
}

// SplitKey cuts a canonical key into section, subsection and variable name.
// hasSub is false where the key has no subsection.
func SplitKey(key string) (section, sub string, hasSub bool, name string) {
	first := strings.IndexByte(key, '.')
	if first < 0 {
		return "", "", false, key
	}
	last := strings.LastIndexByte(key, '.')
	if first == last {
		return key[:first], "", false, key[first+1:]
	}
	return key[:first], key[first+1 : last], true, key[last+1:]
}
