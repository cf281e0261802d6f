package builtin

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/diff"
)

// print prints lines of text, each behind the comment sign in a template.
func (s *wtStatus) print(text string) {
	for _, line := range strings.Split(text, "\n") {
		if s.comment != "" {
			s.write(s.comment)
			if line != "" && line[0] != '\t' {
				s.write(" ")
			}
		}
		s.write(line, "\n")
	}
}

// hint prints advice, unless it is turned off.
func (s *wtStatus) hint(text string) {
	if s.hints {
		s.print("  (" + text + ")")
	}
}

// printLong prints the format for people.
func (s *wtStatus) printLong() error {
	if s.branch != "" {
		s.print(s.onBranch())
		if !s.initial {
			if err := s.longTracking(); err != nil {
				return err
			}
		}
	}
	s.printState()
	if s.initial {
		s.print("")
		if s.template {
			s.print("Initial commit")
		} else {
			s.print("No commits yet")
		}
		s.print("")
	}
	s.printStaged()
	s.printUnmerged()
	s.printChanged()
	switch {
	case s.untrackedMode != showNone:
		s.printOthers(s.untracked, "Untracked files", "add")
		if s.ignoredMode != showNone {
			s.printOthers(s.ignored, "Ignored files", "add -f")
		}
		s.printSlow()
	case s.committable && s.hints:
		s.print("Untracked files not listed (use -u option to show untracked files)")
	case s.committable:
		s.print("Untracked files not listed")
	}
	if !s.committable {
		s.printNothing()
	}
	if s.showStash {
		switch n := s.stashCount(); {
		case n == 1:
			s.print("Your stash currently has 1 entry")
		case n > 1:
			s.print(fmt.Sprintf("Your stash currently has %d entries", n))
		}
	}
	return nil
}

// slowWalk is how long the search for untracked files may take without a word.
const slowWalk = 2 * time.Second

// printSlow says that the search for untracked files took long.
func (s *wtStatus) printSlow() {
	took := s.walkTime
	if _, ok := s.env.LookupEnv("GIT_TEST_UF_DELAY_WARNING"); ok {
		took = 3250 * time.Millisecond
	}
	c := s.env.Config
	if on, err := c.Bool("advice.statusuoption", true); took <= slowWalk || err != nil || !on {
		return
	}
	s.print("")
	text := fmt.Sprintf("It took %.2f seconds to enumerate untracked files", took.Seconds())
	if v, ok := c.Get("core.fsmonitor"); ok && v != "false" && v != "" {
		text += ",\nbut the results were cached, and subsequent runs may be faster"
	}
	s.print(text + ".")
	s.print("See 'git help status' for information on how to improve this.")
	s.print("")
}

func (s *wtStatus) onBranch() string {
	t := &s.state
	switch {
	case s.branch != "HEAD":
		return "On branch " + strings.TrimPrefix(s.branch, "refs/heads/")
	case t.interactive:
		return "interactive rebase in progress; onto " + t.onto
	case t.rebase:
		return "rebase in progress; onto " + t.onto
	case t.detachedFrom != "" && t.detachedAt:
		return "HEAD detached at " + t.detachedFrom
	case t.detachedFrom != "":
		return "HEAD detached from " + t.detachedFrom
	}
	return "Not currently on any branch."
}

// printNothing says why there is nothing to commit.
func (s *wtStatus) printNothing() {
	pick := func(with, without string) string {
		if s.hints {
			return with
		}
		return without
	}
	switch {
	case s.amend:
		s.print("No changes")
	case s.noWarn:
	case s.dirty:
		s.write(pick(`no changes added to commit (use "git add" and/or "git commit -a")`, "no changes added to commit"), "\n")
	case len(s.untracked) > 0:
		s.write("nothing added to commit but untracked files present", pick(` (use "git add" to track)`, ""), "\n")
	case s.initial:
		s.write("nothing to commit", pick(` (create/copy files and use "git add" to track)`, ""), "\n")
	case s.untrackedMode == showNone:
		s.write("nothing to commit", pick(" (use -u to show untracked files)", ""), "\n")
	default:
		s.write("nothing to commit, working tree clean\n")
	}
}

// unstageHint says how to take something out of the index.
func (s *wtStatus) unstageHint() {
	switch {
	case s.state.merge || s.state.pickHead:
	case s.initial:
		s.hint(`use "git rm --cached <file>..." to unstage`)
	case s.reference == "HEAD":
		s.hint(`use "git restore --staged <file>..." to unstage`)
	default:
		s.hint(`use "git restore --source=` + s.reference + ` --staged <file>..." to unstage`)
	}
}

func (s *wtStatus) printStaged() {
	first := true
	for _, c := range s.changes {
		if c.index == 0 || c.index == diff.Unmerged {
			continue
		}
		if first {
			first = false
			s.print("Changes to be committed:")
			s.unstageHint()
		}
		s.printChange(c, c.index, "")
	}
	if !first {
		s.print("")
	}
}

// changeWords name the statuses of a change, in a column.
func changeWord(status byte) string {
	switch status {
	case diff.Added:
		return "new file:   "
	case diff.Copied:
		return "copied:     "
	case diff.Deleted:
		return "deleted:    "
	case diff.Renamed:
		return "renamed:    "
	case diff.TypeChanged:
		return "typechange: "
	}
	return "modified:   "
}

func (s *wtStatus) printChange(c *wtChange, status byte, extra string) {
	path := s.quote(c.path, false)
	if c.renameStatus == status && c.renameFrom != "" {
		path = s.quote(c.renameFrom, false) + " -> " + path
	}
	s.print("\t" + changeWord(status) + path + extra)
}

func (s *wtStatus) printChanged() {
	any, deleted, dirtySub := false, false, false
	for _, c := range s.changes {
		if c.work == 0 || c.work == diff.Unmerged {
			continue
		}
		any = true
		deleted = deleted || c.work == diff.Deleted
		dirtySub = dirtySub || c.dirt&^diff.NewCommits != 0
	}
	if !any {
		return
	}
	s.print("Changes not staged for commit:")
	add := "add"
	if deleted {
		add = "add/rm"
	}
	s.hint(`use "git ` + add + ` <file>..." to update what will be committed`)
	s.hint(`use "git restore <file>..." to discard changes in working directory`)
	if dirtySub {
		s.hint("commit or discard the untracked or modified content in submodules")
	}
	for _, c := range s.changes {
		if c.work != 0 && c.work != diff.Unmerged {
			s.printChange(c, c.work, dirtWords(c.dirt))
		}
	}
	s.print("")
}

func dirtWords(d diff.Dirt) string {
	var words []string
	for i, bit := range [3]diff.Dirt{diff.NewCommits, diff.ModifiedContent, diff.UntrackedContent} {
		if d&bit != 0 {
			words = append(words, [3]string{"new commits", "modified content", "untracked content"}[i])
		}
	}
	if words == nil {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// unmergedLabels say what happened on both sides, in a column.
var unmergedLabels = [8]string{
	"", "both deleted:    ", "added by us:     ", "deleted by them: ", "added by them:   ", "deleted by us:   ", "both added:      ", "both modified:   ",
}

func (s *wtStatus) printUnmerged() {
	if !s.hasUnmerged() {
		return
	}
	s.print("Unmerged paths:")
	s.unstageHint()
	delMod, bothDel, notDel := false, false, false
	for _, c := range s.changes {
		switch c.stages {
		case 0:
		case 1:
			bothDel = true
		case 3, 5:
			delMod = true
		default:
			notDel = true
		}
	}
	switch {
	case !bothDel && !delMod:
		s.hint(`use "git add <file>..." to mark resolution`)
	case bothDel && !delMod && !notDel:
		s.hint(`use "git rm <file>..." to mark resolution`)
	default:
		s.hint(`use "git add/rm <file>..." as appropriate to mark resolution`)
	}
	for _, c := range s.changes {
		if c.stages != 0 {
			s.print("\t" + unmergedLabels[c.stages] + s.quote(c.path, false))
		}
	}
	s.print("")
}

func (s *wtStatus) printOthers(paths []string, what, how string) {
	if len(paths) == 0 {
		return
	}
	s.print(what + ":")
	s.hint(`use "git ` + how + ` <file>..." to include in what will be committed`)
	for _, p := range paths {
		s.print("\t" + s.quote(p, false))
	}
	s.print("")
}

// longTracking compares the branch with those it is related to.
func (s *wtStatus) longTracking() error {
	branch, ok := strings.CutPrefix(s.branch, "refs/heads/")
	if !ok {
		return nil
	}
	text, err := s.trackingText(branch)
	if err != nil || text == "" {
		return err
	}
	s.print(strings.TrimSuffix(text, "\n"))
	s.print("")
	return nil
}

func (s *wtStatus) trackingText(branch string) (string, error) {
	names := []string{"@{upstream}"}
	if v, ok := s.env.Config.Get("status.comparebranches"); ok {
		names = strings.Fields(v)
	}
	up, upErr := s.res.Upstream(branch)
	push, pushErr := s.res.PushTarget(branch)
	text := ""
	seen := make(map[string]bool)
	for _, name := range names {
		ref, ok := "", false
		switch strings.ToLower(name) {
		case "@{upstream}":
			ref, ok = up, upErr == nil
		case "@{push}":
			ref, ok = push, pushErr == nil
		default:
			s.env.Warn("ignoring value '%s' for status.compareBranches, only @{upstream} and @{push} are supported", name)
		}
		if !ok || seen[ref] {
			continue
		}
		seen[ref] = true
		t, err := s.track(branch, ref, s.aheadBehind != 0)
		if err != nil {
			return "", err
		}
		isUp := upErr == nil && ref == up
		if t.gone {
			if isUp {
				text += "Your branch is based on '" + s.res.Shorten(ref, false) + "', but the upstream is gone.\n"
				text += s.hintLine(`use "git branch --unset-upstream" to fixup`)
			}
			continue
		}
		if text != "" {
			text += "\n"
		}
		isPush := pushErr == nil && ref == push || isUp && (pushErr != nil || push == up)
		from := ""
		if !isUp {
			if rest, ok := strings.CutPrefix(ref, "refs/remotes/"); ok {
				from = " " + strings.Replace(rest, "/", " ", 1)
			}
		}
		text += s.comparison(&t, isUp || from != "", isPush, from)
	}
	return text, nil
}

func (s *wtStatus) hintLine(text string) string {
	if !s.hints {
		return ""
	}
	return "  (" + text + ")\n"
}

// comparison is what status says of a branch and another one.
func (s *wtStatus) comparison(t *comparedRef, pull, push bool, from string) string {
	name := s.res.Shorten(t.ref, false)
	commits := func(n int) string {
		if n == 1 {
			return "1 commit"
		}
		return fmt.Sprintf("%d commits", n)
	}
	switch {
	case t.same:
		return "Your branch is up to date with '" + name + "'.\n"
	case s.aheadBehind == 0:
		text := "Your branch and '" + name + "' refer to different commits.\n"
		if push {
			text += s.hintLine(`use "git status --ahead-behind" for details`)
		}
		return text
	case t.behind == 0:
		text := "Your branch is ahead of '" + name + "' by " + commits(t.ahead) + ".\n"
		if push {
			text += s.hintLine(`use "git push" to publish your local commits`)
		}
		return text
	case t.ahead == 0:
		text := "Your branch is behind '" + name + "' by " + commits(t.behind) + ", and can be fast-forwarded.\n"
		if pull {
			text += s.hintLine(`use "git pull` + from + `" to update your local branch`)
		}
		return text
	}
	text := fmt.Sprintf("Your branch and '%s' have diverged,\nand have %d and %d different commits each, respectively.\n", name, t.ahead, t.behind)
	if pull && !s.template {
		text += s.hintLine(`use "git pull` + from + `" if you want to integrate the remote branch with yours`)
	}
	return text
}

// printState says what is under way.
func (s *wtStatus) printState() {
	t := &s.state
	switch {
	case t.merge:
		if t.interactive {
			s.rebaseInformation()
			s.write("\n")
		}
		s.mergeState()
	case t.am:
		s.amState()
	case t.rebase || t.interactive:
		s.rebaseState()
	case t.cherryPick:
		s.pickState("cherry-pick", "cherry-picking commit ", "Cherry-pick", t.cherryID.IsNull(), shortName(s.env, t.cherryID))
	case t.revert:
		s.pickState("revert", "reverting commit ", "Revert", t.revertID.IsNull(), shortName(s.env, t.revertID))
	}
	if t.bisect {
		if t.bisectFrom != "" {
			s.print("You are currently bisecting, started from branch '" + t.bisectFrom + "'.")
		} else {
			s.print("You are currently bisecting.")
		}
		s.hint(`use "git bisect reset" to get back to the original branch`)
		s.print("")
	}
}

func (s *wtStatus) mergeState() {
	if s.hasUnmerged() {
		s.print("You have unmerged paths.")
		s.hint(`fix conflicts and run "git commit"`)
		s.hint(`use "git merge --abort" to abort the merge`)
	} else {
		s.print("All conflicts fixed but you are still merging.")
		s.hint(`use "git commit" to conclude merge`)
	}
	s.print("")
}

func (s *wtStatus) amState() {
	s.print("You are in the middle of an am session.")
	if s.state.amEmpty {
		s.print("The current patch is empty.")
	} else {
		s.hint(`fix conflicts and then run "git am --continue"`)
	}
	s.hint(`use "git am --skip" to skip this patch`)
	if s.state.amEmpty {
		s.hint(`use "git am --allow-empty" to record this patch as an empty commit`)
	}
	s.hint(`use "git am --abort" to restore the original branch`)
	s.print("")
}

// pickState tells of a cherry-pick or revert.
func (s *wtStatus) pickState(command, doing, noun string, none bool, name string) {
	if none {
		s.print(noun + " currently in progress.")
	} else {
		s.print("You are currently " + doing + name + ".")
	}
	switch {
	case s.hasUnmerged():
		s.hint(`fix conflicts and run "git ` + command + ` --continue"`)
	case none:
		s.hint(`run "git ` + command + ` --continue" to continue`)
	default:
		s.hint(`all conflicts fixed: run "git ` + command + ` --continue"`)
	}
	s.hint(`use "git ` + command + ` --skip" to skip this patch`)
	s.hint(`use "git ` + command + ` --abort" to cancel the ` + command + ` operation`)
	s.print("")
}

func (s *wtStatus) rebaseState() {
	t := &s.state
	s.rebaseInformation()
	on := "You are currently rebasing."
	at := " during a rebase."
	if t.branch != "" {
		on = "You are currently rebasing branch '" + t.branch + "' on '" + t.onto + "'."
		at = " while rebasing branch '" + t.branch + "' on '" + t.onto + "'."
	}
	switch {
	case s.hasUnmerged():
		s.print(on)
		s.hint(`fix conflicts and then run "git rebase --continue"`)
		s.hint(`use "git rebase --skip" to skip this patch`)
		s.hint(`use "git rebase --abort" to check out the original branch`)
	case t.rebase || exists(s.env.Repo.GitPath("MERGE_MSG")):
		s.print(on)
		s.hint(`all conflicts fixed: run "git rebase --continue"`)
	case s.splitting():
		s.print("You are currently splitting a commit" + at)
		s.hint(`Once your working directory is clean, run "git rebase --continue"`)
	default:
		s.print("You are currently editing a commit" + at)
		if !s.amend {
			s.hint(`use "git commit --amend" to amend the current commit`)
			s.hint(`use "git rebase --continue" once you are satisfied with your changes`)
		}
	}
	s.print("")
}

// splitting reports whether a commit is being split in a rebase.
func (s *wtStatus) splitting() bool {
	if !s.amend && !s.noWarn && !s.dirty || s.branch != "HEAD" {
		return false
	}
	store, err := s.env.Repo.Refs()
	if err != nil {
		return false
	}
	head, err := store.ReadRaw("HEAD")
	if err != nil || head.Symref {
		return false
	}
	orig, err := store.ReadRaw("ORIG_HEAD")
	if err != nil || orig.Symref {
		return false
	}
	read := func(name string) string {
		data, _ := os.ReadFile(s.env.Repo.GitPath(name))
		line, _, _ := strings.Cut(string(data), "\n")
		return line
	}
	amend, origHead := read("rebase-merge/amend"), read("rebase-merge/orig-head")
	switch {
	case amend == "" || origHead == "":
		return false
	case amend == origHead:
		return head.ID.String() != amend
	}
	return orig.ID.String() != origHead
}

// rebaseInformation lists the last and next steps of an interactive rebase.
func (s *wtStatus) rebaseInformation() {
	if !s.state.interactive {
		return
	}
	done, _ := s.todoList("rebase-merge/done")
	todo, ok := s.todoList("rebase-merge/git-rebase-todo")
	if !ok {
		s.print("git-rebase-todo is missing.")
	}
	plural := func(n int, one, many string) string {
		if n == 1 {
			return fmt.Sprintf(one, n)
		}
		return fmt.Sprintf(many, n)
	}
	if len(done) == 0 {
		s.print("No commands done.")
	} else {
		s.print(plural(len(done), "Last command done (%d command done):", "Last commands done (%d commands done):"))
		for _, l := range done[max(0, len(done)-2):] {
			s.print("   " + l)
		}
		if len(done) > 2 {
			s.hint("see more in file " + s.env.Repo.GitPathName("rebase-merge/done"))
		}
	}
	if len(todo) == 0 {
		s.print("No commands remaining.")
		return
	}
	s.print(plural(len(todo), "Next command to do (%d remaining command):", "Next commands to do (%d remaining commands):"))
	for _, l := range todo[:min(2, len(todo))] {
		s.print("   " + l)
	}
	s.hint(`use "git rebase --edit-todo" to view and edit`)
}

// todoList reads the commands of a rebase, with object names abbreviated.
func (s *wtStatus) todoList(file string) ([]string, bool) {
	data, err := os.ReadFile(s.env.Repo.GitPath(file))
	if err != nil {
		return nil, false
	}
	var out []string
	for _, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		words := strings.SplitN(line, " ", 3)
		if len(words) > 1 {
			if id, err := s.env.Repo.Algo.FromHex(words[1]); err == nil {
				words[1] = shortName(s.env, id)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return out, true
}
