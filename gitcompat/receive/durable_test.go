package receive_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicegit/sluice/gitcompat/hook"
	"github.com/sluicegit/sluice/gitcompat/receive"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/gitcompat/wire"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
	"github.com/sluicegit/sluice/syncpolicy/vfs/crash"
)

// A fixture is a bare repository and a push to it, made by stock git: two
// branches move, one is made, one that is packed is deleted.
type fixture struct {
	bare     string // to be copied
	request  []byte
	old, new map[string]string // value of each ref; "" for none
}

func git(t testing.TB, dir string, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@x", "GIT_AUTHOR_DATE=1112911993 +0000", "GIT_COMMITTER_DATE=1112911993 +0000")
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func newFixture(t testing.TB, objects int) *fixture {
	t.Helper()
	dir := t.TempDir()
	work, bare := filepath.Join(dir, "w"), filepath.Join(dir, "bare")
	git(t, dir, nil, "init", "-q", "--template=", "-b", "main", work)
	commit := func(n int) string {
		for i := range n {
			if err := os.WriteFile(filepath.Join(work, fmt.Sprint("f", i)), fmt.Appendf(nil, "%d of %d", i, n), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		git(t, work, nil, "add", ".")
		git(t, work, nil, "commit", "-q", "-m", fmt.Sprint(n))
		return git(t, work, nil, "rev-parse", "HEAD")
	}
	first := commit(1)
	git(t, work, nil, "branch", "gone")
	git(t, dir, nil, "clone", "-q", "--template=", "--bare", work, bare)
	git(t, bare, nil, "update-ref", "refs/heads/b", first)
	git(t, bare, nil, "config", "core.logAllRefUpdates", "true")
	second := commit(objects)
	f := &fixture{
		bare: bare,
		old:  map[string]string{"refs/heads/main": first, "refs/heads/b": first, "refs/heads/new": "", "refs/heads/gone": first},
		new:  map[string]string{"refs/heads/main": second, "refs/heads/b": second, "refs/heads/new": second, "refs/heads/gone": ""},
	}
	f.request = f.encode(git(t, work, []byte(second+"\n^"+first+"\n"), "pack-objects", "--revs", "--stdout", "-q"), work, t, first, second)
	return f
}

func (f *fixture) encode(_, work string, t testing.TB, first, second string) []byte {
	cmd := exec.Command("git", "pack-objects", "--revs", "--stdout", "-q", "--thin")
	cmd.Dir, cmd.Stdin = work, strings.NewReader(second+"\n^"+first+"\n")
	pack, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w := wire.NewWriter(&buf)
	caps := "\x00report-status side-band-64k atomic"
	for _, ref := range slices.Sorted(maps.Keys(f.old)) {
		w.Printf("%s %s %s%s", oidOrNull(f.old[ref]), oidOrNull(f.new[ref]), ref, caps)
		caps = ""
	}
	w.End()
	w.Flush()
	return append(buf.Bytes(), pack...)
}

func oidOrNull(s string) string {
	if s == "" {
		return strings.Repeat("0", 40)
	}
	return s
}

// copyOf makes a copy of the bare repository.
func (f *fixture) copyOf(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	if err := os.CopyFS(dir, os.DirFS(f.bare)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// serve receives the push into dir and returns the refs that were acknowledged.
func (f *fixture) serve(fsys *vfs.FS, dir string, settings ...string) (ok []string, err error) {
	environ := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings))}
	for i, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		environ = append(environ, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	r, err := repo.Enter(fsys, dir, false, repo.Options{Dir: dir, Environ: environ, Warn: func(string) {}})
	if err != nil {
		return nil, err
	}
	var out, stderr bytes.Buffer
	err = receive.Serve(r, receive.Options{
		In: bytes.NewReader(f.request), Out: &out, Stderr: &stderr, Agent: "git/test", Hooks: hook.New(r, nil, nil),
	})
	fsys.Cleanup()
	if err != nil {
		return nil, err
	}
	return acknowledged(&out)
}

func acknowledged(out io.Reader) (ok []string, err error) {
	in := wire.NewReader(out)
	for {
		if _, kind, err := in.Read(); err != nil || kind != wire.Data {
			break // the end of the advertisement
		}
	}
	var progress bytes.Buffer
	data, err := io.ReadAll(wire.NewDemux(in, &progress))
	if err != nil {
		return nil, err
	}
	report := wire.NewReader(bytes.NewReader(data))
	var refused []string
	for {
		line, kind, err := report.ReadLine()
		if err != nil || kind != wire.Data {
			break
		}
		if ref, found := strings.CutPrefix(string(line), "ok "); found {
			ok = append(ok, ref)
		} else if strings.HasPrefix(string(line), "ng ") || string(line) != "unpack ok" {
			refused = append(refused, string(line))
		}
	}
	if refused != nil {
		return ok, errors.New(strings.Join(refused, "; ") + "\n" + progress.String())
	}
	return ok, nil
}

// judge asks stock git what is wrong with a repository in which the push may
// have happened, and in which the refs in acked must be new.
func (f *fixture) judge(dir string, acked []string) (faults []string) {
	run := func(args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"--git-dir=" + dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	list, err := run("for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil {
		return []string{"for-each-ref: " + list}
	}
	got := map[string]string{}
	for line := range strings.Lines(list) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[ref] = id
	}
	for ref := range f.old {
		switch id := got[ref]; {
		case slices.Contains(acked, ref) && id != f.new[ref]:
			faults = append(faults, fmt.Sprintf("P3: %s was acknowledged and is %q", ref, id))
		case id != f.old[ref] && id != f.new[ref]:
			faults = append(faults, fmt.Sprintf("P2: %s is %q", ref, id))
		}
	}
	out, err := run("fsck", "--full", "--strict", "--no-dangling", "--no-progress")
	if err != nil || strings.Contains(out, "error") {
		faults = append(faults, "P1: fsck: "+out)
	}
	return faults
}

// TestPush_crash replays power cuts during a push, of few objects and of a pack
// that is kept, judged by stock git.
func TestPush_crash(t *testing.T) {
	t.Parallel()
	few, many := newFixture(t, 2), newFixture(t, 120)
	for _, c := range []struct {
		name     string
		f        *fixture
		model    crash.Model
		bad      bool
		flushes  int // -1: not asserted
		settings []string
	}{
		{"default on a journal", few, crash.Journal, false, -1, []string{"sluice.barrier=journal"}},
		{"a kept pack on a journal", many, crash.Journal, false, -1, []string{"sluice.barrier=journal"}},
		{"syncfs", few, crash.Unordered, false, -1, []string{"sluice.barrier=syncfs"}},
		{"fsync of each", few, crash.Unordered, false, -1, []string{"core.fsync=all", "core.fsyncMethod=fsync"}},
		{"a kept pack, fsync of each", many, crash.Unordered, false, -1, []string{"core.fsync=all", "core.fsyncMethod=fsync"}},
		{"none", few, crash.Journal, true, 0, []string{"core.fsync=none"}},
		{"git's default", few, crash.Journal, true, 0, []string{"sluice.default=git"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := c.f.copyOf(t)
			rec, err := crash.Record(dir)
			if err != nil {
				t.Fatal(err)
			}
			fsys := vfs.OS().WithHook(crash.NoFlush).WithHook(rec.Hook)
			ok, err := c.f.serve(fsys, dir, c.settings...)
			if err != nil || len(ok) != len(c.f.old) {
				t.Fatalf("%v, %q", err, ok)
			}
			rec.Mark("ok")
			if n := rec.Flushes(); c.flushes >= 0 && n != c.flushes {
				t.Errorf("%d flushes: %v", n, rec.Calls())
			}
			bad := c.f.replay(t, rec, c.model, ok, c.bad)
			if c.bad != (bad != "") {
				t.Errorf("bad: %q", bad)
			}
		})
	}
}

// maxStates bounds how many states of one log stock git judges.
const maxStates = 40

func (f *fixture) replay(t *testing.T, rec *crash.Recorder, m crash.Model, acked []string, first bool) (bad string) {
	var states []crash.State
	for s := range rec.States(m, 1, 1) {
		states = append(states, s)
	}
	step := max(1, len(states)/maxStates)
	dir := t.TempDir()
	for i := len(states) - 1; i >= 0; i -= step {
		s := states[i]
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := s.Write(sub); err != nil {
			t.Fatal(err)
		}
		var must []string
		if s.Has("ok") {
			must = acked
		}
		if faults := f.judge(sub, must); faults != nil {
			bad = s.What + ": " + strings.Join(faults, "; ")
			if first {
				return bad
			}
		}
		os.RemoveAll(sub)
	}
	return bad
}

// TestPush_faults makes each system call of a push fail in turn: the answer
// tells the truth, and nothing is left behind.
func TestPush_faults(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2)
	crash.Loop(t, func(t *testing.T, in *crash.Injector) {
		dir := filepath.Join(t.TempDir(), "r")
		if err := os.CopyFS(dir, os.DirFS(f.bare)); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		acked, err := f.serve(vfs.OS().WithHook(crash.NoFlush).WithHook(in.Hook), dir, "sluice.barrier=journal")
		if in.Hit() == nil && (err != nil || len(acked) != len(f.old)) {
			t.Errorf("without a fault: %v, %q", err, acked)
		}
		if in.N%10 == 0 || in.Hit() == nil {
			for _, fault := range f.judge(dir, acked) {
				t.Error(fault)
			}
		}
		if in.Sticky {
			return
		}
		hit := in.Hit()
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			base := filepath.Base(path)
			if err == nil && (strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_") || strings.HasSuffix(base, ".keep")) {
				if hit == nil || hit.Kind != vfs.OpRemove && hit.Kind != vfs.OpRmdir || !strings.HasPrefix(hit.Path, path) {
					t.Errorf("left behind: %s", path)
				}
			}
			return nil
		})
	})
}
