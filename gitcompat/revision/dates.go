package revision

import (
	"time"
)

// zoned returns a time in the zone that git writes as tz (+0530 is 530).
func zoned(sec int64, tz int) time.Time {
	sign := 1
	if tz < 0 {
		sign, tz = -1, -tz
	}
	return time.Unix(sec, 0).In(time.FixedZone("", sign*(tz/100*3600+tz%100*60)))
}

// rfc2822 is a date as git's messages have it.
func rfc2822(sec int64, tz int) string {
	return zoned(sec, tz).Format("Mon, 2 Jan 2006 15:04:05 -0700")
}
