package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/syncpolicy"
)

var cmdPrunePacked = &Command{
	Name:    "prune-packed",
	Setup:   NeedRepo,
	Run:     runPrunePacked,
	Options: func() *parseopt.Parser { return new(prunePacked).parser() },
}

// prunePacked removes the loose objects that are in packs.
type prunePacked struct {
	dryRun, quiet bool

	env    *Env
	db     *odb.DB
	b      *syncpolicy.Barrier
	relied map[string]bool // packs that the removals rely on
}

func (p *prunePacked) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git prune-packed [-n | --dry-run] [-q | --quiet]"},
		Options: []parseopt.Option{
			parseopt.Bool('n', "dry-run", &p.dryRun, "print what would be removed"),
			parseopt.Bool('q', "quiet", &p.quiet, "print no progress"),
		},
	}
}

func runPrunePacked(env *Env, argv []string) Status {
	p := &prunePacked{env: env, relied: map[string]bool{}}
	parser := p.parser()
	args, err := env.Parse(parser, argv)
	if err != nil {
		return Fatal(err)
	}
	if len(args) > 0 {
		return Fatal(parser.UsageFatal("too many arguments"))
	}
	if p.db, err = env.Repo.ODB(); err != nil {
		return Fatal(err)
	}
	if p.b, err = env.Repo.NewBarrier(); err != nil {
		return Fatal(err)
	}
	defer p.b.Rollback()
	for i := range 256 {
		if err := p.shard(fmt.Sprintf("%02x", i)); err != nil {
			return Fatal(err)
		}
	}
	return Fatal(p.b.Commit())
}

// shard looks at one folder of loose objects.
func (p *prunePacked) shard(name string) error {
	dir := filepath.Join(p.db.Dir(), name)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var packed []string
	for _, e := range entries {
		id, err := p.db.Algo().FromHex(name + e.Name())
		if err != nil {
			continue
		}
		in, _, ok := p.db.Packed(id)
		if !ok {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if p.dryRun {
			p.env.Printf("rm -f %s\n", filepath.Join(p.env.Repo.GitPathName("objects"), name, e.Name()))
			continue
		}
		if err := p.rely(in.Path()); err != nil {
			return err
		}
		packed = append(packed, path)
	}
	if len(packed) > 0 {
		p.b.Do(syncpolicy.Removals, func() error { return p.remove(dir, packed) }, p.db.Dir())
	}
	return nil
}

// rely has the barrier harden a pack before anything is removed because of it: a
// young one may be somebody's who has not flushed it.
func (p *prunePacked) rely(path string) error {
	const young = 5 * time.Minute
	if p.relied[path] {
		return nil
	}
	p.relied[path] = true
	st, err := os.Stat(path)
	if err != nil || time.Since(st.ModTime()) > young {
		return err
	}
	index := strings.TrimSuffix(path, ".pack") + ".idx"
	err = p.b.HardenExisting(syncpolicy.Packs, syncpolicy.Pack, path)
	if err == nil {
		err = p.b.HardenExisting(syncpolicy.Packs, syncpolicy.PackMetadata, index)
	}
	return err
}

func (p *prunePacked) remove(dir string, paths []string) error {
	for _, path := range paths {
		if err := p.env.FS.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.env.Warn("unable to unlink '%s': %s", path, ErrnoText(err))
		}
	}
	p.env.FS.Rmdir(dir) // stays if it is not empty
	return nil
}
