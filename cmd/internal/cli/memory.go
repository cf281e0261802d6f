package cli

import (
	"math"
	"runtime"
	"runtime/debug"
)

// firstCollection is how large the heap grows before the collector first runs.
// Most commands end before that.
const firstCollection = 64 << 20

// growBeforeCollecting keeps the collector off until the heap has grown to
// firstCollection, and then lets it work as usual.
func growBeforeCollecting() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(firstCollection)
	sentinel := new([16]byte)
	runtime.SetFinalizer(sentinel, func(*[16]byte) {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}
