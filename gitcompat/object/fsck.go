package object

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// Severity is what a Problem does to the check's verdict.
type Severity uint8

// The severities that configuration can ask for, and git's two internal ones:
// fatal errors cannot be demoted, infos are warnings that strict leaves alone.
const (
	Ignore Severity = iota
	Warn
	Error
	sevInfo
	sevFatal
)

// ParseSeverity parses the value of a fsck.<msg-id> setting.
func ParseSeverity(value string) (Severity, error) {
	switch value {
	case "error":
		return Error, nil
	case "warn":
		return Warn, nil
	case "ignore":
		return Ignore, nil
	}
	return Ignore, fmt.Errorf("Unknown fsck message type: '%s'", value)
}

// ParseMsgID finds a message id; in any case, as configuration spells it.
func ParseMsgID(name string) (MsgID, bool) {
	for i := range msgTable {
		if strings.EqualFold(msgTable[i].name, name) {
			return MsgID(i), true
		}
	}
	return 0, false
}

// A Problem is one complaint about one object.
type Problem struct {
	ID       oid.ID
	Type     Type
	Msg      MsgID
	Severity Severity // Warn or Error
	Text     string   // git's: "nullSha1: contains entries pointing to null sha1"
	Note     error    // what git prints as an error of its own before it; nil for nothing
}

// String returns the complaint in fsck's words.
func (p Problem) String() string { return fmt.Sprintf("object %s: %s", p.ID, p.Text) }

// A Fsck checks objects. Its zero value checks SHA-1 objects as `git fsck` does;
// Check fills it with what Finish has to look at.
type Fsck struct {
	Algo     oid.Algo
	Strict   bool // warnings are errors, and old modes are reported
	Pedantic bool // each Problem, even a warning, ends the check of its object (hash-object)
	// EachConfig calls fn for each variable, such as submodule.name.url, of a
	// configuration file: the parser of package config, which is above this one.
	// Without it .gitmodules is not read.
	EachConfig func(data []byte, fn func(key, value string, valueless bool)) error

	severities  *[numMsgs]Severity
	skip        map[oid.ID]bool
	maxName     int
	modules     map[oid.ID]bool // blob found at .gitmodules -> checked
	attributes  map[oid.ID]bool
	id          oid.ID
	typ         Type
	problems    []Problem
	skipCurrent bool
}

func (f *Fsck) severity(m MsgID) Severity {
	if f.severities != nil {
		return f.severities[m]
	}
	if s := msgTable[m].severity; s != Warn || !f.Strict {
		return s
	}
	return Error
}

// SetSeverity makes m what s says; set Strict first.
func (f *Fsck) SetSeverity(m MsgID, s Severity) {
	if f.severities == nil {
		all := new([numMsgs]Severity)
		for i := range all {
			all[i] = f.severity(MsgID(i))
		}
		f.severities = all
	}
	f.severities[m] = s
}

// SetType applies one fsck.<msg-id> setting.
func (f *Fsck) SetType(msg, value string) error {
	m, ok := ParseMsgID(msg)
	if !ok {
		return fmt.Errorf("Unhandled message id: %s", msg)
	}
	if m == MsgLargePathname {
		if sev, size, ok := strings.Cut(value, ":"); ok {
			n, err := strconv.Atoi(size)
			if err != nil || n < 0 {
				return fmt.Errorf("unable to parse max tree entry len: %s", size)
			}
			f.maxName, value = n, sev
		}
	}
	s, err := ParseSeverity(value)
	if err != nil {
		return err
	}
	if s != Error && msgTable[m].severity == sevFatal {
		return fmt.Errorf("Cannot demote %s to %s", msg, value)
	}
	f.SetSeverity(m, s)
	return nil
}

// SetTypes applies a list as `index-pack --strict=<list>` takes it: settings and
// skiplist=<path>, separated by spaces, commas or bars.
func (f *Fsck) SetTypes(values string) error {
	for item := range strings.FieldsFuncSeq(values, func(r rune) bool { return r == ' ' || r == ',' || r == '|' }) {
		at := strings.IndexAny(item, "=:")
		name := item
		if at >= 0 {
			name = item[:at]
		}
		name = strings.ToLower(name)
		switch {
		case name == "skiplist" && at < 0:
			return fmt.Errorf("skiplist requires a path")
		case name == "skiplist":
			if err := f.ReadSkipList(item[at+1:]); err != nil {
				return err
			}
		case at < 0:
			return fmt.Errorf("Missing '=': '%s'", item)
		default:
			if err := f.SetType(name, item[at+1:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadSkipList adds the objects that a file lists to those that are not checked.
func (f *Fsck) ReadSkipList(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("could not open object name list: %s", path)
	}
	defer file.Close()
	if f.skip == nil {
		f.skip = map[oid.ID]bool{}
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		id, err := f.Algo.FromHex(line)
		if err != nil {
			return fmt.Errorf("invalid object name: %s", line)
		}
		f.skip[id] = true
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("Could not read '%s'", path)
	}
	return nil
}

// Check checks one object. Blobs are looked at only when a tree that was checked
// before calls them .gitmodules or .gitattributes; nil data means one that is too
// big to be read.
func (f *Fsck) Check(id oid.ID, typ Type, data []byte) []Problem {
	f.id, f.typ, f.problems, f.skipCurrent = id, typ, nil, f.skip[id]
	switch typ {
	case Blob:
		f.checkBlob(data)
	case Tree:
		f.checkTree(data)
	case Commit:
		f.checkCommit(data)
	case Tag:
		f.checkTag(data)
	default:
		f.report(MsgUnknownType, "unknown type '%d' (internal fsck error)", typ)
	}
	return f.problems
}

// report records a Problem and says whether the check must stop at it.
func (f *Fsck) report(m MsgID, format string, args ...any) (stop bool) {
	if f.skipCurrent {
		return false
	}
	s := f.severity(m)
	switch s {
	case Ignore:
		return false
	case sevFatal:
		s = Error
	case sevInfo:
		s = Warn
	}
	f.problems = append(f.problems, Problem{ID: f.id, Type: f.typ, Msg: m, Severity: s, Text: m.String() + ": " + fmt.Sprintf(format, args...)})
	return s == Error || f.Pedantic
}

// HasQueued reports whether trees named special blobs that were not checked yet.
func (f *Fsck) HasQueued() bool {
	for _, set := range []map[oid.ID]bool{f.modules, f.attributes} {
		for _, done := range set {
			if !done {
				return true
			}
		}
	}
	return false
}

// Finish checks the special blobs that Check has not met, reading them with read,
// whose error means that the blob is missing.
func (f *Fsck) Finish(read func(oid.ID) (Type, []byte, error)) []Problem {
	var all []Problem
	finish := func(set map[oid.ID]bool, missing, notBlob MsgID, file string) {
		for id, done := range set {
			if done {
				continue
			}
			f.id, f.typ, f.problems, f.skipCurrent = id, Blob, nil, f.skip[id]
			typ, data, err := read(id)
			switch {
			case err != nil:
				f.report(missing, "unable to read %s blob", file)
			case typ != Blob:
				f.typ = typ
				f.report(notBlob, "non-blob found at %s", file)
			default:
				f.checkBlob(data)
			}
			all = append(all, f.problems...)
		}
	}
	finish(f.modules, MsgGitmodulesMissing, MsgGitmodulesBlob, ".gitmodules")
	finish(f.attributes, MsgGitattributesMissing, MsgGitattributesBlob, ".gitattributes")
	f.modules, f.attributes = nil, nil
	return all
}

func found(set *map[oid.ID]bool, id oid.ID) {
	if *set == nil {
		*set = map[oid.ID]bool{}
	}
	if !(*set)[id] {
		(*set)[id] = false
	}
}
