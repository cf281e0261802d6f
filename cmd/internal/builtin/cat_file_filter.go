package builtin

import (
	"fmt"
	"strings"

	"github.com/sluicegit/sluice/cmd/internal/parseopt"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
)

// The object filters that cat-file knows.
const (
	filterNone = iota
	filterBlobs
	filterBlobLimit
	filterType
	filterOther // of git's, but not of this command's
)

type catFilter struct {
	kind  int
	name  string // of filterOther
	limit uint64
	typ   object.Type
}

func (b *catBatch) setFilter(a parseopt.Arg) error {
	f := &b.filter
	if a.Unset {
		*f = catFilter{}
		return nil
	}
	spec := a.Value
	fatal := func(format string, args ...any) error {
		return &parseopt.FatalError{Err: fmt.Errorf(format, args...)}
	}
	key, value, _ := strings.Cut(spec, "=")
	switch {
	case spec == "auto":
		return fatal("'auto' filter not supported by this command")
	case spec == "blob:none":
		*f = catFilter{kind: filterBlobs}
		return nil
	case key == "blob:limit":
		if n, inRange, ok := parseopt.ParseUint(value); ok && inRange {
			*f = catFilter{kind: filterBlobLimit, limit: n}
			return nil
		}
	case strings.HasPrefix(spec, "tree:"):
		if _, inRange, ok := parseopt.ParseUint(spec[len("tree:"):]); !ok || !inRange {
			return fatal("expected 'tree:<depth>'")
		}
		*f = catFilter{kind: filterOther, name: "tree"}
		return nil
	case key == "sparse:oid" && strings.Contains(spec, "="):
		*f = catFilter{kind: filterOther, name: "sparse:oid"}
		return nil
	case key == "sparse:path" && strings.Contains(spec, "="):
		return fatal("sparse:path filters support has been dropped")
	case key == "object:type" && strings.Contains(spec, "="):
		typ, ok := object.ParseType(value)
		if !ok {
			return fatal("'%s' for 'object:type=<type>' is not a valid object type", value)
		}
		*f = catFilter{kind: filterType, typ: typ}
		return nil
	case strings.HasPrefix(spec, "combine:"):
		*f = catFilter{kind: filterOther, name: "combine"}
		return nil
	}
	return fatal("invalid filter-spec '%s'", spec)
}

// refusal is the usage line that says why the filter does not apply; "" if it does.
func (f *catFilter) refusal(mode int) string {
	switch {
	case f.kind == filterOther:
		return fmt.Sprintf("objects filter not supported: '%s'", f.name)
	case f.kind != filterNone && mode == catSingle:
		return "objects filter only supported in batch mode"
	}
	return ""
}

func (f *catFilter) excludes(st odb.Stat) bool {
	switch f.kind {
	case filterBlobs:
		return st.Type == object.Blob
	case filterBlobLimit:
		return st.Type == object.Blob && uint64(st.Size) >= f.limit
	case filterType:
		return st.Type != f.typ
	}
	return false
}
