package solvers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// The five texts have slips, and each test here fails with the formula as it is
// printed. The names are those of docs/math.md: W Wang, ST Schmidt-Thieme,
// B the blog, CST Cristianini and Shawe-Taylor.

// randomAlpha draws a feasible α, far from the optimum, with bounds among them.
func randomAlpha(rng *rand.Rand, p *Problem) []float64 {
	n := len(p.S)
	alpha := make([]float64, n)
	for range 4 * n {
		i, j := rng.IntN(n), rng.IntN(n)
		w := pairs{p: p, alpha: alpha}
		if i == j {
			continue
		}
		room := min(w.rise(i), w.fall(j), 3)
		if rng.IntN(2) == 0 {
			room *= rng.Float64()
		}
		w.move(i, room)
		w.move(j, -room)
	}
	return alpha
}

func classifiers(rng *rand.Rand) []*Problem {
	x, y := toy.Points(rng, 30, 2, 0.5)
	k := toy.NewGram(x, toy.RBF(0.7))
	c := make([]float64, 30)
	for i := range c {
		c[i] = 0.2 + 2*rng.Float64()
	}
	return []*Problem{SoftMargin(k, y, fill(30, 1)), SoftMargin(k, y, c), SoftMargin2(k, y, c)}
}

// TestGapIsPrimalMinusDual: CST (7.3) for every α and every b, 1-norm and 2-norm.
// CST Remark 7.2 drops b from the single terms, which then can be negative; with
// f instead of g each is at least 0 and they sum to the gap (C8, C9, C11).
func TestGapIsPrimalMinusDual(t *testing.T) {
	rng := toy.Rand(1)
	for range 30 {
		for _, p := range classifiers(rng) {
			alpha := randomAlpha(rng, p)
			f := p.F(alpha)
			for range 10 {
				b := 3 * rng.NormFloat64()
				gap := p.gapAt(alpha, f, biases{b, b})
				want := plainPrimal(p, alpha, b) - plainDual(p, alpha)
				if math.Abs(gap-want) > 1e-10*(1+want) || gap < 0 {
					t.Fatalf("gap at b = %g: %.15g, primal − dual is %.15g", b, gap, want)
				}
				for i, a := range alpha {
					g, ridge := p.S[i]*(b-f[i]), 0.0
					if p.Ridge != nil {
						ridge = p.Ridge[i]
						g -= ridge * a
					}
					term := gapTerm(g, a, p.Lower[i], p.Upper[i], ridge)
					if term < 0 {
						t.Fatalf("term %d is %g", i, term)
					}
					if p.Ridge == nil {
						r := p.S[i] * (b - f[i]) // y f − 1
						if named := a*max(r, 0) + (p.Upper[i]-a)*max(-r, 0); math.Abs(term-named) > 1e-13 {
							t.Fatalf("term %d is %g, α(yf − 1)₊ + (C − α)(1 − yf)₊ is %g", i, term, named)
						}
					}
				}
			}
		}
	}
}

// TestBestBias: no b of a grid has a smaller gap. CST takes b from some free
// vector, which need not exist.
func TestBestBias(t *testing.T) {
	rng := toy.Rand(2)
	for range 30 {
		for _, p := range classifiers(rng) {
			alpha := randomAlpha(rng, p)
			f := p.F(alpha)
			best := p.gapAt(alpha, f, p.bestBias(alpha, f))
			for k := range 2001 {
				if b := -5 + float64(k)/200; p.gapAt(alpha, f, biases{b, b}) < best*(1-1e-12)-1e-13 {
					t.Fatalf("b = %g has gap %.15g, the best one %.15g", b, p.gapAt(alpha, f, biases{b, b}), best)
				}
			}
			if c := Certify(p, alpha); !toy.Near(c.Gap, best, 1e-12) || !toy.Near(c.Primal-c.Dual, c.Gap, 1e-9) {
				t.Fatalf("certified gap %g, primal − dual %g, want %g", c.Gap, c.Primal-c.Dual, best)
			}
		}
	}
}

// TestRemark72AsPrinted: the printed terms do become negative, so the correction
// is not idle.
func TestRemark72AsPrinted(t *testing.T) {
	rng := toy.Rand(3)
	lowest := 0.0
	for range 20 {
		p := classifiers(rng)[0]
		r := solve(t, p, SMO{}, Settings{})
		for i, f := range p.F(r.Alpha) {
			g := p.S[i] - f
			slack := max(0, 1-p.S[i]*(g+r.Bias))
			lowest = min(lowest, r.Alpha[i]*(p.S[i]*g-1)+p.Upper[i]*slack)
		}
	}
	if lowest > -0.01 {
		t.Errorf("the lowest printed term is %g", lowest)
	}
}

// TestKKT compares the certificate, the violations of the points and the trace with the
// conditions written out for each α, at the bias that violates least: of this convex
// function of b a search finds the bottom.
func TestKKT(t *testing.T) {
	rng := toy.Rand(8)
	for range 50 {
		problems := append(classifiers(rng), HardMargin(classifiers(rng)[0].K, classifiers(rng)[0].S))
		for _, p := range append(problems, problems[0].WithFixedBias(0.3)) {
			alpha := randomAlpha(rng, p)
			g := make([]float64, len(alpha)) // f without its bias
			for i := range g {
				for j, k := range p.K.Row(i) {
					g[i] += alpha[j] * p.S[j] * k
				}
			}
			worst := func(b float64) (worst float64) {
				for i, a := range alpha {
					yf, target := p.S[i]*(g[i]+b), 1.0
					if p.Ridge != nil {
						target -= p.Ridge[i] * a // the slack is α/C
					}
					if a < p.Upper[i] {
						worst = max(worst, target-yf)
					}
					if a > 0 {
						worst = max(worst, yf-target)
					}
				}
				return worst
			}
			want := worst(p.Bias)
			if !p.FixedBias {
				low, high := -1e3, 1e3
				for range 200 {
					if a, b := low+(high-low)/3, high-(high-low)/3; worst(a) < worst(b) {
						high = b
					} else {
						low = a
					}
				}
				want = worst(low)
			}
			c, r := Certify(p, alpha), run{given: p, p: p, it: Iterate{Alpha: alpha}}
			if !toy.Near(c.MaxKKT, want, 1e-10) {
				t.Fatalf("KKT violation %.15g, condition by condition %.15g", c.MaxKKT, want)
			}
			if v := slices.Max(p.Violations(nil, alpha, nil)); v != c.MaxKKT {
				t.Fatalf("the largest violation of a point is %v, that of the certificate %v", v, c.MaxKKT)
			}
			r.it.F = p.F(alpha)
			if pt := r.measure(0); pt.KKT != c.MaxKKT {
				t.Fatalf("the trace has a violation of %v, the certificate %v", pt.KKT, c.MaxKKT)
			}
		}
	}
}

// TestGapBound: m − M ≤ ε leaves a gap of at most n C ε/2, and every KKT
// condition within ε/2 at the middle.
func TestGapBound(t *testing.T) {
	rng := toy.Rand(4)
	for _, eps := range []float64{1, 1e-1, 1e-3, 1e-6} {
		for range 10 {
			x, y := toy.Points(rng, 40, 2, 0.5)
			c := math.Pow(10, 4*rng.Float64()-2)
			p := SoftMargin(toy.NewGram(x, toy.RBF(0.7)), y, fill(40, c))
			r := solve(t, p, SMO{}, Settings{Stop: UpLow{eps}})
			if bound := 40 * c * eps / 2; r.Certificate.Gap > bound {
				t.Errorf("C = %g, ε = %g: gap %g > nCε/2 = %g", c, eps, r.Certificate.Gap, bound)
			}
			f := p.F(r.Alpha)
			s := p.summarise(r.Alpha, f)
			b := (s.up + s.low) / 2
			for i, a := range r.Alpha {
				if v := p.S[i] * (f[i] - b); a < c && v > eps/2+1e-12 || a > 0 && -v > eps/2+1e-12 {
					t.Errorf("C = %g, ε = %g: condition %d is violated by %g", c, eps, i, math.Abs(v))
				}
			}
		}
	}
}

// TestStepsKeepInvariants follows each selection step by step: F as maintained is
// F as recomputed (B3, S8, W2: errors that go stale), y'α stays 0 (W3: an α_j
// that is not restored), W grows by the gain of the step (S1, S12) and the
// selections with a bias leave E = 0 at a free point of the pair, the mean of the
// two if both are at a bound (W10, S7).
func TestStepsKeepInvariants(t *testing.T) {
	for _, sel := range []Selection{SecondOrder, WorstPair, Platt, Simplified} {
		rng := toy.Rand(5)
		for k, p := range classifiers(rng) {
			st, err := SMO{Selection: sel}.Start(p, make([]float64, 30))
			if err != nil {
				t.Fatal(err)
			}
			var it Iterate
			st.Report(&it)
			before := plainDual(p, it.Alpha)
			for step := range 300 {
				done, err := st.Step(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if done {
					break
				}
				st.Report(&it)
				for i, f := range p.F(it.Alpha) {
					if math.Abs(it.F[i]-f) > 1e-12 {
						t.Fatalf("%v, problem %d, step %d: F[%d] is kept as %g and is %g", sel, k, step, i, it.F[i], f)
					}
				}
				if e := equalitySum(p, it.Alpha); e > 1e-14 {
					t.Fatalf("%v, problem %d, step %d: |y'α| = %g", sel, k, step, e)
				}
				now := plainDual(p, it.Alpha)
				if now < before-1e-13 || step == 0 && now <= 0 {
					t.Fatalf("%v, problem %d, step %d: W goes from %.15g to %.15g", sel, k, step, before, now)
				}
				before = now
				var s *sweep
				switch st := st.(type) {
				case *platt:
					s = &st.sweep
				case *simplified:
					s = &st.sweep
				default:
					continue
				}
				i, j := s.working[0], s.working[1]
				ei, ej := s.b-it.F[i], s.b-it.F[j]
				switch {
				case s.fresh: // a dry sweep has set the bias
				case s.free(i) && math.Abs(ei) > 1e-12, !s.free(i) && s.free(j) && math.Abs(ej) > 1e-12:
					t.Fatalf("%v, step %d: E = %g, %g after the step", sel, step, ei, ej)
				case !s.free(i) && !s.free(j) && math.Abs(ei+ej) > 1e-12:
					t.Fatalf("%v, step %d: both at a bound, and the bias is not the mean: E = %g, %g", sel, step, ei, ej)
				}
			}
		}
	}
}

// TestSimplifiedConverges: with E_i computed once per i, as printed, W stays at
// 95.2 (W2) or, with α_j not restored, at 86.5 (W3).
func TestSimplifiedConverges(t *testing.T) {
	x, y := heart(t)
	p := SoftMargin(toy.NewGram(x, heartRBF), y, fill(len(y), 1))
	r := solve(t, p, SMO{Selection: Simplified}, Settings{Stop: UpLow{2e-3}})
	if r.Certificate.Dual < 100.8772 || r.Iterations > 10_000 {
		t.Errorf("W = %.7g after %d steps", r.Certificate.Dual, r.Iterations)
	}
	if r.Certificate.Equality > 1e-12 {
		t.Errorf("y'α = %g", r.Certificate.Equality)
	}
}

// TestBiasOfTheFree: the mean over all support vectors is −0.289 on heart, the
// one over the free ones −0.4245 (W5, B2, B4). α is exactly 0 or C where it is
// at a bound, so that no tolerance decides who is free.
func TestBiasOfTheFree(t *testing.T) {
	x, y := heart(t)
	p := SoftMargin(toy.NewGram(x, heartRBF), y, fill(len(y), 1))
	for _, sel := range []Selection{SecondOrder, WorstPair, Platt, Simplified} {
		r := solve(t, p, SMO{Selection: sel}, Settings{Stop: UpLow{1e-6}})
		all, free, nAll, nFree := 0.0, 0.0, 0.0, 0.0
		for i, f := range p.F(r.Alpha) {
			a := r.Alpha[i]
			if a > 0 {
				all, nAll = all+f, nAll+1
			}
			if a > 1e-8 && a < 1-1e-8 {
				free, nFree = free+f, nFree+1
			} else if a != 0 && a != 1 {
				t.Errorf("%v: α[%d] = %g is neither free nor at a bound", sel, i, a)
			}
		}
		if math.Abs(all/nAll+0.289) > 0.01 {
			t.Errorf("%v: the mean over all is %g: the data are others than thought", sel, all/nAll)
		}
		if !toy.Near(r.Bias, free/nFree, 1e-9) || math.Abs(r.Bias+0.424508) > 1e-5 {
			t.Errorf("%v: b = %g, the mean over the free is %g", sel, r.Bias, free/nFree)
		}
	}
}

// TestBiasWithoutFree: with a tiny C every support vector is at its bound and b
// is the middle of [m, M] (S13, C9).
func TestBiasWithoutFree(t *testing.T) {
	for _, m := range methods {
		p := blobs(40, 0.5, toy.RBF(0.5), 1e-6)
		r := solve(t, p, m.method, Settings{})
		if r.Certificate.Free != 0 || r.Certificate.AtUpper != 40 {
			t.Fatalf("%s: %+v", m.method.Name(), r.Certificate)
		}
		s := p.summarise(r.Alpha, p.F(r.Alpha))
		if math.Abs(r.Bias-(s.up+s.low)/2) > 1e-12 || math.Abs(r.Bias) > 0.5 {
			t.Errorf("%s: b = %g, [m, M] = [%g, %g]", m.method.Name(), r.Bias, s.up, s.low)
		}
	}
}

// TestOneClass: no pair exists; the machine is constant (S11).
func TestOneClass(t *testing.T) {
	for _, m := range methods {
		for _, y := range []float64{1, -1} {
			p := SoftMargin(toy.NewGram(corners, toy.RBF(1)), fill(4, y), fill(4, 1))
			r := solve(t, p, m.method, Settings{})
			if r.Bias != y || r.Status != Converged || r.Certificate.Gap != 0 {
				t.Errorf("%s, all %g: %v, b = %g, %+v", m.method.Name(), y, r.Status, r.Bias, r.Certificate)
			}
		}
	}
}

// TestNothingCanMove: all costs are 0, so α is and b may be anything finite.
func TestNothingCanMove(t *testing.T) {
	for _, m := range methods {
		r := solve(t, SoftMargin(toy.NewGram(corners, toy.RBF(1)), parity, make([]float64, 4)), m.method, Settings{})
		if r.Status != Converged || r.Bias != 0 || r.Certificate.Gap != 0 || r.Certificate.MaxKKT != 0 {
			t.Errorf("%s: %v, b = %g, %+v", m.method.Name(), r.Status, r.Bias, r.Certificate)
		}
	}
}

// TestZeroRow: a point that is the origin has K_ii = 0 and is moved all the same
// (S9, C16).
func TestZeroRow(t *testing.T) {
	x := [][]float64{{0, 0}, {1, 0}, {0, 0}, {2, 1}}
	y := []float64{1, -1, 1, -1}
	for _, m := range methods {
		r := solve(t, SoftMargin(toy.NewGram(x, toy.Dot), y, fill(4, 10)), m.method, Settings{Stop: UpLow{1e-9}})
		// The origin against (1, 0): the margin is ½, w = (−2, 0), b = 1, Σα = 4.
		if !toy.Near(r.Alpha[0]+r.Alpha[2], 2, 1e-8) || !toy.Near(r.Alpha[1], 2, 1e-8) || math.Abs(r.Bias-1) > 1e-8 {
			t.Errorf("%s: α = %v, b = %g", m.method.Name(), r.Alpha, r.Bias)
		}
	}
}

// TestScale: α in units of C. With features times s and C divided by s² the
// machine is the same: no tolerance may be in units of α (W6, S10).
func TestScale(t *testing.T) {
	for _, m := range methods {
		var want *Result
		for _, s := range []float64{1, 1e-3, 1e3} {
			x, y := toy.Points(toy.Rand(6), 50, 2, 0.6)
			for _, row := range x {
				row[0] *= s
				row[1] *= s
			}
			r := solve(t, SoftMargin(toy.NewGram(x, toy.Dot), y, fill(50, 3/(s*s))), m.method, Settings{Stop: UpLow{1e-7}})
			if s == 1 {
				want = r
				continue
			}
			if !toy.Near(r.Certificate.Dual*s*s, want.Certificate.Dual, 1e-8) || math.Abs(r.Bias-want.Bias) > 1e-5 {
				t.Errorf("%s, scale %g: W = %g, b = %g; want %g, %g", m.method.Name(), s, r.Certificate.Dual*s*s, r.Bias, want.Certificate.Dual, want.Bias)
			}
			if r.Certificate.AtUpper != want.Certificate.AtUpper {
				t.Errorf("%s, scale %g: %d at the bound, want %d", m.method.Name(), s, r.Certificate.AtUpper, want.Certificate.AtUpper)
			}
		}
	}
}

// TestInputIsNotChanged: W compresses α while X and y keep their length (W7).
// Here all have length n, α is 0 where there is no support vector, and nothing
// that was given is written to.
func TestInputIsNotChanged(t *testing.T) {
	for _, m := range methods {
		p, q := ringProblem(10), ringProblem(10)
		start := make([]float64, len(p.S))
		r := solve(t, p, m.method, Settings{Start: start})
		if len(r.Alpha) != len(p.S) {
			t.Fatalf("%s: %d α for %d points", m.method.Name(), len(r.Alpha), len(p.S))
		}
		for i := range q.S {
			if p.S[i] != q.S[i] || p.P[i] != q.P[i] || p.Lower[i] != q.Lower[i] || p.Upper[i] != q.Upper[i] || start[i] != 0 {
				t.Fatalf("%s has changed what it was given", m.method.Name())
			}
			for j, k := range q.K.Row(i) {
				if p.K.Row(i)[j] != k {
					t.Fatalf("%s has written to the kernel matrix", m.method.Name())
				}
			}
		}
	}
}

// TestWarmStart: from the optimum there is nothing to do, and from any feasible α
// the end is the same.
func TestWarmStart(t *testing.T) {
	for _, m := range methods {
		p := blobs(50, 0.6, toy.RBF(0.5), 2)
		cold := solve(t, p, m.method, Settings{Stop: UpLow{1e-8}})
		if again := solve(t, p, m.method, Settings{Stop: UpLow{1e-7}, Start: cold.Alpha}); again.Iterations > 2 || !toy.Near(again.Certificate.Dual, cold.Certificate.Dual, 1e-12) {
			t.Errorf("%s: %d iterations from the optimum", m.method.Name(), again.Iterations)
		}
		other := solve(t, p, m.method, Settings{Stop: UpLow{1e-8}, Start: randomAlpha(toy.Rand(7), p)})
		if !toy.Near(other.Certificate.Dual, cold.Certificate.Dual, 1e-10) {
			t.Errorf("%s: W = %.12g from another start, %.12g from 0", m.method.Name(), other.Certificate.Dual, cold.Certificate.Dual)
		}
	}
}

// TestFaces: where the kernel has low rank and the cost is huge, moving all free
// α now and then saves nearly all of the pairs, and every one of those steps
// ascends, stays feasible and is replayed like a pair.
func TestFaces(t *testing.T) {
	for _, c := range []float64{300, 3000} {
		x, y := toy.Points(toy.Rand(9), 40, 2, 0.3)
		p := SoftMargin2(toy.NewGram(x, toy.Dot), y, fill(40, c))
		stop := tight{1e-9}
		only := solve(t, p, SMO{PairsOnly: true}, Settings{Stop: stop, MaxIterations: 100_000_000})
		r := solve(t, p, SMO{}, Settings{Stop: stop, Every: 1})
		if only.Status != Converged || r.Status != Converged || !toy.Near(only.Certificate.Dual, r.Certificate.Dual, 3e-9) {
			t.Errorf("C = %g: %v, W = %.12g; pairs only %v, %.12g", c, r.Status, r.Certificate.Dual, only.Status, only.Certificate.Dual)
		}
		if 2*r.Iterations > only.Iterations {
			t.Errorf("C = %g: %d iterations, %d of pairs only", c, r.Iterations, only.Iterations)
		}
		checkTrace(t, p, r, false)
		wide := 0
		for _, pt := range r.Trace.Points {
			if len(pt.Working) > 2 {
				wide++
			}
		}
		if wide == 0 {
			t.Errorf("C = %g: no face among %d iterations", c, r.Iterations)
		}
	}
}
