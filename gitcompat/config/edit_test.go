package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

var editContents = []string{
	"", "\n", "[a]\n", "[a]", "[a]b=1", "[a]\n\tb = 1\n", "[a]\n\tb = 1\n\tb = 2\n\tc = 3\n", "# top\n[a]\n\tb = 1 # note\n", "[a] b = 1\n[c]\n\td = 2\n",
	"[a]\n\tb = 1\n[a \"Sub\"]\n\tb = 2\n[a.sub]\n\tb = 3\n", "[a]\n\tb = 1\n\n[a]\n\tb = 2\n", "[a]\n\tb = 1\n# about c\n[c]\n\td = 2\n", "[A]\n\tB = x\\\n  y\n\tc\n",
	"[c]\n\td = 2\n\n\n", "[a]\r\n\tb = 1\r\n\tc = 2\r\n", "[a]\n\tb\n\tb =\n\tb = \"x;y\"\n", ";c\n[a]\n  b = 1\n  ; in\n  c = 2\n[a]\n", "\xef\xbb\xbf[a]\n\tb = 1\n",
	"[a]b=1\n[a \"x\"]c=1\n[a]c=2", "[a] ; note\n\tb = 1\n", "[a]\n\tb = 1\n[c]\n[a]\n", "bad\n[a\n", "[a \"", "[a x]\n", "[", "[]\n", "[a\n", "x\n[.]\n", "[a \"x\n", "[a \"x\"]\n\tb = 1\n[a \"X\"]\n\tb = 1\n", "[a.X]\n\tb = 1\n",
	"[a]\n\tb = 1\n\t# about nothing\n", "   [a]   \n   b   =   1   \n", "[a] [c] b = 1\n",
}

// editOps are arguments of "git config -f cfg", as all versions take them.
var editOps = [][]string{
	{"a.b", "new"}, {"A.B", " lead"}, {"a.b", "trail "}, {"a.b", "x#y;z"}, {"a.b", "q\"u\\o\tt\ne"}, {"a.b", ""}, {"a.b", "cr\r"}, {"a.newKey", "v"}, {"New.key", "v"}, {"a.Sub.b", "v"}, {"a.x\"y\\.K", "v"},
	{"a.x.b", "v"}, {"a.X.b", "v"}, {"--add", "a.b", "more"}, {"--add", "a.x.c", "more"}, {"--replace-all", "a.b", "one"}, {"--replace-all", "a.b", "one", "[12]"}, {"a.b", "one", "2"}, {"a.b", "one", "!2"},
	{"--unset", "a.b"}, {"--unset", "a.b", "2"}, {"--unset-all", "a.b"}, {"--unset-all", "a.x.b"}, {"--unset", "a.c"}, {"--unset-all", "c.d"}, {"--unset", "a.sub.b"}, {"--unset-all", "a.b", "!1"},
	{"--rename-section", "a", "n.M"}, {"--rename-section", "a.x", "b"}, {"--rename-section", "a", "b ad"}, {"--remove-section", "a"}, {"--remove-section", "a.x"}, {"--remove-section", "c"}, {"--rename-section", "a.Sub", "a.x y\"z"},
	{"nodot", "v"}, {"a.b_c", "v"}, {"a.", "v"}, {".a", "v"}, {"a.x\ny.b", "v"},
}

// apply does what "git config" does with args, and returns its exit status.
func applyOp(l *lockfile.Locker, path string, args []string) (int, []string) {
	var lines []string
	say := func(l string) { lines = append(lines, l) }
	e, err := NewEdit(l, path, "cfg", time.Second, say)
	if err != nil {
		return status(err, &lines), lines
	}
	defer e.Rollback()
	n := -1
	switch args[0] {
	case "--rename-section":
		n, err = e.RenameSection(args[1], args[2])
	case "--remove-section":
		n, err = e.RemoveSection(args[1])
	default:
		err = e.Apply(changeOf(args))
	}
	if err == nil && n == 0 {
		lines = append(lines, "fatal: no such section: "+args[1])
		return 128, lines
	}
	if err == nil {
		p, _, _ := syncpolicy.NewPolicy(syncpolicy.Settings{Default: "git"})
		b := syncpolicy.NewBarrier(l.FS, p, filepath.Dir(path))
		defer b.Rollback()
		if err = e.Stage(b); err == nil {
			err = b.Commit()
		}
	}
	return status(err, &lines), lines
}

func changeOf(args []string) Change {
	c := Change{}
	for strings.HasPrefix(args[0], "--") {
		switch args[0] {
		case "--add":
			c.Add = true
		case "--replace-all":
			c.All = true
		case "--unset":
			c.Unset = true
		case "--unset-all":
			c.Unset, c.All = true, true
		}
		args = args[1:]
	}
	c.Key = args[0]
	rest := args[1:]
	if !c.Unset {
		c.Value, rest = rest[0], rest[1:]
	}
	if len(rest) > 0 {
		pattern, not := strings.CutPrefix(rest[0], "!")
		re := regexp.MustCompile(pattern)
		c.Match = func(v string, ok bool) bool { return (ok && re.MatchString(v)) != not }
	}
	return c
}

func status(err error, lines *[]string) int {
	var ke *KeyError
	var ee *EditError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ke):
		*lines = append(*lines, "error: "+ke.Msg)
		return ke.Code
	case errors.As(err, &ee):
		*lines = append(*lines, ee.Notes...)
		if ee.Msg != "" {
			*lines = append(*lines, "error: "+ee.Msg)
		}
		return ee.Code
	}
	*lines = append(*lines, "fatal: "+err.Error())
	return 128
}

func TestEditAsGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := &lockfile.Locker{FS: vfs.OS()}
	ours, theirs := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	for _, d := range []string{ours, theirs} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for i, content := range editContents {
		for j, op := range editOps {
			if (i*7+j)%9 != 0 && os.Getenv("SLUICE_ALL_EDITS") == "" {
				continue
			}
			write(t, ours+"/cfg", content)
			write(t, theirs+"/cfg", content)
			_, wantErr, want := stockGit(t, theirs, nil, append([]string{"config", "-f", "cfg"}, op...)...)
			got, lines := applyOp(l, ours+"/cfg", op)
			a, _ := os.ReadFile(ours + "/cfg")
			b, _ := os.ReadFile(theirs + "/cfg")
			if string(a) != string(b) || got != want {
				t.Errorf("%q %q:\n%q (%d %q)\ngit\n%q (%d %q)", content, op, a, got, lines, b, want, wantErr)
			} else if said := strings.Join(lines, "\n"); got != 5 && strings.TrimSuffix(wantErr, "\n") != said {
				t.Errorf("%q %q: said %q, git %q", content, op, said, wantErr)
			}
		}
	}
}

func TestEditMissingFileModesAndLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := &lockfile.Locker{FS: vfs.OS()}
	if code, lines := applyOp(l, dir+"/cfg", []string{"--unset", "a.b"}); code != CodeNothingSet {
		t.Error(code, lines)
	}
	if code, lines := applyOp(l, dir+"/cfg", []string{"Sec.Sub.Key", "v"}); code != 0 {
		t.Error(code, lines)
	}
	if b, _ := os.ReadFile(dir + "/cfg"); string(b) != "[Sec \"Sub\"]\n\tKey = v\n" {
		t.Errorf("%q", b)
	}
	if err := os.Chmod(dir+"/cfg", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("cfg", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if code, lines := applyOp(l, dir+"/link", []string{"a.b", "c"}); code != 0 {
		t.Error(code, lines)
	}
	info, err := os.Lstat(dir + "/cfg")
	if err != nil || info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if info, _ := os.Lstat(dir + "/link"); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	write(t, dir+"/cfg.lock", "")
	start := time.Now()
	code, lines := 0, []string(nil)
	if _, err := NewEdit(l, dir+"/cfg", "cfg", 50*time.Millisecond, nil); err != nil {
		code = status(err, &lines)
	}
	if code != CodeNoLock || len(lines) != 1 || !strings.HasPrefix(lines[0], "error: could not lock config file cfg: File exists") || time.Since(start) < 40*time.Millisecond {
		t.Error(code, lines, time.Since(start))
	}
	if code, lines := applyOp(l, dir+"/none/cfg", []string{"a.b", "c"}); code != CodeNoLock || lines[0] != "error: could not lock config file cfg: No such file or directory" {
		t.Error(code, lines)
	}
	if code, lines := applyOp(l, dir, []string{"a.b", "c"}); code != CodeInvalidFile {
		t.Error(code, lines)
	}
}

func TestComment(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"x": " # x", "#x": " #x", "\t#x": "\t#x", " x": " #  x", "": " # "} {
		if got, err := PrepareComment(in); got != want || err != nil {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	if _, err := PrepareComment("a\nb"); err == nil {
		t.Error("two lines")
	}
	l := &lockfile.Locker{FS: vfs.OS()}
	path := filepath.Join(t.TempDir(), "cfg")
	e, err := NewEdit(l, path, "cfg", 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Rollback()
	for _, c := range []Change{{Key: "a.b", Value: " v", Comment: " # c"}, {Key: "a.c", Value: "w"}} {
		if err := e.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[a]\n\tb = \" v\" # c\n\tc = w\n"; e.content != want {
		t.Errorf("%q", e.content)
	}
}

func FuzzEdit(f *testing.F) {
	for _, s := range editContents {
		f.Add(s, "a.b", "v")
	}
	l := &lockfile.Locker{FS: vfs.OS()}
	dir := f.TempDir()
	n := 0
	f.Fuzz(func(t *testing.T, content, key, value string) {
		n++
		e, err := NewEdit(l, fmt.Sprintf("%s/%d", dir, n), "cfg", 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Rollback()
		e.content, e.missing = content, false
		if e.Apply(Change{Key: key, Value: value, All: true}) != nil || strings.IndexByte(value, 0) >= 0 {
			return
		}
		entries, err := parse(e.content, &Origin{}, nil)
		if err != nil {
			t.Fatalf("%q: %v", e.content, err)
		}
		canonical, _, _ := ParseKey(key)
		got, found := "", 0
		for _, e := range entries {
			if e.Key == canonical {
				got, found = e.Value, found+1
			}
		}
		if strings.IndexByte(key, 0) < 0 && !strings.ContainsAny(value, "\b\r") && (found == 0 || got != value) {
			t.Fatalf("%q: %q %d times, set %q", e.content, got, found, value)
		}
	})
}
