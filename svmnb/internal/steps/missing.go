package steps

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
)

// CheckMissing is Check for raw data, in which NaN means a missing value. A step may
// replace it; a learner refuses it.
func CheckMissing(d *datasets.Dataset) error {
	if d == nil || d.Sparse != nil {
		return d.Check()
	}
	if d.Table != nil { // columns of a table may be of any kind
		if err := d.Table.Check(); err != nil {
			return err
		}
		full := *d
		full.Table, full.Features, full.X = nil, nil, make([][]float64, d.N())
		for i := range full.X {
			full.X[i] = []float64{0}
		}
		return full.Check()
	}
	gap := false
	for _, row := range d.X {
		gap = gap || slices.ContainsFunc(row, math.IsNaN)
	}
	if !gap {
		return d.Check()
	}
	full := *d
	full.X = make([][]float64, len(d.X))
	for i, row := range d.X {
		full.X[i] = slices.Clone(row)
		for j, v := range row {
			if math.IsNaN(v) {
				full.X[i][j] = 0
			}
		}
	}
	return full.Check()
}
