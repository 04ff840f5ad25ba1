package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/internal/vec"
)

// PeriodicKernel is exp(−(2/ℓ²) Σ_k sin²(π (x_k − z_k)/p)); see [Periodic].
type PeriodicKernel struct {
	Period float64 // p > 0, in the units of x
	Length float64 // ℓ > 0, no unit: the length scale on the circle
}

func init() {
	register("Periodic", ofNumbers(2, func(v []float64) Kernel { return Periodic(v[0], v[1]) }))
}

// Periodic returns the kernel K(x, z) = exp(−2 Σ_k sin²(π (x_k − z_k)/p)/ℓ²). It is the
// Gaussian of length scale ℓ on a circle around which each feature is wound (MacKay 1998). For
// several features it uses the sum of the sin², because sin² of the distance ‖x − z‖ is not
// positive semi-definite in two dimensions.
//
// With u = π(x − z)/p in one dimension, ∂K/∂ln ℓ = (4/ℓ²) sin² u K and
// ∂K/∂ln p = (2u/ℓ²) sin(2u) K.
func Periodic(period, length float64) PeriodicKernel {
	return PeriodicKernel{Period: period, Length: length}
}

// Eval returns exp(−2 Σ_k sin²(π (x_k − z_k)/p)/ℓ²).
func (k PeriodicKernel) Eval(x, z []float64) float64 {
	var v [1]float64
	k.EvalRow(v[:], x, z, 1)
	return v[0]
}

// EvalRow sets dst[j] to K(x, z_j) for the points z_j in columns.
func (k PeriodicKernel) EvalRow(dst, x, columns []float64, stride int) {
	vec.SquaredSines(k.Period)(dst, x, columns, stride)
	k.ofSines(dst)
}

func (k PeriodicKernel) ofSines(v []float64) { simd.ExpScaled(v, -2/k.Length/k.Length) }

// Check returns a *[ParamError] unless 0 < period < ∞ and 0 < length < ∞.
func (k PeriodicKernel) Check() error {
	if err := positive("Periodic", "period", k.Period); err != nil {
		return err
	}
	if math.IsInf(2/k.Length/k.Length, 1) {
		return &ParamError{"Periodic", "length", k.Length, "want a number whose square is above 0"}
	}
	return positive("Periodic", "length", k.Length)
}

func (k PeriodicKernel) String() string { return call("Periodic", k.Period, k.Length) }

// Hyperparameters returns period and length.
func (k PeriodicKernel) Hyperparameters() []Hyperparameter {
	return []Hyperparameter{{"period", k.Period}, {"length", k.Length}}
}

// With returns the kernel with another period and length.
func (PeriodicKernel) With(values []float64) Kernel { return Periodic(values[0], values[1]) }

// EvalGradient returns K(x, z) and sets grad to (2/ℓ²) Σ_k u_k sin(2u_k) K and
// (4/ℓ²) Σ_k sin² u_k K, with u_k = π(x_k − z_k)/p.
func (k PeriodicKernel) EvalGradient(grad, x, z []float64) float64 {
	return gradientOfPair(k, grad, x, z)
}

// EvalGradientRow is EvalGradient for the points in columns.
func (k PeriodicKernel) EvalGradientRow(v, grad, x, columns []float64, stride int) {
	m := len(v)
	byPeriod, byLength := grad[:m], grad[m:][:m]
	clear(byPeriod)
	clear(v)
	for f, a := range x {
		c := columns[f*stride:][:m]
		for j, s := range v {
			turns := (a - c[j]) / k.Period
			sine2, sine := vec.SineSquares(turns)
			v[j] = s + sine2
			byPeriod[j] += float64(turns * sine)
		}
	}
	scale := 2 / k.Length / k.Length
	for j, s := range v {
		byPeriod[j] *= math.Pi * scale
		byLength[j] = 2 * scale * s
	}
	expScaled(v, grad[:2*m], -2/k.Length/k.Length)
}

// AddFrequency adds a draw from the spectral density: for each feature a whole number of turns
// per period, from a Skellam distribution.
func (k PeriodicKernel) AddFrequency(rng *rand.Rand, omega []float64) {
	for i := range omega {
		omega[i] += float64(2 * math.Pi / k.Period * skellam(rng, 1/k.Length/k.Length))
	}
}

// skellam draws the difference of two Poisson numbers of mean kappa/2 each. It is n with
// probability exp(−κ) I_|n|(κ), the Fourier coefficients of exp(κ (cos t − 1)).
func skellam(rng *rand.Rand, kappa float64) float64 {
	if kappa > 1000 { // a normal distribution, up to an excess of 1/κ
		return math.Round(math.Sqrt(kappa) * rng.NormFloat64())
	}
	poisson := func() (n float64) {
		for t := rng.ExpFloat64(); t < kappa/2; t += rng.ExpFloat64() {
			n++
		}
		return n
	}
	return poisson() - poisson()
}
