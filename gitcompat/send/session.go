// Package send is the sending end of a push: which refs go where, whether they
// may, and the exchange with the other side.
//
// Source: builtin/push.c, send-pack.c, transport.c, remote.c and refspec.c of
// git 2.55; gitprotocol-pack(5), git-push(1).
//
// Invariants:
//
//	S1  a ref counts as pushed only when the other side said so, where it can.
//	S2  with --atomic nothing is sent if any ref is refused on this side.
//	S3  remote-tracking refs are changed only for what the other side took.
package send

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/wire"
)

// A Session is the exchange with one receive-pack.
type Session struct {
	Algo   oid.Algo
	Refs   []*Ref   // what the other side advertised
	Haves  []oid.ID // tips it borrows from elsewhere
	Caps   wire.Capabilities
	r      *wire.Reader
	w      *wire.Writer
	out    io.Closer
	stderr io.Writer
}

// Open reads the advertisement. What the other side prints goes to stderr.
func Open(in io.Reader, out io.WriteCloser, stderr io.Writer, algo oid.Algo) (*Session, error) {
	s := &Session{Algo: algo, r: wire.NewReader(in), w: wire.NewWriter(out), out: out, stderr: stderr}
	first := true
	for {
		line, kind, err := s.r.ReadLine()
		if err == io.EOF && first {
			return nil, errNoRepository
		}
		if err == io.EOF {
			err = wire.ErrHungUp
		}
		if err != nil {
			return nil, err
		}
		if kind != wire.Data {
			return s, nil
		}
		text := string(line)
		if msg, ok := strings.CutPrefix(text, "ERR "); ok {
			return nil, &wire.RemoteError{Msg: msg}
		}
		if first && text == "version 1" {
			continue
		}
		if err := s.advertised(text, &first); err != nil {
			return nil, err
		}
	}
}

var errNoRepository = errors.New(`Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.`)

func (s *Session) advertised(text string, first *bool) error {
	if *first {
		*first = false
		var caps string
		text, caps, _ = strings.Cut(text, "\x00")
		s.Caps = wire.ParseCapabilities(caps)
	}
	if hex, ok := strings.CutPrefix(text, "shallow "); ok {
		_, err := s.Algo.FromHex(hex)
		return err
	}
	n := s.Algo.HexSize()
	if len(text) < n+2 || text[n] != ' ' {
		return &wire.ProtocolError{Msg: fmt.Sprintf("unexpected '%s'", text)}
	}
	id, err := s.Algo.FromHex(text[:n])
	if err != nil {
		return &wire.ProtocolError{Msg: fmt.Sprintf("unexpected '%s'", text)}
	}
	switch name := text[n+1:]; name {
	case "capabilities^{}":
	case ".have":
		s.Haves = append(s.Haves, id)
	default:
		s.Refs = append(s.Refs, &Ref{Name: name, Old: id})
	}
	return nil
}

// PushOptions are those that go over the wire.
type PushOptions struct {
	Agent    string
	Atomic   bool
	Quiet    bool
	DryRun   bool
	Options  []string // --push-option
	GitDir   string
	Shallow  []oid.ID
	Progress bool
	// Pack writes a pack with everything that new reaches and have does not.
	Pack func(w io.Writer, new, have []oid.ID, ofsDelta bool) error
}

// ErrNothing says that there was nothing to send.
var ErrNothing = errors.New("nothing to send")

// Push sends the refs that were not refused, and the objects they need, and
// notes in each what became of it. It is the end of the session.
func (s *Session) Push(list []*Ref, o PushOptions) error {
	if err := s.supports(o); err != nil {
		return err
	}
	if !s.Caps.Has("delete-refs") {
		for _, r := range list {
			if r.wanted() && r.Deletion() {
				r.Status = RejectNoDelete
			}
		}
	}
	if o.Atomic {
		if err := refuseAtomic(list); err != nil {
			s.close()
			return err
		}
	}
	send := s.commands(list, o)
	if len(send) == 0 || o.DryRun {
		return s.close()
	}
	s.options(o)
	if err := s.w.Flush(); err != nil {
		return err
	}
	// The other side may have something to say before it has read everything,
	// or may stop reading: so both go on at the same time.
	packed := make(chan error, 1)
	go func() {
		err := s.pack(send, list, o)
		if err != nil {
			s.out.Close() // what was promised does not come
		}
		packed <- err
	}()
	err := s.report(send)
	if packErr := <-packed; packErr != nil && !stoppedReading(packErr) {
		return packErr
	}
	return err
}

// stoppedReading reports whether a write failed only because the other side
// would not have more; why, its report says.
func stoppedReading(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE)
}

// wanted reports whether the ref is to be sent.
func (r *Ref) wanted() bool { return r.Peer != nil && r.Status == StatusNone }

func (s *Session) close() error {
	s.w.End()
	return s.w.Flush()
}

// supports refuses what the other side cannot do.
func (s *Session) supports(o PushOptions) error {
	format, ok := s.Caps.Value("object-format")
	if !ok {
		format = "sha1"
	}
	if format != s.Algo.String() {
		return errors.New("the receiving end does not support this repository's hash algorithm")
	}
	if o.Atomic && !s.Caps.Has("atomic") {
		return errors.New("the receiving end does not support --atomic push")
	}
	if len(o.Options) > 0 && !s.Caps.Has("push-options") {
		return errors.New("the receiving end does not support push options")
	}
	return nil
}

// refuseAtomic refuses all refs if one is (S2).
func refuseAtomic(list []*Ref) error {
	for _, r := range list {
		if !r.refused() {
			continue
		}
		err := fmt.Errorf("atomic push failed for ref %s. status: %d", r.Name, r.Status)
		for _, other := range list {
			if other.Peer != nil && (other.Status == StatusNone || other.Status == StatusOK || other.Status == ExpectingReport) {
				other.Status = AtomicPushFailed
			}
		}
		return &AtomicError{err.Error()}
	}
	return nil
}

// An AtomicError says why an atomic push was given up before it began.
type AtomicError struct{ Msg string }

// Error returns git's message.
func (e *AtomicError) Error() string { return e.Msg }

func (r *Ref) refused() bool {
	switch r.Status {
	case StatusNone, StatusOK, UpToDate, ExpectingReport:
		return false
	}
	return true
}

// commands sends the ref updates and returns the refs that they are for.
func (s *Session) commands(list []*Ref, o PushOptions) []*Ref {
	var send []*Ref
	for _, r := range list {
		if !r.wanted() {
			continue
		}
		if o.DryRun {
			r.Status = StatusOK
			continue
		}
		send = append(send, r)
	}
	if len(send) == 0 {
		return nil
	}
	for _, id := range o.Shallow {
		s.w.Printf("shallow %s", id)
	}
	caps := "\x00" + s.request(o)
	for _, r := range send {
		s.w.Printf("%s %s %s%s", r.Old, r.New, r.Name, caps)
		caps = ""
		r.Status = StatusOK
		if s.reports() {
			r.Status = ExpectingReport
		}
	}
	s.w.End()
	return send
}

func (s *Session) reports() bool {
	return s.Caps.Has("report-status") || s.Caps.Has("report-status-v2")
}

// request returns the capabilities that this side uses, in git's order.
func (s *Session) request(o PushOptions) string {
	var caps string
	switch {
	case s.Caps.Has("report-status-v2"):
		caps += " report-status-v2"
	case s.Caps.Has("report-status"):
		caps += " report-status"
	}
	if s.Caps.Has("side-band-64k") {
		caps += " side-band-64k"
	}
	if s.Caps.Has("quiet") && (o.Quiet || !o.Progress) {
		caps += " quiet"
	}
	if o.Atomic {
		caps += " atomic"
	}
	if len(o.Options) > 0 {
		caps += " push-options"
	}
	if s.Caps.Has("object-format") {
		caps += " object-format=" + s.Algo.String()
	}
	if s.Caps.Has("agent") {
		caps += " agent=" + o.Agent
	}
	return caps
}

func (s *Session) options(o PushOptions) {
	if len(o.Options) == 0 {
		return
	}
	for _, text := range o.Options {
		s.w.Printf("%s", text)
	}
	s.w.End()
}

// pack sends what the new values need, unless all refs are deleted.
func (s *Session) pack(send, list []*Ref, o PushOptions) error {
	var new, have []oid.ID
	for _, r := range send {
		if !r.Deletion() {
			new = append(new, r.New)
		}
	}
	if len(new) == 0 {
		return nil
	}
	have = append(have, s.Haves...)
	for _, r := range list {
		if !r.Old.IsNull() {
			have = append(have, r.Old)
		}
	}
	w, err := s.w.Raw()
	if err != nil {
		return err
	}
	if err := o.Pack(w, new, have, s.Caps.Has("ofs-delta")); err != nil {
		return err
	}
	return s.w.Flush()
}

// report reads the answer. Messages of the other side are shown as they come.
func (s *Session) report(send []*Ref) error {
	in := s.r
	var demux *wire.Demux
	if s.Caps.Has("side-band-64k") {
		demux = wire.NewDemux(s.r, s.stderr)
		in = wire.NewReader(demux)
	}
	var err error
	if s.reports() {
		err = s.readReport(in, send)
	}
	if demux != nil {
		// What hooks print after the report belongs to the push too.
		if _, derr := io.Copy(io.Discard, in.Rest()); err == nil {
			err = derr
		}
	}
	return err
}

// A RemoteUnpackError says that the other side could not take the pack.
type RemoteUnpackError struct{ Msg string }

// Error returns git's message.
func (e *RemoteUnpackError) Error() string { return "remote unpack failed: " + e.Msg }

func (s *Session) readReport(in *wire.Reader, send []*Ref) error {
	line, kind, err := in.ReadLine()
	if err == io.EOF || err == nil && kind != wire.Data {
		return errors.New("unexpected flush packet while reading remote unpack status")
	}
	if err != nil {
		return err
	}
	status, ok := strings.CutPrefix(string(line), "unpack ")
	if !ok {
		return fmt.Errorf("unable to parse remote unpack status: %s", line)
	}
	var failed error
	if status != "ok" {
		failed = &RemoteUnpackError{status}
	}
	byName := map[string]*Ref{}
	for _, r := range send {
		byName[r.Name] = r
	}
	var last *Ref
	for {
		line, kind, err := in.ReadLine()
		if err == io.EOF {
			err = wire.ErrHungUp
		}
		if err != nil {
			return err
		}
		if kind != wire.Data {
			return failed
		}
		if last, err = answer(byName, last, string(line)); err != nil {
			return err
		}
	}
}

// answer notes one line of the report. last is the ref of the "ok" before it.
func answer(byName map[string]*Ref, last *Ref, line string) (*Ref, error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "option":
		if last != nil && rest == "forced-update" {
			last.Forced = true
		}
		return last, nil
	case "ok", "ng":
	default:
		return nil, fmt.Errorf("invalid ref status from remote: %s", word)
	}
	name, reason, _ := strings.Cut(rest, " ")
	r := byName[name]
	if r == nil || r.Status != ExpectingReport {
		return nil, nil // about a ref that was not sent: not ours to judge
	}
	if word == "ok" {
		r.Status = StatusOK
		return r, nil
	}
	r.Status, r.Reason = RemoteReject, reason
	if reason == "" {
		r.Reason = "failed"
	}
	return nil, nil
}

// HadErrors reports whether any ref was refused.
func HadErrors(list []*Ref) bool {
	for _, r := range list {
		if r.Status != StatusNone && r.Status != UpToDate && r.Status != StatusOK {
			return true
		}
	}
	return false
}

// Pushed reports whether anything changed on the other side.
func Pushed(list []*Ref) bool {
	for _, r := range list {
		if r.Status != StatusNone && r.Status != UpToDate {
			return true
		}
	}
	return false
}
