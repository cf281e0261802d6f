// Package revision turns what people write for commits into object names, and
// walks history from them.
//
// A Resolver reads one expression ("HEAD~2", "@{u}", ":path", "a1b2c3d") or one
// revision argument ("a..b", "^x", "m^!"). A Walk reads commits once each and
// answers what rev-list, pack-objects, receive-pack and fast-forward tests ask.
//
// Source: gitrevisions(7) and git-rev-list(1) of git 2.55.
//
// Invariants:
//
//	V1  a commit is read and parsed once per Walk; its message is not kept.
//	V2  an expression that resolves opens no object when it is the name of a
//	    ref, or a full object name.
//	V3  nothing here writes.
//	V4  an object reachable from an uninteresting tip along the same path is
//	    never listed.
package revision
