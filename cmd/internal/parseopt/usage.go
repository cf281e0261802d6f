package parseopt

import (
	"strings"
	"unicode/utf8"
)

// helpColumn is where the help of an option starts.
const helpColumn = 26

// helpText is the usage text as -h prints it.
func (p *Parser) helpText(full bool) string {
	text := p.UsageText(full)
	if p.Flags&ShellEval != 0 {
		return "cat <<\\EOF\n" + text + "EOF\nexit 0\n"
	}
	return text
}

// UsageText is the synopses and the table of options in git's layout; full
// includes the hidden ones.
func (p *Parser) UsageText(full bool) string {
	var b strings.Builder
	p.synopses(&b)
	opts, _ := expandAliases(p.Options)
	gap := true
	for i := range opts {
		o := &opts[i]
		switch {
		case o.kind == kindSubcommand:
			continue
		case o.kind == kindGroup:
			b.WriteByte('\n')
			gap = false
			if o.Help != "" {
				b.WriteString(o.Help + "\n")
			}
			continue
		case !full && o.flags&hidden != 0:
			continue
		}
		if gap {
			b.WriteByte('\n')
			gap = false
		}
		row(&b, o, opts)
	}
	b.WriteByte('\n')
	return b.String()
}

func (p *Parser) synopses(b *strings.Builder) {
	lead, text := "usage: ", false
	for _, u := range p.Usage {
		text = text || u == ""
		for i, line := range strings.Split(u, "\n") {
			switch {
			case text && line != "":
				b.WriteString("    " + line)
			case text:
			case i == 0:
				b.WriteString(lead + line)
			default:
				b.WriteString("       " + line)
			}
			b.WriteByte('\n')
		}
		lead = "   or: "
	}
}

func row(b *strings.Builder, o *Option, all []Option) {
	left := "    "
	if o.Short != 0 {
		if o.flags&noDash == 0 {
			left += "-"
		}
		left += string(rune(o.Short))
	}
	if o.Short != 0 && o.Long != "" {
		left += ", "
	}
	positive, negName := strings.CutPrefix(o.Long, "no-")
	negName = negName && o.flags&noNeg == 0
	switch {
	case o.Long == "":
	case o.flags&noNeg != 0 || negName:
		left += "--" + o.Long
	default:
		left += "--[no-]" + o.Long
	}
	if o.kind == kindNumber {
		left += "-NUM"
	}
	if o.flags&noArg == 0 || o.flags&literal != 0 {
		left += o.argText()
	}
	b.WriteString(left)
	pos := utf8.RuneCountInString(left)
	if o.Help != "" {
		for _, line := range strings.SplitAfter(o.Help, "\n") {
			pad(b, pos)
			b.WriteString(line)
			pos = 0
		}
	}
	b.WriteByte('\n')
	if !negName {
		return
	}
	for i := range all {
		if all[i].Long == positive {
			return
		}
	}
	left = "    --" + positive
	b.WriteString(left)
	pad(b, utf8.RuneCountInString(left))
	b.WriteString("opposite of --no-" + positive + "\n")
}

func pad(b *strings.Builder, pos int) {
	if pos >= helpColumn {
		b.WriteByte('\n')
		pos = 0
	}
	b.WriteString(strings.Repeat(" ", helpColumn-pos))
}

// argText is the value's place in the usage text.
func (o *Option) argText() string {
	arg := o.Argh
	switch {
	case arg == "":
		arg = "..."
	case o.flags&literal == 0 && !strings.ContainsAny(arg, "()<>[]|"):
		arg = "<" + arg + ">"
	}
	switch {
	case o.flags&optArg != 0 && o.Long != "":
		return "[=" + arg + "]"
	case o.flags&optArg != 0:
		return "[" + arg + "]"
	}
	return " " + arg
}

// completion is the list of words that git's shell completion asks for.
func completion(opts []Option, all bool) string {
	var words []string
	negatives := 0
	for i := range opts {
		o := &opts[i]
		skip := !all && o.flags&(hidden|noComplete|fromAlias) != 0
		if o.Long == "" || o.kind == kindGroup || skip {
			continue
		}
		prefix, suffix := "--", ""
		if o.kind == kindSubcommand {
			prefix = ""
		}
		if o.kind == kindValue && o.flags&(optArg|lastArgDefault) == 0 || o.flags&compArg != 0 {
			suffix = "="
		}
		if strings.HasPrefix(o.Long, "no-") {
			negatives++
		}
		words = append(words, prefix+o.Long+suffix)
	}
	var plain, negated []string
	for i := range opts {
		o := &opts[i]
		skip := !all && o.flags&(hidden|noComplete) != 0
		if o.Long == "" || skip || o.flags&noNeg != 0 || o.flags&unsetForm == 0 {
			continue
		}
		if positive, ok := strings.CutPrefix(o.Long, "no-"); ok {
			plain = append(plain, "--"+positive)
			continue
		}
		if negatives > 0 && len(negated) == 0 {
			negated = append(negated, "--")
		}
		negated = append(negated, "--no-"+o.Long)
		negatives++
	}
	words = append(append(words, plain...), negated...)
	return strings.Join(words, " ") + "\n"
}
