package builtin

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/worktree"
	"github.com/sluicegit/sluice/syncpolicy"
)

var cmdUpdateIndex = &Command{
	Name:    "update-index",
	Setup:   NeedRepo,
	Run:     runUpdateIndex,
	Options: func() *parseopt.Parser { return (&updateIndex{}).parser() },
}

// updateIndex is one run of the command. Options and paths take effect in the
// order of the command line, so it holds what the options before have set.
type updateIndex struct {
	env     *Env
	files   *Files
	x       *index.Index
	lock    *lockfile.Lock
	barrier *syncpolicy.Barrier
	tx      *odb.Transaction
	hasher  *worktree.Hasher
	lead    index.Leading
	dry     bool // only look whether all options are native

	add, replace, remove, infoOnly, forceRemove, verbose int
	markValid, markSkip                                  int
	ignoreSkipWorktree                                   bool
	refresh                                              refreshFlags
	chmod                                                byte
	nul, forceWrite, stdin                               bool
	version                                              int
	failed                                               bool // exit 1 in the end
}

type refreshFlags uint8

const (
	refreshQuiet refreshFlags = 1 << iota
	refreshUnmerged
	refreshIgnoreMissing
	refreshIgnoreSubmodules
)

const (
	mark   = 1
	unmark = 2
)

func (u *updateIndex) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git update-index [<options>] [--] [<file>...]"},
		Flags: parseopt.StopAtNonOption | parseopt.KeepDashDash,
		Options: []parseopt.Option{
			parseopt.Bit('q', "", &u.refresh, "go on refreshing where files differ from the index", refreshQuiet),
			parseopt.Bit(0, "ignore-submodules", &u.refresh, "refresh: pass over submodules", refreshIgnoreSubmodules),
			parseopt.SetInt(0, "add", &u.add, "take files that are not in the index yet", 1),
			parseopt.SetInt(0, "replace", &u.replace, "allow a file in the place of a directory and the reverse", 1),
			parseopt.SetInt(0, "remove", &u.remove, "drop entries whose files are gone", 1),
			parseopt.Bit(0, "unmerged", &u.refresh, "refresh even with conflicts in the index", refreshUnmerged),
			parseopt.Callback(0, "refresh", "", "bring stat information up to date", func(parseopt.Arg) error { return u.doRefresh(false) }).NoArg().NoNeg(),
			parseopt.Callback(0, "really-refresh", "", "refresh also what is assumed to be unchanged", func(parseopt.Arg) error { return u.doRefresh(true) }).NoArg().NoNeg(),
			parseopt.Callback(0, "cacheinfo", "<mode>,<object>,<path>", "put this entry into the index", inOrder).NoArg().NoNeg().Literal(),
			parseopt.Callback(0, "chmod", "(+|-)x", "set or clear the execute bit of the files that follow", u.setChmod).NoNeg(),
			parseopt.SetInt(0, "assume-unchanged", &u.markValid, "do not look at these files for changes", mark).NoNeg(),
			parseopt.SetInt(0, "no-assume-unchanged", &u.markValid, "look at these files again", unmark).NoNeg(),
			parseopt.SetInt(0, "skip-worktree", &u.markSkip, "these files need not be in the working tree", mark).NoNeg(),
			parseopt.SetInt(0, "no-skip-worktree", &u.markSkip, "these files belong into the working tree again", unmark).NoNeg(),
			parseopt.Bool(0, "ignore-skip-worktree-entries", &u.ignoreSkipWorktree, "leave entries marked skip-worktree alone"),
			parseopt.SetInt(0, "info-only", &u.infoOnly, "record names of objects without storing them", 1),
			parseopt.SetInt(0, "force-remove", &u.forceRemove, "drop these entries even if the files are there", 1),
			parseopt.Bool('z', "", &u.nul, "with --stdin: a NUL ends each path"),
			parseopt.Callback(0, "stdin", "", "read paths from standard input", inOrder).NoArg().NoNeg(),
			parseopt.Callback(0, "index-info", "", "read entries from standard input", inOrder).NoArg().NoNeg(),
			parseopt.Callback(0, "unresolve", "", "bring the conflicts of these paths back", inOrder).NoArg().NoNeg(),
			parseopt.Callback('g', "again", "", "update again what differs from HEAD", inOrder).NoArg().NoNeg(),
			parseopt.Bit(0, "ignore-missing", &u.refresh, "pass over files that are gone", refreshIgnoreMissing),
			parseopt.SetInt(0, "verbose", &u.verbose, "say what is done", 1),
			parseopt.Callback(0, "clear-resolve-undo", "", "forget conflicts that were resolved", func(parseopt.Arg) error {
				if !u.dry {
					u.x.ClearUndo()
				}
				return nil
			}).NoArg().NoNeg(),
			parseopt.Integer(0, "index-version", &u.version, "write the index in this version of the format"),
			parseopt.SetInt(0, "show-index-version", &u.version, "print the version of the format of the index", -1),
			parseopt.NotNative(0, "split-index", "", "keep most entries in a shared file, or do not"),
			parseopt.NotNative(0, "untracked-cache", "", "keep a cache of untracked files, or do not"),
			parseopt.NotNative(0, "test-untracked-cache", "", "try whether such a cache works here"),
			parseopt.NotNative(0, "force-untracked-cache", "", "keep that cache without trying"),
			parseopt.Bool(0, "force-write-index", &u.forceWrite, "write the index even if it did not change"),
			parseopt.NotNative(0, "fsmonitor", "", "use a file system monitor, or do not"),
			parseopt.NotNative(0, "fsmonitor-valid", "", "mark files as watched"),
			parseopt.NotNative(0, "no-fsmonitor-valid", "", "mark files as not watched"),
		},
	}
}

// inOrder is the callback of the options that take over the command line; run
// finds them before the parser does.
func inOrder(parseopt.Arg) error { return errors.New("this option has to be spelt out") }

// ordered are those options, with the length of the shortest unique prefix.
var ordered = [...]struct {
	name string
	min  int
}{{"--cacheinfo", 4}, {"--stdin", 4}, {"--index-info", 8}, {"--unresolve", 5}, {"--again", 4}, {"-g", 2}}

func takesOver(arg string) string {
	for _, o := range ordered {
		if len(arg) >= o.min && strings.HasPrefix(o.name, arg) {
			if o.name == "-g" {
				return "--again"
			}
			return o.name
		}
	}
	return ""
}

func runUpdateIndex(env *Env, argv []string) Status {
	// First without effect: an option that is not native has to show before anything is done.
	scan := &updateIndex{env: env, dry: true}
	if err := scan.commandLine(argv); err != nil {
		return Fatal(err)
	}
	u := &updateIndex{env: env}
	st := u.run(argv)
	if u.lock != nil {
		u.lock.Rollback()
	}
	if u.barrier != nil {
		u.barrier.Rollback()
	}
	if u.files != nil {
		u.files.Close()
	}
	return st
}

func (u *updateIndex) run(argv []string) Status {
	locker, err := u.env.Repo.Locker()
	if err != nil {
		return Fatal(err)
	}
	var lockErr error
	u.lock, lockErr = index.Lock(locker, u.env.Repo.IndexPath())
	if u.files, err = openFiles(u.env); err != nil {
		return Fatal(err)
	}
	u.x = u.files.Index
	u.x.SkipWorktreeUpdated = true
	if u.barrier, err = u.env.Repo.NewBarrier(); err != nil {
		return Fatal(err)
	}
	u.tx = u.files.Objects.Begin(u.barrier)
	if err := u.commandLine(argv); err != nil {
		return Fatal(err)
	}
	if err := u.setVersion(); err != nil {
		return Fatal(err)
	}
	if u.stdin {
		if err := u.pathsFromInput(); err != nil {
			return Fatal(err)
		}
	}
	if u.x.Changed || u.forceWrite {
		if lockErr != nil {
			if u.refresh&refreshQuiet != 0 {
				return Exit(128)
			}
			return Fatal(lockErr)
		}
		if err := writeIndex(u.env, u.x, u.lock, u.barrier); err != nil {
			return Fatal(err)
		}
	}
	if u.failed {
		return Exit(1)
	}
	return OK
}

// commandLine takes options and paths as they come.
func (u *updateIndex) commandLine(argv []string) error {
	p := u.parser()
	for len(argv) > 0 {
		end := 0
		for end < len(argv) && argv[end] != "--" && takesOver(argv[end]) == "" {
			end++
		}
		rest, err := u.env.Parse(p, argv[:end])
		if err != nil {
			return unknownInQuotes(err)
		}
		if len(rest) > 0 {
			argv = argv[end-len(rest):]
			if err := u.argument(argv[0]); err != nil {
				return err
			}
			argv = argv[1:]
			continue
		}
		argv = argv[end:]
		if len(argv) == 0 {
			return nil
		}
		if argv[0] == "--" {
			for _, path := range argv[1:] {
				if err := u.argument(path); err != nil {
					return err
				}
			}
			return nil
		}
		if argv, err = u.takeOver(takesOver(argv[0]), argv[1:]); err != nil {
			return err
		}
	}
	return nil
}

// unknownInQuotes gives the complaint about an unknown option the quotes that
// it has in this command.
func unknownInQuotes(err error) error {
	var usage *parseopt.UsageError
	if errors.As(err, &usage) && strings.HasPrefix(usage.Msg, "unknown ") {
		usage.Msg = strings.Replace(usage.Msg, "`", "'", 1)
	}
	return err
}

// takeOver runs an option that uses the arguments behind it, and returns what is left of these.
func (u *updateIndex) takeOver(name string, args []string) ([]string, error) {
	switch name {
	case "--cacheinfo":
		return u.cacheInfo(args)
	case "--unresolve":
		return nil, u.unresolve(args)
	case "--again":
		return nil, u.again(args)
	}
	if len(args) > 0 {
		return nil, &parseopt.UsageError{Msg: fmt.Sprintf("option '%s' must be the last argument", name[2:])}
	}
	if u.dry {
		return nil, nil
	}
	if name == "--stdin" {
		u.stdin = true
		return nil, nil
	}
	u.add, u.replace, u.remove = 1, 1, 1
	return nil, u.indexInfo()
}

func (u *updateIndex) setChmod(a parseopt.Arg) error {
	if a.Value != "+x" && a.Value != "-x" {
		return errors.New(`option 'chmod' expects "+x" or "-x"`)
	}
	u.chmod = a.Value[0]
	return nil
}

// report says what was done, with --verbose.
func (u *updateIndex) report(format string, args ...any) {
	if u.verbose != 0 {
		u.env.Printf(format+"\n", args...)
	}
}

func (u *updateIndex) setVersion() error {
	const minVersion, maxVersion = minIndexVersion, maxIndexVersion
	switch {
	case u.version == 0:
	case u.version < 0:
		u.env.Printf("%d\n", u.x.Version)
	case u.version < minVersion || u.version > maxVersion:
		return fmt.Errorf("index-version %d not in range: %d..%d", u.version, minVersion, maxVersion)
	default:
		if int(u.x.Version) != u.version {
			u.x.Changed = true
		}
		u.report("index-version: was %d, set to %d", u.x.Version, u.version)
		u.x.Version = uint32(u.version)
	}
	return nil
}

// doRefresh is --refresh, or with really --really-refresh.
func (u *updateIndex) doRefresh(really bool) error {
	if u.dry {
		return nil
	}
	if err := u.env.Repo.RequireWorkTree(); err != nil {
		return &parseopt.FatalError{Err: err}
	}
	clean := u.x.Refresh(index.RefreshOptions{
		Really: really, Quiet: u.refresh&refreshQuiet != 0, Unmerged: u.refresh&refreshUnmerged != 0,
		IgnoreMissing: u.refresh&refreshIgnoreMissing != 0, IgnoreSubmodules: u.refresh&refreshIgnoreSubmodules != 0,
		Report: func(p index.Problem, name string) {
			if p == index.NeedsMerge {
				u.env.Printf("%s: needs merge\n", name)
			} else {
				u.env.Printf("%s: needs update\n", name)
			}
		},
	})
	u.failed = u.failed || !clean
	if u.x.HasRacy() {
		u.x.Changed = true // a later time of the index makes them less so
	}
	return nil
}

// pathsFromInput is --stdin.
func (u *updateIndex) pathsFromInput() error {
	return eachRecord(u.env, u.nul, func(line string) error {
		if !u.nul && strings.HasPrefix(line, `"`) {
			name, ok := unquotePath(line)
			if !ok {
				return errors.New("line is badly quoted")
			}
			line = name
		}
		return u.argument(line)
	})
}

// eachRecord calls f for each line, or each piece that a NUL ends, of the input.
func eachRecord(env *Env, nul bool, f func(record string) error) error {
	in, end := env.Input(), byte('\n')
	if nul {
		end = 0
	}
	for {
		record, err := in.ReadString(end)
		if err != nil && (err != io.EOF || record == "") {
			return nil // git takes a failing read for the end, too
		}
		if err == nil {
			record = record[:len(record)-1]
		}
		if err := f(record); err != nil {
			return err
		}
	}
}
