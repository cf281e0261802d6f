package builtin

import (
	"errors"
	"os"

	"github.com/sluicegit/sluice/gitcompat/oid"
	"github.com/sluicegit/sluice/gitcompat/refs"
	"github.com/sluicegit/sluice/gitcompat/revision"
	"github.com/sluicegit/sluice/syncpolicy"
)

// newResolver returns what reads the expressions of env's command line, with
// git's warnings going to standard error.
func newResolver(env *Env) *revision.Resolver {
	r := revision.New(env.Repo)
	r.Say = func(line string) { env.message("", line) }
	return r
}

// resolveQuietly returns the object that an expression means, without warning
// that it could mean more than one.
func resolveQuietly(env *Env, name string) (oid.ID, error) {
	if len(name) == env.Repo.Algo.HexSize() {
		if id, err := env.Repo.Algo.FromHex(name); err == nil {
			return id, nil
		}
	}
	return revision.New(env.Repo).Resolve(name, revision.Any)
}

// commitRefs runs one transaction of refs, with a barrier of its own.
func commitRefs(env *Env, tx *refs.Transaction) error {
	b, err := env.Repo.NewBarrier()
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := tx.Prepare(b); err != nil {
		return err
	}
	return publishRefs(env, tx, b)
}

// publishRefs is the rest of commitRefs, after Prepare.
func publishRefs(env *Env, tx *refs.Transaction, b *syncpolicy.Barrier) error {
	if err := tx.Commit(b); err != nil {
		return err
	}
	return tx.Explain(b.Commit())
}

// changeRefs makes changes, all or none of them.
func changeRefs(env *Env, changes ...refs.Change) error {
	store, err := env.Repo.Refs()
	if err != nil {
		return err
	}
	tx := store.Begin(false)
	for _, c := range changes {
		if err := tx.Add(c); err != nil {
			return err
		}
	}
	return commitRefs(env, tx)
}

// null is the value of a ref that is to go, or must not be there.
func null(env *Env) refs.Value { return refs.OID(env.Repo.Algo.Null()) }

// refError ends a command whose change of refs failed: with code and "error: ",
// but a hook that refused, and what makes all refs unusable, is always fatal.
func refError(code int, err error) Status {
	var hook *refs.HookError
	var packed *refs.PackedError
	if code == 128 || errors.As(err, &hook) || errors.As(err, &packed) {
		return Fatal(err)
	}
	return Failure(code, err)
}

func isNotExist(err error) bool { return errors.Is(err, os.ErrNotExist) }
