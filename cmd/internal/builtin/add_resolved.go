package builtin

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// resolved finds the conflicts of which the working tree has the outcome: the
// file without conflict markers, or no file.
func (a *adder) resolved() ([]worktree.StageItem, error) {
	var items []worktree.StageItem
	var marked strings.Builder
	last := ""
	for _, e := range a.files.Index.Entries {
		if e.Stage == 0 || e.Name == last || a.ps.MatchEntry(e, nil) == worktree.NoMatch {
			continue
		}
		last = e.Name
		path := a.env.Repo.WorkTree + "/" + e.Name
		fi, err := os.Lstat(path)
		switch {
		case os.IsNotExist(err):
			items = append(items, worktree.StageItem{Path: e.Name, Remove: true})
			continue
		case err != nil:
			return nil, fmt.Errorf("cannot lstat: '%s': %s", e.Name, ErrnoText(err))
		case fi.Mode().IsRegular() && hasConflictMarkers(path, a.markerSize(e.Name)):
			fmt.Fprintf(&marked, "\t%s\n", e.Name)
		}
		items = append(items, worktree.StageItem{Path: e.Name})
	}
	if marked.Len() > 0 {
		return nil, fmt.Errorf("the following paths still have conflict markers:\n%s", marked.String())
	}
	return items, nil
}

const defaultMarkerSize = 7

// markerSize is the length of the conflict markers of a file.
func (a *adder) markerSize(path string) int {
	v := a.files.Attrs.Lookup(path, []string{"conflict-marker-size"})[0]
	if v.State == worktree.AttrUnspecified {
		return defaultMarkerSize
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil {
		a.env.Warn("invalid marker-size '%s', expecting an integer", v.Text)
	}
	if err != nil || n <= 0 {
		return defaultMarkerSize
	}
	return n
}

// hasConflictMarkers reports whether the text file at path has a line that
// begins as a merge writes them.
func hasConflictMarkers(path string, size int) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	start := true // of a line
	for {
		part, err := r.ReadSlice('\n')
		if start && isMarker(part, size) {
			return true
		}
		if bytes.IndexByte(part, 0) >= 0 || err != nil && err != bufio.ErrBufferFull {
			return false
		}
		start = err == nil
	}
}

func isMarker(line []byte, size int) bool {
	if len(line) <= size || bytes.IndexByte([]byte("=<>|"), line[0]) < 0 {
		return false
	}
	if bytes.Count(line[:size], line[:1]) != size {
		return false
	}
	next := line[size]
	if line[0] == '<' || line[0] == '>' {
		return next == ' '
	}
	return next == ' ' || next >= '\t' && next <= '\r'
}
