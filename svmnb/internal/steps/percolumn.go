package steps

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
)

// PerColumn is a fitted step that changes columns of a table one by one.
type PerColumn struct {
	Call string // the call that makes the step
	Ops  []ColumnOp
}

func (t PerColumn) String() string { return t.Call }

// ApplyTable implements [FittedTable].
func (t PerColumn) ApplyTable(in *datasets.Table) (*datasets.Table, error) {
	out := in
	for _, op := range t.Ops {
		j := slices.Index(out.Names(), op.Column)
		if j < 0 {
			return nil, arguments.Wrong(t.Call, math.NaN(), "there is no column %q", op.Column)
		}
		made, err := op.apply(t.Call, out.Columns[j])
		if err != nil {
			return nil, err
		}
		next := *out
		next.Columns = slices.Concat(out.Columns[:j:j], made, out.Columns[j+1:])
		out = &next
	}
	return out, out.Check()
}

// ColumnOp is the change of one column. Exactly one of its fields is set.
type ColumnOp struct {
	Column   string    `json:"column"`
	Drop     bool      `json:"drop,omitempty"`
	Fill     *Fill     `json:"fill,omitempty"`
	Scale    *Scale    `json:"scale,omitempty"`
	OneHot   *OneHot   `json:"onehot,omitempty"`
	Ordinal  *Ordinal  `json:"ordinal,omitempty"`
	Calendar *Calendar `json:"calendar,omitempty"`
	Words    *Words    `json:"words,omitempty"`
}

// Check returns an error for an op from a file that no fit could have produced. It trusts
// nothing.
func (op ColumnOp) Check() error {
	kinds := 0
	for _, is := range []bool{op.Drop, op.Fill != nil, op.Scale != nil, op.OneHot != nil, op.Ordinal != nil, op.Calendar != nil, op.Words != nil} {
		if is {
			kinds++
		}
	}
	finite := func(v ...float64) bool {
		return !slices.ContainsFunc(v, func(v float64) bool { return v-v != 0 })
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("%d things are done at once; want one", kinds)
	case op.Fill != nil && !finite(op.Fill.Value):
		return errors.New("the value that fills gaps is not finite")
	case op.Scale != nil && (!finite(op.Scale.Centre, op.Scale.Width) || op.Scale.Width == 0):
		return errors.New("want a finite centre and width")
	case op.OneHot != nil && (op.OneHot.Width() == 0 || op.OneHot.Width() > MostValues+2):
		return fmt.Errorf("%d features are made of a category; want 1 to %d", op.OneHot.Width(), MostValues+2)
	case op.Ordinal != nil && len(op.Ordinal.Levels) == 0:
		return errors.New("an order has no levels")
	case op.Calendar != nil && len(op.Calendar.Parts) == 0:
		return errors.New("a calendar has no parts")
	case op.Words != nil:
		return op.Words.check(finite)
	}
	return nil
}

func (op ColumnOp) apply(call string, c datasets.Column) ([]datasets.Column, error) {
	switch {
	case op.Fill != nil:
		return op.Fill.apply(c), nil
	case op.Scale != nil:
		return op.Scale.apply(c), nil
	case op.OneHot != nil:
		return op.OneHot.apply(call, c)
	case op.Ordinal != nil:
		return op.Ordinal.apply(call, c)
	case op.Calendar != nil:
		return op.Calendar.apply(call, c)
	case op.Words != nil:
		return op.Words.apply(call, c)
	}
	return nil, nil
}

// Fill replaces missing values.
type Fill struct {
	Value     float64 `json:"value,omitempty"` // for numbers and times
	Level     string  `json:"level,omitempty"` // for categories and texts
	Indicator bool    `json:"indicator,omitempty"`
}

func (f *Fill) apply(c datasets.Column) []datasets.Column {
	gap := make([]float64, c.N())
	out := c
	switch c.Kind {
	case datasets.Category:
		code := slices.Index(c.Levels, f.Level)
		if code < 0 {
			code, out.Levels = len(c.Levels), append(slices.Clone(c.Levels), f.Level)
		}
		out.Codes = slices.Clone(c.Codes)
		for i, k := range c.Codes {
			if k < 0 {
				out.Codes[i], gap[i] = int32(code), 1
			}
		}
	case datasets.Text:
		out.Texts = slices.Clone(c.Texts)
		for i, s := range c.Texts {
			if s == "" {
				out.Texts[i], gap[i] = f.Level, 1
			}
		}
	case datasets.Number, datasets.Time:
		out.Values = slices.Clone(c.Values)
		for i, v := range c.Values {
			if math.IsNaN(v) {
				out.Values[i], gap[i] = f.Value, 1
			}
		}
	}
	if f.Indicator {
		return []datasets.Column{out, {Name: c.Name + " is missing", Values: gap}}
	}
	return []datasets.Column{out}
}

// Scale replaces a number v by (v − Centre)/Width.
type Scale struct {
	Centre float64 `json:"centre"`
	Width  float64 `json:"width"`
}

func (s *Scale) apply(c datasets.Column) []datasets.Column {
	out := c
	out.Values = make([]float64, len(c.Values))
	for i, v := range c.Values {
		out.Values[i] = (v - s.Centre) / s.Width
	}
	return []datasets.Column{out}
}

// The ways to treat a level that does not occur in training.
const (
	UnknownIsNone = ""       // 0 in all columns
	UnknownIsRare = "other"  // the column of rare levels
	UnknownFails  = "refuse" // return an error
)

// OneHot replaces a category by one number for each level: 1 if the row has this level,
// otherwise 0.
type OneHot struct {
	Levels  []string `json:"levels"`
	Base    string   `json:"base,omitempty"`    // the level that is 0 in all columns
	Rare    bool     `json:"rare,omitempty"`    // the last column is for rare levels
	Missing bool     `json:"missing,omitempty"` // there is a column for rows without a level
	Unknown string   `json:"unknown,omitempty"`
	Others  []string `json:"others,omitempty"` // the rare levels
}

// Width returns the number of columns.
func (o *OneHot) Width() int {
	w := len(o.Levels)
	if o.Rare {
		w++
	}
	if o.Missing {
		w++
	}
	return w
}

func (o *OneHot) apply(call string, c datasets.Column) ([]datasets.Column, error) {
	out := make([]datasets.Column, o.Width())
	for k := range out {
		out[k].Values = make([]float64, c.N())
	}
	for k, level := range o.Levels {
		out[k].Name = c.Name + " = " + level
	}
	rare, missing := len(o.Levels), len(out)-1
	if o.Rare {
		out[rare].Name = c.Name + " = (other)"
	}
	if o.Missing {
		out[missing].Name = c.Name + " is missing"
	}
	of := levelsOf(c, o.Levels)
	for i := range c.N() {
		k := of(i)
		switch {
		case c.Missing(i):
			if !o.Missing {
				continue
			}
			k = missing
		case k >= 0:
		case o.Base != "" && c.Format(i) == o.Base:
			continue
		case slices.Contains(o.Others, c.Format(i)):
			k = rare
		case o.Unknown == UnknownFails:
			return nil, arguments.At(call, i, -1, math.NaN(), "column %s: training has no %q", c.Name, c.Format(i))
		case o.Unknown == UnknownIsRare && o.Rare:
			k = rare
		default:
			continue
		}
		out[k].Values[i] = 1
	}
	return out, nil
}

// levelsOf returns a function from a row to the index of its value in levels; −1 if it is
// not there.
func levelsOf(c datasets.Column, levels []string) func(i int) int {
	index := make(map[string]int, len(levels))
	for k, level := range levels {
		index[level] = k
	}
	find := func(s string) int {
		if k, ok := index[s]; ok {
			return k
		}
		return -1
	}
	if c.Kind != datasets.Category {
		return func(i int) int { return find(c.Format(i)) }
	}
	to := make([]int, len(c.Levels))
	for k, level := range c.Levels {
		to[k] = find(level)
	}
	return func(i int) int {
		if c.Codes[i] < 0 {
			return -1
		}
		return to[c.Codes[i]]
	}
}

// Ordinal replaces a category by the number of its level, counted from 0.
type Ordinal struct {
	Levels []string `json:"levels"`
}

func (o *Ordinal) apply(call string, c datasets.Column) ([]datasets.Column, error) {
	out := datasets.Column{Name: c.Name, Values: make([]float64, c.N())}
	of := levelsOf(c, o.Levels)
	for i := range out.Values {
		k := of(i)
		switch {
		case c.Missing(i):
			out.Values[i] = math.NaN()
		case k < 0:
			return nil, arguments.At(call, i, -1, math.NaN(), "column %s: training has no %q, so it has no place in the order", c.Name, c.Format(i))
		default:
			out.Values[i] = float64(k)
		}
	}
	return []datasets.Column{out}, nil
}

// The parts of a time that [Calendar] computes.
const (
	Days     = "days" // days since 1970, with the time of day as a fraction
	Year     = "year"
	Season   = "season"  // sine and cosine of the day of the year
	Weekday  = "weekday" // sine and cosine of the day of the week
	DayHours = "hour"    // sine and cosine of the time of day
	Month    = "month"   // 1 to 12
	MonthDay = "day"     // day of the month, 1 to 31
	Hour     = "hour of" // 0 to 23
	Holiday  = "weekend" // 1 on Saturday and Sunday, otherwise 0
)

// Calendar replaces a time by numbers.
type Calendar struct {
	Parts []string `json:"parts"`
}

// KnownParts lists all parts.
var KnownParts = []string{Days, Year, Season, Weekday, DayHours, Month, MonthDay, Hour, Holiday}

func (k *Calendar) apply(call string, c datasets.Column) ([]datasets.Column, error) {
	if c.Kind != datasets.Time {
		return nil, arguments.Wrong(call, math.NaN(), "column %s is a %v; a calendar is made of a time: say As(datasets.Time, %q) of the table", c.Name, c.Kind, c.Name)
	}
	var out []datasets.Column
	add := func(name string, of func(seconds float64) float64) {
		v := make([]float64, len(c.Values))
		for i, s := range c.Values {
			if v[i] = s; !math.IsNaN(s) {
				v[i] = of(s)
			}
		}
		out = append(out, datasets.Column{Name: c.Name + " " + name, Values: v})
	}
	cycle := func(name string, turn func(seconds float64) float64) {
		add(name+" sin", func(s float64) float64 { return math.Sin(2 * math.Pi * turn(s)) })
		add(name+" cos", func(s float64) float64 { return math.Cos(2 * math.Pi * turn(s)) })
	}
	ofDay := func(s float64) float64 { return s/86400 - math.Floor(s/86400) }
	for _, part := range k.Parts {
		switch part {
		case Days:
			add(part, func(s float64) float64 { return s / 86400 })
		case Year:
			add(part, func(s float64) float64 { return float64(datasets.TimeOf(s).Year()) })
		case Month:
			add(part, func(s float64) float64 { return float64(datasets.TimeOf(s).Month()) })
		case MonthDay:
			add(part, func(s float64) float64 { return float64(datasets.TimeOf(s).Day()) })
		case Hour:
			add("hour of day", func(s float64) float64 { return float64(datasets.TimeOf(s).Hour()) })
		case Holiday:
			add(part, func(s float64) float64 {
				if day := datasets.TimeOf(s).Weekday(); day == 0 || day == 6 {
					return 1
				}
				return 0
			})
		case Season:
			cycle(part, func(s float64) float64 {
				return (float64(datasets.TimeOf(s).YearDay()-1) + ofDay(s)) / 365.25
			})
		case Weekday:
			cycle(part, func(s float64) float64 { return float64(datasets.TimeOf(s).Weekday()) / 7 })
		case DayHours:
			cycle(part, ofDay)
		default:
			return nil, arguments.Wrong(call, math.NaN(), "there is no part %q of a time; the parts are %s", part, Quoted(KnownParts))
		}
	}
	return out, nil
}

// Brief says how many columns the step changes.
func (t PerColumn) Brief() string {
	return fmt.Sprintf("%s of %s columns", t.Call, strconv.Itoa(len(t.Ops)))
}
