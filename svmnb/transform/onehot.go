package transform

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Indicators is a [Step] and a [TableStep] that replaces a category by one feature for each
// of its values; see [OneHot].
type Indicators struct {
	columns string  // such as "0, 3"; a slice could not be compared by ==
	rare    float64 // levels with less than this share of the training rows are rare
	unknown Unknown
}

// Unknown says how to treat a level that does not occur in training.
type Unknown int

const (
	IsNone  Unknown = iota // 0 in all columns
	IsOther                // treated as a rare level; 0 in all columns if there are no rare levels
	IsError
)

// OneHot replaces each of the given columns, counted from 0, by one feature for each value
// that it has in the training points, in increasing order. The new feature is 1 for points
// with that value and 0 for others. A value that does not occur in training gives 0 in all
// of them.
//
// For a table, OneHot() replaces all categories, and On(names...).Do(OneHot()) the named
// columns, which may also be numbers. Features are in the order of the levels. If levels
// are missing in training, there is a feature for missing levels; otherwise a missing level
// gives 0 in all. A category with two levels becomes one feature, that of the second level.
func OneHot(columns ...int) Indicators {
	return Indicators{columns: strings.Trim(strings.ReplaceAll(fmt.Sprint(columns), " ", ", "), "[]")}
}

// Rare combines all levels with less than this share of the training rows in one feature,
// "(other)"; 0.01 is a usual share. It has an effect for tables only.
func (s Indicators) Rare(share float64) Indicators { s.rare = share; return s }

// Unknown says how to treat a level that does not occur in training. It has an effect for
// tables only.
func (s Indicators) Unknown(is Unknown) Indicators { s.unknown = is; return s }

// String returns the call that makes the step.
func (s Indicators) String() string {
	text := "OneHot(" + s.columns + ")"
	if s.rare != 0 {
		text += ".Rare(" + say.Number(s.rare) + ")"
	}
	switch s.unknown {
	case IsOther:
		text += ".Unknown(IsOther)"
	case IsError:
		text += ".Unknown(IsError)"
	}
	return text
}

// Fit implements [Step].
func (s Indicators) Fit(train *datasets.Dataset) (Transform, error) {
	if err := steps.CheckMissing(train); err != nil {
		return nil, err
	}
	if err := points.NeedsDense("OneHot", train); err != nil {
		return nil, err
	}
	t := steps.Indicated{Values: make([][]float64, train.D())}
	for _, field := range strings.Split(s.columns, ", ") {
		j := -1
		if _, err := fmt.Sscan(field, &j); err != nil {
			return nil, arguments.Wrong("OneHot", math.NaN(), "no column is given; give the columns that are categories, counted from 0")
		}
		if j < 0 || j >= train.D() {
			return nil, arguments.Wrong("OneHot", float64(j), "there is no column %d; the points have columns 0 to %d", j, train.D()-1)
		}
		var values []float64
		for i, row := range train.X {
			if math.IsNaN(row[j]) || math.IsInf(row[j], 0) {
				return nil, arguments.At("OneHot", i, j, row[j], "the value is %v; a category is a finite number: say Impute() before", row[j])
			}
			values = append(values, row[j])
		}
		slices.Sort(values)
		values = slices.Compact(values)
		if len(values) > steps.MostValues {
			return nil, arguments.Wrong("OneHot", float64(len(values)), "column %d has %d different values, which looks like a measurement; a category has at most %d: leave the column as it is", j, len(values), steps.MostValues)
		}
		t.Values[j] = slices.Clip(values)
	}
	return t, nil
}

// FitTable implements [TableStep].
func (s Indicators) FitTable(train *datasets.Dataset) (TableTransform, error) {
	table, err := tableOf("OneHot", train)
	if err != nil {
		return nil, err
	}
	if s.columns != "" {
		return nil, arguments.Wrong("OneHot", math.NaN(), "columns of a table have names; say On(names...).Do(OneHot())")
	}
	if !(s.rare >= 0 && s.rare < 1) {
		return nil, arguments.Wrong("Rare", s.rare, "the share of a rare level is %v; it lies between 0 and 1", s.rare)
	}
	t := steps.PerColumn{Call: s.String()}
	for j, c := range table.Columns {
		if c.Kind != datasets.Category && len(table.Columns) > 1 {
			continue
		}
		op, err := s.fit(c)
		if err != nil {
			return nil, err
		}
		if op.Width() == 0 {
			return nil, arguments.At("OneHot", -1, j, math.NaN(), "column %s has one level only, which tells nothing; leave it out by Without(%q) of the table", c.Name, c.Name)
		}
		t.Ops = append(t.Ops, steps.ColumnOp{Column: c.Name, OneHot: op})
	}
	if len(t.Ops) == 0 {
		return nil, arguments.Wrong("OneHot", math.NaN(), "no column is a category; say On(names...).Do(OneHot()) for numbers that are, or As(datasets.Category, names...) of the table")
	}
	return t, nil
}

// fit returns the fitted step for one column, with the levels that get a feature.
func (s Indicators) fit(c datasets.Column) (*steps.OneHot, error) {
	count, order, missing := map[string]int{}, c.Levels, false
	for i := range c.N() {
		if c.Missing(i) {
			missing = true
			continue
		}
		level := c.Format(i)
		if count[level]++; count[level] == 1 && c.Kind != datasets.Category {
			order = append(order, level)
		}
	}
	if len(count) > steps.MostValues {
		return nil, arguments.Wrong("OneHot", float64(len(count)), "column %s has %d different values; a category has at most %d: it may be a number or a text", c.Name, len(count), steps.MostValues)
	}
	if c.Kind != datasets.Category {
		order = datasets.NewTable(c).As(datasets.Category, c.Name).Columns[0].Levels
	}
	op := &steps.OneHot{Missing: missing, Unknown: [...]string{steps.UnknownIsNone, steps.UnknownIsRare, steps.UnknownFails}[s.unknown]}
	for _, level := range order {
		switch {
		case count[level] == 0:
		case float64(count[level]) < s.rare*float64(c.N()):
			op.Others = append(op.Others, level)
		default:
			op.Levels = append(op.Levels, level)
		}
	}
	if op.Rare = len(op.Others) > 0; !op.Rare && len(op.Levels) <= 2 && len(op.Levels) > 0 {
		op.Base, op.Levels = op.Levels[0], op.Levels[1:]
	}
	return op, nil
}
