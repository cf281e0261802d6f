package builtin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// A refAtom is what stands between "%(" and ")".
type refAtom struct {
	name  string // as it is written
	base  string // without * and arguments
	arg   string
	deref bool // of what the tag leads to
	spec  *atomSpec

	align  alignment
	strip  stripping
	date   ident.Mode
	length int // of an abbreviated object name; 0 full, -1 automatic
	lines  int
	commit oid.ID // of ahead-behind
}

// An atomSpec says how to read and evaluate a kind of atom.
type atomSpec struct {
	name    string
	content bool // looks into the object
	number  bool // sorts by number
	args    bool // takes arguments
	value   func(l *refList, r *refItem, a *refAtom, o *refObject) (atomValue, error)
}

type atomValue struct {
	text string
	n    uint64
}

func textValue(s string) (atomValue, error) { return atomValue{text: s}, nil }

// atomSpecs lists the atoms that are native. Those that look into the object
// get it as o; the others get nil.
func atomSpecs() []atomSpec {
	return []atomSpec{
		{"refname", false, false, true, atomRefname},
		{"symref", false, false, true, atomSymref},
		{"upstream", false, false, true, atomUpstream},
		{"push", false, false, true, atomPush},
		{"HEAD", false, false, false, atomHead},
		{"flag", false, false, false, atomFlag},
		{"worktreepath", false, false, false, atomWorktreePath},
		{"align", false, false, true, nil},
		{"if", false, false, true, nil},
		{"then", false, false, false, nil},
		{"else", false, false, false, nil},
		{"end", false, false, false, nil},
		{"rest", false, false, false, nil},
		{"color", false, false, true, func(*refList, *refItem, *refAtom, *refObject) (atomValue, error) { return atomValue{}, nil }},
		{"objectname", false, false, true, atomObjectName},
		{"ahead-behind", false, false, true, atomAheadBehind},
		{"objecttype", true, false, false, atomObjectType},
		{"objectsize", true, true, true, atomObjectSize},
		{"tree", true, false, true, atomTree},
		{"parent", true, false, true, atomParent},
		{"numparent", true, true, false, atomNumParent},
		{"object", true, false, false, atomTagged},
		{"type", true, false, false, atomTaggedType},
		{"tag", true, false, false, atomTagName},
		{"author", true, false, false, atomPerson}, {"authorname", true, false, true, atomPerson},
		{"authoremail", true, false, true, atomPerson}, {"authordate", true, true, true, atomPerson},
		{"committer", true, false, false, atomPerson}, {"committername", true, false, true, atomPerson},
		{"committeremail", true, false, true, atomPerson}, {"committerdate", true, true, true, atomPerson},
		{"tagger", true, false, false, atomPerson}, {"taggername", true, false, true, atomPerson},
		{"taggeremail", true, false, true, atomPerson}, {"taggerdate", true, true, true, atomPerson},
		{"creator", true, false, false, atomPerson}, {"creatordate", true, true, true, atomPerson},
		{"subject", true, false, true, atomMessage},
		{"body", true, false, false, atomMessage},
		{"contents", true, false, true, atomMessage},
		{"raw", true, false, true, atomRaw},
		{"deltabase", true, false, false, nil}, {"describe", true, false, true, nil}, {"trailers", true, false, true, nil},
		{"signature", true, false, true, nil}, {"is-base", false, false, true, nil},
	}
}

// atom reads the name of an atom; the same name gives the same atom.
func (l *refList) atom(name string) (*refAtom, error) {
	if a := l.atoms[name]; a != nil {
		return a, nil
	}
	a := &refAtom{name: name, base: name}
	a.base, a.deref = strings.CutPrefix(a.base, "*")
	if a.base == "" {
		return nil, errors.New("malformed field name: " + name)
	}
	a.base, a.arg, _ = strings.Cut(a.base, ":")
	if l.specs == nil {
		l.specs = atomSpecs()
	}
	for i := range l.specs {
		if l.specs[i].name == a.base {
			a.spec = &l.specs[i]
		}
	}
	if a.spec == nil {
		return nil, errors.New("unknown field name: " + name)
	}
	if err := l.parseArg(a); err != nil {
		return nil, err
	}
	if a.spec.content && a.base != "objecttype" && !(a.base == "objectsize" && a.arg == "") {
		l.needContent = true
	}
	l.needTagged = l.needTagged || a.deref
	l.atoms[name] = a
	return a, nil
}

func notNativeAtom(a *refAtom) error {
	return &parseopt.NotNativeError{Option: "--format=%(" + a.name + ")"}
}

func badArg(a *refAtom, arg string) error {
	name, _, _ := strings.Cut(a.name, ":")
	return fmt.Errorf("unrecognized %%(%s) argument: %s", name, arg)
}

func (l *refList) parseArg(a *refAtom) error {
	if a.arg != "" && !a.spec.args && a.base != "deltabase" {
		if strings.HasSuffix(a.base, "r") || a.base == "parent" {
			return nil // git takes no notice of what follows
		}
		return fmt.Errorf("%%(%s) does not take arguments", a.base)
	}
	switch a.base {
	case "align":
		return a.parseAlign()
	case "if":
		if a.arg != "" && !strings.HasPrefix(a.arg, "equals=") && !strings.HasPrefix(a.arg, "notequals=") {
			return badArg(a, a.arg)
		}
	case "refname", "symref":
		return a.parseStrip(a.arg)
	case "upstream", "push":
		return a.parseRemote()
	case "objectname", "tree", "parent":
		return a.parseLength()
	case "color":
		switch {
		case a.arg == "":
			return errors.New("expected format: %(color:<color>)")
		case l.color:
			return notNativeAtom(a)
		}
	case "subject", "contents", "raw", "objectsize":
		return a.parseContents()
	case "ahead-behind":
		return l.parseAheadBehind(a)
	case "deltabase", "describe", "trailers", "signature", "is-base":
		return notNativeAtom(a)
	}
	return a.parsePerson()
}

func (a *refAtom) parseAlign() error {
	if a.arg == "" {
		return errors.New("expected format: %(align:<width>,<position>)")
	}
	a.align = alignment{width: -1, position: 'l'}
	for s := range strings.SplitSeq(a.arg, ",") {
		if pos, ok := strings.CutPrefix(s, "position="); ok {
			if a.align.position = alignPosition(pos); a.align.position == 0 {
				return errors.New("unrecognized position:" + pos)
			}
		} else if w, ok := strings.CutPrefix(s, "width="); ok {
			n, err := strconv.ParseUint(w, 10, 31)
			if err != nil {
				return errors.New("unrecognized width:" + w)
			}
			a.align.width = int(n)
		} else if n, err := strconv.ParseUint(s, 10, 31); err == nil {
			a.align.width = int(n)
		} else if pos := alignPosition(s); pos != 0 {
			a.align.position = pos
		} else {
			return badArg(a, s)
		}
	}
	if a.align.width < 0 {
		return errors.New("positive width expected with the %(align) atom")
	}
	return nil
}

func alignPosition(s string) byte {
	switch s {
	case "left", "middle", "right":
		return s[0]
	}
	return 0
}

// stripping is how a ref name is shortened.
type stripping struct {
	kind byte // 0: not at all; 's': as short as it is clear; 'l', 'r': components
	n    int
}

func (a *refAtom) parseStrip(arg string) error {
	if arg == "" {
		return nil
	}
	if arg == "short" {
		a.strip.kind = 's'
		return nil
	}
	for _, way := range [...]struct {
		prefix, name string
		kind         byte
	}{{"lstrip=", "lstrip", 'l'}, {"strip=", "lstrip", 'l'}, {"rstrip=", "rstrip", 'r'}} {
		if num, ok := strings.CutPrefix(arg, way.prefix); ok {
			n, err := strconv.Atoi(num)
			if err != nil {
				return fmt.Errorf("Integer value expected refname:%s=%s", way.name, num)
			}
			a.strip = stripping{way.kind, n}
			return nil
		}
	}
	return badArg(a, arg)
}

func (a *refAtom) parseRemote() error {
	for s := range strings.SplitSeq(a.arg, ",") {
		switch s {
		case "", "track", "trackshort", "nobracket", "remotename":
		case "remoteref":
			if a.base == "push" {
				return notNativeAtom(a)
			}
		default:
			if err := a.parseStrip(a.arg); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *refAtom) parseLength() error {
	switch {
	case a.arg == "":
		return nil
	case a.arg == "short":
		a.length = -1
		return nil
	}
	num, ok := strings.CutPrefix(a.arg, "short=")
	if !ok {
		return badArg(a, a.arg)
	}
	n, err := strconv.ParseUint(num, 10, 31)
	if err != nil || n == 0 {
		return fmt.Errorf("positive value expected '%s' in %%(%s)", num, a.name)
	}
	a.length = max(int(n), 4)
	return nil
}

func (a *refAtom) parseContents() error {
	switch a.base + ":" + a.arg {
	case "subject:", "subject:sanitize", "contents:", "contents:body", "contents:size", "contents:signature", "contents:subject",
		"raw:", "raw:size", "objectsize:":
		return nil
	case "objectsize:disk", "contents:trailers":
		return notNativeAtom(a)
	}
	if strings.HasPrefix(a.arg, "trailers:") && a.base == "contents" {
		return notNativeAtom(a)
	}
	num, ok := strings.CutPrefix(a.arg, "lines=")
	if !ok || a.base != "contents" {
		return badArg(a, a.arg)
	}
	n, err := strconv.ParseUint(num, 10, 31)
	if err != nil {
		return errors.New("positive value expected contents:lines=" + num)
	}
	a.lines = int(n)
	return nil
}

func (l *refList) parseAheadBehind(a *refAtom) error {
	if a.arg == "" {
		return errors.New("expected format: %(ahead-behind:<committish>)")
	}
	id, err := newResolver(l.env).Resolve(a.arg, revision.WantCommittish)
	if err == nil {
		var c *revision.Commit
		if c, err = l.walk.Committish(id); err == nil {
			a.commit = c.ID
			return nil
		}
	}
	return fmt.Errorf("failed to find '%s'", a.arg)
}

func (a *refAtom) parsePerson() error {
	switch {
	case strings.HasSuffix(a.base, "name") && a.base != "refname" && a.base != "objectname":
		if a.arg == "mailmap" {
			return notNativeAtom(a)
		}
		if a.arg != "" {
			return badArg(a, a.arg)
		}
	case strings.HasSuffix(a.base, "email") && a.arg != "":
		return a.parseEmail()
	case strings.HasSuffix(a.base, "date"):
		mode, ok := ident.ParseMode(cmpOr(a.arg, "default"))
		if !ok {
			if strings.HasPrefix(a.arg, "format") || strings.HasPrefix(a.arg, "human") || strings.HasPrefix(a.arg, "auto:") {
				return notNativeAtom(a)
			}
			return fmt.Errorf("unknown date format %s", a.arg)
		}
		a.date = mode
	}
	return nil
}

// parseEmail reads the options of an address, which may be separated by commas.
func (a *refAtom) parseEmail() error {
	mailmap := false
	for rest := a.arg; ; {
		at, ok := rest, false
		for _, option := range [...]string{"trim", "localpart", "mailmap"} {
			if at, ok = strings.CutPrefix(rest, option); ok {
				mailmap = mailmap || option == "mailmap"
				break
			}
		}
		if !ok || at != "" && at[0] != ',' {
			return badArg(a, at)
		}
		if at == "" {
			break
		}
		if rest = at[1:]; rest == "" {
			return badArg(a, rest)
		}
	}
	if mailmap {
		return notNativeAtom(a)
	}
	return nil
}

func cmpOr(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// A refObject is what an atom looks into.
type refObject struct {
	id      oid.ID
	typ     object.Type
	size    int64
	data    []byte
	commit  *object.CommitObject
	tag     *object.TagObject
	message *messageParts
}

// value evaluates an atom for a ref.
func (l *refList) value(r *refItem, a *refAtom) (atomValue, error) {
	if v, ok := r.values[a]; ok {
		return v, nil
	}
	if a.spec.value == nil {
		return atomValue{}, nil
	}
	var o *refObject
	var err error
	if a.spec.content {
		if o, err = l.object(r); err == nil && a.deref {
			o, err = l.tagged(r)
		}
		if err != nil {
			return atomValue{}, err
		}
		if o == nil {
			return atomValue{}, nil // not a tag
		}
	}
	v, err := a.spec.value(l, r, a, o)
	if err == nil {
		if r.values == nil {
			r.values = map[*refAtom]atomValue{}
		}
		r.values[a] = v
	}
	return v, err
}

// object returns the object that a ref points to.
func (l *refList) object(r *refItem) (*refObject, error) {
	if r.object != nil {
		return r.object, nil
	}
	o, err := l.load(r, r.ID)
	r.object = o
	return o, err
}

// tagged returns the object that an annotated tag leads to; nil for no tag.
func (l *refList) tagged(r *refItem) (*refObject, error) {
	if r.tagged != nil || r.object.typ != object.Tag {
		return r.tagged, nil
	}
	id, ok := l.store.Peeled(&r.Ref)
	if !ok {
		return nil, errors.New("bad tag")
	}
	o, err := l.load(r, id)
	r.tagged = o
	return o, err
}

func (l *refList) load(r *refItem, id oid.ID) (*refObject, error) {
	o := &refObject{id: id}
	var err error
	if !l.needContent {
		if o.typ, o.size, err = l.db.Info(id); err != nil {
			return nil, fmt.Errorf("missing object %s for %s", id, r.Name)
		}
		return o, nil
	}
	if o.typ, o.data, err = l.db.Read(id); err != nil {
		return nil, fmt.Errorf("missing object %s for %s", id, r.Name)
	}
	o.size = int64(len(o.data))
	switch o.typ {
	case object.Commit:
		o.commit, err = object.ParseCommit(id, o.data)
	case object.Tag:
		o.tag, err = object.ParseTag(id, o.data)
	}
	if err != nil {
		l.env.Error(err)
		return nil, fmt.Errorf("parse_object_buffer failed on %s for %s", id, r.Name)
	}
	return o, nil
}

func (l *refList) shortID(id oid.ID, length int) string {
	switch {
	case length == 0:
		return id.String()
	case length < 0:
		return shortName(l.env, id)
	}
	return l.db.UniqueAbbrev(id, length)
}

// stripped shortens a ref name as the atom says.
func (l *refList) stripped(a *refAtom, name string) string {
	switch a.strip.kind {
	case 's':
		return l.store.Shorten(name, l.strictShort)
	case 'l':
		parts := strings.Split(name, "/")
		n := a.strip.n
		if n < 0 {
			n = max(0, len(parts)+n)
		}
		if n >= len(parts) {
			return ""
		}
		return strings.Join(parts[n:], "/")
	case 'r':
		parts := strings.Split(name, "/")
		n := a.strip.n
		if n < 0 {
			n = max(0, len(parts)+n)
		}
		if n >= len(parts) {
			return ""
		}
		return strings.Join(parts[:len(parts)-n], "/")
	}
	return name
}

func withDeref(a *refAtom, name string) (atomValue, error) {
	if a.deref {
		name += "^{}"
	}
	return textValue(name)
}

func atomRefname(l *refList, r *refItem, a *refAtom, _ *refObject) (atomValue, error) {
	if r.kind == kindDetached {
		text, err := headDescription(l.env)
		if err != nil {
			return atomValue{}, err
		}
		return withDeref(a, text)
	}
	return withDeref(a, l.stripped(a, r.Name))
}

func atomSymref(l *refList, r *refItem, a *refAtom, _ *refObject) (atomValue, error) {
	if !r.Symref {
		return withDeref(a, "")
	}
	return withDeref(a, l.stripped(a, r.Target))
}

func atomHead(l *refList, r *refItem, _ *refAtom, _ *refObject) (atomValue, error) {
	if l.head == nil {
		res, err := l.store.Resolve("HEAD", refs.Reading)
		if err != nil {
			res.Name = ""
		}
		l.head = &res.Name
	}
	if *l.head != "" && *l.head == r.Name {
		return textValue("*")
	}
	return textValue(" ")
}

func atomFlag(_ *refList, r *refItem, _ *refAtom, _ *refObject) (atomValue, error) {
	var flags []string
	if r.Symref {
		flags = append(flags, "symref")
	}
	if r.Packed {
		flags = append(flags, "packed")
	}
	return textValue(strings.Join(flags, ","))
}

func atomObjectName(l *refList, r *refItem, a *refAtom, _ *refObject) (atomValue, error) {
	id := r.ID
	if a.deref {
		o, err := l.object(r)
		if err == nil {
			o, err = l.tagged(r)
		}
		if err != nil || o == nil {
			return atomValue{}, err
		}
		id = o.id
	}
	return textValue(l.shortID(id, a.length))
}

func atomObjectType(_ *refList, _ *refItem, _ *refAtom, o *refObject) (atomValue, error) {
	return textValue(o.typ.String())
}

func numberValue(n int64) (atomValue, error) {
	return atomValue{strconv.FormatInt(n, 10), uint64(n)}, nil
}

func atomObjectSize(_ *refList, _ *refItem, _ *refAtom, o *refObject) (atomValue, error) {
	return numberValue(o.size)
}

func atomRaw(_ *refList, _ *refItem, a *refAtom, o *refObject) (atomValue, error) {
	if a.arg == "size" {
		return numberValue(o.size)
	}
	return textValue(string(o.data))
}

func atomTree(l *refList, _ *refItem, a *refAtom, o *refObject) (atomValue, error) {
	if o.commit == nil {
		return atomValue{}, nil
	}
	return textValue(l.shortID(o.commit.Tree, a.length))
}

func atomParent(l *refList, _ *refItem, a *refAtom, o *refObject) (atomValue, error) {
	if o.commit == nil {
		return atomValue{}, nil
	}
	var names []string
	for _, p := range o.commit.Parents {
		names = append(names, l.shortID(p, a.length))
	}
	return textValue(strings.Join(names, " "))
}

func atomNumParent(_ *refList, _ *refItem, _ *refAtom, o *refObject) (atomValue, error) {
	if o.commit == nil {
		return atomValue{}, nil
	}
	return numberValue(int64(len(o.commit.Parents)))
}

func atomTagged(_ *refList, _ *refItem, _ *refAtom, o *refObject) (atomValue, error) {
	if o.tag == nil {
		return atomValue{}, nil
	}
	return textValue(o.tag.Object.String())
}

func atomTaggedType(_ *refList, _ *refItem, _ *refAtom, o *refObject) (atomValue, error) {
	if o.tag == nil {
		return atomValue{}, nil
	}
	return textValue(o.tag.Type.String())
}

func atomTagName(_ *refList, _ *refItem, _ *refAtom, o *refObject) (atomValue, error) {
	if o.tag == nil {
		return atomValue{}, nil
	}
	return textValue(o.tag.Name)
}

func atomAheadBehind(l *refList, r *refItem, a *refAtom, _ *refObject) (atomValue, error) {
	c, err := l.walk.Committish(r.ID)
	if err != nil {
		l.notCommit(r.ID)
		return atomValue{}, nil
	}
	ahead, behind, err := l.walk.AheadBehind(c.ID, a.commit)
	if err != nil {
		return atomValue{}, err
	}
	return textValue(fmt.Sprintf("%d %d", ahead, behind))
}

// now is when relative dates are counted from.
func (l *refList) now() time.Time {
	if l.clock.IsZero() {
		l.clock = time.Now()
		if v, ok := l.env.LookupEnv("GIT_TEST_DATE_NOW"); ok {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				l.clock = time.Unix(n, 0)
			}
		}
	}
	return l.clock
}
