package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/syncpolicy"
)

// refBatchState is where update-ref --stdin is in a transaction.
type refBatchState uint8

const (
	refsOpen     refBatchState = iota // no command asked for a transaction
	refsStarted                       // "start"
	refsPrepared                      // refs are locked
	refsClosed                        // committed or aborted
)

// A refBatch is one run of update-ref --stdin.
type refBatch struct {
	*updateRef
	store   *refs.Store
	in      *bufio.Reader
	end     byte // what ends a command, and with -z an argument
	state   refBatchState
	tx      *refs.Transaction
	b       *syncpolicy.Barrier
	noDeref bool  // for the next ref
	err     error // the first; nothing is done after it
}

// A refCommand is one of the commands on standard input.
type refCommand struct {
	name string
	run  func(*refBatch, *refLine)
	args int
	to   refBatchState
}

func refCommands() [13]refCommand {
	return [13]refCommand{
		{"update", (*refBatch).update, 3, refsOpen},
		{"create", (*refBatch).create, 2, refsOpen},
		{"delete", (*refBatch).delete, 2, refsOpen},
		{"verify", (*refBatch).verify, 2, refsOpen},
		{"symref-update", (*refBatch).symrefUpdate, 4, refsOpen},
		{"symref-create", (*refBatch).symrefCreate, 2, refsOpen},
		{"symref-delete", (*refBatch).symrefDelete, 2, refsOpen},
		{"symref-verify", (*refBatch).symrefVerify, 2, refsOpen},
		{"option", (*refBatch).option, 1, refsOpen},
		{"start", (*refBatch).start, 0, refsStarted},
		{"prepare", (*refBatch).prepare, 0, refsPrepared},
		{"abort", (*refBatch).abort, 0, refsClosed},
		{"commit", (*refBatch).commit, 0, refsClosed},
	}
}

// die records the error that ends the command.
func (q *refBatch) die(format string, a ...any) { q.fail(fmt.Errorf(format, a...)) }

func (q *refBatch) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (u *updateRef) batch() Status {
	store, err := u.env.Repo.Refs()
	if err != nil {
		return Fatal(err)
	}
	q := &refBatch{updateRef: u, store: store, in: u.env.Input(), end: '\n', noDeref: u.noDeref}
	if u.nul {
		q.end = 0
	}
	q.begin()
	q.run()
	if q.b != nil {
		q.b.Rollback()
	}
	return Fatal(q.err)
}

func (q *refBatch) begin() { q.tx, q.b = q.store.Begin(q.lazy), nil }

func (q *refBatch) run() {
	commands := refCommands()
	for q.err == nil {
		text, ok := q.read()
		if !ok {
			break
		}
		q.line(commands[:], text)
	}
	if q.err == nil {
		q.finish()
	}
}

func (q *refBatch) line(commands []refCommand, text string) {
	switch {
	case text[0] == q.end:
		q.die("empty command in input")
		return
	case isSpace(text[0]):
		q.die("whitespace before command: %s", cString(text))
		return
	}
	c := findRefCommand(commands, text, q.end)
	if c == nil {
		q.die("unknown command: %s", cString(text))
		return
	}
	for n := 1; q.end == 0 && n < c.args; n++ {
		more, ok := q.read()
		if !ok {
			break
		}
		text += more
	}
	if q.enter(c.to); q.err != nil {
		return
	}
	l := &refLine{q: q, command: c.name, text: text, at: len(c.name)}
	if c.args > 0 {
		l.at++
	}
	c.run(q, l)
}

// read returns the next line with what ends it, if anything does.
func (q *refBatch) read() (string, bool) {
	text, err := q.in.ReadString(q.end)
	if err != nil && err != io.EOF {
		q.die("unable to read from standard input: %s", ErrnoText(err))
		return "", false
	}
	return text, text != ""
}

func findRefCommand(commands []refCommand, text string, end byte) *refCommand {
	for i := range commands {
		c := &commands[i]
		after := byte(' ')
		if c.args == 0 {
			after = end
		}
		if rest, ok := strings.CutPrefix(text, c.name); ok && (rest != "" && rest[0] == after || rest == "" && after == 0) {
			return c
		}
	}
	return nil
}

// enter checks that a command is allowed now, and moves on.
func (q *refBatch) enter(to refBatchState) {
	switch q.state {
	case refsOpen, refsStarted:
		if q.state == refsStarted && to == refsStarted {
			q.die("cannot restart ongoing transaction")
		}
		q.state = max(q.state, to)
	case refsPrepared:
		if to != refsClosed {
			q.die("prepared transactions can only be closed")
		}
		q.state = to
	case refsClosed:
		if to != refsStarted {
			q.die("transaction is closed")
		}
		q.state = to
		q.begin()
	}
}

// finish ends what the input has left open.
func (q *refBatch) finish() {
	switch q.state {
	case refsOpen:
		if q.must("", q.publish()); q.err == nil {
			q.report()
		}
	case refsStarted, refsPrepared:
		q.tx.Abort(q.b)
	}
}

func (q *refBatch) lock() (err error) {
	if q.b != nil {
		return nil
	}
	if q.b, err = q.env.Repo.NewBarrier(); err != nil {
		return err
	}
	return q.tx.Prepare(q.b)
}

func (q *refBatch) publish() error {
	if err := q.lock(); err != nil {
		return err
	}
	return publishRefs(q.env, q.tx, q.b)
}

// must dies of err, with the name of the command before it.
func (q *refBatch) must(command string, err error) {
	var hook *refs.HookError
	var packed *refs.PackedError
	switch {
	case err == nil:
	case command == "", errors.As(err, &hook), errors.As(err, &packed):
		q.fail(err)
	default:
		q.die("%s: %w", command, err)
	}
}

// report prints the changes that were refused.
func (q *refBatch) report() {
	for _, r := range q.tx.Rejections() {
		old, id := "(null)", "(null)"
		if r.Old.Given() {
			old = q.hex(r.Old.ID())
		}
		if r.New.Given() {
			id = q.hex(r.New.ID())
		}
		q.rejected(r.Name, id, old, r.Reason, r.Err)
	}
}

func (q *refBatch) hex(id oid.ID) string {
	if id.IsNull() {
		return q.env.Repo.Algo.Null().String()
	}
	return id.String()
}

func (q *refBatch) rejected(name, id, old string, reason refs.Reason, err error) {
	q.env.Error(err)
	q.env.Printf("rejected %s %s %s %s\n", name, id, old, reason)
}

// add queues a change; with --batch-updates one that is refused is reported.
func (q *refBatch) add(c refs.Change, showNew, showOld refs.Value) {
	if q.err != nil {
		return
	}
	err := q.tx.Add(c)
	var refused *refs.UpdateError
	switch {
	case err == nil:
	case q.lazy && errors.As(err, &refused) && refused.Reason != refs.Generic:
		q.rejected(c.Name, q.show(showNew), q.show(showOld), refused.Reason, err)
	default:
		q.fail(err)
	}
	q.noDeref = q.updateRef.noDeref
}

func (q *refBatch) show(v refs.Value) string {
	switch {
	case v.Target() != "":
		return v.Target()
	case v.Given():
		return q.hex(v.ID())
	}
	return "(null)"
}

func (q *refBatch) change(name string) refs.Change {
	c := q.updateRef.change(name)
	c.NoDeref = q.noDeref
	return c
}

func (q *refBatch) update(l *refLine) {
	c := q.change(l.ref())
	id, ok := l.value(c.Name, false, true)
	if !ok {
		q.die("update %s: missing <new-oid>", c.Name)
	}
	c.New = refs.OID(id)
	if old, ok := l.value(c.Name, true, false); ok {
		c.Old = refs.OID(old)
	}
	l.done(c.Name)
	q.add(c, c.New, c.Old)
}

func (q *refBatch) create(l *refLine) {
	c := q.change(l.ref())
	id, ok := l.value(c.Name, false, false)
	switch {
	case !ok:
		q.die("create %s: missing <new-oid>", c.Name)
	case id.IsNull():
		q.die("create %s: zero <new-oid>", c.Name)
	}
	l.done(c.Name)
	c.New, c.Old = refs.OID(id), null(q.env)
	q.add(c, c.New, refs.Value{})
}

func (q *refBatch) delete(l *refLine) {
	c := q.change(l.ref())
	if old, ok := l.value(c.Name, true, false); ok {
		if old.IsNull() {
			q.die("delete %s: zero <old-oid>", c.Name)
		}
		c.Old = refs.OID(old)
	}
	l.done(c.Name)
	c.New, c.CreateReflog = null(q.env), false
	q.add(c, c.New, c.Old)
}

func (q *refBatch) verify(l *refLine) {
	c := q.change(l.ref())
	c.Old = null(q.env)
	if old, ok := l.value(c.Name, true, false); ok {
		c.Old = refs.OID(old)
	}
	l.done(c.Name)
	c.CreateReflog, c.Message = false, ""
	q.add(c, c.New, c.Old)
}

func (q *refBatch) symrefUpdate(l *refLine) {
	c := q.change(l.ref())
	target := l.target(c.Name)
	if kind := l.next(); kind != "" {
		value := l.next()
		if value == "" {
			q.die("symref-update %s: expected old value", c.Name)
		}
		switch kind {
		case "oid":
			id, err := resolveQuietly(q.env, value)
			if err != nil {
				q.die("symref-update %s: invalid oid: %s", c.Name, value)
			}
			c.Old = refs.OID(id)
		case "ref":
			if !refname.Check(value, refname.AllowOneLevel) {
				q.die("symref-update %s: invalid ref: %s", c.Name, value)
			}
			c.Old = refs.Symref(value)
		default:
			q.die("symref-update %s: invalid arg '%s' for old value", c.Name, kind)
		}
	}
	l.done(c.Name)
	c.New = refs.Symref(target)
	q.add(c, c.New, c.Old)
}

func (q *refBatch) symrefCreate(l *refLine) {
	c := q.change(l.ref())
	c.New, c.Old = refs.Symref(l.target(c.Name)), null(q.env)
	l.done(c.Name)
	q.add(c, c.New, refs.Value{})
}

func (q *refBatch) symrefDelete(l *refLine) {
	if !q.noDeref {
		q.die("symref-delete: cannot operate with deref mode")
	}
	c := q.change(l.ref())
	if target := l.nextRef(); target != "" {
		c.Old = refs.Symref(target)
	}
	l.done(c.Name)
	c.New, c.CreateReflog = null(q.env), false
	q.add(c, c.New, c.Old)
}

func (q *refBatch) symrefVerify(l *refLine) {
	if !q.noDeref {
		q.die("symref-verify: cannot operate with deref mode")
	}
	c := q.change(l.ref())
	c.Old = null(q.env)
	if target := l.nextRef(); target != "" {
		c.Old = refs.Symref(target)
	}
	l.done(c.Name)
	c.CreateReflog, c.Message = false, ""
	q.add(c, c.New, c.Old)
}

func (q *refBatch) option(l *refLine) {
	rest, ok := strings.CutPrefix(l.rest(), "no-deref")
	if !ok || rest != "" && rest[0] != q.end {
		q.die("option unknown: %s", l.rest())
	}
	q.noDeref = true
}

func (q *refBatch) ok(command string) {
	if q.err != nil {
		return
	}
	q.env.Print(command + ": ok\n")
	if err := q.env.Flush(); err != nil {
		q.fail(err)
	}
}

func (q *refBatch) start(l *refLine) {
	l.alone()
	q.ok("start")
}

func (q *refBatch) prepare(l *refLine) {
	if l.alone(); q.err == nil {
		q.must("prepare", q.lock())
	}
	q.ok("prepare")
}

func (q *refBatch) abort(l *refLine) {
	if l.alone(); q.err == nil {
		q.tx.Abort(q.b)
	}
	q.ok("abort")
}

func (q *refBatch) commit(l *refLine) {
	if l.alone(); q.err == nil {
		q.must("commit", q.publish())
	}
	if q.err == nil {
		q.report()
	}
	q.ok("commit")
}

// A refLine is one command with its arguments. The text of a line of version
// -z has NULs between the arguments and at its end.
type refLine struct {
	q       *refBatch
	command string
	text    string
	at      int
}

func (l *refLine) rest() string { return cString(l.text[min(l.at, len(l.text)):]) }

// peek returns the byte at the current place, 0 behind the end.
func (l *refLine) peek() byte {
	if l.at >= len(l.text) {
		return 0
	}
	return l.text[l.at]
}

// arg reads an argument, quoted in C's way unless -z is given.
func (l *refLine) arg() string {
	if l.q.end == 0 {
		s := l.rest()
		l.at += len(s)
		return s
	}
	if l.peek() != '"' {
		from := l.at
		for l.peek() != 0 && !isSpace(l.peek()) {
			l.at++
		}
		return l.text[from:l.at]
	}
	orig := l.rest()
	s, n, ok := unquoteFirst(orig)
	if !ok {
		l.q.die("badly quoted argument: %s", orig)
	}
	l.at += n
	if c := l.peek(); c != 0 && !isSpace(c) {
		l.q.die("unexpected character after quoted argument: %s", orig)
	}
	return s
}

// separated moves to the next argument; false if there is none.
func (l *refLine) separated(context string) bool {
	if l.q.end == 0 {
		if l.peek() != 0 {
			return false
		}
	} else {
		if c := l.peek(); c == 0 || c == '\n' {
			return false
		}
		if l.peek() != ' ' {
			l.q.die("%sexpected SP but got: %s", context, l.rest())
		}
	}
	l.at++
	return true
}

func (l *refLine) next() string {
	if !l.separated("") {
		return ""
	}
	return l.arg()
}

func (l *refLine) checked(name string) string {
	if name != "" && !refname.Check(name, refname.AllowOneLevel) {
		l.q.die("invalid ref format: %s", name)
	}
	return name
}

// ref reads the ref that follows the command.
func (l *refLine) ref() string {
	name := l.checked(l.arg())
	if name == "" {
		l.q.die("%s: missing <ref>", l.command)
	}
	return name
}

func (l *refLine) nextRef() string { return l.checked(l.next()) }

func (l *refLine) target(name string) string {
	target := l.nextRef()
	if target == "" {
		l.q.die("%s %s: missing <new-target>", l.command, name)
	}
	return target
}

// value reads an object name; false if it was left out.
func (l *refLine) value(name string, old, allowEmpty bool) (oid.ID, bool) {
	what := "<new-oid>"
	if old {
		what = "<old-oid>"
	}
	null := l.q.env.Repo.Algo.Null()
	if l.q.end != 0 {
		if l.at >= len(l.text) {
			l.q.die("%s %s: unexpected end of input when reading %s", l.command, name, what)
		}
		if !l.separated(l.command + " " + name + ": ") {
			return null, false
		}
		arg := l.arg()
		if arg == "" {
			return null, true
		}
		return l.resolve(name, what, arg), true
	}
	if l.at < len(l.text) && l.peek() != 0 {
		l.q.die("%s %s: expected NUL but got: %s", l.command, name, l.rest())
		return null, false
	}
	if l.at++; l.at >= len(l.text) {
		l.q.die("%s %s: unexpected end of input when reading %s", l.command, name, what)
		return null, false
	}
	arg := l.arg()
	switch {
	case arg != "":
		return l.resolve(name, what, arg), true
	case allowEmpty:
		l.q.env.Warn("%s %s: missing <new-oid>, treating as zero", l.command, name)
		return null, true
	}
	return null, false
}

func (l *refLine) resolve(name, what, arg string) oid.ID {
	id, err := resolveQuietly(l.q.env, arg)
	if err != nil {
		l.q.fail(invalid(err, "%s %s: invalid %s: %s", l.command, name, what, arg))
	}
	return id
}

func (l *refLine) done(name string) {
	if l.peek() != l.q.end || l.q.end != 0 && l.at >= len(l.text) {
		l.q.die("%s %s: extra input: %s", l.command, name, l.rest())
	}
}

func (l *refLine) alone() {
	if l.peek() != l.q.end {
		l.q.die("%s: extra input: %s", l.command, l.rest())
	}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// cString is s up to the first NUL.
func cString(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s
}

// unquoteFirst reads the C-quoted string that s begins with, and returns it and
// how many bytes it took.
func unquoteFirst(s string) (string, int, bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			text, ok := unquotePath(s[:i+1])
			return text, i + 1, ok
		}
	}
	return "", 0, false
}
