package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// An Output says where a pack goes. All files are staged in the barrier's phase
// Packs, in the order .keep, .pack, .rev, .idx (K1).
type Output struct {
	Barrier *syncpolicy.Barrier
	Dir     string // the objects/pack directory; made if it is missing
	Base    string // what names begin with instead of "pack"
	Shared  lockfile.SharedRepository
	Keep    *string // write a .keep with this message
	Promise *string // write a .promisor with this message
	Pack    string  // path of the .pack; "": pack-<checksum>.pack in Dir
	Index   string  // the same for the .idx; the .rev goes beside it
}

// Indexed is what came of indexing a pack.
type Indexed struct {
	Checksum  oid.ID // its trailer, after which the files are named
	Objects   int
	Completed int    // objects appended to make a thin pack whole
	Kept      bool   // the .keep was not there before
	Rest      []byte // what was read of the stream beyond the pack
}

func (o *Output) fs() *vfs.FS { return o.Barrier.FS() }

// temp creates a temporary beside the final path, or in Dir where that is "".
func (o *Output) temp(prefix, final string) (*vfs.File, error) {
	dir := o.Dir
	if final != "" {
		dir = filepath.Dir(final)
	}
	f, err := o.fs().CreateTemp(dir, prefix, 0o444)
	if errors.Is(err, fs.ErrNotExist) && final == "" {
		if err := o.makeDir(dir); err != nil {
			return nil, tempError(dir, prefix, err)
		}
		f, err = o.fs().CreateTemp(dir, prefix, 0o444)
	}
	if err != nil {
		return nil, tempError(dir, prefix, err)
	}
	return f, nil
}

// makeDir makes the directory of the packs; its name has to last, too.
func (o *Output) makeDir(dir string) error {
	if err := o.fs().Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	o.Barrier.Do(syncpolicy.Packs, func() error { return nil }, filepath.Dir(dir))
	return o.Shared.Adjust(o.fs(), dir)
}

func tempError(dir, prefix string, err error) error {
	return fmt.Errorf("unable to create temporary file: '%s': %s", filepath.Join(dir, prefix+"XXXXXX"), lockfile.Strerror(err))
}

// remove removes a temporary that will not be staged.
func (o *Output) remove(f *vfs.File) {
	f.Close()
	o.fs().Remove(f.Name())
	o.fs().Keep(f.Name())
}

// path returns the final path with extension ext.
func (o *Output) path(given string, sum oid.ID, ext string) string {
	if given != "" {
		return given
	}
	return filepath.Join(o.Dir, cmp.Or(o.Base, "pack")+"-"+sum.String()+"."+ext)
}

// stage hands f to the barrier, with git's permissions for what is final.
func (o *Output) stage(c syncpolicy.Component, f *vfs.File, final string) error {
	if err := o.Shared.Adjust(o.fs(), f.Name()); err != nil {
		o.remove(f)
		return err
	}
	if err := o.Barrier.Stage(syncpolicy.Packs, c, f, final); err != nil {
		return fmt.Errorf("error while closing pack file: %s", lockfile.Strerror(err))
	}
	return nil
}

// stageMark stages the creation of a .keep or .promisor with a message. It is
// not hardened: what a crash leaves of it is still a mark. kept is false where
// there is one already.
func (o *Output) stageMark(path, ext, message string) (kept bool, err error) {
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	made := false
	o.Barrier.Do(syncpolicy.Packs, func() error {
		f, err := o.fs().OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot write %s file '%s': %s", ext, path, lockfile.Strerror(err))
		}
		made = true
		if message != "" {
			_, err = io.WriteString(f, message+"\n")
		}
		if cerr := f.Close(); err == nil && cerr != nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("cannot close written %s file '%s': %s", ext, path, lockfile.Strerror(err))
		}
		return nil
	}, filepath.Dir(path))
	o.Barrier.OnEnd(func(err error) {
		if err != nil && made {
			o.fs().Remove(path)
		}
	})
	return true, nil
}

// stageMarks stages the .keep and the .promisor of a pack that will be at path.
func (o *Output) stageMarks(path string) (kept bool, err error) {
	base, ok := strings.CutSuffix(path, ".pack")
	if !ok && (o.Keep != nil || o.Promise != nil) {
		return false, fmt.Errorf("packfile name '%s' does not end with '.pack'", path)
	}
	if o.Keep != nil {
		if kept, err = o.stageMark(base+".keep", "keep", *o.Keep); err != nil {
			return false, err
		}
	}
	if o.Promise != nil {
		_, err = o.stageMark(base+".promisor", "promisor", *o.Promise)
	}
	return kept, err
}

// tables are the finished temporaries of an index.
type tables struct {
	idx, rev         *vfs.File // rev may be nil
	idxPath, revPath string
}

// writeTables writes the .idx and the .rev.
func (x *indexer) writeTables(out *Output) (*tables, error) {
	sum := x.o.Algo.FromBytes(x.sum)
	order := x.t.sorted()
	t := &tables{idxPath: out.path(out.Index, sum, "idx")}
	rev := ""
	if out.Index != "" && x.o.RevIndex {
		base, ok := strings.CutSuffix(out.Index, ".idx")
		if !ok {
			return nil, fmt.Errorf("packfile name '%s' does not end with '.idx'", out.Index)
		}
		rev = base + ".rev"
	}
	t.revPath = out.path(rev, sum, "rev")
	var err error
	t.idx, err = out.write("tmp_idx_", out.Index, func(w io.Writer) error {
		return x.t.writeIndex(w, order, x.sum, x.o.Index)
	})
	if err != nil || !x.o.RevIndex {
		return t, err
	}
	t.rev, err = out.write("tmp_rev_", rev, func(w io.Writer) error { return x.t.writeRev(w, order, x.sum) })
	if err != nil {
		out.remove(t.idx)
	}
	return t, err
}

// stage stages the .rev and then the .idx.
func (t *tables) stage(out *Output) error {
	if t.rev != nil {
		if err := out.stage(syncpolicy.PackMetadata, t.rev, t.revPath); err != nil {
			out.remove(t.idx)
			return err
		}
	}
	return out.stage(syncpolicy.PackMetadata, t.idx, t.idxPath)
}

// discard removes the temporaries.
func (t *tables) discard(out *Output) {
	out.remove(t.idx)
	if t.rev != nil {
		out.remove(t.rev)
	}
}

// write writes a temporary by means of f.
func (o *Output) write(prefix, final string, f func(io.Writer) error) (*vfs.File, error) {
	file, err := o.temp(prefix, final)
	if err != nil {
		return nil, err
	}
	if err := f(writer{file}); err != nil {
		o.remove(file)
		return nil, err
	}
	return file, nil
}

// A writer puts errors of a file into git's words.
type writer struct{ f *vfs.File }

// Write implements io.Writer.
func (w writer) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	if err != nil {
		err = writeError(w.f, err)
	}
	return n, err
}

func writeError(f *vfs.File, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("sha1 file '%s' write error. Out of diskspace", f.Name())
	}
	return fmt.Errorf("sha1 file '%s' write error: %s", f.Name(), lockfile.Strerror(err))
}
