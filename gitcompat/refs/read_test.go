package refs

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
)

// TestListAsGit reads repositories in every state that git can read.
func TestListAsGit(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(f *fixture){
		"empty": func(*fixture) {},
		"loose over packed": func(f *fixture) {
			f.run("", "update-ref", "refs/heads/main", f.c[0].String())
			f.run("", "update-ref", "refs/heads/a-b", f.c[0].String())
			f.run("", "update-ref", "refs/heads/a/b", f.c[0].String())
			f.run("", "pack-refs", "--all")
			f.run("", "update-ref", "refs/heads/main", f.c[1].String())
			f.run("", "update-ref", "refs/heads/a.b", f.c[2].String())
		},
		"symbolic": func(f *fixture) {
			f.run("", "update-ref", "refs/heads/main", f.c[0].String())
			f.run("", "symbolic-ref", "refs/heads/s", "refs/heads/main")
			f.run("", "symbolic-ref", "refs/heads/s2", "refs/heads/s")
			f.run("", "symbolic-ref", "refs/heads/dangling", "refs/heads/none")
			f.run("", "symbolic-ref", "refs/heads/loop", "refs/heads/loop2")
			f.run("", "symbolic-ref", "refs/heads/loop2", "refs/heads/loop")
			os.Symlink("refs/heads/main", f.path("refs/heads/link"))
		},
		"trailing text": func(f *fixture) { f.write("refs/heads/x", f.c[0].String()+"  \t more\n") },
		"upper case":    func(f *fixture) { f.write("refs/heads/x", strings.ToUpper(f.c[0].String())+"\n") },
		"odd symref": func(f *fixture) {
			f.run("", "update-ref", "refs/heads/main", f.c[0].String())
			f.write("refs/heads/x", "ref:\t \nrefs/heads/main  \n")
		},
		"no header": func(f *fixture) {
			f.write("packed-refs", f.tag.String()+" refs/tags/z\n"+f.c[1].String()+" refs/heads/b\n")
		},
		"peeled": func(f *fixture) {
			f.write("packed-refs", "# pack-refs with: peeled \n"+f.c[1].String()+" refs/heads/b\n"+f.tag.String()+" refs/tags/z\n^"+f.c[0].String()+"\n")
		},
		"locks and dots": func(f *fixture) {
			f.write("refs/heads/x.lock", f.c[0].String()+"\n")
			f.write("refs/heads/.x", f.c[0].String()+"\n")
			f.write("refs/heads/x", f.c[0].String()+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			setup(f)
			want := f.run("", "for-each-ref", "--format=%(refname) %(objectname) %(symref) %(*objectname)")
			var got []string
			s := f.store()
			for r, err := range s.All("", Paranoid) {
				if err != nil {
					t.Fatal(err)
				}
				if r.Broken {
					continue
				}
				peeled := ""
				if id, ok := s.Peeled(&r); ok {
					peeled = id.String()
				}
				got = append(got, strings.Join([]string{r.Name, r.ID.String(), r.Target, peeled}, " "))
			}
			if g := strings.Join(got, "\n"); g != want {
				t.Errorf("git lists\n%s\nwe list\n%s", want, g)
			}
		})
	}
}

// TestMalformedPacked compares the messages for packed-refs that git dies of.
func TestMalformedPacked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.c[0].String()
	for _, content := range []string{
		"garbage\n", "garbage", "# other header\n", "# pack-refs with: sorted", c + " refs/heads/x", c + "\n", c + " \n", c + "refs/heads/x\n",
		c[:39] + " refs/heads/x\n", "^" + c + "\n", c + " refs/heads/x\n^" + c[:20] + "\n", c + " refs/heads/x\n^" + c + " \n", "\n",
		c + " ../escape\n", c + " refs/../../escape\n", strings.Repeat("long ", 40) + "\n", c + " refs/heads/x\n" + strings.Repeat("z", 300),
		"# pack-refs with: peeled fully-peeled sorted \n" + c + " refs/heads/x\ngarbage\n", "\x00\x00\x00\n", strings.Repeat("\x00", 100),
		c + " refs/heads/x\r\n^" + c + "\r\n",
	} {
		g := f.clone()
		g.write("packed-refs", content)
		_, stderr, ok := g.try("", "for-each-ref")
		var err error
		for _, e := range g.store().All("", Paranoid) {
			if e != nil {
				err = e
				break
			}
		}
		if ok != (err == nil) {
			t.Errorf("%q: git %v %s, we %v", content, ok, stderr, err)
			continue
		}
		if err == nil || strings.Contains(content, "\x00") {
			continue
		}
		want := strings.TrimPrefix(strings.TrimSpace(stderr), "fatal: ")
		if got := strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(err.Error(), g.path(""), ".git"), "\r", "?")); got != want && !strings.Contains(want, "BUG") {
			t.Errorf("%q: we say\n%s\ngit says\n%s", content, got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.run("", "update-ref", "refs/heads/main", f.c[0].String())
	f.run("", "update-ref", "refs/remotes/o/main", f.c[1].String())
	f.run("", "update-ref", "refs/tags/main", f.c[2].String())
	f.run("", "symbolic-ref", "refs/remotes/o/HEAD", "refs/remotes/o/main")
	f.write("refs/heads/a..b", f.c[0].String()+"\n")
	s := f.store()
	if r, err := s.Resolve("HEAD", Reading); err != nil || r.Name != "refs/heads/main" || !r.Symref || r.ID != f.c[0] {
		t.Errorf("HEAD: %+v %v", r, err)
	}
	if r, err := s.Resolve("refs/heads/none", 0); err != nil || r.Name != "refs/heads/none" || !r.ID.IsNull() {
		t.Errorf("none: %+v %v", r, err)
	}
	if _, err := s.Resolve("refs/heads/a..b", Reading); err != ErrUnresolved {
		t.Errorf("bad name: %v", err)
	}
	if r, err := s.Resolve("refs/heads/a..b", Reading|AllowBadName); err != nil || !r.Broken || !r.BadName {
		t.Errorf("bad name allowed: %+v %v", r, err)
	}
	all, err := s.Expand("main", false)
	if err != nil || len(all) != 2 || all[0].Name != "refs/tags/main" || all[1].Name != "refs/heads/main" {
		t.Errorf("main: %+v %v", all, err)
	}
	if all, _ := s.Expand("o", true); len(all) != 1 || all[0].Name != "refs/remotes/o/main" {
		t.Errorf("o: %+v", all)
	}
	for full, want := range map[string][2]string{
		"refs/heads/main": {"heads/main", "heads/main"}, "refs/tags/main": {"main", "tags/main"},
		"refs/remotes/o/main": {"o/main", "o/main"}, "refs/remotes/o/HEAD": {"o", "o"}, "refs/x": {"x", "x"}, "HEAD": {"HEAD", "HEAD"},
	} {
		if loose, strict := s.Shorten(full, false), s.Shorten(full, true); loose != want[0] || strict != want[1] {
			t.Errorf("Shorten(%s) = %s, %s", full, loose, strict)
		}
	}
}

// TestMovesAsGit renames, copies and packs beside git.
func TestMovesAsGit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		run  func(s *Store, b func() *syncpolicy.Barrier) error
	}{
		"rename": {[]string{"branch", "-m", "side", "other/name"}, func(s *Store, b func() *syncpolicy.Barrier) error {
			return s.Rename(b, "refs/heads/side", "refs/heads/other/name", "Branch: renamed refs/heads/side to refs/heads/other/name")
		}},
		"rename below itself": {[]string{"branch", "-m", "side", "side/two"}, func(s *Store, b func() *syncpolicy.Barrier) error {
			return s.Rename(b, "refs/heads/side", "refs/heads/side/two", "Branch: renamed refs/heads/side to refs/heads/side/two")
		}},
		"rename to above": {[]string{"branch", "-m", "deep/one", "deep"}, func(s *Store, b func() *syncpolicy.Barrier) error {
			return s.Rename(b, "refs/heads/deep/one", "refs/heads/deep", "Branch: renamed refs/heads/deep/one to refs/heads/deep")
		}},
		"rename over another": {[]string{"branch", "-M", "side", "third"}, func(s *Store, b func() *syncpolicy.Barrier) error {
			return s.Rename(b, "refs/heads/side", "refs/heads/third", "Branch: renamed refs/heads/side to refs/heads/third")
		}},
		"rename a packed one": {[]string{"branch", "-m", "packed", "unpacked"}, func(s *Store, b func() *syncpolicy.Barrier) error {
			return s.Rename(b, "refs/heads/packed", "refs/heads/unpacked", "Branch: renamed refs/heads/packed to refs/heads/unpacked")
		}},
		"copy": {[]string{"branch", "-c", "side", "other/name"}, func(s *Store, b func() *syncpolicy.Barrier) error {
			return s.Copy(b, "refs/heads/side", "refs/heads/other/name", "Branch: copied refs/heads/side to refs/heads/other/name")
		}},
		"pack": {[]string{"pack-refs", "--all"}, func(s *Store, b func() *syncpolicy.Barrier) error {
			_, err := s.Pack(b(), PackOptions{Wanted: func(string) bool { return true }, Prune: true})
			return err
		}},
		"pack without pruning": {[]string{"pack-refs", "--all", "--no-prune"}, func(s *Store, b func() *syncpolicy.Barrier) error {
			_, err := s.Pack(b(), PackOptions{Wanted: func(string) bool { return true }})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.run("", "update-ref", "refs/heads/packed", f.c[3].String())
			f.run("", "pack-refs", "--all")
			for ref, id := range map[string]oid.ID{"main": f.c[0], "side": f.c[1], "third": f.c[2], "deep/one": f.c[0]} {
				f.run("", "update-ref", "-m", "made", "refs/heads/"+ref, id.String())
			}
			f.run("", "update-ref", "refs/tags/t", f.tag.String())
			f.run("", "symbolic-ref", "refs/heads/sym", "refs/heads/main")
			g := f.clone()
			g.run("", c.args...)
			if err := c.run(f.store(), func() *syncpolicy.Barrier { return f.barrier("all") }); err != nil {
				t.Fatal(err)
			}
			if got, want := f.state(true), g.state(true); got != want {
				t.Errorf("git has\n%s\nwe have\n%s", want, got)
			}
		})
	}
}

func TestLogReverse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var lines []byte
	for i := range 400 {
		lines = appendLogLine(lines, f.c[i%4], f.c[(i+1)%4], ident, strings.Repeat("x", i))
	}
	f.write("logs/refs/heads/main", string(lines))
	s := f.store()
	var there, back []LogEntry
	for e, err := range s.Log("refs/heads/main") {
		if err != nil {
			t.Fatal(err)
		}
		there = append(there, e)
	}
	for e, err := range s.LogReverse("refs/heads/main") {
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, e)
	}
	slices.Reverse(back)
	if len(there) != 400 || !slices.Equal(there, back) {
		t.Errorf("%d entries there, %d back", len(there), len(back))
	}
}

// FuzzPacked looks for inputs that break the search, and for records that are
// found by one way of reading and not by the other.
func FuzzPacked(f *testing.F) {
	c := strings.Repeat("ab", 20)
	for _, seed := range []string{
		"", "\n", "#", packedHeader, packedHeader + c + " refs/heads/a\n" + c + " refs/heads/b\n^" + c + "\n", c + " refs/b\n" + c + " refs/a\n",
		c + " refs/heads/x", "^" + c + "\n", strings.Repeat("\n", 100), c + " \n",
	} {
		f.Add([]byte(seed), "refs/heads/a")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		sn := &snapshot{path: "packed-refs", shown: "packed-refs", algo: oid.SHA1}
		if sn.parse(bytes.Clone(data)) != nil {
			return
		}
		sn.lookup(name)
		sn.below(name)
		var names []string
		for r, err := range sn.from("") {
			if err != nil {
				return
			}
			names = append(names, r.Name)
		}
		if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
			return // a header that lies
		}
		for _, n := range names {
			if _, ok, err := sn.lookup(n); !ok || err != nil {
				t.Fatalf("%q is listed and not found: %v", n, err)
			}
		}
	})
}

// FuzzLogLine checks that a line which is read is written the same.
func FuzzLogLine(f *testing.F) {
	a, b := oid.SHA1.Sum("blob", nil), oid.SHA1.Sum("tree", nil)
	f.Add(appendLogLine(nil, a, b, ident, "message"))
	f.Add(appendLogLine(nil, a, b, ident, ""))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, ok := parseLogLine(line, oid.SHA1)
		if !ok {
			return
		}
		again, ok := parseLogLine(appendLogLine(nil, e.Old, e.New, e.Ident+" 1 +0000", e.Message), oid.SHA1)
		if !ok || again.Ident != e.Ident || again.New != e.New {
			t.Fatalf("%q: %+v %+v", line, e, again)
		}
	})
}
