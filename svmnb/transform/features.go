package transform

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/internal/tune"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Landmarks is a [Step] that makes features whose dot products approximate a kernel; see
// [Nystroem].
type Landmarks struct {
	Kernel    kernels.Kernel // nil means RBF(1/(d·Var X)) of the training points
	Landmarks int
	Seed      uint64
}

// Nystroem replaces a point x by m features z(x) = Λ^−½U' k(x). k(x) are the kernel values
// with m landmarks, which are training points drawn without replacement, and UΛU' is the
// kernel matrix of the landmarks. z(x)·z(y) approximates K(x, y) and equals it at the
// landmarks (Williams and Seeger 2001). Eigenvalues below 10⁻¹² of the largest are left
// out. The machine after this step has the linear kernel unless another was set, and costs
// n m numbers instead of n² kernel values:
//
//	selection.Pipe(transform.Nystroem(kernels.RBF(0.05), 200, 1), svmnb.Classify(data).C(10))
//
// In a search, m is the parameter "landmarks", and the parameters of the kernel keep their
// names.
func Nystroem(k kernels.Kernel, m int, seed uint64) Landmarks { return Landmarks{k, m, seed} }

// String returns the call that makes the step.
func (s Landmarks) String() string {
	k := "nil"
	if s.Kernel != nil {
		k = s.Kernel.String()
	}
	return fmt.Sprintf("Nystroem(%s, %d, %d)", k, s.Landmarks, s.Seed)
}

// With implements [Tunable].
func (s Landmarks) With(name string, value float64) (Part, bool) {
	if strings.EqualFold(name, "landmarks") {
		s.Landmarks = asCount(value)
		return s, true
	}
	k, known := tune.Kernel(s.Kernel, name, value)
	if known {
		s.Kernel = k
	}
	return s, known
}

// mostLandmarks limits the matrix whose eigenvectors are computed.
const mostLandmarks = 2000

// Fit implements [Step].
func (s Landmarks) Fit(train *datasets.Dataset) (Transform, error) { return s.FitSparse(train) }

// FitSparse implements [SparseStep]. The new points are dense.
func (s Landmarks) FitSparse(train *datasets.Dataset) (SparseTransform, error) {
	if err := train.Check(); err != nil {
		return nil, err
	}
	m := s.Landmarks
	if m < 1 || m > min(train.N(), mostLandmarks) {
		return nil, arguments.Wrong("Nystroem", float64(m), "%d landmarks are asked for of %d training points; give a whole number from 1 to %d", m, train.N(), min(train.N(), mostLandmarks))
	}
	k := s.Kernel
	if k == nil {
		k = kernels.RBF(points.Of(train).GammaScale(train.D()))
	}
	marks := points.Of(train).Some(rand.New(rand.NewPCG(s.Seed, 0x1a2d)).Perm(train.N())[:m])
	a, err := matrixOf(marks, k)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Nystroem: %w", err)
	}
	values, ok := eigen(a)
	if !ok {
		return nil, errors.New("svmnb: Nystroem: the eigenvalues did not converge; take fewer landmarks")
	}
	t := steps.NystroemMap{Basis: marks.Basis(k), Marks: marks, Kernel: k}
	for c := m - 1; c >= 0 && values[c] > 1e-12*values[m-1]; c-- {
		u := make([]float64, m)
		for i := range u {
			u[i] = a.Data[i*m+c] / math.Sqrt(values[c])
		}
		t.U = append(t.U, u)
	}
	if len(t.U) == 0 {
		return nil, arguments.Wrong("Nystroem", values[m-1], "no eigenvalue of the kernel matrix of the landmarks is positive, so it makes no features; take another kernel")
	}
	return t, nil
}

// matrixOf returns the kernel matrix of points.
func matrixOf(x points.Points, k kernels.Kernel) (a blas64.Symmetric, err error) {
	n := x.N()
	gram, err := x.Gram(k, 8*int64(n)*int64(n))
	if err != nil {
		return a, err
	}
	a = blas64.Symmetric{N: n, Stride: n, Uplo: blas.Upper, Data: make([]float64, n*n)}
	for i := range n {
		copy(a.Data[i*n:], gram.Row(i))
	}
	return a, nil
}

// eigen replaces a by its eigenvectors, one in each column, and returns the eigenvalues, which
// increase. It reports false if they did not converge.
func eigen(a blas64.Symmetric) (values []float64, ok bool) {
	values, work := make([]float64, a.N), make([]float64, 1)
	lapack64.Syev(lapack.EVCompute, a, values, work, -1)
	work = make([]float64, int(work[0]))
	return values, lapack64.Syev(lapack.EVCompute, a, values, work, len(work))
}

// FourierFeatures is a [Step] that makes features whose dot products approximate the
// Gaussian kernel; see [RandomFourier].
type FourierFeatures struct {
	Gamma    float64 // 0 means 1/(d·Var X) of the training points
	Features int
	Seed     uint64
}

// RandomFourier replaces a point x by m features z_i(x) = √(2/m) cos(w_i·x + b_i), with w_i
// drawn from N(0, 2γI) and b_i uniformly from [0, 2π). The expectation of z(x)·z(y) is
// exp(−γ‖x − y‖²), and the error falls as m^−½ (Rahimi and Recht 2007). In a search, the
// parameters are "gamma" and "features".
func RandomFourier(gamma float64, m int, seed uint64) FourierFeatures {
	return FourierFeatures{gamma, m, seed}
}

// String returns the call that makes the step.
func (s FourierFeatures) String() string {
	return fmt.Sprintf("RandomFourier(%s, %d, %d)", say.Number(s.Gamma), s.Features, s.Seed)
}

// With implements [Tunable].
func (s FourierFeatures) With(name string, value float64) (Part, bool) {
	switch strings.ToLower(name) {
	case "gamma":
		s.Gamma = value
	case "features":
		s.Features = asCount(value)
	default:
		return s, false
	}
	return s, true
}

// mostNumbers limits the numbers that a step makes from the training points: 4 GiB.
const mostNumbers = 1 << 29

// Fit implements [Step]. It uses only the number of features of the training points and, if
// Gamma is 0, their variance.
func (s FourierFeatures) Fit(train *datasets.Dataset) (Transform, error) { return s.FitSparse(train) }

// FitSparse implements [SparseStep]. The new points are dense.
func (s FourierFeatures) FitSparse(train *datasets.Dataset) (SparseTransform, error) {
	if err := train.Check(); err != nil {
		return nil, err
	}
	gamma := s.Gamma
	if gamma == 0 {
		gamma = points.Of(train).GammaScale(train.D())
	}
	if !(gamma > 0) || math.IsInf(gamma, 1) {
		return nil, arguments.Wrong("RandomFourier", gamma, "gamma is %v; it must be a positive number, or 0 for 1/(d·Var X)", gamma)
	}
	if most := mostNumbers / max(train.N(), train.D()); s.Features < 1 || s.Features > most {
		return nil, arguments.Wrong("RandomFourier", float64(s.Features), "%d features are asked for, of %d points; give a whole number from 1 to %d", s.Features, train.N(), most)
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0xf0021e2))
	t := steps.FourierMap{W: make([][]float64, s.Features), B: make([]float64, s.Features)}
	for i := range t.W { // one feature after the other, so that a larger m begins with the same features
		t.W[i] = make([]float64, train.D())
		for j := range t.W[i] {
			t.W[i][j] = math.Sqrt(2*gamma) * rng.NormFloat64()
		}
		t.B[i] = 2 * math.Pi * rng.Float64()
	}
	return t, nil
}
