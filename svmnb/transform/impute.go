package transform

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
)

// Imputation is a [Step] and a [TableStep] that replaces missing values; see [Impute].
type Imputation struct {
	By        Filling // how the replacement is chosen
	Constant  float64 // the replacement of numbers if By is Constant
	Level     string  // the replacement of categories and texts if By is Constant
	Indicator bool    // add a column for each one with missing values: 1 where a value was missing
}

// Filling says how the replacement of missing values is chosen.
type Filling int

const (
	Mean         Filling = iota // mean of the other values; for a category the most frequent level
	Median                      // median of the other values; for a category the most frequent level
	MostFrequent                // the most frequent value; of several, the smallest
	Constant                    // the field Constant or Level of the Imputation
)

func (f Filling) String() string {
	if names := [...]string{"Mean", "Median", "MostFrequent", "Constant"}; f >= 0 && int(f) < len(names) {
		return names[f]
	}
	return "Filling(" + strconv.Itoa(int(f)) + ")"
}

// Impute replaces missing values of a feature (NaN in rows) by the mean of its other values
// in the training points, and missing levels of a category by the most frequent one. It
// should be the first step of a pipeline, since its output has no missing values. Fit
// returns an error if all values of a feature are missing.
func Impute() Imputation { return Imputation{} }

// ImputeBy is [Impute] with another choice of the replacement.
func ImputeBy(filling Filling) Imputation { return Imputation{By: filling} }

// Indicate adds a column for each one with missing values in the training points: 1 where
// the value was missing, otherwise 0.
func (s Imputation) Indicate() Imputation { s.Indicator = true; return s }

// String returns the call that makes the step.
func (s Imputation) String() string {
	text := "Impute()"
	switch {
	case s.By == Constant && s.Level != "":
		text = fmt.Sprintf("Imputation{By: Constant, Constant: %s, Level: %q}", say.Number(s.Constant), s.Level)
	case s.By == Constant:
		text = fmt.Sprintf("Imputation{By: Constant, Constant: %s}", say.Number(s.Constant))
	case s.By != Mean:
		text = fmt.Sprintf("ImputeBy(%v)", s.By)
	}
	if s.Indicator {
		text += ".Indicate()"
	}
	return text
}

// Fit implements [Step].
func (s Imputation) Fit(train *datasets.Dataset) (Transform, error) {
	if err := steps.CheckMissing(train); err != nil {
		return nil, err
	}
	if err := points.NeedsDense("Impute", train); err != nil {
		return nil, err
	}
	var t steps.Imputed
	for j := range train.D() {
		var values []float64
		for _, row := range train.X {
			if !math.IsNaN(row[j]) {
				values = append(values, row[j])
			}
		}
		if s.Indicator && len(values) < train.N() {
			t.Gaps = append(t.Gaps, j)
		}
		if len(values) == 0 && s.By != Constant {
			return nil, arguments.At("Impute", -1, j, math.NaN(), "feature %s has no value in any training point; leave it out by Columns of the data set", train.FeatureName(j))
		}
		at := s.number(values)
		if math.IsNaN(at) || math.IsInf(at, 0) {
			return nil, arguments.At("Impute", -1, j, at, "the values of feature %s are too large to be averaged; divide them by a power of ten", train.FeatureName(j))
		}
		t.By = append(t.By, at)
	}
	return t, nil
}

// number returns the replacement for missing numbers. values are those that are not
// missing.
func (s Imputation) number(values []float64) float64 {
	switch s.By {
	case Constant:
		return s.Constant
	case Median:
		slices.Sort(values)
		m := len(values)
		return values[(m-1)/2]/2 + values[m/2]/2
	case MostFrequent:
		slices.Sort(values)
		at, most := values[0], 0
		for from := 0; from < len(values); {
			to := from
			for to < len(values) && values[to] == values[from] {
				to++
			}
			if to-from > most {
				at, most = values[from], to-from
			}
			from = to
		}
		return at
	}
	at := 0.0
	for k, v := range values {
		at += (v - at) / float64(k+1)
	}
	return at
}

// FitTable implements [TableStep]. It handles columns of every kind.
func (s Imputation) FitTable(train *datasets.Dataset) (TableTransform, error) {
	table, err := tableOf("Impute", train)
	if err != nil {
		return nil, err
	}
	t := steps.PerColumn{Call: s.String()}
	for j, c := range table.Columns {
		var present []int
		for i := range c.N() {
			if !c.Missing(i) {
				present = append(present, i)
			}
		}
		if len(present) == 0 && s.By != Constant {
			return nil, arguments.At("Impute", -1, j, math.NaN(), "column %s has no value in any training row; leave it out by Without(%q) of the table", c.Name, c.Name)
		}
		fill := &steps.Fill{Indicator: s.Indicator && len(present) < c.N()}
		switch c.Kind {
		case datasets.Vector:
			continue
		case datasets.Category, datasets.Text:
			fill.Level = s.level(c, present)
		default:
			values := make([]float64, len(present))
			for k, i := range present {
				values[k] = c.Values[i]
			}
			if fill.Value = s.number(values); fill.Value-fill.Value != 0 {
				return nil, arguments.At("Impute", -1, j, fill.Value, "the values of column %s are too large to be averaged; divide them by a power of ten", c.Name)
			}
		}
		t.Ops = append(t.Ops, steps.ColumnOp{Column: c.Name, Fill: fill})
	}
	return t, nil
}

// level returns the replacement for missing levels or texts.
func (s Imputation) level(c datasets.Column, present []int) string {
	if s.By == Constant {
		return s.Level
	}
	if c.Kind == datasets.Text {
		return "" // a text has no usual replacement
	}
	count := make([]int, len(c.Levels))
	for _, i := range present {
		count[c.Codes[i]]++
	}
	best := 0
	for k := range count {
		if count[k] > count[best] {
			best = k
		}
	}
	return c.Levels[best]
}
