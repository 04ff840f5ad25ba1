package kernels

import (
	"fmt"
	"slices"
)

// GapWeightedKernel compares the subsequences of k letters; see [GapWeighted].
type GapWeightedKernel struct {
	K       int     // number of letters in a subsequence, ≥ 1
	Lambda  float64 // λ in (0, 1]
	Weights bool    // true if K is not divided by its norms
}

func init() {
	register("GapWeighted", ofWhole(2, func(k int, v []float64) Kernel { return GapWeighted(k, v[0]) }))
	register("GapWeighted.Raw()", ofWhole(2, func(k int, v []float64) Kernel { return GapWeighted(k, v[0]).Raw() }))
}

// GapWeighted returns the kernel of strings whose features are the subsequences of k letters,
// with gaps allowed (Lodhi, Saunders, Shawe-Taylor, Cristianini and Watkins 2002). Each
// occurrence, at places i_1 < … < i_k, counts λ^(i_k − i_1 + 1). So λ near 0 forbids gaps, and
// λ = 1 ignores them. Points are made by [Strings].
//
// The kernel is normalised: K(x, x) = 1, so that long strings have no advantage. A string of
// fewer than k letters has K = 0 with all strings. [GapWeightedKernel.Raw] is the sum without
// normalisation. For k = 2 it gives K("cat", "car") = λ⁴, and K("cat", "cat") = 2λ⁴ + λ⁶, so
// the normalised value is 1/(2 + λ²). A pair of strings takes O(k|x||z|) steps.
func GapWeighted(k int, lambda float64) GapWeightedKernel {
	return GapWeightedKernel{K: k, Lambda: lambda}
}

// Raw returns the kernel without normalisation.
func (k GapWeightedKernel) Raw() GapWeightedKernel { k.Weights = true; return k }

// Compare returns K of two strings.
func (k GapWeightedKernel) Compare(a, b string) float64 { return compare(k, a, b) }

// Eval returns K of two points made by [Strings].
func (k GapWeightedKernel) Eval(x, z []float64) float64 {
	if k.Weights {
		return k.weigh(letters(x), letters(z))
	}
	return cosine(k.Raw().Eval(x, z), k.Raw().Eval(x, x), k.Raw().Eval(z, z))
}

// weigh is the dynamic programme of Lodhi et al. (2002), definition 2. K'_i(x, z) sums over
// pairs of equal subsequences of i letters. Each counts λ to the power of its length, measured
// from its first letter to the ends of x and z; K'_0 = 1. For a prefix of x and every prefix
// z_1…z_j of z, known[i][j] is K'_i. Adding one more letter a to x gives
//
//	K_k  +=  Σ_j [z_j = a] λ² K'_{k−1}(x, z_1…z_{j−1})
//	K'_i(xa, z_1…z_j) = λ K'_i(x, z_1…z_j) + K''_i(xa, z_1…z_j),
//	K''_i(xa, z_1…z_j) = λ K''_i(xa, z_1…z_{j−1}) + [z_j = a] λ² K'_{i−1}(x, z_1…z_{j−1}).
func (k GapWeightedKernel) weigh(x, z []float64) float64 {
	if len(x) < k.K || len(z) < k.K {
		return 0
	}
	if slices.Compare(x, z) > 0 {
		x, z = z, x // the same order for (x, z) and (z, x), so that both have the same bits
	}
	width := len(z) + 1
	known := make([]float64, k.K*width)
	for j := range width {
		known[j] = 1
	}
	lambda, lambda2 := k.Lambda, float64(k.Lambda*k.Lambda)
	var sum float64
	for _, a := range x {
		last := known[(k.K-1)*width:]
		for j, b := range z {
			if a == b {
				sum += float64(lambda2 * last[j])
			}
		}
		// From long to short, because K'_i needs the old K'_{i−1}.
		for i := k.K - 1; i > 0; i-- {
			longer, shorter := known[i*width:][:width], known[(i-1)*width:][:width]
			var fresh float64
			for j, b := range z {
				fresh = float64(lambda * fresh)
				if a == b {
					fresh += float64(lambda2 * shorter[j])
				}
				longer[j+1] = float64(lambda*longer[j+1]) + fresh
			}
		}
	}
	return sum
}

// mostSteps is the largest number of steps for one kernel value, which cannot be interrupted.
// So many steps take about ten seconds.
const mostSteps = 1 << 32

// CheckPoints returns a *[DataError] for the first feature that is not a letter, and for a
// string that is too long: K(x, x) takes k·|x|² steps, which must be at most 2³².
func (k GapWeightedKernel) CheckPoints(x [][]float64) error {
	for i, row := range x {
		n := float64(len(letters(row)))
		if steps := float64(k.K) * n * n; int(n) >= k.K && steps > mostSteps {
			return &DataError{"x", i, -1, n, fmt.Sprintf("the string has %.0f letters, for which %v takes %.2g steps; the limit is %.2g: cut the string, choose a smaller k, or use Spectrum", n, k, steps, float64(mostSteps))}
		}
	}
	return checkStrings(k, x)
}

// Check returns a *[ParamError] unless k ≥ 1 and 0 < lambda ≤ 1.
func (k GapWeightedKernel) Check() error {
	if !(k.Lambda > 0 && k.Lambda <= 1) {
		return &ParamError{"GapWeighted", "lambda", k.Lambda, "want a decay above 0 and at most 1"}
	}
	return checkLength("GapWeighted", k.K)
}

func (k GapWeightedKernel) String() string {
	s := fmt.Sprintf("GapWeighted(%d, %s)", k.K, digits(k.Lambda))
	if k.Weights {
		s += ".Raw()"
	}
	return s
}

func (k GapWeightedKernel) rower(p *points) rower {
	raw := newEvalRower(k.Raw(), p)
	if k.Weights {
		return raw
	}
	return newCosineRower(raw, p)
}
