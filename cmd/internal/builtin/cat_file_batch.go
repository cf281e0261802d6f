package builtin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

// The batch modes of cat-file.
const (
	catSingle = iota
	catContents
	catInfo
	catCommands
)

const defaultCatFormat = "%(objectname) %(objecttype) %(objectsize)"

type catBatch struct {
	kind      int
	format    string
	follow    bool
	unordered bool
	nulIn     bool
	nul       bool
	buffer    *bool
	filter    catFilter

	parts    []catPart
	rest     bool // the format, or a conversion, uses what follows the name
	needInfo bool
	needDisk bool
	contents bool
	in, out  byte
}

// A catPart is text, or an atom, of a format.
type catPart struct {
	text string
	atom string
}

func (b *catBatch) option(long string, kind int, help string) parseopt.Option {
	return parseopt.OptCallback(0, long, "format", help, func(a parseopt.Arg) error {
		if b.kind != catSingle {
			return errors.New("only one batch option may be specified")
		}
		b.kind = kind
		if a.Given {
			b.format = a.Value
		}
		return nil
	}).NoNeg()
}

// parse cuts the format into parts.
func (b *catBatch) parse() error {
	format := b.format
	if format == "" {
		format = defaultCatFormat
	}
	for format != "" {
		at := strings.IndexByte(format, '%')
		if at < 0 {
			b.parts = append(b.parts, catPart{text: format})
			return nil
		}
		b.parts = append(b.parts, catPart{text: format[:at]})
		format = format[at+1:]
		switch {
		case strings.HasPrefix(format, "%"):
			b.parts = append(b.parts, catPart{text: "%"})
			format = format[1:]
			continue
		case !strings.HasPrefix(format, "("):
			b.parts = append(b.parts, catPart{text: "%"})
			continue
		}
		end := strings.IndexByte(format, ')')
		if end < 0 {
			return fmt.Errorf("bad cat-file format: element '%s' does not end in ')'", format)
		}
		atom := format[1:end]
		switch atom {
		case "objectname", "objectmode":
		case "objecttype", "objectsize":
			b.needInfo = true
		case "objectsize:disk", "deltabase":
			b.needInfo, b.needDisk = true, true
		case "rest":
			b.rest = true
		default:
			return fmt.Errorf("bad cat-file format: %%%s", format[:end+1])
		}
		b.parts = append(b.parts, catPart{atom: atom})
		format = format[end+1:]
	}
	return nil
}

func (c *catFile) runBatch() error {
	b := &c.batch
	if err := b.parse(); err != nil {
		return err
	}
	b.rest = b.rest || c.converts()
	b.in, b.out = '\n', '\n'
	if b.nulIn {
		b.in = 0
	}
	if b.nul {
		b.in, b.out = 0, 0
	}
	if b.buffer == nil {
		all := c.mode == 'b'
		b.buffer = &all
	}
	b.contents = b.kind == catContents
	if c.mode == 'b' {
		return c.allObjects()
	}
	in := c.env.Input()
	if b.kind == catCommands {
		return c.commands(in)
	}
	for {
		line, err := readRecord(in, b.in)
		if err != nil {
			return errors.Join(ignoreEOF(err), c.env.Flush())
		}
		name, rest := line, ""
		if b.rest {
			if at := strings.IndexAny(line, " \t"); at >= 0 {
				name, rest = line[:at], strings.TrimLeft(line[at:], " \t")
			}
		}
		if err := c.request(name, rest); err != nil {
			return err
		}
	}
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// readRecord reads up to delim, which it takes away, and with a LF a CR before it.
func readRecord(in *bufio.Reader, delim byte) (string, error) {
	line, err := in.ReadString(delim)
	if line == "" && err != nil {
		return "", err
	}
	if line[len(line)-1] == delim {
		line = line[:len(line)-1]
		if delim == '\n' {
			line = strings.TrimSuffix(line, "\r")
		}
	}
	return line, nil
}

func (c *catFile) allObjects() error {
	if c.batch.unordered {
		seen := map[oid.ID]bool{}
		return c.db.All(func(id oid.ID) error {
			if seen[id] {
				return nil
			}
			seen[id] = true
			return c.print(id.String(), "", revision.Object{ID: id})
		})
	}
	var ids []oid.ID
	c.db.All(func(id oid.ID) error { ids = append(ids, id); return nil })
	slices.SortFunc(ids, oid.ID.Compare)
	for _, id := range slices.Compact(ids) {
		if err := c.print(id.String(), "", revision.Object{ID: id}); err != nil {
			return err
		}
	}
	return nil
}

// commands is --batch-command: info, contents and flush.
func (c *catFile) commands(in *bufio.Reader) error {
	var queue []func() error
	run := func() error {
		for _, do := range queue {
			if err := do(); err != nil {
				return err
			}
		}
		queue = queue[:0]
		return c.env.Flush()
	}
	for {
		line, err := readRecord(in, c.batch.in)
		if err != nil {
			keep, berr := c.env.EnvBool("GIT_TEST_CAT_FILE_NO_FLUSH_ON_EXIT", false)
			if err != io.EOF || keep || berr != nil {
				return errors.Join(ignoreEOF(err), berr)
			}
			return run()
		}
		do, err := c.command(line)
		switch {
		case err != nil:
			return errors.Join(err, c.env.Flush())
		case do == nil && !*c.batch.buffer:
			return errors.New("flush is only for --buffer mode")
		case do == nil:
			err = run()
		case *c.batch.buffer:
			queue = append(queue, do)
		default:
			err = do()
		}
		if err != nil {
			return err
		}
	}
}

// command returns what one line asks for; nil for a flush.
func (c *catFile) command(line string) (func() error, error) {
	if line == "" {
		return nil, errors.New("empty command in input")
	}
	if strings.IndexByte(" \t\n\r\v\f", line[0]) >= 0 {
		return nil, fmt.Errorf("whitespace before command: '%s'", line)
	}
	for _, name := range [...]string{"contents", "flush", "info", "mailmap", "remote-object-info"} {
		rest, ok := strings.CutPrefix(line, name)
		if !ok {
			continue
		}
		if name == "flush" {
			if rest != "" {
				return nil, errors.New("flush takes no arguments")
			}
			return nil, nil
		}
		if !strings.HasPrefix(rest, " ") {
			return nil, fmt.Errorf("%s requires arguments", name)
		}
		if name == "mailmap" || name == "remote-object-info" {
			return nil, fmt.Errorf("%s: not implemented by sluice", name)
		}
		return func() error {
			c.batch.contents = name == "contents"
			return c.request(rest[1:], "")
		}, nil
	}
	return nil, fmt.Errorf("unknown command: '%s'", line)
}

// request answers one name.
func (c *catFile) request(name, rest string) error {
	obj, status, err := c.find(name)
	if err == nil && status != "" {
		c.env.Print(status)
		return c.env.Flush()
	}
	if err == nil {
		err = c.print(name, rest, obj)
	}
	if err == nil && !*c.batch.buffer {
		err = c.env.Flush()
	}
	return err
}

// find resolves a name; status is the whole answer where it is no object.
func (c *catFile) find(name string) (obj revision.Object, status string, err error) {
	if id, err := c.db.Algo().FromHex(name); err == nil {
		return revision.Object{ID: id}, "", nil
	}
	if c.batch.follow {
		if at := strings.IndexByte(name, ':'); at > 0 {
			return c.follow(name, at)
		}
	}
	obj, err = c.resolver.ResolveObject(name, revision.Any)
	if err == nil {
		return obj, "", nil
	}
	if !errors.Is(err, revision.ErrUnknown) {
		return obj, "", err
	}
	word := "missing"
	if ids, aerr := c.db.Abbrev(name); aerr == nil && len(ids) > 1 && len(name) >= 4 {
		word = "ambiguous"
	}
	return obj, c.state(name, word), nil
}

func (c *catFile) state(name, word string) string { return name + " " + word + string(c.batch.out) }

// print prints one object.
func (c *catFile) print(name, rest string, obj revision.Object) error {
	b := &c.batch
	id, err := c.replace(obj.ID)
	if err != nil {
		return err
	}
	var st odb.Stat
	if b.needInfo || b.contents || c.mode != 'b' || b.filter.kind != filterNone {
		if b.needDisk {
			st, err = c.db.Stat(id)
		} else {
			st.Type, st.Size, err = c.db.Info(id)
		}
	}
	if errors.Is(err, object.ErrHeaderType) {
		return err
	}
	if err != nil {
		status := c.state(name, "missing")
		if object.IsGitlink(obj.Mode) {
			status = c.state(obj.ID.String(), "submodule")
		}
		c.env.Print(status)
		return nil
	}
	if b.filter.excludes(st) {
		if c.mode != 'b' {
			c.env.Print(c.state(name, "excluded"))
		}
		return nil
	}
	for _, p := range b.parts {
		c.env.Print(p.text, expandAtom(p.atom, obj, st, rest))
	}
	c.env.Print(string(b.out))
	if !b.contents {
		return nil
	}
	if err := c.content(id, st.Type, rest); err != nil {
		return err
	}
	c.env.Print(string(b.out))
	return nil
}

func expandAtom(atom string, obj revision.Object, st odb.Stat, rest string) string {
	switch atom {
	case "objectname":
		return obj.ID.String()
	case "objecttype":
		return st.Type.String()
	case "objectsize":
		return fmt.Sprint(st.Size)
	case "objectsize:disk":
		return fmt.Sprint(st.Disk)
	case "deltabase":
		return st.Delta.String()
	case "objectmode":
		if obj.Mode != 0 {
			return fmt.Sprintf("%06o", obj.Mode)
		}
	case "rest":
		return rest
	}
	return ""
}

func (c *catFile) content(id oid.ID, typ object.Type, path string) error {
	if !c.converts() || typ != object.Blob {
		return c.copy(id)
	}
	if path == "" {
		return fmt.Errorf("missing path for '%s'", id)
	}
	if c.mode == 'c' {
		return c.copy(id)
	}
	data, err := c.smudged(id, object.ModeRegular, path)
	if err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("could not convert '%s' %s", id, path)
	}
	_, err = c.env.Stdout.Write(data)
	return err
}
