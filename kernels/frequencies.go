package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Spectral is a kernel of x − z with K(x, x) = 1 that knows its spectral density, for
// random features and samples ([Frequencies]). A type that embeds another kernel is none.
type Spectral interface {
	Kernel
	// AddFrequency draws a frequency ω, in radians over the units of x, from the
	// density whose characteristic function is the kernel, K(x, z) = E cos(ω·(x − z)),
	// and adds it to omega, which has a number for each feature.
	AddFrequency(rng *rand.Rand, omega []float64)
}

// Frequencies draws random Fourier features of a stationary kernel (Bochner;
// Rahimi and Recht 2007): frequencies ω_j of d values each, in radians over the
// units of x, with weights w_j > 0, such that
//
//	K(x, z) ≈ Σ_j w_j cos(ω_j·(x − z))
//
// is right on the average and off by about K(0, 0)/√m at most. Then
// Σ_j √w_j (a_j cos ω_j·x + b_j sin ω_j·x), with a and b standard normal, is a
// function drawn from the Gaussian process of covariance K. Each term of a [Sum] has
// m frequencies of its own, so that a small term is as well drawn as a large one.
// The same seed draws the same.
//
// Known are [RBF], [ARD], [Laplacian], [Exponential], [Matern32], [Matern52],
// [RationalQuadratic], [Periodic], [Constant], each [Spectral] kernel, and what [Sum],
// [Product], [Scale], [Columns] and [Fixed] make of them. Any other kernel is a *[ParamError], and d that
// does not suit the kernel a *[DataError].
//
// A draw has at most 2²⁷ numbers, 1 GiB: more is a *[DataError] too.
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

// mostDrawn bounds the numbers of a draw: 1 GiB.
const mostDrawn = 1 << 27

// spectralTerm is a stationary kernel, variance · E cos(ω·(x − z)).
type spectralTerm struct {
	variance float64
	add      func(rng *rand.Rand, omega []float64) // as AddFrequency
}

// spectral takes k apart into terms, or is not ok.
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

// addNormal adds a normal ω of the given deviation. Where that is drawn, the kernel is a
// mixture of Gaussian ones: over Gamma(ν)/ν for its squared reciprocal it is Matérn's,
// whose ω are a multivariate t with 2ν degrees of freedom; over Gamma(α)/α for its
// square the rational quadratic one (GPML eq. 4.20).
func addNormal(omega []float64, deviation float64, rng *rand.Rand) {
	for i := range omega {
		omega[i] += float64(deviation * rng.NormFloat64())
	}
}

// gamma draws from the gamma distribution of the given shape and scale 1, by
// Marsaglia and Tsang (2000).
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
		if v > 0 && -rng.ExpFloat64() < float64(z*z/2)+float64(d*(1-v+math.Log(v))) { // −Exp is ln U
			return d * v
		}
	}
}
