package index

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// contentOf compares files with blobs, unconverted.
func contentOf(dir string) func(*Entry, *FileStat) bool {
	return func(e *Entry, st *FileStat) bool {
		path := filepath.Join(dir, e.Name)
		b, err := os.ReadFile(path)
		if st.IsSymlink() {
			var target string
			target, err = os.Readlink(path)
			b = []byte(target)
		}
		return err != nil || oid.SHA1.Sum("blob", b) != e.ID
	}
}

// racyRepo has files recorded in the very second in which the index was
// written; those named in changed got other content of the same size since.
func racyRepo(t *testing.T, changed ...string) (*testRepo, Options) {
	t.Helper()
	r := newTestRepo(t)
	r.git("config", "core.trustctime", "false")
	at := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, name := range []string{"a", "b"} {
		r.write(name, "one")
		os.Chtimes(filepath.Join(r.dir, name), at, at)
	}
	r.git("add", ".")
	for _, name := range changed {
		r.write(name, "two")
		os.Chtimes(filepath.Join(r.dir, name), at, at)
	}
	return r, Options{WorkTree: r.dir, Content: contentOf(r.dir), Stat: StatRules{DistrustCTime: true}}
}

// TestSmudge checks I4: a change that stat data cannot show gets size 0 when the index is written.
func TestSmudge(t *testing.T) {
	t.Parallel()
	r, o := racyRepo(t, "b")
	x, err := Read(r.indexPath(), oid.SHA1, o)
	if err != nil {
		t.Fatal(err)
	}
	if !x.HasRacy() {
		t.Fatal("nothing is racy")
	}
	encode(t, x)
	if a, b := x.Find("a", 0), x.Find("b", 0); a.Stat.Size != 3 || b.Stat.Size != 0 {
		t.Errorf("sizes %d and %d, want 3 and 0", a.Stat.Size, b.Stat.Size)
	}
	r.replace(x)
	if out := r.git("diff-files", "--name-only"); out != "b\n" {
		t.Errorf("git sees %q", out)
	}
	// What this process has just compared is not looked at again.
	y, err := Read(r.indexPath(), oid.SHA1, o)
	if err != nil {
		t.Fatal(err)
	}
	y.Options.Content = func(e *Entry, _ *FileStat) bool { t.Error("opened ", e.Name); return false }
	for _, e := range y.Entries {
		e.Flags |= UpToDate
	}
	encode(t, y)
}

func TestMatch(t *testing.T) {
	t.Parallel()
	r, o := racyRepo(t, "b")
	x, err := Read(r.indexPath(), oid.SHA1, o)
	if err != nil {
		t.Fatal(err)
	}
	stat := func(name string) *FileStat {
		var st FileStat
		if err := Lstat(filepath.Join(r.dir, name), &st); err != nil {
			t.Fatal(err)
		}
		return &st
	}
	a, b := x.Find("a", 0), x.Find("b", 0)
	if c := x.Match(a, stat("a"), 0); c != 0 {
		t.Errorf("a: %b", c)
	}
	if c := x.Match(b, stat("b"), 0); c != DataChanged {
		t.Errorf("b: %b", c)
	}
	if c := x.Match(a, stat("a"), RacyIsDirty); c != DataChanged {
		t.Errorf("a, racy is dirty: %b", c)
	}
	os.Chmod(filepath.Join(r.dir, "a"), 0o755)
	if c := x.Match(a, stat("a"), 0); c != ModeChanged {
		t.Errorf("a, executable: %b", c)
	}
	x.Options.Stat.DistrustExecutable = true
	if c := x.Match(a, stat("a"), 0); c != 0 {
		t.Errorf("a, core.fileMode=false: %b", c)
	}
	b.Flags |= AssumeValid
	if c := x.Match(b, stat("b"), 0); c != 0 {
		t.Errorf("b, assumed valid: %b", c)
	}
	if c := x.Match(b, stat("b"), IgnoreValid); c != DataChanged {
		t.Errorf("b, assumption ignored: %b", c)
	}
	// A newer time alone is no modification.
	os.Chtimes(filepath.Join(r.dir, "a"), time.Now(), time.Now())
	if c, m := x.Match(a, stat("a"), 0), x.Modified(a, stat("a"), 0); c != MTimeChanged || m != 0 {
		t.Errorf("a, touched: %b, %b", c, m)
	}
	os.Remove(filepath.Join(r.dir, "a"))
	os.Symlink("b", filepath.Join(r.dir, "a"))
	if c := x.Modified(a, stat("a"), 0); c&TypeChanged == 0 {
		t.Errorf("a, now a link: %b", c)
	}
}

func TestStat(t *testing.T) {
	t.Parallel()
	for size, want := range map[int64]uint32{0: 0, 5: 5, 1 << 32: 0x80000000, 3 << 32: 0x80000000, 1<<32 + 7: 7} {
		if got := mungeSize(size); got != want {
			t.Errorf("size %d is stored as %d, want %d", size, got, want)
		}
	}
	r := newTestRepo(t)
	r.files()
	x := r.parse(Options{})
	for _, e := range x.Entries {
		var st FileStat
		if err := Lstat(filepath.Join(r.dir, e.Name), &st); err != nil {
			t.Fatal(err)
		}
		if st.Stat != e.Stat || CanonicalMode(st.Mode) != e.Mode {
			t.Errorf("%s: %+v %o, git recorded %+v %o", e.Name, st.Stat, st.Mode, e.Stat, e.Mode)
		}
	}
}
