package object

import (
	"bytes"
	"strings"
)

// defaultMaxName is the longest name in a tree before largePathname is reported.
const defaultMaxName = 4096

// treeFacts is what checkTree collects: git reports each of these once a tree.
type treeFacts struct {
	nullID, fullPath, dot, dotdot, dotgit, zeroPad, badMode, dups, unsorted, large bool
}

func (f *Fsck) checkTree(data []byte) {
	var facts treeFacts
	var order treeOrder
	it := IterTree(f.Algo, data)
	if len(data) > 0 && !it.Next() {
		f.badTree(it.Err())
		return
	}
	for more := len(data) > 0; more; more = it.Next() {
		name, mode := string(it.Name()), it.RawMode()
		f.treeName(&facts, &it, name, mode)
		switch mode {
		case ModeExec, ModeRegular, ModeSymlink, ModeTree, ModeGitlink:
		case 0o100664:
			facts.badMode = facts.badMode || f.Strict
		default:
			facts.badMode = true
		}
		unsorted, dup := order.next(name, mode)
		facts.unsorted = facts.unsorted || unsorted
		facts.dups = facts.dups || dup
	}
	if it.Err() != nil {
		f.badTree(it.Err())
	}
	f.reportTree(&facts)
}

func (f *Fsck) badTree(why error) {
	n := len(f.problems)
	f.report(MsgBadTree, "cannot be parsed as a tree")
	if len(f.problems) > n {
		f.problems[n].Note = why
	}
}

func (f *Fsck) treeName(facts *treeFacts, it *TreeIter, name string, mode uint32) {
	limit := f.maxName
	if limit == 0 {
		limit = defaultMaxName
	}
	facts.nullID = facts.nullID || len(bytes.Trim(it.id, "\x00")) == 0
	facts.fullPath = facts.fullPath || strings.IndexByte(name, '/') >= 0
	facts.dot = facts.dot || name == "."
	facts.dotdot = facts.dotdot || name == ".."
	facts.dotgit = facts.dotgit || IsDotgit(name)
	facts.zeroPad = facts.zeroPad || it.zero
	facts.large = facts.large || len(name) > limit
	link := IsSymlink(mode)
	if IsDotGitmodules(name) {
		f.gitmodules(it, link)
	}
	if IsDotGitattributes(name) {
		if link {
			f.report(MsgGitattributesSymlink, ".gitattributes is a symlink")
		} else {
			found(&f.attributes, it.ID())
		}
	}
	if link && IsDotGitignore(name) {
		f.report(MsgGitignoreSymlink, ".gitignore is a symlink")
	}
	if link && IsDotMailmap(name) {
		f.report(MsgMailmapSymlink, ".mailmap is a symlink")
	}
	for rest := name; ; {
		at := strings.IndexByte(rest, '\\')
		if at < 0 {
			return
		}
		rest = rest[at+1:]
		facts.dotgit = facts.dotgit || IsNTFSDotgit(rest)
		if isNTFSDot(rest, "gitmodules", "gi7eba") {
			f.gitmodules(it, link)
		}
	}
}

func (f *Fsck) gitmodules(it *TreeIter, link bool) {
	if link {
		f.report(MsgGitmodulesSymlink, ".gitmodules is a symbolic link")
	} else {
		found(&f.modules, it.ID())
	}
}

func (f *Fsck) reportTree(t *treeFacts) {
	for _, r := range []struct {
		is  bool
		msg MsgID
		txt string
	}{
		{t.nullID, MsgNullSha1, "contains entries pointing to null sha1"},
		{t.fullPath, MsgFullPathname, "contains full pathnames"},
		{t.dot, MsgHasDot, "contains '.'"},
		{t.dotdot, MsgHasDotdot, "contains '..'"},
		{t.dotgit, MsgHasDotgit, "contains '.git'"},
		{t.zeroPad, MsgZeroPaddedFilemode, "contains zero-padded file modes"},
		{t.badMode, MsgBadFilemode, "contains bad file modes"},
		{t.dups, MsgDuplicateEntries, "contains duplicate file entries"},
		{t.unsorted, MsgTreeNotSorted, "not properly sorted"},
		{t.large, MsgLargePathname, "contains excessively large pathname"},
	} {
		if r.is {
			f.report(r.msg, "%s", r.txt)
		}
	}
}

// treeOrder checks the order of entries, and for a file and a directory of one
// name that the directory's implied slash keeps apart: foo, foo.bar, foo/.
type treeOrder struct {
	name  string
	mode  uint32
	begun bool
	files []string // may still be met again as a directory
}

func (o *treeOrder) next(name string, mode uint32) (unsorted, dup bool) {
	prev, prevMode, begun := o.name, o.mode, o.begun
	o.name, o.mode, o.begun = name, mode, true
	if !begun {
		return false, false
	}
	n := min(len(prev), len(name))
	if c := strings.Compare(prev[:n], name[:n]); c != 0 {
		return c > 0, false
	}
	if len(prev) == len(name) {
		return false, true
	}
	c1, c2 := byteAfter(prev, n, prevMode), byteAfter(name, n, mode)
	if c1 == 0 && lessThanSlash(c2) {
		o.files = append(o.files, prev)
	} else if c2 == '/' && lessThanSlash(c1) && o.seenAsFile(name) {
		return false, true
	}
	return c1 >= c2, false
}

func (o *treeOrder) seenAsFile(dir string) bool {
	for len(o.files) > 0 {
		last := o.files[len(o.files)-1]
		o.files = o.files[:len(o.files)-1]
		if !strings.HasPrefix(dir, last) {
			continue
		}
		if len(dir) == len(last) {
			return true
		}
		if lessThanSlash(dir[len(last)]) {
			o.files = append(o.files, last)
			return false
		}
	}
	return false
}

func lessThanSlash(c byte) bool { return 0 < c && c < '/' }
