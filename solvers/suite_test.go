package solvers

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// A method ships when it passes this file: every problem of the table in every
// form that it does not refuse with ErrUnsupported. Perceptron alone is missing,
// for it does not look for the optimum.
type shipped struct {
	method Method
	jumps  bool  // on the way the dual may fall and s'α = δ be open
	takes  kinds // what it is known to solve; it must refuse all else
}

// kinds are kinds of problems.
type kinds int

const (
	freeBias kinds = 1 << iota
	fixedBias
	fixedLinear // with a fixed bias, but only where K is Features
	freeLinear  // with a free bias, but only where K is Features
	concave     // only where K is positive semi-definite
)

// methods take a free bias, singles a fixed one or only Features.
var (
	methods = []shipped{
		{method: SMO{Selection: SecondOrder}, takes: freeBias},
		{method: SMO{Selection: WorstPair}, takes: freeBias},
		{method: SMO{Selection: Platt}, takes: freeBias},
		{method: SMO{Selection: Simplified}, takes: freeBias},
		{method: PrimalDual{}, jumps: true, takes: freeBias | fixedBias | concave},
		{method: PrimalDual{Corrector: true}, jumps: true, takes: freeBias | fixedBias | concave},
		{method: PrimalDual{Rank: 1000}, jumps: true, takes: freeBias | fixedBias | concave},
		{method: Barrier{}, jumps: true, takes: freeBias | fixedBias | concave},
		{method: Barrier{PhaseI: true}, jumps: true, takes: freeBias | fixedBias | concave},
		{method: SMO{Selection: Keerthi1}, takes: freeBias},
		{method: SMO{Selection: Keerthi2}, takes: freeBias},
		{method: ConjugateSMO{}, takes: freeBias},
		{method: GradientAscent{Relax: Schedule{Start: 1, Decay: 0.1}}, jumps: true, takes: freeBias},
		{method: SMO{Shrinking: true}, jumps: true, takes: freeBias}, // F of the points left out catches up with a rounding of its own
		{method: Decomposition{}, takes: freeBias},
		{method: Chunking{}, takes: freeBias},
	}
	singles = []shipped{
		{method: GradientAscent{}, takes: fixedBias},
		{method: GradientAscent{Order: Batch}, takes: fixedBias},
		{method: GradientAscent{Order: Shuffled, Seed: 1}, takes: fixedBias},
		{method: GradientAscent{Order: Violators}, takes: fixedBias},
		{method: GradientAscent{Order: TwoStage}, takes: fixedBias},
		{method: GradientAscent{Order: AscendingAlpha}, takes: fixedBias},
		{method: GradientAscent{Omega: 1.5}, takes: fixedBias},
		{method: CoordinateDescent{}, takes: fixedLinear},
		{method: CoordinateDescent{Cyclic: true}, takes: fixedLinear},
		{method: CoordinateDescent{NoShrinking: true}, takes: fixedLinear},
		{method: Decomposition{Inner: GradientAscent{}}, takes: fixedBias},
		{method: Chunking{Inner: GradientAscent{}}, takes: fixedBias},
		{method: Newton{}, jumps: true, takes: freeLinear | fixedLinear},
	}
)

// form is a way to pose the problems of the table. Those with features are for
// problems with the linear kernel.
type form struct {
	name     string
	fixed    bool
	bias     float64
	features func(t testing.TB, x [][]float64) Features
	blocks   bool // K has Blocks: for Decomposition, which others do not see
}

var forms = []form{
	{name: "free bias"},
	{name: "free bias, sparse", features: asSparse},
	{name: "free bias, in blocks", blocks: true},
	{name: "b₀ = 0, dense", fixed: true, features: asDense},
	{name: "b₀ = 0.25", fixed: true, bias: 0.25},
	{name: "b₀ = 0.25, sparse", fixed: true, bias: 0.25, features: asSparse},
}

func asDense(t testing.TB, x [][]float64) Features  { return densely(t, x, 0) }
func asSparse(t testing.TB, x [][]float64) Features { return sparsely(t, x) }

// pose returns p in this form, or nil where there is none.
func (f form) pose(t testing.TB, p *Problem) *Problem {
	if f.fixed {
		p = p.WithFixedBias(f.bias)
	}
	if f.blocks {
		q := *p
		q.K = &blocked{Blocked: toy.Blocked{Gram: p.K.(*toy.Gram)}}
		p = &q
	}
	if f.features != nil {
		k := p.K.(*toy.Gram)
		if !isLinear(k) {
			return nil
		}
		q := *p
		q.K = f.features(t, k.X)
		p = &q
	}
	return p
}

// solves reports whether the method is to solve the form of a problem.
func (m shipped) solves(f form, indefinite bool) bool {
	if m.takes&concave != 0 && indefinite {
		return false
	}
	if !f.fixed {
		return m.takes&freeBias != 0 || m.takes&freeLinear != 0 && f.features != nil
	}
	return m.takes&fixedBias != 0 || m.takes&fixedLinear != 0 && f.features != nil
}

// tabled is a problem of the table. Its optimum is found by an independent method
// unless it is given.
type tabled struct {
	name       string
	problem    func(t testing.TB) *Problem // with a free bias
	want       float64                     // the largest dual value; 0 asks the independent method
	indefinite bool                        // the kernel is not positive semi-definite: only the KKT conditions are demanded
	unbounded  bool                        // the dual has no maximum, in no form
}

var table = []tabled{
	{name: "two points", want: 0.5, problem: func(testing.TB) *Problem {
		return SoftMargin(toy.NewGram([][]float64{{-1}, {1}}, toy.Dot), []float64{-1, 1}, fill(2, 1))
	}},
	{name: "XOR, hard, (x·z + 1)²", want: 0.25, problem: func(testing.TB) *Problem {
		return HardMargin(toy.NewGram(corners, toy.Polynomial(1, 1, 2)), parity)
	}},
	{name: "XOR, linear", want: 4, problem: func(testing.TB) *Problem {
		return SoftMargin(toy.NewGram(corners, toy.Dot), parity, fill(4, 1))
	}},
	{name: "XOR, linear, hard", unbounded: true, problem: func(testing.TB) *Problem {
		return HardMargin(toy.NewGram(corners, toy.Dot), parity)
	}},
	{name: "one class", problem: func(testing.TB) *Problem {
		return SoftMargin(toy.NewGram(corners, toy.RBF(1)), fill(4, 1), fill(4, 1))
	}},
	{name: "one class, hard", problem: func(testing.TB) *Problem {
		return HardMargin(toy.NewGram(corners, toy.RBF(1)), fill(4, -1))
	}},
	{name: "one point", problem: func(testing.TB) *Problem {
		return SoftMargin(toy.NewGram(corners[:1], toy.Dot), []float64{1}, fill(1, 1))
	}},
	{name: "duplicates with opposite labels", problem: func(testing.TB) *Problem { return contradicting(1) }},
	{name: "duplicates with opposite labels, C = 1e6", problem: func(testing.TB) *Problem { return contradicting(1e6) }},
	{name: "duplicates with opposite labels, 2-norm", problem: func(testing.TB) *Problem {
		p := contradicting(10)
		return SoftMargin2(p.K, p.S, p.Upper)
	}},
	{name: "duplicates with opposite labels, hard", unbounded: true, problem: func(testing.TB) *Problem {
		p := contradicting(1)
		return HardMargin(p.K, p.S)
	}},
	{name: "only duplicates", want: 4, problem: func(testing.TB) *Problem {
		x := [][]float64{{1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}}
		return SoftMargin(toy.NewGram(x, toy.RBF(1)), []float64{1, -1, 1, -1, 1}, fill(5, 1))
	}},
	{name: "constant kernel", want: 12, problem: func(testing.TB) *Problem { return featureless(toy.Constant(3), 2) }},
	{name: "constant kernel, hard", unbounded: true, problem: func(testing.TB) *Problem {
		return featureless(toy.Constant(3), math.Inf(1))
	}},
	{name: "zero kernel", want: 12, problem: func(testing.TB) *Problem { return featureless(toy.Constant(0), 2) }},
	{name: "zero kernel, hard", unbounded: true, problem: func(testing.TB) *Problem {
		return featureless(toy.Constant(0), math.Inf(1))
	}},
	{name: "zero kernel, 2-norm", problem: func(testing.TB) *Problem {
		p := featureless(toy.Constant(0), 2)
		return SoftMargin2(p.K, p.S, p.Upper)
	}},
	{name: "near duplicates, linear", problem: func(testing.TB) *Problem { return nearDuplicates(toy.Dot, 1) }},
	{name: "near duplicates, RBF, C = 1000", problem: func(testing.TB) *Problem { return nearDuplicates(toy.RBF(0.5), 1000) }},
	{name: "blobs, linear, C = 1e-3", problem: func(testing.TB) *Problem { return blobs(60, 0.7, toy.Dot, 1e-3) }},
	{name: "blobs, linear, C = 1", problem: func(testing.TB) *Problem { return blobs(60, 0.7, toy.Dot, 1) }},
	{name: "blobs, linear, C = 100", problem: func(testing.TB) *Problem { return blobs(60, 0.7, toy.Dot, 100) }},
	{name: "separable blobs, C = 1e5", problem: func(testing.TB) *Problem { return blobs(40, 3, toy.Dot, 1e5) }},
	{name: "separable blobs, hard", problem: func(testing.TB) *Problem { return blobs(40, 3, toy.Dot, math.Inf(1)) }},
	{name: "overlapping blobs, hard", unbounded: true, problem: func(testing.TB) *Problem { return blobs(60, 0.7, toy.Dot, math.Inf(1)) }},
	{name: "blobs, far from the origin", problem: func(testing.TB) *Problem {
		x, y := toy.Points(toy.Rand(3), 40, 2, 0.7)
		for _, row := range x {
			row[0] += 50
		}
		return SoftMargin(toy.NewGram(x, toy.Dot), y, fill(40, 1))
	}},
	{name: "blobs, features of size 1000", problem: func(testing.TB) *Problem { return scaledBlobs(1000) }},
	{name: "blobs, features of size 1/1000", problem: func(testing.TB) *Problem { return scaledBlobs(1e-3) }},
	{name: "rings, C = 1e-3", problem: func(testing.TB) *Problem { return ringProblem(1e-3) }},
	{name: "rings, C = 1", problem: func(testing.TB) *Problem { return ringProblem(1) }},
	{name: "rings, C = 1e6", problem: func(testing.TB) *Problem { return ringProblem(1e6) }},
	{name: "rings, hard", problem: func(testing.TB) *Problem { return ringProblem(math.Inf(1)) }},
	{name: "rings, 2-norm", problem: func(testing.TB) *Problem {
		p := ringProblem(10)
		return SoftMargin2(p.K, p.S, p.Upper)
	}},
	{name: "rings, polynomial", problem: func(testing.TB) *Problem {
		x, y := rings(toy.Rand(5), 50)
		return SoftMargin(toy.NewGram(x, toy.Polynomial(1, 1, 3)), y, fill(50, 1))
	}},
	{name: "class weights", problem: func(testing.TB) *Problem {
		p := blobs(50, 0.5, toy.RBF(0.5), 1)
		for i, y := range p.S {
			p.Upper[i] = 1 + 4*max(0, y)
		}
		return p
	}},
	{name: "sample weights", problem: func(testing.TB) *Problem {
		p := blobs(50, 0.5, toy.RBF(0.5), 1)
		for i := range p.Upper {
			p.Upper[i] = float64(i%4) * 0.7 // one in four counts nothing
		}
		return p
	}},
	{name: "sample weights, 2-norm", problem: func(testing.TB) *Problem {
		p := blobs(50, 0.5, toy.RBF(0.5), 1)
		for i := range p.Upper {
			p.Upper[i] = 0.1 + float64(i%4)
		}
		return SoftMargin2(p.K, p.S, p.Upper)
	}},
	{name: "any linear term, box and right side", problem: func(testing.TB) *Problem { return generalProblem(toy.Rand(11), 40) }},
	{name: "sigmoid, κ < 0", indefinite: true, problem: func(testing.TB) *Problem {
		x, y := toy.Points(toy.Rand(8), 40, 2, 0.3)
		return SoftMargin(toy.NewGram(x, sigmoid(1, -1)), y, fill(40, 10))
	}},
	{name: "iris, virginica and versicolor, linear", want: 15.75987190, problem: func(t testing.TB) *Problem {
		x, y := iris(t, "virginica", "versicolor")
		return SoftMargin(toy.NewGram(x, toy.Dot), y, fill(len(y), 1))
	}},
	{name: "iris, virginica and versicolor, RBF", want: 21.37749603, problem: func(t testing.TB) *Problem {
		x, y := iris(t, "virginica", "versicolor")
		return SoftMargin(toy.NewGram(x, toy.RBF(0.25)), y, fill(len(y), 1))
	}},
	{name: "iris, setosa and rest, hard", want: 0.74805793, problem: func(t testing.TB) *Problem {
		x, y := iris(t, "setosa", "")
		return HardMargin(toy.NewGram(x, toy.Dot), y)
	}},
	{name: "heart, RBF, C = 1", want: 100.87729156, problem: func(t testing.TB) *Problem {
		x, y := heart(t)
		return SoftMargin(toy.NewGram(x, toy.RBF(1./13)), y, fill(len(y), 1))
	}},
	{name: "heart, linear, C = 1", want: 92.4733746, problem: func(t testing.TB) *Problem {
		x, y := heart(t)
		return SoftMargin(toy.NewGram(x, toy.Dot), y, fill(len(y), 1))
	}},
	{name: "heart, hard", want: 4980.41167, problem: func(t testing.TB) *Problem {
		x, y := heart(t)
		return HardMargin(toy.NewGram(x, toy.RBF(1./13)), y)
	}},
}

var (
	corners = [][]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}
	parity  = []float64{-1, 1, 1, -1}
)

func contradicting(c float64) *Problem {
	x, y := toy.Points(toy.Rand(2), 24, 2, 1)
	for i := range 6 {
		x[i] = x[i+7] // of the other class
	}
	return SoftMargin(toy.NewGram(x, toy.RBF(0.5)), y, fill(len(y), c))
}

func featureless(k toy.Kernel, c float64) *Problem {
	x, y := toy.Points(toy.Rand(2), 7, 2, 1)
	return SoftMargin(toy.NewGram(x, k), y, fill(len(y), c))
}

func nearDuplicates(k toy.Kernel, c float64) *Problem {
	x, y := toy.Points(toy.Rand(4), 30, 2, 0.5)
	for i := range 10 {
		for j := range x[i] {
			x[i][j] = x[i+15][j] * (1 + 1e-9*float64(i))
		}
	}
	return SoftMargin(toy.NewGram(x, k), y, fill(len(y), c))
}

// margin is the hard margin for C = ∞.
func margin(x [][]float64, y []float64, k toy.Kernel, c float64) *Problem {
	return SoftMargin(toy.NewGram(x, k), y, fill(len(y), c))
}

func blobs(n int, shift float64, k toy.Kernel, c float64) *Problem {
	x, y := toy.Points(toy.Rand(1), n, 2, shift)
	return margin(x, y, k, c)
}

func scaledBlobs(scale float64) *Problem {
	x, y := toy.Points(toy.Rand(1), 40, 2, 0.7)
	for _, row := range x {
		for j := range row {
			row[j] *= scale
		}
	}
	return margin(x, y, toy.Dot, 1/(scale*scale))
}

func ringProblem(c float64) *Problem {
	x, y := rings(toy.Rand(5), 50)
	return margin(x, y, toy.RBF(1), c)
}

// generalProblem has nothing of a classifier: all parts are random.
func generalProblem(rng interface {
	NormFloat64() float64
	Float64() float64
}, n int) *Problem {
	x := make([][]float64, n)
	p := &Problem{S: make([]float64, n), P: make([]float64, n), Lower: make([]float64, n), Upper: make([]float64, n), Ridge: make([]float64, n)}
	for i := range n {
		x[i] = []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		p.S[i] = 1
		if rng.Float64() < 0.5 {
			p.S[i] = -1
		}
		p.P[i] = rng.NormFloat64()
		p.Lower[i] = rng.Float64() - 1
		p.Upper[i] = p.Lower[i] + 2*rng.Float64()
		p.Ridge[i] = 0.1 * rng.Float64()
		p.Delta += p.S[i] * (p.Lower[i] + rng.Float64()*(p.Upper[i]-p.Lower[i]))
	}
	p.K = toy.NewGram(x, toy.RBF(0.5))
	return p
}

// tight is met when the gap is within Rel of the primal itself, however small
// that is.
type tight struct{ Rel float64 }

func (c tight) Met(pt *Point, _ *Trace) Status { return metIf(pt.Gap <= c.Rel*math.Abs(pt.Primal)) }
func (c tight) String() string                 { return fmt.Sprintf("gap ≤ %g of the primal", c.Rel) }

func TestSuite(t *testing.T) {
	for _, problem := range table {
		t.Run(problem.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range forms {
				if f.pose(t, problem.problem(t)) != nil {
					t.Run(f.name, func(t *testing.T) { problem.inForm(t, f) })
				}
			}
		})
	}
}

// inForm runs every method on the problem in one form.
func (problem tabled) inForm(t *testing.T, f form) {
	want := problem.want
	if !problem.indefinite && !problem.unbounded && (want == 0 || f.fixed) {
		var uncertainty float64
		if want, uncertainty = f.pose(t, problem.problem(t)).optimum(t); !(uncertainty <= 2e-9) && want > 1e-12 {
			t.Fatalf("the independent solution is uncertain by %g", uncertainty)
		}
	}
	for _, m := range slices.Concat(methods, singles) {
		if _, ok := m.method.(Decomposition); f.blocks && !ok {
			continue
		}
		t.Run(m.method.Name(), func(t *testing.T) {
			stop := All(tight{1e-9}, KKT{1e-6})
			if problem.indefinite {
				stop = KKT{1e-6}
			}
			p := f.pose(t, problem.problem(t))
			r, err := Solve(context.Background(), p, m.method, Settings{Stop: stop})
			if refused := errors.Is(err, ErrUnsupported); refused == m.solves(f, problem.indefinite) {
				t.Fatalf("refused: %v, %v", refused, err)
			} else if refused {
				t.Skip(err)
			}
			if problem.unbounded {
				if !errors.Is(err, ErrUnbounded) || r.Status != Unbounded {
					t.Fatalf("got %v, want ErrUnbounded", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != Converged && !(r.Status == Exhausted && r.Certificate.Gap <= 2e-9*math.Abs(want)+lastDigits(p, r)) {
				t.Errorf("status %v after %d iterations; %+v", r.Status, r.Iterations, r.Certificate)
			}
			bits := fingerprint(t, r)
			if !problem.indefinite {
				audited(t, p, r, stop)
			}
			if f.blocks {
				unround(t, p, r)
			}
			if !problem.indefinite {
				checkOptimal(t, p, r, want)
			}
			if r.Certificate.MaxKKT > 1e-5 {
				t.Errorf("KKT violation %g", r.Certificate.MaxKKT)
			}
			if f.fixed && r.Bias != f.bias {
				t.Errorf("bias %g, fixed at %g", r.Bias, f.bias)
			}
			checkTrace(t, p, r, m.jumps || f.blocks)
			again, err := Solve(context.Background(), f.pose(t, problem.problem(t)), m.method, Settings{Stop: stop})
			if err != nil || fingerprint(t, again) != bits {
				t.Errorf("a second run differs (%v)", err)
			}
		})
	}
}

// lastDigits is what four last digits of F are worth in the gap: where C is 1e6 no
// method can do better.
func lastDigits(p *Problem, r *Result) float64 { return 4 * 0x1p-52 * largestAlpha(p, r.Alpha) }

// unround holds the trace of a run in single precision, all but its last point, to
// that precision and puts the exact W in the place of what was measured.
func unround(t *testing.T, p *Problem, r *Result) {
	t.Helper()
	points := r.Trace.Points
	for k := range points[:len(points)-1] {
		pt := &points[k]
		alpha, sum := r.Trace.AlphaAt(k), 0.0
		for _, a := range alpha {
			sum += math.Abs(a)
		}
		d := plainDual(p, alpha)
		if bound := 0x1p-23*sum*sum*slices.Max(p.K.Diag()) + 1e-9*(math.Abs(d)+1e-3); math.Abs(pt.Dual-d) > bound {
			t.Errorf("iteration %d: dual %.12g, replayed %.12g: further apart than %g", pt.Iteration, pt.Dual, d, bound)
		}
		pt.Dual, pt.Primal = d, math.NaN()
	}
}

// checkOptimal holds what a result and its trace say against the true optimum.
func checkOptimal(t *testing.T, p *Problem, r *Result, want float64) {
	t.Helper()
	c := r.Certificate
	scale := math.Abs(want) + 1e-12
	if math.Abs(c.Dual-want) > 1e-8*scale {
		t.Errorf("W = %.12g, want %.12g: off by %.2g", c.Dual, want, c.Dual/want-1)
	}
	if d := plainDual(p, r.Alpha); !toy.Near(d, c.Dual, 1e-10) {
		t.Errorf("the certificate says W = %.15g, term by term it is %.15g", c.Dual, d)
	}
	if c.Gap < -1e-11*scale || c.Gap > 2e-9*scale+lastDigits(p, r) {
		t.Errorf("gap %g of W = %g", c.Gap, want)
	}
	for _, pt := range r.Trace.Points {
		if pt.Equality > 1e-10*(1+scale) {
			continue // not feasible yet, which checkTrace allows a few
		}
		if pt.Dual > want+1e-8*scale || pt.Primal < want-1e-8*scale {
			t.Fatalf("iteration %d: the optimum %.12g is not between dual %.12g and primal %.12g", pt.Iteration, want, pt.Dual, pt.Primal)
		}
	}
}

// checkTrace replays the trace and looks at every α.
func checkTrace(t *testing.T, p *Problem, r *Result, jumps bool) {
	t.Helper()
	points := r.Trace.Points
	if last := points[len(points)-1]; last.Iteration != r.Iterations || points[0].Iteration != 0 {
		t.Errorf("the trace runs from iteration %d to %d of %d", points[0].Iteration, last.Iteration, r.Iterations)
	}
	if got := r.Trace.AlphaAt(len(points) - 1); !slices.Equal(got, r.Alpha) {
		t.Errorf("the replay ends at another α")
	}
	n := len(r.Alpha)
	alpha := make([]float64, n)
	for k, pt := range points {
		for j, i := range pt.Changed {
			alpha[i] = pt.Alpha[j]
		}
		for i, a := range alpha {
			if !(a >= p.Lower[i] && a <= p.Upper[i]) {
				t.Fatalf("iteration %d: α[%d] = %g is outside [%g, %g]", pt.Iteration, i, a, p.Lower[i], p.Upper[i])
			}
		}
		if e := equalitySum(p, alpha); !jumps && e > 1e-10*largestAlpha(p, alpha)*float64(n) {
			t.Fatalf("iteration %d: |y'α| = %g", pt.Iteration, e)
		}
		if k > 0 && !jumps && pt.Dual < points[k-1].Dual-1e-12*(1+math.Abs(pt.Dual)) {
			t.Fatalf("iteration %d: the dual fell from %.17g to %.17g", pt.Iteration, points[k-1].Dual, pt.Dual)
		}
		if k > 0 && pt.Iteration <= points[k-1].Iteration {
			t.Fatalf("iteration %d follows %d", pt.Iteration, points[k-1].Iteration)
		}
		if k%17 == 0 || k == len(points)-1 {
			if d := plainDual(p, r.Trace.AlphaAt(k)); math.Abs(d-pt.Dual) > 1e-9*(math.Abs(d)+1e-3) {
				t.Errorf("iteration %d: dual %.15g, replayed %.15g", pt.Iteration, pt.Dual, d)
			}
		}
	}
	if c := r.Certificate; c.Equality > 1e-10*largestAlpha(p, alpha)*float64(n) || c.Bound != 0 {
		t.Errorf("infeasible: %+v", c)
	}
}

// fingerprint has every bit of a result but the times.
func fingerprint(t *testing.T, r *Result) string {
	t.Helper()
	c := *r
	c.Elapsed = 0
	c.Trace.Points = slices.Clone(c.Trace.Points)
	for i := range c.Trace.Points {
		c.Trace.Points[i].Elapsed = 0
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
