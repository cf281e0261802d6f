package ident

import (
	"strings"
	"time"
)

// approx reads dates in words: "yesterday", "2 weeks ago", "last friday noon".
type approx struct {
	tm, now fields
	loc     *time.Location
	at      time.Time
	num     int // a number whose meaning is not known yet; 0 for none
	touched bool
}

// Approxidate reads any date; ok is false if nothing in it was understood, and
// the result is then now.
func Approxidate(s string, now time.Time, loc *time.Location) (when int64, ok bool) {
	if when, _, ok := ParseDate(s, now, loc); ok {
		return when, true
	}
	a := approx{tm: breakDown(now.In(loc)), loc: loc, at: now}
	a.now = a.tm
	a.tm.year, a.tm.mon, a.tm.mday = -1, -1, -1
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	for s != "" {
		switch {
		case digit(s[0]):
			a.pending()
			s = a.digits(s)
			a.touched = true
		case alpha(s[0]):
			n := wordLength(s)
			a.word(s)
			s = s[n:]
		default:
			s = s[1:]
		}
	}
	a.pending()
	return a.update(0), a.touched
}

// ParseExpiry reads a date before which things expire: "never" is the
// beginning of time, "now" and "all" its end.
func ParseExpiry(s string, now time.Time, loc *time.Location) (when uint64, ok bool) {
	switch s {
	case "never", "false":
		return 0, true
	case "all", "now":
		return 1<<64 - 1, true
	}
	n, ok := Approxidate(s, now, loc)
	return uint64(n), ok
}

// update completes the fields with those of now, goes back by seconds, and
// returns the result.
func (a *approx) update(seconds int64) int64 {
	if a.tm.mday < 0 {
		// -2 is yesterday, and so on; it waits until no day is given.
		if days := int64(a.tm.mday) + 1; seconds == 0 && days < 0 {
			seconds = -days * 24 * 60 * 60
		}
		a.tm.mday = a.now.mday
	}
	if a.tm.mon < 0 {
		a.tm.mon = a.now.mon
	}
	if a.tm.year < 0 {
		a.tm.year = a.now.year
		if a.tm.mon > a.now.mon {
			a.tm.year--
		}
	}
	t := a.tm.in(a.loc).Unix() - seconds
	a.tm = breakDown(time.Unix(t, 0).In(a.loc))
	return t
}

// pending gives the number met before a meaning: a day, a month or a year.
func (a *approx) pending() {
	n := a.num
	a.num = 0
	switch {
	case n == 0:
	case a.tm.mday < 0 && n < 32:
		a.tm.mday = n
	case a.tm.mon < 0 && n < 13:
		a.tm.mon = n - 1
	case a.tm.year >= 0:
	case n > 1969 && n < 2100:
		a.tm.year = n - 1900
	case n > 69 && n < 100:
		a.tm.year = n
	case n < 38:
		a.tm.year = 100 + n
	}
}

func (a *approx) digits(s string) string {
	num, rest := number(s)
	if c := at(rest, 0); (c == ':' || c == '.' || c == '/' || c == '-') && digit(at(rest, 1)) {
		if n := a.tm.multi(num, c, s, rest, a.at); n > 0 {
			return s[n:]
		}
	}
	if s[0] != '0' || len(s)-len(rest) <= 2 {
		a.num = int(min(num, 1<<30))
	}
	return rest
}

// hour sets the most recent time at which it was that hour.
func (a *approx) hour(h int) {
	if a.tm.mday < 0 && a.tm.hour < h {
		a.tm.mday = -2
	}
	a.tm.hour, a.tm.min, a.tm.sec = h, 0, 0
}

func (a *approx) word(s string) {
	for i, name := range monthNames {
		if sameLetters(s, name) >= 3 {
			a.tm.mon, a.touched = i, true
			return
		}
	}
	if a.special(s) {
		a.touched = true
		return
	}
	if a.num == 0 {
		for i, name := range [...]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"} {
			if sameLetters(s, name) == len(name) {
				a.num, a.touched = i+1, true
				return
			}
		}
		if sameLetters(s, "last") == 4 {
			a.num, a.touched = 1, true
		}
		return
	}
	if a.ago(s) {
		a.num, a.touched = 0, true
	}
}

// special reads the words that are a time by themselves.
func (a *approx) special(s string) bool {
	is := func(name string) bool { return sameLetters(s, name) == len(name) }
	switch {
	case is("yesterday"):
		a.num, a.tm.mday = 0, -1
		a.update(24 * 60 * 60)
	case is("noon"):
		a.pending()
		a.hour(12)
	case is("midnight"):
		a.pending()
		a.hour(0)
	case is("tea"):
		a.pending()
		a.hour(17)
	case is("PM"), is("AM"):
		if a.num != 0 {
			a.tm.hour, a.tm.min, a.tm.sec = a.num, 0, 0
		}
		a.num = 0
		a.tm.hour %= 12
		if is("PM") {
			a.tm.hour += 12
		}
	case is("never"):
		a.tm = breakDown(time.Unix(0, 0).In(a.loc))
		a.num = 0
	case is("now"):
		a.num = 0
		a.update(0)
	case is("today"):
		if a.tm.hour == a.now.hour && a.tm.min == a.now.min && a.tm.sec == a.now.sec {
			a.hour(0)
		}
		a.num, a.tm.mday = 0, -1
		a.update(0)
	default:
		return false
	}
	return true
}

// ago reads a unit or a day of the week, after a number.
func (a *approx) ago(s string) bool {
	for _, u := range [...]struct {
		name   string
		length int64
	}{{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}, {"weeks", 604800}} {
		if sameLetters(s, u.name) >= len(u.name)-1 {
			a.update(u.length * int64(a.num))
			return true
		}
	}
	for i, name := range dayNames {
		if sameLetters(s, name) >= 3 {
			n := a.num - 1
			diff := a.tm.wday - i
			if diff <= 0 {
				n++
			}
			a.update(int64(diff+7*n) * 86400)
			return true
		}
	}
	switch {
	case sameLetters(s, "months") >= 5:
		a.update(0)
		a.tm.mon -= a.num
		for a.tm.mon < 0 {
			a.tm.mon += 12
			a.tm.year--
		}
		return true
	case sameLetters(s, "years") >= 4:
		a.update(0)
		a.tm.year -= a.num
		return true
	}
	return false
}
