package builtin

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

var cmdCatFile = &Command{
	Name:    "cat-file",
	Setup:   NeedRepo,
	Run:     runCatFile,
	Options: func() *parseopt.Parser { return new(catFile).parser() },
}

type catFile struct {
	mode   int // 'e', 'p', 't', 's', 'w' for --filters, 'b' for --batch-all-objects, 0
	path   string
	legacy bool
	batch  catBatch

	env      *Env
	db       *odb.DB
	resolver *revision.Resolver
	replaced map[oid.ID]oid.ID
	convert  *worktree.Converter
}

func (c *catFile) parser() *parseopt.Parser {
	b := &c.batch
	return &parseopt.Parser{
		Usage: []string{
			"git cat-file <type> <object>",
			"git cat-file (-e | -p | -t | -s) <object>",
			"git cat-file (--textconv | --filters)\n" +
				"             [<rev>:<path|tree-ish> | --path=<path|tree-ish> <rev>]",
			"git cat-file (--batch | --batch-check | --batch-command) [--batch-all-objects]\n" +
				"             [--buffer] [--follow-symlinks] [--unordered]\n" +
				"             [--textconv | --filters] [-Z]",
		},
		Options: []parseopt.Option{
			parseopt.Group("Does it exist, and what is in it"),
			parseopt.CmdMode('e', "", &c.mode, "check that the object exists", 'e'),
			parseopt.CmdMode('p', "", &c.mode, "print the object in a readable form", 'p'),
			parseopt.Group("What is known of it"),
			parseopt.CmdMode('t', "", &c.mode, "print the type", 't'),
			parseopt.CmdMode('s', "", &c.mode, "print the size", 's'),
			parseopt.Bool(0, "allow-unknown-type", &c.legacy, "does nothing any more").Hidden(),
			parseopt.NotNative(0, "use-mailmap", "", "map names in commits and tags"),
			parseopt.NotNative(0, "mailmap", "", "same as --use-mailmap"),
			parseopt.Group("Many objects, named on stdin"),
			b.option("batch", catContents, "print each object, with its content"),
			b.option("batch-check", catInfo, "print each object, without its content"),
			parseopt.Bool('z', "", &b.nulIn, "stdin is separated by NUL").Hidden(),
			parseopt.Bool('Z', "", &b.nul, "stdin and stdout are separated by NUL"),
			b.option("batch-command", catCommands, "read commands from stdin"),
			parseopt.CmdMode(0, "batch-all-objects", &c.mode, "all objects there are, instead of those on stdin", 'b'),
			parseopt.Group("How they are printed"),
			parseopt.Callback(0, "buffer", "", "gather output", func(a parseopt.Arg) error {
				on := !a.Unset
				b.buffer = &on
				return nil
			}).NoArg(),
			parseopt.Bool(0, "follow-symlinks", &b.follow, "follow symbolic links within a tree"),
			parseopt.Bool(0, "unordered", &b.unordered, "print objects in any order"),
			parseopt.Group("Converted content"),
			parseopt.CmdMode(0, "textconv", &c.mode, "convert as for a diff", 'c'),
			parseopt.CmdMode(0, "filters", &c.mode, "convert as for the working tree", 'w'),
			parseopt.String(0, "path", &c.path, "blob|tree", "convert as if the content were of this path"),
			parseopt.Callback(0, "filter", "args", "leave objects out", b.setFilter),
		},
	}
}

func runCatFile(env *Env, argv []string) Status {
	c := &catFile{env: env}
	p := c.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if msg := c.batch.filter.refusal(c.batch.kind); msg != "" {
		return UsageLine(msg)
	}
	if msg := c.conflict(args); msg != "" {
		return Fatal(p.UsageFatal(msg))
	}
	if c.batch.kind == catSingle && c.mode == 0 && len(args) == 0 {
		return Fatal(p.UsageError(""))
	}
	if err := c.open(); err != nil {
		return Fatal(err)
	}
	defer c.close()
	if c.batch.kind != catSingle {
		return Fatal(c.runBatch())
	}
	if c.mode == 0 {
		typ, ok := object.ParseType(args[0])
		if !ok {
			return Fatalf("invalid object type \"%s\"", args[0])
		}
		return c.one(args[1], typ)
	}
	return c.one(args[0], object.Bad)
}

// converts reports whether content is converted.
func (c *catFile) converts() bool { return c.mode == 'w' || c.mode == 'c' }

// conflict returns what is wrong with the combination of options and arguments.
func (c *catFile) conflict(args []string) string {
	b := &c.batch
	if c.path != "" && !c.converts() {
		return "'--path=<path|tree-ish>' needs '--filters' or '--textconv'"
	}
	if b.kind != catSingle {
		switch {
		case c.converts(), c.mode == 'b' && len(args) == 0, c.mode == 0 && len(args) == 0:
			return ""
		case c.mode != 0 && c.mode != 'b':
			return fmt.Sprintf("'-%c' is incompatible with batch mode", c.mode)
		}
		return "batch modes take no arguments"
	}
	for _, o := range []struct {
		given bool
		name  string
	}{{b.follow, "--follow-symlinks"}, {b.buffer != nil, "--buffer"}, {c.mode == 'b', "--batch-all-objects"}, {b.nulIn, "-z"}, {b.nul, "-Z"}} {
		if o.given {
			return fmt.Sprintf("'%s' requires a batch mode", o.name)
		}
	}
	switch {
	case c.mode == 'w' && len(args) == 0:
		return "<rev> required with '--filters'"
	case c.mode == 'c' && len(args) == 0:
		return "<rev> required with '--textconv'"
	case c.mode != 0 && len(args) == 0:
		return fmt.Sprintf("<object> required with '-%c'", c.mode)
	case c.mode != 0 && len(args) != 1:
		return "too many arguments"
	case c.mode == 0 && len(args) != 0 && len(args) != 2:
		return fmt.Sprintf("only two arguments allowed in <type> <object> mode, not %d", len(args))
	}
	return ""
}

func (c *catFile) open() (err error) {
	if c.db, err = c.env.Repo.ODB(); err != nil {
		return err
	}
	c.resolver = revision.New(c.env.Repo)
	c.resolver.Say = c.env.line
	if c.mode != 'b' {
		if c.replaced, err = replacements(c.env); err != nil {
			return err
		}
	}
	if c.mode == 'w' {
		c.convert, err = pathConverter(c.env)
	}
	if err == nil && c.mode == 'c' {
		return c.openTextconv()
	}
	return err
}

// openTextconv makes sure that no program converts anything: then --textconv
// prints what is stored, and all else is left to git.
func (c *catFile) openTextconv() error {
	for _, e := range c.env.Config.Entries() {
		if strings.HasPrefix(e.Key, "diff.") && strings.HasSuffix(e.Key, ".textconv") {
			return &parseopt.NotNativeError{Option: "--textconv"}
		}
	}
	return nil
}

func (c *catFile) close() {
	if c.convert != nil {
		c.convert.Close()
	}
}

// replacements are the objects that others stand for (git replace); nil for none.
func replacements(env *Env) (map[oid.ID]oid.ID, error) {
	use, err := env.Config.Bool("core.usereplacerefs", true)
	if err != nil || !use {
		return nil, err
	}
	if _, off := env.LookupEnv("GIT_NO_REPLACE_OBJECTS"); off {
		return nil, nil
	}
	base := env.Getenv("GIT_REPLACE_REF_BASE")
	if base == "" {
		base = "refs/replace/"
	}
	store, err := env.Repo.Refs()
	if err != nil {
		return nil, err
	}
	var found map[oid.ID]oid.ID
	for ref, err := range store.All(base, 0) {
		if err != nil {
			return nil, err
		}
		if old, err := env.Repo.Algo.FromHex(strings.TrimPrefix(ref.Name, base)); err == nil {
			if found == nil {
				found = map[oid.ID]oid.ID{}
			}
			found[old] = ref.ID
		}
	}
	return found, nil
}

// replace returns the object that stands for id.
func (c *catFile) replace(id oid.ID) (oid.ID, error) {
	const maxDepth = 5
	for range maxDepth {
		next, ok := c.replaced[id]
		if !ok {
			return id, nil
		}
		id = next
	}
	return id, fmt.Errorf("replace depth too high for object %s", id)
}

// one prints one object, or what is known of it.
func (c *catFile) one(name string, want object.Type) Status {
	obj, err := c.resolver.ResolveObject(name, revision.Any)
	if errors.Is(err, revision.ErrUnknown) {
		if why := c.resolver.Explain(name); why != nil {
			return Fatal(why)
		}
		return Fatalf("Not a valid object name %s", name)
	}
	if err != nil {
		return Fatal(err)
	}
	if c.mode == 'e' {
		if c.db.Has(obj.ID) {
			return OK
		}
		return Exit(1)
	}
	id, err := c.replace(obj.ID)
	if err != nil {
		return Fatal(err)
	}
	switch c.mode {
	case 't', 's':
		typ, size, err := c.db.Info(id)
		if errors.Is(err, object.ErrHeaderType) {
			return Fatal(err)
		}
		if err != nil {
			return Fatalf("git cat-file: could not get object info")
		}
		if c.mode == 't' {
			c.env.Printf("%s\n", typ)
		} else {
			c.env.Printf("%d\n", size)
		}
		return OK
	case 'p':
		return c.pretty(name, id)
	case 'w', 'c':
		path := obj.Path
		if c.path != "" {
			path = c.path
		} else if !obj.Has {
			return Fatalf("<object>:<path> required, only <object> '%s' given", name)
		}
		if c.mode == 'c' {
			return c.pretty(name, id)
		}
		return c.filtered(id, obj.Mode, path)
	}
	return c.typed(name, id, want)
}

func (c *catFile) pretty(name string, id oid.ID) Status {
	typ, _, err := c.db.Info(id)
	if errors.Is(err, object.ErrHeaderType) {
		return Fatal(err)
	}
	if err != nil {
		return Fatalf("Not a valid object name %s", name)
	}
	if typ != object.Tree {
		return Fatal(c.copy(id))
	}
	high, err := c.env.Config.Bool("core.quotepath", true)
	if err != nil {
		return Fatal(err)
	}
	_, data, err := c.db.Read(id)
	if err != nil {
		return Fatal(err)
	}
	it := object.IterTree(c.db.Algo(), data)
	for it.Next() {
		c.env.Printf("%06o %s %s\t%s\n", it.Mode(), object.ModeType(it.Mode()), it.ID(), quotePath(string(it.Name()), high))
	}
	return Fatal(it.Err())
}

// copy streams the content of an object to stdout.
func (c *catFile) copy(id oid.ID) error {
	_, _, r, err := c.db.Reader(id)
	if err == nil {
		_, err = io.Copy(c.env.Stdout, r)
		r.Close()
	}
	if err != nil {
		return fmt.Errorf("unable to stream %s to stdout", id)
	}
	return nil
}

// typed prints the object of type want that id leads to.
func (c *catFile) typed(name string, id oid.ID, want object.Type) Status {
	typ, _, err := c.db.Info(id)
	for err == nil && typ != want {
		switch {
		case typ == object.Tag:
			var tag *object.TagObject
			if tag, err = c.db.ReadTag(id); err != nil {
				return Fatalf("git cat-file %s: bad file", name)
			}
			id = tag.Object
		case typ == object.Commit && want == object.Tree:
			var commit *object.CommitObject
			if commit, err = c.db.ReadCommit(id); err != nil {
				return Fatalf("git cat-file %s: bad file", name)
			}
			id = commit.Tree
		default:
			return Fatalf("git cat-file %s: bad file", name)
		}
		if id, err = c.replace(id); err == nil {
			typ, _, err = c.db.Info(id)
		}
	}
	if err != nil {
		if _, damaged := errors.AsType[*odb.CorruptError](err); damaged || errors.Is(err, object.ErrHeaderType) {
			return Fatal(err)
		}
		return Fatalf("git cat-file %s: bad file", name)
	}
	return Fatal(c.copy(id))
}

// filtered prints a blob as the working tree would have it at path.
func (c *catFile) filtered(id oid.ID, mode uint32, path string) Status {
	data, err := c.smudged(id, mode, path)
	if err != nil {
		return Fatal(err)
	}
	if data == nil {
		return Failure(1, fmt.Errorf("cannot read object %s '%s'", id, path))
	}
	c.env.Stdout.Write(data)
	return OK
}

// smudged returns the converted content; nil where it cannot be read.
func (c *catFile) smudged(id oid.ID, mode uint32, path string) ([]byte, error) {
	typ, data, err := c.db.Read(id)
	if err != nil {
		return nil, nil
	}
	if data == nil {
		data = []byte{}
	}
	if typ != object.Blob || mode != 0 && !object.IsRegular(mode) {
		return data, nil
	}
	cv, err := c.convert.Plan(path)
	if err != nil || cv.None() {
		return data, err
	}
	return c.convert.ToWorktree(&cv, path, data, worktree.ConvertOptions{Report: c.env.line})
}
