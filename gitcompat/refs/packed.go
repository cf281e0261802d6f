package refs

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/lockfile"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
)

const packedHeader = "# pack-refs with: peeled fully-peeled sorted \n"

// A snapshot is packed-refs at one moment: its records, sorted by name. A record
// is a line "<oid> <name>" and perhaps a line "^<peeled oid>" after it.
type snapshot struct {
	path    string
	shown   string // what messages call it
	algo    oid.Algo
	info    os.FileInfo // nil: there was no file
	records []byte
	peeled  peeling
	hold    *hold // keeps the file from being reused, so that info tells it from any later one
}

// peeling is what the header promises about peeled lines.
type peeling uint8

const (
	peeledNone  peeling = iota
	peeledTags          // whatever can be peeled below refs/tags/ is
	peeledFully         // whatever can be peeled is
)

// current reports whether packed-refs is still the file that was read. While a
// file is held its inode cannot be given to another one.
func (sn *snapshot) current() bool {
	info, err := os.Stat(sn.path)
	if err != nil {
		return sn.info == nil && missing(err)
	}
	return sn.info != nil && os.SameFile(info, sn.info) && info.Size() == sn.info.Size() && info.ModTime().Equal(sn.info.ModTime())
}

func loadSnapshot(path, name string, algo oid.Algo) (*snapshot, error) {
	if name == "" {
		name = path
	}
	sn := &snapshot{path: path, shown: name, algo: algo}
	f, err := os.Open(path)
	if missing(err) {
		return sn, nil
	}
	if err == nil {
		sn.info, err = f.Stat()
	}
	var data []byte
	if err == nil {
		data, sn.hold, err = holdFile(f, sn.info.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't read %s: %w", name, errnoText(err))
	}
	if err := sn.parse(data); err != nil {
		return nil, err
	}
	return sn, nil
}

// parse reads the header and brings the records into order. As in git, records
// are checked when they are used, except where they have to be sorted.
func (sn *snapshot) parse(data []byte) error {
	sn.records = data
	sorted := false
	if len(data) > 0 && data[0] == '#' {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return sn.unterminated(data)
		}
		traits, ok := strings.CutPrefix(string(line), "# pack-refs with: ")
		if !ok {
			return sn.unexpected(data)
		}
		for trait := range strings.SplitSeq(traits, " ") {
			switch trait {
			case "fully-peeled":
				sn.peeled = peeledFully
			case "peeled":
				sn.peeled = max(sn.peeled, peeledTags)
			case "sorted":
				sorted = true
			}
		}
		sn.records = rest
	}
	if err := sn.checkTail(); err != nil || sorted {
		return err
	}
	if err := sn.sort(); err != nil {
		return err
	}
	return sn.checkTail()
}

// checkTail makes sure that every record ends within the buffer.
func (sn *snapshot) checkTail() error {
	n := len(sn.records)
	if n == 0 {
		return nil
	}
	last := sn.start(0, n-1)
	if sn.records[n-1] != '\n' || n-last < sn.algo.HexSize()+2 {
		return sn.unexpected(sn.records[last:])
	}
	return nil
}

func (sn *snapshot) sort() error {
	var list [][]byte
	sorted := true
	for rest := sn.records; len(rest) > 0; {
		n := bytes.IndexByte(rest, '\n')
		if n < sn.algo.HexSize()+2 {
			return sn.unexpected(rest)
		}
		n++
		if n < len(rest) && rest[n] == '^' {
			n += bytes.IndexByte(rest[n:], '\n') + 1
		}
		list = append(list, rest[:n])
		rest = rest[n:]
		if k := len(list); sorted && k > 1 && bytes.Compare(sn.name(list[k-2]), sn.name(list[k-1])) >= 0 {
			sorted = false
		}
	}
	if sorted {
		return nil
	}
	slices.SortStableFunc(list, func(a, b []byte) int { return bytes.Compare(sn.name(a), sn.name(b)) })
	sn.records = bytes.Join(list, nil)
	return nil
}

// name returns the name in a record that is known to be long enough.
func (sn *snapshot) name(record []byte) []byte {
	skip := sn.algo.HexSize() + 1
	if len(record) <= skip {
		return nil
	}
	rest := record[skip:]
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		return rest[:n]
	}
	return rest
}

// start returns where the record that holds offset p begins, not before lo.
func (sn *snapshot) start(lo, p int) int {
	for p > lo && (sn.records[p-1] != '\n' || sn.records[p] == '^') {
		p--
	}
	return p
}

// end returns where the record that holds offset p ends, not after hi.
func (sn *snapshot) end(p, hi int) int {
	for p++; p < hi && (sn.records[p-1] != '\n' || sn.records[p] == '^'); p++ {
	}
	return p
}

// search returns the offset of the first record whose name is not below name,
// and whether it has that very name.
func (sn *snapshot) search(name string) (int, bool) {
	lo, hi := 0, len(sn.records)
	for lo < hi {
		mid := lo + (hi-lo)/2
		rec := sn.start(lo, mid)
		switch cmp := compareName(sn.name(sn.records[rec:hi]), name); {
		case cmp < 0:
			lo = sn.end(mid, hi)
		case cmp > 0:
			hi = rec
		default:
			return rec, true
		}
	}
	return lo, false
}

func compareName(a []byte, b string) int {
	switch {
	case string(a) == b:
		return 0
	case string(a) < b:
		return -1
	}
	return 1
}

// lookup returns the value of name.
func (sn *snapshot) lookup(name string) (oid.ID, bool, error) {
	defer runtime.KeepAlive(sn)
	if len(sn.records) == 0 {
		return oid.ID{}, false, nil
	}
	at, ok := sn.search(name)
	if !ok {
		return oid.ID{}, false, nil
	}
	id, ok := sn.hex(sn.records[at:])
	if !ok {
		return oid.ID{}, false, sn.unexpected(sn.records[at:])
	}
	return id, true, nil
}

// hex reads the object name that b begins with.
func (sn *snapshot) hex(b []byte) (oid.ID, bool) {
	n := sn.algo.HexSize()
	if len(b) < n {
		return oid.ID{}, false
	}
	id, err := sn.algo.FromHex(string(b[:n]))
	return id, err == nil
}

// below reports the first ref whose name begins with prefix, "" if none does.
func (sn *snapshot) below(prefix string) string {
	defer runtime.KeepAlive(sn)
	at, _ := sn.search(prefix)
	name := sn.name(sn.records[at:])
	if !bytes.HasPrefix(name, []byte(prefix)) {
		return ""
	}
	return string(name)
}

// A packedRef is one record.
type packedRef struct {
	name   string
	id     oid.ID
	peeled oid.ID // null: nothing recorded
	known  bool   // the absence of a peeled line says that the object is no tag
	bad    bool   // the name is badly formed
	raw    []byte // the record itself
}

// next reads the record at offset at, and returns the offset of the one after.
func (sn *snapshot) next(at int) (packedRef, int, error) {
	defer runtime.KeepAlive(sn)
	var r packedRef
	rest := sn.records[at:]
	hexsz := sn.algo.HexSize()
	id, ok := sn.hex(rest)
	if !ok || len(rest) < hexsz+2 || !isSpace(rest[hexsz]) {
		return r, 0, sn.unexpected(rest)
	}
	eol := bytes.IndexByte(rest[hexsz+1:], '\n')
	if eol < 0 {
		return r, 0, sn.unterminated(rest)
	}
	eol += hexsz + 1
	name := rest[hexsz+1 : eol]
	if n := bytes.IndexByte(name, 0); n >= 0 {
		return r, 0, fmt.Errorf("packed refname contains embedded NULL: %s", name[:n])
	}
	r = packedRef{name: string(name), id: id}
	if !refname.Check(r.name, refname.AllowOneLevel) {
		if !refname.IsSafe(r.name) {
			return r, 0, fmt.Errorf("packed refname is dangerous: %s", r.name)
		}
		r.id, r.bad = sn.algo.Null(), true
	}
	r.known = sn.peeled == peeledFully || sn.peeled == peeledTags && strings.HasPrefix(r.name, "refs/tags/")
	end := eol + 1
	if end < len(rest) && rest[end] == '^' {
		peeled, ok := sn.hex(rest[end+1:])
		if !ok || len(rest) < end+2+hexsz || rest[end+1+hexsz] != '\n' {
			return r, 0, sn.unexpected(rest[end:])
		}
		end += hexsz + 2
		if !r.bad {
			r.peeled, r.known = peeled, true
		}
	}
	r.raw = rest[:end]
	return r, at + end, nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func (sn *snapshot) unterminated(p []byte) error { return sn.complain("unterminated", p) }

func (sn *snapshot) unexpected(p []byte) error {
	line, _, ok := bytes.Cut(p, []byte("\n"))
	if !ok {
		return sn.unterminated(p)
	}
	return sn.complain("unexpected", line)
}

func (sn *snapshot) complain(what string, line []byte) error {
	if len(line) >= 80 {
		line = append(line[:75:75], "..."...)
	}
	if n := bytes.IndexByte(line, 0); n >= 0 {
		line = line[:n] // where C ends
	}
	return fmt.Errorf("%s line in %s: %s", what, sn.shown, line)
}

// appendPacked appends the record of a ref.
func appendPacked(dst []byte, name string, id, peeled oid.ID) []byte {
	dst = id.AppendHex(dst)
	dst = append(dst, ' ')
	dst = append(dst, name...)
	dst = append(dst, '\n')
	if !peeled.IsNull() {
		dst = append(dst, '^')
		dst = peeled.AppendHex(dst)
		dst = append(dst, '\n')
	}
	return dst
}

// An errnoError shows an error with C's words for its errno.
type errnoError struct{ err error }

func (e *errnoError) Error() string { return lockfile.Strerror(e.err) }
func (e *errnoError) Unwrap() error { return e.err }

func errnoText(err error) error { return &errnoError{err} }
