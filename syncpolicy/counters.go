package syncpolicy

import (
	"math/bits"
	"sync/atomic"
)

const components = 11 // bits of Component

// Counters counts sync calls by component and kind. A failed writeout that is
// followed by a flush counts in both, as in git. Safe for concurrent use.
type Counters struct {
	writeouts, flushes [components]atomic.Int64
}

func slot(c Component) int { return bits.TrailingZeros16(uint16(c)) }

// Of returns the calls made for the single component c.
func (n *Counters) Of(c Component) (writeouts, flushes int64) {
	return n.writeouts[slot(c)].Load(), n.flushes[slot(c)].Load()
}

// Totals returns all calls: trace2's fsync/writeout-only and fsync/hardware-flush.
func (n *Counters) Totals() (writeouts, flushes int64) {
	for i := range n.writeouts {
		writeouts += n.writeouts[i].Load()
		flushes += n.flushes[i].Load()
	}
	return writeouts, flushes
}
