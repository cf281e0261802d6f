package repo

import (
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// Format is what the configuration file says about the layout of a repository.
type Format struct {
	Version           int // -1 where the file does not say
	Algo              oid.Algo
	PreciousObjects   bool
	PartialClone      string // the remote that has the objects which are missing here; nothing is fetched from it
	WorktreeConfig    bool
	RelativeWorktrees bool
	RefStorage        string // "files" unless set

	bare        int // -1 where it is not set
	workTree    string
	hasWorkTree bool
	unsupported *UnsupportedError
	unknown     []string
	v1only      []string
}

func emptyFormat() Format { return Format{Version: -1, bare: -1, RefStorage: "files"} }

// readFormat reads the format out of the common configuration file.
func readFormat(file *config.File) (Format, error) {
	f := emptyFormat()
	for i := range file.Entries {
		e := &file.Entries[i]
		if err := f.set(e); err != nil {
			return f, err
		}
	}
	if f.Version < 0 {
		f = emptyFormat()
	}
	return f, nil
}

// set takes one entry over. An error that is not fatal in git by itself makes
// the line a bad one.
func (f *Format) set(e *config.Entry) (err error) {
	if e.Key == "core.repositoryformatversion" {
		f.Version, err = e.Int()
		return err
	}
	ext, ok := strings.CutPrefix(e.Key, "extensions.")
	if !ok {
		return f.setWorkTree(e)
	}
	switch ext {
	case "noop":
	case "preciousobjects":
		f.PreciousObjects, err = e.Bool()
	case "worktreeconfig":
		f.WorktreeConfig, err = e.Bool()
	case "partialclone":
		if !e.HasValue {
			return badLine(e, fmt.Errorf("missing value for '%s'", e.Key))
		}
		f.PartialClone = e.Value
	default:
		return f.setV1(e, ext)
	}
	return err
}

// setV1 takes over an extension that only version 1 may have.
func (f *Format) setV1(e *config.Entry, ext string) (err error) {
	switch ext {
	case "noop-v1":
	case "relativeworktrees":
		f.RelativeWorktrees, err = e.Bool()
	case "submodulepathconfig":
		_, err = e.Bool()
	case "objectformat", "compatobjectformat", "refstorage":
		if !e.HasValue {
			return badLine(e, fmt.Errorf("missing value for '%s'", e.Key))
		}
		if !f.setNamed(ext, e.Value) {
			return badLine(e, fmt.Errorf("invalid value for '%s': '%s'", e.Key, e.Value))
		}
		if ext == "compatobjectformat" && contains(f.v1only, ext) {
			return badLine(e, fmt.Errorf("'%s' already specified as '%s'", e.Key, e.Value))
		}
	default:
		f.unknown = append(f.unknown, ext)
		return nil
	}
	f.v1only = append(f.v1only, ext)
	return err
}

func (f *Format) setNamed(ext, value string) bool {
	switch ext {
	case "refstorage":
		name, _, payload := strings.Cut(value, "://")
		if name != "files" && name != "reftable" {
			return false
		}
		f.RefStorage = name
		if name != "files" || payload {
			f.unsupport(ext, value)
		}
		return true
	case "objectformat":
		algo, ok := oid.ParseAlgo(value)
		f.Algo = algo
		if ok && algo != oid.SHA1 {
			f.unsupport(ext, value)
		}
		return ok
	}
	_, ok := oid.ParseAlgo(value)
	f.unsupport(ext, value)
	return ok
}

func (f *Format) unsupport(ext, value string) {
	if f.unsupported == nil {
		f.unsupported = &UnsupportedError{Extension: ext, Value: value}
	}
}

// setWorkTree takes over what a working tree's own configuration file may say too.
func (f *Format) setWorkTree(e *config.Entry) error {
	switch e.Key {
	case "core.bare":
		bare, err := e.Bool()
		f.bare = 0
		if bare {
			f.bare = 1
		}
		return err
	case "core.worktree":
		if !e.HasValue {
			return badLine(e, fmt.Errorf("missing value for '%s'", e.Key))
		}
		f.workTree, f.hasWorkTree = e.Value, true
	}
	return nil
}

func badLine(e *config.Entry, cause error) error {
	return &config.Error{
		Notes: []string{"error: " + cause.Error()},
		Msg:   fmt.Sprintf("bad config line %d in file %s", e.Line, e.Origin.Name),
	}
}

const maxVersion = 1

// verify checks the format: the error is git's, or an UnsupportedError.
func (f *Format) verify() error {
	switch {
	case f.Version > maxVersion:
		return &NotRepoError{Msg: fmt.Sprintf("Expected git repo version <= %d, found %d", maxVersion, f.Version), Warn: true}
	case f.Version >= 1 && len(f.unknown) > 0:
		return extensionError("unknown repository extension", f.unknown)
	case f.Version == 0 && len(f.v1only) > 0:
		return extensionError("repo version is 0, but v1-only extension", f.v1only)
	case f.Version >= 0 && f.unsupported != nil:
		return f.unsupported
	}
	return nil
}

func extensionError(what string, names []string) error {
	if len(names) > 1 {
		what += "s"
	}
	return &NotRepoError{Msg: what + " found:\n\t" + strings.Join(names, "\n\t"), Warn: true}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}
