package syncpolicy

import "strings"

// A Component is a set of kinds of files that are hardened together. The names
// and aggregates are those of core.fsync (git's write-or-die.h).
type Component uint16

// git's components. The order of the bits is git's.
const (
	LooseObject Component = 1 << iota
	Pack
	PackMetadata
	CommitGraph
	Index
	Reference
	objectMap // only reached through "all"; git 2.55 hardens nothing by it

	// What git hardens under no setting, and sluice with the component that the
	// policy names for it. They have no name in core.fsync.
	Reflog    // with Reference
	Symref    // with Reference
	Config    // with any component
	Directory // names; see Policy.settles
)

const (
	objects         = LooseObject | Pack
	derivedMetadata = PackMetadata | CommitGraph
	committed       = objects | Reference
	added           = committed | Index

	// All is what core.fsync=all names.
	All = added | derivedMetadata | objectMap
	// GitDefault is what git hardens when core.fsync is not set.
	GitDefault = Pack | PackMetadata | CommitGraph
)

type componentName struct {
	name string
	bits Component
}

// componentNames is git's table; the order matters to nobody but readers.
func componentNames() []componentName {
	return []componentName{
		{"loose-object", LooseObject},
		{"pack", Pack},
		{"pack-metadata", PackMetadata},
		{"commit-graph", CommitGraph},
		{"index", Index},
		{"objects", objects},
		{"reference", Reference},
		{"derived-metadata", derivedMetadata},
		{"committed", committed},
		{"added", added},
		{"all", All},
	}
}

// Each calls f for every single component of c that can be named or counted.
func (c Component) Each(f func(Component)) {
	for bit := LooseObject; bit <= Directory; bit <<= 1 {
		if c&bit != 0 && bit != objectMap {
			f(bit)
		}
	}
}

// String returns the names of the single components of c, joined by commas, or "none".
func (c Component) String() string {
	var names []string
	c.Each(func(bit Component) { names = append(names, bit.name()) })
	if names == nil {
		return "none"
	}
	return strings.Join(names, ",")
}

func (c Component) name() string {
	switch c {
	case Reflog:
		return "reflog"
	case Symref:
		return "symref"
	case Config:
		return "config"
	case Directory:
		return "directory"
	}
	for _, n := range componentNames() {
		if n.bits == c {
			return n.name
		}
	}
	return "object-map"
}

// ParseComponents reads a value of core.fsync as git's code does, which differs
// from its manual: names match by prefix, negatives take away from base only,
// positives win whatever the order, and "none" counts only as all that remains
// of the value. The warnings are git's, without "warning: ".
func ParseComponents(value string, base Component) (Component, []string) {
	var positive, negative Component
	var warnings []string
	for rest := value; ; {
		rest = strings.TrimLeft(rest, ", \t\n\r")
		token, _, _ := strings.Cut(rest, ",")
		next := rest[len(token):]
		if rest == "none" {
			base = 0
			break
		}
		name, negated := strings.CutPrefix(token, "-")
		if name == "" {
			if negated {
				warnings = append(warnings, "invalid value for variable core.fsync")
			}
			break
		}
		bits := matching(name)
		switch {
		case bits == 0:
			warnings = append(warnings, "ignoring unknown core.fsync component '"+name+"'")
		case negated:
			negative |= bits
		default:
			positive |= bits
		}
		rest = next
	}
	return base&^negative | positive, warnings
}

// matching returns the union of all table rows whose name begins with prefix.
func matching(prefix string) Component {
	var bits Component
	for _, n := range componentNames() {
		if strings.HasPrefix(n.name, prefix) {
			bits |= n.bits
		}
	}
	return bits
}

// A Method is a value of core.fsyncMethod.
type Method uint8

// git's methods.
const (
	Fsync        Method = iota // a hardware flush for each file
	WriteoutOnly               // each file's pages to the device, no flush
	Batch                      // writeout for each file, one barrier for the command
)

// String returns the value of core.fsyncMethod that means m.
func (m Method) String() string {
	switch m {
	case WriteoutOnly:
		return "writeout-only"
	case Batch:
		return "batch"
	}
	return "fsync"
}

// ParseMethod reads a value of core.fsyncMethod; case counts.
func ParseMethod(value string) (Method, bool) {
	for _, m := range []Method{Fsync, WriteoutOnly, Batch} {
		if value == m.String() {
			return m, true
		}
	}
	return 0, false
}
