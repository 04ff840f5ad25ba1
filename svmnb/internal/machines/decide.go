package machines

import (
	"math"
	"slices"

	"github.com/svmnb/svmnb/svmnb/internal/calibrate"
)

// Scheme is how several machines decide together.
type Scheme int

const (
	OneVsOne Scheme = iota
	OneVsRest
	CrammerSinger
)

func (s Scheme) String() string {
	return [...]string{"one against one", "one against the rest", "Crammer–Singer"}[s]
}

// Winner is the class that the decision values of a point stand for. The duels say which
// classes each value tells apart.
func (s Scheme) Winner(classes int, duels [][2]int, values []float64) int {
	if s == OneVsOne {
		votes := make([]int, classes)
		for k, v := range values {
			if v > 0 {
				votes[duels[k][0]]++
			} else {
				votes[duels[k][1]]++
			}
		}
		return slices.Index(votes, slices.Max(votes))
	}
	return slices.Index(values, slices.Max(values))
}

// Leads returns by how much each class wins against its strongest rival, below 0 where it
// does not. It is positive for the winner alone; where votes are equal, that takes a tiny
// lift.
func (s Scheme) Leads(classes int, duels [][2]int, values []float64) []float64 {
	lead := slices.Repeat([]float64{math.Inf(1)}, classes)
	if s == OneVsOne {
		for k, v := range values {
			i, j := duels[k][0], duels[k][1]
			lead[i], lead[j] = min(lead[i], v), min(lead[j], -v)
		}
	} else {
		for i, v := range values {
			for j, w := range values {
				if i != j {
					lead[i] = min(lead[i], v-w)
				}
			}
		}
	}
	const tiny = 1e-9
	winner := s.Winner(classes, duels, values)
	for k := range lead {
		if k == winner {
			lead[k] = max(lead[k], tiny)
		} else {
			lead[k] = min(lead[k], -tiny)
		}
	}
	return lead
}

// Curve is the probability of a positive point by its decision value.
type Curve interface{ At(f float64) float64 }

// Probabilities are those of the k classes by the decision values of a point.
func Probabilities(k int, duels [][2]int, curves []Curve, values []float64) []float64 {
	switch {
	case duels[0][1] >= 0 && k == 2:
		first := curves[0].At(values[0]) // of the class named first in the duel
		p := []float64{1 - first, 1 - first}
		p[duels[0][0]] = first
		return p
	case duels[0][1] >= 0:
		r := make([][]float64, k)
		for i := range r {
			r[i] = make([]float64, k)
		}
		for m, duel := range duels {
			p := min(max(curves[m].At(values[m]), 1e-7), 1-1e-7) // as LIBSVM: coupling wants (0, 1)
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
			p[m] = 1 / float64(k) // no class will have it
		}
	}
	return p
}

// AllOthers are the duels of each of k classes with the rest.
func AllOthers(k int) [][2]int {
	duels := make([][2]int, k)
	for i := range duels {
		duels[i] = [2]int{i, -1}
	}
	return duels
}

// AllPairs are the duels of k classes, nil unless there are n of them.
func AllPairs(k, n int) [][2]int {
	if n != k*(k-1)/2 {
		return nil
	}
	duels := make([][2]int, 0, n)
	for i := range k {
		for j := i + 1; j < k; j++ {
			duels = append(duels, [2]int{i, j})
		}
	}
	return duels
}

// SideOf is the class of a decision value; the boundary is the positive one's.
func SideOf(v float64) int {
	if v >= 0 {
		return 1
	}
	return 0
}
