package worktree

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A StageItem is a path whose index entry is to become as its file is.
type StageItem struct {
	Path   string // that of a gitlink may end in "/"
	Remove bool   // the file is gone, and the entry is to go
	// Untracked says that the path came from a walk for untracked files; the
	// message of a failure differs.
	Untracked bool
	// Renormalize hashes the file even if its stat data says it is the same.
	Renormalize bool
}

// A Stager puts files into the index.
type Stager struct {
	Tree  *Tree
	Index *index.Index
	Sink  *Sink // unused with Pretend

	Verbose      bool // say what changes
	Pretend      bool // only say it
	IntentToAdd  bool // record that the path will be added
	IgnoreErrors bool // go on with the next file

	Say    func(line string) // what changes, for stdout
	Report func(line string) // messages, for stderr
	// Added, if set, is called after each untracked path.
	Added func(path string)
}

// staged is what became of an item before the index is touched.
type staged struct {
	st    index.FileStat
	cv    Conversion
	id    oid.ID
	alias *index.Entry // what the index has for the path
	same  bool         // and it is as the file is
	err   error
	lines []string // what conversion warned of
}

// Stage hashes the files of items on all cores and puts them into the index
// in order. failed says that some could not be added and were passed over;
// err is what git dies of.
func (s *Stager) Stage(items []StageItem) (failed bool, err error) {
	if s.Index.Options.Stat.IgnoreCase {
		s.Index.FindFold("") // from here on looking up only reads
	}
	s.Index.MatchBasic(&index.Entry{}, &index.FileStat{}) // the same
	res := make([]staged, len(items))
	s.prepareAll(items, res)
	for i := range items {
		if err := s.apply(&items[i], &res[i]); err != nil {
			if !s.IgnoreErrors || isFatal(err) {
				return failed, err
			}
			failed = true
		} else if items[i].Untracked && s.Added != nil {
			s.Added(items[i].Path)
		}
	}
	return failed, nil
}

// prepareAll takes items in order and stops at the first that fails, unless
// errors are ignored. Items behind it may be left out.
func (s *Stager) prepareAll(items []StageItem, res []staged) {
	var next, stop atomic.Int64
	stop.Store(int64(len(items)))
	work := func() {
		h := s.Tree.NewHasher()
		for {
			i := next.Add(1) - 1
			if i >= stop.Load() {
				return
			}
			if items[i].Remove {
				continue
			}
			r := &res[i]
			if r.err = s.prepare(h, &items[i], r); r.err != nil && (!s.IgnoreErrors || isFatal(r.err)) {
				for old := stop.Load(); i+1 < old && !stop.CompareAndSwap(old, i+1); old = stop.Load() {
				}
			}
		}
	}
	// One more than there are cores: files are waited for.
	n := min(runtime.GOMAXPROCS(0)+1, len(items))
	if n <= 1 {
		work()
		return
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(work)
	}
	wg.Wait()
}

func isFatal(err error) bool {
	var h *HashError
	return errors.As(err, &h) && h.Fatal
}

func fatal(format string, args ...any) error {
	return &HashError{Fatal: true, Err: fmt.Errorf(format, args...)}
}

func (s *Stager) prepare(h *Hasher, it *StageItem, r *staged) error {
	if err := index.Lstat(s.Tree.abs(it.Path), &r.st); err != nil {
		return fatal("unable to stat '%s': %s", it.Path, errnoText(err))
	}
	if !r.st.IsRegular() && !r.st.IsSymlink() && !r.st.IsDir() {
		err := fmt.Errorf("%s: can only add regular files, symbolic links or git-directories", it.Path)
		return hashErr(err, err.Error())
	}
	if !it.Renormalize {
		if s.sameAsIndex(it, r) {
			r.same = true
			return nil
		}
	}
	if s.IntentToAdd {
		return s.storeEmpty(r)
	}
	var err error
	name := strings.TrimRight(it.Path, "/")
	if r.st.IsRegular() {
		if r.cv, err = s.Tree.Plan(name); err != nil {
			return &HashError{Fatal: true, Err: err}
		}
	}
	sink := s.Sink
	if s.Pretend {
		sink = nil
	}
	o := ConvertOptions{Renormalize: it.Renormalize, Report: func(l string) { r.lines = append(r.lines, l) }}
	r.id, err = h.Hash(it.Path, &r.st, &r.cv, sink, o)
	var he *HashError
	if errors.As(err, &he) && !he.Fatal {
		he.Lines = append(he.Lines, fmt.Sprintf("error: unable to index file '%s'", it.Path))
	}
	return err
}

// sameAsIndex looks the path up and reports whether nothing has to be done.
func (s *Stager) sameAsIndex(it *StageItem, r *staged) bool {
	name := strings.TrimRight(it.Path, "/")
	if s.Index.Options.Stat.IgnoreCase {
		r.alias = s.Index.FindFold(name)
	} else {
		r.alias = s.Index.Find(name, 0)
	}
	if r.alias == nil || r.alias.Stage != 0 {
		return false
	}
	return s.Index.Match(r.alias, &r.st, index.IgnoreValid|index.IgnoreSkipWorktree|index.RacyIsDirty) == 0
}

// storeEmpty gives an intended addition its object, which is the empty blob.
func (s *Stager) storeEmpty(r *staged) error {
	r.id = s.Tree.Algo.EmptyBlob()
	if s.Pretend {
		return nil
	}
	if _, err := s.Sink.Write(nil); err != nil {
		return fatal("cannot create an empty blob in the object database")
	}
	return nil
}

// apply does to the index what item asks for.
func (s *Stager) apply(it *StageItem, r *staged) error {
	if it.Remove {
		if s.Verbose || s.Pretend {
			s.say("remove '%s'", it.Path)
		}
		if !s.Pretend {
			s.Index.RemovePath(it.Path)
		}
		return nil
	}
	for _, l := range r.lines {
		s.report(l)
	}
	err := r.err
	if err == nil && r.same {
		if !r.alias.IsGitlink() {
			r.alias.Flags |= index.UpToDate
		}
		r.alias.Flags |= index.Added
		return nil
	}
	if err == nil {
		err = s.put(it, r)
	}
	var he *HashError
	if errors.As(err, &he) {
		for _, l := range he.Lines {
			s.report(l)
		}
		if he.Fatal || s.IgnoreErrors {
			return err
		}
	}
	if err != nil && !it.Untracked {
		return errors.New("updating files failed")
	}
	if err != nil {
		return errors.New("adding files failed")
	}
	return nil
}

// put makes the entry and adds it.
func (s *Stager) put(it *StageItem, r *staged) error {
	x := s.Index
	e := &index.Entry{Name: strings.TrimRight(it.Path, "/"), ID: r.id, Flags: index.Added}
	if s.IntentToAdd {
		e.Flags |= index.IntentToAdd
	} else {
		x.FillStat(e, &r.st)
	}
	e.Mode = x.Options.Stat.ModeFromStat(x.FindAny(e.Name), r.st.Mode)
	if x.Options.Stat.IgnoreCase {
		e.Name = x.FoldDir(e.Name)
		if a := r.alias; a != nil && a.Name != e.Name {
			if a.Has(index.Added) {
				return fatal("will not add file alias '%s' ('%s' already exists in index)", e.Name, a.Name)
			}
			e.Name = a.Name
		}
	}
	was := r.alias != nil && r.alias.Stage == 0 && r.alias.ID == e.ID && r.alias.Mode == e.Mode
	if !s.Pretend {
		o := index.OKToAdd | index.OKToReplace
		if s.IntentToAdd {
			o |= index.NewOnly
		}
		if err := x.Add(e, o); err != nil {
			return hashErr(err, err.Error(), fmt.Sprintf("unable to add '%s' to index", it.Path))
		}
	}
	if (s.Verbose || s.Pretend) && !was {
		s.say("add '%s'", it.Path)
	}
	return nil
}

func (s *Stager) say(format string, args ...any) {
	if s.Say != nil {
		s.Say(fmt.Sprintf(format, args...))
	}
}

func (s *Stager) report(line string) {
	if s.Report != nil {
		s.Report(line)
	}
}
