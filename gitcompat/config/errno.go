package config

import (
	"errors"
	"io/fs"
	"syscall"
)

// errnoText returns C's text of the system error in err.
func errnoText(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		switch errno {
		case syscall.EACCES:
			return "Permission denied"
		case syscall.EISDIR:
			return "Is a directory"
		case syscall.ENOENT:
			return "No such file or directory"
		case syscall.ELOOP:
			return "Too many levels of symbolic links"
		case syscall.EIO:
			return "Input/output error"
		}
		text := errno.Error()
		if text != "" && text[0] >= 'a' && text[0] <= 'z' {
			return text[:1][:0] + string(text[0]-'a'+'A') + text[1:]
		}
		return text
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
