package builtin

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/syncpolicy"
)

func (c *configCmd) checkWrite() error {
	switch {
	case c.source.name == "" && c.repo == nil:
		return errors.New("not in a git directory")
	case c.source.stdin:
		return errors.New("writing to stdin is not supported")
	case c.blob != nil:
		return errors.New("writing config blobs is not supported")
	}
	return nil
}

func (c *configCmd) preparedComment() (string, error) {
	if c.comment == nil {
		return "", nil
	}
	return config.PrepareComment(*c.comment)
}

// write makes one change. hint is what to do instead, where the key has
// several values.
func (c *configCmd) write(change config.Change, value string, pattern *string, hint string) Status {
	comment, err := c.preparedComment()
	if err == nil {
		err = c.locateOnce()
	}
	if err == nil {
		err = c.checkWrite()
	}
	if err == nil && !change.Unset {
		value, err = c.normalize(change.Key, value)
	}
	if err != nil {
		return Fatal(err)
	}
	change.Value, change.Comment = value, comment
	if pattern != nil {
		if change.Match, err = valueMatcher(pattern, c.fixed); err != nil {
			return Failure(config.CodeInvalidPattern, err)
		}
	}
	st := c.change(func(e *config.Edit) error { return e.Apply(change) })
	if st.Code == config.CodeNothingSet && hint != "" {
		c.env.Error(errors.New("cannot overwrite multiple values with a single value\n       " + hint))
	}
	return st
}

// locateOnce is locate for the new syntax, which calls it late.
func (c *configCmd) locateOnce() error {
	if c.source != (source{}) {
		return nil
	}
	return c.locate()
}

// section renames a section, or removes it.
func (c *configCmd) section(old string, name *string) Status {
	err := c.locateOnce()
	if err == nil {
		err = c.checkWrite()
	}
	if err != nil {
		return Fatal(err)
	}
	if name != nil {
		if err := config.CheckSection(*name); err != nil {
			return editStatus(err)
		}
	}
	return c.change(func(e *config.Edit) error {
		var n int
		var err error
		if name == nil {
			n, err = e.RemoveSection(old)
		} else {
			n, err = e.RenameSection(old, *name)
		}
		if err == nil && n == 0 {
			err = errors.New("no such section: " + old)
		}
		return err
	})
}

// change rewrites the file that is meant, durable as the policy says.
func (c *configCmd) change(apply func(e *config.Edit) error) Status {
	cfg, err := c.everything()
	if err != nil {
		return Fatal(err)
	}
	locker, err := repo.LoadLocker(c.env.FS, cfg, c.env.line)
	if err != nil {
		return Fatal(err)
	}
	timeout, err := cfg.LockTimeout()
	if err != nil {
		return Fatal(err)
	}
	name, path := c.target()
	e, err := config.NewEdit(locker, path, name, timeout, c.env.line)
	if err != nil {
		return editStatus(err)
	}
	defer e.Rollback()
	if err := apply(e); err != nil {
		return editStatus(err)
	}
	b := syncpolicy.NewBarrier(c.env.FS, c.policy(cfg), filepath.Dir(path))
	defer b.Rollback()
	if err := e.Stage(b); err != nil {
		return editStatus(err)
	}
	return Fatal(b.Commit())
}

// everything is the configuration in force, which says how to lock and harden.
func (c *configCmd) everything() (*config.Config, error) {
	if c.repo == nil {
		err := c.env.LoadConfig()
		return c.env.Config, err
	}
	err := c.repo.ReloadConfig()
	return c.repo.Config, err
}

// policy is that of the configuration; one that is broken must not keep the
// user from repairing it.
func (c *configCmd) policy(cfg *config.Config) *syncpolicy.Policy {
	p, warnings, err := repo.LoadPolicy(cfg)
	if err != nil {
		p, warnings, _ = syncpolicy.NewPolicy(syncpolicy.Settings{})
	}
	for _, w := range warnings {
		c.env.Warn("%s", w)
	}
	c.env.Trace.Count(p.Counters)
	return p
}

// target is the file to write: its name in messages, and its path.
func (c *configCmd) target() (name, path string) {
	if c.source.name == "" {
		return c.repo.GitPathName("config"), c.repo.CommonDir + "/config"
	}
	return c.source.name, c.absolute(c.source.name)
}

// absolute is the path of a file as git names it, seen from where git would be.
func (c *configCmd) absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if c.repo != nil {
		return filepath.Join(c.repo.Dir, name)
	}
	return c.env.Abs(name)
}

// editStatus is the end of a command whose file was not changed.
func editStatus(err error) Status {
	var key *config.KeyError
	var edit *config.EditError
	switch {
	case errors.As(err, &key):
		return Failure(key.Code, key)
	case errors.As(err, &edit) && edit.Msg == "":
		return Exit(edit.Code)
	case errors.As(err, &edit):
		return Failure(edit.Code, edit)
	}
	return Fatal(err)
}

// editFile opens the file in the user's editor.
func (c *configCmd) editFile(subcommand bool) Status {
	err := c.locateOnce()
	if err == nil && subcommand {
		err = c.checkWrite()
	}
	switch {
	case err != nil:
	case c.source.name == "" && c.repo == nil:
		err = errors.New("not in a git directory")
	case c.source.stdin:
		err = errors.New("editing stdin is not supported")
	case c.blob != nil:
		err = errors.New("editing blobs is not supported")
	}
	var cfg *config.Config
	if err == nil {
		cfg, err = c.everything()
	}
	if err != nil {
		return Fatal(err)
	}
	name, path := c.target()
	if c.global {
		if err := c.newUserFile(cfg, path); err != nil {
			return Fatalf("cannot create configuration file %s: %s", name, ErrnoText(err))
		}
	}
	return c.launch(editorOf(c.env, cfg), name)
}

// newUserFile makes the user's file where there is none.
func (c *configCmd) newUserFile(cfg *config.Config, path string) error {
	f, err := c.env.FS.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	source, err := repo.LoadIdent(cfg)
	id := ident.Ident{}
	if err == nil {
		id, _ = source.Get(ident.Committer, false)
	}
	_, err = f.Write([]byte("# git reads this file wherever you work.\n[user]\n# Take the # away and put in your own:\n#\tname = " + id.Name + "\n#\temail = " + id.Email + "\n"))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// editorOf is the user's editor; "" where there is none to be used.
func editorOf(env *Env, cfg *config.Config) string {
	if v, ok := env.LookupEnv("GIT_EDITOR"); ok {
		return v
	}
	if v, ok := cfg.Get("core.editor"); ok && v != "" {
		return v
	}
	dumb := env.Getenv("TERM") == "" || env.Getenv("TERM") == "dumb"
	if v, ok := env.LookupEnv("VISUAL"); ok && !dumb {
		return v
	}
	if v, ok := env.LookupEnv("EDITOR"); ok {
		return v
	}
	if dumb {
		return ""
	}
	return "vi"
}

// launch runs the editor on a file, as it is named from where git would be.
func (c *configCmd) launch(editor, name string) Status {
	switch editor {
	case "":
		c.env.Error(errors.New("Terminal is dumb, but EDITOR unset"))
		return OK
	case ":":
		return OK
	}
	// The editor needs the terminal itself, not a buffer before it.
	cmd := &exec.Cmd{
		Path: "/bin/sh", Args: []string{"/bin/sh", "-c", editor + ` "$@"`, editor, name},
		Env: c.env.Environ, Dir: c.env.Dir, Stdin: c.env.Stdin, Stdout: os.Stdout, Stderr: c.env.Stderr,
	}
	if c.repo != nil {
		cmd.Dir = c.repo.Dir
	}
	if err := c.env.Flush(); err != nil {
		return Fatal(err)
	}
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			c.env.Error(errors.New("unable to start editor '" + editor + "'"))
		} else {
			c.env.Error(errors.New("there was a problem with the editor '" + editor + "'"))
		}
	}
	return OK
}
