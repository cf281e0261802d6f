// Package object knows the bytes of git's four kinds of objects: what a loose
// object's header, a tree, a commit and a tag look like, which names a tree may
// hold, and what fsck says about content that breaks the rules. It reads and
// writes no file.
//
// Source: object.c, tree-walk.c, commit.c, tag.c, path.c, utf8.c and fsck.c of
// git 2.55; gitformat-loose(5), git-fsck(1) for the message names.
//
// Invariants:
//
//	B1  a commit, tag or tree that was parsed and is built again has the same bytes, if git could have written them.
//	B2  no length field makes a parser allocate: all slices are of the input.
//	B3  Fsck reports with git's message ids, texts and severities, in git's order.
package object

import (
	"errors"
	"strconv"
)

// Type is the kind of an object, with the numbers that packs use.
type Type uint8

// The types. Bad is the zero value.
const (
	Bad    Type = 0
	Commit Type = 1
	Tree   Type = 2
	Blob   Type = 3
	Tag    Type = 4
)

// String returns git's name of the type.
func (t Type) String() string {
	switch t {
	case Commit:
		return "commit"
	case Tree:
		return "tree"
	case Blob:
		return "blob"
	case Tag:
		return "tag"
	}
	return "bad"
}

// ParseType returns the type that name is the name of.
func ParseType(name string) (Type, bool) {
	switch name {
	case "commit":
		return Commit, true
	case "tree":
		return Tree, true
	case "blob":
		return Blob, true
	case "tag":
		return Tag, true
	}
	return Bad, false
}

// MaxHeader is the most bytes that the header of a loose object may have.
const MaxHeader = 32

// AppendHeader appends the header that precedes content when it is hashed and
// stored loose: type, space, decimal size, NUL.
func AppendHeader(dst []byte, typ Type, size int64) []byte {
	dst = append(dst, typ.String()...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, size, 10)
	return append(dst, 0)
}

// The ways a header can be wrong.
var (
	ErrHeader     = errors.New("unable to parse header")
	ErrHeaderType = errors.New("invalid object type")
	ErrHeaderLong = errors.New("header too long")
)

// ParseHeader parses the header at the start of buf and returns the length of
// it, NUL included. ErrHeaderType comes with the other values filled in.
func ParseHeader(buf []byte) (typ Type, size int64, n int, err error) {
	end := -1
	for i, c := range buf {
		if i == MaxHeader {
			break
		}
		if c == 0 {
			end = i
			break
		}
	}
	if end < 0 {
		if len(buf) >= MaxHeader {
			return Bad, 0, 0, ErrHeaderLong
		}
		return Bad, 0, 0, ErrHeader
	}
	space := 0
	for space < end && buf[space] != ' ' {
		space++
	}
	digits := buf[min(space+1, end):end]
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return Bad, 0, 0, ErrHeader
	}
	for _, c := range digits {
		if c < '0' || c > '9' || size > (1<<63-1-9)/10 {
			return Bad, 0, 0, ErrHeader
		}
		size = size*10 + int64(c-'0')
	}
	typ, ok := ParseType(string(buf[:space]))
	if !ok {
		err = ErrHeaderType
	}
	return typ, size, end + 1, err
}
