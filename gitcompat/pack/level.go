package pack

import (
	"fmt"

	"github.com/klauspost/compress/zlib"
)

// A Level is a zlib compression level. The zero value is zlib's default.
type Level uint8

// NewLevel returns the level n, -1 (zlib's default) to 9.
func NewLevel(n int) (Level, error) {
	if n < -1 || n > 9 {
		return 0, fmt.Errorf("bad zlib compression level %d", n)
	}
	if n == -1 {
		return 0, nil
	}
	return Level(n + 1), nil
}

func (l Level) zlib() int {
	if l == 0 {
		return zlib.DefaultCompression
	}
	return int(l) - 1
}
