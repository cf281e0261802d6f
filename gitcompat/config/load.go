package config

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"unsafe"
)

// Config is what git reads: all values, in order.
type Config struct {
	entries   []Entry
	last      map[string]int32 // canonical key -> its last entry, plus one
	prev      []int32          // entry -> the entry before it with the same key, plus one
	lookupEnv LookupEnv
}

// Options say where to read.
type Options struct {
	LookupEnv LookupEnv
	Dir       string // what relative names are relative to; absolute

	// The repository, as git names it: relative to Dir or absolute. "" for none.
	GitDir, CommonDir string
	WorkTree          string // absolute; "" for none
	Local             *File  // the common config file, where it has been read already
	WorktreeConfig    bool   // extensions.worktreeConfig

	NoCommand    bool // leave the environment and -c out
	SystemGently bool // a system file that may not be read is as good as none
	NoIncludes   bool

	Warn func(line string) // takes "warning: ..." lines; may be nil
}

// A File is one configuration file, includes not followed.
type File struct {
	Origin  *Origin
	Entries []Entry
	Missing bool
}

// ReadFile reads one file. name is what messages call it; relative to dir.
// A missing file has no entries.
func ReadFile(dir, name string, scope Scope) (*File, error) {
	return ReadFileAs(abs(dir, name), name, scope)
}

// ReadFileAs is ReadFile of the absolute path, which messages call name.
func ReadFileAs(path, name string, scope Scope) (*File, error) {
	f := &File{Origin: &Origin{Name: name, Path: path, Scope: scope}}
	data, err := ReadSmall(f.Origin.Path)
	if err != nil {
		f.Missing = true
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return f, nil
		}
		return f, &accessError{name: name, err: err}
	}
	f.Entries, err = parse(text(data), f.Origin, nil)
	return f, err
}

// text returns data, which nobody changes any more, as a string.
func text(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// accessError: a file is there, but cannot be read.
type accessError struct {
	name string
	err  error
}

func (e *accessError) Error() string {
	return "unable to access '" + e.name + "': " + errnoText(e.err)
}

func (e *accessError) Unwrap() error { return e.err }

// Load reads all of git's places in git's order (C2).
func Load(o Options) (*Config, error) {
	l := &loader{o: o, c: &Config{lookupEnv: o.LookupEnv}}
	if err := l.sequence(); err != nil {
		return nil, err
	}
	l.c.index()
	return l.c, nil
}

// LoadFile reads one file as "git config --file" does: as the only place there is.
func LoadFile(o Options, name string, scope Scope, includes bool) (*Config, error) {
	data, err := ReadSmall(abs(o.Dir, name))
	if err != nil {
		return nil, &accessError{name: name, err: err}
	}
	return LoadBytes(o, data, &Origin{Name: name, Path: abs(o.Dir, name), Scope: scope}, includes)
}

// LoadBytes reads the content of a file or blob as the only place there is.
func LoadBytes(o Options, data []byte, origin *Origin, includes bool) (*Config, error) {
	l := &loader{o: o, c: &Config{lookupEnv: o.LookupEnv}, only: &source{data: text(data), origin: origin}}
	l.o.NoIncludes = !includes
	if err := l.sequence(); err != nil {
		return nil, err
	}
	l.c.index()
	return l.c, nil
}

type source struct {
	data   string
	origin *Origin
}

// loader is one reading of all places.
type loader struct {
	o    Options
	c    *Config
	only *source

	depth       int
	remoteURLs  []string
	urlsKnown   bool
	collectURLs bool // reading only to learn the URLs of remotes
	insideURLs  int  // files that a hasconfig condition included, in which no URL may stand
}

func (l *loader) sequence() error {
	if l.only != nil {
		entries, err := parse(l.only.data, l.only.origin, nil)
		if err != nil {
			return err
		}
		return l.add(&File{Origin: l.only.origin, Entries: entries})
	}
	o := &l.o
	noSystem, err := envBool(o.LookupEnv, "GIT_CONFIG_NOSYSTEM")
	if err != nil {
		return err
	}
	if name := SystemFile(o.LookupEnv); !noSystem && name != "" {
		if err := l.file(name, ScopeSystem, o.SystemGently); err != nil {
			return err
		}
	}
	user, xdg := GlobalFiles(o.LookupEnv)
	for _, name := range []string{xdg, user} {
		if name != "" {
			if err := l.file(name, ScopeGlobal, true); err != nil {
				return err
			}
		}
	}
	if o.Local != nil {
		err = l.add(o.Local)
	} else if o.CommonDir != "" {
		err = l.file(gitFile(o.CommonDir, "config"), ScopeLocal, false)
	}
	if err != nil {
		return err
	}
	if o.WorktreeConfig && o.GitDir != "" {
		if err := l.file(gitFile(o.GitDir, "config.worktree"), ScopeWorktree, false); err != nil {
			return err
		}
	}
	if o.NoCommand {
		return nil
	}
	entries, err := fromEnvironment(o.LookupEnv)
	if err != nil {
		return fail(err, badCommandLine)
	}
	return l.add(&File{Entries: entries})
}

const badCommandLine = "unable to parse command-line config"

// gitFile names a file of a git directory as git does, which drops a leading "./".
func gitFile(dir, base string) string { return strings.TrimPrefix(dir+"/"+base, "./") }

// file adds a file of the sequence, if it is there.
func (l *loader) file(name string, scope Scope, gently bool) error {
	f, err := ReadFile(l.o.Dir, name, scope)
	if err != nil {
		if gently && errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if errors.Is(err, syscall.EISDIR) {
			return &Error{
				Notes: []string{"warning: " + err.Error()},
				Msg:   "unknown error occurred while reading the configuration files",
			}
		}
		return err
	}
	return l.add(f)
}

// add takes over the entries of f, and follows its includes.
func (l *loader) add(f *File) error {
	if l.o.NoIncludes {
		l.c.entries = append(l.c.entries, f.Entries...)
		return nil
	}
	for i := range f.Entries {
		e := &f.Entries[i]
		if l.insideURLs > 0 && isRemoteURL(e.Key) {
			return &Error{Msg: "remote URLs cannot be configured in file directly or indirectly included by includeIf.hasconfig:remote.*.url"}
		}
		if strings.IndexByte(e.Key, '.') < 0 && l.only == nil && !l.collectURLs {
			if l.o.Warn != nil {
				l.o.Warn("error: key does not contain a section: " + e.Key)
			}
		}
		l.c.entries = append(l.c.entries, *e)
		if len(e.Key) < len("include.path") || e.Key[:7] != "include" {
			continue
		}
		if err := l.include(e); err != nil {
			ce, ok := err.(*includeError)
			switch {
			case !ok:
				return err
			case e.Origin.Kind == OriginCommandLine:
				return fail(ce.err, badCommandLine)
			}
			return fail(ce.err, badLine(e))
		}
	}
	return nil
}

// index prepares look-ups.
func (c *Config) index() {
	c.last = make(map[string]int32, len(c.entries))
	c.prev = make([]int32, len(c.entries))
	for i := range c.entries {
		key := c.entries[i].Key
		c.prev[i] = c.last[key]
		c.last[key] = int32(i + 1)
	}
}

// Lookup returns the last entry of key, or nil. The key may be written in any case.
func (c *Config) Lookup(key string) *Entry {
	if i := c.last[Canonical(key)]; i > 0 {
		return &c.entries[i-1]
	}
	return nil
}

// Entries returns all entries, in order. The caller must not change them.
func (c *Config) Entries() []Entry { return c.entries }

// All returns all values of key, in order.
func (c *Config) All(key string) []string {
	list := c.Multi(key)
	if list == nil {
		return nil
	}
	values := make([]string, len(list))
	for i, e := range list {
		values[i] = e.Value
	}
	return values
}

// Multi returns all entries of key, in order.
func (c *Config) Multi(key string) []*Entry {
	var list []*Entry
	for i := c.last[Canonical(key)]; i > 0; i = c.prev[i-1] {
		list = append(list, &c.entries[i-1])
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// Subsections returns the names of the subsections of a section, each once, in order.
func (c *Config) Subsections(section string) []string {
	var list []string
	seen := map[string]bool{}
	for i := range c.entries {
		s, sub, hasSub, _ := SplitKey(c.entries[i].Key)
		if hasSub && s == section && !seen[sub] {
			seen[sub] = true
			list = append(list, sub)
		}
	}
	return list
}

// LookupEnv looks a variable up in the environment that the configuration was read in.
func (c *Config) LookupEnv(name string) (string, bool) {
	if c.lookupEnv == nil {
		return "", false
	}
	return c.lookupEnv(name)
}
