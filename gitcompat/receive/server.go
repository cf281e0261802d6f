// Package receive is the receiving end of a push: what git-receive-pack does,
// with everything that one push writes behind one Barrier.
//
// Source: builtin/receive-pack.c of git 2.55; gitprotocol-pack(5), githooks(5).
//
// Invariants:
//
//	V1  "ok <ref>" is sent only when the barrier has committed: objects, reflogs
//	    and refs of the push are hardened and their names settled (promise P3).
//	V2  no ref changes before every object that it needs was found, and before
//	    pre-receive agreed.
//	V3  a push that fails leaves no object behind that it brought: they stay in the
//	    transaction's own folder until then.
//	V4  an atomic push changes all of its refs or none.
package receive

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/hook"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/wire"
	"github.com/sluicegit/sluice/syncpolicy"
)

// Options are what a push needs beside the repository.
type Options struct {
	In     io.Reader
	Out    io.Writer
	Stderr io.Writer // where messages go before there is a side band
	Hooks  *hook.Runner

	Agent            string // of this program: "git/<version>"
	SessionID        string // advertised if transfer.advertiseSID is set
	Version1         bool   // the client asked for protocol version 1
	AdvertiseOnly    bool   // --http-backend-info-refs
	Stateless        bool   // --stateless-rpc: do not advertise
	SkipConnectivity bool   // --skip-connectivity-check
}

// A server serves one push.
type server struct {
	repo      *repo.Repo
	opt       Options
	set       settings
	db        *odb.DB
	store     *refs.Store
	grafts    revision.Grafts
	hooks     *hook.Runner
	namespace string // "refs/namespaces/x/" or ""
	head      string // what HEAD points to
	heads     map[string]bool

	out      io.Writer
	mux      *wire.Mux // nil without side band
	progress io.Writer // the user on the other side
	options  []string

	quarantine []string // environment in which a hook sees the new objects
	keep       string   // path of the .keep to be removed at the end
}

// Serve receives one push into r.
func Serve(r *repo.Repo, o Options) error {
	s := &server{repo: r, opt: o, out: o.Out, progress: o.Stderr, hooks: o.Hooks}
	if err := s.open(); err != nil {
		return err
	}
	if o.Version1 && (o.AdvertiseOnly || !o.Stateless) {
		w := wire.NewWriter(s.out)
		w.Printf("version 1\n")
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if o.AdvertiseOnly || !o.Stateless {
		if err := s.advertise(); err != nil || o.AdvertiseOnly {
			return err
		}
	}
	in := wire.NewReader(o.In)
	req, err := s.readRequest(in)
	if err != nil {
		return err
	}
	if req.caps.Has("side-band-64k") {
		s.mux = wire.NewMux(wire.NewWriter(s.out))
		s.progress = s.mux.Band(wire.BandProgress)
	}
	if len(req.commands) > 0 {
		if err := s.push(req, in); err != nil {
			return err
		}
	}
	if s.mux != nil {
		return s.mux.End()
	}
	return nil
}

func (s *server) open() (err error) {
	if s.set, err = loadSettings(s.repo.Config); err != nil {
		return err
	}
	if s.db, err = s.repo.ODB(); err != nil {
		return err
	}
	if s.hasHook("reference-transaction") {
		s.repo.RefHook = func(state string, input []byte) error {
			return s.run("reference-transaction", []string{state}, input, nil)
		}
	}
	if s.store, err = s.repo.Refs(); err != nil {
		return err
	}
	if s.grafts, err = revision.ReadGrafts(s.repo.Algo, s.repo.GitPath("shallow"), ""); err != nil {
		return err
	}
	if name, ok := s.repo.Getenv("GIT_NAMESPACE"); ok {
		for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
			if part != "" {
				s.namespace += "refs/namespaces/" + part + "/"
			}
		}
	}
	return nil
}

// push takes in the pack, carries out the commands and answers.
func (s *server) push(req *request, in *wire.Reader) error {
	s.options = req.options
	stop := s.keepAlive()
	b, err := s.repo.NewBarrier()
	if err != nil {
		return err
	}
	defer b.Rollback()
	unpack := s.receive(req, in, b)
	stop()
	if unpack != "" {
		for _, c := range req.commands {
			c.err = "unpacker error"
		}
	} else {
		stop := s.keepAlive()
		s.execute(req, b)
		stop()
	}
	b.Rollback()
	s.dropKeep()
	if err := s.report(req, unpack); err != nil {
		return err
	}
	done := succeeded(req.commands)
	s.receiveHook("post-receive", done, nil)
	if len(done) > 0 && s.hasHook("post-update") {
		var names []string
		for _, c := range done {
			names = append(names, c.ref)
		}
		s.run("post-update", names, nil, nil)
	}
	return nil
}

// keepAlive sends an empty packet from time to time until it is stopped, so
// that nothing between the two sides takes a silent connection for a dead one.
func (s *server) keepAlive() (stop func()) {
	if s.mux == nil || s.set.keepAlive <= 0 {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(s.set.keepAlive)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				s.mux.KeepAlive()
			}
		}
	}()
	return func() { close(quit); <-done }
}

// execute decides on every command and carries out those that are not refused.
func (s *server) execute(req *request, b *syncpolicy.Barrier) {
	commands := req.commands
	if !s.opt.SkipConnectivity {
		s.checkConnected(req)
	}
	for _, c := range commands {
		if c.err == "" && s.set.hides(c.ref, s.namespace+c.ref) {
			c.err = "deny updating a hidden ref"
			if c.deletion() {
				c.err = "deny deleting a hidden ref"
			}
		}
	}
	if err := s.preReceive(commands, b); err != nil {
		refuseAll(commands, err.Error())
		return
	}
	if !anyPending(commands) {
		return
	}
	s.refuseAliases(commands)
	if head, err := s.store.Resolve("HEAD", 0); err == nil {
		s.head = head.Name
	}
	if req.caps.Has("atomic") {
		s.executeAtomic(commands, b)
	} else {
		s.executeEach(commands, b)
	}
}

func anyPending(commands []*command) bool {
	for _, c := range commands {
		if c.pending() {
			return true
		}
	}
	return false
}

func refuseAll(commands []*command, reason string) {
	for _, c := range commands {
		if c.err == "" {
			c.err = reason
		}
	}
}

// preReceive runs the pre-receive hook on what is hardened, but not published.
func (s *server) preReceive(commands []*command, b *syncpolicy.Barrier) error {
	if !s.hasHook("pre-receive") {
		return nil
	}
	var pending []*command
	for _, c := range commands {
		if c.err == "" {
			pending = append(pending, c)
		}
	}
	if err := b.Harden(syncpolicy.Packs); err != nil {
		s.errorf("%s", err)
		return errMigrate
	}
	if s.receiveHook("pre-receive", pending, s.quarantine) != nil {
		return errPreReceive
	}
	return nil
}

// executeAtomic changes all refs or none (V4).
func (s *server) executeAtomic(commands []*command, b *syncpolicy.Barrier) {
	tx := s.store.Begin(false)
	for _, c := range commands {
		if !c.pending() {
			if c.err != "" {
				refuseAll(commands, "atomic push failure")
				return
			}
			continue
		}
		if c.err = s.queue(tx, c); c.err != "" {
			refuseAll(commands, "atomic push failure")
			return
		}
	}
	if err := s.commit(tx, b); err != nil {
		s.errorf("%s", err)
		refuseAll(commands, "atomic transaction failed")
	}
}

func (s *server) commit(tx *refs.Transaction, b *syncpolicy.Barrier) error {
	if err := tx.Prepare(b); err != nil {
		return err
	}
	if err := tx.Commit(b); err != nil {
		return err
	}
	return tx.Explain(b.Commit())
}

// executeEach changes the refs that can be changed. Deletions come first and
// apart, so that they cannot stand in the way of the names of the others.
func (s *server) executeEach(commands []*command, b *syncpolicy.Barrier) {
	var deletions, others []*command
	for _, c := range commands {
		switch {
		case !c.pending():
		case c.deletion():
			deletions = append(deletions, c)
		default:
			others = append(others, c)
		}
	}
	if len(deletions) > 0 && len(others) > 0 {
		own, err := s.repo.NewBarrier()
		if err == nil {
			err = b.Flush(syncpolicy.Packs)
		}
		if err != nil {
			s.errorf("%s", err)
			refuseAll(commands, errMigrate.Error())
			return
		}
		s.executeSome(commands, deletions, own)
		deletions = nil
	}
	if group := append(deletions, others...); len(group) > 0 {
		s.executeSome(commands, group, b)
	}
}

// executeSome carries out group, each command for itself. A failure that is not
// of one ref alone is every command's.
func (s *server) executeSome(all, group []*command, b *syncpolicy.Barrier) {
	defer b.Rollback()
	tx := s.store.Begin(true)
	byName := map[string]*command{}
	for _, c := range group {
		if c.err = s.queue(tx, c); c.err == "" {
			byName[s.namespace+c.ref] = c
		}
	}
	if err := s.commit(tx, b); err != nil {
		s.errorf("%s", err)
		for _, c := range all {
			c.err = "failed to update refs"
		}
		return
	}
	for _, r := range tx.Rejections() {
		s.errorf("%s", r.Err)
		if c := byName[r.Name]; c != nil {
			c.err = r.Reason.String()
		}
	}
}

// alternateTips returns the values of the refs of the repositories that objects
// are borrowed from.
func (s *server) alternateTips() ([]oid.ID, error) {
	var list []oid.ID
	for _, dir := range s.db.Alternates() {
		git := filepath.Dir(dir)
		if st, err := os.Stat(filepath.Join(git, "refs")); filepath.Base(dir) != "objects" || err != nil || !st.IsDir() {
			continue
		}
		store := refs.Open(refs.Options{FS: s.repo.FS, GitDir: git, CommonDir: git, Algo: s.repo.Algo})
		ids, err := tips(store)
		if err != nil {
			return nil, fmt.Errorf("alternate '%s': %w", dir, err)
		}
		list = append(list, ids...)
	}
	return list, nil
}

// shallowRoots returns the commits at which history is cut here.
func (s *server) shallowRoots() ([]oid.ID, error) {
	b, err := os.ReadFile(s.repo.GitPath("shallow"))
	if err != nil {
		return nil, nil
	}
	var list []oid.ID
	for line := range strings.FieldsSeq(string(b)) {
		id, err := s.repo.Algo.FromHex(line)
		if err != nil {
			return nil, fmt.Errorf("bad shallow line: %s", line)
		}
		list = append(list, id)
	}
	return list, nil
}
