package builtin

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// packOptions reads from the configuration how packs are made.
func (e *Env) packOptions(db *odb.DB) (o pack.PackOptions, err error) {
	c := e.Config
	o = pack.PackOptions{
		Algo: db.Algo(), Read: db.Read, Info: db.Info, Open: db.Reader, Stored: db.Packed,
		Report: e.Error,
	}
	if o.Window, err = c.Int("pack.window", 10); err != nil {
		return o, err
	}
	if o.Depth, err = c.Int("pack.depth", 50); err != nil {
		return o, err
	}
	if o.Threads, err = packThreads(c); err != nil {
		return o, err
	}
	if o.Level, err = packLevel(c, "pack.compression"); err != nil {
		return o, err
	}
	big, err := c.Ulong("core.bigfilethreshold", pack.DefaultBigFile)
	o.BigFile = int64(min(big, 1<<62))
	return o, err
}

// packReachable writes to w a pack of all that tips reach; with thin it may hold
// deltas of what the excluded tips reach.
func (e *Env) packReachable(w io.Writer, walk *revision.Walk, tips []revision.Tip, thin bool, o pack.PackOptions) (*pack.Packed, error) {
	db, err := e.Repo.ODB()
	if err != nil {
		return nil, err
	}
	items, err := reachable(db, walk, tips, thin, o.Window)
	if err != nil {
		return nil, err
	}
	return pack.PackObjects(w, items, o)
}

// maxPaths bounds how many paths are remembered to find bases of thin deltas.
const maxPaths = 1 << 16

// reachable lists what tips reach; with thin, before it, what the other side has
// at the same paths.
func reachable(db *odb.DB, walk *revision.Walk, tips []revision.Tip, thin bool, window int) ([]pack.Item, error) {
	var items []pack.Item
	var edges []*revision.Commit
	var paths []string
	req := &revision.Request{Tips: tips, Objects: true, Edges: thin, Sparse: true}
	err := walk.Run(req, func(it *revision.Item) error {
		if it.Edge {
			if len(edges) < window {
				edges = append(edges, it.Commit)
			}
			return nil
		}
		item := pack.Item{ID: it.ID, Type: it.Type}
		if it.Type == object.Tree || it.Type == object.Blob {
			path := string(it.Path)
			item.Hash = pack.NameHash(path)
			if len(edges) > 0 && len(paths) < maxPaths {
				paths = append(paths, path)
			}
		}
		items = append(items, item)
		return nil
	})
	if err != nil || len(edges) == 0 {
		return items, err
	}
	sortPaths(&paths)
	f := &baseFinder{db: db, seen: map[oid.ID]bool{}}
	for _, c := range edges {
		f.tree(c.Tree, "", paths)
	}
	return append(f.items, items...), nil
}

func sortPaths(paths *[]string) {
	slices.SortFunc(*paths, comparePaths)
	*paths = slices.Compact(*paths)
}

// comparePaths sorts so that all below a directory is together.
func comparePaths(a, b string) int {
	for {
		x, restA, moreA := strings.Cut(a, "/")
		y, restB, moreB := strings.Cut(b, "/")
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
		if !moreA || !moreB {
			return cmp.Compare(len(restA), len(restB))
		}
		a, b = restA, restB
	}
}

// A baseFinder looks for what commits have at paths. What it cannot read is no
// base.
type baseFinder struct {
	db    *odb.DB
	seen  map[oid.ID]bool
	items []pack.Item
}

func (f *baseFinder) add(id oid.ID, typ object.Type, path string) {
	if !f.seen[id] {
		f.seen[id] = true
		f.items = append(f.items, pack.Item{ID: id, Type: typ, Hash: pack.NameHash(path), Base: true})
	}
}

// tree adds the tree at the directory dir, and what it holds at paths, which
// are sorted and relative to it; an empty one is the tree itself.
func (f *baseFinder) tree(id oid.ID, dir string, paths []string) {
	if len(paths) > 0 && paths[0] == "" {
		f.add(id, object.Tree, strings.TrimSuffix(dir, "/"))
		paths = paths[1:]
	}
	if len(paths) == 0 {
		return
	}
	entries, err := f.db.ReadTree(id)
	if err != nil {
		return
	}
	byName := make(map[string]object.Entry, len(entries))
	for _, e := range entries {
		byName[e.Name] = e
	}
	for len(paths) > 0 {
		name, _, _ := strings.Cut(paths[0], "/")
		var below []string
		n := 0
		for n < len(paths) && (paths[n] == name || strings.HasPrefix(paths[n], name+"/")) {
			below = append(below, strings.TrimPrefix(strings.TrimPrefix(paths[n], name), "/"))
			n++
		}
		paths = paths[n:]
		e, ok := byName[name]
		switch {
		case !ok || object.IsGitlink(e.Mode):
		case object.IsTree(e.Mode):
			f.tree(e.ID, dir+name+"/", below)
		case below[0] == "":
			f.add(e.ID, object.Blob, dir+name)
		}
	}
}
