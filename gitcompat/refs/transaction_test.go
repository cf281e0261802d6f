package refs

import (
	"os"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// script is one input of update-ref --stdin, with names of values in place of
// object names, and the same as changes.
type script struct {
	name  string
	setup func(f *fixture)
	stdin string // A, B, C, D are commits, T a tag, X a blob, Z null
	// wantErr replaces git's message where version 2.55 words it differently.
	wantErr string
}

func (f *fixture) expand(text string) string {
	return strings.NewReplacer("=A", f.c[0].String(), "=B", f.c[1].String(), "=C", f.c[2].String(), "=D", f.c[3].String(),
		"=T", f.tag.String(), "=X", f.blob.String(), "=Z", oid.SHA1.Null().String(), "=N", strings.Repeat("12", 20)).Replace(text)
}

// changes parses the simple part of update-ref's language.
func (f *fixture) changes(stdin string) []Change {
	var list []Change
	noDeref := false
	for line := range strings.Lines(f.expand(stdin)) {
		w := strings.Fields(line)
		value := func(i int) Value {
			if i >= len(w) {
				return Value{}
			}
			return OID(f.id(w[i]))
		}
		c := Change{NoDeref: noDeref, Message: "the message"}
		noDeref = false
		switch w[0] {
		case "option":
			noDeref = true
			continue
		case "update":
			c.Name, c.New, c.Old = w[1], value(2), value(3)
		case "create":
			c.Name, c.New, c.Old = w[1], value(2), OID(oid.SHA1.Null())
		case "delete":
			c.Name, c.New, c.Old = w[1], OID(oid.SHA1.Null()), value(2)
		case "verify":
			c.Name, c.Old = w[1], value(2)
			if len(w) == 2 {
				c.Old = OID(oid.SHA1.Null())
			}
		}
		list = append(list, c)
	}
	return list
}

func TestTransactionAsGit(t *testing.T) {
	t.Parallel()
	main := func(f *fixture) { f.run("", "update-ref", "refs/heads/main", f.c[0].String()) }
	packed := func(f *fixture) {
		main(f)
		f.run("", "update-ref", "refs/tags/v", f.tag.String())
		f.run("", "update-ref", "refs/heads/p/q", f.c[1].String())
		f.run("", "pack-refs", "--all")
	}
	symref := func(f *fixture) {
		main(f)
		f.run("", "symbolic-ref", "refs/heads/s", "refs/heads/main")
		f.run("", "symbolic-ref", "refs/heads/dangling", "refs/heads/nowhere")
	}
	for _, s := range []script{
		{name: "create", stdin: "create refs/heads/a =A\ncreate refs/tags/t =T\ncreate refs/x/y/z =X\n"},
		{name: "unborn main", stdin: "create refs/heads/main =A\n"},
		{name: "main, with its entry for HEAD", setup: main, stdin: "update refs/heads/main =B =A\nupdate refs/heads/a =A\n"},
		{name: "HEAD", setup: main, stdin: "update HEAD =B =A\n"},
		{name: "unchanged", setup: main, stdin: "update refs/heads/main =A\nupdate refs/heads/main2 =A\n"},
		{name: "detached", setup: main, stdin: "option no-deref\nupdate HEAD =C\n"},
		{name: "wrong old value", setup: main, stdin: "update refs/heads/a =A\nupdate refs/heads/main =B =C\n"},
		{name: "create existing", setup: main, stdin: "create refs/heads/main =B\n"},
		{name: "create existing with the value", setup: main, stdin: "create refs/heads/main =A\n"},
		{name: "missing", setup: main, stdin: "update refs/heads/a =B =A\n"},
		{name: "delete missing with old value", stdin: "delete refs/heads/a =A\n"},
		{name: "delete missing", stdin: "delete refs/heads/a\n"},
		{name: "delete", setup: main, stdin: "delete refs/heads/main =A\n"},
		{name: "delete packed", setup: packed, stdin: "delete refs/heads/p/q\ndelete refs/heads/main\n"},
		{name: "delete and create", setup: packed, stdin: "delete refs/heads/p/q =B\ncreate refs/heads/r =C\n"},
		{name: "update packed", setup: packed, stdin: "update refs/heads/p/q =C =B\nupdate refs/tags/v =A =T\n"},
		{name: "verify", setup: packed, stdin: "verify refs/heads/p/q =B\nverify refs/heads/nope\n"},
		{name: "verify fails", setup: packed, stdin: "verify refs/heads/main =B\n"},
		{name: "verify fails on existing", setup: packed, stdin: "verify refs/heads/main =Z\n"},
		{name: "below a loose ref", setup: main, stdin: "create refs/heads/main/x =A\n"},
		{name: "below a packed ref", setup: packed, stdin: "create refs/heads/p/q/r =A\n", wantErr: "'refs/heads/p/q' exists; cannot create 'refs/heads/p/q/r'"},
		{name: "above a packed ref", setup: packed, stdin: "create refs/heads/p =A\n", wantErr: "'refs/heads/p/q' exists; cannot create 'refs/heads/p'"},
		{name: "above a loose ref", setup: func(f *fixture) { f.run("", "update-ref", "refs/heads/p/q", f.c[0].String()) }, stdin: "create refs/heads/p =A\n"},
		{name: "each other", stdin: "create refs/heads/a/b =A\ncreate refs/heads/a =A\n", wantErr: "cannot lock ref 'refs/heads/a': cannot process 'refs/heads/a' and 'refs/heads/a/b' at the same time"},
		{name: "each other, reversed", stdin: "create refs/heads/a =A\ncreate refs/heads/a/b =A\n", wantErr: "cannot process 'refs/heads/a' and 'refs/heads/a/b' at the same time"},
		{name: "delete and create in its place", setup: main, stdin: "delete refs/heads/main\ncreate refs/heads/main/x =A\n"},
		{name: "twice", stdin: "create refs/heads/a =A\ncreate refs/heads/b =A\nupdate refs/heads/a =B\n"},
		{name: "empty directory in the way", setup: func(f *fixture) { os.MkdirAll(f.path("refs/heads/a/b/c"), 0o777) }, stdin: "create refs/heads/a =A\n"},
		{name: "directory in the way", setup: func(f *fixture) { f.write("refs/heads/a/b/c.lock", "") }, stdin: "create refs/heads/a =A\n"},
		{name: "file in the way", setup: func(f *fixture) { f.write("refs/heads/a.lock/x", "") }, stdin: "create refs/heads/a =A\n", wantErr: "-"},
		{name: "symref", setup: symref, stdin: "update refs/heads/s =B =A\n"},
		{name: "symref itself", setup: symref, stdin: "option no-deref\nupdate refs/heads/s =B =A\n"},
		{name: "symref and its target", setup: symref, stdin: "update refs/heads/s =B\nupdate refs/heads/main =C\n"},
		{name: "HEAD and its target", setup: symref, stdin: "update HEAD =B\nupdate refs/heads/main =C\n"},
		{name: "target and HEAD itself", setup: symref, stdin: "update refs/heads/main =C\noption no-deref\nupdate HEAD =B\n"},
		{name: "dangling", setup: symref, stdin: "update refs/heads/dangling =B\n"},
		{name: "delete symref", setup: symref, stdin: "option no-deref\ndelete refs/heads/s\n"},
		{name: "delete through symref", setup: symref, stdin: "delete refs/heads/s\n"},
		{name: "blob on a branch", stdin: "create refs/heads/a =X\n", wantErr: "trying to write non-commit object =X to branch 'refs/heads/a'"},
		{name: "no object", stdin: "create refs/tags/a =N\n", wantErr: "trying to write ref 'refs/tags/a' with nonexistent object =N"},
		{name: "broken", setup: func(f *fixture) { f.write("refs/heads/a", "garbage\n") }, stdin: "update refs/heads/a =A\n"},
		{name: "empty file", setup: func(f *fixture) { f.write("refs/heads/a", "") }, stdin: "update refs/heads/a =A\n"},
		{name: "null value", setup: func(f *fixture) { f.write("refs/heads/a", strings.Repeat("0", 40)+"\n") }, stdin: "create refs/heads/a =A\n"},
		{name: "locked", setup: func(f *fixture) { f.write("refs/heads/a.lock", "") }, stdin: "update refs/heads/a =A\n", wantErr: "-"},
		{name: "packed-refs locked", setup: func(f *fixture) { packed(f); f.write("packed-refs.lock", "") }, stdin: "delete refs/heads/p/q\n", wantErr: "-"},
		{name: "bad name", stdin: "create refs/heads/a..b =A\n", wantErr: "refusing to update ref with bad name 'refs/heads/a..b'"},
		{name: "root ref", setup: main, stdin: "update ORIG_HEAD =A\n"},
		{name: "log in the way", setup: func(f *fixture) { f.write("logs/refs/heads/a/b", "") }, stdin: "create refs/heads/a =A\n", wantErr: "-"},
		{name: "empty log directory in the way", setup: func(f *fixture) { os.MkdirAll(f.path("logs/refs/heads/a/b"), 0o777) }, stdin: "create refs/heads/a =A\n"},
		{name: "log of a tag is kept up", setup: func(f *fixture) { f.write("logs/refs/tags/x", "") }, stdin: "create refs/tags/x =A\n"},
		{name: "deep deletion", setup: func(f *fixture) { f.run("", "update-ref", "refs/heads/1/2/3/4", f.c[0].String()) }, stdin: "delete refs/heads/1/2/3/4\n"},
		{name: "unsorted packed-refs", setup: func(f *fixture) {
			f.write("packed-refs", "# pack-refs with: peeled fully-peeled \n"+f.c[0].String()+" refs/heads/z\n"+f.c[1].String()+" refs/heads/b\n")
		}, stdin: "delete refs/heads/z =A\n"},
		{name: "packed-refs without header", setup: func(f *fixture) {
			f.write("packed-refs", f.tag.String()+" refs/tags/z\n"+f.c[1].String()+" refs/heads/b\n")
		}, stdin: "delete refs/heads/b =B\n"},
		{name: "malformed packed-refs", setup: func(f *fixture) { f.write("packed-refs", "garbage\n") }, stdin: "update refs/heads/a =A\n"},
		{name: "unterminated packed-refs", setup: func(f *fixture) { f.write("packed-refs", f.c[0].String()+" refs/heads/b") }, stdin: "delete refs/heads/b\n"},
		{name: "symbolic link", setup: func(f *fixture) { main(f); os.Symlink("refs/heads/main", f.path("refs/heads/l")) }, stdin: "update refs/heads/l =B =A\n"},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.run("", "config", "core.filesRefLockTimeout", "0")
			f.run("", "config", "core.packedRefsTimeout", "0")
			if s.setup != nil {
				s.setup(f)
			}
			g := f.clone()
			_, stderr, ok := g.try(g.expand(s.stdin), "update-ref", "-m", "the message", "--stdin")
			err := f.change(f.changes(s.stdin)...)
			if ok != (err == nil) {
				t.Fatalf("git: %v %s\nwe: %v", ok, stderr, err)
			}
			if got, want := f.state(err == nil), g.state(err == nil); got != want {
				t.Errorf("git has\n%s\nwe have\n%s", want, got)
			}
			if err == nil || s.wantErr == "-" {
				return
			}
			want := strings.TrimPrefix(strings.TrimSpace(stderr), "fatal: ")
			if s.wantErr != "" {
				want = f.expand(s.wantErr)
			}
			want = strings.ReplaceAll(want, ".git/", f.path("")+"/")
			if got := err.Error(); got != want {
				t.Errorf("message\n%s\nwant\n%s", got, want)
			}
		})
	}
}
