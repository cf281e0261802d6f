// Package gitcompat is the root of the packages that know git: the map of
// them, the version of git that they follow, the promises that they keep, and
// the ledger of what they deliberately do differently.
//
// # Map
//
// Imports only go down:
//
//	cmd/sluice           main
//	cmd/internal/cli     names, global options, delegation, messages, exit status
//	cmd/internal/builtin one file a command
//	  send transport     the sending end of a push, and how it reaches the other end
//	  receive diff       the receiving end; comparing trees, index and working tree
//	  hook revision worktree
//	                     hooks; expressions and walks; ignore rules, attributes, filters
//	  repo               discovery, formats, ownership; opens what follows
//	  odb                object database: loose objects, packs, alternates, transactions
//	  config pack refs index
//	                     one format each, read and written
//	  object             bytes of blobs, trees, commits and tags
//	  oid refname ident wire lockfile trace2
//	                     names, dates, pkt-lines, locks, traces
//	syncpolicy           what is hardened and how; the Barrier of a command
//	syncpolicy/vfs       the system calls that write
//
// # Promises
//
// Code, tests and reviews cite them by number.
//
//	P1  nothing dangling. No name (object file, pack index, index, ref, HEAD) is published
//	    before the bytes behind it, and behind all that it refers to, are hardened as the
//	    policy says.
//	P2  old or new. After a crash, a kill, a full disk or a failed flush each file of the
//	    repository is its old or its new self. A ref transaction that says atomic is all
//	    old or all new to every later reader that does not crash.
//	P3  acknowledged is durable. Where the policy covers what a command wrote, exit status
//	    0, or "ok <ref>" on the wire, means that the update survives a power cut.
//	P4  git's bytes. Index, refs, packed-refs, reflogs, config, commits, trees and tags are
//	    byte for byte what git would have written; loose objects and packs decode to the
//	    same objects. Index extensions that are still true survive a rewrite.
//	P5  git's locks. "<path>.lock" made with O_EXCL, git's time-outs, git's messages; safe
//	    beside any number of git processes.
//	P6  a failed flush is final. It is reported, the command rolls back and exits with 128;
//	    no file is synced a second time and called good.
//	P7  known or refused. An option, extension, format or command that is not implemented
//	    goes to real git as a whole, before anything is written, or is refused by name.
//	P8  no more than the policy asks. core.fsync=none issues no sync call at all.
//	P9  nobody tidies up. After a power cut or a kill the next command works.
//
// # Ledger of deliberate differences
//
// What stands here is no bug, and each line names the script of t/ that shows it.
//
// Durability:
//
//   - Where neither core.fsync nor core.fsyncMethod is set, everything is hardened by one
//     barrier a command; git hardens packs only. sluice.default=git takes git's default. (t0051)
//   - New names are made durable, and reflogs, symbolic refs, configuration files and
//     deletions of refs are hardened with the components that the policy names; git leaves
//     them out. sluice.settle=false leaves them out, too. (t0050, t0051)
//   - The number of flushes does not depend on the number of files: what git flushes one by
//     one is written out first, and flushed together. (t0050)
//   - The index is hardened by every command that writes it; git leaves it out in `commit
//     -a` and `commit <paths>`. (t0050)
//   - A writeout that fails for the disk's sake is not answered by a full sync, which might
//     then succeed although the data is gone. Only where the call does not exist does a
//     sync take its place, as in git. (Go test of package syncpolicy: it takes a disk that
//     fails)
//   - Reflog entries are appended and hardened before the refs change; when the flush then
//     fails they are taken back. (Go test of package syncpolicy, for the same reason)
//
// After a crash:
//
//   - A lock that is older than the boot of the machine, or whose process was killed on
//     this machine, is removed, with one line on stderr. A lock of anybody else is
//     respected. sluice.staleLocks=never turns this off. (t0055)
//   - To know the owner of a lock, a command keeps a file tmp_locks_* in the common directory
//     while it holds locks. A killed one leaves it; whoever meets one of its locks clears
//     all of them and the file. (t0055)
//   - In git's side file <file>~pid.lock, more about the owner follows "pid N" behind a NUL,
//     which git does not read. (t0055)
//   - An object file that is empty or does not decode does not count as present: writing
//     the object again replaces it. git takes the file for the object. (t0056)
//   - A transaction that ends by a signal or for want of space removes its temporaries. (t0057, t0058)
//
// Refs:
//
//   - A rejected update of the branch that HEAD points to leaves no entry in the reflog of
//     HEAD. (t1400)
//   - pack-refs takes the loose refs that it packed away in one transaction; git runs one
//     for each. Packing or deleting any number of refs rewrites packed-refs at most once. (t1400)
//   - Bytes of a damaged packed-refs are never written back. (t0056)
//
// Processes:
//
//   - A push to a repository on this machine, by path or file://, is served by the same
//     process; git starts receive-pack, which starts more. receive.* settings, hooks and
//     their environment are those of the other repository, as in git. Where --receive-pack
//     or remote.<name>.receivepack names a program, that one is run. (t5400, t5405)
//   - commit and receive-pack start no automatic maintenance. (t5405, t7501)
//
// Refused or delegated by name, before anything is written (t0411):
//
//   - repositories with SHA-256 object names, reftables, or an extension that git 2.55 does
//     not know;
//   - split and sparse indexes;
//   - pushes over ssh, http(s), git://, bundles and remote helpers;
//   - everything that `sluice commands` says is not native.
package gitcompat

// ReferenceVersion is the version of git whose behaviour this module has.
const ReferenceVersion = "2.55.0"
