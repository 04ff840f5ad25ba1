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

// compile returns the slots that the op makes of a slot, and what makes them in one row.
func (op ColumnOp) compile(call string, in Slot, b *Layout) (out []Slot, do func(m *Memory) error, err error) {
	switch {
	case op.Fill != nil:
		return op.Fill.compile(in, b)
	case op.Scale != nil:
		return op.Scale.compile(call, in, b)
	case op.OneHot != nil:
		return op.OneHot.compile(call, in, b)
	case op.Ordinal != nil:
		return op.Ordinal.compile(call, in, b)
	case op.Calendar != nil:
		return op.Calendar.compile(call, in, b)
	case op.Words != nil:
		return op.Words.compile(call, in, b)
	}
	return nil, nothing, nil
}

func nothing(*Memory) error { return nil }

// apply returns the columns that the op makes of a column.
func (op ColumnOp) apply(call string, c datasets.Column) ([]datasets.Column, error) {
	switch {
	case op.Drop:
		return nil, nil
	case op.Words != nil: // whose vectors are sparse
		return op.Words.apply(call, c)
	case c.Kind == datasets.Vector:
		return nil, arguments.Wrong(call, math.NaN(), "column %s is a vector, of which no single step is made", c.Name)
	}
	var b Layout
	in := b.Place(Heading{c.Name, c.Kind})
	slots, do, err := op.compile(call, in, &b)
	if err != nil {
		return nil, err
	}
	m := b.Memory()
	out := make([]datasets.Column, len(slots))
	texts := make([][]string, len(slots))
	for k, slot := range slots {
		out[k] = datasets.Column{Name: slot.Name, Kind: slot.Kind}
		if slot.IsText() {
			texts[k] = make([]string, c.N())
		} else {
			out[k].Values = make([]float64, c.N())
		}
	}
	for i := range c.N() {
		m.load(in, c, i)
		if err := do(m); err != nil {
			if e := (*arguments.Error)(nil); errors.As(err, &e) {
				e.Row = i
			}
			return nil, err
		}
		for k, slot := range slots {
			if texts[k] != nil {
				texts[k][i] = m.Texts[slot.at]
			} else {
				out[k].Values[i] = m.Numbers[slot.at]
			}
		}
	}
	for k, slot := range slots {
		if slot.Kind == datasets.Text {
			out[k].Texts = texts[k]
		}
		if slot.Kind == datasets.Category {
			out[k].Levels, out[k].Codes = coded(c.Levels, texts[k])
		}
	}
	return out, nil
}

// coded returns the levels of a category, those that it had before and new ones behind them,
// and the code of each value.
func coded(had, values []string) (levels []string, codes []int32) {
	levels, codes = slices.Clone(had), make([]int32, len(values))
	index := map[string]int32{"": -1}
	for k, level := range levels {
		index[level] = int32(k)
	}
	for i, v := range values {
		k, known := index[v]
		if !known {
			k = int32(len(levels))
			index[v], levels = k, append(levels, v)
		}
		codes[i] = k
	}
	return levels, codes
}

// Fill replaces missing values.
type Fill struct {
	Value     float64 `json:"value,omitempty"` // for numbers and times
	Level     string  `json:"level,omitempty"` // for categories and texts
	Indicator bool    `json:"indicator,omitempty"`
}

func (f *Fill) compile(in Slot, b *Layout) ([]Slot, func(m *Memory) error, error) {
	out := []Slot{b.Place(in.Heading)}
	to, gap := out[0].at, -1
	if f.Indicator {
		out = append(out, b.Place(Heading{in.Name + " is missing", datasets.Number}))
		gap = out[1].at
	}
	return out, func(m *Memory) error {
		missing := 0.0
		if in.IsText() {
			m.Texts[to] = m.Texts[in.at]
			if m.Texts[to] == "" {
				m.Texts[to], missing = f.Level, 1
			}
		} else {
			m.Numbers[to] = m.Numbers[in.at]
			if math.IsNaN(m.Numbers[to]) {
				m.Numbers[to], missing = f.Value, 1
			}
		}
		if gap >= 0 {
			m.Numbers[gap] = missing
		}
		return nil
	}, nil
}

// Scale replaces a number v by (v − Centre)/Width.
type Scale struct {
	Centre float64 `json:"centre"`
	Width  float64 `json:"width"`
}

func (s *Scale) compile(call string, in Slot, b *Layout) ([]Slot, func(m *Memory) error, error) {
	if in.IsText() {
		return nil, nil, arguments.Wrong(call, math.NaN(), "column %s is a %v, which has no scale", in.Name, in.Kind)
	}
	out := b.Place(Heading{in.Name, datasets.Number})
	return []Slot{out}, func(m *Memory) error {
		m.Numbers[out.at] = (m.Numbers[in.at] - s.Centre) / s.Width
		return nil
	}, nil
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

// Places are the columns of known levels, of rows without a level, and of other levels; −1
// for none.
type Places struct {
	Levels           map[string]int
	Missing, Unknown int
}

// Places returns the column of each level.
func (o *OneHot) Places() Places {
	p := Places{map[string]int{}, -1, -1}
	for k, level := range o.Levels {
		p.Levels[level] = k
	}
	if o.Base != "" {
		p.Levels[o.Base] = -1
	}
	next, rare := len(o.Levels), -1
	if o.Rare {
		rare, next = next, next+1
	}
	if o.Missing {
		p.Missing = next
	}
	for _, level := range o.Others {
		p.Levels[level] = rare
	}
	if o.Unknown == UnknownIsRare {
		p.Unknown = rare
	}
	return p
}

func (o *OneHot) compile(call string, in Slot, b *Layout) (out []Slot, do func(m *Memory) error, err error) {
	if in.Kind == datasets.Time {
		return nil, nil, arguments.Wrong(call, math.NaN(), "column %s is a time, which is no category; say Calendar() for it, or As(datasets.Category, %q) of the table", in.Name, in.Name)
	}
	for _, level := range o.Levels {
		out = append(out, b.Place(Heading{in.Name + " = " + level, datasets.Number}))
	}
	if o.Rare {
		out = append(out, b.Place(Heading{in.Name + " = (other)", datasets.Number}))
	}
	if o.Missing {
		out = append(out, b.Place(Heading{in.Name + " is missing", datasets.Number}))
	}
	places := o.Places()
	find := in.levels(places.Levels)
	return out, func(m *Memory) error {
		k, known, gone := find(m)
		switch {
		case gone:
			k = places.Missing
		case !known && o.Unknown == UnknownFails:
			return arguments.Wrong(call, math.NaN(), "column %s: training has no %q", in.Name, in.format(m))
		case !known:
			k = places.Unknown
		}
		for _, slot := range out {
			m.Numbers[slot.at] = 0
		}
		if k >= 0 {
			m.Numbers[out[k].at] = 1
		}
		return nil
	}, nil
}

// levels returns what finds the place of a slot's value, whether it has one, and whether the
// value is missing. Numbers are levels too.
func (c Slot) levels(place map[string]int) func(m *Memory) (k int, known, missing bool) {
	if c.IsText() {
		return func(m *Memory) (int, bool, bool) {
			level := m.Texts[c.at]
			k, known := place[level]
			return k, known, level == ""
		}
	}
	numbers := map[float64]int{}
	for level, k := range place {
		if v, err := strconv.ParseFloat(level, 64); err == nil {
			numbers[v] = k
		}
	}
	return func(m *Memory) (int, bool, bool) {
		v := m.Numbers[c.at]
		k, known := numbers[v]
		return k, known, math.IsNaN(v)
	}
}

// Ordinal replaces a category by the number of its level, counted from 0.
type Ordinal struct {
	Levels []string `json:"levels"`
}

func (o *Ordinal) compile(call string, in Slot, b *Layout) ([]Slot, func(m *Memory) error, error) {
	out := b.Place(Heading{in.Name, datasets.Number})
	place := map[string]int{}
	for k, level := range o.Levels {
		place[level] = k
	}
	find := in.levels(place)
	return []Slot{out}, func(m *Memory) error {
		k, known, missing := find(m)
		switch {
		case missing:
			m.Numbers[out.at] = math.NaN()
		case !known:
			return arguments.Wrong(call, math.NaN(), "column %s: training has no %q, so it has no place in the order", in.Name, in.format(m))
		default:
			m.Numbers[out.at] = float64(k)
		}
		return nil
	}, nil
}
