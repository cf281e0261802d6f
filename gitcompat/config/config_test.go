package config

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stockGit runs the installed git, which is the oracle.
func stockGit(t testing.TB, dir string, env []string, args ...string) (string, string, int) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

var parseCases = []string{
	"",
	"[a]\n",
	"[a]b=c",
	"[a]\n\tb = c\n",
	"[a]\nb\n",
	"[a]\nb=\n",
	"\xef\xbb\xbf[a]\nb=1\n",
	"\xef\xbb[a]\nb=1\n",
	"[a]\r\n\tb = c\r\n\td = \"e\"\r\n",
	"[a]\nb = x\r y \n",
	"[A \"Sub.x\"]\nKeY = v\n",
	"[A.Sub]\nkey = v\n",
	"[a \"q\\\"u\\\\o\\te\"]\nb=1\n",
	"[a\t \"x\"]\nb=1\n",
	"[a \"x\" ]\nb=1\n",
	"[a \"x]\nb=1\n",
	"[a x]\n",
	"[]\nb=1\n",
	"[a\n",
	"[a",
	"[a_b]\n",
	"# c\n; d\n[a] # e\nb=1 # f\nc = 2;x\n",
	"[a]\nb = \" x # y \" # z\n",
	"[a]\nb = x   y\tz  \n",
	"[a]\nb = x\\\n  y\\\nz\n",
	"[a]\nb = x\\",
	"[a]\nb = \\n\\t\\b\\\\\\\"\n",
	"[a]\nb = \\x\n",
	"[a]\nb = \"open\nc=1\n",
	"[a]\nb = \"open",
	"[a]\nb c\n",
	"[a]\n1b=2\n",
	"[a]\nb_c=2\n",
	"[a]\nb-c=2\n[a]\nb-c=3\n",
	"[a]\n b  =  c # x \\\nd = e\n",
	"[a]\nb = \"\" \n",
	"[a]\nb = \"  \"  x\n",
	"\x00\x00\x00",
	"[a]\nb = x\x00y\n",
	"garbage\n",
	"[a]\n[b]\nc=1\n[a]\nd=2",
	"[a]b=1\n[c]d=2 ; x\n",
	"[a]\n\tb = a\"b;c\"d # e\n",
}

func TestParseAsGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "cfg")
	for _, in := range parseCases {
		if err := os.WriteFile(file, []byte(in), 0o666); err != nil {
			t.Fatal(err)
		}
		want, wantErr, code := stockGit(t, dir, nil, "config", "-z", "-f", "cfg", "--list")
		c, err := LoadFile(Options{Dir: dir, LookupEnv: Environ(nil)}, "cfg", ScopeUnknown, false)
		if (code != 0) != (err != nil) {
			t.Errorf("%q: err %v, git %d %s", in, err, code, wantErr)
			continue
		}
		if err != nil {
			if got := "fatal: " + err.Error() + "\n"; got != wantErr {
				t.Errorf("%q: %q, git %q", in, got, wantErr)
			}
			continue
		}
		var b strings.Builder
		for _, e := range c.Entries() {
			b.WriteString(e.Key)
			if e.HasValue {
				b.WriteString("\n" + e.Value)
			}
			b.WriteByte(0)
		}
		// Older git turned each tab or carriage return inside a value into a blank.
		flat := strings.NewReplacer("\t", " ", "\r", " ")
		if got := b.String(); flat.Replace(got) != flat.Replace(want) {
			t.Errorf("%q: %q, git %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range parseCases {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var tokens []token
		entries, err := parse(s, &Origin{Name: "f"}, &tokens)
		end := 0
		for _, tok := range tokens {
			if tok.begin < end || tok.begin > len(s) {
				t.Fatalf("token %v begins before %d", tok, end)
			}
			end = tok.begin
		}
		if err == nil {
			plain, _ := parse(s, &Origin{Name: "f"}, nil)
			if len(plain) != len(entries) {
				t.Fatal("tokens change the entries")
			}
		}
	})
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestLoadOrderAndIncludes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	stockGit(t, home, nil, "init", "-q", "-b", "topic/x", "repo")
	repo := filepath.Join(home, "repo")
	write(t, home+"/.gitconfig", "[k]\nv=home\n[include]\npath=inc/a\n[includeIf \"gitdir:~/repo/\"]\npath=~/inc/b\n"+
		"[includeIf \"onbranch:topic/\"]\npath=inc/c\n[includeIf \"gitdir/i:~/REPO/.GIT\"]\npath=inc/d\n"+
		"[includeIf \"gitdir:./repo/\"]\npath=inc/e\n[includeIf \"gitdir:nope/\"]\npath=inc/f\n"+
		"[includeIf \"hasconfig:remote.*.url:https://x.example/**\"]\npath=inc/g\n[includeIf \"hasconfig:remote.*.url:zzz\"]\npath=inc/f\n"+
		"[includeIf \"onbranch:t*/?\"]\npath=inc/missing\n[k]\nv=end\n")
	for _, n := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		write(t, home+"/inc/"+n, "[k]\nv="+n+"\n")
	}
	write(t, home+"/.config/git/config", "[k]\nv=xdg\n")
	write(t, repo+"/.git/config.worktree", "[k]\nv=wt\n")
	stockGit(t, repo, nil, "config", "remote.o.url", "https://x.example/a/b")
	stockGit(t, repo, nil, "config", "extensions.worktreeConfig", "true")
	stockGit(t, repo, nil, "config", "K.V", "local")
	env := []string{
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=K.v", "GIT_CONFIG_VALUE_0=n0", "GIT_CONFIG_KEY_1=k.V", "GIT_CONFIG_VALUE_1=",
		"HOME=" + home,
		"GIT_CONFIG_PARAMETERS='k.v=old style'  'k.v'='it'\\''s' 'k.v'= 'k.v'='last'",
	}
	want, _, _ := stockGit(t, repo, env, "config", "--show-origin", "--show-scope", "-z", "--list")
	c, err := Load(Options{
		Dir: repo, GitDir: ".git", CommonDir: ".git", WorkTree: repo, WorktreeConfig: true,
		LookupEnv: Environ(append(env, "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")),
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range c.Entries() {
		b.WriteString(e.Origin.Scope.String() + "\x00" + e.Origin.String() + "\x00" + e.Key)
		if e.HasValue {
			b.WriteString("\n" + e.Value)
		}
		b.WriteByte(0)
	}
	if b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
	if v, ok := c.Get("K.V"); v != "last" || !ok {
		t.Errorf("last value %q %v", v, ok)
	}
	if n := len(c.All("k.v")); n < 10 {
		t.Errorf("only %d values", n)
	}
}

func TestBadEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, env := range [][]string{
		{"GIT_CONFIG_COUNT=x"}, {"GIT_CONFIG_COUNT=10000000000000000"}, {"GIT_CONFIG_COUNT=99999999999999999999999"}, {"GIT_CONFIG_COUNT=1"}, {"GIT_CONFIG_COUNT=-1"},
		{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b"}, {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=", "GIT_CONFIG_VALUE_0="},
		{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=ab", "GIT_CONFIG_VALUE_0="}, {"GIT_CONFIG_COUNT="},
		{"GIT_CONFIG_PARAMETERS=x"}, {"GIT_CONFIG_PARAMETERS='a.b'x"}, {"GIT_CONFIG_PARAMETERS='a.b'=x"}, {"GIT_CONFIG_PARAMETERS='a.b"},
		{"GIT_CONFIG_PARAMETERS='=x'"}, {"GIT_CONFIG_PARAMETERS='a.b'='c''d'"}, {"GIT_CONFIG_PARAMETERS=''"}, {"GIT_CONFIG_PARAMETERS= 'a.b=1'"},
		{"GIT_CONFIG_PARAMETERS='a.b=1' "}, {"GIT_CONFIG_PARAMETERS='a=1'"}, {"GIT_CONFIG_PARAMETERS='a.1=1'"}, {"GIT_CONFIG_PARAMETERS='a.\nx.b=1'"},
	} {
		want, wantErr, code := stockGit(t, dir, env, "config", "--list")
		c, err := Load(Options{Dir: dir, LookupEnv: Environ(append(env, "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1"))})
		if (err != nil) != (code != 0) {
			t.Errorf("%q: err %v, git %q %q", env, err, want, wantErr)
			continue
		}
		if err == nil {
			if n := strings.Count(want, "\n"); n != len(c.Entries()) {
				t.Errorf("%q: %d entries, git %d", env, len(c.Entries()), n)
			}
			continue
		}
		got := "fatal: " + err.Error() + "\n"
		if ce, ok := err.(*Error); ok && len(ce.Notes) > 0 {
			got = strings.Join(ce.Notes, "\n") + "\n" + got
		}
		if got != wantErr {
			t.Errorf("%q: %q, git %q", env, got, wantErr)
		}
	}
}

func TestTypedAsGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var in strings.Builder
	values := []string{"", "1", "0", "-1", "true", "YES", "oN", "no", "OFF", "false", "2k", "2K", "3m", "1g", "2g", "-3g", "1x", "x", " 5", "+5", "0x10",
		"0x", "010", "08", "9999999999", "99999999999999999999", "1kk", "- 1", "1 k", "0b1", "1_0"}
	in.WriteString("[a]\nnone\n")
	for i, v := range values {
		in.WriteString("v" + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + " = \"" + v + "\"\n")
	}
	write(t, dir+"/cfg", in.String())
	c, err := LoadFile(Options{Dir: dir, LookupEnv: Environ(nil)}, "cfg", ScopeUnknown, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Entries() {
		for _, typ := range []string{"bool", "int"} {
			want, wantErr, _ := stockGit(t, dir, nil, "config", "-f", "cfg", "--type="+typ, e.Key)
			var got string
			var err error
			if typ == "bool" {
				b, berr := e.Bool()
				got, err = map[bool]string{true: "true\n", false: "false\n"}[b], berr
			} else {
				n, nerr := e.Int64()
				got, err = itoa(n)+"\n", nerr
			}
			if err != nil {
				if "fatal: "+err.Error()+"\n" != wantErr {
					t.Errorf("%s %q: %v, git %s%s", typ, e.Value, err, want, wantErr)
				}
			} else if got != want {
				t.Errorf("%s %q: %q, git %q %s", typ, e.Value, got, want, wantErr)
			}
		}
	}
}

func itoa(n int64) string {
	var b []byte
	neg := n < 0
	if neg {
		n = -n
	}
	for ; n >= 10; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	b = append([]byte{byte('0' + n)}, b...)
	if neg {
		return "-" + string(b)
	}
	return string(b)
}

func FuzzParameters(f *testing.F) {
	for _, s := range []string{"'a.b'='c'", "'a.b=c'", "'a.b'=", "'a.b'='it'\\''s' 'X.y'='\\!'", "'", "''", " 'a.b'", "'a.b'x", "'a.b'='c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := parseParameters(nil, &Origin{Kind: OriginCommandLine}, s)
		if err != nil {
			return
		}
		// What was understood is understood again, in the new form.
		text := ""
		for _, e := range list {
			text = AppendPair(text, e.Key, e.Value, e.HasValue)
		}
		again, err := parseParameters(nil, &Origin{Kind: OriginCommandLine}, text)
		if err != nil || len(again) != len(list) {
			t.Fatalf("%q: %v", text, err)
		}
		for i := range list {
			if again[i].Key != list[i].Key || again[i].Value != list[i].Value || again[i].HasValue != list[i].HasValue {
				t.Fatalf("%q: %+v, %+v", text, list[i], again[i])
			}
		}
	})
}
