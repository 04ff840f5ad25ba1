package gp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/svmnb/svmnb/internal/parallel"
	"github.com/svmnb/svmnb/internal/vec"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/landmarks"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
)

// Choice says which training points become the inducing points of a [SparseProcess].
type Choice int

const (
	// Greedy takes the point that those before it determine worst: Cholesky's factorisation with
	// diagonal pivots (Fine and Scheinberg 2001, §4). It is the default.
	Greedy Choice = iota
	// KMeans draws each with a probability in proportion to its squared distance, in feature
	// space, from the nearest one before it: the seeding of k-means++ (Arthur and Vassilvitskii
	// 2007). It computes n m kernel values.
	KMeans
)

func (c Choice) String() string {
	switch c {
	case Greedy:
		return "Greedy"
	case KMeans:
		return "KMeans"
	}
	return fmt.Sprintf("Choice(%d)", int(c))
}

// By sets how the inducing points are chosen among the training points: Greedy, the default, or
// KMeans. The seed determines what KMeans draws.
func (p SparseProcess) By(choice Choice, seed uint64) SparseProcess {
	p.choice, p.seed = choice, seed
	p.process = p.process.described()
	p.process.faults.Said("By", arguments.WrongIf(choice < Greedy || choice > KMeans, "By", float64(choice), "the choice is %v; it must be gp.Greedy or gp.KMeans", choice))
	return p
}

// OptimiseInducing moves the inducing points, which are then no longer training points, so that the
// lower bound of the evidence rises (Titsias 2009; Snelson and Ghahramani 2006), by gradient ascent
// from the places that By chooses. With Optimise, the two take turns until the bound rises by less
// than 0.01 nats, up to five times. A step costs about n m d² operations in addition, for d
// features.
//
// Fit returns an *ArgumentError unless the kernel is made of kernels.Smooth ones. Keep keeps the
// places with the hyperparameters of Optimise, and without Optimise nothing.
func (p SparseProcess) OptimiseInducing() SparseProcess { p.moves = true; return p }

// choose returns the inducing points for the hyperparameters of t.
func (p SparseProcess) choose(ctx context.Context, t *processTask) ([][]float64, error) {
	g, err := kernels.NewGram(t.kernel, t.data.X, kernels.NoCache)
	if err != nil {
		return nil, err
	}
	m := min(p.m, len(t.y))
	var at []int
	if p.choice == KMeans {
		at, _, err = landmarks.Spread(ctx, points.Rows(t.data.X), t.kernel, g.Diag(), m, rand.New(rand.NewPCG(p.seed, 0x1a2d)))
	} else {
		at, err = landmarks.Greedy(ctx, g, m, 1e-12)
	}
	if err != nil {
		return nil, err
	}
	var z [][]float64
	for _, i := range at {
		z = append(z, slices.Clone(t.data.X[i]))
	}
	if z == nil { // K is 0
		z = [][]float64{slices.Clone(t.data.X[0])}
	}
	return z, nil
}

const (
	wander = 100 // most iterations of one ascent of the inducing points
	afar   = 1e6 // how far they may move, in units of the distance at which the correlation is one half
)

// moved returns the fit through the best inducing points that an ascent from those of f finds.
// Their features are counted in units of the distance at which the correlation falls to one half.
func (f *SparseFit) moved(ctx context.Context) (*SparseFit, error) {
	t, d := f.task, f.task.data.D()
	units := t.units()
	for j, u := range units { // a feature that does not matter
		if u > 1e9 {
			units[j] = 1
		}
	}
	var x []float64
	var intervals []interval
	for _, z := range f.Inducing {
		for j, v := range z {
			x = append(x, v/units[j])
			intervals = append(intervals, interval{x[len(x)-1], x[len(x)-1], afar, 0})
		}
	}
	best, evaluations := f, 0
	var last error
	climbFrom(ctx, func(grad, x []float64) (AscentPoint, bool) {
		z := several(len(f.Inducing), d)
		for k, v := range x {
			z[k/d][k%d] = v * units[k%d]
		}
		var g *SparseFit
		if g, last = t.throughPoints(ctx, z); last == nil {
			last = g.gradientPoints(ctx, grad)
		}
		evaluations++
		if last != nil || math.IsNaN(g.Lower) {
			return AscentPoint{}, false
		}
		for k := range grad {
			grad[k] *= units[k%d]
		}
		if g.Lower > best.Lower {
			best = g
		}
		if t.show != nil {
			t.show(fmt.Sprintf("OptimiseInducing: %s, %s ≥ %s", say.Several(evaluations, "evaluation"), t.objective(), say.Signed(best.Lower, 6)), false)
		}
		return AscentPoint{Values: slices.Clone(x), Evidence: g.Lower}, true
	}, x, intervals, wander)
	if ctx.Err() != nil {
		return best, fmt.Errorf("svmnb: OptimiseInducing stopped after %s: %w", say.Several(evaluations, "evaluation"), context.Cause(ctx))
	}
	return best, nil
}

// gradientPoints sets grad to the m·d derivatives of Lower by the features of the inducing points:
//
//	∂Lower/∂z_j = 2 Σ_i H_ji ∂K(x_i, z_j)/∂z_j − 2 Σ_k G_jk ∂₁K(z_j, z_k),
//
// with ∂₁ the derivative by the first point. The terms of k = j have it too, since K is symmetric.
func (f *SparseFit) gradientPoints(ctx context.Context, grad []float64) error {
	s, err := f.weigh(ctx)
	if err != nil {
		return err
	}
	t, m, d := f.task, len(f.Inducing), f.task.data.D()
	slopes, _ := kernels.Slopes(t.kernel)
	clear(grad)
	memory := several(runtime.GOMAXPROCS(0), 2*d+d*d)
	each := func(do func(j int, g, byX, byZ, both []float64)) error {
		err := parallel.For(ctx, len(memory), m, func(worker, j int) {
			own := memory[worker]
			do(j, grad[j*d:][:d], own[:d], own[d:2*d], own[2*d:])
		})
		if err != nil {
			return fmt.Errorf("svmnb: the gradient: %w", err)
		}
		return nil
	}
	for from := 0; from < len(t.y); from += sparseStrip {
		h := s.strip(from)
		err := each(func(j int, g, byX, byZ, both []float64) {
			for i := range len(h) / m {
				slopes(byX, byZ, both, t.data.X[from+i], f.Inducing[j])
				vec.Axpy(g, h[i*m+j], byZ)
			}
		})
		if err != nil {
			return err
		}
	}
	return each(func(j int, g, byX, byZ, both []float64) {
		for k, z := range f.Inducing {
			slopes(byX, byZ, both, f.Inducing[j], z)
			vec.Axpy(g, -2*s.g[j][k], byX)
		}
	})
}
