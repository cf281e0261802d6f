package config

import "strings"

// A KeyError says that a key cannot be one; Code is the exit status of "git config".
type KeyError struct {
	Msg  string
	Code int
}

func (e *KeyError) Error() string { return e.Msg }

// Exit statuses of "git config" for bad keys.
const (
	CodeInvalidKey      = 1
	CodeNoSectionOrName = 2
)

func isAlpha(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isKeyChar(c byte) bool { return isAlpha(c) || c >= '0' && c <= '9' || c == '-' }
func isSpace(c byte) bool   { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// ParseKey checks a key and returns its canonical form and the length of its
// section and subsection.
func ParseKey(key string) (canonical string, baseLen int, err error) {
	dot := strings.LastIndexByte(key, '.')
	if dot <= 0 {
		return "", 0, &KeyError{"key does not contain a section: " + key, CodeNoSectionOrName}
	}
	if dot == len(key)-1 {
		return "", 0, &KeyError{"key does not contain variable name: " + key, CodeNoSectionOrName}
	}
	changed, inSub := false, false
	for i := 0; i < len(key); i++ {
		c := key[i]
		if c == '.' {
			inSub = true
		}
		if !inSub || i > dot {
			if !isKeyChar(c) || i == dot+1 && !isAlpha(c) {
				return "", 0, &KeyError{"invalid key: " + key, CodeInvalidKey}
			}
			changed = changed || lower(c) != c
		} else if c == '\n' {
			return "", 0, &KeyError{"invalid key (newline): " + key, CodeInvalidKey}
		}
	}
	if !changed {
		return key, dot, nil
	}
	return Canonical(key), dot, nil
}

// Canonical returns the canonical form of a key that is known to be good.
func Canonical(key string) string {
	i := 0
	for i < len(key) && lower(key[i]) == key[i] {
		i++
	}
	if i == len(key) {
		return key
	}
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}
