package cli

import (
	"strings"
	"testing"
)

// configWorld makes a repository and a few files of configuration. In them the
// same key stands more than once, and some values are of the wrong type.
const configWorld = `git init -q . && git config user.name x && git config multi.v 1 && git config --add multi.v 2 &&
git config --global g.k global && git config bool.t yes && git config bool.bad maybe && git config int.k 3k && git config int.bad 3x &&
git config Sec.Sub.Key 'a "b" ; c' && git config path.p '~/x' && git config color.c 'red bold' && git config color.bad reddish && git config date.d 'never' &&
printf '[novalue]\n\tk\n' >>.git/config && printf '[a]\n\tb = c\n[include]\n\tpath = inc\n' >cfg && printf '[i]\n\tk = included\n' >inc &&
printf '[broken\n' >bad && printf '[u "https://x.example/"]\n\tk = all\n[u "https://x.example/p"]\n\tk = p\n[u]\n\tk = none\n' >urls && mkdir sub
`

const showConfig = `cat .git/config ../home/.gitconfig cfg; ls .git cfg* `

// configCases are command lines of config in the old syntax, which every git has.
var configCases = []string{
	"config user.name", "config --get user.name", "config --get multi.v", "config --get-all multi.v", "config --get-all multi.v 2", "config --get-all multi.v !2", "config --get-all multi.v [",
	"config --get nope.k", "config --get nodot", "config --get a.b_c", "config --get .k", "config --get k.", "config --get-regexp multi", "config --get-regexp MULTI.V", "config --get-regexp [", "config --get-regexp sec",
	"config --get-regexp user --name-only", "config --name-only --get-regexp .", "config --get-regexp multi 2", "config -z --get-regexp multi", "config --get-regexp novalue", "config --list --name-only", "config -l -z", "config --list --show-scope",
	"config --list --show-origin", "config --list x", "config --get --show-origin user.name", "config --show-scope --get g.k", "config --show-origin --add a.b c", "config -f cfg --list", "config -f cfg --includes --list", "config -f cfg i.k",
	"config --includes -f cfg i.k", "config -f nope --list", "config -f nope a.b", "config -f bad a.b", "config -f bad --list", "config -f bad a.b c", "config -f sub --list", "config -f nope/x a.b c", "config -f sub a.b c",
	"config --type=bool bool.t", "config --bool bool.bad", "config --bool novalue.k", "config --int int.k", "config --int int.bad", "config --int novalue.k", "config --bool-or-int int.k", "config --bool-or-int bool.t", "config --path path.p", "config --type=color color.c",
	"config --type=color color.bad", "config --type=expiry-date date.d", "config --type=bogus a.b", "config --bool --int a.b", "config --int --type=int int.k", "config --type=bool --no-type bool.bad", "config --default x --get nope.k", "config --default 1k --int --get nope.k",
	"config --default x --int --get nope.k", "config --default x nope.k v", "config --get-color color.c", "config --get-color nope.k blue", "config --get-color --bool a.b", "config --get-colorbool color.x true", "config --get-colorbool color.x false", "config --get-colorbool color.x",
	"config a.b c", "config A.B C", "config Sec.Sub.Key new", "config sec.sub.key new", "config multi.v 3", "config multi.v 3 2", "config multi.v 3 !1", "config multi.v 3 9", "config --replace-all multi.v 3", "config --replace-all multi.v 3 1", "config --add multi.v 3", "config --add new.k v w",
	"config --unset multi.v", "config --unset multi.v 1", "config --unset-all multi.v", "config --unset-all nope.k", "config --unset user.name", "config --unset", "config --unset nodot", "config --fixed-value multi.v 3 2", "config --fixed-value multi.v 3", "config --fixed-value --unset multi.v 2", "config --fixed-value --get-all multi.v [",
	"config --int int.k 2m", "config --int int.k x", "config --bool bool.t on", "config --bool bool.t perhaps", "config --bool-or-int a.b 1k", "config --type=color color.c green", "config --type=color color.c bogus", "config --path path.p ~/y", "config --expiry-date date.d now",
	"config --rename-section multi many", "config --rename-section nope many", "config --rename-section multi bad_name", "config --remove-section multi", "config --remove-section nope", "config --rename-section multi",
	"config --global g.k v", "config --global --get g.k", "config --global --get user.name", "config --global --local a.b", "config --system --get a.b", "config --local g.k", "config --local user.name", "config --worktree a.b c", "config --worktree a.b", "config -f cfg a.b d", "config -f cfg new.k v", "config -f cfg2 a.b c",
	"config --file=cfg a.b", "config -f - --list", "config -f - a.b c", "config --blob=HEAD:x --list", "config --bogus", "config --get-urlmatch u https://x.example/p/q", "config --get-urlmatch u.k https://x.example/", "config -f urls --get-urlmatch u.k https://x.example/p/q", "config -f urls --get-urlmatch u https://x.example/",
	"config -f urls --get-urlmatch u.k https://other.example", "config -f urls --get-urlmatch u.k bogus", "-C sub config user.name", "-C sub config -f ../cfg a.b", "-C sub config a.b c", "-C / config a.b c", "-C / config --local a.b", "-C / config --global g.k", "-c a.b=c config a.b", "-c a.b config --bool a.b", "-c =x config a.b",
	"--git-dir=.git config user.name", "--git-dir=nope config g.k", "--git-dir=nope config a.b c",
}

// newConfigCases are command lines in the new syntax, with what the reference
// version answers.
var newConfigCases = []argvCase{
	{args: "config get user.name", want: &run{0, "x\n", ""}},
	{args: "config get --all multi.v", want: &run{0, "1\n2\n", ""}},
	{args: "config get --all --show-names multi.v", want: &run{0, "multi.v 1\nmulti.v 2\n", ""}},
	{args: "config get --regexp ^mul", want: &run{0, "2\n", ""}},
	{args: "config get --all --value=1 multi.v", want: &run{0, "1\n", ""}},
	{args: "config get nope.k", want: &run{1, "", ""}},
	{args: "config get --default=d nope.k", want: &run{0, "d\n", ""}},
	{args: "config get --all --default=d nope.k", want: &run{128, "", "fatal: --default= cannot be used with --all or --url=\n"}},
	{args: "config get --url=https://x.example/p/q -f urls u.k", want: &run{0, "p\n", ""}},
	{args: "config get", want: &run{129, "", "error: wrong number of arguments, should be 1\n"}},
	{args: "config set a.b c", after: "git config a.b", want: &run{0, "c\n", ""}},
	{args: "config set a.b", want: &run{129, "", "error: missing value to set to the variable 'a.b'\n"}},
	{args: "config set a.b=c", want: &run{129, "", "error: missing value to set to the variable 'a.b=c'\nhint: did you mean \"git config set a.b c\"?\n"}},
	{args: "config set multi.v 3", want: &run{5, "", "warning: multi.v has multiple values\nerror: cannot overwrite multiple values with a single value\n       Use --value=<pattern>, --append or --all to change multi.v.\n"}},
	{args: "config set --append multi.v 3", after: "git config --get-all multi.v", want: &run{0, "1\n2\n3\n", ""}},
	{args: "config set --all multi.v 3", after: "git config --get-all multi.v", want: &run{0, "3\n", ""}},
	{args: "config set --value=2 multi.v 3", after: "git config --get-all multi.v", want: &run{0, "1\n3\n", ""}},
	{args: "config set --fixed-value multi.v 3", want: &run{128, "", "fatal: --fixed-value only applies with --value=<pattern>\n"}},
	{args: "config set --comment=why a.b c", after: "tail -n 1 .git/config", want: &run{0, "\tb = c # why\n", ""}},
	{args: "config unset user.name", after: "git config user.name || echo none", want: &run{0, "none\n", ""}},
	{args: "config unset multi.v", want: &run{5, "", "warning: multi.v has multiple values\n"}},
	{args: "config unset --all multi.v", want: &run{0, "", ""}},
	{args: "config unset --value=1 multi.v", after: "git config --get-all multi.v", want: &run{0, "2\n", ""}},
	{args: "config rename-section multi many", after: "git config --get-all many.v", want: &run{0, "1\n2\n", ""}},
	{args: "config remove-section multi", after: "git config multi.v || echo none", want: &run{0, "none\n", ""}},
	{args: "config remove-section nope", want: &run{128, "", "fatal: no such section: nope\n"}},
	{args: "config list --name-only -f cfg", want: &run{0, "a.b\ninclude.path\n", ""}},
	{args: "config list extra", want: &run{129, "", "error: wrong number of arguments, should be 0\n"}},
	{args: "config --file=cfg get a.b", want: &run{2, "", "error: key does not contain a section: get\n"}},
	{args: "config", want: &run{129, "", "error: no action specified\n"}},
	{args: "config --get-color nope.k bogus", want: &run{255, "", "error: invalid color value: bogus\nerror: unable to parse default color value\n"}},
}

func TestConfigArgv(t *testing.T) {
	t.Parallel()
	git, setup := stockGit(t), copiedWorld(t, configWorld)+" && printf '[g]\\n\\tk = global\\n' >../home/.gitconfig"
	for _, args := range configCases {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			compareRuns(t, git, argvCase{setup: setup, after: showConfig, stdin: "[s]\n\tk = v\n"}, strings.Fields(args))
		})
	}
}

func TestConfigNewSyntax(t *testing.T) {
	t.Parallel()
	setup := copiedWorld(t, configWorld)
	for _, c := range newConfigCases {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			c.setup = setup
			got := c.in(t, links+"/git", strings.Fields(c.args))
			if got != *c.want {
				t.Errorf("got: %+v\nwant: %+v", got, *c.want)
			}
		})
	}
}
