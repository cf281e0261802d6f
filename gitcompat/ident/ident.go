// Package ident makes the lines that say who wrote a commit or a tag, and
// reads git's dates.
//
// Source: ident.c and date.c of git 2.55; git-commit(1), "COMMIT INFORMATION"
// and "DATE FORMATS".
//
// Invariants:
//
//	N1  a line has no newline and no angle bracket but those around the address.
//	N2  within one command the date of "now" is one and the same.
package ident

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An Ident is a person at a time.
type Ident struct {
	Name, Email string
	When        int64 // seconds since the epoch
	Offset      int   // of the time zone, in minutes
}

// String returns the line as it stands in a commit.
func (i Ident) String() string {
	return i.Name + " <" + i.Email + "> " + i.Date()
}

// Date returns the date as it stands in a commit.
func (i Ident) Date() string { return FormatRaw(i.When, i.Offset) }

// FormatRaw returns a date as it stands in a commit: seconds and time zone.
func FormatRaw(when int64, offset int) string {
	return strconv.FormatInt(when, 10) + " " + FormatOffset(offset)
}

// FormatOffset returns a time zone, given in minutes, as +hhmm.
func FormatOffset(offset int) string {
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return fmt.Sprintf("%c%02d%02d", sign, offset/60, offset%60)
}

// A Value is a setting that may be absent.
type Value struct {
	Text string
	Set  bool
}

// Settings are what the configuration says about identities.
type Settings struct {
	UserName, UserEmail           Value
	AuthorName, AuthorEmail       Value
	CommitterName, CommitterEmail Value
	UseConfigOnly                 bool
}

// A Source knows who is at work.
type Source struct {
	Settings
	LookupEnv func(name string) (string, bool)
	Now       func() time.Time // time.Now if nil

	once sync.Once
	now  int64
	off  int
}

// Who is the role that an identity is wanted for.
type Who uint8

// The roles.
const (
	Author Who = iota
	Committer
)

// An UnknownError says that git cannot know who is at work.
type UnknownError struct {
	Who Who
	Msg string
}

func (e *UnknownError) Error() string { return e.Msg }

// Before returns the lines that git prints before the message.
func (e *UnknownError) Before() []string {
	whose := "Author identity unknown"
	if e.Who == Committer {
		whose = "Committer identity unknown"
	}
	return []string{whose, "",
		"*** Please tell me who you are.", "", "Run", "",
		"  git config --global user.email \"you@example.com\"",
		"  git config --global user.name \"Your Name\"", "",
		"to set your account's default identity.",
		"Omit --global to set the identity only in this repository.", ""}
}

// Get returns the identity for a role, from environment and configuration.
// strict refuses what can only be guessed badly, as commits and tags need it;
// without it git takes what it gets, as for a reflog.
func (s *Source) Get(who Who, strict bool) (Ident, error) {
	prefix := "GIT_AUTHOR_"
	if who == Committer {
		prefix = "GIT_COMMITTER_"
	}
	name, nameSet := s.env(prefix + "NAME")
	email, emailSet := s.env(prefix + "EMAIL")
	date, _ := s.env(prefix + "DATE")
	return s.Format(who, Value{name, nameSet}, Value{email, emailSet}, date, strict)
}

// SufficientlyGiven reports whether somebody said what the e-mail address for
// a role is, so that the identity needs no comment.
func (s *Source) SufficientlyGiven(who Who) bool {
	own, name := s.AuthorEmail, "GIT_AUTHOR_EMAIL"
	if who == Committer {
		own, name = s.CommitterEmail, "GIT_COMMITTER_EMAIL"
	}
	_, env := s.env(name)
	mail, _ := s.env("EMAIL")
	return own.Set || s.UserEmail.Set || env || mail != ""
}

// Format returns an identity of the given parts; what is not set comes from
// the configuration or the system, and an empty date is now.
func (s *Source) Format(who Who, name, email Value, date string, strict bool) (Ident, error) {
	address, err := s.email(who, email, strict)
	if err != nil {
		return Ident{}, err
	}
	person, err := s.name(who, name, address, strict)
	if err != nil {
		return Ident{}, err
	}
	id := Ident{Name: clean(person), Email: clean(address)}
	if date == "" {
		id.When, id.Offset = s.Datestamp()
		return id, nil
	}
	var ok bool
	if id.When, id.Offset, ok = ParseDate(date, s.clock(), s.Location()); !ok {
		return Ident{}, fmt.Errorf("invalid date format: %s", date)
	}
	return id, nil
}

func (s *Source) email(who Who, email Value, strict bool) (string, error) {
	if email.Set {
		return email.Text, nil
	}
	own := s.AuthorEmail
	if who == Committer {
		own = s.CommitterEmail
	}
	if own.Text != "" {
		return own.Text, nil
	}
	given := s.UserEmail.Set || s.AuthorEmail.Set || s.CommitterEmail.Set
	if strict && s.UseConfigOnly && !given {
		return "", &UnknownError{who, "no email was given and auto-detection is disabled"}
	}
	if given {
		return s.UserEmail.Text, nil
	}
	if env, _ := s.env("EMAIL"); env != "" {
		return strings.TrimSpace(env), nil
	}
	address, guessed := systemEmail()
	if strict && !guessed {
		return "", &UnknownError{who, fmt.Sprintf("unable to auto-detect email address (got '%s')", address)}
	}
	return address, nil
}

func (s *Source) name(who Who, name Value, address string, strict bool) (string, error) {
	if !name.Set {
		own := s.AuthorName
		if who == Committer {
			own = s.CommitterName
		}
		name = Value{own.Text, own.Text != ""}
	}
	usingDefault := !name.Set
	if usingDefault {
		given := s.UserName.Set || s.AuthorName.Set || s.CommitterName.Set
		if strict && s.UseConfigOnly && !given {
			return "", &UnknownError{who, "no name was given and auto-detection is disabled"}
		}
		name.Text = s.UserName.Text
		if !given {
			system, ok := systemName()
			if strict && !ok {
				return "", &UnknownError{who, fmt.Sprintf("unable to auto-detect name (got '%s')", system)}
			}
			name.Text = system
		}
	}
	if name.Text == "" {
		if !strict {
			login, _ := loginName()
			return login, nil
		}
		msg := fmt.Sprintf("empty ident name (for <%s>) not allowed", address)
		if usingDefault {
			return "", &UnknownError{who, msg}
		}
		return "", fmt.Errorf("%s", msg)
	}
	if strict && strings.IndexFunc(name.Text, func(r rune) bool { return r > 0x7f || !crud(byte(r)) }) < 0 {
		return "", fmt.Errorf("name consists only of disallowed characters: %s", name.Text)
	}
	return name.Text, nil
}

func (s *Source) env(name string) (string, bool) {
	if s.LookupEnv == nil {
		return "", false
	}
	return s.LookupEnv(name)
}

func (s *Source) clock() time.Time {
	if text, ok := s.env("GIT_TEST_DATE_NOW"); ok {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return time.Unix(n, 0)
		}
	}
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Datestamp returns now and the local time zone (N2).
func (s *Source) Datestamp() (when int64, offset int) {
	s.once.Do(func() {
		now := time.Now()
		if s.Now != nil {
			now = s.Now()
		}
		_, seconds := now.In(s.Location()).Zone()
		s.now, s.off = now.Unix(), seconds/60
	})
	return s.now, s.off
}

// Location returns the local time zone.
func (s *Source) Location() *time.Location {
	tz, ok := s.env("TZ")
	if !ok {
		return time.Local
	}
	return location(tz)
}

// crud is what git cuts off both ends of names and addresses.
func crud(c byte) bool { return c <= ' ' || strings.IndexByte(",:;<>\"\\'", c) >= 0 }

// clean cuts crud off both ends, and drops what would end a name or a line (N1).
func clean(s string) string {
	for s != "" && crud(s[0]) {
		s = s[1:]
	}
	for s != "" && crud(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if strings.IndexAny(s, "\n<>") < 0 {
		return s
	}
	return strings.NewReplacer("\n", "", "<", "", ">", "").Replace(s)
}
