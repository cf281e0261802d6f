package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// argvCase is a command line that is run by stock git and by this program, each
// in a world of its own that setup made. Status, standard output and the first
// line of standard error must agree; then what the script after prints.
type argvCase struct {
	args  string // split at spaces; see argv
	argv  []string
	setup string // run by sh with stock git before
	stdin string
	after string // run by sh with stock git afterwards

	// want, unless nil, replaces stock git, where the installed one may differ
	// from the reference version.
	want *run
	// usage: of standard output only the first line counts. Help is in our own
	// words.
	usage bool
}

// argvCases is the matrix. Add lines at the end of the group they belong to.
var argvCases = []argvCase{
	// The program itself.
	{args: "--bogus", want: &run{129, "", "unknown option: --bogus\n" + usageLine}},
	{args: "-Cc", want: &run{129, "", "unknown option: -Cc\n" + usageLine}},
	{args: "-c"},
	{args: "-C"},
	{args: "--git-dir"},
	{args: "--work-tree"},
	{args: "--namespace"},
	{args: "--config-env"},
	{args: "--config-env=x version"},
	{args: "--config-env=a.b=NOT_THERE version"},
	{args: "--config-env =X version"},
	{args: "--super-prefix=x version", want: &run{129, "", "unknown option: --super-prefix=x\n" + usageLine}},
	{args: "--attr-source", want: &run{129, "", "no attribute source given for --attr-source\n" + usageLine}},
	{args: "nosuchcommand"},
	{args: "-c a.b=c nosuchcommand"},
	{argv: []string{"no such command"}},
	{args: "-C /nonexistent version"},
	{args: "-C file version", setup: "echo >file"},
	{args: "-C d -C nope version", setup: "mkdir d"},
	{argv: []string{"-C", "", "nosuchcommand"}},

	// version
	{args: "version -h", usage: true},
	{args: "version --bogus"},
	{args: "version --no-bogus"},
	{args: "version -x"},
	{args: "version -build-options"},
	{args: "version --build-options=3"},
	{args: "version --no-build-options=3"},

	// Aliases.
	{args: "x", setup: "git config --global alias.x '!echo hello'"},
	{args: "x a b", setup: `git config --global alias.x '!printf "<%s>"'`},
	{args: "x a b", setup: "git config --global alias.x '!echo'"},
	{args: "x", setup: "git config --global alias.x '!exit 7'"},
	{args: "x", setup: "git config --global alias.x '!kill -9 $$'"},
	{args: "x", setup: "git config --global alias.x '!./not-there'", want: &run{128, "", "fatal: cannot exec './not-there': No such file or directory\n"}},
	{args: "x -h", setup: "git config --global alias.x '!echo hello; :'"},
	{args: "X", setup: "git config --global alias.x '!echo hello'"},
	{args: "x.y", setup: "git config --global alias.x.y '!echo hello'"},
	{args: "x", setup: "git config --global alias.x x"},
	{args: "x", setup: "git config --global alias.x y; git config --global alias.y x"},
	{args: "x", setup: "git config --global alias.x y"},
	{args: "x", setup: "git config --global alias.x ''"},
	{args: "x", setup: `git config --global alias.x "a 'b"`},
	{args: "x", setup: `git config --global alias.x 'a \'`},
	{args: "x", setup: "git config --global alias.x '-C d version'; mkdir d"},
	{args: "x", setup: "git config --global alias.x '--bogus'", want: &run{129, "", "unknown option: --bogus\n" + usageLine}},
	{args: "x --bogus", setup: `git config --global alias.x '-c a.b=c "ver"sion'`},
	{args: "x", setup: "git init -q .; mkdir sub; git config alias.x '!pwd; echo \"<$GIT_PREFIX>\"'", after: "true"},
	{args: "-C sub x a", setup: "git init -q .; mkdir sub; git config alias.x '!pwd; echo \"<$GIT_PREFIX>\"; echo'"},
	{args: "-c alias.x=!true x"},
	{args: "-c alias..x=!true x", want: &run{}},
	{args: "-c alias..x.command=!true .x", want: &run{}},
	{args: "-c alias.x.command=!true x", want: &run{}},
	{args: "-c alias.X.command=!true x", want: &run{1, "", "git: 'x' is not a git command. See 'git --help'.\n"}},
	{args: "-c alias.whatchanged=!true whatchanged", want: &run{}},
	{args: "-c alias.x x"},

	// Programs on PATH.
	{args: "hello a", setup: "mkdir bin; printf '#!/bin/sh\\necho hello \"$@\"; exit 3\\n' >bin/git-hello; chmod +x bin/git-hello"},
	{args: "hello a", setup: "mkdir bin; printf 'echo hello \"$@\"\\n' >bin/git-hello; chmod +x bin/git-hello"},
	{args: "-C bin hello", setup: "mkdir bin; printf '#!/bin/sh\\npwd\\n' >bin/git-hello; chmod +x bin/git-hello"},
	{args: "hello", setup: "mkdir bin; printf 'x' >bin/git-hello"},
}

const usageLine = "usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]\n"

func TestArgvMatrix(t *testing.T) {
	t.Parallel()
	git := stockGit(t)
	for _, c := range argvCases {
		argv := c.argv
		if argv == nil {
			argv = strings.Fields(c.args)
		}
		t.Run(strings.Join(argv, "_"), func(t *testing.T) {
			t.Parallel()
			var want run
			if c.want != nil {
				want = *c.want
			} else {
				want = c.in(t, git, argv)
			}
			got := c.in(t, filepath.Join(links, "git"), argv)
			if c.want != nil {
				got.stderr = got.stderr[:min(len(got.stderr), len(want.stderr))]
			}
			if c.usage {
				got.stdout, want.stdout = firstLine(got.stdout), firstLine(want.stdout)
			}
			if got.status != want.status || got.stdout != want.stdout || firstLine(got.stderr) != firstLine(want.stderr) {
				t.Errorf("setup: %s\n got: status %d\n%s%s\nwant: status %d\n%s%s", c.setup,
					got.status, got.stdout, got.stderr, want.status, want.stdout, want.stderr)
			}
		})
	}
}

// in runs the case in a new world, and appends what after printed to standard
// output.
func (c argvCase) in(t *testing.T, program string, argv []string) run {
	t.Helper()
	w := newWorld(t)
	w.mustSh(c.setup)
	w.env[0] += ":" + filepath.Join(w.dir, "bin")
	r := w.exec(c.stdin, program, argv...)
	r.stdout += w.sh(c.after).stdout
	return r
}
