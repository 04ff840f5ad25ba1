package kernels

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// ColumnsKernel is K of some of the features; see [Columns].
type ColumnsKernel struct {
	K    Kernel
	Cols string // indices of the features from 0, in the order in which K gets them: "0, 2"
}

func init() {
	register("Columns", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.strings) > 0 {
			return nil
		}
		return ColumnsKernel{a.kernels[0], digits(a.numbers...)}
	})
}

// Columns returns the kernel k of the features with the given indices, counted from 0, in that
// order. [NewGram] returns a *[DataError] if points have fewer features.
func Columns(k Kernel, cols ...int) ColumnsKernel {
	v := make([]float64, len(cols))
	for i, c := range cols {
		v[i] = float64(c)
	}
	return ColumnsKernel{k, digits(v...)}
}

func (k ColumnsKernel) indices() []int {
	v := numbers(k.Cols)
	cols := make([]int, len(v))
	for i, c := range v {
		cols[i] = int(c)
	}
	return cols
}

func choose(dst, x []float64, cols []int) []float64 {
	for i, c := range cols {
		dst[i] = x[c]
	}
	return dst
}

// chosen returns the features cols of all n points as rows.
func (p *points) chosen(cols []int) [][]float64 {
	c := make([][]float64, p.n)
	for j, x := range p.all() {
		c[j] = choose(make([]float64, len(cols)), x, cols)
	}
	return c
}

// Eval returns K of the chosen features of x and z.
func (k ColumnsKernel) Eval(x, z []float64) float64 {
	cols := k.indices()
	return k.K.Eval(choose(make([]float64, len(cols)), x, cols), choose(make([]float64, len(cols)), z, cols))
}

// Check returns a *[ParamError] if there are no columns or one is negative, otherwise the
// error of K.
func (k ColumnsKernel) Check() error {
	cols := numbers(k.Cols)
	if len(cols) == 0 {
		return errors.Join(&ParamError{"Columns", "len(cols)", 0, "give at least one feature"}, check(k.K))
	}
	for i, c := range cols {
		if !(c >= 0 && c < math.MaxInt32 && c == math.Trunc(c)) {
			return errors.Join(&ParamError{"Columns", fmt.Sprintf("cols[%d]", i), c, "want the index of a feature, from 0"}, check(k.K))
		}
	}
	return check(k.K)
}

// CheckPoints returns a *[DataError] if a chosen feature is missing, otherwise the error that
// K has for the chosen features.
func (k ColumnsKernel) CheckPoints(x [][]float64) error {
	cols := k.indices()
	chosen := make([][]float64, len(x))
	for i, row := range x {
		for _, c := range cols {
			if c >= len(row) {
				return &DataError{"x", i, -1, float64(len(row)), fmt.Sprintf("the point has %s, and %v takes feature %d, counted from 0", several(len(row), "feature"), k, c)}
			}
		}
		chosen[i] = choose(make([]float64, len(cols)), row, cols)
	}
	err := inDomain(k.K, chosen)
	if e, ok := err.(*DataError); ok && e.Col >= 0 {
		e.Col = cols[e.Col]
	}
	return err
}

func (k ColumnsKernel) String() string {
	if k.Cols == "" {
		return "Columns(" + describe(k.K) + ")"
	}
	return "Columns(" + describe(k.K) + ", " + k.Cols + ")"
}

type columnsRower struct {
	cols []int
	p    *points // the points, with the chosen features only
	k    rower
}

func (k ColumnsKernel) rower(all *points) rower {
	cols := k.indices()
	if all.sparse != nil && !all.written {
		p := newSparsePoints(columnsOf(all.sparse.CSR, cols))
		return columnsRower{cols, p, rowerOf(k.K, p)}
	}
	p, r := over(rowerOf, k.K, all.chosen(cols), len(cols))
	return columnsRower{cols, p, r}
}

func (r columnsRower) row(dst, x []float64, w *work) {
	v := w.take(len(r.cols))
	r.k.row(dst, choose(v, x, r.cols), w)
	w.give(v)
}

func (r columnsRower) self(x []float64, w *work) float64 {
	v := w.take(len(r.cols))
	defer w.give(v)
	return r.k.self(choose(v, x, r.cols), w)
}

func (r columnsRower) swap(s, t int) {
	r.p.swap(s, t)
	r.k.swap(s, t)
}

// Hyperparameters returns the hyperparameters of K.
func (k ColumnsKernel) Hyperparameters() []Hyperparameter { return shortened(parametersOf(k, nil)) }

func (k ColumnsKernel) parameters(s *scan) []parameter {
	all := s.features
	defer func() { s.features = all }()
	s.features = nil
	for _, c := range k.indices() {
		if c < 0 || c >= len(all) { // without names, or refused by Check or CheckPoints
			s.features = nil
			break
		}
		s.features = append(s.features, all[c])
	}
	return s.of(k.K)
}

// With returns the kernel with other values of the hyperparameters of K.
func (k ColumnsKernel) With(values []float64) Kernel {
	return ColumnsKernel{with(k.K, values), k.Cols}
}

// EvalGradient returns K of the chosen features and sets grad to its derivatives.
func (k ColumnsKernel) EvalGradient(grad, x, z []float64) float64 {
	return evalGradient(k, grad, x, z)
}

type columnsGradient struct {
	cols []int
	p    *points // the points, with the chosen features only
	k    gradientRower
}

func (k ColumnsKernel) gradientRower(all *points) gradientRower {
	cols := k.indices()
	p, r := over(gradientRowerOf, k.K, all.chosen(cols), len(cols))
	return columnsGradient{cols, p, r}
}

func (r columnsGradient) row(v, grad, x []float64, w *work) {
	c := w.take(len(r.cols))
	r.k.row(v, grad, choose(c, x, r.cols), w)
	w.give(c)
}

func (r columnsGradient) self(grad, x []float64, w *work) float64 {
	c := w.take(len(r.cols))
	defer w.give(c)
	return r.k.self(grad, choose(c, x, r.cols), w)
}

func (k ColumnsKernel) term(f *formula, cols []int) term {
	own := k.indices()
	for i, c := range own {
		own[i] = cols[c]
	}
	return f.term(k.K, own)
}

func (k ColumnsKernel) offset(x, mean []float64) (h float64, linear, ok bool) {
	cols := k.indices()
	return offset(k.K, choose(make([]float64, len(cols)), x, cols), choose(make([]float64, len(cols)), mean, cols))
}

func (k ColumnsKernel) spectral() (terms []spectralTerm, ok bool) {
	cols := k.indices()
	inner, ok := spectral(k.K)
	for _, t := range inner {
		terms = append(terms, spectralTerm{t.variance, func(rng *rand.Rand, omega []float64) {
			own := make([]float64, len(cols))
			t.add(rng, own)
			for i, c := range cols {
				omega[c] += own[i]
			}
		}})
	}
	return terms, ok
}

func (k ColumnsKernel) multiplies(scale *float64) (func(dst, x, z []float64), bool) {
	inner, ok := factorsOf(k.K, scale)
	cols := k.indices()
	return func(dst, x, z []float64) {
		own, p, q := make([]float64, len(cols)), make([]float64, len(cols)), make([]float64, len(cols))
		for i, j := range cols {
			own[i], p[i], q[i] = 1, x[j], z[j]
		}
		inner(own, p, q)
		for i, j := range cols {
			dst[j] *= own[i]
		}
	}, ok
}
