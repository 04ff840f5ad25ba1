package calibrate

import (
	"cmp"
	"slices"
	"sort"
)

// Steps is the increasing function that is linear between the points (X, P) and constant
// outside.
type Steps struct{ X, P []float64 }

// At returns the probability for the decision value f.
func (s Steps) At(f float64) float64 {
	k := sort.SearchFloat64s(s.X, f)
	switch {
	case k == 0:
		return s.P[0]
	case k == len(s.X):
		return s.P[k-1]
	}
	share := (f - s.X[k-1]) / (s.X[k] - s.X[k-1])
	return s.P[k-1] + share*(s.P[k]-s.P[k-1])
}

// Isotonic fits an increasing function of n ≥ 1 decision values to the classes, by least
// squares (Zadrozny and Elkan 2002). It pools adjacent violators (Ayer et al. 1955):
// neighbouring blocks in the wrong order are merged and get their mean. Equal values are in
// one block from the start.
func Isotonic(f []float64, positive []bool) Steps {
	order := make([]int, len(f))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(f[i], f[j]) })
	type block struct{ from, to, sum, n float64 }
	var blocks []block
	for k := 0; k < len(order); {
		b := block{from: f[order[k]], to: f[order[k]]}
		for ; k < len(order) && f[order[k]] == b.to; k++ {
			if b.n++; positive[order[k]] {
				b.sum++
			}
		}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.sum*b.n < b.sum*last.n {
				break
			}
			b = block{last.from, b.to, last.sum + b.sum, last.n + b.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	var s Steps
	for _, b := range blocks {
		s.X, s.P = append(s.X, b.from), append(s.P, b.sum/b.n)
		if b.to > b.from {
			s.X, s.P = append(s.X, b.to), append(s.P, b.sum/b.n)
		}
	}
	return s
}
