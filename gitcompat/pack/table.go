package pack

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A row is what is known of one entry of a pack that is being indexed or
// written. It holds no pointer and no name: there may be millions.
type row struct {
	off  int64
	size uint64 // of what inflates from the entry
	crc  uint32
	kept uint32 // where an indexer keeps the inflated delta; 0: nowhere
	hdr  uint8  // length of the head
	kind byte
	typ  byte // of the object; 0 while a delta is not resolved
}

// A table is the list of the entries of a pack, in the order of the pack.
type table struct {
	algo oid.Algo
	rows []row
	ids  [][]byte // raw names, in blocks that stay where they are when more is added
	end  int64    // offset of what follows the last entry
}

const idBlock = 1 << 14 // names in a block

func (t *table) add(r row) int {
	n := len(t.rows)
	t.rows = append(t.rows, r)
	if n/idBlock == len(t.ids) {
		t.ids = append(t.ids, make([]byte, idBlock*t.algo.Size()))
	}
	return n
}

// raw returns the name of row n, to be read or set.
func (t *table) raw(n int) []byte {
	size := t.algo.Size()
	at := n % idBlock * size
	return t.ids[n/idBlock][at : at+size : at+size]
}

func (t *table) id(n int) oid.ID { return t.algo.FromBytes(t.raw(n)) }

// stop returns where the entry of row n ends.
func (t *table) stop(n int) int64 {
	if n+1 < len(t.rows) {
		return t.rows[n+1].off
	}
	return t.end
}

// sorted returns the rows in the order of their names.
func (t *table) sorted() []uint32 {
	type key struct {
		head uint64
		n    uint32
	}
	keys := make([]key, len(t.rows))
	for n := range keys {
		keys[n] = key{binary.BigEndian.Uint64(t.raw(n)), uint32(n)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if c := cmp.Compare(a.head, b.head); c != 0 {
			return c
		}
		if c := bytes.Compare(t.raw(int(a.n)), t.raw(int(b.n))); c != 0 {
			return c
		}
		return cmp.Compare(a.n, b.n)
	})
	order := make([]uint32, len(keys))
	for i, k := range keys {
		order[i] = k.n
	}
	return order
}

// checkTwice returns an error if an object is in the pack more than once; order
// is that of the names.
func (t *table) checkTwice(order []uint32) error {
	for i := 1; i < len(order); i++ {
		if bytes.Equal(t.raw(int(order[i-1])), t.raw(int(order[i]))) {
			return fmt.Errorf("The same object %s appears twice in the pack", t.id(int(order[i])))
		}
	}
	return nil
}
