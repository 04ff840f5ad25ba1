package solvers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/toy"
)

// tubeMethods are those that know a regression when they see it; the others take
// it for any problem.
var tubeMethods = []shipped{
	{method: TubeSMO{}, takes: freeBias},
	{method: TubeSMO{Step: Quadrants}, takes: freeBias},
}

// wave draws n points of a sine on [0, 6] with normal noise.
func wave(seed uint64, n int, noise float64) (x [][]float64, y []float64) {
	rng := toy.Rand(seed)
	for range n {
		t := 6 * rng.Float64()
		x, y = append(x, []float64{t}), append(y, math.Sin(t)+noise*rng.NormFloat64())
	}
	return x, y
}

// plane draws n points of 3 features, the last of them all 0, with a linear
// target.
func plane(seed uint64, n int) (x [][]float64, y []float64) {
	rng := toy.Rand(seed)
	for range n {
		row := []float64{rng.NormFloat64(), 2 * rng.NormFloat64(), rng.Float64()}
		x, y = append(x, row), append(y, row[0]-row[1]/2+3+0.3*rng.NormFloat64())
	}
	clear(x[n-1])
	return x, y
}

func waveProblem(n int, c, epsilon float64) *Problem {
	x, y := wave(1, n, 0.2)
	return Tube(toy.NewGram(x, toy.RBF(1)), y, fill(n, c), epsilon)
}

// twins has equal points with different targets.
func twins() (k Matrix, y []float64) {
	x, y := wave(2, 30, 0.2)
	for i := range 10 {
		x[i] = x[i+15]
	}
	return toy.NewGram(x, toy.RBF(1)), y
}

// tubeTable are the problems; each optimum is proved by a primal and a dual value
// computed term by term.
var tubeTable = []struct {
	name    string
	problem func(t testing.TB) *Problem
	want    float64 // the largest dual value where somebody else has said it
	none    bool    // β = 0
}{
	{name: "heart", want: 95.509975, problem: func(t testing.TB) *Problem { // LIBSVM 3.37
		x, y := heart(t)
		return Tube(toy.NewGram(x, heartRBF), y, fill(len(y), 1), 0.1)
	}},
	{name: "wave, C = 1", problem: func(testing.TB) *Problem { return waveProblem(40, 1, 0.1) }},
	{name: "wave, C = 1e-3", problem: func(testing.TB) *Problem { return waveProblem(40, 1e-3, 0.1) }},
	{name: "wave, C = 100, narrow", problem: func(testing.TB) *Problem { return waveProblem(40, 100, 0.01) }},
	{name: "wave, ε = 0", problem: func(testing.TB) *Problem { return waveProblem(40, 1, 0) }},
	{name: "wave, ε as wide as the targets", none: true, problem: func(testing.TB) *Problem { return waveProblem(40, 1, 2) }},
	{name: "wave, quadratic", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0.1)
		return Tube2(PointsOf(p.K), targets(p), fill(40, 10), 0.1)
	}},
	{name: "wave, ridge regression", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0.1)
		return Tube2(PointsOf(p.K), targets(p), fill(40, 10), 0)
	}},
	{name: "wave, sample weights", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0.1)
		return Tube(PointsOf(p.K), targets(p), uneven(40), 0.1)
	}},
	{name: "wave, quadratic, sample weights", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0.1)
		return Tube2(PointsOf(p.K), targets(p), uneven(40), 0.1)
	}},
	{name: "wave, upper quartile", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0)
		return Pinball(PointsOf(p.K), targets(p), fill(40, 1), 0.75)
	}},
	{name: "wave, lowest percent, sample weights", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0)
		return Pinball(PointsOf(p.K), targets(p), uneven(40), 0.01)
	}},
	{name: "wave, Huber", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0)
		return HuberTube(PointsOf(p.K), targets(p), fill(40, 3), 0.2)
	}},
	{name: "wave, Huber, sample weights", problem: func(testing.TB) *Problem {
		p := waveProblem(40, 1, 0)
		return HuberTube(PointsOf(p.K), targets(p), uneven(40), 0.05)
	}},
	{name: "constant targets", none: true, problem: func(testing.TB) *Problem {
		p := waveProblem(20, 1, 0.1)
		return Tube(PointsOf(p.K), fill(20, 7), fill(20, 1), 0.1)
	}},
	{name: "constant targets, ε = 0", none: true, problem: func(testing.TB) *Problem {
		p := waveProblem(20, 1, 0.1)
		return Tube(PointsOf(p.K), fill(20, 7), fill(20, 1), 0)
	}},
	{name: "equal points, different targets", problem: func(testing.TB) *Problem {
		k, y := twins()
		return Tube(k, y, fill(len(y), 5), 0.1)
	}},
	{name: "equal points, different targets, quadratic", problem: func(testing.TB) *Problem {
		k, y := twins()
		return Tube2(k, y, fill(len(y), 5), 0.1)
	}},
	{name: "constant kernel", problem: func(testing.TB) *Problem {
		x, y := wave(1, 9, 0.2)
		return Tube(toy.NewGram(x, toy.Constant(0)), y, fill(9, 2), 0.1)
	}},
	{name: "one point", none: true, problem: func(testing.TB) *Problem {
		return Tube(toy.NewGram(corners[:1], toy.Dot), []float64{3}, fill(1, 1), 0.1)
	}},
	{name: "two points", want: 0.5 * 0.9 * 0.9, problem: func(testing.TB) *Problem {
		return Tube(toy.NewGram([][]float64{{-1}, {1}}, toy.Dot), []float64{-1, 1}, fill(2, 10), 0.1)
	}},
	{name: "targets of size 1000, far from 0", problem: func(testing.TB) *Problem {
		x, y := wave(1, 40, 0.2)
		for i := range y {
			y[i] = 1e5 + 1000*y[i]
		}
		return Tube(toy.NewGram(x, toy.RBF(1)), y, fill(40, 1000), 100)
	}},
	{name: "targets of size 1/1000", problem: func(testing.TB) *Problem {
		x, y := wave(1, 40, 0.2)
		for i := range y {
			y[i] /= 1000
		}
		return Tube(toy.NewGram(x, toy.RBF(1)), y, fill(40, 1e-3), 1e-4)
	}},
	{name: "plane", problem: func(t testing.TB) *Problem {
		x, y := plane(1, 40)
		return Tube(asDense(t, x), y, fill(40, 1), 0.1)
	}},
	{name: "plane, bias fixed", problem: func(t testing.TB) *Problem {
		x, y := plane(1, 40)
		return Tube(asDense(t, x), y, fill(40, 1), 0.1).WithFixedBias(3)
	}},
	{name: "plane, bias fixed, quadratic", problem: func(t testing.TB) *Problem {
		x, y := plane(1, 40)
		return Tube2(asSparse(t, x), y, uneven(40), 0.1).WithFixedBias(0)
	}},
	{name: "plane, bias fixed, ridge regression", problem: func(t testing.TB) *Problem {
		x, y := plane(1, 40)
		return Tube2(asDense(t, x), y, fill(40, 2), 0).WithFixedBias(1)
	}},
	{name: "plane, bias fixed, far from 0", problem: func(t testing.TB) *Problem { // single steps alone are 8 % short after 500 000 passes
		x, y := plane(1, 40)
		for _, row := range x {
			row[0] += 30
			row[2] += 20
		}
		return Tube(asDense(t, x), y, fill(40, 100), 0.1).WithFixedBias(0)
	}},
	{name: "wave, bias fixed", problem: func(testing.TB) *Problem { return waveProblem(30, 0.5, 0.1).WithFixedBias(0.3) }},
}

func uneven(n int) []float64 {
	c := make([]float64, n)
	for i := range c {
		c[i] = 0.2 + float64(i%4)
	}
	return c
}

// targets reads y back from a Problem.
func targets(p *Problem) []float64 {
	n := len(p.P) / 2
	y := make([]float64, n)
	for i := range y {
		y[i] = (p.P[n+i] - p.P[i]) / 2
	}
	return y
}

// tubePrimal is ½‖w‖² + Σ loss at the bias b, term by term.
func tubePrimal(p *Problem, alpha []float64, b float64) float64 {
	beta, k := Signed(alpha), PointsOf(p.K)
	n, value := len(beta), 0.0
	for i := range beta {
		g := 0.0
		for j, v := range k.Row(i) {
			g += beta[j] * v
		}
		value += beta[i] * g / 2
		for side, sign := range []float64{1, -1} {
			at := side*n + i
			// p = ε ∓ y, so the slack is ± (y − g − b) − ε.
			slack := max(0, -p.P[at]-sign*(g+b))
			if slack == 0 {
				continue
			}
			if p.Ridge != nil {
				most := min(slack, p.Ridge[at]*p.Upper[at]) // the slack from which a loss with a bound is linear
				value += (slack - most/2) * most / p.Ridge[at]
			} else {
				value += p.Upper[at] * slack
			}
		}
	}
	return value
}

func TestTubeSuite(t *testing.T) {
	for _, problem := range tubeTable {
		t.Run(problem.name, func(t *testing.T) {
			t.Parallel()
			problem.problem(t) // or skip
			first := math.NaN()
			for _, m := range slices.Concat(tubeMethods, methods, singles) {
				t.Run(m.method.Name(), func(t *testing.T) {
					p := problem.problem(t)
					set := Settings{Stop: All(Gap{1e-9}, KKT{1e-6 * max(1, math.Abs(targets(p)[0]))})}
					r, err := Solve(context.Background(), p, m.method, set)
					_, linear := p.K.(Features)
					if takes := !p.FixedBias && (m.takes&freeBias != 0 || m.takes&freeLinear != 0 && linear) || p.FixedBias && (m.takes&fixedBias != 0 || m.takes&fixedLinear != 0 && linear); !takes {
						if !errors.Is(err, ErrUnsupported) {
							t.Errorf("%v, want ErrUnsupported", err)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					c := r.Certificate
					dual := plainDual(p, r.Alpha)
					if !toy.Near(dual, c.Dual, 1e-9) && math.Abs(dual-c.Dual) > 1e-9 {
						t.Errorf("the certificate says W = %.15g, term by term it is %.15g", c.Dual, dual)
					}
					if c.RelGap > 1e-6 || r.Status != Converged && r.Status != Exhausted {
						t.Errorf("status %v after %d iterations: %+v", r.Status, r.Iterations, c)
					}
					// The primal value is that of the certificate's bias, not of the best.
					if primal := tubePrimal(p, r.Alpha, c.Bias); !(primal-dual <= 1e-5*(1+primal)) || primal < c.Primal-1e-9*(1+primal) || dual > c.Primal+1e-9*(1+primal) {
						t.Errorf("primal %.15g, dual %.15g; %+v", primal, dual, c)
					}
					if math.IsNaN(first) {
						first = dual
					}
					if math.Abs(dual-first) > 1e-6*math.Abs(first)+1e-9 {
						t.Errorf("W = %.12g, the method before found %.12g", dual, first)
					}
					if problem.want != 0 && !toy.Near(dual, problem.want, 1e-6) {
						t.Errorf("W = %.12g, want %.12g", dual, problem.want)
					}
					if beta := Signed(r.Alpha); problem.none && slices.ContainsFunc(beta, func(b float64) bool { return math.Abs(b) > 1e-9 }) {
						t.Errorf("β = %v, want 0", beta)
					}
					checkTrace(t, p, r, m.jumps)
					again, err := Solve(context.Background(), problem.problem(t), m.method, set)
					if err != nil || fingerprint(t, again) != fingerprint(t, r) {
						t.Errorf("a second run differs (%v)", err)
					}
				})
			}
		})
	}
}

// The data are R's MASS::mcycle with times/10 as LIBSVM 3.37 was given them.
func TestTubeMotorcycle(t *testing.T) {
	d := datasets.Motorcycle()
	x := make([][]float64, d.N())
	for i, row := range d.X {
		x[i] = []float64{row[0] / 10}
	}
	k := toy.NewGram(x, toy.RBF(1))
	for _, m := range []Method{TubeSMO{}, TubeSMO{Step: Quadrants}, SMO{}} {
		r := solve(t, Tube(k, d.Y, fill(d.N(), 100), 5), m, Settings{Stop: UpLow{1e-6}})
		if !toy.Near(r.Certificate.Dual, 184729.468248, 1e-6) || math.Abs(r.Bias+7.491094) > 1e-4 {
			t.Errorf("%s: W = %.12g, b = %.8g; LIBSVM 184729.468248, −7.491094", m.Name(), r.Certificate.Dual, r.Bias)
		}
		vectors, bound := supportOf(r.Alpha, 100)
		if math.Abs(float64(vectors-104)) > 1 || math.Abs(float64(bound-95)) > 1 {
			t.Errorf("%s: %d support vectors, %d at the bound; LIBSVM 104, 95", m.Name(), vectors, bound)
		}
	}
}

// supportOf counts β ≠ 0, and those at the bound c.
func supportOf(alpha []float64, c float64) (vectors, bound int) {
	for _, b := range Signed(alpha) {
		if b != 0 {
			vectors++
		}
		if math.Abs(b) >= c {
			bound++
		}
	}
	return vectors, bound
}

// ST prints ε Σ(α* − α) for ε Σ(α* + α): then Σ(α* − α) = 0 makes ε vanish from
// the problem, and with it the tube and the sparsity (erratum S4). β rises above
// the tube and falls below (C10).
func TestTubeConditions(t *testing.T) {
	x, y := heart(t)
	k := toy.NewGram(x, heartRBF)
	for _, m := range []Method{TubeSMO{}, SMO{}} {
		p := Tube(k, y, fill(len(y), 1), 0.1)
		r := solve(t, p, m, Settings{Stop: UpLow{1e-6}})
		vectors, bound := supportOf(r.Alpha, 1)
		if vectors < 199 || vectors > 201 || bound < 144 || bound > 146 {
			t.Errorf("%s: %d support vectors, %d at the bound; LIBSVM 3.37 has 200 and 145", m.Name(), vectors, bound)
		}
		f := p.F(r.Alpha)
		for i, beta := range Signed(r.Alpha) {
			// F of α̂ is y − g − ε, so the residual is F + ε − b.
			if rest := f[i] + 0.1 - r.Bias; beta > 0 && rest < 0.1-1e-4 || beta < 0 && rest > -0.1+1e-4 || beta == 0 && math.Abs(rest) > 0.1+1e-4 {
				t.Errorf("%s: point %d has β = %g and residual %g", m.Name(), i, beta, rest)
			}
		}
	}
	asPrinted := Tube(k, y, fill(len(y), 1), 0)
	for i := range y {
		asPrinted.P[i] += 0.1
		asPrinted.P[len(y)+i] -= 0.1
	}
	printed := solve(t, asPrinted, SMO{}, Settings{Stop: UpLow{1e-6}})
	none := solve(t, Tube(k, y, fill(len(y), 1), 0), SMO{}, Settings{Stop: UpLow{1e-6}})
	if math.Abs(printed.Certificate.Dual-none.Certificate.Dual) > 1e-4 {
		t.Errorf("as printed W = %.9g, without ε %.9g", printed.Certificate.Dual, none.Certificate.Dual)
	}
}

// randomLine draws a pair of β, some of them 0 or at a bound, with different ε.
func randomLine(rng *rand.Rand) line {
	coefficient := func(c float64) float64 {
		switch rng.IntN(4) {
		case 0:
			return 0
		case 1:
			return c * float64(2*rng.IntN(2)-1)
		}
		return c * (2*rng.Float64() - 1)
	}
	ci, cj := math.Exp(2*rng.NormFloat64()), math.Exp(2*rng.NormFloat64())
	l := line{a: coefficient(ci), b: coefficient(cj), ea: rng.ExpFloat64(), eb: rng.ExpFloat64(), slope: 4 * rng.NormFloat64(), kappa: math.Exp(2 * rng.NormFloat64())}
	switch rng.IntN(8) {
	case 0:
		l.kappa = 0
	case 1:
		l.ea, l.eb = 0, 0
	case 2:
		l.eb = l.ea
	}
	l.lo, l.hi = -min(l.a+ci, cj-l.b), min(ci-l.a, l.b+cj)
	return l
}

// gain is W(d) − W(0).
func (l *line) gain(d float64) float64 {
	return d*(l.slope-l.kappa*d/2) - l.ea*(math.Abs(l.a+d)-math.Abs(l.a)) - l.eb*(math.Abs(l.b-d)-math.Abs(l.b))
}

// best searches for the largest W on the line: the kinks, the ends, and what
// lies between two of them.
func (l *line) best() float64 {
	at := []float64{l.lo, l.hi, 0, min(max(-l.a, l.lo), l.hi), min(max(l.b, l.lo), l.hi)}
	slices.Sort(at)
	best := 0.0
	for k := range at {
		best = max(best, l.gain(at[k]))
		if k == 0 || at[k]-at[k-1] == 0 {
			continue
		}
		mid := (at[k] + at[k-1]) / 2 // where the signs are those of the piece
		sa, sb := math.Copysign(1, l.a+mid), math.Copysign(1, l.b-mid)
		if d := (l.slope - l.ea*sa + l.eb*sb) / l.kappa; d > at[k-1] && d < at[k] {
			best = max(best, l.gain(d))
		}
	}
	return best
}

// mirrored is the line with the two changed about: d becomes −d.
func (l line) mirrored() line {
	return line{a: l.b, b: l.a, ea: l.eb, eb: l.ea, slope: -l.slope, kappa: l.kappa, lo: -l.hi, hi: -l.lo}
}

// The rule of Theorem 7.18, quadrant by quadrant, and the walk from kink to kink
// end at the maximum.
func TestPairOfATube(t *testing.T) {
	rng := toy.Rand(4)
	crossed := 0
	for k := range 10_000 {
		l := randomLine(rng)
		m := l.mirrored()
		walked := l.piecewise()
		if walked == 0 {
			walked = -m.piecewise()
		}
		quadrants := l.quadrants()
		if scale := math.Abs(l.a) + math.Abs(l.b) + math.Abs(walked); math.Abs(walked-quadrants) > 1e-10*scale {
			if l.kappa > 0 || math.Abs(l.gain(walked)-l.gain(quadrants)) > 1e-10 {
				t.Fatalf("%d: %+v: piecewise %.15g, by quadrants %.15g", k, l, walked, quadrants)
			}
		}
		if best := l.best(); l.gain(walked) < best-1e-10*(1+best) || walked < l.lo || walked > l.hi {
			t.Fatalf("%d: %+v: piecewise %g gains %g, %g is possible", k, l, walked, l.gain(walked), best)
		}
		if l.a*(l.a+walked) < 0 || l.b*(l.b-walked) < 0 {
			crossed++
		}
	}
	if crossed < 1000 {
		t.Errorf("only %d pairs have crossed zero", crossed)
	}
}

// asPrinted is the step of CST Theorem 7.18 to the letter: one quadrant, the one
// of the current signs, with sgn 0 = 0 where there is a choice.
func (l *line) asPrinted() float64 {
	sgn := func(v float64) float64 {
		switch {
		case v > 0:
			return 1
		case v < 0:
			return -1
		}
		return 0
	}
	sa, sb := sgn(l.a), sgn(l.b)
	lo, hi := l.lo, l.hi
	if sa >= 0 {
		lo = max(lo, -l.a)
	} else {
		hi = min(hi, -l.a)
	}
	if sb >= 0 {
		hi = min(hi, l.b)
	} else {
		lo = max(lo, l.b)
	}
	return min(max((l.slope-l.ea*sa+l.eb*sb)/l.kappa, lo), hi)
}

// TestCrossingZero: as printed Theorem 7.18 cannot begin at β = 0, where one of
// the two would have to become negative, nor get from one sign to the other
// (erratum C3).
func TestCrossingZero(t *testing.T) {
	zero := line{ea: 0.1, eb: 0.1, slope: 2, kappa: 2, lo: -1, hi: 1}
	if d := zero.asPrinted(); d != 0 {
		t.Errorf("as printed the first step is %g; the test is void", d)
	}
	other := line{a: -0.3, b: 0.2, ea: 0.1, eb: 0.1, slope: 2, kappa: 2, lo: -0.7, hi: 1.2}
	if d := other.asPrinted(); d > 0.2 {
		t.Errorf("as printed the step is %g, across zero; the test is void", d)
	}
	for _, step := range []func(*line) float64{(*line).piecewise, (*line).quadrants} {
		if d := step(&zero); math.Abs(d-0.9) > 1e-15 {
			t.Errorf("from 0: %g, want 0.9", d)
		}
		// slope 2.2 up to d = 0.2, then 1.6 up to 0.3, then 1.2: all used up at 0.9.
		if d := step(&other); math.Abs(d-0.9) > 1e-15 {
			t.Errorf("across zero: %g, want 0.9", d)
		}
	}
	// Runs from 0, and with every sign wrong.
	p := waveProblem(40, 1, 0.1)
	right := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-8}})
	wrong := make([]float64, len(right.Alpha))
	for i := range 40 {
		wrong[i], wrong[40+i] = right.Alpha[40+i], right.Alpha[i]
	}
	want := right.Certificate.Dual
	for name, start := range map[string][]float64{"0": make([]float64, 80), "every sign wrong": wrong} {
		for _, m := range []TubeSMO{{}, {Step: Quadrants}, {PairsOnly: true}} {
			r := solve(t, p, m, Settings{Stop: UpLow{1e-8}, Start: start})
			if !toy.Near(r.Certificate.Dual, want, 1e-9) {
				t.Errorf("%s from %s: W = %.12g, want %.12g", m.Name(), name, r.Certificate.Dual, want)
			}
		}
		st, err := TubeSMO{}.Start(p, slices.Clone(start))
		if err != nil {
			t.Fatal(err)
		}
		s := st.(*tube)
		for range 200 { // every pair in turn, as printed
			for i := range 40 {
				for j := range i {
					l := line{a: s.alpha[i], b: s.alpha[j], ea: 0.1, eb: 0.1, slope: s.f[i] - s.f[j], kappa: 2 - 2*s.p.K.Row(i)[j],
						lo: -min(s.fall(i), s.rise(j)), hi: min(s.rise(i), s.fall(j))}
					if d := l.asPrinted(); math.Abs(d) > 1e-9 {
						s.move(i, d)
						s.move(j, -d)
						s.sign(i)
						s.sign(j)
						s.greedy.shift(s.p.K.Row(i), s.p.K.Row(j), d)
					}
				}
			}
		}
		if w := plainDual(p, s.both); w > 0.9*want {
			t.Errorf("as printed from %s: W = %.9g of %.9g; the test is void", name, w, want)

		}
	}
}

// TestTubeGap: the gap of any α at any b is primal − dual, and its terms are
// those of a regression, −βr + ε|β| + C(|r| − ε)₊, each at least 0.
func TestTubeGap(t *testing.T) {
	rng := toy.Rand(6)
	x, y := wave(6, 30, 0.4)
	k := toy.NewGram(x, toy.RBF(1))
	for round := range 60 {
		p := Tube(k, y, uneven(30), 0.2)
		if round%2 == 1 {
			p = Tube2(k, y, uneven(30), 0.2)
		}
		alpha := make([]float64, 60) // with one side of each tube at 0, and Σβ = 0
		for range 60 {
			i, j, b := rng.IntN(30), rng.IntN(30), 0.3*rng.Float64()
			if i != j && alpha[30+i] == 0 && alpha[j] == 0 && alpha[i]+b <= p.Upper[i] && alpha[30+j]+b <= p.Upper[30+j] {
				alpha[i] += b
				alpha[30+j] += b
			}
		}
		f := p.F(alpha)
		for range 5 {
			b := rng.NormFloat64()
			gap, want := p.gapAt(alpha, f, biases{b, b}), tubePrimal(p, alpha, b)-plainDual(p, alpha)
			if math.Abs(gap-want) > 1e-10*(1+want) || gap < 0 {
				t.Fatalf("gap at b = %g: %.15g, primal − dual is %.15g", b, gap, want)
			}
			if round%2 == 1 {
				continue
			}
			sum := 0.0
			for i, beta := range Signed(alpha) {
				r := f[i] + 0.2 - b // F of α̂ is y − g − ε
				term := -beta*r + 0.2*math.Abs(beta) + p.Upper[i]*max(0, math.Abs(r)-0.2)
				if term < -1e-12 {
					t.Fatalf("point %d: the term is %g", i, term)
				}
				sum += term
			}
			if math.Abs(sum-gap) > 1e-10*(1+gap) {
				t.Fatalf("the terms sum to %.15g, the gap is %.15g", sum, gap)
			}
		}
	}
}

// A kernel that is not positive semi-definite: κ < 0 occurs, every run ends where
// the KKT conditions hold.
func TestTubeIndefinite(t *testing.T) {
	x, y := toy.Points(toy.Rand(8), 40, 2, 0.3)
	for i, row := range x {
		y[i] = math.Sin(2*row[0]) + row[1]
	}
	for _, m := range []Method{TubeSMO{}, TubeSMO{Step: Quadrants}, TubeSMO{PairsOnly: true}, SMO{}} {
		r := solve(t, Tube(toy.NewGram(x, sigmoid(1, -1)), y, fill(40, 10), 0.1), m, Settings{Stop: KKT{1e-6}})
		if r.Status != Converged || r.Certificate.MaxKKT > 1e-5 {
			t.Errorf("%s: %v, KKT violation %g", m.Name(), r.Status, r.Certificate.MaxKKT)
		}
	}
}

// Ridge regression is a linear system: with the multiplier b of Σβ = 0,
// (K + λI)β + b = y.
func TestTubeIsRidgeRegression(t *testing.T) {
	x, y := wave(3, 60, 0.3)
	for _, lambda := range []float64{1e-3, 0.1, 10} {
		k := toy.NewGram(x, toy.RBF(1))
		n := len(y)
		a, right := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, append(slices.Clone(y), 0))
		for i := range n {
			for j, v := range k.Row(i) {
				a.Set(i, j, v)
			}
			a.Set(i, i, a.At(i, i)+lambda)
			a.Set(i, n, 1)
			a.Set(n, i, 1)
		}
		var want mat.VecDense
		if err := want.SolveVec(a, right); err != nil {
			t.Fatal(err)
		}
		for _, m := range []Method{TubeSMO{}, PrimalDual{}} {
			r := solve(t, Tube2(k, y, fill(n, 1/lambda), 0), m, Settings{Stop: UpLow{1e-10}})
			for i, b := range Signed(r.Alpha) {
				if math.Abs(b-want.AtVec(i)) > 1e-7*(1+math.Abs(b)) {
					t.Fatalf("%s, λ = %g: β[%d] = %.12g, want %.12g", m.Name(), lambda, i, b, want.AtVec(i))
				}
			}
			if math.Abs(r.Bias-want.AtVec(n)) > 1e-8 {
				t.Errorf("%s, λ = %g: b = %.12g, want %.12g", m.Name(), lambda, r.Bias, want.AtVec(n))
			}
			if _, ok := m.(TubeSMO); ok && r.Iterations > 20 {
				t.Errorf("%s, λ = %g: %d iterations; conjugate gradients need a few", m.Name(), lambda, r.Iterations)
			}
		}
	}
}

// ν-SVR finds an ε with which ε-SVR has the same solution; ν bounds the points
// outside and the support vectors.
func TestNuTube(t *testing.T) {
	x, y := wave(5, 80, 0.3)
	k := toy.NewGram(x, toy.RBF(1))
	for _, nu := range []float64{0.1, 0.3, 0.5, 0.9, 1} {
		p, err := NuTube(k, y, 2, nu)
		if err != nil {
			t.Fatal(err)
		}
		r := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-8}})
		if r.Certificate.RelGap > 1e-6 || r.Certificate.Equality > 1e-9 {
			t.Errorf("ν = %g: %+v", nu, r.Certificate)
		}
		epsilon := -r.Certificate.Rho
		vectors, bound := supportOf(r.Alpha, 2)
		if float64(bound) > 80*nu+1e-9 || float64(vectors) < 80*nu-1e-9 {
			t.Errorf("ν = %g: %d support vectors, %d at the bound", nu, vectors, bound)
		}
		if nu == 1 {
			continue // ε is any small number, 0 too
		}
		tube := solve(t, Tube(k, y, fill(80, 2), epsilon), TubeSMO{}, Settings{Stop: UpLow{1e-8}})
		if w := r.Certificate.Dual - epsilon*p.Sum; !toy.Near(w, tube.Certificate.Dual, 1e-8) {
			t.Errorf("ν = %g: W less ε Σ(α̂ + α) = %.12g, with ε = %g it is %.12g", nu, w, epsilon, tube.Certificate.Dual)
		}
		for i := range y { // β itself is less certain: K is nearly singular
			f := 0.0
			for j, v := range k.Row(i) {
				f += v * (Signed(r.Alpha)[j] - Signed(tube.Alpha)[j])
			}
			if math.Abs(f) > 1e-6 {
				t.Errorf("ν = %g: f at point %d differs by %g from that of ε-SVR", nu, i, f)
			}
		}
		if math.Abs(r.Bias-tube.Bias) > 1e-5 {
			t.Errorf("ν = %g: b = %g, with ε = %g it is %g", nu, r.Bias, epsilon, tube.Bias)
		}
		if _, err := Solve(context.Background(), p, TubeSMO{}, Settings{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("tube SMO takes ν-SVR: %v", err)
		}
	}
	for _, bad := range []struct{ c, nu float64 }{{1, 0}, {1, -1}, {1, 1.1}, {1, math.NaN()}, {0, 0.5}, {-1, 0.5}, {math.Inf(1), 0.5}, {math.NaN(), 0.5}} {
		var e *ProblemError
		if p, err := NuTube(k, y, bad.c, bad.nu); !errors.As(err, &e) || p != nil {
			t.Errorf("c = %g, ν = %g: %v", bad.c, bad.nu, err)
		}
	}
}

func TestTubeInput(t *testing.T) {
	x, y := wave(1, 6, 0.1)
	k := toy.NewGram(x, toy.RBF(1))
	with := func(i int, v float64) []float64 {
		z := slices.Clone(y)
		z[i] = v
		return z
	}
	broken := toy.NewGram(x, toy.RBF(1))
	broken.K[4][2] = math.NaN()
	for _, c := range []struct {
		name    string
		problem *Problem
		field   string
		index   int
	}{
		{"NaN target", Tube(k, with(2, math.NaN()), fill(6, 1), 0.1), "P", 2},
		{"infinite target", Tube(k, with(5, math.Inf(-1)), fill(6, 1), 0.1), "P", 5},
		{"ε < 0", Tube(k, y, fill(6, 1), -0.1), "P", 0},
		{"ε NaN", Tube(k, y, fill(6, 1), math.NaN()), "P", 0},
		{"C < 0", Tube(k, y, fill(6, -1), 0.1), "Upper", 0},
		{"C NaN", Tube(k, y, fill(6, math.NaN()), 0.1), "Upper", 0},
		{"C = 0, quadratic", Tube2(k, y, fill(6, 0), 0.1), "Ridge", 0},
		{"C < 0, quadratic", Tube2(k, y, fill(6, -2), 0.1), "Ridge", 0},
		{"too few targets", Tube(k, y[:4], fill(6, 1), 0.1), "P", -1},
		{"too many costs", Tube(k, y, fill(7, 1), 0.1), "Upper", -1},
		{"no points", Tube(&toy.Gram{}, nil, nil, 0.1), "K", -1},
		{"a bad row", Tube(broken, y, fill(6, 1), 0.1), "K", 4},
	} {
		for _, m := range []Method{TubeSMO{}, SMO{}} {
			r, err := Solve(context.Background(), c.problem, m, Settings{Stop: UpLow{1e-12}})
			var bad *ProblemError
			if !errors.As(err, &bad) || bad.Field != c.field || bad.Index != c.index || r != nil {
				t.Errorf("%s, %s: %v", c.name, m.Name(), err)
			}
		}
	}
	for name, c := range map[string]struct {
		p *Problem
		m Method
	}{
		"classification":   {blobs(6, 1, toy.Dot, 1), TubeSMO{}},
		"fixed bias":       {Tube(k, y, fill(6, 1), 0.1).WithFixedBias(0), TubeSMO{}},
		"no such step":     {Tube(k, y, fill(6, 1), 0.1), TubeSMO{Step: 7}},
		"inner":            {Tube(k, y, fill(6, 1), 0.1), Decomposition{Size: 4, Inner: TubeSMO{}}},
		"no linear kernel": {Tube(k, y, fill(6, 1), 0.1).WithFixedBias(0), CoordinateDescent{}},
	} {
		if r, err := Solve(context.Background(), c.p, c.m, Settings{}); !errors.Is(err, ErrUnsupported) || r != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A lower bound above 0 is no tube: β does not say both.
	p := Tube(k, y, fill(6, 1), 0.1)
	p.Lower[8] = 0.5
	if _, err := Solve(context.Background(), p, TubeSMO{}, Settings{}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "point 2") {
		t.Errorf("lower bound: %v", err)
	}
	// Two equal points with targets farther apart than the tube is wide, and no C.
	p = Tube(toy.NewGram([][]float64{{1}, {1}}, toy.Dot), []float64{0, 1}, fill(2, math.Inf(1)), 0.1)
	for _, m := range []Method{TubeSMO{}, TubeSMO{Step: Quadrants}, SMO{}} {
		if _, err := Solve(context.Background(), p, m, Settings{}); !errors.Is(err, ErrUnbounded) {
			t.Errorf("%s without C: %v", m.Name(), err)
		}
	}
}

// An α with both sides of a tube above 0 is a feasible start like any other.
func TestTubeStart(t *testing.T) {
	p := waveProblem(20, 1, 0.1)
	start := fill(40, 0.5)
	want := solve(t, p, TubeSMO{}, Settings{Stop: UpLow{1e-9}})
	r := solve(t, p, TubeSMO{}, Settings{Stop: UpLow{1e-9}, Start: start})
	if !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-9) || start[3] != 0.5 {
		t.Errorf("W = %.12g, want %.12g", r.Certificate.Dual, want.Certificate.Dual)
	}
	for i := range 20 {
		if r.Alpha[i] > 0 && r.Alpha[20+i] > 0 {
			t.Errorf("point %d is above and below the tube", i)
		}
	}
}

// TubeSMO asks for rows of n, and its steps do not allocate.
func TestTubeSMOIsLight(t *testing.T) {
	p := waveProblem(50, 10, 0.05)
	k := PointsOf(p.K).(*toy.Gram)
	st, err := TubeSMO{}.Start(p, make([]float64, 100))
	if err != nil {
		t.Fatal(err)
	}
	var it Iterate
	if _, err := st.Step(context.Background()); err != nil {
		t.Fatal(err)
	}
	rows := k.Rows
	if a := testing.AllocsPerRun(20, func() {
		st.Step(context.Background())
		st.Report(&it)
	}); a != 0 {
		t.Errorf("%g allocations in a step", a)
	}
	if k.Rows-rows > 2*21 {
		t.Errorf("%d rows for 21 steps", k.Rows-rows)
	}
}

// TestLIBSVMRegression solves random problems with svm-train -s 3 and -s 4 too,
// where it is installed (Debian: libsvm-tools).
func TestLIBSVMRegression(t *testing.T) {
	tool, err := exec.LookPath("svm-train")
	if err != nil {
		t.Skip("svm-train of LIBSVM is not installed (Debian: libsvm-tools)")
	}
	for seed := range uint64(8) {
		rng := toy.Rand(100 + seed)
		n := 40 + rng.IntN(80)
		x, y := wave(seed, n, 0.3)
		c, gamma, epsilon := math.Pow(10, 2*rng.Float64()-1), math.Pow(10, rng.Float64()-0.5), 0.3*rng.Float64()
		var lines bytes.Buffer
		for i, row := range x {
			fmt.Fprintf(&lines, "%.17g 1:%.17g\n", y[i], row[0])
		}
		file := filepath.Join(t.TempDir(), "points")
		if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		k := toy.NewGram(x, toy.RBF(gamma))
		options := []string{"-s", "3", "-p", fmt.Sprint(epsilon)}
		p, m := Tube(k, y, fill(n, c), epsilon), Method(TubeSMO{Step: TubeStep(seed % 2)})
		if seed >= 6 {
			options, m = []string{"-s", "4", "-n", "0.4"}, SMO{}
			if p, err = NuTube(k, y, c, 0.4); err != nil {
				t.Fatal(err)
			}
		}
		options = append(options, "-t", "2", "-g", fmt.Sprint(gamma), "-c", fmt.Sprint(c), "-e", "1e-6", "-h", "0", file, file+".model")
		out, err := exec.Command(tool, options...).CombinedOutput()
		if err != nil {
			t.Fatalf("svm-train %v: %v\n%s", options, err, out)
		}
		says := regexp.MustCompile(`(?s)obj = (\S+), rho = (\S+)\s+nSV = (\d+), nBSV = (\d+)`).FindSubmatch(out)
		if says == nil {
			t.Fatalf("svm-train says something else:\n%s", out)
		}
		obj, rho := number(t, string(says[1])), number(t, string(says[2]))
		nSV, nBSV := number(t, string(says[3])), number(t, string(says[4]))
		r := solve(t, p, m, Settings{Stop: UpLow{1e-8}})
		if !toy.Near(r.Certificate.Dual, -obj, 1e-6) || math.Abs(r.Bias+rho) > 1e-4*(1+math.Abs(rho)) {
			t.Errorf("%v: W = %.9g, b = %.6g; LIBSVM %.9g, %.6g", options[:len(options)-2], r.Certificate.Dual, r.Bias, -obj, -rho)
		}
		vectors, bound := supportOf(r.Alpha, c)
		if math.Abs(float64(vectors)-nSV) > 1 || math.Abs(float64(bound)-nBSV) > 1 {
			t.Errorf("%v: %d support vectors, %d at the bound; LIBSVM %g, %g", options[:len(options)-2], vectors, bound, nSV, nBSV)
		}
	}
}

// randomTube draws 2 to 50 points, a kernel, costs from 1e-3 to 1e5, a tube, a
// loss, and often duplicates with different targets.
func randomTube(rng *rand.Rand) (p *Problem, name string) {
	n, d := 2+rng.IntN(49), 1+rng.IntN(4)
	x, y := toy.Points(rng, n, d, 0)
	size := math.Pow(10, 4*rng.Float64()-2)
	for i, row := range x {
		y[i] = size * (row[0]*row[0] + math.Sin(row[d-1]) + 0.3*rng.NormFloat64())
	}
	if rng.IntN(3) == 0 {
		for range 1 + n/8 {
			x[rng.IntN(n)] = x[rng.IntN(n)]
		}
	}
	k := toy.RBF(math.Pow(10, 2*rng.Float64()-1))
	switch rng.IntN(4) {
	case 0:
		k, name = toy.Dot, "linear"
	case 1:
		k, name = toy.Polynomial(1/float64(d), 1, 2), "quadratic kernel"
	}
	c, epsilon := fill(n, math.Pow(10, 8*rng.Float64()-3)), size*[...]float64{0, 0.01, 0.3, 3}[rng.IntN(4)]
	if name == "" {
		name = "RBF"
	}
	name = fmt.Sprintf("n = %d, d = %d, %s, targets %.2g, C = %.3g, ε = %.2g", n, d, name, size, c[0], epsilon)
	if rng.IntN(2) == 0 {
		for i := range c {
			c[i] *= math.Pow(10, 2*rng.Float64()-1)
		}
	}
	switch rng.IntN(6) {
	case 0, 1:
		return Tube2(toy.NewGram(x, k), y, c, epsilon), name + ", quadratic loss"
	case 2:
		tau := 0.01 + 0.98*rng.Float64()
		return Pinball(toy.NewGram(x, k), y, c, tau), fmt.Sprintf("%s, τ = %.2g", name, tau)
	case 3:
		delta := size * math.Pow(10, 3*rng.Float64()-2)
		return HuberTube(toy.NewGram(x, k), y, c, delta), fmt.Sprintf("%s, δ = %.2g", name, delta)
	}
	return Tube(toy.NewGram(x, k), y, c, epsilon), name
}

func TestRandomTubes(t *testing.T) {
	for seed := range uint64(150) {
		rng := toy.Rand(1000 + seed)
		p, name := randomTube(rng)
		best := math.NaN()
		for _, m := range []Method{TubeSMO{}, TubeSMO{Step: Quadrants}, SMO{}} {
			r := solve(t, p, m, Settings{Stop: Gap{1e-8}, MaxIterations: 5_000_000})
			dual := plainDual(p, r.Alpha)
			primal := tubePrimal(p, r.Alpha, r.Bias)
			if c := r.Certificate; c.RelGap > 1e-6 || math.Abs(dual-c.Dual) > 1e-7*(1+c.Primal) || primal < c.Primal-1e-7*(1+c.Primal) {
				t.Errorf("%d: %s: %s: %v after %d iterations, primal %g, dual %g, %+v", seed, name, m.Name(), r.Status, r.Iterations, primal, dual, c)
			}
			if math.IsNaN(best) {
				best = dual
			}
			if math.Abs(dual-best) > 1e-6*(1+math.Abs(best)) {
				t.Errorf("%d: %s: %s: W = %.10g, tube SMO found %.10g", seed, name, m.Name(), dual, best)
			}
		}
	}
}
