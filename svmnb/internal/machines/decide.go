package machines

import "github.com/svmnb/svmnb/svmnb/internal/calibrate"

// Curve gives the probability of the positive class for a decision value.
type Curve interface{ At(f float64) float64 }

// Probabilities returns the probabilities of the k classes for the decision values of a
// point.
func Probabilities(k int, duels [][2]int, curves []Curve, values []float64) []float64 {
	switch {
	case duels[0][1] >= 0 && k == 2:
		p := make([]float64, 2)
		Both(p, duels[0], curves[0].At(values[0]))
		return p
	case duels[0][1] >= 0:
		r := make([][]float64, k)
		for i := range r {
			r[i] = make([]float64, k)
		}
		for m, duel := range duels {
			p := min(max(curves[m].At(values[m]), 1e-7), 1-1e-7) // coupling needs numbers inside (0, 1); the bound is LIBSVM's
			r[duel[0]][duel[1]], r[duel[1]][duel[0]] = p, 1-p
		}
		return calibrate.Couple(r)
	}
	p, sum := make([]float64, k), 0.0
	for m, curve := range curves {
		p[m] = curve.At(values[m])
		sum += p[m]
	}
	for m := range p {
		if p[m] /= sum; sum == 0 {
			p[m] = 1 / float64(k) // all machines give probability 0
		}
	}
	return p
}

// Both sets p to the probabilities of two classes, of which the first in the duel has the
// probability first.
func Both(p []float64, duel [2]int, first float64) {
	p[0], p[1] = 1-first, 1-first
	p[duel[0]] = first
}

// SideOf returns the class of a decision value; 0 belongs to the positive class.
func SideOf(v float64) int { return SideFrom(v, 0) }

// SideFrom returns the class of a score: 1, the positive one, from the threshold on.
func SideFrom(v, threshold float64) int {
	if v >= threshold {
		return 1
	}
	return 0
}
