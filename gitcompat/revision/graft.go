package revision

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/repo"
)

// Grafts replaces the parents of commits: those at which a shallow clone was
// cut have none, and info/grafts may say anything.
type Grafts map[oid.ID][]oid.ID

// ReadGrafts reads a shallow file and a grafts file; either may be absent.
func ReadGrafts(algo oid.Algo, shallow, grafts string) (Grafts, error) {
	g := make(Grafts)
	if err := g.read(algo, grafts, false); err != nil {
		return nil, err
	}
	if err := g.read(algo, shallow, true); err != nil {
		return nil, err
	}
	return g, nil
}

func (g Grafts) read(algo oid.Algo, path string, shallow bool) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := bytes.TrimRight(sc.Bytes(), " \t\r")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		var ids []oid.ID
		for _, word := range bytes.Fields(line) {
			id, err := algo.FromHex(string(word))
			if err != nil {
				if shallow {
					return fmt.Errorf("bad shallow line: %s", line)
				}
				return fmt.Errorf("bad graft data: %s", line)
			}
			ids = append(ids, id)
		}
		if shallow {
			g[ids[0]] = nil
		} else {
			g[ids[0]] = ids[1:]
		}
	}
	return sc.Err()
}

// graftPaths returns the shallow and grafts files of a repository.
func graftPaths(r *repo.Repo) (shallow, grafts string) {
	shallow, grafts = r.ShallowPath(), r.CommonDir+"/info/grafts"
	if v, ok := r.Getenv("GIT_GRAFT_FILE"); ok && v != "" {
		grafts = v
	}
	return shallow, grafts
}
