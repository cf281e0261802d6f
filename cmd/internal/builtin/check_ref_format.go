package builtin

import (
	"errors"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/refname"
	"github.com/sluicegit/sluice/gitcompat/repo"
	"github.com/sluicegit/sluice/gitcompat/revision"
)

var cmdCheckRefFormat = &Command{Name: "check-ref-format", Run: runCheckRefFormat}

const checkRefFormatUsage = "git check-ref-format [--normalize] [<options>] <refname>\n   or: git check-ref-format --branch <branchname-shorthand>"

func runCheckRefFormat(env *Env, argv []string) Status {
	if len(argv) == 2 && argv[0] == "--branch" {
		return checkBranchFormat(env, argv[1])
	}
	normalize := false
	var flags refname.Flags
	for len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
		switch argv[0] {
		case "--normalize", "--print":
			normalize = true
		case "--allow-onelevel":
			flags |= refname.AllowOneLevel
		case "--no-allow-onelevel":
			flags &^= refname.AllowOneLevel
		case "--refspec-pattern":
			flags |= refname.RefspecPattern
		default:
			return UsageLine(checkRefFormatUsage)
		}
		argv = argv[1:]
	}
	if len(argv) != 1 {
		return UsageLine(checkRefFormatUsage)
	}
	name := argv[0]
	if normalize {
		name = refname.Normalize(name)
	}
	if !refname.Check(name, flags) {
		return Exit(1)
	}
	if normalize {
		env.Print(name, "\n")
	}
	return OK
}

func checkBranchFormat(env *Env, arg string) Status {
	err := env.Discover()
	var none *repo.NotRepoError
	if err != nil && !errors.As(err, &none) {
		return Fatal(err)
	}
	name := arg
	if env.Repo != nil {
		if name, err = revision.New(env.Repo).BranchName(arg); err != nil {
			name = ""
		}
	}
	if !validBranch(arg, name) {
		return Fatalf("'%s' is not a valid branch name", arg)
	}
	env.Print(name, "\n")
	return OK
}

// validBranch reports whether arg, which stands for name, may name a branch.
func validBranch(arg, name string) bool {
	return name != "" && arg != "" && arg[0] != '-' && name != "HEAD" && refname.Check("refs/heads/"+name, 0)
}
