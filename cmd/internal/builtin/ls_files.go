package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

var cmdLsFiles = &Command{
	Name:    "ls-files",
	Setup:   NeedRepo,
	Run:     runLsFiles,
	Options: func() *parseopt.Parser { return (&lsFiles{}).parser() },
}

// lsFiles is one run of the command: its options, and what they select.
type lsFiles struct {
	env   *Env
	files *Files
	x     *index.Index

	nul, tags, validBit, cached, deleted, modified, others, stage, killed, eol bool
	unmerged, undo, ignored, directories, hideEmpty, fullName, errorUnmatch    bool
	debug, dedup, sparse                                                       bool
	abbrev                                                                     int
	withTree, perDir                                                           string
	format                                                                     *string
	excludes, excludeFiles                                                     []string
	standard, excludesGiven                                                    bool

	ps        *worktree.Pathspec
	seen      []worktree.Match
	ignore    *worktree.Ignore
	prefix    string // what shown names are relative to
	quoteHigh bool
	lead      index.Leading
	overlaid  map[*index.Entry]bool // entries that --with-tree has added
}

func (l *lsFiles) parser() *parseopt.Parser {
	exclude := func(list *[]string) func(parseopt.Arg) error {
		return func(a parseopt.Arg) error {
			*list, l.excludesGiven = append(*list, a.Value), true
			return nil
		}
	}
	return &parseopt.Parser{
		Usage: []string{"git ls-files [<options>] [<file>...]"},
		Options: []parseopt.Option{
			parseopt.Bool('z', "", &l.nul, "end each name with a NUL and do not quote"),
			parseopt.Bool('t', "", &l.tags, "show a letter for the state of each file"),
			parseopt.Bool('v', "", &l.validBit, "show that letter, small for what is assumed to be unchanged"),
			parseopt.NotNative('f', "", "", "show that letter, small for what the monitor vouches for"),
			parseopt.Bool('c', "cached", &l.cached, "show files of the index (default)"),
			parseopt.Bool('d', "deleted", &l.deleted, "show files that are gone from the working tree"),
			parseopt.Bool('m', "modified", &l.modified, "show files that differ from the index"),
			parseopt.Bool('o', "others", &l.others, "show files that are not in the index"),
			parseopt.Bool('i', "ignored", &l.ignored, "show only ignored files"),
			parseopt.Bool('s', "stage", &l.stage, "show mode, object name and stage"),
			parseopt.Bool('k', "killed", &l.killed, "show files that are in the way of the index"),
			parseopt.Bool(0, "directory", &l.directories, "show directories without tracked files by their name only"),
			parseopt.Bool(0, "eol", &l.eol, "show the line ends of files"),
			parseopt.Callback(0, "empty-directory", "", "leave out directories that are empty", func(a parseopt.Arg) error {
				l.hideEmpty = a.Unset
				return nil
			}).NoArg(),
			parseopt.Bool('u', "unmerged", &l.unmerged, "show files in conflict"),
			parseopt.Bool(0, "resolve-undo", &l.undo, "show conflicts that were resolved"),
			parseopt.Callback('x', "exclude", "pattern", "pass over files that match", exclude(&l.excludes)).NoNeg(),
			parseopt.Callback('X', "exclude-from", "file", "read patterns to pass over from this file", exclude(&l.excludeFiles)).NoNeg(),
			parseopt.String(0, "exclude-per-directory", &l.perDir, "file", "read more patterns from files of this name"),
			parseopt.Callback(0, "exclude-standard", "", "pass over what is usually ignored", func(parseopt.Arg) error {
				l.standard, l.excludesGiven = true, true
				return nil
			}).NoArg().NoNeg(),
			parseopt.Bool(0, "full-name", &l.fullName, "show names from the top of the working tree").NoNeg(),
			parseopt.NotNative(0, "recurse-submodules", "", "go into submodules"),
			parseopt.Bool(0, "error-unmatch", &l.errorUnmatch, "fail if a file named is not in the index"),
			parseopt.String(0, "with-tree", &l.withTree, "tree-ish", "show also what this tree has and the index has lost"),
			parseopt.Abbrev(&l.abbrev),
			parseopt.Bool(0, "debug", &l.debug, "show what the index knows of each file"),
			parseopt.Bool(0, "deduplicate", &l.dedup, "show each name once"),
			parseopt.Bool(0, "sparse", &l.sparse, "show directories of a sparse index as they are"),
			parseopt.StringP(0, "format", &l.format, "format", "show this for each file").NoNeg(),
		},
	}
}

func runLsFiles(env *Env, argv []string) Status {
	l := &lsFiles{env: env}
	p := l.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if l.format != nil && (l.stage || l.others || l.killed || l.undo || l.dedup || l.eol || l.tags) {
		return Fatal(p.UsageFatal("--format cannot be used with -s, -o, -k, -t, --resolve-undo, --deduplicate, --eol"))
	}
	if l.modified || l.others || l.deleted || l.ignored || l.killed {
		if err := env.Repo.RequireWorkTree(); err != nil {
			return Fatal(err)
		}
	}
	if l.files, err = openFiles(env); err != nil {
		return Fatal(err)
	}
	defer l.files.Close()
	l.x = l.files.Index
	if err := l.prepare(args); err != nil {
		return Fatal(err)
	}
	if err := l.show(); err != nil {
		return Fatal(err)
	}
	if unmatched := l.ps.Unmatched(l.seen); l.errorUnmatch && len(unmatched) > 0 {
		for _, elem := range unmatched {
			env.Error(fmt.Errorf("pathspec '%s' did not match any file(s) known to git", elem))
		}
		env.message("", "Did you forget to 'git add'?")
		return Exit(1)
	}
	return OK
}

// prepare turns the options into what show needs.
func (l *lsFiles) prepare(args []string) error {
	l.tags = l.tags || l.validBit
	l.stage = l.stage || l.unmerged
	if l.tags || l.stage {
		l.dedup = false
	}
	l.excludesGiven = l.excludesGiven || l.perDir != ""
	if !l.fullName {
		l.prefix = l.env.Repo.Prefix
	}
	l.quoteHigh, _ = l.env.Config.Bool("core.quotepath", true)
	if err := l.excludePatterns(); err != nil {
		return err
	}
	var err error
	if l.ps, err = l.files.pathspec(l.env, args); err != nil {
		return err
	}
	l.seen = make([]worktree.Match, len(l.ps.Items))
	switch {
	case l.ignored && !l.others && !l.cached:
		return errors.New("ls-files -i must be used with either -o or -c")
	case l.ignored && !l.excludesGiven:
		return errors.New("ls-files --ignored needs some exclude pattern")
	case l.withTree != "" && (l.stage || l.unmerged):
		return errors.New("options 'ls-files --with-tree' and '-s/-u' cannot be used together")
	}
	if !(l.stage || l.deleted || l.others || l.unmerged || l.killed || l.modified || l.undo) {
		l.cached = true
	}
	if l.withTree != "" {
		return l.overlay()
	}
	return nil
}

func (l *lsFiles) excludePatterns() error {
	if !l.excludesGiven {
		return nil
	}
	src := worktree.IgnoreSources{Root: l.env.Repo.WorkTree, Blob: l.files.skippedBlob}
	if l.standard {
		src = standardIgnore(l.env, l.files.skippedBlob)
	}
	if l.perDir != "" {
		src.PerDir = l.perDir
	}
	src.IgnoreCase = l.x.Options.Stat.IgnoreCase
	l.ignore = worktree.NewIgnore(src)
	for _, name := range l.excludeFiles {
		path := name
		if !filepath.IsAbs(path) {
			path = l.env.Repo.Dir + "/" + path
		}
		if err := l.ignore.AddFile(path, name); err != nil {
			return err
		}
	}
	for _, pattern := range l.excludes {
		l.ignore.AddLine(pattern)
	}
	return nil
}

// show prints what was asked for, kind by kind.
func (l *lsFiles) show() error {
	if l.others || l.killed {
		untracked := l.walk()
		if l.others {
			for _, name := range untracked {
				l.showOther("? ", name)
			}
		}
		if l.killed {
			for _, name := range untracked {
				if l.kills(strings.TrimSuffix(name, "/")) {
					l.showOther("K ", name)
				}
			}
		}
	}
	if l.cached || l.stage || l.deleted || l.modified {
		if err := l.showEntries(); err != nil {
			return err
		}
	}
	if l.undo {
		l.showUndo()
	}
	return nil
}

func (l *lsFiles) walk() []string {
	o := worktree.WalkOptions{
		Root: l.env.Repo.WorkTree, GitDir: l.env.Repo.GitDir, Index: l.x, Ignore: l.ignore,
		CollapseDirs: l.directories, HideEmpty: l.hideEmpty, OnlyIgnored: l.ignored,
		FoldCase: l.x.Options.Stat.IgnoreCase, Report: func(line string) { l.env.message("", line) },
	}
	if len(l.ps.Items) > 0 {
		o.Pathspec = l.ps
	}
	return worktree.Walk(o).Untracked
}

func (l *lsFiles) showOther(tag, name string) {
	if l.errorUnmatch {
		l.ps.Match(name, l.seen)
	}
	if l.tags {
		l.env.Print(tag)
	}
	l.printEOL(nil, name)
	l.printName(name)
}

// kills reports whether the untracked name stands where the index has a
// directory, or below what the index has as a file.
func (l *lsFiles) kills(name string) bool {
	for i := 0; i < len(name); i++ {
		if name[i] == '/' && l.x.Find(name[:i], 0) != nil {
			return true
		}
	}
	pos, _ := l.x.Search(name+"/", 0)
	for ; pos < len(l.x.Entries); pos++ {
		e := l.x.Entries[pos]
		if !strings.HasPrefix(e.Name, name+"/") {
			return false
		}
		if e.Stage == 0 {
			return true
		}
	}
	return false
}

// showEntries prints what comes from the index.
func (l *lsFiles) showEntries() error {
	from, to := l.x.Range(strings.TrimSuffix(l.ps.CommonDir(), "/"))
	entries := l.x.Entries[from:to]
	for i := 0; i < len(entries); i++ {
		e := entries[i]
		if l.ignored && (l.ignore == nil || !l.ignore.Ignored(e.Name, e.IsGitlink())) || e.Flags&index.Update != 0 {
			continue
		}
		shown, err := l.showEntry(e)
		if err != nil {
			return err
		}
		if shown && l.dedup {
			for i+1 < len(entries) && entries[i+1].Name == e.Name {
				i++
			}
		}
	}
	return nil
}

// showEntry prints e as often as it is asked for, or once with --deduplicate.
func (l *lsFiles) showEntry(e *index.Entry) (bool, error) {
	shown := false
	if (l.cached || l.stage) && (!l.unmerged || e.Stage != 0) {
		tag := "H "
		switch {
		case e.Stage != 0:
			tag = "M "
		case e.Flags&index.SkipWorktree != 0:
			tag = "S "
		}
		if err := l.print(e, tag); err != nil {
			return false, err
		}
		shown = true
	}
	if !(l.deleted || l.modified) || e.Flags&index.SkipWorktree != 0 || shown && l.dedup {
		return shown, nil
	}
	if len(l.ps.Items) == 1 && l.ps.MatchEntry(e, nil) == worktree.NoMatch {
		return shown, nil
	}
	var st index.FileStat
	err := index.Lstat(l.env.Repo.WorkTree+"/"+e.Name, &st)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		l.env.message("error: ", "cannot lstat '"+e.Name+"': "+ErrnoText(err))
	}
	if err != nil && l.deleted {
		if perr := l.print(e, "R "); perr != nil {
			return shown, perr
		}
		if shown = true; l.dedup {
			return true, nil
		}
	}
	if l.modified && (err != nil || l.x.Modified(e, &st, 0) != 0) {
		return true, l.print(e, "C ")
	}
	return shown, nil
}

func (l *lsFiles) printName(name string) {
	name = relativeTo(l.prefix, name)
	if l.nul {
		l.env.Print(name, "\x00")
		return
	}
	l.env.Print(quotePath(name, l.quoteHigh), "\n")
}
