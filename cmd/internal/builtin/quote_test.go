package builtin

import "testing"

func TestQuotePath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		high       bool
	}{
		{"plain", "plain", true}, {"", "", true}, {"sp ace", "sp ace", true}, {"a\tb", `"a\tb"`, true}, {"q\"\\", `"q\"\\"`, true},
		{"caf\303\251", `"caf\303\251"`, true}, {"caf\303\251", "caf\303\251", false}, {"\x01\x7f", `"\001\177"`, false}, {"\a\b\v\f\r\n", `"\a\b\v\f\r\n"`, true},
	} {
		got := quotePath(c.name, c.high)
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.name, got, c.want)
		}
		if got != c.name {
			if back, ok := unquotePath(got); !ok || back != c.name {
				t.Errorf("%s: unquoted %q, %v", got, back, ok)
			}
		}
	}
	for _, bad := range []string{``, `"`, `a`, `"a`, `"a"b"`, `"\"`, `"\9"`, `"\400"`, `"\08"`, `"\1"`, `"\12"`} {
		if s, ok := unquotePath(bad); ok {
			t.Errorf("%s is taken for %q", bad, s)
		}
	}
}

func TestRelativeTo(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"", "a/b", "a/b"}, {"a/", "a/b", "b"}, {"a/b/", "a/c", "../c"}, {"a/b/", "x", "../../x"}, {"a/", "a/", "./"},
		{"a/", "a", "./"}, {"ab/", "a", "../a"}, {"a/b/", "a", "../"}, {"a/bc/", "a/bd", "../bd"},
	} {
		if got := relativeTo(c[0], c[1]); got != c[2] {
			t.Errorf("%s from %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}
