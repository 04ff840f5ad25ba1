package svmnb

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Landmarks is a [Step] that makes features whose products are nearly a kernel; see
// [Nystroem].
type Landmarks struct {
	Kernel    kernels.Kernel // nil means RBF(1/(d·Var X)) of the training points
	Landmarks int
	Seed      uint64
}

// Nystroem replaces a point x by m features z(x) = Λ^−½U' k(x), where k(x) is the
// kernel at m training points drawn without replacement and UΛU' the kernel matrix
// between them: z(x)·z(y) is K(x, y) projected on their span, and K itself at them
// (Williams and Seeger 2001). Eigenvalues below 10⁻¹² of the largest are left out. A
// linear machine behind it, such as Classify(data).CoordinateDescent(), has the cost
// of n m numbers in place of n² kernel values. As parameters of a search, m is
// "landmarks" and those of the kernel have their names.
func Nystroem(k kernels.Kernel, m int, seed uint64) Landmarks { return Landmarks{k, m, seed} }

// String gives the call back.
func (s Landmarks) String() string {
	k := "nil"
	if s.Kernel != nil {
		k = s.Kernel.String()
	}
	return fmt.Sprintf("Nystroem(%s, %d, %d)", k, s.Landmarks, s.Seed)
}

// With implements [Tunable].
func (s Landmarks) With(name string, value float64) (Step, bool) {
	if strings.EqualFold(name, "landmarks") {
		s.Landmarks = asCount(value)
		return s, true
	}
	k, known := tune(s.Kernel, name, value)
	if known {
		s.Kernel = k
	}
	return s, known
}

// mostLandmarks bounds the matrix whose eigenvectors are computed.
const mostLandmarks = 2000

// Fit implements [Step].
func (s Landmarks) Fit(train *datasets.Dataset) (Transform, error) { return s.FitSparse(train) }

// FitSparse implements [SparseStep]: it makes rows.
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
		k = kernels.RBF(pointsOf(train).gammaScale(train.D()))
	}
	marks := pointsOf(train).some(rand.New(rand.NewPCG(s.Seed, 0x1a2d)).Perm(train.N())[:m])
	gram, err := marks.gram(k, 8*int64(m)*int64(m))
	if err != nil {
		return nil, fmt.Errorf("svmnb: Nystroem: %w", err)
	}
	a := blas64.Symmetric{N: m, Stride: m, Uplo: blas.Upper, Data: make([]float64, m*m)}
	for i := range m {
		copy(a.Data[i*m:], gram.Row(i))
	}
	values, work := make([]float64, m), make([]float64, 1)
	lapack64.Syev(lapack.EVCompute, a, values, work, -1)
	work = make([]float64, int(work[0]))
	if !lapack64.Syev(lapack.EVCompute, a, values, work, len(work)) {
		return nil, errors.New("svmnb: Nystroem: the eigenvalues did not converge; take fewer landmarks")
	}
	t := nystroem{basis: marks.basis(k), marks: marks, kernel: k}
	for c := m - 1; c >= 0 && values[c] > 1e-12*values[m-1]; c-- {
		u := make([]float64, m)
		for i := range u {
			u[i] = a.Data[i*m+c] / math.Sqrt(values[c])
		}
		t.u = append(t.u, u)
	}
	if len(t.u) == 0 {
		return nil, arguments.Wrong("Nystroem", values[m-1], "no eigenvalue of the kernel matrix of the landmarks is positive, so it makes no features; take another kernel")
	}
	return t, nil
}

type nystroem struct {
	basis *kernels.Basis
	u     [][]float64 // Λ^−½U', a row for each feature

	marks  points
	kernel kernels.Kernel
}

func (t nystroem) String() string {
	return fmt.Sprintf("Nystroem(%s, %d)", say.Brief(t.kernel.String()), t.marks.n())
}

func (t nystroem) Apply(x [][]float64) ([][]float64, error) {
	if err := t.basis.Check(x); err != nil {
		return nil, fmt.Errorf("svmnb: Nystroem: %w", err)
	}
	out, row := make([][]float64, len(x)), make([]float64, t.basis.Len())
	for i, p := range x {
		row = t.basis.Row(row, p)
		out[i] = t.features(row)
	}
	return out, nil
}

// ApplySparse implements [SparseTransform]; one point at a time is written out.
func (t nystroem) ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error) {
	if err := t.basis.CheckSparse(x); err != nil {
		return nil, nil, fmt.Errorf("svmnb: Nystroem: %w", err)
	}
	out, row := make([][]float64, x.N()), make([]float64, t.basis.Len())
	var point []float64
	for i := range out {
		point = x.Point(point, i)
		row = t.basis.Row(row, point)
		out[i] = t.features(row)
	}
	return nil, out, nil
}

func (t nystroem) features(row []float64) []float64 {
	z := make([]float64, len(t.u))
	for c, u := range t.u {
		z[c] = dot(u, row)
	}
	return z
}

// FourierFeatures is a [Step] that makes features whose products are nearly the
// Gaussian kernel; see [RandomFourier].
type FourierFeatures struct {
	Gamma    float64 // 0 means 1/(d·Var X) of the training points
	Features int
	Seed     uint64
}

// RandomFourier replaces a point x by m features z_i(x) = √(2/m) cos(w_i·x + b_i) with
// w_i drawn from N(0, 2γI) and b_i from [0, 2π): z(x)·z(y) is exp(−γ‖x − y‖²) on
// average, with an error that falls as m^−½ (Rahimi and Recht 2007). As parameters of
// a search they are "gamma" and "features".
func RandomFourier(gamma float64, m int, seed uint64) FourierFeatures {
	return FourierFeatures{gamma, m, seed}
}

// String gives the call back.
func (s FourierFeatures) String() string {
	return fmt.Sprintf("RandomFourier(%s, %d, %d)", say.Number(s.Gamma), s.Features, s.Seed)
}

// With implements [Tunable].
func (s FourierFeatures) With(name string, value float64) (Step, bool) {
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

// mostNumbers bounds what a step may make of the training points: 4 GiB.
const mostNumbers = 1 << 29

// Fit implements [Step]: it looks at the number of features, and for Gamma 0 at their
// variance.
func (s FourierFeatures) Fit(train *datasets.Dataset) (Transform, error) { return s.FitSparse(train) }

// FitSparse implements [SparseStep]: it makes rows.
func (s FourierFeatures) FitSparse(train *datasets.Dataset) (SparseTransform, error) {
	if err := train.Check(); err != nil {
		return nil, err
	}
	gamma := s.Gamma
	if gamma == 0 {
		gamma = pointsOf(train).gammaScale(train.D())
	}
	if !(gamma > 0) || math.IsInf(gamma, 1) {
		return nil, arguments.Wrong("RandomFourier", gamma, "gamma is %v; it must be a positive number, or 0 for 1/(d·Var X)", gamma)
	}
	if most := mostNumbers / max(train.N(), train.D()); s.Features < 1 || s.Features > most {
		return nil, arguments.Wrong("RandomFourier", float64(s.Features), "%d features are asked for, of %d points; give a whole number from 1 to %d", s.Features, train.N(), most)
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0xf0021e2))
	t := fourier{w: make([][]float64, s.Features), b: make([]float64, s.Features)}
	for i := range t.w { // feature by feature, so that more of them begin with the same ones
		t.w[i] = make([]float64, train.D())
		for j := range t.w[i] {
			t.w[i][j] = math.Sqrt(2*gamma) * rng.NormFloat64()
		}
		t.b[i] = 2 * math.Pi * rng.Float64()
	}
	return t, nil
}

type fourier struct {
	w [][]float64
	b []float64
}

func (t fourier) String() string { return fmt.Sprintf("RandomFourier of %d features", len(t.w)) }

func (t fourier) Apply(x [][]float64) ([][]float64, error) {
	for i, row := range x {
		if err := wide("RandomFourier", i, row, len(t.w[0])); err != nil {
			return nil, err
		}
	}
	return t.features(written(x)), nil
}

// ApplySparse implements [SparseTransform].
func (t fourier) ApplySparse(x datasets.CSR) (*datasets.CSR, [][]float64, error) {
	if d := len(t.w[0]); x.D != d {
		return nil, nil, arguments.Wrong("RandomFourier", float64(x.D), "the points have %s, the step was fitted to %d", say.Several(x.D, "feature"), d)
	}
	return nil, t.features(compressed(x)), nil
}

func (t fourier) features(p points) [][]float64 {
	out, scale := make([][]float64, p.n()), math.Sqrt(2/float64(len(t.w)))
	for i := range out {
		out[i] = make([]float64, len(t.w))
		for c, w := range t.w {
			out[i][c] = scale * math.Cos(p.dot(i, w, 0)+t.b[c])
		}
	}
	return out
}
