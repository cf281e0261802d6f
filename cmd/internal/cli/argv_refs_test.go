package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// refsWorld makes a repository with branches that are loose, packed and merged
// or not, tags of both kinds, symbolic refs, and a remote-tracking branch.
const refsWorld = `git init -q -b main . && git commit -q --allow-empty -m one -m 'body line' && git branch side && git branch packed && git tag light && git tag -a -m 'the tag' heavy &&
git pack-refs --all && git commit -q --allow-empty -m two && git branch feature/x && git checkout -q side && git commit -q --allow-empty -m three && git checkout -q main &&
git symbolic-ref refs/heads/alias refs/heads/side && git update-ref refs/remotes/origin/main side && git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main &&
git config remote.origin.url nowhere && git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*' && git config branch.main.remote origin && git config branch.main.merge refs/heads/main &&
git tag v1.10 && git tag v1.9 && git tag v1.9-rc1 && mkdir sub
`

// showRefs prints what the command has left behind.
const showRefs = `git for-each-ref; cat .git/HEAD .git/packed-refs; cat .git/config; find .git/logs -type f | LC_ALL=C sort | xargs tail -n 99; find .git/refs .git/logs -type d | LC_ALL=C sort; find .git -name '*.lock'`

var refsCases = []string{
	"update-ref", "update-ref refs/heads/new HEAD", "update-ref refs/heads/new", "update-ref refs/heads/new nosuch", "update-ref refs/heads/new HEAD nosuch", "update-ref refs/heads/main HEAD~1 HEAD",
	"update-ref refs/heads/main HEAD side", "update-ref -m why refs/heads/main HEAD~1", "update-ref -m  refs/heads/main", "update-ref --create-reflog refs/tags/new HEAD", "update-ref refs/heads/main " + zeros,
	"update-ref refs/heads/new HEAD " + zeros, "update-ref refs/heads/side HEAD " + zeros, "update-ref -d refs/heads/side", "update-ref -d refs/heads/side HEAD", "update-ref -d refs/heads/packed packed", "update-ref -d nosuch",
	"update-ref -d refs/heads/nosuch", "update-ref -d refs/heads/nosuch HEAD", "update-ref -d", "update-ref --no-deref refs/heads/alias HEAD", "update-ref refs/heads/alias HEAD", "update-ref --no-deref -d refs/heads/alias", "update-ref -d refs/heads/alias",
	"update-ref refs/heads/a..b HEAD", "update-ref refs/heads/main/x HEAD", "update-ref refs/heads/feature HEAD", "update-ref ORIG_HEAD HEAD", "update-ref FETCH HEAD", "update-ref -z refs/heads/x HEAD", "update-ref --stdin x", "update-ref HEAD side", "update-ref refs/tags/new heavy",
	"symbolic-ref HEAD", "symbolic-ref --short HEAD", "symbolic-ref -q refs/heads/main", "symbolic-ref refs/heads/main", "symbolic-ref nosuch", "symbolic-ref", "symbolic-ref HEAD refs/heads/side", "symbolic-ref HEAD main", "symbolic-ref -d HEAD", "symbolic-ref -d refs/heads/alias", "symbolic-ref -d refs/heads/main",
	"symbolic-ref refs/heads/s2 refs/heads/alias", "symbolic-ref -m  HEAD", "symbolic-ref --short refs/remotes/origin/HEAD", "symbolic-ref a b c", "symbolic-ref HEAD refs/heads/a..b",
	"show-ref", "show-ref -s", "show-ref --head", "show-ref --tags", "show-ref --heads", "show-ref --heads --tags", "show-ref -d", "show-ref -d --tags heavy", "show-ref main", "show-ref origin/main", "show-ref ain", "show-ref nosuch", "show-ref -q main", "show-ref --abbrev", "show-ref --abbrev=9 main", "show-ref -s8 main", "show-ref --hash=8 main",
	"show-ref --verify refs/heads/main", "show-ref --verify main", "show-ref --verify -q nosuch", "show-ref --verify", "show-ref --verify HEAD", "show-ref --verify -d refs/tags/heavy",
	"pack-refs", "pack-refs --all", "pack-refs --all --no-prune", "pack-refs x",
	"check-ref-format refs/heads/x", "check-ref-format x", "check-ref-format --allow-onelevel x", "check-ref-format --normalize /refs//heads/x", "check-ref-format --branch main", "check-ref-format --branch @{-1}", "check-ref-format --branch -x", "check-ref-format --refspec-pattern refs/*", "check-ref-format a b",
	"for-each-ref", "for-each-ref refs/heads", "for-each-ref refs/heads/", "for-each-ref refs/he", "for-each-ref refs/*/main", "for-each-ref refs/heads/**", "for-each-ref --count=2", "for-each-ref --count=-1", "for-each-ref --sort=-refname", "for-each-ref --sort=objectname refs/tags", "for-each-ref --sort=v:refname refs/tags", "for-each-ref --sort=-committerdate --sort=refname refs/heads",
	"for-each-ref --sort=nosuch", "for-each-ref --format=%(refname:lstrip=2),%(refname:rstrip=1),%(refname:lstrip=-1)", "for-each-ref --format=%(objectname:short=9)%09%(tree:short)%%", "for-each-ref --format=%(symref),%(symref:short)", "for-each-ref --format=%(*objectname)%(*objecttype)%(tag)%(type)%(object)",
	"for-each-ref --format=%(authorname)|%(authoremail)|%(authoremail:localpart)|%(authordate)|%(authordate:iso)", "for-each-ref --format=%(taggername)|%(taggerdate:raw)|%(creator)|%(creatordate:short)", "for-each-ref --format=%(committerdate:unix)|%(committerdate:rfc2822)|%(committerdate:iso-strict)", "for-each-ref --format=%(subject)|%(body)|%(contents)|%(contents:subject)|%(contents:lines=1)|%(contents:size)",
	"for-each-ref --format=%(upstream)|%(upstream:short)|%(upstream:track)|%(upstream:trackshort)|%(upstream:remotename)|%(push) refs/heads", "for-each-ref --format=%(HEAD)%(refname)%(numparent)%(parent)%(objectsize)", "for-each-ref --format=%(if)%(HEAD)%(then)x%(else)y%(end)%(align:20,right)%(refname:short)%(end)| refs/heads",
	"for-each-ref --format=%(if)%(HEAD)%(end)", "for-each-ref --format=%(then)", "for-each-ref --format=%(end)", "for-each-ref --format=%(align:9)x", "for-each-ref --format=%(nosuch)", "for-each-ref --format=%(refname", "for-each-ref --format=%(objectname:short=0)",
	"for-each-ref --shell --format=%(refname)", "for-each-ref --perl --format=%(subject)", "for-each-ref --python --tcl", "for-each-ref --tcl --format=%(contents)", "for-each-ref --points-at=HEAD", "for-each-ref --points-at=nosuch", "for-each-ref --merged=side", "for-each-ref --no-merged", "for-each-ref --contains=side", "for-each-ref --no-contains main", "for-each-ref --merged=nosuch", "for-each-ref --contains nosuch", "for-each-ref --ignore-case --sort=refname REFS/HEADS", "for-each-ref --format=%(worktreepath) refs/heads", "for-each-ref --format=%(flag)",
	"tag", "tag -l", "tag -n", "tag -n2", "tag -l v*", "tag --sort=-v:refname", "tag --sort=v:refname v*", "tag new", "tag new side", "tag new nosuch", "tag light", "tag -f light side", "tag -f heavy", "tag -a -m msg new", "tag -m one -m two new side", "tag -m #comment new", "tag -d light", "tag -d light nosuch heavy", "tag -d", "tag a..b", "tag -x", "tag a b c",
	"tag --contains side", "tag --no-contains HEAD", "tag --points-at HEAD", "tag --merged HEAD~1", "tag -l --format=%(refname)", "tag -m x -F y z", "tag -F nosuch z", "tag --cleanup=verbatim -m x z", "tag --cleanup=bad -m x z", "tag -d -n light", "tag --create-reflog new", "tag -f -m again heavy", "tag -i -l V*", "tag -m x nested heavy",
	"branch", "branch -a", "branch -r", "branch -v", "branch -vv", "branch -av", "branch -l f*", "branch --show-current", "branch new", "branch new side", "branch new nosuch", "branch new origin/main", "branch --no-track new origin/main", "branch -q new origin/main", "branch -t new side", "branch -t new light", "branch --track=inherit new main", "branch main", "branch side", "branch -f side main", "branch a..b", "branch -- -x",
	"branch -d packed", "branch -D side", "branch -d", "branch -r -d origin/main", "branch -d origin/main", "branch -d alias", "branch -m side renamed", "branch -m renamed", "branch -m side main", "branch -m side side/deep", "branch -m feature/x feature", "branch -m a b c", "branch -m", "branch -c side copied", "branch -c main other", "branch -C side packed", "branch -m packed a..b",
	"branch -u origin/main", "branch -u side packed", "branch -u nosuch", "branch -u light", "branch -u main main", "branch --unset-upstream", "branch -u side nosuch", "branch --contains side", "branch --merged", "branch --no-merged main", "branch --points-at main", "branch --sort=-refname", "branch --format=%(refname:short)", "branch --create-reflog new", "branch -d -m x", "branch --abbrev=9 -v", "branch --no-abbrev -v", "branch -i -l F*",
	"-C sub branch", "-C sub tag -l", "-C sub for-each-ref --count=1", "reflog", "reflog show main", "reflog -1", "reflog exists refs/heads/main", "reflog exists refs/heads/nosuch", "reflog exists main", "reflog show nosuch",
}

const zeros = "0000000000000000000000000000000000000000"

func TestArgvRefs(t *testing.T) {
	t.Parallel()
	git, setup := stockGit(t), copiedWorld(t, refsWorld)
	for _, args := range refsCases {
		argv := strings.Fields(args)
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			after := showRefs
			switch argv[0] {
			case "for-each-ref", "show-ref", "check-ref-format", "reflog":
				after = "" // they change nothing
			}
			compareRefs(t, git, argvCase{setup: setup, after: after}, argv)
		})
	}
}

// TestRefsInput is the same for update-ref --stdin and what else reads input.
func TestRefsInput(t *testing.T) {
	t.Parallel()
	git, setup := stockGit(t), copiedWorld(t, refsWorld)
	for _, c := range []struct{ args, stdin string }{
		{"update-ref --stdin", ""}, {"update-ref --stdin", "\n"}, {"update-ref --stdin", " create refs/heads/x HEAD\n"}, {"update-ref --stdin", "nosuch\n"}, {"update-ref --stdin", "create refs/heads/x HEAD"},
		{"update-ref --stdin", "create refs/heads/x HEAD\nupdate refs/heads/side HEAD side\ndelete refs/heads/packed\n"}, {"update-ref --stdin", "create refs/heads/x HEAD\ncreate refs/heads/x HEAD\n"},
		{"update-ref --stdin", "create  HEAD\n"}, {"update-ref --stdin", "create refs/heads/x\n"}, {"update-ref --stdin", "create refs/heads/x " + zeros + "\n"}, {"update-ref --stdin", "create refs/heads/x HEAD HEAD\n"}, {"update-ref --stdin", "create refs/heads/x nosuch\n"},
		{"update-ref --stdin", "create \"refs/heads/x\" \"HEAD\"\n"}, {"update-ref --stdin", "create \"refs/heads/x HEAD\n"}, {"update-ref --stdin", "create \"refs/heads/x\"y HEAD\n"}, {"update-ref --stdin", "create refs/heads/a..b HEAD\n"},
		{"update-ref --stdin", "update refs/heads/x\n"}, {"update-ref --stdin", "update refs/heads/x HEAD nosuch\n"}, {"update-ref --stdin", "update refs/heads/x HEAD \"\"\n"}, {"update-ref --stdin", "update refs/heads/main \"\"\n"}, {"update-ref --stdin", "update refs/heads/main\tHEAD\n"},
		{"update-ref --stdin", "delete refs/heads/side " + zeros + "\n"}, {"update-ref --stdin", "delete refs/heads/side main\n"}, {"update-ref --stdin", "verify refs/heads/side side\n"}, {"update-ref --stdin", "verify refs/heads/side main\n"}, {"update-ref --stdin", "verify refs/heads/nosuch\n"}, {"update-ref --stdin", "verify refs/heads/side\n"},
		{"update-ref --stdin", "option no-deref\nupdate refs/heads/alias HEAD\nupdate refs/heads/new HEAD\n"}, {"update-ref --stdin", "option nosuch\n"}, {"update-ref --no-deref --stdin", "update HEAD side\n"},
		{"update-ref --stdin", "start\ncreate refs/heads/x HEAD\ncommit\n"}, {"update-ref --stdin", "start\ncreate refs/heads/x HEAD\nprepare\ncommit\nstart\ncreate refs/heads/y HEAD\nabort\n"}, {"update-ref --stdin", "start\ncreate refs/heads/x HEAD\n"}, {"update-ref --stdin", "start\ncreate refs/heads/x HEAD\nprepare\n"},
		{"update-ref --stdin", "start\nstart\n"}, {"update-ref --stdin", "prepare\ncreate refs/heads/x HEAD\n"}, {"update-ref --stdin", "commit\ncreate refs/heads/x HEAD\n"}, {"update-ref --stdin", "start x\n"}, {"update-ref --stdin", "start\nupdate refs/heads/side HEAD main\nprepare\n"}, {"update-ref --stdin", "start\nupdate refs/heads/side HEAD main\ncommit\n"},
		{"update-ref --stdin -z", "create refs/heads/x\x00HEAD\x00"}, {"update-ref --stdin -z", "update refs/heads/x\x00HEAD\x00\x00"}, {"update-ref --stdin -z", "update refs/heads/x\x00HEAD\x00"}, {"update-ref --stdin -z", "update refs/heads/x\x00"}, {"update-ref --stdin -z", "update refs/heads/main\x00\x00\x00"},
		{"update-ref --stdin -z", "delete refs/heads/side\x00\x00"}, {"update-ref --stdin -z", "delete refs/heads/side\x00side\x00"}, {"update-ref --stdin -z", "verify refs/heads/side\x00main\x00"}, {"update-ref --stdin -z", "start\x00create refs/heads/x\x00HEAD\x00commit\x00"}, {"update-ref --stdin -z", "\x00"}, {"update-ref --stdin -z", "option no-deref\x00update refs/heads/alias\x00HEAD\x00\x00"},
		{"update-ref -m why --stdin", "update refs/heads/main side\n"}, {"update-ref --create-reflog --stdin", "create refs/tags/x HEAD\n"},
		{"show-ref --exclude-existing", "refs/heads/main\nrefs/heads/new\nx refs/tags/heavy^{}\nx refs/tags/none^{}\nbad..name/x\n"}, {"show-ref --exclude-existing=refs/tags", "refs/heads/new\nrefs/tags/new\n"}, {"tag -F - fromstdin", "line\n\n\n# comment\nmore  \n"},
	} {
		t.Run(c.args+" "+c.stdin, func(t *testing.T) {
			t.Parallel()
			compareRefs(t, git, argvCase{setup: setup, after: showRefs, stdin: c.stdin}, strings.Fields(c.args))
		})
	}
}

// compareRefs compares two runs, but for words that git has changed since the
// oldest version that may be the judge.
func compareRefs(t *testing.T, git string, c argvCase, argv []string) {
	t.Helper()
	want, got := c.in(t, git, argv), c.in(t, filepath.Join(links, "git"), argv)
	line := func(stderr string) string {
		line := strings.NewReplacer("<newvalue>", "<new-oid>", "<oldvalue>", "<old-oid>").Replace(firstLine(stderr))
		if strings.HasPrefix(line, "usage:") {
			return "usage:"
		}
		return line
	}
	if got.status != want.status || got.stdout != want.stdout || line(got.stderr) != line(want.stderr) {
		t.Errorf("got: status %d\n%s%s\nwant: status %d\n%s%s", got.status, got.stdout, got.stderr, want.status, want.stdout, want.stderr)
	}
}
