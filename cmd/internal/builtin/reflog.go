package builtin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

var cmdReflog = &Command{
	Name:      "reflog",
	Setup:     NeedRepo,
	Run:       runReflog,
	NotNative: []string{"expire", "delete", "drop", "write", "show with options of log"},
}

func runReflog(env *Env, argv []string) Status {
	verb := "show"
	if len(argv) > 0 {
		switch argv[0] {
		case "show", "list", "exists":
			verb, argv = argv[0], argv[1:]
		case "-h", "--help", "expire", "delete", "drop", "write":
			return NotNative(argv[0])
		}
	}
	store, err := env.Repo.Refs()
	if err != nil {
		return Fatal(err)
	}
	switch verb {
	case "exists":
		return reflogExists(store, argv)
	case "list":
		return reflogList(env, store, argv)
	}
	o := &reflogShow{env: env, store: store, max: -1, abbrev: true}
	name, err := o.options(argv)
	if err != nil {
		return Fatal(err)
	}
	if v, ok := env.Config.Get("log.decorate"); ok && v != "auto" && v != "no" && v != "false" || env.Config.Lookup("log.showsignature") != nil {
		return NotNative("log.decorate")
	}
	return o.show(name)
}

func reflogExists(store *refs.Store, argv []string) Status {
	literal := len(argv) > 0 && (argv[0] == "--" || argv[0] == "--end-of-options")
	if literal {
		argv = argv[1:]
	}
	if len(argv) != 1 || !literal && strings.HasPrefix(argv[0], "-") {
		return UsageLine("git reflog exists <ref>")
	}
	if !refname.Check(argv[0], refname.AllowOneLevel) {
		return Fatalf("invalid ref format: %s", argv[0])
	}
	if !store.HasLog(argv[0]) {
		return Exit(1)
	}
	return OK
}

func reflogList(env *Env, store *refs.Store, argv []string) Status {
	if len(argv) > 0 {
		if strings.HasPrefix(argv[0], "-") {
			return NotNative(argv[0])
		}
		return Failure(255, fmt.Errorf("list does not accept arguments: '%s'", argv[0]))
	}
	names, err := store.Logs()
	for _, name := range names {
		env.Print(name, "\n")
	}
	return Fatal(err)
}

// reflogShow is `reflog show`, which in git is a `log -g` of one line a commit.
type reflogShow struct {
	env    *Env
	store  *refs.Store
	max    int
	abbrev bool
}

// options reads the options that are native, and returns the ref.
func (o *reflogShow) options(argv []string) (string, error) {
	var names []string
	for i := 0; i < len(argv); i++ {
		arg := argv[i]
		digits := ""
		switch {
		case arg == "--no-abbrev-commit", arg == "--no-abbrev":
			o.abbrev = false
			continue
		case arg == "--":
			if i+1 < len(argv) {
				return "", NotNative("<path>").Err
			}
			continue
		case !strings.HasPrefix(arg, "-"):
			names = append(names, arg)
			continue
		case arg == "-n" && i+1 < len(argv):
			i++
			digits = argv[i]
		case strings.HasPrefix(arg, "-n"):
			digits = arg[2:]
		case strings.HasPrefix(arg, "--max-count="):
			digits = strings.TrimPrefix(arg, "--max-count=")
		default:
			digits = arg[1:]
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			return "", NotNative(arg).Err
		}
		o.max = n
	}
	switch {
	case len(names) == 0:
		return "HEAD", nil
	case len(names) > 1 || strings.ContainsAny(names[0], "@^~:"):
		return "", NotNative(strings.Join(names, " ")).Err
	}
	return names[0], nil
}

// logOf returns the ref whose log an abbreviated name means, "" for none;
// known says whether the name means a ref at all.
func (o *reflogShow) logOf(name string) (log string, known bool, err error) {
	for _, rule := range refname.Rules() {
		full := rule.Apply(name)
		r, err := o.store.Resolve(full, refs.Reading)
		if err == refs.ErrUnresolved {
			continue
		} else if err != nil {
			return "", false, err
		}
		known = true
		for _, candidate := range []string{full, r.Name} {
			if o.store.HasLog(candidate) {
				return candidate, true, nil
			}
		}
	}
	return "", known, nil
}

func (o *reflogShow) show(name string) Status {
	log, known, err := o.logOf(name)
	switch {
	case err != nil:
		return Fatal(err)
	case !known && name == "HEAD":
		return Fatalf("your current branch '%s' does not have any commits yet", strings.TrimPrefix(o.store.Head(), "refs/heads/"))
	case !known:
		return Fatalf("ambiguous argument '%s': unknown revision or path not in the working tree.\n"+
			"Use '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'", name)
	case log == "":
		return OK
	}
	db, err := o.env.Repo.ODB()
	if err != nil {
		return Fatal(err)
	}
	n := -1
	for e, err := range o.store.LogReverse(log) {
		if err != nil {
			return Fatal(err)
		}
		if n++; o.max == 0 {
			break
		}
		if typ, _, err := db.Info(e.New); err != nil || typ != object.Commit {
			continue // deleted then, or pruned since
		}
		id := e.New.String()
		if o.abbrev {
			id = shortName(o.env, e.New)
		}
		o.env.Printf("%s %s@{%d}: %s\n", id, name, n, e.Message)
		o.max--
	}
	return OK
}
