package builtin

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

var cmdReadTree = &Command{
	Name:    "read-tree",
	Setup:   NeedRepo,
	Run:     runReadTree,
	Options: func() *parseopt.Parser { return (&readTree{}).parser() },
}

// readTree is one run of the command: it fills the index from one tree, or
// empties it, and leaves the working tree alone.
type readTree struct {
	env                                                    *Env
	empty, verbose, merge, reset, indexOnly, dryRun, quiet bool
	trivial, aggressive, noSparse                          bool

	files *Files
	x     *index.Index
}

func (t *readTree) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{
			"git read-tree [(-m [--trivial] [--aggressive] | --reset | --prefix=<prefix>) [-u | -i]] [--index-output=<file>] [--no-sparse-checkout] (--empty | <tree-ish1> [<tree-ish2> [<tree-ish3>]])",
		},
		Options: []parseopt.Option{
			parseopt.NotNative(0, "super-prefix", "prefix", "what to put before paths in messages").Hidden(),
			parseopt.NotNative(0, "index-output", "file", "write the index to this file"),
			parseopt.Bool(0, "empty", &t.empty, "empty the index"),
			parseopt.Bool('v', "verbose", &t.verbose, "say more"),
			parseopt.Group("Merging"),
			parseopt.Bool('m', "", &t.merge, "keep what the index knows of files that stay the same"),
			parseopt.Bool(0, "trivial", &t.trivial, "merge three trees only if no file needs merging"),
			parseopt.Bool(0, "aggressive", &t.aggressive, "merge three trees with more cases resolved"),
			parseopt.Bool(0, "reset", &t.reset, "as -m, and drop entries in conflict"),
			parseopt.NotNative(0, "prefix", "<subdirectory>/", "read the tree into a directory of the index").NoNeg().Literal(),
			parseopt.NotNative('u', "", "", "bring the working tree up to date"),
			parseopt.NotNative(0, "exclude-per-directory", "gitignore", "files that may be overwritten because they are ignored").NoNeg(),
			parseopt.Bool('i', "", &t.indexOnly, "do not look at the working tree"),
			parseopt.Bool('n', "dry-run", &t.dryRun, "change nothing"),
			parseopt.Bool(0, "no-sparse-checkout", &t.noSparse, "do not apply the patterns of a sparse checkout"),
			parseopt.NotNative(0, "debug-unpack", "", "show what is compared"),
			parseopt.NotNative(0, "recurse-submodules", "checkout", "bring submodules up to date as well").OptArg(""),
			parseopt.Bool('q', "quiet", &t.quiet, "say less"),
		},
	}
}

func runReadTree(env *Env, argv []string) Status {
	t := &readTree{env: env}
	args, err := env.Parse(t.parser(), argv)
	if err != nil {
		return Fatal(err)
	}
	if t.merge && t.reset {
		return Fatalf("Which one? -m, --reset, or --prefix?")
	}
	if len(args) > 1 {
		return NotNative("more than one tree")
	}
	if s := foreignFiles(env); s != "" && (t.merge || t.reset) {
		return NotNative(s)
	}
	locker, err := env.Repo.Locker()
	if err != nil {
		return Fatal(err)
	}
	lock, err := index.Lock(locker, env.Repo.IndexPath())
	if err != nil {
		return Fatal(err)
	}
	defer lock.Rollback()
	if t.merge || t.reset {
		if t.files, err = openFiles(env); err != nil {
			return Fatal(err)
		}
		defer t.files.Close()
	}
	if st := t.run(args); st != OK {
		return st
	}
	if t.dryRun {
		return OK
	}
	b, err := env.Repo.NewBarrier()
	if err != nil {
		return Fatal(err)
	}
	defer b.Rollback()
	return Fatal(writeIndex(env, t.x, lock, b))
}

// run makes the new index, in memory.
func (t *readTree) run(args []string) Status {
	db, err := t.env.Repo.ODB()
	if err != nil {
		return Fatal(err)
	}
	if err := t.start(); err != nil {
		return Fatal(err)
	}
	if len(args) == 0 {
		return t.none()
	}
	root, err := newResolver(t.env).Resolve(args[0], revision.Any)
	if err != nil {
		return Fatalf("Not a valid object name %s", args[0])
	}
	tree, err := db.Peel(root, object.Tree)
	var list []*index.Entry
	if err == nil {
		list, err = t.list(db, tree)
	}
	switch {
	case errors.Is(err, errSaid):
		return Exit(128)
	case err != nil:
		return Fatalf("failed to unpack tree object %s", args[0])
	case t.empty:
		return Fatalf("passing trees as arguments contradicts --empty")
	}
	if t.indexOnly && !t.merge && !t.reset {
		return Fatalf("-i is meaningless without -m, --reset, or --prefix")
	}
	if (t.merge || t.reset) && !t.indexOnly {
		if err := t.env.Repo.RequireWorkTree(); err != nil {
			return Fatal(err)
		}
	}
	if err := t.replace(list); err != nil {
		if !t.quiet {
			t.env.Error(err)
		}
		return Exit(128)
	}
	if err := t.x.PrimeTree(tree, func(id oid.ID) ([]index.TreeEntry, error) { return treeEntries(db, id) }); err != nil {
		return Fatal(err)
	}
	return OK
}

// start makes the index to fill: that of the repository with -m and --reset, else a new one.
func (t *readTree) start() error {
	if t.files != nil {
		t.x = t.files.Index
		if t.merge && t.x.Unmerged() {
			return errors.New("You need to resolve your current index first")
		}
		t.x.ClearUndo()
		return nil
	}
	o, err := indexOptions(t.env)
	t.x = index.New(t.env.Repo.Algo, o)
	return err
}

// none is the command without a tree.
func (t *readTree) none() Status {
	if t.files != nil {
		return Fatalf("you must specify at least one tree to merge")
	}
	if !t.empty {
		t.env.Warn("read-tree: emptying the index with no arguments is deprecated; use --empty")
	}
	t.x.Tree = &index.CacheTree{ID: t.env.Repo.Algo.EmptyTree()}
	t.x.Changed = true
	return OK
}

// list returns the files of a tree, in the order of the index. It prints what is wrong with
// their names.
func (t *readTree) list(db *odb.DB, root oid.ID) ([]*index.Entry, error) {
	var list []*index.Entry
	var walk func(id oid.ID, base string) error
	walk = func(id oid.ID, base string) error {
		entries, err := db.ReadTree(id)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if object.IsTree(e.Mode) {
				if err := walk(e.ID, base+e.Name+"/"); err != nil {
					return err
				}
				continue
			}
			n := &index.Entry{Name: base + e.Name, Mode: index.CanonicalMode(e.Mode), ID: e.ID}
			if !t.x.Options.VerifyPath(n.Name, n.Mode) {
				t.env.Error(fmt.Errorf("invalid path '%s'", n.Name))
				return errSaid
			}
			if len(list) > 0 && list[len(list)-1].Name >= n.Name {
				t.env.Error(fmt.Errorf("tree %s is not sorted", id))
				return errSaid
			}
			list = append(list, n)
		}
		return nil
	}
	return list, walk(root, "")
}

// replace makes the list the entries of the index. An entry that stays the
// same keeps what the index knows of its file; the others may only go if their
// files are as recorded.
func (t *readTree) replace(list []*index.Entry) error {
	old := t.x.Entries
	kept := make([]*index.Entry, 0, len(list))
	for _, e := range list {
		for len(old) > 0 && old[0].Name < e.Name {
			if err := t.upToDate(old[0]); err != nil {
				return err
			}
			old = old[1:]
		}
		if len(old) > 0 && old[0].Name == e.Name && old[0].Stage == 0 {
			was := old[0]
			if was.Mode == e.Mode && was.ID == e.ID && was.Flags&index.IntentToAdd == 0 {
				e = was
			} else if err := t.upToDate(was); err != nil {
				return err
			} else {
				e.Flags |= was.Flags & index.SkipWorktree
			}
		}
		for len(old) > 0 && old[0].Name == e.Name {
			old = old[1:]
		}
		kept = append(kept, e)
	}
	for _, e := range old {
		if err := t.upToDate(e); err != nil {
			return err
		}
	}
	t.x.Reset(kept)
	return nil
}

// upToDate refuses to lose an entry whose file differs from it.
func (t *readTree) upToDate(e *index.Entry) error {
	if t.indexOnly || e.Stage != 0 || t.reset && e.Flags&(index.AssumeValid|index.SkipWorktree) == 0 {
		return nil
	}
	var st index.FileStat
	err := index.Lstat(t.env.Repo.WorkTree+"/"+e.Name, &st)
	if err == nil && (e.IsGitlink() || t.x.Match(e, &st, index.IgnoreValid|index.IgnoreSkipWorktree) == 0) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("Entry '%s' not uptodate. Cannot merge.", e.Name)
}

// treeEntries reads a tree for the cache-tree of an index.
func treeEntries(db *odb.DB, id oid.ID) ([]index.TreeEntry, error) {
	entries, err := db.ReadTree(id)
	list := make([]index.TreeEntry, len(entries))
	for i, e := range entries {
		list[i] = index.TreeEntry{Name: e.Name, Mode: e.Mode, ID: e.ID}
	}
	return list, err
}
