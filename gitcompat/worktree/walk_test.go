package worktree

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// messyTree makes a repository with something of everything.
func messyTree(t testing.TB) string {
	t.Helper()
	dir := newRepo(t)
	for _, f := range []string{"a.c", "a.o", "b.txt", "sub/x.c", "sub/x.o", "sub/deep/y.c", "sub/deep/y.o", "sub/keep.o", "build/out1", "build/out2",
		"new/f1", "new/f2", "new/inner/f3", "onlyign/a.o", "onlyign/b.o", "mixed/a.o", "mixed/b.c", "tracked/t1", "tracked/t2", "tracked/t3.o", "tr/zz", "tr.x", "Sub2/a", "logs/debug.log", "logs/keep.log", "x y/z"} {
		write(t, dir+"/"+f, f+"\n")
	}
	write(t, dir+"/.gitignore", "*.o\n/build/\n!keep.o\n# note\n\\#x\n*.log\ntrailing \n")
	write(t, dir+"/logs/.gitignore", "!keep.log\r\n")
	write(t, dir+"/sub/deep/.gitignore", "!*.o\n")
	write(t, dir+"/.git/info/exclude", "b.txt\n")
	if err := os.MkdirAll(dir+"/empty/e2", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.c", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("new", dir+"/dirlink"); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "", "init", "-q", "nested")
	write(t, dir+"/nested/n1", "n")
	gitIn(t, dir+"/nested", "", "add", "n1")
	gitIn(t, dir+"/nested", "", "commit", "-q", "-m", "n")
	gitIn(t, dir, "", "add", "-f", "a.c", "tracked/t1", "tracked/t3.o", "tr/zz")
	return dir
}

func openIndex(t testing.TB, dir string) *index.Index {
	t.Helper()
	x, err := index.Read(dir+"/.git/index", oid.SHA1, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func standardWalk(t testing.TB, dir string) WalkOptions {
	return WalkOptions{Root: dir, GitDir: dir + "/.git", Index: openIndex(t, dir), Ignore: NewIgnore(IgnoreSources{Root: dir, PerDir: ".gitignore", Files: []string{dir + "/.git/info/exclude"}})}
}

func TestWalkGit(t *testing.T) {
	t.Parallel()
	dir := messyTree(t)
	for _, c := range []struct {
		args string
		set  func(o *WalkOptions)
	}{
		{"--exclude-standard", func(o *WalkOptions) {}},
		{"", func(o *WalkOptions) { o.Ignore = nil }},
		{"--exclude-standard --directory", func(o *WalkOptions) { o.CollapseDirs = true }},
		{"--exclude-standard --directory --no-empty-directory", func(o *WalkOptions) { o.CollapseDirs, o.HideEmpty = true, true }},
		{"--directory --no-empty-directory", func(o *WalkOptions) { o.Ignore, o.CollapseDirs, o.HideEmpty = nil, true, true }},
		{"--exclude-standard -i", func(o *WalkOptions) { o.OnlyIgnored = true }},
		{"--exclude-standard -i --directory", func(o *WalkOptions) { o.OnlyIgnored, o.CollapseDirs = true, true }},
	} {
		for _, spec := range []string{"", "sub", "new/inner", "*.c", "su*", "build", ":(icase)SUB", ":!sub", "tr", "sub/deep/", "nested", "nested/", "dirlink", "sub new", ":(glob)*/*.c"} {
			if strings.Contains(c.args, "-i --directory") && strings.Contains(spec, "*.c") {
				continue // ls-files lists an ignored directory there without asking the pathspec
			}
			args := append([]string{"ls-files", "-o", "-z"}, strings.Fields(c.args)...)
			args = append(append(args, "--"), strings.Fields(spec)...)
			want := strings.ReplaceAll(gitIn(t, dir, "", args...), "\x00", "\n")
			o := standardWalk(t, dir)
			ps, err := ParsePathspec(strings.Fields(spec), PathspecOptions{Root: dir})
			if err != nil {
				t.Fatal(err)
			}
			o.Pathspec = ps
			c.set(&o)
			var got strings.Builder
			for _, p := range Walk(o).Untracked {
				if ps.MatchDir(p, nil) != NoMatch {
					fmt.Fprintln(&got, p)
				}
			}
			if got.String() != want {
				t.Errorf("ls-files -o %s -- %s:\ngot\n%swant\n%s", c.args, spec, got.String(), want)
			}
		}
	}
}

func TestStatusGit(t *testing.T) {
	t.Parallel()
	dir := messyTree(t)
	for _, c := range []struct {
		args string
		set  func(o *WalkOptions)
	}{
		{"-unormal", func(o *WalkOptions) { o.CollapseDirs, o.HideEmpty = true, true }},
		{"-uall", func(o *WalkOptions) {}},
		{"-unormal --ignored=traditional", func(o *WalkOptions) {
			o.CollapseDirs, o.HideEmpty, o.Ignored = true, true, true
		}},
		{"-uall --ignored=matching", func(o *WalkOptions) { o.Ignored, o.IgnoredMatching = true, true }},
		{"-unormal --ignored=matching", func(o *WalkOptions) {
			o.CollapseDirs, o.HideEmpty, o.Ignored, o.IgnoredMatching = true, true, true, true
		}},
	} {
		out := gitIn(t, dir, "", append([]string{"status", "-z", "--porcelain"}, strings.Fields(c.args)...)...)
		var want strings.Builder
		for _, l := range strings.Split(out, "\x00") {
			if strings.HasPrefix(l, "?? ") || strings.HasPrefix(l, "!! ") {
				fmt.Fprintln(&want, l)
			}
		}
		o := standardWalk(t, dir)
		c.set(&o)
		res := Walk(o)
		var got strings.Builder
		for _, p := range res.Untracked {
			fmt.Fprintln(&got, "??", p)
		}
		for _, p := range res.Ignored {
			fmt.Fprintln(&got, "!!", p)
		}
		if got.String() != want.String() {
			t.Errorf("status %s:\ngot\n%swant\n%s", c.args, got.String(), want.String())
		}
	}
}

// TestIgnoreGit asks about every path which pattern decides, as check-ignore -v does.
func TestIgnoreGit(t *testing.T) {
	t.Parallel()
	dir := messyTree(t)
	paths := []string{"a.o", "a.c", "build", "build/out1", "build/x/y", "sub/keep.o", "sub/deep/y.o", "logs/keep.log", "logs/debug.log", "b.txt", "sub/b.txt", "#x", "trailing", "none/x.o", "onlyign", "x y/q.o"}
	out := gitIn(t, dir, strings.Join(paths, "\n")+"\n", "check-ignore", "--no-index", "-v", "-n", "--stdin")
	ig := NewIgnore(IgnoreSources{Root: dir, PerDir: ".gitignore", Files: []string{dir + "/.git/info/exclude"}, Names: []string{".git/info/exclude"}})
	var got strings.Builder
	for _, p := range paths {
		fi, err := os.Lstat(dir + "/" + p)
		if d := ig.Decide(p, err == nil && fi.IsDir()); d != nil {
			fmt.Fprintf(&got, "%s:%d:%s\t%s\n", d.Source, d.Line, d.Original, p)
		} else {
			fmt.Fprintf(&got, "::\t%s\n", p)
		}
	}
	if got.String() != out {
		t.Errorf("got\n%swant\n%s", got.String(), out)
	}
}
