package trace2

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

const (
	maxAttempts = 10
	sentinel    = "git-trace2-discard"
)

// open opens what a setting names: 1 or true is the standard error, a digit a
// file that is open already, and a path a file or a folder for one file each.
func (t *Tracer) open(tg *target, value string) bool {
	switch {
	case value == "1" || value == "2" || strings.EqualFold(value, "true"):
		tg.w = t.o.Stderr
		return tg.w != nil
	case len(value) == 1 && value[0] >= '0' && value[0] <= '9':
		n, _ := strconv.Atoi(value)
		f := os.NewFile(uintptr(n), "trace")
		tg.w = f
		return f != nil
	case filepath.IsAbs(value):
		if info, err := os.Stat(value); err == nil && info.IsDir() {
			return t.openIn(tg, value)
		}
		return t.use(tg, value, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	case strings.HasPrefix(value, "af_unix:"):
		f, err := dial(value[len("af_unix:"):])
		if err != nil {
			t.complain("could not connect to socket '" + value + "' for '" + tg.name + "' tracing: " + vfs.Strerror(err))
			return false
		}
		tg.w, tg.closer = f, f
		return true
	}
	if t.o.Warn != nil {
		t.o.Warn("warning: trace2: unknown value for '" + tg.name + "': '" + value + "'")
	}
	return false
}

func (t *Tracer) use(tg *target, path string, flag int) bool {
	f, err := t.o.FS.OpenFile(path, flag, 0o666)
	if err != nil {
		t.complain("could not open '" + path + "' for '" + tg.name + "' tracing: " + vfs.Strerror(err))
		return false
	}
	tg.w, tg.closer = f, f
	return true
}

// openIn makes a file for this session in the folder dir, unless there are too
// many already.
func (t *Tracer) openIn(tg *target, dir string) bool {
	if limit, err := strconv.Atoi(t.setting("GIT_TRACE2_MAX_FILES", "trace2.maxfiles")); err == nil && limit > 0 {
		mark := filepath.Join(dir, sentinel)
		if _, err := os.Stat(mark); err == nil {
			t.complain("not opening " + tg.name + " trace file due to too many files in target directory " + dir)
			return false
		}
		// git counts "." and ".." too.
		if names, err := os.ReadDir(dir); err == nil && len(names)+2 >= limit {
			tg.full = true
			return t.use(tg, mark, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		}
	}
	if t.sid == "" {
		t.session()
	}
	base := filepath.Join(dir, t.sid[strings.LastIndexByte(t.sid, '/')+1:])
	for i := 0; i < maxAttempts; i++ {
		path := base
		if i > 0 {
			path += "." + strconv.Itoa(i)
		}
		if t.use(tg, path, os.O_WRONLY|os.O_CREATE|os.O_EXCL) {
			return true
		}
	}
	return false
}

// complain warns, if the user asked for it.
func (t *Tracer) complain(msg string) {
	if n, err := strconv.Atoi(t.setting("GIT_TRACE2_DST_DEBUG", "trace2.destinationdebug")); err == nil && n > 0 && t.o.Warn != nil {
		t.o.Warn("warning: trace2: " + msg)
	}
}
