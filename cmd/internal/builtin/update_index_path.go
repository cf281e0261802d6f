package builtin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/worktree"
	"github.com/sluicegit/sluice/syncpolicy"
)

// argument updates the path that an argument or a line of input names.
func (u *updateIndex) argument(arg string) error {
	if u.dry {
		return nil
	}
	path, err := u.prefixed(arg)
	if err != nil {
		return err
	}
	if err := u.update(path); err != nil {
		return err
	}
	if u.chmod != 0 {
		return u.chmodPath(path)
	}
	return nil
}

// prefixed makes a path that the user gave relative to the top of the working tree.
func (u *updateIndex) prefixed(arg string) (string, error) {
	if err := u.env.Repo.RequireWorkTree(); err != nil {
		return "", err
	}
	path, _, ok := worktree.RelativePath(u.env.Repo.WorkTree, u.env.Repo.Prefix, arg, u.x.Options.Stat.IgnoreCase)
	if !ok {
		return "", fmt.Errorf("'%s' is outside repository at '%s'", arg, u.env.Repo.WorkTree)
	}
	return path, nil
}

// update is what the options so far ask to be done with path.
func (u *updateIndex) update(path string) error {
	var st index.FileStat
	var statErr error
	if u.markValid == 0 && u.markSkip == 0 && u.forceRemove == 0 {
		if statErr = index.Lstat(u.env.Repo.WorkTree+"/"+path, &st); statErr != nil {
			st = index.FileStat{}
		}
	}
	if !u.verify(path, st.Mode) {
		io.WriteString(u.env.Stderr, Message("", "Ignoring path "+path))
		return nil
	}
	switch {
	case u.markValid != 0:
		return u.markPath(path, index.AssumeValid, u.markValid == mark)
	case u.markSkip != 0:
		return u.markPath(path, index.SkipWorktree, u.markSkip == mark)
	case u.forceRemove != 0:
		u.x.RemovePath(path)
		u.report("remove '%s'", path)
		return nil
	}
	if err := u.process(path, &st, statErr); err != nil {
		if fatal := (*worktree.HashError)(nil); errors.As(err, &fatal) {
			for _, line := range fatal.Lines {
				u.env.message("", line)
			}
			if fatal.Fatal {
				return fatal
			}
		} else {
			u.env.Error(err)
		}
		return fmt.Errorf("Unable to process path %s", path)
	}
	u.report("add '%s'", path)
	if u.verbose != 0 && !u.stdin {
		// Whoever waits for the report may look for the object.
		if err := u.barrier.Flush(syncpolicy.Packs); err != nil {
			return err
		}
		return u.env.Flush()
	}
	return nil
}

// verify reports whether an entry of the index may have this path; one of a
// sparse index might end in a slash, but none here.
func (u *updateIndex) verify(path string, mode uint32) bool {
	return !strings.HasSuffix(path, "/") && u.x.Options.VerifyPath(path, mode)
}

func (u *updateIndex) markPath(path string, f index.Flags, set bool) error {
	e := u.x.Find(path, 0)
	if e == nil {
		return fmt.Errorf("Unable to mark file %s", path)
	}
	e.Flags &^= f
	if set {
		e.Flags |= f
	}
	u.x.InvalidatePath(path)
	u.x.Touch()
	return nil
}

func (u *updateIndex) chmodPath(path string) error {
	e := u.x.Find(path, 0)
	if e == nil || !u.x.Chmod(e, u.chmod == '+') {
		return fmt.Errorf("git update-index: cannot chmod %cx '%s'", u.chmod, path)
	}
	u.report("chmod %cx '%s'", u.chmod, path)
	return nil
}

// process takes the state of the file at path into the index.
func (u *updateIndex) process(path string, st *index.FileStat, statErr error) error {
	if u.lead.Symlink(u.env.Repo.WorkTree, path) {
		return fmt.Errorf("'%s' is beyond a symbolic link", path)
	}
	e := u.x.Find(path, 0)
	if e != nil && e.Flags&index.SkipWorktree != 0 {
		// The file that is there does not count; that it is to be dropped does.
		if !u.ignoreSkipWorktree && u.remove != 0 {
			u.x.RemovePath(path)
		}
		return nil
	}
	switch {
	case errors.Is(statErr, fs.ErrNotExist) || errors.Is(statErr, syscall.ENOTDIR):
		return u.removePath(path)
	case statErr != nil:
		return fmt.Errorf("lstat(\"%s\"): %s", path, ErrnoText(statErr))
	case st.IsDir():
		return u.directory(path, e, st)
	}
	return u.addPath(path, e, st)
}

func (u *updateIndex) removePath(path string) error {
	if u.remove == 0 {
		return fmt.Errorf("%s: does not exist and --remove not passed", path)
	}
	u.x.RemovePath(path)
	return nil
}

// directory updates a path that is a directory: a repository in it can be a gitlink.
func (u *updateIndex) directory(path string, e *index.Entry, st *index.FileStat) error {
	if e != nil {
		if !e.IsGitlink() {
			return u.removePath(path)
		}
		if _, err := u.files.Tree.Gitlink(path); err != nil {
			return nil // no commit there: the entry stays as it is
		}
		return u.addPath(path, e, st)
	}
	from, to := u.x.Range(path)
	for _, other := range u.x.Entries[from:to] {
		if len(other.Name) == len(path) || other.Name[len(path)] < '/' {
			continue
		}
		if other.Name[len(path)] > '/' {
			break
		}
		return fmt.Errorf("%s: is a directory - add individual files instead", path)
	}
	if _, err := u.files.Tree.Gitlink(path); err == nil {
		return u.addPath(path, nil, st)
	}
	return fmt.Errorf("%s: is a directory - add files inside instead", path)
}

// addPath records the file at path; old is its entry so far, or nil.
func (u *updateIndex) addPath(path string, old *index.Entry, st *index.FileStat) error {
	if old != nil && u.x.Match(old, st, 0) == 0 {
		return nil
	}
	var cv worktree.Conversion
	if st.IsRegular() {
		var err error
		if cv, err = u.files.Tree.Plan(path); err != nil {
			return &worktree.HashError{Fatal: true, Err: err}
		}
	}
	sink := &worktree.Sink{
		Write:  func(content []byte) (oid.ID, error) { return u.tx.Write(object.Blob, content) },
		Stream: func(size int64, r io.Reader) (oid.ID, error) { return u.tx.WriteStream(object.Blob, size, r) },
	}
	if u.infoOnly != 0 {
		sink = nil
	}
	if u.hasher == nil {
		u.hasher = u.files.Tree.NewHasher()
	}
	id, err := u.hasher.Hash(path, st, &cv, sink, worktree.ConvertOptions{
		Report: func(line string) { u.env.message("", line) },
	})
	if err != nil {
		return err
	}
	e := &index.Entry{Name: path, Mode: u.x.Options.Stat.ModeFromStat(old, st.Mode), ID: id}
	u.x.FillStat(e, st)
	return u.addEntry(e)
}

func (u *updateIndex) addEntry(e *index.Entry) error {
	var o index.AddOptions
	if u.add != 0 {
		o |= index.OKToAdd
	}
	if u.replace != 0 {
		o |= index.OKToReplace
	}
	err := u.x.Add(e, o)
	if err == nil {
		return nil
	}
	if !errors.Is(err, index.ErrNotInIndex) {
		u.env.Error(err)
	}
	return fmt.Errorf("%s: cannot add to the index - missing --add option?", e.Name)
}

// addInfo puts an entry into the index that no file stands behind.
func (u *updateIndex) addInfo(mode uint32, id oid.ID, path string, stage uint8) error {
	if !u.verify(path, mode) {
		return fmt.Errorf("Invalid path '%s'", path)
	}
	if mode == index.ModeDir {
		return fmt.Errorf("%s: a directory as the entry of a sparse index is not implemented", path)
	}
	e := &index.Entry{Name: path, Mode: index.CanonicalMode(mode), ID: id, Stage: stage}
	if u.x.Options.Stat.AssumeUnchanged {
		e.Flags |= index.AssumeValid
	}
	if err := u.addEntry(e); err != nil {
		return err
	}
	u.report("add '%s'", path)
	return nil
}

// cacheInfo is --cacheinfo, in either spelling.
func (u *updateIndex) cacheInfo(args []string) ([]string, error) {
	algo := u.env.Repo.Algo
	if len(args) > 0 {
		if mode, id, path, ok := parseCacheInfo(args[0], algo); ok {
			return args[1:], u.addCacheInfo(mode, id, path)
		}
	}
	if len(args) < 3 {
		return nil, &parseopt.UsageError{Msg: "option 'cacheinfo' expects <mode>,<sha1>,<path>"}
	}
	mode, err := strconv.ParseUint(args[0], 8, 32)
	if err != nil {
		return nil, fmt.Errorf("git update-index: --cacheinfo cannot add %s", args[0])
	}
	id, err := algo.FromHex(args[1])
	if err != nil {
		return nil, fmt.Errorf("git update-index: --cacheinfo cannot add %s", args[1])
	}
	return args[3:], u.addCacheInfo(uint32(mode), id, args[2])
}

func parseCacheInfo(arg string, algo oid.Algo) (mode uint32, id oid.ID, path string, ok bool) {
	m, rest, ok := strings.Cut(arg, ",")
	hex, path, ok2 := strings.Cut(rest, ",")
	n, err := strconv.ParseUint(m, 8, 32)
	id, err2 := algo.FromHex(hex)
	return uint32(n), id, path, ok && ok2 && err == nil && err2 == nil
}

func (u *updateIndex) addCacheInfo(mode uint32, id oid.ID, path string) error {
	if u.dry {
		return nil
	}
	if err := u.addInfo(mode, id, path, 0); err != nil {
		u.env.Error(err)
		return fmt.Errorf("git update-index: --cacheinfo cannot add %s", path)
	}
	return nil
}

// indexInfo is --index-info.
func (u *updateIndex) indexInfo() error {
	return eachRecord(u.env, u.nul, func(line string) error {
		mode, id, stage, path, ok := parseIndexInfo(line, u.env.Repo.Algo)
		if !ok {
			return fmt.Errorf("malformed index info %s", line)
		}
		if !u.nul && strings.HasPrefix(path, `"`) {
			if path, ok = unquotePath(path); !ok {
				return errors.New("git update-index: bad quoting of path name")
			}
		}
		if !u.verify(path, mode) {
			io.WriteString(u.env.Stderr, Message("", "Ignoring path "+path))
			return nil
		}
		if mode == 0 {
			u.x.RemovePath(path)
			return nil
		}
		if err := u.addInfo(mode, id, path, stage); err != nil {
			u.env.Error(err)
			return fmt.Errorf("git update-index: unable to update %s", path)
		}
		return nil
	})
}

// parseIndexInfo reads a line of one of three forms: mode SP oid TAB path, as
// of apply --index-info; mode SP type SP oid TAB path, as of ls-tree; and
// mode SP oid SP stage TAB path, as of ls-files --stage.
func parseIndexInfo(line string, algo oid.Algo) (mode uint32, id oid.ID, stage uint8, path string, ok bool) {
	head, path, ok := strings.Cut(line, "\t")
	modeText, rest, ok2 := strings.Cut(head, " ")
	n, err := strconv.ParseUint(modeText, 8, 32)
	if !ok || !ok2 || err != nil {
		return 0, id, 0, "", false
	}
	if k := len(rest) - 2; k >= 0 && rest[k] == ' ' && '0' <= rest[k+1] && rest[k+1] <= '3' {
		stage, rest = rest[k+1]-'0', rest[:k]
	}
	at := len(rest) - algo.HexSize()
	if at < 0 || at > 0 && rest[at-1] != ' ' {
		return 0, id, 0, "", false
	}
	id, err = algo.FromHex(rest[at:])
	return uint32(n), id, stage, path, err == nil
}

// unresolve is --unresolve: the paths get the sides of their conflicts back.
func (u *updateIndex) unresolve(args []string) error {
	if u.dry {
		return nil
	}
	failed := false
	for _, arg := range args {
		path, err := u.prefixed(arg)
		if err != nil {
			return err
		}
		if err := u.x.Unresolve(path); err != nil {
			u.env.Error(err)
			failed = true
		}
	}
	if failed {
		u.failed, u.x.Changed = true, false
	}
	return nil
}

// again is --again: paths whose entries differ from HEAD are updated.
func (u *updateIndex) again(args []string) error {
	if u.dry {
		return nil
	}
	if err := u.env.Repo.RequireWorkTree(); err != nil {
		return err
	}
	ps, err := u.files.pathspec(u.env, args)
	if err != nil {
		return err
	}
	head, err := headEntries(u.env, u.files.Objects)
	if err != nil {
		return err
	}
	var paths []string
	for _, e := range u.x.Entries {
		if e.Stage != 0 || ps.MatchEntry(e, nil) == worktree.NoMatch {
			continue
		}
		if old, ok := head.find(e.Name); ok && index.CanonicalMode(old.Mode) == e.Mode && old.ID == e.ID {
			continue
		}
		paths = append(paths, e.Name)
	}
	for _, path := range paths {
		if u.x.Find(path, 0) == nil {
			continue // replaced by one before it
		}
		if err := u.update(path); err != nil {
			return err
		}
	}
	return nil
}
