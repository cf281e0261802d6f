package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/ident"
)

// A cleanupMode says what is removed from a commit message.
type cleanupMode uint8

const (
	cleanNothing  cleanupMode = iota
	cleanSpace                // superfluous white space
	cleanAll                  // and comments
	cleanScissors             // white space, and all from the scissors line on
)

// parseCleanup reads a value of --cleanup.
func parseCleanup(mode string, editor bool) (cleanupMode, error) {
	switch mode {
	case "default":
		if editor {
			return cleanAll, nil
		}
		return cleanSpace, nil
	case "verbatim":
		return cleanNothing, nil
	case "whitespace":
		return cleanSpace, nil
	case "strip":
		return cleanAll, nil
	case "scissors":
		if editor {
			return cleanScissors, nil
		}
		return cleanSpace, nil
	}
	return 0, fmt.Errorf("Invalid cleanup mode %s", mode)
}

// stripSpace removes white space at the ends of lines, and empty lines at both
// ends and beyond one in a row; with comment also lines that begin with it.
func stripSpace(text []byte, comment string) []byte {
	out := make([]byte, 0, len(text)+1)
	empty := 0
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if comment != "" && bytes.HasPrefix(line, []byte(comment)) {
			continue
		}
		line = bytes.TrimRight(line, " \t\v\f\r")
		if len(line) == 0 {
			empty++
			continue
		}
		if empty > 0 && len(out) > 0 {
			out = append(out, '\n')
		}
		empty = 0
		out = append(append(out, line...), '\n')
	}
	return out
}

const scissorsLine = "------------------------ >8 ------------------------\n"

// scissorsAt returns where the part of a message ends that is above the
// scissors line.
func scissorsAt(text []byte, comment string) int {
	mark := []byte(comment + " " + scissorsLine)
	if bytes.HasPrefix(text, mark) {
		return 0
	}
	if i := bytes.Index(text, append([]byte{'\n'}, mark...)); i >= 0 {
		return i + 1
	}
	return len(text)
}

// ignoredTail returns how much of the end of a message is comments, or an old
// list of conflicts.
func ignoredTail(text []byte, comment string) int {
	end := scissorsAt(text, comment)
	tail, conflicts := -1, false
	for at := 0; at < end; {
		next := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := text[at:end]
		switch {
		case bytes.HasPrefix(line, []byte(comment)), text[at] == '\n':
			if tail < 0 {
				tail = at
			}
		case bytes.HasPrefix(line, []byte("Conflicts:\n")):
			conflicts = true
			if tail < 0 {
				tail = at
			}
		case conflicts && text[at] == '\t':
		default:
			tail, conflicts = -1, false
		}
		at = next
	}
	if tail > 0 {
		return len(text) - tail
	}
	return len(text) - end
}

// composeMessage writes the message, and what the editor shows below it, into
// COMMIT_EDITMSG. It returns the arguments of the prepare-commit-msg hook.
func (c *committer) composeMessage() (hookArgs []string, err error) {
	text, hookArgs, err := c.sourceText()
	if err != nil {
		return nil, err
	}
	comment := commentString(c.env)
	if c.cleanup != cleanNothing && !(len(hookArgs) > 0 && hookArgs[0] == "template") {
		text = stripSpace(text, "")
	}
	if c.signoff {
		text = appendSignoff(text, ignoredTail(text, comment), c.people.committer)
	}
	var b bytes.Buffer
	b.Write(text)
	if c.useEditor && c.include {
		if err := c.editorText(&b, comment); err != nil {
			return nil, err
		}
	}
	if err := writeFile(c.env, c.env.Repo.GitPath("COMMIT_EDITMSG"), b.Bytes()); err != nil {
		return nil, fmt.Errorf("could not open '%s': %s", c.env.Repo.GitPathName("COMMIT_EDITMSG"), ErrnoText(err))
	}
	return hookArgs, nil
}

// writeFile replaces the content of a file that nothing depends on.
func writeFile(env *Env, path string, data []byte) error {
	f, err := env.FS.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// sourceText returns the message as it comes from wherever it comes from.
func (c *committer) sourceText() (text []byte, hookArgs []string, err error) {
	if c.squash != nil {
		if c.messageOf != nil && c.messageOf.name == *c.squash {
			text = append(text, "squash! "...)
		} else {
			body, err := c.commitBody(*c.squash)
			if err != nil {
				return nil, nil, err
			}
			text = append(text, "squash! "+messageSubject(body)+"\n\n"...)
		}
	}
	more, hookArgs, err := c.givenText()
	if c.squash != nil {
		hookArgs = []string{"message", ""}
	}
	return append(text, more...), hookArgs, err
}

func (c *committer) givenText() (text []byte, hookArgs []string, err error) {
	r := c.env.Repo
	read := func(name string) ([]byte, error) {
		data, err := os.ReadFile(r.GitPath(name))
		if err != nil {
			return nil, fmt.Errorf("could not read %s: %s", name, ErrnoText(err))
		}
		return data, nil
	}
	joined := []byte(joinMessages(c.messages))
	switch {
	case len(c.messages) > 0 && c.fixup == nil:
		return joined, []string{"message"}, nil
	case c.file != nil:
		text, err = c.fileText(*c.file)
		return text, []string{"message"}, err
	case c.messageOf != nil:
		return messageBody(c.messageOf.body), []string{"commit", c.messageOf.name}, nil
	case c.fixup != nil:
		body, err := c.commitBody(*c.fixup)
		if err != nil {
			return nil, nil, err
		}
		text = []byte("fixup! " + messageSubject(body) + "\n\n")
		return append(text, joined...), []string{"message"}, nil
	case exists(r.GitPath("MERGE_MSG")):
		kind := "merge"
		if exists(r.GitPath("SQUASH_MSG")) {
			kind = "squash"
			if text, err = read("SQUASH_MSG"); err != nil {
				return nil, nil, err
			}
		}
		more, err := read("MERGE_MSG")
		return append(text, more...), []string{kind}, err
	case exists(r.GitPath("SQUASH_MSG")):
		text, err = read("SQUASH_MSG")
		return text, []string{"squash"}, err
	case c.template != nil:
		if text, err = os.ReadFile(*c.template); err != nil {
			err = fmt.Errorf("could not read '%s': %s", *c.template, ErrnoText(err))
		}
		return text, []string{"template"}, err
	case c.merging:
		return nil, []string{"merge"}, nil
	case c.picking:
		return nil, []string{"commit", "CHERRY_PICK_HEAD"}, nil
	}
	return nil, nil, nil
}

// joinMessages makes paragraphs of the values of -m.
func joinMessages(messages []string) string {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(m)
		if !strings.HasSuffix(m, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (c *committer) fileText(name string) ([]byte, error) {
	if name == "-" {
		text, err := io.ReadAll(c.env.Stdin)
		if err != nil {
			return nil, fmt.Errorf("could not read log from standard input: %s", ErrnoText(err))
		}
		return text, nil
	}
	name = prefixFilename(c.env.Repo.Prefix, name)
	text, err := os.ReadFile(c.env.Path(name))
	if err != nil {
		return nil, fmt.Errorf("could not read log file '%s': %s", name, ErrnoText(err))
	}
	return text, nil
}

// messageBody returns the message of a commit without leading empty lines.
func messageBody(body []byte) []byte {
	_, msg, _ := bytes.Cut(body, []byte("\n\n"))
	for len(msg) > 0 {
		line, rest, ok := bytes.Cut(msg, []byte{'\n'})
		if !ok || len(bytes.TrimSpace(line)) > 0 {
			break
		}
		msg = rest
	}
	return msg
}

// messageSubject returns the first paragraph of a commit's message, as one line.
func messageSubject(body []byte) string { return subjectOf(messageBody(body)) }

func subjectOf(msg []byte) string {
	var words []string
	for len(msg) > 0 {
		line, rest, _ := bytes.Cut(msg, []byte{'\n'})
		if line = bytes.TrimRight(line, " \t\r\v\f"); len(line) == 0 {
			break
		}
		words = append(words, string(line))
		msg = rest
	}
	return strings.Join(words, " ")
}

// editorText writes what the editor shows below the message.
func (c *committer) editorText(b *bytes.Buffer, comment string) error {
	s := c.st
	hints := s.hints
	s.hints, s.comment = false, comment
	defer func() { s.hints, s.comment = hints, "" }()
	c.statusOf(b, true)
	cut := func() { b.WriteString(cutText(comment)) }
	if c.merging || c.picking {
		if c.cleanup == cleanScissors {
			cut()
		}
		what := "cherry-pick"
		ref := "CHERRY_PICK_HEAD"
		if c.merging {
			what, ref = "merge", "MERGE_HEAD"
		}
		s.print("\nIt looks like you may be committing a " + what + ".\nIf this is not correct, please run\n\tgit update-ref -d " +
			ref + "\nand try again.")
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	switch c.cleanup {
	case cleanAll:
		end := ", and an empty message aborts the commit."
		if c.allowEmptyMessage {
			end = "."
		}
		s.print("Please enter the commit message for your changes. Lines starting\nwith '" + comment + "' will be ignored" + end)
	case cleanScissors:
		if !c.merging && !c.picking {
			cut()
		}
	default:
		text := "Please enter the commit message for your changes. Lines starting\nwith '" + comment +
			"' will be kept; you may remove them yourself if you want to."
		if !c.allowEmptyMessage {
			text += "\nAn empty message aborts the commit."
		}
		s.print(text)
	}
	c.showPeople()
	s.print("")
	if err := s.collect(); err != nil {
		return err
	}
	return s.printLong()
}

func cutText(comment string) string {
	return comment + " " + scissorsLine + comment + " Do not modify or remove the line above.\n" + comment + " Everything below it will be ignored.\n"
}

// showPeople tells in the template who is not who is expected.
func (c *committer) showPeople() {
	first := "\n"
	line := func(text string) {
		c.st.print(first + text)
		first = ""
	}
	p := &c.people
	if p.author.Name != p.committer.Name || p.author.Email != p.committer.Email {
		line("Author:    " + p.author.Name + " <" + p.author.Email + ">")
	}
	if c.authorFrom != nil || c.date != nil {
		line("Date:      " + p.show(p.author))
	}
	if !p.source.SufficientlyGiven(ident.Committer) {
		line("Committer: " + p.committer.Name + " <" + p.committer.Email + ">")
	}
}

// finalMessage reads the message back that hooks and the editor may have changed.
func (c *committer) finalMessage() error {
	text, err := os.ReadFile(c.env.Repo.GitPath("COMMIT_EDITMSG"))
	if err != nil {
		return fmt.Errorf("could not read commit message: %s", ErrnoText(err))
	}
	comment := commentString(c.env)
	text = cleanMessage(text, c.cleanup, comment)
	if !c.allowEmptyMessage {
		if !(c.cleanup == cleanNothing && len(text) > 0) && onlySignoffs(text) {
			c.env.line("Aborting commit due to empty commit message.")
			return errNoCommit
		}
		if c.templateUntouched(text, comment) {
			c.env.line("Aborting commit; you did not edit the message.")
			return errNoCommit
		}
	}
	subject, _, _ := bytes.Cut(text, []byte{'\n'})
	c.message, c.subject = text, string(subject)
	return nil
}

func cleanMessage(text []byte, mode cleanupMode, comment string) []byte {
	if mode == cleanScissors {
		text = text[:scissorsAt(text, comment)]
	}
	switch mode {
	case cleanNothing:
		return text
	case cleanAll:
		return stripSpace(text, comment)
	}
	return stripSpace(text, "")
}

const signoffHeader = "Signed-off-by: "

// onlySignoffs reports whether a message holds nothing but sign-offs.
func onlySignoffs(text []byte) bool {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if !bytes.HasPrefix(line, []byte(signoffHeader)) && len(bytes.TrimSpace(line)) > 0 {
			return false
		}
	}
	return true
}

func (c *committer) templateUntouched(text []byte, comment string) bool {
	if c.template == nil || c.cleanup == cleanNothing && len(text) > 0 {
		return false
	}
	template, err := os.ReadFile(*c.template)
	if err != nil {
		return false
	}
	if c.cleanup == cleanAll {
		template = stripSpace(template, comment)
	} else {
		template = stripSpace(template, "")
	}
	rest, ok := bytes.CutPrefix(text, template)
	if !ok {
		rest = text
	}
	return onlySignoffs(rest)
}

// launchEditor has the user edit a file.
func launchEditor(env *Env, path string, environ []string) error {
	editor := editorOf(env, env.Config)
	switch editor {
	case "":
		return errors.New("Terminal is dumb, but EDITOR unset")
	case ":":
		return nil
	}
	if err := env.Flush(); err != nil {
		return err
	}
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"/bin/sh", "-c", editor + ` "$@"`, editor, path},
		Env: environ, Dir: env.Repo.Dir, Stdin: env.Stdin, Stdout: os.Stdout, Stderr: env.Stderr,
	}
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fmt.Errorf("there was a problem with the editor '%s'", editor)
		}
		return fmt.Errorf("unable to start editor '%s'", editor)
	}
	return nil
}
