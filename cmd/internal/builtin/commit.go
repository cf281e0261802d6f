package builtin

import (
	"errors"
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
	fileNul, include, noSign                 bool
	edit                                     int // -1: not said
	format, branch, aheadBehind              int
	file, template, fromFile, author, date   *string
	useMessage, editMessage, fixup, squash   *string
	cleanupArg, untracked                    *string
	signKey                                  *string // "": the default key
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
	if signs, err := env.Config.Bool("commit.gpgsign", false); err != nil {
		return Fatal(err)
	} else if signs && !c.noSign && c.signKey == nil {
		c.signKey = new(string)
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
