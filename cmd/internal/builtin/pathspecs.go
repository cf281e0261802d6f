package builtin

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// pathspecOptions are what every command asks of its pathspecs.
func pathspecOptions(env *Env) worktree.PathspecOptions {
	fold, _ := env.Config.Bool("core.ignorecase", false)
	return worktree.PathspecOptions{Root: env.Repo.WorkTree, Prefix: env.Repo.Prefix, Environ: env.Getenv, FoldCase: fold}
}

// readPathspecFile reads the elements that --pathspec-from-file names, one a
// line, quoted or not, or ended by NULs.
func readPathspecFile(env *Env, name string, nul bool) ([]string, error) {
	in := env.Stdin
	if name != "-" {
		f, err := os.Open(env.Path(name))
		if err != nil {
			return nil, fmt.Errorf("could not open '%s' for reading: %s", name, ErrnoText(err))
		}
		defer f.Close()
		in = f
	}
	r := bufio.NewReaderSize(in, 64<<10)
	end := byte('\n')
	if nul {
		end = 0
	}
	var list []string
	for {
		s, err := r.ReadString(end)
		if s == "" && err == io.EOF {
			return list, nil
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		if len(s) > 0 && s[len(s)-1] == end {
			s = s[:len(s)-1]
			if !nul {
				s = strings.TrimSuffix(s, "\r")
			}
		}
		if !nul && strings.HasPrefix(s, `"`) {
			u, ok := unquotePath(s)
			if !ok {
				return nil, fmt.Errorf("line is badly quoted: %s", s)
			}
			s = u
		}
		list = append(list, s)
	}
}

// insideGitlink refuses to work inside of a gitlink, or to name what is in one.
func insideGitlink(x *index.Index, prefix string, ps *worktree.Pathspec) error {
	for _, e := range x.Entries {
		if !e.IsGitlink() {
			continue
		}
		dir := e.Name + "/"
		if strings.HasPrefix(prefix, dir) {
			return fmt.Errorf("in unpopulated submodule '%s'", e.Name)
		}
		for i := range ps.Items {
			if it := &ps.Items[i]; len(it.Match) > len(dir) && strings.HasPrefix(it.Match, dir) {
				return fmt.Errorf("Pathspec '%s' is in submodule '%s'", it.Original, e.Name)
			}
		}
	}
	return nil
}
