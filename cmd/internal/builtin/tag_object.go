package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

// text returns the message as it was given.
func (o *tagCommand) text() (string, error) {
	if o.file == "" {
		return o.message, nil
	}
	if o.file == "-" {
		data, err := io.ReadAll(o.env.Stdin)
		if err != nil {
			return "", fmt.Errorf("cannot read '%s': %s", o.file, ErrnoText(err))
		}
		return string(data), nil
	}
	data, err := os.ReadFile(o.env.Path(o.file))
	if err != nil {
		return "", fmt.Errorf("could not open or read '%s': %s", o.file, ErrnoText(err))
	}
	return string(data), nil
}

// cleaner returns what --cleanup does to a message.
func (o *tagCommand) cleaner() (func(string) string, error) {
	comment := "#"
	for _, e := range o.env.Config.Entries() {
		if e.Key == "core.commentchar" || e.Key == "core.commentstring" {
			if comment = e.Value; comment == "auto" || comment == "" {
				comment = "#"
			}
		}
	}
	switch o.cleanup {
	case "", "strip":
		return func(s string) string { return cleanTagMessage(s, comment) }, nil
	case "whitespace":
		return func(s string) string { return cleanTagMessage(s, "") }, nil
	case "verbatim":
		return func(s string) string { return s }, nil
	}
	return nil, errors.New("Invalid cleanup mode " + o.cleanup)
}

// cleanTagMessage removes comments, white space at the ends of lines, and empty
// lines at the ends and beyond the first in a row (git stripspace).
func cleanTagMessage(text, comment string) string {
	var b strings.Builder
	empty := false
	for line := range strings.Lines(text) {
		if comment != "" && strings.HasPrefix(line, comment) {
			continue
		}
		line = strings.TrimRight(line, " \t\n\v\f\r")
		if line == "" {
			empty = b.Len() > 0
			continue
		}
		if empty {
			b.WriteByte('\n')
			empty = false
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// createObject writes the tag object and the ref, behind one barrier.
func (o *tagCommand) createObject(c refs.Change, id oid.ID, name, target, message string) (oid.ID, error) {
	typ, _, err := o.db.Info(id)
	if err != nil {
		return id, errors.New("bad object type.")
	}
	if typ == object.Tag {
		o.env.adviseIf("nestedTag", "You have created a nested tag. The object referred to by your new tag is\n"+
			"already a tag. If you meant to tag the object that it points to, use:\n\n"+
			"\tgit tag -f "+name+" "+target+"^{}")
	}
	source, err := o.env.Repo.Ident()
	if err != nil {
		return id, err
	}
	tagger, err := source.Get(ident.Committer, true)
	if err != nil {
		return id, err
	}
	content := fmt.Sprintf("object %s\ntype %s\ntag %s\ntagger %s\n\n%s", id, typ, name, tagger, message)
	if o.signKey != nil {
		signature, err := signBuffer(o.env, []byte(content), *o.signKey)
		if err != nil {
			o.env.Error(err)
			return id, errors.New("unable to sign the tag")
		}
		content += string(signature)
	}
	b, err := o.env.Repo.NewBarrier()
	if err != nil {
		return id, err
	}
	defer b.Rollback()
	if id, err = o.db.Begin(b).Write(object.Tag, []byte(content)); err != nil {
		o.env.Error(err)
		return id, errors.New("unable to write tag file")
	}
	c.New = refs.OID(id)
	tx := o.store.Begin(false)
	if err := tx.Add(c); err != nil {
		return id, err
	}
	if err := tx.Prepare(b); err != nil {
		return id, err
	}
	return id, publishRefs(o.env, tx, b)
}

// reflogMessage says what was tagged.
func (o *tagCommand) reflogMessage(id oid.ID) (string, error) {
	text, ok := o.env.LookupEnv("GIT_REFLOG_ACTION")
	if !ok {
		text = "tag: tagging " + shortName(o.env, id)
	}
	what := "object of unknown type"
	typ, _, err := o.db.Info(id)
	switch {
	case err != nil:
	case typ == object.Commit:
		what = "commit object"
		if _, data, err := o.db.Read(id); err == nil {
			date := time.Unix(object.CommitTime(data), 0).UTC().Format("2006-01-02")
			what = firstSubjectLine(data) + ", " + date
		}
	case typ == object.Tree:
		what = "tree object"
	case typ == object.Blob:
		what = "blob object"
	case typ == object.Tag:
		what = "other tag object"
	}
	return text + " (" + what + ")", nil
}

// firstSubjectLine returns the first line of a commit's message.
func firstSubjectLine(data []byte) string {
	_, message, _ := bytes.Cut(data, []byte("\n\n"))
	line, _, _ := bytes.Cut(bytes.TrimLeft(message, "\n"), []byte("\n"))
	return string(line)
}
