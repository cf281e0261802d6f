package lockfile

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluicegit/sluice/syncpolicy/vfs"
)

// bookPrefix begins the names of books, in the common directory.
const bookPrefix = "tmp_locks_"

// A Book says who holds some locks: the locks of one ref transaction, or one
// lock by itself. A side file for each of thousands of refs would cost more than
// the refs. It is one file, with the owner first and a line for each lock, which
// names the lock by its inode and its birth; so a lock that somebody else takes
// later at the same path is not mistaken for it. The line is written before the
// lock has a name. A process that is killed leaves the book, and whoever meets
// one of its locks clears all of them.
type Book struct {
	l    *Locker
	f    *vfs.File // nil until the first lock
	none bool      // it cannot be written: the locks are respected for ever
}

// NewBook returns a book for some locks; it must end in Close. Nothing is
// written before the first lock.
func (l *Locker) NewBook() *Book { return &Book{l: l} }

// bookDir is where the book of path's lock is: the common directory of the
// repository, or where the lock is.
func (l *Locker) bookDir(path string) string {
	if l.Books != "" {
		return l.Books
	}
	return filepath.Dir(path)
}

// note enters the lock of path that is about to be taken. Nothing depends on
// it, so failures only mean that the lock is not in the book.
func (b *Book) note(path string, inode uint64, birth time.Time) {
	if b.none {
		return
	}
	line := entry(path, inode, birth) + "\n"
	if b.f == nil {
		f, err := b.l.FS.CreateTemp(b.l.bookDir(path), bookPrefix, 0o666)
		if err != nil {
			b.none = true
			return
		}
		b.f, line = f, ownerText()+line
	}
	b.f.Write([]byte(line))
}

// entry is the line of path's lock.
func entry(path string, inode uint64, birth time.Time) string {
	return fmt.Sprintf("%d %d.%09d %s.lock", inode, birth.Unix(), birth.Nanosecond(), path)
}

// Close removes the book: all its locks have ended.
func (b *Book) Close() {
	b.none = true
	if b.f != nil {
		b.f.Close()
		b.l.FS.Remove(b.f.Name())
		b.l.FS.Keep(b.f.Name())
		b.f = nil
	}
}

// A deadBook is what a process that died has left of a Book.
type deadBook struct {
	path  string
	owner owner
	locks []string
}

// deadBookOf returns the book of a dead process that has the lock of path in it.
func (l *Locker) deadBookOf(path string) *deadBook {
	birth, inode, ok := vfs.BirthTime(path + ".lock")
	if !ok {
		return nil
	}
	line := entry(path, inode, birth)
	names, _ := filepath.Glob(filepath.Join(l.bookDir(path), bookPrefix+"*"))
	for _, name := range names {
		if book := readBook(name); book != nil && slices.Contains(book.locks, line) && book.owner.dead() {
			return book
		}
	}
	return nil
}

// maxBook bounds how much of a book is read, in bytes.
const maxBook = 256 << 20

func readBook(path string) *deadBook {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxBook {
		return nil
	}
	book := &deadBook{path: path}
	var head strings.Builder
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := sc.Text()
		if line != "" && line[0] >= '0' && line[0] <= '9' {
			book.locks = append(book.locks, line)
		} else {
			head.WriteString(line + "\n")
		}
	}
	book.owner = parseOwner(head.String())
	if book.owner.pid == 0 {
		return nil
	}
	return book
}

// clear takes away the other locks of the book, then the book.
func (l *Locker) clear(book *deadBook) {
	for _, line := range book.locks {
		if f := strings.SplitN(line, " ", 3); len(f) == 3 {
			l.take(strings.TrimSuffix(f[2], ".lock"))
		}
	}
	l.FS.Remove(book.path)
}
