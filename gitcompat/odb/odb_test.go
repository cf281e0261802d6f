package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zlib"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// git runs stock git in dir, away from the user's settings.
func git(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	bin, err := exec.LookPath("git")
	if err != nil {
		t.Fatalf("these tests ask stock git: %v", err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1112911993 -0700",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1112911993 -0700")
	cmd.Stdin = strings.NewReader(stdin)
	var errb strings.Builder
	cmd.Stderr = &errb
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errb.String())
	}
	return string(out)
}

// newRepo makes a repository with stock git and returns its object folder.
func newRepo(t testing.TB) (dir, objects string) {
	dir = t.TempDir()
	git(t, dir, "", "init", "-q", ".")
	return dir, filepath.Join(dir, ".git", "objects")
}

func openDB(t testing.TB, objects string, o Options) *DB {
	t.Helper()
	db, err := Open(vfs.OS(), objects, oid.SHA1, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func policy(t testing.TB, fsync, method, barrier string) *syncpolicy.Policy {
	t.Helper()
	p, _, err := syncpolicy.NewPolicy(syncpolicy.Settings{
		Fsync: []syncpolicy.Value{{Text: fsync}}, FsyncMethod: []syncpolicy.Value{{Text: method}}, Barrier: barrier})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newBarrier(t testing.TB, db *DB) *syncpolicy.Barrier {
	b := syncpolicy.NewBarrier(db.fsys, policy(t, "none", "fsync", "auto"), db.Dir())
	t.Cleanup(b.Rollback)
	return b
}

func mustHex(t testing.TB, s string) oid.ID {
	t.Helper()
	id, err := oid.SHA1.FromHex(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// history makes some commits whose objects deltify well.
func history(t testing.TB, dir string) {
	for i := range 6 {
		var b strings.Builder
		for n := range 400 {
			fmt.Fprintf(&b, "line %d of the file, version %d\n", n, i*(n%7/6))
		}
		os.WriteFile(filepath.Join(dir, "file"), []byte(b.String()), 0o644)
		os.MkdirAll(filepath.Join(dir, "d"), 0o755)
		os.WriteFile(filepath.Join(dir, "d", fmt.Sprint("f", i)), []byte{byte(i)}, 0o644)
		git(t, dir, "", "add", ".")
		git(t, dir, "", "commit", "-q", "-m", fmt.Sprint("commit ", i))
	}
	git(t, dir, "", "tag", "-a", "-m", "tagged", "v1")
}

// sameAsGit compares every object with what stock git says.
func sameAsGit(t *testing.T, dir string, db *DB) {
	t.Helper()
	list := git(t, dir, "", "cat-file", "--batch-check", "--batch-all-objects")
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		id := mustHex(t, f[0])
		typ, data, err := db.Read(id)
		if err != nil || typ.String() != f[1] || fmt.Sprint(len(data)) != f[2] || db.Hash(typ, data) != id {
			t.Errorf("Read(%s) = %s, %d bytes, %v", line, typ, len(data), err)
		}
		if typ, size, err := db.Info(id); err != nil || typ.String() != f[1] || fmt.Sprint(size) != f[2] {
			t.Errorf("Info(%s) = %s, %d, %v", line, typ, size, err)
		}
		styp, size, r, err := db.Reader(id)
		if err != nil {
			t.Errorf("Reader(%s): %v", line, err)
			continue
		}
		stream, err := io.ReadAll(r)
		r.Close()
		if err != nil || styp != typ || size != int64(len(data)) || !bytes.Equal(stream, data) {
			t.Errorf("Reader(%s) yields something else: %v", line, err)
		}
		if !db.Has(id) {
			t.Errorf("Has(%s) is false", id)
		}
		if short := strings.TrimSpace(git(t, dir, "", "rev-parse", "--short=4", f[0])); db.UniqueAbbrev(id, 4) != short {
			t.Errorf("UniqueAbbrev(%s, 4) = %s, git says %s", id, db.UniqueAbbrev(id, 4), short)
		}
		if ids, err := db.Abbrev(f[0][:7]); err != nil || len(ids) != 1 || ids[0] != id {
			t.Errorf("Abbrev(%s) = %v, %v", f[0][:7], ids, err)
		}
	}
}

func TestReadAsGit(t *testing.T) {
	t.Parallel()
	dir, objects := newRepo(t)
	history(t, dir)
	db := openDB(t, objects, Options{})
	sameAsGit(t, dir, db)
	git(t, dir, "", "repack", "-q", "-a", "-d")
	git(t, dir, "", "prune-packed")
	sameAsGit(t, dir, db) // the packs appeared after it was opened
	sameAsGit(t, dir, openDB(t, objects, Options{}))

	head := mustHex(t, git(t, dir, "", "rev-parse", "v1"))
	tree := mustHex(t, git(t, dir, "", "rev-parse", "v1^{tree}"))
	if got, err := db.Peel(head, object.Tree); err != nil || got != tree {
		t.Errorf("Peel = %s, %v", got, err)
	}
	if entries, err := db.ReadTree(head); err != nil || len(entries) != 2 || entries[0].Name != "d" {
		t.Errorf("ReadTree = %v, %v", entries, err)
	}
	if _, err := db.ReadCommit(tree); err == nil || err.Error() != fmt.Sprintf("object %s is a tree, not a commit", tree) {
		t.Errorf("ReadCommit of a tree: %v", err)
	}
	if typ, data, err := db.Read(oid.SHA1.EmptyTree()); err != nil || typ != object.Tree || len(data) != 0 {
		t.Errorf("the empty tree: %v, %v", typ, err)
	}
	if db.Has(mustHex(t, strings.Repeat("1", 40))) {
		t.Error("Has something that is not there")
	}
}

func TestAlternates(t *testing.T) {
	t.Parallel()
	dir, objects := newRepo(t)
	history(t, dir)
	head := mustHex(t, git(t, dir, "", "rev-parse", "HEAD"))
	var said []string
	report := func(err error) { said = append(said, err.Error()) }

	last := objects
	for i := range 8 { // a chain of alternates
		_, next := newRepo(t)
		text := "# comment\n" + last + "\n" + last + "\n\"" + last + "\"\n/nosuchdir\n"
		if i == 0 {
			rel, _ := filepath.Rel(realpath(next), realpath(last))
			text = rel + "\n"
		}
		os.WriteFile(filepath.Join(next, "info", "alternates"), []byte(text), 0o644)
		last = next
		said = nil
		db := openDB(t, next, Options{Report: report})
		if got := db.Has(head); got != (i < 6) {
			t.Errorf("depth %d: found = %v, %q", i, got, said)
		}
	}
	if all := strings.Join(said, "\n"); !strings.Contains(all, ": ignoring alternate object stores, nesting too deep") ||
		!strings.Contains(all, "object directory /nosuchdir does not exist; check .git/objects/info/alternates") {
		t.Errorf("said %q", said)
	}
	_, empty := newRepo(t)
	db := openDB(t, empty, Options{Alternates: SplitAlternates("/no/such:" + QuoteAlternate(objects) + "::")})
	if !db.Has(head) || db.HasLocal(head) {
		t.Error("an alternate of the environment")
	}
	odd := `a:b"\` + "\x01\xff"
	if got := SplitAlternates(QuoteAlternate(odd) + ":x"); len(got) != 2 || got[0] != odd || got[1] != "x" {
		t.Errorf("SplitAlternates(QuoteAlternate) = %q", got)
	}
}

func deflate(data string) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	io.WriteString(z, data)
	z.Close()
	return b.Bytes()
}

func TestDamagedLoose(t *testing.T) {
	t.Parallel()
	_, objects := newRepo(t)
	id := oid.SHA1.Sum("blob", []byte("hello\n"))
	s := &store{dir: objects}
	path := s.loosePath(id)
	os.MkdirAll(filepath.Dir(path), 0o755)
	good := deflate("blob 6\x00hello\n")
	for _, c := range []struct {
		file []byte
		want string // "" is good
	}{
		{good, ""},
		{nil, "object file " + path + " is empty"},
		{good[:len(good)-1], "corrupt loose object '" + id.String() + "'"},
		{good[:1], "unable to unpack " + id.String() + " header"},
		{append(bytes.Clone(good), 'x'), "garbage at end of loose object '" + id.String() + "'"},
		{[]byte("garbage garbage garbage"), "unable to unpack " + id.String() + " header"},
		{make([]byte, 300), "unable to unpack " + id.String() + " header"},
		{deflate("blob 6\x00hello"), "corrupt loose object '" + id.String() + "'"},
		{deflate("blob 6\x00hello\n."), "corrupt loose object '" + id.String() + "'"},
		{deflate("blob 06\x00hello\n"), "unable to parse " + id.String() + " header"},
		{deflate("blog 6\x00hello\n"), "invalid object type"},
		{deflate("blob 6"), "unable to unpack " + id.String() + " header"},
		{deflate("blob 4611686018427387904\x00hello\n"), "corrupt loose object '" + id.String() + "'"},
		{deflate(strings.Repeat("x", 50)), "header for " + id.String() + " too long, exceeds 32 bytes"},
	} {
		os.Remove(path)
		os.WriteFile(path, c.file, 0o644)
		db := openDB(t, objects, Options{})
		_, data, err := db.Read(id)
		if c.want == "" {
			if err != nil || string(data) != "hello\n" {
				t.Errorf("%q: %q, %v", c.file, data, err)
			}
			continue
		}
		if errors.Is(err, object.ErrHeaderType) && c.want == err.Error() {
			continue // git dies of it
		}
		corrupt, ok := errors.AsType[*CorruptError](err)
		if !ok || corrupt.Err.Error() != c.want || err.Error() != fmt.Sprintf("loose object %s (stored in %s) is corrupt", id, path) {
			t.Errorf("%q: %v: %v", c.file, err, errors.Unwrap(err))
		}
		if _, _, r, err := db.Reader(id); err == nil {
			if _, err := io.ReadAll(r); err == nil {
				t.Errorf("%q: the stream shows nothing", c.file)
			}
			r.Close()
		}
		// Writing the object again mends it.
		b := newBarrier(t, db)
		if got, err := db.Begin(b).Write(object.Blob, []byte("hello\n")); err != nil || got != id {
			t.Errorf("Write: %v", err)
		}
		if err := b.Commit(); err != nil {
			t.Error(err)
		}
		if _, data, err := db.Read(id); err != nil || string(data) != "hello\n" {
			t.Errorf("%q is not mended: %v", c.file, err)
		}
	}
}

func TestDamageHidesNoGoodCopy(t *testing.T) {
	t.Parallel()
	dir, objects := newRepo(t)
	history(t, dir)
	git(t, dir, "", "repack", "-q", "-a")
	id := mustHex(t, git(t, dir, "", "rev-parse", "HEAD:file"))
	packs, _ := filepath.Glob(filepath.Join(objects, "pack", "*.pack"))
	data, _ := os.ReadFile(packs[0])
	for i := 12; i < len(data)-20; i++ {
		data[i] = 0
	}
	os.Chmod(packs[0], 0o644)
	os.WriteFile(packs[0], data, 0o644)
	said := 0
	db := openDB(t, objects, Options{Report: func(error) { said++ }})
	typ, content, err := db.Read(id)
	if err != nil || typ != object.Blob || db.Hash(typ, content) != id || said == 0 {
		t.Errorf("Read: %v, %v, %d reports", typ, err, said)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir, objects := newRepo(t)
	db := openDB(t, objects, Options{})
	b := newBarrier(t, db)
	tx := db.Begin(b)
	if entries, _ := os.ReadDir(objects); len(entries) != 2 {
		t.Error("a transaction without objects has a folder")
	}
	var ids []oid.ID
	for i := range 300 {
		id, err := tx.Write(object.Blob, []byte(fmt.Sprint("content ", i%290)))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		if _, data, err := db.Read(id); err != nil || string(data) != fmt.Sprint("content ", i%290) {
			t.Fatalf("not visible: %v", err)
		}
	}
	big := strings.Repeat("0123456789abcdef", 200000)
	sid, err := tx.WriteStream(object.Blob, int64(len(big)), strings.NewReader(big))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := tx.WriteStream(object.Blob, int64(len(big)), strings.NewReader(big)); err != nil || again != sid {
		t.Fatalf("the same stream again: %v", err)
	}
	for _, size := range []int64{int64(len(big)) - 1, int64(len(big)) + 1} {
		if _, err := tx.WriteStream(object.Blob, size, strings.NewReader(big)); err == nil || !strings.Contains(err.Error(), "bytes of blob data, but expected") {
			t.Errorf("a stream of another length: %v", err)
		}
	}
	if out := git(t, dir, ids[0].String()+"\n", "cat-file", "--batch-check"); !strings.Contains(out, "missing") {
		t.Error("published before the barrier is committed")
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, id := range append(ids, sid) {
		if typ := git(t, dir, "", "cat-file", "-t", id.String()); typ != "blob\n" {
			t.Errorf("%s: %s", id, typ)
		}
	}
	git(t, dir, "", "fsck", "--full", "--strict")
	noLeftovers(t, objects)
	st, err := os.Stat(db.own.loosePath(ids[0]))
	if err != nil || st.Mode().Perm()&^0o444 != 0 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	raw, _ := os.ReadFile(db.own.loosePath(ids[0]))
	if raw[0] != 0x78 || raw[1] != 0x01 {
		t.Errorf("header % x", raw[:2])
	}
}

func noLeftovers(t testing.TB, objects string) {
	t.Helper()
	filepath.WalkDir(objects, func(path string, d os.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), "tmp") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

func TestRollback(t *testing.T) {
	t.Parallel()
	_, objects := newRepo(t)
	db := openDB(t, objects, Options{})
	b := newBarrier(t, db)
	id, err := db.Begin(b).Write(object.Blob, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	b.Rollback()
	noLeftovers(t, objects)
	if db.Has(id) {
		t.Error("the object survived")
	}
}

func TestFlushAndGoOn(t *testing.T) {
	t.Parallel()
	dir, objects := newRepo(t)
	db := openDB(t, objects, Options{})
	b := newBarrier(t, db)
	tx := db.Begin(b)
	for i := range 1000 {
		id, err := tx.Write(object.Blob, []byte(fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		if i%400 == 399 {
			if err := b.Flush(syncpolicy.Packs); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "", "cat-file", "-e", id.String())
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(git(t, dir, "", "cat-file", "--batch-check", "--batch-all-objects"), "\n"); n != 1000 {
		t.Errorf("%d objects", n)
	}
	noLeftovers(t, objects)
}

func TestBigBlobs(t *testing.T) {
	t.Parallel()
	dir, objects := newRepo(t)
	db := openDB(t, objects, Options{BigFileThreshold: 1000})
	there := strings.TrimSpace(git(t, dir, strings.Repeat("there", 999), "hash-object", "-w", "--stdin"))
	b := newBarrier(t, db)
	tx := db.Begin(b)
	add := func(text string) oid.ID {
		t.Helper()
		id, err := tx.WriteStream(object.Blob, int64(len(text)), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if typ, data, err := db.Read(id); err != nil || typ != object.Blob || string(data) != text {
			t.Fatalf("not visible: %v", err)
		}
		return id
	}
	if _, err := tx.WriteStream(object.Blob, 2001, strings.NewReader(strings.Repeat("y", 2000))); err == nil {
		t.Error("a short stream")
	}
	if _, err := tx.WriteStream(object.Blob, 1999, strings.NewReader(strings.Repeat("y", 2000))); err == nil {
		t.Error("a long stream")
	}
	first := add(strings.Repeat("one", 1000))
	add(strings.Repeat("there", 999))
	second := add(strings.Repeat("two!", 100000))
	if again := add(strings.Repeat("one", 1000)); again != first {
		t.Error("another name")
	}
	small := add("small")
	if _, size, err := db.Info(second); err != nil || size != 400000 {
		t.Errorf("Info: %d, %v", size, err)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	packs, _ := filepath.Glob(filepath.Join(objects, "pack", "*"))
	if len(packs) != 2 || exists(db.own.loosePath(small)) != nil || exists(db.own.loosePath(first)) == nil {
		t.Errorf("packs: %v", packs)
	}
	list := git(t, dir, "", "verify-pack", "-v", strings.TrimSuffix(packs[0], filepath.Ext(packs[0]))+".idx")
	if !strings.Contains(list, first.String()) || !strings.Contains(list, second.String()) || strings.Contains(list, there) {
		t.Errorf("pack holds %s", list)
	}
	git(t, dir, "", "fsck", "--full", "--strict")
	noLeftovers(t, objects)
	// pack.packSizeLimit counts what is not yet deflated.
	db.opts.PackSizeLimit = 5000
	b = newBarrier(t, db)
	tx = db.Begin(b)
	for i := range 4 {
		add(fmt.Sprint(i) + strings.Repeat("limit", 500))
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if more, _ := filepath.Glob(filepath.Join(objects, "pack", "*.idx")); len(more) != 2 {
		t.Errorf("packs: %v", more)
	}
	git(t, dir, "", "fsck", "--full", "--strict")
	for _, p := range packsAfter(objects, packs) {
		os.Remove(p)
	}
	db = openDB(t, objects, Options{BigFileThreshold: 1000})
	// Nothing new: no pack.
	b = newBarrier(t, db)
	tx = db.Begin(b)
	add(strings.Repeat("one", 1000))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if again, _ := filepath.Glob(filepath.Join(objects, "pack", "*")); len(again) != 2 {
		t.Errorf("packs: %v", again)
	}
	noLeftovers(t, objects)
}

// packsAfter lists the files of packs that are not in before.
func packsAfter(objects string, before []string) (more []string) {
	all, _ := filepath.Glob(filepath.Join(objects, "pack", "*"))
	for _, p := range all {
		if !slices.Contains(before, p) {
			more = append(more, p)
		}
	}
	return more
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	src, _ := newRepo(t)
	history(t, src)
	packData := git(t, src, "HEAD\n", "pack-objects", "--revs", "--stdout", "-q")
	dir, objects := newRepo(t)
	db := openDB(t, objects, Options{})
	b := newBarrier(t, db)
	tx := db.BeginFor(b, "incoming")
	env, err := tx.Environ("/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(env[1], "GIT_ALTERNATE_OBJECT_DIRECTORIES=/elsewhere:"+objects) {
		t.Errorf("environment %q", env)
	}
	for _, args := range [][]string{{"index-pack", "--stdin", "--keep=x"}, {"unpack-objects", "-q"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, append(os.Environ(), env...), strings.NewReader(packData)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", args, out)
		}
	}
	mine, err := tx.Write(object.Blob, []byte("mine"))
	if err != nil {
		t.Fatal(err)
	}
	head := mustHex(t, git(t, src, "", "rev-parse", "HEAD"))
	if !db.Has(head) || !db.Has(mine) {
		t.Error("not visible in the quarantine")
	}
	for range 2 {
		if err := tx.Adopt(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "", "update-ref", "refs/heads/x", head.String())
	git(t, dir, "", "fsck", "--full", "--strict")
	git(t, dir, "", "cat-file", "-e", mine.String())
	if keep, _ := filepath.Glob(objects + "/pack/*.keep"); len(keep) != 1 {
		t.Errorf("keep files: %v", keep)
	}
	if !db.Has(head) {
		t.Error("not visible afterwards")
	}
	noLeftovers(t, objects)
}

func TestFreshen(t *testing.T) {
	t.Parallel()
	dir, objects := newRepo(t)
	loose := mustHex(t, git(t, dir, "loose", "hash-object", "-w", "--stdin"))
	packed := mustHex(t, git(t, dir, "packed", "hash-object", "-w", "--stdin"))
	db := openDB(t, objects, Options{})
	name := strings.TrimSpace(git(t, dir, packed.String()+"\n", "pack-objects", "-q", ".git/objects/pack/pack"))
	os.Remove(db.own.loosePath(packed))
	old := time.Now().Add(-time.Hour)
	paths := map[string]string{"loose": db.own.loosePath(loose), "packed": filepath.Join(objects, "pack", "pack-"+name+".pack")}
	for _, p := range paths {
		if err := os.Chtimes(p, old, old); err != nil {
			t.Fatal(err)
		}
	}
	b := newBarrier(t, db)
	tx := db.Begin(b)
	for content, p := range paths {
		if _, err := tx.Write(object.Blob, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if st, _ := os.Stat(p); time.Since(st.ModTime()) > time.Minute {
			t.Errorf("%s is not freshened", content)
		}
	}
	if exists(db.own.loosePath(packed)) == nil {
		t.Error("written though it is packed")
	}
	if b.Commit() != nil || tx.store != nil {
		t.Error("a folder was made for nothing")
	}
}

func TestSweep(t *testing.T) {
	t.Parallel()
	_, objects := newRepo(t)
	old := time.Now().Add(-15 * 24 * time.Hour)
	for _, name := range []string{"tmp_obj_old", "tmp_obj_new", "tmp_objdir-x-old/aa/f", "pack/tmp_pack_old", "keepme"} {
		path := filepath.Join(objects, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		os.WriteFile(path, nil, 0o644)
		if !strings.HasSuffix(name, "new") {
			os.Chtimes(path, old, old)
			os.Chtimes(filepath.Join(objects, "tmp_objdir-x-old"), old, old)
		}
	}
	for _, expire := range []time.Duration{-1, 0} {
		db := openDB(t, objects, Options{PruneExpire: expire})
		b := newBarrier(t, db)
		db.Begin(b).Write(object.Blob, []byte(fmt.Sprint("x", expire)))
		b.Commit()
		for name, stays := range map[string]bool{"tmp_obj_old": false, "tmp_obj_new": true, "tmp_objdir-x-old": false, "pack/tmp_pack_old": false, "keepme": true} {
			if got := exists(filepath.Join(objects, name)) == nil; got != (stays || expire < 0) {
				t.Errorf("expire %v: %s there = %v", expire, name, got)
			}
		}
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	seen := make([]bool, 1000)
	if err := Each(len(seen), func(i int) error { seen[i] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	for i, s := range seen {
		if !s {
			t.Fatalf("%d not called", i)
		}
	}
	for range 20 {
		err := Each(1000, func(i int) error {
			if i%7 == 5 {
				return fmt.Errorf("%d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "5" {
			t.Errorf("first error: %v", err)
		}
	}
}

func FuzzLoose(f *testing.F) {
	f.Add(deflate("blob 6\x00hello\n"))
	f.Add(deflate("tree 0\x00"))
	f.Add([]byte{0x78, 0x01, 0})
	f.Add([]byte{})
	_, objects := newRepo(f)
	id := oid.SHA1.Sum("blob", []byte("hello\n"))
	s := &store{dir: objects}
	path := s.loosePath(id)
	os.MkdirAll(filepath.Dir(path), 0o755)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := fmt.Sprintf("%s-%d", path, os.Getpid())
		os.WriteFile(path, data, 0o644)
		typ, content, err := readLoose(path, id)
		_, size, serr := infoLoose(path, id)
		if err == nil && (serr != nil || size != int64(len(content)) || !intact(path, id, typ, content) || !decodes(path, id)) {
			t.Errorf("ways to read it disagree: %v, %v", err, serr)
		}
		if err != nil && decodes(path, id) {
			t.Errorf("decodes, but not with Read: %v", err)
		}
	})
}
