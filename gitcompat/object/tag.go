package object

import (
	"bytes"
	"fmt"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A TagObject is the content of an annotated tag.
type TagObject struct {
	Object  oid.ID
	Type    Type
	Name    string
	Tagger  string // "" in tags of git's first months
	Extra   []Header
	Message []byte
}

// Append appends the bytes of the tag, as git writes them.
func (t *TagObject) Append(dst []byte) []byte {
	dst = appendID(dst, "object ", t.Object)
	dst = appendLine(dst, "type ", t.Type.String())
	dst = appendLine(dst, "tag ", t.Name)
	if t.Tagger != "" {
		dst = appendLine(dst, "tagger ", t.Tagger)
	}
	dst = appendHeaders(dst, t.Extra)
	dst = append(dst, '\n')
	return append(dst, t.Message...)
}

// ParseTag parses the tag that is called id.
func ParseTag(id oid.ID, data []byte) (*TagObject, error) {
	t := &TagObject{}
	bad := fmt.Errorf("bad tag object %s", id)
	object, rest, ok := idLine(id.Algo(), data, "object ")
	if !ok {
		return nil, bad
	}
	t.Object = object
	typ, rest, ok := textLine(rest, "type ")
	if !ok || len(typ) > 19 {
		return nil, bad
	}
	if t.Type, ok = ParseType(typ); !ok {
		return nil, fmt.Errorf("unknown tag type '%s' in %s", typ, id)
	}
	if t.Name, rest, ok = textLine(rest, "tag "); !ok {
		return nil, bad
	}
	if tagger, after, ok := textLine(rest, "tagger "); ok {
		t.Tagger, rest = tagger, after
	}
	t.Extra, t.Message = parseHeaders(rest)
	return t, nil
}

func textLine(data []byte, key string) (value string, rest []byte, ok bool) {
	if !bytes.HasPrefix(data, []byte(key)) {
		return "", data, false
	}
	line, rest, ok := bytes.Cut(data[len(key):], []byte{'\n'})
	return string(line), rest, ok
}
