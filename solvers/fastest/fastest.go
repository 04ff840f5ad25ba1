// Package fastest chooses the method that is fastest for a problem.
package fastest

import (
	"context"

	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
)

// Method chooses the fastest method for each problem:
//
//   - [solvers.Newton] where K is [solvers.Features] of at most a thousand columns;
//   - [solvers.CoordinateDescent] for other [solvers.Features] with a fixed bias;
//   - [solvers.GradientAscent] for other problems with a fixed bias;
//   - [blocks.Decomposition] from 600 variables on, if the kernel matrix has Blocks, the
//     bias is free, every α has an upper bound or a ridge, and single precision can tell
//     the points apart;
//   - [solvers.TubeSMO] for the other regressions of [solvers.Tube] and [solvers.Tube2] with a free bias;
//   - [solvers.SMO] for all other problems.
//
// If rounding stops this method before the criterion is met, or it has taken many iterations,
// another method continues. For at most 3000 variables this is [solvers.PrimalDual], whose
// number of steps hardly depends on the kernel and C, and then SMO. The result is the best
// answer of all of them. Result.Method names them.
type Method struct{}

// blocksFrom is the number of variables from which working sets repay the cost of setting them
// up. It was measured on mixtures with 2, 20 and 100 features and C from 1 to 100, in
// processes that have run nothing before, as notebook cells are.
const blocksFrom = 600

// factored is the largest number of variables for which Q is factored when another method
// makes too little progress. This takes 72 MB and some seconds.
const factored = 3000

// Name is "the fastest".
func (Method) Name() string { return "the fastest" }

// Start implements solvers.Method.
func (m Method) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	return m.StartAt(p, alpha, nil)
}

// StartAt implements solvers.WarmStarter.
func (m Method) StartAt(p *solvers.Problem, alpha, f []float64) (solvers.Stepper, error) {
	first := m.Choose(p)[0].Method
	if w, ok := first.(solvers.WarmStarter); ok {
		return w.StartAt(p, alpha, f)
	}
	return first.Start(p, alpha)
}

// Accepts implements solvers.Accepter. It returns nil, since every problem has a method.
func (Method) Accepts(*solvers.Problem) error { return nil }

// WantsFeatures implements solvers.FeatureReader.
func (Method) WantsFeatures(s solvers.Shape) bool {
	if s.PerClass {
		return false
	}
	return s.FixedBias || s.Variables >= blocksFrom && s.Points >= 2*s.Columns && s.Columns <= solvers.MostColumns
}

// Choose implements solvers.Chooser.
func (Method) Choose(p *solvers.Problem) []solvers.Stage {
	var list []solvers.Stage
	x, linear := p.K.(solvers.Features)
	if linear && !p.PerClass && x.Columns() <= solvers.MostColumns {
		list = append(list, solvers.Stage{Method: solvers.Newton{}})
	}
	if p.FixedBias {
		if linear {
			list = append(list, solvers.Stage{Method: solvers.CoordinateDescent{}})
		}
		list = append(list, hurried(p, solvers.GradientAscent{}, 1000))
		return append(list, inTheEnd(p, solvers.GradientAscent{})...)
	}
	pairs := solvers.Method(solvers.SMO{})
	if solvers.PointsOf(p.K) != nil && !p.PerClass {
		pairs = solvers.TubeSMO{}
	}
	if len(p.S) >= blocksFrom {
		if large := (blocks.Decomposition{}); large.Accepts(p) == nil && fine(p) {
			list = append(list, hurried(p, large, 300))
			return append(list, inTheEnd(p, pairs)...)
		}
	}
	list = append(list, hurried(p, pairs, max(100_000, 200*len(p.S))))
	return append(list, inTheEnd(p, pairs)...)
}

// inTheEnd returns the stages for problems on which the first method makes too little
// progress.
func inTheEnd(p *solvers.Problem, last solvers.Method) []solvers.Stage {
	if p.PerClass || len(p.S) > factored {
		return []solvers.Stage{{Method: last}}
	}
	return []solvers.Stage{{Method: solvers.PrimalDual{}}, hurried(p, last, 1_000_000)}
}

// hurried returns a stage of m that is limited to most iterations if Q can be factored, as
// then another method can follow.
func hurried(p *solvers.Problem, m solvers.Method, most int) solvers.Stage {
	if len(p.S) > factored {
		most = 0
	}
	return solvers.Stage{Method: m, Iterations: most}
}

// fine reports whether single precision tells the points apart. It compares the largest kernel
// value with the mean of κ = K_ii + K_jj − 2K_ij, a squared distance in feature space, over
// some pairs.
func fine(p *solvers.Problem) bool {
	const some = 8
	b, n := solvers.BlocksOf(p.K)
	at, of := make([]int, 8*some), make([]int, some)
	for k := range at {
		at[k] = k * (n - 1) / (len(at) - 1)
	}
	for k := range of {
		of[k] = k * (n - 1) / (some - 1)
	}
	diag, spread := p.K.Diag(), 0.0
	largest := vec.MaxAbs(diag[:n])
	row := make([]float64, len(at))
	for _, j := range of {
		clear(row)
		_ = b.AddTo(context.Background(), row, nil, at, []int{j}, []float64{1}, true)
		for k, i := range at {
			spread += (diag[i] + diag[j] - 2*row[k]) / float64(len(at)*some)
		}
	}
	return largest <= coarse*spread || largest == 0
}

// coarse is the largest ratio of K to κ for which single precision suffices.
const coarse = 1 << 14
