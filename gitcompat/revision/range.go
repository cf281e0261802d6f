package revision

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/oid"
)

// A Rev is one tip that an argument names.
type Rev struct {
	Tip
	Object Object
	Arg    string // the part of the argument that named it, or a full object name
	Base   bool   // a merge base of a...b, which the argument does not name
}

// ArgOptions say how an argument is to be read.
type ArgOptions struct {
	Not        bool // --not: what is named is excluded, and the reverse
	Committish bool
	// NotFile: the argument cannot be a path, so it need not be checked for
	// being both.
	NotFile bool
	// IgnoreMissing drops what does not exist.
	IgnoreMissing bool
}

// Arg reads one revision argument: "rev", "^rev", "a..b", "a...b", "rev^@",
// "rev^!" or "rev^-n". ErrUnknown means that it is none.
func (r *Resolver) Arg(arg string, o ArgOptions) ([]Rev, error) {
	if !o.NotFile && arg == ".." {
		return nil, ErrUnknown
	}
	revs, err := r.dotdot(arg, o)
	if !errors.Is(err, ErrUnknown) {
		return revs, err
	}
	full := arg
	revs = nil
	if base, ok := strings.CutSuffix(arg, "^@"); ok {
		if revs, err := r.parentRevs(base, 0, o, false); !errors.Is(err, ErrUnknown) {
			return revs, err
		}
	}
	if base, ok := strings.CutSuffix(arg, "^!"); ok {
		if more, err := r.parentRevs(base, 0, o, true); err == nil {
			revs, arg = more, base
		}
	} else if i := strings.Index(arg, "^-"); i >= 0 {
		n := 1
		if arg[i+2:] != "" {
			if n, err = strconv.Atoi(arg[i+2:]); err != nil || n < 1 {
				return nil, ErrUnknown
			}
		}
		if more, err := r.parentRevs(arg[:i], n, o, true); err == nil {
			revs, arg = more, arg[:i]
		}
	}
	not := o.Not
	if rest, ok := strings.CutPrefix(arg, "^"); ok {
		arg, not = rest, !not
	}
	want := Any
	if o.Committish {
		want = WantCommittish
	}
	obj, err := r.ResolveObject(arg, want)
	if err != nil {
		if o.IgnoreMissing && errors.Is(err, ErrUnknown) {
			return revs, nil
		}
		return nil, err
	}
	if !o.NotFile {
		if err := r.VerifyNotFile(arg); err != nil {
			return nil, err
		}
	}
	rev := Rev{Tip: Tip{ID: obj.ID, Not: not, Name: arg, Path: obj.Path}, Object: obj, Arg: full}
	return append(revs, rev), nil
}

// dotdot reads a..b and a...b.
func (r *Resolver) dotdot(arg string, o ArgOptions) ([]Rev, error) {
	left, right, ok := strings.Cut(arg, "..")
	if !ok {
		return nil, ErrUnknown
	}
	right, symmetric := strings.CutPrefix(right, ".")
	a, b := left, right
	if a == "" {
		a = "HEAD"
	}
	if b == "" {
		b = "HEAD"
	}
	want := WantCommittish
	ao, err := r.ResolveObject(a, want)
	if err != nil {
		return nil, err
	}
	bo, err := r.ResolveObject(b, want)
	if err != nil {
		return nil, err
	}
	if !o.NotFile {
		if err := r.VerifyNotFile(arg); err != nil {
			return nil, err
		}
	}
	ra := Rev{Tip: Tip{ID: ao.ID, Not: o.Not, Name: a, Path: ao.Path}, Object: ao, Arg: a}
	rb := Rev{Tip: Tip{ID: bo.ID, Not: o.Not, Name: b, Path: bo.Path}, Object: bo, Arg: b}
	missing := func() ([]Rev, error) {
		if symmetric {
			return nil, fmt.Errorf("Invalid symmetric difference expression %s", arg)
		}
		return nil, fmt.Errorf("Invalid revision range %s", arg)
	}
	db, err := r.db()
	if err != nil {
		return nil, err
	}
	for _, id := range []oid.ID{ao.ID, bo.ID} {
		if !db.Has(id) {
			return missing()
		}
	}
	if !symmetric {
		ra.Not = !o.Not
		return []Rev{ra, rb}, nil
	}
	w, err := r.history()
	if err != nil {
		return nil, err
	}
	ca, err := w.Committish(ao.ID)
	if err != nil {
		return missing()
	}
	cb, err := w.Committish(bo.ID)
	if err != nil {
		return missing()
	}
	bases, err := w.MergeBases(ca.ID, cb.ID)
	if err != nil {
		return nil, err
	}
	var out []Rev
	for _, id := range bases {
		out = append(out, Rev{Tip: Tip{ID: id, Not: !o.Not, Name: id.String()}, Object: Object{ID: id}, Arg: id.String(), Base: true})
	}
	ra.Left = true
	return append(out, ra, rb), nil
}

// parentRevs returns the parents of base, or its nth one; turned round for the
// arguments that exclude them.
func (r *Resolver) parentRevs(base string, n int, o ArgOptions, exclude bool) ([]Rev, error) {
	not := o.Not != exclude
	if rest, ok := strings.CutPrefix(base, "^"); ok {
		base, not = rest, !not
	}
	_, c, err := r.committish(base)
	if err != nil {
		return nil, err
	}
	if n > len(c.Parents) {
		return nil, ErrUnknown
	}
	revs := []Rev{}
	for i, p := range c.Parents {
		if n != 0 && n != i+1 {
			continue
		}
		revs = append(revs, Rev{Tip: Tip{ID: p.ID, Not: not, Name: base}, Object: Object{ID: p.ID}, Arg: base})
	}
	return revs, nil
}

const dashdash = "\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'"

// VerifyFile returns the error with which git dies if arg is no path; where
// revisions were still possible, diagnose finds out what may have been meant.
func (r *Resolver) VerifyFile(arg string, diagnose bool) error {
	if strings.HasPrefix(arg, "-") {
		return fmt.Errorf("option '%s' must come before non-option arguments", arg)
	}
	if looksLikePathspec(arg) {
		return nil
	}
	ok, err := r.isFile(arg)
	if ok || err != nil {
		return err
	}
	if !diagnose {
		return fmt.Errorf("%s: no such path in the working tree.\nUse 'git <command> -- <path>...' to specify paths that do not exist locally.", arg)
	}
	if !(len(arg) > 1 && arg[0] == ':' && !isAlnum(arg[1])) {
		if err := r.Explain(arg); err != nil {
			return err
		}
	}
	return fmt.Errorf("ambiguous argument '%s': unknown revision or path not in the working tree.%s", arg, dashdash)
}

// VerifyNotFile returns the error with which git dies if arg, a revision, is
// also the name of a file.
func (r *Resolver) VerifyNotFile(arg string) error {
	if !r.Repo.InsideWorkTree() || r.Repo.InsideGitDir() || strings.HasPrefix(arg, "-") {
		return nil
	}
	ok, err := r.isFile(arg)
	if err != nil || !ok {
		return err
	}
	return fmt.Errorf("ambiguous argument '%s': both revision and filename%s", arg, dashdash)
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// looksLikePathspec reports whether arg has wildcards or long magic.
func looksLikePathspec(arg string) bool {
	for i := 0; i < len(arg); i++ {
		switch arg[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return strings.HasPrefix(arg, ":(")
}

func (r *Resolver) isFile(arg string) (bool, error) {
	dir := r.Repo.Dir + "/" + r.Repo.Prefix
	if rest, ok := strings.CutPrefix(arg, ":/"); ok {
		if rest == "" {
			return true, nil
		}
		arg, dir = rest, r.Repo.WorkTree
	} else if len(arg) > 1 && arg[0] == ':' && (arg[1] == '!' || arg[1] == '^') {
		if arg = arg[2:]; arg == "" {
			return true, nil
		}
	}
	if !filepath.IsAbs(arg) {
		arg = dir + "/" + arg
	}
	_, err := os.Lstat(arg)
	switch {
	case err == nil:
		return true, nil
	case missing(err):
		return false, nil
	}
	return false, fmt.Errorf("failed to stat '%s': %w", arg, err)
}
