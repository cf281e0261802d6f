package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	fsys := OS()
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.Write([]byte("hello world")); n != 11 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := f.WriteAt([]byte("W"), 6); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if off, err := f.Seek(0, io.SeekStart); off != 0 || err != nil {
		t.Fatal(off, err)
	}
	if b, err := io.ReadAll(f); string(b) != "hello World" || err != nil {
		t.Fatalf("%q %v", b, err)
	}
	buf := make([]byte, 5)
	if _, err := f.ReadAt(buf, 6); string(buf) != "World" || err != nil {
		t.Fatalf("%q %v", buf, err)
	}
	if n, err := f.ReadAt(buf, 9); n != 2 || err != io.EOF {
		t.Fatal(n, err)
	}
	if err := f.Truncate(5); err != nil {
		t.Fatal(err)
	}
	if err := f.Chmod(0o600); err != nil {
		t.Fatal(err)
	}
	for _, call := range []func() error{f.StartWriteout, f.Writeout, f.Sync} {
		if err := call(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
	st, err := f.Stat()
	if err != nil || st.Size() != 5 || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err == nil {
		t.Error("closed twice")
	}
	if _, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if _, err := fsys.OpenFile(path+"/x", os.O_RDONLY, 0); !errors.Is(err, syscall.ENOTDIR) {
		t.Error(err)
	}
}

// TestHook sees every call once (V1), and a file is closed even where Close is
// made to fail (V2).
func TestHook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var seen []Kind
	var fail Kind
	fsys := OS().WithHook(func(op *Op, call func() error) error {
		seen = append(seen, op.Kind)
		if op.Kind == fail {
			return &fs.PathError{Op: string(op.Kind), Path: op.Path, Err: syscall.EIO}
		}
		return call()
	})
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	f, err := fsys.OpenFile(a, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("x"))
	fail = OpClose
	if err := f.Close(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	fail = ""
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("the file is still open")
	}
	for _, err := range []error{fsys.Rename(a, b), fsys.Link(b, a), fsys.Remove(a), fsys.Mkdir(a, 0o777), fsys.Rmdir(a), fsys.Chmod(b, 0o600), fsys.SyncDir(dir)} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []Kind{OpOpen, OpWrite, OpClose, OpWrite, OpRename, OpLink, OpRemove, OpMkdir, OpRmdir, OpChmod, OpSyncDir}
	if !slices.Equal(seen, want) {
		t.Errorf("%v", seen)
	}
}

func TestHook_shortWrite(t *testing.T) {
	t.Parallel()
	fsys := OS().WithHook(func(op *Op, call func() error) error {
		if op.Kind == OpWrite {
			op.Data = op.Data[:2]
		}
		return call()
	})
	f, err := fsys.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.Write([]byte("hello")); n != 2 || err != io.ErrShortWrite {
		t.Error(n, err)
	}
}

// TestCleanup removes what was not kept, and only that.
func TestCleanup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys := OS()
	sub, err := fsys.MkdirTemp(dir, "tmp_objdir-test-")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{dir, sub, dir} {
		f, err := fsys.CreateTemp(in, "tmp_obj_", 0o444)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	kept, err := fsys.CreateTemp(dir, "keep_", 0o666)
	if err != nil {
		t.Fatal(err)
	}
	kept.Close()
	fsys.Keep(kept.Name())
	fsys.Cleanup()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(kept.Name()) {
		t.Errorf("%v %v", entries, err)
	}
}

func TestStrerror(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]string{
		syscall.EEXIST: "File exists", syscall.ENOENT: "No such file or directory", syscall.ENOSPC: "No space left on device",
		syscall.EIO: "Input/output error", syscall.EDQUOT: "Disk quota exceeded", syscall.EACCES: "Permission denied",
	} {
		if got := Strerror(&fs.PathError{Op: "x", Path: "y", Err: errno}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Strerror(errors.New("plain")); got != "plain" {
		t.Error(got)
	}
}
