package revision

// A queue hands out commits by date, the newest first, and those of equal
// dates in the order in which they came.
type queue struct {
	items []queued
	seq   uint32
	// lifo ignores dates: the one that came last goes first.
	lifo bool
}

type queued struct {
	c   *Commit
	seq uint32
}

func (q *queue) len() int { return len(q.items) }

func (q *queue) first() *Commit { return q.items[0].c }

func (q *queue) less(a, b queued) bool {
	if a.c.Date != b.c.Date {
		return a.c.Date > b.c.Date
	}
	return a.seq < b.seq
}

func (q *queue) push(c *Commit) {
	it := queued{c, q.seq}
	q.seq++
	q.items = append(q.items, it)
	if q.lifo {
		return
	}
	i := len(q.items) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.less(it, q.items[up]) {
			break
		}
		q.items[i] = q.items[up]
		i = up
	}
	q.items[i] = it
}

func (q *queue) pop() *Commit {
	n := len(q.items) - 1
	if q.lifo {
		c := q.items[n].c
		q.items = q.items[:n]
		return c
	}
	top := q.items[0].c
	last := q.items[n]
	q.items = q.items[:n]
	if n == 0 {
		return top
	}
	i := 0
	for {
		kid := 2*i + 1
		if kid >= n {
			break
		}
		if kid+1 < n && q.less(q.items[kid+1], q.items[kid]) {
			kid++
		}
		if !q.less(q.items[kid], last) {
			break
		}
		q.items[i] = q.items[kid]
		i = kid
	}
	q.items[i] = last
	return top
}
