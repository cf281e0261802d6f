// Package oid holds object names: the hash that git gives each object.
//
// Source: hash.h and hash.c of git 2.55; gitformat-pack(5) for the sizes.
//
// Invariants:
//
//	O1  an ID is comparable with == and usable as a map key.
//	O2  the zero value of ID is the null object name of SHA-1.
package oid

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/pjbgf/sha1cd"
)

// Algo is a hash algorithm of a repository (extensions.objectFormat).
type Algo uint8

// The algorithms git knows. SHA1 is the zero value, so that it is the default.
const (
	SHA1 Algo = iota
	SHA256
)

// MaxSize is the size in bytes of the longest object name.
const MaxSize = 32

// ParseAlgo returns the algorithm that extensions.objectFormat calls name.
func ParseAlgo(name string) (Algo, bool) {
	switch name {
	case "sha1":
		return SHA1, true
	case "sha256":
		return SHA256, true
	}
	return 0, false
}

// String returns git's name of the algorithm.
func (a Algo) String() string {
	if a == SHA256 {
		return "sha256"
	}
	return "sha1"
}

// Size is the length of an object name in bytes.
func (a Algo) Size() int {
	if a == SHA256 {
		return 32
	}
	return 20
}

// HexSize is the length of an object name in hexadecimal digits.
func (a Algo) HexSize() int { return 2 * a.Size() }

// New returns the hash for object names; for SHA-1 the collision detecting one, as git's.
func (a Algo) New() hash.Hash {
	if a == SHA256 {
		return sha256.New()
	}
	return sha1cd.New()
}

// NewChecksum returns the hash for the trailers of index and packs, which name
// no object and so need no collision detection (git 2.47, "unsafe" SHA-1).
func (a Algo) NewChecksum() hash.Hash {
	if a == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// Null returns the all-zero name.
func (a Algo) Null() ID { return ID{algo: a} }

// EmptyBlob returns the name of the blob without content.
func (a Algo) EmptyBlob() ID { return a.Sum("blob", nil) }

// EmptyTree returns the name of the tree without entries.
func (a Algo) EmptyTree() ID { return a.Sum("tree", nil) }

// Sum returns the name of the object of the given type and content.
func (a Algo) Sum(typ string, content []byte) ID {
	h := a.New()
	fmt.Fprintf(h, "%s %d\x00", typ, len(content))
	h.Write(content)
	return a.FromHash(h)
}

// FromHash returns the name that h, a hash of this algorithm, has arrived at.
func (a Algo) FromHash(h hash.Hash) ID {
	id := ID{algo: a}
	h.Sum(id.b[:0])
	return id
}

// FromBytes returns the name in the first Size bytes of b, which must be that long.
func (a Algo) FromBytes(b []byte) ID {
	id := ID{algo: a}
	copy(id.b[:a.Size()], b[:a.Size()])
	return id
}

// FromHex parses a full hexadecimal name, in either case.
func (a Algo) FromHex(s string) (ID, error) {
	id := ID{algo: a}
	if len(s) != a.HexSize() {
		return ID{}, fmt.Errorf("invalid object name '%s'", s)
	}
	if _, err := hex.Decode(id.b[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("invalid object name '%s'", s)
	}
	return id, nil
}

// An ID is an object name.
type ID struct {
	b    [MaxSize]byte
	algo Algo
}

// Algo returns the algorithm of the name.
func (id ID) Algo() Algo { return id.algo }

// Bytes returns a copy of the raw name.
func (id ID) Bytes() []byte { return append([]byte(nil), id.b[:id.algo.Size()]...) }

// Append appends the raw name to dst.
func (id ID) Append(dst []byte) []byte { return append(dst, id.b[:id.algo.Size()]...) }

// AppendHex appends the hexadecimal name to dst.
func (id ID) AppendHex(dst []byte) []byte { return hex.AppendEncode(dst, id.b[:id.algo.Size()]) }

// String returns the hexadecimal name.
func (id ID) String() string { return hex.EncodeToString(id.b[:id.algo.Size()]) }

// IsNull reports whether the name is all zero.
func (id ID) IsNull() bool { return id.b == [MaxSize]byte{} }

// Byte returns byte i of the raw name; byte 0 selects the shard and the fanout slot.
func (id ID) Byte(i int) byte { return id.b[i] }

// Compare orders names by their bytes.
func (id ID) Compare(other ID) int { return bytes.Compare(id.b[:], other.b[:]) }
