package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func sluice() string { return filepath.Join(filepath.Dir(links), "sluice") }

func TestInstall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 { // the second time replaces the links
		if got := w.exec("", sluice(), "install", "a/b"); got != (run{}) {
			t.Fatalf("got %+v", got)
		}
	}
	for _, name := range linkNames() {
		if target, err := os.Readlink(filepath.Join(w.dir, "a/b", name)); err != nil || !filepath.IsAbs(target) {
			t.Errorf("%s: %s, %v", name, target, err)
		}
	}
	if got := w.exec("", filepath.Join(w.dir, "a/b/git"), "version"); got.status != 0 {
		t.Errorf("got %+v", got)
	}
	w.mustSh("rm a/b/git; echo mine >a/b/git")
	want := run{128, "", "fatal: '{DIR}/a/b/git' exists and is not a link\n"}
	if got := w.exec("", sluice(), "install", "a/b"); got != want {
		t.Errorf("got %+v", got)
	}
	if got := w.exec("", sluice(), "install", "a/b/git/c"); got.status != 128 {
		t.Errorf("got %+v", got)
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.exec("", sluice(), "commands")
	if got.status != 0 {
		t.Fatalf("got %+v", got)
	}
	states := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(got.stdout), "\n") {
		name, state, _ := strings.Cut(line, " ")
		if _, twice := states[name]; twice {
			t.Errorf("%s is listed twice", name)
		}
		states[name] = strings.TrimSpace(state)
	}
	for name, want := range map[string]string{"version": "native", "blame": "delegated", "upload-pack": "delegated"} {
		if states[name] != want {
			t.Errorf("%s is %q", name, states[name])
		}
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustSh("git init -q .; git config core.fsync objects,-reference; git config --global core.fsyncMethod fsync")
	got := w.exec("", sluice(), "-c", "sluice.settle=true", "policy") // git's options work here too
	for _, want := range []string{
		"\ncore.fsync         loose-object,pack,", "'objects,-reference' in local .git/config, line ", "'fsync' in global ",
		"\nreference          nothing\n", "\nloose-object       flushed, each file\n", "\nfile system ",
		"'true' in the command line or the environment",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in\n%s", want, got.stdout)
		}
	}
	w.mustSh("git config sluice.settle maybe")
	if got := w.exec("", sluice(), "policy"); got.status != 128 {
		t.Errorf("got %+v", got)
	}
}

func TestOwnHelp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, args := range []string{"", "help", "--help", "-h", "help install", "install -h", "completion bash"} {
		if got := w.exec("", sluice(), strings.Fields(args)...); got.status != 0 || got.stdout == "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := w.exec("", sluice(), "install"); got.status != 129 || !strings.HasPrefix(got.stderr, "error: ") {
		t.Errorf("got %+v", got)
	}
	if got := w.exec("", sluice(), "version"); !strings.HasPrefix(got.stdout, "git version ") {
		t.Errorf("got %+v", got)
	}
}

// TestLostOutput: git says so if what it printed could not be written, unless
// to a pipe.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer full.Close()
	cmd := exec.Command(filepath.Join(links, "git"), "version")
	cmd.Stdout = full
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 128 || stderr.String() != "fatal: write failure on standard output: No space left on device\n" {
		t.Errorf("%d %s", code, stderr.String())
	}
}

// TestCommandsSorted keeps the table readable.
func TestCommandsSorted(t *testing.T) {
	t.Parallel()
	last := ""
	for _, e := range ledger() {
		if e.name <= last {
			t.Errorf("%s after %s", e.name, last)
		}
		last = e.name
	}
}
