package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

var cmdCheckAttr = &Command{
	Name:    "check-attr",
	Setup:   NeedRepo,
	Run:     runCheckAttr,
	Options: func() *parseopt.Parser { return new(attrChecker).parser() },
}

// attrChecker is one run of check-attr.
type attrChecker struct {
	env                     *Env
	all, cached, stdin, nul bool
	source                  string

	names []string
	attrs *worktree.Attributes
}

func (c *attrChecker) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{
			"git check-attr [--source <tree-ish>] [-a | --all | <attr>...] [--] <pathname>...",
			"git check-attr --stdin [-z] [--source <tree-ish>] [-a | --all | <attr>...]",
		},
		Options: []parseopt.Option{
			parseopt.Bool('a', "all", &c.all, "every attribute that the path has"),
			parseopt.Bool(0, "cached", &c.cached, "read .gitattributes only from the index"),
			parseopt.Bool(0, "stdin", &c.stdin, "read paths from standard input"),
			parseopt.Bool('z', "", &c.nul, "end input and output with NUL"),
			parseopt.String(0, "source", &c.source, "<tree-ish>", "read .gitattributes from a tree"),
		},
		Flags: parseopt.KeepDashDash,
	}
}

func runCheckAttr(env *Env, argv []string) Status {
	c := &attrChecker{env: env}
	p := c.parser()
	if !env.Repo.Bare {
		if err := env.Repo.RequireWorkTree(); err != nil {
			return Fatal(err)
		}
	}
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	paths, msg := c.split(args)
	if msg != "" {
		env.Error(errors.New(msg))
		return Fatal(p.UsageError(""))
	}
	for _, n := range c.names {
		if !worktree.ValidAttrName(n) {
			return Failure(255, fmt.Errorf("%s: not a valid attribute name", n))
		}
	}
	files, err := openFiles(env)
	var foreign *index.UnsupportedError
	if errors.As(err, &foreign) {
		return NotNative(foreign.Feature)
	}
	if err != nil {
		return Fatal(err)
	}
	defer files.Close()
	if err := c.open(files); err != nil {
		return Fatal(err)
	}
	if c.stdin {
		return Fatal(eachPath(env, c.nul, func(path string) error {
			if err := c.path(path); err != nil {
				return err
			}
			return env.Flush()
		}))
	}
	for _, path := range paths {
		if err := c.path(path); err != nil {
			return Fatal(err)
		}
	}
	return OK
}

// split tells attributes from paths; msg is what is wrong with them.
func (c *attrChecker) split(args []string) (paths []string, msg string) {
	dash := slices.Index(args, "--")
	switch {
	case c.all && dash >= 1:
		return nil, "Attributes and --all both specified"
	case c.all:
		paths = args[dash+1:]
	case dash == 0 || len(args) == 0:
		return nil, "No attribute specified"
	case dash > 0:
		c.names, paths = args[:dash], args[dash+1:]
	case c.stdin:
		c.names = args
	default:
		c.names, paths = args[:1], args[1:]
	}
	switch {
	case c.stdin && len(paths) > 0:
		return nil, "Can't specify files with --stdin"
	case !c.stdin && len(paths) == 0:
		return nil, "No file specified"
	}
	return paths, ""
}

// open decides where attributes are read.
func (c *attrChecker) open(files *Files) error {
	src := attrSources(c.env, files.blob)
	if files.Tree != nil {
		src.Mode = func(path string) uint32 { return files.Tree.ObjectMode(files.Index, path) }
	}
	tree, found, err := c.sourceTree()
	if err != nil {
		return err
	}
	if c.cached {
		src.Direction = worktree.AttrIndexOnly
		src.Mode = func(path string) uint32 {
			if e := files.Index.Find(path, 0); e != nil {
				return e.Mode
			}
			return 0
		}
	} else if found {
		h := &headTree{objects: files.Objects, dirs: make(map[string]map[string]object.Entry)}
		if err := h.read("", tree); err != nil {
			return err
		}
		src.Direction = worktree.AttrIndexOnly
		src.Blob = func(path string) ([]byte, bool) {
			e, ok := h.find(path)
			if !ok {
				return nil, false
			}
			typ, content, err := files.Objects.Read(e.ID)
			return content, err == nil && typ == object.Blob
		}
	}
	c.attrs = worktree.NewAttributes(src)
	return nil
}

// sourceTree is the tree that --source, the environment or the configuration names.
func (c *attrChecker) sourceTree() (id oid.ID, found bool, err error) {
	name, must := c.source, "%s: not a valid tree-ish source"
	if name == "" {
		name, must = c.env.Getenv("GIT_ATTR_SOURCE"), "bad --attr-source or GIT_ATTR_SOURCE"
	}
	if name == "" {
		name, _ = c.env.Config.Get("attr.tree")
		must = ""
	}
	if name == "" {
		return id, false, nil
	}
	id, err = newResolver(c.env).Resolve(name, revision.WantTreeish)
	switch {
	case err == nil:
		return id, true, nil
	case must == "":
		return id, false, nil
	case strings.Contains(must, "%s"):
		return id, false, fmt.Errorf(must, name)
	}
	return id, false, errors.New(must)
}

func (c *attrChecker) path(path string) error {
	full, _, ok := worktree.RelativePath(c.env.Repo.WorkTree, c.env.Repo.Prefix, path, false)
	if !ok {
		return fmt.Errorf("'%s' is outside repository at '%s'", path, c.env.Repo.WorkTree)
	}
	names, values := c.names, []worktree.Attr(nil)
	if c.all {
		names, values = c.attrs.All(full)
	} else {
		values = c.attrs.Lookup(full, names)
	}
	for i, n := range names {
		if c.nul {
			c.env.Print(path, "\x00", n, "\x00", values[i].String(), "\x00")
		} else {
			c.env.Print(quotePath(path, quoteHigh(c.env)), ": ", n, ": ", values[i].String(), "\n")
		}
	}
	return nil
}

// eachPath reads paths from standard input, one a line and perhaps quoted, or
// ended by NULs.
func eachPath(env *Env, nul bool, f func(path string) error) error {
	r := bufio.NewReaderSize(env.Stdin, 64<<10)
	end := byte('\n')
	if nul {
		end = 0
	}
	for {
		s, err := r.ReadString(end)
		if s == "" && err == io.EOF {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		if s[len(s)-1] == end {
			s = s[:len(s)-1]
		}
		if !nul && strings.HasPrefix(s, `"`) {
			u, ok := unquotePath(s)
			if !ok {
				return errors.New("line is badly quoted")
			}
			s = u
		}
		if err := f(s); err != nil {
			return err
		}
	}
}
