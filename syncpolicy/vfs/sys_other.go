//go:build !linux && !darwin && !windows

package vfs

import (
	"errors"
	"os"
)

func rename(old, new string) error  { return os.Rename(old, new) }
func unlink(name string) error      { return os.Remove(name) }
func rmdir(name string) error       { return os.Remove(name) }
func startWriteout(*handle) error   { return nil }
func writeout(*handle) error        { return errors.ErrUnsupported }
func hardwareFlush(f *handle) error { return f.Sync() }

func syncDir(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

func syncFS(name string) error { return syncDir(name) }
