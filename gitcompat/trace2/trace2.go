// Package trace2 writes git's structured traces: the event, perf and normal
// targets.
//
// Source: Documentation/technical/api-trace2 of git 2.55.
//
// Invariants:
//
//	T1  a nil *Tracer is good to call and does nothing; New returns nil where nothing is traced.
//	T2  each line goes out by one write; a target that fails is left alone from then on.
//	T3  keys of an event stand in git's order.
package trace2

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// Options say where traces go and what they are about.
type Options struct {
	LookupEnv func(name string) (string, bool)
	// Config returns a value of the system's or the user's configuration; it is
	// asked for what the environment does not say. nil: there is none.
	Config  func(key string) (string, bool)
	Stderr  io.Writer
	FS      *vfs.FS
	Version string
	Start   time.Time         // when the process began
	Warn    func(line string) // takes "warning: ..." lines; may be nil
}

// A Tracer writes the traces of one command.
type Tracer struct {
	o        Options
	mu       sync.Mutex
	targets  []target
	sid      string
	depth    int
	name     string // hierarchy of command names
	regions  []time.Time
	children int
	nesting  int // deepest region that the event target shows
	redact   bool
	counters []*syncpolicy.Counters
	ended    bool
}

type format uint8

const (
	normal format = iota
	perf
	event
)

type target struct {
	format format
	w      io.Writer
	closer io.Closer
	brief  bool
	full   bool // the folder has too many files
	name   string
}

// settings are the variables of the environment and the keys that stand in for them.
var settings = [...]struct {
	format                  format
	env, key, briefEnv, bri string
}{
	{normal, "GIT_TRACE2", "trace2.normaltarget", "GIT_TRACE2_BRIEF", "trace2.normalbrief"},
	{perf, "GIT_TRACE2_PERF", "trace2.perftarget", "GIT_TRACE2_PERF_BRIEF", "trace2.perfbrief"},
	{event, "GIT_TRACE2_EVENT", "trace2.eventtarget", "GIT_TRACE2_EVENT_BRIEF", "trace2.eventbrief"},
}

// Wanted reports whether the environment alone asks for a trace, so that a
// command can know before it has read any configuration.
func Wanted(lookupEnv func(string) (string, bool)) bool {
	for _, s := range settings {
		if v, _ := lookupEnv(s.env); v != "" && !off(v) {
			return true
		}
	}
	return false
}

func off(v string) bool { return v == "" || v == "0" || strings.EqualFold(v, "false") }

// New opens the targets. It returns nil where there is none (T1).
func New(o Options) *Tracer {
	t := &Tracer{o: o, nesting: 2, redact: true}
	for _, s := range settings {
		value := t.setting(s.env, s.key)
		if off(value) {
			continue
		}
		tg := target{format: s.format, name: s.env}
		if !t.open(&tg, value) {
			continue
		}
		tg.brief = truth(t.setting(s.briefEnv, s.bri))
		t.targets = append(t.targets, tg)
	}
	if len(t.targets) == 0 {
		return nil
	}
	if n, err := strconv.Atoi(t.setting("GIT_TRACE2_EVENT_NESTING", "trace2.eventnesting")); err == nil && n > 0 {
		t.nesting = n
	}
	if v, ok := o.LookupEnv("GIT_TRACE2_REDACT"); ok && !truth(v) {
		t.redact = false
	}
	t.session()
	t.regions = []time.Time{o.Start}
	t.emit("version", func(l *line) {
		l.str("evt", "4")
		l.str("exe", o.Version)
		l.normal = "version " + o.Version
		l.perf = o.Version
	})
	for i := range t.targets {
		if t.targets[i].full {
			t.emitTo(&t.targets[i], "too_many_files", func(*line) {})
		}
	}
	return t
}

func (t *Tracer) setting(env, key string) string {
	if v, _ := t.o.LookupEnv(env); v != "" {
		return v
	}
	if t.o.Config == nil {
		return ""
	}
	v, _ := t.o.Config(key)
	return v
}

func truth(v string) bool {
	switch strings.ToLower(v) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

// session makes the session's name, below that of the git that called us.
func (t *Tracer) session() {
	host := "Localhost"
	if name, err := os.Hostname(); err == nil {
		sum := sha1.Sum([]byte(name))
		host = "H" + hex.EncodeToString(sum[:4])
	}
	t.sid = time.Now().UTC().Format("20060102T150405.000000Z") + "-" + host + fmt.Sprintf("-P%08x", uint32(os.Getpid()))
	if parent, _ := t.o.LookupEnv("GIT_TRACE2_PARENT_SID"); parent != "" {
		t.depth = strings.Count(parent, "/") + 1
		t.sid = parent + "/" + t.sid
	}
}

// Environ returns the variables that tell children of this session.
func (t *Tracer) Environ() []string {
	if t == nil {
		return nil
	}
	env := []string{"GIT_TRACE2_PARENT_SID=" + t.sid}
	if t.name != "" {
		env = append(env, "GIT_TRACE2_PARENT_NAME="+t.name)
	}
	return env
}

// CommandStart says how the command was called.
func (t *Tracer) CommandStart(argv []string) {
	if t == nil {
		return
	}
	argv = t.redacted(argv)
	t.emit("start", func(l *line) {
		l.abs()
		l.list("argv", argv)
		l.normal = "start " + quoteAll(argv)
		l.perf = quoteAll(argv)
	})
	if names := ancestry(); len(names) > 0 {
		t.emit("cmd_ancestry", func(l *line) {
			l.list("ancestry", names)
			l.normal = "cmd_ancestry " + strings.Join(names, " <- ")
			l.perf = "ancestry:[" + quoteAll(names) + "]"
		})
	}
}

// CommandName says which command runs, and what the environment variables are
// that GIT_TRACE2_ENV_VARS names.
func (t *Tracer) CommandName(name string) {
	if t == nil {
		return
	}
	t.name = name
	if parent, _ := t.o.LookupEnv("GIT_TRACE2_PARENT_NAME"); parent != "" {
		t.name = parent + "/" + name
	}
	t.emit("cmd_name", func(l *line) {
		l.str("name", name)
		l.str("hierarchy", t.name)
		l.perf = name + " (" + t.name + ")"
		l.normal = "cmd_name " + l.perf
	})
}

// CommandMode says in which of its modes a command runs.
func (t *Tracer) CommandMode(mode string) {
	if t == nil {
		return
	}
	t.emit("cmd_mode", func(l *line) {
		l.str("name", mode)
		l.normal = "cmd_mode " + mode
		l.perf = mode
	})
}

// Alias says what an alias stands for.
func (t *Tracer) Alias(name string, argv []string) {
	if t == nil {
		return
	}
	t.emit("alias", func(l *line) {
		l.str("alias", name)
		l.list("argv", argv)
		l.normal = "alias " + name + " -> " + quoteAll(argv)
		l.perf = "alias:" + name + " argv:[" + quoteAll(argv) + "]"
	})
}

// ParamPatterns returns the patterns of configuration keys that are to be
// shown by Param.
func (t *Tracer) ParamPatterns() []string {
	if t == nil {
		return nil
	}
	return list(t.setting("GIT_TRACE2_CONFIG_PARAMS", "trace2.configparams"))
}

// EnvVars shows the variables that are to be shown.
func (t *Tracer) EnvVars() {
	if t == nil {
		return
	}
	for _, name := range list(t.setting("GIT_TRACE2_ENV_VARS", "trace2.envvars")) {
		if v, _ := t.o.LookupEnv(name); v != "" {
			t.Param("command", name, v, true)
		}
	}
}

func list(s string) []string {
	var out []string
	for _, p := range strings.Split(s, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// Param shows a setting.
func (t *Tracer) Param(scope, name, value string, hasValue bool) {
	if t == nil {
		return
	}
	value = t.redacted([]string{value})[0]
	t.emit("def_param", func(l *line) {
		l.str("scope", scope)
		l.str("param", name)
		l.normal = "def_param scope:" + scope + " " + name
		l.perf, l.category = name, "scope:"+scope
		if hasValue {
			l.str("value", value)
			l.normal += "=" + value
			l.perf += ":" + value
		}
	})
}

// Worktree says which working tree is worked on.
func (t *Tracer) Worktree(dir string) {
	if t == nil {
		return
	}
	t.emit("def_repo", func(l *line) {
		l.repo()
		l.str("worktree", dir)
		l.normal = "worktree " + quote(dir)
		l.perf = "worktree:" + quote(dir)
	})
}

// Error repeats a message; format is its constant part.
func (t *Tracer) Error(msg, format string) {
	if t == nil {
		return
	}
	t.emit("error", func(l *line) {
		l.str("msg", msg)
		l.str("fmt", format)
		l.normal = "error " + msg
		l.perf = msg
	})
}

// Count adds counters of sync calls to those shown at the end.
func (t *Tracer) Count(c *syncpolicy.Counters) {
	if t == nil || c == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, old := range t.counters {
		if old == c {
			return
		}
	}
	t.counters = append(t.counters, c)
}

// Signal says that the command ends by a signal.
func (t *Tracer) Signal(signo int) {
	if t == nil {
		return
	}
	t.emit("signal", func(l *line) {
		l.abs()
		l.num("signo", int64(signo))
		l.normal = fmt.Sprintf("signal elapsed:%.6f code:%d", l.elapsed(), signo)
		l.perf = "signo:" + strconv.Itoa(signo)
	})
	t.close()
}

// Exit says how the command ends, shows the counters, and closes the targets.
func (t *Tracer) Exit(code int) {
	if t == nil || t.ended {
		return
	}
	t.ended = true
	end := func(name string) {
		t.emit(name, func(l *line) {
			l.abs()
			l.num("code", int64(code))
			l.normal = fmt.Sprintf("%s elapsed:%.6f code:%d", name, l.elapsed(), code)
			l.perf = "code:" + strconv.Itoa(code)
		})
	}
	end("exit")
	t.mu.Lock()
	t.regions = t.regions[:1]
	var writeouts, flushes int64
	for _, c := range t.counters {
		w, f := c.Totals()
		writeouts += w
		flushes += f
	}
	t.mu.Unlock()
	t.counter("fsync", "writeout-only", writeouts)
	t.counter("fsync", "hardware-flush", flushes)
	end("atexit")
	t.close()
}

func (t *Tracer) counter(category, name string, n int64) {
	if n == 0 {
		return
	}
	t.emit("counter", func(l *line) {
		l.str("category", category)
		l.str("name", name)
		l.num("count", n)
		l.normal = fmt.Sprintf("counter %s/%s value:%d", category, name, n)
		l.perf = fmt.Sprintf("name:%s value:%d", name, n)
		l.category = category
	})
}

func (t *Tracer) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.targets {
		if c := t.targets[i].closer; c != nil {
			c.Close()
		}
		t.targets[i].w = nil
	}
}

// redacted hides passwords in URLs.
func (t *Tracer) redacted(argv []string) []string {
	if !t.redact {
		return argv
	}
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = arg
		_, rest, ok := strings.Cut(arg, "://")
		if !ok || !strings.HasPrefix(arg, "https://") && !strings.HasPrefix(arg, "http://") {
			continue
		}
		at := strings.IndexAny(rest, "@/")
		if at < 0 || rest[at] != '@' {
			continue
		}
		if colon := strings.IndexByte(rest[:at], ':'); colon >= 0 {
			out[i] = arg[:len(arg)-len(rest)+colon] + ":<REDACTED>" + rest[at:]
		}
	}
	return out
}

// caller names the place in the source that an event comes from.
func caller() (string, int) {
	for skip := 3; skip < 8; skip++ {
		_, file, n, ok := runtime.Caller(skip)
		if !ok {
			break
		}
		if dir := filepath.Base(filepath.Dir(file)); dir != "trace2" {
			return dir + "/" + filepath.Base(file), n
		}
	}
	return "trace2.go", 1
}
