package mercer

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/kernels"
)

// Repaired is the matrix of an indefinite function on n points, made positive semi-definite,
// and its rows for new points. Train on its points with kernels.Precomputed():
//
//	r, err := mercer.Clip(kernels.Sigmoid(1, -1), data.X)
//	fit := svmnb.Classify(datasets.New(r.Points(), data.Y)).Kernel(kernels.Precomputed()).MustFit()
//	p, err := r.NewPoints(x)
//	classes, err := fit.Predict(p)
//
// A matrix that needs no repair is not changed.
type Repaired struct {
	matrix *mat.SymDense
	basis  *kernels.Basis
	// A row k of new kernel values becomes k'P; nil means P = I. Applied to a row of the old
	// matrix, this gives the same row of the new matrix (Chen, Garcia, Gupta, Rahimi and
	// Cazzanti 2009, section 4.2).
	p *mat.SymDense
}

// Clip sets the negative eigenvalues to 0, which gives the nearest positive semi-definite
// matrix. Errors are those of [Check].
func Clip(k kernels.Kernel, x [][]float64) (*Repaired, error) { return repair(k, x, 0) }

// Flip changes the sign of the negative eigenvalues, so their directions count as much as
// before. Errors are those of [Check].
func Flip(k kernels.Kernel, x [][]float64) (*Repaired, error) { return repair(k, x, -1) }

// Shift adds |λ_min| to the diagonal, if λ_min is negative. Rows of new points are not
// changed. For a machine this is a 2-norm slack of C = 1/|λ_min|. Errors are those of [Check].
func Shift(k kernels.Kernel, x [][]float64) (*Repaired, error) {
	s, err := decompose(k, x)
	if err != nil {
		return nil, err
	}
	r := &Repaired{matrix: s.k0, basis: kernels.Against(k, x)}
	if lowest := s.values[0]; lowest < -s.rounding() {
		for i := range x {
			r.matrix.SetSym(i, i, r.matrix.At(i, i)-lowest)
		}
	}
	return r, nil
}

// repair multiplies the negative eigenvalues by sign.
func repair(k kernels.Kernel, x [][]float64, sign float64) (*Repaired, error) {
	s, err := decompose(k, x)
	if err != nil {
		return nil, err
	}
	r := &Repaired{matrix: s.k0, basis: kernels.Against(k, x)}
	// P − I and the change of K are sums over the negative eigenvalues alone, so rounding
	// changes nothing else.
	for t, v := range s.values {
		if v >= -s.rounding() {
			break
		}
		if r.p == nil {
			r.p = mat.NewSymDense(len(x), nil)
			for i := range x {
				r.p.SetSym(i, i, 1)
			}
		}
		z := s.vectors.ColView(t)
		r.p.SymRankOne(r.p, sign-1, z)
		r.matrix.SymRankOne(r.matrix, v*(sign-1), z)
	}
	return r, nil
}

// Matrix returns a copy of the n × n matrix.
func (r *Repaired) Matrix() [][]float64 {
	n := r.matrix.SymmetricDim()
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		for j := range m[i] {
			m[i][j] = r.matrix.At(i, j)
		}
	}
	return m
}

// Points returns the n points to train on with kernels.Precomputed().
func (r *Repaired) Points() [][]float64 { return kernels.Precomputed().Points(r.Matrix()) }

// NewPoints returns points to predict for with kernels.Precomputed(), made from m points x
// with the features that the kernel was given. The error is a *kernels.DataError for x.
func (r *Repaired) NewPoints(x [][]float64) ([][]float64, error) {
	if err := r.basis.Check(x); err != nil {
		return nil, err
	}
	rows := make([][]float64, len(x))
	for i := range x {
		rows[i] = r.basis.Row(nil, x[i])
		if r.p != nil {
			k := mat.NewVecDense(len(rows[i]), rows[i])
			k.MulVec(r.p, k)
		}
		for _, v := range rows[i] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, &kernels.DataError{Arg: "x", Row: i, Col: -1, Value: v, Msg: "its kernel value with a training point is not finite: leave the point out, or scale the features"}
			}
		}
	}
	return kernels.Precomputed().NewPoints(rows), nil
}
