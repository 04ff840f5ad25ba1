package steps

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/panics"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Through transforms the points by a fitted step.
func Through(ctx context.Context, p points.Points, t Fitted) (points.Points, error) {
	return guard.UnlessDone(ctx, func() (_ points.Points, err error) {
		defer panics.Recover(&err, func() string { return fmt.Sprintf("Apply of a step, a %T,", t) })
		if p.Sparse == nil {
			x, err := t.Apply(p.X)
			return points.Rows(x), err
		}
		sparse, ok := t.(FittedSparse)
		if !ok {
			return points.Points{}, arguments.Wrong("Pipe", math.NaN(), "the points are sparse, and the step needs them written out; write them out by Dense() of the data set")
		}
		to, x, err := sparse.ApplySparse(*p.Sparse)
		return points.Points{X: x, Sparse: to}, err
	})
}

// CheckMissing is Check for raw data, in which NaN means a missing value. A step may
// replace it; a learner refuses it.
func CheckMissing(d *datasets.Dataset) error {
	if d == nil || d.Sparse != nil {
		return d.Check()
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
