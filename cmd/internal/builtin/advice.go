package builtin

import "strings"

// adviseIf prints advice unless advice.<name> is false or --no-advice was
// given, and says how to turn it off where nothing was configured.
func (e *Env) adviseIf(name, text string) {
	if on, err := e.EnvBool("GIT_ADVICE", true); err == nil && !on {
		return
	}
	key := "advice." + strings.ToLower(name)
	if e.Config.Lookup(key) != nil {
		if on, err := e.Config.Bool(key, true); err == nil && !on {
			return
		}
	} else {
		text += "\nDisable this message with \"git config set advice." + name + " false\""
	}
	e.Advise(text)
}

// line prints a line on stderr as it is.
func (e *Env) line(text string) { e.message("", text) }

// sparsePaths says that paths were passed over because they are outside of
// the sparse checkout.
func (e *Env) sparsePaths(paths []string) {
	if len(paths) == 0 {
		return
	}
	e.line("The following paths and/or pathspecs matched paths that exist\n" +
		"outside of your sparse-checkout definition, so will not be\n" +
		"updated in the index:")
	for _, p := range paths {
		e.line(p)
	}
	e.adviseIf("updateSparsePath", "If you intend to update such entries, try one of the following:\n"+
		"* Use the --sparse option.\n"+
		"* Disable or modify the sparsity rules.")
}
