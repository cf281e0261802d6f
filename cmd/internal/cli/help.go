package cli

import (
	"sort"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
)

// gitCommands are the commands that git 2.55 has, built in or as programs
// beside it. One of them that is not native is handed over without a look at
// the aliases, since git too does not let an alias hide a command.
const gitCommands = " add am annotate apply archimport archive backfill bisect blame branch bugreport bundle cat-file" +
	" check-attr check-ignore check-mailmap check-ref-format checkout checkout--worker checkout-index cherry cherry-pick" +
	" citool clean clone column commit commit-graph commit-tree config count-objects credential credential-cache" +
	" credential-cache--daemon credential-store cvsexportcommit cvsimport cvsserver daemon describe diagnose diff" +
	" diff-files diff-index diff-pairs diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch" +
	" fmt-merge-msg for-each-ref for-each-repo format-patch fsck fsck-objects fsmonitor--daemon gc get-tar-commit-id grep" +
	" gui hash-object help history hook http-backend http-fetch http-push imap-send index-pack init init-db instaweb" +
	" interpret-trailers last-modified log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base" +
	" merge-file merge-index merge-octopus merge-one-file merge-ours merge-recursive merge-recursive-ours" +
	" merge-recursive-theirs merge-resolve merge-subtree merge-tree mergetool mktag mktree multi-pack-index mv name-rev" +
	" notes p4 pack-objects pack-redundant pack-refs patch-id pickaxe prune prune-packed pull push quiltimport" +
	" range-diff read-tree rebase receive-pack reflog refs remote remote-ext remote-fd remote-ftp remote-ftps remote-http" +
	" remote-https repack replace replay repo request-pull rerere reset restore rev-list rev-parse revert rm send-email" +
	" send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace" +
	" submodule submodule--helper svn switch symbolic-ref tag unpack-file unpack-objects update-index update-ref" +
	" update-server-info upload-archive upload-archive--writer upload-pack url-parse var verify-commit verify-pack" +
	" verify-tag version web--browse whatchanged worktree write-tree "

func isGitCommand(name string) bool {
	return !strings.Contains(name, " ") && strings.Contains(gitCommands, " "+name+" ")
}

// isDeprecated tells whether git means to drop the command.
func isDeprecated(name string) bool { return name == "pack-redundant" || name == "whatchanged" }

// helpText is what `git` and `git help` print.
func helpText() string {
	var b strings.Builder
	b.WriteString("usage: " + usageText + "\n\nCommands of this program; all others are left to the git that is installed:\n\n")
	line := "  "
	for _, c := range builtin.Commands() {
		if len(line)+len(c.Name) > 76 {
			b.WriteString(line + "\n")
			line = "  "
		}
		line += " " + c.Name
	}
	b.WriteString(line + "\n\n'git help <command>' shows the manual of a command.\n")
	return b.String()
}

// ledgerEntry is one line of `sluice commands`.
type ledgerEntry struct{ name, state string }

// ledger says of every command of git, and of what is native besides, how it
// is done here.
func ledger() []ledgerEntry {
	var all []ledgerEntry
	native := map[string]bool{}
	for _, c := range builtin.Commands() {
		native[c.Name] = true
		all = append(all, ledgerEntry{c.Name, nativeState(c)})
	}
	for _, name := range strings.Fields(gitCommands) {
		if !native[name] && !strings.Contains(name, "--") {
			all = append(all, ledgerEntry{name, "delegated"})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].name < all[j].name })
	return all
}

func nativeState(c *builtin.Command) string {
	missing := append([]string(nil), c.NotNative...)
	if c.Options != nil {
		opts := c.Options().Options
		for i := range opts {
			o := &opts[i]
			switch {
			case !o.IsNotNative():
			case o.SubcommandName() != "":
				missing = append(missing, o.SubcommandName())
			default:
				missing = append(missing, strings.Join(o.Names(), "/"))
			}
		}
	}
	if len(missing) == 0 {
		return "native"
	}
	return "native but for " + strings.Join(missing, ", ")
}
