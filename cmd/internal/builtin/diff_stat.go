package builtin

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluicegit/sluice/gitcompat/diff"
)

// statWidths are the limits of a diffstat; 0 where there is none.
type statWidths struct{ total, name, graph, count int }

// parseStat reads the value of --stat: <width>,<name-width>,<count>.
func parseStat(value string) (statWidths, error) {
	var w statWidths
	if value == "" {
		return w, nil
	}
	for i, field := range strings.SplitN(value, ",", 3) {
		n, err := strconv.Atoi(field)
		if err != nil {
			return w, fmt.Errorf("invalid --stat value: %s", value)
		}
		*[]*int{&w.total, &w.name, &w.count}[i] = n
	}
	return w, nil
}

// A statRow is one file of a diffstat.
type statRow struct {
	name     string
	unmerged bool
	fileStat
	oldSize, newSize int // of a binary file
}

func (o *diffOutput) statRows(changes []diff.Change) ([]statRow, error) {
	rows := make([]statRow, len(changes))
	for i := range changes {
		c := &changes[i]
		st, err := o.stat(c)
		if err != nil {
			return nil, err
		}
		r := statRow{name: o.quote(c.Path()), unmerged: c.Status == diff.Unmerged, fileStat: st}
		if c.Status == diff.Renamed || c.Status == diff.Copied {
			r.name = o.renameName(o.shown(c.Old.Path), o.shown(c.New.Path))
		}
		if st.binary {
			a, err := o.side(&c.Old)
			if err != nil {
				return nil, err
			}
			b, err := o.side(&c.New)
			if err != nil {
				return nil, err
			}
			r.oldSize, r.newSize = len(a), len(b)
		}
		rows[i] = r
	}
	return rows, nil
}

func numberWidth(n int) int { return len(strconv.Itoa(n)) }

// layout finds the widths of names, numbers and graph.
func layout(rows []statRow, w statWidths) (name, number, graph, most int) {
	binary := 0
	for i := range rows {
		r := &rows[i]
		name = max(name, utf8.RuneCountInString(r.name))
		switch {
		case r.unmerged:
			binary = max(binary, len("Unmerged"))
		case r.binary:
			binary = max(binary, 14+numberWidth(r.newSize)+numberWidth(r.oldSize))
			number = 3
		default:
			most = max(most, r.inserted+r.deleted)
		}
	}
	number = max(number, numberWidth(most))
	total := max(w.total, 16+6+number)
	if graph = most; most+4 <= binary {
		graph = binary - 4
	}
	if w.graph > 0 {
		graph = min(graph, w.graph)
	}
	if w.name > 0 {
		name = min(name, w.name)
	}
	if name+number+6+graph > total {
		if limit := total*3/8 - number - 6; graph > limit {
			graph = max(limit, 6)
		}
		if w.graph > 0 {
			graph = min(graph, w.graph)
		}
		if rest := total - number - 6 - graph; name > rest {
			name = rest
		} else {
			graph = total - number - 6 - name
		}
	}
	return name, number, graph, most
}

// shortenName cuts the beginning of a name, at a slash if there is one.
func shortenName(name string, width int) (prefix, rest string, pad int) {
	n := utf8.RuneCountInString(name)
	if n <= width {
		return "", name, width - n
	}
	width = max(width-3, 0)
	for ; n > width; n-- {
		_, size := utf8.DecodeRuneInString(name)
		name = name[size:]
	}
	if i := strings.IndexByte(name, '/'); i >= 0 {
		name = name[i:]
	}
	return "...", name, max(width-utf8.RuneCountInString(name), 0)
}

// scale shrinks a number of lines to the width of the graph, but not to nothing.
func scale(n, width, most int) int {
	if n == 0 {
		return 0
	}
	return 1 + n*(width-1)/most
}

// stats prints a diffstat.
func (o *diffOutput) stats(changes []diff.Change, w statWidths) error {
	rows, err := o.statRows(changes)
	if err != nil {
		return err
	}
	files, ins, del := 0, 0, 0
	for i := range rows {
		if r := &rows[i]; !r.unmerged {
			files, ins, del = files+1, ins+r.inserted, del+r.deleted
		}
	}
	shown := rows
	if w.count > 0 && w.count < len(rows) {
		shown = rows[:w.count]
	}
	name, number, graph, most := layout(shown, w)
	for i := range shown {
		o.statRow(&shown[i], name, number, graph, most)
	}
	if len(shown) < len(rows) {
		o.env.Print(" ...\n")
	}
	o.env.Print(statLine(files, ins, del))
	return nil
}

func (o *diffOutput) statRow(r *statRow, width, number, graph, most int) {
	prefix, name, pad := shortenName(r.name, width)
	o.env.Print(" ", prefix, name, strings.Repeat(" ", pad), " | ")
	switch {
	case r.unmerged:
		o.env.Printf("%*s\n", number, "Unmerged")
		return
	case r.binary:
		o.env.Printf("%*s", number, "Bin")
		if r.oldSize != 0 || r.newSize != 0 {
			o.env.Printf(" %d -> %d bytes", r.oldSize, r.newSize)
		}
		o.env.Print("\n")
		return
	}
	plus, minus := r.inserted, r.deleted
	if graph <= most {
		total := scale(plus+minus, graph, most)
		if total < 2 && plus > 0 && minus > 0 {
			total = 2
		}
		if plus < minus {
			plus = scale(plus, graph, most)
			minus = total - plus
		} else {
			minus = scale(minus, graph, most)
			plus = total - minus
		}
	}
	o.env.Printf("%*d", number, r.inserted+r.deleted)
	if r.inserted+r.deleted > 0 {
		o.env.Print(" ", strings.Repeat("+", plus), strings.Repeat("-", minus))
	}
	o.env.Print("\n")
}
