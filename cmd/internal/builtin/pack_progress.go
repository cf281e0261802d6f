package builtin

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sluicegit/sluice/gitcompat/pack"
	"github.com/sluicegit/sluice/gitcompat/trace2"
)

// A packMeter prints how far the making or taking of a pack has come, as git
// does: a line for each step, overwritten as the percentage grows.
type packMeter struct {
	w      io.Writer
	trace  *trace2.Tracer
	region trace2.Region
	titles map[pack.Step]string // steps that are not in it are silent
	step   pack.Step
	began  bool
	last   int // percentage that was printed
	delay  time.Duration
	since  time.Time
	done   int
	total  int
}

// isTerminal reports whether w is a terminal, or might be.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// update is a pack package's Progress function.
func (m *packMeter) update(step pack.Step, done, total int) {
	title, ok := m.titles[step]
	if !ok {
		return
	}
	if !m.began || step != m.step {
		m.end()
		m.step, m.began, m.last, m.since = step, true, -1, time.Now()
		m.region = m.trace.Region("progress", title, "")
	}
	m.done, m.total = done, total
	percent := 100
	if total > 0 {
		percent = int(int64(done) * 100 / int64(total))
	}
	if percent == m.last || m.delay > 0 && time.Since(m.since) < m.delay {
		return
	}
	m.last = percent
	fmt.Fprintf(m.w, "%s: %3d%% (%d/%d)\r", title, percent, done, total)
}

// end ends the line of the current step.
func (m *packMeter) end() { m.endWith("done") }

func (m *packMeter) endWith(msg string) {
	if !m.began {
		return
	}
	m.began = false
	m.region.Leave("")
	if m.last < 0 {
		return // it was over before the delay
	}
	percent := 100
	if m.total > 0 {
		percent = int(int64(m.done) * 100 / int64(m.total))
	}
	fmt.Fprintf(m.w, "%s: %3d%% (%d/%d), %s.\n", m.titles[m.step], percent, m.done, m.total, msg)
}
