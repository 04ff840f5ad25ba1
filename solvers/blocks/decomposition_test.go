package blocks

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

func gaussian(x [][]float64, gamma float64) toy.Blocked {
	return toy.Blocked{Gram: toy.NewGram(x, toy.RBF(gamma))}
}

// clouds are n points of two classes that overlap.
func clouds(n int) (x [][]float64, y []float64) { return toy.Points(toy.Rand(21), n, 2, 0.5) }

func same(n int, v float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// machines are one problem of every kind.
func machines(t *testing.T, n int) map[string]*solvers.Problem {
	x, y := clouds(n)
	k := gaussian(x, 0.4)
	weights, targets := make([]float64, n), make([]float64, n)
	for i := range weights {
		weights[i], targets[i] = 0.2+float64(i%5), math.Sin(2*x[i][0])+0.3*x[i][1]
	}
	nu, err := solvers.NuSoftMargin(k, y, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	one, err := solvers.OneClass(k, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	nuTube, err := solvers.NuTube(k, targets, 3, 0.4)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*solvers.Problem{
		"C-SVC": solvers.SoftMargin(k, y, same(n, 10)), "weights": solvers.SoftMargin(k, y, weights), "2-norm": solvers.SoftMargin2(k, y, weights),
		"ν-SVC": nu, "one class": one, "ε-SVR": solvers.Tube(k, targets, same(n, 5), 0.1), "quadratic ε-SVR": solvers.Tube2(k, targets, weights, 0.05), "ν-SVR": nuTube,
	}
}

// begun is the engine at a feasible α.
func begun(t *testing.T, p *solvers.Problem, size int) *engine {
	t.Helper()
	r, err := solvers.Solve(t.Context(), p, Decomposition{}, solvers.Settings{Stop: solvers.Iterations{Max: 0}})
	if err != nil {
		t.Fatal(err)
	}
	return newEngine(p, size, r.Alpha, nil, false)
}

// balanced checks s'α = δ.
func balanced(t *testing.T, p *solvers.Problem, alpha []float64) {
	t.Helper()
	off := -p.Delta
	for i, a := range alpha {
		off += p.S[i] * a
	}
	if math.Abs(off) > 1e-10*float64(len(alpha)) {
		t.Fatalf("s'α is off by %g", off)
	}
}

// right checks F at the variables at, against α: K is in single precision.
func right(t *testing.T, p *solvers.Problem, alpha, f []float64, at []int) {
	t.Helper()
	size := 1.0
	for _, a := range alpha {
		size += math.Abs(a)
	}
	want := p.F(alpha)
	for _, v := range at {
		if !(math.Abs(f[v]-want[v]) <= 0x1p-22*size) {
			t.Fatalf("F[%d] = %g, want %g; %d are looked at", v, f[v], want[v], len(at))
		}
	}
}

func all(n int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	return at
}

// F is right for all points whenever it is reported, and for the active ones
// always.
func TestKeepsF(t *testing.T) {
	for name, p := range machines(t, 120) {
		t.Run(name, func(t *testing.T) {
			s := begun(t, p, smallest)
			left := 0
			for range 400 {
				if done, err := s.Step(context.Background()); err != nil {
					t.Fatal(err)
				} else if done {
					break
				}
				if s.partial() {
					left++
				}
				right(t, p, s.alpha, s.f, s.active)
				balanced(t, p, s.alpha)
			}
			if left == 0 && p.Ridge == nil {
				t.Error("no point was ever left out")
			}
			f, _ := s.Complete(t.Context())
			right(t, p, s.alpha, f, all(len(s.alpha)))
		})
	}
}

func TestForemost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 9), func(i int) float64 { return float64(i) }), 1, 60).Draw(rt, "keys")
		count := rapid.IntRange(0, len(keys)).Draw(rt, "count")
		was, at := append([]float64(nil), keys...), make([]int, len(keys))
		for i := range at {
			at[i] = i
		}
		foremost(keys, at, count)
		seen := make([]bool, len(keys))
		for i, j := range at {
			if seen[j] || keys[i] != was[j] {
				rt.Fatalf("entry %d came from %d, or twice", i, j)
			}
			seen[j] = true
		}
		for _, front := range keys[:count] {
			for _, back := range keys[count:] {
				if front < back {
					rt.Fatalf("%v: %g stands before %g", keys, front, back)
				}
			}
		}
	})
}

// The first working sets are small.
func TestBegins(t *testing.T) {
	x, y := clouds(1500)
	s := begun(t, solvers.SoftMargin(gaussian(x, 1), y, same(1500, 1)), 700)
	for _, want := range []int{256, 512, 700, 700} {
		if s.choose(); len(s.set) != want {
			t.Errorf("a working set of %d, want %d", len(s.set), want)
		}
	}
}

// TestSamples: only variables that violate enter a set, the worst of them, and with many points some
// others too.
func TestSamples(t *testing.T) {
	p := machines(t, 300)["C-SVC"]
	for _, large := range []bool{false, true} {
		s := begun(t, p, 16)
		for range 3 { // until F differs from variable to variable
			if _, err := s.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		clear(s.in)
		s.order = s.order[:0]
		s.large, s.size, s.widest, s.room = large, 64, 64, 64
		s.choose()
		worst := 0
		for g, side := range []float64{1, -1} {
			mask, from := s.noRise, -s.end[0].low
			if g == 1 {
				mask, from = s.noFall, s.end[0].up
			}
			key := func(v int) float64 { return side*(s.f[v]+mask[v]) + from }
			entered := s.order[g*32 : (g+1)*32]
			for _, v := range entered {
				if !(key(v) > 0) {
					t.Errorf("large %v: variable %d does not violate", large, v)
				}
			}
			keys := make([]float64, 0, len(p.S))
			for v := range p.S {
				if key(v) > 0 && (g == 0 || !slices.Contains(s.order[:32], v)) {
					keys = append(keys, key(v))
				}
			}
			slices.Sort(keys)
			if !slices.ContainsFunc(entered, func(v int) bool { return key(v) == keys[len(keys)-1] }) {
				t.Errorf("large %v: the worst variable is not in the set", large)
			}
			if len(keys) < 96 {
				t.Fatalf("only %d variables violate", len(keys))
			}
			mean, ofAll := 0.0, 0.0
			for _, v := range entered {
				mean += key(v) / 32
				if key(v) >= keys[len(keys)-32] {
					worst++
				}
			}
			for _, k := range keys {
				ofAll += k / float64(len(keys))
			}
			if !(mean > 1.1*ofAll) {
				t.Errorf("large %v: violations of %g on average, and %g of all that violate", large, mean, ofAll)
			}
		}
		if (worst < 64) != large {
			t.Errorf("large %v: %d of 64 variables are among the worst 64", large, worst)
		}
		s.choose()
		if order := slices.Sorted(slices.Values(s.order)); len(slices.Compact(order)) != len(s.order) {
			t.Error("a variable is twice in a set")
		}
	}
}

// Where more α are free than a set holds, one set of all that are active ends the run
// in fewer steps, and sets are as large as before where they are not.
func TestWidens(t *testing.T) {
	p := machines(t, 120)["ε-SVR"]
	var steps [2]int
	for k, widest := range []int{smallest, len(p.S)} {
		s := begun(t, p, smallest)
		s.widest = widest
		wide := 0
		for steps[k] = 0; steps[k] < 4000 && s.violation() > 1e-4; steps[k]++ {
			if done, err := s.Step(context.Background()); err != nil {
				t.Fatal(err)
			} else if done {
				break
			}
			if len(s.set) > s.size {
				wide++
			}
			if len(s.set) > widest {
				t.Fatalf("a set of %d, at most %d", len(s.set), widest)
			}
		}
		if (wide > 0) != (k > 0) {
			t.Errorf("widest %d: %d large sets", widest, wide)
		}
		balanced(t, p, s.alpha)
		f, _ := s.Complete(t.Context())
		right(t, p, s.alpha, f, all(len(s.alpha)))
	}
	if steps[1] >= steps[0] {
		t.Errorf("%d steps with large sets, %d without", steps[1], steps[0])
	}
}

// manyPoints is Decomposition as it is for many points.
type manyPoints struct{ Decomposition }

func (m manyPoints) Choose(*solvers.Problem) []solvers.Stage { return []solvers.Stage{{Method: m}} }

func (m manyPoints) Start(p *solvers.Problem, alpha []float64) (solvers.Stepper, error) {
	return newEngine(p, m.Size, alpha, nil, true), nil
}

func (m manyPoints) Resume(p *solvers.Problem, alpha []float64, from *solvers.Saved) (solvers.Stepper, error) {
	st, err := m.Decomposition.Resume(p, alpha, from)
	if s, ok := st.(*engine); ok {
		s.large = true
	}
	return st, err
}

// From many points on, the F of the start is computed in single precision.
func TestStartOfManyPoints(t *testing.T) {
	for name, p := range machines(t, 300) {
		r, err := solvers.Solve(t.Context(), p, Decomposition{Size: smallest}, solvers.Settings{Stop: solvers.Iterations{Max: 20}})
		if err != nil {
			t.Fatal(name, err)
		}
		s := newEngine(p, smallest, r.Alpha, nil, true)
		right(t, p, s.alpha, s.f, all(len(s.alpha)))
		if s.partial() || !(math.Abs(s.top-s.dual()) == 0) {
			t.Errorf("%s: %d of %d variables are active, W is %g and not %g", name, len(s.active), len(s.alpha), s.top, s.dual())
		}
	}
}

// For many points F of all is updated by Solve and not by the method. The answer is the same.
func TestManyPoints(t *testing.T) {
	for name, p := range machines(t, 300) {
		t.Run(name, func(t *testing.T) {
			var r [2]*solvers.Result
			for k, m := range []solvers.Method{Decomposition{}, manyPoints{}} {
				var err error
				if r[k], err = solvers.Solve(t.Context(), p, m, solvers.Settings{Stop: solvers.UpLow{Tol: 1e-6}}); err != nil {
					t.Fatal(err)
				}
				if r[k].Status != solvers.Converged || !(r[k].Certificate.RelGap <= 1e-5) {
					t.Errorf("%v, gap %g", r[k].Status, r[k].Certificate.RelGap)
				}
			}
			a, b := r[0].Certificate, r[1].Certificate
			off := 1e-9 * math.Abs(a.Dual)
			if name == "ν-SVC" { // W is 4e-5, less than single precision can tell; the gaps bound what is missing
				off = max(a.Gap, b.Gap)
			}
			if !(math.Abs(a.Dual-b.Dual) <= off) {
				t.Errorf("W = %.12g and %.12g", a.Dual, b.Dual)
			}
		})
	}
}

// For many points the method asks Solve for F of all when the active variables are done.
func TestAsks(t *testing.T) {
	p := machines(t, 300)["C-SVC"]
	s := begun(t, p, smallest)
	s.large = true
	asked := 0
	for range 4000 {
		done, err := s.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		right(t, p, s.alpha, s.f, s.active)
		if done && !s.partial() {
			break
		}
		if done {
			asked++
			s.Refresh(p.F(s.alpha))
		}
	}
	if asked == 0 || !(s.violation() < 1e-4) {
		t.Errorf("asked %d times, violation %g", asked, s.violation())
	}
}

// For many points sets grow with the number of free α, up to the widest.
func TestGrows(t *testing.T) {
	p := machines(t, 300)["2-norm"]
	for _, large := range []bool{false, true} {
		s := begun(t, p, smallest)
		s.large, s.widest = large, 4*smallest
		for range 200 {
			if _, err := s.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(s.set) > s.widest {
				t.Fatalf("a set of %d, at most %d", len(s.set), s.widest)
			}
		}
		if free := s.free; free < 4*smallest*perFree {
			t.Fatalf("only %d α are free", free)
		}
		if grown := s.size == 4*smallest; grown != large || !large && s.size != smallest {
			t.Errorf("large %v: sets of %d", large, s.size)
		}
	}
}

// A run does not depend on the pieces in which goroutines look at the variables.
func TestPieces(t *testing.T) {
	for name, p := range machines(t, 300) {
		whole, cut := begun(t, p, 32), begun(t, p, 32)
		for step := range 100 {
			done, err := whole.Step(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			before := piece
			piece = 7
			_, err = cut.Step(t.Context())
			piece = before
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(cut.order, whole.order) || !slices.Equal(cut.alpha, whole.alpha) || cut.end != whole.end || cut.free != whole.free || cut.reach != whole.reach {
				t.Fatalf("%s: step %d differs", name, step)
			}
			if done {
				break
			}
		}
	}
}

// A run that goes on from what an observer has saved computes what the run would have computed, and ends
// at the same optimum.
func TestGoesOn(t *testing.T) {
	defer func(was int) { leastPart = was }(leastPart)
	leastPart = 64 // so that some runs go on in the middle of a part
	for name, p := range machines(t, 300) {
		for _, m := range []solvers.Method{Decomposition{Size: 32}, manyPoints{Decomposition{Size: 32}}} {
			settings := solvers.Settings{Stop: solvers.UpLow{Tol: 1e-4}, Every: 1}
			whole, err := solvers.Solve(t.Context(), p, m, settings)
			if err != nil {
				t.Fatal(name, err)
			}
			var saved []*solvers.Saved
			settings.Observers = []solvers.Observer{func(it *solvers.Iterate, _ *solvers.Point) { saved = append(saved, it.Save()) }}
			if _, err := solvers.Solve(t.Context(), p, m, settings); err != nil {
				t.Fatal(name, err)
			}
			settings.Observers = nil
			for _, at := range []int{1, len(saved) / 3, len(saved) * 2 / 3, len(saved) - 2} {
				settings.Resume = saved[at]
				res, err := solvers.Solve(t.Context(), p, m, settings)
				if err != nil || res.Status != solvers.Converged {
					t.Fatalf("%s from %d: %v, %v", name, at, res, err)
				}
				if gap := math.Abs(res.Certificate.Dual - whole.Certificate.Dual); gap > whole.Certificate.Gap+res.Certificate.Gap {
					t.Errorf("%s from %d: the answers differ by %g", name, at, gap)
				}
				if left := whole.Iterations - at; res.Iterations > 2*left+20 {
					t.Errorf("%s from %d of %d iterations: %d more", name, at, whole.Iterations, res.Iterations)
				}
			}
			settings.Resume = &solvers.Saved{Alpha: saved[1].Alpha, F: saved[1].F[:3]}
			if res, err := solvers.Solve(t.Context(), p, m, settings); err != nil || res.Status != solvers.Converged {
				t.Errorf("%s from too few F: %v", name, err)
			}
		}
	}
}

// The F that is saved is that of its α, and so is the one of its base.
func TestSavesF(t *testing.T) {
	for name, p := range machines(t, 300) {
		s := begun(t, p, 32)
		for range 40 {
			if done, err := s.Step(t.Context()); done || err != nil {
				break
			}
			saved := s.save()
			want := p.F(saved.Alpha)
			for v, f := range saved.F {
				if f == f && math.Abs(float64(f)-want[v]) > 1e-4*(1+math.Abs(want[v])) {
					t.Fatalf("%s: F[%d] = %v, want %v", name, v, f, want[v])
				}
			}
			if saved.Base == nil {
				continue
			}
			for v, want := range p.F(saved.Base) {
				if math.Abs(float64(saved.BaseF[v])-want) > 1e-4*(1+math.Abs(want)) {
					t.Fatalf("%s: F[%d] of the base = %v, want %v", name, v, saved.BaseF[v], want)
				}
			}
		}
	}
}

// Drift is rounding. After a fault of F of some variables it is half of this fault, unless F of these is
// only estimated. After the same fault of all it is rounding again.
func TestDrift(t *testing.T) {
	for name, p := range machines(t, 120) {
		t.Run(name, func(t *testing.T) {
			s := begun(t, p, smallest)
			for range 20 {
				if done, err := s.Step(context.Background()); done || err != nil {
					t.Fatal(done, err)
				}
			}
			size := 1.0
			for _, a := range s.alpha {
				size += math.Abs(a)
			}
			drift, violation := s.Drift(context.Background())
			if !(drift > 0 && drift <= 0x1p-22*size && violation == s.violation()) {
				t.Errorf("a drift of %g, violation %g", drift, violation)
			}
			for _, v := range s.active[len(s.active)/2:] {
				s.f[v] -= 6
			}
			if drift, _ := s.Drift(context.Background()); math.Abs(drift-3) > 0x1p-20*size {
				t.Errorf("a drift of %g, want 3, half of the fault", drift)
			}
			for _, estimated := range []bool{true, false} {
				for _, v := range s.active[len(s.active)/2:] {
					s.stale[v] = estimated
				}
				if drift, _ := s.Drift(context.Background()); estimated != (drift <= 0x1p-20*size) {
					t.Errorf("a drift of %g with estimates: %t", drift, estimated)
				}
			}
			for _, v := range s.active[:len(s.active)/2] {
				s.f[v] -= 6
			}
			if drift, _ := s.Drift(context.Background()); !(drift <= 0x1p-20*size) {
				t.Errorf("a drift of %g, where all F are off by the same", drift)
			}
			ended, cancel := context.WithCancel(context.Background())
			cancel()
			if drift, _ := s.Drift(ended); p.K.Dim() > 1 && !(drift > 2) {
				t.Errorf("a drift of %g after the end", drift)
			}
		})
	}
}

// The steps in single precision end near the optimum on the set, as those in double precision do.
func TestSingle(t *testing.T) {
	p := machines(t, 128)["C-SVC"]
	run := func(in func(s *engine, tol float64) bool) (w, violation float64) {
		s := begun(t, p, 128)
		s.room = 128
		s.choose()
		if !s.pose() || !in(s, 1e-3) {
			t.Fatal("no steps")
		}
		alpha := make([]float64, 128)
		for k, v := range s.set {
			alpha[v] = s.local.alpha[k]
		}
		balanced(t, p, alpha)
		s = newEngine(p, 128, alpha, nil, false)
		return s.dual(), s.violation()
	}
	single, v := run(func(s *engine, tol float64) bool { return s.inSingle(context.Background(), tol) })
	double, _ := run(func(s *engine, tol float64) bool { s.inDouble(context.Background(), tol); return true })
	if !(v < 1.2e-3 && math.Abs(single-double) <= 1e-3*128*10) {
		t.Errorf("W = %g with a violation of %g; in double precision %g", single, v, double)
	}
	s := begun(t, p, 128)
	s.choose()
	if !s.pose() || s.inSingle(context.Background(), 1e-7) {
		t.Error("single precision for a violation that it cannot see")
	}
}

// tardy is a matrix that computes no more values once ctx has ended.
type tardy struct {
	toy.Blocked
	ctx context.Context
}

func (m tardy) AddTo(ctx context.Context, dst, slack []float64, on, idx []int, coef []float64, exact bool) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	return m.Blocked.AddTo(ctx, dst, slack, on, idx, coef, exact)
}

// When an interrupt leaves no time to update F of the points that were left out, the certificate
// has no figures that need it.
func TestInterruptLeavesFOutOfDate(t *testing.T) {
	for _, late := range []bool{false, true} {
		p := machines(t, 300)["C-SVC"]
		ctx, cancel := context.WithCancel(t.Context())
		if late {
			p.K = tardy{p.K.(toy.Blocked), ctx}
		}
		r, err := solvers.Solve(ctx, p, Decomposition{Size: smallest}, solvers.Settings{Stop: solvers.UpLow{Tol: 1e-9}, Observers: []solvers.Observer{func(it *solvers.Iterate, _ *solvers.Point) {
			if it.Active < 200 {
				cancel()
			}
		}}})
		if r == nil || r.Status != solvers.Interrupted {
			t.Fatal(r, err)
		}
		c := r.Certificate
		if c.Claimed != late || (r.F == nil) != late || c.Bias-c.Bias != 0 || c.Free+c.AtUpper == 0 {
			t.Errorf("late %v: %+v", late, c)
		}
		for name, v := range map[string]float64{"dual": c.Dual, "primal": c.Primal, "gap": c.Gap, "gap in the box": c.BoxGap, "relative gap": c.RelGap, "violation": c.MaxKKT, "‖w‖²": c.Norm2} {
			if math.IsNaN(v) != late {
				t.Errorf("late %v: %s is %g", late, name, v)
			}
		}
	}
}
