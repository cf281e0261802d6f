package builtin

import (
	"bufio"
	"errors"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

var cmdShowRef = &Command{
	Name:    "show-ref",
	Setup:   NeedRepo,
	Run:     runShowRef,
	Options: func() *parseopt.Parser { return new(showRef).parser() },
}

type showRef struct {
	env   *Env
	db    *odb.DB
	store *refs.Store

	tags, branches, exists, verify, head, deref, quiet, hashOnly bool
	exclude                                                      bool
	pattern                                                      string // of --exclude-existing
	abbrev                                                       int
	found                                                        bool
}

func (o *showRef) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{
			"git show-ref [--head] [-d | --dereference] [-s | --hash[=<n>]] [--abbrev[=<n>]] [--branches] [--tags] [--] [<pattern>...]",
			"git show-ref --verify [-q | --quiet] [-d | --dereference] [-s | --hash[=<n>]] [--abbrev[=<n>]] [--] [<ref>...]",
			"git show-ref --exclude-existing[=<pattern>]",
			"git show-ref --exists <ref>",
		},
		Options: []parseopt.Option{
			parseopt.Bool(0, "tags", &o.tags, "tags only, or with --branches both"),
			parseopt.Bool(0, "branches", &o.branches, "branches only, or with --tags both"),
			parseopt.Bool(0, "heads", &o.branches, "an old name of --branches").Hidden(),
			parseopt.Bool(0, "exists", &o.exists, "only tell whether the ref is there, whatever it holds"),
			parseopt.Bool(0, "verify", &o.verify, "take the arguments for full ref names"),
			parseopt.Bool('h', "", &o.head, "show HEAD too").Hidden(),
			parseopt.Bool(0, "head", &o.head, "show HEAD too, even if it would be left out"),
			parseopt.Bool('d', "dereference", &o.deref, "show what tags lead to as well"),
			parseopt.OptCallback('s', "hash", "n", "object names only, of <n> digits", o.setHash),
			parseopt.Abbrev(&o.abbrev),
			parseopt.Bool('q', "quiet", &o.quiet, "print nothing; useful with --verify"),
			parseopt.OptCallback(0, "exclude-existing", "pattern", "of the refs on standard input, show those that are not there", func(a parseopt.Arg) error {
				o.exclude, o.pattern = true, a.Value
				return nil
			}).NoNeg(),
		},
	}
}

func (o *showRef) setHash(a parseopt.Arg) error {
	o.hashOnly = true
	if !a.Given || a.Value == "" {
		return nil
	}
	n, _, ok := parseopt.ParseInt(a.Value)
	if !ok {
		return errors.New("option `hash' expects a numerical value")
	}
	o.abbrev = int(n)
	if n > 0 && n < 4 {
		o.abbrev = 4
	}
	return nil
}

func runShowRef(env *Env, argv []string) Status {
	o := &showRef{env: env}
	args, err := env.Parse(o.parser(), argv)
	if err != nil {
		return Fatal(err)
	}
	if err := exclusive([]bool{o.exclude, o.verify, o.exists}, "--exclude-existing", "--verify", "--exists"); err != nil {
		return Fatal(err)
	}
	if o.store, err = env.Repo.Refs(); err == nil {
		o.db, err = env.Repo.ODB()
	}
	if err != nil {
		return Fatal(err)
	}
	switch {
	case o.exclude:
		return o.missing()
	case o.verify:
		return o.named(args)
	case o.exists:
		return o.exist(args)
	}
	return o.matching(args)
}

// exclusive is git's message for options of which only one may be given.
func exclusive(given []bool, names ...string) error {
	var list []string
	for i, g := range given {
		if g {
			list = append(list, "'"+names[i]+"'")
		}
	}
	switch n := len(list); n {
	case 0, 1:
		return nil
	case 2:
		return errors.New("options " + list[0] + " and " + list[1] + " cannot be used together")
	default:
		return errors.New("options " + strings.Join(list[:n-1], ", ") + ", and " + list[n-1] + " cannot be used together")
	}
}

func (o *showRef) hex(id oid.ID) string {
	if o.abbrev == 0 {
		return id.String()
	}
	return o.db.UniqueAbbrev(id, o.abbrev)
}

func (o *showRef) show(r *refs.Ref) error {
	if !o.db.Has(r.ID) {
		return errors.New("git show-ref: bad ref " + r.Name + " (" + r.ID.String() + ")")
	}
	o.found = true
	if o.quiet {
		return nil
	}
	if o.hashOnly {
		o.env.Print(o.hex(r.ID), "\n")
	} else {
		o.env.Print(o.hex(r.ID), " ", r.Name, "\n")
	}
	if o.deref {
		if peeled, ok := o.store.Peeled(r); ok {
			o.env.Print(o.hex(peeled), " ", r.Name, "^{}\n")
		}
	}
	return nil
}

func (o *showRef) matching(patterns []string) Status {
	if o.head {
		if id, err := o.store.Read("HEAD"); err == nil {
			if err := o.show(&refs.Ref{Name: "HEAD", ID: id}); err != nil {
				return Fatal(err)
			}
		}
	}
	prefixes := []string{""}
	if o.branches || o.tags {
		prefixes = prefixes[:0]
	}
	if o.branches {
		prefixes = append(prefixes, "refs/heads/")
	}
	if o.tags {
		prefixes = append(prefixes, "refs/tags/")
	}
	for _, prefix := range prefixes {
		for r, err := range o.store.All(prefix, refs.Paranoid) {
			if err == nil && matchesTail(r.Name, patterns) {
				err = o.show(&r)
			}
			if err != nil {
				return Fatal(err)
			}
		}
	}
	if !o.found {
		return Exit(1)
	}
	return OK
}

// matchesTail reports whether one of the patterns is the end of name, from a
// slash on.
func matchesTail(name string, patterns []string) bool {
	for _, p := range patterns {
		if rest, ok := strings.CutSuffix(name, p); ok && (rest == "" || rest[len(rest)-1] == '/') {
			return true
		}
	}
	return len(patterns) == 0
}

func (o *showRef) named(names []string) Status {
	if len(names) == 0 {
		return Fatalf("--verify requires a reference")
	}
	for _, name := range names {
		id, err := o.store.Read(name)
		if !strings.HasPrefix(name, "refs/") && !refname.IsSafe(name) {
			err = refs.ErrUnresolved
		}
		switch {
		case err == nil:
			if err := o.show(&refs.Ref{Name: name, ID: id}); err != nil {
				return Fatal(err)
			}
		case !errors.Is(err, refs.ErrUnresolved):
			return Fatal(err)
		case o.quiet:
			return Exit(1)
		default:
			return Fatalf("'%s' - not a valid ref", name)
		}
	}
	return OK
}

func (o *showRef) exist(names []string) Status {
	switch len(names) {
	case 0:
		return Fatalf("--exists requires a reference")
	case 1:
	default:
		return Fatalf("--exists requires exactly one reference")
	}
	_, err := o.store.ReadRaw(names[0])
	var packed *refs.PackedError
	switch {
	case err == nil:
		return OK
	case err == syscall.ENOENT || err == syscall.EISDIR:
		return Failure(2, errors.New("reference does not exist"))
	case errors.As(err, &packed):
		return Fatal(err)
	case err == refs.ErrBroken:
		return Failure(1, errors.New("failed to look up reference: Invalid argument"))
	}
	return Failure(1, errors.New("failed to look up reference: "+ErrnoText(err)))
}

// missing prints the lines of standard input whose ref is not there.
func (o *showRef) missing() Status {
	there := map[string]bool{}
	for r, err := range o.store.All("", refs.Paranoid) {
		if err != nil {
			return Fatal(err)
		}
		there[r.Name] = true
	}
	lines := bufio.NewScanner(o.env.Stdin)
	for lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "^{}")
		name := line[strings.LastIndexAny(line, " \t\v\f\r")+1:]
		switch {
		case !strings.HasPrefix(name, o.pattern):
		case !refname.Check(name, 0):
			o.env.Warn("ref '%s' ignored", name)
		case !there[name]:
			o.env.Print(line, "\n")
		}
	}
	return Fatal(lines.Err())
}
