package kernels

import (
	"fmt"
	"math"

	"github.com/svmnb/svmnb/internal/vec"
)

// PrecomputedKernel looks values up in a matrix that the points carry; see
// [Precomputed].
type PrecomputedKernel struct{ stateless }

func init() { register("Precomputed", ofNumbers(0, func([]float64) Kernel { return Precomputed() })) }

// Precomputed returns the kernel of a matrix that was computed elsewhere. Its points carry
// their rows of the matrix, so a machine trained on them predicts for new rows without being
// trained again:
//
//	k := kernels.Precomputed()
//	fit := svmnb.Classify(datasets.New(k.Points(matrix), y)).Kernel(k).MustFit() // n × n
//	classes, err := fit.Predict(k.NewPoints(rows))                               // m × n
//
// Any subset of the points, such as a fold of a cross-validation, can be used for training and
// prediction. [NewGram] checks the matrix: it returns a *[DataError] if the matrix is not
// square, finite, or symmetric to 1e-12 of its largest entry. It uses the upper triangle.
// Package mercer tests whether the matrix is positive semi-definite.
func Precomputed() PrecomputedKernel { return PrecomputedKernel{} }

// Points returns the n points of an n × n matrix. Each is its index, from 0, followed by its
// row.
func (PrecomputedKernel) Points(matrix [][]float64) [][]float64 {
	x := make([][]float64, len(matrix))
	for i, row := range matrix {
		x[i] = append(append(make([]float64, 0, len(row)+1), float64(i)), row...)
	}
	return x
}

// NewPoints returns m points outside the matrix, given the m × n kernel values of each of them
// with all n points of the matrix. They can be used for prediction, but not for training,
// because their values with each other are not known.
func (PrecomputedKernel) NewPoints(rows [][]float64) [][]float64 {
	x := make([][]float64, len(rows))
	for i, row := range rows {
		x[i] = append(append(make([]float64, 0, len(row)+1), -1), row...)
	}
	return x
}

// Eval returns the entry of x and z in the matrix, or NaN for two new points.
func (k PrecomputedKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	k.EvalRow(v[:], x, z, 1)
	return v[0]
}

// EvalRow sets dst[j] to K(x, z_j) for the points z_j in columns.
func (PrecomputedKernel) EvalRow(dst, x, columns []float64, stride int) {
	i := x[0]
	for t := range dst {
		j := columns[t]
		switch {
		case j >= 0 && i <= j: // in the upper triangle, or x is new
			dst[t] = x[1+int(j)]
		case i >= 0:
			dst[t] = columns[(1+int(i))*stride+t]
		default:
			dst[t] = math.NaN()
		}
	}
}

// CheckPoints returns a *[DataError] for the first point whose index is not in the matrix, or
// whose value with another point differs from the value the other way round.
func (k PrecomputedKernel) CheckPoints(x [][]float64) error {
	size := 0.0
	for i, row := range x {
		n := len(row) - 1
		if at := row[0]; !(at >= -1 && at < float64(n)) || at != math.Trunc(at) {
			return &DataError{"x", i, 0, at, fmt.Sprintf("a point of Precomputed() is its index, from 0, and its row of the matrix; here the index is %v and the row has %s: make the points from a square matrix by Precomputed().Points", at, several(n, "value"))}
		}
		size = max(size, vec.MaxAbs(row[1:]))
	}
	for i, a := range x {
		for j, b := range x[:i] {
			if a[0] < 0 || b[0] < 0 {
				continue
			}
			if v, w := a[1+int(b[0])], b[1+int(a[0])]; !(math.Abs(v-w) <= 1e-12*size) {
				return &DataError{"x", i, 1 + int(b[0]), v, fmt.Sprintf("the matrix is not symmetric: entry (%v, %v) is %v and entry (%v, %v) is %v, of points %d and %d: take the mean of both", a[0], b[0], v, b[0], a[0], w, i, j)}
			}
		}
	}
	return nil
}

func (PrecomputedKernel) String() string { return call("Precomputed") }
