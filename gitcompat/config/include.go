package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const maxIncludeDepth = 10

// includeError: an include that cannot be followed makes its line a bad one.
type includeError struct{ err error }

func (e *includeError) Error() string { return e.err.Error() }

func badLine(e *Entry) string {
	return fmt.Sprintf("bad config line %d%s", e.Line, e.Origin.inLine())
}

// include follows e, if it is an include whose condition holds.
func (l *loader) include(e *Entry) error {
	if e.Key == "include.path" {
		return l.includePath(e)
	}
	section, cond, hasSub, name := SplitKey(e.Key)
	if section != "includeif" || !hasSub || name != "path" {
		return nil
	}
	ok, err := l.condition(e, cond)
	if err != nil || !ok {
		return err
	}
	// While URLs are collected, every conditional include is read with URLs forbidden.
	if l.collectURLs {
		l.insideURLs++
		defer func() { l.insideURLs-- }()
	}
	return l.includePath(e)
}

func (l *loader) includePath(e *Entry) error {
	if !e.HasValue {
		return &includeError{fmt.Errorf("missing value for '%s'", "include.path")}
	}
	path, ok := ExpandPath(e.Value, l.o.LookupEnv)
	if !ok {
		return &includeError{fmt.Errorf("could not expand include path '%s'", e.Value)}
	}
	from := "the command line"
	if e.Origin.Kind == OriginFile {
		from = e.Origin.Name
	}
	if !filepath.IsAbs(path) {
		if e.Origin.Kind != OriginFile {
			return &includeError{errors.New("relative config includes must come from files")}
		}
		path = e.Origin.Name[:strings.LastIndexByte(e.Origin.Name, '/')+1] + path
	}
	f, err := ReadFile(l.o.Dir, path, e.Origin.Scope)
	switch {
	case errors.Is(err, syscall.EISDIR):
		return &includeError{&Error{Notes: []string{"warning: " + err.Error()}}}
	case err == nil && f.Missing:
		return nil
	}
	if l.depth++; l.depth > maxIncludeDepth {
		return &Error{Msg: fmt.Sprintf("exceeded maximum include depth (%d) while including\n\t%s\nfrom\n\t%s\n"+
			"This might be due to circular includes.", maxIncludeDepth, path, from)}
	}
	if err == nil {
		err = l.add(f)
	}
	l.depth--
	return err
}

// condition evaluates the condition of an includeIf; unknown ones are false.
func (l *loader) condition(e *Entry, cond string) (bool, error) {
	kind, arg, _ := strings.Cut(cond, ":")
	switch kind {
	case "gitdir", "gitdir/i":
		if l.o.GitDir == "" {
			return false, nil
		}
		return l.pathCondition(e, abs(l.o.Dir, l.o.GitDir), l.logical(l.o.GitDir), arg, kind == "gitdir/i")
	case "worktree", "worktree/i":
		if l.o.WorkTree == "" {
			return false, nil
		}
		return l.pathCondition(e, l.o.WorkTree, l.o.WorkTree, arg, kind == "worktree/i")
	case "onbranch":
		branch, ok := l.branch()
		return ok && wildmatch(starstar(arg), branch, false), nil
	case "hasconfig":
		glob, ok := strings.CutPrefix(arg, "remote.*.url:")
		if !ok {
			return false, nil
		}
		return l.urlCondition(glob)
	}
	return false, nil
}

func starstar(pattern string) string {
	if strings.HasSuffix(pattern, "/") {
		return pattern + "**"
	}
	return pattern
}

// logical is the path of name by the name that the shell has for the directory,
// which symbolic links may be part of.
func (l *loader) logical(name string) string {
	pwd, _ := l.o.LookupEnv("PWD")
	if filepath.IsAbs(name) || !filepath.IsAbs(pwd) || pwd == l.o.Dir {
		return abs(l.o.Dir, name)
	}
	here, err := os.Stat(l.o.Dir)
	there, err2 := os.Stat(pwd)
	if err != nil || err2 != nil || !os.SameFile(here, there) {
		return abs(l.o.Dir, name)
	}
	return filepath.Join(pwd, name)
}

// pathCondition matches a directory, once as it really is and once as it was named.
func (l *loader) pathCondition(e *Entry, path, named, pattern string, icase bool) (bool, error) {
	prefix := 0
	if p, ok := expandReal(pattern, l.o.LookupEnv); ok {
		pattern = p
	}
	if strings.HasPrefix(pattern, "./") {
		if e.Origin.Kind != OriginFile {
			// git reports this one, and takes the condition as true.
			return true, nil
		}
		dir := filepath.Dir(realPath(e.Origin.Path))
		pattern = dir + pattern[1:]
		prefix = len(dir) + 1
	} else if !filepath.IsAbs(pattern) {
		pattern = "**/" + pattern
	}
	pattern = starstar(pattern)
	for _, text := range [2]string{realPath(path), named} {
		if len(text) < prefix {
			return false, nil
		}
		if prefix > 0 && pattern[:prefix] != text[:prefix] && !(icase && strings.EqualFold(pattern[:prefix], text[:prefix])) {
			return false, nil
		}
		if wildmatch(pattern[prefix:], text[prefix:], icase) {
			return true, nil
		}
	}
	return false, nil
}

// expandReal expands a path with the home directory's real name.
func expandReal(path string, env LookupEnv) (string, bool) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, ok := env("HOME")
		return realPath(home) + path[1:], ok
	}
	return ExpandPath(path, env)
}

// realPath resolves symbolic links as far as the path exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, base := filepath.Split(filepath.Clean(path))
	if real, err := filepath.EvalSymlinks(filepath.Clean(dir)); err == nil {
		return filepath.Join(real, base)
	}
	return path
}

// branch returns the short name of the branch that HEAD names.
func (l *loader) branch() (string, bool) {
	if l.o.GitDir == "" {
		return "", false
	}
	dir, name := abs(l.o.Dir, l.o.GitDir), "HEAD"
	for depth := 0; depth < 5; depth++ {
		data, err := ReadSmall(dir + "/" + name)
		rest, ok := strings.CutPrefix(string(data), "ref:")
		if err != nil || !ok {
			if name == "HEAD" || err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EISDIR) {
				return "", false
			}
			break
		}
		name = trimBlanks(rest)
		dir = abs(l.o.Dir, l.o.CommonDir)
		if !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") {
			return "", false
		}
	}
	return strings.CutPrefix(name, "refs/heads/")
}

func isRemoteURL(key string) bool {
	return strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".url") && len(key) >= len("remote..url")
}

func (l *loader) urlCondition(glob string) (bool, error) {
	if l.collectURLs {
		return true, nil
	}
	if !l.urlsKnown {
		sub := &loader{o: l.o, only: l.only, c: &Config{lookupEnv: l.o.LookupEnv}, collectURLs: true}
		if err := sub.sequence(); err != nil {
			return false, err
		}
		for i := range sub.c.entries {
			if e := &sub.c.entries[i]; isRemoteURL(e.Key) {
				l.remoteURLs = append(l.remoteURLs, e.Value)
			}
		}
		l.urlsKnown = true
	}
	for _, url := range l.remoteURLs {
		if wildmatch(glob, url, false) {
			return true, nil
		}
	}
	return false, nil
}
