package transform

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// PrincipalComponents is a [Step] that keeps the directions of largest variance; see [PCA].
type PrincipalComponents struct {
	Components int
	Whiten     bool // divide every component by its standard deviation
}

// PCA replaces the features by the first k principal components of the training points, 1 ≤
// k ≤ min(n, d). x becomes V'(x − x̄), with V from the singular value decomposition of the
// centred points (Jolliffe 2002, §3.5). The sign of a component is such that its largest
// loading is positive. If the features have different units, use Standardise first. In a
// search, k is the parameter "components".
func PCA(k int) PrincipalComponents { return PrincipalComponents{Components: k} }

// String returns the call that makes the step.
func (s PrincipalComponents) String() string {
	if s.Whiten {
		return fmt.Sprintf("PrincipalComponents{%d, Whiten: true}", s.Components)
	}
	return fmt.Sprintf("PCA(%d)", s.Components)
}

// With implements [Tunable].
func (s PrincipalComponents) With(name string, value float64) (Part, bool) {
	if !strings.EqualFold(name, "components") {
		return s, false
	}
	s.Components = asCount(value)
	return s, true
}

// asCount converts a value of a search to a count; 0 if it is not a whole number.
func asCount(v float64) int {
	if v != math.Trunc(v) || !(v > 0 && v < 1e9) {
		return 0
	}
	return int(v)
}

// Fit implements [Step].
func (s PrincipalComponents) Fit(train *datasets.Dataset) (Transform, error) {
	if err := train.Check(); err != nil {
		return nil, err
	}
	n, d, k := train.N(), train.D(), s.Components
	if k < 1 || k > min(n, d) {
		return nil, arguments.Wrong("PCA", float64(k), "%d components are asked for, of %d training points of %d features; give a whole number from 1 to %d", k, n, d, min(n, d))
	}
	t := steps.Projected{Mean: make([]float64, d)}
	for i, row := range train.X {
		for j, v := range row {
			t.Mean[j] += (v - t.Mean[j]) / float64(i+1)
		}
	}
	a := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i, row := range train.X {
		for j, v := range row {
			a.Data[i*d+j] = v - t.Mean[j]
			if math.IsInf(a.Data[i*d+j], 0) {
				return nil, arguments.At("PCA", i, j, v, "the values of the feature lie too far apart; say Standardise() before")
			}
		}
	}
	r := min(n, d)
	vt := blas64.General{Rows: r, Cols: d, Stride: d, Data: make([]float64, r*d)}
	values, work := make([]float64, r), make([]float64, 1)
	lapack64.Gesvd(lapack.SVDNone, lapack.SVDStore, a, blas64.General{Stride: 1}, vt, values, work, -1)
	work = make([]float64, int(work[0]))
	if !lapack64.Gesvd(lapack.SVDNone, lapack.SVDStore, a, blas64.General{Stride: 1}, vt, values, work, len(work)) {
		return nil, errors.New("svmnb: PCA: the singular value decomposition did not converge; say Standardise() before")
	}
	for c := range k {
		v, largest := vt.Data[c*d:(c+1)*d:(c+1)*d], 0.0
		for _, x := range v {
			if math.Abs(x) > math.Abs(largest) {
				largest = x
			}
		}
		scale := math.Copysign(1, largest)
		if s.Whiten {
			if values[c] <= 1e-12*values[0] {
				return nil, arguments.Wrong("PCA", float64(c+1), "the points do not vary along component %d, so there is no standard deviation to divide by; take fewer components, or PCA without Whiten", c+1)
			}
			scale *= math.Sqrt(float64(n)) / values[c]
		}
		for j := range v {
			v[j] *= scale
		}
		t.Rows = append(t.Rows, v)
	}
	return t, nil
}
