package solvers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/toy"
)

// engine and fast are the methods of packages above this one, blocks and fastest, which set
// them from their side (above_test.go).
var (
	engine func(size int) Method
	fast   Method
)

// UseAbove is for above_test.go.
func UseAbove(e func(size int) Method, f Method) { engine, fast = e, f }

// blocked is a gram with Blocks that keeps count, and can be told to be bad.
type blocked struct {
	toy.Blocked
	sums, exact int            // kernel values summed in single and in double precision
	during      func(sums int) // called by AddTo
	byRows      bool
	loose       bool // no bound is known of what rounding does
	known       int  // points that were said to be known
}

// Among looks at whether what is said to be known is.
func (m *blocked) Among(dst []float32, idx []int, was []float32, of []int) {
	for k := range dst {
		dst[k] = -1 // which is other memory
	}
	for k, i := range of {
		for l, j := range of {
			if k != l && math.Float32bits(was[k*len(of)+l]) != math.Float32bits(float32(m.K[i][j])) {
				panic("a known value is wrong")
			}
		}
	}
	m.known += len(of)
	m.Blocked.Among(dst, idx, was, of)
}

func (m *blocked) InBlocks() bool { return !m.byRows }

func (m *blocked) AddTo(ctx context.Context, dst, slack []float64, on, idx []int, coef []float64, exact bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if on == nil && len(dst) != m.Dim() {
		panic("a sum at all points has room for some")
	}
	switch {
	case exact && len(on) > 0 && len(on) == len(idx) && &on[0] == &idx[0]:
		m.exact += len(idx) * (len(idx) + 1) / 2
	case exact:
		m.exact += len(dst) * len(idx)
	case slack == nil: // the sums that a run takes, without its certificate
		m.sums += len(dst) * len(idx)
	}
	if m.during != nil && !exact {
		m.during(m.sums)
	}
	if m.loose {
		for r := range slack {
			slack[r] = 1e9
		}
		slack = nil
	}
	return m.Blocked.AddTo(ctx, dst, slack, on, idx, coef, exact)
}

// inBlocks returns p on a matrix with Blocks, doubled where that of p is.
func inBlocks(p *Problem) (*Problem, *blocked) {
	q := *p
	if d := PointsOf(p.K); d != nil {
		b := &blocked{Blocked: toy.Blocked{Gram: d.(*toy.Gram)}}
		q.K = Double(b)
		return &q, b
	}
	b := &blocked{Blocked: toy.Blocked{Gram: p.K.(*toy.Gram)}}
	q.K = b
	return &q, b
}

// machines are one problem of every kind that the engine takes.
func machinesOf(n int) map[string]*Problem {
	x, y := toy.Points(toy.Rand(21), n, 3, 0.5)
	k := toy.NewGram(x, toy.RBF(0.4))
	nu, err := NuSoftMargin(k, y, 0.4)
	if err != nil {
		panic(err)
	}
	one, err := OneClass(k, 0.3)
	if err != nil {
		panic(err)
	}
	xw, yw := wave(22, n, 0.3)
	kw := toy.NewGram(xw, toy.RBF(2))
	nuTube, err := NuTube(kw, yw, 3, 0.4)
	if err != nil {
		panic(err)
	}
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 0.2 + float64(i%5)
	}
	return map[string]*Problem{
		"C-SVC": SoftMargin(k, y, fill(n, 10)), "weights": SoftMargin(k, y, weights), "2-norm": SoftMargin2(k, y, weights),
		"ν-SVC": nu, "one class": one, "ε-SVR": Tube(kw, yw, fill(n, 5), 0.1), "quadratic ε-SVR": Tube2(kw, yw, weights, 0.05), "ν-SVR": nuTube,
	}
}

// The engine finds SMO's optimum, to a tolerance that single precision does not
// have, with working sets small enough for many of them and for points left out.
func TestEngine(t *testing.T) {
	for name, p := range machinesOf(150) {
		t.Run(name, func(t *testing.T) {
			q, b := inBlocks(p)
			tight := Settings{Stop: UpLow{1e-9}}
			want := solve(t, p, SMO{}, tight)
			for _, size := range []int{0, 16, 24, 64, 1000} {
				rows := b.Rows
				r := solve(t, q, engine(size), tight)
				if r.Status != Converged || r.Certificate.MaxKKT > 1e-9 {
					t.Errorf("q = %d: %v, KKT %g", size, r.Status, r.Certificate.MaxKKT)
				}
				if !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-9) {
					t.Errorf("q = %d: W = %.12g, want %.12g", size, r.Certificate.Dual, want.Certificate.Dual)
				}
				if r.Iterations > 1 && b.known == 0 {
					t.Errorf("q = %d: nothing was known", size)
				}
				if b.Rows != rows {
					t.Errorf("q = %d: %d rows were asked for one by one", size, b.Rows-rows)
				}
				if c := Certify(p, r.Alpha); !(math.Abs(c.Gap-r.Certificate.Gap) <= 1e-9) || !toy.Near(c.Dual, r.Certificate.Dual, 1e-12) {
					t.Errorf("q = %d: the certificate says %.12g and %g, afresh it is %.12g and %g", size, r.Certificate.Dual, r.Certificate.Gap, c.Dual, c.Gap)
				}
			}
		})
	}
}

// A certificate leaves out what adds nothing to it, and is the same to the bit of
// what it adds.
func TestOpenPoints(t *testing.T) {
	for name, p := range machinesOf(150) {
		q, b := inBlocks(p)
		alpha := solve(t, p, SMO{}, Settings{}).Alpha
		var exact [2]int
		var c [2]Certificate
		for k := range exact {
			b.loose, b.exact = k == 0, 0
			f, _ := q.residualBy(context.Background(), b, 0, alpha)
			c[k], exact[k] = q.certify(alpha, f), b.exact
		}
		if c[0] != c[1] {
			t.Errorf("%s: %+v of all points, %+v of those that are open", name, c[0], c[1])
		}
		if fewer := name == "C-SVC" || name == "weights" || name == "one class" || name == "ε-SVR"; fewer && exact[1] >= exact[0] {
			t.Errorf("%s: %d kernel values of %d", name, exact[1], exact[0])
		}
	}
}

func TestEngineRandomProblems(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		p := generalProblem(rng, 5+rng.IntN(60))
		want, err := Solve(context.Background(), p, SMO{}, Settings{Stop: UpLow{1e-8}})
		if err != nil {
			rt.Skip("no feasible α")
		}
		q, _ := inBlocks(p)
		r, err := Solve(context.Background(), q, engine(16+rng.IntN(30)), Settings{Stop: UpLow{1e-8}})
		if err != nil || r.Status != Converged || !toy.Near(r.Certificate.Dual, want.Certificate.Dual, 1e-7) {
			rt.Fatalf("%v, %v: W = %.10g, want %.10g", err, r.Status, r.Certificate.Dual, want.Certificate.Dual)
		}
	})
}

// Warm start, criteria on the gap, every point of the trace.
func TestEngineInTheLoop(t *testing.T) {
	p, b := inBlocks(SoftMargin(toy.NewGram(machinePoints()), classes(), fill(200, 10)))
	cold := solve(t, p, engine(16), Settings{Stop: Gap{Rel: 1e-8}, Every: 1})
	if cold.Certificate.RelGap > 1e-8 {
		t.Errorf("relative gap %g", cold.Certificate.RelGap)
	}
	partial := 0
	for _, pt := range cold.Trace.Points[:len(cold.Trace.Points)-1] { // the last is of all points
		if pt.Active < 200 {
			partial++
			if !math.IsNaN(pt.Dual) || math.IsNaN(pt.KKT) {
				t.Errorf("iteration %d of %d active points: W = %g, KKT %g", pt.Iteration, pt.Active, pt.Dual, pt.KKT)
			}
		} else if math.IsNaN(pt.Dual) {
			t.Errorf("iteration %d of all points has no W", pt.Iteration)
		}
	}
	if partial == 0 {
		t.Error("all points were active all the time")
	}
	if last := cold.Trace.Replayable() - 1; last >= 0 {
		for i, a := range cold.Trace.AlphaAt(last) {
			if a != cold.Alpha[i] {
				t.Fatalf("α[%d] replays as %g, is %g", i, a, cold.Alpha[i])
			}
		}
	}
	sums := b.sums
	warm := solve(t, p, engine(16), Settings{Start: cold.Alpha})
	if warm.Iterations != 0 || b.sums != sums {
		t.Errorf("from the solution: %d iterations, %d kernel values", warm.Iterations, b.sums-sums)
	}
	again := solve(t, p, engine(16), Settings{Stop: Gap{Rel: 1e-8}, Every: 1})
	for i, a := range again.Alpha {
		if a != cold.Alpha[i] {
			t.Fatalf("another run has α[%d] = %g, the first %g", i, a, cold.Alpha[i])
		}
	}
}

func machinePoints() ([][]float64, toy.Kernel) {
	x, _ := toy.Points(toy.Rand(31), 200, 2, 0.6)
	return x, toy.RBF(1)
}

func classes() []float64 {
	_, y := toy.Points(toy.Rand(31), 200, 2, 0.6)
	return y
}

// While variables are left out there is no gap: a run that is to stop by it sees one
// often enough all the same.
func TestEngineStopsAtGap(t *testing.T) {
	for _, size := range []int{0, 16} {
		solve := func(stop Criterion) *Result {
			p, _ := inBlocks(SoftMargin(toy.NewGram(machinePoints()), classes(), fill(200, 10)))
			r, err := Solve(t.Context(), p, engine(size), Settings{Stop: stop, MaxIterations: 10_000})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		usual, byGap := solve(UpLow{1e-6}), solve(Gap{1e-5})
		if byGap.Status != Converged || byGap.Certificate.RelGap > 1e-5 || byGap.Iterations > usual.Iterations+10 {
			t.Errorf("size %d: %v after %d iterations with a gap of %.1e; %d lead to a violation of 1e-6", size, byGap.Status, byGap.Iterations, byGap.Certificate.RelGap, usual.Iterations)
		}
	}
}

// An interrupt in the middle of a sum leaves α and F as they were before the step.
func TestEngineInterrupt(t *testing.T) {
	p, b := inBlocks(SoftMargin(toy.NewGram(machinePoints()), classes(), fill(200, 10)))
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	b.during = func(sums int) {
		if sums > 20_000 {
			cancel(why)
		}
	}
	r, err := Solve(ctx, p, engine(16), Settings{})
	if !errors.Is(err, why) || r == nil || r.Status != Interrupted {
		t.Fatalf("%v, %+v", err, r)
	}
	if r.Certificate.Dual <= 0 || p.equality(r.Alpha) > 1e-9 || b.sums > 40_000 {
		t.Errorf("W = %g, s'α off by %g, %d kernel values summed", r.Certificate.Dual, p.equality(r.Alpha), b.sums)
	}
}

// A kernel value that is none ends the run with its place.
func TestEngineBadValues(t *testing.T) {
	for name, bad := range map[string]float64{"NaN": math.NaN(), "Inf": math.Inf(1)} {
		x, k := machinePoints()
		g := toy.NewGram(x, k)
		for j := range 200 {
			g.K[77][j], g.K[j][77] = bad, bad
		}
		p, _ := inBlocks(SoftMargin(g, classes(), fill(200, 10)))
		_, err := Solve(context.Background(), p, engine(16), Settings{})
		var e *ProblemError
		if !errors.As(err, &e) || e.Field != "K" {
			t.Errorf("%s: %v", name, err)
		}
	}
	x, _ := machinePoints()
	g := toy.NewGram(x, func(x, z []float64) float64 { return 1e60 * toy.Dot(x, z) }) // beyond single precision
	p, _ := inBlocks(SoftMargin(g, classes(), fill(200, 10)))
	_, err := Solve(context.Background(), p, engine(16), Settings{})
	var e *ProblemError
	if !errors.As(err, &e) || e.Field != "K" || e.Msg == "" {
		t.Errorf("beyond single precision: %v", err)
	}
}

// fast says what it took.
func TestFast(t *testing.T) {
	x, y := toy.Points(toy.Rand(41), 600, 2, 0.6)
	k := toy.NewGram(x, toy.RBF(1))
	soft := SoftMargin(k, y, fill(len(y), 1))
	large, _ := inBlocks(soft)
	small, _ := inBlocks(SoftMargin(toy.NewGram(x[:50], toy.RBF(1)), y[:50], fill(50, 1)))
	hard, _ := inBlocks(HardMargin(toy.NewGram(x, toy.RBF(1000)), y))
	tube := Tube(k, y, fill(len(y), 1), 0.1)
	tubes, _ := inBlocks(tube)
	rows, b := inBlocks(soft)
	b.byRows = true
	for _, c := range []struct {
		name string
		p    *Problem
		want string
	}{
		{"no blocks", soft, SMO{}.Name()},
		{"blocks", large, "decomposition (SMO (second order), q = 144, in blocks)"},
		{"a kernel that goes by rows", rows, SMO{}.Name()},
		{"few points", small, SMO{}.Name()},
		{"hard margin", hard, SMO{}.Name()},
		{"tube without blocks", tube, TubeSMO{}.Name()},
		{"tube", tubes, "decomposition (SMO (second order), q = 296, in blocks)"},
		{"fixed bias", soft.WithFixedBias(0), "gradient ascent (cyclic), then primal–dual"},
		{"fixed bias, tube", tube.WithFixedBias(0.5), "gradient ascent (cyclic), then primal–dual"},
		{"fixed bias, linear", SoftMargin(densely(t, x, 0), y, fill(len(y), 1)).WithFixedBias(0), Newton{}.Name()},
		{"linear", SoftMargin(densely(t, x, 0), y, fill(len(y), 1)), Newton{}.Name()},
	} {
		if r := solve(t, c.p, fast, Settings{}); r.Method != c.want || r.Certificate.MaxKKT > 1e-3 {
			t.Errorf("%s: %s, KKT %g; want %s", c.name, r.Method, r.Certificate.MaxKKT, c.want)
		}
	}
}
