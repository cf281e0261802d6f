package diff

import (
	"slices"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// DefaultScore is the similarity from which on a file counts as renamed: half.
const DefaultScore = MaxScore / 2

// DefaultRenameLimit is git's default of diff.renameLimit.
const DefaultRenameLimit = 1000

// candidates is how many sources are kept for each destination.
const candidates = 4

// identicalTries is how many sources of the same content are looked at.
const identicalTries = 100

// Renames says how renames are found.
type Renames struct {
	Copies  bool // find copies too, from files that changed
	Score   int  // 0: DefaultScore
	Limit   int  // of sources and destinations each; negative: none, 0: default
	NoEmpty bool // empty files are not renamed
	// Content returns what is in a file: of its blob, or of the working tree,
	// converted, where its ID is null.
	Content func(File) ([]byte, error)
}

// Find turns pairs of a deletion and an addition into renames. TooMany says that
// there were more than the limit allows, so that only equal files, and those
// that kept their base name, were found.
func (o Renames) Find(db *odb.DB, changes []Change) (out []Change, tooMany bool) {
	if o.Score == 0 {
		o.Score = DefaultScore
	}
	if o.Limit == 0 {
		o.Limit = DefaultRenameLimit
	}
	r := &renamer{Renames: o, db: db}
	r.sort(changes)
	if len(r.dst) == 0 || len(r.src) == 0 {
		return changes, false
	}
	r.identical()
	if o.Score < MaxScore {
		tooMany = r.similar()
	}
	return r.collapse(changes), tooMany
}

type renamer struct {
	Renames
	db  *odb.DB
	src []source
	dst []target
}

type source struct {
	change *Change
	file   File
	used   int
	blob   blob
	done   bool // no longer looked at
}

type target struct {
	change *Change
	from   *source
	score  int
	blob   blob
}

func (r *renamer) sort(changes []Change) {
	for i := range changes {
		c := &changes[i]
		switch {
		case c.Status == Unmerged:
			if r.Copies && c.Old.Mode != 0 {
				r.src = append(r.src, source{change: c, file: c.Old, used: 1})
			}
		case c.Old.Mode == 0:
			if !r.NoEmpty || c.New.ID != c.New.ID.Algo().EmptyBlob() {
				r.dst = append(r.dst, target{change: c})
			}
		case r.NoEmpty && c.Old.ID == c.Old.ID.Algo().EmptyBlob():
		case c.New.Mode == 0:
			r.src = append(r.src, source{change: c, file: c.Old})
		case r.Copies:
			r.src = append(r.src, source{change: c, file: c.Old, used: 1})
		}
	}
}

func (r *renamer) record(d *target, s *source, score int) {
	d.from, d.score = s, score
	s.used++
}

// name returns the object name of what is in a file.
func (r *renamer) name(f File) (oid.ID, bool) {
	if !f.ID.IsNull() {
		return f.ID, true
	}
	content, err := r.Content(f)
	if err != nil {
		return oid.ID{}, false
	}
	return r.db.Algo().Sum("blob", content), true
}

// identical finds the renames of files that did not change.
func (r *renamer) identical() {
	byName := make(map[oid.ID][]*source)
	for i := range r.src {
		if id, ok := r.name(r.src[i].file); ok {
			byName[id] = append(byName[id], &r.src[i])
		}
	}
	for i := range r.dst {
		d := &r.dst[i]
		id, ok := r.name(d.change.New)
		if !ok {
			continue
		}
		if d.change.New.ID.IsNull() {
			d.change.New.Hash = id
		}
		if best := r.bestIdentical(byName[id], &d.change.New); best != nil {
			r.record(d, best, MaxScore)
		}
	}
}

func (r *renamer) bestIdentical(from []*source, to *File) *source {
	var best *source
	bestScore, tries := -1, identicalTries
	for _, s := range from {
		if (s.file.Mode&typeMask != modeFile || to.Mode&typeMask != modeFile) && s.file.Mode != to.Mode {
			continue
		}
		if s.used > 0 && !r.Copies {
			continue
		}
		score := 0
		if s.used == 0 {
			score++
		}
		if sameBase(s.file.Path, to.Path) {
			score++
		}
		if score > bestScore {
			if best, bestScore = s, score; score == 2 {
				break
			}
		}
		if tries--; tries == 0 {
			break
		}
	}
	return best
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func sameBase(a, b string) bool { return base(a) == base(b) }

// similar finds the renames of files that changed, by comparing all with all.
func (r *renamer) similar() (tooMany bool) {
	if !r.Copies {
		r.dropUsed()
		r.byBase()
		r.dropUsed()
	}
	sources, targets := 0, 0
	for i := range r.src {
		if !r.src[i].done {
			sources++
		}
	}
	for i := range r.dst {
		if r.dst[i].from == nil {
			targets++
		}
	}
	if sources == 0 || targets == 0 {
		return false
	}
	if r.Limit > 0 && (sources > r.Limit || targets > r.Limit) && sources*targets > r.Limit*r.Limit {
		return true
	}
	pairs := r.matrix(targets)
	r.take(pairs, false)
	if r.Copies {
		r.take(pairs, true)
	}
	return false
}

func (r *renamer) dropUsed() {
	for i := range r.src {
		r.src[i].done = r.src[i].used > 0
	}
}

// byBase pairs files whose base name is the only one on both sides, if they
// are similar enough that nothing else need be tried.
func (r *renamer) byBase() {
	least := r.Score + (MaxScore-r.Score)/2
	sources, targets := make(map[string]int), make(map[string]int)
	for i := range r.src {
		if !r.src[i].done {
			once(sources, base(r.src[i].file.Path), i)
		}
	}
	for i := range r.dst {
		if r.dst[i].from == nil {
			once(targets, base(r.dst[i].change.New.Path), i)
		}
	}
	for i := range r.src {
		s := &r.src[i]
		if s.done {
			continue
		}
		name := base(s.file.Path)
		j, ok := targets[name]
		if !ok || j < 0 || sources[name] < 0 {
			continue
		}
		d := &r.dst[j]
		if score := r.score(&s.file, &d.change.New, &s.blob, &d.blob, least); score >= least {
			r.record(d, s, score)
		}
	}
}

func once(m map[string]int, key string, i int) {
	if _, ok := m[key]; ok {
		i = -1
	}
	m[key] = i
}

// A pair is a source that a target may have come from.
type pair struct {
	d           *target
	s           *source
	score, name int
}

// comparePairs orders pairs: the best first.
func comparePairs(a, b pair) int {
	switch {
	case a.d == nil && b.d == nil:
		return 0
	case a.d == nil:
		return 1
	case b.d == nil:
		return -1
	case a.score != b.score:
		return b.score - a.score
	}
	return b.name - a.name
}

func (r *renamer) matrix(targets int) []pair {
	all := make([]pair, 0, targets*candidates)
	for i := range r.dst {
		d := &r.dst[i]
		if d.from != nil {
			continue
		}
		var best [candidates]pair
		for j := range r.src {
			s := &r.src[j]
			if s.done {
				continue
			}
			p := pair{d: d, s: s, score: r.score(&s.file, &d.change.New, &s.blob, &d.blob, r.Score)}
			if sameBase(s.file.Path, d.change.New.Path) {
				p.name = 1
			}
			worst := 0
			for k := 1; k < candidates; k++ {
				if comparePairs(best[k], best[worst]) > 0 {
					worst = k
				}
			}
			if comparePairs(best[worst], p) > 0 {
				best[worst] = p
			}
		}
		d.blob.spans, d.blob.counted = nil, false
		all = append(all, best[:]...)
	}
	slices.SortStableFunc(all, comparePairs)
	return all
}

func (r *renamer) take(pairs []pair, copies bool) {
	for _, p := range pairs {
		if p.d == nil || p.score < r.Score {
			return
		}
		if p.d.from == nil && (copies || p.s.used == 0) {
			r.record(p.d, p.s, p.score)
		}
	}
}

// collapse returns the changes with the renames in place of what they are made of.
func (r *renamer) collapse(changes []Change) []Change {
	from := make(map[*Change]*target, len(r.dst))
	for i := range r.dst {
		if r.dst[i].from != nil {
			from[r.dst[i].change] = &r.dst[i]
		}
	}
	used := make(map[*Change]bool)
	for i := range r.src {
		if r.src[i].used > 0 && r.src[i].change.Status == Deleted {
			used[r.src[i].change] = true
		}
	}
	out := make([]Change, 0, len(changes))
	for i := range changes {
		c := &changes[i]
		if used[c] {
			continue
		}
		t := from[c]
		if t == nil {
			out = append(out, *c)
			continue
		}
		status := byte(Renamed)
		if t.from.used--; t.from.used > 0 {
			status = Copied
		}
		out = append(out, Change{Status: status, Score: t.score, Old: t.from.file, New: c.New, IntentToAdd: c.IntentToAdd})
	}
	return out
}
