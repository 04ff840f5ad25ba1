package kernels

import (
	"fmt"
	"math"
)

// WithDerivativesKernel is the covariance of a function and its partial derivatives; see
// [WithDerivatives].
type WithDerivativesKernel struct{ K Kernel }

func init() {
	register("WithDerivatives", func(a arguments) Kernel {
		if len(a.kernels) != 1 || len(a.numbers)+len(a.strings) > 0 {
			return nil
		}
		return WithDerivativesKernel{a.kernels[0]}
	})
}

// WithDerivatives returns the covariance of a function f of covariance k, and of its partial
// derivatives (Rasmussen and Williams 2006, §9.4). A point has one feature more than k has, the
// last: 0 stands for the value of f at the point, and i from 1 to d for ∂f/∂x_i, where features
// count from 1.
//
//	cov(∂f/∂x_i, f(z)) = ∂k/∂x_i,  cov(∂f/∂x_i, ∂f/∂z_j) = ∂²k/∂x_i∂z_j
//
// k must be made of [Smooth] kernels; otherwise Check returns a *[ParamError]. [NewGram] returns a
// *[DataError] for another last feature. The derivatives by the hyperparameters of k are computed
// by central differences of fourth order, with an error of about 1e-12.
func WithDerivatives(k Kernel) WithDerivativesKernel { return WithDerivativesKernel{k} }

// Eval returns the covariance of the two values or derivatives.
func (k WithDerivativesKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	k.EvalRow(v[:], x, z, 1)
	return v[0]
}

// EvalRow is Eval for the points in columns.
func (k WithDerivativesKernel) EvalRow(dst, x, columns []float64, stride int) {
	k.loop()(dst, x, columns, stride)
}

// loop returns EvalRow, prepared.
func (k WithDerivativesKernel) loop() func(dst, x, columns []float64, stride int) {
	of, _ := slopesOf(k.K)
	return func(dst, x, columns []float64, stride int) {
		d := len(x) - 1
		byX, byZ, both, z := make([]float64, d), make([]float64, d), make([]float64, d*d), make([]float64, d)
		for j := range dst {
			for f := range z {
				z[f] = columns[f*stride+j]
			}
			v := of(byX, byZ, both, x[:d], z)
			switch a, b := int(x[d]), int(columns[d*stride+j]); {
			case a > 0 && b > 0:
				v = both[(a-1)*d+b-1]
			case a > 0:
				v = byX[a-1]
			case b > 0:
				v = byZ[b-1]
			}
			dst[j] = v
		}
	}
}

// CheckPoints returns a *[DataError] unless the last of at least two features is a whole number from
// 0 to the number of the others, which K must take.
func (k WithDerivativesKernel) CheckPoints(x [][]float64) error {
	rest := make([][]float64, len(x))
	for i, row := range x {
		d := len(row) - 1
		if d < 1 {
			return &DataError{"x", i, -1, float64(d + 1), fmt.Sprintf("the point has one feature, and %v needs one more, which says what was observed: 0 for the value", k)}
		}
		if v := row[d]; v != math.Trunc(v) || v < 0 || v > float64(d) {
			return &DataError{"x", i, d, v, fmt.Sprintf("the last feature is %v: it must be 0 for a value, or from 1 to %d for the derivative by this feature", v, d)}
		}
		rest[i] = row[:d]
	}
	return inDomain(k.K, rest)
}

// Check returns the error of K, or a *[ParamError] unless it is made of [Smooth] kernels.
func (k WithDerivativesKernel) Check() error {
	if err := check(k.K); err != nil {
		return err
	}
	if _, ok := slopesOf(k.K); !ok {
		return &ParamError{"WithDerivatives", "k", math.NaN(), fmt.Sprintf("the functions of %v have no derivative, or it is not known: take SquaredExponential, ARD, Matern32, Matern52 or sums and products of these", k.K)}
	}
	return nil
}

func (k WithDerivativesKernel) String() string { return "WithDerivatives(" + describe(k.K) + ")" }

// Hyperparameters returns those of K.
func (k WithDerivativesKernel) Hyperparameters() []Hyperparameter {
	return shortened(parametersOf(k, nil))
}

func (k WithDerivativesKernel) parameters(s *scan) []parameter { return s.of(k.K) }

// With returns the kernel with other values of the hyperparameters of K.
func (k WithDerivativesKernel) With(values []float64) Kernel {
	return WithDerivativesKernel{with(k.K, values)}
}

// EvalGradient returns the covariance and sets grad to its derivatives.
func (k WithDerivativesKernel) EvalGradient(grad, x, z []float64) float64 {
	return evalGradient(k, grad, x, z)
}

func (k WithDerivativesKernel) gradientRower(p *points) gradientRower {
	return newGradientLoop(p, k.gradients())
}

// gradients differences the values: f' ≈ (8(f₁ − f₋₁) − (f₂ − f₋₂))/12h, f_i being that at θ exp(ih).
func (k WithDerivativesKernel) gradients() gradientLoop {
	const h = 1e-3
	list := k.Hyperparameters()
	own := k.loop()
	var at [][4]func(dst, x, columns []float64, stride int)
	for p := range list {
		var four [4]func(dst, x, columns []float64, stride int)
		for s, step := range []float64{-2, -1, 1, 2} {
			values := make([]float64, len(list))
			for q, v := range list {
				values[q] = v.Value
			}
			values[p] *= math.Exp(step * h)
			four[s] = k.With(values).(WithDerivativesKernel).loop()
		}
		at = append(at, four)
	}
	return func(v, grad, x, columns []float64, stride int) {
		for p, four := range at {
			g := grad[p*len(v):][:len(v)]
			clear(g)
			for s, weight := range []float64{1, -8, 8, -1} {
				four[s](v, x, columns, stride)
				for j, f := range v {
					g[j] += float64(weight / (12 * h) * f)
				}
			}
		}
		own(v, x, columns, stride)
	}
}
