package builtin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/diff"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

var cmdStatus = &Command{
	Name:    "status",
	Setup:   NeedWorkTree,
	Run:     runStatus,
	Options: func() *parseopt.Parser { return (&statusOptions{}).parser() },
}

// statusOptions are what status and commit --dry-run share.
type statusOptions struct {
	format, branch, aheadBehind    int
	nul                            bool
	stash                          int // -1: not said
	verbose                        int
	untracked, ignored, submodules *string
	noRenames                      int
	findRenames                    *string
}

func (o *statusOptions) parser() *parseopt.Parser {
	o.noRenames, o.stash = -1, -1
	return &parseopt.Parser{
		Usage: []string{"git status [<options>] [--] [<pathspec>...]"},
		Options: append(o.formats(),
			parseopt.NotNative('v', "verbose", "", "show the differences as well"),
			parseopt.SetInt(0, "show-stash", &o.stash, "tell how many entries the stash has", 1),
			parseopt.StringP('u', "untracked-files", &o.untracked, "mode", "which untracked files to show: all, normal, no").OptArg("all"),
			parseopt.StringP(0, "ignored", &o.ignored, "mode", "which ignored files to show: traditional, matching, no").OptArg("traditional"),
			parseopt.StringP(0, "ignore-submodules", &o.submodules, "when", "which changes of submodules to pass over: all, dirty, untracked").OptArg("all"),
			parseopt.NotNative(0, "column", "", "list untracked files in columns"),
			parseopt.SetInt(0, "no-renames", &o.noRenames, "do not look for renames", 1),
			parseopt.OptCallback('M', "find-renames", "n", "look for renames, of files at least that similar", func(a parseopt.Arg) error {
				v := ""
				if a.Given {
					v = a.Value
				}
				o.findRenames = &v
				return nil
			}).NoNeg(),
		),
	}
}

// formats are the options that choose how a status is printed.
func (o *statusOptions) formats() []parseopt.Option {
	o.branch, o.aheadBehind, o.format = -1, -1, formatUnset
	return []parseopt.Option{
		parseopt.SetInt('s', "short", &o.format, "one short line a path", formatShort),
		parseopt.SetInt('b', "branch", &o.branch, "tell about the branch", 1),
		parseopt.SetInt(0, "ahead-behind", &o.aheadBehind, "count the commits that the branch and its upstream do not share", 1),
		parseopt.OptCallback(0, "porcelain", "version", "a format for programs", func(a parseopt.Arg) error {
			switch {
			case a.Unset:
				o.format = formatNone
			case !a.Given, a.Value == "v1", a.Value == "1":
				o.format = formatV1
			case a.Value == "v2", a.Value == "2":
				o.format = formatV2
			default:
				return &parseopt.FatalError{Err: fmt.Errorf("unsupported porcelain version '%s'", a.Value)}
			}
			return nil
		}),
		parseopt.SetInt(0, "long", &o.format, "the format for people (default)", formatLong),
		parseopt.Bool('z', "null", &o.nul, "end each entry with NUL"),
	}
}

// apply puts the options into s, after what the configuration says.
func (o *statusOptions) apply(s *wtStatus) error {
	c := s.env.Config
	if o.nul {
		switch o.format {
		case formatNone, formatUnset:
			o.format = formatV1
		case formatLong:
			return errors.New("options '--long' and '-z' cannot be used together")
		}
	}
	s.nul, s.branchHeader, s.aheadBehind = o.nul, o.branch, o.aheadBehind
	if o.format != formatV1 && o.format != formatV2 && !o.nul {
		short, err := c.Bool("status.short", false)
		if err != nil {
			return err
		}
		if o.format == formatUnset && short {
			o.format = formatShort
		}
		branch, err := c.Bool("status.branch", false)
		if err != nil {
			return err
		}
		if s.branchHeader < 0 && branch {
			s.branchHeader = 1
		}
		ahead, err := c.Bool("status.aheadbehind", true)
		if err != nil {
			return err
		}
		if s.aheadBehind < 0 && !ahead {
			s.aheadBehind = 0
		}
	}
	if o.format == formatUnset {
		o.format = formatNone
	}
	s.format = o.format
	if s.branchHeader < 0 {
		s.branchHeader = 0
	}
	if o.submodules != nil {
		switch *o.submodules {
		case "all", "dirty", "untracked", "none":
		default:
			return fmt.Errorf("bad --ignore-submodules argument: %s", *o.submodules)
		}
		s.ignoreSubmodules = *o.submodules
	}
	return o.applyFiles(s)
}

func (o *statusOptions) applyFiles(s *wtStatus) error {
	if o.untracked != nil {
		mode, ok := untrackedMode(*o.untracked, true)
		if !ok {
			return fmt.Errorf("Invalid untracked files mode '%s'", *o.untracked)
		}
		s.untrackedMode = mode
	}
	if o.ignored != nil {
		switch *o.ignored {
		case "traditional":
			s.ignoredMode = showNormal
		case "matching":
			s.ignoredMode = showAll
		case "no":
		default:
			return fmt.Errorf("Invalid ignored mode '%s'", *o.ignored)
		}
		if s.ignoredMode == showAll && s.untrackedMode == showNone {
			return errors.New("Unsupported combination of ignored and untracked-files arguments")
		}
	}
	if o.stash >= 0 {
		s.showStash = o.stash == 1
	}
	switch {
	case o.noRenames == 1:
		s.renames, s.copies = false, false
	case o.noRenames == 0:
		s.renames = true
	}
	if o.findRenames != nil {
		s.renames = true
		score, ok := parseScore(*o.findRenames)
		if !ok {
			return fmt.Errorf("invalid argument to --find-renames: %s", *o.findRenames)
		}
		s.renameScore = score
	}
	return nil
}

// parseScore reads a similarity: "50%", "5" and "0.5" are half.
func parseScore(s string) (int, bool) {
	if s == "" {
		return 0, true
	}
	digits, percent := strings.CutSuffix(s, "%")
	if percent {
		v, err := strconv.ParseFloat(digits, 64)
		return min(int(v*diff.MaxScore/100), diff.MaxScore), err == nil
	}
	if !strings.Contains(digits, ".") {
		digits = "0." + digits
	}
	v, err := strconv.ParseFloat(digits, 64)
	return min(int(v*diff.MaxScore), diff.MaxScore), err == nil
}

func runStatus(env *Env, argv []string) Status {
	var o statusOptions
	if len(argv) == 1 && argv[0] == "-h" { // whatever the configuration says
		_, err := env.Parse(o.parser(), argv)
		return Fatal(err)
	}
	s, err := newStatus(env)
	if err != nil {
		return Fatal(err)
	}
	args, err := env.Parse(o.parser(), argv)
	if err != nil {
		return Fatal(err)
	}
	if f := foreignStatus(env); f != "" {
		return NotNative(f)
	}
	if err := o.apply(s); err != nil {
		return Fatal(err)
	}
	if s.ps, err = worktree.ParsePathspec(args, pathspecOptions(env)); err != nil {
		return Fatal(err)
	}
	if s.files, err = openFiles(env); err != nil {
		return foreignIndex(err)
	}
	defer s.files.Close()
	if f := foreignSubmodules(env, s.files.Index); f != "" {
		return NotNative(f)
	}
	if s.ps.Magic&worktree.MagicAttr != 0 {
		s.ps.Attrs = s.files.Attrs
	}
	lock := s.refresh()
	if lock != nil {
		defer lock.Rollback()
	}
	if err := s.collect(); err != nil {
		return Fatal(err)
	}
	if s.summary && s.long() && s.anyGitlink() {
		return NotNative("status.submoduleSummary")
	}
	if lock != nil {
		writeRefreshed(env, s.files.Index, lock)
	}
	return Fatal(s.printFormat())
}

// foreignIndex hands a command over whose index only real git can read.
func foreignIndex(err error) Status {
	var foreign *index.UnsupportedError
	if errors.As(err, &foreign) {
		return NotNative(foreign.Feature)
	}
	return Fatal(err)
}

// refresh brings the stat data of the index up to date, and takes the lock of
// the index if that may be written down. There need not be a lock.
func (s *wtStatus) refresh() *lockfile.Lock {
	s.files.Index.Refresh(index.RefreshOptions{Quiet: true, Unmerged: true, Filter: s.wantsEntry()})
	return optionalLock(s.env)
}

func (s *wtStatus) wantsEntry() func(*index.Entry) bool {
	if s.ps == nil || len(s.ps.Items) == 0 {
		return nil
	}
	return func(e *index.Entry) bool { return s.ps.MatchEntry(e, nil) != worktree.NoMatch }
}

// optionalLock takes the lock of the index, unless it is held or
// GIT_OPTIONAL_LOCKS forbids it.
func optionalLock(env *Env) *lockfile.Lock {
	if on, err := env.EnvBool("GIT_OPTIONAL_LOCKS", true); err != nil || !on {
		return nil
	}
	locker, err := env.Repo.Locker()
	if err != nil {
		return nil
	}
	lock, err := locker.Hold(env.Repo.IndexPath(), lockfile.Options{PIDFile: true})
	if err != nil {
		return nil
	}
	return lock
}

// writeRefreshed writes an index whose stat data changed, if the file is still
// the one that was read. What goes wrong is of no concern.
func writeRefreshed(env *Env, x *index.Index, lock *lockfile.Lock) {
	if !x.Changed && !x.HasRacy() || !x.UnchangedOnDisk(env.Repo.IndexPath()) {
		return
	}
	b, err := env.Repo.NewBarrier()
	if err != nil {
		return
	}
	defer b.Rollback()
	if x.Write(lock, b) == nil && b.Commit() == nil {
		postIndexChange(env, x)
	}
}

// long reports whether the format is that for people.
func (s *wtStatus) long() bool {
	return s.format != formatShort && s.format != formatV1 && s.format != formatV2
}

// anyGitlink reports whether anything that changed is a submodule.
func (s *wtStatus) anyGitlink() bool {
	for _, c := range s.changes {
		if submoduleWord(c) != "N..." {
			return true
		}
	}
	return false
}

func (s *wtStatus) printFormat() error {
	switch s.format {
	case formatShort:
		return s.printShort()
	case formatV1:
		s.relative = false
		return s.printShort()
	case formatV2:
		return s.printV2()
	}
	return s.printLong()
}
