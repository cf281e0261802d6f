package builtin

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/index"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/worktree"
)

// print shows an entry, if the pathspec matches it.
func (l *lsFiles) print(e *index.Entry, tag string) error {
	if len(l.ps.Items) > 0 && l.ps.MatchEntry(e, l.seen) == worktree.NoMatch {
		return nil
	}
	if l.format != nil {
		if err := l.printFormat(e, *l.format); err != nil {
			return err
		}
		l.printDebug(e)
		return nil
	}
	if l.tags {
		if l.validBit && e.Flags&index.AssumeValid != 0 {
			tag = strings.ToLower(tag)
		}
		l.env.Print(tag)
	}
	if l.stage {
		l.printStage(e.Mode, e.ID, int(e.Stage))
	}
	l.printEOL(e, e.Name)
	l.printName(e.Name)
	l.printDebug(e)
	return nil
}

func (l *lsFiles) printStage(mode uint32, id oid.ID, stage int) {
	l.env.Printf("%06o %s %d\t", mode, l.abbreviated(id), stage)
}

func (l *lsFiles) abbreviated(id oid.ID) string {
	if l.abbrev == 0 {
		return id.String()
	}
	return l.files.Objects.UniqueAbbrev(id, l.abbrev)
}

// printDebug shows what only the index knows.
func (l *lsFiles) printDebug(e *index.Entry) {
	if !l.debug {
		return
	}
	s := &e.Stat
	l.env.Printf("  ctime: %d:%d\n  mtime: %d:%d\n  dev: %d\tino: %d\n  uid: %d\tgid: %d\n  size: %d\tflags: %x\n",
		s.CTimeSec, s.CTimeNsec, s.MTimeSec, s.MTimeNsec, s.Dev, s.Ino, s.UID, s.GID, s.Size, gitFlags(e))
}

// gitFlags are the flags of e as git has them in memory.
func gitFlags(e *index.Entry) uint32 {
	flags := uint32(e.Stage) << 12
	if e.Flags&index.AssumeValid != 0 {
		flags |= 1 << 15
	}
	if e.Flags&index.SkipWorktree != 0 {
		flags |= 1<<30 | 1<<14
	}
	if e.Flags&index.IntentToAdd != 0 {
		flags |= 1<<29 | 1<<14
	}
	return flags
}

// printEOL shows the line ends of a file, of its blob, and what attributes make of them.
func (l *lsFiles) printEOL(e *index.Entry, path string) {
	if !l.eol {
		return
	}
	l.env.Printf("i/%-5s w/%-5s attr/%-17s\t", l.indexEOL(e), l.worktreeEOL(path), l.attrEOL(path))
}

func (l *lsFiles) indexEOL(e *index.Entry) string {
	if e == nil || !e.IsRegular() {
		return ""
	}
	typ, content, err := l.files.Objects.Read(e.ID)
	if err != nil || typ != object.Blob {
		return ""
	}
	return worktree.TextKind(content)
}

func (l *lsFiles) worktreeEOL(path string) string {
	var st index.FileStat
	full := l.env.Repo.WorkTree + "/" + path
	if l.env.Repo.WorkTree == "" || index.Lstat(full, &st) != nil || !st.IsRegular() {
		return ""
	}
	content, err := os.ReadFile(full)
	if err != nil {
		return ""
	}
	return worktree.TextKind(content)
}

func (l *lsFiles) attrEOL(path string) string {
	if l.files.Tree == nil {
		return ""
	}
	cv, err := l.files.Tree.Plan(path)
	if err != nil {
		return ""
	}
	return cv.EOLAttr()
}

// printFormat shows e as --format says.
func (l *lsFiles) printFormat(e *index.Entry, format string) error {
	var b strings.Builder
	for format != "" {
		percent := strings.IndexByte(format, '%')
		if percent < 0 {
			b.WriteString(format)
			break
		}
		b.WriteString(format[:percent])
		rest, err := l.expand(&b, e, format[percent+1:])
		if err != nil {
			return err
		}
		format = rest
	}
	end := "\n"
	if l.nul {
		end = "\x00"
	}
	l.env.Print(b.String(), end)
	return nil
}

// expand writes what one placeholder stands for, and returns what follows it.
func (l *lsFiles) expand(b *strings.Builder, e *index.Entry, s string) (string, error) {
	switch {
	case strings.HasPrefix(s, "%"):
		b.WriteByte('%')
		return s[1:], nil
	case strings.HasPrefix(s, "n"):
		b.WriteByte('\n')
		return s[1:], nil
	case strings.HasPrefix(s, "x") && len(s) >= 3:
		if n, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			b.WriteByte(byte(n))
			return s[3:], nil
		}
	}
	if !strings.HasPrefix(s, "(") {
		return "", fmt.Errorf("bad ls-files format: element '%s' does not start with '('", s)
	}
	name, rest, ok := strings.Cut(s[1:], ")")
	if !ok {
		return "", fmt.Errorf("bad ls-files format: element '%s' does not end in ')'", s)
	}
	switch name {
	case "objectmode":
		fmt.Fprintf(b, "%06o", e.Mode)
	case "objectname":
		b.WriteString(l.abbreviated(e.ID))
	case "objecttype":
		b.WriteString(entryType(e).String())
	case "objectsize", "objectsize:padded":
		size := "-"
		if entryType(e) == object.Blob {
			_, n, err := l.files.Objects.Info(e.ID)
			if err != nil {
				return "", fmt.Errorf("could not get object info about '%s'", e.ID)
			}
			size = strconv.FormatInt(n, 10)
		}
		if name != "objectsize" {
			size = fmt.Sprintf("%7s", size)
		}
		b.WriteString(size)
	case "stage":
		b.WriteByte('0' + e.Stage)
	case "eolinfo:index":
		b.WriteString(l.indexEOL(e))
	case "eolinfo:worktree":
		b.WriteString(l.worktreeEOL(e.Name))
	case "eolattr":
		b.WriteString(l.attrEOL(e.Name))
	case "path":
		path := relativeTo(l.prefix, e.Name)
		if !l.nul {
			path = quotePath(path, l.quoteHigh)
		}
		b.WriteString(path)
	default:
		return "", fmt.Errorf("bad ls-files format: %%(%s)", name)
	}
	return rest, nil
}

func entryType(e *index.Entry) object.Type {
	if e.IsGitlink() {
		return object.Commit
	}
	return object.Blob
}

// showUndo shows the sides of conflicts that were resolved.
func (l *lsFiles) showUndo() {
	for i := range l.x.Undo {
		u := &l.x.Undo[i]
		if u.Used || len(l.ps.Items) > 0 && l.ps.Match(u.Name, l.seen) == worktree.NoMatch {
			continue
		}
		for stage, mode := range u.Modes {
			if mode == 0 {
				continue
			}
			if l.tags {
				l.env.Print("U ")
			}
			l.printStage(mode, u.IDs[stage], stage+1)
			l.printName(u.Name)
		}
	}
}

// overlay is --with-tree: paths of the tree that the index has no merged entry
// for are added at stage 1.
func (l *lsFiles) overlay() error {
	id, err := revision.New(l.env.Repo).Resolve(l.withTree, revision.WantTreeish)
	if err != nil {
		return fmt.Errorf("tree-ish %s not found.", l.withTree)
	}
	for _, e := range l.x.Entries {
		if e.Stage != 0 {
			e.Stage = 3
		}
	}
	if err := l.overlayTree(id, ""); err != nil {
		return fmt.Errorf("unable to read tree entries %s", l.withTree)
	}
	sort.SliceStable(l.x.Entries, func(i, j int) bool {
		a, b := l.x.Entries[i], l.x.Entries[j]
		return a.Name < b.Name || a.Name == b.Name && a.Stage < b.Stage
	})
	l.x.Tree = nil
	for i := 1; i < len(l.x.Entries); i++ {
		if e := l.x.Entries[i]; e.Stage == 1 && l.x.Entries[i-1].Name == e.Name && l.x.Entries[i-1].Stage == 0 {
			e.Flags |= index.Update
		}
	}
	return nil
}

func (l *lsFiles) overlayTree(id oid.ID, base string) error {
	entries, err := l.files.Objects.ReadTree(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := base + e.Name
		if !object.IsTree(e.Mode) {
			l.x.Entries = append(l.x.Entries, &index.Entry{Name: path, Mode: index.CanonicalMode(e.Mode), ID: e.ID, Stage: 1})
			continue
		}
		// Only what the command may show: below the common directory of the pathspec.
		if common := l.ps.CommonDir(); !strings.HasPrefix(common, path+"/") && !strings.HasPrefix(path+"/", common) {
			continue
		}
		if err := l.overlayTree(e.ID, path+"/"); err != nil {
			return err
		}
	}
	return nil
}
