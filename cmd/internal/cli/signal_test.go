//go:build unix

package cli

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSignals kills a command that holds locks: they must be gone, and the
// parent must see the signal.
func TestSignals(t *testing.T) {
	t.Parallel()
	stockGit(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustSh("git init -q -b main . && git commit -q --allow-empty -m x")
			cmd := exec.Command(filepath.Join(links, "git"), "update-ref", "--stdin")
			cmd.Dir, cmd.Env, cmd.Stderr = w.dir, w.env, os.Stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			in.Write([]byte("start\ncreate refs/heads/new HEAD\nprepare\n"))
			answers := bufio.NewReader(out)
			for _, want := range []string{"start: ok\n", "prepare: ok\n"} {
				if got, err := answers.ReadString('\n'); got != want {
					t.Fatalf("got %q, %v", got, err)
				}
			}
			lock := filepath.Join(w.dir, ".git/refs/heads/new.lock")
			if _, err := os.Stat(lock); err != nil {
				t.Fatal(err)
			}
			cmd.Process.Signal(sig)
			cmd.Wait()
			if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != sig {
				t.Errorf("it ended with %v", cmd.ProcessState)
			}
			if r := w.sh("find .git -name '*.lock'"); strings.TrimSpace(r.stdout) != "" {
				t.Errorf("left behind:\n%s", r.stdout)
			}
		})
	}
}
