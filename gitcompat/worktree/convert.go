package worktree

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
	"github.com/sluicegit/sluice/gitcompat/oid"
)

// AutoCRLF is core.autocrlf.
type AutoCRLF uint8

const (
	AutoCRLFFalse AutoCRLF = iota
	AutoCRLFTrue
	AutoCRLFInput
)

// SafeCRLF is core.safecrlf.
type SafeCRLF uint8

const (
	SafeCRLFWarn SafeCRLF = iota
	SafeCRLFError
	SafeCRLFOff
)

// ConvertSettings are what conversion depends on beside attributes.
type ConvertSettings struct {
	AutoCRLF       AutoCRLF
	EOLCRLF        bool // core.eol=crlf
	SafeCRLF       SafeCRLF
	CheckRoundTrip string // core.checkRoundtripEncoding
	Trace          bool   // GIT_TRACE: say when it is checked
	Drivers        map[string]*FilterDriver

	// Blob reads what the index has for a path; nil if there is no index. It
	// is called by several goroutines at once.
	Blob func(path string) ([]byte, bool)
	// Root is where filters run, Environ what they find, Stderr where they complain.
	Root    string
	Environ []string
	Stderr  io.Writer
	// HashBlob names a blob, for ident expansion.
	HashBlob func(content []byte) oid.ID
}

// LoadConvert reads the settings that cfg has.
func LoadConvert(cfg *config.Config) (ConvertSettings, error) {
	s := ConvertSettings{}
	if e := cfg.Lookup("core.autocrlf"); e != nil {
		if v, _ := cfg.Get("core.autocrlf"); strings.EqualFold(v, "input") {
			s.AutoCRLF = AutoCRLFInput
		} else if b, err := e.Bool(); err != nil {
			return s, err
		} else if b {
			s.AutoCRLF = AutoCRLFTrue
		}
	}
	if e := cfg.Lookup("core.safecrlf"); e != nil {
		if v, _ := cfg.Get("core.safecrlf"); !strings.EqualFold(v, "warn") {
			b, err := e.Bool()
			if err != nil {
				return s, err
			}
			s.SafeCRLF = SafeCRLFOff
			if b {
				s.SafeCRLF = SafeCRLFError
			}
		}
	}
	v, _ := cfg.Get("core.eol")
	s.EOLCRLF = strings.EqualFold(v, "crlf")
	s.CheckRoundTrip, _ = cfg.Get("core.checkroundtripencoding")
	return s, s.loadDrivers(cfg)
}

func (s *ConvertSettings) loadDrivers(cfg *config.Config) error {
	for _, name := range cfg.Subsections("filter") {
		d := &FilterDriver{Name: name}
		var err error
		for key, to := range map[string]*string{"clean": &d.Clean, "smudge": &d.Smudge, "process": &d.Process} {
			if *to, _, err = cfg.String("filter." + name + "." + key); err != nil {
				return err
			}
		}
		if d.Required, err = cfg.Bool("filter."+name+".required", false); err != nil {
			return err
		}
		if s.Drivers == nil {
			s.Drivers = map[string]*FilterDriver{}
		}
		s.Drivers[name] = d
	}
	return nil
}

// A Converter converts content between the working tree and the repository.
// Plan is for one goroutine, the rest for any number.
type Converter struct {
	set     ConvertSettings
	attrs   *Attributes
	filters filterPool
	scratch [6]Attr
}

// NewConverter takes the attributes of the direction that it will convert in.
func NewConverter(set ConvertSettings, attrs *Attributes) *Converter {
	return &Converter{set: set, attrs: attrs}
}

// Close ends long-running filters.
func (c *Converter) Close() { c.filters.close() }

// A Conversion is what one path needs.
type Conversion struct {
	crlf, attr crlfAction
	ident      bool
	driver     *FilterDriver
	encoding   string
}

// None reports that content goes in as it is.
func (cv *Conversion) None() bool {
	return cv.crlf == crlfBinary && !cv.ident && cv.driver == nil && cv.encoding == ""
}

// EOLAttr is the attr column of ls-files --eol.
func (cv *Conversion) EOLAttr() string {
	switch cv.attr {
	case crlfBinary:
		return "-text"
	case crlfText:
		return "text"
	case crlfTextInput:
		return "text eol=lf"
	case crlfTextCRLF:
		return "text eol=crlf"
	case crlfAuto:
		return "text=auto"
	case crlfAutoCRLF:
		return "text=auto eol=crlf"
	case crlfAutoInput:
		return "text=auto eol=lf"
	}
	return ""
}

// The attributes that conversion asks for; see Plan for the order.
func convertAttrs() []string {
	return []string{"crlf", "ident", "filter", "eol", "text", "working-tree-encoding"}
}

// Plan looks up what path needs.
func (c *Converter) Plan(path string) (Conversion, error) {
	var cv Conversion
	at := &c.scratch
	c.attrs.lookup(path, convertAttrs(), at[:])
	crlf, ident, filter, eol, text, enc := at[0], at[1], at[2], at[3], at[4], at[5]
	if cv.crlf = crlfOf(text); cv.crlf == crlfUndefined {
		cv.crlf = crlfOf(crlf)
	}
	cv.ident = ident.State == AttrSet
	if filter.State == AttrValue {
		cv.driver = c.set.Drivers[filter.Text]
	}
	if cv.crlf != crlfBinary && eol.State == AttrValue {
		cv.crlf = refineEOL(cv.crlf, eol.Text)
	}
	if enc.State == AttrSet {
		return cv, fmt.Errorf("true/false are no valid working-tree-encodings")
	}
	if enc.State == AttrValue && !isUTF8Name(enc.Text) {
		cv.encoding = enc.Text
	}
	cv.attr = cv.crlf
	cv.crlf = c.set.resolve(cv.crlf)
	return cv, nil
}

func crlfOf(a Attr) crlfAction {
	switch {
	case a.State == AttrSet:
		return crlfText
	case a.State == AttrUnset:
		return crlfBinary
	case a.State == AttrValue && a.Text == "input":
		return crlfTextInput
	case a.State == AttrValue && a.Text == "auto":
		return crlfAuto
	}
	return crlfUndefined
}

func refineEOL(a crlfAction, eol string) crlfAction {
	switch {
	case eol == "lf" && a == crlfAuto:
		return crlfAutoInput
	case eol == "crlf" && a == crlfAuto:
		return crlfAutoCRLF
	case eol == "lf":
		return crlfTextInput
	case eol == "crlf":
		return crlfTextCRLF
	}
	return a
}

// resolve brings core.autocrlf in where attributes say nothing.
func (c *ConvertSettings) resolve(a crlfAction) crlfAction {
	switch {
	case a == crlfText && c.textIsCRLF():
		return crlfTextCRLF
	case a == crlfText:
		return crlfTextInput
	case a != crlfUndefined:
		return a
	case c.AutoCRLF == AutoCRLFTrue:
		return crlfAutoCRLF
	case c.AutoCRLF == AutoCRLFInput:
		return crlfAutoInput
	}
	return crlfBinary
}

// ConvertOptions say what a conversion is for.
type ConvertOptions struct {
	// Write: the result is stored. Then what can't be converted is fatal,
	// and a lossy change of line ends is warned about.
	Write bool
	// Renormalize converts line ends whatever the index has.
	Renormalize bool
	// Report takes whole lines for stderr; may be nil.
	Report func(line string)
}

func (o *ConvertOptions) report(format string, args ...any) {
	if o.Report != nil {
		o.Report(fmt.Sprintf(format, args...))
	}
}

func (o *ConvertOptions) hint(format string, args ...any) { o.report("hint: "+format, args...) }

// ToGit converts content on its way in. The result may be src itself. An
// error is what git dies of.
func (c *Converter) ToGit(cv *Conversion, path string, src []byte, o ConvertOptions) ([]byte, error) {
	if cv.driver != nil {
		out, ok := c.applyFilter(cv.driver, capClean, path, bytes.NewReader(src), o)
		if ok {
			src = out
		} else if cv.driver.Required {
			return nil, fmt.Errorf("%s: clean filter '%s' failed", path, cv.driver.Name)
		}
	}
	return c.afterFilter(cv, path, src, o)
}

// Streams reports whether the filter takes content from a reader, so that a
// big file need not be in memory before it. Only a required one does: the
// original is gone if it fails.
func (cv *Conversion) Streams() bool {
	return cv.driver != nil && cv.driver.Required && (cv.driver.Clean != "" || cv.driver.Process != "")
}

// ToGitFrom is ToGit for a conversion that streams.
func (c *Converter) ToGitFrom(cv *Conversion, path string, r io.Reader, o ConvertOptions) ([]byte, error) {
	src, ok := c.applyFilter(cv.driver, capClean, path, r, o)
	if !ok {
		return nil, fmt.Errorf("%s: clean filter '%s' failed", path, cv.driver.Name)
	}
	return c.afterFilter(cv, path, src, o)
}

func (c *Converter) afterFilter(cv *Conversion, path string, src []byte, o ConvertOptions) ([]byte, error) {
	src, err := c.encodeToGit(cv, path, src, o)
	if err != nil {
		return nil, err
	}
	if src, err = c.crlfToGit(cv, path, src, o); err != nil {
		return nil, err
	}
	if cv.ident {
		src = collapseIdent(src)
	}
	return src, nil
}

// ToWorktree converts content on its way out. An error is what git dies of.
func (c *Converter) ToWorktree(cv *Conversion, path string, src []byte, o ConvertOptions) ([]byte, error) {
	if cv.ident && c.set.HashBlob != nil {
		src = expandIdent(src, c.set.HashBlob)
	}
	src = c.crlfToWorktree(cv, src)
	if cv.encoding != "" && len(src) > 0 {
		out, err := reencode(src, cv.encoding, "UTF-8")
		if err != nil {
			o.report("error: failed to encode '%s' from UTF-8 to %s", path, cv.encoding)
		} else {
			src = out
		}
	}
	if cv.driver != nil {
		out, ok := c.applyFilter(cv.driver, capSmudge, path, bytes.NewReader(src), o)
		if ok {
			src = out
		} else if cv.driver.Required {
			return nil, fmt.Errorf("%s: smudge filter %s failed", path, cv.driver.Name)
		}
	}
	return src, nil
}
