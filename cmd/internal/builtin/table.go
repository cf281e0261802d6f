package builtin

import "github.com/sluicegit/sluice/cmd/internal/parseopt"

// Setup says what a command needs before it runs.
type Setup uint8

const (
	// NeedNothing: the command looks for a repository itself, or needs none.
	NeedNothing Setup = iota
	// MayRepo finds a repository if there is one.
	MayRepo
	// NeedRepo fails outside a repository.
	NeedRepo
	// NeedWorkTree fails without a working tree, too.
	NeedWorkTree
)

// A Command is one of git's commands.
type Command struct {
	Name  string
	Setup Setup
	Run   func(env *Env, argv []string) Status // argv without the command's name
	// Options is the option table, over variables of its own, for the ledger
	// and for `-h`; nil for a command that parses by hand.
	Options func() *parseopt.Parser
	// NotNative lists what a command that parses by hand leaves to real git.
	NotNative []string
}

// commands is sorted by name. Add a command here, on a line of its own.
var commands = [...]*Command{
	cmdAdd,
	cmdBranch,
	cmdCatFile,
	cmdCheckAttr,
	cmdCheckIgnore,
	cmdCheckRefFormat,
	cmdCommit,
	cmdCommitTree,
	cmdConfig,
	cmdDiff,
	cmdDiffFiles,
	cmdDiffIndex,
	cmdDiffTree,
	cmdForEachRef,
	cmdHashObject,
	cmdIndexPack,
	cmdInit,
	cmdInitDB,
	cmdLsFiles,
	cmdMktree,
	cmdPackObjects,
	cmdPackRefs,
	cmdPrunePacked,
	cmdPush,
	cmdReadTree,
	cmdReceivePack,
	cmdReflog,
	cmdRemote,
	cmdRevList,
	cmdRevParse,
	cmdShowIndex,
	cmdShowRef,
	cmdStatus,
	cmdSymbolicRef,
	cmdTag,
	cmdUnpackObjects,
	cmdUpdateIndex,
	cmdUpdateRef,
	cmdVerifyPack,
	cmdVersion,
	cmdWriteTree,
}

// Commands lists what is native, sorted by name.
func Commands() []*Command { return commands[:] }

// Lookup finds a command by name.
func Lookup(name string) *Command {
	for _, c := range commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}
