package object

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// git runs stock git in dir, away from the user's settings.
func git(t testing.TB, dir string, stdin []byte, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	bin, err := exec.LookPath("git")
	if err != nil {
		t.Fatalf("these tests ask stock git: %v", err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1112911993 -0700",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1112911993 -0700")
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errb strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errb
	err = cmd.Run()
	return out.String(), errb.String(), err
}

func TestHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		typ  Type
		size int64
		n    int
		err  error
	}{
		{"blob 0\x00", Blob, 0, 7, nil},
		{"commit 123\x00rest", Commit, 123, 11, nil},
		{"blob 00\x00", Bad, 0, 0, ErrHeader},
		{"blob 01\x00", Bad, 0, 0, ErrHeader},
		{"blob \x00", Bad, 0, 0, ErrHeader},
		{"blob\x00", Bad, 0, 0, ErrHeader},
		{"blob 1", Bad, 0, 0, ErrHeader},
		{"blob 1 \x00", Bad, 0, 0, ErrHeader},
		{"blob -1\x00", Bad, 0, 0, ErrHeader},
		{"", Bad, 0, 0, ErrHeader},
		{"bogus 4\x00", Bad, 4, 8, ErrHeaderType},
		{"blob 99999999999999999999\x00", Bad, 0, 0, ErrHeader},
		{strings.Repeat("x", 40), Bad, 0, 0, ErrHeaderLong},
	} {
		typ, size, n, err := ParseHeader([]byte(c.in))
		if typ != c.typ || n != c.n || !errors.Is(err, c.err) || err == nil && size != c.size {
			t.Errorf("ParseHeader(%q) = %v, %d, %d, %v", c.in, typ, size, n, err)
		}
	}
	if got := AppendHeader(nil, Tag, 10); string(got) != "tag 10\x00" {
		t.Errorf("AppendHeader: %q", got)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	null := oid.SHA1.Null()
	id := strings.Repeat("12", 20)
	for _, text := range []string{
		"tree " + id + "\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 -0130\n\nmsg\n",
		"tree " + id + "\nparent " + id + "\nparent " + id + "\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 -0130\nencoding ISO8859-1\ngpgsig one\n two\n \n three\nx y\n\n",
	} {
		c, err := ParseCommit(null, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Append(nil); string(got) != text {
			t.Errorf("commit comes back as %q, want %q", got, text)
		}
		if got := CommitTime([]byte(text)); got != 2 {
			t.Errorf("CommitTime = %d", got)
		}
	}
	text := "object " + id + "\ntype commit\ntag v1\ntagger T <t@u> 5 +0000\n\nmsg\n-----BEGIN PGP SIGNATURE-----\n"
	tag, err := ParseTag(null, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := tag.Append(nil); string(got) != text {
		t.Errorf("tag comes back as %q", got)
	}
	for _, bad := range []string{"", "tree ", "tree " + id, "tree " + id + "\n", "tree " + strings.Repeat("z", 40) + "\nx",
		"tree " + id + "\nparent " + strings.Repeat("z", 40) + "\nauthor"} {
		if _, err := ParseCommit(null, []byte(bad)); err == nil {
			t.Errorf("ParseCommit(%q): no error", bad)
		}
		if _, err := ParseTag(null, []byte(bad)); err == nil {
			t.Errorf("ParseTag(%q): no error", bad)
		}
	}
}

func TestTreeOrder(t *testing.T) {
	t.Parallel()
	entries := []Entry{{ModeTree, "a", oid.SHA1.EmptyTree()}, {ModeRegular, "a.c", oid.SHA1.EmptyBlob()}, {ModeRegular, "a0", oid.SHA1.EmptyBlob()}, {ModeRegular, "b", oid.SHA1.EmptyBlob()}, {ModeRegular, "a-", oid.SHA1.EmptyBlob()}}
	slices.SortFunc(entries, CompareEntries)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != "a- a.c a a0 b" {
		t.Errorf("order: %s", got)
	}
	again, err := ParseTree(oid.SHA1, AppendTree(nil, entries))
	if err != nil || !slices.Equal(again, entries) {
		t.Errorf("ParseTree = %v, %v", again, err)
	}
}

// raw builds a tree from mode, name pairs; the object is a blob that exists.
func raw(pairs ...string) []byte {
	var b []byte
	for i := 0; i < len(pairs); i += 2 {
		b = append(b, pairs[i]+" "+pairs[i+1]+"\x00"...)
		id := oid.SHA1.EmptyBlob()
		if strings.HasPrefix(pairs[i], "4") {
			id = oid.SHA1.EmptyTree()
		}
		b = id.Append(b)
	}
	return b
}

func parses(typ Type, id oid.ID, data string) bool {
	var err error
	switch typ {
	case Commit:
		_, err = ParseCommit(id, []byte(data))
	case Tag:
		_, err = ParseTag(id, []byte(data))
	}
	return err == nil
}

// TestFsckAsGit has stock git judge the same objects.
func TestFsckAsGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, e, err := git(t, dir, nil, "init", "-q"); err != nil {
		t.Fatal(e)
	}
	git(t, dir, nil, "hash-object", "-w", "-t", "tree", "/dev/null")
	git(t, dir, nil, "hash-object", "-w", "/dev/null")
	tree := oid.SHA1.EmptyTree().String()
	good := "author A <a@b> 1 +0000\ncommitter C <c@d> 2 -0130\n"
	commit := func(rest string) string { return "tree " + tree + "\n" + rest }
	author := func(ident string) string {
		return commit("author " + ident + "\ncommitter C <c@d> 2 -0130\n\nx\n")
	}
	tag := func(rest string) string { return "object " + tree + "\ntype tree\n" + rest }
	cases := []struct {
		typ  Type
		data string
	}{
		{Tree, string(raw("100644", ".git"))}, {Tree, string(raw("100644", ".GIT"))}, {Tree, string(raw("100644", "git~1"))},
		{Tree, string(raw("100644", ".gi\u200ct"))}, {Tree, string(raw("100644", ".git..."))}, {Tree, string(raw("100644", "x\\.git\\y"))},
		{Tree, string(raw("100644", "."))}, {Tree, string(raw("40000", ".."))}, {Tree, string(raw("100644", "a/b"))},
		{Tree, string(raw("0100644", "a"))}, {Tree, string(raw("100664", "a"))}, {Tree, string(raw("100666", "a"))},
		{Tree, string(raw("100644", "b", "100644", "a"))}, {Tree, string(raw("100644", "a", "100644", "a"))},
		{Tree, string(raw("100644", "a", "100644", "a.b", "100644", "a.b.c", "40000", "a.b", "40000", "a"))},
		{Tree, string(raw("120000", ".gitmodules"))}, {Tree, string(raw("120000", ".gitattributes"))},
		{Tree, string(raw("120000", ".gitignore"))}, {Tree, string(raw("120000", ".mailmap"))},
		{Tree, string(raw("120000", "gitmod~1"))}, {Tree, string(raw("120000", "gi7eba~1"))}, {Tree, string(raw("120000", "GI7EB~10"))},
		{Tree, string(raw("120000", "x\\.gitmodules"))}, {Tree, string(raw("100644", "ok", "40000", "sub"))},
		{Tree, "100644 nul\x00" + strings.Repeat("\x00", 20)},
		{Commit, commit(good + "\nok\n")}, {Commit, commit(good)}, {Commit, commit(good + "\nnul\x00x\n")},
		{Commit, commit("author A\x00 <a@b> 1 +0000\n\n")}, {Commit, commit("author A")}, {Commit, good + "\nno tree\n"},
		{Commit, "tree 12\n" + good + "\nx\n"}, {Commit, commit("parent 12\n" + good + "\nx\n")},
		{Commit, commit("committer C <c@d> 2 -0130\n\nx\n")}, {Commit, commit("author A <a@b> 1 +0000\n\nx\n")},
		{Commit, commit("author A <a@b> 1 +0000\n" + good + "\nx\n")},
		{Commit, author("<a@b> 1 +0000")}, {Commit, author("A<a@b> 1 +0000")}, {Commit, author("A> <a@b> 1 +0000")},
		{Commit, author("A a@b 1 +0000")}, {Commit, author("A <a<b> 1 +0000")}, {Commit, author("A <a@b")}, {Commit, author("A <a@b>1 +0000")},
		{Commit, author("A <a@b> x +0000")}, {Commit, author("A <a@b> 01 +0000")}, {Commit, author("A <a@b> 0 +0000")},
		{Commit, author("A <a@b> 99999999999999999999 +0000")}, {Commit, author("A <a@b> 18446744073709551614 +0000")}, {Commit, author("A <a@b> 9223372036854775807 +0000")},
		{Commit, author("A <a@b> 1 0000")}, {Commit, author("A <a@b> 1 +000")}, {Commit, author("A <a@b> 1x +0000")}, {Commit, author("A <a@b>   1 +0000")},
		{Tag, tag("tag v1\ntagger T <t@u> 1 +0000\n\nok\n")}, {Tag, tag("tag v1\n\nno tagger\n")}, {Tag, tag("tag a..b\ntagger T <t@u> 1 +0000\n\nx\n")},
		{Tag, tag("tag v1\ntagger T <t@u> 1\n\nx\n")}, {Tag, tag("tagger T <t@u> 1 +0000\n\nx\n")}, {Tag, "object " + tree + "\ntag v\n\nx\n"},
		{Tag, "type tree\ntag v\n\nx\n"}, {Tag, "object 12\ntype tree\ntag v\n\nx\n"}, {Tag, "object " + tree + "\ntype nix\ntag v\ntagger T <t@u> 1 +0000\n\nx\n"},
	}
	want := map[string]bool{}
	for _, strict := range []bool{false, true} {
		clear(want)
		f := &Fsck{Strict: strict}
		for _, c := range cases {
			id := oid.SHA1.Sum(c.typ.String(), []byte(c.data))
			out, e, err := git(t, dir, []byte(c.data), "hash-object", "-w", "--literally", "-t", c.typ.String(), "--stdin")
			if err != nil || strings.TrimSpace(out) != id.String() {
				t.Fatalf("hash-object %q: %s", c.data, e)
			}
			problems := f.Check(id, c.typ, []byte(c.data))
			if !parses(c.typ, id, c.data) {
				// git's fsck stops before it checks what it cannot parse.
				if len(problems) == 0 {
					t.Errorf("%q passes", c.data)
				}
				continue
			}
			for _, p := range problems {
				word := "error"
				if p.Severity == Warn {
					word = "warning"
				}
				want[fmt.Sprintf("%s in %s %s: %s", word, p.Type, p.ID, p.Text)] = true
			}
		}
		args := []string{"fsck", "--no-dangling", "--no-progress"}
		if strict {
			args = append(args, "--strict")
		}
		_, e, _ := git(t, dir, nil, args...)
		for line := range strings.SplitSeq(e, "\n") {
			line = strings.Replace(line, "broken links", "", 1)
			if !strings.HasPrefix(line, "error in ") && !strings.HasPrefix(line, "warning in ") {
				continue
			}
			if !want[line] && !strings.Contains(line, "symlink") {
				t.Errorf("strict=%v: only git says %s", strict, line)
			}
			delete(want, line)
		}
		for line := range want {
			// The installed git may be older and not know symlink checks by these names.
			if !strings.Contains(line, "symlink") {
				t.Errorf("strict=%v: only we say %s", strict, line)
			}
		}
	}
}

func TestFsckSettings(t *testing.T) {
	t.Parallel()
	list := t.TempDir() + "/skip"
	bad := raw("100644", "b", "100644", "a")
	id := oid.SHA1.Sum("tree", bad)
	os.WriteFile(list, []byte("# comment\n\n  "+id.String()+" # this one\n"), 0o644)
	for _, c := range []struct{ values, err, first string }{
		{"", "", "treeNotSorted"},
		{"treeNotSorted=ignore", "", ""},
		{"TREENOTSORTED:warn, hasdot=error", "", "treeNotSorted"},
		{"skipList=" + list, "", ""},
		{"nosuch=warn", "Unhandled message id: nosuch", ""},
		{"hasdot", "Missing '=': 'hasdot'", ""},
		{"hasdot=loud", "Unknown fsck message type: 'loud'", ""},
		{"nulInHeader=warn", "Cannot demote nulinheader to warn", ""},
		{"skiplist", "skiplist requires a path", ""},
		{"skiplist=/no/such", "could not open object name list: /no/such", ""},
	} {
		var f Fsck
		if err := f.SetTypes(c.values); fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("SetTypes(%q): %v", c.values, err)
			continue
		}
		first := ""
		if p := f.Check(id, Tree, bad); len(p) > 0 {
			first = p[0].Msg.String()
		}
		if c.err == "" && first != c.first {
			t.Errorf("%q: reports %q, want %q", c.values, first, c.first)
		}
	}
}

func TestGitmodules(t *testing.T) {
	t.Parallel()
	id := oid.SHA1.Sum("blob", []byte("x"))
	var key, value string
	f := &Fsck{EachConfig: func(_ []byte, fn func(k, v string, valueless bool)) error { fn(key, value, false); return nil }}
	for _, c := range []struct{ key, value, want string }{
		{"submodule.a.url", "https://example.com/x", ""},
		{"submodule.a.url", "-x", "gitmodulesUrl"},
		{"submodule.a.url", "../../x%0ay", "gitmodulesUrl"},
		{"submodule.a.url", "../:x", "gitmodulesUrl"},
		{"submodule.a.url", "../x", ""},
		{"submodule.a.url", "https:///x", "gitmodulesUrl"},
		{"submodule.a.url", "https://h:99999/x", "gitmodulesUrl"},
		{"submodule.a.url", "https://h:80/x/../y", ""},
		{"submodule.a.url", "https://h/../y", "gitmodulesUrl"},
		{"submodule.a.url", "http::https://h%0a/", "gitmodulesUrl"},
		{"submodule.a.url", "host:path", ""},
		{"submodule.a/../b.url", "x", "gitmodulesName"},
		{"submodule..url", "x", "gitmodulesName"},
		{"submodule.a.path", "-x", "gitmodulesPath"},
		{"submodule.a.update", "!rm", "gitmodulesUpdate"},
		{"other.a.url", "-x", ""},
	} {
		key, value = c.key, c.value
		found(&f.modules, id)
		got := ""
		if p := f.Check(id, Blob, []byte("x")); len(p) > 0 {
			got = p[0].Msg.String()
		}
		if got != c.want {
			t.Errorf("%s=%s: %q, want %q", c.key, c.value, got, c.want)
		}
	}
}

func TestVerifyPathAsGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git(t, dir, nil, "init", "-q")
	out, _, _ := git(t, dir, nil, "hash-object", "-w", "/dev/null")
	blob := strings.TrimSpace(out)
	names := []string{"a", "a/b", "/a", "a//b", "a/", "./a", "a/.", "a/..", "../a", ".git", ".GIT/x", "a/.git/b", ".gitx", "a.git", ".git ", ".git.", ".git:x",
		"git~1", "GIT~1", "git~2", "a\\.git\\b", "a\\b", ".gi\u200ct", "\u200c.git", ".gitmodules", ".GITMODULES", "a/.gitmodules", ".gitmodules:x", "gitmod~1", "gi7eba~1", ".gitmodules/x",
		"...", ". ", ".\xffgit", "x/gi7eba~9", ".g\u0131t", "gi7eb~1a", "GI7~1234"}
	for _, name := range names {
		for _, mode := range []uint32{ModeRegular, ModeSymlink, ModeGitlink} {
			for _, protect := range []bool{false, true} {
				_, _, err := git(t, dir, nil, "-c", fmt.Sprintf("core.protectHFS=%v", protect), "-c", fmt.Sprintf("core.protectNTFS=%v", protect),
					"update-index", "--add", "--cacheinfo", fmt.Sprintf("%o,%s,%s", mode, blob, name))
				git(t, dir, nil, "update-index", "--force-remove", name)
				os.Remove(dir + "/.git/index")
				if got := VerifyPath(name, mode, protect, protect); got != (err == nil) {
					t.Errorf("VerifyPath(%q, %o, %v) = %v", name, mode, protect, got)
				}
			}
		}
	}
	if VerifyPath("", ModeRegular, true, true) || !VerifyPath("a/", ModeTree, true, true) {
		t.Error("the empty path or a directory's slash")
	}
}

func FuzzObjects(f *testing.F) {
	f.Add(raw("100644", "a", "40000", "b"))
	f.Add([]byte("tree " + strings.Repeat("12", 20) + "\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 -0130\ngpgsig x\n y\n\nm\x00"))
	f.Add([]byte("object " + strings.Repeat("12", 20) + "\ntype commit\ntag v\ntagger A <a@b> 1 +0000\n\nm"))
	f.Add([]byte("40000 \x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		id := oid.SHA1.Null()
		fsck := &Fsck{Strict: true}
		for _, typ := range []Type{Tree, Commit, Tag, Blob, Bad} {
			fsck.Check(id, typ, data)
		}
		ParseHeader(data)
		CommitTime(data)
		if entries, err := ParseTree(oid.SHA1, data); err == nil && len(fsck.Check(id, Tree, data)) == 0 {
			// Not the bytes: git reads modes modulo 65536.
			again, err := ParseTree(oid.SHA1, AppendTree(nil, entries))
			if err != nil || !slices.Equal(again, entries) {
				t.Errorf("a good tree does not come back: %q", data)
			}
		}
		if c, err := ParseCommit(id, data); err == nil && len((&Fsck{Strict: true}).Check(id, Commit, data)) == 0 {
			if again, err := ParseCommit(id, c.Append(nil)); err != nil || again.Tree != c.Tree || string(again.Message) != string(c.Message) {
				t.Errorf("a good commit does not come back: %q", data)
			}
		}
		ParseTag(id, data)
		VerifyPath(string(data), ModeSymlink, true, true)
	})
}
