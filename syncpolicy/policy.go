package syncpolicy

import "fmt"

// A Value is one occurrence of a configuration variable.
type Value struct {
	Text      string
	Valueless bool // "[core] fsync" without "="
}

// Settings are the configuration that a Policy is made of. The lists hold every
// occurrence in the order in which git reads them.
type Settings struct {
	Fsync            []Value // core.fsync
	FsyncMethod      []Value // core.fsyncMethod
	FsyncObjectFiles *bool   // core.fsyncObjectFiles, deprecated; its last value
	Default          string  // sluice.default: "safe" or "git"; "" is unset, here and below
	Settle           string  // sluice.settle: "auto", "true", "false"
	Barrier          string  // sluice.barrier: "auto", "journal", "syncfs", "fsync"
	TestFsync        *bool   // GIT_TEST_FSYNC
}

// Settle says when names are made durable and files hardened that git leaves out.
type Settle uint8

// Values of sluice.settle.
const (
	SettleAuto Settle = iota
	SettleTrue
	SettleFalse
)

// A Policy says what a command hardens and how.
type Policy struct {
	Components Component // git's bits
	Method     Method
	Safe       bool   // neither key is set: sluice's own default is in force
	Settle     Settle // sluice.settle
	Barrier    string // sluice.barrier: how batch makes its barrier; "auto" is by file system
	// Counters counts the sync calls; shared by all policies of a process.
	Counters *Counters

	objectFiles bool // core.fsyncObjectFiles=true
	testOff     bool // GIT_TEST_FSYNC=0: flushes are no-ops, and not counted
}

// NewPolicy makes a policy of settings. The warnings are git's, without
// "warning: "; an error is fatal, in git's words.
func NewPolicy(s Settings) (*Policy, []string, error) {
	p := &Policy{Method: defaultMethod, Counters: new(Counters)}
	var warnings []string
	components, warns, err := s.components()
	if err != nil {
		return nil, nil, err
	}
	p.Components, warnings = components, warns
	for _, v := range s.FsyncMethod {
		if v.Valueless {
			return nil, nil, missingValue("core.fsyncmethod")
		}
		m, ok := ParseMethod(v.Text)
		if !ok {
			warnings = append(warnings, "ignoring unknown core.fsyncMethod value '"+v.Text+"'")
			continue
		}
		p.Method = m
	}
	if s.FsyncObjectFiles != nil {
		warnings = append(warnings, "core.fsyncObjectFiles is deprecated; use core.fsync instead")
		p.objectFiles = *s.FsyncObjectFiles
	}
	p.testOff = s.TestFsync != nil && !*s.TestFsync
	if err := p.own(s); err != nil {
		return nil, nil, err
	}
	return p, warnings, nil
}

func (s Settings) components() (Component, []string, error) {
	components := GitDefault
	var warnings []string
	for _, v := range s.Fsync {
		if v.Valueless {
			return 0, nil, missingValue("core.fsync")
		}
		var w []string
		components, w = ParseComponents(v.Text, platformBase)
		warnings = append(warnings, w...)
	}
	return components, warnings, nil
}

// own applies the sluice.* keys.
func (p *Policy) own(s Settings) error {
	switch s.Default {
	case "", "safe":
		if len(s.Fsync) == 0 && len(s.FsyncMethod) == 0 && s.FsyncObjectFiles == nil {
			p.Safe, p.Components, p.Method = true, All, Batch
		}
	case "git":
	default:
		return badValue("sluice.default", s.Default)
	}
	switch s.Settle {
	case "", "auto":
	case "true":
		p.Settle = SettleTrue
	case "false":
		p.Settle = SettleFalse
	default:
		return badValue("sluice.settle", s.Settle)
	}
	switch s.Barrier {
	case "":
		p.Barrier = "auto"
	case "auto", "journal", "syncfs", "fsync":
		p.Barrier = s.Barrier
	default:
		return badValue("sluice.barrier", s.Barrier)
	}
	return nil
}

func missingValue(key string) error { return fmt.Errorf("missing value for '%s'", key) }

func badValue(key, value string) error {
	return fmt.Errorf("invalid value for '%s': '%s'", key, value)
}

// Hardens reports whether files of component c are hardened at all.
func (p *Policy) Hardens(c Component) bool {
	switch c {
	case LooseObject:
		return p.Components&LooseObject != 0 || p.objectFiles
	case Reflog, Symref:
		return p.Components&Reference != 0 && p.Settle != SettleFalse
	case Config:
		return p.Components != 0 && p.Settle != SettleFalse
	}
	return p.Components&c != 0
}

// methodFor returns how files of c, which must be hardened, are. The
// deprecated core.fsyncObjectFiles asks for a flush of each object, batch or
// not, unless the policy names loose objects itself.
func (p *Policy) methodFor(c Component) Method {
	if c == LooseObject && p.Components&LooseObject == 0 {
		return Fsync
	}
	return p.Method
}

// settles reports whether the names are to be made durable in a command that
// staged the components in staged.
func (p *Policy) settles(staged Component) bool {
	if !dirsFlush || p.Method == WriteoutOnly || p.Components == 0 {
		return false
	}
	switch p.Settle {
	case SettleTrue:
		return true
	case SettleFalse:
		return false
	}
	return p.Components&Reference != 0 || p.Components&Index&staged != 0 || staged&Config != 0
}

// idle reports whether the policy makes no sync call whatever is staged (B5).
func (p *Policy) idle() bool {
	return p.Components == 0 && !p.objectFiles || p.testOff && p.Safe
}
