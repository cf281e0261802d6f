package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sluicegit/sluice"

// layers are the packages, the lowest first. A package may import what stands
// on a lower line, and nothing else of this module.
var layers = [][]string{
	{"syncpolicy/vfs"},
	{"syncpolicy", "syncpolicy/vfs/crash"},
	{"gitcompat/oid", "gitcompat/refname", "gitcompat/ident", "gitcompat/wire", "gitcompat/lockfile", "gitcompat/trace2"},
	{"gitcompat/object"},
	{"gitcompat/config", "gitcompat/pack", "gitcompat/refs", "gitcompat/index"},
	{"gitcompat/odb"},
	{"gitcompat/repo"},
	{"gitcompat/hook", "gitcompat/revision", "gitcompat/worktree"},
	{"gitcompat/diff", "gitcompat/receive"},
	{"gitcompat/send", "gitcompat/transport"},
	{"gitcompat", "cmd/internal/parseopt", "syncpolicy/tune"},
	{"cmd/internal/builtin", "gitcompat/gogit"},
	{"cmd/internal/cli"},
	{"cmd/sluice"},
}

// foreign says who may import which module.
var foreign = map[string][]string{
	"golang.org/x/sys":           {"syncpolicy/vfs"},
	"github.com/spf13/cobra":     {"cmd/internal/cli"},
	"github.com/klauspost":       {"gitcompat/pack", "gitcompat/odb"},
	"github.com/pjbgf/sha1cd":    {"gitcompat/oid"},
	"github.com/sergi/go-diff":   {"gitcompat/diff"},
	"golang.org/x/text":          {"gitcompat/worktree"},
	"github.com/go-git/go-git":   {"gitcompat/gogit"},
	"github.com/go-git/go-billy": {"gitcompat/gogit"},
}

// standardOnly are the packages that import the standard library alone.
var standardOnly = []string{"cmd/internal/parseopt", "gitcompat/refname"}

// notAtStartUp are packages that the program must not link: each costs every
// command time before main. (cobra links a few more; that is measured.)
var notAtStartUp = []string{"net/http", "crypto/tls", "crypto/x509", "html/template"}

type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Dir        string
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Standard,Imports,Dir"}, args...)...)
	cmd.Dir = root(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestImports(t *testing.T) {
	t.Parallel()
	rank := map[string]int{}
	for i, line := range layers {
		for _, name := range line {
			rank[name] = i
		}
	}
	for _, p := range list(t, "./...") {
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if strings.HasPrefix(from, "t/") || from == "t" {
			continue // tests' own programs know only the binary
		}
		at, ok := rank[from]
		if !ok {
			t.Errorf("%s is not in the table of layers", from)
			continue
		}
		for _, imp := range p.Imports {
			if to, ours := strings.CutPrefix(imp, module+"/"); ours {
				if r, ok := rank[to]; !ok || r >= at {
					t.Errorf("%s imports %s, which is not below it", from, to)
				}
				if slices.Contains(standardOnly, from) {
					t.Errorf("%s imports %s; it may import the standard library only", from, to)
				}
				continue
			}
			checkForeign(t, from, imp)
		}
	}
}

func checkForeign(t *testing.T, from, imp string) {
	t.Helper()
	if host, _, _ := strings.Cut(imp, "/"); !strings.Contains(host, ".") {
		return // the standard library
	}
	for prefix, who := range foreign {
		if imp == prefix || strings.HasPrefix(imp, prefix+"/") {
			if !slices.Contains(who, from) {
				t.Errorf("%s imports %s; only %s may", from, imp, strings.Join(who, ", "))
			}
			return
		}
	}
	t.Errorf("%s imports %s, which is not in the table", from, imp)
}

func TestStartUpImports(t *testing.T) {
	t.Parallel()
	for _, p := range list(t, "-deps", "./cmd/sluice") {
		if slices.Contains(notAtStartUp, p.ImportPath) || strings.Contains(p.ImportPath, "go-git") {
			t.Errorf("the program links %s", p.ImportPath)
		}
	}
}

// writers are the functions of os, syscall and unix that change files.
var writers = []string{
	"Chmod", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "Fchmod", "Fdatasync", "Fsync", "Ftruncate", "Lchown",
	"Link", "Linkat", "Mkdir", "MkdirAll", "MkdirTemp", "Mkfifo", "Mknod", "OpenFile", "Remove", "RemoveAll", "Rename",
	"Renameat", "Rmdir", "Symlink", "Sync", "SyncFileRange", "Syncfs", "Truncate", "Unlink", "Unlinkat", "Utimes",
	"UtimesNano", "WriteFile",
}

// TestForbiddenNames reads the program's sources: what writes goes through
// vfs, only main exits, a panic says that it is a bug.
func TestForbiddenNames(t *testing.T) {
	t.Parallel()
	eachSource(t, func(rel string, fset *token.FileSet, file *ast.File) {
		dir := filepath.ToSlash(filepath.Dir(rel))
		mayWrite := dir == "syncpolicy/vfs" || dir == "syncpolicy/vfs/crash"
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			at := func() string { return rel + ":" + strconv.Itoa(fset.Position(call.Pos()).Line) }
			switch fn := call.Fun.(type) {
			case *ast.Ident:
				if fn.Name == "panic" && !saysBug(call.Args[0]) {
					t.Errorf("%s: panic without \"BUG: \"", at())
				}
			case *ast.SelectorExpr:
				pkg, ok := fn.X.(*ast.Ident)
				if !ok {
					return true
				}
				switch {
				case (pkg.Name == "os" || pkg.Name == "syscall" || pkg.Name == "unix") && !mayWrite && slices.Contains(writers, fn.Sel.Name) && !onlyReads(fn.Sel.Name, call.Args):
					t.Errorf("%s: %s.%s outside syncpolicy/vfs", at(), pkg.Name, fn.Sel.Name)
				case pkg.Name == "os" && fn.Sel.Name == "Exit" && dir != "cmd/sluice":
					t.Errorf("%s: os.Exit outside cmd/sluice", at())
				case pkg.Name == "log" && (strings.HasPrefix(fn.Sel.Name, "Fatal") || strings.HasPrefix(fn.Sel.Name, "Panic")):
					t.Errorf("%s: log.%s", at(), fn.Sel.Name)
				}
			}
			return true
		})
	})
}

// onlyReads tells whether this is an OpenFile that says O_RDONLY.
func onlyReads(name string, args []ast.Expr) bool {
	if name != "OpenFile" || len(args) < 2 {
		return false
	}
	reads, writes := false, false
	ast.Inspect(args[1], func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			reads = reads || s.Sel.Name == "O_RDONLY"
			writes = writes || slices.Contains([]string{"O_WRONLY", "O_RDWR", "O_CREATE", "O_CREAT", "O_APPEND", "O_TRUNC"}, s.Sel.Name)
		}
		return true
	})
	return reads && !writes
}

// saysBug tells whether the leftmost string of e begins with "BUG: ".
func saysBug(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return err == nil && strings.HasPrefix(s, "BUG: ")
	case *ast.BinaryExpr:
		return saysBug(e.X)
	case *ast.CallExpr:
		return len(e.Args) > 0 && saysBug(e.Args[0])
	}
	return false
}

func TestPackageDocs(t *testing.T) {
	t.Parallel()
	docs := map[string][]string{}
	eachSource(t, func(rel string, _ *token.FileSet, file *ast.File) {
		dir := filepath.ToSlash(filepath.Dir(rel))
		docs[dir] = append(docs[dir], "")
		if file.Doc != nil {
			docs[dir][len(docs[dir])-1] = rel
		}
	})
	for dir, files := range docs {
		with := slices.DeleteFunc(files, func(s string) bool { return s == "" })
		if len(with) != 1 {
			t.Errorf("%s has %d package comments: %s", dir, len(with), strings.Join(with, ", "))
		}
	}
}

// TestFileLength keeps files readable, tests too.
func TestFileLength(t *testing.T) {
	t.Parallel()
	eachFile(t, func(rel string, fset *token.FileSet, file *ast.File) {
		if n := fset.File(file.Pos()).LineCount(); n > 800 {
			t.Errorf("%s has %d lines; split it", rel, n)
		}
	})
}

// eachSource calls f for every source file of the program.
func eachSource(t *testing.T, f func(rel string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	eachFile(t, func(rel string, fset *token.FileSet, file *ast.File) {
		if !strings.HasSuffix(rel, "_test.go") {
			f(rel, fset, file)
		}
	})
}

func eachFile(t *testing.T, f func(rel string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	base := root(t)
	for _, top := range []string{"cmd", "gitcompat", "syncpolicy"} {
		err := filepath.WalkDir(filepath.Join(base, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") {
				return nil
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(base, path)
			if err != nil {
				return err
			}
			f(rel, fset, file)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
