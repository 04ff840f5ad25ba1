// Package sheet writes tables as HTML, which can be sorted in the page, and as text.
package sheet

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svmnb/svmnb/svmnb/internal/echarts"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Table is a table of columns.
type Table struct {
	Name    string // what the rows are
	Columns []Column
	Notes   []string // sentences below the caption
}

// Column is a column of a table.
type Column struct {
	Name   string
	Text   []string               // as it is shown
	Values []float64              // the numbers, NaN if one is missing; nil for a column of texts
	Number bool                   // the column has the numbers of the rows, so its mean means nothing
	Kind   string                 // of a table of columns of several kinds, such as "category"; else ""
	unit   string                 // follows each number
	print  func(v float64) string // what a value is written as; nil for a number
}

// Tables with more rows or columns than wholeRows and wholeColumns are shown without their
// middle. cellLetters is the longest text of a cell.
const (
	wholeRows    = 12
	headRows     = 5
	tailRows     = 5
	wholeColumns = 14
	headColumns  = 10
	tailColumns  = 3
	cellLetters  = 60
)

// Rows returns the number of rows.
func (s *Table) Rows() int {
	if len(s.Columns) == 0 {
		return 0
	}
	return len(s.Columns[0].Text)
}

// Numbers adds a column of numbers; NaN is a missing number.
func (s *Table) Numbers(name string, values []float64) *Column {
	s.Columns = append(s.Columns, Column{Name: name, Values: values, Text: aligned(values)})
	return &s.Columns[len(s.Columns)-1]
}

// Times adds a column of times in ms. Each cell contains the unit: the program that
// compares two runs of a notebook recognises times by it and ignores them.
func (s *Table) Times(name string, ms []float64) {
	col := s.Numbers(name, ms)
	col.unit = " ms"
	for i, text := range col.Text {
		if text != "" {
			col.Text[i] = text + col.unit
		}
	}
}

// Texts adds a column of texts.
func (s *Table) Texts(name string, text []string) {
	s.Columns = append(s.Columns, Column{Name: name, Text: text})
}

// Numbered adds a column with the numbers of the n rows, counted from 0 as in error
// messages.
func (s *Table) Numbered(name string, n int) {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	s.Numbers(name, v).Number = true
}

// aligned prints the values of a column with the same number of decimals: none if all
// values are whole, otherwise so many that the largest value has five digits, or fewer if
// no value needs them. Very small and very large numbers get an exponent. A missing value
// is an empty text.
func aligned(values []float64) []string {
	largest, whole := 0.0, true
	for _, v := range values {
		if finite(v) {
			largest = max(largest, math.Abs(v))
			whole = whole && v == math.Trunc(v)
		}
	}
	decimals := 0
	if !whole {
		digits := 4 - int(math.Floor(math.Log10(largest)))
		most := min(max(digits, 0), 6)
		for _, v := range values {
			if _, after, ok := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), "."); ok && finite(v) {
				decimals = max(decimals, min(len(after), most))
			}
		}
	}
	out := make([]string, len(values))
	for i, v := range values {
		switch {
		case math.IsNaN(v):
		case v == 0:
			out[i] = "0"
		case v > math.MaxFloat64:
			out[i] = "∞"
		case v < -math.MaxFloat64:
			out[i] = "−∞"
		case math.Abs(v) < 0.5*math.Pow10(-decimals) || math.Abs(v) >= 1e15 || !whole && (largest >= 1e9 || largest < 0.01):
			out[i] = say.Signed(v, 4)
		default:
			out[i] = strings.ReplaceAll(strconv.FormatFloat(v, 'f', decimals, 64), "-", "−")
		}
	}
	return out
}

func finite(v float64) bool { return v-v == 0 }

// shownColumns returns the indices of the columns that are shown. −1 stands for the columns
// that are omitted.
func (s *Table) shownColumns() []int {
	return ends(len(s.Columns), wholeColumns, headColumns, tailColumns)
}

// shownRows returns the first and the last rows of an order, with −1 for the rows that are
// omitted.
func shownRows(order []int) []int {
	at := ends(len(order), wholeRows, headRows, tailRows)
	for i, k := range at {
		if k >= 0 {
			at[i] = order[k]
		}
	}
	return at
}

func ends(n, whole, head, tail int) (at []int) {
	for i := range n {
		switch {
		case n <= whole || i < head || i >= n-tail:
			at = append(at, i)
		case i == head:
			at = append(at, -1)
		}
	}
	return at
}

// order returns the rows sorted by column c, ascending or descending; missing values come
// last.
func (s *Table) order(c int, down bool) []int {
	col := s.Columns[c]
	order := make([]int, s.Rows())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if col.Values == nil {
			if down {
				a, b = b, a
			}
			return cmp.Or(cmp.Compare(strings.ToLower(col.Text[a]), strings.ToLower(col.Text[b])), cmp.Compare(col.Text[a], col.Text[b]))
		}
		x, y := col.Values[a], col.Values[b]
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			return -cmp.Compare(x, y) // Compare puts NaN first
		case down:
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	return order
}

// foot returns the lines below a long table, with one cell for each column: minimum, mean,
// maximum, missing values and distribution.
func (s *Table) foot() (names []string, lines [][]string) {
	kinds := make([]string, len(s.Columns))
	for c, col := range s.Columns {
		kinds[c] = col.Kind
	}
	if slices.ContainsFunc(kinds, func(k string) bool { return k != "" }) {
		names, lines = []string{"kind"}, [][]string{kinds}
	}
	if s.Rows() <= wholeRows {
		return names, lines
	}
	least, mean, most := make([]float64, len(s.Columns)), make([]float64, len(s.Columns)), make([]float64, len(s.Columns))
	missing, shape := make([]string, len(s.Columns)), make([]string, len(s.Columns))
	gaps := false
	for c, col := range s.Columns {
		least[c], mean[c], most[c] = math.NaN(), math.NaN(), math.NaN()
		if col.Number {
			continue
		}
		gone, n := 0, 0.0
		for i, text := range col.Text {
			if text == "" {
				gone++
			}
			if col.Values == nil || !finite(col.Values[i]) {
				continue
			}
			v := col.Values[i]
			if n++; n == 1 {
				least[c], mean[c], most[c] = v, v, v
			}
			least[c], mean[c], most[c] = min(least[c], v), mean[c]+(v-mean[c])/n, max(most[c], v)
		}
		if missing[c] = strconv.Itoa(gone); gone > 0 {
			gaps = true
		}
		shape[c] = col.shape(least[c], most[c])
	}
	line := func(name string, values []float64) {
		cells := make([]string, len(values))
		for c, v := range values {
			if print := s.Columns[c].print; print != nil && !math.IsNaN(v) {
				cells[c] = print(v)
			} else if !math.IsNaN(v) { // one digit more than the values of the column
				cells[c] = say.Signed(v, 5) + s.Columns[c].unit
			}
		}
		names, lines = append(names, name), append(lines, cells)
	}
	line("min", least)
	line("mean", mean)
	line("max", most)
	if gaps {
		names, lines = append(names, "missing"), append(lines, missing)
	}
	return append(names, "distribution"), append(lines, shape)
}

// bars are the characters for a histogram in one line.
var bars = []rune("▁▂▃▄▅▆▇█")

// shape draws the histogram of a column of numbers between low and high. For texts it
// returns the number of different ones.
func (c *Column) shape(low, high float64) string {
	if c.Values == nil {
		seen := map[string]int{}
		for _, t := range c.Text {
			if t != "" {
				seen[t]++
			}
		}
		most := ""
		for t, n := range seen {
			if n > seen[most] || n == seen[most] && t < most {
				most = t
			}
		}
		text := fmt.Sprintf("%d different", len(seen))
		if c.Kind != "" && 2*len(seen) <= len(c.Text) {
			text += fmt.Sprintf(", most often %s (%.0f %%)", clip(most), 100*float64(seen[most])/float64(len(c.Text)))
		}
		return text
	}
	if !(high > low) {
		return ""
	}
	var counts [8]int
	for _, v := range c.Values {
		if finite(v) {
			counts[min(int(8*((v-low)/(high-low))), 7)]++
		}
	}
	line, most := "", slices.Max(counts[:])
	for _, n := range counts { // the lowest bar means an empty interval
		line += string(bars[(7*n+most-1)/most])
	}
	return line
}

// caption returns the name of the table and its size.
func (s *Table) caption() string {
	text := say.Several(s.Rows(), "row") + " × " + say.Several(len(s.Columns), "column")
	if s.Name != "" {
		text = s.Name + ": " + text
	}
	for _, note := range s.Notes {
		text += ". " + note
	}
	return text
}

// clip writes the text of a cell on one line and shortens it.
func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > cellLetters {
		return string([]rune(text)[:cellLetters-1]) + "…"
	}
	return text
}

// String returns the table as plain text: its first and last rows, and the lines below.
func (s *Table) String() string {
	columns := s.shownColumns()
	names, lines := s.foot()
	gap := func(c int) bool { return c < 0 }
	var grid [][]string
	add := func(first string, of func(c int) string) {
		row := []string{first}
		for _, c := range columns {
			if gap(c) {
				row = append(row, "…")
				continue
			}
			row = append(row, clip(of(c)))
		}
		grid = append(grid, row)
	}
	add("", func(c int) string { return s.Columns[c].Name })
	for _, i := range shownRows(rowNumbers(s.Rows())) {
		add("", func(c int) string {
			if i < 0 {
				return "…"
			}
			return s.Columns[c].Text[i]
		})
	}
	for k, name := range names {
		add(name, func(c int) string { return lines[k][c] })
	}
	widths := make([]int, len(columns)+1)
	for _, row := range grid {
		for k, cell := range row {
			widths[k] = max(widths[k], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	b.WriteString(s.caption() + "\n")
	for _, row := range grid {
		line := ""
		for k, cell := range row {
			pad := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell))
			if k == 0 || columns[k-1] >= 0 && s.Columns[columns[k-1]].Values == nil {
				cell += pad
			} else {
				cell = pad + cell
			}
			if k == 0 && widths[0] == 0 {
				continue
			}
			line += cell + "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func rowNumbers(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

const tableStyle = `#ID table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92em;margin:0}` +
	`#ID caption{caption-side:top;text-align:left;padding:.2em .4em;font-weight:600;color:inherit}` +
	`#ID th,#ID td{padding:.2em .7em;text-align:right;white-space:nowrap;border:0;border-bottom:1px solid rgba(128,128,128,.3);background:none;color:inherit}` +
	`#ID .t{text-align:left}#ID thead th{border-bottom:2px solid rgba(128,128,128,.6)}` +
	`#ID tfoot td,#ID tfoot th{font-weight:400;opacity:.8;border-bottom:0}#ID tfoot tr:first-child>*{border-top:2px solid rgba(128,128,128,.6)}` +
	`#ID [aria-sort]{cursor:pointer}#ID [aria-sort=ascending]::after{content:" ▲"}#ID [aria-sort=descending]::after{content:" ▼"}`

// HTML returns the table for a page. Without a script it can be read; with one it can be
// sorted. For each order in which a long table can be sorted, the HTML contains only the
// rows that are shown then, so it is hardly longer than that of a short table.
func (s *Table) HTML() string {
	columns := s.shownColumns()
	class := func(c int) string {
		if c >= 0 && s.Columns[c].Values == nil {
			return ` class="t"`
		}
		return ""
	}
	cell := func(tag, attributes, text string) string {
		return "<" + tag + attributes + ">" + html.EscapeString(text) + "</" + tag + ">"
	}
	names, lines := s.foot()
	lead := names != nil && !s.Columns[0].Number // a first column for the names of the lines below the table
	var b strings.Builder
	b.WriteString("<table>" + cell("caption", "", s.caption()) + "<thead><tr>")
	if lead {
		b.WriteString("<th></th>")
	}
	for _, c := range columns {
		if c < 0 {
			b.WriteString(cell("th", "", "…"))
			continue
		}
		b.WriteString(cell("th", ` scope="col"`+class(c), clip(s.Columns[c].Name)))
	}
	b.WriteString("</tr></thead>\n<tbody>")
	row := func(i int) (cells []string) {
		for _, c := range columns {
			switch {
			case i < 0 || c < 0:
				cells = append(cells, "…")
			default:
				cells = append(cells, clip(s.Columns[c].Text[i]))
			}
		}
		return cells
	}
	for _, i := range shownRows(rowNumbers(s.Rows())) {
		b.WriteString("<tr>")
		if lead {
			b.WriteString("<td></td>")
		}
		for k, text := range row(i) {
			b.WriteString(cell("td", class(columns[k]), text))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>")
	if names != nil {
		b.WriteString("<tfoot>")
		for k, name := range names {
			b.WriteString("<tr>" + cell("th", ` scope="row" class="t"`, name))
			for _, c := range columns {
				text := ""
				if c == 0 && !lead {
					continue
				}
				if c >= 0 {
					text = lines[k][c]
				}
				b.WriteString(cell("td", class(c), text))
			}
			b.WriteString("</tr>\n")
		}
		b.WriteString("</tfoot>")
	}
	b.WriteString("</table>")

	var data []byte // nil if the page has all rows
	if s.Rows() > wholeRows {
		data = s.orders(columns, row, lead)
	}
	table := b.String()
	id := fmt.Sprintf("svmtable-%x", sha256.Sum256(append([]byte(table), data...)))[:21]
	return `<div id="` + id + `" style="overflow-x:auto"><style>` + strings.ReplaceAll(tableStyle, "ID", id) + "</style>" + table + "</div>\n" + echarts.Sorting(id, data)
}

// orders returns what the script needs to sort a table with omitted rows: for each shown
// column, the first and last rows of both orders, and the cells of these rows.
func (s *Table) orders(columns []int, row func(i int) []string, lead bool) []byte {
	kept := map[int][]string{}
	orders := make([][2][]int, len(columns)) // ascending and descending
	for k, c := range columns {
		if c < 0 {
			continue
		}
		for d := range 2 {
			orders[k][d] = shownRows(s.order(c, d == 1))
			for _, i := range orders[k][d] {
				kept[i] = row(i)
			}
		}
	}
	data, _ := json.Marshal(struct { // strings and whole numbers always encode
		Rows   map[int][]string `json:"rows"`
		Orders [][2][]int       `json:"orders"`
		Lead   bool             `json:"lead"`
	}{kept, orders, lead})
	return data
}
