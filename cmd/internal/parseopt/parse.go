package parseopt

import (
	"strings"
)

// Flags say how a Parser treats what is not an option.
type Flags uint8

const (
	KeepDashDash       Flags = 1 << iota // leave "--" in the rest
	StopAtNonOption                      // the first other argument ends the options
	KeepUnknownOpt                       // leave unknown options in the rest; no abbreviations
	NoInternalHelp                       // -h and --help are the command's own
	SubcommandOptional                   // without a subcommand the command does something of its own
	ShellEval                            // usage is printed as a shell script that prints it
)

// A Parser holds one command's option table.
type Parser struct {
	Usage   []string // synopses, without "usage: "; after an empty one: free text
	Options []Option
	Flags   Flags
	Prefix  string // put before the names of Filename options
	NoAbbr  bool   // refuse abbreviations (GIT_TEST_DISALLOW_ABBREVIATED_OPTIONS)
	// Missing tells whether a file is not there, for names that start with
	// ":(optional)".
	Missing func(name string) bool
}

// A UsageError is a mistake on the command line. It ends in status 129.
type UsageError struct {
	Msg       string // printed after "error: " (or "fatal: "); "" for none
	ShowUsage bool   // print Usage on standard error behind it
	Usage     string
	Fatal     bool // Msg is a fatal message, with an empty line behind it
}

func (e *UsageError) Error() string {
	if e.Msg == "" {
		return "usage"
	}
	return e.Msg
}

// An Answer is text that the command line asked for, for standard output.
type Answer struct {
	Text   string
	Status int
}

func (a *Answer) Error() string { return "help was asked for" }

// A NotNativeError names an option (or a value of one) that only real git
// implements.
type NotNativeError struct{ Option string }

func (e *NotNativeError) Error() string { return "option '" + e.Option + "' is not implemented" }

// A FatalError ends the command with status 128.
type FatalError struct{ Err error }

func (e *FatalError) Error() string { return e.Err.Error() }
func (e *FatalError) Unwrap() error { return e.Err }

// helpStatus is what -h ends with; from git 2.56 on it is 0.
const helpStatus = 129

type state struct {
	*Parser
	opts    []Option
	aliases [][2]string
	argv    []string
	total   int
	subs    bool
	opt     string // rest of a bundle, or the stuck value
	hasOpt  bool
	rest    []string
	modes   []mode
}

// mode remembers who set a variable that options share.
type mode struct {
	v     *int
	last  int
	by    *Option
	text  string
	isCmd bool
}

// Parse applies argv (without the command's name) to the options' variables
// and returns what is left. After a subcommand it is what follows its name.
func (p *Parser) Parse(argv []string) ([]string, error) {
	s := &state{Parser: p, argv: argv, total: len(argv)}
	s.opts, s.aliases = expandAliases(p.Options)
	for i := range s.opts {
		o := &s.opts[i]
		s.subs = s.subs || o.kind == kindSubcommand
		if o.flags&cmdMode != 0 && s.modeOf(o.mode) == nil {
			s.modes = append(s.modes, mode{v: o.mode, last: *o.mode})
		}
	}
	done, err := s.run()
	if err != nil {
		return nil, err
	}
	if !done && s.subs && p.Flags&SubcommandOptional == 0 {
		return nil, p.UsageError("need a subcommand")
	}
	return append(s.rest, s.argv...), nil
}

// UsageError is msg (or nothing) with the usage text behind it.
func (p *Parser) UsageError(msg string) *UsageError {
	return &UsageError{Msg: msg, ShowUsage: true, Usage: p.UsageText(false)}
}

// UsageFatal is git's usage_msg_opt: a fatal message and the usage text.
func (p *Parser) UsageFatal(msg string) *UsageError {
	return &UsageError{Msg: msg, ShowUsage: true, Usage: p.UsageText(false), Fatal: true}
}

// run returns whether a subcommand was met.
func (s *state) run() (bool, error) {
	help := s.Flags&NoInternalHelp == 0
	for ; len(s.argv) > 0; s.argv = s.argv[1:] {
		arg := s.argv[0]
		s.opt, s.hasOpt = "", false
		if len(arg) < 2 || arg[0] != '-' {
			stop, sub, err := s.nonOption(arg)
			if stop || err != nil {
				return sub, err
			}
			continue
		}
		if s.total == 1 {
			if ans := s.lone(arg, help); ans != nil {
				return false, ans
			}
		}
		var known bool
		var err error
		switch {
		case arg == "--":
			if s.Flags&KeepDashDash == 0 {
				s.argv = s.argv[1:]
			}
			return false, nil
		case arg == "--end-of-options":
			if s.Flags&KeepUnknownOpt == 0 {
				s.argv = s.argv[1:]
			}
			return false, nil
		case arg[1] != '-':
			known, arg, err = s.shorts(arg, help)
		case help && arg == "--help-all":
			return false, &Answer{s.helpText(true), helpStatus}
		case help && arg == "--help":
			return false, &Answer{s.helpText(false), helpStatus}
		default:
			known, err = s.long(arg[2:])
		}
		if err != nil {
			return false, err
		}
		if known {
			continue
		}
		if s.subs && s.Flags&SubcommandOptional != 0 && s.Flags&KeepUnknownOpt != 0 {
			return false, nil
		}
		if s.Flags&KeepUnknownOpt == 0 {
			return false, s.unknown(arg)
		}
		s.rest = append(s.rest, arg)
	}
	return false, nil
}

// lone answers what is only understood as the single argument.
func (s *state) lone(arg string, help bool) error {
	switch {
	case help && arg == "-h":
		return &Answer{s.helpText(false), helpStatus}
	case arg == "--git-completion-helper":
		return &Answer{completion(s.opts, false), 0}
	case arg == "--git-completion-helper-all":
		return &Answer{completion(s.opts, true), 0}
	}
	return nil
}

func (s *state) nonOption(arg string) (stop, sub bool, err error) {
	for i := range s.opts {
		if o := &s.opts[i]; o.flags&noDash != 0 && len(arg) == 1 && o.Short == arg[0] {
			return false, false, s.apply(o, true, false)
		}
	}
	if !s.subs {
		if s.Flags&StopAtNonOption != 0 {
			return true, false, nil
		}
		s.rest = append(s.rest, arg)
		return false, false, nil
	}
	for i := range s.opts {
		if o := &s.opts[i]; o.kind == kindSubcommand && o.Long == arg {
			if o.IsNotNative() {
				return true, false, &NotNativeError{arg}
			}
			s.argv = s.argv[1:]
			return true, true, o.set(o, "", Arg{})
		}
	}
	if s.Flags&SubcommandOptional != 0 {
		return true, false, nil
	}
	return true, false, s.UsageError("unknown subcommand: `" + arg + "'")
}

func (s *state) unknown(arg string) error {
	switch {
	case arg[1] == '-':
		return s.UsageError("unknown option `" + arg[2:] + "'")
	case s.opt[0] < 0x80:
		return s.UsageError("unknown switch `" + s.opt[:1] + "'")
	}
	return s.UsageError("unknown non-ascii option in string: `" + arg + "'")
}

// shorts parses a bundle. Where a letter is unknown it returns the bundle from
// that letter on.
func (s *state) shorts(arg string, help bool) (bool, string, error) {
	s.opt, s.hasOpt = arg[1:], true
	for first := true; s.hasOpt; first = false {
		known, err := s.short()
		if err != nil {
			return false, arg, err
		}
		if first && s.hasOpt {
			if err := s.typo(arg[1:]); err != nil {
				return false, arg, err
			}
		}
		if !known {
			if help && s.opt[0] == 'h' {
				return false, arg, &Answer{s.helpText(false), helpStatus}
			}
			return false, "-" + s.opt, nil
		}
	}
	return true, arg, nil
}

// advance steps over n bytes of the bundle.
func (s *state) advance(n int) {
	s.opt = s.opt[n:]
	s.hasOpt = s.opt != ""
}

func (s *state) short() (bool, error) {
	var number *Option
	for i := range s.opts {
		o := &s.opts[i]
		if o.Short != 0 && o.Short == s.opt[0] {
			s.advance(1)
			return true, s.apply(o, true, false)
		}
		if o.kind == kindNumber {
			number = o
		}
	}
	n := 0
	for n < len(s.opt) && s.opt[n] >= '0' && s.opt[n] <= '9' {
		n++
	}
	if number == nil || n == 0 {
		return false, nil
	}
	digits := s.opt[:n]
	s.advance(n)
	if number.IsNotNative() {
		return true, &NotNativeError{"-" + digits}
	}
	return true, wrap(number.set(number, "", Arg{Value: digits, Given: true}))
}

// typo catches a long option written with one dash.
func (s *state) typo(arg string) error {
	if len(arg) < 3 {
		return nil
	}
	hit := strings.HasPrefix(arg, "no-")
	for i := range s.opts {
		hit = hit || s.opts[i].Long != "" && strings.HasPrefix(s.opts[i].Long, arg)
	}
	if hit {
		return &UsageError{Msg: "did you mean `--" + arg + "` (with two dashes)?"}
	}
	return nil
}

// candidate is an option that an abbreviation may mean.
type candidate struct {
	o     *Option
	unset bool
}

func (c candidate) String() string {
	if c.unset {
		return "--no-" + c.o.Long
	}
	return "--" + c.o.Long
}

func (s *state) long(arg string) (bool, error) {
	name, val, hasVal := strings.Cut(arg, "=")
	start, unset, doubleNo := name, false, false
	if rest, ok := strings.CutPrefix(start, "no-"); ok {
		start, unset = rest, true
		if rest, ok := strings.CutPrefix(start, "no-"); ok {
			start, unset, doubleNo = rest, false, true
		}
	}
	s.opt, s.hasOpt = val, hasVal
	var abbrev, ambiguous candidate
	note := func(c candidate) {
		if s.Flags&KeepUnknownOpt != 0 {
			return
		}
		if abbrev.o != nil && !(abbrev.unset == c.unset && s.same(abbrev.o, c.o)) {
			ambiguous = abbrev
		}
		abbrev = c
	}
	for i := range s.opts {
		o := &s.opts[i]
		if o.Long == "" || o.kind == kindSubcommand {
			continue
		}
		base, negName := strings.CutPrefix(o.Long, "no-")
		if !negName && doubleNo {
			continue
		}
		turned := unset != negName
		mayUnset := o.flags&noNeg == 0
		if turned && !mayUnset {
			continue
		}
		if base == start {
			return true, s.apply(o, false, turned)
		}
		if strings.HasPrefix(base, start) {
			note(candidate{o, turned})
		}
		if mayUnset && strings.HasPrefix("no-", arg) {
			note(candidate{o, !negName})
		}
	}
	if abbrev.o == nil {
		s.opt, s.hasOpt = "", false
		return false, nil
	}
	if s.NoAbbr {
		return false, &FatalError{&UsageError{Msg: "disallowed abbreviated or ambiguous option '" + name + "'"}}
	}
	if ambiguous.o != nil {
		return false, s.UsageError("ambiguous option: " + arg + " (could be " + ambiguous.String() + " or " + abbrev.String() + ")")
	}
	return true, s.apply(abbrev.o, false, abbrev.unset)
}

// same tells whether two options are names of one.
func (s *state) same(a, b *Option) bool {
	for _, p := range s.aliases {
		if (a.Long == p[0] || a.Long == p[1]) && (b.Long == p[0] || b.Long == p[1]) {
			return true
		}
	}
	return false
}

// apply takes the option's value from the command line and sets it.
func (s *state) apply(o *Option, short, unset bool) error {
	name := optName(o, short, unset)
	if o.IsNotNative() {
		return &NotNativeError{written(o, short, unset, Arg{})}
	}
	switch {
	case unset && s.hasOpt:
		return &UsageError{Msg: name + " takes no value"}
	case unset && o.flags&noNeg != 0:
		return &UsageError{Msg: name + " isn't available"}
	case !short && s.hasOpt && o.flags&noArg != 0:
		return &UsageError{Msg: name + " takes no value"}
	}
	a := Arg{Unset: unset}
	if !unset && o.flags&noArg == 0 {
		if err := s.value(o, name, &a); err != nil {
			return err
		}
	}
	if o.flags&fileName != 0 && !unset {
		skip := false
		if a, skip = s.fileName(a); skip {
			return nil
		}
	}
	if err := wrap(o.set(o, name, a)); err != nil {
		return err
	}
	if o.flags&cmdMode == 0 {
		a = Arg{} // git names the value of a mode only
	}
	return s.checkModes(o, written(o, short, unset, a))
}

func (s *state) value(o *Option, name string, a *Arg) error {
	switch {
	case s.hasOpt:
		a.Value, a.Given = s.opt, true
		s.opt, s.hasOpt = "", false
	case o.flags&optArg != 0:
		a.Value, a.Given = o.def, o.flags&noDefault == 0
	case len(s.argv) == 1 && o.flags&lastArgDefault != 0:
		a.Value, a.Given = o.def, true
	case len(s.argv) > 1:
		s.argv = s.argv[1:]
		a.Value, a.Given = s.argv[0], true
	default:
		return &UsageError{Msg: name + " requires a value"}
	}
	return nil
}

// fileName puts the prefix before a name; skip is true for an optional file
// that is not there.
func (s *state) fileName(a Arg) (_ Arg, skip bool) {
	name, optional := strings.CutPrefix(a.Value, ":(optional)")
	if name != "" && name != "-" && name[0] != '/' {
		name = s.Prefix + name
	}
	if optional && s.Missing != nil && s.Missing(name) {
		return a, true
	}
	a.Value = name
	return a, false
}

func (s *state) modeOf(v *int) *mode {
	for i := range s.modes {
		if s.modes[i].v == v {
			return &s.modes[i]
		}
	}
	return nil
}

// checkModes refuses a second option that changed a variable of modes.
func (s *state) checkModes(o *Option, text string) error {
	for i := range s.modes {
		m := &s.modes[i]
		if *m.v == m.last {
			continue
		}
		isCmd := o.flags&cmdMode != 0
		if m.by != nil && (isCmd || m.isCmd) {
			return &UsageError{Msg: "options '" + text + "' and '" + m.text + "' cannot be used together"}
		}
		m.last, m.by, m.text, m.isCmd = *m.v, o, text, isCmd
	}
	return nil
}

// wrap makes a callback's plain error a usage error.
func wrap(err error) error {
	switch err.(type) {
	case nil, *UsageError, *Answer, *NotNativeError, *FatalError:
		return err
	}
	return &UsageError{Msg: err.Error()}
}
