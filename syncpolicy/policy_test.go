package syncpolicy

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// values is the table of core.fsync values whose meaning is known to surprise.
func values() []string {
	return []string{
		"", "none", " none", "none ", "none,loose-object", "loose-object,none", "index,none", "pack,none",
		"pack-metadata,none", "commit,none", "co,none", "all", "a", "all,-loose-object", "committed,-loose-object",
		"-pack", "-pack-metadata", "-all", "-all,index", "reference", "ref", "default", "LOOSE-OBJECT",
		"pack ,index", "index\treference", "-", "-,index", "index,-,reference", ",index", "index,",
		"objects", "derived-metadata", "added", "committed", "true", "l", "c", "-index,index", "  all", "none,none",
	}
}

// TestParseComponents_git compares the reading of core.fsync with what the
// installed git hardens and warns of, for the table and for random lists.
func TestParseComponents_git(t *testing.T) {
	t.Parallel()
	g := newOracle(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	list := values()
	tokens := append(values(), "loose-object", "pack", "pack-metadata", "index", "-reference", "-commit-graph", "zzz", "-zzz")
	for range 40 {
		var picked []string
		for range 1 + rnd.IntN(4) {
			picked = append(picked, tokens[rnd.IntN(len(tokens))])
		}
		list = append(list, strings.Join(picked, ","))
	}
	for _, value := range list {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			got, warnings := ParseComponents(value, GitDefault)
			want, wantWarnings := g.ask(t, value)
			if got&^(objectMap|CommitGraph) != want&^CommitGraph {
				t.Errorf("hardens %s, git %s", got, want)
			}
			if !slices.Equal(warnings, wantWarnings) {
				t.Errorf("warns %q, git %q", warnings, wantWarnings)
			}
		})
	}
}

// An oracle is a repository in which stock git is asked what a value hardens.
type oracle struct{ dir, git string }

func newOracle(t *testing.T) oracle {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("these tests need git: ", err)
	}
	o := oracle{t.TempDir(), git}
	o.run(t, nil, "init", "-q")
	o.run(t, nil, "commit", "-q", "--allow-empty", "-m", "x")
	o.run(t, nil, "repack", "-q", "-a", "-d")
	return o
}

func (o oracle) run(t *testing.T, env []string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(o.git, args...)
	cmd.Dir = o.dir
	cmd.Env = append(os.Environ(), "HOME="+o.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@x")
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, errs.String())
	}
	return out.String(), errs.String()
}

// ask returns the components that git hardens under core.fsync=value, found out
// by commands that write one component each, and its warnings.
func (o oracle) ask(t *testing.T, value string) (Component, []string) {
	t.Helper()
	tmp := t.TempDir()
	packs, err := filepath.Glob(filepath.Join(o.dir, ".git/objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	var got Component
	var warnings []string
	for _, probe := range []struct {
		c    Component
		env  string
		args []string
	}{
		{LooseObject, "GIT_OBJECT_DIRECTORY=" + tmp, []string{"hash-object", "-w", packs[0]}},
		{Index, "GIT_INDEX_FILE=" + filepath.Join(tmp, "index"), []string{"update-index", "--add", "--cacheinfo", "100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,f"}},
		{Reference, "X=", []string{"update-ref", "refs/probe/" + filepath.Base(filepath.Dir(tmp)), "HEAD"}},
		{PackMetadata, "X=", []string{"index-pack", "-o", filepath.Join(tmp, "x.idx"), packs[0]}},
		{Pack, "X=", []string{"pack-objects", "-q", "--all", filepath.Join(tmp, "p")}},
	} {
		trace := filepath.Join(tmp, "trace")
		os.Remove(trace)
		_, stderr := o.run(t, []string{probe.env, "GIT_TRACE2_PERF=" + trace}, append([]string{"-c", "core.fsync=" + value}, probe.args...)...)
		flushed := flushes(t, trace)
		if probe.c == Pack && got&PackMetadata != 0 {
			flushed-- // pack-objects writes an .idx too
		}
		if flushed > 0 {
			got |= probe.c
		}
		warnings = nil
		for line := range strings.Lines(stderr) {
			if w, ok := strings.CutPrefix(line, "warning: "); ok {
				warnings = append(warnings, strings.TrimSuffix(w, "\n"))
			}
		}
	}
	return got, warnings
}

// flushes reads git's counter of hardware flushes, in the form of before or of
// since git 2.42.
func flushes(t *testing.T, trace string) int {
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if _, n, ok := strings.Cut(strings.TrimSpace(line), "fsync/hardware-flush:"); ok {
			return atoi(n)
		}
		if _, n, ok := strings.Cut(strings.TrimSpace(line), "name:hardware-flush value:"); ok {
			return atoi(n)
		}
	}
	return 0
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}

func TestNewPolicy(t *testing.T) {
	t.Parallel()
	set := func(values ...string) (list []Value) {
		for _, v := range values {
			list = append(list, Value{Text: v})
		}
		return list
	}
	yes, no := true, false
	for _, c := range []struct {
		name     string
		s        Settings
		want     Component
		method   Method
		safe     bool
		warnings int
	}{
		{"unset is safe", Settings{}, All, Batch, true, 0},
		{"git's default on demand", Settings{Default: "git"}, GitDefault, Fsync, false, 0},
		{"the method alone is git's", Settings{FsyncMethod: set("batch")}, GitDefault, Batch, false, 0},
		{"the last value wins", Settings{Fsync: set("all", "none")}, 0, Fsync, false, 0},
		{"values do not add up", Settings{Fsync: set("index", "reference")}, GitDefault | Reference, Fsync, false, 0},
		{"an unknown method keeps the last", Settings{FsyncMethod: set("batch", "Batch")}, GitDefault, Batch, false, 1},
		{"deprecated key", Settings{FsyncObjectFiles: &yes}, GitDefault, Fsync, false, 1},
		{"deprecated key off", Settings{FsyncObjectFiles: &no}, GitDefault, Fsync, false, 1},
	} {
		p, warnings, err := NewPolicy(c.s)
		if err != nil {
			t.Fatal(err)
		}
		if p.Components != c.want || p.Method != c.method || p.Safe != c.safe || len(warnings) != c.warnings {
			t.Errorf("%s: %s by %s, safe %v, warnings %q", c.name, p.Components, p.Method, p.Safe, warnings)
		}
	}
	p, _, _ := NewPolicy(Settings{Fsync: set("none"), FsyncObjectFiles: &yes})
	if !p.Hardens(LooseObject) || p.Hardens(Index) {
		t.Error("core.fsyncObjectFiles does not force loose objects")
	}
	for _, s := range []Settings{
		{Fsync: []Value{{Valueless: true}}}, {FsyncMethod: []Value{{Valueless: true}}},
		{Default: "x"}, {Settle: "x"}, {Barrier: "x"},
	} {
		if _, _, err := NewPolicy(s); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}

func FuzzParseComponents(f *testing.F) {
	for _, v := range values() {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		c, _ := ParseComponents(value, GitDefault)
		if c&^All != 0 {
			t.Errorf("%q gives bits without a name: %b", value, c)
		}
	})
}
