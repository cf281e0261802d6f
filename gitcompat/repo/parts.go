package repo

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sluicegit/sluice/gitcompat/ident"
	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
)

// ODB opens the object database, once.
func (r *Repo) ODB() (*odb.DB, error) {
	r.odbOnce.Do(func() { r.odb, r.odbErr = r.openODB() })
	return r.odb, r.odbErr
}

func (r *Repo) openODB() (*odb.DB, error) {
	o := odb.Options{Name: r.GitPathName("objects"), Report: func(err error) { r.warn("error: " + err.Error()) }}
	locker, err := r.Locker()
	if err != nil {
		return nil, err
	}
	o.Shared = locker.Shared
	if env, ok := r.env("GIT_ALTERNATE_OBJECT_DIRECTORIES"); ok {
		for _, dir := range odb.SplitAlternates(env) {
			o.Alternates = append(o.Alternates, join(r.Dir, dir))
		}
	}
	if o.LooseCompression, err = r.level("core.loosecompression"); err != nil {
		return nil, err
	}
	if o.PackCompression, err = r.level("pack.compression"); err != nil {
		return nil, err
	}
	big, err := r.Config.Ulong("core.bigfilethreshold", 0)
	if err != nil {
		return nil, err
	}
	o.BigFileThreshold = int64(min(big, 1<<62))
	limit, err := r.Config.Ulong("pack.packsizelimit", 0)
	if err != nil {
		return nil, err
	}
	o.PackSizeLimit = int64(min(limit, 1<<62))
	if o.PruneExpire, err = r.pruneExpire(); err != nil {
		return nil, err
	}
	cache, err := r.Config.Ulong("core.deltabasecachelimit", 0)
	if err != nil {
		return nil, err
	}
	o.BaseCache = int64(min(cache, 1<<62))
	return odb.Open(r.FS, r.ObjectDir(), r.Algo, o)
}

// level reads a compression level: that of key, else core.compression.
func (r *Repo) level(key string) (level odb.Level, err error) {
	e := r.Config.Lookup(key)
	if e == nil {
		e = r.Config.Lookup("core.compression")
	}
	if e == nil {
		return level, nil
	}
	n, err := e.Int()
	if err != nil {
		return level, err
	}
	level, err = odb.NewLevel(n)
	if err != nil && key == "pack.compression" && e.Key == key {
		return level, fmt.Errorf("bad pack compression level %d", n)
	}
	return level, err
}

// pruneExpire is the age of leftovers that may be removed; negative for never.
func (r *Repo) pruneExpire() (time.Duration, error) {
	text, ok, err := r.Config.String("gc.pruneexpire")
	if err != nil || !ok {
		return 0, err
	}
	now := time.Now()
	when, ok := ident.ParseExpiry(text, now, time.Local)
	if !ok || when == 0 || when > uint64(now.Unix()) {
		// What is newer than now belongs to a running program; leave it alone.
		return -1, nil
	}
	return now.Sub(time.Unix(int64(when), 0)), nil
}

// Refs opens the ref store, once.
func (r *Repo) Refs() (*refs.Store, error) {
	r.refsOnce.Do(func() { r.refs, r.refsErr = r.openRefs() })
	return r.refs, r.refsErr
}

func (r *Repo) openRefs() (*refs.Store, error) {
	locker, err := r.Locker()
	if err != nil {
		return nil, err
	}
	o := refs.Options{
		FS: r.FS, GitDir: r.GitDir, CommonDir: r.CommonDir, PackedName: r.GitPathName("packed-refs"),
		Algo: r.Algo, Locker: locker, Hook: r.RefHook,
		ObjectType: r.objectType, HasObject: r.hasObject, Peel: r.peelTag,
		Committer: r.committer,
		Say:       r.warn,
	}
	if o.LockTimeout, err = r.milliseconds("core.filesreflocktimeout", refs.DefaultLockTimeout); err != nil {
		return nil, err
	}
	if o.PackedLockTimeout, err = r.milliseconds("core.packedrefstimeout", refs.DefaultPackedLockTimeout); err != nil {
		return nil, err
	}
	if o.SymlinkRefs, err = r.Config.Bool("core.prefersymlinkrefs", false); err != nil {
		return nil, err
	}
	_, o.Forbidden = r.env("GIT_QUARANTINE_PATH")
	if e := r.Config.Lookup("core.logallrefupdates"); e != nil {
		o.LogAll = refs.LogAlways
		if !strings.EqualFold(e.Value, "always") {
			b, err := e.Bool()
			if err != nil {
				return nil, err
			}
			o.LogAll = refs.LogNone
			if b {
				o.LogAll = refs.LogNormal
			}
		}
	}
	o.LogAll = o.LogAll.Resolve(r.Bare)
	return refs.Open(o), nil
}

// milliseconds reads a time-out; negative means without end.
func (r *Repo) milliseconds(key string, def time.Duration) (time.Duration, error) {
	e := r.Config.Lookup(key)
	if e == nil {
		return def, nil
	}
	n, err := e.Int()
	return time.Duration(n) * time.Millisecond, err
}

func (r *Repo) committer() (string, error) {
	source, err := r.Ident()
	if err != nil {
		return "", err
	}
	id, err := source.Get(ident.Committer, false)
	return id.String(), err
}

func (r *Repo) objectType(id oid.ID) (object.Type, error) {
	db, err := r.ODB()
	if err != nil {
		return 0, err
	}
	typ, size, err := db.Info(id)
	if err != nil || size < 1<<20 {
		typ, _, err = db.Read(id)
		return typ, err
	}
	typ, _, in, err := db.Reader(id)
	if err != nil {
		return typ, err
	}
	_, err = io.Copy(io.Discard, in)
	if cerr := in.Close(); err == nil {
		err = cerr
	}
	return typ, err
}

func (r *Repo) hasObject(id oid.ID) bool {
	db, err := r.ODB()
	return err == nil && db.Has(id)
}

// peelTag follows annotated tags to what is no tag. A tag that lies about the
// type of what it names leads nowhere.
func (r *Repo) peelTag(id oid.ID) (oid.ID, bool) {
	db, err := r.ODB()
	if err != nil {
		return oid.ID{}, false
	}
	typ, _, err := db.Info(id)
	if err != nil || typ != object.Tag {
		return oid.ID{}, false
	}
	for typ == object.Tag {
		tag, err := db.ReadTag(id)
		if err != nil {
			return oid.ID{}, false
		}
		id = tag.Object
		if typ, _, err = db.Info(id); err != nil || typ != tag.Type {
			return oid.ID{}, false
		}
	}
	return id, true
}
