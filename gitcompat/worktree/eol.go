package worktree

import (
	"bytes"
	"fmt"
)

// crlfAction is what the text, crlf and eol attributes and core.autocrlf
// make of a path.
type crlfAction uint8

const (
	crlfUndefined crlfAction = iota
	crlfBinary
	crlfText
	crlfTextInput // text with LF in the working tree
	crlfTextCRLF
	crlfAuto
	crlfAutoInput
	crlfAutoCRLF
)

func (a crlfAction) auto() bool { return a == crlfAuto || a == crlfAutoInput || a == crlfAutoCRLF }

// textStats counts what tells text from binary.
type textStats struct {
	nul, loneCR, loneLF, crlf int
	printable, nonprintable   int
}

func statsOf(data []byte) textStats {
	var s textStats
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\r':
			if i+1 < len(data) && data[i+1] == '\n' {
				s.crlf++
				i++
			} else {
				s.loneCR++
			}
		case c == '\n':
			s.loneLF++
		case c == 0x7f:
			s.nonprintable++
		case c >= ' ' || c == '\b' || c == '\t' || c == 0x1b || c == '\f':
			s.printable++
		default:
			if c == 0 {
				s.nul++
			}
			s.nonprintable++
		}
	}
	// A DOS end of file mark at the very end is forgiven.
	if n := len(data); n > 0 && data[n-1] == 0x1a {
		s.nonprintable--
	}
	return s
}

func (s *textStats) binary() bool {
	return s.loneCR > 0 || s.nul > 0 || s.printable>>7 < s.nonprintable
}

// outputCRLF reports whether checkout writes CRLF.
func (c *ConvertSettings) outputCRLF(a crlfAction) bool {
	switch a {
	case crlfTextCRLF, crlfAutoCRLF:
		return true
	case crlfText, crlfAuto:
		return c.textIsCRLF()
	}
	return false
}

func (c *ConvertSettings) textIsCRLF() bool {
	switch c.AutoCRLF {
	case AutoCRLFTrue:
		return true
	case AutoCRLFInput:
		return false
	}
	return c.EOLCRLF
}

// addsCRLF reports whether checkout would change lone LFs.
func (c *ConvertSettings) addsCRLF(s *textStats, a crlfAction) bool {
	if !c.outputCRLF(a) || s.loneLF == 0 {
		return false
	}
	return !a.auto() || s.loneCR == 0 && s.crlf == 0 && !s.binary()
}

// crlfToGit replaces CRLF by LF where the action says so, and checks that a
// round trip gives the content back.
func (c *Converter) crlfToGit(cv *Conversion, path string, src []byte, o ConvertOptions) ([]byte, error) {
	if cv.crlf == crlfBinary || len(src) == 0 {
		return src, nil
	}
	stats := statsOf(src)
	convert := stats.crlf > 0
	if cv.crlf.auto() {
		if stats.binary() {
			return src, nil
		}
		// What has CRLF in the index is left alone, so that it doesn't
		// show as changed, unless that is what was asked for.
		if convert && !o.Renormalize && c.indexHasCRLF(path) {
			convert = false
		}
	}
	if o.Write && !o.Renormalize && c.set.SafeCRLF != SafeCRLFOff {
		after := stats
		if convert {
			after.loneLF, after.crlf = after.loneLF+after.crlf, 0
		}
		if c.set.addsCRLF(&after, cv.crlf) {
			after.crlf, after.loneLF = after.crlf+after.loneLF, 0
		}
		if err := c.checkRoundTrip(path, &stats, &after, o); err != nil {
			return nil, err
		}
	}
	if !convert {
		return src, nil
	}
	return stripCR(src, cv.crlf.auto()), nil
}

func (c *Converter) checkRoundTrip(path string, before, after *textStats, o ConvertOptions) error {
	from, to := "CRLF", "LF"
	switch {
	case before.crlf > 0 && after.crlf == 0:
	case before.loneLF > 0 && after.loneLF == 0:
		from, to = to, from
	default:
		return nil
	}
	if c.set.SafeCRLF == SafeCRLFError {
		return fmt.Errorf("%s would be replaced by %s in %s", from, to, path)
	}
	o.report("warning: in the working copy of '%s', %s will be replaced by %s the next time Git touches it", path, from, to)
	return nil
}

func (c *Converter) indexHasCRLF(path string) bool {
	if c.set.Blob == nil {
		return false
	}
	data, ok := c.set.Blob(path)
	if !ok || bytes.IndexByte(data, '\r') < 0 {
		return false
	}
	s := statsOf(data)
	return !s.binary() && s.crlf > 0
}

// stripCR drops each CR before a LF, or each CR.
func stripCR(src []byte, all bool) []byte {
	out := make([]byte, 0, len(src))
	for {
		i := bytes.IndexByte(src, '\r')
		if i < 0 {
			return append(out, src...)
		}
		out = append(out, src[:i]...)
		if !all && (i+1 == len(src) || src[i+1] != '\n') {
			out = append(out, '\r')
		}
		src = src[i+1:]
	}
}

// crlfToWorktree is the way out.
func (c *Converter) crlfToWorktree(cv *Conversion, src []byte) []byte {
	if len(src) == 0 || !c.set.outputCRLF(cv.crlf) {
		return src
	}
	stats := statsOf(src)
	if !c.set.addsCRLF(&stats, cv.crlf) {
		return src
	}
	out := make([]byte, 0, len(src)+stats.loneLF)
	for {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			return append(out, src...)
		}
		out = append(out, src[:i]...)
		if i == 0 || src[i-1] != '\r' {
			out = append(out, '\r')
		}
		out = append(out, '\n')
		src = src[i+1:]
	}
}

// TextKind is what ls-files --eol calls the content: "-text", "lf", "crlf",
// "mixed" or "none".
func TextKind(data []byte) string {
	s := statsOf(data)
	switch {
	case len(data) > 0 && s.binary():
		return "-text"
	case s.crlf > 0 && s.loneLF > 0:
		return "mixed"
	case s.crlf > 0:
		return "crlf"
	case s.loneLF > 0:
		return "lf"
	}
	return "none"
}
