package pack

// slabs keeps small pieces of memory in a few big ones: a delta that was
// inflated once need not be inflated again, and costs no pointer.
type slabs struct {
	limit  int // bytes in all
	blocks [][]byte
	used   int // of the last block
}

const slabSize = 1 << 20

// take returns size bytes and a reference to them, 0 where the limit is reached.
func (s *slabs) take(size int) ([]byte, uint32) {
	if n := len(s.blocks); n == 0 || s.used+size > slabSize {
		if (n+1)*slabSize > s.limit {
			return nil, 0
		}
		s.blocks = append(s.blocks, make([]byte, slabSize))
		s.used = 0
	}
	n := len(s.blocks) - 1
	ref := uint32(n*slabSize + s.used + 1)
	b := s.blocks[n][s.used : s.used+size : s.used+size]
	s.used += size
	if s.used == slabSize { // ref must name this block, not the next
		s.used++
	}
	return b, ref
}

func (s *slabs) get(ref uint32, size int) []byte {
	at := int(ref-1) % slabSize
	return s.blocks[int(ref-1)/slabSize][at : at+size]
}
