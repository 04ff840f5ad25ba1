package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// The Matérn kernels of smoothness ν have a closed form for half-integer ν: ν = ½ is
// [Exponential], and ν → ∞ gives [SquaredExponential].

// Matern32Kernel is (1 + t) exp(−t) with t = √3‖x − z‖/ℓ; see [Matern32].
type Matern32Kernel struct {
	Length float64 // ℓ > 0, in the units of x
}

// Matern52Kernel is (1 + t + t²/3) exp(−t) with t = √5‖x − z‖/ℓ; see [Matern52].
type Matern52Kernel struct {
	Length float64 // ℓ > 0, in the units of x
}

func init() {
	register("Matern32", ofNumbers(1, func(v []float64) Kernel { return Matern32(v[0]) }))
	register("Matern52", ofNumbers(1, func(v []float64) Kernel { return Matern52(v[0]) }))
}

// Matern32 returns the Matérn kernel of ν = 3/2, K(x, z) = (1 + √3 s) exp(−√3 s)
// with s = ‖x − z‖/ℓ, whose functions have one derivative (Rasmussen and
// Williams 2006, eq. 4.17).
//
// ∂K/∂ln ℓ = 3s² exp(−√3 s).
func Matern32(length float64) Matern32Kernel { return Matern32Kernel{Length: length} }

// Matern52 returns the Matérn kernel of ν = 5/2,
// K(x, z) = (1 + √5 s + 5s²/3) exp(−√5 s) with s = ‖x − z‖/ℓ, whose functions
// have two derivatives (Rasmussen and Williams 2006, eq. 4.17).
//
// ∂K/∂ln ℓ = (5/3) s² (1 + √5 s) exp(−√5 s).
func Matern52(length float64) Matern52Kernel { return Matern52Kernel{Length: length} }

// Eval returns (1 + √3 s) exp(−√3 s), s = ‖x − z‖/ℓ.
func (k Matern32Kernel) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance(vec.SquaredDistance(x, z))
}

// Eval returns (1 + √5 s + 5s²/3) exp(−√5 s), s = ‖x − z‖/ℓ.
func (k Matern52Kernel) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance(vec.SquaredDistance(x, z))
}

// OfSquaredDistance returns (1 + √3 s) exp(−√3 s), s = √r2/ℓ.
func (k Matern32Kernel) OfSquaredDistance(r2 float64) float64 {
	v := [1]float64{r2}
	k.ofSquaredDistances(v[:])
	return v[0]
}

// OfSquaredDistance returns (1 + √5 s + 5s²/3) exp(−√5 s), s = √r2/ℓ.
func (k Matern52Kernel) OfSquaredDistance(r2 float64) float64 {
	v := [1]float64{r2}
	k.ofSquaredDistances(v[:])
	return v[0]
}

// farthest is the largest t that is used. From there on exp(−t) is 0, and ∞·0 would be NaN.
const farthest = 1000

func (k Matern32Kernel) inner(int) inner { return inner{distance: true, of: k.ofSquaredDistances} }

func (k Matern32Kernel) ofSquaredDistances(v []float64) { matern32(v, k.Length) }

// matern32 turns squared distances into values of the Matérn kernel of ν = 3/2.
func matern32(v []float64, length float64) {
	var t [256]float64
	for len(v) > 0 {
		part := v[:min(len(t), len(v))]
		decays(part, t[:], math.Sqrt(3)/length)
		for j, e := range part {
			part[j] = (1 + t[j]) * e
		}
		v = v[len(part):]
	}
}

func (k Matern52Kernel) inner(int) inner { return inner{distance: true, of: k.ofSquaredDistances} }

func (k Matern52Kernel) ofSquaredDistances(v []float64) { matern52(v, k.Length) }

// matern52 turns squared distances into values of the Matérn kernel of ν = 5/2.
func matern52(v []float64, length float64) {
	var t [256]float64
	for len(v) > 0 {
		part := v[:min(len(t), len(v))]
		decays(part, t[:], math.Sqrt(5)/length)
		for j, e := range part {
			t := t[j]
			part[j] = (1 + t + float64(t*t)/3) * e
		}
		v = v[len(part):]
	}
}

// Check returns a *[ParamError] unless 0 < length < ∞.
func (k Matern32Kernel) Check() error { return positive("Matern32", "length", k.Length) }

// Check returns a *[ParamError] unless 0 < length < ∞.
func (k Matern52Kernel) Check() error { return positive("Matern52", "length", k.Length) }

func (k Matern32Kernel) String() string { return call("Matern32", k.Length) }
func (k Matern52Kernel) String() string { return call("Matern52", k.Length) }

// Hyperparameters returns length.
func (k Matern32Kernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"length", k.Length}}
}

// Hyperparameters returns length.
func (k Matern52Kernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"length", k.Length}}
}

// With returns the kernel with another length.
func (Matern32Kernel) With(values []float64) Kernel { return Matern32(values[0]) }

// With returns the kernel with another length.
func (Matern52Kernel) With(values []float64) Kernel { return Matern52(values[0]) }

// EvalGradient returns K(x, z) and sets grad to 3s² exp(−√3 s), s = ‖x − z‖/ℓ.
func (k Matern32Kernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradient returns K(x, z) and sets grad to (5/3) s² (1 + √5 s) exp(−√5 s),
// s = ‖x − z‖/ℓ.
func (k Matern52Kernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// decays sets v to exp(−t) and grad to t, where t = √v·scale.
func decays(v, grad []float64, scale float64) {
	for j, r2 := range v {
		t := min(math.Sqrt(r2)*scale, farthest)
		v[j], grad[j] = t, t
	}
	simd.ExpScaled(v, -1)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k Matern32Kernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	grad = grad[:len(v)]
	decays(v, grad, math.Sqrt(3)/k.Length)
	for j, e := range v {
		t := grad[j]
		v[j], grad[j] = (1+t)*e, t*t*e
	}
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k Matern52Kernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	grad = grad[:len(v)]
	decays(v, grad, math.Sqrt(5)/k.Length)
	for j, e := range v {
		t := grad[j]
		third := float64(t*t) / 3
		v[j], grad[j] = (1+t+third)*e, third*(1+t)*e
	}
}

// AddFrequency adds a draw from the spectral density, which is a multivariate Student t
// distribution with 3 degrees of freedom.
func (k Matern32Kernel) AddFrequency(rng *rand.Rand, omega []float64) {
	addNormal(omega, math.Sqrt(1.5/gamma(rng, 1.5))/k.Length, rng)
}

// AddFrequency adds a draw from the spectral density, which is a multivariate Student t
// distribution with 5 degrees of freedom.
func (k Matern52Kernel) AddFrequency(rng *rand.Rand, omega []float64) {
	addNormal(omega, math.Sqrt(2.5/gamma(rng, 2.5))/k.Length, rng)
}

// EvalSlopes implements [Smooth].
func (k Matern32Kernel) EvalSlopes(byX, byZ, both, x, z []float64) float64 {
	return maternSlopes(nil, 3, k.Length)(byX, byZ, both, x, z)
}

// EvalSlopes implements [Smooth].
func (k Matern52Kernel) EvalSlopes(byX, byZ, both, x, z []float64) float64 {
	return maternSlopes(nil, 5, k.Length)(byX, byZ, both, x, z)
}
