package revision

import "github.com/sluicegit/sluice/gitcompat/oid"

const paintFlags = fParent1 | fParent2 | fStale | fResult

// paint walks back from one and twos until only history that is common to both
// is left, and returns the commits where the two colours met first, unless an
// older meeting point is known to be behind them (those are stale).
func (w *Walk) paint(one *Commit, twos []*Commit) ([]*Commit, error) {
	var touched, found []*Commit
	var q queue
	live := 0 // commits in the queue that are not stale
	defer func() {
		for _, c := range touched {
			c.flags &^= paintFlags | fQueued
		}
	}()
	mark := func(c *Commit, f uint32) {
		if c.flags&paintFlags == 0 {
			touched = append(touched, c)
		}
		if c.flags&fQueued != 0 && c.flags&fStale == 0 && f&fStale != 0 {
			live--
		}
		c.flags |= f
		if c.flags&fQueued == 0 {
			c.flags |= fQueued
			q.push(c)
			if c.flags&fStale == 0 {
				live++
			}
		}
	}
	if err := w.parse(one); err != nil {
		return nil, err
	}
	mark(one, fParent1)
	for _, two := range twos {
		if err := w.parse(two); err != nil {
			return nil, err
		}
		mark(two, fParent2)
	}
	for live > 0 {
		c := q.pop()
		c.flags &^= fQueued
		if c.flags&fStale == 0 {
			live--
		}
		f := c.flags & (fParent1 | fParent2 | fStale)
		if f == fParent1|fParent2 {
			if c.flags&fResult == 0 {
				c.flags |= fResult
				found = append(found, c)
			}
			f |= fStale
		}
		for _, p := range c.Parents {
			if p.flags&f == f {
				continue
			}
			if err := w.parse(p); err != nil {
				return nil, err
			}
			mark(p, f)
		}
	}
	var out []*Commit
	for _, c := range found {
		if c.flags&fStale == 0 {
			out = append(out, c)
		}
	}
	return out, nil
}

// IsAncestor reports whether anc is desc or one of its ancestors.
func (w *Walk) IsAncestor(anc, desc oid.ID) (bool, error) {
	if anc == desc {
		_, err := w.Commit(anc)
		return err == nil, err
	}
	bases, err := w.paint(w.node(anc), []*Commit{w.node(desc)})
	if err != nil {
		return false, err
	}
	for _, b := range bases {
		if b.ID == anc {
			return true, nil
		}
	}
	return false, nil
}

// MergeBases returns the best common ancestors of one and the (hypothetical)
// merge of twos, the newest first.
func (w *Walk) MergeBases(one oid.ID, twos ...oid.ID) ([]oid.ID, error) {
	a := w.node(one)
	bs := make([]*Commit, len(twos))
	for i, id := range twos {
		if bs[i] = w.node(id); bs[i] == a {
			_, err := w.Commit(one)
			return []oid.ID{one}, err
		}
	}
	found, err := w.paint(a, bs)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		if found, err = w.independent(found); err != nil {
			return nil, err
		}
	}
	var q queue
	for _, c := range found {
		q.push(c)
	}
	out := make([]oid.ID, 0, len(found))
	for q.len() > 0 {
		out = append(out, q.pop().ID)
	}
	return out, nil
}

// independent removes commits that are ancestors of others in the list.
func (w *Walk) independent(list []*Commit) ([]*Commit, error) {
	gone := make([]bool, len(list))
	for i, c := range list {
		for j, d := range list {
			if i == j || gone[i] || gone[j] {
				continue
			}
			anc, err := w.IsAncestor(c.ID, d.ID)
			if err != nil {
				return nil, err
			}
			gone[i] = gone[i] || anc
		}
	}
	out := list[:0]
	for i, c := range list {
		if !gone[i] {
			out = append(out, c)
		}
	}
	return out, nil
}

// AheadBehind counts the commits that only a has and those that only b has.
func (w *Walk) AheadBehind(a, b oid.ID) (ahead, behind int, err error) {
	if a == b {
		return 0, 0, nil
	}
	req := Request{Tips: []Tip{{ID: a, Left: true}, {ID: b}}}
	bases, err := w.MergeBases(a, b)
	if err != nil {
		return 0, 0, err
	}
	for _, m := range bases {
		req.Tips = append(req.Tips, Tip{ID: m, Not: true})
	}
	err = w.Run(&req, func(it *Item) error {
		if it.Left {
			ahead++
		} else {
			behind++
		}
		return nil
	})
	return ahead, behind, err
}

// Reduce removes from ids those that are ancestors of others, and repetitions.
func (w *Walk) Reduce(ids []oid.ID) ([]oid.ID, error) {
	var list []*Commit
	seen := make(map[oid.ID]bool)
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		c, err := w.Commit(id)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	list, err := w.independent(list)
	if err != nil {
		return nil, err
	}
	out := make([]oid.ID, len(list))
	for i, c := range list {
		out[i] = c.ID
	}
	return out, nil
}
