package builtin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

var cmdTag = &Command{
	Name:    "tag",
	Setup:   NeedRepo,
	Run:     runTag,
	Options: func() *parseopt.Parser { return new(tagCommand).parser() },
}

// tagCommand is one run of tag.
type tagCommand struct {
	refList
	filterOptions
	mode                          int // 'l', 'd' or 0 to create
	lines                         int // of -n; -1: not given
	annotate, force, createReflog bool
	message                       string
	messageGiven                  bool
	file, cleanup, format         string
	noSign                        bool
	signKey                       *string // "": the default key
}

func (o *tagCommand) parser() *parseopt.Parser {
	o.lines = -1
	only := func(opt parseopt.Option) parseopt.Option { return opt.NotNative() }
	options := []parseopt.Option{
		parseopt.CmdMode('l', "list", &o.mode, "list tags", 'l'),
		parseopt.Integer('n', "", &o.lines, "with <n> lines of each message").OptArg("1"),
		parseopt.CmdMode('d', "delete", &o.mode, "delete tags", 'd'),
		parseopt.NotNative('v', "verify", "", "check signatures"),
		parseopt.Group("To make a tag"),
		parseopt.Bool('a', "annotate", &o.annotate, "make a tag object, with a message"),
		parseopt.Callback('m', "message", "message", "the message; several make paragraphs", o.addMessage).NoNeg(),
		parseopt.Filename('F', "file", &o.file, "take the message from a file"),
		parseopt.NotNative(0, "trailer", "trailer", "add a trailer to the message"),
		parseopt.NotNative('e', "edit", "", "edit the message"),
		parseopt.Callback('s', "sign", "", "sign the tag", o.sign).NoArg(),
		parseopt.String(0, "cleanup", &o.cleanup, "mode", "how to clean the message up: verbatim, whitespace or strip"),
		parseopt.StringP('u', "local-user", &o.signKey, "key-id", "sign the tag with this key"),
		parseopt.Bool('f', "force", &o.force, "replace a tag of that name"),
		parseopt.Bool(0, "create-reflog", &o.createReflog, "begin a reflog"),
		parseopt.Group("To list tags"),
		only(parseopt.OptCallback(0, "column", "style", "list in columns", func(parseopt.Arg) error { return nil })),
		parseopt.Bool(0, "omit-empty", &o.omitEmpty, "print no line for a tag of which the format makes nothing"),
		parseopt.Callback(0, "sort", "key", "field to sort by", o.setSort),
		parseopt.String(0, "format", &o.format, "format", "what to print"),
		parseopt.OptCallback(0, "color", "when", "whether the colors of the format count", o.setColor),
		parseopt.Bool('i', "ignore-case", &o.ignoreCase, "sort and match without regard to case"),
	}
	return &parseopt.Parser{
		Usage: []string{
			"git tag [-a | -s | -u <key-id>] [-f] [-m <msg> | -F <file>] [-e]\n" +
				"        [(--trailer <token>[(=|:)<value>])...]\n" +
				"        <tagname> [<commit> | <object>]",
			"git tag -d <tagname>...",
			"git tag [-n[<num>]] -l [--contains <commit>] [--no-contains <commit>]\n" +
				"        [--points-at <object>] [--column[=<options>] | --no-column]\n" +
				"        [--create-reflog] [--sort=<key>] [--format=<format>]\n" +
				"        [--merged <commit>] [--no-merged <commit>] [<pattern>...]",
			"git tag -v [--format=<format>] <tagname>...",
		},
		Options: append(options, o.options()...),
	}
}

func (o *tagCommand) addMessage(a parseopt.Arg) error {
	if o.message != "" {
		o.message += "\n\n"
	}
	o.message += a.Value
	o.messageGiven = true
	return nil
}

func (o *tagCommand) sign(a parseopt.Arg) error {
	o.noSign = a.Unset
	switch {
	case a.Unset:
		o.signKey = nil
	case o.signKey == nil:
		o.signKey = new(string)
	}
	return nil
}

func runTag(env *Env, argv []string) Status {
	o := new(tagCommand)
	p := o.parser()
	if err := o.defaults(env, "tag.sort"); err != nil {
		return Fatal(err)
	}
	args, err := env.Parse(p, argv)
	if err == nil {
		err = o.start(env)
	}
	if err != nil {
		return Fatal(err)
	}
	if o.mode == 0 && (len(args) == 0 || o.any() || o.lines != -1) {
		o.mode = 'l'
	}
	object := o.annotate || o.messageGiven || o.file != "" || o.signKey != nil
	if (object || o.force) && o.mode != 0 {
		return Fatal(p.UsageError(""))
	}
	switch o.mode {
	case 'l':
		return o.listTags(args)
	case 'd':
		if only := o.onlyInList(); only != "" {
			return Fatalf("the '%s' option is only allowed in list mode", only)
		}
		return o.deleteTags(args)
	}
	if object, err = o.decideSigning(object); err != nil {
		return Fatal(err)
	}
	return o.create(args, object)
}

// onlyInList returns an option that was given and makes sense for lists only.
func (o *tagCommand) onlyInList() string {
	f := &o.filterOptions
	switch {
	case o.lines != -1:
		return "-n"
	case len(f.contains) > 0:
		return "--contains"
	case len(f.without) > 0:
		return "--no-contains"
	case len(f.pointsAt) > 0:
		return "--points-at"
	case len(f.merged) > 0:
		return "--merged"
	case len(f.unmerged) > 0:
		return "--no-merged"
	}
	return ""
}

// decideSigning looks whether the configuration wants the tag signed, and
// returns whether it is to be an object.
func (o *tagCommand) decideSigning(object bool) (bool, error) {
	for _, key := range []string{"tag.gpgsign", "tag.forcesignannotated"} {
		on, err := o.env.Config.Bool(key, false)
		if err != nil {
			return object, err
		}
		wanted := key == "tag.gpgsign" && !o.noSign || key != "tag.gpgsign" && object && !o.annotate
		if on && wanted && o.signKey == nil {
			o.signKey = new(string)
		}
	}
	if o.signKey == nil {
		return object, nil
	}
	if f := foreignSigning(o.env); f != "" {
		return true, &parseopt.NotNativeError{Option: f}
	}
	return true, nil
}

// refuseColumns leaves lists that the configuration wants in columns to real git.
func refuseColumns(env *Env, key string) error {
	for _, key := range []string{"column.ui", key} {
		if v, ok := env.Config.Get(key); ok && !strings.Contains(v, "never") && !strings.Contains(v, "auto") {
			return &parseopt.NotNativeError{Option: key}
		}
	}
	return nil
}

// configSort takes the sort keys of the configuration if there are none yet.
func (l *refList) configSort(key string) error {
	keys := []string{}
	for _, e := range l.env.Config.Multi(key) {
		text, err := e.Text()
		if err != nil {
			return err
		}
		keys = append(keys, text)
	}
	if len(keys) == 0 {
		keys = append(keys, "refname")
	}
	l.sortKeys = append(keys, l.sortKeys...)
	return nil
}

func (o *tagCommand) listTags(patterns []string) Status {
	if err := refuseColumns(o.env, "column.tag"); err != nil {
		return Fatal(err)
	}
	keys, err := o.parseSort()
	if err != nil {
		return Fatal(err)
	}
	if o.format == "" {
		o.format = "%(refname:lstrip=2)"
		if o.lines > 0 {
			o.format = fmt.Sprintf("%%(align:15)%%(refname:lstrip=2)%%(end) %%(contents:lines=%d)", o.lines)
		}
	}
	f, err := o.parseFormat(o.format, 0)
	if errors.Is(err, errMalformedFormat) {
		o.env.Error(err)
		err = errors.New("unable to parse format string")
	}
	if err != nil {
		return Fatal(err)
	}
	if st := o.resolve(&o.refList); st != OK {
		return st
	}
	o.kinds, o.patterns = kindTag, patterns
	return Fatal(o.print(f, keys))
}

func (o *tagCommand) deleteTags(names []string) Status {
	status := OK
	var list []refs.Ref
	for _, name := range names {
		full := "refs/tags/" + name
		id, err := o.store.Read(full)
		if err != nil {
			if !errors.Is(err, refs.ErrUnresolved) {
				return Fatal(err)
			}
			o.env.Error(fmt.Errorf("tag '%s' not found.", name))
			status = Exit(1)
			continue
		}
		list = append(list, refs.Ref{Name: full, ID: id})
	}
	if st := deleteRefs(o.env, o.store, list); st != OK {
		if st.Fatal {
			return st
		}
		status = st
	}
	for _, r := range list {
		if !o.store.Exists(r.Name) {
			o.env.Printf("Deleted tag '%s' (was %s)\n", strings.TrimPrefix(r.Name, "refs/tags/"), shortName(o.env, r.ID))
		}
	}
	return status
}

// deleteRefs deletes refs in one transaction, whatever their values.
func deleteRefs(env *Env, store *refs.Store, list []refs.Ref) Status {
	if len(list) == 0 {
		return OK
	}
	status := OK
	tx := store.Begin(false)
	for _, r := range list {
		if err := tx.Add(refs.Change{Name: r.Name, New: null(env), NoDeref: true}); err != nil {
			env.Warn("could not delete reference %s: %s", r.Name, err)
			status = Exit(1)
		}
	}
	err := commitRefs(env, tx)
	var hook *refs.HookError
	switch {
	case err == nil:
		return status
	case errors.As(err, &hook):
		return Fatal(err)
	case len(list) == 1:
		env.Error(fmt.Errorf("could not delete reference %s: %w", list[0].Name, err))
	default:
		env.Error(fmt.Errorf("could not delete references: %w", err))
	}
	return Exit(1)
}

// validTag reports whether name may name a tag.
func validTag(name string) bool {
	return name != "" && name[0] != '-' && name != "HEAD" && refname.Check("refs/tags/"+name, 0)
}

func (o *tagCommand) create(args []string, object bool) Status {
	if o.messageGiven && o.file != "" {
		return Fatalf("options '-F' and '-m' cannot be used together")
	}
	text, err := o.text()
	if err != nil {
		return Fatal(err)
	}
	name, target := args[0], "HEAD"
	switch len(args) {
	case 1:
	case 2:
		target = args[1]
	default:
		return Fatalf("too many arguments")
	}
	id, err := newResolver(o.env).Resolve(target, 0)
	if err != nil {
		return Fatal(invalid(err, "Failed to resolve '%s' as a valid ref.", target))
	}
	if !validTag(name) {
		return Fatalf("'%s' is not a valid tag name.", name)
	}
	old, err := o.store.Read("refs/tags/" + name)
	switch {
	case err != nil && !errors.Is(err, refs.ErrUnresolved):
		return Fatal(err)
	case err != nil:
		old = o.env.Repo.Algo.Null()
	case !o.force:
		return Fatalf("tag '%s' already exists", name)
	}
	clean, err := o.cleaner()
	if err != nil {
		return Fatal(err)
	}
	if object && !o.messageGiven && o.file == "" {
		return NotNative("-a")
	}
	message, err := o.reflogMessage(id)
	if err != nil {
		return Fatal(err)
	}
	c := refs.Change{Name: "refs/tags/" + name, Old: refs.OID(old), CreateReflog: o.createReflog, Message: message}
	if !object {
		c.New = refs.OID(id)
		err = changeRefs(o.env, c)
	} else {
		id, err = o.createObject(c, id, name, target, clean(text))
	}
	if err != nil {
		return Fatal(err)
	}
	if o.force && !old.IsNull() && old != id {
		o.env.Printf("Updated tag '%s' (was %s)\n", name, shortName(o.env, old))
	}
	return OK
}
