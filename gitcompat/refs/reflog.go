package refs

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refname"
)

// A LogEntry is one line of a reflog.
type LogEntry struct {
	Old, New oid.ID
	Ident    string // "A U Thor <author@example.com>"
	Time     uint64 // seconds since 1970
	Zone     int    // as written: -0700 is -700
	Message  string
}

// HasLog reports whether a ref has a reflog.
func (s *Store) HasLog(name string) bool {
	st, err := os.Lstat(s.logPath(name))
	return err == nil && st.Mode().IsRegular()
}

// Log yields the entries of a reflog, oldest first. Lines that are no entries
// are passed over, as in git. The error is an fs.ErrNotExist where there is no
// reflog.
func (s *Store) Log(name string) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		f, err := os.Open(s.logPath(name))
		if err != nil {
			yield(LogEntry{}, err)
			return
		}
		defer f.Close()
		for lines := bufio.NewReader(f); ; {
			line, err := lines.ReadBytes('\n')
			if e, ok := parseLogLine(line, s.o.Algo); ok && !yield(e, nil) {
				return
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(LogEntry{}, err)
				return
			}
		}
	}
}

// LogReverse is Log, newest first. It reads no more of the file than it must.
func (s *Store) LogReverse(name string) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		f, err := os.Open(s.logPath(name))
		if err != nil {
			yield(LogEntry{}, err)
			return
		}
		defer f.Close()
		for line, err := range linesReverse(f) {
			if err != nil {
				yield(LogEntry{}, err)
				return
			}
			if e, ok := parseLogLine(line, s.o.Algo); ok && !yield(e, nil) {
				return
			}
		}
	}
}

const logBlock = 8192

// linesReverse yields the lines of f from the last to the first, each with the
// newline that ends it.
func linesReverse(f *os.File) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		pos, err := f.Seek(0, io.SeekEnd)
		var tail []byte // what was read and not yielded; it begins at pos
		for err == nil && pos > 0 {
			n := min(pos, logBlock)
			pos -= n
			block := make([]byte, n, int(n)+len(tail))
			if _, err = f.ReadAt(block, pos); err != nil {
				break
			}
			tail = append(block, tail...)
			for {
				cut := bytes.LastIndexByte(bytes.TrimSuffix(tail, []byte("\n")), '\n')
				if cut < 0 {
					break
				}
				if !yield(tail[cut+1:], nil) {
					return
				}
				tail = tail[:cut+1]
			}
		}
		if err != nil {
			yield(nil, err)
		} else if len(tail) > 0 {
			yield(tail, nil)
		}
	}
}

// parseLogLine reads "<old> <new> <name> <<email>> <time> <zone>[\t<message>]\n".
func parseLogLine(line []byte, algo oid.Algo) (LogEntry, bool) {
	var e LogEntry
	text, ok := strings.CutSuffix(string(line), "\n")
	n := algo.HexSize()
	if !ok || len(text) < 2*n+2 || text[n] != ' ' || text[2*n+1] != ' ' {
		return e, false
	}
	var err1, err2 error
	e.Old, err1 = algo.FromHex(text[:n])
	e.New, err2 = algo.FromHex(text[n+1 : 2*n+1])
	text = text[2*n+2:]
	end := strings.IndexByte(text, '>')
	if err1 != nil || err2 != nil || end < 0 || !strings.HasPrefix(text[end+1:], " ") {
		return e, false
	}
	e.Ident = text[:end+1]
	digits, rest, ok := strings.Cut(strings.TrimLeft(text[end+2:], " "), " ")
	when, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || when == 0 || len(rest) < 5 || rest[0] != '+' && rest[0] != '-' {
		return e, false
	}
	zone, err := strconv.ParseUint(rest[1:5], 10, 16)
	if err != nil {
		return e, false
	}
	e.Time, e.Zone = when, int(zone)
	if rest[0] == '-' {
		e.Zone = -e.Zone
	}
	e.Message = strings.TrimPrefix(rest[5:], "\t")
	return e, true
}

// appendLogLine is the reverse of parseLogLine; committer is identity, time and zone.
func appendLogLine(dst []byte, old, new oid.ID, committer, message string) []byte {
	dst = old.AppendHex(dst)
	dst = append(dst, ' ')
	dst = new.AppendHex(dst)
	dst = append(dst, ' ')
	dst = append(dst, committer...)
	if message != "" {
		dst = append(dst, '\t')
		dst = append(dst, message...)
	}
	return append(dst, '\n')
}

// normalizeMessage puts a reflog message on one line: white space becomes single
// spaces, and none is left at the ends.
func normalizeMessage(message string) string {
	clean := true // most messages need no work
	for i := 0; i < len(message) && clean; i++ {
		clean = !isSpace(message[i]) || message[i] == ' ' && i > 0 && i < len(message)-1 && message[i-1] != ' '
	}
	if clean {
		return message
	}
	return strings.Join(strings.FieldsFunc(message, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) }), " ")
}

// Logs returns the names of the refs that have a reflog, in order.
func (s *Store) Logs() ([]string, error) {
	var names []string
	for i, dir := range s.logDirs() {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				if missing(err) {
					return nil
				}
				return err
			}
			if d.Type().IsRegular() && refname.Check(d.Name(), refname.AllowOneLevel) {
				rel, _ := filepath.Rel(dir, path)
				name := filepath.ToSlash(rel)
				if owner, _, _ := refname.Worktree(name); i > 0 && owner != refname.Shared {
					return nil // the main worktree's
				}
				names = append(names, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (s *Store) logDirs() []string {
	if s.o.GitDir == s.o.CommonDir {
		return []string{join(s.o.GitDir, "logs")}
	}
	return []string{join(s.o.GitDir, "logs"), join(s.o.CommonDir, "logs")}
}
