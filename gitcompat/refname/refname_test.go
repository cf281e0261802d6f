package refname

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func names() []string {
	return []string{
		"", "a", "@", "/", "a/", "/a", "a//b", "a/b", "refs/heads/x", "refs/heads/.x", "refs/./x", "refs/../x",
		"refs/heads/x..y", "refs/heads/x.", "refs/heads/x.lock", "refs/x.lock/y", "refs/heads/x.lock.lock", "refs/.lock", "lock/.lock",
		"refs/heads/x y", "refs/heads/x~1", "refs/heads/x^", "refs/heads/x:y", "refs/heads/x?", "refs/heads/x[y", "refs/heads/x\\y",
		"refs/heads/x@{y", "refs/heads/@", "refs/heads/x@", "refs/heads/{x}", "refs/heads/*", "refs/*/heads/*", "refs/a*b/c", "refs/heads/**",
		"refs/heads/x\x01", "refs/heads/x\x7f", "refs/heads/x\ty", "refs/heads/é", "HEAD", "head", "refs/heads/-x", "-x", "a./b", "a/b.",
		"refs/heads/\xff\xfe", "x/y.lockx", "refs///heads//x", ".x/y", "x/@/y",
	}
}

func TestCheckAsGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []struct {
		flags Flags
		opts  []string
	}{{0, nil}, {AllowOneLevel, []string{"--allow-onelevel"}}, {RefspecPattern, []string{"--refspec-pattern"}}, {AllowOneLevel | RefspecPattern, []string{"--allow-onelevel", "--refspec-pattern"}}} {
		for _, name := range names() {
			cmd := exec.Command(git, append(append([]string{"check-ref-format"}, args.opts...), name)...)
			if strings.HasPrefix(name, "-") {
				continue
			}
			want := cmd.Run() == nil
			if got := Check(name, args.flags); got != want {
				t.Errorf("Check(%q, %d) = %v, git says %v", name, args.flags, got, want)
			}
		}
	}
}

func TestIsSafe(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"refs/": false, "refs//x": false, "refs/x/": false, "refs/x": true, "refs/../x": false, "refs/x/../y": false, "refs/x/./y": false,
		"refs/x/../../y": false, "refs/a b": true, "HEAD": true, "ORIG_HEAD": true, "": false, "head": false, "A/B": false, "refs/..": false, "refs/.": false,
		"refs/..x": true,
	} {
		if got := IsSafe(name); got != want {
			t.Errorf("IsSafe(%q) = %v", name, got)
		}
	}
}

func TestWorktree(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		owner    Owner
		id, bare string
	}{
		"HEAD":                        {Current, "", "HEAD"},
		"refs/heads/x":                {Shared, "", "refs/heads/x"},
		"refs/bisect/x":               {Current, "", "refs/bisect/x"},
		"main-worktree/HEAD":          {Main, "", "HEAD"},
		"main-worktree/refs/heads/x":  {Shared, "", "main-worktree/refs/heads/x"},
		"worktrees/w/HEAD":            {Other, "w", "HEAD"},
		"worktrees/w/refs/worktree/x": {Other, "w", "refs/worktree/x"},
		"worktrees/w/refs/heads/x":    {Shared, "", "worktrees/w/refs/heads/x"},
		"worktrees/w":                 {Other, "w", ""},
	} {
		owner, id, bare := Worktree(name)
		if owner != want.owner || bare != want.bare || owner == Other && id != want.id {
			t.Errorf("Worktree(%q) = %v %q %q", name, owner, id, bare)
		}
	}
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	for _, name := range append(names(), "a.lock.lock", "..", "...", "@{", "x/.y/z.lock") {
		s := Sanitize(name)
		if s != "" && !Check(s, AllowOneLevel) {
			t.Errorf("Sanitize(%q) = %q, which is not well-formed", name, s)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, n := range names() {
		f.Add(n)
	}
	root := string(os.PathSeparator) + "r"
	f.Fuzz(func(t *testing.T, name string) {
		if !Check(name, AllowOneLevel|RefspecPattern) && !IsSafe(name) {
			return
		}
		if p := filepath.Join(root, name); p != root+string(os.PathSeparator)+filepath.FromSlash(name) {
			t.Errorf("%q escapes or changes: %q", name, p)
		}
	})
}
