package wire

import "strings"

// Capabilities is the list of what one side can do, as it stands on the wire.
type Capabilities []string

// ParseCapabilities splits a list at its blanks.
func ParseCapabilities(s string) Capabilities { return strings.Fields(s) }

// Has reports whether the capability name, with or without a value, is listed.
func (c Capabilities) Has(name string) bool {
	_, ok := c.Value(name)
	return ok
}

// Value returns the value of the capability name=value; "" for one without.
func (c Capabilities) Value(name string) (string, bool) {
	for _, capability := range c {
		key, value, _ := strings.Cut(capability, "=")
		if key == name {
			return value, true
		}
	}
	return "", false
}
