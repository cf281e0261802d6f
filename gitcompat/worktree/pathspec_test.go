package worktree

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// TestPathspecErrorsGit compares what ls-files dies of.
func TestPathspecErrorsGit(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	write(t, dir+"/sub/f", "x")
	for _, spec := range []string{"..", "../x", "/", "/etc", "sub/../../x", "", ":(bogus)x", ":(top", ":(literal,glob)x", ":(attr:)x", ":(attr:a,attr:b)x", ":(attr:a=b\\)x",
		":(attr:a=%)x", ":(attr:-)x", ":(prefix:z)x", ":@x", ":=x", ":`x", ":!../x", ":(top)../x", "sub/..", "./sub", ":(,,top)x", ":x", ":::x", ":^x", ":", ":/"} {
		_, err := ParsePathspec([]string{spec}, PathspecOptions{Root: dir})
		got := ""
		if err != nil {
			got = "fatal: " + err.Error()
		}
		want, _, _ := strings.Cut(gitIn(t, dir, "", "ls-files", "--", spec), "\n")
		if got != want {
			t.Errorf("%q: got %q, git says %q", spec, got, want)
		}
	}
}

// TestPathspecMatchGit matches random elements against an index.
func TestPathspecMatchGit(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	var names []string
	for _, d := range []string{"", "a/", "a/b/", "A/", "ab/", "sub/a/"} {
		for _, f := range []string{"a", "b.c", "B.C", "[x]", "ab.c"} {
			if name := d + f; name != "a" && name != "a/a" && name != "sub/a/a" {
				names = append(names, name)
				write(t, dir+"/"+name, name)
			}
		}
	}
	gitIn(t, dir, "", "add", ".")
	slices.Sort(names)
	rng := rand.New(rand.NewSource(2))
	magic := []string{"", "", "", ":(icase)", ":(glob)", ":(literal)", ":(top)", ":(exclude)", ":(top,icase)", ":!", ":(glob,icase)"}
	for range 120 {
		var specs []string
		for range 1 + rng.Intn(2) {
			specs = append(specs, magic[rng.Intn(len(magic))]+randomString(rng, "aabB/*?.cC[]", 6))
		}
		prefix := []string{"", "a/", "sub/a/"}[rng.Intn(3)]
		ps, err := ParsePathspec(specs, PathspecOptions{Root: dir, Prefix: prefix, PreferCwd: true})
		if err != nil {
			continue
		}
		var got strings.Builder
		for _, n := range names {
			if ps.Match(n, nil) != NoMatch {
				fmt.Fprintln(&got, n)
			}
		}
		want := gitIn(t, dir+"/"+prefix, "", append([]string{"ls-files", "--full-name", "-z", "--"}, specs...)...)
		if w := strings.ReplaceAll(want, "\x00", "\n"); got.String() != w {
			t.Errorf("%q in %q: got\n%sgit\n%s", specs, prefix, got.String(), w)
		}
	}
}

// TestPathspecMany has the index of plain arguments agree with the plain scan.
func TestPathspecMany(t *testing.T) {
	t.Parallel()
	var args []string
	for i := range 40 {
		args = append(args, fmt.Sprintf("d%d/f%d", i%7, i), fmt.Sprintf("e%d/", i))
	}
	args = append(args, "*.c", ":(icase)UP", ":!d3/f3")
	ps, err := ParsePathspec(args, PathspecOptions{Root: "/r"})
	if err != nil || ps.exact == nil {
		t.Fatal(err)
	}
	plain := *ps
	plain.exact, plain.rest = nil, nil
	for _, path := range []string{"d0/f0", "d0/f0/x", "d1/f0", "e3", "e3/", "e3/a/b", "x.c", "up", "UP/a", "d3/f3", "d3/f10", "e", "d0", "d0/"} {
		seen, plainSeen := make([]Match, len(ps.Items)), make([]Match, len(ps.Items))
		for name, m := range map[string][2]Match{
			"file": {ps.Match(path, seen), plain.Match(path, plainSeen)}, "dir": {ps.MatchDir(path, seen), plain.MatchDir(path, plainSeen)},
			"leading": {ps.MatchLeading(path, nil), plain.MatchLeading(path, nil)},
		} {
			if m[0] != m[1] {
				t.Errorf("%s %q: %d, plain scan %d", name, path, m[0], m[1])
			}
		}
		if fmt.Sprint(seen) != fmt.Sprint(plainSeen) {
			t.Errorf("%q: seen %v, plain scan %v", path, seen, plainSeen)
		}
	}
}

func FuzzPathspec(f *testing.F) {
	for _, s := range []string{":(top,attr:a=b -c !d,prefix:3)x/*", ":!x", ":(", "../a", "a/./b//c"} {
		f.Add(s, "a/b")
	}
	f.Fuzz(func(t *testing.T, spec, path string) {
		ps, err := ParsePathspec([]string{spec}, PathspecOptions{Root: "/r", Prefix: "p/"})
		if err != nil || len(path) > 100 || len(spec) > 100 {
			return
		}
		ps.Attrs = NewAttributes(AttrSources{})
		ps.Match(path, make([]Match, len(ps.Items)))
		ps.MatchLeading(path+"/", nil)
		ps.CommonDir()
	})
}
