package builtin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

var cmdRevParse = &Command{
	Name:      "rev-parse",
	Run:       runRevParse,
	NotNative: []string{"--show-superproject-working-tree", "--output-object-format"},
}

const revParseUsage = `git rev-parse --parseopt [<options>] -- [<args>...]
   or: git rev-parse --sq-quote [<arg>...]
   or: git rev-parse [<options>] [<arg>...]

Run "git rev-parse --parseopt -h" for more information on the first usage.`

// localVariables belong to one repository: scripts unset them before they go
// to another one.
var localVariables = [...]string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_OBJECT_DIRECTORY",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS",
	"GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
}

// A revParse is one run of the command.
type revParse struct {
	env  *Env
	res  *revision.Resolver
	argv []string // what is left to read

	prefix       string
	outputPrefix bool
	def          *string // --default

	// What is shown of revisions and other arguments, of flags and others.
	revs, noRevs, flags, nonFlags bool

	reversed        bool // --not
	symbolic, full  bool
	abbrevRef       bool
	abbrevStrict    bool
	abbrev          int // 0: full names
	sq              bool
	verify, quiet   bool
	asIs            int  // 1: paths from here on; 2: after "--"
	dashdash        bool // "--" comes somewhere
	endOfOptions    bool
	exclude         refExclusions
	relative, canon bool // --path-format
	revCount        int
	lastID          oid.ID
	lastName        string
	lastReversed    bool
}

// errNoSingle ends rev-parse --verify.
var errNoSingle = errors.New("Needed a single revision")

// A statusError ends a command without a message.
type statusError int

func (e statusError) Error() string { return "exit status " + strconv.Itoa(int(e)) }

func runRevParse(env *Env, argv []string) Status {
	p := &revParse{env: env, argv: argv, revs: true, noRevs: true, flags: true, nonFlags: true}
	if len(argv) > 0 {
		switch argv[0] {
		case "--parseopt":
			return runParseOpt(env, argv[1:])
		case "--sq-quote":
			for _, a := range argv[1:] {
				env.Print(" ", Quote(a))
			}
			env.Print("\n")
			return OK
		case "-h":
			if len(argv) == 1 {
				env.Print("usage: ", revParseUsage, "\n")
				return Exit(129)
			}
			return UsageLine(revParseUsage)
		}
	}
	for _, a := range argv {
		if a == "--" {
			p.dashdash = true
		}
	}
	var err error
	if len(argv) == 0 {
		err = p.setup()
	} else {
		err = p.run()
	}
	return revParseStatus(err)
}

func revParseStatus(err error) Status {
	var code statusError
	if errors.As(err, &code) {
		return Exit(int(code))
	}
	return Fatal(err)
}

// setup finds the repository, when first needed.
func (p *revParse) setup() error {
	if p.res != nil {
		return nil
	}
	if err := p.env.Discover(); err != nil {
		var foreign *repo.UnsupportedError
		if errors.As(err, &foreign) {
			return NotNative(foreign.Error()).Err
		}
		return err
	}
	p.prefix = p.env.Repo.Prefix
	p.res = newResolver(p.env)
	return nil
}

// resolver is quiet with -q.
func (p *revParse) resolver() *revision.Resolver {
	if p.quiet {
		return revision.New(p.env.Repo)
	}
	return p.res
}

func (p *revParse) run() error {
	for len(p.argv) > 0 {
		arg := p.argv[0]
		p.argv = p.argv[1:]
		if err := p.arg(arg); err != nil {
			return err
		}
	}
	if !p.verify {
		_, err := p.showDefault()
		return err
	}
	if p.revCount == 1 {
		return p.showRev(p.lastReversed, p.lastID, p.lastName)
	}
	if p.revCount == 0 {
		if shown, err := p.showDefault(); shown || err != nil {
			return err
		}
	}
	return p.noSingle()
}

func (p *revParse) noSingle() error {
	if p.quiet {
		return statusError(1)
	}
	return errNoSingle
}

// next returns the argument of an option that stands alone.
func (p *revParse) next(option string) (string, error) {
	if len(p.argv) == 0 {
		return "", fmt.Errorf("%s requires an argument", option)
	}
	v := p.argv[0]
	p.argv = p.argv[1:]
	return v, nil
}

func (p *revParse) arg(arg string) error {
	if p.asIs > 0 {
		shown, err := p.showFile(arg)
		if err == nil && shown && p.asIs < 2 {
			err = p.res.VerifyFile(arg, false)
		}
		return err
	}
	if !p.endOfOptions {
		switch arg {
		case "--local-env-vars":
			p.env.Print(strings.Join(localVariables[:], "\n"), "\n")
			return nil
		case "--resolve-git-dir":
			return p.resolveGitDir()
		}
	}
	if err := p.setup(); err != nil {
		return err
	}
	if arg == "--" {
		p.asIs = 2
		if p.flags || p.revs {
			_, err := p.showFileRaw(arg)
			return err
		}
		return nil
	}
	if !p.endOfOptions && strings.HasPrefix(arg, "-") {
		return p.option(arg)
	}
	return p.revision(arg)
}

func (p *revParse) resolveGitDir() error {
	name, err := p.next("--resolve-git-dir")
	if err != nil {
		return err
	}
	dir, err := repo.ResolveGitDir(name, repo.Options{Dir: p.env.Dir, Environ: p.env.Environ})
	if err != nil {
		return err
	}
	p.env.Print(dir, "\n")
	return nil
}

// revision shows an argument that is no option.
func (p *revParse) revision(arg string) error {
	if ok, err := p.difference(arg); ok || err != nil {
		return err
	}
	if ok, err := p.parents(arg); ok || err != nil {
		return err
	}
	name, reversed := strings.CutPrefix(arg, "^")
	id, err := p.resolver().Resolve(name, revision.Any)
	switch {
	case err == nil && p.verify:
		p.revCount++
		p.lastID, p.lastName, p.lastReversed = id, name, reversed
		return nil
	case err == nil:
		return p.showRev(reversed, id, name)
	case !errors.Is(err, revision.ErrUnknown):
		if p.quiet {
			return statusError(128)
		}
		return err
	case p.verify:
		return p.noSingle()
	case p.dashdash:
		return fmt.Errorf("bad revision '%s'", arg)
	}
	p.asIs = 1
	shown, err := p.showFile(arg)
	if err != nil || !shown {
		return err
	}
	return p.res.VerifyFile(arg, true)
}

// difference shows a..b and a...b.
func (p *revParse) difference(arg string) (bool, error) {
	start, end, ok := strings.Cut(arg, "..")
	if !ok {
		return false, nil
	}
	end, symmetric := strings.CutPrefix(end, ".")
	if start == "" && end == "" && !symmetric {
		return false, nil
	}
	if end == "" {
		end = "HEAD"
	}
	if start == "" {
		start = "HEAD"
	}
	a, err := p.committish(start)
	if err != nil {
		return p.notRev(err)
	}
	b, err := p.committish(end)
	if err != nil {
		return p.notRev(err)
	}
	if err := p.showRev(false, b, end); err != nil {
		return true, err
	}
	if err := p.showRev(!symmetric, a, start); err != nil || !symmetric {
		return true, err
	}
	w, err := revision.NewRepoWalk(p.env.Repo)
	if err != nil {
		return true, err
	}
	ca, err := w.Committish(a)
	if err != nil {
		return false, nil
	}
	cb, err := w.Committish(b)
	if err != nil {
		return false, nil
	}
	bases, err := w.MergeBases(ca.ID, cb.ID)
	if err != nil {
		return true, err
	}
	for _, id := range bases {
		if err := p.showRev(true, id, ""); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (p *revParse) committish(name string) (oid.ID, error) {
	return p.res.Resolve(name, revision.WantCommittish)
}

// notRev lets the other ways to read an argument have their turn.
func (p *revParse) notRev(err error) (bool, error) {
	if errors.Is(err, revision.ErrUnknown) {
		return false, nil
	}
	return false, err
}

// parents shows rev^!, rev^@ and rev^-n.
func (p *revParse) parents(arg string) (bool, error) {
	base, what, n := arg, byte(0), 0
	switch {
	case strings.Contains(arg, "^!"):
		if !strings.HasSuffix(arg, "^!") || strings.Index(arg, "^!") != len(arg)-2 {
			return false, nil
		}
		base, what = arg[:len(arg)-2], '!'
	case strings.Contains(arg, "^@"):
		if strings.Index(arg, "^@") != len(arg)-2 {
			return false, nil
		}
		base, what = arg[:len(arg)-2], '@'
	case strings.Contains(arg, "^-"):
		i := strings.Index(arg, "^-")
		base, what, n = arg[:i], '-', 1
		if arg[i+2:] != "" {
			var err error
			if n, err = strconv.Atoi(arg[i+2:]); err != nil || n == 0 {
				return false, nil
			}
		}
	default:
		return false, nil
	}
	id, err := p.committish(base)
	if err != nil {
		return p.notRev(err)
	}
	w, err := revision.NewRepoWalk(p.env.Repo)
	if err != nil {
		return true, err
	}
	c, err := w.Committish(id)
	if err != nil || n > len(c.Parents) || n < 0 {
		return false, nil
	}
	if what != '@' {
		if err := p.showRev(false, id, base); err != nil {
			return true, err
		}
	}
	for i, parent := range c.Parents {
		if n != 0 && n != i+1 {
			continue
		}
		name := ""
		if p.symbolic || p.full {
			name = base + "^" + strconv.Itoa(i+1)
		}
		if err := p.showRev(what != '@', parent.ID, name); err != nil {
			return true, err
		}
	}
	return true, nil
}

// show prints one line, or with --sq one quoted word.
func (p *revParse) show(s string) {
	if p.sq {
		p.env.Print("'", strings.ReplaceAll(s, "'", `'\''`), "' ")
		return
	}
	p.env.Print(s, "\n")
}

func (p *revParse) showType(reversed bool, s string) {
	if reversed != p.reversed {
		p.env.Print("^")
	}
	p.show(s)
}

// showRev shows a revision in the form that was asked for. name is "" if it
// has none.
func (p *revParse) showRev(reversed bool, id oid.ID, name string) error {
	if !p.revs {
		return nil
	}
	p.def = nil
	switch {
	case (p.full || p.abbrevRef) && name != "":
		ref, n, err := p.res.FindRef(name)
		if err != nil {
			return err
		}
		switch n {
		case 0: // not a ref
		case 1:
			full := ref.Name
			if p.abbrevRef {
				full = p.res.Shorten(full, p.abbrevStrict)
			}
			p.showType(reversed, full)
		default:
			p.env.Error(fmt.Errorf("refname '%s' is ambiguous", name))
		}
	case p.symbolic && name != "":
		p.showType(reversed, name)
	case p.abbrev != 0:
		db, err := p.env.Repo.ODB()
		if err != nil {
			return err
		}
		p.showType(reversed, db.UniqueAbbrev(id, p.abbrev))
	default:
		p.showType(reversed, id.String())
	}
	return nil
}

func (p *revParse) showDefault() (bool, error) {
	if p.def == nil {
		return false, nil
	}
	name := *p.def
	p.def = nil
	id, err := p.res.Resolve(name, revision.Any)
	if err != nil {
		if errors.Is(err, revision.ErrUnknown) {
			err = nil
		}
		return false, err
	}
	return true, p.showRev(false, id, name)
}

// showFile shows a path, if paths are wanted.
func (p *revParse) showFile(arg string) (bool, error) {
	if p.outputPrefix {
		arg = prefixFilename(p.prefix, arg)
	}
	return p.showFileRaw(arg)
}

func (p *revParse) showFileRaw(arg string) (bool, error) {
	if _, err := p.showDefault(); err != nil {
		return false, err
	}
	if p.nonFlags && p.noRevs {
		p.show(arg)
		return true, nil
	}
	return false, nil
}

// prefixFilename puts the prefix before a path that the user gave.
func prefixFilename(prefix, name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return prefix + name
}

// revFlags are the options that rev-list takes.
var revFlags = [...]string{
	"--all", "--bisect", "--dense", "--branches=", "--branches", "--header", "--ignore-missing", "--max-age=", "--max-count=",
	"--min-age=", "--no-merges", "--min-parents=", "--no-min-parents", "--max-parents=", "--no-max-parents", "--objects",
	"--objects-edge", "--parents", "--pretty", "--remotes=", "--remotes", "--glob=", "--sparse", "--tags=", "--tags",
	"--topo-order", "--date-order", "--unpacked",
}

func isRevFlag(arg string) bool {
	if len(arg) > 1 && arg[0] == '-' && arg[1] >= '0' && arg[1] <= '9' {
		return true
	}
	for _, f := range revFlags {
		if arg == f || strings.HasSuffix(f, "=") && strings.HasPrefix(arg, f) {
			return true
		}
	}
	return false
}

// showFlag shows an option that is none of rev-parse's own.
func (p *revParse) showFlag(arg string) bool {
	wanted := p.noRevs
	if isRevFlag(arg) {
		wanted = p.revs
	}
	if !p.flags || !wanted {
		return false
	}
	p.show(arg)
	return true
}

func (p *revParse) showDate(flag, date string) {
	if !p.flags || !p.revs {
		return
	}
	src := ident.Source{LookupEnv: p.env.LookupEnv}
	now, _ := src.Datestamp()
	when, _ := ident.Approxidate(date, time.Unix(now, 0), src.Location())
	p.show(flag + strconv.FormatInt(when, 10))
}
