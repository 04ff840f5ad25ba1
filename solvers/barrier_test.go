package solvers

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/toy"
)

// TestCentre: at each centre the multipliers t/(α − l) and t/(u − α) are feasible
// for the Lagrangian dual, whose value is then exactly m t away, m = 2n for a soft
// margin (erratum B11: the source's mt does not say what m counts). The certified
// gap, which takes the best slacks for this w, is smaller.
func TestCentre(t *testing.T) {
	for name, p := range interiorProblems() {
		if name == "hard" || name == "C = 1e6" {
			continue // the certified gap is another, or rounding
		}
		n, finite := len(p.S), 0.0
		for i, u := range p.Upper {
			if u > p.Lower[i] {
				finite++
				if !math.IsInf(u, 1) {
					finite++
				}
			}
		}
		s := begun(t, p, Barrier{Finish: 1e-9}, 1).(*barrier)
		centres := 0
		for !s.finished && !s.last && s.end.side == nil {
			if s.centred {
				centres++
				if s.m != finite {
					t.Fatalf("%s: m = %g, the box has %g finite bounds", name, s.m, finite)
				}
				stationary, largest, gap := 0.0, 0.0, 0.0
				for i, g := range s.grad {
					if p.Lower[i] == p.Upper[i] {
						continue
					}
					a, c := s.slack(i)
					stationary = max(stationary, math.Abs(g+s.b*p.S[i]-s.t/a+s.t/c))
					largest = max(largest, math.Abs(g)+math.Abs(s.b))
					if gap += s.t / a * a; !math.IsInf(c, 1) {
						gap += s.t / c * c
					}
				}
				if stationary > 1e-3*largest || !toy.Near(gap, finite*s.t, 1e-9) {
					t.Errorf("%s, t = %g: the gradient of the Lagrangian is %g, the gap %g", name, s.t, stationary, gap)
				}
				if s.gap > finite*s.t*(1+1e-3) || s.gap < finite*s.t/float64(4*n) {
					t.Errorf("%s, t = %g: gap %g, m t = %g", name, s.t, s.gap, finite*s.t)
				}
			}
			if _, err := s.Step(context.Background()); err != nil {
				t.Fatal(name, err)
			}
		}
		if centres < 3 {
			t.Errorf("%s: %d centres", name, centres)
		}
	}
}

// TestWarmCentres: started at the last centre, Newton's method is soon at the next
// (checklist E4).
func TestWarmCentres(t *testing.T) {
	p := blobs(60, 0.7, toy.RBF(0.5), 1)
	s := begun(t, p, Barrier{Finish: 1e-9}, 1).(*barrier)
	for !s.last && s.end.side == nil {
		if s.steps > 15 {
			t.Fatalf("%d Newton steps at t = %g", s.steps, s.t)
		}
		if _, err := s.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPhaseI: its end is strictly inside the box on s'α = δ, also where σ is
// bounded by a small class, its steps leave the reported α alone, and it needs a
// handful.
func TestPhaseI(t *testing.T) {
	skewed := blobs(60, 0.7, toy.RBF(0.5), 2)
	for i := range skewed.S {
		skewed.S[i] = 1
	}
	skewed.S[7] = -1 // σ ≥ −C/60: α_7 = C must be shared by 59
	problems := interiorProblems()
	problems["skewed"] = skewed
	for name, p := range problems {
		start, err := p.start(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := begun(t, p, Barrier{PhaseI: true}, 1).(*barrier)
		steps := 1
		for ; s.one != nil; steps++ {
			var it Iterate
			s.Report(&it)
			for i, a := range it.Alpha {
				if a != start[i] {
					t.Fatalf("%s: α has moved in Phase I", name)
				}
			}
			if steps > 60 {
				t.Fatalf("%s: no interior point after %d steps; σ = %g", name, steps, s.one.sigma)
			}
			if _, err := s.Step(context.Background()); err != nil {
				t.Fatal(name, err)
			}
		}
		for i, a := range s.shown {
			if p.Lower[i] < p.Upper[i] && !(a > p.Lower[i] && a < p.Upper[i]) {
				t.Errorf("%s: α_%d = %g is not inside [%g, %g]", name, i, a, p.Lower[i], p.Upper[i])
			}
		}
		if e := p.equality(s.shown); e > 1e-8 {
			t.Errorf("%s: |s'α − δ| = %g", name, e)
		}
	}
}

// TestStrictlyFeasible: the start that makes Phase I superfluous is inside the box
// for any number of points of each class (erratum B14).
func TestStrictlyFeasible(t *testing.T) {
	for plus := 1; plus < 12; plus++ {
		x, y := toy.Points(toy.Rand(6), 12, 2, 0.7)
		for i := range y {
			if y[i] = -1; i < plus {
				y[i] = 1
			}
		}
		p := SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(12, 3))
		s := begun(t, p, PrimalDual{}, 0).(*primalDual)
		if err := s.open(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.box(math.Inf(1))
		if !s.centre(1, true) {
			t.Fatalf("%d of 12: no interior", plus)
		}
		for i, a := range s.alpha {
			share := float64(plus) / 12
			if y[i] > 0 {
				share = 1 - share
			}
			if !toy.Near(a, 3*share, 1e-12) || !(a > 0 && a < 3) {
				t.Errorf("%d of 12: α_%d = %g", plus, i, a)
			}
		}
		if e := p.equality(s.alpha); e > 1e-12 {
			t.Errorf("%d of 12: |y'α| = %g", plus, e)
		}
	}
}

// TestPhaseISystem holds the step of the arrow against the whole system of the
// source, in Δα, Δσ, Δν by LU.
func TestPhaseISystem(t *testing.T) {
	for name, p := range interiorProblems() {
		if name == "held" {
			continue // the source has no such bounds
		}
		s := begun(t, p, Barrier{PhaseI: true}, 0).(*barrier)
		if err := s.open(context.Background()); err != nil {
			t.Fatal(err)
		}
		n := len(p.S)
		start := make([]float64, n) // anywhere, off s'α = δ too
		for i := range start {
			start[i] = p.Lower[i] + float64(i%5)/4*min(1, p.Upper[i]-p.Lower[i])
		}
		o := newPhaseI(&s.interior, start, 3)
		alpha, sigma := append([]float64(nil), s.alpha...), o.sigma
		j, r := mat.NewDense(n+2, n+2, nil), mat.NewVecDense(n+2, nil)
		for i, a := range alpha {
			lo, hi := 1/(sigma+a-p.Lower[i]), 1/(sigma+o.upper[i]-a)
			j.Set(i, i, o.t*(lo*lo+hi*hi))
			j.Set(i, n, o.t*(lo*lo-hi*hi))
			j.Set(n, i, o.t*(lo*lo-hi*hi))
			j.Set(n, n, j.At(n, n)+o.t*(lo*lo+hi*hi))
			j.Set(i, n+1, p.S[i])
			j.Set(n+1, i, p.S[i])
			r.SetVec(i, o.t*(lo-hi))
			r.SetVec(n, r.AtVec(n)+o.t*(lo+hi))
			r.SetVec(n+1, r.AtVec(n+1)-p.S[i]*a)
		}
		r.SetVec(n, r.AtVec(n)-1)
		r.SetVec(n+1, r.AtVec(n+1)+p.Delta)
		if p.FixedBias {
			for i := range n {
				j.Set(i, n+1, 0)
				j.Set(n+1, i, 0)
			}
			j.Set(n+1, n+1, 1)
			r.SetVec(n+1, 0)
		}
		var want mat.VecDense
		if err := want.SolveVec(j, r); err != nil {
			t.Logf("%s: %v", name, err)
		}
		o.step(0.1)
		long := (o.sigma - sigma) / want.AtVec(n)
		if !(long > 0 && long < 1+1e-9) {
			t.Errorf("%s: σ went from %g to %g, Newton's step is %g", name, sigma, o.sigma, want.AtVec(n))
		}
		for i, a := range s.alpha {
			if d := (a - alpha[i]) - long*want.AtVec(i); math.Abs(d) > 1e-8*(1+math.Abs(want.AtVec(i))) {
				t.Fatalf("%s: Δα_%d = %g, the whole system says %g", name, i, a-alpha[i], long*want.AtVec(i))
			}
		}
	}
}
