package builtin

import (
	"fmt"
	"os"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/diff"
	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// summary prints what commit says in the end.
func (c *committer) summary() error {
	store, err := c.env.Repo.Refs()
	if err != nil {
		return err
	}
	head, err := store.Resolve("HEAD", 0)
	if err != nil {
		return fmt.Errorf("unable to resolve HEAD after creating commit")
	}
	name := "detached HEAD"
	if head.Name != "HEAD" {
		name = strings.TrimPrefix(head.Name, "refs/heads/")
	}
	root := ""
	if c.head == nil {
		root = " (root-commit)"
	}
	c.env.Print("[", name, root, " ", shortName(c.env, c.id), "] ", subjectOf(messageBody(append([]byte("\n\n"), c.message...))), "\n")
	p := &c.people
	if p.author.Name != p.committer.Name || p.author.Email != p.committer.Email {
		c.env.Print(" Author: ", p.author.Name, " <", p.author.Email, ">\n")
	}
	if c.authorFrom != nil || c.date != nil {
		c.env.Print(" Date: ", p.show(p.author), "\n")
	}
	if !p.source.SufficientlyGiven(ident.Committer) {
		c.env.Print(" Committer: ", p.committer.Name, " <", p.committer.Email, ">\n")
		c.implicitIdentity()
	}
	return c.summaryChanges()
}

// implicitIdentity says that the identity was guessed, and what to do about it.
func (c *committer) implicitIdentity() {
	if on, err := c.env.Config.Bool("advice.implicitidentity", true); err != nil || !on {
		return
	}
	home, xdg := c.env.Getenv("HOME"), c.env.Getenv("XDG_CONFIG_HOME")
	if xdg == "" {
		xdg = home + "/.config"
	}
	_, err := os.Stat(home + "/.gitconfig")
	_, xerr := os.Stat(xdg + "/git/config")
	c.env.Print("Your name and email address were configured automatically based\n" +
		"on your username and hostname. Please check that they are accurate.\n")
	if err == nil || xerr == nil {
		c.env.Print("You can suppress this message by setting them explicitly:\n\n" +
			"    git config --global user.name \"Your Name\"\n" +
			"    git config --global user.email you@example.com\n\n")
	} else {
		c.env.Print("You can suppress this message by setting them explicitly. Run the\n" +
			"following command and follow the instructions in your editor to edit\n" +
			"your configuration file:\n\n    git config --global --edit\n\n")
	}
	c.env.Print("After doing this, you may fix the identity used for this commit with:\n\n    git commit --amend --reset-author\n")
}

// summaryChanges prints what the commit changed; nothing for a merge.
func (c *committer) summaryChanges() error {
	commit, err := c.committed()
	if err != nil || len(commit) > 1 {
		return err
	}
	old := c.env.Repo.Algo.Null()
	if len(commit) == 1 {
		parent, err := c.walk.Commit(commit[0])
		if err != nil {
			return err
		}
		old = parent.Tree
	}
	db := c.ix.files.Objects
	var changes []diff.Change
	cmp := diff.Comparer{DB: db, Recurse: true}
	if err := cmp.TreeTree(old, c.tree, func(ch diff.Change) error {
		changes = append(changes, ch)
		return nil
	}); err != nil || len(changes) == 0 {
		return err
	}
	find := diff.Renames{Limit: c.renameLimit(), Content: c.ix.files.content}
	changes, _ = find.Find(db, changes)
	out := &diffOutput{env: c.env, db: db, content: c.ix.files.content, high: c.st.highQuoted}
	if err := out.shortStat(changes); err != nil {
		return err
	}
	out.summary(changes)
	return nil
}

// committed returns the parents of the new commit.
func (c *committer) committed() ([]oid.ID, error) {
	_, body, err := c.ix.files.Objects.Read(c.id)
	if err != nil {
		return nil, err
	}
	parsed, err := object.ParseCommit(c.id, body)
	if err != nil {
		return nil, err
	}
	return parsed.Parents, nil
}

func (c *committer) renameLimit() int {
	n, err := c.env.Config.Int("diff.renamelimit", 0)
	if err != nil {
		return 0
	}
	if n == 0 && c.env.Config.Lookup("diff.renamelimit") != nil {
		return -1
	}
	return n
}
