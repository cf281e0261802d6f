//go:build !unix

package config

import "os"

// ReadSmall reads a whole small file, as os.ReadFile does.
func ReadSmall(path string) ([]byte, error) { return os.ReadFile(path) }
