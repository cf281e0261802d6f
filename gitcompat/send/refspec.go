package send

import (
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/refname"
)

// A Refspec says which ref goes where.
type Refspec struct {
	Src, Dst string
	HasDst   bool // "src:dst" against "src"
	Force    bool // leading "+"
	Negative bool // leading "^"
	Pattern  bool // with one "*" on each side
	Matching bool // ":": the branches that both sides have
	text     string
}

// String returns the refspec as it was given.
func (r Refspec) String() string { return r.text }

// ParsePush parses a refspec of a push (refspec.c, parse_refspec).
func ParsePush(text string) (Refspec, error) { return parse(text, false) }

// ParseFetch parses a refspec of a fetch, as in remote.<name>.fetch.
func ParseFetch(text string) (Refspec, error) { return parse(text, true) }

func parse(text string, fetch bool) (Refspec, error) {
	r := Refspec{text: text}
	bad := fmt.Errorf("invalid refspec '%s'", text)
	left := text
	if rest, ok := strings.CutPrefix(left, "+"); ok {
		r.Force, left = true, rest
	} else if rest, ok := strings.CutPrefix(left, "^"); ok {
		r.Negative, left = true, rest
	}
	colon := strings.LastIndexByte(left, ':')
	if r.Negative && colon >= 0 {
		return r, bad
	}
	if !fetch && left == ":" {
		r.Matching = true
		return r, nil
	}
	if colon >= 0 {
		r.HasDst, r.Dst, left = true, left[colon+1:], left[:colon]
	}
	srcStar, dstStar := strings.Contains(left, "*"), strings.Contains(r.Dst, "*")
	if srcStar && (r.HasDst && !dstStar || !r.HasDst && !r.Negative && fetch) || !srcStar && dstStar {
		return r, bad
	}
	r.Pattern, r.Src = srcStar, left
	if left == "@" {
		r.Src = "HEAD"
	}
	if !r.sound(fetch) {
		return r, bad
	}
	return r, nil
}

// sound checks the two names of the refspec.
func (r Refspec) sound(fetch bool) bool {
	flags := refname.AllowOneLevel
	if r.Pattern {
		flags |= refname.RefspecPattern
	}
	ok := func(name string) bool { return refname.Check(name, flags) }
	switch {
	case r.Negative:
		return r.Src != "" && ok(r.Src)
	case fetch:
		return (r.Src == "" || isHex(r.Src) || ok(r.Src)) && (r.Dst == "" || ok(r.Dst))
	case r.Src != "" && r.Pattern && !ok(r.Src):
		return false
	case !r.HasDst:
		return ok(r.Src)
	}
	return r.Dst != "" && ok(r.Dst)
}

func isHex(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// translate returns what the pattern from makes of name, in terms of the pattern to.
func translate(from, name, to string) (string, bool) {
	before, after, ok := strings.Cut(from, "*")
	if !ok || len(name) < len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return "", false
	}
	middle := name[len(before) : len(name)-len(after)]
	before, after, _ = strings.Cut(to, "*")
	return before + middle + after, true
}

// ByFetch returns the remote-tracking ref that keeps the remote's ref name,
// by the refspecs of a fetch.
func ByFetch(specs []Refspec, name string) (string, bool) {
	for _, r := range specs {
		if r.Negative && (r.Src == name || matches(r.Src, name)) {
			return "", false
		}
	}
	for _, r := range specs {
		if r.Negative || r.Dst == "" {
			continue
		}
		if r.Pattern {
			if to, ok := translate(r.Src, name, r.Dst); ok {
				return to, true
			}
		} else if r.Src == name {
			return r.Dst, true
		}
	}
	return "", false
}

func matches(pattern, name string) bool {
	_, ok := translate(pattern, name, pattern)
	return ok
}

// Fills reports whether a fetch by r may write the local ref name.
func (r Refspec) Fills(name string) bool {
	return !r.Negative && r.Dst != "" && (r.Dst == name || r.Pattern && matches(r.Dst, name))
}
