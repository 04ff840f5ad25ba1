package svmnb

import (
	"math"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/guard"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// LeaveOneOutBounds has bounds for the leave-one-out error, computed from the machine that
// was trained on all points. The leave-one-out error is the share of the n points, in [0,
// 1], that are misclassified by the machine trained without them.
type LeaveOneOutBounds struct {
	SupportVectors float64 // upper bound: the share of support vectors, since leaving out another point changes nothing
	XiAlpha        float64 // upper bound: the share of points with 2 α_i R² + ξ_i ≥ 1 (Joachims 2000, with his ρ = 2)
	Span           float64 // estimate: the share of points with y_i f(x_i) ≤ α_i S_i² (Vapnik and Chapelle 2000)
	R2             float64 // R² = max K − min K over the points, for XiAlpha
}

// LeaveOneOut computes bounds for the leave-one-out error of the 1-norm soft margin and the
// hard margin. S_i is the distance of φ(x_i) from the span of the other free support
// vectors. Let K̃ be the kernel matrix of the free vectors, bordered by ones if the bias is
// free. Then S_i² = 1/(K̃⁻¹)_ii for a free vector and S_i² = K_ii − v'K̃⁻¹v with v = (K_ij,
// 1) for a vector at its bound. LeaveOneOut needs all n² kernel values.
func (f *Fit) LeaveOneOut() (_ *LeaveOneOutBounds, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("LeaveOneOut")
	}
	b, _, err := f.leaveOneOut()
	return b, err
}

// leaveOneOut also returns the n values S_i².
func (f *Fit) leaveOneOut() (*LeaveOneOutBounds, []float64, error) {
	t := f.task
	if t.margin != oneNorm && t.margin != hard {
		return nil, nil, arguments.Wrong("LeaveOneOut", math.NaN(), "the bounds are those of the 1-norm soft margin and of the hard one; count the errors of LeaveOneOutFolds()")
	}
	var free []int
	for i, a := range f.Alpha {
		if a > 0 && a < t.problem.Upper[i] {
			free = append(free, i)
		}
	}
	if len(free) > pathPoints {
		return nil, nil, arguments.Wrong("LeaveOneOut", float64(len(free)), "there are %d free support vectors, and their kernel matrix is kept in memory for at most %d; count the errors of folds by CrossValidate", len(free), pathPoints)
	}
	t.asking.Lock()
	defer t.asking.Unlock()
	inverse, err := bordered(t.k, free, nil, !t.fixed)
	if err != nil {
		return nil, nil, err
	}
	n, values := float64(len(f.Alpha)), f.training()
	b := &LeaveOneOutBounds{}
	least, largest := math.Inf(1), math.Inf(-1)
	for _, v := range t.k.Diag() {
		largest = max(largest, v)
	}
	at, v := 0, make([]float64, inverse.Rows)
	span := make([]float64, len(f.Alpha))
	for i, a := range f.Alpha {
		row := t.k.Row(i)
		for _, k := range row {
			least = min(least, k)
		}
		switch {
		case a == 0:
		case at < len(free) && free[at] == i:
			span[i] = 1 / inverse.Data[at*inverse.Stride+at]
			at++
		case len(free) == 0 && !t.fixed:
			span[i] = math.Inf(1) // without free vectors the bias is not determined
		default:
			for r, j := range free {
				v[r] = row[j]
			}
			if !t.fixed {
				v[len(free)] = 1
			}
			span[i] = row[i]
			for r, x := range v {
				span[i] -= x * vec.Dot(inverse.Data[r*inverse.Stride:r*inverse.Stride+len(v)], v)
			}
		}
	}
	b.R2 = largest - least
	for i, a := range f.Alpha {
		if a == 0 {
			continue
		}
		margin := t.y[i] * values[i]
		b.SupportVectors += 1 / n
		if 2*a*b.R2+max(0, 1-margin) >= 1 {
			b.XiAlpha += 1 / n
		}
		if margin <= a*span[i] {
			b.Span += 1 / n
		}
	}
	return b, span, nil
}

// LeaveOneOut returns the n residuals y_i − f_i(x_i), in units of the targets, where f_i is
// trained without point i. They are β_i/(Ã⁻¹)_ii, where Ã is K + λI, bordered by ones if
// the bias is free (Cook and Weisberg 1982, §2.2, in the dual). LeaveOneOut works with
// [Regressor.Ridge] only and takes 2n³ operations and 8n² bytes.
func (f *RegressionFit) LeaveOneOut() (_ []float64, err error) {
	defer guard.Caught(&err)
	if f.none() {
		return nil, arguments.NoFit("LeaveOneOut")
	}
	t := f.task
	n := len(f.Beta)
	if t.loss != ridge {
		return nil, arguments.Wrong("LeaveOneOut", math.NaN(), "only ridge regression has it in closed form; measure by LeaveOneOutFolds()")
	}
	if n > pathPoints {
		return nil, arguments.Wrong("LeaveOneOut", float64(n), "there are %d points, and their kernel matrix is kept in memory for at most %d; measure by folds, with CrossValidate", n, pathPoints)
	}
	k, err := t.matrix()
	if err != nil {
		return nil, err
	}
	rows, noise := make([]int, n), make([]float64, n)
	for i := range rows {
		rows[i], noise[i] = i, 1/t.cost[i]
	}
	inverse, err := bordered(k, rows, noise, !t.fixed)
	if err != nil {
		return nil, err
	}
	y := make([]float64, n)
	for i, v := range t.data.Y {
		y[i] = v
		if t.fixed {
			y[i] -= t.b0
		}
	}
	for i := range rows {
		row := inverse.Data[i*inverse.Stride:]
		noise[i] = vec.Dot(row[:n], y) / row[i]
	}
	return noise, nil
}

// bordered returns the inverse of K + diag(noise) over some rows, with a last row and
// column of ones (and 0 in the corner) if border is set.
func bordered(k solvers.Matrix, rows []int, noise []float64, border bool) (blas64.General, error) {
	m := len(rows)
	size := m
	if border && m > 0 {
		size++
	}
	a := blas64.General{Rows: size, Cols: size, Stride: max(size, 1), Data: make([]float64, size*size)}
	if size == 0 {
		return a, nil
	}
	fill := func(ridge float64) {
		clear(a.Data)
		for r, i := range rows {
			row := k.Row(i)
			for s, j := range rows {
				a.Data[r*size+s] = row[j]
			}
			a.Data[r*size+r] += ridge * (1 + row[i])
			if noise != nil {
				a.Data[r*size+r] += noise[i]
			}
			if border {
				a.Data[r*size+m], a.Data[m*size+r] = 1, 1
			}
		}
	}
	fill(0)
	norm, pivot := lapack64.Lange(lapack.MaxColumnSum, a, make([]float64, size)), make([]int, size)
	if !lapack64.Getrf(a, pivot) || lapack64.Gecon(lapack.MaxColumnSum, a, norm, make([]float64, 4*size), make([]int, size)) < 1e-14 {
		fill(1e-10) // equal points make the matrix singular
		if !lapack64.Getrf(a, pivot) {
			return a, arguments.Wrong("LeaveOneOut", math.NaN(), "the matrix of the points is singular; remove repeated points")
		}
	}
	work := make([]float64, 1)
	lapack64.Getri(a, pivot, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Getri(a, pivot, work, len(work))
	return a, nil
}
