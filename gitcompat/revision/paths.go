package revision

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// relative turns a path that starts with ./ or ../ into one from the top of the
// working tree; others come back as they are, with ok false.
func (r *Resolver) relative(p string) (string, bool, error) {
	if !strings.HasPrefix(p, "./") && !strings.HasPrefix(p, "../") {
		return p, false, nil
	}
	if !r.Repo.InsideWorkTree() {
		return "", false, fmt.Errorf("relative path syntax can't be used outside working tree")
	}
	full := path.Join("/", r.Repo.Prefix, p)
	depth := strings.Count(r.Repo.Prefix, "/")
	for _, part := range strings.Split(p, "/") {
		switch part {
		case "..":
			if depth--; depth < 0 {
				return "", false, fmt.Errorf("'%s' is outside repository at '%s'", p, r.Repo.WorkTree)
			}
		case "", ".":
		default:
			depth++
		}
	}
	return full[1:], true, nil
}

// indexPath resolves :path and :n:path.
func (r *Resolver) indexPath(name string, explain bool) (Object, error) {
	stage, p := uint8(0), name[1:]
	if len(name) >= 3 && name[2] == ':' && name[1] >= '0' && name[1] <= '3' {
		stage, p = name[1]-'0', name[3:]
	}
	full, _, err := r.relative(p)
	if err != nil {
		return Object{}, err
	}
	idx, err := r.readIndex()
	if err != nil {
		return Object{}, err
	}
	if e := idx.Find(full, stage); e != nil {
		return Object{ID: e.ID, Mode: e.Mode, Path: full, Has: true}, nil
	}
	if explain && len(name) > 1 && name[1] != '/' {
		return Object{}, r.explainIndex(idx, stage, full)
	}
	return Object{Path: full, Has: true}, ErrUnknown
}

func (r *Resolver) readIndex() (*index.Index, error) {
	if r.index == nil {
		x, err := index.Read(r.Repo.IndexPath(), r.Repo.Algo, index.Options{})
		if err != nil {
			return nil, err
		}
		r.index = x
	}
	return r.index, nil
}

// explainIndex finds out why a path is not in the index as asked.
func (r *Resolver) explainIndex(idx *index.Index, stage uint8, name string) error {
	if e := idx.FindAny(name); e != nil {
		return fmt.Errorf("path '%s' is in the index, but not at stage %d\nhint: Did you mean ':%d:%s'?", name, stage, e.Stage, name)
	}
	if full := r.Repo.Prefix + name; full != name {
		if e := idx.FindAny(full); e != nil {
			return fmt.Errorf("path '%s' is in the index, but not '%s'\nhint: Did you mean ':%d:%s' aka ':%d:./%s'?",
				full, name, e.Stage, full, e.Stage, name)
		}
	}
	if _, err := os.Lstat(r.onDisk(name)); err == nil {
		return fmt.Errorf("path '%s' exists on disk, but not in the index", name)
	} else if missing(err) {
		return fmt.Errorf("path '%s' does not exist (neither on disk nor in the index)", name)
	}
	return ErrUnknown
}

// onDisk is where a path from the top of the working tree is.
func (r *Resolver) onDisk(name string) string {
	if r.Repo.WorkTree != "" {
		return filepath.Join(r.Repo.WorkTree, name)
	}
	return filepath.Join(r.Repo.Dir, name)
}

func missing(err error) bool {
	return os.IsNotExist(err) || strings.HasSuffix(err.Error(), "not a directory")
}

// treePath resolves rev:path.
func (r *Resolver) treePath(rev, p string, explain bool) (Object, error) {
	root, err := r.revision(rev, WantTreeish)
	if err != nil {
		if explain && err == ErrUnknown {
			return Object{}, fmt.Errorf("invalid object name '%s'.", rev)
		}
		return Object{}, err
	}
	full, _, err := r.relative(p)
	if err != nil {
		return Object{}, err
	}
	w, err := r.history()
	if err != nil {
		return Object{}, err
	}
	id, mode, err := w.TreeEntry(root, full)
	if err == nil {
		return Object{ID: id, Mode: mode, Path: full, Has: true}, nil
	}
	if explain {
		return Object{}, r.explainTree(w, root, rev, full)
	}
	return Object{Path: full, Has: true}, ErrUnknown
}

func (r *Resolver) explainTree(w *Walk, root oid.ID, rev, name string) error {
	if _, err := os.Lstat(r.onDisk(name)); err == nil {
		return fmt.Errorf("path '%s' exists on disk, but not in '%s'", name, rev)
	} else if !missing(err) {
		return ErrUnknown
	}
	full := r.Repo.Prefix + name
	if _, _, err := w.TreeEntry(root, full); err == nil {
		return fmt.Errorf("path '%s' exists, but not '%s'\nhint: Did you mean '%s:%s' aka '%s:./%s'?", full, name, rev, full, rev, name)
	}
	return fmt.Errorf("path '%s' does not exist in '%s'", name, rev)
}

// TreeEntry returns the object and mode at path below the tree that root is,
// or leads to. An empty path is the tree itself.
func (w *Walk) TreeEntry(root oid.ID, name string) (oid.ID, uint32, error) {
	id, err := w.peel(root, object.Tree)
	if err != nil {
		return oid.ID{}, 0, err
	}
	mode := uint32(0o040000)
	for rest := name; rest != ""; {
		var first string
		first, rest, _ = strings.Cut(rest, "/")
		if first == "" || mode&0o170000 != 0o040000 {
			return oid.ID{}, 0, ErrUnknown
		}
		typ, body, err := w.db.Read(id)
		if err != nil || typ != object.Tree {
			return oid.ID{}, 0, ErrUnknown
		}
		it := object.IterTree(id.Algo(), body)
		found := false
		for !found && it.Next() {
			if string(it.Name()) == first {
				id, mode, found = it.ID(), it.RawMode(), true
			}
		}
		if !found {
			return oid.ID{}, 0, ErrUnknown
		}
	}
	return id, mode, nil
}
