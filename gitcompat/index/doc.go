// Package index reads, changes and writes $GIT_DIR/index: the list of paths
// that the next commit will have, with what lstat said of each file when it
// was last known to be equal to its blob.
//
// Format: gitformat-index(5) of git 2.55, versions 2, 3 and 4. What read-cache.c,
// cache-tree.c and resolve-undo.c of that version write is what this package writes.
//
//	header   "DIRC", version, number of entries
//	entry    ten u32 of stat data and mode, object name, flags, [extended flags], path
//	         (v2, v3: 1 to 8 NULs up to a multiple of 8; v4: path as a difference to the one before, NUL)
//	extension*  signature, u32 length, payload, in the order IEOT TREE REUC UNTR FSMN EOIE
//	trailer  checksum of all that, or zeros with index.skipHash
//
// Invariants; the tests cite them:
//
//	I1  reading a file that git wrote and writing it again gives the same bytes.
//	I2  an extension is written only while it is true: what a change makes false is reset or left out.
//	I3  entries are sorted by path, then stage, and no path of a stage is also a directory of that stage.
//	I4  an entry whose file may have changed without a trace in its stat data is written with size 0,
//	    or was compared by content in this process.
//	I5  no length in the file makes the reader allocate more than a small multiple of the file's size.
//	I6  the file is replaced as a whole, under index.lock, by the barrier of the command.
//	I7  an index whose file did not have the checksum that it says is not written again.
//
// A split index ("link") and a sparse one ("sdir") are refused by name.
package index
