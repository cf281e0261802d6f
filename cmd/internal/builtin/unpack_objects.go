package builtin

import (
	"errors"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/object"
	"github.com/sluicegit/sluice/gitcompat/odb"
	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/pack"
)

var cmdUnpackObjects = &Command{
	Name:  "unpack-objects",
	Setup: NeedRepo,
	Run:   runUnpackObjects,
}

const unpackObjectsUsage = "git unpack-objects [-n] [-q] [-r] [--strict]"

// unpackObjects is one run of the command.
type unpackObjects struct {
	env   *Env
	o     pack.UnpackOptions
	quiet bool
	fsck  *object.Fsck // with --strict
}

func runUnpackObjects(env *Env, argv []string) Status {
	if len(argv) == 1 && argv[0] == "-h" {
		env.Print("usage: ", unpackObjectsUsage, "\n")
		return Exit(129)
	}
	u := &unpackObjects{env: env, quiet: !isTerminal(env.Stderr)}
	if ok, err := u.parse(argv); err != nil {
		return Fatal(err)
	} else if !ok {
		return UsageLine(unpackObjectsUsage)
	}
	res, err := u.run()
	var entry *pack.EntryError
	if errors.As(err, &entry) {
		return Failure(1, err)
	}
	if err != nil {
		return Fatal(err)
	}
	env.Print(string(res.Rest))
	if res.Bad {
		return Exit(1)
	}
	return OK
}

// parse reads the options by hand, as git does; false asks for the usage.
func (u *unpackObjects) parse(argv []string) (bool, error) {
	for _, arg := range argv {
		name, value, hasValue := strings.Cut(arg, "=")
		switch {
		case arg == "-n":
			u.o.DryRun = true
		case arg == "-q":
			u.quiet = true
		case arg == "-r":
			u.o.Recover = true
		case name == "--strict":
			if u.fsck == nil {
				u.fsck = &object.Fsck{Algo: u.env.Repo.Algo, Strict: true}
			}
			if err := u.fsck.SetTypes(value); err != nil {
				return false, err
			}
		case name == "--pack_header" && hasValue:
			hdr, err := parsePackHeader(value)
			if err != nil {
				return false, err
			}
			u.o.Header = hdr
		case name == "--max-input-size" && hasValue:
			u.o.MaxSize = leadingInt(value)
		default:
			return false, nil
		}
	}
	return true, nil
}

// leadingInt reads the digits at the start of s, as strtoumax does.
func leadingInt(s string) int64 {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, _ := strconv.ParseInt(s[:end], 10, 64)
	return n
}

func (u *unpackObjects) run() (*pack.Unpacked, error) {
	db, err := u.env.Repo.ODB()
	if err != nil {
		return nil, err
	}
	b, err := u.env.Repo.NewBarrier()
	if err != nil {
		return nil, err
	}
	defer b.Rollback()
	t := db.Begin(b)
	check, err := u.options(db, t)
	if err != nil {
		return nil, err
	}
	meter := &packMeter{w: u.env.Stderr, trace: u.env.Trace, titles: map[pack.Step]string{pack.Unpacking: "Unpacking objects"}}
	if !u.quiet {
		u.o.Progress = meter.update
	}
	res, err := pack.Unpack(u.env.Stdin, u.o)
	if err == nil {
		meter.end()
	}
	if err == nil && check != nil && !u.o.DryRun {
		info := func(id oid.ID) (object.Type, error) {
			typ, _, err := db.Info(id)
			return typ, err
		}
		_, err = check.Finish(info, db.Read)
	}
	if err != nil {
		return nil, err
	}
	return res, b.Commit()
}

func (u *unpackObjects) options(db *odb.DB, t *odb.Transaction) (*pack.Checker, error) {
	big, err := u.env.Config.Ulong("core.bigfilethreshold", pack.DefaultBigFile)
	if err != nil {
		return nil, err
	}
	u.o.Algo, u.o.BigFile = u.env.Repo.Algo, int64(min(big, 1<<62))
	u.o.Read, u.o.Write, u.o.WriteStream = db.Read, t.Write, t.WriteLooseStream
	u.o.Report = u.env.Error
	if u.fsck == nil {
		return nil, nil
	}
	check := u.env.packChecker(u.env.Repo.Algo, u.fsck, true)
	u.o.Check = check.Object
	return check, nil
}
