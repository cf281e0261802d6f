package builtin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/syncpolicy"
)

// packLevel reads the level at which packs are compressed: key, else
// core.compression.
func packLevel(c *config.Config, key string) (pack.Level, error) {
	e := c.Lookup(key)
	if e == nil {
		e = c.Lookup("core.compression")
	}
	if e == nil {
		return 0, nil
	}
	n, err := e.Int()
	if err != nil {
		return 0, err
	}
	level, err := pack.NewLevel(n)
	if err != nil && e.Key == "pack.compression" {
		err = fmt.Errorf("bad pack compression level %d", n)
	}
	return level, err
}

// packThreads reads pack.threads.
func packThreads(c *config.Config) (int, error) {
	n, err := c.Int("pack.threads", 0)
	if err == nil && n < 0 {
		err = fmt.Errorf("invalid number of threads specified (%d)", n)
	}
	return n, err
}

// packIndexFormat reads pack.indexVersion.
func packIndexFormat(c *config.Config) (pack.IndexFormat, error) {
	n, err := c.Int("pack.indexversion", 2)
	if err == nil && (n < 0 || n > 2) {
		err = fmt.Errorf("bad pack.indexVersion=%d", uint32(n))
	}
	return pack.IndexFormat{Version: n}, err
}

// writesRevIndex reads pack.writeReverseIndex.
func (e *Env) writesRevIndex() (bool, error) {
	if no, err := e.EnvBool("GIT_TEST_NO_WRITE_REV_INDEX", false); no || err != nil {
		return false, err
	}
	return e.Config.Bool("pack.writereverseindex", true)
}

// parseIndexVersion reads the value of --index-version.
func parseIndexVersion(value string, f *pack.IndexFormat) bool {
	text, limit, both := strings.Cut(value, ",")
	v, err := strconv.ParseUint("0"+text, 10, 32)
	if err != nil || v > 2 {
		return false
	}
	f.Version = int(v)
	if both {
		n, err := strconv.ParseUint(limit, 0, 32)
		if err != nil || n&0x80000000 != 0 {
			return false
		}
		f.Off32Limit = uint32(n)
	}
	return true
}

// parsePackHeader reads the value of --pack_header=<version>,<objects>.
func parsePackHeader(value string) ([]byte, error) {
	v, n, ok := strings.Cut(value, ",")
	version, err1 := strconv.ParseUint(v, 10, 32)
	objects, err2 := strconv.ParseUint(n, 10, 32)
	if !ok || err1 != nil || err2 != nil {
		return nil, fmt.Errorf("bad --pack_header: %s", value)
	}
	hdr := binary.BigEndian.AppendUint32([]byte("PACK"), uint32(version))
	return binary.BigEndian.AppendUint32(hdr, uint32(objects)), nil
}

// packBarrier returns a barrier for what is written to dir, in a repository or not.
func (e *Env) packBarrier(dir string) (*syncpolicy.Barrier, error) {
	if e.Repo != nil {
		return e.Repo.NewBarrier()
	}
	policy, warnings, err := repo.LoadPolicy(e.Config)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		e.Warn("%s", w)
	}
	return syncpolicy.NewBarrier(e.FS, policy, dir), nil
}

// packChecker returns a Checker that reports to Stderr; fsck may be nil.
func (e *Env) packChecker(algo oid.Algo, fsck *object.Fsck, links bool) *pack.Checker {
	if fsck != nil {
		fsck.Algo, fsck.EachConfig = algo, eachConfigVariable
	}
	return &pack.Checker{Algo: algo, Fsck: fsck, Links: links, Report: func(p object.Problem) {
		if p.Severity >= object.Error {
			e.Error(errors.New(p.String()))
		} else {
			e.Warn("%s", p)
		}
	}}
}

// eachConfigVariable parses a .gitmodules file for fsck.
func eachConfigVariable(data []byte, fn func(key, value string, valueless bool)) error {
	c, err := config.LoadBytes(config.Options{}, data, &config.Origin{Kind: config.OriginBlob}, false)
	if err != nil {
		return err
	}
	for _, entry := range c.Entries() {
		fn(entry.Key, entry.Value, !entry.HasValue)
	}
	return nil
}
