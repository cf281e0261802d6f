package parseopt

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Signed is a type that Integer can fill.
type Signed interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64
}

// Unsigneds is a type that Unsigned can fill.
type Unsigneds interface {
	~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Integer sets v to a number that may end in k, m or g; its --no- form sets 0.
func Integer[T Signed](short byte, long string, v *T, help string) Option {
	o := value(short, long, "n", help, nil)
	o.set = func(o *Option, name string, a Arg) error {
		if a.Unset {
			*v = 0
			return nil
		}
		hi := int64(math.MaxInt64)
		for int64(T(hi)) != hi {
			hi >>= 1
		}
		if strconv.IntSize == 64 && hi == math.MaxInt64 && isInt(v) {
			hi = math.MaxInt32 // C's int, the type behind most of git's options
		}
		lo := -hi - 1
		if a.Value == "" {
			return &UsageError{Msg: name + " expects a numerical value"}
		}
		n, inRange, ok := ParseInt(a.Value)
		if !ok {
			return &UsageError{Msg: name + " expects an integer value with an optional k/m/g suffix"}
		}
		if !inRange || n > hi || n < lo {
			return &UsageError{Msg: "value " + a.Value + " for " + name + " not in range [" +
				strconv.FormatInt(lo, 10) + "," + strconv.FormatInt(hi, 10) + "]"}
		}
		*v = T(n)
		return nil
	}
	return o
}

func isInt[T Signed](v *T) bool {
	_, ok := any(v).(*int)
	return ok
}

// Unsigned sets v to a number that is not negative and may end in k, m or g.
func Unsigned[T Unsigneds](short byte, long string, v *T, help string) Option {
	o := value(short, long, "n", help, nil).NoNeg()
	o.set = func(o *Option, name string, a Arg) error {
		hi := uint64(^T(0))
		if a.Value == "" {
			return &UsageError{Msg: name + " expects a numerical value"}
		}
		n, inRange, ok := ParseUint(a.Value)
		if !ok {
			return &UsageError{Msg: name + " expects a non-negative integer value with an optional k/m/g suffix"}
		}
		if !inRange || n > hi {
			return &UsageError{Msg: "value " + a.Value + " for " + name + " not in range [0," + strconv.FormatUint(hi, 10) + "]"}
		}
		*v = T(n)
		return nil
	}
	return o
}

// ParseInt reads a number as git does: C notation (0x, 0 for octal), then
// optionally k, m or g. inRange is false where 64 bits do not hold it.
func ParseInt(s string) (n int64, inRange, ok bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	u, inRange, ok := magnitude(s)
	switch {
	case !ok || !inRange:
		return 0, inRange, ok
	case u > math.MaxInt64:
		return 0, false, true
	case neg:
		return -int64(u), true, true
	}
	return int64(u), true, true
}

// ParseUint is ParseInt for numbers that cannot be negative.
func ParseUint(s string) (n uint64, inRange, ok bool) {
	if strings.Contains(s, "-") {
		return 0, true, false
	}
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	return magnitude(strings.TrimPrefix(s, "+"))
}

func magnitude(s string) (n uint64, inRange, ok bool) {
	base, i := uint64(10), 0
	switch {
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && digit(s[2]) < 16:
		base, i = 16, 2
	case len(s) > 0 && s[0] == '0':
		base = 8
	}
	start, over := i, false
	for ; i < len(s) && digit(s[i]) < base; i++ {
		hi, lo := bits.Mul64(n, base)
		sum, carry := bits.Add64(lo, digit(s[i]), 0)
		over = over || hi != 0 || carry != 0
		n = sum
	}
	if i == start {
		return 0, true, false
	}
	factor := uint64(1)
	if i < len(s) {
		switch s[i] | 0x20 {
		case 'k':
			factor = 1 << 10
		case 'm':
			factor = 1 << 20
		case 'g':
			factor = 1 << 30
		default:
			return 0, !over, over // C reports the overflow before it looks at the suffix
		}
		if i+1 != len(s) {
			return 0, !over, over
		}
	}
	hi, lo := bits.Mul64(n, factor)
	return lo, !over && hi == 0, true
}

func digit(c byte) uint64 {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return uint64(c|0x20-'a') + 10
	}
	return 99
}

// atoi is strtol of a whole decimal string, bounded to C's int.
func atoi(s string) (int, bool) {
	n, err := strconv.ParseInt(strings.TrimLeft(s, " \t\n\v\f\r"), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // saturates
		return 0, false
	}
	return int(max(min(n, math.MaxInt32), math.MinInt32)), true
}
