package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

// holdEnv makes the test binary a process that takes a lock and waits to be killed.
const holdEnv = "LOCKFILE_TEST_HOLD"

// bookEnv is where that process keeps its book, if it keeps one.
const bookEnv = "LOCKFILE_TEST_BOOK"

func TestMain(m *testing.M) {
	path := os.Getenv(holdEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	l := &Locker{FS: vfs.OS(), Books: os.Getenv(bookEnv)}
	book := l.NewBook()
	for _, p := range strings.Split(path, ":") {
		if _, err := l.Hold(p, Options{PIDFile: l.Books == "", Book: book}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
}

// holder starts a process that holds the lock of path.
func holder(t *testing.T, path string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), holdEnv+"="+path), env...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	buf := make([]byte, 100)
	if n, _ := out.Read(buf); string(buf[:n]) != "held\n" {
		t.Fatalf("the holder says %q", buf[:n])
	}
	return cmd
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestHold_dead reclaims the lock of a process that was killed, and only then (L3).
func TestHold_dead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	cmd := holder(t, path)
	var said []string
	l := &Locker{FS: vfs.OS(), Warn: func(s string) { said = append(said, s) }}
	_, err := l.Hold(path, Options{})
	var held *HeldError
	if !errors.As(err, &held) || held.PID != cmd.Process.Pid || held.Dead {
		t.Fatalf("while the owner lives: %v", err)
	}
	if want := fmt.Sprintf("process %d", cmd.Process.Pid); !strings.Contains(err.Error(), "File exists.\n\n") || !strings.Contains(err.Error(), want) {
		t.Errorf("message: %s", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	never := &Locker{FS: vfs.OS(), KeepStale: true}
	if _, err := never.Hold(path, Options{}); !errors.As(err, &held) || !held.Dead {
		t.Errorf("sluice.staleLocks=never: %v", err)
	}
	lock, err := l.Hold(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lock.Rollback()
	if len(said) != 1 || !strings.Contains(said[0], "is dead") {
		t.Errorf("said %q", said)
	}
	if exists(path+".lock") || exists(path+"~pid.lock") {
		t.Error("left behind")
	}
}

// TestHold_book clears all locks of a transaction whose process was killed, when
// one of them is met; a lock that somebody else took meanwhile stays (L3).
func TestHold_book(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"a", "b", "c"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	cmd := holder(t, strings.Join(paths, ":"), bookEnv+"="+dir)
	l := &Locker{FS: vfs.OS(), Books: dir}
	if _, err := l.Hold(paths[0], Options{}); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("took the lock of a living process: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	// The user removes one lock, and another program takes it.
	if err := os.Remove(paths[2] + ".lock"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	if err := os.WriteFile(paths[2]+".lock", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Hold(paths[2], Options{}); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("took the lock of another program: %v", err)
	}
	lock, err := l.Hold(paths[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	lock.Rollback()
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 1 || left[0] != paths[2]+".lock" {
		t.Errorf("left: %q", left)
	}
}

// TestHold_sideFileOfAnother leaves a lock alone whose side file speaks of an
// earlier lock: its owner is dead, but this lock is somebody else's.
func TestHold_sideFileOfAnother(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	cmd := holder(t, path)
	cmd.Process.Kill()
	cmd.Wait()
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // coarse time stamps
	if err := os.WriteFile(path+".lock", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	l := &Locker{FS: vfs.OS()}
	if _, err := l.Hold(path, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("took a foreign lock: %v", err)
	}
}

// TestHold_boot reclaims a lock that is older than this boot (P9).
func TestHold_boot(t *testing.T) {
	t.Parallel()
	boot, ok := vfs.BootTime()
	if !ok {
		t.Skip("the time of the boot is not known on this system")
	}
	path := filepath.Join(t.TempDir(), "packed-refs")
	if err := os.WriteFile(path+".lock", []byte("foreign"), 0o666); err != nil {
		t.Fatal(err)
	}
	l := &Locker{FS: vfs.OS()}
	if _, err := l.Hold(path, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("took a fresh lock: %v", err)
	}
	if err := os.Chtimes(path+".lock", boot, boot.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	lock, err := l.Hold(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lock.Rollback()
}

// TestHold_reclaimOnce lets many find one stale lock: exactly one holds it at a
// time, and nobody's new lock is taken away (L2).
func TestHold_reclaimOnce(t *testing.T) {
	t.Parallel()
	boot, ok := vfs.BootTime()
	if !ok {
		t.Skip("the time of the boot is not known on this system")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "HEAD")
	if err := os.WriteFile(path+".lock", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path+".lock", boot, boot.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	inside, total := 0, 0
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			l := &Locker{FS: vfs.OS()}
			lock, err := l.Hold(path, Options{Timeout: 10 * time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			inside++
			total++
			if inside != 1 {
				t.Error("two hold the lock")
			}
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			inside--
			mu.Unlock()
			lock.Rollback()
		})
	}
	wg.Wait()
	if total != 16 {
		t.Errorf("%d of 16 had the lock", total)
	}
}

func TestHold_timeout(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ref")
	l := &Locker{FS: vfs.OS()}
	first, err := l.Hold(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := l.Hold(path, Options{Timeout: 50 * time.Millisecond}); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if time.Since(start) < 50*time.Millisecond {
		t.Error("did not wait")
	}
	time.AfterFunc(30*time.Millisecond, first.Rollback)
	second, err := l.Hold(path, Options{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	second.Rollback()
}

func TestHold_symlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	l := &Locker{FS: vfs.OS()}
	lock, err := l.Hold(filepath.Join(dir, "link"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback()
	if lock.Path() != filepath.Join(dir, "real") {
		t.Error(lock.Path())
	}
}

// change is one locked write.
func change(fsys *vfs.FS, path, content string) error {
	p, _, err := syncpolicy.NewPolicy(syncpolicy.Settings{Barrier: "journal"})
	if err != nil {
		return err
	}
	l := &Locker{FS: fsys, PIDFiles: true}
	lock, err := l.Hold(path, Options{})
	if err != nil {
		return err
	}
	if _, err := lock.Write([]byte(content)); err != nil {
		lock.Rollback()
		return err
	}
	b := syncpolicy.NewBarrier(fsys, p, filepath.Dir(path))
	defer b.Rollback()
	if err := lock.Stage(b, syncpolicy.IndexFile, syncpolicy.Index); err != nil {
		return err
	}
	return b.Commit()
}

// TestStage_faults makes each call fail: old or new content, no lock left (L1, L2).
func TestStage_faults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	crash.Loop(t, func(t *testing.T, in *crash.Injector) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		err := change(vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook), path, "new")
		b, rerr := os.ReadFile(path)
		if rerr != nil || string(b) != "new" && (err == nil || string(b) != "old") {
			t.Errorf("%v: %q, %v", err, b, rerr)
		}
		if hit := in.Hit(); !in.Sticky && (hit == nil || hit.Kind != vfs.OpRemove) && (exists(path+".lock") || exists(path+"~pid.lock")) {
			t.Error("left behind")
		}
	})
}

func TestParseShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value     string
		valueless bool
		want      SharedRepository
		bad       bool
	}{
		{"", true, SharedGroup, false}, {"umask", false, SharedUmask, false}, {"false", false, SharedUmask, false},
		{"group", false, SharedGroup, false}, {"true", false, SharedGroup, false}, {"1", false, SharedGroup, false},
		{"all", false, SharedEverybody, false}, {"world", false, SharedEverybody, false}, {"2", false, SharedEverybody, false},
		{"0640", false, -0o640, false}, {"0777", false, -0o666, false}, {"0040", false, 0, true}, {"nonsense", false, 0, true},
	} {
		got, err := ParseShared(c.value, c.valueless)
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%q: %o, %v", c.value, got, err)
		}
	}
}

func TestAdjust(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		shared SharedRepository
		mode   fs.FileMode
		want   fs.FileMode
	}{
		{SharedGroup, 0o644, 0o664}, {SharedGroup, 0o444, 0o444}, {SharedEverybody, 0o600, 0o664},
		{-0o640, 0o644, 0o640}, {-0o600, 0o755, 0o700}, {SharedUmask, 0o600, 0o600},
	} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, c.mode)
		if err := c.shared.Adjust(vfs.OS(), path); err != nil {
			t.Fatal(err)
		}
		if st, _ := os.Stat(path); st.Mode().Perm() != c.want {
			t.Errorf("%o of %o: %o, want %o", c.shared, c.mode, st.Mode().Perm(), c.want)
		}
		os.Remove(path)
	}
	sub := filepath.Join(dir, "a", "b")
	changed, err := SharedGroup.MkdirAll(vfs.OS(), sub)
	if err != nil || len(changed) != 2 || changed[0] != dir {
		t.Errorf("%q, %v", changed, err)
	}
	if st, _ := os.Stat(sub); st.Mode()&fs.ModeSetgid == 0 || st.Mode().Perm()&0o070 != 0o070 {
		t.Error(st.Mode())
	}
}
