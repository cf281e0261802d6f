package syncpolicy

import (
	"io"
	"os"
	"path/filepath"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// An appendix is what is to be added to one log file.
type appendix struct {
	path    string
	data    []byte
	created func(path string) error
	wrap    func(error) error
}

// AppendLog registers data to be appended to the file path in phase Reflogs: by
// one write, and written out before any ref of the same command is renamed. If
// created is not nil, a missing file is created with mode 0666, and created is
// called with the path of one that was empty (to adjust permissions). wrap,
// unless nil, puts an error into git's words. Directories are made by steps of
// phase Reflogs.
func (b *Barrier) AppendLog(path string, data []byte, created func(path string) error, wrap func(error) error) {
	b.mu.Lock()
	b.staged |= Reflog
	b.logs = append(b.logs, &appendix{path, data, created, wrap})
	b.mu.Unlock()
}

// appended is what takes an entry back while its ref has not changed: the lock
// of the ref is held, so nobody else has appended since.
type appended struct {
	path string
	size int64 // before
}

// unlog takes the entries back that were appended for refs that will not change
// after all. What cannot be taken back does no harm: an entry too many.
func (r *round) unlog() {
	for i := len(r.logged) - 1; i >= 0; i-- {
		a := r.logged[i]
		if a.size == 0 {
			r.b.fsys.Remove(a.path)
			continue
		}
		if f, err := r.b.fsys.OpenFile(a.path, os.O_WRONLY, 0); err == nil {
			f.Truncate(a.size)
			f.Close()
		}
	}
	r.logged = nil
}

// appendLogs runs the steps of phase Reflogs, then appends what was registered.
// It returns the files that are to be hardened, each once.
func (r *round) appendLogs() ([]*staged, error) {
	b := r.b
	if err := r.publish(Reflogs, Reflogs); err != nil {
		return nil, err
	}
	logs := b.logs
	b.logs = nil
	hardens := b.policy.Hardens(Reflog) && !b.policy.idle()
	seen := map[string]bool{}
	var files []*staged
	for _, a := range logs {
		f, err := r.append(a)
		if err != nil {
			if a.wrap != nil {
				err = a.wrap(err)
			}
			return nil, err
		}
		s := &staged{comp: Reflog, temp: a.path, f: f}
		again := !hardens || seen[a.path]
		if !again {
			seen[a.path] = true
			files = append(files, s)
			if b.waitsFor(b.policy.Method) {
				f.StartWriteout() // its errors come again when it is waited for
			}
		}
		if again || len(files) > openFiles {
			if err := s.close(); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

func (r *round) append(a *appendix) (*vfs.File, error) {
	fsys := r.b.fsys
	flag := os.O_APPEND | os.O_WRONLY
	if a.created != nil {
		flag |= os.O_CREATE
	}
	f, err := fsys.OpenFile(a.path, flag, 0o666)
	done := appended{path: a.path}
	if err == nil {
		done.size, err = f.Seek(0, io.SeekEnd)
	}
	if err == nil && done.size == 0 && a.created != nil {
		r.touch(filepath.Dir(a.path))
		err = a.created(a.path)
	}
	if f != nil {
		r.logged = append(r.logged, done)
	}
	if err == nil {
		_, err = f.Write(a.data)
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, err
	}
	return f, nil
}
