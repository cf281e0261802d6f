package vfs

// A Filesystem is what is known of the file system that holds a directory.
type Filesystem struct {
	Type      string // as in the mount table: "ext4", "xfs", "btrfs", ...; "unknown"
	Source    string // device or export
	Mount     string // where it is mounted
	Options   string // of the mount and of the file system, joined by commas
	NoJournal bool   // ext4 without a journal
}
