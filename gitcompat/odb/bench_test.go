//go:build unix

package odb

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/syncpolicy"
)

const benchFiles = 10000

// files makes a source tree of benchFiles files, some kilobytes each.
func files(b *testing.B, dir string) (paths []string) {
	for i := range benchFiles {
		path := filepath.Join(dir, fmt.Sprintf("d%02d", i%100), fmt.Sprintf("f%d", i))
		if i < 100 {
			os.MkdirAll(filepath.Dir(path), 0o755)
		}
		var text []byte
		for n := range 40 + i%160 {
			text = fmt.Appendf(text, "\tline %d of file %d says %x\n", n, i, n*i*7919)
		}
		os.WriteFile(path, text, 0o644)
		paths = append(paths, path)
	}
	return paths
}

// cpu returns the processor time of this process, or of its children: on a busy
// machine it says more than the clock.
func cpu(who int) time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAdd reads, hashes and stores the files, as `git add` does.
func BenchmarkAdd(b *testing.B) {
	for _, method := range []string{"none", "batch"} {
		b.Run(method, func(b *testing.B) {
			dir, _ := newRepo(b)
			paths := files(b, dir)
			var used time.Duration
			defer func() { b.ReportMetric(used.Seconds()*1000/float64(b.N), "cpu-ms/op") }()
			for b.Loop() {
				b.StopTimer()
				_, objects := newRepo(b)
				b.StartTimer()
				used -= cpu(syscall.RUSAGE_SELF)
				db := openDB(b, objects, Options{})
				fsync := "all"
				if method == "none" {
					fsync = "none"
				}
				bar := syncpolicy.NewBarrier(db.fsys, policy(b, fsync, "batch", "auto"), objects)
				tx := db.Begin(bar)
				err := Each(len(paths), func(i int) error {
					data, err := os.ReadFile(paths[i])
					if err != nil {
						return err
					}
					_, err = tx.Write(object.Blob, data)
					return err
				})
				if err == nil {
					err = bar.Commit()
				}
				if err != nil {
					b.Fatal(err)
				}
				used += cpu(syscall.RUSAGE_SELF)
			}
		})
	}
}

// BenchmarkGitAdd is stock git doing the same, and writing an index.
func BenchmarkGitAdd(b *testing.B) {
	for _, fsync := range []string{"default", "none", "all"} {
		b.Run(fsync, func(b *testing.B) {
			dir, _ := newRepo(b)
			files(b, dir)
			var used time.Duration
			defer func() { b.ReportMetric(used.Seconds()*1000/float64(b.N), "cpu-ms/op") }()
			for b.Loop() {
				b.StopTimer()
				// Nothing is removed meanwhile: ext4 is slow to give out the numbers
				// of inodes that were freed in the last minutes.
				repo, _ := newRepo(b)
				if fsync != "default" {
					git(b, repo, "", "config", "core.fsync", fsync)
					git(b, repo, "", "config", "core.fsyncMethod", "batch")
				}
				b.StartTimer()
				used -= cpu(syscall.RUSAGE_CHILDREN)
				git(b, dir, "", "--git-dir="+repo+"/.git", "--work-tree="+dir, "add", ".")
				used += cpu(syscall.RUSAGE_CHILDREN)
			}
		})
	}
}
