package worktree

import (
	"bytes"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// collapseIdent turns "$Id: ...$" into "$Id$".
func collapseIdent(src []byte) []byte {
	if !bytes.Contains(src, []byte("$Id:")) {
		return src
	}
	out := make([]byte, 0, len(src))
	for {
		n := bytes.IndexByte(src, '$')
		if n < 0 {
			return append(out, src...)
		}
		out = append(out, src[:n+1]...)
		src = src[n+1:]
		if !bytes.HasPrefix(src, []byte("Id:")) {
			continue
		}
		end := bytes.IndexByte(src, '$')
		if end < 0 {
			return append(out, src...)
		}
		if bytes.IndexByte(src[:end], '\n') >= 0 {
			continue
		}
		out = append(out, "Id$"...)
		src = src[end+1:]
	}
}

// expandIdent turns "$Id$" into "$Id: <blob> $", where blob is the name of
// src as it is stored. What another version control system expanded stays.
func expandIdent(src []byte, name func([]byte) oid.ID) []byte {
	if !bytes.Contains(src, []byte("$Id")) {
		return src
	}
	hex := ""
	out := make([]byte, 0, len(src)+64)
	rest := src
	for {
		n := bytes.IndexByte(rest, '$')
		if n < 0 {
			return append(out, rest...)
		}
		out = append(out, rest[:n+1]...)
		rest = rest[n+1:]
		skip := identLen(rest)
		if skip == 0 {
			continue
		}
		if hex == "" {
			hex = name(src).String()
		}
		out = append(append(append(out, "Id: "...), hex...), " $"...)
		rest = rest[skip:]
	}
}

// identLen is the length of the keyword that s begins with, its closing
// dollar included, or 0.
func identLen(s []byte) int {
	if bytes.HasPrefix(s, []byte("Id$")) {
		return 3
	}
	if !bytes.HasPrefix(s, []byte("Id:")) {
		return 0
	}
	end := bytes.IndexByte(s, '$')
	if end < 0 || bytes.IndexByte(s[:end], '\n') >= 0 {
		return 0
	}
	if end > 4 {
		if sp := bytes.IndexByte(s[4:end], ' '); sp >= 0 && 4+sp < end-1 {
			return 0
		}
	}
	return end + 1
}
