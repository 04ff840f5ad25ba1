package solvers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/svmnb/svmnb/internal/toy"
)

var everyOrder = []Order{Cyclic, Batch, Shuffled, Violators, TwoStage, AscendingAlpha}

// The optimum of LIBLINEAR's L1-loss dual without bias, C = 1: 96.498278, with
// 103 support vectors.
func TestGradientAscentHeart(t *testing.T) {
	x, y := heart(t)
	p := SoftMargin(toy.NewGram(x, toy.Dot), y, fill(len(y), 1)).WithFixedBias(0)
	for _, o := range everyOrder {
		r := solve(t, p, GradientAscent{Order: o}, Settings{Stop: UpLow{1e-6}})
		c := r.Certificate
		if !toy.Near(c.Dual, 96.498278, 1e-6) || c.Free+c.AtUpper != 103 || r.Status != Converged || c.RelGap > 1e-4 {
			t.Errorf("%v: W = %.8f, %d support vectors, %v, gap ratio %g", o, c.Dual, c.Free+c.AtUpper, r.Status, c.RelGap)
		}
	}
}

// ascentProblems has every kind of problem that gradient ascent solves.
func ascentProblems() map[string]*Problem {
	x, y := toy.Points(toy.Rand(11), 60, 3, 0.6)
	far, z := toy.Points(toy.Rand(12), 40, 2, 4)
	rx, ry := rings(toy.Rand(13), 80)
	c := fill(60, 0)
	for i := range c {
		c[i] = []float64{0.5, 1, 20}[i%3]
	}
	k := toy.NewGram(x, toy.RBF(0.4))
	return map[string]*Problem{
		"1-norm":         SoftMargin(k, y, fill(60, 1)).WithFixedBias(0),
		"weights, bias":  SoftMargin(k, y, c).WithFixedBias(-0.4),
		"2-norm":         SoftMargin2(k, y, fill(60, 3)).WithFixedBias(0.2),
		"hard linear":    HardMargin(toy.NewGram(far, toy.Dot), z).WithFixedBias(0),
		"hard augmented": HardMargin(toy.NewGram(rx, func(x, z []float64) float64 { return toy.RBF(2)(x, z) + 1 }), ry).WithFixedBias(0),
		"polynomial":     SoftMargin(toy.NewGram(x, toy.Polynomial(0.3, 1, 2)), y, fill(60, 0.1)).WithFixedBias(0),
	}
}

func TestGradientAscentOrdersAgree(t *testing.T) {
	for name, p := range ascentProblems() {
		best := math.Inf(-1)
		value := map[string]float64{}
		for _, o := range everyOrder {
			for _, omega := range []float64{0, 1.4} {
				m := GradientAscent{Order: o, Omega: omega, Seed: 3}
				r := solve(t, p, m, Settings{Stop: Any(Gap{1e-10}, UpLow{1e-10})})
				again := solve(t, p, m, Settings{Stop: Any(Gap{1e-10}, UpLow{1e-10})})
				if !slices.Equal(r.Alpha, again.Alpha) || r.Iterations != again.Iterations {
					t.Errorf("%s: %s does not repeat itself", name, m.Name())
				}
				if r.Certificate.RelGap > 1e-9 || r.Certificate.Bound > 0 {
					t.Errorf("%s: %s ends %v with gap ratio %g, %g outside the box", name, m.Name(), r.Status, r.Certificate.RelGap, r.Certificate.Bound)
				}
				value[m.Name()] = r.Certificate.Dual
				best = max(best, r.Certificate.Dual)
			}
		}
		if len(value) != 2*len(everyOrder) {
			t.Fatalf("names are not distinct: %v", value)
		}
		for m, w := range value {
			if !toy.Near(w, best, 1e-8) {
				t.Errorf("%s: %s reaches %.12g, the best is %.12g", name, m, w, best)
			}
		}
	}
}

// Table 7.1 as it is printed: the gradient is summed anew for every point.
func TestGradientAscentIsTable71(t *testing.T) {
	x, y := toy.Points(toy.Rand(21), 25, 2, 0.5)
	k := toy.NewGram(x, toy.RBF(1))
	rng := toy.Rand(22)
	eta, c := make([]float64, 25), make([]float64, 25)
	for i := range eta {
		eta[i], c[i] = 0.1+1.5*rng.Float64(), 0.5+rng.Float64()
	}
	alpha := make([]float64, 25)
	const epochs = 7
	for range epochs {
		for i := range alpha {
			g := 0.0
			for j := range alpha {
				g += alpha[j] * y[j] * k.K[i][j]
			}
			alpha[i] += eta[i] * (1 - y[i]*g)
			if alpha[i] < 0 {
				alpha[i] = 0
			} else if alpha[i] > c[i] {
				alpha[i] = c[i]
			}
		}
	}
	p := SoftMargin(k, y, c).WithFixedBias(0)
	r := solve(t, p, GradientAscent{Rate: PerPoint(eta)}, Settings{Stop: Iterations{epochs}})
	for i, a := range alpha {
		if math.Abs(r.Alpha[i]-a) > 1e-12 {
			t.Fatalf("α[%d] = %.15g, by the table %.15g", i, r.Alpha[i], a)
		}
	}
	if r.Status != IterationLimit || r.Iterations != epochs {
		t.Errorf("%v after %d epochs", r.Status, r.Iterations)
	}
}

// A step that is not clipped maximises W over its α; ω = 1 is the same method.
func TestGradientAscentLineSearchIsExact(t *testing.T) {
	x, y := toy.Points(toy.Rand(31), 40, 2, 0.5)
	p := SoftMargin2(toy.NewGram(x, toy.RBF(1)), y, fill(40, 2)).WithFixedBias(0.3)
	st, err := GradientAscent{Omega: 1}.Start(p, make([]float64, 40))
	if err != nil {
		t.Fatal(err)
	}
	s := st.(*ascent)
	if err := s.rates(context.Background()); err != nil {
		t.Fatal(err)
	}
	inside := 0
	for range 3 {
		for i := range s.alpha {
			d, err := s.step(i, s.f[i])
			if err != nil {
				t.Fatal(err)
			}
			if d == 0 {
				continue
			}
			s.follow(i, d)
			if s.alpha[i] > 0 {
				inside++
				if slope := p.F(s.alpha)[i] - p.Bias; math.Abs(slope) > 1e-13 {
					t.Fatalf("∂W/∂α[%d] = %g after an exact step", i, slope)
				}
			}
		}
	}
	if inside < 20 {
		t.Fatalf("only %d steps ended inside the box", inside)
	}
	a := solve(t, p, GradientAscent{}, Settings{})
	b := solve(t, p, GradientAscent{Omega: 1}, Settings{})
	if !slices.Equal(a.Alpha, b.Alpha) {
		t.Error("ω = 1 differs from the default")
	}
}

// largest is λ_max of Q by power iteration.
func largest(p *Problem) float64 {
	n := p.K.Dim()
	v, lambda := fill(n, 1), 0.0
	for i := range v {
		v[i] += 0.1 * float64(i%7)
	}
	for range 3000 {
		w := make([]float64, n)
		for i := range w {
			for j, k := range p.K.Row(i) {
				w[i] += p.S[i] * p.S[j] * k * v[j]
			}
			if p.Ridge != nil {
				w[i] += p.Ridge[i] * v[i]
			}
		}
		lambda = toy.Dot(v, w) / toy.Dot(v, v)
		scale := math.Sqrt(toy.Dot(w, w))
		for i := range v {
			v[i] = w[i] / scale
		}
	}
	return lambda
}

func TestBatchIsMonotoneBelowTwoOverLambda(t *testing.T) {
	for name, p := range ascentProblems() {
		lambda := largest(p)
		for _, eta := range []float64{0.3 / lambda, 1 / lambda, 1.99 / lambda, 0} {
			m := GradientAscent{Order: Batch, Rate: Schedule{Start: eta}}
			if eta == 0 {
				m.Rate = nil
			}
			r := solve(t, p, m, Settings{Stop: Iterations{300}, Every: 1})
			for k := 1; k < len(r.Trace.Points); k++ {
				was, is := r.Trace.Points[k-1].Dual, r.Trace.Points[k].Dual
				if is < was-1e-12*math.Abs(was) {
					t.Fatalf("%s: W falls from %.15g to %.15g at η = %g/λ", name, was, is, eta*lambda)
				}
			}
		}
	}
	// Beyond it W falls sooner or later: without a bound for ever.
	p := ascentProblems()["2-norm"]
	r, err := Solve(context.Background(), p, GradientAscent{Order: Batch, Rate: Schedule{Start: 4 / largest(p)}}, Settings{})
	if !errors.Is(err, ErrDiverging) || r.Status != Diverging || r.Iterations > 10_000 {
		t.Errorf("η = 4/λ: %v", err)
	}
}

// One point without upper bound: α ← α + ηK(1/K − α), whose error is multiplied
// by 1 − ηK.
func TestRateOscillatesAtTwoAndDivergesBeyond(t *testing.T) {
	k := toy.MatrixOf([][]float64{{4}})
	for _, tc := range []struct {
		ratio, c float64
		status   Status
	}{
		{1.9, math.Inf(1), Converged},
		{2, math.Inf(1), Diverging},
		{2.1, math.Inf(1), Diverging},
		{1e80, math.Inf(1), Diverging},
		{2, 0.3, Diverging},
		{2.5, 0.3, Diverging},
	} {
		p := SoftMargin(k, []float64{1}, []float64{tc.c}).WithFixedBias(0)
		if math.IsInf(tc.c, 1) {
			p.Lower = []float64{-1e99}
		}
		for _, o := range []Order{Cyclic, Batch, Violators, TwoStage, AscendingAlpha} {
			r, err := Solve(context.Background(), p, GradientAscent{Order: o, Rate: Schedule{Start: tc.ratio / 4}}, Settings{Every: 1})
			if r == nil {
				t.Fatal(err)
			}
			if r.Status != tc.status || errors.Is(err, ErrDiverging) != (tc.status == Diverging) || r.Iterations > 1000 {
				t.Errorf("ηK = %g, C = %g, %v: %v after %d epochs, %v", tc.ratio, tc.c, o, r.Status, r.Iterations, err)
			}
			if tc.ratio == 2 && o == Cyclic && math.IsInf(tc.c, 1) {
				for j, pt := range r.Trace.Points {
					if want := 0.5 * float64(pt.Iteration%2); r.Trace.AlphaAt(j)[0] != want || pt.Dual != 0 {
						t.Fatalf("α = %g, W = %g at epoch %d, not the oscillation between 0 and ½", r.Trace.AlphaAt(j)[0], pt.Dual, j)
					}
				}
			}
			if tc.ratio == 2.1 && o == Cyclic {
				last := r.Trace.Points[len(r.Trace.Points)-1].Dual
				if first := r.Trace.Points[1].Dual; !(last < 2*first && first < 0) {
					t.Errorf("beyond 2, W goes from %g to %g", first, last)
				}
			}
		}
	}
}

// A rate that begins too large and falls is given its time.
func TestFallingRateRecovers(t *testing.T) {
	p := ascentProblems()["1-norm"]
	want := solve(t, p, GradientAscent{}, Settings{Stop: Gap{1e-10}}).Certificate.Dual
	r := solve(t, p, GradientAscent{Rate: Schedule{Start: 1000, Decay: 1}}, Settings{Stop: Gap{1e-6}})
	if r.Status != Converged || !toy.Near(r.Certificate.Dual, want, 1e-5) {
		t.Errorf("%v after %d epochs at W = %g, optimum %g", r.Status, r.Iterations, r.Certificate.Dual, want)
	}
	if r, err := Solve(context.Background(), p, GradientAscent{Rate: Schedule{Start: 1000}}, Settings{}); !errors.Is(err, ErrDiverging) {
		t.Errorf("η = 1000 for ever: %v", r.Status)
	}
}

// Erratum C16: where K_ii = 0 Table 7.1 divides by it.
func TestZeroDiagonal(t *testing.T) {
	x := [][]float64{{0, 0}, {1, 0}, {0, 0}, {-1, 1}}
	y := []float64{1, 1, -1, -1}
	k := toy.NewGram(x, toy.Dot)
	if printed := 0 + 1/k.Diagonal[0]*(1-0); !math.IsInf(printed, 1) {
		t.Fatal("the printed step is finite")
	}
	for _, o := range everyOrder {
		for _, rate := range []Rate{nil, Schedule{Start: 0.3}} {
			m := GradientAscent{Order: o, Rate: rate}
			r := solve(t, SoftMargin(k, y, fill(4, 2)).WithFixedBias(0), m, Settings{Stop: UpLow{1e-9}})
			if r.Alpha[0] != 2 || r.Alpha[2] != 2 || r.Certificate.Gap > 1e-7 || r.Status != Converged {
				t.Errorf("%s: α = %v, %v, gap %g", m.Name(), r.Alpha, r.Status, r.Certificate.Gap)
			}
			// With b₀ = 2 the point labelled +1 is right without any help.
			r = solve(t, SoftMargin(k, y, fill(4, 2)).WithFixedBias(2), m, Settings{Stop: UpLow{1e-9}})
			if r.Alpha[0] != 0 || r.Alpha[2] != 2 {
				t.Errorf("%s, b₀ = 2: α = %v", m.Name(), r.Alpha)
			}
			r, err := Solve(context.Background(), HardMargin(k, y).WithFixedBias(0), m, Settings{})
			if !errors.Is(err, ErrUnbounded) || r == nil || r.Status != Unbounded {
				t.Errorf("%s, hard margin: %v", m.Name(), err)
			}
		}
	}
}

// Nor does 1/K_ii overflow where there is nothing to gain: 1 − y b₀ = 0.
func TestTinyDiagonal(t *testing.T) {
	p := SoftMargin(toy.MatrixOf([][]float64{{1e-320}}), []float64{1}, []float64{5})
	if r := solve(t, p.WithFixedBias(1), GradientAscent{}, Settings{Stop: Iterations{3}}); r.Alpha[0] != 0 {
		t.Errorf("α = %v", r.Alpha)
	}
	if r := solve(t, p.WithFixedBias(0), GradientAscent{}, Settings{}); r.Alpha[0] != 5 {
		t.Errorf("α = %v", r.Alpha)
	}
}

// What the first stage does in memory is what it would do outside: its F is the
// right one, and what AscendingAlpha has at 0 is not in memory.
func TestStageInMemory(t *testing.T) {
	x, y := toy.Points(toy.Rand(4), 50, 2, 0.5)
	p := SoftMargin2(toy.NewGram(x, toy.RBF(1)), y, fill(50, 2)).WithFixedBias(0.1)
	for _, o := range []Order{TwoStage, AscendingAlpha} {
		st, err := GradientAscent{Order: o}.Start(p, make([]float64, 50))
		if err != nil {
			t.Fatal(err)
		}
		s := st.(*ascent)
		stages, dropped := 0, -1
		for range 10 {
			b := s.held
			if b != nil && o == AscendingAlpha && dropped < 0 {
				dropped = b.of[0]
				s.alpha[dropped] = 0
				s.Refresh(p.F(s.alpha))
			}
			before := slices.Clone(s.alpha)
			if _, err := s.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
			if b == nil {
				continue
			}
			stages++
			exact := p.F(s.alpha)
			for k, i := range b.of {
				if math.Abs(b.f[k]-exact[i]) > 1e-12 || math.Abs(s.f[i]-exact[i]) > 1e-12 {
					t.Fatalf("%v: F[%d] = %.15g in memory, %.15g outside, %.15g in truth", o, i, b.f[k], s.f[i], exact[i])
				}
			}
			for i, a := range s.alpha {
				if a != before[i] && (!slices.Contains(b.of, i) || o == AscendingAlpha && before[i] == 0) {
					t.Fatalf("%v: α[%d] moved from %g", o, i, before[i])
				}
			}
		}
		if stages < 2 {
			t.Errorf("%v: %d stages", o, stages)
		}
	}
}

// Remark 7.8 in the plainest way: the non-zero α in ascending order until a pass
// gains less than a thousandth of what the passes have gained, then the others.
func TestAscendingAlphaIsRemark78(t *testing.T) {
	x, y := toy.Points(toy.Rand(7), 40, 2, 0.5)
	k := toy.NewGram(x, toy.RBF(1))
	const n, c = 40, 2.0
	alpha := make([]float64, n)
	visit := func(i int) (gain float64) {
		g := 1.0
		for j, a := range alpha {
			g -= y[i] * a * y[j] * k.K[i][j]
		}
		d := min(c, max(0, alpha[i]+g)) - alpha[i] // K_ii = 1
		alpha[i] += d
		return d * (g - d/2)
	}
	var after [][]float64 // each epoch
	var held []int
	for range 6 {
		for i := range n {
			if !slices.Contains(held, i) {
				visit(i)
			}
		}
		after = append(after, slices.Clone(alpha))
		held = held[:0]
		for i, a := range alpha {
			if a != 0 {
				held = append(held, i)
			}
		}
		gained, ended := 0.0, false
		for !ended {
			for visits := 0; visits < n && !ended; visits += len(held) {
				now := slices.Clone(alpha)
				order := slices.Clone(held)
				slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(now[i], now[j]) })
				gain := 0.0
				for _, i := range order {
					if alpha[i] != 0 {
						gain += visit(i)
					}
				}
				gained += gain
				ended = gain <= 1e-3*gained
			}
			after = append(after, slices.Clone(alpha))
		}
	}
	r := solve(t, SoftMargin(k, y, fill(n, c)).WithFixedBias(0), GradientAscent{Order: AscendingAlpha}, Settings{Stop: Iterations{len(after)}, Every: 1})
	for e, want := range after[:len(r.Trace.Points)-1] {
		for i, a := range r.Trace.AlphaAt(e + 1) {
			if math.Abs(a-want[i]) > 1e-10 {
				t.Fatalf("epoch %d: α[%d] = %.12g, by the remark %.12g", e+1, i, a, want[i])
			}
		}
	}
	if len(r.Trace.Points) < 10 {
		t.Errorf("only %d epochs", len(r.Trace.Points)-1)
	}
}

// Where rounding is all that is left the run ends, and soon.
func TestGradientAscentExhausts(t *testing.T) {
	for name, p := range ascentProblems() {
		for _, o := range everyOrder {
			if o == Batch {
				continue // slow by itself
			}
			r := solve(t, p, GradientAscent{Order: o}, Settings{Stop: UpLow{1e-300}})
			if r.Status != Exhausted || r.Iterations > 6000 || r.Certificate.MaxKKT > 1e-11 {
				t.Errorf("%s, %v: %v after %d epochs, KKT %g", name, o, r.Status, r.Iterations, r.Certificate.MaxKKT)
			}
		}
	}
}

// A run that was told that its F had drifted goes on.
func TestGradientAscentRefreshed(t *testing.T) {
	p := ascentProblems()["1-norm"]
	st, err := GradientAscent{}.Start(p, make([]float64, 60))
	if err != nil {
		t.Fatal(err)
	}
	s := st.(*ascent)
	clear(s.f) // nothing seems to be left to do
	if done, err := s.Step(context.Background()); !done || err != nil {
		t.Fatal(done, err)
	}
	s.over = true
	s.Refresh(p.F(s.alpha))
	if done, err := s.Step(context.Background()); done || err != nil || s.norm2 == 0 {
		t.Errorf("done %v, %v, after a path of %g", done, err, s.last)
	}
}

// To restore s'α = δ the α moves that W loses least by.
func TestLevel(t *testing.T) {
	x, y := toy.Points(toy.Rand(5), 20, 2, 0.5)
	p := SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(20, 1))
	for _, sign := range []float64{1, -1} {
		st, err := GradientAscent{Relax: Schedule{Start: 1}}.Start(p, fill(20, 0.5))
		if err != nil {
			t.Fatal(err)
		}
		s := st.(*ascent)
		s.alpha[3] += 0.3 * sign * y[3] // s'α = ±0.3
		s.Refresh(p.F(s.alpha))
		best := 0
		for i, f := range s.f {
			if sign*f < sign*s.f[best] {
				best = i
			}
		}
		before := slices.Clone(s.alpha)
		if err := s.level(context.Background(), 0.1); err != nil {
			t.Fatal(err)
		}
		for i, a := range s.alpha {
			want := before[i]
			if i == best {
				want -= sign * y[i] * 0.2
			}
			if math.Abs(a-want) > 1e-12 {
				t.Errorf("sign %g: α[%d] = %g, want %g", sign, i, a, want)
			}
		}
		if e := p.equality(s.alpha); math.Abs(e-0.1) > 1e-12 {
			t.Errorf("sign %g: |s'α| = %g", sign, e)
		}
	}
}

// A hard margin through the origin that separates nothing is reported.
func TestGradientAscentInseparable(t *testing.T) {
	x, y := toy.Points(toy.Rand(41), 30, 2, 0.2)
	for _, o := range []Order{Cyclic, TwoStage, AscendingAlpha} {
		r, err := Solve(context.Background(), HardMargin(toy.NewGram(x, toy.Dot), y).WithFixedBias(0.5), GradientAscent{Order: o}, Settings{})
		if !errors.Is(err, ErrUnbounded) || r.Status != Unbounded {
			t.Errorf("%v: %v", o, err)
		}
	}
}

// Where single steps crawl a face now and then does what a million epochs do not:
// the trajectory is the book's until the first one, every face ascends, stays in
// the box and is replayed like an epoch.
func TestAscentFaces(t *testing.T) {
	x, y := toy.Points(toy.Rand(3), 40, 2, 0.7)
	for _, row := range x {
		row[0] += 50
	}
	kernel := SoftMargin(toy.NewGram(x, toy.Dot), y, fill(40, 1)).WithFixedBias(0.25)
	factored := SoftMargin(densely(t, x, 0), y, fill(40, 1)).WithFixedBias(0.25)
	for _, tc := range []struct {
		p           *Problem
		book, faces Method
	}{
		{kernel, GradientAscent{Plain: true}, GradientAscent{}},
		{kernel, GradientAscent{Order: Batch, Plain: true}, GradientAscent{Order: Batch}},
		{kernel, GradientAscent{Order: AscendingAlpha, Plain: true}, GradientAscent{Order: AscendingAlpha}},
		{factored, GradientAscent{Plain: true}, GradientAscent{}},
		{factored, CoordinateDescent{Plain: true}, CoordinateDescent{}},
	} {
		name := tc.faces.Name()
		s := Settings{Stop: Gap{1e-9}, Every: 1, MaxIterations: 4000}
		book, r := solve(t, tc.p, tc.book, s), solve(t, tc.p, tc.faces, s)
		if book.Status != IterationLimit || r.Status != Converged {
			t.Errorf("%s: %v after %d iterations, by the book %v", name, r.Status, r.Iterations, book.Status)
		}
		if !slices.Equal(book.Trace.AlphaAt(epochsBeforeFaces), r.Trace.AlphaAt(epochsBeforeFaces)) {
			t.Errorf("%s: not the book's way to epoch %d", name, epochsBeforeFaces)
		}
		first := r.Trace.Points[epochsBeforeFaces+1]
		if slices.Equal(book.Trace.AlphaAt(epochsBeforeFaces+1), r.Trace.AlphaAt(epochsBeforeFaces+1)) || len(first.Working) == 0 || !(first.Step > 0) {
			t.Errorf("%s: iteration %d is no face: %+v", name, first.Iteration, first)
		}
		checkTrace(t, tc.p, r, false)
	}
}

// A context that ends within a face leaves the α of the last product.
func TestAscentFaceInterrupted(t *testing.T) {
	x, y := toy.Points(toy.Rand(3), 40, 2, 0.7)
	for _, row := range x {
		row[0] += 50
	}
	k := toy.NewGram(x, toy.Dot)
	for _, after := range []int{0, 1, 45, 130} {
		ctx, cancel := context.WithCancel(context.Background())
		m := &stopping{Matrix: k, cancel: cancel}
		p := SoftMargin(m, y, fill(40, 1)).WithFixedBias(0)
		st, err := GradientAscent{}.Start(p, make([]float64, 40))
		if err != nil {
			t.Fatal(err)
		}
		s := st.(*ascent)
		for s.epoch < s.next {
			if _, err := s.Step(ctx); err != nil {
				t.Fatal(err)
			}
		}
		before := s.w
		if m.left = after; after == 0 {
			cancel()
		}
		if moved, err := s.wide.climb(ctx, &s.pairs); err != nil || moved != (after > 40) {
			t.Errorf("interrupted after %d rows: moved %v, %v", after, moved, err)
		}
		if s.look(); s.w < before {
			t.Errorf("interrupted after %d rows: W falls from %g to %g", after, before, s.w)
		}
		for i, f := range p.F(s.alpha) {
			if math.Abs(f-s.f[i]) > 1e-9 || s.alpha[i] < 0 || s.alpha[i] > 1 {
				t.Fatalf("interrupted after %d rows: F[%d] = %g, in truth %g; α = %g", after, i, s.f[i], f, s.alpha[i])
			}
		}
		cancel()
	}
}

func TestOmegaSweep(t *testing.T) {
	one := SoftMargin(toy.MatrixOf([][]float64{{4}}), []float64{1}, []float64{9}).WithFixedBias(0)
	if a := solve(t, one, GradientAscent{Omega: 1.5}, Settings{Stop: Iterations{1}}).Alpha[0]; a != 1.5/4 {
		t.Fatalf("the first step goes to %g, not ω/K", a)
	}
	p := ascentProblems()["weights, bias"]
	want := solve(t, p, GradientAscent{}, Settings{Stop: Gap{1e-10}}).Certificate.Dual
	for omega := 0.1; omega < 1.95; omega += 0.1 {
		r := solve(t, p, GradientAscent{Omega: omega}, Settings{Stop: Gap{1e-10}, Every: 1})
		if !toy.Near(r.Certificate.Dual, want, 1e-8) {
			t.Errorf("ω = %g: W = %.12g, want %.12g", omega, r.Certificate.Dual, want)
		}
		for k := 1; k < len(r.Trace.Points); k++ {
			if was, is := r.Trace.Points[k-1].Dual, r.Trace.Points[k].Dual; is < was-1e-12*math.Abs(was) {
				t.Fatalf("ω = %g: W falls from %g to %g", omega, was, is)
			}
		}
	}
}

// W* − W falls by a constant factor per epoch in the end, the distance to α* too,
// though with a μ that is far above 1 (erratum C7: printed μ ∈ (0, 1)).
func TestLinearConvergence(t *testing.T) {
	x, y := toy.Points(toy.Rand(51), 80, 2, 0.5)
	p := SoftMargin2(toy.NewGram(x, toy.RBF(1)), y, fill(80, 10)).WithFixedBias(0)
	best := solve(t, p, GradientAscent{}, Settings{Stop: UpLow{1e-13}})
	r := solve(t, p, GradientAscent{}, Settings{Stop: UpLow{1e-13}, Every: 1})
	var epochs, logs []float64
	for k, pt := range r.Trace.Points {
		distance := 0.0
		for i, a := range r.Trace.AlphaAt(k) {
			distance += (a - best.Alpha[i]) * (a - best.Alpha[i])
		}
		if k == 0 && distance <= 1 {
			t.Fatal("‖α⁰ − α*‖ ≤ μ < 1 would hold")
		}
		if k >= 5 && distance > 1e-16 {
			epochs, logs = append(epochs, float64(pt.Iteration)), append(logs, math.Log(distance)/2)
		}
	}
	slope, correlation := fit(epochs, logs)
	if !(slope < -0.01 && correlation < -0.99) || len(logs) < 20 {
		t.Errorf("log ‖α − α*‖ falls by %g per epoch over %d epochs, correlation %g", slope, len(logs), correlation)
	}
	worst := 0.0
	for k := 1; k < len(r.Trace.Points); k++ {
		if was := best.Certificate.Dual - r.Trace.Points[k-1].Dual; was > 1e-9*best.Certificate.Dual {
			worst = max(worst, (best.Certificate.Dual-r.Trace.Points[k].Dual)/was)
		}
	}
	if !(worst < 1) {
		t.Errorf("W* − W is multiplied by %g in an epoch", worst)
	}
}

// fit returns the slope of the regression line and the correlation.
func fit(x, y []float64) (slope, correlation float64) {
	var mx, my, xx, xy, yy float64
	n := float64(len(x))
	for i := range x {
		mx += x[i] / n
		my += y[i] / n
	}
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx) / n
		xy += (x[i] - mx) * (y[i] - my) / n
		yy += (y[i] - my) * (y[i] - my) / n
	}
	return xy / xx, xy / math.Sqrt(xx*yy)
}

// evaluated computes its rows when they are asked for (CST Remark 7.7), kept
// remembers them. Both count kernel values.
type evaluated struct {
	x     [][]float64
	k     toy.Kernel
	keep  bool
	rows  [][]float64
	count int64
}

func newEvaluated(x [][]float64, k toy.Kernel, keep bool) *evaluated {
	return &evaluated{x: x, k: k, keep: keep, rows: make([][]float64, len(x))}
}

func (m *evaluated) Dim() int           { return len(m.x) }
func (m *evaluated) Evaluations() int64 { return m.count }

func (m *evaluated) Diag() []float64 {
	d := make([]float64, len(m.x))
	for i, x := range m.x {
		d[i] = m.k(x, x)
	}
	return d
}

func (m *evaluated) Row(i int) []float64 {
	if m.rows[i] != nil {
		return m.rows[i]
	}
	row := make([]float64, len(m.x))
	for j, x := range m.x {
		row[j] = m.k(m.x[i], x)
	}
	m.count += int64(len(row))
	if m.keep {
		m.rows[i] = row
	}
	return row
}

func TestReevaluatingChangesNoBit(t *testing.T) {
	x, y := toy.Points(toy.Rand(61), 70, 2, 0.5)
	for _, o := range everyOrder {
		run := func(keep bool) (*Result, int64) {
			k := newEvaluated(x, toy.RBF(1), keep)
			r := solve(t, SoftMargin(k, y, fill(70, 1)).WithFixedBias(0), GradientAscent{Order: o}, Settings{})
			return r, k.count
		}
		kept, few := run(true)
		anew, many := run(false)
		for k := range kept.Trace.Points {
			if !slices.Equal(kept.Trace.AlphaAt(k), anew.Trace.AlphaAt(k)) {
				t.Fatalf("%v: the trajectories part at epoch %d", o, kept.Trace.Points[k].Iteration)
			}
		}
		if few > 70*70 || many < 5*few || kept.Evaluations != few || anew.Evaluations != many {
			t.Errorf("%v: %d values kept, %d computed anew; results say %d and %d", o, few, many, kept.Evaluations, anew.Evaluations)
		}
	}
}

// With many points and few support vectors the two-stage orders ask for fewer
// rows.
func TestStagesSaveRows(t *testing.T) {
	x, y := toy.Points(toy.Rand(3), 600, 4, 0.8)
	rows := func(o Order) int {
		k := toy.NewGram(x, toy.RBF(0.3))
		r := solve(t, SoftMargin(k, y, fill(600, 10)).WithFixedBias(0), GradientAscent{Order: o}, Settings{})
		if r.Certificate.RelGap > 1e-3 {
			t.Errorf("%v: gap ratio %g", o, r.Certificate.RelGap)
		}
		if o == TwoStage || o == AscendingAlpha {
			if !slices.ContainsFunc(r.Trace.Points, func(pt Point) bool { return pt.Active < 600 }) {
				t.Errorf("%v: no epoch held a part of the points", o)
			}
		}
		return k.Rows
	}
	cyclic := rows(Cyclic)
	for _, o := range []Order{TwoStage, AscendingAlpha} {
		if n := rows(o); n > cyclic*2/3 {
			t.Errorf("%v: %d rows, cyclic %d", o, n, cyclic)
		}
	}
}

func TestRelaxedEquality(t *testing.T) {
	x, y := toy.Points(toy.Rand(71), 60, 3, 0.5)
	k := toy.NewGram(x, toy.RBF(0.4))
	novelty := SoftMargin(k, fill(60, 1), fill(60, 1))
	novelty.P, novelty.Delta = fill(60, 0), 20
	problems := map[string]*Problem{
		"1-norm":  SoftMargin(k, y, fill(60, 1)),
		"2-norm":  SoftMargin2(k, y, fill(60, 1)),
		"δ = 20":  novelty,
		"C large": SoftMargin(k, y, fill(60, 1e3)),
	}
	for name, p := range problems {
		want := solve(t, p, SMO{}, Settings{Stop: UpLow{1e-10}})
		for _, o := range []Order{Cyclic, Shuffled, Violators, TwoStage, AscendingAlpha} {
			for _, zeta := range []Schedule{{10, 1}, {1, 0.1}, {0.5, 0}, {1e-9, 0}} {
				m := GradientAscent{Order: o, Relax: zeta}
				open := 0 // epochs with the equality open
				s := Settings{Stop: UpLow{1e-10}, Every: 1}
				s.Observers = []Observer{func(it *Iterate, pt *Point) {
					if bound := zeta.At(max(0, it.Iteration-1)); pt.Equality > bound*(1+1e-9)+1e-12 {
						t.Fatalf("%s, %s: |s'α − δ| = %g in epoch %d, ζ = %g", name, m.Name(), pt.Equality, it.Iteration, bound)
					}
					if pt.Equality > 1e-10 {
						open++
					}
				}}
				r := solve(t, p, m, s)
				if !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-8) || r.Certificate.Equality > 1e-10 || r.Certificate.Bound > 0 || r.Status.Early() && r.Certificate.RelGap > 1e-9 {
					t.Errorf("%s, %s: %v, W = %.12g, SMO %.12g, |s'α − δ| = %g", name, m.Name(), r.Status, r.Certificate.Dual, want.Certificate.Dual, r.Certificate.Equality)
				}
				if open == 0 && zeta.Start > 0.1 {
					t.Errorf("%s, %s: the equality never opened", name, m.Name())
				}
			}
		}
	}
}

// No α outside the equality is an answer, however flat W is there.
func TestRelaxedIsNotDoneBeforeTheEqualityHolds(t *testing.T) {
	x, y := toy.Points(toy.Rand(72), 30, 2, 0.5)
	p := SoftMargin(toy.NewGram(x, toy.RBF(0.4)), y, fill(30, 1))
	r := solve(t, p, GradientAscent{Relax: Schedule{Start: 1e6}}, Settings{Stop: UpLow{1e-6}})
	if r.Status != Converged || r.Certificate.Equality > 1e-10 || r.Certificate.RelGap > 1e-6 {
		t.Errorf("%v with |s'α − δ| = %g, gap ratio %g", r.Status, r.Certificate.Equality, r.Certificate.RelGap)
	}
}

// shifted is the augmented kernel K + τ² of CST Remark 7.4.
func shifted(k toy.Kernel, tau2 float64) toy.Kernel {
	return func(x, z []float64) float64 { return k(x, z) + tau2 }
}

// Remark 7.4 corrected: R² = max K_ii goes into the kernel (C6), the function's
// bias is τ² Σ α_i y_i, and since |b| ≤ R the margin in the larger space is
// *at least* γ(1 + R²/τ²)^−½ (C5; printed ≤), which makes
// (R² + τ²)(1 + R²/τ²)/γ² a bound, smallest at τ = R.
func TestAugmentedKernel(t *testing.T) {
	x, y := toy.Points(toy.Rand(81), 40, 2, 3)
	for i := range x {
		x[i][0] += 2 // the separating line does not pass through the origin
	}
	k := toy.NewGram(x, toy.Dot)
	free := solve(t, HardMargin(k, y), SMO{}, Settings{Stop: UpLow{1e-10}})
	gamma := 1 / math.Sqrt(free.Certificate.Norm2)
	r2 := slices.Max(k.Diagonal)
	b := free.Bias * gamma // of the unit w
	if !(math.Abs(b) < math.Sqrt(r2)) {
		t.Fatalf("|b| = %g, R = %g", math.Abs(b), math.Sqrt(r2))
	}
	least, at := math.Inf(1), 0.0
	for _, ratio := range []float64{0.01, 0.1, 0.5, 1, 2, 10, 100} {
		tau2 := ratio * r2
		aug := toy.NewGram(x, shifted(toy.Dot, tau2))
		if d := aug.K[3][5] - k.K[3][5]; !toy.Near(d, tau2, 1e-9) {
			t.Fatalf("K̂ − K = %g, τ² = %g", d, tau2)
		}
		r := solve(t, HardMargin(aug, y).WithFixedBias(0), GradientAscent{}, Settings{Stop: UpLow{1e-9}})
		bias := 0.0
		for i, a := range r.Alpha {
			bias += tau2 * a * y[i]
		}
		for i := range x { // f̂ = Σ α y K + τ² Σ α y
			f, hat := bias, 0.0
			for j, a := range r.Alpha {
				f += a * y[j] * k.K[i][j]
				hat += a * y[j] * aug.K[i][j]
			}
			if math.Abs(f-hat) > 1e-9 {
				t.Fatalf("f(x[%d]) = %g with the bias apart, %g in one", i, f, hat)
			}
		}
		hat := 1 / math.Sqrt(r.Certificate.Norm2) // the largest margin in the larger space
		of := gamma / math.Sqrt(1+b*b/tau2)       // that of the w we had
		bound := gamma / math.Sqrt(1+r2/tau2)
		if hat < of*(1-1e-6) || of < bound {
			t.Errorf("τ² = %g R²: margin %g, of the old w %g, bound %g", ratio, hat, of, bound)
		}
		if of <= bound*(1+1e-12) {
			t.Errorf("τ² = %g R²: the printed inequality holds", ratio)
		}
		fat := (r2 + tau2) * (1 + r2/tau2) / (gamma * gamma)
		if (r2+tau2)/(hat*hat) > fat*(1+1e-6) {
			t.Errorf("τ² = %g R²: R̂²/γ̂² = %g above the bound %g", ratio, (r2+tau2)/(hat*hat), fat)
		}
		if fat < least {
			least, at = fat, ratio
		}
	}
	if at != 1 || !toy.Near(least, 4*r2/(gamma*gamma), 1e-12) {
		t.Errorf("the bound is smallest, %g, at τ² = %g R², want 4R²/γ² = %g at 1", least, at, 4*r2/(gamma*gamma))
	}
}

// As τ grows the bias costs nothing, and the machine becomes the one with a free
// bias; but so do the epochs.
func TestAugmentedKernelTendsToTheFreeBias(t *testing.T) {
	x, y := toy.Points(toy.Rand(82), 50, 2, 0.5)
	free := solve(t, SoftMargin(toy.NewGram(x, toy.Dot), y, fill(50, 1)), SMO{}, Settings{Stop: UpLow{1e-8}})
	var epochs []int
	apart := math.Inf(1)
	for _, tau2 := range []float64{0.1, 1, 10, 100, 1000} {
		r := solve(t, SoftMargin(toy.NewGram(x, shifted(toy.Dot, tau2)), y, fill(50, 1)).WithFixedBias(0), GradientAscent{Plain: true}, Settings{Stop: UpLow{1e-6}})
		epochs = append(epochs, r.Iterations)
		gap := r.Certificate.Dual - free.Certificate.Dual
		if gap < -1e-6 || gap > apart {
			t.Errorf("τ² = %g: W − W_free = %g after %g", tau2, gap, apart)
		}
		apart = gap
	}
	if apart > 1e-3*free.Certificate.Dual {
		t.Errorf("at τ² = 1000 W is still %g from that of the free bias", apart)
	}
	if first, last := epochs[0], epochs[len(epochs)-1]; last < 10*first {
		t.Errorf("epochs %v do not grow", epochs)
	}
}

func TestAugmentedKernelHeart(t *testing.T) {
	x, y := heart(t)
	epochs := func(tau2 float64) int {
		r := solve(t, SoftMargin(toy.NewGram(x, shifted(toy.Dot, tau2)), y, fill(len(y), 1)).WithFixedBias(0), GradientAscent{Plain: true}, Settings{Stop: UpLow{1e-6}})
		return r.Iterations
	}
	if none, one := epochs(0), epochs(1); one < 3*none {
		t.Errorf("%d epochs without, %d with τ² = 1: measured elsewhere 1637 and 10647", none, one)
	}
}

// Ng's figure of coordinate ascent: from (2, −2) each step runs parallel to an
// axis and ends where its contour is tangent to it.
func TestCoordinateAscentPath(t *testing.T) {
	p := &Problem{
		K: toy.MatrixOf([][]float64{{1, 0.6}, {0.6, 1}}), S: []float64{1, 1}, P: []float64{0, 0},
		Lower: fill(2, -10), Upper: fill(2, 10), FixedBias: true,
	}
	r := solve(t, p, GradientAscent{}, Settings{Stop: UpLow{1e-9}, Start: []float64{2, -2}, Every: 1})
	at := r.Trace.AlphaAt(0)
	if at[0] != 2 || at[1] != -2 {
		t.Fatalf("starts at %v", at)
	}
	for k := 1; k < min(8, len(r.Trace.Points)); k++ {
		next := r.Trace.AlphaAt(k)
		if a, b := -0.6*at[1], -0.6*next[0]; !toy.Near(next[0], a, 1e-9) || !toy.Near(next[1], b, 1e-9) {
			t.Fatalf("epoch %d: from %v along the axes to %v, want (%g, %g)", k, at, next, a, b)
		}
		at = next
	}
	if last := r.Alpha; math.Abs(last[0])+math.Abs(last[1]) > 1e-8 {
		t.Errorf("ends at %v", last)
	}
}

func TestGradientAscentRefuses(t *testing.T) {
	free := xorProblem()
	fixed := free.WithFixedBias(0)
	for _, tc := range []struct {
		name string
		p    *Problem
		m    GradientAscent
		want error
	}{
		{"free bias", free, GradientAscent{}, ErrUnsupported},
		{"relax what is open", fixed, GradientAscent{Relax: Schedule{Start: 1}}, ErrUnsupported},
		{"unknown order", fixed, GradientAscent{Order: 99}, ErrUnsupported},
		{"batch in a slab", free, GradientAscent{Order: Batch, Relax: Schedule{Start: 1}}, ErrUnsupported},
		{"ω = 2", fixed, GradientAscent{Omega: 2}, nil},
		{"ω < 0", fixed, GradientAscent{Omega: -1}, nil},
		{"ω is no number", fixed, GradientAscent{Omega: math.NaN()}, nil},
		{"tolerance", fixed, GradientAscent{Tol: -1}, nil},
		{"ζ < 0", free, GradientAscent{Relax: Schedule{Start: -1}}, nil},
		{"ζ grows", free, GradientAscent{Relax: Schedule{Start: 1, Decay: -1}}, nil},
		{"rates of other points", fixed, GradientAscent{Rate: PerPoint([]float64{1})}, nil},
		{"a rate of 0", fixed, GradientAscent{Rate: PerPoint([]float64{1, 0, 1, 1})}, nil},
		{"a rate that ends", fixed, GradientAscent{Rate: Schedule{Start: 1, Decay: -0.5}}, nil},
	} {
		r, err := Solve(context.Background(), tc.p, tc.m, Settings{Stop: UpLow{1e-12}})
		var bad *ProblemError
		if r != nil || tc.want != nil && !errors.Is(err, tc.want) || tc.want == nil && !errors.As(err, &bad) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// stopping cancels a context after so many rows.
type stopping struct {
	Matrix
	left   int
	cancel context.CancelFunc
}

func (m *stopping) Row(i int) []float64 {
	if m.left--; m.left == 0 {
		m.cancel()
	}
	return m.Matrix.Row(i)
}

// Wherever an interrupt falls, α is feasible and F belongs to it.
func TestGradientAscentInterrupted(t *testing.T) {
	x, y := toy.Points(toy.Rand(91), 300, 2, 0.5)
	k := toy.NewGram(x, toy.RBF(1))
	for _, relax := range []Schedule{{}, {5, 0.01}} {
		for _, o := range everyOrder {
			if o == Batch && relax.Start != 0 {
				continue
			}
			for _, rows := range []int{1, 100, 350, 800, 1500} {
				ctx, cancel := context.WithCancel(context.Background())
				m := &stopping{k, rows, cancel}
				p := SoftMargin(m, y, fill(300, 10))
				p.FixedBias = relax.Start == 0
				r, err := Solve(ctx, p, GradientAscent{Order: o, Relax: relax}, Settings{Stop: UpLow{1e-9}})
				cancel()
				if !errors.Is(err, context.Canceled) || r == nil || r.Status != Interrupted {
					t.Fatalf("%v: %v", o, err)
				}
				last := r.Trace.Points[len(r.Trace.Points)-1]
				if r.Certificate.Bound > 0 || !toy.Near(last.Dual, r.Certificate.Dual, 1e-9) {
					t.Errorf("%v after %d rows: W = %g in the trace, %g by the certificate, %g outside the box", o, rows, last.Dual, r.Certificate.Dual, r.Certificate.Bound)
				}
				if used := rows - m.left; used > rows+800 {
					t.Errorf("%v: %d more rows after the interrupt", o, used-rows)
				}
			}
		}
	}
}

func TestGradientAscentDoesNotAllocate(t *testing.T) {
	x, y := toy.Points(toy.Rand(92), 100, 2, 0.5)
	p := SoftMargin(toy.NewGram(x, toy.RBF(1)), y, fill(100, 100)).WithFixedBias(0)
	for _, o := range []Order{Cyclic, Batch, Shuffled, Violators} {
		st, err := GradientAscent{Order: o, Rate: PerPoint(fill(100, 0.01))}.Start(p, make([]float64, 100))
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(20, func() {
			if _, err := st.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v: %g allocations per epoch", o, n)
		}
	}
}

func TestGradientAscentNames(t *testing.T) {
	for want, m := range map[string]GradientAscent{
		"gradient ascent (cyclic)":                           {},
		"gradient ascent (ascending α, ω = 1.3)":             {Order: AscendingAlpha, Omega: 1.3},
		"gradient ascent (batch, η = 0.1)":                   {Order: Batch, Rate: Schedule{Start: 0.1}},
		"gradient ascent (shuffled, η = 1/(1 + 0.5 t))":      {Order: Shuffled, Rate: Schedule{1, 0.5}},
		"gradient ascent (cyclic, η = 3 rates)":              {Rate: PerPoint([]float64{1, 2, 3})},
		"gradient ascent (two stages, ζ = 10/(1 + 1 t))":     {Order: TwoStage, Relax: Schedule{10, 1}},
		"gradient ascent (shuffled, plain)":                  {Order: Shuffled, Plain: true},
		"gradient ascent (Order(9))":                         {Order: 9},
		"gradient ascent (violators, η = 2, ω = 0.5, ζ = 1)": {Order: Violators, Rate: Schedule{Start: 2}, Omega: 0.5, Relax: Schedule{Start: 1}},
	} {
		if m.Name() != want {
			t.Errorf("%q, want %q", m.Name(), want)
		}
	}
	if a, b := Method(GradientAscent{Rate: PerPoint([]float64{1, 2})}), Method(GradientAscent{Rate: PerPoint([]float64{1, 2})}); a != b {
		t.Error("equal descriptions differ")
	}
}

func ExampleGradientAscent() {
	x := [][]float64{{2, 1}, {1, 2}, {-1, -1}, {-2, 0}}
	y := []float64{1, 1, -1, -1}
	p := SoftMargin(toy.NewGram(x, toy.Dot), y, []float64{10, 10, 10, 10}).WithFixedBias(0)
	r, err := Solve(context.Background(), p, GradientAscent{Order: TwoStage}, Settings{})
	fmt.Println(err, r.Status)
	fmt.Printf("W = %.4f, gap ≤ %.0e, bias %g\n", r.Certificate.Dual, 1e-2, r.Bias)
	// Output:
	// <nil> converged
	// W = 0.2500, gap ≤ 1e-02, bias 0
}
