package builtin

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/diff"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A diffOutput prints changes in the formats that are no patches.
type diffOutput struct {
	env     *Env
	db      *odb.DB
	content func(diff.File) ([]byte, error)
	high    bool // core.quotePath
	nul     bool
	prefix  string // --relative, or what paths are shown relative to
	abbrev  int    // of object names in raw output: 0 full, -1 automatic
}

// A fileStat is how many lines of a file changed.
type fileStat struct {
	inserted, deleted int
	binary            bool
}

// stat counts the changed lines of one change.
func (o *diffOutput) stat(c *diff.Change) (fileStat, error) {
	if c.Status == diff.Unmerged || c.Old.ID == c.New.ID && !c.Old.ID.IsNull() && c.Old.Mode != 0 && c.New.Mode != 0 {
		return fileStat{}, nil
	}
	a, err := o.side(&c.Old)
	if err != nil {
		return fileStat{}, err
	}
	b, err := o.side(&c.New)
	if err != nil {
		return fileStat{}, err
	}
	if bytes.Equal(a, b) {
		return fileStat{}, nil
	}
	if diff.IsBinary(a) || diff.IsBinary(b) {
		return fileStat{binary: true}, nil
	}
	var st fileStat
	st.inserted, st.deleted = diff.CountLines(a, b)
	return st, nil
}

// side reads one side of a change; a gitlink reads as git shows it.
func (o *diffOutput) side(f *diff.File) ([]byte, error) {
	switch {
	case f.Mode == 0:
		return nil, nil
	case f.Mode&0o170000 == 0o160000:
		return []byte("Subproject commit " + f.ID.String() + "\n"), nil
	}
	return o.content(*f)
}

// shortStat prints how many files and lines changed.
func (o *diffOutput) shortStat(changes []diff.Change) error {
	files, ins, del := 0, 0, 0
	for i := range changes {
		if changes[i].Status == diff.Unmerged {
			continue
		}
		st, err := o.stat(&changes[i])
		if err != nil {
			return err
		}
		files, ins, del = files+1, ins+st.inserted, del+st.deleted
	}
	o.env.Print(statLine(files, ins, del))
	return nil
}

// statLine is the last line of a diffstat.
func statLine(files, ins, del int) string {
	if files == 0 {
		return " 0 files changed\n"
	}
	plural := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	line := " " + plural(files, "file changed", "files changed")
	if ins > 0 || del == 0 {
		line += ", " + plural(ins, "insertion(+)", "insertions(+)")
	}
	if del > 0 || ins == 0 {
		line += ", " + plural(del, "deletion(-)", "deletions(-)")
	}
	return line + "\n"
}

// summary prints files that appeared, went away, moved or changed their mode.
func (o *diffOutput) summary(changes []diff.Change) {
	for i := range changes {
		c := &changes[i]
		switch c.Status {
		case diff.Added:
			o.env.Printf(" create mode %06o %s\n", c.New.Mode, o.quote(c.New.Path))
		case diff.Deleted:
			o.env.Printf(" delete mode %06o %s\n", c.Old.Mode, o.quote(c.Old.Path))
		case diff.Renamed, diff.Copied:
			what := "rename"
			if c.Status == diff.Copied {
				what = "copy"
			}
			o.env.Printf(" %s %s (%d%%)\n", what, o.renameName(c.Old.Path, c.New.Path), c.Percent())
			if c.Old.Mode != c.New.Mode {
				o.env.Printf(" mode change %06o => %06o\n", c.Old.Mode, c.New.Mode)
			}
		case diff.Unmerged:
		default:
			if c.Old.Mode != c.New.Mode {
				o.env.Printf(" mode change %06o => %06o %s\n", c.Old.Mode, c.New.Mode, o.quote(c.New.Path))
			}
		}
	}
}

func (o *diffOutput) quote(p string) string {
	if o.prefix != "" {
		p = relativeTo(o.prefix, p)
	}
	return quotePath(p, o.high)
}

// renameName is "a/{b => c}/d" for a file that moved from a/b/d to a/c/d.
func (o *diffOutput) renameName(a, b string) string {
	if qa, qb := quotePath(a, o.high), quotePath(b, o.high); qa != a || qb != b {
		return qa + " => " + qb
	}
	pre := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			pre = i + 1
		}
	}
	// The common end starts with a slash, which may be the one that the common
	// beginning ended with.
	low := pre
	if pre > 0 {
		low--
	}
	end := 0
	for i := 1; len(a)-i >= low && len(b)-i >= low && a[len(a)-i] == b[len(b)-i]; i++ {
		if a[len(a)-i] == '/' {
			end = i
		}
	}
	if pre+end == 0 {
		return a + " => " + b
	}
	mid := func(s string) string {
		if n := len(s) - end; n > pre {
			return s[pre:n]
		}
		return ""
	}
	return a[:pre] + "{" + mid(a) + " => " + mid(b) + "}" + a[len(a)-end:]
}

// numStat prints the lines of --numstat.
func (o *diffOutput) numStat(changes []diff.Change) error {
	for i := range changes {
		c := &changes[i]
		st, err := o.stat(c)
		if err != nil {
			return err
		}
		switch {
		case c.Status == diff.Unmerged:
			o.env.Print("0\t0\t")
		case st.binary:
			o.env.Print("-\t-\t")
		default:
			o.env.Printf("%d\t%d\t", st.inserted, st.deleted)
		}
		renamed := c.Status == diff.Renamed || c.Status == diff.Copied
		switch {
		case renamed && o.nul:
			o.env.Print("\x00", o.shown(c.Old.Path), "\x00", o.shown(c.New.Path), "\x00")
		case renamed:
			o.env.Print(o.renameName(o.shown(c.Old.Path), o.shown(c.New.Path)), "\n")
		default:
			o.name(c.Path())
		}
	}
	return nil
}

func (o *diffOutput) shown(p string) string {
	if o.prefix != "" {
		return relativeTo(o.prefix, p)
	}
	return p
}

// name prints a path and the end of its line.
func (o *diffOutput) name(p string) {
	if o.nul {
		o.env.Print(o.shown(p), "\x00")
		return
	}
	o.env.Print(o.quote(p), "\n")
}

// nameStatus prints the lines of --name-status.
func (o *diffOutput) nameStatus(changes []diff.Change) {
	sep := "\t"
	if o.nul {
		sep = "\x00"
	}
	for i := range changes {
		c := &changes[i]
		o.env.Print(o.status(c), sep)
		o.names(c, sep)
	}
}

func (o *diffOutput) status(c *diff.Change) string {
	if c.Status == diff.Renamed || c.Status == diff.Copied {
		return fmt.Sprintf("%c%03d", c.Status, c.Percent())
	}
	return string(rune(c.Status))
}

// names prints the path or paths of a change.
func (o *diffOutput) names(c *diff.Change, sep string) {
	if c.Status == diff.Renamed || c.Status == diff.Copied {
		if o.nul {
			o.env.Print(o.shown(c.Old.Path), sep)
		} else {
			o.env.Print(o.quote(c.Old.Path), sep)
		}
	}
	o.name(c.Path())
}

// raw prints the lines of --raw.
func (o *diffOutput) raw(changes []diff.Change) {
	sep := "\t"
	if o.nul {
		sep = "\x00"
	}
	for i := range changes {
		c := &changes[i]
		o.env.Printf(":%06o %06o %s %s %s%s", c.Old.Mode, c.New.Mode, o.hash(&c.Old), o.hash(&c.New), o.status(c), sep)
		o.names(c, sep)
	}
}

func (o *diffOutput) hash(f *diff.File) string {
	id := f.ID
	if id.IsNull() && f.Hash != (oid.ID{}) {
		id = f.Hash
	}
	if o.abbrev == 0 {
		return id.String()
	}
	if id.IsNull() {
		n := o.abbrev
		if n < 0 {
			n = len(o.db.UniqueAbbrev(id, -1))
		}
		return strings.Repeat("0", n)
	}
	return o.db.UniqueAbbrev(id, o.abbrev)
}
