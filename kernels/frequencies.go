package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
)

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
// [RationalQuadratic], [Periodic], [Constant] and what [Sum], [Product], [Scale],
// [Columns] and [Fixed] make of them. Any other kernel is a *[ParamError], and d that
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
	add      func(rng *rand.Rand, omega []float64) // adds an ω that it draws
}

// spectral takes k apart into terms.
func spectral(k Kernel) (terms []spectralTerm, ok bool) {
	switch k := k.(type) {
	case SumKernel:
		a, known := spectral(k.A)
		b, ok := spectral(k.B)
		return append(a, b...), known && ok
	case ProductKernel: // E cos α E cos β = E cos(α + β) for independent α, β, as E sin = 0
		a, known := spectral(k.A)
		b, ok := spectral(k.B)
		for _, s := range a {
			for _, t := range b {
				terms = append(terms, spectralTerm{s.variance * t.variance, func(rng *rand.Rand, omega []float64) {
					s.add(rng, omega)
					t.add(rng, omega)
				}})
			}
		}
		return terms, known && ok
	case ScaleKernel:
		terms, ok = spectral(k.K)
		for i := range terms {
			terms[i].variance *= k.C
		}
		return terms, ok
	case FixedKernel:
		return spectral(k.K)
	case ColumnsKernel:
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
	case ConstantKernel:
		return []spectralTerm{{k.C, func(*rand.Rand, []float64) {}}}, true
	case GaussianKernel:
		return gaussianFrequencies(func(*rand.Rand) float64 { return math.Sqrt(2 * k.Gamma) }), true
	case ExponentialKernel: // Matérn ½
		return gaussianFrequencies(func(rng *rand.Rand) float64 { return math.Sqrt(0.5/gamma(rng, 0.5)) / k.Length }), true
	case Matern32Kernel:
		return gaussianFrequencies(func(rng *rand.Rand) float64 { return math.Sqrt(1.5/gamma(rng, 1.5)) / k.Length }), true
	case Matern52Kernel:
		return gaussianFrequencies(func(rng *rand.Rand) float64 { return math.Sqrt(2.5/gamma(rng, 2.5)) / k.Length }), true
	case RationalQuadraticKernel:
		return gaussianFrequencies(func(rng *rand.Rand) float64 { return math.Sqrt(gamma(rng, k.Alpha)/k.Alpha) / k.Length }), true
	case ARDKernel:
		inverse := k.inverse()
		return []spectralTerm{{1, func(rng *rand.Rand, omega []float64) {
			for i, v := range inverse {
				omega[i] += float64(v * rng.NormFloat64())
			}
		}}}, true
	case LaplacianKernel: // a Cauchy density for each feature
		return []spectralTerm{{1, func(rng *rand.Rand, omega []float64) {
			for i := range omega {
				omega[i] += float64(k.Gamma * rng.NormFloat64() / rng.NormFloat64())
			}
		}}}, true
	case PeriodicKernel: // whole numbers of turns, a Skellam distribution for each feature
		return []spectralTerm{{1, func(rng *rand.Rand, omega []float64) {
			for i := range omega {
				omega[i] += float64(2 * math.Pi / k.Period * skellam(rng, 1/k.Length/k.Length))
			}
		}}}, true
	}
	return nil, false
}

// gaussianFrequencies is a mixture of Gaussian kernels: ω is normal with a
// deviation that is drawn. Over Gamma(ν)/ν for its squared reciprocal the mixture is
// Matérn's kernel, whose ω are a multivariate t with 2ν degrees of freedom; over
// Gamma(α)/α for its square the rational quadratic one (GPML eq. 4.20).
func gaussianFrequencies(deviation func(rng *rand.Rand) float64) []spectralTerm {
	return []spectralTerm{{1, func(rng *rand.Rand, omega []float64) {
		s := deviation(rng)
		for i := range omega {
			omega[i] += float64(s * rng.NormFloat64())
		}
	}}}
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

// skellam draws the difference of two Poisson numbers of mean kappa/2 each: n with
// probability exp(−κ) I_|n|(κ), the Fourier series of exp(κ (cos t − 1)).
func skellam(rng *rand.Rand, kappa float64) float64 {
	if kappa > 1000 { // normal but for an excess of 1/κ
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
