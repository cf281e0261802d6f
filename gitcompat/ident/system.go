package ident

import (
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"
)

// loginName returns the name of the user's account.
func loginName() (string, bool) {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		if u, err = user.Current(); err != nil {
			return "unknown", false
		}
	}
	return u.Username, true
}

// systemName returns the full name in the user's account.
func systemName() (string, bool) {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return "Unknown", false
	}
	name, _, _ := strings.Cut(u.Name, ",")
	if strings.Contains(name, "&") && u.Username != "" {
		name = strings.ReplaceAll(name, "&", strings.ToUpper(u.Username[:1])+u.Username[1:])
	}
	return strings.TrimSpace(name), true
}

// systemEmail makes an address of account and host; ok is false for one that
// cannot be right.
func systemEmail() (address string, ok bool) {
	login, ok := loginName()
	if data, err := os.ReadFile("/etc/mailname"); err == nil && len(data) > 0 {
		line, _, _ := strings.Cut(string(data), "\n")
		return login + "@" + strings.TrimSpace(line), ok
	}
	host, err := os.Hostname()
	switch {
	case err != nil:
		return login + "@(none)", false
	case strings.Contains(host, "."):
		return login + "@" + host, ok
	}
	if name := canonicalHost(host); name != "" {
		return login + "@" + name, ok
	}
	return login + "@" + host + ".(none)", false
}

// canonicalHost looks the full name of host up in the hosts file.
func canonicalHost(host string) string {
	data, err := os.ReadFile("/etc/hosts")
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(data), "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			if fields[i] == host && strings.Contains(fields[1], ".") {
				return fields[1]
			}
		}
	}
	return ""
}

// location returns the time zone that a value of TZ means: a name, or in the
// form of POSIX a fixed offset ("EST5").
func location(tz string) *time.Location {
	tz = strings.TrimPrefix(tz, ":")
	if tz == "" {
		return time.UTC
	}
	letters := 0
	for letters < len(tz) && (tz[letters]|0x20 >= 'a' && tz[letters]|0x20 <= 'z') {
		letters++
	}
	if letters >= 3 && letters < len(tz) {
		if offset, ok := posixOffset(tz[letters:]); ok {
			return time.FixedZone(tz[:letters], -offset)
		}
	}
	if loc, err := time.LoadLocation(tz); err == nil {
		return loc
	}
	return time.UTC
}

// posixOffset reads [+-]hh[:mm[:ss]], which is all of a zone without summer time.
func posixOffset(s string) (seconds int, ok bool) {
	sign := 1
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	unit := 3600
	for _, part := range strings.Split(s, ":") {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || unit == 0 {
			return 0, false
		}
		seconds += int(n) * unit
		unit /= 60
	}
	return sign * seconds, true
}
