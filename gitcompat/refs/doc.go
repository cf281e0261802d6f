// Package refs reads and writes the refs of a repository in git's files
// backend: loose refs, symbolic refs, packed-refs and reflogs. It is safe beside
// any number of git processes, and writes what git would have written.
//
// Source: gitrepository-layout(5), git-update-ref(1), git-pack-refs(1),
// githooks(5), and refs.c, refs/files-backend.c and refs/packed-backend.c of
// git 2.55.
//
// Invariants:
//
//	R1  the current value of a ref is read after its lock was taken, and checked while it is held.
//	R2  loose refs are read before packed-refs, so that a ref on its way from one to the other is always seen.
//	R3  a value that was taken from packed-refs is used only if packed-refs was still the same file after the lock was taken.
//	R4  nothing is published before every ref of a transaction is locked and checked.
//	R5  a ref is taken out of packed-refs before its loose file is removed, and put into packed-refs before it.
//	R6  a reflog entry is written before the ref that it describes, and tells the old value read under the lock.
//	R7  whatever the number of refs, one transaction rewrites packed-refs at most once.
//	R8  a malformed packed-refs is an error with git's words; nothing is taken from it, and it is not rewritten.
package refs
