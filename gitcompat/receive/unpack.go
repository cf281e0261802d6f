package receive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/gitcompat/wire"
	"github.com/sluicegit/sluice/syncpolicy"
)

var (
	errMigrate    = errors.New("unable to migrate objects to permanent storage")
	errPreReceive = errors.New("pre-receive hook declined")
)

// receive takes the pack into the transaction's own folder: few objects loose,
// many as a pack. It returns the status of "unpack", "" for ok.
func (s *server) receive(req *request, in *wire.Reader, b *syncpolicy.Barrier) string {
	if req.deleteOnly() {
		return ""
	}
	count, status := packHead(in)
	if status != "" {
		return status
	}
	t := s.db.BeginFor(b, "incoming")
	alternates, _ := s.repo.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES")
	env, err := t.Environ(alternates)
	if err != nil {
		s.errorf("%s", err)
		return "unable to start object transaction"
	}
	s.quarantine = env
	name, take := "unpack-objects", s.unpack
	if int(count) >= s.set.unpackLimit {
		name, take = "index-pack", s.index
	}
	check, err := s.checker()
	if err == nil {
		err = take(t, in.Rest(), check)
	}
	if err == nil {
		err = t.Adopt()
	}
	if err == nil && check != nil {
		_, err = check.Finish(s.typeOf, s.db.Read)
	}
	if err != nil {
		s.say("fatal: ", "%s", err)
		return name + " abnormal exit"
	}
	return ""
}

// packHead looks at the head of the pack without taking it from the stream.
func packHead(in *wire.Reader) (count uint32, status string) {
	head, err := in.Rest().Peek(12)
	switch {
	case err != nil:
		return 0, "eof before pack header was fully read"
	case string(head[:4]) != "PACK":
		return 0, "protocol error (pack signature mismatch detected)"
	case binary.BigEndian.Uint32(head[4:]) != 2 && binary.BigEndian.Uint32(head[4:]) != 3:
		return 0, "protocol error (pack version unsupported)"
	}
	return binary.BigEndian.Uint32(head[8:]), ""
}

// checker returns the check of receive.fsckObjects; nil without it.
func (s *server) checker() (*pack.Checker, error) {
	if !s.set.fsck {
		return nil, nil
	}
	fsck := &object.Fsck{Algo: s.repo.Algo, Strict: true, EachConfig: eachVariable}
	for _, m := range s.set.fsckMessages {
		var err error
		if strings.EqualFold(m.id, "skiplist") {
			err = fsck.ReadSkipList(m.severity)
		} else if _, known := object.ParseMsgID(m.id); !known {
			s.warnf("skipping unknown msg id '%s'", m.id)
		} else {
			err = fsck.SetType(m.id, m.severity)
		}
		if err != nil {
			return nil, err
		}
	}
	return &pack.Checker{Algo: s.repo.Algo, Fsck: fsck, Links: true, Report: func(p object.Problem) {
		if p.Severity >= object.Error {
			s.errorf("%s", p)
		} else {
			s.warnf("%s", p)
		}
	}}, nil
}

// eachVariable parses a .gitmodules file for fsck.
func eachVariable(data []byte, fn func(key, value string, valueless bool)) error {
	c, err := config.LoadBytes(config.Options{}, data, &config.Origin{Kind: config.OriginBlob}, false)
	if err != nil {
		return err
	}
	for _, e := range c.Entries() {
		fn(e.Key, e.Value, !e.HasValue)
	}
	return nil
}

func (s *server) typeOf(id oid.ID) (object.Type, error) {
	typ, _, err := s.db.Info(id)
	return typ, err
}

// unpack writes the objects loose.
func (s *server) unpack(t *odb.Transaction, src io.Reader, check *pack.Checker) error {
	o := pack.UnpackOptions{
		Algo: s.repo.Algo, MaxSize: s.set.maxInputSize,
		Read: s.db.Read, Write: t.Write, WriteStream: t.WriteLooseStream,
	}
	if check != nil {
		o.Check = check.Object
	}
	res, err := pack.Unpack(src, o)
	if err == nil && res.Bad {
		err = errors.New("the pack has bad objects")
	}
	return err
}

// index keeps the pack as it is, and keeps others from repacking it until the
// refs that need it are there. In the transaction's folder nothing is hardened:
// that comes when the transaction adopts the files.
func (s *server) index(t *odb.Transaction, src io.Reader, check *pack.Checker) error {
	dir, err := t.Dir()
	if err != nil {
		return err
	}
	locker, err := s.repo.Locker()
	if err != nil {
		return err
	}
	revIndex, err := s.repo.Config.Bool("pack.writereverseindex", true)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	keep := fmt.Sprintf("receive-pack %d on %s", os.Getpid(), host)
	inner := syncpolicy.NewBarrier(s.repo.FS, &syncpolicy.Policy{}, dir)
	defer inner.Rollback()
	out := pack.Output{Barrier: inner, Dir: filepath.Join(dir, "pack"), Shared: locker.Shared, Keep: &keep}
	o := pack.IndexOptions{
		Algo: s.repo.Algo, FixThin: true, MaxSize: s.set.maxInputSize, RevIndex: revIndex,
		Has: s.db.HasQuick, Read: s.db.Read, Open: s.db.Reader,
	}
	if check != nil {
		o.Check = check.Object
	}
	res, err := pack.IndexPack(src, out, o)
	if err != nil {
		return err
	}
	if err := inner.Commit(); err != nil {
		return err
	}
	if res.Kept {
		s.keep = filepath.Join(s.db.Dir(), "pack", "pack-"+res.Checksum.String()+".keep")
	}
	return nil
}

// dropKeep lets others repack the pack: its refs are there, or it is not.
func (s *server) dropKeep() {
	if s.keep != "" {
		s.repo.FS.Remove(s.keep)
		s.keep = ""
	}
}

// checkConnected refuses the commands whose new values reach objects that are
// not there (V2). All are tried at once; if that fails, one by one.
func (s *server) checkConnected(req *request) {
	haves, err := tips(s.store)
	if err != nil {
		s.errorf("%s", err)
		refuseAll(req.commands, "missing necessary objects")
		return
	}
	var ids []oid.ID
	for _, c := range req.commands {
		if c.err == "" && !c.deletion() {
			ids = append(ids, c.new)
		}
	}
	if len(ids) == 0 {
		return
	}
	alternates, err := s.alternateTips()
	if err == nil {
		haves = append(haves, alternates...)
		err = revision.NewWalk(s.db, s.grafts).CheckConnected(ids, haves)
	}
	if err == nil {
		return
	}
	s.errorf("%s", err)
	for _, c := range req.commands {
		if c.err != "" || c.deletion() {
			continue
		}
		if revision.NewWalk(s.db, s.grafts).CheckConnected([]oid.ID{c.new}, haves) != nil {
			c.err = "missing necessary objects"
			if len(req.shallow) > 0 {
				c.err = "shallow update not allowed"
			}
		}
	}
}
