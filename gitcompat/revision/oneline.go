package revision

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// newestMatching is ":/text": the newest commit of any ref whose message matches.
func (r *Resolver) newestMatching(pattern string) (oid.ID, error) {
	w, err := r.history()
	if err != nil {
		return oid.ID{}, err
	}
	var tips []oid.ID
	add := func(id oid.ID) {
		if id, typ, err := w.derefTag(id); err == nil && typ == object.Commit {
			tips = append(tips, id)
		}
	}
	if err := r.tips(add); err != nil {
		return oid.ID{}, err
	}
	return r.matching(w, pattern, tips)
}

// matching returns the newest ancestor of tips whose message matches pattern:
// an extended regular expression; "!-" before it turns the test round.
func (r *Resolver) matching(w *Walk, pattern string, tips []oid.ID) (oid.ID, error) {
	not := false
	if rest, ok := strings.CutPrefix(pattern, "!"); ok {
		pattern = rest
		if rest, ok = strings.CutPrefix(rest, "-"); ok {
			pattern, not = rest, true
		} else if !strings.HasPrefix(pattern, "!") {
			return oid.ID{}, ErrUnknown
		}
	}
	re, err := regexp.Compile("(?ms)" + pattern)
	if err != nil {
		return oid.ID{}, ErrUnknown
	}
	req := Request{}
	for _, id := range tips {
		req.Tips = append(req.Tips, Tip{ID: id})
	}
	var found oid.ID
	stop := &unknownError{"stop"}
	err = w.Run(&req, func(it *Item) error {
		_, body, err := w.db.Read(it.ID)
		if err != nil {
			return nil
		}
		_, msg, ok := bytes.Cut(body, []byte("\n\n"))
		if (ok && re.Match(msg)) != not {
			found = it.ID
			return stop
		}
		return nil
	})
	if err == error(stop) {
		return found, nil
	}
	return oid.ID{}, ErrUnknown
}
