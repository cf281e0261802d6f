//go:build !unix

package index

import (
	"errors"
	"os"
)

// mapFile has files read instead: a mapped file could not be replaced here.
func mapFile(*os.File, int64) (data []byte, unmap func(), err error) {
	return nil, nil, errors.ErrUnsupported
}
