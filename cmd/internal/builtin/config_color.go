package builtin

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/sluicegit/sluice/gitcompat/config"
)

// color is one colour of a terminal, as the parameters that select it.
type color struct {
	given bool
	text  func(background bool) string // nil for "normal"
}

// parseColor returns the escape sequence for a value of a colour: an optional
// "reset", up to two colours, and attributes.
func parseColor(value string) (string, bool) {
	words := strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	var colors []color
	reset := false
	var attrs [32]bool
	for _, w := range words {
		if strings.EqualFold(w, "reset") {
			reset = true
			continue
		}
		if c, ok := oneColor(w); ok {
			if len(colors) == 2 {
				return "", false
			}
			colors = append(colors, c)
			continue
		}
		n, ok := attribute(w)
		if !ok {
			return "", false
		}
		attrs[n] = true
	}
	params := []string{}
	if reset {
		params = append(params, "")
	}
	for n, on := range attrs {
		if on {
			params = append(params, strconv.Itoa(n))
		}
	}
	for i, c := range colors {
		if c.text != nil {
			params = append(params, c.text(i == 1))
		}
	}
	if len(params) == 0 {
		return "", true
	}
	return "\x1b[" + strings.Join(params, ";") + "m", true
}

// attribute returns the parameter for an attribute or its opposite.
func attribute(w string) (int, bool) {
	name, not := strings.CutPrefix(w, "no")
	if not {
		name = strings.TrimPrefix(name, "-")
	}
	on, off := 0, 0
	switch name {
	case "bold":
		on, off = 1, 22
	case "dim":
		on, off = 2, 22
	case "italic":
		on, off = 3, 23
	case "ul":
		on, off = 4, 24
	case "blink":
		on, off = 5, 25
	case "reverse":
		on, off = 7, 27
	case "strike":
		on, off = 9, 29
	default:
		return 0, false
	}
	if not {
		return off, true
	}
	return on, true
}

func basicColor(n int) color {
	return color{true, func(background bool) string {
		if background {
			return strconv.Itoa(n + 10)
		}
		return strconv.Itoa(n)
	}}
}

// longColor is a colour of the longer forms.
func longColor(params string) color {
	return color{true, func(background bool) string {
		if background {
			return "48;" + params
		}
		return "38;" + params
	}}
}

func oneColor(w string) (color, bool) {
	low := strings.ToLower(w)
	switch {
	case low == "normal" || w == "-1":
		return color{given: true}, true
	case low == "default":
		return basicColor(39), true
	case strings.HasPrefix(w, "#") && (len(w) == 7 || len(w) == 4):
		return rgbColor(w[1:])
	}
	base := 30
	if name, ok := strings.CutPrefix(low, "bright"); ok {
		low, base = name, 90
	}
	for i, name := range [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"} {
		if low == name {
			return basicColor(base + i), true
		}
	}
	n, err := strconv.Atoi(w)
	switch {
	case err != nil || n < 0 || n > 255:
		return color{}, false
	case n < 8:
		return basicColor(30 + n), true
	case n < 16:
		return basicColor(90 + n - 8), true
	}
	return longColor("5;" + strconv.Itoa(n)), true
}

func rgbColor(hex string) (color, bool) {
	var parts []string
	width := len(hex) / 3
	for i := 0; i < len(hex); i += width {
		digits := hex[i : i+width]
		if width == 1 {
			digits += digits
		}
		n, err := strconv.ParseUint(digits, 16, 8)
		if err != nil {
			return color{}, false
		}
		parts = append(parts, strconv.FormatUint(n, 10))
	}
	return longColor("2;" + strings.Join(parts, ";")), true
}

// getColor is --get-color.
func (c *configCmd) getColor(name string, def *string) Status {
	cfg, err := c.load()
	var unread *errUnread
	if err != nil && !errors.As(err, &unread) {
		return Fatal(err)
	}
	out, found := "", false
	if cfg != nil {
		for _, e := range cfg.Multi(name) {
			if e.Key != name {
				continue // git compares the name as it is
			}
			if !e.HasValue {
				return Fatal(badLine(e, errors.New("missing value for '"+e.Key+"'")))
			}
			text, ok := parseColor(e.Value)
			if !ok {
				return Fatal(badLine(e, errors.New("invalid color value: "+e.Value)))
			}
			out, found = text, true
		}
	}
	if !found && def != nil {
		text, ok := parseColor(*def)
		if !ok {
			c.env.Error(errors.New("invalid color value: " + *def))
			return Failure(255, errors.New("unable to parse default color value"))
		}
		out = text
	}
	c.env.Print(out)
	return OK
}

// getColorBool is --get-colorbool.
func (c *configCmd) getColorBool(name string, tty *string) Status {
	isTTY := false
	if tty != nil {
		b, ok := config.ParseBool(*tty, true)
		if !ok {
			return Fatalf("bad boolean config value '%s' for 'command line'", *tty)
		}
		isTTY = b
	} else if info, err := os.Stdout.Stat(); err == nil {
		isTTY = info.Mode()&os.ModeCharDevice != 0
	}
	cfg, err := c.load()
	var unread *errUnread
	if err != nil && !errors.As(err, &unread) {
		return Fatal(err)
	}
	keys := []string{name}
	if name == "color.diff" {
		keys = append(keys, "diff.color")
	}
	use, decided := false, false
	for _, key := range append(keys, "color.ui") {
		if cfg == nil || decided {
			break
		}
		if e := cfg.Lookup(key); e != nil {
			if use, err = c.colorBool(e, isTTY); err != nil {
				return Fatal(err)
			}
			decided = true
		}
	}
	if !decided {
		use = isTTY && !c.dumb()
	}
	if tty != nil {
		c.env.Printf("%t\n", use)
		return OK
	}
	if use {
		return OK
	}
	return Exit(1)
}

func (c *configCmd) dumb() bool {
	term := c.env.Getenv("TERM")
	return term == "" || term == "dumb"
}

// colorBool reads never, always, auto or a boolean, of which true is auto.
func (c *configCmd) colorBool(e *config.Entry, isTTY bool) (bool, error) {
	if e.HasValue {
		switch strings.ToLower(e.Value) {
		case "never":
			return false, nil
		case "always":
			return true, nil
		case "auto":
			return isTTY && !c.dumb(), nil
		}
	}
	b, err := e.Bool()
	return b && isTTY && !c.dumb(), err
}
