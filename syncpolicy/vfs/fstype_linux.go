package vfs

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Detect describes the file system that holds dir. What it cannot find out is
// left empty; Type is then "unknown".
func Detect(dir string) Filesystem {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return Filesystem{Type: "unknown"}
	}
	var sfs unix.Statfs_t
	if err := unix.Statfs(dir, &sfs); err != nil {
		return Filesystem{Type: "unknown"}
	}
	info, ok := mountOf(uint64(st.Dev), dir)
	if name := magicName(int64(sfs.Type)); name != "" {
		// The mount table tells ext2 from ext3 and ext4, which share a magic number.
		if !(name == "ext4" && strings.HasPrefix(info.Type, "ext")) {
			info.Type = name
		}
	} else if !ok {
		info.Type = "unknown"
	}
	if info.Type == "ext4" || info.Type == "ext3" {
		info.NoJournal = withoutJournal(info.Source)
	}
	return info
}

func magicName(magic int64) string {
	switch uint32(magic) {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay"
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC, 0xff534d42, 0xfe534d42:
		return "cifs"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs"
	case 0x2fc12fc1:
		return "zfs"
	}
	return ""
}

// mountOf finds the mount of the device in /proc/self/mountinfo: by device
// number, and where the file system gives its files another one (btrfs), by the
// longest mount point above dir.
func mountOf(dev uint64, dir string) (Filesystem, bool) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return Filesystem{}, false
	}
	defer f.Close()
	want := strconv.Itoa(int(unix.Major(dev))) + ":" + strconv.Itoa(int(unix.Minor(dev)))
	var best Filesystem
	bestLen := -1
	for sc := bufio.NewScanner(f); sc.Scan(); {
		before, after, ok := strings.Cut(sc.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 {
			continue
		}
		fs := Filesystem{Type: right[0], Source: unescape(right[1]), Options: left[5] + "," + right[2], Mount: unescape(left[4])}
		if left[2] == want {
			return fs, true
		}
		if len(fs.Mount) > bestLen && under(dir, fs.Mount) {
			best, bestLen = fs, len(fs.Mount)
		}
	}
	return best, bestLen >= 0
}

func under(dir, mount string) bool {
	return mount == "/" || dir == mount || strings.HasPrefix(dir, mount+"/")
}

// unescape undoes the octal escapes of blanks in /proc files.
func unescape(s string) string {
	for _, e := range []struct{ from, to string }{{`\040`, " "}, {`\011`, "\t"}, {`\012`, "\n"}, {`\134`, `\`}} {
		s = strings.ReplaceAll(s, e.from, e.to)
	}
	return s
}

// withoutJournal reports whether the kernel says that the ext file system on
// source has no journal task.
func withoutJournal(source string) bool {
	if real, err := filepath.EvalSymlinks(source); err == nil {
		source = real
	}
	b, err := os.ReadFile("/sys/fs/ext4/" + filepath.Base(source) + "/journal_task")
	return err == nil && strings.HasPrefix(string(b), "<none>")
}
