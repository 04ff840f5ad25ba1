package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// workingSetMethods are configurations beyond those of the suite.
var workingSetMethods = []Method{
	Decomposition{Size: 2},
	Decomposition{Size: 3, Inner: SMO{Selection: WorstPair}},
	Decomposition{Size: 7, Inner: SMO{Selection: Platt}},
	Decomposition{Size: 10, Inner: SMO{Selection: Simplified}},
	Decomposition{Size: 10, Inner: SMO{Selection: Keerthi1}},
	Decomposition{Size: 10, Inner: SMO{Selection: Keerthi2}},
	Decomposition{Size: 10, Inner: ConjugateSMO{}},
	Decomposition{Size: 20, Inner: SMO{Shrinking: true}},
	Decomposition{Size: 10, Select: WorstViolators},
	Decomposition{Size: 10, Select: LargestGap},
	Decomposition{Size: 10, Select: RandomViolators, Seed: 3},
	Decomposition{Size: 10, Renew: true},
	Decomposition{Size: 10, Select: WorstViolators, Renew: true},
	Decomposition{Size: 10, Select: LargestGap, Renew: true},
	Decomposition{Size: 10, Select: RandomViolators, Renew: true},
	Decomposition{Size: 20, Inner: Decomposition{Size: 8, Inner: Decomposition{Size: 2}}},
	Chunking{M: 1, Initial: 1},
	Chunking{M: 2, Seed: 5},
	Chunking{M: 7, Initial: 30},
	Chunking{M: 1000},
	Chunking{Inner: ConjugateSMO{}},
	Chunking{Inner: SMO{Selection: Platt}},
	Chunking{Inner: Decomposition{Size: 6}},
	Chunking{Inner: Chunking{M: 3}},
}

// sorted puts the points of one class before those of the other.
func sorted(p *Problem) *Problem {
	var at []int
	for _, side := range []float64{-1, 1} {
		for i, y := range p.S {
			if y == side {
				at = append(at, i)
			}
		}
	}
	q := *p
	k, take := p.K.(*toy.Gram), func(v []float64) (w []float64) {
		for _, i := range at {
			w = append(w, v[i])
		}
		return w
	}
	rows := make([][]float64, len(at))
	for a, i := range at {
		rows[a] = take(k.K[i])
	}
	q.K, q.S, q.P, q.Lower, q.Upper = toy.MatrixOf(rows), take(p.S), take(p.P), take(p.Lower), take(p.Upper)
	return &q
}

func novelty(t *testing.T) *Problem {
	x, _ := rings(toy.Rand(5), 60)
	p, err := OneClass(toy.NewGram(x, toy.RBF(1)), 0.3)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWorkingSets holds every configuration against SMO alone: chunking does not
// depend on M, decomposition not on q, and W rises with every step.
func TestWorkingSets(t *testing.T) {
	for name, p := range map[string]*Problem{
		"blobs":               blobs(60, 0.7, toy.Dot, 1),
		"blobs by class":      sorted(blobs(60, 0.7, toy.RBF(0.5), 1)),
		"two-thirds bounded":  blobs(80, 0.2, toy.RBF(0.1), 0.1),
		"rings":               ringProblem(100),
		"rings, hard":         ringProblem(math.Inf(1)),
		"rings, 2-norm":       SoftMargin2(ringProblem(1).K, ringProblem(1).S, fill(50, 10)),
		"contradictions":      contradicting(10),
		"only duplicates":     featureless(toy.Constant(1), 1),
		"one class":           novelty(t),
		"anything":            generalProblem(toy.Rand(11), 50),
		"anything, otherwise": generalProblem(toy.Rand(12), 50),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stop := All(tight{1e-9}, UpLow{1e-6})
			want := solve(t, p, SMO{}, Settings{Stop: stop})
			for _, m := range workingSetMethods {
				p := *p
				p.K = &toy.Gram{K: p.K.(*toy.Gram).K, Diagonal: p.K.Diag()} // of its own, to count rows in
				r := solve(t, &p, m, Settings{Stop: stop, Every: 1})
				if r.Status != Converged || !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-8) {
					t.Errorf("%s: %v after %d steps at W = %.12g, SMO has %.12g", m.Name(), r.Status, r.Iterations, r.Certificate.Dual, want.Certificate.Dual)
				}
				checkTrace(t, &p, r, false)
			}
		})
	}
}

// TestSubproblem changes α on a working set at random: the objective of the
// subproblem must change as that of the whole does, and its constraint say the
// same.
func TestSubproblem(t *testing.T) {
	for seed := range uint64(30) {
		rng := toy.Rand(seed)
		p := generalProblem(rng, 20)
		if seed%3 == 0 {
			p = p.WithFixedBias(rng.NormFloat64())
		}
		alpha, err := p.start(nil)
		if err != nil {
			t.Fatal(err)
		}
		w := &workingSet{p: p, alpha: alpha, f: p.F(alpha), in: make([]bool, 20), chose: make([]bool, 20), key: make([]float64, 20)}
		w.ends()
		for range 10 { // sets that grow, shrink and change
			w.begin()
			for i := range w.key {
				w.key[i] = rng.Float64()
			}
			w.pick(1 + rng.IntN(12))
			if err := w.settle(context.Background()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(slices.Sorted(slices.Values(w.set)), slices.Sorted(slices.Values(w.next))) {
				t.Fatalf("the set is %v, chosen was %v", w.set, w.next)
			}
			for k, i := range w.set {
				for l, j := range w.set {
					if got, want := w.block.Row(k)[l], p.K.Row(i)[j]; got != want {
						t.Fatalf("K[%d][%d] = %g, want %g", i, j, got, want)
					}
				}
				if w.block.Diag()[k] != p.K.Diag()[i] {
					t.Fatalf("the diagonal is wrong at %d", i)
				}
			}
		}
		w.pose()
		if err := w.sub.Check(); err != nil {
			t.Fatal(err)
		}
		if e := w.sub.equality(w.start); e > 1e-13 {
			t.Errorf("s'α − δ = %g on the working set", e)
		}
		if f := w.sub.F(w.start); !slices.EqualFunc(f, w.set, func(v float64, i int) bool { return math.Abs(v-w.f[i]) < 1e-13 }) {
			t.Errorf("F of the subproblem is not that of the whole")
		}
		after, moved := slices.Clone(w.start), slices.Clone(alpha)
		for k, i := range w.set {
			after[k] += rng.NormFloat64()
			moved[i] = after[k]
		}
		whole := plainDual(p, alpha) - plainDual(p, moved)
		part := plainDual(&w.sub, w.start) - plainDual(&w.sub, after)
		if !toy.Near(whole, part, 1e-11) {
			t.Errorf("the objective changes by %.15g, that of the subproblem by %.15g", whole, part)
		}
		w.it.Alpha = after
		if gain := w.gain(); p.FixedBias && !toy.Near(gain, -whole, 1e-11) {
			t.Errorf("gain %.15g, want %.15g", gain, -whole)
		}
	}
}

// TestPairsAreSMO: with two points, chosen at both ends of F, decomposition goes
// the way of SMO with the worst pair, until two pairs are the worst but for
// rounding.
func TestPairsAreSMO(t *testing.T) {
	for _, p := range []*Problem{blobs(60, 0.7, toy.Dot, 1), blobs(60, 0.7, toy.RBF(1), 10), ringProblem(100), generalProblem(toy.Rand(3), 40)} {
		s := Settings{Stop: tight{1e-9}, Every: 1}
		a := solve(t, p, SMO{Selection: WorstPair}, s)
		b := solve(t, p, Decomposition{Size: 2, Inner: SMO{Selection: WorstPair}}, s)
		if !toy.Near(a.Certificate.Dual, b.Certificate.Dual, 1e-8) || math.Abs(float64(a.Iterations-b.Iterations)) > 0.2*float64(a.Iterations) {
			t.Errorf("W = %.12g after %d steps, SMO has %.12g after %d", b.Certificate.Dual, b.Iterations, a.Certificate.Dual, a.Iterations)
		}
		for k := 1; k < len(a.Trace.Points); k++ {
			i, j := a.Trace.Points[k].Working, slices.Sorted(slices.Values(b.Trace.Points[k].Working))
			if !slices.Equal(slices.Sorted(slices.Values(i)), j) {
				f := p.F(a.Trace.AlphaAt(k - 1))
				if one, other := f[i[0]]-f[i[1]], math.Abs(f[j[0]]-f[j[1]]); math.Abs(one-other) > 1e-12 || k < 20 {
					t.Errorf("step %d moves %v with F %g apart, SMO %v with %g", k, j, other, i, one)
				}
				break
			}
			if !toy.Near(a.Trace.Points[k].Dual, b.Trace.Points[k].Dual, 1e-10) {
				t.Errorf("step %d: W = %.12g, SMO has %.12g", k, b.Trace.Points[k].Dual, a.Trace.Points[k].Dual)
				break
			}
		}
	}
}

func TestDecompositionOfFewPoints(t *testing.T) {
	p := ringProblem(1)
	a, b := solve(t, p, SMO{}, Settings{}), solve(t, p, Decomposition{Size: len(p.S)}, Settings{})
	if a.Iterations != b.Iterations || !slices.Equal(a.Alpha, b.Alpha) {
		t.Errorf("a working set of all points takes %d steps, its inner method alone %d", b.Iterations, a.Iterations)
	}
}

// TestWorkingSetTrace looks at what the trace says of the working sets.
func TestWorkingSetTrace(t *testing.T) {
	p := blobs(80, 0.5, toy.RBF(0.5), 1)
	for _, m := range []Method{Decomposition{Size: 12}, Decomposition{Size: 12, Renew: true}, Chunking{M: 9, Initial: 5}} {
		r := solve(t, p, m, Settings{Every: 1})
		var before []int
		alpha := make([]float64, len(p.S))
		for k, pt := range r.Trace.Points[1:] {
			if len(pt.Working) != pt.Active {
				t.Errorf("%s: step %d has %d points, Active says %d", m.Name(), k, len(pt.Working), pt.Active)
			}
			for _, i := range pt.Changed {
				if !slices.Contains(pt.Working, i) {
					t.Errorf("%s: step %d has moved %d, which is not in its working set %v", m.Name(), k, i, pt.Working)
				}
			}
			stayed := 0
			for _, i := range pt.Working {
				if slices.Contains(before, i) {
					stayed++
				}
			}
			switch m := m.(type) {
			case Decomposition:
				if pt.Active > m.Size {
					t.Errorf("%s: a working set of %d points", m.Name(), pt.Active)
				}
				if !m.Renew && stayed < len(before)/2 {
					t.Errorf("%s: %d of %v are still in %v", m.Name(), stayed, before, pt.Working)
				}
			case Chunking:
				support := 0
				for i, a := range alpha {
					if a != 0 {
						support++
						if !slices.Contains(pt.Working, i) {
							t.Errorf("%s: step %d has lost the support vector %d", m.Name(), k, i)
						}
					}
				}
				if k > 0 && pt.Active > support+m.M {
					t.Errorf("%s: step %d has %d points, %d of them support vectors", m.Name(), k, pt.Active, support)
				}
			}
			for j, i := range pt.Changed {
				alpha[i] = pt.Alpha[j]
			}
			before = pt.Working
		}
	}
}

// TestFirstChunkOfOneClass: nothing can move in it, but the worst pair is in
// every chunk.
func TestFirstChunkOfOneClass(t *testing.T) {
	p := sorted(blobs(60, 0.7, toy.Dot, 1))
	y := slices.Clone(p.S)
	for i := 40; i < len(y); i++ {
		y[i] = 1
	}
	for i := range 40 {
		y[i] = -1
	}
	y[59] = -1
	for seed := range uint64(5) {
		r := solve(t, SoftMargin(p.K, y, p.Upper), Chunking{Initial: 1, M: 1, Seed: seed}, Settings{})
		if r.Status != Converged || r.Trace.Points[1].Dual <= 0 {
			t.Errorf("seed %d: %v, W = %g after the first chunk", seed, r.Status, r.Trace.Points[1].Dual)
		}
	}
}

// TestChunkLimit: where the support vectors exceed it, chunking goes on with the
// worst violators alone.
func TestChunkLimit(t *testing.T) {
	p := blobs(80, 0.2, toy.RBF(0.1), 1)
	want := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-6}})
	r := solve(t, p, chunkLimit{20}, Settings{Stop: UpLow{1e-6}, Every: 1})
	if want.Certificate.Free+want.Certificate.AtUpper < 40 {
		t.Fatal("there are too few support vectors to test anything")
	}
	if !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-8) {
		t.Errorf("W = %.12g, want %.12g", r.Certificate.Dual, want.Certificate.Dual)
	}
	for _, pt := range r.Trace.Points[1:] {
		if pt.Active > 20 {
			t.Errorf("a chunk of %d points", pt.Active)
		}
	}
}

type chunkLimit struct{ limit int }

func (chunkLimit) Name() string { return "chunking within limits" }
func (m chunkLimit) Start(p *Problem, alpha []float64) (Stepper, error) {
	s, err := Chunking{M: 5}.Start(p, alpha)
	s.(*chunking).limit = m.limit
	return s, err
}

// TestGapContributions is erratum C8: the printed terms of CST Remark 7.2 leave
// out b and can be negative.
func TestGapContributions(t *testing.T) {
	for _, c := range []float64{1, math.Inf(1)} {
		p := blobs(40, 0.7, toy.Dot, c)
		alpha := solve(t, p, SMO{}, Settings{MaxIterations: 10}).Alpha
		w := &workingSet{p: p, alpha: alpha, f: p.F(alpha), key: make([]float64, 40)}
		w.ends()
		(&decomposition{workingSet: w}).contributions()
		upper := c
		if math.IsInf(c, 1) {
			upper = slices.Max(alpha) + 1
		}
		b, sum, printed, least := w.bias(), 0.0, 0.0, 0.0
		for i, a := range alpha {
			y, g := p.S[i], p.S[i]-w.f[i]
			term := a*max(0, y*(g+b)-1) + (upper-a)*max(0, 1-y*(g+b))
			got := max(0, w.key[i])
			if math.Abs(got-term) > 1e-12 {
				t.Errorf("C = %g: point %d contributes %g, want %g", c, i, got, term)
			}
			sum += got
			term = a*(y*g-1) + upper*max(0, 1-y*(g+b))
			printed += term
			least = min(least, term)
		}
		q := *p
		q.Upper = fill(40, upper)
		if gap := q.gapAt(alpha, w.f, biases{b, b}); !toy.Near(sum, gap, 1e-12) || !toy.Near(printed, gap, 1e-12) {
			t.Errorf("C = %g: the gap is %g, the terms add up to %g, as printed to %g", c, gap, sum, printed)
		}
		if least > -0.01 {
			t.Errorf("C = %g: the least printed term is %g: this problem shows nothing", c, least)
		}
	}
}

// TestViolations compares the keys of WorstViolators with the KKT table of CST
// §7.1.
func TestViolations(t *testing.T) {
	p := blobs(40, 0.7, toy.Dot, 1)
	for i := range p.P { // a bias far from 0
		p.P[i] += 5 * p.S[i]
	}
	for _, p := range []*Problem{p, p.WithFixedBias(-4)} {
		var inner Method
		if p.FixedBias {
			inner = GradientAscent{}
		}
		alpha := solve(t, p, Decomposition{Size: 4, Inner: inner}, Settings{MaxIterations: 3}).Alpha
		w := &workingSet{p: p, alpha: alpha, f: p.F(alpha), key: make([]float64, 40)}
		w.ends()
		w.violations()
		b := (w.up + w.low) / 2
		if p.FixedBias {
			b = -4
		}
		for i, a := range alpha {
			yf := 1 + p.S[i]*(b-w.f[i]) // F = y − g, so that y f − 1 = y (b − F)
			want := 0.0
			if a < p.Upper[i] {
				want = max(want, 1-yf)
			}
			if a > 0 {
				want = max(want, yf-1)
			}
			if got := max(0, w.key[i]); math.Abs(got-want) > 1e-12 {
				t.Errorf("point %d with α = %g and y f = %g violates by %g, want %g", i, a, yf, got, want)
			}
		}
	}
}

// TestFixedBiasByParts gives the problem without equality constraint to gradient
// ascent, part by part.
func TestFixedBiasByParts(t *testing.T) {
	for seed := range uint64(10) {
		rng := toy.Rand(seed)
		x, y := toy.Points(rng, 60, 2, 0.7)
		k := toy.NewGram(x, toy.RBF(1))
		for name, p := range map[string]*Problem{
			"1-norm": SoftMargin(k, y, fill(60, 1)), "2-norm": SoftMargin2(k, y, fill(60, 1)),
		} {
			p = p.WithFixedBias(rng.NormFloat64())
			stop := KKT{1e-7}
			want := solve(t, p, GradientAscent{}, Settings{Stop: stop})
			for _, m := range []Method{
				Decomposition{Size: 20, Inner: GradientAscent{}},
				Decomposition{Size: 20, Inner: GradientAscent{}, Select: WorstViolators},
				Decomposition{Size: 20, Inner: GradientAscent{Order: AscendingAlpha}, Select: LargestGap, Renew: true},
				Decomposition{Size: 20, Inner: Decomposition{Size: 5, Inner: GradientAscent{Order: Shuffled}}},
				Chunking{Inner: GradientAscent{}, M: 5},
			} {
				r := solve(t, p, m, Settings{Stop: stop, Every: 1})
				if r.Status != Converged || !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-9) {
					t.Errorf("%d, %s, %s: %v at W = %.12g, want %.12g", seed, name, m.Name(), r.Status, r.Certificate.Dual, want.Certificate.Dual)
				}
				for k := 1; k < len(r.Trace.Points); k++ {
					if a, b := r.Trace.Points[k-1].Dual, r.Trace.Points[k].Dual; b < a-1e-12*math.Abs(a) {
						t.Errorf("%d, %s, %s: W falls from %g to %g", seed, name, m.Name(), a, b)
					}
				}
			}
		}
	}
}

// TestRelaxedInner: gradient ascent on a free bias leaves s'α = δ on its way; no
// α of that kind may come out of a working set.
func TestRelaxedInner(t *testing.T) {
	p := blobs(60, 0.7, toy.RBF(1), 1)
	want := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-5}})
	m := Decomposition{Size: 20, Inner: GradientAscent{Relax: Schedule{Start: 1, Decay: 1}}}
	r := solve(t, p, m, Settings{Stop: UpLow{1e-5}, Every: 1})
	if !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-7) {
		t.Errorf("%v at W = %.12g, want %.12g", r.Status, r.Certificate.Dual, want.Certificate.Dual)
	}
	checkTrace(t, p, r, false)
}

func TestWorkingSetErrors(t *testing.T) {
	free, fixed := ringProblem(1), ringProblem(1).WithFixedBias(0)
	nu, err := NuSoftMargin(free.K, free.S, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p           *Problem
		m           Method
		unsupported bool
		want        string
	}{
		{free, Decomposition{Size: 1}, false, "Decomposition.Size"},
		{free, Decomposition{Size: -3}, false, "Decomposition.Size"},
		{free, Decomposition{Select: 9}, true, "WorkingSet(9)"},
		{free, Chunking{M: -1}, false, "Chunking.M"},
		{free, Chunking{Initial: -1}, false, "Chunking.Initial"},
		{fixed, Decomposition{}, true, "inner method SMO"},
		{fixed, Chunking{}, true, "inner method SMO"},
		{free, Decomposition{Inner: GradientAscent{}}, true, "inner method gradient ascent"},
		{free, Decomposition{Size: 20, Inner: Chunking{Inner: GradientAscent{}}}, true, "inner method gradient ascent"},
		{fixed, Decomposition{Inner: Perceptron{}}, true, "inner method"},
		{free, Decomposition{Inner: SMO{Selection: Platt, Shrinking: true}}, true, "shrinking"},
		{nu, SMO{Shrinking: true}, true, "ν-SVC"},
		{nu, Decomposition{}, true, "ν-SVC"},
	} {
		_, err := Solve(context.Background(), c.p, c.m, Settings{})
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrUnsupported) != c.unsupported {
			t.Errorf("%+v: %v; want an error that names %q", c.m, err, c.want)
		}
		var bad *ProblemError
		if !c.unsupported && !errors.As(err, &bad) {
			t.Errorf("%+v: %v is not a *ProblemError", c.m, err)
		}
	}
}

// interrupting ends its context after some steps of SMO, or says that it has
// failed.
type interrupting struct {
	after int
	end   context.CancelFunc
	fail  error
}

func (interrupting) Name() string { return "interrupting" }
func (m interrupting) Start(p *Problem, alpha []float64) (Stepper, error) {
	s, err := SMO{}.Start(p, alpha)
	return &interrupted{s, m}, err
}

type interrupted struct {
	Stepper
	interrupting
}

func (s *interrupted) Step(ctx context.Context) (bool, error) {
	if s.after--; s.after == 0 {
		if s.fail != nil {
			return false, s.fail
		}
		s.end()
	}
	return s.Stepper.Step(ctx)
}

// TestInterruptInside ends the context within an inner run: what it has gained
// so far is kept.
func TestInterruptInside(t *testing.T) {
	p := ringProblem(100)
	for _, outer := range []func(Method) Method{
		func(m Method) Method { return Decomposition{Size: 30, Inner: m} },
		func(m Method) Method { return Decomposition{Size: 40, Inner: Decomposition{Size: 20, Inner: m}} },
		func(m Method) Method { return Chunking{Initial: 50, Inner: m} },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		m := outer(interrupting{after: 6, end: cancel})
		r, err := Solve(ctx, p, m, Settings{Every: -1})
		if !errors.Is(err, context.Canceled) || r == nil || r.Status != Interrupted {
			t.Fatalf("%s: %v", m.Name(), err)
		}
		if r.Certificate.Dual < 0.5 || r.Certificate.Bound != 0 || r.Certificate.Equality > 1e-9 {
			t.Errorf("%s: %+v after an interrupt in the sixth inner step", m.Name(), r.Certificate)
		}
		checkTrace(t, p, r, false)

		failure := errors.New("the disk is full")
		if r, err := Solve(context.Background(), p, outer(interrupting{after: 6, fail: failure}), Settings{}); !errors.Is(err, failure) || r != nil {
			t.Errorf("%s: an inner error comes out as %v", m.Name(), err)
		}
	}
}

// TestInterruptInRows ends the context while rows are computed, at any one: α
// and F still belong together.
func TestInterruptInRows(t *testing.T) {
	p := ringProblem(100)
	for after := 1; after < 150; after += 3 {
		ctx, cancel := context.WithCancel(context.Background())
		q := *p
		q.K = &ending{Gram: p.K.(*toy.Gram), left: after, end: cancel}
		r, err := Solve(ctx, &q, Decomposition{Size: 20}, Settings{Every: 1})
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		checkTrace(t, p, r, false)
		cancel()
	}
}

// TestStepAfterInterrupt goes on with the stepper itself.
func TestStepAfterInterrupt(t *testing.T) {
	p := ringProblem(100)
	for after := 1; after < 60; after++ {
		ctx, cancel := context.WithCancel(context.Background())
		q := *p
		q.K = &ending{Gram: p.K.(*toy.Gram), left: after + 2, end: cancel}
		alpha, _ := q.start(nil)
		s, err := Decomposition{Size: 20}.Start(&q, alpha)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			if done, _ := s.Step(ctx); done {
				break
			}
			if ctx.Err() != nil {
				ctx = context.Background()
			}
		}
		var it Iterate
		s.Report(&it)
		f := q.F(it.Alpha)
		for i, v := range it.F {
			if math.Abs(v-f[i]) > 1e-9 {
				t.Fatalf("interrupted at row %d: F[%d] = %g, want %g", after, i, v, f[i])
			}
		}
		if it.Up-it.Low > 1e-6 {
			t.Errorf("interrupted at row %d: m − M = %g at the end", after, it.Up-it.Low)
		}
		cancel()
	}
}

type ending struct {
	*toy.Gram
	left int
	end  context.CancelFunc
}

func (m *ending) Row(i int) []float64 {
	if m.left--; m.left == 0 {
		m.end()
	}
	return m.Gram.Row(i)
}

// hopeless never comes to an end, or ends with an α that breaks s'α = δ.
type hopeless struct{ lopsided bool }

func (hopeless) Name() string { return "hopeless" }
func (m hopeless) Start(p *Problem, alpha []float64) (Stepper, error) {
	return &despair{m, p, alpha}, nil
}

type despair struct {
	hopeless
	p     *Problem
	alpha []float64
}

func (s *despair) Report(it *Iterate) { it.Alpha = s.alpha }
func (s *despair) Step(context.Context) (bool, error) {
	if s.lopsided {
		s.alpha[0] = min(s.p.Upper[0], s.alpha[0]+0.01)
	}
	return s.lopsided, nil
}

func TestHopelessInner(t *testing.T) {
	for _, lopsided := range []bool{false, true} {
		for _, m := range []Method{Decomposition{Size: 10, Inner: hopeless{lopsided}}, Chunking{Inner: hopeless{lopsided}}} {
			r := solve(t, ringProblem(1), m, Settings{})
			if r.Status != Exhausted || r.Certificate.Equality != 0 || slices.Max(r.Alpha) != 0 {
				t.Errorf("%s, lopsided %v: %v, %+v", m.Name(), lopsided, r.Status, r.Certificate)
			}
		}
	}
}

// TestSubtract compares the update of F by one row or two with the plain one.
func TestSubtract(t *testing.T) {
	rng := toy.Rand(1)
	for _, n := range []int{1, 5, 1023, 1024, 1025, 2100} {
		for count := 1; count <= 2; count++ {
			f, c, rows := make([]float64, n), make([]float64, count), make([][]float64, count)
			want := slices.Clone(f)
			for k := range rows {
				c[k], rows[k] = rng.NormFloat64(), make([]float64, n)
				for i := range rows[k] {
					rows[k][i] = rng.NormFloat64()
					want[i] -= c[k] * rows[k][i]
				}
			}
			subtract(f, c, rows)
			for i := range f {
				if math.Abs(f[i]-want[i]) > 1e-13 {
					t.Fatalf("%d rows of %d: f[%d] = %g, want %g", count, n, i, f[i], want[i])
				}
			}
		}
	}
}

// TestPick compares the choice of the largest keys with sorting.
func TestPick(t *testing.T) {
	rng := toy.Rand(2)
	for range 300 {
		n := 1 + rng.IntN(40)
		w := &workingSet{key: make([]float64, n), chose: make([]bool, n)}
		for i := range w.key {
			w.key[i] = float64(rng.IntN(8)) // many equal
			if rng.IntN(4) == 0 {
				w.key[i] = math.Inf(-1)
			}
		}
		w.add(rng.IntN(n))
		var want []int
		for i, v := range w.key {
			if !w.chose[i] && !math.IsInf(v, -1) {
				want = append(want, i)
			}
		}
		slices.SortStableFunc(want, func(i, j int) int { return int(w.key[j] - w.key[i]) })
		k := rng.IntN(n+2) - 1
		want = slices.Sorted(slices.Values(append(slices.Clone(w.next), want[:min(max(k, 0), len(want))]...)))
		w.pick(k)
		if got := slices.Sorted(slices.Values(w.next)); !slices.Equal(got, want) {
			t.Fatalf("%d of %v: %v, want %v", k, w.key, got, want)
		}
	}
}

// TestStepAllocations: a step allocates what the inner run does when it starts
// and nothing of its own.
func TestStepAllocations(t *testing.T) {
	p := blobs(400, 0.3, toy.RBF(1), 1000)
	for _, m := range []Decomposition{{Size: 40}, {Size: 40, Select: WorstViolators}, {Size: 40, Select: LargestGap}, {Size: 40, Select: RandomViolators, Renew: true}} {
		alpha, _ := p.start(nil)
		s, err := m.Start(p, alpha)
		if err != nil {
			t.Fatal(err)
		}
		w := s.(*decomposition)
		step := func() {
			if done, err := s.Step(context.Background()); done || err != nil {
				t.Fatal(done, err)
			}
		}
		for range 5 {
			step()
		}
		all := testing.AllocsPerRun(20, step)
		start := testing.AllocsPerRun(20, func() { _, _ = startAt(SMO{}, &w.sub, w.own[0], w.own[1]) })
		if all > start+1 {
			t.Errorf("%s: %g allocations in a step, %g of them by the inner method", m.Name(), all, start)
		}
	}
}

// TestRandomWorkingSets draws problems and configurations.
func TestRandomWorkingSets(t *testing.T) {
	inner := []Method{nil, ConjugateSMO{}, SMO{Shrinking: true}, SMO{Selection: WorstPair}}
	unfinished := 0
	for seed := range uint64(150) {
		rng := toy.Rand(1000 + seed)
		p, name := randomProblem(rng)
		t.Run(fmt.Sprintf("%d: %s", seed, name), func(t *testing.T) {
			if p.isHard() && !separable(t, p) {
				return
			}
			want, _ := p.optimum(t)
			var m Method = Chunking{Inner: inner[rng.IntN(4)], M: 1 + rng.IntN(20), Initial: rng.IntN(20), Seed: seed}
			if rng.IntN(3) > 0 {
				m = Decomposition{Inner: inner[rng.IntN(4)], Size: 2 + rng.IntN(20), Select: WorkingSet(rng.IntN(4)), Renew: rng.IntN(2) == 0, Seed: seed}
			}
			r := solve(t, p, m, Settings{Stop: tight{5e-9}, MaxIterations: 3000})
			if r.Status == IterationLimit {
				unfinished++
			} else if !toy.Near(r.Certificate.Dual, want, 1e-8) {
				t.Errorf("%s: %v after %d steps at W = %.12g, want %.12g", m.Name(), r.Status, r.Iterations, r.Certificate.Dual, want)
			}
		})
	}
	if t.Logf("%d unfinished", unfinished); unfinished > 30 {
		t.Errorf("%d of 150 problems are unfinished after 3000 steps", unfinished)
	}
}

// lru computes rows when they are asked for, counts the kernel values, and keeps
// the rows asked for last.
type lru struct {
	*toy.Gram
	capacity int
	kept     []int // the row asked for last is the first
	values   int64
}

func (m *lru) Evaluations() int64 { return m.values }
func (m *lru) Row(i int) []float64 {
	if at := slices.Index(m.kept, i); at >= 0 {
		m.kept = slices.Delete(m.kept, at, at+1)
	} else {
		m.values += int64(m.Dim())
	}
	m.kept = slices.Insert(m.kept, 0, i)
	if len(m.kept) > m.capacity {
		m.kept = m.kept[:m.capacity]
	}
	return m.Gram.K[i]
}

// TestCacheSize counts kernel values against the size of a cache of rows: more
// cache never costs more, and with room for all each row is computed once.
func TestCacheSize(t *testing.T) {
	p := blobs(240, 0.3, toy.RBF(1), 10)
	for _, m := range []Method{SMO{}, SMO{Shrinking: true}, ConjugateSMO{}, Decomposition{Size: 60}, Chunking{M: 30}} {
		var first []float64
		line, before := fmt.Sprintf("%-60s", m.Name()), int64(math.MaxInt64)
		for _, capacity := range []int{2, 24, 60, 120, 240} {
			q := *p
			k := &lru{Gram: p.K.(*toy.Gram), capacity: capacity}
			q.K = k
			r := solve(t, &q, m, Settings{Every: -1})
			if first == nil {
				first = r.Alpha
			}
			if !slices.Equal(r.Alpha, first) {
				t.Errorf("%s: the cache changes the result", m.Name())
			}
			if r.Evaluations > before {
				t.Errorf("%s: %d kernel values with room for %d rows, fewer with less room", m.Name(), r.Evaluations, capacity)
			}
			before = r.Evaluations
			line += fmt.Sprintf("%9d", r.Evaluations/240)
		}
		if before > 240*240 {
			t.Errorf("%s: a row is computed twice", m.Name())
		}
		t.Log(line, "rows computed")
	}
}

// The chunk grows while violators are added and shrinks where support vectors
// are dropped.
func ExampleChunking() {
	x, y := rings(toy.Rand(1), 400)
	p := SoftMargin(toy.NewGram(x, toy.RBF(2)), y, fill(400, 10))
	r, err := Solve(context.Background(), p, Chunking{Initial: 20, M: 20}, Settings{Every: 1})
	if err != nil {
		panic(err)
	}
	for _, pt := range r.Trace.Points[1:] {
		fmt.Printf("chunk of %d points: W = %.4f\n", pt.Active, pt.Dual)
	}
	fmt.Println(r.Status)
	// Output:
	// chunk of 20 points: W = 5.8166
	// chunk of 27 points: W = 104.2813
	// chunk of 38 points: W = 173.5730
	// chunk of 45 points: W = 197.4277
	// chunk of 48 points: W = 234.5020
	// chunk of 39 points: W = 237.9003
	// chunk of 35 points: W = 238.5916
	// chunk of 33 points: W = 238.6412
	// chunk of 34 points: W = 238.6445
	// chunk of 33 points: W = 238.6445
	// converged
}

func benchmarkSets(n int) []*Problem {
	x, y := toy.Points(rand.New(rand.NewPCG(7, 1)), n, 2, 0.7)
	few := SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(n, 10))
	x, y = toy.Points(rand.New(rand.NewPCG(7, 2)), n, 10, 0.3)
	return []*Problem{few, SoftMargin(toy.NewGram(x, toy.RBF(0.1)), y, fill(n, 1))}
}

// BenchmarkWorkingSets solves 2000 points of 2 and of 10 features, the kernel
// matrix in memory.
func BenchmarkWorkingSets(b *testing.B) {
	for k, p := range benchmarkSets(2000) {
		for _, m := range []Method{
			SMO{}, SMO{Shrinking: true}, Decomposition{Size: 64}, Decomposition{Size: 128}, Decomposition{}, Decomposition{Size: 512},
			Decomposition{Renew: true}, Decomposition{Select: WorstViolators}, Decomposition{Select: LargestGap}, Decomposition{Select: RandomViolators},
			Chunking{}, Chunking{M: 50}, Chunking{M: 500},
		} {
			b.Run(fmt.Sprintf("%d/%s", []int{2, 10}[k], m.Name()), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r, err := Solve(context.Background(), p, m, Settings{Every: -1})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(r.Iterations), "steps")
				}
			})
		}
	}
}
