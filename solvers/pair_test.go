package solvers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// TestPairStep compares with the best of a fine grid. For κ ≤ 0 the sources'
// division by κ, unguarded, has no answer or a wrong one (errata W4, C14).
func TestPairStep(t *testing.T) {
	rng := toy.Rand(1)
	for range 10_000 {
		slope, kappa := rng.NormFloat64(), rng.NormFloat64()
		lo, hi := -rng.ExpFloat64(), rng.ExpFloat64()
		switch rng.IntN(8) {
		case 0:
			lo = 0
		case 1:
			hi = 0
		case 2:
			kappa = 0
		case 3:
			slope = 0
		}
		value := func(t float64) float64 { return slope*t - kappa*t*t/2 }
		step := pairStep(slope, kappa, lo, hi)
		if !(step >= lo && step <= hi) {
			t.Fatalf("slope %g, κ %g: step %g is outside [%g, %g]", slope, kappa, step, lo, hi)
		}
		for k := range 201 {
			at := lo + (hi-lo)*float64(k)/200
			if value(at) > value(step)+1e-14 {
				t.Fatalf("slope %g, κ %g on [%g, %g]: %g at %g, but %g at the step %g", slope, kappa, lo, hi, value(at), at, value(step), step)
			}
		}
	}
}

func TestPairStepWithoutEnd(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ slope, kappa, lo, hi, want float64 }{
		{1, 2, 0, inf, 0.5},
		{-1, 2, 0, inf, 0},
		{-1, 2, -inf, inf, -0.5},
		{1, 0, 0, inf, inf},
		{1, 0, -1, inf, inf},
		{-1, 0, -1, inf, -1},
		{0, 0, -1, inf, 0},
		{1, -1, 0, inf, inf},
		{-1, -1, 0, inf, inf}, // downhill at first
		{0, -1, -inf, 1, -inf},
		{0, -1, -1, 2, 2},
		{0, -1, 0, 0, 0},
	} {
		if got := pairStep(c.slope, c.kappa, c.lo, c.hi); got != c.want {
			t.Errorf("pairStep(%g, %g, %g, %g) = %g, want %g", c.slope, c.kappa, c.lo, c.hi, got, c.want)
		}
	}
}

// twoPoints draws a problem of two points and a feasible α. The kernel is
// definite, singular (duplicates) or indefinite; each point has its own cost.
func twoPoints(rng *rand.Rand) (p *Problem, alpha []float64, kappa float64) {
	k11, k22 := rng.ExpFloat64(), rng.ExpFloat64()
	k12 := (2*rng.Float64() - 1) * math.Sqrt(k11*k22)
	switch rng.IntN(4) {
	case 0:
		k22, k12 = k11, k11
	case 1:
		k12 = (k11 + k22 + rng.ExpFloat64()) / 2
	}
	sign := func() float64 { return float64(2*rng.IntN(2) - 1) }
	p = SoftMargin(toy.MatrixOf([][]float64{{k11, k12}, {k12, k22}}), []float64{sign(), sign()}, []float64{rng.ExpFloat64(), rng.ExpFloat64()})
	if rng.IntN(10) == 0 {
		p.Upper[0], p.Upper[1] = math.Inf(1), math.Inf(1)
	}
	for i := range 2 {
		room := min(p.Upper[i], 3)
		alpha = append(alpha, [...]float64{0, room, room * rng.Float64()}[rng.IntN(3)])
	}
	p.Delta = p.S[0]*alpha[0] + p.S[1]*alpha[1]
	return p, alpha, k11 + k22 - 2*k12
}

// TestTwoPoints solves 10⁴ problems of two points by a grid over α_2 between the
// bounds U and V of CST (7.5) and (7.6), for separate costs, and by one step.
func TestTwoPoints(t *testing.T) {
	rng := toy.Rand(2)
	unbounded, singular, indefinite := 0, 0, 0
	for range 10_000 {
		p, before, kappa := twoPoints(rng)
		c1, c2, a1, a2 := p.Upper[0], p.Upper[1], before[0], before[1]
		u, v := max(0, a2-a1), min(c2, c1+a2-a1)
		if p.S[0] == p.S[1] {
			u, v = max(0, a1+a2-c1), min(c2, a1+a2)
		}
		at := func(new2 float64) []float64 {
			return []float64{a1 - p.S[0]*p.S[1]*(new2-a2), new2}
		}
		w := pairsAt(p, append([]float64(nil), before...), nil)
		step, err := w.solve(0, 1, p.K.Row(0)[1], 0)
		if math.IsInf(v, 1) && kappa < 1e-12 {
			far := plainDual(p, at(a2+1e3)) > plainDual(p, before)+1
			if far != errors.Is(err, ErrUnbounded) {
				t.Fatalf("C = ∞, κ = %g, α = %v, labels %v: error %v", kappa, before, p.S, err)
			}
			unbounded++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case math.Abs(kappa) < 1e-12:
			singular++
		case kappa < 0:
			indefinite++
		}
		got := plainDual(p, w.alpha)
		top := v
		if math.IsInf(v, 1) {
			top = a2 + 100
		}
		for k := range 101 {
			new2 := u + (top-u)*float64(k)/100
			if d := plainDual(p, at(new2)); d > got+1e-12*(1+math.Abs(d)) {
				t.Fatalf("labels %v, α = %v, C = %v, κ = %g: the step %g gives W = %.15g, α_2 = %g gives %.15g", p.S, before, p.Upper, kappa, step, got, new2, d)
			}
		}
		if w.alpha[1] < u-1e-15 || w.alpha[1] > v+1e-15 || equalitySum(p, w.alpha) > 1e-14 {
			t.Fatalf("α = %v is not feasible: [U, V] = [%g, %g], y'α off by %g", w.alpha, u, v, equalitySum(p, w.alpha))
		}
		// Theorem 7.12: α_2 + y_2 (E_1 − E_2)/κ, clipped.
		if kappa > 1e-12 {
			f := p.F(before)
			if want := min(max(a2+p.S[1]*(f[1]-f[0])/kappa, u), v); math.Abs(w.alpha[1]-want) > 1e-12*(1+math.Abs(want)) {
				t.Fatalf("α_2 = %.15g, Theorem 7.12 says %.15g", w.alpha[1], want)
			}
		}
	}
	if unbounded < 100 || singular < 1000 || indefinite < 1000 {
		t.Errorf("too few of a kind: %d unbounded, %d singular, %d indefinite", unbounded, singular, indefinite)
	}
}

// TestPartner compares the second-order choice with the gain of every pair: the
// largest among F_j < F_i, where ST prints the smallest over all (errata S2, S3).
func TestPartner(t *testing.T) {
	rng := toy.Rand(3)
	for range 200 {
		n := 3 + rng.IntN(20)
		x, y := toy.Points(rng, n, 2, 0.5)
		for range rng.IntN(3) {
			x[rng.IntN(n)] = x[rng.IntN(n)] // κ = 0, which counts as 1e-12
		}
		c := fill(n, 1)
		k := toy.Kernel(toy.RBF(1))
		if rng.IntN(4) == 0 {
			k = sigmoid(1, -1) // κ < 0
		}
		p := SoftMargin(toy.NewGram(x, k), y, c)
		alpha := make([]float64, n)
		for i := range alpha {
			alpha[i] = [...]float64{0, 1, rng.Float64()}[rng.IntN(3)]
			p.Delta += y[i] * alpha[i]
		}
		s := newGreedy(pairsAt(p, alpha, nil), SMO{})
		if !(s.up > s.low) {
			continue
		}
		f := p.F(alpha)
		best, gain := -1, 0.0
		for j := range n {
			if !(p.CanFall(j, alpha[j]) && f[j] < f[s.i]) {
				continue
			}
			kappa := p.K.Diag()[s.i] + p.K.Diag()[j] - 2*p.K.Row(s.i)[j]
			if kappa <= 0 {
				kappa = 1e-12
			}
			if g := (f[s.i] - f[j]) * (f[s.i] - f[j]) / kappa; g >= gain {
				best, gain = j, g
			}
		}
		for i := range n {
			if p.CanRise(i, alpha[i]) && f[i] > s.up {
				t.Fatalf("m = %g, but F[%d] = %g may rise", s.up, i, f[i])
			}
			if p.CanFall(i, alpha[i]) && f[i] < s.low {
				t.Fatalf("M = %g, but F[%d] = %g may fall", s.low, i, f[i])
			}
		}
		if got := s.partner(p.K.Row(s.i)); got != best {
			t.Fatalf("partner of %d is %d, the largest gain has %d", s.i, got, best)
		}
	}
}

// TestCurvature: κ within its rounding error is that error, so that a step surely
// ascends; 0, and so unbounded, only where nothing else ends the step.
func TestCurvature(t *testing.T) {
	const noise = 4 * 0x1p-52 * 2
	inf := math.Inf(1)
	for _, c := range []struct {
		kij, room float64
		ridge     bool
		want      float64
	}{
		{0.5, 1, false, 1},
		{0.5, inf, false, 1},
		{1.5, inf, false, -1},
		{1, 1, false, noise},
		{1 + 0x1p-52, 1, false, noise},
		{1 - 0x1p-52, -1, false, noise},
		{1, inf, false, 0},
		{1 - 0x1p-52, -inf, false, 0},
		{1, inf, true, noise},
	} {
		w := pairs{p: &Problem{}, diag: []float64{1, 1}}
		if c.ridge {
			w.p.Ridge = []float64{0, 0}
		}
		if got := w.curvature(0, 1, c.kij, c.room); got != c.want {
			t.Errorf("K_ij = %.17g, room %g, ridge %v: κ = %g, want %g", c.kij, c.room, c.ridge, got, c.want)
		}
	}
	for _, m := range methods {
		for _, k11 := range []float64{1 - 0x1p-53, 1, 1 + 0x1p-52} {
			p := HardMargin(toy.MatrixOf([][]float64{{k11, 1}, {1, 1}}), []float64{1, -1})
			_, pairs := m.method.(SMO)
			if r, err := Solve(context.Background(), p, m.method, Settings{}); !errors.Is(err, ErrUnbounded) || pairs && r.Iterations > 1 {
				t.Errorf("%s: two points that are one up to rounding, opposite labels, hard margin: %v", m.method.Name(), err)
			}
		}
	}
}
