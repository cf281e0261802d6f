// Package repo finds the repository of a command, checks that it may and can
// be used, and opens its parts as its configuration says.
//
// Source: setup.c and path.c of git 2.55; git(1), gitrepository-layout(5).
//
// Invariants:
//
//	G1  discovery changes nothing: not the directory of the process, no environment, no file.
//	G2  a repository whose format or extensions are not known is refused, or reported as
//	    unsupported by name so that the whole command can be handed to git (promise P7).
//	G3  no configuration of a repository owned by somebody else is read before
//	    safe.directory allowed it.
//	G4  all paths in a Repo are absolute.
package repo

// A NotRepoError says that there is no repository that can be used. A command
// that can work without one goes on.
type NotRepoError struct {
	Msg string
	// Warn is set where such a command prints the message as a warning first:
	// there is a repository, of an unknown format.
	Warn bool
}

func (e *NotRepoError) Error() string { return e.Msg }

// An UnsupportedError names a format or extension that git knows and this
// program does not implement.
type UnsupportedError struct {
	Extension, Value string
}

func (e *UnsupportedError) Error() string {
	msg := "repository extension '" + e.Extension + "'"
	if e.Value != "" {
		msg += " with value '" + e.Value + "'"
	}
	return msg + " is not implemented"
}
