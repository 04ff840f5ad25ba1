package kernels

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/svmnb/svmnb/internal/vec"
)

// GammaScale returns 1/(d·Var X), where Var X is the variance of all n·d entries of the n × d
// points x. It is scikit-learn's gamma="scale". It is 1 if all entries are equal, and NaN,
// which every kernel refuses, if x is no table of finite numbers.
func GammaScale(x [][]float64) float64 {
	d, _, err := features("x", x)
	if err != nil {
		return math.NaN()
	}
	count := float64(len(x)) * float64(d)
	var mean, variance float64
	for _, row := range x {
		for _, v := range row {
			mean += v / count
		}
	}
	for _, row := range x {
		for _, v := range row {
			variance += (v - mean) * (v - mean) / count
		}
	}
	if variance == 0 {
		return 1
	}
	return 1 / (float64(d) * variance)
}

// medianPoints is the largest number of points whose pairs GammaMedian uses. Their 125,000
// pairs give the median to about one per cent.
const medianPoints = 500

// GammaMedian returns 1 over the median of ‖x_i − x_j‖² over all pairs of different points in
// the n × d table x, so that a typical pair has K = 1/e (the median heuristic). Of more than
// 500 points it uses 500 random ones, always the same. It is 1 if all points are equal, and
// NaN, which every kernel refuses, if x is no table of finite numbers.
func GammaMedian(x [][]float64) float64 {
	if _, _, err := features("x", x); err != nil {
		return math.NaN()
	}
	if len(x) > medianPoints {
		rng := rand.New(rand.NewPCG(0, 0))
		x = slices.Clone(x)
		for i := range medianPoints {
			j := i + rng.IntN(len(x)-i)
			x[i], x[j] = x[j], x[i]
		}
		x = x[:medianPoints]
	}
	var r2 []float64
	for i := range x {
		for j := range i {
			if v := vec.SquaredDistance(x[i], x[j]); v > 0 {
				r2 = append(r2, v)
			}
		}
	}
	if len(r2) == 0 {
		return 1
	}
	slices.Sort(r2)
	return 1 / (float64(r2[(len(r2)-1)/2]/2) + float64(r2[len(r2)/2]/2))
}
