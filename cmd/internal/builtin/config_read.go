package builtin

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// globalFile is the user's file: that of the XDG folder only if there is no other.
func globalFile(env config.LookupEnv) string {
	user, xdg := config.GlobalFiles(env)
	if user == "" || xdg == "" {
		return user
	}
	if !readable(user) && readable(xdg) {
		return xdg
	}
	return user
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

func linkedWorktrees(common string) bool {
	list, err := os.ReadDir(common + "/worktrees")
	return err == nil && len(list) > 0
}

// errUnread: the one file that is meant is not there.
type errUnread struct{ err error }

func (e *errUnread) Error() string { return e.err.Error() }
func (e *errUnread) Unwrap() error { return e.err }

// load reads what the options name.
func (c *configCmd) load() (*config.Config, error) {
	o := config.Options{LookupEnv: c.env.LookupEnv, Dir: c.env.Dir, Warn: func(line string) { c.env.line(line) }}
	if c.repo != nil {
		o = c.repo.ConfigOptions()
	}
	oneFile := c.source.name != ""
	includes := c.includes > 0 || c.includes < 0 && !oneFile
	switch {
	case c.source.stdin:
		data, err := io.ReadAll(c.env.Stdin)
		if err != nil {
			return nil, err
		}
		return config.LoadBytes(o, data, &config.Origin{Kind: config.OriginStdin, Scope: c.source.scope}, includes)
	case oneFile:
		cfg, err := config.LoadFile(o, c.source.name, c.source.scope, includes)
		var errno syscall.Errno
		if !errors.As(err, &errno) {
			return cfg, err
		}
		if errno != syscall.ENOENT && errno != syscall.ENOTDIR {
			c.env.Warn("unable to access '%s': %s", c.source.name, ErrnoText(err))
		}
		return nil, &errUnread{err}
	case c.blob != nil:
		return c.loadBlob(o, includes)
	}
	o.NoIncludes = !includes
	return config.Load(o)
}

func (c *configCmd) loadBlob(o config.Options, includes bool) (*config.Config, error) {
	if err := c.repo.ReloadConfig(); err != nil {
		return nil, err
	}
	id, err := revision.New(c.repo).Resolve(*c.blob, revision.Any)
	if err != nil {
		return nil, &errUnread{errors.New("unable to resolve config blob '" + *c.blob + "'")}
	}
	db, err := c.repo.ODB()
	if err != nil {
		return nil, err
	}
	typ, data, err := db.Read(id)
	if err != nil {
		return nil, &errUnread{errors.New("unable to load config blob object '" + *c.blob + "'")}
	}
	if typ != object.Blob {
		return nil, &errUnread{errors.New("reference '" + *c.blob + "' does not point to a blob")}
	}
	return config.LoadBytes(o, data, &config.Origin{Kind: config.OriginBlob, Name: *c.blob, Scope: c.source.scope}, includes)
}

// showAll is list.
func (c *configCmd) showAll() Status {
	c.showNames = true
	if !c.null {
		c.keySep = "="
	}
	cfg, err := c.load()
	var unread *errUnread
	if errors.As(err, &unread) {
		if c.source.name != "" {
			return Fatalf("unable to read config file '%s': %s", c.source.name, ErrnoText(err))
		}
		c.env.Error(unread)
		return Fatalf("error processing config file(s)")
	}
	if err != nil {
		return c.readError(err)
	}
	entries := cfg.Entries()
	for i := range entries {
		text, skip, err := c.format(&entries[i])
		if !skip && err == nil {
			c.env.Print(text)
		}
	}
	return OK
}

// readError ends the command for a file that cannot be parsed: a blob's errors
// are not fatal by themselves.
func (c *configCmd) readError(err error) Status {
	if c.blob != nil {
		c.env.Error(err)
		return Fatalf("error processing config file(s)")
	}
	return Fatal(err)
}

// getValue is get, get-all and get-regexp.
func (c *configCmd) getValue(name string, pattern *string) Status {
	match, st := c.keyMatcher(name)
	if match == nil {
		return st
	}
	wanted, err := valueMatcher(pattern, c.fixed)
	if err != nil {
		return Failure(config.CodeInvalidPattern, err)
	}
	cfg, err := c.load()
	var unread *errUnread
	switch {
	case errors.As(err, &unread):
		if c.source.name == "" {
			c.env.Error(unread)
		}
		cfg = new(config.Config)
	case err != nil && c.blob != nil:
		c.env.Error(err)
		cfg = new(config.Config)
	case err != nil:
		return Fatal(err)
	}
	var found []string
	entries := cfg.Entries()
	for i := range entries {
		e := &entries[i]
		if !match(e.Key) || !wanted(e.Value, true) {
			continue
		}
		text, skip, err := c.format(e)
		if err != nil {
			return Fatal(err)
		}
		if !skip {
			found = append(found, text)
		}
	}
	if len(found) == 0 && c.def != nil {
		e := &config.Entry{Key: name, Value: *c.def, HasValue: true, Origin: &config.Origin{Kind: config.OriginCommandLine, Scope: config.ScopeCommand}}
		text, skip, err := c.format(e)
		var soft *softError
		if errors.As(err, &soft) {
			c.env.Error(soft.cause)
			return Fatalf("failed to format default config value: %s", *c.def)
		}
		if err != nil {
			return Fatal(err)
		}
		if !skip {
			found = append(found, text)
		}
	}
	if len(found) == 0 {
		return Exit(1)
	}
	if !c.all {
		found = found[len(found)-1:]
	}
	c.env.Print(found...)
	return OK
}

// keyMatcher returns what tells whether a key is meant by name; nil if name is bad.
func (c *configCmd) keyMatcher(name string) (func(key string) bool, Status) {
	if !c.regexp {
		canonical, _, err := config.ParseKey(name)
		if err != nil {
			return nil, Failure(config.CodeInvalidKey, err)
		}
		return func(key string) bool { return key == canonical }, OK
	}
	// git lowers the parts that look like section and variable name.
	first, last := strings.IndexByte(name, '.'), strings.LastIndexByte(name, '.')
	pattern := strings.ToLower(name)
	if first >= 0 {
		pattern = strings.ToLower(name[:first]) + name[first:last] + strings.ToLower(name[last:])
	}
	re, err := extended(pattern)
	if err != nil {
		return nil, Failure(config.CodeInvalidPattern, errors.New("invalid key pattern: "+name))
	}
	return re.MatchString, OK
}

// extended compiles an extended regular expression.
func extended(pattern string) (*regexp.Regexp, error) {
	re, err := regexp.CompilePOSIX(pattern)
	if err != nil {
		// What POSIX leaves open, such as \w, the C library has too.
		re, err = regexp.Compile(pattern)
	}
	return re, err
}

// valueMatcher returns what tells whether a value is meant by pattern.
func valueMatcher(pattern *string, fixed bool) (func(value string, hasValue bool) bool, error) {
	if pattern == nil {
		return func(string, bool) bool { return true }, nil
	}
	if fixed {
		return func(value string, hasValue bool) bool { return !hasValue || value == *pattern }, nil
	}
	text, not := strings.CutPrefix(*pattern, "!")
	re, err := extended(text)
	if err != nil {
		return nil, errors.New("invalid pattern: " + text)
	}
	return func(value string, hasValue bool) bool { return (hasValue && re.MatchString(value)) != not }, nil
}

// softError: a value of the wrong type makes its line a bad one.
type softError struct {
	cause error
	place error
}

func (e *softError) Error() string { return e.place.Error() }

func (e *softError) Before() []string { return []string{"error: " + e.cause.Error()} }

// format returns a value as it is to be shown; skip is set for an optional path
// that is missing.
func (c *configCmd) format(e *config.Entry) (text string, skip bool, err error) {
	var b strings.Builder
	if c.showScope {
		b.WriteString(e.Origin.Scope.String())
		b.WriteString(map[bool]string{true: "\x00", false: "\t"}[c.null])
	}
	if c.showOrigin {
		kind, _, _ := strings.Cut(e.Origin.String(), ":")
		b.WriteString(kind + ":")
		if c.null {
			b.WriteString(e.Origin.Name + "\x00")
		} else {
			b.WriteString(quotePath(e.Origin.Name, true) + "\t")
		}
	}
	if c.showNames {
		b.WriteString(e.Key)
	}
	if c.nameOnly {
		return b.String() + c.term, false, nil
	}
	value := e.Value
	if c.typ != typeNone {
		if value, skip, err = c.typed(e); err != nil || skip {
			return "", skip, err
		}
	}
	if c.showNames && (e.HasValue || c.typ != typeNone) {
		b.WriteString(c.keySep)
	}
	return b.String() + value + c.term, false, nil
}

// typed returns the value in the form of its type.
func (c *configCmd) typed(e *config.Entry) (text string, skip bool, err error) {
	switch c.typ {
	case typeInt:
		n, err := e.Int64()
		return strconv.FormatInt(n, 10), false, err
	case typeBool:
		b, err := e.Bool()
		return strconv.FormatBool(b), false, err
	case typeBoolOrInt:
		isBool, n, err := e.BoolOrInt()
		if isBool {
			return strconv.FormatBool(n != 0), false, err
		}
		return strconv.Itoa(n), false, err
	case typeBoolOrStr:
		if b, ok := config.ParseBool(e.Value, e.HasValue); ok {
			return strconv.FormatBool(b), false, nil
		}
		return e.Value, false, nil
	}
	if !e.HasValue {
		return "", false, badLine(e, fmt.Errorf("missing value for '%s'", e.Key))
	}
	switch c.typ {
	case typePath:
		path, ok, err := e.Path(c.env.LookupEnv)
		return path, !ok && err == nil, err
	case typeExpiry:
		s := ident.Source{LookupEnv: c.env.LookupEnv}
		when, ok := ident.ParseExpiry(e.Value, testNow(c.env), s.Location())
		if !ok {
			return "", false, badLine(e, fmt.Errorf("'%s' for '%s' is not a valid timestamp", e.Value, e.Key))
		}
		return strconv.FormatUint(when, 10), false, nil
	}
	color, ok := parseColor(e.Value)
	if !ok {
		return "", false, badLine(e, fmt.Errorf("invalid color value: %s", e.Value))
	}
	return color, false, nil
}

// testNow is the time, or what git's own tests say it is.
func testNow(env *Env) time.Time {
	if n, err := strconv.ParseInt(env.Getenv("GIT_TEST_DATE_NOW"), 10, 64); err == nil {
		return time.Unix(n, 0)
	}
	return time.Now()
}

// badLine says that a value makes its line a bad one.
func badLine(e *config.Entry, cause error) error {
	switch e.Origin.Kind {
	case config.OriginCommandLine:
		return &softError{cause, errors.New("unable to parse command-line config")}
	case config.OriginStdin:
		return &softError{cause, fmt.Errorf("bad config line %d in standard input", e.Line)}
	case config.OriginBlob:
		return &softError{cause, fmt.Errorf("bad config line %d in blob %s", e.Line, e.Origin.Name)}
	}
	return &softError{cause, fmt.Errorf("bad config line %d in file %s", e.Line, e.Origin.Name)}
}

// normalize brings a value to be written into the form of its type.
func (c *configCmd) normalize(key, value string) (string, error) {
	e := &config.Entry{Key: key, Value: value, HasValue: true, Origin: &config.Origin{Kind: config.OriginCommandLine}}
	switch c.typ {
	case typeNone, typePath, typeExpiry:
		return value, nil
	case typeInt:
		n, err := config.ParseInt(value, math.MaxInt64)
		if err != nil {
			return "", e.BadNumber(err)
		}
		return strconv.FormatInt(n, 10), nil
	case typeColor:
		if _, ok := parseColor(value); !ok {
			c.env.Error(fmt.Errorf("invalid color value: %s", value))
			return "", fmt.Errorf("cannot parse color '%s'", value)
		}
		return value, nil
	}
	text, _, err := c.typed(e)
	return text, err
}
