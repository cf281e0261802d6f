package builtin

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/repo"
)

// traceSetup writes what discovery found to where GIT_TRACE_SETUP says.
func (e *Env) traceSetup(r *repo.Repo) {
	target := e.Getenv("GIT_TRACE_SETUP")
	if target == "" || target == "0" || strings.EqualFold(target, "false") {
		return
	}
	orNull := func(s string) string {
		if s == "" {
			return "(null)"
		}
		return strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r").Replace(s)
	}
	var b strings.Builder
	for _, line := range [...][2]string{
		{"git_dir", r.GitDirName}, {"git_common_dir", r.CommonDirName}, {"worktree", r.WorkTree}, {"cwd", r.Dir}, {"prefix", r.Prefix},
	} {
		if bare, err := e.EnvBool("GIT_TRACE_BARE", false); err != nil || !bare {
			b.WriteString(time.Now().Format("15:04:05.000000 ") + "setup                    ")
		}
		b.WriteString("setup: " + line[0] + ": " + orNull(line[1]) + "\n")
	}
	switch {
	case target == "1" || target == "2" || strings.EqualFold(target, "true"):
		io.WriteString(e.Stderr, b.String())
	case filepath.IsAbs(target):
		f, err := e.FS.OpenFile(target, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err != nil {
			e.Warn("could not open '%s' for tracing: %s", target, ErrnoText(err))
			return
		}
		io.WriteString(f, b.String())
		f.Close()
	}
}
