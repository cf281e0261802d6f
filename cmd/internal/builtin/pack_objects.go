package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

var cmdPackObjects = &Command{
	Name:    "pack-objects",
	Setup:   NeedRepo,
	Run:     runPackObjects,
	Options: func() *parseopt.Parser { return new(packObjects).parser() },
	NotNative: []string{
		"--cruft", "--delta-islands", "--exclude-promisor-objects", "--honor-pack-keep", "--incremental", "--keep-unreachable", "--local",
		"--name-hash-version=2", "--pack-loose-unreachable", "--path-walk", "--write-bitmap-index",
	},
}

// onlyNegated is a switch that only real git implements; its --no- form asks for
// what is done anyway.
func onlyNegated(long, help string) parseopt.Option {
	return parseopt.Callback(0, long, "", help, func(a parseopt.Arg) error {
		if a.Unset {
			return nil
		}
		return NotNative("--" + long).Err
	}).NoArg()
}

// packObjects is one run of the command.
type packObjects struct {
	env *Env
	db  *odb.DB
	o   pack.PackOptions

	progress                                  int // 0 none, 1 but for writing to stdout, 2 all
	allImplied, revs, all, stdout, thin       bool
	nonEmpty, includeTag, sparse, shallow     bool
	reuseDelta, reuseObject, ofsDelta, grafts bool
	bitmap                                    bool
	compression, window, depth, threads       int
	index                                     string
	format                                    pack.IndexFormat
}

func (p *packObjects) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{
			"git pack-objects [-q | --progress | --all-progress] [--all-progress-implied] [<options>] <base-name> [< <ref-list> | < <object-list>]",
			"git pack-objects --stdout [<options>] [< <ref-list> | < <object-list>]",
		},
		Options: []parseopt.Option{
			parseopt.SetInt('q', "quiet", &p.progress, "print no progress", 0),
			parseopt.SetInt(0, "progress", &p.progress, "print progress", 1),
			parseopt.SetInt(0, "all-progress", &p.progress, "print progress while objects are written, too", 2),
			parseopt.Bool(0, "all-progress-implied", &p.allImplied, "--all-progress where progress is printed"),
			parseopt.String(0, "index-version", &p.index, "<version>[,<offset>]", "write the index in this format").Literal().NoNeg(),
			parseopt.NotNative(0, "max-pack-size", "n", "split the output into packs of this size"),
			onlyNegated("local", "leave out what alternates have"),
			onlyNegated("incremental", "leave out what is packed"),
			parseopt.Integer(0, "window", &p.window, "try this many objects as delta bases"),
			parseopt.NotNative(0, "window-memory", "n", "limit the memory of the window"),
			parseopt.Integer(0, "depth", &p.depth, "limit the length of delta chains"),
			parseopt.Bool(0, "reuse-delta", &p.reuseDelta, "take deltas as they are stored"),
			parseopt.Bool(0, "reuse-object", &p.reuseObject, "take objects as they are stored"),
			parseopt.Bool(0, "delta-base-offset", &p.ofsDelta, "name delta bases by their place in the pack"),
			parseopt.Integer(0, "threads", &p.threads, "use this many threads"),
			parseopt.Bool(0, "non-empty", &p.nonEmpty, "make no pack without objects"),
			parseopt.Bool(0, "revs", &p.revs, "standard input holds revisions"),
			parseopt.NotNative(0, "unpacked", "", "leave out what is packed").NoNeg(),
			parseopt.Bool(0, "all", &p.all, "pack what any ref reaches").NoNeg(),
			parseopt.NotNative(0, "reflog", "", "pack what reflogs name").NoNeg(),
			parseopt.NotNative(0, "indexed-objects", "", "pack what the index names").NoNeg(),
			parseopt.NotNative(0, "stdin-packs", "", "standard input holds names of packs"),
			parseopt.Bool(0, "stdout", &p.stdout, "write the pack to standard output"),
			parseopt.Bool(0, "include-tag", &p.includeTag, "pack the tags of what is packed"),
			onlyNegated("keep-unreachable", "pack what nothing reaches"),
			onlyNegated("pack-loose-unreachable", "pack loose objects that nothing reaches"),
			parseopt.NotNative(0, "unpack-unreachable", "", "write loose what nothing reaches"),
			onlyNegated("cruft", "make a cruft pack"),
			parseopt.NotNative(0, "cruft-expiration", "time", "drop cruft that is older"),
			parseopt.Bool(0, "sparse", &p.sparse, "look at fewer trees of the other side"),
			parseopt.Bool(0, "thin", &p.thin, "make deltas of what the other side has"),
			onlyNegated("path-walk", "walk path by path"),
			parseopt.Bool(0, "shallow", &p.shallow, "make a pack for a shallow fetch"),
			onlyNegated("honor-pack-keep", "leave out packs with a .keep file"),
			parseopt.NotNative(0, "keep-pack", "name", "leave out this pack"),
			parseopt.Integer(0, "compression", &p.compression, "compression level of the pack"),
			parseopt.Bool(0, "keep-true-parents", &p.grafts, "look behind grafts"),
			parseopt.Bool(0, "use-bitmap-index", &p.bitmap, "count objects by a bitmap if there is one"),
			onlyNegated("write-bitmap-index", "write a bitmap beside the index"),
			parseopt.NotNative(0, "write-bitmap-index-quiet", "", "write a bitmap if possible").Hidden(),
			parseopt.NotNative(0, "filter", "args", "leave out some objects"),
			parseopt.NotNative(0, "missing", "action", "what to do about missing objects").NoNeg(),
			onlyNegated("exclude-promisor-objects", "leave out what a promisor has"),
			parseopt.NotNative(0, "exclude-promisor-objects-best-effort", "", "the same, if it is known"),
			onlyNegated("delta-islands", "keep deltas inside islands"),
			parseopt.NotNative(0, "uri-protocol", "protocol", "send some blobs by address"),
			parseopt.Callback(0, "name-hash-version", "n", "how names are hashed", nameHashVersion),
		},
	}
}

// nameHashVersion accepts the version that is implemented; git reads what is
// negative as that, too.
func nameHashVersion(a parseopt.Arg) error {
	n, _, ok := parseopt.ParseInt(a.Value)
	switch {
	case a.Unset || ok && (n < 0 || n == 1):
		return nil
	case ok && n == 2:
		return NotNative("--name-hash-version=2").Err
	}
	return &parseopt.FatalError{Err: fmt.Errorf("invalid --name-hash-version option: %s", a.Value)}
}

func runPackObjects(env *Env, argv []string) Status {
	p := &packObjects{env: env}
	if err := p.settings(); err != nil {
		return Fatal(err)
	}
	parser := p.parser()
	args, err := env.Parse(parser, argv)
	if err != nil {
		return Fatal(err)
	}
	if len(args) > 1 || p.stdout == (len(args) == 1) {
		return Fatal(parser.UsageError(""))
	}
	if err := p.options(); err != nil {
		return Fatal(err)
	}
	return Fatal(p.run(args))
}

func (p *packObjects) settings() (err error) {
	if p.db, err = p.env.Repo.ODB(); err != nil {
		return err
	}
	if p.o, err = p.env.packOptions(p.db); err != nil {
		return err
	}
	if p.format, err = packIndexFormat(p.env.Config); err != nil {
		return err
	}
	p.window, p.depth, p.threads, p.compression = p.o.Window, p.o.Depth, p.o.Threads, math.MinInt
	p.reuseDelta, p.reuseObject = true, true
	if isTerminal(p.env.Stderr) {
		p.progress = 1
	}
	return nil
}

// options checks the options and puts them into p.o.
func (p *packObjects) options() (err error) {
	if p.index != "" && !parseIndexVersion(p.index, &p.format) {
		return fmt.Errorf("bad index version '%s'", p.index)
	}
	if p.compression != math.MinInt {
		if p.o.Level, err = pack.NewLevel(p.compression); err != nil {
			return fmt.Errorf("bad pack compression level %d", p.compression)
		}
	}
	if !p.stdout && p.thin {
		return errors.New("--thin cannot be used to build an indexable pack")
	}
	p.o.Window, p.o.Depth, p.o.Threads = max(p.window, 0), max(p.depth, 0), p.threads
	if p.o.Depth == 0 {
		p.reuseDelta = false
	}
	p.o.OfsDelta, p.o.NoReuse, p.o.NoReuseDelta = p.ofsDelta, !p.reuseObject, !p.reuseDelta
	return nil
}

func (p *packObjects) run(args []string) error {
	meter := &packMeter{w: p.env.Stderr, trace: p.env.Trace, titles: map[pack.Step]string{}}
	if p.progress > 0 {
		meter.titles[pack.Compressing] = "Compressing objects"
		if !p.stdout || p.progress > 1 || p.allImplied {
			meter.titles[pack.Writing] = "Writing objects"
		}
		p.o.Progress = meter.update
	}
	items, err := p.items()
	if err != nil {
		return err
	}
	if p.progress > 0 {
		fmt.Fprintf(p.env.Stderr, "Enumerating objects: %d, done.\n", len(items))
	}
	if len(items) == 0 && p.nonEmpty {
		return nil
	}
	res, err := p.write(args, items)
	if err != nil {
		return err
	}
	meter.end()
	if p.progress > 0 {
		fmt.Fprintf(p.env.Stderr, "Total %d (delta %d), reused %d (delta %d), pack-reused 0 (from 0)\n",
			res.Objects, res.Deltas, res.Reused, res.ReusedDeltas)
	}
	return nil
}

func (p *packObjects) write(args []string, items []pack.Item) (*pack.Packed, error) {
	if p.stdout {
		return pack.PackObjects(p.env.Stdout, items, p.o)
	}
	base := p.env.Abs(args[0])
	locker, err := p.env.Repo.Locker()
	if err != nil {
		return nil, err
	}
	rev, err := p.env.writesRevIndex()
	if err != nil {
		return nil, err
	}
	b, err := p.env.Repo.NewBarrier()
	if err != nil {
		return nil, err
	}
	defer b.Rollback()
	out := pack.Output{Barrier: b, Dir: filepath.Dir(base), Base: filepath.Base(base), Shared: locker.Shared}
	res, err := pack.PackFiles(out, items, p.format, rev, p.o)
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		return nil, err
	}
	p.env.Printf("%s\n", res.Checksum)
	return res, nil
}

// items lists what is to be packed.
func (p *packObjects) items() ([]pack.Item, error) {
	if !p.revs && !p.all && !p.thin {
		return p.readObjects()
	}
	list := &revList{env: p.env, res: newResolver(p.env)}
	if p.all {
		if _, err := list.refOption("--all", "", false); err != nil {
			return nil, err
		}
	}
	grafts, err := p.readRevs(list)
	if err != nil {
		return nil, err
	}
	items, err := reachable(p.db, revision.NewWalk(p.db, grafts), list.req.Tips, p.thin, p.o.Window)
	if err != nil || !p.includeTag {
		return items, err
	}
	return p.addTags(items)
}

// readRevs reads revisions, --not and --shallow from standard input.
func (p *packObjects) readRevs(list *revList) (revision.Grafts, error) {
	var grafts revision.Grafts
	var err error
	if p.grafts {
		grafts = revision.Grafts{}
	} else if grafts, err = revision.ReadGrafts(p.db.Algo(), p.env.Repo.ShallowPath(), p.env.Repo.GitPath("info/grafts")); err != nil {
		return nil, err
	}
	if grafts == nil {
		grafts = revision.Grafts{}
	}
	in := p.env.Input()
	not := false
	for {
		line, err := in.ReadString('\n')
		line = strings.TrimSuffix(line, "\n")
		if err != nil && err != io.EOF {
			return nil, err
		}
		if line == "" {
			return grafts, nil
		}
		hex, isShallow := strings.CutPrefix(line, "--shallow ")
		switch {
		case line == "--not":
			not = !not
		case isShallow:
			id, err := p.db.Algo().FromHex(hex)
			if err != nil {
				return nil, fmt.Errorf("not an object name '%s'", hex)
			}
			grafts[id] = nil
		case line[0] == '-':
			return nil, fmt.Errorf("not a rev '%s'", line)
		default:
			if err := p.addRev(list, line, not); err != nil {
				return nil, err
			}
		}
	}
}

func (p *packObjects) addRev(list *revList, arg string, not bool) error {
	revs, err := list.res.Arg(arg, revision.ArgOptions{Not: not, NotFile: true})
	if errors.Is(err, revision.ErrUnknown) {
		return fmt.Errorf("bad revision '%s'", arg)
	}
	for _, r := range revs {
		list.req.Tips = append(list.req.Tips, r.Tip)
	}
	return err
}

// readObjects reads a list of objects, with their paths, from standard input.
func (p *packObjects) readObjects() ([]pack.Item, error) {
	var items []pack.Item
	var edges []oid.ID
	var paths []string
	in := bufio.NewReaderSize(p.env.Stdin, 64<<10)
	algo := p.db.Algo()
	for {
		line, err := in.ReadString('\n')
		if line == "" && err == io.EOF {
			break
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		text, size := strings.TrimSuffix(line, "\n"), algo.HexSize()
		if strings.HasPrefix(text, "-") {
			id, err := algo.FromHex(text[1:min(len(text), 1+size)])
			if err != nil {
				return nil, fmt.Errorf("expected edge object ID, got garbage:\n %s", line)
			}
			edges = append(edges, id)
			continue
		}
		id, err := algo.FromHex(text[:min(len(text), size)])
		if err != nil {
			return nil, fmt.Errorf("expected object ID, got garbage:\n %s", line)
		}
		name := text[min(len(text), size+1):]
		items = append(items, pack.Item{ID: id, Hash: pack.NameHash(name)})
		paths = append(paths, name)
	}
	return p.withBases(items, edges, paths)
}

// withBases puts before items what edges have at paths.
func (p *packObjects) withBases(items []pack.Item, edges []oid.ID, paths []string) ([]pack.Item, error) {
	if len(edges) == 0 {
		return items, nil
	}
	sortPaths(&paths)
	f := &baseFinder{db: p.db, seen: map[oid.ID]bool{}}
	for _, id := range edges {
		if tree, err := p.db.Peel(id, object.Tree); err == nil {
			f.tree(tree, "", paths)
		}
	}
	return append(f.items, items...), nil
}

// addTags adds the annotated tags whose object is packed.
func (p *packObjects) addTags(items []pack.Item) ([]pack.Item, error) {
	packed := make(map[oid.ID]bool, len(items))
	for _, it := range items {
		packed[it.ID] = packed[it.ID] || !it.Base
	}
	err := eachRef(p.env, "refs/tags/", nil, nil, func(name string, id oid.ID) error {
		typ, _, err := p.db.Info(id)
		if err != nil || typ != object.Tag {
			return nil
		}
		target, err := p.db.Peel(id, object.Bad)
		if err != nil || !packed[target] {
			return nil
		}
		for typ == object.Tag && !packed[id] {
			tag, err := p.db.ReadTag(id)
			if err != nil {
				return err
			}
			packed[id] = true
			items = append(items, pack.Item{ID: id, Type: object.Tag})
			id, typ = tag.Object, tag.Type
		}
		return nil
	})
	return items, err
}
