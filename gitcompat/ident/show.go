package ident

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Mode is a way to show a date: the argument of --date.
type Mode struct {
	kind  string
	local bool
}

// ParseMode reads the argument of --date. The modes "human" and "format:" are
// not among those known here.
func ParseMode(s string) (Mode, bool) {
	if s == "local" {
		s = "default-local"
	}
	kind, local := strings.CutSuffix(s, "-local")
	switch kind {
	case "iso":
		kind = "iso8601"
	case "iso-strict":
		kind = "iso8601-strict"
	case "rfc":
		kind = "rfc2822"
	}
	switch kind {
	case "", "default":
		kind = "default"
	case "relative", "iso8601", "iso8601-strict", "rfc2822", "short", "raw", "unix":
	default:
		return Mode{}, false
	}
	return Mode{kind, local}, true
}

// Show returns a date as git shows it. offset is in minutes.
func (m Mode) Show(when int64, offset int, now time.Time, loc *time.Location) string {
	t := time.Unix(when, 0)
	if m.local {
		_, seconds := t.In(loc).Zone()
		offset = seconds / 60
	}
	zone := FormatOffset(offset)
	if m.kind == "relative" {
		return relative(when, now.Unix())
	}
	if t = t.In(time.FixedZone("", offset*60)); t.Year() > 9999 || t.Year() < 0 {
		t, zone = time.Unix(0, 0).UTC(), "+0000"
	}
	switch m.kind {
	case "unix":
		return strconv.FormatInt(when, 10)
	case "raw":
		return strconv.FormatInt(when, 10) + " " + zone
	case "short":
		return t.Format("2006-01-02")
	case "iso8601":
		return t.Format("2006-01-02 15:04:05 ") + zone
	case "iso8601-strict":
		if zone == "+0000" || zone == "-0000" {
			return t.Format("2006-01-02T15:04:05Z")
		}
		return t.Format("2006-01-02T15:04:05") + zone[:3] + ":" + zone[3:]
	case "rfc2822":
		return t.Format("Mon, 2 Jan 2006 15:04:05 ") + zone
	}
	if m.local {
		return t.Format("Mon Jan 2 15:04:05 2006")
	}
	return t.Format("Mon Jan 2 15:04:05 2006 ") + zone
}

func relative(when, now int64) string {
	if now < when {
		return "in the future"
	}
	diff := now - when
	if diff < 90 {
		return plural(diff, "second") + " ago"
	}
	if diff = (diff + 30) / 60; diff < 90 {
		return plural(diff, "minute") + " ago"
	}
	if diff = (diff + 30) / 60; diff < 36 {
		return plural(diff, "hour") + " ago"
	}
	switch diff = (diff + 12) / 24; {
	case diff < 14:
		return plural(diff, "day") + " ago"
	case diff < 70:
		return plural((diff+3)/7, "week") + " ago"
	case diff < 365:
		return plural((diff+15)/30, "month") + " ago"
	case diff < 1825:
		total := (diff*12*2 + 365) / (365 * 2)
		if total%12 == 0 {
			return plural(total/12, "year") + " ago"
		}
		return plural(total/12, "year") + ", " + plural(total%12, "month") + " ago"
	}
	return plural((diff+183)/365, "year") + " ago"
}

func plural(n int64, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}
