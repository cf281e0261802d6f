package builtin

import (
	"errors"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

var cmdCheckIgnore = &Command{
	Name:    "check-ignore",
	Setup:   NeedWorkTree,
	Run:     runCheckIgnore,
	Options: func() *parseopt.Parser { return new(ignoreChecker).parser() },
}

// ignoreChecker is one run of check-ignore.
type ignoreChecker struct {
	env                                              *Env
	quiet, verbose, stdin, nul, nonMatching, noIndex bool

	ignore *worktree.Ignore
	index  *index.Index // nil with --no-index
	found  bool
}

func (c *ignoreChecker) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git check-ignore [<options>] <pathname>...", "git check-ignore [<options>] --stdin"},
		Options: []parseopt.Option{
			parseopt.Bool('q', "quiet", &c.quiet, "only set the exit status"),
			parseopt.Bool('v', "verbose", &c.verbose, "show the pattern that decides"),
			parseopt.Group(""),
			parseopt.Bool(0, "stdin", &c.stdin, "read paths from standard input"),
			parseopt.Bool('z', "", &c.nul, "end input and output with NUL"),
			parseopt.Bool('n', "non-matching", &c.nonMatching, "list paths that no pattern matches too"),
			parseopt.Bool(0, "no-index", &c.noIndex, "do not care what is tracked"),
		},
	}
}

func (c *ignoreChecker) check(args []string) error {
	switch {
	case c.stdin && len(args) > 0:
		return errors.New("cannot specify pathnames with --stdin")
	case !c.stdin && c.nul:
		return errors.New("-z only makes sense with --stdin")
	case !c.stdin && len(args) == 0:
		return errors.New("no path specified")
	case c.quiet && len(args) > 1:
		return errors.New("--quiet is only valid with a single pathname")
	case c.quiet && c.verbose:
		return errors.New("cannot have both --quiet and --verbose")
	case c.nonMatching && !c.verbose:
		return errors.New("--non-matching is only valid with --verbose")
	}
	return nil
}

func runCheckIgnore(env *Env, argv []string) Status {
	c := &ignoreChecker{env: env}
	args, err := env.Parse(c.parser(), argv)
	if err != nil {
		return Fatal(err)
	}
	if err := c.check(args); err != nil {
		return Fatal(err)
	}
	if s := foreignFiles(env); s != "" {
		return NotNative(s)
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
	if !c.noIndex {
		c.index = files.Index
	}
	c.ignore = worktree.NewIgnore(standardIgnore(env, files.skippedBlob))
	if c.stdin {
		err = eachPath(env, c.nul, func(path string) error {
			if err := c.paths([]string{path}); err != nil {
				return err
			}
			return env.Flush()
		})
	} else {
		err = c.paths(args)
	}
	if err != nil {
		return Fatal(err)
	}
	if !c.found {
		return Exit(1)
	}
	return OK
}

func (c *ignoreChecker) paths(args []string) error {
	o := pathspecOptions(c.env)
	o.BeyondSymlink = true
	o.Deny = worktree.MagicLiteral | worktree.MagicGlob | worktree.MagicIcase | worktree.MagicExclude | worktree.MagicAttr
	ps, err := worktree.ParsePathspec(args, o)
	if err != nil {
		return err
	}
	seen := make([]worktree.Match, len(ps.Items))
	if c.index != nil {
		if err := insideGitlink(c.index, "", ps); err != nil {
			return err
		}
		for _, e := range c.index.Entries {
			ps.MatchEntry(e, seen)
		}
	}
	for i := range ps.Items {
		it := &ps.Items[i]
		var p *worktree.Pattern
		if seen[i] == worktree.NoMatch {
			p = c.ignore.Decide(it.Match, isDirectory(c.env.Repo.WorkTree+"/"+it.Match))
		}
		if p != nil && p.Negative && !c.verbose {
			p = nil
		}
		if !c.quiet && (p != nil || c.nonMatching) {
			c.print(it.Original, p)
		}
		c.found = c.found || p != nil
	}
	return nil
}

func (c *ignoreChecker) print(path string, p *worktree.Pattern) {
	if c.nul {
		switch {
		case !c.verbose:
		case p == nil:
			c.env.Print("\x00\x00\x00")
		default:
			c.env.Printf("%s\x00%d\x00%s\x00", p.Source, p.Line, p.Original)
		}
		c.env.Print(path, "\x00")
		return
	}
	high := quoteHigh(c.env)
	switch {
	case !c.verbose:
	case p == nil:
		c.env.Print("::\t")
	default:
		c.env.Printf("%s:%d:%s\t", quotePath(p.Source, high), p.Line, p.Original)
	}
	c.env.Print(quotePath(path, high), "\n")
}

// quoteHigh is core.quotePath.
func quoteHigh(env *Env) bool {
	on, err := env.Config.Bool("core.quotepath", true)
	return on || err != nil
}
