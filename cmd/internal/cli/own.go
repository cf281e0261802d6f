package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicegit/sluice/cmd/internal/builtin"
)

// own runs sluice's own commands, when the program is called by its own name.
// Everything else is git's.
func (p *process) own(args []string) (builtin.Status, bool) {
	if len(args) > 0 {
		switch {
		case ownCommand(args[0]):
		case args[0] == "--help", args[0] == "-h", args[0] == "help" && (len(args) == 1 || ownCommand(args[1])):
		default:
			return builtin.OK, false
		}
	}
	root := p.ownTree()
	if args == nil {
		args = []string{} // nil would make cobra read os.Args
	}
	root.SetArgs(args)
	root.SetIn(p.env.Stdin)
	root.SetOut(p.env.Stdout)
	root.SetErr(p.env.Stderr)
	if err := root.Execute(); err != nil {
		if st, ok := err.(*statusError); ok {
			return st.Status, true
		}
		return builtin.Failure(129, err), true
	}
	return builtin.OK, true
}

func ownCommand(name string) bool {
	switch name {
	case "install", "commands", "policy", "completion", "__complete", "__completeNoDesc":
		return true
	}
	return false
}

// statusError carries a status through cobra.
type statusError struct{ builtin.Status }

func (e *statusError) Error() string { return e.Err.Error() }

func failed(st builtin.Status) error {
	if st.Err == nil {
		return nil
	}
	return &statusError{st}
}

// ownTree builds the commands. Only they pay for cobra.
func (p *process) ownTree() *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "A git for programs that write",
		Long: "sluice is a git whose every update is durable before it is acknowledged.\n" +
			"Every git command works as `sluice <command>`; `sluice install` makes it the `git` of scripts.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		&cobra.Command{
			Use:     "install DIR",
			Short:   "Make DIR/git and its companions links to this program",
			Example: "  sluice install ~/bin/as-git && PATH=~/bin/as-git:$PATH git version",
			Args:    cobra.ExactArgs(1),
			RunE:    func(_ *cobra.Command, args []string) error { return failed(p.install(args[0])) },
		},
		&cobra.Command{
			Use:   "commands",
			Short: "List git's commands: native, native but for some options, or delegated",
			Args:  cobra.NoArgs,
			Run: func(*cobra.Command, []string) {
				for _, l := range ledger() {
					p.env.Printf("%-22s %s\n", l.name, l.state)
				}
			},
		},
		&cobra.Command{
			Use:   "policy",
			Short: "Show what is made durable here, how, and why",
			Args:  cobra.NoArgs,
			RunE:  func(*cobra.Command, []string) error { return failed(p.policy()) },
		},
	)
	return root
}

// linkNames are the names under which other programs call git.
func linkNames() []string {
	return []string{"git", "git-receive-pack", "git-upload-pack", "git-upload-archive"}
}

// install makes the links. They are relative where DIR is below the program's
// own folder, so that the two can move together.
func (p *process) install(dir string) builtin.Status {
	dir = p.env.Abs(dir)
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return builtin.Fatalf("cannot find this program: %s", builtin.ErrnoText(err))
	}
	target := self
	if rel, err := filepath.Rel(dir, self); err == nil && strings.HasPrefix(dir+"/", filepath.Dir(self)+"/") {
		target = rel
	}
	if err := p.makeDirs(dir); err != nil {
		return builtin.Fatalf("could not create directory '%s': %s", dir, builtin.ErrnoText(err))
	}
	for _, name := range linkNames() {
		if err := p.link(target, filepath.Join(dir, name)); err != nil {
			return builtin.Fatal(err)
		}
	}
	return builtin.OK
}

func (p *process) makeDirs(dir string) error {
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := p.makeDirs(parent); err != nil {
			return err
		}
	}
	return p.env.FS.Mkdir(dir, 0o777)
}

// link makes path a link to target. It replaces a link, and nothing else.
func (p *process) link(target, path string) error {
	if fi, err := os.Lstat(path); err == nil {
		if fi.Mode()&os.ModeSymlink == 0 {
			return fmt.Errorf("'%s' exists and is not a link", path)
		}
		if err := p.env.FS.Remove(path); err != nil {
			return fmt.Errorf("cannot replace '%s': %s", path, builtin.ErrnoText(err))
		}
	}
	if err := p.env.FS.Symlink(target, path); err != nil {
		return fmt.Errorf("cannot create '%s': %s", path, builtin.ErrnoText(err))
	}
	return nil
}
