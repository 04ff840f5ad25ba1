package solvers

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/internal/toy"
)

// facet maximises the dual of a small problem with a fixed bias by looking at
// every face of its box: at the optimum each α is at a bound or stationary.
func facet(p *Problem) (w float64, alpha []float64) {
	n := p.K.Dim()
	q, lin := mat.NewDense(n, n, nil), make([]float64, n)
	for i := range n {
		for j, k := range p.K.Row(i) {
			q.Set(i, j, p.S[i]*p.S[j]*k)
		}
		if p.Ridge != nil {
			q.Set(i, i, q.At(i, i)+p.Ridge[i])
		}
		lin[i] = p.P[i] + p.Bias*p.S[i]
	}
	w = math.Inf(-1)
	side := make([]int, n) // 0 lower, 1 upper, 2 free
	for {
		if a, ok := onFace(q, lin, p, side); ok {
			v := 0.0
			for i := range n {
				v -= a[i] * lin[i]
				for j := range n {
					v -= a[i] * a[j] * q.At(i, j) / 2
				}
			}
			if v > w {
				w, alpha = v, a
			}
		}
		i := 0
		for i < n && side[i] == 2 {
			side[i] = 0
			i++
		}
		if i == n {
			return w, alpha
		}
		side[i]++
	}
}

func onFace(q *mat.Dense, lin []float64, p *Problem, side []int) ([]float64, bool) {
	a := make([]float64, len(side))
	var free []int
	for i, s := range side {
		switch s {
		case 0:
			a[i] = p.Lower[i]
		case 1:
			a[i] = p.Upper[i]
		default:
			free = append(free, i)
		}
		if math.IsInf(a[i], 0) {
			return nil, false
		}
	}
	if len(free) == 0 {
		return a, true
	}
	left, right := mat.NewDense(len(free), len(free), nil), mat.NewVecDense(len(free), nil)
	for k, i := range free {
		v := -lin[i]
		for j := range a {
			if side[j] != 2 {
				v -= q.At(i, j) * a[j]
			}
		}
		right.SetVec(k, v)
		for l, j := range free {
			left.Set(k, l, q.At(i, j))
		}
	}
	var x mat.VecDense
	if x.SolveVec(left, right) != nil {
		return nil, false
	}
	for k, i := range free {
		a[i] = x.AtVec(k)
		if !(a[i] >= p.Lower[i] && a[i] <= p.Upper[i]) {
			return nil, false
		}
	}
	return a, true
}

// fixedProblem draws a small problem of every kind with a random fixed bias.
func fixedProblem(rng *rand.Rand, kind int) *Problem {
	n := 2 + rng.IntN(5)
	shift := 0.3
	if kind == 2 {
		shift = 4
	}
	x, y := toy.Points(rng, n, 2, shift)
	k := toy.NewGram(x, toy.RBF(0.5))
	if kind == 2 {
		k = toy.NewGram(x, toy.Dot)
	}
	c := fill(n, 0)
	for i := range c {
		c[i] = math.Pow(10, 2*rng.Float64()-1)
	}
	b0 := rng.NormFloat64()
	switch kind {
	case 0:
		return SoftMargin(k, y, c).WithFixedBias(b0)
	case 1:
		return SoftMargin2(k, y, c).WithFixedBias(b0)
	case 2:
		return HardMargin(k, y).WithFixedBias(b0 / 2)
	}
	p := SoftMargin(k, y, c)
	p.P, p.Lower, p.Ridge = fill(n, 0), fill(n, 0), fill(n, 0)
	for i := range n {
		p.P[i], p.Lower[i], p.Ridge[i] = rng.NormFloat64(), -rng.Float64(), float64(i%2)*rng.Float64()
	}
	return p.WithFixedBias(b0)
}

func TestFixedBiasIsExact(t *testing.T) {
	for kind := range 4 {
		for seed := range uint64(60) {
			rng := toy.Rand(seed)
			p := fixedProblem(rng, kind)
			w, alpha := facet(p)
			c := Certify(p, alpha)
			if !toy.Near(c.Dual, w, 1e-10) && math.Abs(c.Dual-w) > 1e-12 {
				t.Fatalf("kind %d seed %d: the certificate's dual is %.15g, the sum over Q %.15g", kind, seed, c.Dual, w)
			}
			if c.Gap < -1e-9 || c.Gap > 1e-8*(1+math.Abs(w)) || c.MaxKKT > 1e-8 || c.Bias != p.Bias {
				t.Fatalf("kind %d seed %d: at the optimum gap %g, KKT %g, bias %g of %g", kind, seed, c.Gap, c.MaxKKT, c.Bias, p.Bias)
			}
			r := solve(t, p, GradientAscent{}, Settings{Stop: UpLow{1e-10}})
			if math.Abs(r.Certificate.Dual-w) > 1e-9*(1+math.Abs(w)) {
				t.Fatalf("kind %d seed %d: W = %.12g, over all faces %.12g", kind, seed, r.Certificate.Dual, w)
			}
			if r.Bias != p.Bias || r.Trace.Points[0].Bias != p.Bias {
				t.Fatalf("kind %d seed %d: bias %g, fixed at %g", kind, seed, r.Bias, p.Bias)
			}
			for range 10 {
				for i := range alpha {
					alpha[i] = p.Lower[i] + rng.Float64()*(min(p.Upper[i], 2)-p.Lower[i])
				}
				c := Certify(p, alpha)
				if c.Dual > w+1e-9*(1+math.Abs(w)) || w-c.Dual > c.Gap*(1+1e-9)+1e-9*(1+math.Abs(w)) {
					t.Fatalf("kind %d seed %d: W* − W = %g, gap %g", kind, seed, w-c.Dual, c.Gap)
				}
			}
		}
	}
}

// The gap of the 1-norm written out as in the primal:
// α'Qα − Σ α_i(1 − y_i b₀) + Σ C_i (1 − y_i(g_i + b₀))₊.
func TestFixedBiasGapOfTheOneNorm(t *testing.T) {
	rng := toy.Rand(5)
	x, y := toy.Points(rng, 30, 3, 0.5)
	k := toy.NewGram(x, toy.RBF(0.3))
	c := fill(30, 2)
	for _, b0 := range []float64{0, 0.7, -1.5} {
		p := SoftMargin(k, y, c).WithFixedBias(b0)
		alpha := make([]float64, 30)
		for i := range alpha {
			alpha[i] = 2 * rng.Float64()
		}
		want, dual, primal := 0.0, 0.0, 0.0
		for i := range alpha {
			g := 0.0
			for j := range alpha {
				g += alpha[j] * y[j] * k.K[i][j]
			}
			loss := c[i] * max(0, 1-y[i]*(g+b0))
			want += alpha[i]*y[i]*g - alpha[i]*(1-y[i]*b0) + loss
			dual += alpha[i]*(1-y[i]*b0) - alpha[i]*y[i]*g/2
			primal += alpha[i]*y[i]*g/2 + loss
		}
		got := Certify(p, alpha)
		if !toy.Near(got.Gap, want, 1e-12) || !toy.Near(got.Dual, dual, 1e-12) || !toy.Near(got.Primal, primal, 1e-12) {
			t.Errorf("b₀ = %g: gap %g dual %g primal %g, by hand %g %g %g", b0, got.Gap, got.Dual, got.Primal, want, dual, primal)
		}
	}
}

// The violation is measured from b₀ at iterations without a sample too.
func TestFixedBiasStopsUnsampled(t *testing.T) {
	x, y := toy.Points(toy.Rand(6), 40, 2, 0.5)
	for _, b0 := range []float64{-3, 0, 3} {
		p := SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(40, 5)).WithFixedBias(b0)
		for _, stop := range []Criterion{KKT{1e-4}, UpLow{1e-4}} {
			r := solve(t, p, GradientAscent{}, Settings{Stop: stop, Every: -1})
			every := solve(t, p, GradientAscent{}, Settings{Stop: stop, Every: 1})
			if r.Status != Converged || r.Iterations != every.Iterations || r.Certificate.MaxKKT > 2e-4 || len(r.Trace.Points) != 2 {
				t.Errorf("b₀ = %g, %v: %v after %d epochs, sampled after %d, KKT %g", b0, stop, r.Status, r.Iterations, every.Iterations, r.Certificate.MaxKKT)
			}
		}
	}
}

// A point that b₀ alone puts on its margin can have any α without any claim on a
// margin.
func TestInseparableCountsTheBias(t *testing.T) {
	p := HardMargin(toy.MatrixOf([][]float64{{1}}), []float64{1}).WithFixedBias(1)
	if p.inseparable([]float64{5}, 1, 1) {
		t.Error("Σ α_i (1 − y_i b₀) = 0, and yet inseparable")
	}
	if p.Bias = 0.5; !p.inseparable([]float64{5}, 1, 1) {
		t.Error("‖w‖ ≤ √flat2 Σ α_i (1 − y_i b₀), and yet separable")
	}
}

func TestCoordinateDescentTakesTheBias(t *testing.T) {
	x, y := toy.Points(toy.Rand(8), 50, 3, 0.5)
	features, err := NewDenseFeatures(x, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, b0 := range []float64{0, 0.7, -2} {
		want := solve(t, SoftMargin(toy.NewGram(x, toy.Dot), y, fill(50, 1)).WithFixedBias(b0), GradientAscent{}, Settings{Stop: UpLow{1e-9}})
		got := solve(t, SoftMargin(features, y, fill(50, 1)).WithFixedBias(b0), CoordinateDescent{}, Settings{Stop: UpLow{1e-9}})
		if !toy.Near(got.Certificate.Dual, want.Certificate.Dual, 1e-8) || got.Status != Converged || got.Bias != b0 {
			t.Errorf("b₀ = %g: W = %.12g, %v; gradient ascent %.12g", b0, got.Certificate.Dual, got.Status, want.Certificate.Dual)
		}
	}
}

func TestWithFixedBiasCopies(t *testing.T) {
	p := xorProblem()
	q := p.WithFixedBias(2)
	if p.FixedBias || p.Bias != 0 || !q.FixedBias || q.Bias != 2 {
		t.Errorf("original %v %g, copy %v %g", p.FixedBias, p.Bias, q.FixedBias, q.Bias)
	}
	var bad *ProblemError
	if err := p.WithFixedBias(math.NaN()).Check(); !errors.As(err, &bad) || bad.Field != "Bias" {
		t.Errorf("a bias that is no number: %v", err)
	}
}

func xorProblem() *Problem {
	x := [][]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}
	return HardMargin(toy.NewGram(x, toy.Polynomial(1, 1, 2)), []float64{1, -1, -1, 1})
}
