package worktree

import (
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"
)

var patternLines = []string{"*.o", "a", "/a", "a/", "!a", "!*.o", "a/b", "**/b", "a/**", "#c", "\\#c", "b ", "b\\ ", "  b", "*", "!/a/", "?", "[ab]", "a*b", "/", "!", "**", "b\r", "\\!x", "a\\", "[", "/*/b", "!b/"}

// TestIgnoreRandomGit compares random .gitignore files, nested, with check-ignore.
func TestIgnoreRandomGit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(3))
	dirs := []string{"", "a/", "a/b/", "b/", "c/"}
	for range 12 {
		root := newRepo(t)
		var paths []string
		for _, d := range dirs {
			for _, f := range []string{"x.o", "ab", "#c", "b "} {
				write(t, root+"/"+d+f, "")
				paths = append(paths, d+f)
			}
			if d != "" {
				paths = append(paths, strings.TrimSuffix(d, "/"))
			}
		}
		for _, d := range dirs {
			if rng.Intn(2) == 0 {
				var lines []string
				for range 1 + rng.Intn(4) {
					lines = append(lines, patternLines[rng.Intn(len(patternLines))])
				}
				write(t, root+"/"+d+".gitignore", strings.Join(lines, "\n")+[]string{"", "\n"}[rng.Intn(2)])
			}
		}
		want := gitIn(t, root, strings.Join(paths, "\x00")+"\x00", "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin")
		ig := NewIgnore(IgnoreSources{Root: root, PerDir: ".gitignore"})
		var got strings.Builder
		for _, p := range paths {
			fi, err := os.Lstat(root + "/" + p)
			if d := ig.Decide(p, err == nil && fi.IsDir()); d != nil {
				fmt.Fprintf(&got, "%s\x00%d\x00%s\x00%s\x00", d.Source, d.Line, d.Original, p)
			} else {
				fmt.Fprintf(&got, "\x00\x00\x00%s\x00", p)
			}
		}
		if got.String() != want {
			t.Errorf("got\n%q\ngit\n%q", got.String(), want)
		}
	}
}

// TestAttributesRandomGit compares random .gitattributes files with check-attr -a.
func TestAttributesRandomGit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(4))
	sets := []string{"text", "-text", "!text", "text=auto", "eol=crlf", "binary", "-binary", "!binary", "m", "-m", "diff=x", "m2", "=bad", "-", "a=b=c", "!diff", "n=", "ident"}
	dirs := []string{"", "a/", "a/b/", "c/"}
	for range 12 {
		root := newRepo(t)
		for _, d := range append(dirs, ".git/info/") {
			name := root + "/" + d + ".gitattributes"
			if d == ".git/info/" {
				name = root + "/.git/info/attributes"
			}
			var b strings.Builder
			for range rng.Intn(5) {
				p := []string{"*", "*.o", "a", "/a/*", "b", "\"x y\"", "[attr]m", "[attr]m2", "**/b", "!x", "#", "  *.c", "a/"}[rng.Intn(13)]
				fmt.Fprint(&b, p)
				for range rng.Intn(4) {
					fmt.Fprint(&b, " ", sets[rng.Intn(len(sets))])
				}
				fmt.Fprintln(&b)
			}
			write(t, name, b.String())
		}
		paths := []string{"x.o", "a/x.o", "a/b/x.o", "c/b", "x y", "a/b/q.c", "a/", "c/a"}
		want := gitIn(t, root, strings.Join(paths, "\n")+"\n", "check-attr", "--stdin", "-a")
		said := strings.Builder{}
		a := NewAttributes(AttrSources{Root: root, Info: ".git/info/attributes", Report: func(l string) { fmt.Fprintln(&said, l) }})
		a.info = a.readFile(root+"/.git/info/attributes", "", ".git/info/attributes", true, 0)
		got := map[string]bool{}
		for _, p := range paths {
			names, values := a.All(p)
			for i, n := range names {
				got[fmt.Sprintf("%s: %s: %s", p, n, values[i])] = true
			}
		}
		for _, l := range strings.Split(strings.TrimSuffix(want, "\n"), "\n") {
			if !got[l] && !strings.Contains(said.String(), l) {
				t.Errorf("git says %q; this program %v, %s", l, got, said.String())
			}
			delete(got, l)
		}
		if len(got) > 0 {
			t.Errorf("git doesn't say %v", got)
		}
	}
}

func FuzzPatternFiles(f *testing.F) {
	f.Add([]byte("*.o\n!a/\n\\ \n[attr]m a\n\"q\\001\" b=c\n"), "a/b.o")
	f.Add([]byte("\xef\xbb\xbf[attr]x -x\n* x\x00y\n"), "")
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		if len(data) > 1000 || len(path) > 100 {
			return
		}
		ig := NewIgnore(IgnoreSources{})
		ig.files = append(ig.files, parseIgnore(data, "", "x"))
		ig.dirs[""] = &ignoreDir{}
		ig.lastMatch(&ignoreDir{}, path, baseOf(path), true)
		a := NewAttributes(AttrSources{})
		a.info = a.parse(data, "", "x", true)
		a.All(path)
	})
}
