package ident

import (
	"strconv"
	"strings"
	"time"
)

// fields is a broken-down time in which -1 stands for "not known yet", as in C.
type fields struct {
	year int // since 1900
	mon  int // 0 to 11
	mday int
	hour int
	min  int
	sec  int
	wday int // 0 is Sunday
}

func unknown() fields { return fields{year: -1, mon: -1, mday: -1, hour: -1, min: -1, sec: -1} }

func breakDown(t time.Time) fields {
	return fields{year: t.Year() - 1900, mon: int(t.Month()) - 1, mday: t.Day(), hour: t.Hour(), min: t.Minute(), sec: t.Second(), wday: int(t.Weekday())}
}

// in returns the time in loc, with fields out of range carried over.
func (f *fields) in(loc *time.Location) time.Time {
	return time.Date(f.year+1900, time.Month(f.mon+1), f.mday, f.hour, f.min, f.sec, 0, loc)
}

// utc returns the seconds since the epoch of a complete time between 1970 and
// 2099; -1 for any other.
func (f *fields) utc() int64 {
	if f.year < 70 || f.year > 199 || f.mon < 0 || f.mon > 11 || f.hour < 0 || f.min < 0 || f.sec < 0 {
		return -1
	}
	return f.in(time.UTC).Unix()
}

func (f *fields) none() bool {
	return f.year < 0 && f.mon < 0 && f.mday < 0 && f.hour < 0 && f.min < 0 && f.sec < 0
}

func (f *fields) dateKnown() bool { return f.year != -1 && f.mon != -1 && f.mday != -1 }

// halfISO: a "T" was seen after a date, and no hour yet.
func (f *fields) halfISO() bool { return f.hour == -1 && f.min == 0 && f.sec == 0 }

func digit(c byte) bool { return c >= '0' && c <= '9' }
func alpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// at returns s[i], or 0 behind the end.
func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

// number reads the digits at the front of s; a number that is too long is as
// big as can be.
func number(s string) (n int64, rest string) {
	digits, rest := digitsOf(s)
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil && digits != "" {
		n = 1<<63 - 1
	}
	return n, rest
}

// lastSecond is the last one of 2099.
const lastSecond = ((2100-1970)*365+32)*24*60*60 - 1

// dateParser reads the strict forms: those of mail, of ISO 8601, and git's own.
type dateParser struct {
	tm     fields
	offset int // minutes; -1 for not known
	gmt    bool
	now    time.Time
}

// ParseDate reads a date in one of the strict forms. What it does not
// understand it skips, as git does; ok is false if no date comes of it.
func ParseDate(s string, now time.Time, loc *time.Location) (when int64, offset int, ok bool) {
	if rest, ok := strings.CutPrefix(s, "@"); ok {
		if when, offset, ok := objectDate(rest); ok {
			return when, offset, true
		}
	}
	p := dateParser{tm: unknown(), offset: -1, now: now}
	for s != "" && s[0] != '\n' && s[0] != 0 {
		n := 0
		switch c := s[0]; {
		case alpha(c):
			n = p.word(s)
		case digit(c):
			n = p.digits(s)
		case (c == '-' || c == '+') && digit(at(s, 1)):
			n = p.zone(s)
		}
		s = s[max(n, 1):]
	}
	when = p.tm.utc()
	if when == -1 {
		return 0, 0, false
	}
	if p.offset == -1 {
		p.offset = int((when - p.tm.in(loc).Unix()) / 60)
	}
	if !p.gmt {
		seconds := int64(p.offset) * 60
		if seconds > 0 && seconds > when || seconds < 0 && -seconds > lastSecond-when {
			return 0, 0, false
		}
		when -= seconds
	}
	return when, p.offset, true
}

// objectDate reads a date as it stands in a commit.
func objectDate(s string) (when int64, offset int, ok bool) {
	if s == "" || !digit(s[0]) {
		return 0, 0, false
	}
	when, rest := number(s)
	if when == 1<<63-1 || len(rest) < 6 || rest[0] != ' ' || rest[1] != '+' && rest[1] != '-' || len(rest) > 6 && rest[6] != '\n' {
		return 0, 0, false
	}
	zone, err := strconv.Atoi(rest[2:6])
	if err != nil {
		return 0, 0, false
	}
	offset = minutes(zone)
	if rest[1] == '-' {
		offset = -offset
	}
	return when, offset, true
}

// word reads a name of a month, a day or a time zone, AM or PM, or the T of
// ISO 8601, and returns its length.
func (p *dateParser) word(s string) int {
	for i, name := range monthNames {
		if n := sameLetters(s, name); n >= 3 {
			p.tm.mon = i
			return n
		}
	}
	for i, name := range dayNames {
		if n := sameLetters(s, name); n >= 3 {
			p.tm.wday = i
			return n
		}
	}
	if n, offset := zoneName(s); n > 0 {
		if p.offset == -1 {
			p.offset = offset
		}
		return n
	}
	switch {
	case sameLetters(s, "PM") == 2:
		p.tm.hour = p.tm.hour%12 + 12
		return 2
	case sameLetters(s, "AM") == 2:
		p.tm.hour = p.tm.hour % 12
		return 2
	case s[0] == 'T' && digit(at(s, 1)) && p.tm.hour == -1:
		p.tm.min, p.tm.sec = 0, 0
		return 1
	}
	return wordLength(s)
}

func wordLength(s string) int {
	n := 1
	for alpha(at(s, n)) {
		n++
	}
	return n
}

// sameLetters returns how far s agrees with name, whatever the case, up to the
// end of a word; 0 if the word goes on differently.
func sameLetters(s, name string) int {
	for i := 0; i < len(s); i++ {
		if i < len(name) && (s[i] == name[i] || s[i]&^0x20 == name[i]&^0x20 && alpha(s[i])) {
			continue
		}
		if !alpha(s[i]) && !digit(s[i]) {
			return i
		}
		return 0
	}
	return len(s)
}

// digits reads something that begins with a digit.
func (p *dateParser) digits(s string) int {
	num, rest := number(s)
	n := len(s) - len(rest)
	if num >= 100000000 && p.tm.none() && num < 1<<55 {
		p.tm = breakDown(time.Unix(num, 0).UTC())
		p.gmt = true
		return n
	}
	if c := at(rest, 0); (c == ':' || c == '.' || c == '/' || c == '-') && digit(at(rest, 1)) {
		if n := p.tm.multi(num, c, s, rest, p.now); n > 0 {
			return n
		}
	}
	switch {
	case n == 8:
		p.tm.setDate(int(num/10000), int(num%10000/100), int(num%100), nil)
		return n
	case n == 6:
		if p.tm.setTime(num/10000, num%10000/100, num%100) && at(rest, 0) == '.' && digit(at(rest, 1)) {
			fraction, _ := digitsOf(rest[1:])
			n += 1 + len(fraction)
		}
		return n
	}
	if p.tm.halfISO() {
		hour, minute := num, int64(0)
		if n == 4 {
			hour, minute = num/100, num%100
		}
		if (n == 4 || n == 2) && !p.tm.none() && p.tm.setTime(hour, minute, 0) {
			return n
		}
		p.tm.min, p.tm.sec = -1, -1
	}
	p.guess(num, n)
	return n
}

// guess takes a lone number of n digits for a year, a time zone, a day or a month.
func (p *dateParser) guess(num int64, n int) {
	switch {
	case n == 4:
		if num <= 1400 && p.offset == -1 {
			p.offset = minutes(int(num))
		} else if num > 1900 && num < 2100 {
			p.tm.year = int(num) - 1900
		}
	case n > 2:
	case num > 0 && num < 32 && p.tm.mday < 0:
		p.tm.mday = int(num)
	case n == 2 && p.tm.year < 0 && num < 10 && p.tm.mday >= 0:
		p.tm.year = int(num) + 100
	case n == 2 && p.tm.year < 0 && num >= 70:
		p.tm.year = int(num)
	case num > 0 && num < 13 && p.tm.mon < 0:
		p.tm.mon = int(num) - 1
	}
}

// multi reads num c num [c num], a date or a time; 0 if it is neither. from is
// the text from the first number on, rest what follows that number.
func (f *fields) multi(num int64, c byte, from, rest string, now time.Time) int {
	num2, rest := number(rest[1:])
	num3 := int64(-1)
	if at(rest, 0) == c && digit(at(rest, 1)) {
		num3, rest = number(rest[1:])
	}
	if c == ':' {
		if !f.setTime(num, num2, max(num3, 0)) {
			return 0
		}
		if at(rest, 0) == '.' && digit(at(rest, 1)) && f.dateKnown() {
			_, rest = digitsOf(rest[1:])
		}
		return len(from) - len(rest)
	}
	if num > 1<<30 || num2 > 1<<30 || num3 > 1<<30 {
		return 0
	}
	a, b, d := int(num), int(num2), int(num3)
	switch {
	case a > 70 && f.setDate(a, b, d, nil), a > 70 && f.setDate(a, d, b, nil):
	case c != '.' && f.setDate(d, a, b, &now):
	case f.setDate(d, b, a, &now):
	case c == '.' && f.setDate(d, a, b, &now):
	default:
		return 0
	}
	return len(from) - len(rest)
}

// setDate takes a date over. With now it refuses one far in the future, and
// takes this year where none is given (-1).
func (f *fields) setDate(year, month, day int, now *time.Time) bool {
	if month <= 0 || month > 12 || day <= 0 || day > 31 {
		return false
	}
	r := *f
	r.mon, r.mday = month-1, day
	switch {
	case year == -1:
		if now == nil {
			f.mon, f.mday = r.mon, r.mday
			return false
		}
		r.year = now.UTC().Year() - 1900
	case year >= 1970 && year < 2100:
		r.year = year - 1900
	case year > 70 && year < 100:
		r.year = year
	case year < 38:
		r.year = year + 100
	default:
		if now == nil {
			f.mon, f.mday = r.mon, r.mday
		}
		return false
	}
	if now != nil {
		if at := r.utc(); at != -1 && now.Unix()+10*24*3600 < at {
			return false
		}
		if year == -1 {
			r.year = f.year
		}
	}
	f.year, f.mon, f.mday = r.year, r.mon, r.mday
	return true
}

func (f *fields) setTime(hour, minute, second int64) bool {
	if hour > 24 || minute >= 60 || second > 60 {
		return false
	}
	f.hour, f.min, f.sec = int(hour), int(minute), int(second)
	return true
}

// zone reads a time zone: +hh, +hhmm or +hh:mm.
func (p *dateParser) zone(s string) int {
	hour, rest := number(s[1:])
	n := len(s) - 1 - len(rest)
	minute := int64(0)
	switch {
	case n == 4:
		hour, minute = hour/100, hour%100
	case n != 2:
		minute = 99
	case at(rest, 0) == ':':
		minute, rest = number(rest[1:])
		if len(s)-1-len(rest) != 5 {
			minute = 99
		}
	}
	if minute < 60 && hour < 24 {
		p.offset = int(hour*60 + minute)
		if s[0] == '-' {
			p.offset = -p.offset
		}
	}
	return len(s) - len(rest)
}
