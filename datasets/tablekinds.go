package datasets

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostLevels is how many levels a category may have when its kind is guessed, and
// fewValues below how many values a column of short texts is a category in any case.
const (
	mostLevels = 1000
	fewValues  = 50
)

// column makes a column of fields. Where its kind is not given it is guessed; bad is then
// −1, and else the first field that is not of the kind.
func (r TableReader) column(t *Table, name string, fields []string) (c Column, bad int) {
	if kind, said := r.Kinds[name]; said {
		return columnAs(kind, fields, r)
	}
	if !slices.ContainsFunc(fields, func(field string) bool { return !r.missing(field) }) {
		t.note("%s has no value at all", name)
		return columnAs(Number, fields, r)
	}
	if !r.areNames(fields) {
		if c, bad := r.numbers(t, name, fields); bad < 0 {
			return c, -1
		}
	}
	if c, bad := r.times(t, name, fields); bad < 0 {
		return c, -1
	}
	return r.words(fields)
}

// words makes a category of fields, or a text where they hardly repeat.
func (r TableReader) words(fields []string) (c Column, bad int) {
	c, _ = columnAs(Category, fields, r)
	present, spaces := 0, 0
	for _, k := range c.Codes {
		if k >= 0 {
			present++
		}
	}
	for _, level := range c.Levels {
		spaces += strings.Count(level, " ")
	}
	sentences := spaces > 2*len(c.Levels)
	repeated := 2*len(c.Levels) <= present
	if len(c.Levels) <= mostLevels && (repeated || present < fewValues && !sentences) {
		return c, -1
	}
	return columnAs(Text, fields, r)
}

// columnAs makes a column of the kind; bad is −1, or the first field that is not of it.
func columnAs(kind Kind, fields []string, r TableReader) (c Column, bad int) {
	switch kind {
	case Number:
		return r.numbers(&Table{}, "", fields)
	case Time:
		return r.times(&Table{}, "", fields)
	case Text:
		c = Column{Kind: Text, Texts: make([]string, len(fields))}
		for i, field := range fields {
			if !r.missing(field) {
				c.Texts[i] = field
			}
		}
		return c, -1
	}
	c = Column{Kind: Category, Codes: make([]int32, len(fields))}
	codes := map[string]int32{}
	for _, field := range fields {
		if _, known := codes[field]; !known && !r.missing(field) {
			codes[field] = 0
			c.Levels = append(c.Levels, strings.Clone(field)) // a field keeps its whole line alive
		}
	}
	slices.SortFunc(c.Levels, byNumberOrText)
	for k, level := range c.Levels {
		codes[level] = int32(k)
	}
	for i, field := range fields {
		c.Codes[i] = -1
		if !r.missing(field) {
			c.Codes[i] = codes[field]
		}
	}
	return c, -1
}

// byNumberOrText orders numbers by their value and before all else, which is in
// alphabetical order.
func byNumberOrText(a, b string) int {
	x, isX := parseNumber(a, '.')
	y, isY := parseNumber(b, '.')
	switch {
	case isX && isY:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case isX:
		return -1
	case isY:
		return 1
	}
	return cmp.Compare(a, b)
}

// areNames reports whether fields are digits only, and one of several begins with 0.
func (r TableReader) areNames(fields []string) bool {
	zero := false
	for _, field := range fields {
		if r.missing(field) {
			continue
		}
		if strings.Trim(field, "0123456789") != "" {
			return false
		}
		zero = zero || len(field) > 1 && field[0] == '0'
	}
	return zero
}

// numbers reads fields as numbers, with the same decimal separator in all of them.
func (r TableReader) numbers(t *Table, name string, fields []string) (c Column, bad int) {
	decimals := []rune{'.', ','}
	switch {
	case r.Decimal != 0:
		decimals = []rune{r.Decimal}
	case !slices.ContainsFunc(fields, func(s string) bool { return strings.Contains(s, ",") }):
		decimals = decimals[:1]
	}
	var first []float64
	for _, decimal := range decimals {
		values, wrong := r.parsed(fields, decimal)
		switch {
		case wrong < 0 && decimal == ',' && first == nil:
			return Column{Kind: Number, Values: values}, -1
		case wrong < 0 && decimal == ',': // both fit: 1,234 or 3,142
			t.note("%s: commas were read as those of thousands; if they are decimal commas, set Decimal of a TableReader", name)
		case wrong < 0:
			first = values
		case decimal == decimals[0]:
			bad = wrong
		}
	}
	if first == nil {
		return Column{}, bad
	}
	return Column{Kind: Number, Values: first}, -1
}

// parsed reads fields as numbers; wrong is −1, or the first that is none.
func (r TableReader) parsed(fields []string, decimal rune) (values []float64, wrong int) {
	values = make([]float64, len(fields))
	for i, field := range fields {
		v, ok := math.NaN(), true
		if !r.missing(field) {
			v, ok = parseNumber(field, decimal)
		}
		if !ok {
			return nil, i
		}
		values[i] = v
	}
	return values, -1
}

// parseNumber reads a finite number whose decimal separator is '.' or ',', or '.' where 0
// is given. The other one may separate thousands.
func parseNumber(s string, decimal rune) (v float64, ok bool) {
	if s == "" || strings.Trim(s, "0123456789+-.,eE") != "" || strings.Trim(s, "+-.,eE") == "" {
		return 0, false
	}
	thousands := ","
	if decimal == ',' {
		thousands = "."
	}
	whole, rest := s, ""
	if at := strings.IndexRune(s, cmp.Or(decimal, '.')); at >= 0 {
		whole, rest = s[:at], "."+s[at+1:]
	}
	if groups := strings.Split(whole, thousands); len(groups) > 1 {
		for k, group := range groups {
			if digits := strings.TrimLeft(group, "+-"); len(group) != 3 && k > 0 || len(digits) == 0 || len(digits) > 3 || strings.Trim(digits, "0123456789") != "" {
				return 0, false
			}
		}
		whole = strings.Join(groups, "")
	}
	v, err := strconv.ParseFloat(whole+rest, 64)
	return v, err == nil && finite(v)
}

// A family is layouts of times that may stand side by side in a column. The first layout
// of those of slashes has the month first, or the day.
var families = [][]string{
	{"2006-1-2", "2006-1-2 15:04", "2006-1-2 15:04:05", "2006-1-2T15:04", "2006-1-2T15:04:05", time.RFC3339, "2006-1-2 15:04:05Z07:00"},
	{"2006/1/2", "2006/1/2 15:04", "2006/1/2 15:04:05"},
	{"2.1.2006", "2.1.2006 15:04", "2.1.2006 15:04:05", "2.1.06"},
	{"1/2/2006", "1/2/2006 15:04", "1/2/2006 15:04:05", "1/2/2006 3:04 PM", "1/2/06"},
	{"2/1/2006", "2/1/2006 15:04", "2/1/2006 15:04:05", "2/1/2006 3:04 PM", "2/1/06"},
	{"2 Jan 2006", "2-Jan-2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", time.RFC1123, time.RFC1123Z},
	{"15:04", "15:04:05", "3:04 PM"},
}

const monthFirst, dayFirst = 3, 4 // in families

// times reads fields as times of one family; bad is −1, or a field that is none.
func (r TableReader) times(t *Table, name string, fields []string) (c Column, bad int) {
	among := families
	if r.Dates != nil {
		among = [][]string{r.Dates}
	}
	first := slices.IndexFunc(fields, func(field string) bool { return !r.missing(field) })
	for k, layouts := range among {
		if first >= 0 {
			if _, ok := parseTime(fields[first], layouts); !ok {
				continue
			}
		}
		values, wrong := r.parsedTimes(fields, layouts)
		if wrong >= 0 {
			bad = wrong
			continue
		}
		if r.Dates == nil && k == monthFirst {
			if _, wrong := r.parsedTimes(fields, families[dayFirst]); wrong < 0 {
				t.note("%s: dates such as %s were read with the month first; if the day is, set Dates of a TableReader to %q", name, fields[first], families[dayFirst][0])
			}
		}
		return Column{Kind: Time, Values: values}, -1
	}
	return Column{}, max(bad, first, 0)
}

func (r TableReader) parsedTimes(fields, layouts []string) (values []float64, wrong int) {
	values = make([]float64, len(fields))
	for i, field := range fields {
		v, ok := math.NaN(), true
		if !r.missing(field) {
			v, ok = parseTime(field, layouts)
		}
		if !ok {
			return nil, i
		}
		values[i] = v
	}
	return values, -1
}

// parseTime returns the seconds since 1970 in UTC. A time of day is one of 1970-01-01.
func parseTime(s string, layouts []string) (seconds float64, ok bool) {
	if s == "" || s[0] != 'J' && !strings.ContainsAny(s, "0123456789") {
		return 0, false
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			if t.Year() == 0 {
				t = t.AddDate(1970, 0, 0)
			}
			return SecondsOf(t), true
		}
	}
	return 0, false
}

// SecondsOf returns a time as a value of a Time column; see [TimeOf].
func SecondsOf(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
