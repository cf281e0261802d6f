package worktree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// A Tree is the working tree of one repository, with what it takes to hash
// its files as the repository would store them.
type Tree struct {
	Root    string // absolute
	Algo    oid.Algo
	FS      *vfs.FS // for opening the repositories of gitlinks
	Convert *Converter
	BigFile int64 // core.bigFileThreshold: above it, what needs no conversion is streamed
	// Report takes lines for stderr of comparisons, from any goroutine; may be nil.
	Report func(line string)

	mu sync.Mutex // Convert.Plan is for one goroutine
}

// A Sink stores blobs. Both functions are called by several goroutines.
type Sink struct {
	Write  func(content []byte) (oid.ID, error)
	Stream func(size int64, r io.Reader) (oid.ID, error)
}

// A HashError says why a file could not be hashed. Lines are what git prints
// first, each with its "error: "; Fatal is set if git dies of Err at once,
// where it otherwise goes on, or not, as the command says.
type HashError struct {
	Lines []string
	Fatal bool
	Err   error
}

func (e *HashError) Error() string { return e.Err.Error() }
func (e *HashError) Unwrap() error { return e.Err }

func hashErr(err error, lines ...string) error {
	for i := range lines {
		lines[i] = "error: " + lines[i]
	}
	return &HashError{Lines: lines, Err: err}
}

// Plan is Converter.Plan, for any goroutine.
func (t *Tree) Plan(path string) (Conversion, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Convert.Plan(path)
}

// A Hasher hashes files one after the other and reuses its buffer. It is for
// one goroutine.
type Hasher struct {
	t   *Tree
	buf []byte
}

// NewHasher returns a hasher of files of t.
func (t *Tree) NewHasher() *Hasher { return &Hasher{t: t} }

// Hash returns the name of the object that stands for the file at path, of
// which lstat said st. With a sink the object is stored there. Errors are
// *HashError.
func (h *Hasher) Hash(path string, st *index.FileStat, cv *Conversion, sink *Sink, o ConvertOptions) (oid.ID, error) {
	switch {
	case st.IsRegular():
		return h.regular(path, st, cv, sink, o)
	case st.IsSymlink():
		target, err := os.Readlink(h.t.abs(path))
		if err != nil {
			return h.t.Algo.Null(), hashErr(err, fmt.Sprintf("readlink(\"%s\"): %s", path, errnoText(err)))
		}
		return h.store(path, []byte(target), sink)
	case st.IsDir():
		id, err := h.t.Gitlink(path)
		if err != nil {
			return id, hashErr(err, err.Error())
		}
		return id, nil
	}
	err := fmt.Errorf("%s: unsupported file type", path)
	return h.t.Algo.Null(), hashErr(err, err.Error())
}

func (t *Tree) abs(path string) string { return t.Root + "/" + path }

// openError says that a file could not even be opened.
type openError struct{ err error }

func (e *openError) Error() string { return e.err.Error() }
func (e *openError) Unwrap() error { return e.err }

func (h *Hasher) regular(path string, st *index.FileStat, cv *Conversion, sink *Sink, o ConvertOptions) (oid.ID, error) {
	o.Write = sink != nil
	if cv.Streams() || cv.None() && h.t.BigFile > 0 && st.Bytes > h.t.BigFile {
		return h.streamed(path, st, cv, sink, o)
	}
	content, err := h.read(path, st.Bytes)
	if err != nil {
		return h.t.Algo.Null(), err
	}
	if !cv.None() {
		if content, err = h.t.Convert.ToGit(cv, path, content, o); err != nil {
			return h.t.Algo.Null(), &HashError{Fatal: true, Err: err}
		}
	}
	return h.store(path, content, sink)
}

// streamed hashes a file that is not to be in memory as a whole: a big one,
// or one that a filter reads.
func (h *Hasher) streamed(path string, st *index.FileStat, cv *Conversion, sink *Sink, o ConvertOptions) (oid.ID, error) {
	f, err := os.Open(h.t.abs(path))
	if err != nil {
		return h.t.Algo.Null(), cannotOpen(path, err)
	}
	defer f.Close()
	if !cv.Streams() {
		return h.stream(path, st.Bytes, f, sink)
	}
	content, err := h.t.Convert.ToGitFrom(cv, path, f, o)
	if err != nil {
		return h.t.Algo.Null(), &HashError{Fatal: true, Err: err}
	}
	return h.store(path, content, sink)
}

func cannotOpen(path string, err error) error {
	return hashErr(err, fmt.Sprintf("open(\"%s\"): %s", path, errnoText(err)))
}

// read returns the whole file, in a buffer that the next call reuses.
func (h *Hasher) read(path string, size int64) ([]byte, error) {
	const keep = 1 << 20
	if int64(cap(h.buf)) < size || cap(h.buf) > keep {
		h.buf = make([]byte, max(size, 64<<10))
	}
	buf := h.buf[:size]
	err := readWhole(h.t.abs(path), buf)
	var opening *openError
	switch {
	case err == nil:
		return buf, nil
	case errors.As(err, &opening):
		return nil, cannotOpen(path, opening.err)
	case errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF:
		err = fmt.Errorf("short read while indexing %s", path)
	default:
		err = fmt.Errorf("read error while indexing %s", path)
	}
	return nil, hashErr(err, err.Error(), path+": failed to insert into database")
}

func (h *Hasher) store(path string, content []byte, sink *Sink) (oid.ID, error) {
	if sink == nil {
		return h.t.Algo.Sum("blob", content), nil
	}
	id, err := sink.Write(content)
	return id, h.stored(path, err)
}

func (h *Hasher) stream(path string, size int64, r io.Reader, sink *Sink) (oid.ID, error) {
	if sink != nil {
		id, err := sink.Stream(size, r)
		return id, h.stored(path, err)
	}
	hash := h.t.Algo.New()
	fmt.Fprintf(hash, "blob %d\x00", size)
	n, err := io.Copy(hash, io.LimitReader(r, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return h.t.Algo.Null(), hashErr(err, fmt.Sprintf("read error while indexing %s", path), path+": failed to insert into database")
	}
	return h.t.Algo.FromHash(hash), nil
}

func (h *Hasher) stored(path string, err error) error {
	if err == nil {
		return nil
	}
	return hashErr(err, err.Error(), path+": failed to insert into database")
}

// Gitlink returns the commit that the repository in the directory path is at.
func (t *Tree) Gitlink(path string) (oid.ID, error) {
	missing := fmt.Errorf("'%s' does not have a commit checked out", path)
	dir := t.abs(strings.TrimRight(path, "/")) + "/.git"
	if !isDir(dir) {
		var err error
		if dir, err = gitFile(dir); err != nil {
			return t.Algo.Null(), missing
		}
	}
	if !isGitDir(dir) {
		return t.Algo.Null(), missing
	}
	algo, err := repositoryAlgo(dir)
	if err != nil {
		return t.Algo.Null(), missing
	}
	got, err := refs.Open(refs.Options{FS: t.FS, GitDir: dir, CommonDir: commonDir(dir), Algo: algo}).Resolve("HEAD", refs.Reading)
	if err != nil {
		return t.Algo.Null(), missing
	}
	if algo != t.Algo {
		return t.Algo.Null(), errors.New("cannot add a submodule of a different hash algorithm")
	}
	return got.ID, nil
}

// repositoryAlgo reads extensions.objectFormat of the repository in dir.
func repositoryAlgo(dir string) (oid.Algo, error) {
	c, err := config.LoadFile(config.Options{Dir: dir, NoCommand: true, LookupEnv: func(string) (string, bool) { return "", false }},
		commonDir(dir)+"/config", config.ScopeLocal, false)
	if err != nil {
		return oid.SHA1, err
	}
	v, ok := c.Get("extensions.objectformat")
	if !ok {
		return oid.SHA1, nil
	}
	algo, ok := oid.ParseAlgo(v)
	if !ok {
		return oid.SHA1, fmt.Errorf("unknown hash algorithm '%s'", v)
	}
	return algo, nil
}

// Differs is the Content function for index.Options: it compares an entry
// with its file by content.
func (t *Tree) Differs(e *index.Entry, st *index.FileStat) bool {
	if e.IsGitlink() {
		id, err := t.Gitlink(e.Name)
		return err == nil && id != e.ID
	}
	cv, err := t.Plan(e.Name)
	if err != nil {
		return true
	}
	id, err := t.NewHasher().Hash(e.Name, st, &cv, nil, ConvertOptions{Report: t.Report})
	return err != nil || id != e.ID
}

// ObjectMode is the mode that path would have in a tree, or 0 if there is no
// such file: a directory that is a repository counts as a gitlink.
func (t *Tree) ObjectMode(x *index.Index, path string) uint32 {
	var st index.FileStat
	if index.Lstat(t.abs(path), &st) != nil {
		return 0
	}
	if !st.IsDir() {
		return index.CanonicalMode(st.Mode)
	}
	if e := x.Find(path, 0); e != nil && e.IsGitlink() {
		return index.ModeGitlink
	}
	if _, err := t.Gitlink(path); err == nil {
		return index.ModeGitlink
	}
	return index.ModeDir
}
