package object

import (
	"bytes"

	"github.com/sluicegit/sluice/gitcompat/refname"
)

// verifyHeaders makes sure that each header line ends in LF, so that the checks
// below may look for one.
func (f *Fsck) verifyHeaders(data []byte) (stop bool) {
	for i, c := range data {
		switch {
		case c == 0:
			f.report(MsgNulInHeader, "unterminated header: NUL at offset %d", i)
			return true
		case c == '\n' && i+1 < len(data) && data[i+1] == '\n':
			return false
		}
	}
	if len(data) > 0 && data[len(data)-1] == '\n' {
		return false
	}
	f.report(MsgUnterminatedHeader, "unterminated header")
	return true
}

func (f *Fsck) checkCommit(data []byte) {
	if f.verifyHeaders(data) {
		return
	}
	if !bytes.HasPrefix(data, []byte("tree ")) {
		f.report(MsgMissingTree, "invalid format - expected 'tree' line")
		return
	}
	rest, ok := f.skipID(data, "tree ")
	if !ok && f.report(MsgBadTreeSha1, "invalid 'tree' line format - bad sha1") {
		return
	}
	for bytes.HasPrefix(rest, []byte("parent ")) {
		if rest, ok = f.skipID(rest, "parent "); !ok && f.report(MsgBadParentSha1, "invalid 'parent' line format - bad sha1") {
			return
		}
	}
	authors := 0
	for ; bytes.HasPrefix(rest, []byte("author ")); authors++ {
		var stop bool
		if rest, stop = f.checkIdent(rest[len("author "):]); stop {
			return
		}
	}
	if authors < 1 && f.report(MsgMissingAuthor, "invalid format - expected 'author' line") ||
		authors > 1 && f.report(MsgMultipleAuthors, "invalid format - multiple 'author' lines") {
		return
	}
	if !bytes.HasPrefix(rest, []byte("committer ")) {
		f.report(MsgMissingCommitter, "invalid format - expected 'committer' line")
		return
	}
	if _, stop := f.checkIdent(rest[len("committer "):]); stop {
		return
	}
	if bytes.IndexByte(data, 0) >= 0 {
		f.report(MsgNulInCommit, "NUL byte in the commit object body")
	}
}

// skipID cuts a line of key and object name off data; a bad one to its LF.
func (f *Fsck) skipID(data []byte, key string) (rest []byte, ok bool) {
	if _, rest, ok = idLine(f.Algo, data, key); ok {
		return rest, true
	}
	return data[bytes.IndexByte(data, '\n')+1:], false
}

// checkIdent checks the ident that data starts with and returns what follows its line.
func (f *Fsck) checkIdent(data []byte) (rest []byte, stop bool) {
	eol := bytes.IndexByte(data, '\n')
	line, rest := data[:eol], data[eol+1:]
	msg, text := identProblem(line)
	if text == "" {
		return rest, false
	}
	return rest, f.report(msg, "invalid author/committer line - %s", text)
}

func identProblem(line []byte) (MsgID, string) {
	if len(line) > 0 && line[0] == '<' {
		return MsgMissingNameBeforeEmail, "missing space before email"
	}
	i := bytes.IndexAny(line, "<>")
	switch {
	case i < 0:
		return MsgMissingEmail, "missing email"
	case line[i] == '>':
		return MsgBadName, "bad name"
	case line[i-1] != ' ':
		return MsgMissingSpaceBeforeEmail, "missing space before email"
	}
	line = line[i+1:]
	if i = bytes.IndexAny(line, "<>"); i < 0 || line[i] == '<' {
		return MsgBadEmail, "bad email"
	}
	line = line[i+1:]
	if len(line) == 0 || line[0] != ' ' {
		return MsgMissingSpaceBeforeDate, "missing space before date"
	}
	line = bytes.TrimLeft(line[1:], " \t")
	if len(line) == 0 || !isDigit(line[0]) {
		return MsgBadDate, "bad date"
	}
	if line[0] == '0' && (len(line) < 2 || line[1] != ' ') {
		return MsgZeroPaddedDate, "zero-padded date"
	}
	n, overflow := 0, false
	var sec uint64
	for n < len(line) && isDigit(line[n]) {
		overflow = overflow || sec > (1<<63-1-uint64(line[n]-'0'))/10
		sec = sec*10 + uint64(line[n]-'0')
		n++
	}
	if overflow {
		return MsgBadDateOverflow, "date causes integer overflow"
	}
	if n == len(line) || line[n] != ' ' {
		return MsgBadDate, "bad date"
	}
	zone := line[n+1:]
	if len(zone) != 5 || zone[0] != '+' && zone[0] != '-' ||
		!isDigit(zone[1]) || !isDigit(zone[2]) || !isDigit(zone[3]) || !isDigit(zone[4]) {
		return MsgBadTimezone, "bad time zone"
	}
	return 0, ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (f *Fsck) checkTag(data []byte) {
	if f.verifyHeaders(data) {
		return
	}
	if !bytes.HasPrefix(data, []byte("object ")) {
		f.report(MsgMissingObject, "invalid format - expected 'object' line")
		return
	}
	rest, ok := f.skipID(data, "object ")
	if !ok && f.report(MsgBadObjectSha1, "invalid 'object' line format - bad sha1") {
		return
	}
	if !bytes.HasPrefix(rest, []byte("type ")) {
		f.report(MsgMissingTypeEntry, "invalid format - expected 'type' line")
		return
	}
	typ, rest, ok := textLine(rest, "type ")
	if !ok {
		f.report(MsgMissingType, "invalid format - unexpected end after 'type' line")
		return
	}
	if _, ok := ParseType(typ); !ok && f.report(MsgBadType, "invalid 'type' value") {
		return
	}
	if !bytes.HasPrefix(rest, []byte("tag ")) {
		f.report(MsgMissingTagEntry, "invalid format - expected 'tag' line")
		return
	}
	name, rest, ok := textLine(rest, "tag ")
	if !ok {
		f.report(MsgMissingTag, "invalid format - unexpected end after 'type' line")
		return
	}
	if !refname.Check("refs/tags/"+name, 0) && f.report(MsgBadTagName, "invalid 'tag' name: %s", name) {
		return
	}
	if !bytes.HasPrefix(rest, []byte("tagger ")) {
		if f.report(MsgMissingTaggerEntry, "invalid format - expected 'tagger' line") {
			return
		}
	} else {
		// Whatever the ident is, git goes on to the lines after it.
		rest, _ = f.checkIdent(rest[len("tagger "):])
	}
	if rest, ok = f.skipSignature(rest); !ok {
		return
	}
	if len(rest) > 0 && rest[0] != '\n' {
		f.report(MsgExtraHeaderEntry, "invalid format - extra header(s) after 'tagger'")
	}
}

func (f *Fsck) skipSignature(rest []byte) ([]byte, bool) {
	if !bytes.HasPrefix(rest, []byte("gpgsig ")) && !bytes.HasPrefix(rest, []byte("gpgsig-sha256 ")) {
		return rest, true
	}
	_, rest, ok := bytes.Cut(rest, []byte{'\n'})
	if !ok {
		f.report(MsgBadGpgsig, "invalid format - unexpected end after 'gpgsig' or 'gpgsig-sha256' line")
		return nil, false
	}
	for len(rest) > 0 && rest[0] == ' ' {
		if _, rest, ok = bytes.Cut(rest, []byte{'\n'}); !ok {
			f.report(MsgBadHeaderContinuation, "invalid format - unexpected end in 'gpgsig' or 'gpgsig-sha256' continuation line")
			return nil, false
		}
	}
	return rest, true
}
