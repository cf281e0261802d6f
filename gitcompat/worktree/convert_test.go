package worktree

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

var convertContents = map[string]string{
	"lf": "a\nb\n", "crlf": "a\r\nb\r\n", "mixed": "a\r\nb\n", "cr": "a\rb\r\n", "nul": "a\x00\r\n", "empty": "", "noeol": "a\r\nb", "bin": "\x01\x02\x03\r\n",
	"eof": "a\r\n\x1a", "id": "$Id: abc def $\n$Id$\n$Id: x\n$\n$Id:$ $Id: $\r\n", "id2": "$Id:", "utf8": "\xc3\xa4\r\n",
}

// TestToGitGit compares what add stores, and says, for every content under
// every attribute and setting.
func TestToGitGit(t *testing.T) {
	t.Parallel()
	attrs := []string{"", "text", "-text", "text=auto", "text eol=crlf", "text eol=lf", "text=auto eol=crlf", "text=auto eol=lf", "eol=crlf", "crlf", "-crlf", "crlf=input", "ident", "ident text=auto", "binary", "crlf=auto"}
	for _, conf := range [][]string{{}, {"core.autocrlf=true"}, {"core.autocrlf=input"}, {"core.eol=crlf"}, {"core.safecrlf=false", "core.autocrlf=true"}} {
		t.Run(strings.Join(conf, ","), func(t *testing.T) {
			t.Parallel()
			dir := newRepo(t)
			for _, c := range conf {
				k, v, _ := strings.Cut(c, "=")
				gitIn(t, dir, "", "config", k, v)
			}
			var gitattributes strings.Builder
			for i, a := range attrs {
				if a != "" {
					fmt.Fprintf(&gitattributes, "/d%d/* %s\n", i, a)
				}
				for name, content := range convertContents {
					write(t, fmt.Sprintf("%s/d%d/%s", dir, i, name), content)
				}
			}
			write(t, dir+"/.git/info/attributes", gitattributes.String())
			said := gitIn(t, dir, "", "add", ".")
			c := testConverter(t, dir)
			entries := openIndex(t, dir).Entries
			blobs := stored(t, dir, entries)
			for _, e := range entries {
				src, err := os.ReadFile(dir + "/" + e.Name)
				if err != nil {
					t.Fatal(err)
				}
				cv, err := c.Plan(e.Name)
				if err != nil {
					t.Fatal(err)
				}
				var lines strings.Builder
				got, err := c.ToGit(&cv, e.Name, src, ConvertOptions{Write: true, Report: func(l string) { lines.WriteString(l + "\n") }})
				if err != nil {
					t.Error(err)
				}
				if want := blobs[e.ID]; string(got) != want {
					t.Errorf("%s (%s): got %q, git stores %q", e.Name, gitattributes.String(), got, want)
				}
				if l := lines.String(); l != "" && !strings.Contains(said, l) {
					t.Errorf("%s: said %q, git says %q", e.Name, l, said)
				}
				said = strings.Replace(said, lines.String(), "", 1)
			}
			if said != "" {
				t.Errorf("git says also %q", said)
			}
		})
	}
}

// stored reads the blobs of all entries.
func stored(t testing.TB, dir string, entries []*index.Entry) map[oid.ID]string {
	db, err := odb.Open(vfs.OS(), dir+"/.git/objects", oid.SHA1, odb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	blobs := map[oid.ID]string{}
	for _, e := range entries {
		_, content, err := db.Read(e.ID)
		if err != nil {
			t.Fatal(err)
		}
		blobs[e.ID] = string(content)
	}
	return blobs
}

func testConverter(t testing.TB, dir string) *Converter {
	set, err := LoadConvert(testConfig(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	set.Root, set.Environ, set.Stderr = dir, os.Environ(), os.Stderr
	return NewConverter(set, NewAttributes(AttrSources{Root: dir, Info: dir + "/.git/info/attributes"}))
}

func TestReencode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ enc, text, bytes string }{
		{"UTF-16LE", "aä𝄞", "a\x00\xe4\x00\x34\xd8\x1e\xdd"}, {"UTF-16BE", "a", "\x00a"}, {"UTF-16LE-BOM", "a", "\xff\xfea\x00"},
		{"UTF-16BE-BOM", "a", "\xfe\xff\x00a"}, {"utf32be", "a", "\x00\x00\x00a"}, {"UTF-16", "a", "\xff\xfea\x00"},
		{"ISO-8859-1", "ä", "\xe4"}, {"latin1", "ä", "\xe4"}, {"SHIFT-JIS", "ハロー", "\x83\x6e\x83\x8d\x81\x5b"}, {"CP1252", "€", "\x80"}, {"koi8-r", "Я", "\xf1"}, {"us-ascii", "a", "a"},
	} {
		if out, err := reencode([]byte(c.text), c.enc, "UTF-8"); err != nil || string(out) != c.bytes {
			t.Errorf("to %s: %q, %v", c.enc, out, err)
		}
		if out, err := reencode([]byte(c.bytes), "UTF-8", c.enc); err != nil || string(out) != c.text {
			t.Errorf("from %s: %q, %v", c.enc, out, err)
		}
	}
	for _, c := range []struct{ to, from, data string }{
		{"UTF-8", "UTF-16LE", "a"}, {"UTF-8", "UTF-16LE", "\x00\xd8a\x00"}, {"UTF-8", "UTF-32LE", "\x00\x00\x11\x00"}, {"ISO-8859-1", "UTF-8", "€"},
		{"ascii", "UTF-8", "ä"}, {"UTF-8", "garbage", "a"}, {"UTF-16LE", "UTF-8", "\xff"}, {"UTF-8", "SHIFT-JIS", "\xff\xff"},
	} {
		if out, err := reencode([]byte(c.data), c.to, c.from); err == nil {
			t.Errorf("%q from %s to %s: %q, wanted an error", c.data, c.from, c.to, out)
		}
	}
}

func FuzzReencode(f *testing.F) {
	f.Add("UTF-16", "\xff\xfea\x00")
	f.Add("SHIFT-JIS", "\x83\x6e")
	f.Fuzz(func(t *testing.T, enc, data string) {
		text, err := reencode([]byte(data), "UTF-8", enc)
		if err == nil && strings.HasPrefix(enc, "UTF-16") {
			if _, err := reencode(text, enc, "UTF-8"); err != nil {
				t.Errorf("%s does not go back: %v", enc, err)
			}
		}
	})
}

func testConfig(t testing.TB, dir string) *config.Config {
	c, err := config.Load(config.Options{LookupEnv: config.Environ([]string{"GIT_CONFIG_NOSYSTEM=1"}), Dir: dir, GitDir: dir + "/.git", CommonDir: dir + "/.git", WorkTree: dir})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
