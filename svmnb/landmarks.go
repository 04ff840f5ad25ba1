package svmnb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/svmnb/svmnb/internal/chol"
	"github.com/svmnb/svmnb/internal/simd"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/landmarks"
	"github.com/svmnb/svmnb/svmnb/internal/points"
)

// Choice says which training points become the landmarks of [Nystroem].
type Choice int

const (
	// Uniform draws them without replacement, all with the same probability.
	Uniform Choice = iota
	// KMeans draws each with a probability in proportion to its squared distance, in feature
	// space, from the nearest one before it: the seeding of k-means++ (Arthur and Vassilvitskii
	// 2007). It computes n m kernel values.
	KMeans
	// Leverage draws them in proportion to their ridge leverage scores, l_i(λ) = (K(K +
	// λI)⁻¹)_ii, which are estimated from a uniform sample (Musco and Musco 2017, algorithm 2,
	// without its recursion). λ is what the sample leaves of the trace of K, divided by m.
	Leverage
	// Greedy takes the point that those before it approximate worst: Cholesky's factorisation
	// with diagonal pivots (Fine and Scheinberg 2001, §4). Of more points than the memory has
	// room for, it looks at a sample.
	Greedy
)

var choices = [...]string{"Uniform", "KMeans", "Leverage", "Greedy"}

func (c Choice) String() string {
	if c < Uniform || c > Greedy {
		return fmt.Sprintf("Choice(%d)", int(c))
	}
	return choices[c]
}

// choose returns m rows, in the order in which they were chosen, or fewer if these represent
// all points exactly.
func (c Choice) choose(ctx context.Context, t *exactProblem, m int, seed uint64) ([]int, error) {
	rng := rand.New(rand.NewPCG(seed, 0x1a2d))
	switch c {
	case KMeans:
		at, _, err := landmarks.Spread(ctx, points.Of(t.data), t.kernel, t.diag(), m, rng)
		return at, err
	case Leverage:
		return leveraged(ctx, t, m, rng)
	case Greedy:
		return pivots(ctx, t, m, rng)
	}
	return rng.Perm(t.data.N())[:m], nil
}

// factored returns the Cholesky factor of a positive definite matrix, of which the lower half is
// read.
func factored(ctx context.Context, a [][]float64) (*chol.Panels[float64], error) {
	factor := chol.New[float64](len(a))
	for i, row := range a {
		factor.SetRow(i, row[:i+1])
	}
	pivot, err := factor.Factor(ctx)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	if pivot < len(a) {
		return nil, fmt.Errorf("svmnb: the kernel matrix of the landmarks is not positive definite: row %d depends on those before it", pivot)
	}
	return factor, nil
}

// leveraged draws m points by their leverage scores.
func leveraged(ctx context.Context, t *exactProblem, m int, rng *rand.Rand) ([]int, error) {
	n := t.data.N()
	sample := rng.Perm(n)[:m]
	some := points.Of(t.data).Some(sample)
	gram, err := some.Gram(t.kernel, kernels.NoCache)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Nystroem: %w", err)
	}
	a := make([][]float64, m)
	mean := 0.0
	for i := range a {
		a[i] = slices.Clone(gram.Row(i))
		mean += a[i][i] / float64(m)
	}
	diag := t.diag()
	left := func(ridge float64) (rest []float64, total float64, err error) {
		for i := range a {
			a[i][i] += ridge
		}
		defer func() {
			for i := range a {
				a[i][i] -= ridge
			}
		}()
		factor, err := factored(ctx, a)
		if err != nil {
			return nil, 0, err
		}
		rest = make([]float64, n)
		c := &columns{t: t, of: points.Landmarks{Basis: some.Basis(t.kernel)}}
		var list [][]float64
		err = c.blocks(ctx, nil, func(_, rows []int, z []float64) error {
			list = list[:0]
			for k := range rows {
				list = append(list, z[k*m:(k+1)*m])
			}
			if err := factor.ForwardAll(ctx, list); err != nil {
				return err
			}
			for k, i := range rows {
				rest[i] = max(0, diag[i]-simd.Dot(list[k], list[k]))
				total += rest[i]
			}
			return nil
		})
		return rest, total, err
	}
	_, total, err := left(1e-9 * mean)
	if err != nil {
		return nil, err
	}
	lambda := max(total/float64(m), 1e-9*mean)
	score, _, err := left(lambda * float64(m) / float64(n)) // a uniform sample stands for n/m points each
	if err != nil {
		return nil, err
	}
	// The m smallest of exponential variables with these rates are a draw without replacement
	// (Efraimidis and Spirakis 2006).
	key, order := make([]float64, n), make([]int, n)
	for i, l := range score {
		order[i], key[i] = i, rng.ExpFloat64()/max(min(l/lambda, 1), 1e-12)
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case key[i] < key[j]:
			return -1
		case key[i] > key[j]:
			return 1
		}
		return i - j
	})
	return order[:m], nil
}

// pivots returns the pivots of Cholesky's factorisation, of all points or of a sample.
func pivots(ctx context.Context, t *exactProblem, m int, rng *rand.Rand) ([]int, error) {
	n := t.data.N()
	room := mostApproximate / 2
	if t.cache > 0 {
		room = int(t.cache / 2)
	}
	pool := rng.Perm(n)[:min(n, max(m, room/(8*m)))]
	slices.Sort(pool)
	gram, err := points.Of(t.data).Some(pool).Gram(t.kernel, kernels.NoCache)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Nystroem: %w", err)
	}
	at, err := landmarks.Greedy(ctx, gram, m, 0)
	if err != nil {
		return nil, fmt.Errorf("svmnb: Nystroem: %w", err)
	}
	return pick(pool, at), nil
}
