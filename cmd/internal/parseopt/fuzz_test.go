package parseopt

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// spec is what `git rev-parse --parseopt` makes an option table of; the same
// table as oracleParser's.
const spec = `git x
--
q,quiet     no value
m,message=  value
u,mode?     optional value
long-only   long
longer!     without a no- form
no-edit     begins with no-
s           short
`

// oracleParser writes down what it was given the way rev-parse --parseopt does.
func oracleParser(out *[]string) *Parser {
	var opts []Option
	add := func(short byte, long, argh string) *Option {
		name := "--" + long
		if short != 0 {
			name = "-" + string(rune(short))
		}
		f := func(a Arg) error {
			if a.Unset {
				*out = append(*out, "--no-"+long)
				return nil
			}
			*out = append(*out, name)
			if a.Given {
				*out = append(*out, a.Value)
			}
			return nil
		}
		opts = append(opts, Callback(short, long, argh, "", f))
		return &opts[len(opts)-1]
	}
	for _, o := range []struct {
		short     byte
		long, arg string
	}{{'q', "quiet", ""}, {'m', "message", "="}, {'u', "mode", "?"}, {0, "long-only", ""}, {0, "longer", "!"}, {0, "no-edit", ""}, {'s', "", ""}} {
		p := add(o.short, o.long, "")
		switch o.arg {
		case "":
			*p = p.NoArg()
		case "!":
			*p = p.NoArg().NoNeg()
		case "?":
			*p = p.optArgNone()
		}
	}
	return &Parser{Usage: []string{"git x"}, Flags: KeepDashDash, Options: opts}
}

func ourAnswer(argv []string) string {
	var out []string
	rest, err := oracleParser(&out).Parse(argv)
	var usage *UsageError
	if errors.As(err, &usage) {
		return "129 error: " + usage.Msg
	}
	if err != nil {
		return "help"
	}
	// Our KeepDashDash leaves "--"; git writes one of its own and drops it.
	for i, w := range rest {
		if w == "--" {
			rest = append(rest[:i:i], rest[i+1:]...)
			break
		}
	}
	return "0 " + strings.Join(append(append(out, "--"), rest...), "\x01")
}

func gitAnswer(t testing.TB, git string, argv []string) string {
	cmd := exec.Command("sh", append([]string{"-c",
		`s=$("$GIT" rev-parse --parseopt -- "$@" <<EOF` + "\n" + spec + "EOF\n" +
			`) || exit; case $s in cat*) echo help; exit; esac; eval "$s"; printf '%s\1' "$@"`, "sh"}, argv...)...)
	cmd.Env = []string{"GIT=" + git, "LC_ALL=C"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && strings.HasPrefix(stderr.String(), "usage"), errors.As(err, &exit) && stderr.Len() == 0:
		return "help"
	case errors.As(err, &exit):
		line, _, _ := strings.Cut(stderr.String(), "\n")
		return fmt.Sprintf("%d %s", exit.ExitCode(), line)
	case err != nil:
		t.Fatal(err)
	case strings.HasPrefix(stdout.String(), "help"):
		return "help"
	}
	return "0 " + strings.TrimSuffix(stdout.String(), "\x01")
}

// oracleLines are command lines for the comparison with git, and seeds.
var oracleLines = []string{
	"", "-q", "--quiet", "--qui", "--no-quiet", "--no-q", "--no", "--n", "-qm x", "-qmx", "-m", "--message", "--message=",
	"--mess=x y", "-u", "-uno", "-u no", "-qu", "--mode=x", "--mode x", "--mo", "--m", "--long", "--long-", "--longer", "--no-longer",
	"--no-long", "--edit", "--no-edit", "--no-no-edit", "--ed", "--no-e", "-s", "-ss", "-sq", "-sx", "--bogus", "--no-bogus", "-x",
	"-quiet", "-message", "-no-quiet", "a -q b", "a -- -q", "--end-of-options -q", "--quiet=1", "--no-quiet=1", "--edit=1", "-q=1",
	"-", "-- --", "-h", "-qh", "--help", "-m -q", "-m --", "--message -- x", "it's", "-m it's!",
}

func TestAgainstGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git on PATH")
	}
	for _, line := range oracleLines {
		argv := strings.Fields(line)
		if got, want := ourAnswer(argv), gitAnswer(t, git, argv); got != want {
			t.Errorf("%q:\n got %q\nwant %q", argv, got, want)
		}
	}
}

// FuzzParse looks for panics, and for arguments that get lost: whatever is not
// an option is in the rest.
func FuzzParse(f *testing.F) {
	for _, line := range oracleLines {
		f.Add(line, uint8(0))
	}
	f.Add("--bogus -x add", uint8(KeepUnknownOpt))
	f.Fuzz(func(t *testing.T, line string, flags uint8) {
		argv := strings.Split(line, " ")
		outcome(new(vars), Flags(flags)&(KeepDashDash|StopAtNonOption|NoInternalHelp|ShellEval), argv)
		rest, err := new(vars).parser(KeepUnknownOpt).Parse(argv)
		if err == nil && len(rest) > len(argv) {
			t.Errorf("%q became %q", argv, rest)
		}
	})
}

func FuzzParseInt(f *testing.F) {
	for _, s := range []string{"1", "-1k", "0x7f", "010", "99999999999999999999g", " +3M"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, inRange, ok := ParseInt(s)
		u, inRange2, ok2 := ParseUint(s)
		if ok && inRange && n > 0 && (!ok2 || !inRange2 || u != uint64(n)) {
			t.Errorf("%q: %d and %d", s, n, u)
		}
	})
}
