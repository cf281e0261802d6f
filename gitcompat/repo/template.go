package repo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/syncpolicy"
)

// builtinTemplates are what a new repository gets where nobody names a folder
// of templates.
var builtinTemplates = [...]struct{ name, content string }{
	{"description", "Unnamed repository; put its name here for programs that show one.\n"},
	{"info/exclude", "# Patterns of files to be ignored in this clone alone; see gitignore(5).\n"},
}

// templates copies what a new repository begins with; what is there stays.
func (n *initializer) templates() error {
	dir, ok, err := n.templateDir()
	if err != nil {
		return err
	}
	if !ok {
		return n.builtin()
	}
	if dir == "" {
		return nil
	}
	shown := strings.TrimSuffix(dir, "/")
	list, err := os.ReadDir(dir)
	if err != nil {
		n.o.Warn("warning: templates not found in " + dir)
		return nil
	}
	file, err := config.ReadFileAs(dir+"/config", dir+"/config", config.ScopeUnknown)
	if err != nil {
		return err
	}
	format, err := readFormat(file)
	if err != nil {
		return err
	}
	if format.Version >= 0 {
		if err := format.verify(); err != nil {
			n.o.Warn("warning: not copying templates from '" + dir + "': " + err.Error())
			return nil
		}
	}
	if err := n.copyTemplates(shown, n.common, list); err != nil {
		return err
	}
	// The templates may have brought a configuration file.
	return n.loadConfig()
}

// templateDir returns the folder of templates; ok is false if nobody named one.
func (n *initializer) templateDir() (string, bool, error) {
	if n.o.Template != nil {
		return *n.o.Template, true, nil
	}
	if env, ok := n.d.env("GIT_TEMPLATE_DIR"); ok {
		if env != "" {
			env = join(n.o.Dir, env)
		}
		return env, true, nil
	}
	c, err := n.d.protected()
	if err != nil {
		return "", false, err
	}
	path, ok, err := c.Path("init.templatedir")
	if ok && path != "" {
		path = join(n.o.Dir, path)
	}
	return path, ok, err
}

func (n *initializer) builtin() error {
	if err := n.directories(n.common, "hooks", "info"); err != nil {
		return err
	}
	for _, t := range builtinTemplates {
		path := filepath.Join(n.common, t.name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := n.stageNew(path, strings.NewReader(t.content), 0o666, syncpolicy.Objects); err != nil {
			return fmt.Errorf("cannot write '%s': %s", path, errnoText(err))
		}
	}
	return nil
}

// stageNew writes a file that is published at the end.
func (n *initializer) stageNew(path string, from io.Reader, perm fs.FileMode, ph syncpolicy.Phase) error {
	f, err := n.fsys.CreateTemp(filepath.Dir(path), ".tmp-", perm)
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, from); err == nil {
		err = n.locker.Shared.Adjust(n.fsys, f.Name())
	}
	if err != nil {
		f.Close()
		n.fsys.Remove(f.Name())
		n.fsys.Keep(f.Name())
		return err
	}
	return n.barrier.Stage(ph, syncpolicy.Config, f, path)
}

func (n *initializer) copyTemplates(from, to string, list []fs.DirEntry) error {
	if err := n.directories(to, ""); err != nil {
		return err
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		src, dst := from+"/"+e.Name(), to+"/"+e.Name()
		_, err := os.Lstat(dst)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot stat '%s': %s", dst, errnoText(err))
		}
		exists := err == nil
		info, err := os.Lstat(src)
		if err != nil {
			return fmt.Errorf("cannot stat template '%s': %s", src, errnoText(err))
		}
		switch {
		case info.IsDir():
			sub, err := os.ReadDir(src)
			if err != nil {
				return fmt.Errorf("cannot opendir '%s': %s", src, errnoText(err))
			}
			if err := n.copyTemplates(src, dst, sub); err != nil {
				return err
			}
		case exists:
		case info.Mode()&fs.ModeSymlink != 0:
			if err := n.copyLink(src, dst); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			if err := n.copyTemplate(src, dst, info.Mode()); err != nil {
				return err
			}
		default:
			n.o.Warn("error: ignoring template " + src)
		}
	}
	return nil
}

func (n *initializer) copyLink(src, dst string) error {
	target, err := os.Readlink(src)
	if err != nil {
		return fmt.Errorf("cannot readlink '%s': %s", src, errnoText(err))
	}
	if err := n.fsys.Symlink(target, dst); err != nil {
		return fmt.Errorf("cannot symlink '%s' '%s': %s", target, dst, errnoText(err))
	}
	n.settle(syncpolicy.Objects, filepath.Dir(dst))
	return nil
}

func (n *initializer) copyTemplate(src, dst string, mode fs.FileMode) error {
	perm := fs.FileMode(0o666)
	if mode&0o111 != 0 {
		perm = 0o777
	}
	in, err := os.Open(src)
	if err == nil {
		defer in.Close()
		if filepath.Base(dst) == "config" || filepath.Base(dst) == "HEAD" {
			// They are read before anything is published.
			err = n.writeNow(dst, in, perm)
		} else {
			err = n.stageNew(dst, in, perm, syncpolicy.Objects)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot copy '%s' to '%s': %s", src, dst, errnoText(err))
	}
	return nil
}

// writeNow writes a new file at once.
func (n *initializer) writeNow(path string, from io.Reader, perm fs.FileMode) error {
	f, err := n.fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = n.locker.Shared.Adjust(n.fsys, path)
	}
	if err != nil {
		n.fsys.Remove(path)
		return err
	}
	return n.barrier.HardenExisting(syncpolicy.Objects, syncpolicy.Config, path)
}
