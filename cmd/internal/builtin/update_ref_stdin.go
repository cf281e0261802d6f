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

// batchState is where update-ref --stdin is in a transaction.
type batchState uint8

const (
	batchOpen     batchState = iota // no command asked for a transaction
	batchStarted                    // "start"
	batchPrepared                   // refs are locked
	batchClosed                     // committed or aborted
)

// A batch is one run of update-ref --stdin.
type batch struct {
	*updateRef
	store   *refs.Store
	in      *bufio.Reader
	end     byte // what ends a command, and with -z an argument
	state   batchState
	tx      *refs.Transaction
	b       *syncpolicy.Barrier
	noDeref bool  // for the next ref
	err     error // the first; nothing is done after it
}

// A batchCommand is one of the commands on standard input.
type batchCommand struct {
	name string
	run  func(*batch, *batchLine)
	args int
	to   batchState
}

func batchCommands() [13]batchCommand {
	return [13]batchCommand{
		{"update", (*batch).update, 3, batchOpen},
		{"create", (*batch).create, 2, batchOpen},
		{"delete", (*batch).delete, 2, batchOpen},
		{"verify", (*batch).verify, 2, batchOpen},
		{"symref-update", (*batch).symrefUpdate, 4, batchOpen},
		{"symref-create", (*batch).symrefCreate, 2, batchOpen},
		{"symref-delete", (*batch).symrefDelete, 2, batchOpen},
		{"symref-verify", (*batch).symrefVerify, 2, batchOpen},
		{"option", (*batch).option, 1, batchOpen},
		{"start", (*batch).start, 0, batchStarted},
		{"prepare", (*batch).prepare, 0, batchPrepared},
		{"abort", (*batch).abort, 0, batchClosed},
		{"commit", (*batch).commit, 0, batchClosed},
	}
}

// die records the error that ends the command.
func (q *batch) die(format string, a ...any) { q.fail(fmt.Errorf(format, a...)) }

func (q *batch) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

func (u *updateRef) batch() Status {
	store, err := u.env.Repo.Refs()
	if err != nil {
		return Fatal(err)
	}
	q := &batch{updateRef: u, store: store, in: u.env.Input(), end: '\n', noDeref: u.noDeref}
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

func (q *batch) begin() { q.tx, q.b = q.store.Begin(q.lazy), nil }

func (q *batch) run() {
	commands := batchCommands()
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

func (q *batch) line(commands []batchCommand, text string) {
	switch {
	case text[0] == q.end:
		q.die("empty command in input")
		return
	case isSpace(text[0]):
		q.die("whitespace before command: %s", cString(text))
		return
	}
	c := findBatchCommand(commands, text, q.end)
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
	l := &batchLine{q: q, command: c.name, text: text, at: len(c.name)}
	if c.args > 0 {
		l.at++
	}
	c.run(q, l)
}

// read returns the next line with what ends it, if anything does.
func (q *batch) read() (string, bool) {
	text, err := q.in.ReadString(q.end)
	if err != nil && err != io.EOF {
		q.die("unable to read from standard input: %s", ErrnoText(err))
		return "", false
	}
	return text, text != ""
}

func findBatchCommand(commands []batchCommand, text string, end byte) *batchCommand {
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
func (q *batch) enter(to batchState) {
	switch q.state {
	case batchOpen, batchStarted:
		if q.state == batchStarted && to == batchStarted {
			q.die("cannot restart ongoing transaction")
		}
		q.state = max(q.state, to)
	case batchPrepared:
		if to != batchClosed {
			q.die("prepared transactions can only be closed")
		}
		q.state = to
	case batchClosed:
		if to != batchStarted {
			q.die("transaction is closed")
		}
		q.state = to
		q.begin()
	}
}

// finish ends what the input has left open.
func (q *batch) finish() {
	switch q.state {
	case batchOpen:
		if q.must("", q.publish()); q.err == nil {
			q.report()
		}
	case batchStarted, batchPrepared:
		q.tx.Abort(q.b)
	}
}

func (q *batch) lock() (err error) {
	if q.b != nil {
		return nil
	}
	if q.b, err = q.env.Repo.NewBarrier(); err != nil {
		return err
	}
	return q.tx.Prepare(q.b)
}

func (q *batch) publish() error {
	if err := q.lock(); err != nil {
		return err
	}
	return publishRefs(q.env, q.tx, q.b)
}

// must dies of err, with the name of the command before it.
func (q *batch) must(command string, err error) {
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
func (q *batch) report() {
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

func (q *batch) hex(id oid.ID) string {
	if id.IsNull() {
		return q.env.Repo.Algo.Null().String()
	}
	return id.String()
}

func (q *batch) rejected(name, id, old string, reason refs.Reason, err error) {
	q.env.Error(err)
	q.env.Printf("rejected %s %s %s %s\n", name, id, old, reason)
}

// add queues a change; with --batch-updates one that is refused is reported.
func (q *batch) add(c refs.Change, showNew, showOld refs.Value) {
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

func (q *batch) show(v refs.Value) string {
	switch {
	case v.Target() != "":
		return v.Target()
	case v.Given():
		return q.hex(v.ID())
	}
	return "(null)"
}

func (q *batch) change(name string) refs.Change {
	c := q.updateRef.change(name)
	c.NoDeref = q.noDeref
	return c
}

func (q *batch) update(l *batchLine) {
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

func (q *batch) create(l *batchLine) {
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

func (q *batch) delete(l *batchLine) {
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

func (q *batch) verify(l *batchLine) {
	c := q.change(l.ref())
	c.Old = null(q.env)
	if old, ok := l.value(c.Name, true, false); ok {
		c.Old = refs.OID(old)
	}
	l.done(c.Name)
	c.CreateReflog, c.Message = false, ""
	q.add(c, c.New, c.Old)
}

func (q *batch) symrefUpdate(l *batchLine) {
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

func (q *batch) symrefCreate(l *batchLine) {
	c := q.change(l.ref())
	c.New, c.Old = refs.Symref(l.target(c.Name)), null(q.env)
	l.done(c.Name)
	q.add(c, c.New, refs.Value{})
}

func (q *batch) symrefDelete(l *batchLine) {
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

func (q *batch) symrefVerify(l *batchLine) {
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

func (q *batch) option(l *batchLine) {
	rest, ok := strings.CutPrefix(l.rest(), "no-deref")
	if !ok || rest != "" && rest[0] != q.end {
		q.die("option unknown: %s", l.rest())
	}
	q.noDeref = true
}

func (q *batch) ok(command string) {
	if q.err != nil {
		return
	}
	q.env.Print(command + ": ok\n")
	if err := q.env.Flush(); err != nil {
		q.fail(err)
	}
}

func (q *batch) start(l *batchLine) {
	l.alone()
	q.ok("start")
}

func (q *batch) prepare(l *batchLine) {
	if l.alone(); q.err == nil {
		q.must("prepare", q.lock())
	}
	q.ok("prepare")
}

func (q *batch) abort(l *batchLine) {
	if l.alone(); q.err == nil {
		q.tx.Abort(q.b)
	}
	q.ok("abort")
}

func (q *batch) commit(l *batchLine) {
	if l.alone(); q.err == nil {
		q.must("commit", q.publish())
	}
	if q.err == nil {
		q.report()
	}
	q.ok("commit")
}

// A batchLine is one command with its arguments. The text of a line of version
// -z has NULs between the arguments and at its end.
type batchLine struct {
	q       *batch
	command string
	text    string
	at      int
}

func (l *batchLine) rest() string { return cString(l.text[min(l.at, len(l.text)):]) }

// peek returns the byte at the current place, 0 behind the end.
func (l *batchLine) peek() byte {
	if l.at >= len(l.text) {
		return 0
	}
	return l.text[l.at]
}

// arg reads an argument, quoted in C's way unless -z is given.
func (l *batchLine) arg() string {
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
func (l *batchLine) separated(context string) bool {
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

func (l *batchLine) next() string {
	if !l.separated("") {
		return ""
	}
	return l.arg()
}

func (l *batchLine) checked(name string) string {
	if name != "" && !refname.Check(name, refname.AllowOneLevel) {
		l.q.die("invalid ref format: %s", name)
	}
	return name
}

// ref reads the ref that follows the command.
func (l *batchLine) ref() string {
	name := l.checked(l.arg())
	if name == "" {
		l.q.die("%s: missing <ref>", l.command)
	}
	return name
}

func (l *batchLine) nextRef() string { return l.checked(l.next()) }

func (l *batchLine) target(name string) string {
	target := l.nextRef()
	if target == "" {
		l.q.die("%s %s: missing <new-target>", l.command, name)
	}
	return target
}

// value reads an object name; false if it was left out.
func (l *batchLine) value(name string, old, allowEmpty bool) (oid.ID, bool) {
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
	if l.at >= len(l.text) {
		l.q.die("%s %s: unexpected end of input when reading %s", l.command, name, what)
	}
	if l.peek() != 0 {
		l.q.die("%s %s: expected NUL but got: %s", l.command, name, l.rest())
	}
	if l.at++; l.at >= len(l.text) {
		l.q.die("%s %s: unexpected end of input when reading %s", l.command, name, what)
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

func (l *batchLine) resolve(name, what, arg string) oid.ID {
	id, err := resolveQuietly(l.q.env, arg)
	if err != nil {
		l.q.fail(invalid(err, "%s %s: invalid %s: %s", l.command, name, what, arg))
	}
	return id
}

func (l *batchLine) done(name string) {
	if l.peek() != l.q.end || l.q.end != 0 && l.at >= len(l.text) {
		l.q.die("%s %s: extra input: %s", l.command, name, l.rest())
	}
}

func (l *batchLine) alone() {
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
