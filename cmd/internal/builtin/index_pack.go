package builtin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
)

var cmdIndexPack = &Command{
	Name:      "index-pack",
	Setup:     MayRepo,
	Run:       runIndexPack,
	NotNative: []string{"--promisor", "--report-end-of-input"},
}

const indexPackUsage = "git index-pack [-v] [-o <index-file>] [--keep | --keep=<msg>] [--[no-]rev-index] [--verify] " +
	"[--strict[=<msg-id>=<severity>...]] [--fsck-objects[=<msg-id>=<severity>...]] (<pack-file> | --stdin [--fix-thin] [<pack-file>])"

// indexPack is one run of the command.
type indexPack struct {
	env   *Env
	o     pack.IndexOptions
	out   pack.Output
	db    *odb.DB // nil outside of a repository
	fsck  *object.Fsck
	check *pack.Checker

	stdin, strict, connected, verbose, resolving bool
	verify, stat, statOnly                       bool
	title, format                                string
	pack, index                                  string
}

func runIndexPack(env *Env, argv []string) Status {
	if len(argv) == 1 && argv[0] == "-h" {
		env.Print("usage: ", indexPackUsage, "\n")
		return Exit(129)
	}
	x := &indexPack{env: env}
	if err := x.settings(); err != nil {
		return Fatal(err)
	}
	ok, err := x.parse(argv)
	if err == nil && ok {
		ok, err = x.arguments()
	}
	if err != nil {
		return Fatal(err)
	}
	if !ok {
		return UsageLine(indexPackUsage)
	}
	return x.run()
}

// settings reads the configuration.
func (x *indexPack) settings() (err error) {
	c := x.env.Config
	if x.o.Index, err = packIndexFormat(c); err != nil {
		return err
	}
	if x.o.Threads, err = packThreads(c); err != nil {
		return err
	}
	if x.o.RevIndex, err = x.env.writesRevIndex(); err != nil {
		return err
	}
	if x.o.Compression, err = packLevel(c, "core.compression"); err != nil {
		return err
	}
	big, err := c.Ulong("core.bigfilethreshold", pack.DefaultBigFile)
	if err != nil {
		return err
	}
	x.o.BigFile = int64(min(big, 1<<62))
	limit, err := c.Ulong("core.deltabasecachelimit", pack.DefaultCacheLimit)
	x.o.CacheLimit = int64(min(limit, 1<<62))
	return err
}

// parse reads the options by hand, as git does; false asks for the usage.
func (x *indexPack) parse(argv []string) (ok bool, err error) {
	for len(argv) > 0 {
		arg := argv[0]
		argv = argv[1:]
		switch {
		case len(arg) == 0 || arg[0] != '-':
			if x.pack != "" {
				return false, nil
			}
			x.pack = arg
		case arg == "-o":
			if x.index != "" || len(argv) == 0 {
				return false, nil
			}
			x.index, argv = argv[0], argv[1:]
		case arg == "--progress-title":
			if x.title != "" || len(argv) == 0 {
				return false, nil
			}
			x.title, argv = argv[0], argv[1:]
		default:
			if ok, err := x.option(arg); !ok || err != nil {
				return ok, err
			}
		}
	}
	return true, nil
}

// option reads an option that is one argument.
func (x *indexPack) option(arg string) (ok bool, err error) {
	name, value, hasValue := strings.Cut(arg, "=")
	switch {
	case arg == "--stdin":
		x.stdin = true
	case arg == "--fix-thin":
		x.o.FixThin = true
	case name == "--strict" || name == "--fsck-objects":
		x.strict = x.strict || name == "--strict"
		if x.fsck == nil {
			x.fsck = &object.Fsck{Strict: true}
		}
		return true, x.fsck.SetTypes(value)
	case arg == "--check-self-contained-and-connected":
		x.strict, x.connected = true, true
	case arg == "--verify":
		x.verify = true
	case arg == "--verify-stat":
		x.verify, x.stat = true, true
	case arg == "--verify-stat-only":
		x.verify, x.stat, x.statOnly = true, true, true
	case name == "--keep":
		x.out.Keep = &value
	case name == "--promisor":
		return false, NotNative("--promisor").Err
	case arg == "--report-end-of-input":
		return false, NotNative(arg).Err
	case name == "--threads" && hasValue:
		n, err := strconv.ParseInt(value, 0, 32)
		if err != nil || n < 0 {
			return false, nil
		}
		x.o.Threads = int(n)
	case name == "--pack_header" && hasValue:
		x.o.Header, err = parsePackHeader(value)
	case arg == "-v":
		x.verbose = true
	case arg == "--show-resolving-progress":
		x.resolving = true
	case name == "--index-version" && hasValue:
		if !parseIndexVersion(value, &x.o.Index) {
			return false, fmt.Errorf("bad %s", arg)
		}
	case name == "--max-input-size" && hasValue:
		x.o.MaxSize = leadingInt(value)
	case name == "--object-format" && hasValue:
		if _, ok := oid.ParseAlgo(value); !ok {
			return false, fmt.Errorf("unknown hash algorithm '%s'", value)
		}
		x.format = value
	case arg == "--rev-index":
		x.o.RevIndex = true
	case arg == "--no-rev-index":
		x.o.RevIndex = false
	default:
		return false, nil
	}
	return err == nil, err
}

// arguments checks what goes together and finds the files.
func (x *indexPack) arguments() (ok bool, err error) {
	switch {
	case x.pack == "" && !x.stdin:
		return false, nil
	case x.o.FixThin && !x.stdin:
		return false, errors.New("the option '--fix-thin' requires '--stdin'")
	case x.stdin && x.env.Repo == nil:
		return false, errors.New("--stdin requires a git repository")
	case x.stdin && x.format != "":
		return false, errors.New("options '--object-format' and '--stdin' cannot be used together")
	}
	x.o.Algo, _ = oid.ParseAlgo(x.format)
	if x.env.Repo != nil {
		if x.format == "" {
			x.o.Algo = x.env.Repo.Algo
		}
		if x.db, err = x.env.Repo.ODB(); err != nil {
			return false, err
		}
	}
	if x.pack != "" && x.index == "" {
		base, ok := strings.CutSuffix(x.pack, ".pack")
		if !ok || base == "" {
			return false, fmt.Errorf("packfile name '%s' does not end with '.pack'", x.pack)
		}
		x.index = base + ".idx"
	}
	if x.o.RevIndex && x.index != "" && !strings.HasSuffix(x.index, ".idx") {
		return false, fmt.Errorf("packfile name '%s' does not end with '.idx'", x.index)
	}
	if x.verify && x.index == "" {
		return false, errors.New("--verify with no packfile name given")
	}
	x.o.Index.Strict = x.strict
	return true, nil
}

func (x *indexPack) run() Status {
	x.hooks()
	meter := x.meter()
	if x.verify {
		return x.runVerify(meter)
	}
	res, foreign, err := x.indexAndCheck(meter)
	if err != nil {
		return Fatal(err)
	}
	switch {
	case !x.stdin:
		x.env.Printf("%s\n", res.Checksum)
	case res.Kept:
		x.env.Printf("keep\t%s\n", res.Checksum)
	default:
		x.env.Printf("pack\t%s\n", res.Checksum)
	}
	x.env.Print(string(res.Rest))
	if x.connected && foreign > 0 {
		return Exit(1)
	}
	return OK
}

// hooks sets what the pack package asks while it works.
func (x *indexPack) hooks() {
	if x.db != nil {
		x.o.Has, x.o.Read, x.o.Open = x.db.HasQuick, x.db.Read, x.db.Reader
	}
	if x.fsck == nil && !x.strict {
		return
	}
	x.check = x.env.packChecker(x.o.Algo, x.fsck, x.strict)
	x.check.MissingModules = func(id oid.ID) { x.env.Printf("%s\n", id) }
	x.o.Check = x.check.Object
}

func (x *indexPack) meter() *packMeter {
	m := &packMeter{w: x.env.Stderr, trace: x.env.Trace, titles: map[pack.Step]string{}}
	if x.verbose {
		m.titles[pack.Receiving] = "Indexing objects"
		if x.stdin {
			m.titles[pack.Receiving] = "Receiving objects"
		}
		if x.title != "" {
			m.titles[pack.Receiving] = x.title
		}
	}
	if x.verbose || x.resolving {
		m.titles[pack.Resolving] = "Resolving deltas"
		x.o.Progress = m.update
	}
	return m
}

func (x *indexPack) indexAndCheck(meter *packMeter) (res *pack.Indexed, foreign int, err error) {
	dir := x.env.Dir
	if x.db != nil {
		dir = x.db.Dir()
		locker, err := x.env.Repo.Locker()
		if err != nil {
			return nil, 0, err
		}
		x.out.Shared = locker.Shared
	}
	b, err := x.env.packBarrier(dir)
	if err != nil {
		return nil, 0, err
	}
	defer b.Rollback()
	x.out.Barrier, x.out.Dir = b, filepath.Join(dir, "pack")
	if x.index != "" {
		x.out.Index = x.env.Abs(x.index)
	}
	if res, err = x.take(); err != nil {
		return nil, 0, err
	}
	if res.Completed > 0 {
		meter.endWith(fmt.Sprintf("completed with %d local object%s", res.Completed, plural(res.Completed)))
	}
	meter.end()
	if x.check == nil {
		return res, 0, b.Commit()
	}
	if foreign, err = x.check.FinishLinks(x.typeOf); err != nil {
		return nil, 0, err
	}
	// What fsck reads at its end may be in the pack, so that comes first.
	if err := b.Commit(); err != nil {
		return nil, 0, err
	}
	return res, foreign, x.finishContent()
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// take indexes the pack, from standard input or where it is.
func (x *indexPack) take() (*pack.Indexed, error) {
	if !x.stdin {
		return pack.IndexFile(x.env.Abs(x.pack), x.out, x.o)
	}
	if x.pack != "" {
		x.out.Pack = x.env.Abs(x.pack)
		if _, err := os.Lstat(x.out.Pack); err == nil {
			return nil, fmt.Errorf("unable to create '%s': File exists", x.pack)
		}
	}
	return pack.IndexPack(x.env.Stdin, x.out, x.o)
}

// finishContent ends fsck; what it has to read is in an object database.
func (x *indexPack) finishContent() error {
	if x.db == nil && x.fsck != nil && x.fsck.HasQueued() {
		return errors.New("cannot perform queued object checks outside of a repository")
	}
	return x.check.FinishContent(x.read)
}

func (x *indexPack) typeOf(id oid.ID) (object.Type, error) {
	if x.db == nil {
		return object.Bad, errors.New("no object database")
	}
	typ, _, err := x.db.Info(id)
	return typ, err
}

func (x *indexPack) read(id oid.ID) (object.Type, []byte, error) {
	if x.db == nil {
		return object.Bad, nil, errors.New("no object database")
	}
	return x.db.Read(id)
}

// runVerify compares the pack with its index, and shows its entries if asked.
func (x *indexPack) runVerify(meter *packMeter) Status {
	chains, whole := map[int]int{}, 0
	var each func(pack.EntryInfo)
	if x.stat {
		each = func(e pack.EntryInfo) {
			if e.Depth == 0 {
				whole++
			} else {
				chains[e.Depth]++
			}
			if !x.statOnly {
				x.showEntry(e)
			}
		}
	}
	_, err := pack.VerifyFile(x.env.Abs(x.pack), x.env.Abs(x.index), x.o, each)
	if err != nil {
		return Fatal(err)
	}
	meter.end()
	if x.stat {
		x.showChains(whole, chains)
	}
	if x.check != nil {
		_, err := x.check.FinishLinks(x.typeOf)
		if err == nil {
			err = x.finishContent()
		}
		if err != nil {
			return Fatal(err)
		}
	}
	return OK
}

func (x *indexPack) showEntry(e pack.EntryInfo) {
	x.env.Printf("%s %-6s %d %d %d", e.ID, e.Type, e.Size, e.Stored, e.Offset)
	if e.Depth > 0 {
		x.env.Printf(" %d %s", e.Depth, e.Base)
	}
	x.env.Print("\n")
}

func (x *indexPack) showChains(whole int, chains map[int]int) {
	if whole > 0 {
		x.env.Printf("non delta: %d object%s\n", whole, plural(whole))
	}
	for depth, left := 1, len(chains); left > 0; depth++ {
		if n := chains[depth]; n > 0 {
			x.env.Printf("chain length = %d: %d object%s\n", depth, n, plural(n))
			left--
		}
	}
}
