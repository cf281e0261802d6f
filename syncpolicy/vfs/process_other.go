//go:build !linux

package vfs

import (
	"errors"
	"time"
)

// BootTime is not known here.
func BootTime() (time.Time, bool) { return time.Time{}, false }

// BirthTime is not known here.
func BirthTime(string) (birth time.Time, inode uint64, ok bool) { return time.Time{}, 0, false }

// Machine is not known here.
func Machine() (boot, namespace string) { return "", "" }

// StartTime is not known here.
func StartTime(int) string { return "" }

// Alive says yes: what cannot be found out is respected.
func Alive(int) bool { return true }

// LockInode is not to be had here.
func (f *File) LockInode() error { return errors.ErrUnsupported }
