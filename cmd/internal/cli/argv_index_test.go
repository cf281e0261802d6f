package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// indexWorld makes a repository with a commit, a change of each kind, and files
// that are ignored or new. The settings let a copy of it pass for the original.
const indexWorld = `git init -q . && git config core.checkStat minimal && git config core.trustctime false && git config user.name x && git config user.email x@example.org &&
mkdir -p d/e sub && for f in a b c d/f d/e/g 'sp ace' sub/s; do echo $f >"$f"; done &&
git add . && git commit -qm one && echo more >b && rm c && echo new >d/new && echo x >d/e/x.o && echo '*.o' >.gitignore &&
mkdir only empty && echo y >only/y && chmod +x a && git update-index --assume-unchanged sub/s && touch -d 2000-01-01 d/f
`

// showIndex prints what the command has left behind.
const showIndex = `git ls-files -s -v; git diff-files --name-status; git fsck --no-dangling; ls .git/*.lock`

const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// indexCases are command lines of the commands over the index.
var indexCases = []string{
	"update-index", "update-index b", "update-index a b c", "update-index --remove c", "update-index --remove b c", "update-index d/new",
	"update-index --add d/new", "update-index --add d", "update-index --add d/", "update-index --add only", "update-index nosuch", "update-index --add nosuch",
	"update-index --remove nosuch", "update-index --force-remove b nosuch", "update-index --verbose --add d/new b", "update-index --verbose --remove c",
	"update-index --force-remove --verbose b", "update-index --chmod=+x b", "update-index --chmod +x b", "update-index --chmod=x b", "update-index --chmod=+x nosuch",
	"update-index --verbose --chmod=-x a", "update-index --add --chmod=+x d/new", "update-index --refresh", "update-index -q --refresh", "update-index --refresh b",
	"update-index --really-refresh", "update-index --ignore-missing --refresh", "update-index --refresh --ignore-missing", "update-index --unmerged --refresh",
	"update-index --assume-unchanged b", "update-index --no-assume-unchanged sub/s", "update-index --assume-unchanged nosuch", "update-index --skip-worktree b c",
	"update-index --skip-worktree b --no-skip-worktree c", "update-index --info-only --add d/new", "update-index --index-version 4", "update-index --index-version 5",
	"update-index --index-version=2", "update-index --force-write-index", "update-index -- b", "update-index --add -- --weird",
	"update-index --cacheinfo", "update-index --cacheinfo 100644", "update-index --cacheinfo 100644 " + emptyBlob, "update-index --cacheinfo 100644 " + emptyBlob + " b",
	"update-index --add --cacheinfo 100755," + emptyBlob + ",x/y", "update-index --cacheinfo 100644," + emptyBlob + ",x/y", "update-index --add --cacheinfo 100644 " + emptyBlob + " p --cacheinfo 120000," + emptyBlob + ",q b",
	"update-index --add --cacheinfo 100644,123,x", "update-index --add --cacheinfo 100644 123 x", "update-index --add --cacheinfo 100644," + emptyBlob + ",../x",
	"update-index --add --cacheinfo 100644," + emptyBlob + ",.git/x", "update-index --add --cacheinfo 100644," + emptyBlob + ",d", "update-index --add --replace --cacheinfo 100644," + emptyBlob + ",d",
	"update-index --add --cacheinfo 100644," + emptyBlob + ",b/x", "update-index --add --replace --cacheinfo 100644," + emptyBlob + ",b/x", "update-index --add --cacheinfo 160000," + emptyBlob + ",link",
	"update-index --add .git/config", "update-index ../outside", "update-index --add d/e/../new", "update-index --add ./d//new", "update-index --bogus", "update-index -x", "update-index --no-add b",
	"update-index --stdin b", "update-index --index-info b", "update-index --again", "update-index --remove --again", "update-index -g b", "update-index --again d", "update-index --clear-resolve-undo",
	"-C d update-index f", "-C d update-index --add new", "-C d update-index ../b", "-C d update-index --add e", "-C d/e update-index --again",
	"ls-files", "ls-files -s", "ls-files -z", "ls-files -c -t", "ls-files -t -v", "ls-files -o", "ls-files -o --exclude-standard", "ls-files -o --directory", "ls-files -o --directory --no-empty-directory",
	"ls-files -o --directory --exclude-standard", "ls-files -i -o --exclude-standard", "ls-files -i", "ls-files -i -o", "ls-files -i -c -x d/*", "ls-files -o -x new", "ls-files -o -X .gitignore",
	"ls-files -o -X nosuch", "ls-files -o --exclude-per-directory=.gitignore", "ls-files -m", "ls-files -d", "ls-files -m -d -t", "ls-files -m -d --deduplicate", "ls-files -d -m -c -o -t", "ls-files -k", "ls-files -u",
	"ls-files -s --abbrev", "ls-files -s --abbrev=7", "ls-files --error-unmatch b", "ls-files --error-unmatch nosuch b", "ls-files --error-unmatch -o d/new nosuch", "ls-files d", "ls-files d/", "ls-files b c", "ls-files :(glob)*", "ls-files *.o",
	"ls-files :!d", "-C d ls-files", "-C d ls-files --full-name", "-C d ls-files ..", "-C d ls-files -o ..", "-C d ls-files -s ../b", "-C d ls-files --error-unmatch ../nosuch", "-C d/e ls-files :/", "ls-files ../x",
	"ls-files --with-tree=HEAD", "ls-files --with-tree=nosuch", "ls-files --with-tree=HEAD -s", "ls-files --with-tree=HEAD --error-unmatch c", "ls-files --eol", "ls-files --eol -o", "ls-files --eol -s d", "ls-files --format=%(objectname)", "ls-files --format=x -s",
	"ls-files --format=%(objectmode)%x09%(stage)%(path)%%", "ls-files --resolve-undo", "ls-files --bogus", "ls-files -q", "ls-files --no-full-name",
	"write-tree", "write-tree --missing-ok", "write-tree --prefix=d/", "write-tree --prefix=d", "write-tree --prefix=d/e/", "write-tree --prefix=nosuch/", "write-tree --prefix=", "write-tree x", "write-tree --bogus",
	"read-tree", "read-tree --empty", "read-tree HEAD", "read-tree HEAD:d", "read-tree -m HEAD", "read-tree --reset HEAD", "read-tree -m HEAD:d", "read-tree -i -m HEAD:d", "read-tree --reset HEAD:d", "read-tree nosuch", "read-tree HEAD:b", "read-tree -n --empty", "read-tree -q -m HEAD:d",
	"-C d read-tree HEAD", "read-tree -m", "read-tree -m --reset HEAD", "read-tree --bogus",
}

func TestArgvIndex(t *testing.T) {
	t.Parallel()
	git, setup := stockGit(t), copiedWorld(t, indexWorld)
	for _, args := range indexCases {
		argv := strings.Fields(args)
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			compareRuns(t, git, argvCase{setup: setup, after: showIndex}, argv)
		})
	}
}

// TestIndexInput is the same for what comes from standard input.
func TestIndexInput(t *testing.T) {
	t.Parallel()
	git, setup := stockGit(t), copiedWorld(t, indexWorld)
	for _, c := range []struct{ args, stdin string }{
		{"update-index --stdin", "b\nd/f\n"}, {"update-index --add --stdin", "d/new\n\"sp ace\"\nb"}, {"update-index --add --stdin", "\"unfinished\n"},
		{"update-index --add --stdin", "\"d\\057new\"\n"}, {"update-index --add -z --stdin", "b\x00d/new\x00"}, {"update-index -z --stdin", "nosuch"},
		{"-C d update-index --add --stdin", "new\n../b\n"}, {"update-index --remove --stdin", "c\n"}, {"update-index --add --verbose --stdin", "d/new\nb\n"},
		{"update-index --index-info", "100644 " + emptyBlob + "\tx\n100755 blob " + emptyBlob + "\ty\n100644 " + emptyBlob + " 1\tz\n100644 " + emptyBlob + " 3\tz\n"},
		{"update-index --index-info", "0 " + strings.Repeat("0", 40) + "\tb\n0 " + emptyBlob + "\tnosuch\n"},
		{"update-index -z --index-info", "100644 " + emptyBlob + "\tnew\nline\x00"}, {"update-index --index-info", "100644 " + emptyBlob + "\t\"new\\nline\"\n"},
		{"update-index --index-info", "garbage\n"}, {"update-index --index-info", "100644 " + emptyBlob + " 4\tx\n"}, {"update-index --index-info", "100644 " + emptyBlob[1:] + "\tx\n"},
		{"update-index --index-info", "100644 " + emptyBlob + "\t.git/x\n100644 " + emptyBlob + "\tok\n"}, {"update-index --index-info", "100644 " + emptyBlob + "\td\n"},
		{"update-index --index-info", "100644 " + emptyBlob + "\t\"bad\n"}, {"update-index --index-info", ""},
	} {
		t.Run(c.args+" "+c.stdin, func(t *testing.T) {
			t.Parallel()
			compareRuns(t, git, argvCase{setup: setup, after: showIndex, stdin: c.stdin}, strings.Fields(c.args))
		})
	}
}

// copiedWorld runs setup once and returns a set-up that copies what it made.
func copiedWorld(t *testing.T, setup string) string {
	t.Helper()
	w := newWorld(t)
	w.mustSh(setup)
	return "cp -a '" + w.dir + "/.' ."
}

func compareRuns(t *testing.T, git string, c argvCase, argv []string) {
	t.Helper()
	if strings.Contains(strings.Join(argv, " "), "ls-files") {
		c.after = "" // it changes nothing
	}
	want, got := c.in(t, git, argv), c.in(t, filepath.Join(links, "git"), argv)
	if got.status != want.status || got.stdout != want.stdout || firstLine(got.stderr) != firstLine(want.stderr) {
		t.Errorf("got: status %d\n%s%s\nwant: status %d\n%s%s", got.status, got.stdout, got.stderr, want.status, want.stdout, want.stderr)
	}
}
