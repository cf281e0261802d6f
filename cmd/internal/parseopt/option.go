// Package parseopt parses a command's arguments by git's rules: bundles (-am
// msg), stuck optional values (-uno), unique abbreviations, --no- forms,
// modes that exclude each other, subcommands, and usage text in git's layout.
//
// Source: gitcli(7) and the parse-options API documentation of git 2.55. An
// option table here can be read beside the one of the same command in git,
// because the constructors carry git's names.
//
// Invariants:
//
//	O1  Nothing is printed and nothing exits: what git would print comes back
//	    as *UsageError, *Answer, *NotNativeError or *FatalError.
//	O2  Options apply in the order of the command line; the last one wins.
//	O3  An option marked NotNative is reported as soon as it is met, so that
//	    the command can be handed to real git before anything was written.
package parseopt

import "strings"

type kind uint8

const (
	kindFlag       kind = iota // takes no value
	kindValue                  // takes a value
	kindGroup                  // a heading in the usage text
	kindNumber                 // -<digits>
	kindAlias                  // another name of a long option
	kindSubcommand             // a word, not an option
)

type flags uint16

const (
	optArg flags = 1 << iota
	noArg
	noNeg
	hidden
	lastArgDefault
	noDash
	literal
	noComplete
	compArg
	cmdMode
	notNative
	fromAlias
	unsetForm // listed as --no-x by the completion helper
	noDefault // optional value with nothing in its place
	fileName
)

// Arg is what an option was given on the command line.
type Arg struct {
	Value string
	Given bool // a value is there, or stands in for one that was left out
	Unset bool // the --no- form
}

// An Option is one line of a command's option table. The constructors below
// make it, the methods refine it.
type Option struct {
	Short byte
	Long  string
	Argh  string // names the value in the usage text
	Help  string

	kind  kind
	flags flags
	def   string // value of an option given without one
	mode  *int   // the variable that modes share
	set   func(o *Option, name string, a Arg) error
}

// OptArg makes the value optional; it must then be stuck to the option (-uno,
// --untracked-files=no). def is used where it is left out.
func (o Option) OptArg(def string) Option { o.flags |= optArg; o.def = def; return o }

// LastArgDefault lets the option go without its value when it is the last
// argument; def is used then.
func (o Option) LastArgDefault(def string) Option { o.flags |= lastArgDefault; o.def = def; return o }

// NoArg makes a callback take no value.
func (o Option) NoArg() Option { o.kind = kindFlag; o.flags |= noArg; return o }

// NoNeg forbids the --no- form.
func (o Option) NoNeg() Option { o.flags |= noNeg; return o }

// Hidden leaves the option out of -h; --help-all shows it.
func (o Option) Hidden() Option { o.flags |= hidden; return o }

// NoDash makes a one-letter option that is written without a dash.
func (o Option) NoDash() Option { o.flags |= noDash | noNeg; return o }

// Literal prints Argh in the usage text as it stands, without <>.
func (o Option) Literal() Option { o.flags |= literal; return o }

// NoComplete hides the option from shell completion.
func (o Option) NoComplete() Option { o.flags |= noComplete; return o }

// CompArg has shell completion offer --name= although the value is optional.
func (o Option) CompArg() Option { o.flags |= compArg; return o }

// Mode makes the option one of the modes that v chooses: two options that
// leave different values in v cannot be used together.
func (o Option) Mode(v *int) Option { o.flags |= cmdMode; o.mode = v; return o }

// NotNative marks an option that only real git implements.
func (o Option) NotNative() Option { o.flags |= notNative; return o }

// IsNotNative tells whether only real git implements the option.
func (o *Option) IsNotNative() bool { return o.flags&notNative != 0 }

// Names returns the option as it is written: "-s", "--long" or both; nothing
// for what is not an option.
func (o *Option) Names() []string {
	var names []string
	if o.kind == kindGroup || o.kind == kindSubcommand {
		return nil
	}
	if o.kind == kindNumber {
		return []string{"-<n>"}
	}
	if o.Short != 0 {
		dash := "-"
		if o.flags&noDash != 0 {
			dash = ""
		}
		names = append(names, dash+string(rune(o.Short)))
	}
	if o.Long != "" {
		names = append(names, "--"+o.Long)
	}
	return names
}

// SubcommandName returns the word that selects this subcommand, or "".
func (o *Option) SubcommandName() string {
	if o.kind != kindSubcommand {
		return ""
	}
	return o.Long
}

func flag(short byte, long, help string, set func(o *Option, name string, a Arg) error) Option {
	return Option{Short: short, Long: long, Help: help, kind: kindFlag, flags: noArg | unsetForm, set: set}
}

func value(short byte, long, argh, help string, set func(o *Option, name string, a Arg) error) Option {
	return Option{Short: short, Long: long, Argh: argh, Help: help, kind: kindValue, flags: unsetForm, set: set}
}

// Bool sets v to true, its --no- form to false.
func Bool(short byte, long string, v *bool, help string) Option {
	return flag(short, long, help, func(_ *Option, _ string, a Arg) error {
		*v = !a.Unset
		return nil
	})
}

// SetInt sets v to n, its --no- form to 0. A v that starts as -1 tells
// whether the option was given at all.
func SetInt(short byte, long string, v *int, help string, n int) Option {
	return flag(short, long, help, func(_ *Option, _ string, a Arg) error {
		*v = n
		if a.Unset {
			*v = 0
		}
		return nil
	})
}

// CmdMode is a SetInt of which a command line may have one.
func CmdMode(short byte, long string, v *int, help string, n int) Option {
	return SetInt(short, long, v, help, n).NoNeg().Mode(v)
}

// Bit sets the bits of mask in v, its --no- form clears them.
func Bit[T ~int | ~uint | ~uint8 | ~uint16 | ~uint32](short byte, long string, v *T, help string, mask T) Option {
	return flag(short, long, help, func(_ *Option, _ string, a Arg) error {
		if a.Unset {
			*v &^= mask
		} else {
			*v |= mask
		}
		return nil
	})
}

// NegBit clears the bits of mask in v, its --no- form sets them.
func NegBit[T ~int | ~uint | ~uint8 | ~uint16 | ~uint32](short byte, long string, v *T, help string, mask T) Option {
	return flag(short, long, help, func(_ *Option, _ string, a Arg) error {
		if a.Unset {
			*v |= mask
		} else {
			*v &^= mask
		}
		return nil
	})
}

// CountUp adds one to v each time, from 0 on if v is negative; its --no- form
// sets 0.
func CountUp(short byte, long string, v *int, help string) Option {
	return flag(short, long, help, func(_ *Option, _ string, a Arg) error {
		if a.Unset {
			*v = 0
			return nil
		}
		*v = max(*v, 0) + 1
		return nil
	})
}

// Verbosity is the pair -v, -q over one variable: above 0 is more verbose,
// below is quieter, and turning round starts anew.
func Verbosity(v *int) []Option {
	step := func(sign int) func(*Option, string, Arg) error {
		return func(_ *Option, _ string, a Arg) error {
			switch {
			case a.Unset:
				*v = 0
			case *v*sign >= 0:
				*v += sign
			default:
				*v = sign
			}
			return nil
		}
	}
	return []Option{
		flag('v', "verbose", "say more", step(1)),
		flag('q', "quiet", "say less", step(-1)),
	}
}

// String sets v to the value, its --no- form to "".
func String(short byte, long string, v *string, argh, help string) Option {
	return value(short, long, argh, help, func(_ *Option, _ string, a Arg) error {
		*v = a.Value
		return nil
	})
}

// StringP is a String that tells an empty value from none: its --no- form
// sets v to nil.
func StringP(short byte, long string, v **string, argh, help string) Option {
	return value(short, long, argh, help, func(_ *Option, _ string, a Arg) error {
		*v = &a.Value
		if a.Unset {
			*v = nil
		}
		return nil
	})
}

// StringList appends the value to v, its --no- form empties v.
func StringList(short byte, long string, v *[]string, argh, help string) Option {
	return value(short, long, argh, help, func(_ *Option, _ string, a Arg) error {
		if a.Unset {
			*v = nil
			return nil
		}
		*v = append(*v, a.Value)
		return nil
	})
}

// Filename sets v to a file's name, put behind the Parser's Prefix unless it
// is absolute or "-". An empty name, and the --no- form, set "".
func Filename(short byte, long string, v *string, help string) Option {
	o := value(short, long, "file", help, nil)
	o.set = func(o *Option, _ string, a Arg) error {
		*v = a.Value
		return nil
	}
	o.flags |= fileName
	return o
}

// Abbrev is --abbrev[=<n>]: v is -1 where the length is to be found out, 0
// for full names, else at least 4.
func Abbrev(v *int) Option {
	return value(0, "abbrev", "n", "shorten object names to <n> digits", func(_ *Option, name string, a Arg) error {
		switch {
		case a.Unset:
			*v = 0
		case !a.Given:
			*v = -1
		default:
			n, ok := atoi(a.Value)
			if !ok {
				return &UsageError{Msg: "option `abbrev' expects a numerical value"}
			}
			if n != 0 && n < 4 {
				n = 4
			}
			*v = n
		}
		return nil
	}).optArgNone()
}

// optArgNone makes the value optional, with nothing in its place.
func (o Option) optArgNone() Option { o.flags |= optArg | noDefault; return o }

// Callback hands what was given to f. An error from f is a usage error
// without usage text, unless it is one of this package's errors.
func Callback(short byte, long, argh, help string, f func(Arg) error) Option {
	return value(short, long, argh, help, func(_ *Option, _ string, a Arg) error { return f(a) })
}

// OptCallback is a Callback whose value is optional; Arg.Given tells whether
// there is one.
func OptCallback(short byte, long, argh, help string, f func(Arg) error) Option {
	return Callback(short, long, argh, help, f).optArgNone()
}

// Number is -<digits>, handed to f.
func Number(help string, f func(digits string) error) Option {
	o := flag(0, "", help, func(_ *Option, _ string, a Arg) error { return f(a.Value) })
	o.kind, o.flags = kindNumber, noArg|noNeg
	return o
}

// Noop accepts an option that means nothing any more.
func Noop(short byte, long string) Option {
	return flag(short, long, "accepted and ignored", func(*Option, string, Arg) error { return nil }).Hidden()
}

// NotNative lists an option that only real git implements; with argh it takes
// a value.
func NotNative(short byte, long, argh, help string) Option {
	ignore := func(*Option, string, Arg) error { return nil }
	if argh == "" {
		return flag(short, long, help, ignore).NotNative()
	}
	return value(short, long, argh, help, ignore).NotNative()
}

// Alias is another name of the long option source.
func Alias(short byte, long, source string) Option {
	return Option{Short: short, Long: long, kind: kindAlias, def: source}
}

// Group is a heading in the usage text.
func Group(title string) Option { return Option{Help: title, kind: kindGroup} }

// Subcommand sets v to f when the first argument that is no option is name.
// What follows name is left to f to parse.
func Subcommand[F any](name string, v *F, f F) Option {
	return Option{Long: name, kind: kindSubcommand, set: func(*Option, string, Arg) error {
		*v = f
		return nil
	}}
}

// expandAliases replaces aliases by copies of what they stand for, and returns
// the pairs of names that are the same option.
func expandAliases(opts []Option) ([]Option, [][2]string) {
	var pairs [][2]string
	for i := range opts {
		if opts[i].kind != kindAlias {
			continue
		}
		if pairs == nil {
			opts = append([]Option(nil), opts...)
		}
		a := opts[i]
		found := false
		for j := range opts {
			if opts[j].Long == a.def && opts[j].kind != kindAlias {
				opts[i] = opts[j]
				found = true
				break
			}
		}
		if !found {
			panic("BUG: parseopt: alias '" + a.Long + "' of an unknown option '" + a.def + "'")
		}
		opts[i].Short, opts[i].Long = a.Short, a.Long
		opts[i].Help = "alias of --" + a.def
		opts[i].flags |= fromAlias
		pairs = append(pairs, [2]string{a.Long, a.def})
	}
	return opts, pairs
}

// optName names the option in a message.
func optName(o *Option, short, unset bool) string {
	switch {
	case short:
		return "switch `" + string(rune(o.Short)) + "'"
	case unset:
		return "option `no-" + o.Long + "'"
	}
	return "option `" + o.Long + "'"
}

// written is the option as the user wrote it, for messages about a pair.
func written(o *Option, short, unset bool, a Arg) string {
	var b strings.Builder
	if short {
		return "-" + string(rune(o.Short)) + a.Value
	}
	b.WriteString("--")
	if unset {
		b.WriteString("no-")
	}
	b.WriteString(o.Long)
	if a.Given {
		b.WriteString("=" + a.Value)
	}
	return b.String()
}
