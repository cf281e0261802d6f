package receive

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/sluicegit/sluice/gitcompat/hook"
)

// say sends text to the user on the other side.
func (s *server) say(prefix, format string, args ...any) {
	io.WriteString(s.progress, prefix+fmt.Sprintf(format, args...)+"\n")
}

func (s *server) errorf(format string, args ...any) { s.say("error: ", format, args...) }
func (s *server) warnf(format string, args ...any)  { s.say("warning: ", format, args...) }

// updateHook asks the update hook about one ref.
func (s *server) updateHook(c *command) bool {
	return s.run("update", []string{c.ref, c.old.String(), c.new.String()}, nil, nil) == nil
}

// receiveHook runs pre-receive or post-receive with the commands on its
// standard input; env holds what only that hook sees.
func (s *server) receiveHook(name string, commands []*command, env []string) error {
	var in bytes.Buffer
	for _, c := range commands {
		fmt.Fprintf(&in, "%s %s %s\n", c.old, c.new, c.ref)
	}
	if in.Len() == 0 {
		return nil
	}
	env = append(env, "GIT_PUSH_OPTION_COUNT="+strconv.Itoa(len(s.options)))
	for i, o := range s.options {
		env = append(env, fmt.Sprintf("GIT_PUSH_OPTION_%d=%s", i, o))
	}
	return s.run(name, nil, in.Bytes(), env)
}

func (s *server) hasHook(name string) bool { return s.hooks.Exists(name) }

// run runs a hook, if there is one. What it prints goes to the user on the
// other side.
func (s *server) run(name string, args []string, stdin []byte, env []string) error {
	o := hook.Options{Args: args, Environ: append(s.repo.Environ(), env...), Stdout: s.progress, Stderr: s.progress}
	if stdin != nil {
		o.Stdin = bytes.NewReader(stdin)
	}
	_, err := s.hooks.Run(name, o)
	return err
}

// succeeded returns the commands that were carried out and changed something.
func succeeded(commands []*command) []*command {
	var done []*command
	for _, c := range commands {
		if c.err == "" && !c.missing {
			done = append(done, c)
		}
	}
	return done
}
