package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// links is the folder of the program's links, made once for all tests.
var links string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-cli-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "sluice")
	links = filepath.Join(dir, "as-git")
	build := exec.Command("go", "build", "-o", bin, module+"/cmd/sluice")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	for _, cmd := range []*exec.Cmd{build, exec.Command(bin, "install", links)} {
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s", cmd, err, out)
			return 1
		}
	}
	return m.Run()
}

// stockGit is the oracle.
func stockGit(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git on PATH")
	}
	return path
}

// run is what a command line did.
type run struct {
	status int
	stdout string
	stderr string
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// world is a directory to run commands in, the same for both programs but for
// its name.
type world struct {
	t   *testing.T
	dir string
	env []string
}

func newWorld(t *testing.T, extra ...string) *world {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"home", "w"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + dir, "SLUICE_DELEGATE=never",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1112911993 -0700",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1112911993 -0700",
	}
	return &world{t, filepath.Join(dir, "w"), append(env, extra...)}
}

// exec runs a program there.
func (w *world) exec(stdin, name string, args ...string) run {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.dir, w.env, strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	place := strings.NewReplacer(w.dir, "{DIR}", filepath.Dir(w.dir), "{TOP}")
	return run{cmd.ProcessState.ExitCode(), place.Replace(stdout.String()), place.Replace(stderr.String())}
}

// sh runs a script with stock git.
func (w *world) sh(script string) run {
	w.t.Helper()
	if script == "" {
		return run{}
	}
	return w.exec("", "sh", "-ec", script)
}

func (w *world) mustSh(script string) {
	w.t.Helper()
	if r := w.sh(script); r.status != 0 {
		w.t.Fatalf("%s: status %d\n%s%s", script, r.status, r.stdout, r.stderr)
	}
}
