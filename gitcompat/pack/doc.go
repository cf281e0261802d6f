// Package pack reads and writes packfiles: the .pack itself, its .idx and its
// .rev; it indexes a pack that comes in as a stream, explodes one into loose
// objects, and makes one from a list of objects.
//
// Source: gitformat-pack(5), packfile.c, builtin/index-pack.c,
// builtin/unpack-objects.c and builtin/pack-objects.c of git 2.55.
//
// The package knows no object database. What it needs from outside of a pack
// (the base of a thin delta, an object of the same name to compare with) comes
// in as a function.
//
// Invariants:
//
//	K1  a pack is published before its .rev, and its .rev before its .idx: readers find packs by their .idx.
//	K2  no length that a file or a peer states is allocated before as many bytes as could yield it have been seen.
//	K3  delta chains are resolved by loops, not by recursion, whatever their depth.
//	K4  every object name is computed with the collision detecting hash; trailers are not names.
//	K5  an object that is already there under the same name is compared with the new one, never assumed equal.
//	K6  memory is bounded by the caches' limits, the entry table and the biggest objects, not by the size of the pack.
package pack
