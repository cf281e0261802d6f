package trace2

import (
	"fmt"
	"strconv"
	"time"
)

// A Region is a stretch of work that is measured.
type Region struct {
	t               *Tracer
	start           time.Time
	category, label string
}

// Region begins a region; it is to be left by Leave. msg may be "".
func (t *Tracer) Region(category, label, msg string) Region {
	if t == nil {
		return Region{}
	}
	t.region("region_enter", category, label, msg, false, 0)
	now := time.Now()
	t.mu.Lock()
	t.regions = append(t.regions, now)
	t.mu.Unlock()
	return Region{t, now, category, label}
}

// Leave ends the region.
func (r Region) Leave(msg string) {
	if r.t == nil {
		return
	}
	r.t.mu.Lock()
	if n := len(r.t.regions); n > 1 {
		r.t.regions = r.t.regions[:n-1]
	}
	r.t.mu.Unlock()
	r.t.region("region_leave", r.category, r.label, msg, true, time.Since(r.start))
}

func (t *Tracer) region(name, category, label, msg string, rel bool, elapsed time.Duration) {
	t.emit(name, func(l *line) {
		l.nested = true
		l.repo()
		if rel {
			l.rel(elapsed)
		}
		l.num("nesting", int64(l.depth))
		l.str("category", category)
		l.str("label", label)
		if msg != "" {
			l.str("msg", msg)
		}
		l.perf = "label:" + label
		if msg != "" {
			l.perf += " " + msg
		}
		l.perfAbs = true
		l.category = category
	})
}

// Data shows a value.
func (t *Tracer) Data(category, key, value string) {
	if t == nil {
		return
	}
	t.emit("data", func(l *line) {
		l.nested = true
		l.repo()
		l.abs()
		l.rel(time.Since(l.regionStart))
		l.num("nesting", int64(l.depth))
		l.str("category", category)
		l.str("key", key)
		l.str("value", value)
		l.perf = key + ":" + value
		l.category = category
	})
}

// DataInt shows a number.
func (t *Tracer) DataInt(category, key string, n int64) {
	if t != nil {
		t.Data(category, key, strconv.FormatInt(n, 10))
	}
}

// A Child is a process that the command runs.
type Child struct {
	t     *Tracer
	id    int
	start time.Time
}

// ChildInfo describes a process before it starts.
type ChildInfo struct {
	Class string // what for: "editor", "hook", ...; "?" if empty
	Hook  string // the name of the hook that it is
	Dir   string
	Shell bool
	Git   bool // Argv is that of a git command, without "git"
	Argv  []string
}

// ChildStart says that a process is about to be run.
func (t *Tracer) ChildStart(c ChildInfo) Child {
	if t == nil {
		return Child{}
	}
	t.mu.Lock()
	id := t.children
	t.children++
	t.mu.Unlock()
	argv := t.redacted(c.Argv)
	shown := argv
	if c.Git {
		shown = append([]string{"git"}, argv...)
	}
	if c.Class == "" {
		c.Class = "?"
	}
	if c.Hook != "" {
		c.Class = "hook"
	}
	t.emit("child_start", func(l *line) {
		l.num("child_id", int64(id))
		l.str("child_class", c.Class)
		l.normal = fmt.Sprintf("child_start[%d]", id)
		l.perf = fmt.Sprintf("[ch%d] class:%s", id, c.Class)
		if c.Hook != "" {
			l.str("hook_name", c.Hook)
			l.perf += " hook:" + c.Hook
		}
		if c.Dir != "" {
			l.str("cd", c.Dir)
			l.normal += " cd " + quote(c.Dir) + ";"
			l.perf += " cd:" + quote(c.Dir)
		}
		l.boolean("use_shell", c.Shell)
		l.list("argv", shown)
		l.normal += " " + quoteAll(shown)
		l.perf += " argv:[" + quoteAll(shown) + "]"
		l.perfAbs = true
	})
	return Child{t, id, time.Now()}
}

// Exit says how the process ended; pid is 0 if it never ran.
func (c Child) Exit(pid, code int) {
	if c.t == nil {
		return
	}
	elapsed := time.Since(c.start)
	c.t.emit("child_exit", func(l *line) {
		l.num("child_id", int64(c.id))
		l.num("pid", int64(pid))
		l.num("code", int64(code))
		l.rel(elapsed)
		l.normal = fmt.Sprintf("child_exit[%d] pid:%d code:%d elapsed:%.6f", c.id, pid, code, elapsed.Seconds())
		l.perf = fmt.Sprintf("[ch%d] pid:%d code:%d", c.id, pid, code)
		l.perfAbs = true
	})
}

// Exec says that the process turns into another program.
func (t *Tracer) Exec(exe string, argv []string) {
	if t == nil {
		return
	}
	t.emit("exec", func(l *line) {
		l.num("exec_id", 0)
		shown := quoteAll(argv)
		if exe != "" {
			l.str("exe", exe)
			shown = exe + " " + shown
		}
		l.list("argv", argv)
		l.normal = "exec[0] " + shown
		l.perf = "id:0 argv:[" + shown + "]"
		l.perfAbs = true
	})
}
