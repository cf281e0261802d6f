package builtin

import (
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
)

// indexOptions is what configuration and environment say about the index.
// Content is left to the caller.
func indexOptions(env *Env) (index.Options, error) {
	r, c := env.Repo, env.Config
	o := index.Options{WorkTree: r.WorkTree, Version: func() uint32 { return newIndexVersion(env) }}
	var err error
	boolean := func(key string, def bool) bool {
		if err != nil {
			return def
		}
		var b bool
		b, err = c.Bool(key, def)
		return b
	}
	o.Stat = index.StatRules{
		DistrustCTime:      !boolean("core.trustctime", true),
		DistrustExecutable: !boolean("core.filemode", true),
		NoSymlinks:         !boolean("core.symlinks", true),
		AssumeUnchanged:    boolean("core.ignorestat", false),
		IgnoreCase:         boolean("core.ignorecase", false),
	}
	check, _ := c.Get("core.checkstat")
	o.Stat.Minimal = check == "minimal"
	hfs, ntfs := boolean("core.protecthfs", protectHFS), boolean("core.protectntfs", true)
	o.VerifyPath = func(path string, mode uint32) bool { return object.VerifyPath(path, mode, hfs, ntfs) }
	o.NoPreload = !boolean("core.preloadindex", true)
	o.SkipHash = boolean("index.skiphash", boolean("feature.manyfiles", false))
	for _, opt := range []struct {
		key string
		to  **bool
	}{{"index.recordendofindexentries", &o.RecordEndOfEntries}, {"index.recordoffsettable", &o.RecordOffsetTable}} {
		if c.Lookup(opt.key) != nil {
			b := boolean(opt.key, false)
			*opt.to = &b
		}
	}
	if err != nil {
		return o, err
	}
	if o.AllowNullID, err = env.EnvBool("GIT_ALLOW_NULL_SHA1", false); err != nil {
		return o, err
	}
	o.Threads, o.ThreadsSet, err = indexThreads(env)
	return o, err
}

// indexThreads reads index.threads: true leaves the number open, which is 0, and false is 1.
func indexThreads(env *Env) (n int, set bool, err error) {
	if v, ok := env.LookupEnv("GIT_TEST_INDEX_THREADS"); ok {
		n, _ := strconv.Atoi(v)
		if n != 0 {
			return n, true, nil
		}
	}
	e := env.Config.Lookup("index.threads")
	if e == nil {
		return 1, false, nil
	}
	isBool, n, err := e.BoolOrInt()
	if isBool && err == nil {
		n = 1 - n
	}
	return n, true, err
}

const (
	defaultIndexVersion = 3
	minIndexVersion     = 2
	maxIndexVersion     = 4
)

// newIndexVersion is the version of an index that has no file yet.
func newIndexVersion(env *Env) uint32 {
	text, fromEnv := env.LookupEnv("GIT_INDEX_VERSION")
	n, source := defaultIndexVersion, "GIT_INDEX_VERSION"
	var err error
	if fromEnv {
		n, err = strconv.Atoi(text)
	} else {
		source = "index.version"
		if many, berr := env.Config.Bool("feature.manyfiles", false); berr == nil && many {
			n = 4
		}
		n, err = env.Config.Int("index.version", n)
	}
	if err != nil || n < minIndexVersion || n > maxIndexVersion {
		env.Warn("%s set, but the value is invalid.\nUsing version %d", source, defaultIndexVersion)
		return defaultIndexVersion
	}
	return uint32(n)
}

// readIndex reads the index of the repository, and prints what reading it warns of.
func readIndex(env *Env, o index.Options) (*index.Index, error) {
	x, err := index.Read(env.Repo.IndexPath(), env.Repo.Algo, o)
	if err != nil {
		return nil, err
	}
	env.indexWarnings(x)
	return x, nil
}

// indexWarnings prints what reading or writing x warned of.
func (e *Env) indexWarnings(x *index.Index) {
	for _, line := range x.Warnings {
		e.message("", line)
	}
	x.Warnings = nil
}

// writeIndex writes x into its lock file, publishes it with all else that b
// holds, and tells the post-index-change hook.
func writeIndex(env *Env, x *index.Index, lock *lockfile.Lock, b *syncpolicy.Barrier) error {
	err := x.Write(lock, b)
	env.indexWarnings(x)
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		return err
	}
	postIndexChange(env, x)
	return nil
}

// headTree finds paths in the tree of HEAD; trees are read as they are needed.
type headTree struct {
	objects *odb.DB
	dirs    map[string]map[string]object.Entry // by path; nil without a HEAD
}

// headEntries begins to look into the tree of HEAD. Without a commit there, nothing is found.
func headEntries(env *Env, db *odb.DB) (*headTree, error) {
	h := &headTree{objects: db}
	store, err := env.Repo.Refs()
	if err != nil {
		return nil, err
	}
	id, err := store.Read("HEAD")
	if err != nil {
		return h, nil
	}
	h.dirs = make(map[string]map[string]object.Entry)
	return h, h.read("", id)
}

func (h *headTree) read(dir string, id oid.ID) error {
	list, err := h.objects.ReadTree(id)
	if err != nil {
		return err
	}
	entries := make(map[string]object.Entry, len(list))
	for _, e := range list {
		entries[e.Name] = e
	}
	h.dirs[dir] = entries
	return nil
}

// find returns the entry of a file.
func (h *headTree) find(path string) (object.Entry, bool) {
	if h.dirs == nil {
		return object.Entry{}, false
	}
	dir, name := "", path
	if slash := strings.LastIndexByte(path, '/'); slash >= 0 {
		dir, name = path[:slash], path[slash+1:]
		if _, known := h.dirs[dir]; !known {
			up, ok := h.find(dir)
			if !ok || !object.IsTree(up.Mode) || h.read(dir, up.ID) != nil {
				h.dirs[dir] = nil
			}
		}
	}
	e, ok := h.dirs[dir][name]
	return e, ok
}
