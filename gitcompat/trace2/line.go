package trace2

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// line is one event on its way to the targets: the fields of the event target,
// and what the two others print.
type line struct {
	name        string
	start       time.Time
	now         time.Time
	depth       int // open regions, the process itself among them
	regionStart time.Time

	json     []byte
	repoJSON bool
	normal   string // "" for nothing
	perf     string
	category string // column of the perf target
	nested   bool   // shown by the event target down to a depth only
	perfAbs  bool
	relative time.Duration
	hasRel   bool
}

func (l *line) key(name string) {
	l.json = append(l.json, ',')
	l.json = appendJSON(l.json, name)
	l.json = append(l.json, ':')
}

func (l *line) str(name, value string) {
	l.key(name)
	l.json = appendJSON(l.json, value)
}

func (l *line) num(name string, n int64) {
	l.key(name)
	l.json = strconv.AppendInt(l.json, n, 10)
}

func (l *line) boolean(name string, b bool) {
	l.key(name)
	l.json = strconv.AppendBool(l.json, b)
}

func (l *line) list(name string, values []string) {
	l.key(name)
	l.json = append(l.json, '[')
	for i, v := range values {
		if i > 0 {
			l.json = append(l.json, ',')
		}
		l.json = appendJSON(l.json, v)
	}
	l.json = append(l.json, ']')
}

func (l *line) elapsed() float64 { return l.now.Sub(l.start).Seconds() }

// abs shows the time since the process began.
func (l *line) abs() {
	l.key("t_abs")
	l.json = strconv.AppendFloat(l.json, l.elapsed(), 'f', 6, 64)
	l.perfAbs = true
}

// rel shows how long something took.
func (l *line) rel(d time.Duration) {
	l.key("t_rel")
	l.json = strconv.AppendFloat(l.json, d.Seconds(), 'f', 6, 64)
	l.relative, l.hasRel = d, true
}

func (l *line) repo() { l.repoJSON = true }

// appendJSON appends s as a string of JSON.
func appendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c == '\b':
			b = append(b, `\b`...)
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// emit writes an event to all targets.
func (t *Tracer) emit(name string, fill func(l *line)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.newLine(name, fill)
	for i := range t.targets {
		t.write(&t.targets[i], l)
	}
}

func (t *Tracer) emitTo(tg *target, name string, fill func(l *line)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tg.format == event {
		t.write(tg, t.newLine(name, fill))
	}
}

func (t *Tracer) newLine(name string, fill func(l *line)) *line {
	l := &line{name: name, start: t.o.Start, now: time.Now(), depth: len(t.regions)}
	if l.depth > 0 {
		l.regionStart = t.regions[l.depth-1]
	}
	fill(l)
	return l
}

func (t *Tracer) write(tg *target, l *line) {
	if tg.w == nil {
		return
	}
	var b []byte
	switch tg.format {
	case normal:
		if l.normal == "" {
			return
		}
		b = t.normalLine(tg, l)
	case perf:
		b = t.perfLine(tg, l)
	case event:
		if l.nested && l.depth > t.nesting {
			return
		}
		b = t.eventLine(tg, l)
	}
	if _, err := tg.w.Write(append(b, '\n')); err != nil {
		tg.w = nil // T2
		t.complain("unable to write trace to '" + tg.name + "': " + err.Error())
	}
}

func (t *Tracer) eventLine(tg *target, l *line) []byte {
	b := append(make([]byte, 0, 256+len(l.json)), `{"event":`...)
	b = appendJSON(b, l.name)
	b = append(b, `,"sid":`...)
	b = appendJSON(b, t.sid)
	b = append(b, `,"thread":"main"`...)
	if !tg.brief || l.name == "version" || l.name == "atexit" {
		b = append(b, `,"time":"`...)
		b = l.now.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
		b = append(b, '"')
	}
	if !tg.brief {
		file, n := caller()
		b = append(b, `,"file":`...)
		b = appendJSON(b, file)
		b = append(b, `,"line":`...)
		b = strconv.AppendInt(b, int64(n), 10)
	}
	if l.repoJSON {
		b = append(b, `,"repo":1`...)
	}
	b = append(b, l.json...)
	return append(b, '}')
}

const (
	normalWidth = 50
	perfWidth   = 28
)

func (t *Tracer) normalLine(tg *target, l *line) []byte {
	var b []byte
	if !tg.brief {
		file, n := caller()
		b = l.now.AppendFormat(b, "15:04:05.000000 ")
		b = fmt.Appendf(b, "%s:%d ", file, n)
		for len(b) < normalWidth {
			b = append(b, ' ')
		}
	}
	return append(b, l.normal...)
}

func (t *Tracer) perfLine(tg *target, l *line) []byte {
	var b []byte
	if !tg.brief {
		file, n := caller()
		place := file + ":" + strconv.Itoa(n)
		if len(place) > perfWidth {
			place = "..." + place[len(place)-perfWidth+3:]
		}
		b = l.now.AppendFormat(b, "15:04:05.000000 ")
		b = fmt.Appendf(b, "%-*s | ", perfWidth, place)
	}
	repo := ""
	if l.repoJSON {
		repo = "r1 "
	}
	b = fmt.Appendf(b, "d%d | %-24s | %-12s | %-3s | ", t.depth, "main", l.name, repo)
	b = append(b, seconds(l.perfAbs, l.elapsed())...)
	b = append(b, seconds(l.hasRel, l.relative.Seconds())...)
	b = fmt.Appendf(b, "%-12.12s | ", l.category)
	if l.depth > 0 {
		b = append(b, strings.Repeat(".", 2*(l.depth-1))...)
	}
	return append(b, l.perf...)
}

func seconds(shown bool, s float64) string {
	if !shown {
		return "          | "
	}
	return fmt.Sprintf("%9.6f | ", s)
}

// quote puts an argument in quotes for a shell where it needs them.
func quote(s string) string {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("+,-./:=@_^", c) >= 0
	}
	if plain {
		return s
	}
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(s) + "'"
}

func quoteAll(argv []string) string {
	var b strings.Builder
	for i, a := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quote(a))
	}
	return b.String()
}
