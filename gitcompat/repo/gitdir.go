package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// place is a directory as git names it, and where it is.
type place struct{ name, path string }

func (d *discovery) at(name string) place { return place{name, join(d.cwd, name)} }

// join returns name as seen from dir.
func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// commonDir returns the directory that gitdir shares with other working trees,
// and whether it is another than gitdir.
func (d *discovery) commonDir(gitdir place) (place, bool, error) {
	if env, ok := d.env("GIT_COMMON_DIR"); ok {
		return d.at(env), true, nil
	}
	data, err := os.ReadFile(gitdir.path + "/commondir")
	if err != nil {
		if _, err := os.Lstat(gitdir.path + "/commondir"); err == nil {
			return gitdir, false, fmt.Errorf("failed to read %s/commondir: %s", gitdir.name, errnoText(err))
		}
		return gitdir, false, nil
	}
	line := strings.TrimRight(string(data), "\r\n")
	if line == "" && len(data) == 0 {
		return gitdir, false, fmt.Errorf("failed to read %s/commondir: Success", gitdir.name)
	}
	real := realPath(join(gitdir.path, line))
	return place{real, real}, true, nil
}

// isGitDir reports whether dir looks like a git directory: a HEAD that can be
// one, and objects and refs.
func (d *discovery) isGitDir(dir place) (bool, error) {
	if !validHead(dir.path + "/HEAD") {
		return false, nil
	}
	common, _, err := d.commonDir(dir)
	if err != nil {
		return false, err
	}
	objects := common.path + "/objects"
	if env, ok := d.env("GIT_OBJECT_DIRECTORY"); ok {
		objects = join(d.cwd, env)
	}
	return canEnter(objects) && canEnter(common.path+"/refs"), nil
}

// validHead accepts a symbolic ref, an object name, or a symbolic link into refs/.
func validHead(path string) bool {
	data, err := config.ReadSmall(path)
	if err != nil {
		// Only now: a HEAD that is a symbolic link to a branch not born yet.
		target, err := os.Readlink(path)
		return err == nil && strings.HasPrefix(target, "refs/")
	}
	text := string(data[:min(len(data), 255)])
	if rest, ok := strings.CutPrefix(text, "ref:"); ok && strings.HasPrefix(strings.TrimLeft(rest, " \t\n\r"), "refs/") {
		return true
	}
	if isHex(text, 40) {
		return true
	}
	target, err := os.Readlink(path)
	return err == nil && strings.HasPrefix(target, "refs/")
}

func isHex(s string, n int) bool {
	if len(s) < n {
		return false
	}
	for i := 0; i < n; i++ {
		c := s[i] | 0x20
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

const maxGitfile = 1 << 20

// gitfileState is what readGitfile found.
type gitfileState uint8

const (
	gitfileOK gitfileState = iota
	gitfileMissing
	gitfileIsDir
	gitfileNotFile    // neither file nor directory
	gitfileStatFailed // and everything from here on is an error for all callers
	gitfileBad
)

// readGitfile reads a .git file and returns the real path of the git directory it names.
func (d *discovery) readGitfile(file place) (string, gitfileState, error) {
	info, err := os.Stat(file.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return "", gitfileMissing, nil
	case err != nil:
		return "", gitfileStatFailed, nil
	case info.IsDir():
		return "", gitfileIsDir, nil
	case !info.Mode().IsRegular():
		return "", gitfileNotFile, nil
	case info.Size() > maxGitfile:
		return "", gitfileBad, fmt.Errorf("too large to be a .git file: '%s'", file.name)
	}
	data, err := config.ReadSmall(file.path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return "", gitfileBad, fmt.Errorf("error opening '%s': %s", file.name, errnoText(err))
		}
		return "", gitfileBad, fmt.Errorf("error reading %s", file.name)
	}
	target, ok := strings.CutPrefix(string(data), "gitdir: ")
	if !ok {
		return "", gitfileBad, fmt.Errorf("invalid gitfile format: %s", file.name)
	}
	target = strings.TrimRight(target, "\r\n")
	if target == "" {
		return "", gitfileBad, fmt.Errorf("no path in gitfile: %s", file.name)
	}
	dir := join(filepath.Dir(file.path), target)
	ok, err = d.isGitDir(place{dir, dir})
	if err != nil {
		return "", gitfileBad, err
	}
	if !ok {
		return "", gitfileBad, fmt.Errorf("gitfile does not point to a valid repository: %s", file.name)
	}
	return realPath(dir), gitfileOK, nil
}

// realPath resolves symbolic links; the last component need not exist.
func realPath(path string) string {
	real, err := strictRealPath(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return real
}

// strictRealPath is realPath that fails where a directory on the way is missing.
func strictRealPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	path = filepath.Clean(path)
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		missing := filepath.Dir(path)
		for {
			up := filepath.Dir(missing)
			if _, serr := os.Stat(up); serr == nil || up == missing {
				break
			}
			missing = up
		}
		return "", fmt.Errorf("Invalid path '%s': %s", missing, errnoText(err))
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// shellWord quotes a path for a message that shows a command.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+,-./:=@_^", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return config.Quote(s)
}
