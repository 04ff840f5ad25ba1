package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Spectral is a kernel of x − z with K(x, x) = 1 that can draw from its spectral density, for
// random features and samples ([Frequencies]). A type that only inherits AddFrequency from an
// embedded kernel does not count as Spectral.
type Spectral interface {
	Kernel
	// AddFrequency draws a frequency ω, in radians per unit of x, and adds it to omega, which
	// has one number for each feature. The density of ω is the one whose characteristic
	// function is the kernel: K(x, z) = E cos(ω·(x − z)).
	AddFrequency(rng *rand.Rand, omega []float64)
}

// Frequencies draws random Fourier features of a stationary kernel (Bochner; Rahimi and Recht
// 2007): m frequencies ω_j of d values each, in radians per unit of x, for each term of a
// [Sum], with weights w_j > 0, such that
//
//	K(x, z) ≈ Σ_j w_j cos(ω_j·(x − z))
//
// The right side is unbiased, and its standard deviation is at most about K(0, 0)/√m. If a and
// b are standard normal, Σ_j √w_j (a_j cos ω_j·x + b_j sin ω_j·x) is a function drawn from the
// Gaussian process of covariance K. Each term of a sum has m frequencies of its own, so a
// small term is drawn as well as a large one. The same seed draws the same frequencies.
//
// It accepts [RBF], [ARD], [Laplacian], [Exponential], [Matern32], [Matern52],
// [RationalQuadratic], [Periodic], [Constant], every [Spectral] kernel, and their combinations
// by [Sum], [Product], [Scale], [Columns] and [Fixed]. For any other kernel the error is a
// *[ParamError], and for a d that does not suit the kernel a *[DataError].
//
// A draw has at most 2²⁷ numbers, 1 GiB; the error for more is a *[DataError].
func Frequencies(k Kernel, d, m int, seed uint64) (omega [][]float64, weight []float64, err error) {
	if err := check(k); err != nil {
		return nil, nil, err
	}
	if d < 1 {
		return nil, nil, &DataError{"d", -1, -1, float64(d), "want at least one feature"}
	}
	if m < 1 {
		return nil, nil, &DataError{"m", -1, -1, float64(m), "want at least one frequency"}
	}
	if d > mostDrawn {
		return nil, nil, &DataError{"d", -1, -1, float64(d), fmt.Sprintf("want at most %d features", mostDrawn)}
	}
	if err := inDomain(k, [][]float64{make([]float64, d)}); err != nil {
		return nil, nil, err
	}
	terms, ok := spectral(k)
	if !ok {
		return nil, nil, &ParamError{Msg: fmt.Sprintf("no spectral density is known of %v: take a kernel of x − z such as RBF or Matern52", k)}
	}
	if most := mostDrawn / d / max(len(terms), 1); m > most {
		return nil, nil, &DataError{"m", -1, -1, float64(m), fmt.Sprintf("want at most %d frequencies of %d features for each of %d terms", most, d, len(terms))}
	}
	rng := rand.New(rand.NewPCG(seed, 0x776176))
	for _, t := range terms {
		for range m {
			w := make([]float64, d)
			t.add(rng, w)
			omega, weight = append(omega, w), append(weight, t.variance/float64(m))
		}
	}
	return omega, weight, nil
}

// mostDrawn is the largest count of numbers in a draw: 1 GiB.
const mostDrawn = 1 << 27

// spectralTerm is a stationary kernel, variance · E cos(ω·(x − z)).
type spectralTerm struct {
	variance float64
	add      func(rng *rand.Rand, omega []float64) // adds a frequency to omega, as AddFrequency does
}

// spectral splits k into terms. It reports false if k has no known spectral density.
func spectral(k Kernel) (terms []spectralTerm, ok bool) {
	if k, ok := as[interface {
		spectral() ([]spectralTerm, bool)
	}](k); ok {
		return k.spectral()
	}
	if k, ok := as[Spectral](k); ok {
		return []spectralTerm{{1, k.AddFrequency}}, true
	}
	return nil, false
}

// addNormal adds a normal ω with the given standard deviation. A random deviation gives a
// mixture of Gaussian kernels. If its squared reciprocal is a draw of Gamma(ν)/ν, the kernel
// is Matérn's, and ω has a multivariate t distribution with 2ν degrees of freedom. If its
// square is a draw of Gamma(α)/α, the kernel is the rational quadratic one (Rasmussen and
// Williams 2006, eq. 4.20).
func addNormal(omega []float64, deviation float64, rng *rand.Rand) {
	for i := range omega {
		omega[i] += float64(deviation * rng.NormFloat64())
	}
}

// gamma draws from the gamma distribution of the given shape and scale 1 (Marsaglia and Tsang
// 2000).
func gamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(rng, shape+1) * math.Exp(-rng.ExpFloat64()/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := rng.NormFloat64()
		v := 1 + float64(c*z)
		v = float64(v * v * v)
		if v > 0 && -rng.ExpFloat64() < float64(z*z/2)+float64(d*(1-v+math.Log(v))) { // −ExpFloat64 is the logarithm of a uniform number
			return d * v
		}
	}
}
