package solvers

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/toy"
)

// begun returns a stepper of the method after k steps.
func begun(t testing.TB, p *Problem, m Method, k int) Stepper {
	t.Helper()
	alpha, err := p.start(nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := m.Start(p, alpha)
	if err != nil {
		t.Fatal(err)
	}
	for range k {
		if _, err := st.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

// dense64 is Q as a matrix.
func dense64(p *Problem) *mat.SymDense {
	n := len(p.S)
	q := mat.NewSymDense(n, nil)
	for i := range n {
		for j, k := range p.K.Row(i) {
			if p.Ridge != nil && i == j {
				k += p.Ridge[i]
			}
			q.SetSym(i, j, p.S[i]*p.S[j]*k)
		}
	}
	return q
}

// interiorProblems have every kind of bound.
func interiorProblems() map[string]*Problem {
	two := ringProblem(10)
	two = SoftMargin2(two.K, two.S, two.Upper)
	fixed := blobs(40, 0.5, toy.RBF(0.5), 3).WithFixedBias(0.3)
	held := blobs(40, 0.5, toy.RBF(0.5), 1)
	for i := range held.Upper {
		held.Upper[i] = float64(i%4) * 0.7
	}
	return map[string]*Problem{
		"1-norm": ringProblem(1), "C = 1e6": ringProblem(1e6), "2-norm": two, "hard": ringProblem(math.Inf(1)),
		"fixed bias": fixed, "held": held, "general": generalProblem(toy.Rand(11), 40), "linear": blobs(60, 0.7, toy.Dot, 10),
	}
}

// TestReducedStep holds the step after elimination, one Cholesky factorisation of
// n × n, against the whole system in Δα, Δz, Δw, Δb by LU.
func TestReducedStep(t *testing.T) {
	for name, p := range interiorProblems() {
		for _, k := range []int{1, 4} {
			s := begun(t, p, PrimalDual{Finish: 1e-12}, k).(*primalDual)
			if s.last {
				continue
			}
			// The state is after a step; the next direction is computed as Step does.
			for i := range s.d {
				if s.d[i] = math.Inf(1); s.z[i] > 0 {
					a, c := s.slack(i)
					s.d[i] = s.z[i]/a + s.w[i]/c
				}
			}
			if err := s.factor(context.Background()); err != nil {
				t.Fatal(name, err)
			}
			target := 0.1 * s.eta / s.m
			for i := range s.tz {
				s.tz[i], s.tw[i] = target, target
			}
			s.direction()

			n := len(s.alpha)
			size := 3*n + 1
			j, r := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
			q := dense64(p)
			for i := range n {
				a, c := s.slack(i)
				z, w := s.z[i], s.w[i]
				if z == 0 { // held
					j.Set(i, i, 1)
					j.Set(n+i, n+i, 1)
					j.Set(2*n+i, 2*n+i, 1)
					continue
				}
				for l := range n {
					j.Set(i, l, q.At(i, l))
				}
				j.Set(i, n+i, -1)
				j.Set(i, 2*n+i, 1)
				j.Set(i, 3*n, p.S[i])
				r.SetVec(i, -(s.grad[i] + s.b*p.S[i] - z + w))
				j.Set(n+i, i, z)
				j.Set(n+i, n+i, a)
				r.SetVec(n+i, target-z*a)
				if j.Set(2*n+i, 2*n+i, 1); w > 0 {
					j.Set(2*n+i, i, -w)
					j.Set(2*n+i, 2*n+i, c)
					r.SetVec(2*n+i, target-w*c)
				}
				j.Set(3*n, i, p.S[i])
			}
			r.SetVec(3*n, s.missing())
			if p.FixedBias {
				for l := range size {
					j.Set(3*n, l, 0)
				}
				j.Set(3*n, 3*n, 1)
				r.SetVec(3*n, 0)
			}
			var want mat.VecDense
			if err := want.SolveVec(j, r); err != nil {
				t.Logf("%s: %v", name, err)
			}
			got := slices.Concat(s.dx, s.dz, s.dw, []float64{s.db})
			for _, part := range [][2]int{{0, n}, {n, 2 * n}, {2 * n, 3 * n}, {3 * n, size}} {
				scale := 0.0
				for i := part[0]; i < part[1]; i++ {
					scale = max(scale, math.Abs(want.AtVec(i)))
				}
				for i := part[0]; i < part[1]; i++ {
					if d := math.Abs(got[i] - want.AtVec(i)); d > 1e-8*scale {
						t.Fatalf("%s, step %d, component %d of %d: %g, the whole system says %g", name, k, i, size, got[i], want.AtVec(i))
					}
				}
			}
		}
	}
}

// source is the primal–dual system of the interior-point source in its own
// notation: λ = (λ_lo, λ_hi), ν, f = (−α, α − C), maximisation.
type source struct {
	q    *mat.SymDense
	y    []float64
	c, t float64
}

func (s *source) residual(x []float64) *mat.VecDense {
	n := len(s.y)
	r := mat.NewVecDense(3*n+1, nil)
	for i := range n {
		v := 1 + x[n+i] - x[2*n+i] + x[3*n]*s.y[i]
		for j := range n {
			v -= s.q.At(i, j) * x[j]
		}
		r.SetVec(i, v)
		r.SetVec(n+i, x[n+i]*x[i]-s.t)
		r.SetVec(2*n+i, x[2*n+i]*(s.c-x[i])-s.t)
		r.SetVec(3*n, r.AtVec(3*n)+s.y[i]*x[i])
	}
	return r
}

// jacobian has −[−I; I]' and −diag(f); printed has them with a plus.
func (s *source) jacobian(x []float64, printed bool) *mat.Dense {
	n, sign := len(s.y), 1.0
	if printed {
		sign = -1
	}
	j := mat.NewDense(3*n+1, 3*n+1, nil)
	for i := range n {
		for k := range n {
			j.Set(i, k, -s.q.At(i, k))
		}
		j.Set(i, n+i, sign)
		j.Set(i, 2*n+i, -sign)
		j.Set(i, 3*n, s.y[i])
		j.Set(n+i, i, x[n+i])
		j.Set(n+i, n+i, sign*x[i])
		j.Set(2*n+i, i, -x[2*n+i])
		j.Set(2*n+i, 2*n+i, sign*(s.c-x[i]))
		j.Set(3*n, i, s.y[i])
	}
	return j
}

// run makes the given number of steps by LU of the whole system, as the source
// does, and returns W and the norm of the residual without t.
func (s *source) run(steps int, printed bool) (w, residual float64) {
	n := len(s.y)
	x := make([]float64, 3*n+1)
	for i := range n {
		x[i], x[n+i], x[2*n+i] = s.c/2, 1, 1
	}
	for range steps {
		eta := 0.0
		for i := range n {
			eta += x[n+i]*x[i] + x[2*n+i]*(s.c-x[i])
		}
		if eta < 1e-9 {
			break
		}
		s.t = 0.1 * eta / float64(2*n)
		var dx mat.VecDense
		r := s.residual(x)
		if dx.SolveVec(s.jacobian(x, printed), r) != nil && dx.IsEmpty() {
			break
		}
		dx.ScaleVec(-1, &dx)
		inside := func(l float64) ([]float64, bool) {
			y := make([]float64, len(x))
			for i := range x {
				y[i] = x[i] + l*dx.AtVec(i)
			}
			for i := range n {
				if !(y[i] > 0 && y[i] < s.c && y[n+i] > 0 && y[2*n+i] > 0) {
					return nil, false
				}
			}
			return y, true
		}
		before := mat.Norm(r, 2)
		for l := 0.99; l > 1e-8; l /= 2 {
			if y, ok := inside(l); ok && mat.Norm(s.residual(y), 2) <= (1-0.01*l)*before {
				x = y
				break
			}
		}
	}
	s.t = 0
	for i := range n {
		w += x[i]
		for j := range n {
			w -= x[i] * x[j] * s.q.At(i, j) / 2
		}
	}
	return w, mat.Norm(s.residual(x), 2)
}

// TestSignsOfTheSource: the derivative of r by finite differences is the matrix
// that PrimalDual reduces, not the printed one, and with the printed one Newton's
// method gets nowhere.
func TestSignsOfTheSource(t *testing.T) {
	p := blobs(40, 0.7, toy.RBF(0.5), 1)
	s := &source{q: dense64(p), y: p.S, c: 1, t: 0.01}
	n := len(p.S)
	rng := toy.Rand(4)
	x := make([]float64, 3*n+1)
	for i := range x {
		x[i] = 0.1 + 0.8*rng.Float64()
	}
	right, printed, wrong := s.jacobian(x, false), s.jacobian(x, true), 0
	for k := range x {
		const h = 1e-4
		up, down := slices.Clone(x), slices.Clone(x)
		up[k] += h
		down[k] -= h
		a, b := s.residual(up), s.residual(down)
		for i := range x {
			d := (a.AtVec(i) - b.AtVec(i)) / (2 * h)
			if math.Abs(d-right.At(i, k)) > 1e-8 {
				t.Fatalf("∂r_%d/∂x_%d is %g, the matrix has %g", i, k, d, right.At(i, k))
			}
			if math.Abs(d-printed.At(i, k)) > 1e-8 {
				wrong++
			}
		}
	}
	if wrong != 4*n {
		t.Errorf("%d entries of the printed matrix are wrong, the signs of 4n = %d expected", wrong, 4*n)
	}
	want := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-10}}).Certificate.Dual
	if w, r := s.run(60, false); !toy.Near(w, want, 1e-8) || r > 1e-8 {
		t.Errorf("corrected: W = %.10g with residual %g, want %.10g", w, r, want)
	}
	if w, r := s.run(60, true); toy.Near(w, want, 0.01) || r < 0.1 {
		t.Errorf("as printed: W = %.10g with residual %g; it should not converge to %.10g", w, r, want)
	}
}

// TestNinetyPoints is the measured problem of 90 points, which is to take at
// most 25 steps; without the jump to the bounds the path takes 18 or 19.
func TestNinetyPoints(t *testing.T) {
	x, y := heart(t)
	x, y = x[:90], y[:90]
	p := SoftMargin(toy.NewGram(x, toy.RBF(1./13)), y, fill(90, 1))
	for _, c := range []struct {
		m     Method
		steps int
	}{
		{PrimalDual{Finish: 1e-10}, 25}, {PrimalDual{}, 15}, {PrimalDual{Corrector: true, Finish: 1e-10}, 15}, {PrimalDual{Corrector: true}, 10},
		{PrimalDual{Infeasible: true, Finish: 1e-10}, 25}, {PrimalDual{Rank: 90}, 15}, {Barrier{}, 80},
	} {
		r := solve(t, p, c.m, Settings{Stop: Gap{1e-8}})
		if math.Abs(r.Certificate.Dual-38.6515881) > 1e-6 || r.Iterations > c.steps || r.Status != Converged {
			t.Errorf("%s: %v at W = %.9f after %d steps", c.m.Name(), r.Status, r.Certificate.Dual, r.Iterations)
		}
	}
}

// TestCorrector: Mehrotra's corrector saves steps on every problem, a third of
// them and more on the whole path.
func TestCorrector(t *testing.T) {
	sum := [2]int{}
	for name, p := range interiorProblems() {
		plain := solve(t, p, PrimalDual{Finish: 1e-8}, Settings{Stop: UpLow{1e-6}})
		fast := solve(t, p, PrimalDual{Corrector: true, Finish: 1e-8}, Settings{Stop: UpLow{1e-6}})
		if fast.Iterations > plain.Iterations || !toy.Near(fast.Certificate.Dual, plain.Certificate.Dual, 1e-9) {
			t.Errorf("%s: %d steps to W = %.12g, without it %d to %.12g", name, fast.Iterations, fast.Certificate.Dual, plain.Iterations, plain.Certificate.Dual)
		}
		sum[0] += plain.Iterations
		sum[1] += fast.Iterations
	}
	if 3*sum[1] > 2*sum[0] {
		t.Errorf("%d steps with the corrector, %d without", sum[1], sum[0])
	}
}

// TestInfeasibleStart: from the middle of the box the dual first lies above the
// optimum and comes down (checklist E3), and s'α ≠ δ fades with every step.
func TestInfeasibleStart(t *testing.T) {
	x, y := toy.Points(toy.Rand(1), 60, 2, 0.7)
	for i := range 15 {
		y[2*i] = 1 // far more +1 than −1
	}
	p := SoftMargin(toy.NewGram(x, toy.RBF(0.5)), y, fill(60, 0.1))
	r := solve(t, p, PrimalDual{Infeasible: true}, Settings{})
	want := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-10}}).Certificate.Dual
	if !toy.Near(r.Certificate.Dual, want, 1e-9) || r.Status != Converged {
		t.Errorf("%v at W = %g, want %g", r.Status, r.Certificate.Dual, want)
	}
	above, down := 0, 0
	for k, pt := range r.Trace.Points[1:] {
		before := r.Trace.Points[k]
		if pt.Dual > want*(1+1e-6) {
			above++
		}
		if pt.Dual < before.Dual*(1-1e-6) {
			down++
		}
		if k > 0 && pt.Equality > before.Equality+1e-9 {
			t.Errorf("iteration %d: |y'α| has grown from %g to %g", pt.Iteration, before.Equality, pt.Equality)
		}
	}
	if above == 0 || down == 0 {
		t.Errorf("the dual should rise above %g and come down; %d points above, %d falls", want, above, down)
	}
}

// TestInteriorFixedBias holds the solution without equality against gradient
// ascent, in all three margins.
func TestInteriorFixedBias(t *testing.T) {
	for _, b0 := range []float64{0, 0.7, -0.4} {
		soft := blobs(50, 0.5, toy.Dot, 2)
		for _, p := range []*Problem{
			soft, blobs(50, 0.5, toy.RBF(0.5), 2), SoftMargin2(soft.K, soft.S, soft.Upper), ringProblem(math.Inf(1)),
		} {
			p = p.WithFixedBias(b0)
			want := solve(t, p, GradientAscent{}, Settings{Stop: Gap{1e-11}, MaxIterations: 100_000_000}).Certificate.Dual
			for _, m := range []Method{PrimalDual{}, PrimalDual{Corrector: true}, PrimalDual{Rank: 50}, Barrier{}, Barrier{PhaseI: true}} {
				r := solve(t, p, m, Settings{Stop: Gap{1e-10}})
				if c := r.Certificate; !toy.Near(c.Dual, want, 1e-8) || c.RelGap > 1e-10 || c.Bias != b0 || r.Status != Converged {
					t.Errorf("%s, b₀ = %g: %v at W = %.12g, want %.12g: %+v", m.Name(), b0, r.Status, c.Dual, want, c)
				}
			}
		}
	}
}

// TestInteriorReports: the interior points of a trace touch no bound, the answer
// does, and no number is ever NaN that should not be.
func TestInteriorReports(t *testing.T) {
	for _, m := range []Method{PrimalDual{Finish: 1e-4}, PrimalDual{Corrector: true, Finish: 1e-4}, Barrier{Finish: 1e-4}} {
		p := blobs(60, 0.7, toy.RBF(0.5), 1)
		r := solve(t, p, m, Settings{Stop: UpLow{1e-3}})
		for k, pt := range r.Trace.Points {
			if math.IsNaN(pt.Dual + pt.Gap + pt.KKT + pt.Bias + pt.Equality) {
				t.Errorf("%s, iteration %d: %+v", m.Name(), k, pt)
			}
			if k == 0 {
				continue
			}
			if !(pt.Surrogate >= 0) {
				t.Errorf("%s, iteration %d: surrogate gap %g", m.Name(), k, pt.Surrogate)
			}
			if pt.RelGap > 1e-3 && pt.Free != len(p.S) {
				t.Errorf("%s, iteration %d: %d of %d points are inside the box", m.Name(), k, pt.Free, len(p.S))
			}
		}
		if c := r.Certificate; c.Free == len(p.S) || c.AtUpper == 0 || r.Status != Converged {
			t.Errorf("%s: %v with %d free and %d bound", m.Name(), r.Status, c.Free, c.AtUpper)
		}
	}
}

// TestInteriorRefusals: what the methods cannot do they say.
func TestInteriorRefusals(t *testing.T) {
	for _, m := range []Method{
		PrimalDual{Mu: 1}, PrimalDual{Mu: -0.1}, PrimalDual{Mu: math.NaN()}, PrimalDual{Finish: 2}, PrimalDual{Rank: -1},
		PrimalDual{Loss: 1}, PrimalDual{Loss: math.NaN()}, Barrier{Mu: 1}, Barrier{Finish: -1},
	} {
		var bad *ProblemError
		if _, err := Solve(context.Background(), ringProblem(1), m, Settings{}); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", m, err)
		}
	}
	large := &Problem{K: wide(mostDense + 1)}
	for _, m := range []Method{PrimalDual{}, Barrier{}} {
		if _, err := m.Start(large, make([]float64, mostDense+1)); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	x, y := toy.Points(toy.Rand(8), 40, 2, 0.3)
	indefinite := SoftMargin(toy.NewGram(x, sigmoid(1, -1)), y, fill(40, 10))
	for _, m := range []Method{PrimalDual{}, PrimalDual{Corrector: true}, PrimalDual{Rank: 40}, Barrier{}} {
		if _, err := Solve(context.Background(), indefinite, m, Settings{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s on a sigmoid kernel: %v", m.Name(), err)
		}
	}
}

// wide is a matrix that only has a size.
type wide int

func (m wide) Dim() int            { return int(m) }
func (m wide) Diag() []float64     { return nil }
func (m wide) Row(i int) []float64 { return nil }

// TestSlightlyIndefinite: a kernel matrix that rounding has made indefinite is
// solved.
func TestSlightlyIndefinite(t *testing.T) {
	p := blobs(60, 0.7, toy.Dot, 5)
	g := p.K.(*toy.Gram)
	for i := range g.K { // eigenvalues down to −1e-9 of the largest
		g.K[i][i] -= 1e-7
		g.Diagonal[i] = g.K[i][i]
	}
	want := solve(t, blobs(60, 0.7, toy.Dot, 5), SMO{}, Settings{Stop: UpLow{1e-8}}).Certificate.Dual
	for _, m := range []Method{PrimalDual{}, PrimalDual{Corrector: true}, Barrier{}} {
		r, err := Solve(context.Background(), p, m, Settings{})
		if err != nil || !toy.Near(r.Certificate.Dual, want, 1e-5) {
			t.Errorf("%s: %v, W = %g, want %g", m.Name(), err, r.Certificate.Dual, want)
		}
	}
}

// TestInteriorRandom holds the methods of this file that the suite's random
// problems leave out against SMO: the infeasible start, and the verdict that no
// hyperplane separates.
func TestInteriorRandom(t *testing.T) {
	unbounded := 0
	for seed := range uint64(250) {
		p, name := randomProblem(toy.Rand(seed))
		if p.isHard() {
			if distance2, diameter2 := hullDistance2(t, p.K, p.S); distance2 < 1e-8*diameter2 {
				if distance2 > 1e-13*diameter2 {
					continue
				}
				unbounded++
				for _, m := range []Method{PrimalDual{}, PrimalDual{Corrector: true}, PrimalDual{Infeasible: true}, PrimalDual{Rank: 60}, Barrier{}} {
					if r, err := Solve(context.Background(), p, m, Settings{Stop: Gap{1e-9}}); !errors.Is(err, ErrUnbounded) {
						t.Errorf("%d: %s: %s: %v after %d steps", seed, name, m.Name(), r.Status, r.Iterations)
					} else if r.Iterations > 400 {
						t.Errorf("%d: %s: %s: %d steps", seed, name, m.Name(), r.Iterations)
					}
				}
				continue
			}
		}
		want := solve(t, p, PrimalDual{}, Settings{Stop: Gap{1e-10}})
		r := solve(t, p, PrimalDual{Infeasible: true}, Settings{Stop: Gap{1e-10}})
		if !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-8) || !p.balanced(r.Alpha) {
			t.Errorf("%d: %s: W = %.12g, want %.12g; |y'α| = %g", seed, name, r.Certificate.Dual, want.Certificate.Dual, r.Certificate.Equality)
		}
		// A point on the bounds gives way only to a better one, but for what rounding
		// in F, of terms K_ij α_j, makes of the gap.
		size, rounding := 0.0, 0.0
		for i, k := range p.K.Diag() {
			size += math.Sqrt(k) * want.Alpha[i]
		}
		for i, k := range p.K.Diag() {
			most := p.Upper[i]
			if math.IsInf(most, 1) {
				most = want.Alpha[i]
			}
			rounding += 0x1p-52 * math.Sqrt(k) * size * most
		}
		for k, pt := range want.Trace.Points[1:] {
			if before := want.Trace.Points[k]; k > 0 && before.Free < len(p.S) && pt.Gap > before.Gap*(1+1e-6)+1e-12*(1+pt.Primal)+rounding {
				t.Errorf("%d: %s: iteration %d: the gap rises from %g to %g; rounding %g", seed, name, pt.Iteration, before.Gap, pt.Gap, rounding)
			}
		}
	}
	if unbounded < 10 {
		t.Errorf("%d hard margins without separation", unbounded)
	}
}

// TestNoInterior: where the box and s'α = δ leave one point, that is the answer.
func TestNoInterior(t *testing.T) {
	one := SoftMargin(toy.NewGram(corners, toy.RBF(1)), fill(4, 1), fill(4, 1))
	full := SoftMargin(toy.NewGram(corners, toy.RBF(1)), parity, fill(4, 1))
	full.Delta = 2
	for _, p := range []*Problem{one, full} {
		for _, m := range []Method{PrimalDual{}, PrimalDual{Rank: 4}, Barrier{}, Barrier{PhaseI: true}} {
			r := solve(t, p, m, Settings{Stop: Gap{1e-12}})
			if r.Iterations != 0 || r.Certificate.Equality != 0 || r.Certificate.Bound != 0 {
				t.Errorf("%s: %d steps, %+v", m.Name(), r.Iterations, r.Certificate)
			}
		}
	}
}
