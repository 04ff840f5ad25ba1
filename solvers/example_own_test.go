package solvers_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
)

// RandomPairs is SMO without any heuristic: two points drawn at random are
// optimised exactly (CST Theorem 7.12). Its zero value is useful.
type RandomPairs struct{ Seed uint64 }

func (RandomPairs) Name() string { return "random pairs" }

func (m RandomPairs) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	if p.FixedBias || p.Ridge != nil {
		return nil, fmt.Errorf("%w: random pairs need a free bias and have no ridge", solvers.ErrUnsupported)
	}
	return &randomPairs{p: p, alpha: alpha, f: p.F(alpha), rng: rand.New(rand.NewPCG(m.Seed, 0))}, nil
}

// randomPairs is the workspace of one run.
type randomPairs struct {
	p        *solvers.Problem
	alpha, f []float64 // α and F = −s(Qα + p)
	rng      *rand.Rand
}

// Step optimises n random pairs, so that looking at the result costs little.
func (s *randomPairs) Step(ctx context.Context) (done bool, err error) {
	p, a := s.p, s.alpha
	for range a {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		i, j := s.rng.IntN(len(a)), s.rng.IntN(len(a))
		ki, kj := p.K.Row(i), p.K.Row(j)
		kappa := ki[i] + kj[j] - 2*ki[j]
		if kappa <= 0 {
			continue
		}
		// s_iα_i goes up by t and s_jα_j down.
		t := (s.f[i] - s.f[j]) / kappa
		t = min(max(t, -p.Fall(i, a[i]), -p.Rise(j, a[j])), p.Rise(i, a[i]), p.Fall(j, a[j]))
		a[i], a[j] = p.Moved(i, a[i], t), p.Moved(j, a[j], -t)
		for k := range s.f {
			s.f[k] -= t * (ki[k] - kj[k])
		}
	}
	return false, nil
}

func (s *randomPairs) Report(it *solvers.Iterate) { it.Alpha, it.F = s.alpha, s.f }

// A method of one's own, in docs/adding-a-solver.md.
func Example_method() {
	data := datasets.Moons(60, 0.1, 1)
	k, err := kernels.NewGram(kernels.RBF(1), data.X, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	cost := make([]float64, data.N())
	for i := range cost {
		cost[i] = 10
	}
	p := solvers.SoftMargin(k, data.Y, cost)
	for _, m := range []solvers.Method{RandomPairs{Seed: 1}, solvers.SMO{}} {
		r, err := solvers.Solve(context.Background(), p, m, solvers.Settings{Stop: solvers.Gap{Rel: 1e-6}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-18s W = %.3f, %v\n", r.Method, r.Certificate.Dual, r.Status)
	}
	// Output:
	// random pairs       W = 25.939, converged
	// SMO (second order) W = 25.939, converged
}
