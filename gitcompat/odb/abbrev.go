package odb

import (
	"encoding/hex"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// abbrevCache keeps the names in shards that were looked at for abbreviations;
// as in git, objects that other programs add meanwhile are not noticed.
type abbrevCache struct {
	mu     sync.Mutex
	shards map[string][]oid.ID // folder of the shard -> sorted names
	auto   int
}

// shard returns the loose objects of s whose name starts with the byte first.
func (s *store) shard(first byte) []oid.ID {
	if s.tx != nil {
		return s.tx.names(s, first)
	}
	c := &s.db.abbrev
	dir := filepath.Join(s.dir, hex.EncodeToString([]byte{first}))
	c.mu.Lock()
	defer c.mu.Unlock()
	if ids, ok := c.shards[dir]; ok {
		return ids
	}
	ids := looseNames(dir, s.db.algo)
	if c.shards == nil {
		c.shards = map[string][]oid.ID{}
	}
	c.shards[dir] = ids
	return ids
}

// names is shard for the folder of a transaction, which changes.
func (t *Transaction) names(s *store, first byte) []oid.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []oid.ID
	if t.sharded {
		ids = looseNames(filepath.Join(s.dir, shardName(first)), t.db.algo)
	}
	for id, place := range t.places {
		if place != elsewhere && id.Byte(0) == first {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, oid.ID.Compare)
	return slices.Compact(ids)
}

// looseNames lists the objects in a shard, sorted.
func looseNames(dir string, algo oid.Algo) []oid.ID {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	var ids []oid.ID
	for _, name := range names {
		if len(name) != algo.HexSize()-2 {
			continue
		}
		if id, err := algo.FromHex(filepath.Base(dir) + name); err == nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, oid.ID.Compare)
	return ids
}

// forget drops what is cached of loose names, after objects were written.
func (db *DB) forget() {
	db.abbrev.mu.Lock()
	db.abbrev.shards = nil
	db.abbrev.mu.Unlock()
}

// Abbrev returns the objects whose names start with the hexadecimal prefix, in order.
func (db *DB) Abbrev(prefix string) ([]oid.ID, error) {
	lower := strings.ToLower(prefix)
	if len(lower) < 2 || len(lower) > db.algo.HexSize() {
		return nil, nil
	}
	raw, err := hex.DecodeString(lower + strings.Repeat("0", len(lower)%2))
	if err != nil {
		return nil, nil // not a prefix of any name
	}
	var ids []oid.ID
	for _, s := range db.stores() {
		for _, id := range s.shard(raw[0]) {
			if strings.HasPrefix(id.String(), lower) {
				ids = append(ids, id)
			}
		}
		for _, p := range s.known() {
			idx := p.index(db)
			if idx == nil {
				continue
			}
			for lo, hi := idx.Prefix(raw, len(lower)); lo < hi; lo++ {
				ids = append(ids, idx.ID(lo))
			}
		}
	}
	slices.SortFunc(ids, oid.ID.Compare)
	return slices.Compact(ids), nil
}

// fallbackAbbrev is the shortest automatic abbreviation.
const fallbackAbbrev = 7

// UniqueAbbrev returns the shortest prefix of id of at least minLen digits that no
// other object has. A negative minLen takes the automatic length, which grows with
// the number of packed objects.
func (db *DB) UniqueAbbrev(id oid.ID, minLen int) string {
	name := id.String()
	if minLen < 0 {
		minLen = db.autoAbbrev()
	}
	if minLen == 0 || minLen >= len(name) {
		return name
	}
	n := minLen
	longer := func(other oid.ID) {
		if c := commonDigits(id, other); c < len(name) && c >= n {
			n = c + 1
		}
	}
	for _, s := range db.stores() {
		for _, p := range s.known() {
			idx := p.index(db)
			if idx == nil {
				continue
			}
			at, ok := idx.Position(id)
			if ok && at+1 < idx.Len() {
				longer(idx.ID(at + 1))
			} else if !ok && at < idx.Len() {
				longer(idx.ID(at))
			}
			if at > 0 && at-1 < idx.Len() {
				longer(idx.ID(at - 1))
			}
		}
		ids := s.shard(id.Byte(0))
		at, ok := slices.BinarySearchFunc(ids, id, oid.ID.Compare)
		if ok && at+1 < len(ids) {
			longer(ids[at+1])
		} else if !ok && at < len(ids) {
			longer(ids[at])
		}
		if at > 0 {
			longer(ids[at-1])
		}
	}
	return name[:n]
}

// autoAbbrev is git's estimate: with 2^n objects, names collide at n/2 bits.
func (db *DB) autoAbbrev() int {
	db.abbrev.mu.Lock()
	n := db.abbrev.auto
	db.abbrev.mu.Unlock()
	if n > 0 {
		return n
	}
	count := 0
	for _, s := range db.stores() {
		for _, p := range s.known() {
			if idx := p.index(db); idx != nil {
				count += idx.Len()
			}
		}
	}
	n = max(fallbackAbbrev, (bits.Len(uint(count))+1)/2)
	db.abbrev.mu.Lock()
	db.abbrev.auto = n
	db.abbrev.mu.Unlock()
	return n
}

func commonDigits(a, b oid.ID) int {
	for i := range a.Algo().Size() {
		if x := a.Byte(i) ^ b.Byte(i); x != 0 {
			if x < 16 {
				return 2*i + 1
			}
			return 2 * i
		}
	}
	return a.Algo().HexSize()
}
