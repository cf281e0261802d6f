package vfs

import (
	"errors"
	"syscall"
)

// Strerror returns what C's strerror says of the errno inside err, so that
// messages are those that scripts know ("File exists", not "file exists").
// An error without errno is returned as its own text.
func Strerror(err error) string {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err.Error()
	}
	text := errno.Error()
	if c := text[0]; 'a' <= c && c <= 'z' {
		text = string(c-'a'+'A') + text[1:]
	}
	return text
}
