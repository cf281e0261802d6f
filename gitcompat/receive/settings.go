package receive

import (
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// deny is a value of receive.denyCurrentBranch or receive.denyDeleteCurrent.
type deny uint8

const (
	denyUnset deny = iota
	denyIgnore
	denyWarn
	denyRefuse
	denyUpdateInstead
)

// settings are the receive.* and transfer.* keys.
type settings struct {
	unpackLimit       int
	fsck              bool
	fsckMessages      []fsckMessage
	maxInputSize      int64
	denyDeletes       bool
	denyNonFF         bool
	denyCurrent       deny
	denyDeleteCurrent deny
	atomic            bool // advertise it
	pushOptions       bool
	ofsDelta          bool
	sessionID         bool
	hidden            []string
	keepAlive         time.Duration
}

// A fsckMessage is one receive.fsck.<msg-id>, or the skip list.
type fsckMessage struct{ id, severity string }

// defaultUnpackLimit is the number of objects from which a pack is kept.
const defaultUnpackLimit = 100

func loadSettings(c *config.Config) (s settings, err error) {
	g := getter{c: c}
	s.unpackLimit = g.int("receive.unpacklimit", g.int("transfer.unpacklimit", -1))
	if s.unpackLimit < 0 {
		s.unpackLimit = g.int("transfer.unpacklimit", -1)
	}
	if s.unpackLimit < 0 {
		s.unpackLimit = defaultUnpackLimit
	}
	s.fsck = g.bool("receive.fsckobjects", g.bool("transfer.fsckobjects", false))
	s.maxInputSize = g.int64("receive.maxinputsize", 0)
	s.denyDeletes = g.bool("receive.denydeletes", false)
	s.denyNonFF = g.bool("receive.denynonfastforwards", false)
	s.denyCurrent = g.deny("receive.denycurrentbranch")
	s.denyDeleteCurrent = g.deny("receive.denydeletecurrent")
	s.atomic = g.bool("receive.advertiseatomic", true)
	s.pushOptions = g.bool("receive.advertisepushoptions", false)
	s.ofsDelta = g.bool("repack.usedeltabaseoffset", true)
	s.sessionID = g.bool("transfer.advertisesid", false)
	s.keepAlive = time.Duration(g.int("receive.keepalive", 5)) * time.Second
	for _, e := range c.Entries() {
		switch {
		case e.Key == "transfer.hiderefs" || e.Key == "receive.hiderefs":
			s.hidden = append(s.hidden, strings.TrimRight(e.Value, "/"))
		case strings.HasPrefix(e.Key, "receive.fsck."):
			s.fsckMessages = append(s.fsckMessages, fsckMessage{strings.TrimPrefix(e.Key, "receive.fsck."), e.Value})
		}
	}
	return s, g.err
}

// getter reads values and keeps the first error.
type getter struct {
	c   *config.Config
	err error
}

func (g *getter) keep(err error) {
	if g.err == nil {
		g.err = err
	}
}

func (g *getter) int(key string, def int) int {
	n, err := g.c.Int(key, def)
	g.keep(err)
	return n
}

func (g *getter) int64(key string, def int64) int64 {
	n, err := g.c.Int64(key, def)
	g.keep(err)
	return n
}

func (g *getter) bool(key string, def bool) bool {
	b, err := g.c.Bool(key, def)
	g.keep(err)
	return b
}

func (g *getter) deny(key string) deny {
	e := g.c.Lookup(key)
	if e == nil {
		return denyUnset
	}
	if e.HasValue {
		switch strings.ToLower(e.Value) {
		case "ignore":
			return denyIgnore
		case "warn":
			return denyWarn
		case "refuse":
			return denyRefuse
		case "updateinstead":
			return denyUpdateInstead
		}
	}
	yes, err := e.Bool()
	g.keep(err)
	if yes {
		return denyRefuse
	}
	return denyIgnore
}

// hides reports whether a ref is hidden from the client: of all patterns that
// match, the last one decides. name is the ref without the namespace, full with it.
func (s *settings) hides(name, full string) bool {
	for i := len(s.hidden) - 1; i >= 0; i-- {
		pattern, negated := strings.CutPrefix(s.hidden[i], "!")
		subject := name
		if p, ok := strings.CutPrefix(pattern, "^"); ok {
			pattern, subject = p, full
		}
		if rest, ok := strings.CutPrefix(subject, pattern); ok && (rest == "" || rest[0] == '/') {
			return !negated
		}
	}
	return false
}

// Unsupported names the part of the configuration that only git's own
// receive-pack can serve; "" if there is none.
func Unsupported(c *config.Config) string {
	for _, key := range []string{"receive.certnonceseed", "receive.procreceiverefs", "core.alternaterefscommand"} {
		if e := c.Lookup(key); e != nil {
			return key
		}
	}
	if e := c.Lookup("receive.denycurrentbranch"); e != nil && strings.EqualFold(e.Value, "updateinstead") {
		return "receive.denyCurrentBranch=updateInstead"
	}
	for _, key := range []string{"receive.shallowupdate", "receive.updateserverinfo"} {
		if on, err := c.Bool(key, false); err == nil && on {
			return key
		}
	}
	return ""
}
