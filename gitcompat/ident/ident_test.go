package ident

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stockGit runs the installed git, which is the oracle.
func stockGit(t testing.TB, dir string, env []string, args ...string) (string, string, int) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func lookup(env []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v, true
			}
		}
		return "", false
	}
}

// changed are the inputs that the reference version reads differently from
// some older git.
var changed = map[string]bool{
	"20050407T2213": true, "20050407T22": true, "2099-12-31 23:59:59 -0100": true, "1970-01-01 00:00:00 +0100": true, "1970-01-01 00:00:00": true,
	"today": true, "January 5th noon yesterday": true, "last tea": true, "GIT_AUTHOR_NAME= ,A U. Thor.,; ": true,
}

// older reports whether the installed git is older than the reference version.
func older(t *testing.T) bool {
	out, _, _ := stockGit(t, "/", nil, "version")
	var major, minor int
	fmt.Sscanf(out, "git version %d.%d", &major, &minor)
	return major < 2 || major == 2 && minor < 55
}

var dates = []string{
	"@0 +0000", "@1234567890 -0730", "@1234567890", "@1234567890 +000", "1234567890 +0100", "1234567890", "100000000", "99999999", "@99999999999 +0000",
	"2005-04-07T22:13:13 +0200", "2005-04-07 22:13:13", "2005-04-07T22:13:13Z", "20050407T221313+0100", "20050407T2213", "20050407T22", "20050407 221313.5 +02",
	"Thu, 07 Apr 2005 22:13:13 +0200", "7 Apr 2005 22:13:13 -0500", "Thu Apr 7 22:13:13 2005 EST", "Apr 7 22:13 2005 CEST", "2005-04-07 10:13 PM", "2005-04-07 12:13 AM",
	"04/07/2005 22:13:13 UTC", "07.04.2005 22:13:13 +0000", "2005.04.07 1:2:3", "13/04/2005 1:2:3 +0000", "2008-02-14 20:30:45.019-04:00", "2008-02-14 20:30:45 -04:30",
	"2008-02-14 20:30:45 +24", "2008-02-14 20:30", "2008-02-14", "20:30:45", "", "garbage", "2008-13-14 1:1:1", "1969-12-31 1:1:1", "2100-01-01 0:0:0", "2099-12-31 23:59:59 +0000",
	"2099-12-31 23:59:59 -0100", "1970-01-01 00:00:00 +0100", "1970-01-01 00:00:00", "01 Apr 05 1:2:3 +0000", "01 Apr 99 1:2:3 Z", "Jan 5 70 1:2:3 Z", "2008-02-14 25:00:00", "2008-02-14 24:00:60 Z",
	"2008-Feb-14 20:30:45 GMT", "Thu 2008 Feb 14 20:30:45 MESTX", "2008-02-14T20:30:45.123Z", "Feb 29 2008 1:2:3 0130", "99999999999999999999", "@99999999999999999999 +0000", "2024-05-06 07:08:09 +1400", "2024-05-06 07:08:09 -1260",
	"2024-05-06\n07:08:09", "  2024-05-06   07:08:09  ", "2024/5/6 7:8:9 +0530", "6/5/24 7:8:9", "24-5-6 7:8:9",
}

func TestParseDateAsGit(t *testing.T) {
	t.Parallel()
	dir, old := t.TempDir(), older(t)
	for _, tz := range []string{"UTC", "EST5", "Asia/Kolkata"} {
		for _, date := range dates {
			if date == "" || old && changed[date] {
				continue
			}
			env := []string{"TZ=" + tz, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_AUTHOR_DATE=" + date}
			want, wantErr, code := stockGit(t, dir, env, "var", "GIT_AUTHOR_IDENT")
			if strings.Contains(want, "\n") {
				want = strings.TrimSuffix(want, "\n")
			}
			if tz == "Asia/Kolkata" {
				if _, err := os.Stat("/usr/share/zoneinfo/Asia/Kolkata"); err != nil {
					break
				}
			}
			s := &Source{LookupEnv: lookup(env)}
			id, err := s.Get(Author, true)
			if (err != nil) != (code != 0) {
				t.Errorf("%s %q: %v %v, git %q %q", tz, date, id, err, want, wantErr)
				continue
			}
			if err != nil {
				if got := "fatal: " + err.Error() + "\n"; got != wantErr {
					t.Errorf("%s %q: %q, git %q", tz, date, got, wantErr)
				}
			} else if id.String() != want {
				t.Errorf("%s %q: %q, git %q", tz, date, id, want)
			}
		}
	}
}

var words = []string{
	"now", "today", "yesterday", "noon", "midnight", "tea", "noon yesterday", "yesterday noon", "noon today", "5 seconds ago", "5.minutes.ago", "2 hours ago", "3 days ago", "one week ago",
	"2 weeks 3 days ago", "a year ago", "2 years ago", "3 months ago", "20 months ago", "last friday", "2 fridays ago", "monday", "last week", "tuesday noon", "June 7th", "Jun 7 2009", "June 2009", "7 June",
	"3:00", "15:00", "3:00 pm", "6am", "6pm yesterday", "12:00 AM", "January 5th noon yesterday", "6AM, June 7, 2009", "2008-12-01", "12/25", "1 month ago at noon", "never", "all", "false",
	"bogus", "10 days ago 3pm", "aug", "31 feb", "0", "5", "2009", "70", "37", "ten days ago", "zero days ago", "last month", "next week", "2 day", "3 month", "4 year ago", "noon 5 days ago", "last tea", "Dec 0002", "00:00", "24:01",
	"1 second ago", "2026-11-30", "2027-11-30 12:00:00", "30/11/2026", "11.12.2025",
}

func TestApproxidateAsGit(t *testing.T) {
	t.Parallel()
	dir, old := t.TempDir(), older(t)
	const now = 1251660000
	var file strings.Builder
	file.WriteString("[a]\n")
	for i, w := range words {
		fmt.Fprintf(&file, "v%d = \"%s\"\n", i, w)
	}
	if err := os.WriteFile(dir+"/cfg", []byte(file.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tz := range []string{"UTC", "EST5"} {
		loc := location(tz)
		for i, w := range words {
			if old && changed[w] {
				continue
			}
			env := []string{"TZ=" + tz, "GIT_TEST_DATE_NOW=" + strconv.Itoa(now)}
			want, wantErr, code := stockGit(t, dir, env, "config", "-f", "cfg", "--type=expiry-date", "a.v"+strconv.Itoa(i))
			got, ok := ParseExpiry(w, time.Unix(now, 0), loc)
			if ok != (code == 0) {
				t.Errorf("%s %q: %d %v, git %q %q", tz, w, got, ok, want, wantErr)
			} else if ok && strconv.FormatUint(got, 10)+"\n" != want {
				t.Errorf("%s %q: %d, git %q", tz, w, got, want)
			}
		}
	}
}

func FuzzParseDate(f *testing.F) {
	for _, s := range append(dates, words...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		now := time.Unix(1251660000, 0)
		if when, offset, ok := ParseDate(s, now, time.UTC); ok && (when < 0 || offset < -24*60*100 || offset > 24*60*100) {
			t.Fatalf("%q: %d %d", s, when, offset)
		}
		Approxidate(s, now, time.UTC)
		if p, ok := Split(s); ok && len(p.Name)+len(p.Email) > len(s) {
			t.Fatal("parts longer than the whole")
		}
		Parse(s)
	})
}

func TestIdentAsGit(t *testing.T) {
	t.Parallel()
	base := []string{"GIT_AUTHOR_DATE=@1 +0000", "GIT_COMMITTER_DATE=@2 +0000"}
	for _, c := range []struct {
		config string
		env    []string
	}{
		{"", []string{"GIT_AUTHOR_NAME= ,A U. Thor.,; ", "GIT_AUTHOR_EMAIL=<a@\nb>"}},
		{"", []string{"GIT_AUTHOR_NAME=", "GIT_AUTHOR_EMAIL=a@b"}},
		{"", []string{"GIT_AUTHOR_NAME= <>", "GIT_AUTHOR_EMAIL=a@b"}},
		{"", []string{"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL="}},
		{"", []string{"GIT_AUTHOR_NAME=\xe9\xff", "GIT_AUTHOR_EMAIL=x"}},
		{"[user]\nname = U\nemail = u@x\n", nil},
		{"[user]\nname = U\nemail = u@x\n[author]\nname = Au\n[committer]\nemail = c@x\n", nil},
		{"[user]\nname =\nemail = u@x\n", nil},
		{"[user]\nname = U\nemail =\n", nil},
		{"[user]\nuseConfigOnly = true\nname = U\n", nil},
		{"[user]\nuseConfigOnly = true\nemail = U\n", nil},
		{"[user]\nuseConfigOnly = true\nname = N\nemail = U\n", nil},
		{"[user]\nname = N\n", []string{"EMAIL= e@m "}},
		{"[author]\nname = N\n", []string{"EMAIL=e@m"}},
		{"[user]\nname = N\nemail = e\n", []string{"GIT_AUTHOR_DATE=nonsense"}},
	} {
		if len(c.env) > 0 && changed[c.env[0]] && older(t) {
			continue
		}
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/.gitconfig", []byte(c.config), 0o666); err != nil {
			t.Fatal(err)
		}
		env := append(append([]string(nil), c.env...), base...)
		if len(c.env) > 0 && strings.HasPrefix(c.env[0], "GIT_AUTHOR_DATE") {
			env = append([]string(nil), c.env...)
			env = append(env, base[1])
		}
		s := &Source{LookupEnv: lookup(env), Settings: settings(c.config)}
		for who, name := range map[Who]string{Author: "GIT_AUTHOR_IDENT", Committer: "GIT_COMMITTER_IDENT"} {
			want, wantErr, code := stockGit(t, dir, env, "var", name)
			id, err := s.Get(who, true)
			if (err != nil) != (code != 0) {
				t.Errorf("%q %q: %v %v, git %q %q", c.config, c.env, id, err, want, wantErr)
				continue
			}
			if err != nil {
				got := "fatal: " + err.Error() + "\n"
				if b, ok := err.(interface{ Before() []string }); ok {
					got = strings.Join(b.Before(), "\n") + "\n" + got
				}
				if got != wantErr {
					t.Errorf("%q %q: %q, git %q", c.config, c.env, got, wantErr)
				}
			} else if id.String()+"\n" != want {
				t.Errorf("%q %q: %q, git %q", c.config, c.env, id, want)
			}
		}
	}
}

// settings reads the few forms of configuration of the test above.
func settings(config string) Settings {
	var s Settings
	section := ""
	for _, line := range strings.Split(config, "\n") {
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		name, value, _ := strings.Cut(line, " =")
		v := Value{strings.TrimSpace(value), true}
		switch section + "." + name {
		case "user.name":
			s.UserName = v
		case "user.email":
			s.UserEmail = v
		case "author.name":
			s.AuthorName = v
		case "committer.email":
			s.CommitterEmail = v
		case "user.useConfigOnly":
			s.UseConfigOnly = true
		}
	}
	return s
}

func TestShow(t *testing.T) {
	t.Parallel()
	now := time.Unix(1251660000, 0)
	for mode, want := range map[string]string{
		"default": "Thu Apr 7 15:13:13 2005 -0700", "local": "Thu Apr 7 22:13:13 2005", "iso": "2005-04-07 15:13:13 -0700", "iso-strict": "2005-04-07T15:13:13-07:00",
		"rfc": "Thu, 7 Apr 2005 15:13:13 -0700", "short": "2005-04-07", "raw": "1112911993 -0700", "unix": "1112911993", "relative": "4 years, 5 months ago", "raw-local": "1112911993 +0000",
	} {
		m, ok := ParseMode(mode)
		if got := m.Show(1112911993, -420, now, time.UTC); got != want || !ok {
			t.Errorf("%s: %q", mode, got)
		}
	}
}
