package builtin

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/hook"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/syncpolicy"
)

var cmdCommit = &Command{
	Name:    "commit",
	Setup:   NeedWorkTree,
	Run:     runCommit,
	Options: func() *parseopt.Parser { return (&committer{}).parser() },
}

// A committer is one run of commit.
type committer struct {
	env *Env
	res *revision.Resolver
	st  *wtStatus

	// Options.
	quiet, all, also, only, amend, dryRun    bool
	allowEmpty, allowEmptyMessage, noVerify  bool
	signoff, resetAuthor, noPostRewrite, nul bool
	fileNul, include                         bool
	edit                                     int // -1: not said
	format, branch, aheadBehind              int
	file, template, fromFile, author, date   *string
	useMessage, editMessage, fixup, squash   *string
	cleanupArg, untracked                    *string
	messages                                 []string
	verbose                                  int

	// What was found out.
	args       []string
	head       *revision.Commit // nil: no commit yet
	headBody   []byte
	walk       *revision.Walk
	merging    bool
	picking    bool
	useEditor  bool
	cleanup    cleanupMode
	authorFrom *messageSource // whose author is taken over
	messageOf  *messageSource // whose message is taken over

	barrier *syncpolicy.Barrier
	tx      *odb.Transaction
	ix      *commitIndex
	hooks   *hook.Runner
	people  identities
	message []byte
	subject string // for the reflog, as it was given
	tree    oid.ID
	id      oid.ID
}

// A messageSource is a commit whose message or author is used again.
type messageSource struct {
	name string
	body []byte
}

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
				if a.Unset {
					return nil
				}
				return &parseopt.NotNativeError{Option: "-S"}
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

// errNoCommit ends commit with 1, after it said why.
var errNoCommit = statusError(1)

func runCommit(env *Env, argv []string) Status {
	c := &committer{env: env, res: newResolver(env)}
	if len(argv) == 1 && argv[0] == "-h" { // whatever the configuration says
		_, err := env.Parse(c.parser(), argv)
		return Fatal(err)
	}
	var err error
	if c.st, err = newStatus(env); err != nil {
		return Fatal(err)
	}
	c.st.template = true
	if err := c.readHead(); err != nil {
		return Fatal(err)
	}
	if c.include, err = env.Config.Bool("commit.status", true); err != nil {
		return Fatal(err)
	}
	if c.args, err = env.Parse(c.parser(), argv); err != nil {
		return Fatal(err)
	}
	if f := c.foreign(); f != "" {
		return NotNative(f)
	}
	if err := c.validate(); err != nil {
		return revParseStatus(err)
	}
	c.hooks = env.hooksOf(env.Repo)
	if c.barrier, err = env.Repo.NewBarrier(); err != nil {
		return Fatal(err)
	}
	defer c.barrier.Rollback()
	if c.ix, err = c.prepareIndex(); err != nil {
		if errors.Is(err, errSaid) {
			return Exit(1)
		}
		var code statusError
		if errors.As(err, &code) {
			return Exit(int(code))
		}
		return foreignIndex(err)
	}
	defer c.ix.close()
	if c.dryRun {
		return c.runDry()
	}
	return revParseStatus(c.run())
}

// readHead reads the commit that HEAD is at.
func (c *committer) readHead() error {
	id, err := revision.New(c.env.Repo).Resolve("HEAD", revision.Any)
	if errors.Is(err, revision.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.walk, err = revision.NewRepoWalk(c.env.Repo); err != nil {
		return err
	}
	if c.head, err = c.walk.Committish(id); err != nil {
		var missing *revision.MissingError
		if errors.As(err, &missing) && missing.Err != nil {
			err = missing.Err
		}
		return err
	}
	db, err := c.env.Repo.ODB()
	if err != nil {
		return err
	}
	_, c.headBody, err = db.Read(c.head.ID)
	return err
}

// foreign names what is asked for that only real git does, or "".
func (c *committer) foreign() string {
	if f := foreignStatus(c.env); f != "" {
		return f
	}
	cfg := c.env.Config
	r := c.env.Repo
	signs, err := cfg.Bool("commit.gpgsign", false)
	if err == nil && signs {
		return "commit.gpgSign"
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

// runDry shows what would be committed.
func (c *committer) runDry() Status {
	c.statusOf(c.env.Stdout, false)
	if err := c.st.collect(); err != nil {
		return Fatal(err)
	}
	if err := c.st.printFormat(); err != nil {
		return Fatal(err)
	}
	if !c.st.committable {
		return Exit(1)
	}
	return OK
}

// run makes the commit: everything that it writes shares one barrier, but what
// a hook or an editor must see is published before they run.
func (c *committer) run() error {
	if err := c.identify(); err != nil {
		return err
	}
	if err := c.preCommit(); err != nil {
		return err
	}
	hookArgs, err := c.composeMessage()
	if err != nil {
		return err
	}
	if err := c.checkChanged(); err != nil {
		return err
	}
	if err := c.buildTree(); err != nil {
		return err
	}
	if err := c.editing(hookArgs); err != nil {
		return err
	}
	parents, action, err := c.parents()
	if err != nil {
		return err
	}
	if err := c.finalMessage(); err != nil {
		return err
	}
	if err := c.writeCommit(parents); err != nil {
		return err
	}
	if err := c.publish(action); err != nil {
		return err
	}
	return c.afterwards()
}

// interrupted reports whether something of the user's runs in between.
func (c *committer) interrupted() bool {
	if c.useEditor || c.hooks.Exists("prepare-commit-msg") {
		return true
	}
	return !c.noVerify && (c.hooks.Exists("pre-commit") || c.hooks.Exists("commit-msg"))
}

// environ is the environment of hooks and editor.
func (c *committer) environ(indexFile string) []string {
	set := append(c.authorVariables(), "GIT_INDEX_FILE="+indexFile)
	if !c.useEditor {
		set = append(set, "GIT_EDITOR=:")
	}
	return hook.Environ(c.env.Repo.Environ(), set...)
}

func (c *committer) authorVariables() []string {
	a := &c.people.author
	return []string{"GIT_AUTHOR_NAME=" + a.Name, "GIT_AUTHOR_EMAIL=" + a.Email, "GIT_AUTHOR_DATE=@" + a.Date()}
}

// runHook runs a hook; the commit ends if it fails.
func (c *committer) runHook(name string, args ...string) (ran bool, err error) {
	if !c.hooks.Exists(name) {
		return false, nil
	}
	if err := c.env.Flush(); err != nil {
		return false, err
	}
	ran, err = c.hooks.Run(name, hook.Options{
		Args: args, Environ: c.environ(c.ix.name()), Stdin: c.env.Stdin, Stdout: c.env.Stderr, Stderr: c.env.Stderr,
	})
	var failed *hook.ExitError
	if errors.As(err, &failed) {
		return ran, errNoCommit
	}
	return ran, err
}

func (c *committer) preCommit() error {
	if c.interrupted() {
		if err := c.ix.expose(); err != nil {
			return err
		}
	}
	if c.noVerify {
		return nil
	}
	ran, err := c.runHook("pre-commit")
	if err == nil && ran {
		err = c.ix.reread()
	}
	return err
}

// checkChanged ends the commit if it would change nothing.
func (c *committer) checkChanged() error {
	if c.merging || c.allowEmpty || c.amend && len(c.head.Parents) > 1 {
		return nil
	}
	changed, err := c.ix.changed()
	if err != nil || changed {
		return err
	}
	c.statusOf(c.env.Stdout, false)
	if err := c.st.collect(); err != nil {
		return err
	}
	if err := c.st.printLong(); err != nil {
		return err
	}
	switch {
	case c.amend:
		c.env.line("You asked to amend the most recent commit, but doing so would make\n" +
			"it empty. You can repeat your command with --allow-empty, or you can\n" +
			"remove the commit entirely with \"git reset HEAD^\".")
	case c.picking:
		c.env.line("The previous cherry-pick is now empty, possibly due to conflict resolution.\n" +
			"If you wish to commit it anyway, use:\n\n    git commit --allow-empty\n\n" +
			"Otherwise, please use 'git cherry-pick --skip'")
	}
	return errNoCommit
}

// statusOf prepares a status of what will be committed.
func (c *committer) statusOf(out interface{ Write([]byte) (int, error) }, noWarn bool) {
	s := c.st
	s.out, s.noWarn, s.files = out, noWarn, c.ix.view()
	s.changes, s.byPath = nil, make(map[string]*wtChange)
	s.committable, s.dirty, s.initial = false, false, false
	if c.amend {
		s.amend, s.reference = true, "HEAD^1"
	}
}

func (c *committer) buildTree() error {
	tree, err := c.ix.writeTree()
	if err != nil {
		c.env.Error(errors.New("Error building trees"))
		return errNoCommit
	}
	c.tree = tree
	return nil
}

func (c *committer) editing(hookArgs []string) error {
	path := c.env.Repo.GitPathName("COMMIT_EDITMSG")
	if _, err := c.runHook("prepare-commit-msg", append([]string{path}, hookArgs...)...); err != nil {
		return err
	}
	if c.useEditor {
		if err := launchEditor(c.env, c.env.Repo.GitPath("COMMIT_EDITMSG"), c.environ(c.ix.name())); err != nil {
			c.env.Error(err)
			c.env.line("Please supply the message using either -m or -F option.")
			return errNoCommit
		}
	}
	if c.noVerify {
		return nil
	}
	_, err := c.runHook("commit-msg", path)
	return err
}

// publish moves HEAD and lets go everything that was staged.
func (c *committer) publish(action string) error {
	if err := c.ix.stage(); err != nil {
		return err
	}
	store, err := c.env.Repo.Refs()
	if err != nil {
		return err
	}
	tx := store.Begin(false)
	old := null(c.env)
	if c.head != nil {
		old = refs.OID(c.head.ID)
	}
	if err := tx.Add(refs.Change{Name: "HEAD", New: refs.OID(c.id), Old: old, Message: action + ": " + c.subject}); err != nil {
		return err
	}
	if err := tx.Prepare(c.barrier); err != nil {
		return err
	}
	if err := tx.Commit(c.barrier); err != nil {
		return err
	}
	c.forgetMerge()
	return tx.Explain(c.barrier.Commit())
}

// forgetMerge removes what told of a merge or cherry-pick under way.
func (c *committer) forgetMerge() {
	r := c.env.Repo
	for _, name := range []string{"CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG"} {
		path := r.GitPath(name)
		if !exists(path) {
			continue
		}
		c.barrier.Do(syncpolicy.Removals, func() error {
			err := c.env.FS.Remove(path)
			if isNotExist(err) {
				err = nil
			}
			return err
		}, r.GitDir)
	}
}

// afterwards runs the hooks that come too late to change anything, and prints
// the summary.
func (c *committer) afterwards() error {
	c.ix.published()
	if c.hooks.Exists("post-commit") {
		if err := c.env.Flush(); err != nil {
			return err
		}
		c.hooks.Run("post-commit", hook.Options{
			Environ: c.environ(c.env.Repo.GitPathName("index")), Stdin: c.env.Stdin, Stdout: c.env.Stderr, Stderr: c.env.Stderr,
		}) // no answer of it matters
	}
	if c.amend && !c.noPostRewrite && c.hooks.Exists("post-rewrite") {
		if err := c.env.Flush(); err != nil {
			return err
		}
		line := c.head.ID.String() + " " + c.id.String() + "\n"
		c.hooks.Run("post-rewrite", hook.Options{
			Args: []string{"amend"}, Environ: hook.Environ(c.env.Repo.Environ(), c.authorVariables()...), Stdin: strings.NewReader(line), Stdout: c.env.Stderr, Stderr: c.env.Stderr,
		}) // nor of this one
	}
	if c.quiet {
		return nil
	}
	return c.summary()
}
