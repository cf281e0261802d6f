package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/syncpolicy"
)

// Exit statuses of "git config" for a file that cannot be changed.
const (
	CodeNoLock         = 255
	CodeInvalidFile    = 3
	CodeNoWrite        = 4
	CodeNothingSet     = 5
	CodeInvalidPattern = 6
)

// An EditError says why a file was not changed. Its text, if any, is git's
// "error:" line; Code is the exit status of "git config".
type EditError struct {
	Msg   string
	Code  int
	Notes []string // lines before the message
}

func (e *EditError) Error() string { return e.Msg }

// Before returns the lines that belong before the message.
func (e *EditError) Before() []string { return e.Notes }

// DefaultLockTimeout is core.configLockTimeout where it is not set.
const DefaultLockTimeout = time.Second

// LockTimeout returns core.configLockTimeout.
func (c *Config) LockTimeout() (time.Duration, error) {
	n, err := c.Int("core.configlocktimeout", int(DefaultLockTimeout/time.Millisecond))
	return time.Duration(n) * time.Millisecond, err
}

// An Edit is a rewrite of one file: the lock is held from NewEdit until Stage
// or Rollback, and any number of changes make one new file.
type Edit struct {
	lock    *lockfile.Lock
	name    string // in messages
	content string
	missing bool
	staged  bool // the barrier has the lock
	warn    func(line string)
}

// NewEdit takes the lock of the file path, which messages call name, and reads
// the file. warn takes "warning: ..." lines; it may be nil.
func NewEdit(l *lockfile.Locker, path, name string, timeout time.Duration, warn func(line string)) (*Edit, error) {
	if warn == nil {
		warn = func(string) {}
	}
	lock, err := l.Hold(path, lockfile.Options{Timeout: timeout, PIDFile: true})
	if err != nil {
		return nil, &EditError{Msg: fmt.Sprintf("could not lock config file %s: %s", name, whyNoLock(err)), Code: CodeNoLock}
	}
	e := &Edit{lock: lock, name: name, warn: warn}
	if err := e.read(); err != nil {
		lock.Rollback()
		return nil, err
	}
	return e, nil
}

// whyNoLock is the error in C's words, with what is known of the one who holds
// the lock.
func whyNoLock(err error) string {
	var held *lockfile.HeldError
	if errors.As(err, &held) {
		_, owner, _ := strings.Cut(held.Error(), ": File exists.")
		return "File exists" + owner
	}
	return lockfile.Strerror(err)
}

// read reads the file as it is now, under the lock, and gives the lock its mode.
func (e *Edit) read() error {
	f, err := os.Open(e.lock.Path())
	if errors.Is(err, fs.ErrNotExist) {
		e.missing = true
		return nil
	}
	if err != nil {
		return &EditError{Msg: fmt.Sprintf("opening %s: %s", e.name, errnoText(err)), Code: CodeInvalidFile}
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = syscall.EISDIR
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(e.lock.Path())
	}
	if err != nil {
		e.warn("warning: unable to access '" + e.name + "': " + errnoText(err))
		return &EditError{Msg: "invalid config file " + e.name, Code: CodeInvalidFile}
	}
	e.content = string(data)
	const bits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	if err := e.lock.File().Chmod(info.Mode() & bits); err != nil {
		return &EditError{Msg: fmt.Sprintf("chmod on %s failed: %s", e.lock.LockPath(), errnoText(err)), Code: CodeNoWrite}
	}
	return nil
}

// Rollback ends the edit and leaves the file as it is. It does nothing after Stage.
func (e *Edit) Rollback() {
	if !e.staged {
		e.lock.Rollback()
	}
}

// Stage hands the new content to b, which publishes it.
func (e *Edit) Stage(b *syncpolicy.Barrier) error {
	if _, err := e.lock.Write([]byte(e.content)); err != nil {
		return &EditError{Msg: "failed to write new configuration file " + e.lock.LockPath(), Code: CodeNoWrite}
	}
	e.staged = true
	if err := e.lock.Stage(b, syncpolicy.ConfigFile, syncpolicy.Config); err != nil {
		return &EditError{Msg: fmt.Sprintf("could not write config file %s: %s", e.name, errnoText(err)), Code: CodeNoWrite}
	}
	return nil
}

// A Change sets or removes values of one key.
type Change struct {
	Key     string // as the user wrote it
	Value   string
	Comment string // complete, as PrepareComment returns it; "" for none
	Unset   bool   // remove
	All     bool   // replace or remove all values that match, not just one
	Add     bool   // match no value: add one more
	// Match restricts the change to values for which it holds; nil is any.
	Match func(value string, hasValue bool) bool
}

// PrepareComment brings a comment into the form in which it follows a value.
func PrepareComment(comment string) (string, error) {
	if strings.IndexByte(comment, '\n') >= 0 {
		return "", &Error{Msg: fmt.Sprintf("no multi-line comment allowed: '%s'", comment)}
	}
	rest := strings.TrimLeft(comment, " \t")
	switch {
	case len(rest) < len(comment) && strings.HasPrefix(rest, "#"):
		return comment, nil
	case strings.HasPrefix(comment, "#"):
		return " " + comment, nil
	}
	return " # " + comment, nil
}

// Apply makes one change to the content.
func (e *Edit) Apply(c Change) error {
	canonical, baseLen, err := ParseKey(c.Key)
	if err != nil {
		return err
	}
	if e.missing {
		if c.Unset {
			return &EditError{Code: CodeNothingSet}
		}
		e.content = header(c.Key[:baseLen]) + pair(c.Key[baseLen+1:], c.Value, c.Comment)
		e.missing = false
		return nil
	}
	w := rewriter{src: e.content, change: c, key: canonical, baseLen: baseLen}
	if err := w.scan(e.name, e.warn); err != nil {
		return err
	}
	if len(w.seen) == 0 && c.Unset || len(w.seen) > 1 && !c.All {
		return &EditError{Code: CodeNothingSet}
	}
	e.content = w.rewrite()
	return nil
}

// header returns the header of a section, given its name with a dot before the
// subsection.
func header(name string) string {
	section, sub, ok := strings.Cut(name, ".")
	if !ok {
		return "[" + name + "]\n"
	}
	return "[" + section + " \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + "\"]\n"
}

// pair returns the line of a variable.
func pair(name, value, comment string) string {
	quote := ""
	if value != "" && (value[0] == ' ' || value[len(value)-1] == ' ') || strings.ContainsAny(value, ";#\r") {
		quote = `"`
	}
	escaped := strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`, `\`, `\\`).Replace(value)
	return "\t" + name + " = " + quote + escaped + quote + comment + "\n"
}

// rewriter finds where a change goes, and makes it.
type rewriter struct {
	src     string
	change  Change
	key     string
	baseLen int

	tokens      []token
	entries     []Entry
	inSection   []bool // of each token that is a header: it is the key's
	seen        []int  // tokens of the values that match
	place       int    // token after which a new value goes; -1 for none
	sectionSeen bool
	keySeen     bool
}

// scan parses the file and looks for the key (C1: one pass).
func (w *rewriter) scan(name string, warn func(line string)) error {
	var err error
	w.entries, err = parse(w.src, &Origin{Name: name}, &w.tokens)
	if err != nil {
		if n := len(w.tokens); n > 0 && w.tokens[n-1].kind == tokSection {
			if stem := w.tokens[n-1].stem; len(stem) < 2 || stem[len(stem)-1] != '.' {
				return &EditError{Msg: "invalid config file " + name, Code: CodeInvalidFile, Notes: []string{"error: invalid section name '" + stem + "'"}}
			}
		}
		return err
	}
	w.tokens = w.tokens[:len(w.tokens)-1] // the end of the file
	w.inSection = make([]bool, len(w.tokens))
	w.place = -1
	inside := false
	for i := range w.tokens {
		t := &w.tokens[i]
		switch t.kind {
		case tokSection:
			inside = w.sameSection(t)
			w.inSection[i] = inside
			if inside {
				w.sectionSeen = true
				w.place = i
			}
		case tokEntry:
			e := &w.entries[t.entry]
			if !w.keySeen && !inside {
				continue
			}
			if !w.keySeen {
				w.place = i
			}
			if !w.matches(e) {
				continue
			}
			if len(w.seen) == 1 && !w.change.All {
				warn("warning: " + e.Key + " has multiple values")
			}
			w.seen = append(w.seen, i)
			w.keySeen = true
		}
	}
	return nil
}

func (w *rewriter) sameSection(t *token) bool {
	stem, base := t.stem[:len(t.stem)-1], w.key[:w.baseLen]
	if t.legacy {
		return strings.EqualFold(stem, base)
	}
	return stem == base
}

func (w *rewriter) matches(e *Entry) bool {
	if e.Key != w.key || w.change.Add {
		return false
	}
	return w.change.Match == nil || w.change.Match(e.Value, e.HasValue)
}

// rewrite returns the new content (C4).
func (w *rewriter) rewrite() string {
	list := w.seen
	if len(list) == 0 {
		if w.place < 0 {
			w.place = max(len(w.tokens)-1, 0)
		}
		list = []int{w.place}
	}
	var b strings.Builder
	b.Grow(len(w.src) + 128)
	from := 0
	for i := 0; i < len(list); i++ {
		upTo, next := w.cut(list, &i)
		if upTo > from {
			b.WriteString(w.src[from:upTo])
			if w.src[upTo-1] != '\n' {
				b.WriteByte('\n')
			}
		}
		from = next
	}
	if !w.change.Unset {
		if !w.sectionSeen {
			b.WriteString(header(w.change.Key[:w.baseLen]))
		}
		b.WriteString(pair(w.change.Key[w.baseLen+1:], w.change.Value, w.change.Comment))
	}
	b.WriteString(w.src[from:])
	return b.String()
}

// cut returns what to leave out at list[*i]: the bytes from upTo to next. It
// moves *i on where a whole section goes.
func (w *rewriter) cut(list []int, i *int) (upTo, next int) {
	if len(w.tokens) == 0 {
		return 0, 0
	}
	t := &w.tokens[list[*i]]
	if !w.keySeen {
		upTo = t.end
		// The newline belongs to the line before the new one.
		if upTo > 0 && upTo < len(w.src) && w.src[upTo-1] != '\n' && w.src[upTo] == '\n' {
			upTo++
		}
		return upTo, upTo
	}
	upTo, next = t.begin, t.end
	if w.change.Unset {
		upTo, next = w.maybeSection(list, i, upTo, next)
	}
	for upTo > 0 && isSpace(w.src[upTo-1]) && w.src[upTo-1] != '\n' {
		upTo--
	}
	return upTo, next
}

// maybeSection widens a cut to the whole section, if it loses its last
// variables by it and no comment is in it or near it.
func (w *rewriter) maybeSection(list []int, i *int, upTo, next int) (int, int) {
	first := list[*i]
	sectionSeen := false
back:
	for ; first > 0; first-- {
		switch w.tokens[first-1].kind {
		case tokComment:
			return upTo, next
		case tokEntry:
			if !sectionSeen {
				return upTo, next
			}
			break back
		case tokSection:
			if !w.inSection[first-1] {
				break back
			}
			sectionSeen = true
		}
	}
	seen, last := *i, list[*i]+1
forward:
	for ; last < len(w.tokens); last++ {
		switch w.tokens[last].kind {
		case tokComment:
			return upTo, next
		case tokSection:
			if !w.inSection[last] {
				break forward
			}
		case tokEntry:
			seen++
			if seen >= len(list) || list[seen] != last {
				return upTo, next
			}
		}
	}
	*i = seen
	if last < len(w.tokens) {
		return w.tokens[first].begin, w.tokens[last].begin
	}
	return w.tokens[first].begin, w.tokens[len(w.tokens)-1].end
}
