package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// identities are who made a commit.
type identities struct {
	source            *ident.Source
	author, committer ident.Ident
}

// show is the date of who as people read it.
func (p *identities) show(who ident.Ident) string {
	mode, _ := ident.ParseMode("default")
	return mode.Show(who.When, who.Offset, time.Now(), p.source.Location())
}

// identify finds out who the author is, and who commits.
func (c *committer) identify() error {
	source, err := c.env.Repo.Ident()
	if err != nil {
		return err
	}
	c.people.source = source
	if err := c.findAuthor(); err != nil {
		return err
	}
	c.people.committer, err = source.Get(ident.Committer, true)
	return err
}

func (c *committer) findAuthor() error {
	value := func(key string) ident.Value {
		v, ok := c.env.LookupEnv(key)
		return ident.Value{Text: v, Set: ok}
	}
	name, email, date := value("GIT_AUTHOR_NAME"), value("GIT_AUTHOR_EMAIL"), c.env.Getenv("GIT_AUTHOR_DATE")
	if c.authorFrom != nil {
		line := headerLine(c.authorFrom.body, "author")
		if line == "" {
			return fmt.Errorf("commit '%s' lacks author header", c.authorFrom.name)
		}
		parts, ok := ident.Split(line)
		if !ok {
			return fmt.Errorf("commit '%s' has malformed author line", c.authorFrom.name)
		}
		name, email = ident.Value{Text: parts.Name, Set: true}, ident.Value{Text: parts.Email, Set: true}
		if parts.Date != "" {
			date = "@" + parts.Date + " " + parts.Zone
		}
	}
	if c.author != nil {
		parts, ok := ident.Split(*c.author)
		if !ok {
			return errors.New("malformed --author parameter")
		}
		name, email = ident.Value{Text: parts.Name, Set: true}, ident.Value{Text: parts.Email, Set: true}
	}
	if c.date != nil {
		forced, ok := c.forcedDate(*c.date)
		if !ok {
			return fmt.Errorf("invalid date format: %s", *c.date)
		}
		date = forced
	}
	var err error
	c.people.author, err = c.people.source.Format(ident.Author, name, email, date, true)
	return err
}

// forcedDate reads the value of --date, which may be any date.
func (c *committer) forcedDate(s string) (string, bool) {
	src := c.people.source
	sec, _ := src.Datestamp()
	now, loc := time.Unix(sec, 0), src.Location()
	if when, offset, ok := ident.ParseDate(s, now, loc); ok {
		return "@" + ident.FormatRaw(when, offset), true
	}
	when, ok := ident.Approxidate(s, now, loc)
	if !ok {
		return "", false
	}
	_, offset := time.Unix(when, 0).In(loc).Zone()
	return "@" + ident.FormatRaw(when, offset/60), true
}

// parents returns the parents of the new commit, and what its reflog entry
// calls the action.
func (c *committer) parents() (parents []oid.ID, action string, err error) {
	switch {
	case c.head == nil:
		action = "commit (initial)"
	case c.amend:
		action = "commit (amend)"
		for _, p := range c.head.Parents {
			parents = append(parents, p.ID)
		}
	case c.merging:
		action = "commit (merge)"
		parents, err = c.mergeParents()
	default:
		if action = "commit"; c.picking {
			action = "commit (cherry-pick)"
		}
		parents = []oid.ID{c.head.ID}
	}
	if v, ok := c.env.LookupEnv("GIT_REFLOG_ACTION"); ok {
		action = v
	}
	return parents, action, err
}

// mergeParents reads MERGE_HEAD.
func (c *committer) mergeParents() ([]oid.ID, error) {
	r := c.env.Repo
	data, err := os.ReadFile(r.GitPath("MERGE_HEAD"))
	if err != nil {
		return nil, fmt.Errorf("could not open '%s' for reading: %s", r.GitPathName("MERGE_HEAD"), ErrnoText(err))
	}
	parents := []oid.ID{c.head.ID}
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		id, err := r.Algo.FromHex(line)
		if err != nil {
			return nil, fmt.Errorf("Corrupt MERGE_HEAD file (%s)", line)
		}
		commit, err := c.walk.Committish(id)
		if err != nil {
			return nil, fmt.Errorf("Corrupt MERGE_HEAD file (%s)", line)
		}
		if commit.ID != id {
			return nil, NotNative("MERGE_HEAD").Err // a merged tag goes into the commit
		}
		parents = append(parents, id)
	}
	if mode, err := os.ReadFile(r.GitPath("MERGE_MODE")); err == nil && string(mode) == "no-ff" {
		return parents, nil
	}
	return c.walk.Reduce(parents)
}

// commitEncoding is i18n.commitEncoding.
func commitEncoding(env *Env) string {
	if v, ok := env.Config.Get("i18n.commitencoding"); ok && v != "" {
		return v
	}
	return "UTF-8"
}

func isUTF8(encoding string) bool {
	return encoding == "" || strings.EqualFold(encoding, "utf-8") || strings.EqualFold(encoding, "utf8")
}

func sameEncoding(a, b string) bool {
	return isUTF8(a) && isUTF8(b) || strings.EqualFold(a, b)
}

// writeCommit writes the commit object.
func (c *committer) writeCommit(parents []oid.ID) error {
	if bytes.IndexByte(c.message, 0) >= 0 {
		c.env.Error(errors.New("a NUL byte in commit log message not allowed."))
		return errors.New("failed to write commit object")
	}
	encoding := commitEncoding(c.env)
	b := commitHeader(c.tree, parents, c.people.author.String(), c.people.committer.String())
	if !isUTF8(encoding) {
		b = append(append(append(b, "encoding "...), encoding...), '\n')
	}
	if c.amend {
		b = append(b, extraHeaders(c.headBody)...)
	}
	if isUTF8(encoding) {
		var headOK, messageOK bool
		b, headOK = fixUTF8(b)
		c.message, messageOK = fixUTF8(c.message)
		if !headOK || !messageOK {
			c.env.line("Warning: commit message did not conform to UTF-8.\n" +
				"You may want to amend it after fixing the message, or set the config\n" +
				"variable i18n.commitEncoding to the encoding your project uses.")
		}
	}
	b = append(append(b, '\n'), c.message...)
	if c.signKey != nil {
		signed, err := signCommit(c.env, b, *c.signKey)
		if err != nil {
			c.env.Error(err)
			return errors.New("failed to write commit object")
		}
		b = signed
	}
	id, err := c.tx.Write(object.Commit, b)
	if err != nil {
		c.env.Error(err)
		return errors.New("failed to write commit object")
	}
	c.id = id
	return nil
}

// commitHeader is the beginning of a commit.
func commitHeader(tree oid.ID, parents []oid.ID, author, committer string) []byte {
	b := append(tree.AppendHex([]byte("tree ")), '\n')
	for _, p := range parents {
		b = append(p.AppendHex(append(b, "parent "...)), '\n')
	}
	b = append(append(append(b, "author "...), author...), '\n')
	return append(append(append(b, "committer "...), committer...), '\n')
}

// extraHeaders returns the headers of a commit that git does not make itself
// anew, without signatures, which would not be valid any more.
func extraHeaders(body []byte) []byte {
	var out []byte
	keep := false
	for len(body) > 0 && body[0] != '\n' {
		end := bytes.IndexByte(body, '\n') + 1
		if end == 0 {
			end = len(body)
		}
		line := body[:end]
		body = body[end:]
		if line[0] != ' ' {
			key, _, _ := bytes.Cut(line, []byte{' '})
			switch string(key) {
			case "tree", "parent", "author", "committer", "encoding", "gpgsig", "gpgsig-sha256":
				keep = false
			default:
				keep = true
			}
		}
		if keep {
			out = append(out, line...)
		}
	}
	return out
}

// fixUTF8 turns bytes that are not UTF-8 into the characters that they are in
// Latin-1. ok is false if there were any.
func fixUTF8(b []byte) (fixed []byte, ok bool) {
	at := badUTF8(b)
	if at < 0 {
		return b, true
	}
	out := make([]byte, 0, len(b)+16)
	for at >= 0 {
		out = append(out, b[:at]...)
		out = utf8.AppendRune(out, rune(b[at]))
		b = b[at+1:]
		at = badUTF8(b)
	}
	return append(out, b...), false
}

// badUTF8 finds the first byte of b that is not part of a character, or -1.
// The characters that Unicode never assigns do not count as such.
func badUTF8(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef {
			return i
		}
		i += n
	}
	return -1
}
