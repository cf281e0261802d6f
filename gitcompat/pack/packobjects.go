package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/syncpolicy"
)

// An Item is an object of a pack that is to be made.
type Item struct {
	ID   oid.ID
	Type object.Type // Bad: not known
	Hash uint32      // NameHash of its path, 0 for none: like objects are near each other by it
	Base bool        // the receiver has it: it is not sent, but deltas may be made of it (a thin pack)
}

// NameHash returns the hash of a path, by whose value paths with the same end
// come near each other (the name-hash of gitformat-pack's bitmaps, version 1).
func NameHash(path string) uint32 {
	var h uint32
	for i := range len(path) {
		switch c := path[i]; c {
		case ' ', '\t', '\n', '\v', '\f', '\r':
		default:
			h = h>>2 + uint32(c)<<24
		}
	}
	return h
}

// PackOptions says how a pack is to be made. Functions are called by several
// goroutines at a time, but for Progress.
type PackOptions struct {
	Algo     oid.Algo
	Level    Level
	OfsDelta bool // name the base of a delta by its place where it is in the pack
	Window   int  // how many objects are tried as a base of each; 0: no deltas are looked for
	Depth    int  // how long chains of found deltas may be
	Threads  int  // 0: as many as git would take
	BigFile  int64
	NoReuse  bool // make everything anew

	NoReuseDelta bool // make deltas anew

	// Where the objects are. Stored, which may be nil, finds a pack.
	Read   ReadFunc
	Info   func(oid.ID) (object.Type, int64, error)
	Open   func(oid.ID) (object.Type, int64, io.ReadCloser, error)
	Stored func(oid.ID) (p *Pack, off int64, ok bool)

	Report   func(error) // gets what git prints as "error: " and goes on; may be nil
	Progress func(step Step, done, total int)
}

// Packed is what became of the objects.
type Packed struct {
	Checksum     oid.ID
	Objects      int
	Deltas       int
	Reused       int
	ReusedDeltas int
}

// A packer makes a pack in three steps: it finds what is stored already, looks
// for deltas among the rest, and writes, bases before what is made of them.
type packer struct {
	o     *PackOptions
	objs  []packObject
	byID  map[oid.ID]int32
	packs []*Pack
	t     table
	res   Packed
	total int // objects that are sent
}

// A packObject is one object on its way. There may be millions.
type packObject struct {
	id    oid.ID
	hash  uint32
	typ   object.Type
	base  bool   // is not sent
	kids  bool   // a stored delta is made of it
	kind  byte   // as stored; 0: nowhere in a pack
	pack  uint16 // where stored
	off   int64
	size  uint64 // of what is stored; of the object once it is known
	from  int32  // 1 + the object that it is a delta of
	reuse bool   // the stored delta is sent
	depth uint16
	out   int64  // its place in the new pack; 0: not written
	delta []byte // deflated, if found and kept
	dsize uint32 // of the found delta, inflated
}

// PackObjects writes a pack of the items to w. Items that come twice are taken
// once. With none, the pack is empty and good.
func PackObjects(w io.Writer, items []Item, o PackOptions) (*Packed, error) {
	p := newPacker(items, &o)
	if err := p.plan(); err != nil {
		return nil, err
	}
	sum, err := p.write(w)
	if err != nil {
		return nil, err
	}
	p.res.Checksum = o.Algo.FromBytes(sum)
	return &p.res, nil
}

// PackFiles writes a pack of the items, with its index, to files.
func PackFiles(out Output, items []Item, f IndexFormat, revIndex bool, o PackOptions) (*Packed, error) {
	p := newPacker(items, &o)
	if err := p.plan(); err != nil {
		return nil, err
	}
	var sum []byte
	file, err := out.write("tmp_pack_", "", func(w io.Writer) (err error) {
		sum, err = p.write(w)
		return err
	})
	if err != nil {
		return nil, err
	}
	x := &indexer{o: &IndexOptions{Algo: o.Algo, Index: f, RevIndex: revIndex}, t: p.t, sum: sum}
	tables, err := x.writeTables(&out)
	if err != nil {
		out.remove(file)
		return nil, err
	}
	p.res.Checksum = o.Algo.FromBytes(sum)
	if err := out.stage(syncpolicy.Pack, file, out.path("", p.res.Checksum, "pack")); err != nil {
		tables.discard(&out)
		return nil, err
	}
	return &p.res, tables.stage(&out)
}

func newPacker(items []Item, o *PackOptions) *packer {
	if o.Threads <= 0 {
		o.Threads = threads(runtime.GOMAXPROCS(0))
	}
	if o.BigFile <= 0 {
		o.BigFile = DefaultBigFile
	}
	p := &packer{o: o, byID: make(map[oid.ID]int32, len(items)), t: table{algo: o.Algo}}
	p.objs = make([]packObject, 0, len(items))
	for _, it := range items {
		if n, ok := p.byID[it.ID]; ok {
			obj := &p.objs[n]
			if obj.base && !it.Base {
				obj.base = false
				p.total++
			}
			if obj.hash == 0 {
				obj.hash = it.Hash
			}
			continue
		}
		p.byID[it.ID] = int32(len(p.objs))
		p.objs = append(p.objs, packObject{id: it.ID, hash: it.Hash, typ: it.Type, base: it.Base})
		if !it.Base {
			p.total++
		}
	}
	return p
}

// plan finds out what is stored, and what will be sent as a delta.
func (p *packer) plan() error {
	if p.o.NoReuse {
		p.o.NoReuseDelta = true
	}
	if p.o.Stored != nil {
		p.locate()
	}
	if !p.o.NoReuseDelta {
		p.reuseDeltas()
	}
	if err := p.findTypes(); err != nil {
		return err
	}
	if p.o.Window > 0 && p.o.Depth > 0 {
		return p.search()
	}
	return nil
}

// locate finds the objects that are stored in packs. What is wrong with an
// entry shows when it is read.
func (p *packer) locate() {
	numbers := map[*Pack]uint16{}
	for i := range p.objs {
		obj := &p.objs[i]
		in, off, ok := p.o.Stored(obj.id)
		if !ok {
			continue
		}
		n, known := numbers[in]
		if !known {
			if len(p.packs) == 1<<16-1 {
				continue
			}
			n = uint16(len(p.packs))
			numbers[in] = n
			p.packs = append(p.packs, in)
		}
		c := in.cursor()
		e, err := in.entry(c, off)
		in.cursors.Put(c)
		if err != nil {
			p.report(err)
			continue
		}
		obj.kind, obj.pack, obj.off, obj.size = e.kind, n, off, e.size
	}
}

// findTypes asks for the types that were not given and do not show.
func (p *packer) findTypes() error {
	for i := range p.objs {
		obj := &p.objs[i]
		switch {
		case obj.typ != object.Bad || obj.reuse:
		case obj.kind != 0 && !isDelta(obj.kind):
			obj.typ = object.Type(obj.kind)
		default:
			typ, _, err := p.o.Info(obj.id)
			if err != nil && !obj.base {
				return fmt.Errorf("unable to get type of object %s", obj.id)
			}
			obj.typ = typ
		}
	}
	return nil
}

func (p *packer) report(err error) {
	if p.o.Report != nil {
		p.o.Report(err)
	}
}

// reuseDeltas decides which stored deltas are sent as they are: those whose base
// is sent, too, or at the receiver.
func (p *packer) reuseDeltas() {
	type place struct {
		pack uint16
		off  int64
	}
	places := make(map[place]int32, len(p.objs))
	for i := range p.objs {
		if obj := &p.objs[i]; obj.kind != 0 {
			places[place{obj.pack, obj.off}] = int32(i)
		}
	}
	for i := range p.objs {
		obj := &p.objs[i]
		if obj.base || !isDelta(obj.kind) {
			continue
		}
		in := p.packs[obj.pack]
		c := in.cursor()
		e, err := in.entry(c, obj.off)
		in.cursors.Put(c)
		if err != nil {
			p.report(err)
			continue
		}
		off, err := in.baseOffset(e)
		if err != nil {
			p.report(err)
			continue
		}
		n, ok := places[place{obj.pack, off}]
		if !ok { // the base may have been found in another pack
			at, _, err := in.extent(off)
			if err != nil {
				p.report(err)
				continue
			}
			n, ok = p.byID[in.idx.ID(at)]
		}
		if ok {
			obj.from, obj.reuse, p.objs[n].kids = n+1, true, true
		}
	}
	p.limitChains()
}

// limitChains breaks stored chains that are longer than wanted, and the cycles
// that deltas of different packs can form.
func (p *packer) limitChains() {
	const onChain = 1<<16 - 1
	limit := p.o.Depth
	if limit == 0 {
		limit = onChain - 1
	}
	var chain []int32
	for i := range p.objs {
		n := int32(i)
		for ; p.objs[n].reuse && p.objs[n].depth == 0; n = p.objs[n].from - 1 {
			p.objs[n].depth = onChain
			chain = append(chain, n)
		}
		depth := int(p.objs[n].depth)
		if depth == onChain { // a cycle: its last link goes
			depth = limit
		}
		for ; len(chain) > 0; chain = chain[:len(chain)-1] {
			obj := &p.objs[chain[len(chain)-1]]
			if depth++; depth > limit {
				obj.from, obj.reuse, depth = 0, false, 0
			}
			obj.depth = uint16(depth)
		}
	}
}

// order returns the objects that are sent in the order in which they are
// written: that of the items, but bases first.
func (p *packer) order() ([]int32, error) {
	order := make([]int32, 0, p.total)
	placed := make([]bool, len(p.objs))
	var chain []int32
	for i := range p.objs {
		for n := int32(i); !placed[n] && !p.objs[n].base; n = p.objs[n].from - 1 {
			placed[n] = true
			chain = append(chain, n)
			if p.objs[n].from == 0 {
				break
			}
		}
		for ; len(chain) > 0; chain = chain[:len(chain)-1] {
			order = append(order, chain[len(chain)-1])
		}
	}
	if len(order) != p.total {
		return nil, fmt.Errorf("wrote %d objects while expecting %d", len(order), p.total)
	}
	return order, nil
}

// write writes the pack to w and returns its trailer.
func (p *packer) write(w io.Writer) ([]byte, error) {
	order, err := p.order()
	if err != nil {
		return nil, err
	}
	if uint64(len(order)) > 1<<32-1 {
		return nil, errors.New("pack has too many objects")
	}
	s := newSumWriter(w, p.o.Algo)
	s.write([]byte("PACK\x00\x00\x00\x02"))
	s.write(binary.BigEndian.AppendUint32(nil, uint32(len(order))))
	p.t.end = headerSize
	if err := p.writeAll(s, order); err != nil {
		return nil, err
	}
	p.res.Objects = len(order)
	return s.finish(w)
}
