package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

var cmdRevList = &Command{
	Name:  "rev-list",
	Setup: NeedRepo,
	Run:   runRevList,
	NotNative: []string{
		"--alternate-refs", "--ancestry-path", "--author", "--bisect", "--boundary", "--cherry", "--cherry-mark", "--cherry-pick",
		"--children", "--committer", "--disk-usage", "--filter", "--full-history", "--graph", "--grep",
		"--header", "--in-commit-order", "--indexed-objects", "--maximal-only", "--merge", "--missing", "--no-walk=unsorted",
		"--oneline", "--pretty", "--reflog", "--remove-empty", "--show-pulls", "--show-signature",
		"--simplify-by-decoration", "--simplify-merges", "--sparse", "--timestamp", "--unpacked", "--use-bitmap-index",
		"--walk-reflogs", "-z", "<path>",
	},
}

// A revList is one run of the command.
type revList struct {
	env  *Env
	res  *revision.Resolver
	req  revision.Request
	opts revision.ArgOptions

	exclude      refExclusions
	given        bool // revisions were asked for, even if there are none
	stdin        bool
	dashdash     bool
	endOfOptions bool

	count, quiet, parents, leftRight bool
	abbrev, noNames                  bool
	left, right                      int
}

func runRevList(env *Env, argv []string) Status {
	p := &revList{env: env, res: newResolver(env)}
	if len(argv) == 1 && argv[0] == "-h" {
		env.Print("usage: ", revListUsage)
		return Exit(129)
	}
	if err := p.parse(argv); err != nil {
		return Fatal(err)
	}
	if len(p.req.Tips) == 0 && !p.given {
		return UsageLine(strings.TrimSuffix(revListUsage, "\n"))
	}
	return Fatal(p.run())
}

const revListUsage = "git rev-list [<options>] <commit>... [--] [<path>...]\n"

func (p *revList) parse(argv []string) error {
	for i, a := range argv {
		if a == "--" {
			p.dashdash = true
			if len(argv) > i+1 {
				return NotNative("<path>").Err
			}
			argv = argv[:i]
			break
		}
	}
	for len(argv) > 0 {
		arg := argv[0]
		argv = argv[1:]
		var err error
		switch {
		case !p.endOfOptions && len(arg) > 1 && arg[0] == '-':
			argv, err = p.option(arg, argv)
		default:
			err = p.revision(arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// revision reads one argument that is no option.
func (p *revList) revision(arg string) error {
	o := p.opts
	o.NotFile = p.dashdash
	o.Committish = true
	revs, err := p.res.Arg(arg, o)
	if errors.Is(err, revision.ErrUnknown) {
		if p.dashdash || strings.HasPrefix(arg, "^") {
			return fmt.Errorf("bad revision '%s'", arg)
		}
		if err := p.res.VerifyFile(arg, true); err != nil {
			return err
		}
		return NotNative("<path>").Err
	}
	if err != nil {
		return err
	}
	p.given = true
	for _, r := range revs {
		p.req.Tips = append(p.req.Tips, r.Tip)
	}
	return nil
}

func (p *revList) option(arg string, rest []string) ([]string, error) {
	name, value, has := strings.Cut(arg, "=")
	if arg[1] >= '0' && arg[1] <= '9' {
		return rest, p.maxCount(arg[1:])
	}
	if strings.HasPrefix(arg, "-n") && !strings.HasPrefix(arg, "--") {
		if arg != "-n" {
			return rest, p.maxCount(arg[2:])
		}
		name, has = "--max-count", false
	}
	if p.flag(arg) {
		return rest, nil
	}
	if (name == "--glob" || name == "--exclude") && !has {
		if len(rest) == 0 {
			return rest, fmt.Errorf("Option '%s' requires a value", name[2:])
		}
		value, rest, has = rest[0], rest[1:], true
	}
	if done, err := p.refOption(name, value, has); done {
		return rest, err
	}
	switch name {
	case "--max-count", "--skip", "--min-parents", "--max-parents", "--since", "--after", "--until", "--before", "--max-age", "--min-age":
		if !has {
			if len(rest) == 0 {
				return rest, fmt.Errorf("Option '%s' requires a value", strings.TrimLeft(name, "-"))
			}
			value, rest = rest[0], rest[1:]
		}
		return rest, p.value(name, value)
	case "--stdin":
		if p.stdin {
			return rest, errors.New("--stdin given twice?")
		}
		p.stdin, p.given = true, true
		return rest, p.readStdin()
	}
	return rest, NotNative(name).Err
}

// flag reads the options without a value.
func (p *revList) flag(arg string) bool {
	r := &p.req
	switch arg {
	case "--objects":
		r.Objects, r.VerifyBlobs = true, true
	case "--objects-edge":
		r.Objects, r.VerifyBlobs, r.Edges = true, true, true
	case "--not":
		p.opts.Not = !p.opts.Not
	case "--ignore-missing":
		p.opts.IgnoreMissing, r.IgnoreMissing = true, true
	case "--quiet":
		p.quiet = true
	case "--count":
		p.count = true
	case "--parents":
		p.parents = true
	case "--left-right":
		p.leftRight = true
	case "--left-only":
		r.LeftOnly = true
	case "--right-only":
		r.RightOnly = true
	case "--first-parent":
		r.FirstParent = true
	case "--reverse":
		r.Reverse = !r.Reverse
	case "--topo-order":
		r.Topo, r.DateOrder = true, false
	case "--date-order":
		r.Topo, r.DateOrder = true, true
	case "--no-walk", "--no-walk=sorted":
		r.NoWalk = true
	case "--do-walk":
		r.NoWalk = false
	case "--merges":
		r.MinParents = 2
	case "--no-merges":
		r.MaxParents, r.LimitMax = 1, true
	case "--no-min-parents":
		r.MinParents = 0
	case "--no-max-parents":
		r.LimitMax = false
	case "--abbrev-commit":
		p.abbrev = true
	case "--no-abbrev-commit":
		p.abbrev = false
	case "--object-names":
		p.noNames = false
	case "--no-object-names":
		p.noNames = true
	case "--end-of-options":
		p.endOfOptions = true
	default:
		return false
	}
	return true
}

func (p *revList) maxCount(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return fmt.Errorf("'%s': not an integer", s)
	}
	p.req.MaxCount, p.req.None = max(n, 0), n == 0
	return nil
}

func (p *revList) value(name, value string) error {
	switch name {
	case "--max-count":
		return p.maxCount(value)
	case "--skip", "--min-parents", "--max-parents":
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("'%s': not an integer", value)
		}
		switch name {
		case "--skip":
			p.req.Skip = n
		case "--min-parents":
			p.req.MinParents = n
		default:
			p.req.MaxParents, p.req.LimitMax = n, n >= 0
		}
		return nil
	case "--max-age", "--min-age":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("'%s': not a number of seconds since epoch", value)
		}
		if name == "--max-age" {
			p.req.Since = n
		} else {
			p.req.Until = n
		}
		return nil
	}
	src := ident.Source{LookupEnv: p.env.LookupEnv}
	now, _ := src.Datestamp()
	when, _ := ident.Approxidate(value, time.Unix(now, 0), src.Location())
	if name == "--since" || name == "--after" {
		p.req.Since = when
	} else {
		p.req.Until = when
	}
	return nil
}

// refOption reads the options that stand for many refs.
func (p *revList) refOption(name, value string, has bool) (bool, error) {
	prefix := ""
	var match func(string) bool
	switch name {
	case "--exclude":
		if !has {
			return false, nil
		}
		p.exclude.patterns = append(p.exclude.patterns, value)
		return true, nil
	case "--exclude-hidden":
		if !has {
			return false, nil
		}
		return true, p.exclude.hide(p.env, value)
	case "--all":
		if has {
			return false, nil
		}
		prefix = "refs/"
	case "--branches":
		prefix = "refs/heads/"
	case "--tags":
		prefix = "refs/tags/"
	case "--remotes":
		prefix = "refs/remotes/"
	case "--glob":
		if !has {
			return false, nil
		}
	default:
		return false, nil
	}
	exclude := p.exclude
	trim := prefix
	switch name {
	case "--all":
		trim = ""
	case "--branches", "--tags", "--remotes":
		if err := exclude.refuse(name); err != nil {
			return true, err
		}
	}
	if has {
		match, prefix = refGlob(prefix, value), "refs/"
	}
	p.given = true
	p.exclude = refExclusions{}
	err := eachRefBut(p.env, prefix, trim, match, exclude, p.addRef)
	if err == nil && name == "--all" && !exclude.excludes("HEAD", "HEAD") {
		err = p.addHead()
	}
	return true, err
}

func (p *revList) addRef(name string, id oid.ID) error {
	p.req.Tips = append(p.req.Tips, revision.Tip{ID: id, Not: p.opts.Not, Name: name})
	return nil
}

func (p *revList) addHead() error {
	store, err := p.env.Repo.Refs()
	if err != nil {
		return err
	}
	id, err := store.Read("HEAD")
	if err != nil {
		return nil // unborn
	}
	return p.addRef("HEAD", id)
}

// readStdin reads revisions, and since git 2.42 options for refs, one a line.
func (p *revList) readStdin() error {
	saved, end := p.opts.Not, false
	p.opts.Not = false
	in := bufio.NewReaderSize(p.env.Stdin, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if line == "" && err != nil {
			break
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
			if err != nil {
				break
			}
			continue
		case line == "--end-of-options" && !end:
			end = true
		case line == "--":
			if rest, rerr := in.ReadString('\n'); rest != "" || rerr != io.EOF {
				return NotNative("<path>").Err
			}
		case line == "--not" && !end:
			p.opts.Not = !p.opts.Not
		case line[0] == '-' && !end:
			name, value, has := strings.Cut(line, "=")
			if (name == "--glob" || name == "--exclude") && !has {
				return fmt.Errorf("Option '%s' requires a value", name)
			}
			done, err := p.refOption(name, value, has)
			if !done && err == nil {
				err = fmt.Errorf("invalid option '%s' in --stdin mode", line)
			}
			if err != nil {
				return err
			}
		default:
			if err := p.stdinRevision(line); err != nil {
				return err
			}
		}
	}
	p.opts.Not = saved
	return nil
}

func (p *revList) stdinRevision(line string) error {
	o := p.opts
	o.NotFile = true
	revs, err := p.res.Arg(line, o)
	if errors.Is(err, revision.ErrUnknown) {
		return fmt.Errorf("bad revision '%s'", line)
	}
	for _, r := range revs {
		p.req.Tips = append(p.req.Tips, r.Tip)
	}
	return err
}

func (p *revList) run() error {
	switch {
	case p.req.LeftOnly && p.req.RightOnly:
		return errors.New("options '--left-only' and '--right-only' cannot be used together")
	case p.req.Reverse && p.req.Edges, p.req.NoWalk && p.req.Objects:
		return NotNative("--objects").Err
	}
	w, err := revision.NewRepoWalk(p.env.Repo)
	if err != nil {
		return err
	}
	if err := w.Run(&p.req, p.show); err != nil {
		return err
	}
	switch {
	case !p.count:
	case p.leftRight:
		p.env.Printf("%d\t%d\n", p.left, p.right)
	default:
		p.env.Printf("%d\n", p.left+p.right)
	}
	return nil
}

func (p *revList) show(it *revision.Item) error {
	if !it.Edge {
		if it.Left {
			p.left++
		} else {
			p.right++
		}
	}
	switch {
	case p.quiet || p.count:
		return nil
	case it.Edge:
		p.env.Print("-", it.ID.String(), "\n")
		return nil
	case it.Type == object.Commit:
		return p.showCommit(it)
	}
	path := it.Path
	for i, c := range path {
		if c == '\n' {
			path = path[:i]
			break
		}
	}
	if p.noNames {
		p.env.Print(it.ID.String(), "\n")
		return nil
	}
	p.env.Print(it.ID.String(), " ", string(path), "\n")
	return nil
}

func (p *revList) showCommit(it *revision.Item) error {
	if p.leftRight {
		if it.Left {
			p.env.Print("<")
		} else {
			p.env.Print(">")
		}
	}
	if !p.abbrev && !p.parents {
		p.env.Print(it.ID.String(), "\n")
		return nil
	}
	p.env.Print(p.name(it.ID))
	if p.parents {
		for _, parent := range it.Commit.Parents {
			p.env.Print(" ", p.name(parent.ID))
		}
	}
	p.env.Print("\n")
	return nil
}

func (p *revList) name(id oid.ID) string {
	if p.abbrev {
		if db, err := p.env.Repo.ODB(); err == nil {
			n := p.res.AbbrevLen()
			if n == 0 {
				n = -1
			}
			return db.UniqueAbbrev(id, n)
		}
	}
	return id.String()
}
