package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// ParseBoolText reads the words of a boolean; a valueless key is true, an empty value false.
func ParseBoolText(value string, hasValue bool) (b, ok bool) {
	if !hasValue {
		return true, true
	}
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true, true
	case "", "false", "no", "off":
		return false, true
	}
	return false, false
}

// ParseBool reads a boolean: the words, or an integer.
func ParseBool(value string, hasValue bool) (b, ok bool) {
	if b, ok := ParseBoolText(value, hasValue); ok {
		return b, ok
	}
	n, err := ParseInt(value, math.MaxInt32)
	return n != 0, err == nil
}

// The two ways in which a number can be bad.
var (
	errUnit  = errors.New("invalid unit")
	errRange = errors.New("out of range")
)

// ParseInt reads an integer with an optional unit k, m or g, whose absolute
// value may not exceed max.
func ParseInt(value string, max int64) (int64, error) {
	digits, base, end := number(value)
	if digits == "" {
		return 0, errUnit
	}
	neg := strings.HasPrefix(strings.TrimLeft(value, " \t\n\v\f\r"), "-")
	if neg {
		digits = "-" + digits
	}
	n, err := strconv.ParseInt(digits, base, 64)
	if err != nil {
		return 0, errRange
	}
	factor := unit(value[end:])
	if factor == 0 {
		return 0, errUnit
	}
	f := int64(factor)
	if n < 0 && (-max-1)/f > n || n > 0 && max/f < n {
		return 0, errRange
	}
	return n * f, nil
}

// ParseUint reads an integer that is not negative, as ParseInt does.
func ParseUint(value string, max uint64) (uint64, error) {
	digits, base, end := number(value)
	if digits == "" || strings.Contains(value, "-") {
		return 0, errUnit
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, errRange
	}
	factor := unit(value[end:])
	if factor == 0 {
		return 0, errUnit
	}
	if n > max/factor {
		return 0, errRange
	}
	return n * factor, nil
}

// number cuts the digits off the front of s as strtoimax(3) with base 0 does.
func number(s string) (digits string, base, end int) {
	i := 0
	for i < len(s) && strings.IndexByte(" \t\n\v\f\r", s[i]) >= 0 {
		i++
	}
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	base = 10
	if i < len(s) && s[i] == '0' {
		base = 8
		if i+2 < len(s) && s[i+1]|0x20 == 'x' && digit(s[i+2]) < 16 {
			base, i = 16, i+2
		}
	}
	start := i
	for i < len(s) && digit(s[i]) < base {
		i++
	}
	return s[start:i], base, i
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

func unit(s string) uint64 {
	switch s {
	case "":
		return 1
	case "k", "K":
		return 1 << 10
	case "m", "M":
		return 1 << 20
	case "g", "G":
		return 1 << 30
	}
	return 0
}

// Bool reads the entry as a boolean.
func (e *Entry) Bool() (bool, error) {
	b, ok := ParseBool(e.Value, e.HasValue)
	if !ok {
		return false, &Error{Msg: fmt.Sprintf("bad boolean config value '%s' for '%s'", e.Value, e.Key)}
	}
	return b, nil
}

// Int reads the entry as git's int.
func (e *Entry) Int() (int, error) {
	n, err := e.intMax(math.MaxInt32)
	return int(n), err
}

// Int64 reads the entry as an integer of 64 bits.
func (e *Entry) Int64() (int64, error) { return e.intMax(math.MaxInt64) }

// Ulong reads the entry as git's unsigned long.
func (e *Entry) Ulong() (uint64, error) {
	n, err := ParseUint(e.Value, math.MaxUint64)
	if err != nil {
		return 0, e.BadNumber(err)
	}
	return n, nil
}

func (e *Entry) intMax(max int64) (int64, error) {
	n, err := ParseInt(e.Value, max)
	if err != nil {
		return 0, e.BadNumber(err)
	}
	return n, nil
}

// BadNumber says that the value is no number, for the reason err.
func (e *Entry) BadNumber(err error) error {
	return &Error{Msg: fmt.Sprintf("bad numeric config value '%s' for '%s'%s: %v", e.Value, e.Key, e.Origin.in(), err)}
}

// BoolOrInt reads the entry as a boolean word or else as an integer.
func (e *Entry) BoolOrInt() (isBool bool, n int, err error) {
	if b, ok := ParseBoolText(e.Value, e.HasValue); ok {
		if b {
			n = 1
		}
		return true, n, nil
	}
	n, err = e.Int()
	return false, n, err
}

// Text reads the entry as a string, which a valueless key is not.
func (e *Entry) Text() (string, error) {
	if !e.HasValue {
		return "", e.Reject(fmt.Errorf("missing value for '%s'", e.Key))
	}
	return e.Value, nil
}

// Reject says that git can do nothing with the value: cause is the line before
// the message, which names the place.
func (e *Entry) Reject(cause error) error {
	if e.Origin.Kind == OriginCommandLine {
		return fail(cause, fmt.Sprintf("unable to parse '%s' from command-line config", e.Key))
	}
	return fail(cause, fmt.Sprintf("bad config variable '%s' in file '%s' at line %d", e.Key, e.Origin.Name, e.Line))
}

// Get returns the last value of key. A valueless key has the value "".
func (c *Config) Get(key string) (string, bool) {
	if e := c.Lookup(key); e != nil {
		return e.Value, true
	}
	return "", false
}

// String returns the last value of key; a valueless key is an error.
func (c *Config) String(key string) (value string, ok bool, err error) {
	e := c.Lookup(key)
	if e == nil {
		return "", false, nil
	}
	value, err = e.Text()
	return value, err == nil, err
}

// Bool returns the last value of key as a boolean, or def.
func (c *Config) Bool(key string, def bool) (bool, error) {
	if e := c.Lookup(key); e != nil {
		return e.Bool()
	}
	return def, nil
}

// Int returns the last value of key as an integer, or def.
func (c *Config) Int(key string, def int) (int, error) {
	if e := c.Lookup(key); e != nil {
		return e.Int()
	}
	return def, nil
}

// Int64 returns the last value of key as an integer of 64 bits, or def.
func (c *Config) Int64(key string, def int64) (int64, error) {
	if e := c.Lookup(key); e != nil {
		return e.Int64()
	}
	return def, nil
}

// Ulong returns the last value of key as git's unsigned long, or def.
func (c *Config) Ulong(key string, def uint64) (uint64, error) {
	if e := c.Lookup(key); e != nil {
		return e.Ulong()
	}
	return def, nil
}

// Path returns the last value of key as a path, with ~ expanded. An optional
// path (":(optional)") that is missing is as good as none.
func (c *Config) Path(key string) (path string, ok bool, err error) {
	e := c.Lookup(key)
	if e == nil {
		return "", false, nil
	}
	return e.Path(c.lookupEnv)
}

// Path reads the entry as a path, with ~ expanded.
func (e *Entry) Path(env LookupEnv) (path string, ok bool, err error) {
	value, err := e.Text()
	if err != nil {
		return "", false, err
	}
	value, optional := strings.CutPrefix(value, ":(optional)")
	path, ok = ExpandPath(value, env)
	if !ok {
		return "", false, &Error{Msg: fmt.Sprintf("failed to expand user dir in: '%s'", value)}
	}
	if optional {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return "", false, nil
		}
	}
	return path, true, nil
}
