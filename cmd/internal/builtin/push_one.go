package builtin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/hook"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/send"
	"github.com/sluicegit/sluice/gitcompat/transport"
)

// A pushTo is a push to one URL.
type pushTo struct {
	*pusher
	remote *send.Remote
	url    string
	shown  string // url as messages show it
	db     *odb.DB
	store  *refs.Store
	walk   *revision.Walk
	list   []*send.Ref
}

// push pushes to one URL and reports whether all went well.
func (p *pusher) push(remote *send.Remote, url string) (ok bool, err error) {
	t := &pushTo{pusher: p, remote: remote, url: url, shown: send.Anonymous(url)}
	if p.verbosity > 0 {
		fmt.Fprintf(p.env.Stderr, "Pushing to %s\n", t.shown)
	}
	if t.db, err = p.env.Repo.ODB(); err != nil {
		return false, err
	}
	if t.store, err = p.env.Repo.Refs(); err != nil {
		return false, err
	}
	if t.walk, err = revision.NewRepoWalk(p.env.Repo); err != nil {
		return false, err
	}
	err = t.run()
	failed := err != nil || send.HadErrors(t.list)
	if fatal := t.fatal(err); fatal != nil {
		return false, fatal
	}
	if err != nil && !errors.Is(err, errSaidAlready) {
		p.say(err)
	}
	if failed {
		p.failed(t.shown)
		t.advise()
	}
	return !failed, nil
}

// errSaidAlready says that the user knows why the push failed.
var errSaidAlready = errors.New("failed")

// fatal returns what ends the command at once, of an error of run.
func (t *pushTo) fatal(err error) error {
	var atomic *send.AtomicError
	var unpack *send.RemoteUnpackError
	if err == nil || errors.Is(err, errSaidAlready) || errors.As(err, &atomic) || errors.As(err, &unpack) {
		return nil
	}
	return err
}

func (t *pushTo) run() error {
	sides, err := t.sides()
	if err != nil {
		return err
	}
	if sides.Check(t.specs) != nil {
		return errSaidAlready
	}
	path, err := transport.Path(t.url)
	if err != nil {
		return err
	}
	conn, err := transport.Connect(path, t.transport())
	if transport.Said(err) {
		return errors.New(noConnection)
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	session, err := send.Open(conn.In, conn.Out, t.env.Stderr, t.env.Repo.Algo)
	if err != nil {
		return err
	}
	sides.Remote = session.Refs
	if err := t.decide(sides); err != nil {
		return err
	}
	pushErr := session.Push(t.list, t.pushOptions())
	if err := conn.Close(); pushErr == nil && err != nil {
		pushErr = errSaidAlready
	}
	if err := t.finish(pushErr); err != nil {
		return err
	}
	return pushErr
}

const noConnection = `Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.`

func (t *pushTo) transport() transport.Options {
	o := transport.Options{
		FS: t.env.FS, Dir: t.env.Dir, Environ: t.env.Environ, Stderr: t.env.Stderr,
		Program: t.program, Agent: t.env.agent(), Hooks: t.env.hooksOf,
	}
	if o.Program == "" {
		o.Program = t.remote.ReceivePack
	}
	o.Self, _ = os.Executable()
	if p, err := t.env.Repo.Policy(); err == nil {
		o.Counters = p.Counters
	}
	return o
}

// sides lists the refs of this side.
func (t *pushTo) sides() (*send.Sides, error) {
	s := &send.Sides{
		ResolveObject: t.resolve,
		Say:           t.say,
		ResolveRef: func(name string) string {
			r, err := t.store.Resolve(name, refs.Reading)
			if err != nil {
				return ""
			}
			return r.Name
		},
	}
	for ref, err := range t.store.All("refs/", 0) {
		if err != nil {
			return nil, err
		}
		s.Local = append(s.Local, send.Local{Name: ref.Name, ID: ref.ID})
	}
	return s, nil
}

// decide matches, applies leases, and asks the pre-push hook.
func (t *pushTo) decide(sides *send.Sides) error {
	o := send.MatchOptions{All: t.has(pushAll), Mirror: t.has(pushMirror), Prune: t.has(pushPrune) || t.has(pushMirror)}
	specs := t.specs
	err := sides.Match(specs, o)
	t.list = sides.Remote
	var fatal *send.FatalError
	if errors.As(err, &fatal) {
		return fatal
	}
	if err != nil {
		t.list = nil
		return errSaidAlready
	}
	leases := send.Leases{IfIncludes: t.has(pushIncludes)}
	for _, a := range t.leases {
		if err := send.ParseLease(&leases, a.Value, a.Given, t.resolve); err != nil {
			t.say(err)
			return errSaidAlready
		}
	}
	if !leases.Empty() {
		send.ApplyLeases(t.list, leases, t.tracking, t.includes)
	}
	if err := send.Judge(t.list, t, t.has(pushMirror), t.has(pushForce)); err != nil {
		return err
	}
	if t.has(pushNoVerify) {
		return nil
	}
	return t.prePush()
}

// Has, IsCommit and IsAncestor make a pushTo a send.Graph.
func (t *pushTo) Has(id oid.ID) bool { return t.db.Has(id) }

// IsCommit reports whether id is a commit, or a tag of one.
func (t *pushTo) IsCommit(id oid.ID) bool {
	_, err := t.db.Peel(id, object.Commit)
	return err == nil
}

// IsAncestor reports whether new has old in its history.
func (t *pushTo) IsAncestor(old, new oid.ID) (bool, error) {
	a, err := t.db.Peel(old, object.Commit)
	if err != nil {
		return false, err
	}
	b, err := t.db.Peel(new, object.Commit)
	if err != nil {
		return false, err
	}
	return t.walk.IsAncestor(a, b)
}

// tracking returns what this side last saw in a ref of the other.
func (t *pushTo) tracking(name string) (oid.ID, bool) {
	ref, ok := send.ByFetch(t.remote.Fetch, name)
	if !ok {
		return oid.ID{}, false
	}
	id, err := t.store.Read(ref)
	return id, err == nil
}

// includes reports whether tip is reachable from what the local branch held at
// any time.
func (t *pushTo) includes(branch string, tip oid.ID) bool {
	if id, err := t.store.Read(branch); err == nil && t.reaches(id, tip) {
		return true
	}
	for entry, err := range t.store.LogReverse(branch) {
		if err != nil {
			return false
		}
		if t.reaches(entry.New, tip) || t.reaches(entry.Old, tip) {
			return true
		}
	}
	return false
}

func (t *pushTo) reaches(id, tip oid.ID) bool {
	if id.IsNull() {
		return false
	}
	ok, err := t.IsAncestor(tip, id)
	return err == nil && ok
}

// prePush asks the pre-push hook about what would be pushed.
func (t *pushTo) prePush() error {
	hooks := t.env.hooksOf(t.env.Repo)
	if !hooks.Exists("pre-push") {
		return nil
	}
	var in bytes.Buffer
	for _, r := range t.list {
		switch r.Status {
		case send.RejectNonFastForward, send.RejectStale, send.RejectRemoteUpdated, send.UpToDate:
			continue
		}
		if r.Peer != nil {
			fmt.Fprintf(&in, "%s %s %s %s\n", r.Peer.Name, r.New, r.Name, r.Old)
		}
	}
	_, err := hooks.Run("pre-push", hook.Options{
		Args: []string{t.remote.Name, t.url}, Stdin: &in, Environ: t.env.Repo.Environ(),
		Stdout: t.env.Stderr, Stderr: t.env.Stderr,
	})
	if err != nil {
		return errSaidAlready
	}
	return nil
}

func (t *pushTo) pushOptions() send.PushOptions {
	o := send.PushOptions{
		Agent: t.env.agent(), Atomic: t.has(pushAtomic), Quiet: t.verbosity < 0, DryRun: t.has(pushDryRun),
		Options: t.options, Progress: t.progress > 0, Pack: t.pack,
	}
	return o
}

// pack writes what the other side needs.
func (t *pushTo) pack(w io.Writer, new, have []oid.ID, ofsDelta bool) error {
	o, err := t.env.packOptions(t.db)
	if err != nil {
		return err
	}
	o.OfsDelta = ofsDelta
	var tips []revision.Tip
	for _, id := range have {
		if t.db.Has(id) {
			tips = append(tips, revision.Tip{ID: id, Not: true})
		}
	}
	for _, id := range new {
		tips = append(tips, revision.Tip{ID: id})
	}
	_, err = t.env.packReachable(w, t.walk, tips, t.thin, o)
	return err
}

// finish shows what became of the refs and records it on this side.
func (t *pushTo) finish(pushErr error) error {
	porcelain := t.has(pushPorcelain)
	failed := pushErr != nil || send.HadErrors(t.list)
	if t.verbosity >= 0 || send.HadErrors(t.list) {
		abbrevs := map[oid.ID]string{}
		p := send.Printer{
			Stdout: t.env.Stdout, Stderr: t.env.Stderr, URL: t.shown, Porcelain: porcelain, Verbose: t.verbosity > 0 || porcelain,
			Abbrev: func(id oid.ID) string {
				s, ok := abbrevs[id]
				if !ok {
					s = shortName(t.env, id)
					abbrevs[id] = s
				}
				return s
			},
		}
		p.Print(t.list)
	}
	if t.has(pushUpstream) {
		if err := t.setUpstreams(); err != nil {
			return err
		}
	}
	if !t.has(pushDryRun) {
		if err := t.track(); err != nil {
			t.say(err)
		}
	}
	switch {
	case porcelain && pushErr == nil:
		t.env.Print("Done\n")
	case t.verbosity >= 0 && !failed && !send.Pushed(t.list):
		fmt.Fprint(t.env.Stderr, "Everything up-to-date\n")
	}
	return nil
}

// track updates the remote-tracking refs of what the other side took (S3), all
// behind one barrier.
func (t *pushTo) track() error {
	tx := t.store.Begin(true)
	for _, r := range t.list {
		if r.Status != send.StatusOK && r.Status != send.UpToDate {
			continue
		}
		ref, ok := send.ByFetch(t.remote.Fetch, r.Name)
		if !ok {
			continue
		}
		old, err := t.store.Read(ref)
		if err == nil && old == r.New || err != nil && r.Deletion() {
			continue
		}
		if err := tx.Add(refs.Change{Name: ref, New: refs.OID(r.New), Message: "update by push"}); err != nil {
			return err
		}
	}
	if tx.Len() == 0 {
		return nil
	}
	b, err := t.env.Repo.NewBarrier()
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := tx.Prepare(b); err != nil {
		return err
	}
	if err := tx.Commit(b); err != nil {
		return err
	}
	return tx.Explain(b.Commit())
}

// setUpstreams makes what was pushed the upstream of the branch it came from.
func (t *pushTo) setUpstreams() error {
	for _, r := range t.list {
		if r.Peer == nil || r.Deletion() || r.Status != send.StatusOK && r.Status != send.UpToDate {
			continue
		}
		local := r.Peer.Name
		if full, err := t.store.Resolve(local, refs.Reading); err == nil && full.Symref {
			local = full.Name
		}
		branch, ok := strings.CutPrefix(local, "refs/heads/")
		if !ok || !strings.HasPrefix(r.Name, "refs/heads/") {
			continue
		}
		short := strings.TrimPrefix(r.Name, "refs/heads/")
		if t.has(pushDryRun) {
			if t.verbosity >= 0 {
				t.env.Printf("Would set upstream of '%s' to '%s' of '%s'\n", branch, short, t.remote.Name)
			}
			continue
		}
		if err := t.setUpstream(branch, r.Name); err != nil {
			return err
		}
		if t.verbosity >= 0 {
			t.env.Printf("branch '%s' set up to track '%s/%s'.\n", branch, t.remote.Name, short)
		}
	}
	return nil
}

func (t *pushTo) setUpstream(branch, merge string) error {
	return t.env.Repo.EditConfig(func(e *config.Edit) error {
		if err := e.Apply(config.Change{Key: "branch." + branch + ".remote", Value: t.remote.Name, All: true}); err != nil {
			return err
		}
		return e.Apply(config.Change{Key: "branch." + branch + ".merge", Value: merge, All: true})
	})
}

// advise explains the first kind of refusal there was.
func (t *pushTo) advise() {
	head := ""
	if r, err := t.store.Resolve("HEAD", refs.Reading); err == nil {
		head = r.Name
	}
	var kinds [8]bool
	for _, r := range t.list {
		switch {
		case r.Status == send.RejectNonFastForward && r.Name == head:
			kinds[0] = true
		case r.Status == send.RejectNonFastForward:
			kinds[1] = true
		case r.Status == send.RejectAlreadyExists:
			kinds[2] = true
		case r.Status == send.RejectFetchFirst:
			kinds[3] = true
		case r.Status == send.RejectNeedsForce:
			kinds[4] = true
		case r.Status == send.RejectRemoteUpdated:
			kinds[5] = true
		}
	}
	for i, a := range pushAdvice() {
		if kinds[i] {
			if on, err := t.env.Config.Bool("advice.pushupdaterejected", true); err != nil || !on {
				return
			}
			if on, err := t.env.Config.Bool("advice."+strings.ToLower(a.name), true); err == nil && on {
				t.env.Advise(a.text)
			}
			return
		}
	}
}

type advice struct{ name, text string }

// pushAdvice has one text for each kind of refusal; the first lines are git's.
func pushAdvice() []advice {
	return []advice{
		{"pushNonFFCurrent", "Updates were rejected because the tip of your current branch is behind\n" +
			"its remote counterpart. Integrate what is there ('git pull' does), then push again."},
		{"pushNonFFMatching", "Updates were rejected because a pushed branch tip is behind its remote\n" +
			"counterpart. Check that branch out and integrate what is there, then push again."},
		{"pushAlreadyExists", "Updates were rejected because the tag already exists in the remote."},
		{"pushFetchFirst", "Updates were rejected because the remote contains work that you do not\n" +
			"have locally. Somebody else pushed to the same ref: integrate that first\n('git pull' does), then push again."},
		{"pushNeedsForce", "You cannot update a remote ref that points at a non-commit object,\n" +
			"or update a remote ref to make it point at a non-commit object,\nwithout using the '--force' option."},
		{"pushRefNeedsUpdate", "Updates were rejected because the tip of the remote-tracking branch has\n" +
			"been updated since the last checkout. Integrate that first\n('git pull' does), then push again."},
	}
}
