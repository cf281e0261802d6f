package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// IsRepositoryDir reports whether git, the path of a ".git", is a repository
// or a file that leads to one.
func IsRepositoryDir(git string) bool {
	fi, err := os.Stat(git)
	if err != nil {
		return false
	}
	if fi.IsDir() {
		return isGitDir(git)
	}
	dir, err := gitFile(git)
	if err != nil {
		// A file that can't be read may be one: better not to look inside.
		return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EIO)
	}
	return isGitDir(dir)
}

var errNotGitFile = errors.New("invalid gitfile format")

// gitFile returns the directory that a gitfile leads to, absolute.
func gitFile(path string) (string, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() || fi.Size() > 1<<20 {
		return "", errNotGitFile
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(string(data), "gitdir: ")
	if dir = strings.TrimRight(dir, "\r\n"); !ok || dir == "" {
		return "", errNotGitFile
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(path), dir)
	}
	return dir, nil
}

// isGitDir reports whether dir has what each repository has: a HEAD that
// could be one, objects, and refs.
func isGitDir(dir string) bool {
	if !validHead(dir + "/HEAD") {
		return false
	}
	common := commonDir(dir)
	return isDir(common+"/objects") && isDir(common+"/refs")
}

// commonDir is what the git directory dir shares with its other working trees.
func commonDir(dir string) string {
	data, err := os.ReadFile(dir + "/commondir")
	if err != nil {
		return dir
	}
	common := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return common
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func validHead(path string) bool {
	if target, err := os.Readlink(path); err == nil {
		return strings.HasPrefix(target, "refs/")
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var buf [256]byte
	n, _ := f.Read(buf[:])
	head := string(buf[:n])
	if ref, ok := strings.CutPrefix(head, "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(ref, " \t\n\r"), "refs/")
	}
	return len(head) >= 40 && strings.Trim(head[:40], "0123456789abcdefABCDEF") == ""
}
