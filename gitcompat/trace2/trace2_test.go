package trace2

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

func env(list ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, kv := range list {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v, true
			}
		}
		return "", false
	}
}

func TestNilTracer(t *testing.T) {
	t.Parallel()
	tr := New(Options{LookupEnv: env("GIT_TRACE2=0", "GIT_TRACE2_EVENT=false", "GIT_TRACE2_PERF=")})
	if tr != nil {
		t.Fatal("a tracer without a target")
	}
	tr.CommandStart(nil)
	tr.Region("a", "b", "").Leave("")
	tr.ChildStart(ChildInfo{}).Exit(1, 2)
	tr.Data("a", "b", "c")
	tr.Exit(0)
}

// TestFormsAsGit compares with the installed git what both print for one child.
func TestFormsAsGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	run := func(target string) string {
		out := filepath.Join(dir, "stock"+target)
		cmd := exec.Command(git, "-c", "alias.x=!true", "x", "it's")
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), target + "=" + out, "GIT_CONFIG_NOSYSTEM=1"}
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	ours := func(target string) string {
		out := filepath.Join(dir, "ours"+target)
		tr := New(Options{LookupEnv: env(target+"="+out, "GIT_TRACE2_PARENT_NAME=_run_dashed_"), FS: vfs.OS(), Version: "2.x", Start: time.Now()})
		tr.CommandStart([]string{git, "-c", "alias.x=!true", "x", "it's"})
		tr.Alias("x", []string{"true"})
		tr.CommandName("_run_shell_alias_")
		tr.ChildStart(ChildInfo{Class: "shell_alias", Shell: true, Argv: []string{"true", "it's"}}).Exit(7, 0)
		tr.Exit(0)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, target := range []string{"GIT_TRACE2", "GIT_TRACE2_PERF", "GIT_TRACE2_EVENT"} {
		got, want := shapes(target, ours(target)), shapes(target, run(target))
		for name, shape := range want {
			if _, ok := got[name]; ok && got[name] != shape {
				t.Errorf("%s %s:\n%q\ngit\n%q", target, name, got[name], shape)
			}
		}
		for _, name := range []string{"start", "cmd_name", "child_start", "child_exit", "exit", "atexit"} {
			if got[name] == "" || want[name] == "" {
				t.Errorf("%s: no %s (%q)", target, name, want[name])
			}
		}
	}
}

// shapes maps each event to its line with what varies taken out.
func shapes(target, text string) map[string]string {
	out := map[string]string{}
	number := regexp.MustCompile(`[0-9]+`)
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		name := ""
		switch target {
		case "GIT_TRACE2_EVENT":
			var fields struct{ Event string }
			json.Unmarshal([]byte(l), &fields)
			name = fields.Event
			l = regexp.MustCompile(`"(sid|time|file)":"[^"]*"`).ReplaceAllString(l, "$1")
			l = regexp.MustCompile(`"argv":\[.*\]`).ReplaceAllString(l, "argv")
		case "GIT_TRACE2":
			rest := strings.TrimSpace(l[50:])
			name = regexp.MustCompile(`^[a-z_]+`).FindString(rest)
			if name == "start" || name == "child_start" || name == "alias" {
				rest = name
			}
			l = rest
		default:
			cols := strings.Split(l, "|")
			name = strings.TrimSpace(cols[3])
			l = strings.Join(cols[1:], "|")
			if i := strings.Index(l, "argv:["); i >= 0 {
				l = l[:i]
			}
		}
		if name != "cmd_ancestry" && name != "version" {
			out[name] = number.ReplaceAllString(l, "N")
		}
	}
	return out
}

func TestEventsAreJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	tr := New(Options{LookupEnv: env("GIT_TRACE2_EVENT=1", "GIT_TRACE2_PARENT_SID=a/b"), Stderr: &b, Version: "v", Start: time.Now()})
	tr.CommandStart([]string{"git", "\x01\n\t\"\\", "https://user:secret@host/x"})
	r := tr.Region("c", "l", "m\"")
	tr.Data("c", "k", "v\x7f")
	deep := tr.Region("c", "l2", "")
	tr.Data("c", "too deep", "v")
	deep.Leave("")
	r.Leave("")
	tr.Exit(1)
	for _, l := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if !json.Valid([]byte(l)) {
			t.Errorf("not JSON: %s", l)
		}
		if strings.Contains(l, "too deep") || strings.Contains(l, "secret") {
			t.Errorf("shown: %s", l)
		}
	}
}

func TestFolderOfTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func() {
		tr := New(Options{LookupEnv: env("GIT_TRACE2="+dir, "GIT_TRACE2_MAX_FILES=4"), FS: vfs.OS(), Start: time.Now()})
		tr.Exit(0)
	}
	for i := 0; i < 5; i++ {
		start()
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 3 {
		t.Errorf("%d files, %v", len(names), err)
	}
	if _, err := os.Stat(filepath.Join(dir, sentinel)); err != nil {
		t.Error(err)
	}
}
