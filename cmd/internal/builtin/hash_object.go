package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/gitcompat/worktree"
	"github.com/sluicegit/sluice/syncpolicy"
)

var cmdHashObject = &Command{
	Name:    "hash-object",
	Setup:   MayRepo,
	Run:     runHashObject,
	Options: func() *parseopt.Parser { return (&hashObject{}).parser() },
}

type hashObject struct {
	typeName   string
	write      bool
	stdin      int
	stdinPaths bool
	noFilters  bool
	literally  bool
	path       *string

	env     *Env
	typ     object.Type
	algo    oid.Algo
	convert *worktree.Converter
	big     int64

	// Of the objects that are published next.
	barrier *syncpolicy.Barrier
	tx      *odb.Transaction
	ids     []oid.ID
}

func (h *hashObject) parser() *parseopt.Parser {
	h.typeName = "blob"
	return &parseopt.Parser{
		Usage: []string{
			"git hash-object [-t <type>] [-w] [--path=<file> | --no-filters]\n" +
				"                [--stdin [--literally]] [--] <file>...",
			"git hash-object [-t <type>] [-w] --stdin-paths [--no-filters]",
		},
		Options: []parseopt.Option{
			parseopt.String('t', "", &h.typeName, "type", "the type of the object"),
			parseopt.Bool('w', "", &h.write, "store the object, too"),
			parseopt.CountUp(0, "stdin", &h.stdin, "take the object from stdin"),
			parseopt.Bool(0, "stdin-paths", &h.stdinPaths, "take file names from stdin"),
			parseopt.Bool(0, "no-filters", &h.noFilters, "take the file as it is, unconverted"),
			parseopt.Bool(0, "literally", &h.literally, "hash what is no valid object, for tests of git itself"),
			parseopt.StringP(0, "path", &h.path, "file", "convert as if the file were this one"),
		},
	}
}

func runHashObject(env *Env, argv []string) Status {
	h := &hashObject{env: env}
	p := h.parser()
	args, err := env.Parse(p, argv)
	if err != nil {
		return Fatal(err)
	}
	if h.write && env.Repo == nil {
		err := env.Discover()
		if _, none := errors.AsType[*repo.NotRepoError](err); err != nil || none {
			return Fatal(err)
		}
	}
	if msg := h.conflict(args); msg != "" {
		return Fatal(p.UsageError(msg))
	}
	known := false
	if h.typ, known = object.ParseType(h.typeName); !known {
		return Fatalf("invalid object type \"%s\"", h.typeName)
	}
	if err := h.open(); err != nil {
		return Fatal(err)
	}
	err = h.run(args)
	if cerr := h.publish(); err == nil {
		err = cerr
	}
	if h.convert != nil {
		h.convert.Close()
	}
	return Fatal(err)
}

// conflict returns what is wrong with the combination of options.
func (h *hashObject) conflict(args []string) string {
	switch {
	case h.stdinPaths && h.stdin > 0:
		return "Can't use --stdin-paths with --stdin"
	case h.stdinPaths && len(args) > 0:
		return "Can't specify files with --stdin-paths"
	case h.stdinPaths && h.path != nil:
		return "Can't use --stdin-paths with --path"
	case h.stdinPaths:
		return ""
	case h.stdin > 1:
		return "Multiple --stdin arguments are not supported"
	case h.path != nil && h.noFilters:
		return "Can't use --path with --no-filters"
	}
	return ""
}

func (h *hashObject) open() error {
	if h.env.Repo != nil {
		h.algo = h.env.Repo.Algo
	}
	big, err := h.env.Config.Ulong("core.bigfilethreshold", odb.DefaultBigFile)
	if err != nil {
		return err
	}
	h.big = int64(min(big, 1<<62))
	if h.typ != object.Blob || h.noFilters {
		return nil
	}
	h.convert, err = pathConverter(h.env)
	return err
}

// pathConverter converts files that need not be in the index, which is read only
// if a conversion asks what it has; also where there is no repository.
func pathConverter(env *Env) (*worktree.Converter, error) {
	set, err := worktree.LoadConvert(env.Config)
	if err != nil {
		return nil, err
	}
	set.Root, set.Environ, set.Stderr = env.Dir, env.Environ, env.Stderr
	if env.Repo == nil {
		return worktree.NewConverter(set, worktree.NewAttributes(worktree.AttrSources{})), nil
	}
	set.Root = env.Repo.Dir
	var files *Files
	set.Blob = func(path string) ([]byte, bool) {
		if files == nil {
			files = &Files{Index: new(index.Index)}
			if o, err := indexOptions(env); err == nil {
				if x, err := index.Read(env.Repo.IndexPath(), env.Repo.Algo, o); err == nil {
					files.Index = x
				}
			}
			files.Objects, _ = env.Repo.ODB()
		}
		if files.Objects == nil {
			return nil, false
		}
		return files.blob(path)
	}
	set.HashBlob = func(content []byte) oid.ID { return env.Repo.Algo.Sum("blob", content) }
	return worktree.NewConverter(set, attributes(env, set.Blob)), nil
}

// prefixed is a path of the command line as git sees it from its directory.
func prefixed(env *Env, path string) string {
	if env.Repo == nil || env.Repo.Prefix == "" || path == "" || path[0] == '/' {
		return path
	}
	return env.Repo.Prefix + path
}

func (h *hashObject) run(args []string) error {
	if h.stdin > 0 {
		path := ""
		if h.path != nil {
			path = prefixed(h.env, *h.path)
		}
		data, err := io.ReadAll(h.env.Stdin)
		if err != nil {
			return h.failure(path)
		}
		if err := h.content(path, data); err != nil {
			return err
		}
	}
	for _, arg := range args {
		arg = prefixed(h.env, arg)
		path := arg
		if h.path != nil {
			path = prefixed(h.env, *h.path)
		}
		if err := h.file(arg, path); err != nil {
			return err
		}
	}
	if !h.stdinPaths {
		return nil
	}
	return h.paths()
}

// paths hashes the files that stdin names. A program that waits for each answer
// gets it; what stdin holds ready is stored together.
func (h *hashObject) paths() error {
	in := h.env.Input()
	for {
		line, err := in.ReadString('\n')
		if line == "" && err != nil {
			return nil
		}
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, `"`) {
			name, ok := unquotePath(line)
			if !ok {
				return errors.New("line is badly quoted")
			}
			line = name
		}
		if err := h.file(line, line); err != nil {
			return err
		}
		if ready, _ := in.Peek(in.Buffered()); bytes.IndexByte(ready, '\n') < 0 {
			if err := h.publish(); err != nil {
				return err
			}
		}
	}
}

// failure is the last message for what could not be hashed.
func (h *hashObject) failure(path string) error {
	if path == "" {
		path = "(null)"
	}
	if h.write {
		return fmt.Errorf("Unable to add %s to database", path)
	}
	return fmt.Errorf("Unable to hash %s", path)
}

// file hashes the file name, converted as path.
func (h *hashObject) file(name, path string) error {
	f, err := os.Open(h.env.Path(name))
	if err != nil {
		return fmt.Errorf("could not open '%s' for reading: %s", name, ErrnoText(err))
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return h.failure(path)
	}
	if h.noFilters {
		path = ""
	}
	if h.typ == object.Blob && st.Mode().IsRegular() && st.Size() > h.big {
		plain, err := h.plain(path)
		if err != nil {
			return err
		}
		if plain {
			return h.stream(f, st.Size(), path)
		}
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return h.failure(path)
	}
	return h.content(path, data)
}

// plain reports whether the file at path is stored as it is.
func (h *hashObject) plain(path string) (bool, error) {
	if h.convert == nil || path == "" {
		return true, nil
	}
	cv, err := h.convert.Plan(path)
	return cv.None(), err
}

func (h *hashObject) stream(f io.Reader, size int64, path string) error {
	var id oid.ID
	err := h.begin()
	switch {
	case err != nil:
		return err
	case h.write:
		id, err = h.tx.WriteStream(object.Blob, size, f)
	default:
		id, err = hashStream(h.algo.New(), h.algo, size, f)
	}
	if err != nil {
		h.env.Error(err)
		return h.failure(path)
	}
	h.ids = append(h.ids, id)
	return nil
}

func hashStream(sum hash.Hash, algo oid.Algo, size int64, r io.Reader) (oid.ID, error) {
	sum.Write(object.AppendHeader(nil, object.Blob, size))
	n, err := io.Copy(sum, r)
	if err == nil && n != size {
		err = fmt.Errorf("read %d bytes of blob data, but expected %d bytes", n, size)
	}
	if err != nil {
		return oid.ID{}, err
	}
	return odb.Sum(algo, sum)
}

func hashContent(algo oid.Algo, typ object.Type, data []byte) (oid.ID, error) {
	sum := algo.New()
	sum.Write(object.AppendHeader(nil, typ, int64(len(data))))
	sum.Write(data)
	return odb.Sum(algo, sum)
}

// content hashes data, which is the file at path, or of no file.
func (h *hashObject) content(path string, data []byte) error {
	if h.convert != nil && path != "" {
		cv, err := h.convert.Plan(path)
		if err != nil {
			return err
		}
		if !cv.None() {
			o := worktree.ConvertOptions{Write: h.write, Report: h.env.line}
			if data, err = h.convert.ToGit(&cv, path, data, o); err != nil {
				return err
			}
		}
	}
	if !h.literally {
		check := &object.Fsck{Algo: h.algo, Strict: true, Pedantic: true}
		problems := check.Check(h.algo.Null(), h.typ, data)
		for _, p := range problems {
			if p.Note != nil {
				h.env.Error(p.Note)
			}
			h.env.Error(errors.New("object fails fsck: " + p.Text))
		}
		if len(problems) > 0 {
			return errors.New("refusing to create malformed object")
		}
	}
	if err := h.begin(); err != nil {
		return err
	}
	id := oid.ID{}
	if h.write {
		var err error
		if id, err = h.tx.Write(h.typ, data); err != nil {
			h.env.Error(err)
			return h.failure(path)
		}
	} else {
		var err error
		if id, err = hashContent(h.algo, h.typ, data); err != nil {
			return err
		}
	}
	h.ids = append(h.ids, id)
	return nil
}

// begin makes sure that there is a transaction to write to.
func (h *hashObject) begin() error {
	if !h.write || h.tx != nil {
		return nil
	}
	db, err := h.env.Repo.ODB()
	if err != nil {
		return err
	}
	if h.barrier, err = h.env.Repo.NewBarrier(); err != nil {
		return err
	}
	h.tx = db.Begin(h.barrier)
	return nil
}

// publish stores what was hashed so far, and only then says its names.
func (h *hashObject) publish() error {
	if h.barrier != nil {
		err := h.barrier.Commit()
		h.barrier, h.tx = nil, nil
		if err != nil {
			h.ids = nil
			return err
		}
	}
	for _, id := range h.ids {
		h.env.Printf("%s\n", id)
	}
	h.ids = h.ids[:0]
	return h.env.Flush()
}
