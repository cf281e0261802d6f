package ident

import (
	"strconv"
	"strings"
)

// Parts are the fields of an identity line, as they stand in it. Date and Zone
// are empty where the line ends early.
type Parts struct {
	Name, Email, Date, Zone string
}

// Split cuts an identity line into its parts. It is lenient, as git is.
func Split(line string) (Parts, bool) {
	var p Parts
	open := strings.IndexByte(line, '<')
	if open < 0 {
		return p, false
	}
	p.Name = strings.TrimRight(line[:open], " \t\n\r")
	end := strings.IndexByte(line[open:], '>')
	if end < 0 {
		return p, false
	}
	p.Email = line[open+1 : open+end]
	rest := strings.TrimLeft(line[strings.LastIndexByte(line, '>')+1:], " \t\n\r")
	date, rest := digitsOf(rest)
	rest = strings.TrimLeft(rest, " \t\n\r")
	if date == "" || rest == "" || rest[0] != '+' && rest[0] != '-' {
		return p, true
	}
	zone, _ := digitsOf(rest[1:])
	if zone != "" {
		p.Date, p.Zone = date, rest[:1+len(zone)]
	}
	return p, true
}

func digitsOf(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// Parse reads an identity line. A date that is missing or out of bounds is the
// epoch, as git shows it.
func Parse(line string) (Ident, bool) {
	p, ok := Split(line)
	if !ok {
		return Ident{}, false
	}
	id := Ident{Name: p.Name, Email: p.Email}
	when, err := strconv.ParseInt(p.Date, 10, 64)
	if err != nil {
		return id, true
	}
	id.When = when
	if zone, err := strconv.Atoi(p.Zone); err == nil {
		id.Offset = minutes(zone)
	}
	return id, true
}

// minutes turns a time zone written as hhmm into minutes.
func minutes(zone int) int { return zone/100*60 + zone%100 }
