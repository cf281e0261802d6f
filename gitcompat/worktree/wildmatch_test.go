package worktree

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitIn runs stock git in dir and returns what it prints.
func gitIn(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("these tests compare with stock git, which is not on PATH")
	}
	cmd := exec.Command(git, args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			t.Fatal(err)
		}
	}
	return string(out)
}

func newRepo(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "", "init", "-q", ".")
	return dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// "a/b**" is left out: until 2.53 git took its stars for a "**" of their own.
var wildPatterns = []string{
	"foo", "*", "*.c", "f*o", "f**o", "**", "**/", "a/**", "**/b", "a/**/b", "a/*/b", "a/*", "/a", "/*", "a/**/", "**/a/**",
	"[a-c]x", "[!a-c]x", "[^a-c]x", "[]x", "[]]x", "[!]]x", "[a-]x", "[-a]x", "[a", "[[:alpha:]]x", "[[:bogus:]]x", "[[:alpha]x",
	`\*`, `\a`, `a\`, `a\/b`, "**\\/b", "?", "a?b", "a/?", "[/]b", "a[/]b", "*/b", "*/*", "*/*/*", "**/*/b", "a**b", "**b",
	"A", "[A-Z]x", "[[:upper:]]x", "[[:lower:]]x", `\A`, "*a*b*c", "a*/b*", "x/**/y/**/z", "*c/", "b/", "/b/", "a/b/", "[\\]]x", "[\\a-c]x",
	"[a-\\c]x", "[c-a]x", "!x", `\!x`, "**/**/b", "***/b", "a/***/b", "*.[ch]", "[[:space:][:digit:]]x", "[a[:digit:]-z]x",
}

var wildTexts = []string{
	"foo", "a", "b", "a/b", "a/c/b", "a/c/d/b", "x/a/b", "fooo", "fo", "f/o", "a/b/c", "ax", "bx", "dx", "]x", "-x", "[x", "*", "ab", "axb", "a.c", "x/y.c",
	"x/y/z", "x/1/y/2/3/z", "A", "Ax", "a/B", "abc", "aXbXc", "a/x/b", "c", "xc", "!x", "1x", " x", "a\\", "a/bb/c", "ab/bc", ":x", "zx", "x",
}

// TestWildmatchGit compares patterns with stock git, through attributes:
// pattern n sets attribute pN.
func TestWildmatchGit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewSource(1))
	patterns, texts := append([]string{}, wildPatterns...), append([]string{}, wildTexts...)
	for range 1500 {
		patterns = append(patterns, randomString(rng, `aabbA/*?[]-!\**/`, 8))
	}
	for range 150 {
		texts = append(texts, randomString(rng, "aabbAB/-", 7))
	}
	for _, fold := range []bool{false, true} {
		t.Run(fmt.Sprint("fold=", fold), func(t *testing.T) {
			t.Parallel()
			dir := newRepo(t)
			var attrs strings.Builder
			var kept []string
			for _, p := range patterns {
				if p != "" && p[0] != '!' && p[0] != '#' && p[0] != '"' {
					fmt.Fprintf(&attrs, "%s p%d\n", p, len(kept))
					kept = append(kept, p)
				}
			}
			write(t, dir+"/.gitattributes", attrs.String())
			var paths []string
			for _, s := range texts {
				if p, _, ok := normalize(s, 0); ok && p != "" && !strings.HasPrefix(p, "/") {
					paths = append(paths, p)
				}
			}
			out := gitIn(t, dir, strings.Join(paths, "\x00")+"\x00", "-c", fmt.Sprint("core.ignorecase=", fold), "check-attr", "-z", "--stdin", "-a")
			want := map[string]bool{}
			f := strings.Split(out, "\x00")
			for i := 0; i+2 < len(f); i += 3 {
				want[f[i]+"\x00"+f[i+1]] = true
			}
			a := NewAttributes(AttrSources{Root: dir, IgnoreCase: fold})
			for _, path := range paths {
				names, _ := a.All(path)
				got := map[string]bool{}
				for _, n := range names {
					got[n] = true
				}
				for i, p := range kept {
					n := fmt.Sprint("p", i)
					if got[n] != want[path+"\x00"+n] {
						t.Errorf("pattern %q, path %q: got %v, git says %v", p, path, got[n], !got[n])
					}
				}
			}
		})
	}
}

func randomString(rng *rand.Rand, alphabet string, n int) string {
	b := make([]byte, 1+rng.Intn(n))
	for i := range b {
		b[i] = alphabet[rng.Intn(len(alphabet))]
	}
	return string(b)
}

func FuzzWildmatch(f *testing.F) {
	for _, p := range wildPatterns {
		f.Add(p, "a/b/c", uint8(3))
	}
	f.Fuzz(func(t *testing.T, p, s string, flags uint8) {
		if len(p) < 200 && len(s) < 200 {
			Wildmatch(p, s, WildFlags(flags)&3)
		}
	})
}

// TestWildmatchTime uses patterns that make a naive matcher take for ever.
func TestWildmatchTime(t *testing.T) {
	t.Parallel()
	if Wildmatch(strings.Repeat("*a", 40)+"b", strings.Repeat("a", 4000), 0) {
		t.Error("matched")
	}
	if Wildmatch(strings.Repeat("**/", 40)+"*a*b", strings.Repeat("a/", 2000), WildPathname) {
		t.Error("matched")
	}
}
