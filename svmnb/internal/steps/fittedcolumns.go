package steps

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// MostValues is the largest number of values of a category. A feature with more is probably
// a measurement.
const MostValues = 1000

// Imputed is the fitted step of transform.Impute. It has the replacement for missing values
// for each feature.
type Imputed struct {
	By   []float64
	Gaps []int // features behind which another one says where they were missing
}

func (Imputed) String() string { return "Impute()" }

func (t Imputed) Names(in []string) []string {
	out := slices.Clone(in)
	for _, j := range t.Gaps {
		out = append(out, in[j]+" is missing")
	}
	return out
}

func (t Imputed) Apply(x [][]float64) ([][]float64, error) {
	out := make([][]float64, len(x))
	for i, row := range x {
		if err := Wide("Impute", i, row, len(t.By)); err != nil {
			return nil, err
		}
		out[i] = make([]float64, t.width())
		_ = t.one(out[i], row, nil)
	}
	return out, nil
}

func (t Imputed) width() int { return len(t.By) + len(t.Gaps) }
func (t Imputed) room() int  { return 0 }

func (t Imputed) one(dst, x, _ []float64) error {
	for j, v := range x {
		if dst[j] = v; math.IsNaN(v) {
			dst[j] = t.By[j]
		}
	}
	for k, j := range t.Gaps {
		dst[len(x)+k] = 0
		if math.IsNaN(x[j]) {
			dst[len(x)+k] = 1
		}
	}
	return nil
}

// Wide returns an error if the row does not have the d features that a step was fitted to.
func Wide(call string, i int, row []float64, d int) error {
	if len(row) == d {
		return nil
	}
	return arguments.At(call, i, -1, float64(len(row)), "the point has %s, the step was fitted to %d", say.Several(len(row), "feature"), d)
}

// Indicated is the fitted step of transform.OneHot.
type Indicated struct{ Values [][]float64 } // the values of each feature; nil for a feature that is kept

func (t Indicated) String() string {
	var columns []int
	for j, v := range t.Values {
		if v != nil {
			columns = append(columns, j)
		}
	}
	return "OneHot(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(columns), " ", ", "), "[]") + ")"
}

func (t Indicated) Names(in []string) []string {
	var out []string
	for j, name := range in {
		if t.Values[j] == nil {
			out = append(out, name)
		}
		for _, v := range t.Values[j] {
			out = append(out, name+" = "+say.Number(v))
		}
	}
	return out
}

func (t Indicated) Apply(x [][]float64) ([][]float64, error) {
	out := make([][]float64, len(x))
	for i, row := range x {
		if err := Wide("OneHot", i, row, len(t.Values)); err != nil {
			return nil, err
		}
		out[i] = make([]float64, t.width())
		if err := t.one(out[i], row, nil); err != nil {
			err.(*arguments.Error).Row = i
			return nil, err
		}
	}
	return out, nil
}

func (t Indicated) room() int { return 0 }

func (t Indicated) width() int {
	w := 0
	for _, values := range t.Values {
		w += max(1, len(values))
	}
	return w
}

func (t Indicated) one(dst, x, _ []float64) error {
	at := 0
	for j, v := range x {
		if t.Values[j] == nil {
			dst[at] = v
			at++
			continue
		}
		if math.IsNaN(v) || math.IsInf(v, 0) { // not a category, since training data have no missing categories
			return arguments.At("OneHot", -1, j, v, "the value is %v; a category is a finite number: say Impute() before", v)
		}
		for _, known := range t.Values[j] {
			if dst[at] = 0; v == known {
				dst[at] = 1
			}
			at++
		}
	}
	return nil
}
