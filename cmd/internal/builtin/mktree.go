package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

var cmdMktree = &Command{
	Name:    "mktree",
	Setup:   NeedRepo,
	Run:     runMktree,
	Options: func() *parseopt.Parser { return new(mktree).parser() },
}

type mktree struct {
	nul     bool
	missing bool
	batch   bool

	env     *Env
	db      *odb.DB
	entries []object.Entry
}

func (m *mktree) parser() *parseopt.Parser {
	return &parseopt.Parser{
		Usage: []string{"git mktree [-z] [--missing] [--batch]"},
		Options: []parseopt.Option{
			parseopt.Bool('z', "", &m.nul, "entries end in NUL"),
			parseopt.Bool(0, "missing", &m.missing, "do not ask for the objects to be there"),
			parseopt.Bool(0, "batch", &m.batch, "make several trees, with a blank line between them"),
		},
	}
}

func runMktree(env *Env, argv []string) Status {
	m := &mktree{env: env}
	if _, err := env.Parse(m.parser(), argv); err != nil {
		return Fatal(err)
	}
	var err error
	if m.db, err = env.Repo.ODB(); err != nil {
		return Fatal(err)
	}
	in := env.Input()
	for eof := false; !eof; {
		if eof, err = m.read(in); err != nil {
			return Fatal(err)
		}
		if m.batch && eof && len(m.entries) == 0 {
			break
		}
		if err := m.write(); err != nil {
			return Fatal(err)
		}
	}
	return OK
}

// read reads the entries of one tree.
func (m *mktree) read(in *bufio.Reader) (eof bool, err error) {
	m.entries = m.entries[:0]
	delim := byte('\n')
	if m.nul {
		delim = 0
	}
	for {
		line, err := in.ReadString(delim)
		if line == "" && err != nil {
			return true, ignoreEOF(err)
		}
		line = strings.TrimSuffix(line, string(delim))
		if line == "" {
			if m.batch {
				return false, nil
			}
			return false, errors.New("input format error: (blank line only valid in batch mode)")
		}
		e, err := m.entry(line)
		if err != nil {
			return false, err
		}
		m.entries = append(m.entries, e)
	}
}

// entry reads "mode SP type SP name-of-object TAB path", as ls-tree prints it.
func (m *mktree) entry(line string) (e object.Entry, err error) {
	bad := fmt.Errorf("input format error: %s", line)
	modeText, rest, ok := strings.Cut(line, " ")
	mode, err := strconv.ParseUint(modeText, 8, 32)
	if !ok || err != nil {
		return e, bad
	}
	typeText, rest, ok := strings.Cut(rest, " ")
	hex, path, tab := strings.Cut(rest, "\t")
	if !ok || !tab {
		return e, bad
	}
	id, err := m.db.Algo().FromHex(hex)
	if err != nil {
		return e, bad
	}
	if !m.nul && strings.HasPrefix(path, `"`) {
		if path, ok = unquotePath(path); !ok {
			return e, errors.New("invalid quoting")
		}
	}
	e = object.Entry{Mode: uint32(mode), Name: path, ID: id}
	if err := m.check(e, typeText); err != nil {
		return e, err
	}
	if strings.Contains(path, "/") {
		return e, fmt.Errorf("path %s contains slash", path)
	}
	return e, nil
}

// check compares the type that the entry states, that its mode means, and that
// the object has.
func (m *mktree) check(e object.Entry, typeText string) error {
	typ, ok := object.ParseType(typeText)
	if !ok {
		return fmt.Errorf("invalid object type \"%s\"", typeText)
	}
	means := object.ModeType(e.Mode)
	if means != typ {
		return fmt.Errorf("entry '%s' object type (%s) doesn't match mode type (%s)", e.Name, typ, means)
	}
	has, _, err := m.db.Info(e.ID)
	switch {
	case err != nil && !m.missing && !object.IsGitlink(e.Mode):
		return fmt.Errorf("entry '%s' object %s is unavailable", e.Name, e.ID)
	case err == nil && has != means:
		return fmt.Errorf("entry '%s' object %s is a %s but specified type was (%s)", e.Name, e.ID, has, means)
	}
	return nil
}

// write stores the tree, and says its name when it is there to stay.
func (m *mktree) write() error {
	slices.SortStableFunc(m.entries, object.CompareEntries)
	b, err := m.env.Repo.NewBarrier()
	if err != nil {
		return err
	}
	defer b.Rollback()
	var id oid.ID
	if id, err = m.db.Begin(b).Write(object.Tree, object.AppendTree(nil, m.entries)); err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	io.WriteString(m.env.Stdout, id.String()+"\n")
	return m.env.Flush()
}
