package syncpolicy

import "github.com/sluicegit/sluice/syncpolicy/vfs"

// journalStrategy: every file is written out before its rename, and one fsync
// of the directory of the last rename commits the journal, which holds all
// names before it in order. One flush, whatever the number of files.
//
// Shown to hold on ext4 and xfs; it breaks on btrfs, whose fsync logs one inode.
type journalStrategy struct{}

// journalHolds lists the file systems of journalStrategy: those that journal
// names in order on a local device.
func journalHolds(fsys vfs.Filesystem) bool {
	switch fsys.Type {
	case "ext3", "ext4", "xfs":
		return !fsys.NoJournal
	case "darwin", "windows":
		// Not the file system's but the platform's way, which git takes there:
		// each file to the device, then one flush of the device's cache.
		return true
	}
	return false
}

func (journalStrategy) harden(b *Barrier, files []*staged) error { return b.writeoutAll(files) }

func (journalStrategy) order(b *Barrier, _ []string, files []*staged) error {
	return b.writeoutAll(files)
}

func (journalStrategy) ordersLogs() bool { return true }

// settle flushes the directory that changed last: its inode is part of the last
// journal transaction, so its fsync cannot find nothing to commit.
func (journalStrategy) settle(b *Barrier, dirs []string) error {
	return b.flushDir(dirs[len(dirs)-1])
}

func (journalStrategy) flush(b *Barrier, files []*staged) error {
	return b.flushFile(files[len(files)-1])
}
