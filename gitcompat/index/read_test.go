package index

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// seal gives a damaged index a checksum that holds, so that the parser itself is asked.
func seal(body []byte) []byte {
	sum := sha1.Sum(body)
	return append(bytes.Clone(body), sum[:]...)
}

func withExtension(t testing.TB, sig, payload string) []byte {
	var b bytes.Buffer
	x := New(oid.SHA1, Options{})
	x.Entries = []*Entry{entry("a"), entry("b/c")}
	if err := x.Encode(&b); err != nil {
		t.Fatal(err)
	}
	body := b.Bytes()[:b.Len()-20]
	body = append(body, sig...)
	body = binary.BigEndian.AppendUint32(body, uint32(len(payload)))
	return seal(append(body, payload...))
}

func TestParse_refuses(t *testing.T) {
	t.Parallel()
	good := withExtension(t, "TREE", "\x00-1 0\n")
	change := func(f func(body []byte) []byte) []byte { return seal(f(bytes.Clone(good[:len(good)-20]))) }
	for _, c := range []struct {
		name string
		data []byte
		line string // what git prints first
		want string
	}{
		{"empty", nil, "", "index file smaller than expected"},
		{"short", good[:20], "", "index file smaller than expected"},
		{"zeros", make([]byte, 300), "error: bad signature 0x00000000", "index file corrupt"},
		{"junk", append([]byte("JUNK"), good[4:]...), "error: bad signature 0x4b4e554a", "index file corrupt"},
		{"version", change(func(b []byte) []byte { b[7] = 9; return b }), "error: bad index version 9", "index file corrupt"},
		{"flipped bit", append(bytes.Clone(good[:50]), append([]byte{good[50] ^ 1}, good[51:]...)...), "error: bad index file sha1 signature", "index file corrupt"},
		{"truncated", good[:len(good)-30], "error: bad index file sha1 signature", "index file corrupt"},
		{"huge count", change(func(b []byte) []byte { b[8] = 0xff; return b }), "error: index has no room for 4278190082 entries", "index file corrupt"},
		{"cut in an entry", change(func(b []byte) []byte { return b[:100] }), "error: index has no room for 2 entries", "index file corrupt"},
		{"unsorted", change(func(b []byte) []byte { b[12+62] = 'z'; return b }), "", "unordered stage entries in index"},
		{"name length", change(func(b []byte) []byte { b[12+61] = 7; return b }), "error: malformed name field in the index, near offset 74", "index file corrupt"},
		{"lower-case extension", withExtension(t, "abcd", "x"), "error: index uses abcd extension, which we do not understand", "index file corrupt"},
		{"huge extension", change(func(b []byte) []byte { b[len(b)-10] = 0xff; return b }), "error: index ends within its TREE extension", "index file corrupt"},
		{"split index", withExtension(t, "link", "x"), "", "a split index is not implemented"},
		{"sparse index", withExtension(t, "sdir", ""), "", "a sparse index is not implemented"},
	} {
		_, err := Parse(c.data, oid.SHA1, Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
			continue
		}
		var ce *CorruptError
		if errors.As(err, &ce) && strings.Join(ce.Lines, "|") != c.line {
			t.Errorf("%s: %q, want %q", c.name, ce.Lines, c.line)
		}
	}
}

// TestParse_sameRefusals asks git what it says to the same files.
func TestParse_sameRefusals(t *testing.T) {
	t.Parallel()
	r := newTestRepo(t)
	for _, data := range [][]byte{
		make([]byte, 300),
		append([]byte("JUNK"), make([]byte, 100)...),
		append([]byte("DIRC\x00\x00\x00\x09"), make([]byte, 100)...),
		withExtension(t, "abcd", "x"),
	} {
		r.replaceBytes(data)
		out, err := r.try("", "ls-files")
		_, got := Parse(data, oid.SHA1, Options{})
		var ce *CorruptError
		if err == nil || !errors.As(got, &ce) {
			t.Fatalf("git: %v, here: %v", err, got)
		}
		if say := strings.Join(append(ce.Lines, "fatal: "+ce.Reason), "\n") + "\n"; say != out {
			t.Errorf("got  %swant %s", say, out)
		}
	}
	r.replaceBytes(withExtension(t, "XYZW", "payload"))
	if out := r.git("ls-files"); out != "ignoring XYZW extension\na\nb/c\n" {
		t.Error(out)
	}
	if x := r.parse(Options{}); len(x.Warnings) != 1 || x.Warnings[0] != "ignoring XYZW extension" {
		t.Error(x.Warnings)
	}
}

// TestParse_splitIndex checks that a split index, some of whose entries have no
// name, is refused as what it is.
func TestParse_splitIndex(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "4"} {
		r := newTestRepo(t)
		r.git("config", "index.version", version)
		r.files()
		r.git("update-index", "--split-index")
		r.write("a", "replaced")
		r.git("update-index", "a")
		var foreign *UnsupportedError
		if _, err := Parse(r.indexBytes(), oid.SHA1, Options{}); !errors.As(err, &foreign) || foreign.Feature != "split index" {
			t.Error(err)
		}
	}
}

// TestExtensionsThatWereTrue checks I2 for what git keeps in the index beside the entries.
func TestExtensionsThatWereTrue(t *testing.T) {
	t.Parallel()
	r := newTestRepo(t)
	r.files()
	r.write("junk", "x")
	r.git("update-index", "--force-untracked-cache")
	r.git("status")
	x := r.parse(Options{})
	if err := x.Add(entry("junk"), OKToAdd); err != nil {
		t.Fatal(err)
	}
	r.replace(x)
	if out := r.git("status", "--porcelain"); strings.Contains(out, "?? junk") {
		t.Error("an entry is still untracked:\n", out)
	}
	if x := r.parse(Options{}); x.untrackedHeader() == 0 {
		t.Error("the untracked cache is gone")
	}
	if x := r.parse(Options{}); x.untracked == nil {
		t.Error("the untracked cache is gone")
	}
	x, err := Parse(withExtension(t, "FSMN", "whatever"), oid.SHA1, Options{})
	if err != nil || x.fsmonitor == nil {
		t.Fatal(err)
	}
	if x.RemovePath("a"); x.fsmonitor != nil {
		t.Error("FSMN survives a change of the entries that it numbers")
	}
}

func FuzzParse(f *testing.F) {
	x := New(oid.SHA1, Options{ThreadsSet: true, Threads: 2})
	for _, name := range []string{"a", "a/b", "caf\u00e9", "z" + strings.Repeat("z", 100)} {
		x.Entries = append(x.Entries, entry(name))
	}
	x.Entries[1].Flags |= SkipWorktree
	x.Undo, x.HasUndo = []Undo{{Name: "u", Modes: [3]uint32{ModeFile, 0, ModeFile}}}, true
	x.Tree = &CacheTree{Count: -1, Children: []*CacheTree{{Name: "a", Count: 1}}}
	for _, version := range []uint32{2, 4} {
		var b bytes.Buffer
		x.Version = version
		if err := x.Encode(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		f.Add(b.Bytes()[:b.Len()/2])
	}
	f.Add(withExtension(f, "UNTR", "\x05ident"))
	f.Add(withExtension(f, "TREE", "\x00-1 99999999\n"))
	f.Add(withExtension(f, "link", "x"))
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 20 {
			data = seal(data[:len(data)-20])
		}
		x, err := Parse(data, oid.SHA1, Options{AllowNullID: true})
		if err != nil {
			return
		}
		// What was read can be written, and is then read as the same.
		var b, again bytes.Buffer
		if err := x.Encode(&b); err != nil {
			t.Fatal(err)
		}
		y, err := Parse(bytes.Clone(b.Bytes()), oid.SHA1, Options{AllowNullID: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := y.Encode(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Fatalf("not stable (%v)\n%q\n%q", err, b.Bytes(), again.Bytes())
		}
	})
}
