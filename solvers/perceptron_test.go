package solvers

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

// Novikoff: at most (R/γ)² mistakes, γ the largest margin around the origin.
func TestPerceptronSeparates(t *testing.T) {
	for seed := range uint64(20) {
		x, y := toy.Points(toy.Rand(seed), 40, 3, 2.2)
		for name, k := range map[string]*toy.Gram{"linear": toy.NewGram(x, shifted(toy.Dot, 4)), "rbf": toy.NewGram(x, toy.RBF(0.3))} {
			p := HardMargin(k, y).WithFixedBias(0)
			best, err := Solve(context.Background(), p, GradientAscent{}, Settings{Stop: UpLow{1e-6}})
			if err != nil {
				continue
			}
			st, err := Perceptron{Epochs: 100_000}.Start(p, make([]float64, 40))
			if err != nil {
				t.Fatal(err)
			}
			done := false
			for !done {
				if done, err = st.Step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			s := st.(*perceptron)
			if mistakes, bound := toy.Dot(s.count, fill(40, 1)), slices.Max(k.Diagonal)*best.Certificate.Norm2; mistakes > bound*(1+1e-5) {
				t.Errorf("seed %d, %s: %g mistakes, at most (R/γ)² = %g", seed, name, mistakes, bound)
			}
			for i, f := range p.F(s.alpha) {
				if !(1-y[i]*f > 0) {
					t.Fatalf("seed %d, %s: point %d is on the wrong side", seed, name, i)
				}
			}
		}
	}
}

// Its α is feasible and never better than the optimum; the gap says so and is
// not taken for convergence.
func TestPerceptronIsOnlyFeasible(t *testing.T) {
	x, y := toy.Points(toy.Rand(7), 60, 2, 0.5)
	k := toy.NewGram(x, toy.RBF(0.5))
	for name, p := range map[string]*Problem{
		"1-norm": SoftMargin(k, y, fill(60, 1)).WithFixedBias(0),
		"2-norm": SoftMargin2(k, y, fill(60, 1)).WithFixedBias(0),
	} {
		best := solve(t, p, GradientAscent{}, Settings{Stop: Gap{1e-9}}).Certificate.Dual
		k.Rows = 0
		r := solve(t, p, Perceptron{}, Settings{Every: 1})
		c := r.Certificate
		if c.Dual > best+1e-9 || c.Dual <= 0 || c.Bound > 0 || c.Dual+c.Gap < best-1e-9 || r.Status != Exhausted || r.Iterations > 100 {
			t.Errorf("%s: W = %g of %g, gap %g, %v after %d epochs", name, c.Dual, best, c.Gap, r.Status, r.Iterations)
		}
		for _, pt := range r.Trace.Points[1:] {
			if math.Abs(pt.KKT) == 0 || math.IsNaN(pt.Dual) {
				t.Errorf("%s: epoch %d has KKT %g, W = %g", name, pt.Iteration, pt.KKT, pt.Dual)
			}
		}
		last := r.Trace.Points[len(r.Trace.Points)-1]
		if !toy.Near(last.Dual, c.Dual, 1e-9) {
			t.Errorf("%s: W = %g in the trace, %g by the certificate", name, last.Dual, c.Dual)
		}
	}
}

// α = t m with the best t inside the box: proportional to the counts, and no
// shorter or longer feasible multiple has a larger W.
func TestPerceptronScales(t *testing.T) {
	x, y := toy.Points(toy.Rand(8), 40, 2, 0.5)
	clipped := 0
	for _, c := range []float64{1e-3, 0.05, 1, 1e6} {
		p := SoftMargin(toy.NewGram(x, toy.RBF(0.5)), y, fill(40, c)).WithFixedBias(0)
		p.Upper[0] = 0 // counts nothing
		st, err := Perceptron{}.Start(p, make([]float64, 40))
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if _, err := st.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		s := st.(*perceptron)
		top := slices.Index(s.count, slices.Max(s.count))
		ratio := s.alpha[top] / s.count[top]
		for i, m := range s.count {
			if math.Abs(s.alpha[i]-ratio*m) > 1e-12*c || s.count[0] != 0 {
				t.Fatalf("C = %g: α[%d] = %g, count %g, the best has %g of %g", c, i, s.alpha[i], m, s.alpha[top], s.count[top])
			}
		}
		w := plainDual(p, s.alpha)
		if !(w > 0) {
			t.Errorf("C = %g: W = %g", c, w)
		}
		for _, scale := range []float64{0.9, 0.99, 1.01, 1.1} {
			other := make([]float64, 40)
			for i, a := range s.alpha {
				other[i] = scale * a
			}
			if slices.Max(other) > c {
				clipped++
				continue
			}
			if v := plainDual(p, other); v > w {
				t.Errorf("C = %g: %g α has W = %g, above %g", c, scale, v, w)
			}
		}
	}
	if clipped == 0 {
		t.Error("the box was never in the way")
	}
}

// Two copies of a point with different labels, and a point at the origin, can
// never be right: the epochs end it.
func TestPerceptronGivesUp(t *testing.T) {
	k := toy.NewGram([][]float64{{1, 0}, {1, 0}, {0, 0}}, toy.Dot)
	for _, p := range []*Problem{
		HardMargin(k, []float64{1, -1, 1}).WithFixedBias(0),
		SoftMargin(k, []float64{1, -1, 1}, []float64{1, 2, 0}).WithFixedBias(0),
	} {
		r, err := Solve(context.Background(), p, Perceptron{Epochs: 17}, Settings{})
		if err != nil || r.Status != Exhausted || r.Iterations > 17 || math.IsNaN(r.Certificate.Dual) || r.Certificate.Bound > 0 {
			t.Errorf("%v: %+v", err, r)
		}
	}
}

func TestPerceptronRefuses(t *testing.T) {
	free := xorProblem()
	other := free.WithFixedBias(0)
	other.P = fill(4, 0)
	for name, p := range map[string]*Problem{"free bias": free, "bias 1": free.WithFixedBias(1), "not classification": other} {
		if _, err := Solve(context.Background(), p, Perceptron{}, Settings{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var bad *ProblemError
	if _, err := Solve(context.Background(), free.WithFixedBias(0), Perceptron{Epochs: -1}, Settings{}); !errors.As(err, &bad) {
		t.Errorf("−1 epochs: %v", err)
	}
}

// The dual form counts what the primal form, w ← w + y_i x_i at a mistake, does.
func TestPerceptronIsRosenblatts(t *testing.T) {
	x, y := toy.Points(toy.Rand(9), 30, 2, 0.3)
	st, err := Perceptron{}.Start(HardMargin(toy.NewGram(x, toy.Dot), y).WithFixedBias(0), make([]float64, 30))
	if err != nil {
		t.Fatal(err)
	}
	w, count := []float64{0, 0}, make([]float64, 30)
	for range 5 {
		if _, err := st.Step(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if y[i]*toy.Dot(w, x[i]) <= 0 {
				count[i]++
				w[0] += y[i] * x[i][0]
				w[1] += y[i] * x[i][1]
			}
		}
	}
	if !slices.Equal(st.(*perceptron).count, count) || slices.Max(count) < 2 {
		t.Errorf("mistakes %v, in the primal %v", st.(*perceptron).count, count)
	}
}
