//go:build !unix

package trace2

import (
	"errors"
	"os"
)

func dial(string) (*os.File, error) { return nil, errors.ErrUnsupported }
