package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

var cmdCommitTree = &Command{
	Name:    "commit-tree",
	Setup:   NeedRepo,
	Run:     runCommitTree,
	Options: func() *parseopt.Parser { return (&commitTree{}).parser() },
}

type commitTree struct {
	env     *Env
	db      *odb.DB
	parents []oid.ID
	message []byte
	signKey *string // "": the default key
}

func (c *commitTree) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{
			"git commit-tree <tree> [(-p <parent>)...]",
			"git commit-tree [(-p <parent>)...] [-S[<keyid>]] [(-m <message>)...]\n" +
				"                [(-F <file>)...] <tree>",
		},
		Options: []parseopt.Option{
			parseopt.Callback('p', "", "parent", "a parent of the commit", c.addParent).NoNeg(),
			parseopt.Callback('m', "", "message", "a paragraph of the message", c.addMessage).NoNeg(),
			parseopt.Callback('F', "", "file", "read a paragraph of the message from a file", c.addFile).NoNeg(),
			parseopt.StringP('S', "gpg-sign", &c.signKey, "key-id", "sign the commit").OptArg(""),
		},
	}
}

func (c *commitTree) addParent(a parseopt.Arg) error {
	id, err := c.resolve(a.Value, revision.WantCommit, object.Commit)
	if err != nil {
		return &parseopt.FatalError{Err: err}
	}
	if slices.Contains(c.parents, id) {
		c.env.Error(fmt.Errorf("duplicate parent %s ignored", id))
		return nil
	}
	c.parents = append(c.parents, id)
	return nil
}

// resolve finds the object called name, which must be of one type.
func (c *commitTree) resolve(name string, want revision.Want, typ object.Type) (oid.ID, error) {
	r := revision.New(c.env.Repo)
	r.Say = c.env.line
	id, err := r.Resolve(name, want)
	if errors.Is(err, revision.ErrUnknown) {
		return id, fmt.Errorf("not a valid object name %s", name)
	}
	if err != nil {
		return id, err
	}
	got, _, err := c.db.Info(id)
	switch {
	case err != nil:
		return id, fmt.Errorf("%s is not a valid object", id)
	case got != typ:
		return id, fmt.Errorf("%s is not a valid '%s' object", id, typ)
	}
	return id, nil
}

func (c *commitTree) paragraph() {
	if len(c.message) > 0 {
		c.message = append(c.message, '\n')
	}
}

func (c *commitTree) addMessage(a parseopt.Arg) error {
	c.paragraph()
	c.message = append(c.message, a.Value...)
	if n := len(c.message); n > 0 && c.message[n-1] != '\n' {
		c.message = append(c.message, '\n')
	}
	return nil
}

func (c *commitTree) addFile(a parseopt.Arg) error {
	c.paragraph()
	in := c.env.Stdin
	if a.Value != "-" {
		f, err := os.Open(c.env.Path(a.Value))
		if err != nil {
			return &parseopt.FatalError{Err: fmt.Errorf("could not open '%s' for reading: %s", a.Value, ErrnoText(err))}
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return &parseopt.FatalError{Err: fmt.Errorf("git commit-tree: failed to read '%s': %s", a.Value, ErrnoText(err))}
	}
	c.message = append(c.message, data...)
	return nil
}

func runCommitTree(env *Env, argv []string) Status {
	c := &commitTree{env: env}
	if env.Repo != nil {
		var err error
		if c.db, err = env.Repo.ODB(); err != nil {
			return Fatal(err)
		}
	}
	args, err := env.Parse(c.parser(), argv)
	if err != nil {
		return Fatal(err)
	}
	if len(args) != 1 {
		return Fatalf("must give exactly one tree")
	}
	tree, err := c.resolve(args[0], revision.WantTree, object.Tree)
	if err != nil {
		return Fatal(err)
	}
	if len(c.message) == 0 {
		if c.message, err = io.ReadAll(env.Stdin); err != nil {
			return Fatalf("git commit-tree: failed to read: %s", ErrnoText(err))
		}
	}
	if bytes.IndexByte(c.message, 0) >= 0 {
		return Failure(1, errors.New("a NUL byte in commit log message not allowed."))
	}
	data, err := c.content(tree)
	if err != nil {
		return Fatal(err)
	}
	if c.signKey != nil {
		if f := foreignSigning(env); f != "" {
			return NotNative(f)
		}
		if data, err = signCommit(env, data, *c.signKey); err != nil {
			return Failure(1, err)
		}
	}
	b, err := env.Repo.NewBarrier()
	if err != nil {
		return Fatal(err)
	}
	defer b.Rollback()
	id, err := c.db.Begin(b).Write(object.Commit, data)
	if err != nil {
		return Failure(1, err)
	}
	if err := b.Commit(); err != nil {
		return Fatal(err)
	}
	env.Printf("%s\n", id)
	return OK
}

func (c *commitTree) content(tree oid.ID) ([]byte, error) {
	who, err := c.env.Repo.Ident()
	if err != nil {
		return nil, err
	}
	author, err := who.Get(ident.Author, true)
	if err == nil {
		var committer ident.Ident
		if committer, err = who.Get(ident.Committer, true); err == nil {
			commit := &object.CommitObject{Tree: tree, Parents: c.parents, Author: author.String(), Committer: committer.String(), Message: c.message}
			return encodeCommit(c.env, commit), nil
		}
	}
	if unknown, ok := errors.AsType[*ident.UnknownError](err); ok {
		for _, line := range unknown.Before() {
			c.env.line(line)
		}
	}
	return nil, err
}

// encodeCommit returns the bytes of a commit, with i18n.commitEncoding as its
// encoding. In a message that must be UTF-8, each byte that is not becomes the
// character that it is in Latin-1, and there is a warning.
func encodeCommit(env *Env, c *object.CommitObject) []byte {
	c.Encoding = ""
	if enc, ok := env.Config.Get("i18n.commitencoding"); ok && !strings.EqualFold(enc, "utf-8") && !strings.EqualFold(enc, "utf8") {
		c.Encoding = enc
	}
	data := c.Append(nil)
	if c.Encoding != "" || validText(data) {
		return data
	}
	io.WriteString(env.Stderr, "Warning: commit message did not conform to UTF-8.\n"+
		"You may want to amend it after fixing the message, or set the config\n"+
		"variable i18n.commitEncoding to the encoding your project uses.\n")
	fixed := make([]byte, 0, len(data)+16)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n <= 1 || nonCharacter(r) {
			fixed = utf8.AppendRune(fixed, rune(data[0]))
			data = data[1:]
			continue
		}
		fixed = append(fixed, data[:n]...)
		data = data[n:]
	}
	return fixed
}

// validText is UTF-8 as git has it: without the code points that are no characters.
func validText(data []byte) bool {
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			data = data[1:]
			continue
		}
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n <= 1 || nonCharacter(r) {
			return false
		}
		data = data[n:]
	}
	return true
}

func nonCharacter(r rune) bool { return r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef }
