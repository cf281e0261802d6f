package builtin

import (
	"errors"
	"io"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// Files are the index of a repository and its working tree, with what it
// takes to compare them.
type Files struct {
	Index   *index.Index
	Objects *odb.DB
	Tree    *worktree.Tree // nil without a working tree
	Attrs   *worktree.Attributes
}

// openFiles reads the index and makes it compare content with the files.
func openFiles(env *Env) (*Files, error) {
	o, err := indexOptions(env)
	if err != nil {
		return nil, err
	}
	f := &Files{}
	f.Index, err = readIndex(env, o)
	var foreign *index.UnsupportedError
	if errors.As(err, &foreign) {
		return nil, &parseopt.NotNativeError{Option: foreign.Feature}
	}
	if err != nil {
		return nil, err
	}
	if f.Objects, err = env.Repo.ODB(); err != nil {
		return nil, err
	}
	f.Attrs = attributes(env, f.blob)
	if env.Repo.WorkTree == "" {
		return f, nil
	}
	set, err := worktree.LoadConvert(env.Config)
	if err != nil {
		return nil, err
	}
	set.Blob, set.Root, set.Environ, set.Stderr = f.blob, env.Repo.WorkTree, env.Environ, env.Stderr
	trace := env.Getenv("GIT_TRACE")
	set.Trace = trace == "1" || trace == "2" || trace == "true"
	set.HashBlob = func(content []byte) oid.ID { return env.Repo.Algo.Sum("blob", content) }
	big, err := env.Config.Ulong("core.bigfilethreshold", odb.DefaultBigFile)
	if err != nil {
		return nil, err
	}
	f.Tree = &worktree.Tree{
		Root: env.Repo.WorkTree, Algo: env.Repo.Algo, FS: env.FS, BigFile: int64(big),
		Convert: worktree.NewConverter(set, f.Attrs), Report: env.line,
	}
	f.Index.Options.Content = f.Tree.Differs
	return f, nil
}

// Close ends what the conversion has started.
func (f *Files) Close() {
	if f.Tree != nil {
		f.Tree.Convert.Close()
	}
}

// blob reads the content that the index has for a path.
func (f *Files) blob(path string) ([]byte, bool) {
	e := f.Index.FindAny(path)
	if e == nil || !e.IsRegular() {
		return nil, false
	}
	typ, content, err := f.Objects.Read(e.ID)
	return content, err == nil && typ == object.Blob
}

// skippedBlob is blob for the files that a sparse checkout leaves out.
func (f *Files) skippedBlob(path string) ([]byte, bool) {
	if e := f.Index.Find(path, 0); e == nil || !e.Has(index.SkipWorktree) {
		return nil, false
	}
	return f.blob(path)
}

// attributes are those of the files that a command looks at on their way in.
func attributes(env *Env, blob func(path string) ([]byte, bool)) *worktree.Attributes {
	return worktree.NewAttributes(attrSources(env, blob))
}

// attrSources say where attributes are read.
func attrSources(env *Env, blob func(path string) ([]byte, bool)) worktree.AttrSources {
	src := worktree.AttrSources{
		Root: env.Repo.WorkTree, Info: env.Repo.GitPath("info/attributes"), Blob: blob,
		Report: func(line string) { io.WriteString(env.Stderr, Message("", line)) },
	}
	if system, err := env.EnvBool("GIT_ATTR_NOSYSTEM", false); err == nil && !system {
		src.Files = append(src.Files, "/etc/gitattributes")
	}
	if path := userFile(env, "core.attributesfile", "attributes"); path != "" {
		src.Files = append(src.Files, env.Path(path))
	}
	src.IgnoreCase, _ = env.Config.Bool("core.ignorecase", false)
	return src
}

// standardIgnore are the sources of ignore patterns of add and status.
func standardIgnore(env *Env, blob func(path string) ([]byte, bool)) worktree.IgnoreSources {
	src := worktree.IgnoreSources{Root: env.Repo.WorkTree, PerDir: ".gitignore"}
	if path := userFile(env, "core.excludesfile", "ignore"); path != "" {
		src.Files, src.Names = []string{env.Path(path)}, []string{path}
	}
	src.Files = append(src.Files, env.Repo.GitPath("info/exclude"))
	src.Names = append(src.Names, env.Repo.GitPathName("info/exclude"))
	src.Blob = blob
	src.IgnoreCase, _ = env.Config.Bool("core.ignorecase", false)
	src.Report = func(line string) { io.WriteString(env.Stderr, Message("", line)) }
	return src
}

// userFile is a file that the configuration names, perhaps relative to the top
// of the working tree, else the one of that name in the user's folder of git's
// settings.
func userFile(env *Env, key, name string) string {
	if path, ok, err := env.Config.Path(key); ok && err == nil {
		if path == "" {
			return ""
		}
		return path
	}
	if dir := env.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir + "/git/" + name
	}
	if home := env.Getenv("HOME"); home != "" {
		return home + "/.config/git/" + name
	}
	return ""
}

// pathspec parses pathspec elements of a command line; none mean the current directory.
func (f *Files) pathspec(env *Env, args []string) (*worktree.Pathspec, error) {
	o := pathspecOptions(env)
	o.PreferCwd = true
	ps, err := worktree.ParsePathspec(args, o)
	if err == nil && ps.Magic&worktree.MagicAttr != 0 {
		ps.Attrs = f.Attrs
	}
	return ps, err
}
