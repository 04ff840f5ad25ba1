package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// MaternKernel is the Matérn kernel of any smoothness ν; see [Matern].
type MaternKernel struct {
	Nu     float64 // ν, from 0.01 to 1000; it is not learned
	Length float64 // ℓ > 0, in the units of x
}

func init() {
	register("Matern", ofNumbers(2, func(v []float64) Kernel { return Matern(v[0], v[1]) }))
}

// Matern returns the Matérn kernel of smoothness ν (Rasmussen and Williams 2006, eq. 4.14),
//
//	K(x, z) = 2^(1−ν)/Γ(ν) t^ν K_ν(t),  t = √(2ν)‖x − z‖/ℓ,
//
// where K_ν is a modified Bessel function of the second kind. Its functions have derivatives of all
// orders below ν. For ν = 1/2, 3/2 and 5/2 the values are those of [Exponential], [Matern32] and
// [Matern52], up to rounding; these are computed ten times faster. For ν → ∞ it becomes
// [SquaredExponential].
//
// ∂K/∂ln ℓ = 2^(1−ν)/Γ(ν) t^(ν+1) K_(ν−1)(t). ν is not learned: compare the evidence of some.
func Matern(nu, length float64) MaternKernel { return MaternKernel{nu, length} }

// maternLoop computes G_ν(t) = 2^(1−ν)/Γ(ν) t^ν K_ν(t). With ν = a + n and 0 < a ≤ 1, it starts from
// K_a and K_(1−a) and goes on by
//
//	G_(a+1) = G_a + 2^(−a)/Γ(a + 1) t^(a+1) K_(1−a),  G_(ν+1) = G_ν + t²/(4ν(ν − 1)) G_(ν−1),
//
// which follow from K_(ν+1) = K_(ν−1) + (2ν/t) K_ν. No term is negative, so that no digits cancel.
type maternLoop struct {
	bessel besselPair
	a      float64
	n      int
	front  float64 // 2^(1−a)/Γ(a)
}

func newMaternLoop(nu float64) *maternLoop {
	n := math.Ceil(nu) - 1
	m := &maternLoop{a: nu - n, n: int(n)}
	m.bessel = newBesselPair(m.a)
	m.front = vec.Exp(float64((1-m.a)*math.Ln2)) * overGamma(m.a)
	return m
}

// at returns G_ν(t), G_(ν−1)(t), which is 0 for ν ≤ 1, and −t ∂G_ν/∂t.
func (m *maternLoop) at(t float64) (value, before, slope float64) {
	if t < 1e-150 {
		return 1, 1, 0
	}
	t = min(t, farthest)
	first, second := m.bessel.at(t)
	power := float64(m.front*vec.Exp(float64(m.a*vec.Log(t)))) * vec.Exp(-t)
	value, slope = power*first, float64(power*second)*t
	for i := range m.n {
		nu := m.a + float64(i) // of value; the next one is nu + 1
		if i == 0 {
			value, before = value+slope/(2*nu), value
		} else {
			value, before = value+float64(float64(t*t)/float64(4*nu*(nu-1))*before), value
		}
		slope = float64(t*t) / (2 * nu) * before
	}
	return value, before, slope
}

// of turns squared distances into values, and grad, unless nil, into derivatives by ln ℓ.
func (k MaternKernel) of(v, grad []float64) {
	m, scale := newMaternLoop(k.Nu), math.Sqrt(2*k.Nu)/k.Length
	for j, r2 := range v {
		value, _, slope := m.at(math.Sqrt(r2) * scale)
		if v[j] = value; grad != nil {
			grad[j] = slope
		}
	}
}

// Eval returns K(x, z).
func (k MaternKernel) Eval(x, z []float64) float64 {
	return k.OfSquaredDistance(vec.SquaredDistance(x, z))
}

// OfSquaredDistance returns K at the squared distance r2.
func (k MaternKernel) OfSquaredDistance(r2 float64) float64 {
	v := [1]float64{r2}
	k.of(v[:], nil)
	return v[0]
}

func (k MaternKernel) inner(int) inner {
	return inner{distance: true, of: func(v []float64) { k.of(v, nil) }}
}

// Check returns a *[ParamError] unless 0.01 ≤ ν ≤ 1000 and 0 < length < ∞.
func (k MaternKernel) Check() error {
	if !(k.Nu >= 0.01 && k.Nu <= 1000) {
		return &ParamError{"Matern", "nu", k.Nu, "want a number from 0.01 to 1000; SquaredExponential is the limit of large ones"}
	}
	return positive("Matern", "length", k.Length)
}

func (k MaternKernel) String() string { return call("Matern", k.Nu, k.Length) }

// Hyperparameters returns length.
func (k MaternKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"length", k.Length}}
}

// With returns the kernel with another length.
func (k MaternKernel) With(values []float64) Kernel { return Matern(k.Nu, values[0]) }

// EvalGradient returns K(x, z) and sets grad to its derivative by ln ℓ.
func (k MaternKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k MaternKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	simd.SquaredDistances(v, x, columns, stride)
	k.of(v, grad[:len(v)])
}

// AddFrequency adds a draw from the spectral density, which is a multivariate Student t
// distribution with 2ν degrees of freedom.
func (k MaternKernel) AddFrequency(rng *rand.Rand, omega []float64) {
	addNormal(omega, math.Sqrt(k.Nu/gamma(rng, k.Nu))/k.Length, rng)
}

// slopes are those of a function of s = r², which has them for ν > 1. With t² = as, a = 2ν/ℓ²,
//
//	∂G_ν/∂s = −a/(4(ν − 1)) G_(ν−1),
//
// and once more for the second one; for ν ≤ 2 that comes from −t ∂G_(ν−1)/∂t.
func (k MaternKernel) slopes() (slopes, bool) {
	if !(k.Nu > 1) {
		return nil, false
	}
	m, less := newMaternLoop(k.Nu), newMaternLoop(k.Nu-1)
	a := 2 * k.Nu / k.Length / k.Length
	return radialSlopes(nil, func(s float64) (g, first, second float64) {
		t := math.Sqrt(a * s)
		g, before, _ := m.at(t)
		front := -a / (4 * (k.Nu - 1))
		if _, _, slope := less.at(t); t > 0 {
			second = -front * slope / (2 * s)
		} else if k.Nu > 2 {
			second = -front * a / (4 * (k.Nu - 2))
		}
		return g, front * before, second
	}), true
}
