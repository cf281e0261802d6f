package odb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

// blobs are what the tests store: small ones, one that is written in pieces, and
// a big one that goes to a pack.
func blobs() [][]byte {
	noise := make([]byte, 40000)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	return [][]byte{[]byte("one"), []byte("two\n"), []byte("three"), noise[:9000], noise}
}

// bareObjects makes a repository without a history, with one object in it.
func bareObjects(t testing.TB) (root string) {
	root = t.TempDir()
	git(t, root, "", "init", "-q", "--bare", ".")
	git(t, root, "there", "hash-object", "-w", "--stdin")
	return root
}

// store stores the blobs in the repository root, and the object that it has.
func storeBlobs(fsys *vfs.FS, p *syncpolicy.Policy, root string) error {
	db, err := Open(fsys, filepath.Join(root, "objects"), oid.SHA1, Options{BigFileThreshold: 20000})
	if err != nil {
		return err
	}
	defer db.Close()
	b := syncpolicy.NewBarrier(fsys, p, root)
	defer b.Rollback()
	tx := db.Begin(b)
	if _, err := tx.Write(object.Blob, []byte("there")); err != nil {
		return err
	}
	for i, content := range blobs() {
		if i < 3 {
			_, err = tx.Write(object.Blob, content)
		} else {
			_, err = tx.WriteStream(object.Blob, int64(len(content)), bytes.NewReader(content))
		}
		if err != nil {
			return err
		}
	}
	return b.Commit()
}

// judgeBlobs reads what a repository has: each blob must be whole or absent, and
// all must be there where done.
func judgeBlobs(root string, done bool) (faults []string) {
	db, err := Open(vfs.OS(), filepath.Join(root, "objects"), oid.SHA1, Options{})
	if err != nil {
		return []string{err.Error()}
	}
	defer db.Close()
	for _, content := range append(blobs(), []byte("there")) {
		id := oid.SHA1.Sum("blob", content)
		_, data, err := db.Read(id)
		switch {
		case IsMissing(err) && done:
			faults = append(faults, "P3: acknowledged and lost")
		case IsMissing(err):
		case err != nil:
			faults = append(faults, "P1: "+err.Error())
		case !bytes.Equal(data, content):
			faults = append(faults, "P1: other bytes")
		}
	}
	return faults
}

func TestCrash(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		policy  *syncpolicy.Policy
		model   crash.Model
		bad     bool // must show bad states, or the test is blind
		flushes int  // -1: not looked at
	}{
		{"journal", policy(t, "all", "batch", "journal"), crash.Journal, false, 1},
		{"syncfs", policy(t, "all", "batch", "syncfs"), crash.Unordered, false, -1},
		{"fsync barrier", policy(t, "all", "batch", "fsync"), crash.Unordered, false, -1},
		{"none", policy(t, "none", "fsync", "auto"), crash.Journal, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := bareObjects(t)
			rec, err := crash.Record(root)
			if err != nil {
				t.Fatal(err)
			}
			if err := storeBlobs(vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook), c.policy, root); err != nil {
				t.Fatal(err)
			}
			rec.Mark("ok")
			if c.flushes >= 0 && rec.Flushes() != c.flushes {
				t.Errorf("%d flushes, want %d: %v", rec.Flushes(), c.flushes, rec.Calls())
			}
			dir, states, bad, asked := t.TempDir(), 0, "", 0
			for s := range rec.States(c.model, 1, 1) {
				states++
				sub := filepath.Join(dir, fmt.Sprint(states))
				if err := s.Write(sub); err != nil {
					t.Fatal(err)
				}
				faults := judgeBlobs(sub, s.Has("ok"))
				if faults != nil && bad == "" {
					bad = s.What + ": " + strings.Join(faults, "; ")
				}
				if faults == nil && states%32 == 0 { // stock git is slower than we are
					asked++
					git(t, sub, "", "fsck", "--full", "--strict")
				}
				os.RemoveAll(sub)
			}
			if c.bad != (bad != "") {
				t.Errorf("%d states; bad: %q", states, bad)
			}
			t.Logf("%d states, %d of them judged by stock git too", states, asked)
		})
	}
}

// TestFaults makes each call fail in turn: the error is told, nothing half done is
// left, and a second run works.
func TestFaults(t *testing.T) {
	t.Parallel()
	none, batch := policy(t, "none", "fsync", "auto"), policy(t, "all", "batch", "journal")
	crash.Loop(t, func(t *testing.T, in *crash.Injector) {
		root := t.TempDir()
		os.MkdirAll(filepath.Join(root, "objects", "pack"), 0o755)
		fsys := vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook)
		err := storeBlobs(fsys, batch, root)
		if in.Hit() == nil && err != nil {
			t.Errorf("no fault, but %v", err)
		}
		for _, f := range judgeBlobs(root, err == nil) {
			t.Errorf("%s: %s", in, f)
		}
		if !in.Sticky {
			fsys.Cleanup() // as at the end of every command
			noLeftovers(t, root)
		}
		if err := storeBlobs(vfs.OS(), none, root); err != nil {
			t.Errorf("%s: a second run: %v", in, err)
		}
		for _, f := range judgeBlobs(root, true) {
			t.Errorf("%s: after a second run: %s", in, f)
		}
	})
}

func TestFlushCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fsync, method string
		n             int
		flushes       int
	}{
		{"all", "batch", 1, 1}, {"all", "batch", 500, 1}, {"none", "batch", 500, 0}, {"loose-object", "fsync", 20, 20}, {"committed", "writeout-only", 20, 0},
	} {
		root := bareObjects(t)
		rec, err := crash.Record(root)
		if err != nil {
			t.Fatal(err)
		}
		fsys := vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook)
		db, err := Open(fsys, filepath.Join(root, "objects"), oid.SHA1, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := syncpolicy.NewPolicy(syncpolicy.Settings{Fsync: []syncpolicy.Value{{Text: c.fsync}},
			FsyncMethod: []syncpolicy.Value{{Text: c.method}}, Barrier: "journal", Settle: "auto"})
		if err != nil {
			t.Fatal(err)
		}
		b := syncpolicy.NewBarrier(fsys, p, root)
		tx := db.Begin(b)
		for i := range c.n {
			if _, err := tx.Write(object.Blob, fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		if rec.Flushes() != c.flushes {
			t.Errorf("core.fsync=%s by %s, %d objects: %d flushes, want %d: %v", c.fsync, c.method, c.n, rec.Flushes(), c.flushes, rec.Calls())
		}
	}
}

// TestMessages has git's words for what disks say.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind vfs.Kind
		err  syscall.Errno
		want string
	}{
		{vfs.OpMkdir, syscall.EACCES, "insufficient permission for adding an object to repository database .git/objects"},
		{vfs.OpMkdir, syscall.EROFS, "unable to create temporary file: Read-only file system"},
		{vfs.OpOpen, syscall.ENOSPC, "unable to create temporary file: No space left on device"},
		{vfs.OpWrite, syscall.ENOSPC, "unable to write loose object file: No space left on device"},
		{vfs.OpWrite, syscall.EFBIG, "unable to write loose object file: File too large"},
		{vfs.OpRename, syscall.EIO, "unable to write file ROOT"},
	} {
		root := t.TempDir()
		os.MkdirAll(filepath.Join(root, "objects", "pack"), 0o755)
		fsys := vfs.OS().WithHook(func(op *vfs.Op, call func() error) error {
			if op.Kind == c.kind {
				return &os.PathError{Op: "call", Path: op.Path, Err: c.err}
			}
			return call()
		})
		db, err := Open(fsys, filepath.Join(root, "objects"), oid.SHA1, Options{Name: ".git/objects"})
		if err != nil {
			t.Fatal(err)
		}
		b := syncpolicy.NewBarrier(fsys, policy(t, "none", "fsync", "auto"), root)
		id, err := db.Begin(b).Write(object.Blob, []byte("x"))
		if err == nil {
			err = b.Commit()
		}
		b.Rollback()
		want := c.want
		if strings.Contains(want, "ROOT") {
			want = "unable to write file " + db.own.loosePath(id) + ": Input/output error"
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s fails with %v: %v", c.kind, c.err, err)
		}
		noLeftovers(t, root)
	}
}
