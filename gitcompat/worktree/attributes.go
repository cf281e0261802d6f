package worktree

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/index"
)

// AttrState is what a path has for an attribute.
type AttrState uint8

const (
	AttrUnspecified AttrState = iota
	AttrSet
	AttrUnset
	AttrValue
)

// An Attr is the state of one attribute of one path.
type Attr struct {
	State AttrState
	Text  string // of AttrValue
}

// String is the state as check-attr prints it.
func (a Attr) String() string {
	switch a.State {
	case AttrSet:
		return "set"
	case AttrUnset:
		return "unset"
	case AttrValue:
		return a.Text
	}
	return "unspecified"
}

// AttrDirection says where .gitattributes files are read.
type AttrDirection uint8

const (
	AttrCheckin   AttrDirection = iota // the working tree, else the index
	AttrIndexOnly                      // the index (or the tree that Blob reads) alone
)

const (
	attrMaxFile = 100 << 20
	attrMaxLine = 2048
)

// AttrSources say what attributes come from.
type AttrSources struct {
	Root      string   // the working tree, absolute; "" in a bare repository
	Files     []string // system and global files, in rising precedence
	Info      string   // $GIT_DIR/info/attributes
	Direction AttrDirection
	Blob      func(path string) ([]byte, bool) // content in the index; may be nil
	// Mode is the mode of a path for the attribute builtin_objectmode, or 0;
	// nil takes it from the file.
	Mode       func(path string) uint32
	IgnoreCase bool
	Report     func(line string) // takes a whole line for stderr; may be nil
}

// Attributes answers what attributes paths have. It isn't safe for use by
// several goroutines at once.
type Attributes struct {
	src    AttrSources
	ids    map[string]int
	macros map[int]*attrRule // as of the frame chain of the last directory
	global []*attrFrame      // built in, system, global
	info   *attrFrame
	dirs   map[string]*attrFrame // by directory, "" or ending in "/"
	values []Attr                // scratch, by attribute id
	known  []bool
	last   *attrFrame
	// quiet is true as long as no frame but the built-in one has a rule.
	quiet bool
}

type attrFrame struct {
	parent *attrFrame
	rules  []attrRule
	macros bool // some rule defines a macro
}

type attrRule struct {
	pattern Pattern
	macro   int // id of the macro that is defined, or -1
	sets    []attrSet
}

type attrSet struct {
	id   int
	attr Attr // unspecified for "!name", which hides what lower frames say
}

// NewAttributes reads nothing yet.
func NewAttributes(src AttrSources) *Attributes {
	a := &Attributes{src: src, ids: map[string]int{}, dirs: map[string]*attrFrame{}, quiet: true}
	builtin := a.parse([]byte("[attr]binary -diff -merge -text\n"), "", "[builtin]", true)
	a.quiet = true
	a.global = append(a.global, builtin)
	for _, f := range src.Files {
		if fr := a.readFile(f, "", f, true, 0); fr != nil {
			a.global = append(a.global, fr)
		}
	}
	if src.Info != "" {
		a.info = a.readFile(src.Info, "", src.Info, true, 0)
	}
	return a
}

// Lookup returns the state of each named attribute. A path that ends in "/"
// is a directory.
func (a *Attributes) Lookup(path string, names []string) []Attr {
	out := make([]Attr, len(names))
	a.lookup(path, names, out)
	return out
}

// lookup fills out; it is Lookup without the allocation.
func (a *Attributes) lookup(path string, names []string, out []Attr) {
	frame := a.frame(path)
	if a.quiet {
		clear(out)
	} else {
		a.collect(path, frame)
	}
	for i, n := range names {
		if n == objectMode {
			out[i] = a.mode(path)
		} else if id, ok := a.ids[n]; ok && !a.quiet {
			out[i] = a.values[id]
		} else {
			out[i] = Attr{}
		}
	}
}

// objectMode is an attribute that git computes; no file can set it.
const objectMode = "builtin_objectmode"

func (a *Attributes) mode(path string) Attr {
	var mode uint32
	if a.src.Mode != nil {
		mode = a.src.Mode(path)
	} else if a.src.Root != "" {
		var st index.FileStat
		if index.Lstat(a.src.Root+"/"+path, &st) == nil {
			if mode = index.CanonicalMode(st.Mode); st.IsDir() {
				mode = index.ModeDir
			}
		}
	}
	if mode == 0 {
		return Attr{}
	}
	return Attr{State: AttrValue, Text: fmt.Sprintf("%06o", mode)}
}

// All returns every attribute that path has a state for, by name, in the
// order in which the names were first met.
func (a *Attributes) All(path string) (names []string, attrs []Attr) {
	frame := a.frame(path)
	a.collect(path, frame)
	byID := make([]string, len(a.ids))
	for n, id := range a.ids {
		byID[id] = n
	}
	for id, n := range byID {
		if v := a.values[id]; v.State != AttrUnspecified {
			names, attrs = append(names, n), append(attrs, v)
		}
	}
	return names, attrs
}

// baseOf is where the last component of path starts; a trailing slash
// belongs to it.
func baseOf(path string) int {
	return strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/') + 1
}

// frame is the chain of frames for the directory that path is in.
func (a *Attributes) frame(path string) *attrFrame { return a.dirFrame(path[:baseOf(path)]) }

func (a *Attributes) dirFrame(dir string) *attrFrame {
	if f, ok := a.dirs[dir]; ok {
		return f
	}
	var parent *attrFrame
	if dir != "" {
		parent = a.dirFrame(dir[:baseOf(dir)])
	}
	own := a.readDir(dir)
	f := parent
	if own != nil && len(own.rules) > 0 || dir == "" {
		if own == nil {
			own = &attrFrame{}
		}
		own.parent = parent
		f = own
	}
	a.dirs[dir] = f
	return f
}

// readDir reads the file of one directory; nil if there is none.
func (a *Attributes) readDir(dir string) *attrFrame {
	name, top := dir+".gitattributes", dir == ""
	if a.src.Direction == AttrCheckin {
		if a.src.Root == "" {
			return nil
		}
		if f := a.readFile(a.src.Root+"/"+name, dir, name, top, noFollow); f != nil {
			return f
		}
	}
	if a.src.Blob == nil {
		return nil
	}
	data, ok := a.src.Blob(name)
	switch {
	case !ok:
		return nil
	case len(data) >= attrMaxFile:
		a.report("warning: ignoring overly large gitattributes blob '%s'", name)
		return nil
	}
	return a.parse(data, dir, name, top)
}

func (a *Attributes) report(format string, args ...any) {
	if a.src.Report != nil {
		a.src.Report(fmt.Sprintf(format, args...))
	}
}

// readFile returns nil if there is no such file.
func (a *Attributes) readFile(path, base, name string, macros bool, flags int) *attrFrame {
	data, err := readPatternFile(path, flags, attrMaxFile)
	switch {
	case err == errTooLarge:
		a.report("warning: ignoring overly large gitattributes file '%s'", name)
		return nil
	case err != nil:
		if w := accessWarning(name, err); w != "" {
			a.report("%s", w)
		}
		return nil
	}
	return a.parse(data, base, name, macros)
}

func (a *Attributes) parse(data []byte, base, source string, macros bool) *attrFrame {
	f := &attrFrame{}
	text := strings.TrimPrefix(string(data), "\ufeff")
	for n := 1; text != ""; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		r, ok := a.parseLine(strings.TrimSuffix(line, "\r"), base, source, n, macros)
		if ok {
			f.rules = append(f.rules, r)
			f.macros = f.macros || r.macro >= 0
		}
	}
	if len(f.rules) > 0 {
		a.quiet = false
	}
	return f
}

const attrBlank = " \t\r\n"

func (a *Attributes) parseLine(line, base, source string, lineno int, macros bool) (attrRule, bool) {
	r := attrRule{macro: -1}
	line0 := line
	line = strings.TrimLeft(line, attrBlank)
	if line == "" || line[0] == '#' {
		return r, false
	}
	if len(line0) >= attrMaxLine {
		a.report("warning: ignoring overly long attributes line %d", lineno)
		return r, false
	}
	var name, rest string
	shown := line
	if u, n, ok := unquoteC(line); ok {
		name, rest, shown = u, line[n:], u
	} else {
		n := strings.IndexAny(line, attrBlank)
		if n < 0 {
			n = len(line)
		}
		name, rest = line[:n], line[n:]
	}
	if m, ok := strings.CutPrefix(name, "[attr]"); ok && m != "" {
		if !macros {
			a.report("%s not allowed: %s:%d", shown, source, lineno)
			return r, false
		}
		if !validAttrName(m) || strings.HasPrefix(m, "builtin_") {
			a.invalid(m, source, lineno)
			return r, false
		}
		r.macro = a.id(m)
	} else {
		r.pattern = newPattern(name, base, source, lineno)
	}
	for _, w := range strings.FieldsFunc(rest, func(c rune) bool { return strings.ContainsRune(attrBlank, c) }) {
		s, ok := a.parseSet(w, source, lineno)
		if !ok {
			return r, false
		}
		r.sets = append(r.sets, s)
	}
	if r.macro < 0 && r.pattern.Negative {
		a.report("warning: Negative patterns are ignored in git attributes\nUse '\\!' for literal leading exclamation.")
		return r, false
	}
	return r, true
}

func (a *Attributes) parseSet(w, source string, lineno int) (attrSet, bool) {
	s := attrSet{attr: Attr{State: AttrSet}}
	name, value, hasValue := strings.Cut(w, "=")
	switch w[0] {
	case '-':
		s.attr, name = Attr{State: AttrUnset}, name[1:]
	case '!':
		s.attr, name = Attr{}, name[1:]
	default:
		if hasValue {
			s.attr = Attr{State: AttrValue, Text: value}
		}
	}
	if !validAttrName(name) || strings.HasPrefix(name, "builtin_") {
		a.invalid(name, source, lineno)
		return s, false
	}
	s.id = a.id(name)
	return s, true
}

func (a *Attributes) invalid(name, source string, lineno int) {
	a.report("%s is not a valid attribute name: %s:%d", name, source, lineno)
}

func (a *Attributes) id(name string) int {
	id, ok := a.ids[name]
	if !ok {
		id = len(a.ids)
		a.ids[name] = id
	}
	return id
}

// ValidAttrName reports whether an attribute may have that name.
func ValidAttrName(name string) bool { return validAttrName(name) }

func validAttrName(name string) bool {
	if name == "" || name[0] == '-' {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !within(lower(c), 'a', 'z') && !within(c, '0', '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

// collect fills a.values for path. The first rule met from the highest
// precedence down decides; within a line, the last word.
func (a *Attributes) collect(path string, frame *attrFrame) {
	if n := len(a.ids); len(a.values) < n {
		a.values, a.known = make([]Attr, n), make([]bool, n)
	}
	clear(a.values)
	clear(a.known)
	a.findMacros(frame)
	a.apply(path, a.info)
	for f := frame; f != nil; f = f.parent {
		a.apply(path, f)
	}
	for i := len(a.global) - 1; i >= 0; i-- {
		a.apply(path, a.global[i])
	}
}

func (a *Attributes) findMacros(frame *attrFrame) {
	if a.macros != nil && a.last == frame {
		return
	}
	a.macros, a.last = map[int]*attrRule{}, frame
	note := func(f *attrFrame) {
		if f == nil || !f.macros {
			return
		}
		for i := len(f.rules) - 1; i >= 0; i-- {
			if m := f.rules[i].macro; m >= 0 && a.macros[m] == nil {
				a.macros[m] = &f.rules[i]
			}
		}
	}
	note(a.info)
	for f := frame; f != nil; f = f.parent {
		note(f)
	}
	for i := len(a.global) - 1; i >= 0; i-- {
		note(a.global[i])
	}
}

func (a *Attributes) apply(path string, f *attrFrame) {
	if f == nil {
		return
	}
	name := baseOf(path)
	bare := strings.TrimSuffix(path, "/")
	for i := len(f.rules) - 1; i >= 0; i-- {
		r := &f.rules[i]
		if r.macro >= 0 || r.pattern.DirOnly && len(bare) == len(path) {
			continue
		}
		if r.pattern.match(bare, name, a.src.IgnoreCase) {
			a.fill(r.sets)
		}
	}
}

// fill sets what isn't known yet; a macro that is set brings its own, which
// stand behind it and before what stands left of it.
func (a *Attributes) fill(sets []attrSet) {
	for i := len(sets) - 1; i >= 0; i-- {
		s := &sets[i]
		if a.known[s.id] {
			continue
		}
		a.known[s.id], a.values[s.id] = true, s.attr
		if m := a.macros[s.id]; m != nil && s.attr.State == AttrSet {
			a.fill(m.sets)
		}
	}
}

var errTooLarge = fmt.Errorf("file too large")

// readPatternFile reads an ignore or attributes file.
func readPatternFile(path string, flags int, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|flags|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if fi.Mode().IsRegular() && fi.Size() >= limit {
		return nil, errTooLarge
	}
	if fi.IsDir() {
		return nil, syscall.EISDIR
	}
	return readAllLimit(f, fi.Size(), limit)
}
