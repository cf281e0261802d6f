package worktree

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// A FilterDriver is a "filter.<name>" section.
type FilterDriver struct {
	Name                   string
	Clean, Smudge, Process string
	Required               bool
}

type filterCap uint8

const (
	capClean filterCap = 1 << iota
	capSmudge
	capDelay
)

func (k filterCap) String() string {
	switch k {
	case capClean:
		return "clean"
	case capSmudge:
		return "smudge"
	}
	return "delay"
}

// applyFilter runs the driver's command for k. It reports false if there is
// none, or if it failed, which is then said.
func (c *Converter) applyFilter(d *FilterDriver, k filterCap, path string, r io.Reader, o ConvertOptions) ([]byte, bool) {
	if d.Process != "" {
		return c.filters.apply(c, d.Process, k, path, r, o)
	}
	cmd := d.Clean
	if k == capSmudge {
		cmd = d.Smudge
	}
	if cmd == "" {
		return nil, false
	}
	return c.runFilter(cmd, path, r, o)
}

// runFilter feeds r to one run of a shell command.
func (c *Converter) runFilter(command, path string, r io.Reader, o ConvertOptions) ([]byte, bool) {
	var out bytes.Buffer
	cmd := c.shell(expandFilter(command, path))
	cmd.Stdin, cmd.Stdout = r, &out
	if err := cmd.Start(); err != nil {
		o.report("error: cannot run %s: %s", expandFilter(command, path), errnoText(startErrno(err)))
		o.report("error: cannot fork to run external filter '%s'", command)
		o.report("error: external filter '%s' failed", command)
		return nil, false
	}
	err := cmd.Wait()
	if err == nil || errors.Is(err, syscall.EPIPE) && cmd.ProcessState.Success() {
		// A filter may stop reading before the end.
		return out.Bytes(), true
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		o.report("error: external filter '%s' failed %d", command, exitStatus(exit.Sys(), exit.ExitCode()))
	} else {
		o.report("error: cannot feed the input to external filter '%s'", command)
	}
	o.report("error: external filter '%s' failed", command)
	return nil, false
}

func startErrno(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return syscall.ENOENT
	}
	return err
}

// expandFilter puts the path, quoted, in the place of %f.
func expandFilter(command, path string) string {
	if !strings.Contains(command, "%") {
		return command
	}
	var b strings.Builder
	for i := 0; i < len(command); i++ {
		if command[i] != '%' || i+1 == len(command) {
			b.WriteByte(command[i])
			continue
		}
		switch command[i+1] {
		case '%':
			b.WriteByte('%')
			i++
		case 'f':
			b.WriteString(shellQuote(path))
			i++
		default:
			b.WriteByte('%')
		}
	}
	return b.String()
}

func shellQuote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' || s[i] == '!' {
			b.WriteString(`'\` + s[i:i+1] + `'`)
		} else {
			b.WriteByte(s[i])
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// shell makes a command of a line; a line that is one plain word needs no
// shell.
func (c *Converter) shell(line string) *exec.Cmd {
	var cmd *exec.Cmd
	if strings.ContainsAny(line, "|&;<>()$`\\\"' \t\n*?[#~=%") {
		cmd = exec.Command("/bin/sh", "-c", line)
	} else {
		cmd = exec.Command(line)
		if !strings.Contains(line, "/") {
			// The command is looked up where the environment given says.
			if p := lookPath(line, c.set.Environ); p != "" {
				cmd = exec.Command(p)
				cmd.Args[0] = line
			}
		}
	}
	cmd.Dir, cmd.Env, cmd.Stderr = c.set.Root, c.set.Environ, c.set.Stderr
	return cmd
}

func lookPath(name string, environ []string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		path, ok := strings.CutPrefix(environ[i], "PATH=")
		if !ok {
			continue
		}
		for _, dir := range strings.Split(path, ":") {
			if dir == "" {
				dir = "."
			}
			full := dir + "/" + name
			if fi, err := os.Stat(full); err == nil && !fi.IsDir() && fi.Mode()&0o111 != 0 {
				return full
			}
		}
		return ""
	}
	return ""
}
