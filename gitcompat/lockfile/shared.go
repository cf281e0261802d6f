package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// SharedRepository is core.sharedRepository: the permissions that files of the
// repository get beyond the umask. Zero leaves them to the umask, a positive
// value is or-ed in, a negative one replaces them.
type SharedRepository int

// Named values.
const (
	SharedUmask     SharedRepository = 0
	SharedGroup     SharedRepository = 0o660
	SharedEverybody SharedRepository = 0o664
)

// ParseShared reads a value of core.sharedRepository.
func ParseShared(value string, valueless bool) (SharedRepository, error) {
	if valueless {
		return SharedGroup, nil
	}
	switch strings.ToLower(value) {
	case "umask", "false", "no", "off", "":
		return SharedUmask, nil
	case "group", "true", "yes", "on":
		return SharedGroup, nil
	case "all", "world", "everybody":
		return SharedEverybody, nil
	}
	n, err := strconv.ParseInt(value, 8, 32)
	if err != nil {
		return 0, fmt.Errorf("bad boolean config value '%s' for 'core.sharedrepository'", value)
	}
	switch n {
	case 0:
		return SharedUmask, nil
	case 1:
		return SharedGroup, nil
	case 2:
		return SharedEverybody, nil
	}
	if n&0o600 != 0o600 {
		return 0, fmt.Errorf("problem with core.sharedRepository filemode value (0%.3o).\nThe owner of files must always have read and write permissions.", n)
	}
	return -SharedRepository(n & 0o666), nil
}

// mode returns what mode becomes under s (path.c, calc_shared_perm).
func (s SharedRepository) mode(mode fs.FileMode) fs.FileMode {
	tweak := fs.FileMode(s)
	if s < 0 {
		tweak = fs.FileMode(-s)
	}
	perm := mode.Perm()
	if perm&0o200 == 0 {
		tweak &^= 0o222
	}
	if perm&0o100 != 0 {
		tweak |= tweak & 0o444 >> 2
	}
	if s < 0 {
		perm = perm&^0o777 | tweak
	} else {
		perm |= tweak
	}
	return mode&^fs.ModePerm | perm
}

// Adjust gives the file or directory at path the permissions that s asks for.
func (s SharedRepository) Adjust(fsys *vfs.FS, path string) error {
	if s == SharedUmask {
		return nil
	}
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	old := st.Mode()
	want := s.mode(old)
	if st.IsDir() {
		// Directories copy read bits to search bits, and keep the group.
		want |= want & 0o444 >> 2
		if want&0o060 != 0 {
			want |= fs.ModeSetgid
		}
	}
	if want == old {
		return nil
	}
	return fsys.Chmod(path, want&(fs.ModePerm|fs.ModeSetgid|fs.ModeSetuid|fs.ModeSticky))
}

// Mkdir makes the directory path with the permissions that s asks for. One that
// is there already is left alone; made says whether it was not.
func (s SharedRepository) Mkdir(fsys *vfs.FS, path string) (made bool, err error) {
	err = fsys.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, s.Adjust(fsys, path)
}

// MkdirAll makes path and the directories above it that are missing. It returns
// those in which a name was made, top first, for the Barrier to settle.
func (s SharedRepository) MkdirAll(fsys *vfs.FS, path string) (changed []string, err error) {
	made, err := s.Mkdir(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		if changed, err = s.MkdirAll(fsys, filepath.Dir(path)); err != nil {
			return changed, err
		}
		made, err = s.Mkdir(fsys, path)
	}
	if made {
		changed = append(changed, filepath.Dir(path))
	}
	return changed, err
}
