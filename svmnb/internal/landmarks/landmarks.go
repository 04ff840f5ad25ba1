// Package landmarks chooses points that stand for all others, by the values of a kernel alone.
package landmarks

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Spread draws m of the points as k-means++ does (Arthur and Vassilvitskii 2007): each with a
// probability in proportion to its squared distance, in the feature space of k, from the nearest
// one before it. diag has the n values K(x, x). It returns fewer if these represent all points, and
// for each point the number of the nearest of them.
func Spread(ctx context.Context, p points.Points, k kernels.Kernel, diag []float64, m int, rng *rand.Rand) (at, nearest []int, err error) {
	n := p.N()
	distance := make([]float64, n)
	for i := range distance {
		distance[i] = math.Inf(1)
	}
	nearest = make([]int, n)
	row := make([]float64, n)
	next := rng.IntN(n)
	for len(at) < m {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		number := len(at)
		at = append(at, next)
		clear(row)
		one := p.Some([]int{next})
		p.AddTimes([][]float64{row}, one.Basis(k), [][]float64{{1}})
		total := 0.0
		for i, v := range row {
			if d := max(0, diag[i]+diag[next]-2*v); d < distance[i] {
				distance[i], nearest[i] = d, number
			}
			total += distance[i]
		}
		distance[next] = 0
		if !(total > 0) {
			return at, nearest, nil
		}
		next = drawn(distance, total, rng)
	}
	return at, nearest, nil
}

// drawn returns an index with a probability in proportion to its weight.
func drawn(weight []float64, total float64, rng *rand.Rand) int {
	mark, last := rng.Float64()*total, 0
	for i, w := range weight {
		if w > 0 {
			last = i
			if mark -= w; mark < 0 {
				break
			}
		}
	}
	return last
}

// Greedy returns the first m pivots of Cholesky's factorisation of g: each is the point that those
// before it determine worst. There are fewer if what is left of the trace falls to tol of it; see
// chol.Pivoted.
func Greedy(ctx context.Context, g *kernels.Gram, m int, tol float64) ([]int, error) {
	c := &asking{Gram: g}
	_, err := chol.Pivoted(ctx, c, m, tol)
	return c.rows, err
}

// asking is a kernel matrix that notes which rows were asked for.
type asking struct {
	*kernels.Gram
	rows []int
}

func (a *asking) Row(i int) []float64 {
	a.rows = append(a.rows, i)
	return a.Gram.Row(i)
}
