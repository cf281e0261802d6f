package builtin

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

func (c *committer) parser() *parseopt.Parser {
	c.edit, c.branch, c.aheadBehind = -1, -1, -1
	return &parseopt.Parser{
		Usage: []string{"git commit [<options>] [--] [<pathspec>...]"},
		Options: []parseopt.Option{
			parseopt.Bool('q', "quiet", &c.quiet, "print no summary"),
			parseopt.CountUp('v', "verbose", &c.verbose, "show the changes below the message to edit"),
			parseopt.Group("Message"),
			parseopt.StringP('F', "file", &c.file, "file", "take the message from a file"),
			parseopt.StringP(0, "author", &c.author, "author", "say who wrote the change"),
			parseopt.StringP(0, "date", &c.date, "date", "say when it was written"),
			parseopt.StringList('m', "message", &c.messages, "message", "a paragraph of the message"),
			parseopt.StringP('c', "reedit-message", &c.editMessage, "commit", "edit the message of a commit"),
			parseopt.StringP('C', "reuse-message", &c.useMessage, "commit", "use the message of a commit"),
			parseopt.StringP(0, "fixup", &c.fixup, "[(amend|reword):]commit", "a message that rebase will fold into a commit"),
			parseopt.StringP(0, "squash", &c.squash, "commit", "as --fixup, keeping this message too"),
			parseopt.Bool(0, "reset-author", &c.resetAuthor, "the author is who commits now"),
			parseopt.NotNative(0, "trailer", "trailer", "add a trailer"),
			parseopt.Bool('s', "signoff", &c.signoff, "add a Signed-off-by line"),
			parseopt.StringP('t', "template", &c.template, "file", "start from a file"),
			parseopt.SetInt('e', "edit", &c.edit, "edit the message", 1),
			parseopt.StringP(0, "cleanup", &c.cleanupArg, "mode", "what is removed from the message"),
			parseopt.Bool(0, "status", &c.include, "show the status below the message to edit"),
			parseopt.OptCallback('S', "gpg-sign", "key-id", "sign the commit", func(a parseopt.Arg) error {
				c.signKey, c.noSign = nil, a.Unset
				if !a.Unset {
					c.signKey = &a.Value
				}
				return nil
			}),
			parseopt.Group("Content"),
			parseopt.Bool('a', "all", &c.all, "stage what changed in tracked files"),
			parseopt.Bool('i', "include", &c.also, "stage the paths too"),
			parseopt.NotNative(0, "interactive", "", "choose in a menu"),
			parseopt.NotNative('p', "patch", "", "choose hunk by hunk"),
			parseopt.NotNative('U', "unified", "n", "lines of context of a hunk"),
			parseopt.NotNative(0, "inter-hunk-context", "n", "join hunks that are no further apart"),
			parseopt.Bool('o', "only", &c.only, "commit the paths and nothing else"),
			parseopt.Bool('n', "no-verify", &c.noVerify, "do not run pre-commit and commit-msg"),
			parseopt.Bool(0, "dry-run", &c.dryRun, "only show what would be committed"),
			parseopt.SetInt(0, "short", &c.format, "show it in the short format", formatShort),
			parseopt.SetInt(0, "branch", &c.branch, "tell about the branch", 1),
			parseopt.SetInt(0, "ahead-behind", &c.aheadBehind, "count commits ahead and behind", 1),
			parseopt.SetInt(0, "porcelain", &c.format, "show it in the format for programs", formatV1),
			parseopt.SetInt(0, "long", &c.format, "show it in the format for people", formatLong),
			parseopt.Bool('z', "null", &c.nul, "end each entry with NUL"),
			parseopt.Bool(0, "amend", &c.amend, "replace the last commit"),
			parseopt.Bool(0, "no-post-rewrite", &c.noPostRewrite, "do not run post-rewrite"),
			parseopt.StringP('u', "untracked-files", &c.untracked, "mode", "which untracked files to show: all, normal, no").OptArg("all"),
			parseopt.StringP(0, "pathspec-from-file", &c.fromFile, "file", "read pathspecs from a file"),
			parseopt.Bool(0, "pathspec-file-nul", &c.fileNul, "pathspecs of that file end in NUL"),
			parseopt.Bool(0, "allow-empty", &c.allowEmpty, "even if nothing changed").Hidden(),
			parseopt.Bool(0, "allow-empty-message", &c.allowEmptyMessage, "even without a message").Hidden(),
		},
	}
}

// foreign names what is asked for that only real git does, or "".
func (c *committer) foreign() string {
	if f := foreignStatus(c.env); f != "" {
		return f
	}
	cfg := c.env.Config
	r := c.env.Repo
	if c.signKey != nil {
		if f := foreignSigning(c.env); f != "" {
			return f
		}
	}
	if v, ok := cfg.Get("commit.verbose"); ok && c.verbose == 0 && v != "false" && v != "0" {
		return "commit.verbose"
	}
	for _, key := range []string{"core.commentchar", "core.commentstring"} {
		if v, _ := cfg.Get(key); strings.EqualFold(v, "auto") {
			return key + "=auto"
		}
	}
	if c.signoff {
		for _, e := range cfg.Entries() {
			if strings.HasPrefix(e.Key, "trailer.") {
				return "trailer.*"
			}
		}
	}
	if c.fixup != nil {
		for _, p := range []string{"amend:", "reword:"} {
			if strings.HasPrefix(*c.fixup, p) {
				return "--fixup=" + p
			}
		}
	}
	for _, name := range []string{"sequencer", "rebase-merge", "rebase-apply", "MERGE_AUTOSTASH"} {
		if exists(r.GitPath(name)) {
			return name
		}
	}
	if fi, err := os.Stat(r.GitPath("MERGE_RR")); err == nil && fi.Size() > 0 {
		return "MERGE_RR"
	}
	return ""
}

// given reports whether an option with a value was used.
func given(options ...*string) (n int) {
	for _, o := range options {
		if o != nil {
			n++
		}
	}
	return n
}

// incompatible refuses options of which only one may be used.
func incompatible(names []string, used ...bool) error {
	var found []string
	for i, u := range used {
		if u {
			found = append(found, "'"+names[i]+"'")
		}
	}
	if len(found) < 2 {
		return nil
	}
	last := len(found) - 1
	list := strings.Join(found[:last], ", ")
	if last > 1 {
		list += ","
	}
	return fmt.Errorf("options %s and %s cannot be used together", list, found[last])
}

// validate checks options against each other and against what is under way.
func (c *committer) validate() error {
	r := c.env.Repo
	c.merging = exists(r.GitPath("MERGE_HEAD"))
	c.picking = !c.merging && exists(r.GitPath("CHERRY_PICK_HEAD"))
	if err := c.setFormat(); err != nil {
		return err
	}
	if c.author != nil && !strings.Contains(*c.author, ">") {
		return NotNative("--author=<pattern>").Err
	}
	if c.author != nil && c.resetAuthor {
		return errors.New("options '--reset-author' and '--author' cannot be used together")
	}
	haveM := len(c.messages) > 0
	c.useEditor = c.file == nil && !haveM && c.useMessage == nil
	switch {
	case c.amend && c.head == nil:
		return errors.New("You have nothing to amend.")
	case c.amend && c.merging:
		return errors.New("You are in the middle of a merge -- cannot amend.")
	case c.amend && c.picking:
		return errors.New("You are in the middle of a cherry-pick -- cannot amend.")
	case c.fixup != nil && c.squash != nil:
		return errors.New("options '--squash' and '--fixup' cannot be used together")
	}
	if err := incompatible([]string{"-C", "-c", "-F", "--fixup"}, c.useMessage != nil, c.editMessage != nil, c.file != nil, c.fixup != nil); err != nil {
		return err
	}
	if err := incompatible([]string{"-m", "-c", "-C", "-F"}, haveM, c.editMessage != nil, c.useMessage != nil, c.file != nil); err != nil {
		return err
	}
	if err := c.sources(haveM); err != nil {
		return err
	}
	if err := incompatible([]string{"-i/--include", "-o/--only", "-a/--all", "--interactive/-p/--patch"}, c.also, c.only, c.all, false); err != nil {
		return err
	}
	if c.fixup != nil {
		c.useEditor = false
	}
	if c.edit >= 0 {
		c.useEditor = c.edit == 1
	}
	if c.untracked != nil {
		mode, ok := untrackedMode(*c.untracked, true)
		if !ok {
			return fmt.Errorf("Invalid untracked files mode '%s'", *c.untracked)
		}
		c.st.untrackedMode = mode
	}
	if c.all && len(c.args) > 0 {
		return fmt.Errorf("paths '%s ...' with -a does not make sense", c.args[0])
	}
	if c.st.format != formatNone {
		c.dryRun = true
	}
	if c.verbose > 0 && (c.useEditor || c.dryRun) {
		return NotNative("-v").Err
	}
	return c.setCleanup()
}

func (c *committer) setFormat() error {
	// The format is not left open, so that status.short does not count.
	o := statusOptions{format: c.format, branch: c.branch, aheadBehind: c.aheadBehind, nul: c.nul, noRenames: -1, stash: -1}
	return o.apply(c.st)
}

func (c *committer) setCleanup() error {
	mode, ok := "", false
	if c.cleanupArg != nil {
		mode, ok = *c.cleanupArg, true
	} else {
		mode, ok = c.env.Config.Get("commit.cleanup")
	}
	if !ok {
		mode = "default"
	}
	var err error
	c.cleanup, err = parseCleanup(mode, c.useEditor)
	return err
}

// sources finds the commits whose message and author are used again.
func (c *committer) sources(haveM bool) error {
	if c.useMessage != nil || c.editMessage != nil || c.file != nil || c.fixup != nil || haveM {
		c.template = nil
	} else if c.template == nil {
		if v, ok, err := c.env.Config.Path("commit.template"); err != nil {
			return err
		} else if ok {
			v = c.env.Path(v)
			c.template = &v
		}
	} else {
		v := c.env.Abs(*c.template)
		c.template = &v
	}
	name := c.useMessage
	if c.editMessage != nil {
		name = c.editMessage
	}
	if c.amend && name == nil && c.fixup == nil {
		head := "HEAD"
		name = &head
	}
	if name == nil && !c.picking && c.resetAuthor {
		return errors.New("--reset-author can be used only with -C, -c or --amend.")
	}
	if name != nil {
		src, err := c.source(*name)
		if err != nil {
			return err
		}
		c.messageOf = src
		if !c.resetAuthor {
			c.authorFrom = src
		}
	}
	if c.picking && !c.resetAuthor {
		src, err := c.source("CHERRY_PICK_HEAD")
		if err != nil {
			return err
		}
		c.authorFrom = src
	}
	return nil
}

// source reads the commit that a revision means.
func (c *committer) source(name string) (*messageSource, error) {
	body, err := c.commitBody(name)
	if err != nil {
		return nil, err
	}
	if enc := headerLine(body, "encoding"); enc != "" && !sameEncoding(enc, commitEncoding(c.env)) {
		return nil, NotNative("encoding " + enc).Err
	}
	return &messageSource{name: name, body: body}, nil
}

func (c *committer) commitBody(name string) ([]byte, error) {
	id, err := c.res.Resolve(name, revision.WantCommittish)
	if err != nil && !errors.Is(err, revision.ErrUnknown) {
		return nil, err
	}
	var commit *revision.Commit
	if err == nil {
		w, werr := revision.NewRepoWalk(c.env.Repo)
		if werr != nil {
			return nil, werr
		}
		commit, err = w.Committish(id)
	}
	if err != nil {
		return nil, fmt.Errorf("could not lookup commit '%s'", name)
	}
	db, err := c.env.Repo.ODB()
	if err != nil {
		return nil, err
	}
	_, body, err := db.Read(commit.ID)
	return body, err
}
