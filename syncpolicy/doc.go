// Package syncpolicy decides which files a command hardens and how, and makes
// what the command wrote durable: git's core.fsync and core.fsyncMethod, read to
// the letter, and the Barrier that owns harden, publish and settle of a whole command.
//
// It knows nothing of git's files beyond the names of components.
//
// Source: environment.c (parse_fsync_components, git_default_core_config),
// write-or-die.h and wrapper.c (git_fsync) of git 2.55; config documentation
// core.fsync and core.fsyncMethod, where the code agrees with it.
//
// Invariants; the promises P1 to P9 that they serve are in DESIGN terms:
//
//	B1  no file gets its final name before its bytes, and those of every file of
//	    an earlier phase, are hardened as the policy says (P1).
//	B2  phases are published in their order: objects, packs, packed-refs, index,
//	    reflogs, refs, symrefs, config, deletions from packed-refs, removals; within a phase in staging order (P1).
//	B3  Commit returns nil only when the new names are durable, where the policy
//	    settles (P3).
//	B4  a failed sync is reported and never tried again on the same file (P6).
//	B5  a policy that hardens nothing makes no sync call (P8).
//	B6  when Commit fails or Rollback returns, no temporary that was staged and
//	    not published is left (P2).
package syncpolicy
