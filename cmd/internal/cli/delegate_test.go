package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat"
)

// otherGit puts a git of another make on the world's PATH, behind the program's
// links. It says how it was called.
func otherGit(w *world) string {
	w.t.Helper()
	dir := filepath.Join(filepath.Dir(w.dir), "other")
	script := "#!/bin/sh\nprintf 'other git:'; printf ' <%s>' \"$@\"; echo; pwd\nexit 9\n"
	if err := os.Mkdir(dir, 0o777); err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(dir, "git")
	if err := os.WriteFile(path, []byte(script), 0o777); err != nil {
		w.t.Fatal(err)
	}
	w.set("PATH=" + links + ":" + dir + ":/usr/bin:/bin")
	w.set("SLUICE_DELEGATE=")
	return path
}

func (w *world) set(kv string) {
	name, _, _ := strings.Cut(kv, "=")
	for i, e := range w.env {
		if strings.HasPrefix(e, name+"=") {
			w.env[i] = kv
			return
		}
	}
	w.env = append(w.env, kv)
}

func TestDelegation(t *testing.T) {
	t.Parallel()
	handed := func(args string) run { return run{9, "other git:" + args + "\n{DIR}\n", ""} }
	for _, c := range []struct {
		name   string // of the link
		args   string
		env    string
		script string
		want   run
	}{
		{"git", "log --oneline -1", "", "", handed(" <log> <--oneline> <-1>")},
		{"git", "-C sub -c a.b=c log", "", "mkdir sub", handed(" <-C> <sub> <-c> <a.b=c> <log>")},
		{"git", "nosuch", "", "", handed(" <nosuch>")},
		{"git", "version --help", "", "", handed(" <version> <--help>")},
		{"git", "help log", "", "", handed(" <help> <log>")},
		{"git", "--html-path", "", "", handed(" <--html-path>")},
		{"git", "l x", "", "git config --global alias.l 'log -1'", handed(" <l> <x>")},
		{"git-upload-pack", "x", "", "", handed(" <upload-pack> <x>")},
		{"git", "log", "", "git config --global alias.log '!echo alias'", handed(" <log>")},
		{"git", "log", "SLUICE_DELEGATE=never", "", run{125, "", "sluice: 'log' is not implemented\n"}},
		{"git", "log", "SLUICE_DELEGATE=/nonexistent", "", run{128, "", "fatal: cannot run '/nonexistent': No such file or directory\n"}},
		{"git", "log", "", "git config --global sluice.delegate never", run{125, "", "sluice: 'log' is not implemented\n"}},
		{"git", "log", "PATH=" + links, "", run{125, "", "sluice: 'log' is not implemented\n"}},
		{"git", "nosuch", "PATH=" + links, "", run{1, "", "git: 'nosuch' is not a git command. See 'git --help'.\n"}},
		{"git", "version", "", "", run{0, "git version " + gitcompat.ReferenceVersion + ".sluice.dev\n", ""}},
	} {
		t.Run(c.name+" "+c.args+" "+c.env, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustSh(c.script)
			otherGit(w)
			if c.env != "" {
				w.set(c.env)
			}
			if got := w.exec("", filepath.Join(links, c.name), strings.Fields(c.args)...); got != c.want {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestDelegationLoop has a copy of the program as the other git: the two must
// not hand a command over to each other for ever.
func TestDelegationLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	copied, err := os.ReadFile(filepath.Join(links, "git"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(w.dir), "copy")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "git"), copied, 0o777); err != nil {
		t.Fatal(err)
	}
	w.set("PATH=" + links + ":" + dir)
	w.set("SLUICE_DELEGATE=")
	want := run{125, "", "sluice: 'log' is not implemented\n"}
	if got := w.exec("", filepath.Join(links, "git"), "log"); got != want {
		t.Errorf("got %+v", got)
	}
}

// TestChildrenMeetThisGit: what a command runs finds the same git first.
func TestChildrenMeetThisGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.exec("", filepath.Join(links, "git"), "-c", "alias.x=!git version; echo $GIT_CONFIG_PARAMETERS", "x")
	want := run{0, "git version " + gitcompat.ReferenceVersion + ".sluice.dev\n'alias.x'=''\\!'git version; echo $GIT_CONFIG_PARAMETERS'\n", ""}
	if got != want {
		t.Errorf("got %+v", got)
	}
	if got := w.exec("", filepath.Join(links, "git"), "--exec-path"); got.stdout != links+"\n" {
		t.Errorf("got %+v", got)
	}
}
