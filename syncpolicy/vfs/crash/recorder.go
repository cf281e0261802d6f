// Package crash tries what a power cut can leave behind. A Recorder logs the
// calls of a write path; States turns the log into directories that a crash
// could have left, for stock git to judge. Injector makes a call fail.
//
// What is assumed of a disk, which is what the two models differ in:
//
//	C1  a rename is atomic: the name means the old file or the new one.
//	C2  Journal (ext4, xfs): names change on the disk in the order in which they
//	    were changed, so a crash leaves a prefix of them; a flush of a file or
//	    directory commits at least every change up to the last one of that inode.
//	    Bytes that were written out are on the disk before any later name is.
//	C3  Unordered (btrfs and what is unknown): a name is sure only after a flush
//	    of its directory or a syncfs, and bytes only after a flush of the file or a
//	    syncfs; of everything else any subset may be there.
//	C4  of bytes that are not sure, all, none, a torn part, or zeros may be there.
package crash

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// An event is one step of the log.
type event struct {
	kind  vfs.Kind
	path  string // relative to the root
	to    string // target of rename and link; text of a symbolic link
	ino   *inode
	off   int64
	data  []byte
	perm  os.FileMode
	label string // of a mark
}

const mark vfs.Kind = "mark"

// An inode is a file of the log, whatever its name. Its content before the log
// began is content, nil for one that was created since.
type inode struct {
	content []byte
	dir     bool
	perm    os.FileMode
	size    int64 // while recording
}

// A Recorder logs what happens below a directory.
type Recorder struct {
	root string
	mu   sync.Mutex
	base map[string]*inode // by relative path, before the log began
	live map[string]*inode // now
	log  []event
}

// Record takes a snapshot of the directory root and returns a Recorder for what
// happens to it from now on.
func Record(root string) (*Recorder, error) {
	r := &Recorder{root: root, base: map[string]*inode{}, live: map[string]*inode{}}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n := &inode{dir: d.IsDir(), perm: info.Mode().Perm(), size: info.Size()}
		if info.Mode().IsRegular() {
			if n.content, err = os.ReadFile(path); err != nil {
				return err
			}
			if n.content == nil {
				n.content = []byte{}
			}
		}
		rel, _ := r.rel(path)
		r.base[rel], r.live[rel] = n, n
		return nil
	})
	return r, err
}

func (r *Recorder) rel(path string) (string, bool) {
	if path == r.root {
		return ".", true
	}
	return strings.CutPrefix(path, r.root+string(os.PathSeparator))
}

// Mark puts a label into the log: states after it know that it was passed. Call
// it where the command acknowledges.
func (r *Recorder) Mark(label string) {
	r.mu.Lock()
	r.log = append(r.log, event{kind: mark, label: label})
	r.mu.Unlock()
}

// Calls returns how often each kind of call was made.
func (r *Recorder) Calls() map[vfs.Kind]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := map[vfs.Kind]int{}
	for _, e := range r.log {
		n[e.kind]++
	}
	return n
}

// Flushes returns the number of calls that flush the disk.
func (r *Recorder) Flushes() int {
	n := r.Calls()
	return n[vfs.OpSync] + n[vfs.OpSyncDir] + n[vfs.OpSyncFS]
}

// Hook records each call that succeeds.
func (r *Recorder) Hook(op *vfs.Op, call func() error) error {
	err := call()
	rel, inside := r.rel(op.Path)
	if op.Kind == vfs.OpSymlink {
		rel, inside = op.Path, true
	}
	if err != nil || !inside {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record(op, rel)
	return nil
}

func (r *Recorder) record(op *vfs.Op, rel string) {
	e := event{kind: op.Kind, path: rel, ino: r.live[rel], off: op.Off, perm: op.Perm}
	switch op.Kind {
	case vfs.OpOpen:
		r.open(op, e)
		return
	case vfs.OpWrite:
		e.data = append([]byte(nil), op.Data...)
		if e.off < 0 {
			e.off = e.ino.size
		}
		e.ino.size = max(e.ino.size, e.off+int64(len(e.data)))
	case vfs.OpTruncate:
		e.ino.size = e.off
	case vfs.OpMkdir:
		e.ino = &inode{dir: true, perm: op.Perm}
		r.live[rel] = e.ino
	case vfs.OpRename:
		e.to, _ = r.rel(op.New)
		r.move(rel, e.to)
	case vfs.OpLink:
		e.to, _ = r.rel(op.New)
		r.live[e.to] = e.ino
	case vfs.OpRemove, vfs.OpRmdir:
		delete(r.live, rel)
	case vfs.OpClose, vfs.OpStartWriteout, vfs.OpChtimes, vfs.OpSymlink:
		return
	}
	r.log = append(r.log, e)
}

func (r *Recorder) open(op *vfs.Op, e event) {
	if e.ino == nil {
		e.ino = &inode{perm: op.Perm}
		r.live[e.path] = e.ino
		r.log = append(r.log, e)
	} else if op.Flag&os.O_TRUNC != 0 {
		e.kind, e.off = vfs.OpTruncate, 0
		e.ino.size = 0
		r.log = append(r.log, e)
	}
}

// move renames a file, or a directory with all below it.
func (r *Recorder) move(from, to string) { move(r.live, from, to) }

func move(names map[string]*inode, from, to string) {
	n := names[from]
	delete(names, from)
	names[to] = n
	if !n.dir {
		return
	}
	for path, sub := range names {
		if rest, ok := strings.CutPrefix(path, from+"/"); ok {
			delete(names, path)
			names[to+"/"+rest] = sub
		}
	}
}
