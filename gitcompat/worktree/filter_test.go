package worktree

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain lets the test binary be the filter of its own tests.
func TestMain(m *testing.M) {
	if how := os.Getenv("WORKTREE_TEST_FILTER"); how != "" {
		serveFilter(how)
		return
	}
	os.Exit(m.Run())
}

// serveFilter is a filter process that turns content to upper case, and does
// as the name of the file says.
func serveFilter(how string) {
	f := &filterProcess{in: os.Stdout, out: bufio.NewReader(os.Stdin)}
	f.line()
	for ok := true; ok; {
		_, ok, _ = f.line()
	}
	if how == "garbage" {
		fmt.Print("hello, I am not a filter")
		return
	}
	f.send("git-filter-server", "version=2")
	for ok := true; ok; {
		_, ok, _ = f.line()
	}
	f.send("capability=clean")
	for {
		var path string
		for {
			l, ok, err := f.line()
			if err != nil {
				return
			}
			if !ok {
				break
			}
			if p, found := strings.CutPrefix(l, "pathname="); found {
				path = p
			}
		}
		var content []byte
		for {
			data, ok, err := f.packet()
			if err != nil {
				return
			}
			if !ok {
				break
			}
			content = append(content, data...)
		}
		switch path {
		case "error", "abort":
			f.send("status=" + path)
		case "die":
			return
		default:
			f.send("status=success")
			f.sendContent(bytes.NewReader(bytes.ToUpper(content)))
			f.send()
		}
	}
}

func filterConverter(t *testing.T, how string, d *FilterDriver) *Converter {
	dir := t.TempDir()
	write(t, dir+"/.gitattributes", "* filter=x\n")
	c := NewConverter(ConvertSettings{
		Drivers: map[string]*FilterDriver{"x": d}, Root: dir, Environ: append(os.Environ(), "WORKTREE_TEST_FILTER="+how), Stderr: os.Stderr,
	}, NewAttributes(AttrSources{Root: dir}))
	t.Cleanup(c.Close)
	return c
}

func clean(t *testing.T, c *Converter, path, content string) (string, []string, error) {
	t.Helper()
	cv, err := c.Plan(path)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	out, err := c.ToGit(&cv, path, []byte(content), ConvertOptions{Write: true, Report: func(l string) { said = append(said, l) }})
	return string(out), said, err
}

func TestProcessFilter(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := filterConverter(t, "yes", &FilterDriver{Name: "x", Process: self})
	big := strings.Repeat("abcdefgh", 40000)
	for _, s := range []struct{ path, in, out, said string }{
		{"a", "abc", "ABC", ""}, {"b", "", "", ""}, {"big", big, strings.ToUpper(big), ""}, {"error", "abc", "abc", ""}, {"c", "abc", "ABC", ""},
		{"die", "abc", "abc", "error: external filter '" + self + "' failed"}, {"d", "abc", "ABC", ""}, {"abort", "abc", "abc", ""}, {"e", "abc", "abc", ""},
	} {
		out, said, err := clean(t, c, s.path, s.in)
		if err != nil || out != s.out || strings.Join(said, "\n") != s.said {
			t.Errorf("%s: %d bytes, %q, %v", s.path, len(out), said, err)
		}
	}
	bad := filterConverter(t, "garbage", &FilterDriver{Name: "x", Process: self, Required: true})
	if _, said, err := clean(t, bad, "a", "abc"); err == nil || err.Error() != "a: clean filter 'x' failed" || len(said) == 0 {
		t.Errorf("garbage: %q, %v", said, err)
	}
}

func TestCleanFilter(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		cmd      string
		required bool
		out, err string
	}{
		{"tr a-z A-Z", false, "ABC", ""}, {"cat", true, "abc", ""}, {"echo %f%%%q", false, "it's%%q\n", ""}, {"false", false, "abc", ""},
		{"false", true, "", "it's: clean filter 'x' failed"}, {"no-such-program-here", false, "abc", ""}, {"exit 3; x", true, "", "it's: clean filter 'x' failed"}, {"echo x; exec 0<&-", false, "x\n", ""},
		{"", true, "", "it's: clean filter 'x' failed"},
	} {
		c := filterConverter(t, "", &FilterDriver{Name: "x", Clean: s.cmd, Required: s.required})
		out, said, err := clean(t, c, "it's", "abc")
		got := ""
		if err != nil {
			got = err.Error()
		}
		if out != s.out || got != s.err {
			t.Errorf("%q: %q, %q, %q", s.cmd, out, said, got)
		}
	}
}
