package pack

import (
	"container/list"
	"sync"

	"github.com/sluicegit/sluice/gitcompat/object"
)

// DefaultCacheLimit is git's default of core.deltaBaseCacheLimit.
const DefaultCacheLimit = 96 << 20

// A BaseCache holds recently used delta bases of any number of packs, the least
// recently used of them going first when its limit is reached.
type BaseCache struct {
	mu      sync.Mutex
	limit   int64
	used    int64
	entries map[baseKey]*list.Element
	order   list.List // of *cachedBase, most recent first
}

type baseKey struct {
	pack *Pack
	off  int64
}

type cachedBase struct {
	key  baseKey
	typ  object.Type
	data []byte
}

// NewBaseCache returns a cache for at most limit bytes.
func NewBaseCache(limit int64) *BaseCache {
	return &BaseCache{limit: limit, entries: map[baseKey]*list.Element{}}
}

func (c *BaseCache) get(key baseKey) (object.Type, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return object.Bad, nil, false
	}
	c.order.MoveToFront(e)
	b := e.Value.(*cachedBase)
	return b.typ, b.data, true
}

// put adds data, which nobody may change afterwards.
func (c *BaseCache) put(key baseKey, typ object.Type, data []byte) {
	size := int64(len(data))
	if size > c.limit/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] != nil {
		return
	}
	c.entries[key] = c.order.PushFront(&cachedBase{key, typ, data})
	for c.used += size; c.used > c.limit; {
		c.drop(c.order.Back())
	}
}

func (c *BaseCache) drop(e *list.Element) {
	b := c.order.Remove(e).(*cachedBase)
	delete(c.entries, b.key)
	c.used -= int64(len(b.data))
}

// forget drops what belongs to p.
func (c *BaseCache) forget(p *Pack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.entries {
		if key.pack == p {
			c.drop(e)
		}
	}
}
