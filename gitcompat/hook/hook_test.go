package hook

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

func setup(t *testing.T, config string) (*Runner, string, *strings.Builder) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
	cmd := exec.Command(git, "init", "-q", "--template=", "r")
	cmd.Dir, cmd.Env = dir, env
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	work := filepath.Join(dir, "r")
	if err := os.Mkdir(work+"/.git/hooks", 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(work+"/.git/config", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(config)
	f.Close()
	r, err := repo.Discover(vfs.OS(), repo.Options{Dir: work, Environ: env})
	if err != nil {
		t.Fatal(err)
	}
	told := new(strings.Builder)
	return New(r, nil, func(l string) { told.WriteString(l + "\n") }), work, told
}

func script(t *testing.T, work, name, body string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(work, ".git/hooks", name), []byte(body), mode); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	r, work, told := setup(t, "")
	if r.Exists("pre-push") {
		t.Error("a hook that is not there")
	}
	if ran, err := r.Run("pre-push", Options{}); ran || err != nil {
		t.Error(ran, err)
	}
	script(t, work, "pre-push", "#!/bin/sh\necho \"$0 $1 $(pwd) ${GIT_DIR-unset} <$GIT_PREFIX>\"\ncat\nexit 3\n", 0o777)
	script(t, work, "noshebang", "echo shell $1\n", 0o777)
	script(t, work, "off", "#!/bin/sh\n", 0o666)
	script(t, work, "deaf", "#!/bin/sh\nexit 0\n", 0o777)
	script(t, work, "badinterp", "#!/nonexist/x\n", 0o777)
	var out bytes.Buffer
	ran, err := r.Run("pre-push", Options{Args: []string{"a"}, Stdin: strings.NewReader("in\n"), Stderr: &out})
	var exit *ExitError
	if !ran || !errors.As(err, &exit) || exit.Code != 3 {
		t.Error(ran, err)
	}
	if want := ".git/hooks/pre-push a " + work + " unset <>\nin\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	if _, err := r.Run("noshebang", Options{Args: []string{"x"}, Stderr: &out}); err != nil || out.String() != "shell x\n" {
		t.Errorf("%v %q", err, out.String())
	}
	if _, err := r.Run("deaf", Options{Stdin: strings.NewReader(strings.Repeat("x", 1<<20))}); err != nil {
		t.Error(err)
	}
	if _, err := r.Run("badinterp", Options{}); err == nil {
		t.Error("a hook that cannot run passed")
	}
	told.Reset()
	for i := 0; i < 2; i++ {
		if r.Exists("off") {
			t.Error("not executable, but there")
		}
	}
	if want := "hint: The '.git/hooks/off' hook was ignored because it's not set as executable.\n" +
		"hint: You can disable this warning with `git config set advice.ignoredHook false`.\n"; told.String() != want {
		t.Errorf("%q", told)
	}
}

func TestConfigured(t *testing.T) {
	t.Parallel()
	r, work, _ := setup(t, "[hook \"one\"]\nevent = post-commit\ncommand = \"echo one; cat; false\"\n"+
		"[hook \"two\"]\nevent = post-commit\ncommand = echo two\n[hook \"three\"]\nevent = post-commit\ncommand = echo three\nenabled = no\n")
	script(t, work, "post-commit", "#!/bin/sh\necho file \"$@\"; cat\n", 0o777)
	var out bytes.Buffer
	ran, err := r.Run("post-commit", Options{Args: []string{"a b"}, Stdin: strings.NewReader("in\n"), Stderr: &out})
	if !ran || err == nil {
		t.Error(ran, err)
	}
	if want := "one\nin\ntwo a b\nfile a b\nin\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	r, _, _ := setup(t, "[hook \"one\"]\nevent = post-commit\n")
	if _, err := r.Run("pre-commit", Options{}); err == nil || !strings.Contains(err.Error(), "'hook.one.command' must be configured") {
		t.Error(err)
	}
}
