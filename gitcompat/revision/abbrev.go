package revision

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
)

// minAbbrev is the shortest prefix that may stand for an object.
const minAbbrev = 4

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i] | 0x20
		if !(c >= '0' && c <= '9' && s[i] == c || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

// isShort reports whether name is the unique prefix of an object.
func (r *Resolver) isShort(name string) bool {
	if len(name) < minAbbrev || !isHex(name) {
		return false
	}
	_, err := r.quiet().short(name, Any)
	return err == nil
}

// short resolves a prefix of an object name.
func (r *Resolver) short(name string, want Want) (oid.ID, error) {
	if len(name) < minAbbrev || len(name) > r.Repo.Algo.HexSize() || !isHex(name) {
		return oid.ID{}, ErrUnknown
	}
	db, err := r.db()
	if err != nil {
		return oid.ID{}, err
	}
	prefix := strings.ToLower(name)
	ids, err := db.Abbrev(prefix)
	if err != nil {
		return oid.ID{}, err
	}
	switch len(ids) {
	case 0:
		return oid.ID{}, ErrUnknown
	case 1:
		return ids[0], nil
	}
	if want == Any {
		want = r.hint()
	}
	fits := ids
	if want != Any {
		fits = nil
		for _, id := range ids {
			if r.fits(id, want) {
				fits = append(fits, id)
			}
		}
		if len(fits) == 1 {
			return fits[0], nil
		}
	}
	if r.Say != nil {
		if len(fits) == 0 {
			fits = ids
		}
		r.sayCandidates(prefix, fits)
	}
	return oid.ID{}, errAmbiguous
}

// hint is core.disambiguate.
func (r *Resolver) hint() Want {
	v, _ := r.Repo.Config.Get("core.disambiguate")
	switch strings.ToLower(v) {
	case "commit":
		return WantCommit
	case "committish":
		return WantCommittish
	case "tree":
		return WantTree
	case "treeish":
		return WantTreeish
	case "blob":
		return WantBlob
	}
	return Any
}

func (r *Resolver) fits(id oid.ID, want Want) bool {
	typ, err := r.typeOf(id)
	if err != nil {
		return false
	}
	if typ == object.Tag && (want == WantCommittish || want == WantTreeish) {
		w, err := r.history()
		if err != nil {
			return false
		}
		if _, typ, err = w.derefTag(id); err != nil {
			return false
		}
	}
	switch want {
	case WantCommit, WantCommittish:
		return typ == object.Commit
	case WantTree:
		return typ == object.Tree
	case WantTreeish:
		return typ == object.Tree || typ == object.Commit
	}
	return typ == object.Blob
}

func (r *Resolver) typeOf(id oid.ID) (object.Type, error) {
	db, err := r.db()
	if err != nil {
		return 0, err
	}
	typ, _, err := db.Info(id)
	return typ, err
}

// sayCandidates lists the objects with a prefix in git's order: tags, commits,
// trees, blobs.
func (r *Resolver) sayCandidates(prefix string, ids []oid.ID) {
	r.say(fmt.Sprintf("error: short object ID %s is ambiguous", prefix))
	rank := func(id oid.ID) int {
		typ, err := r.typeOf(id)
		if err != nil {
			return -1
		}
		return int(typ) % 4
	}
	sort.SliceStable(ids, func(i, j int) bool {
		a, b := rank(ids[i]), rank(ids[j])
		if a != b {
			return a < b
		}
		return ids[i].Compare(ids[j]) < 0
	})
	lines := make([]string, len(ids))
	for i, id := range ids {
		lines[i] = r.describe(id)
	}
	r.say("hint: The candidates are:")
	for _, line := range lines {
		r.say("hint:   " + line)
	}
}

// describe is one line about an object for the list of candidates.
func (r *Resolver) describe(id oid.ID) string {
	db, err := r.db()
	if err != nil {
		return id.String()
	}
	hash := db.UniqueAbbrev(id, r.AbbrevLen())
	typ, err := r.typeOf(id)
	if err != nil {
		return hash + " [bad object]"
	}
	switch typ {
	case object.Commit, object.Tag:
		_, body, err := db.Read(id)
		if err != nil {
			return hash + " [bad object]"
		}
		if typ == object.Commit {
			return hash + " commit " + headerDate(body, "author ") + " - " + subject(body)
		}
		name := headerLine(body, "tag ")
		if name == "" {
			return hash + " [bad tag, could not parse it]"
		}
		return hash + " tag " + headerDate(body, "tagger ") + " - " + name
	}
	return hash + " " + typ.String()
}

func headerLine(body []byte, key string) string {
	for _, line := range strings.Split(string(body), "\n") {
		if line == "" {
			break
		}
		if v, ok := strings.CutPrefix(line, key); ok {
			return v
		}
	}
	return ""
}

// headerDate returns the day in an author or tagger line.
func headerDate(body []byte, key string) string {
	line := headerLine(body, key)
	f := strings.Fields(line[strings.LastIndexByte(line, '>')+1:])
	if len(f) < 2 {
		return ""
	}
	sec, err := strconv.ParseInt(f[0], 10, 64)
	tz, zerr := strconv.Atoi(f[1])
	if err != nil || zerr != nil {
		return ""
	}
	return zoned(sec, tz).Format(time.DateOnly)
}

// subject returns the first paragraph of a message as one line.
func subject(body []byte) string {
	_, msg, _ := strings.Cut(string(body), "\n\n")
	msg = strings.TrimLeft(msg, "\n")
	msg, _, _ = strings.Cut(msg, "\n\n")
	return strings.ReplaceAll(strings.TrimRight(msg, "\n"), "\n", " ")
}

// AbbrevLen returns core.abbrev: the length to which object names are cut in
// output, 0 for the length that fits the size of the repository.
func (r *Resolver) AbbrevLen() int {
	v, ok := r.Repo.Config.Get("core.abbrev")
	if !ok || strings.EqualFold(v, "auto") {
		return 0
	}
	if b, isBool := boolWord(v); isBool && !b {
		return r.Repo.Algo.HexSize()
	}
	n, err := r.Repo.Config.Int("core.abbrev", 0)
	if err != nil || n < minAbbrev || n > r.Repo.Algo.HexSize() {
		return 0
	}
	return n
}

func boolWord(v string) (value, ok bool) {
	switch strings.ToLower(v) {
	case "no", "off", "false":
		return false, true
	}
	return true, false
}

// describeName resolves the output of git describe: the abbreviated commit
// after "-g".
func (r *Resolver) describeName(name string) (oid.ID, error) {
	for i := len(name) - 1; i >= 2; i-- {
		if isHex(name[i : i+1]) {
			continue
		}
		if name[i] == 'g' && name[i-1] == '-' && countedRef(name[:i-1]) {
			return r.quiet().short(name[i+1:], WantCommit)
		}
	}
	return oid.ID{}, ErrUnknown
}

// countedRef reports whether name is a well-formed ref name, a dash and a count.
func countedRef(name string) bool {
	i := len(name) - 1
	for i >= 0 && isHex(name[i:i+1]) {
		i--
	}
	if i <= 0 || i == len(name)-1 || name[i] != '-' {
		return false
	}
	return refname.Check(name[:i], refname.AllowOneLevel)
}
