package builtin

import (
	"fmt"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

type writeTreeOptions struct {
	missingOK, ignoreCacheTree bool
	prefix                     *string
}

var cmdWriteTree = &Command{
	Name:    "write-tree",
	Setup:   NeedRepo,
	Run:     runWriteTree,
	Options: func() *parseopt.Parser { return (&writeTreeOptions{}).parser() },
}

func (o *writeTreeOptions) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git write-tree [--missing-ok] [--prefix=<prefix>/]"},
		Options: []parseopt.Option{
			parseopt.Bool(0, "missing-ok", &o.missingOK, "do not check that the objects are there"),
			parseopt.StringP(0, "prefix", &o.prefix, "<prefix>/", "write the tree of this directory only"),
			parseopt.Bool(0, "ignore-cache-tree", &o.ignoreCacheTree, "build all trees anew, for debugging").Hidden(),
		},
	}
}

func runWriteTree(env *Env, argv []string) Status {
	var o writeTreeOptions
	if _, err := env.Parse(o.parser(), argv); err != nil {
		return Fatal(err)
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
	f, err := openFiles(env)
	if err != nil {
		return Fatal(err)
	}
	defer f.Close()
	x := f.Index
	if o.ignoreCacheTree {
		x.Tree = nil
	}
	if !x.TreesValid(f.Objects.Has) {
		b, err := env.Repo.NewBarrier()
		if err != nil {
			return Fatal(err)
		}
		defer b.Rollback()
		if _, err := x.WriteTrees(treeWriter(f.Objects, f.Objects.Begin(b), o.missingOK)); err != nil {
			return Fatal(fmt.Errorf("git-write-tree: %w", err))
		}
		if o.prefix != nil && x.Tree.Find(*o.prefix) == nil {
			return Fatalf("git-write-tree: prefix %s not found", *o.prefix)
		}
		if err := writeIndex(env, x, lock, b); err != nil {
			return Fatal(err)
		}
	}
	t := x.Tree
	if o.prefix != nil {
		if t = x.Tree.Find(*o.prefix); t == nil {
			return Fatalf("git-write-tree: prefix %s not found", *o.prefix)
		}
	}
	env.Printf("%s\n", t.ID)
	return OK
}

// treeWriter makes WriteTrees store trees in tx.
func treeWriter(db *odb.DB, tx *odb.Transaction, missingOK bool) index.TreeWriter {
	return index.TreeWriter{
		Has:       db.Has,
		Write:     func(content []byte) (oid.ID, error) { return tx.Write(object.Tree, content) },
		MissingOK: missingOK,
	}
}
