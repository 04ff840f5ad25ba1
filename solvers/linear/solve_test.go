package linear

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/solvers"
)

// randomSystem draws n points of three features, a kernel, noise from 1e-3 to 1, the
// same for all or not, and q right-hand sides.
func randomSystem(seed uint64, n, q int) (*System, [][]float64) {
	rng := toy.Rand(seed)
	x, _ := toy.Points(rng, n, 3, 0.3)
	k := []toy.Kernel{toy.RBF(0.5), toy.RBF(0.05), toy.Dot, toy.Polynomial(0.3, 1, 2)}[rng.IntN(4)]
	noise := fill(n, math.Pow(10, -3*rng.Float64()))
	if rng.IntN(2) == 0 {
		for i := range noise {
			noise[i] *= 1 + 5*rng.Float64()
		}
	}
	b := make([][]float64, q)
	for j := range b {
		b[j] = make([]float64, n)
		for i := range b[j] {
			b[j][i] = rng.NormFloat64()
		}
	}
	return &System{toy.NewGram(x, k), noise}, b
}

func mustSolve(t testing.TB, s *System, b [][]float64, m Method, set Settings) *Solution {
	t.Helper()
	sol, err := Solve(context.Background(), s, b, m, set)
	if err != nil {
		t.Fatalf("%s: %v", m.Name(), err)
	}
	return sol
}

func allNear(x, y []float64, tol float64) bool {
	size := max(norm(x), norm(y))
	for i, v := range x {
		if !(math.Abs(v-y[i]) <= tol*size) {
			return false
		}
	}
	return len(x) == len(y)
}

var methods = []Method{Cholesky{}, Mixed{}, LU{}, GaussJordan{}, CG{}, CG{Rank: 8}, CG{GibbsMacKay: true}, WidrowHoff{}, WidrowHoff{Eta: 0.1}}

// TestMethods: every method solves the same systems, one right-hand side or
// several, and its certificate says so.
func TestMethods(t *testing.T) {
	for _, n := range []int{1, 2, 3, 17, 64, 65, 300} {
		rng := toy.Rand(uint64(n))
		x, _ := toy.Points(rng, n, 2, 0)
		noise := make([]float64, n)
		b := [][]float64{make([]float64, n), make([]float64, n), fill(n, 0)}
		for i := range noise {
			noise[i] = 1 + rng.Float64()
			b[0][i], b[1][i] = rng.NormFloat64(), 100*x[i][0]
		}
		s := &System{toy.NewGram(x, toy.RBF(0.7)), noise}
		want := mustSolve(t, s, b, Cholesky{}, Settings{})
		for _, m := range methods {
			sol := mustSolve(t, s, b, m, Settings{Stop: Bounds{Rel: 1e-12}, MaxIterations: 10_000})
			if sol.Status != solvers.Converged || sol.Method != m.Name() {
				t.Errorf("n = %d, %s: %v", n, m.Name(), sol.Status)
			}
			for j, c := range sol.Certificates {
				if !allNear(sol.X[j], want.X[j], 1e-5) {
					t.Errorf("n = %d, %s: x_%d differs", n, m.Name(), j)
				}
				if c.Upper < c.Lower || c.Energy > 1e-11*c.Lower+1e-300 || c.Claimed || c.Residual > 1e-5*norm(b[j]) {
					t.Errorf("n = %d, %s: certificate %+v", n, m.Name(), c)
				}
			}
			if c := sol.Certificates[2]; norm(sol.X[2]) != 0 || c != (Certificate{}) {
				t.Errorf("n = %d, %s: b = 0 has x of norm %g, %+v", n, m.Name(), norm(sol.X[2]), c)
			}
			last := sol.Trace[len(sol.Trace)-1]
			if last.Iteration != sol.Iterations || last.Evaluations != sol.Evaluations || last.Lower != sol.Certificates[0].Lower {
				t.Errorf("n = %d, %s: the trace ends with %+v", n, m.Name(), last)
			}
		}
	}
}

// TestBatch: right-hand sides do not see each other.
func TestBatch(t *testing.T) {
	s, b := randomSystem(11, 80, 5)
	for _, m := range methods {
		if w, ok := m.(WidrowHoff); ok && w.Eta != 0 {
			continue
		}
		set := Settings{MaxIterations: 15}
		together := mustSolve(t, s, b, m, set)
		for j := range b {
			alone := mustSolve(t, s, b[j:j+1], m, set)
			if !allNear(alone.X[0], together.X[j], 1e-9) {
				t.Errorf("%s: x_%d depends on the others", m.Name(), j)
			}
		}
	}
}

// TestStart: a warm start at the solution stays there; one near it begins with what is
// known there; one far off ends at the same.
func TestSystemStart(t *testing.T) {
	s, b := randomSystem(3, 50, 2)
	want := mustSolve(t, s, b, Cholesky{}, Settings{})
	for _, m := range []Method{CG{}, CG{Rank: 6}, CG{GibbsMacKay: true}, WidrowHoff{}} {
		sol := mustSolve(t, s, b, m, Settings{Start: want.X})
		if sol.Status != solvers.Converged || sol.Iterations > 1 {
			t.Errorf("%s from the solution: %v after %d iterations", m.Name(), sol.Status, sol.Iterations)
		}
		far := [][]float64{fill(50, 3), fill(50, -1)}
		sol = mustSolve(t, s, b, m, Settings{Start: far, Stop: Bounds{Rel: 1e-9}, MaxIterations: 100_000})
		for j := range b {
			if sol.Status != solvers.Converged || !toy.Near(sol.Certificates[j].Lower, want.Certificates[j].Lower, 1e-8) {
				t.Errorf("%s from afar: %v, %g, want %g", m.Name(), sol.Status, sol.Certificates[j].Lower, want.Certificates[j].Lower)
			}
		}
		if far[0][0] != 3 {
			t.Errorf("%s has changed Start", m.Name())
		}
	}
}

// TestSystemBadInput wants a *ProblemError that names what is wrong, of every method.
func TestSystemBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	type all struct {
		s   *System
		b   [][]float64
		set Settings
	}
	for _, c := range []struct {
		name   string
		damage func(a *all)
		field  string
		index  int
		says   string
	}{
		{"no matrix", func(a *all) { a.s.K = nil }, "K", -1, "no kernel matrix"},
		{"no system", func(a *all) { a.s = nil }, "K", -1, "no kernel matrix"},
		{"empty", func(a *all) { a.s.K = &toy.Gram{} }, "K", -1, "at least one point"},
		{"short diagonal", func(a *all) { a.s.K.(*toy.Gram).Diagonal = fill(3, 1) }, "K", -1, "3 entries"},
		{"diagonal NaN", func(a *all) { a.s.K.(*toy.Gram).Diagonal[2] = nan }, "K", 2, "row 2, column 2"},
		{"diagonal negative", func(a *all) { a.s.K.(*toy.Gram).Diagonal[2] = -1 }, "K", 2, "another kernel"},
		{"K NaN", func(a *all) { a.s.K.(*toy.Gram).K[4][1] = nan; a.s.K.(*toy.Gram).K[1][4] = nan }, "K", 1, "row 1, column 4"},
		{"K Inf", func(a *all) { a.s.K.(*toy.Gram).K[4][1] = inf; a.s.K.(*toy.Gram).K[1][4] = inf }, "K", 1, "row 1, column 4"},
		{"K ragged", func(a *all) { a.s.K.(*toy.Gram).K[3] = a.s.K.(*toy.Gram).K[3][:2] }, "K", 3, "length of row 3"},
		{"noise short", func(a *all) { a.s.Noise = fill(2, 1) }, "Noise", -1, "2 entries"},
		{"noise negative", func(a *all) { a.s.Noise[5] = -1e-9 }, "Noise", 5, "variance"},
		{"noise NaN", func(a *all) { a.s.Noise[5] = nan }, "Noise", 5, "variance"},
		{"noise Inf", func(a *all) { a.s.Noise[0] = inf }, "Noise", 0, "variance"},
		{"no b", func(a *all) { a.b = nil }, "b", -1, "at least one"},
		{"b ragged", func(a *all) { a.b[1] = a.b[1][:4] }, "b", 1, "length of vector 1"},
		{"b empty", func(a *all) { a.b[0] = nil }, "b", 0, "length of vector 0"},
		{"b NaN", func(a *all) { a.b[1][3] = nan }, "b", 1, "entry 3 of vector 1"},
		{"b Inf", func(a *all) { a.b[0][3] = -inf }, "b", 0, "entry 3 of vector 0"},
		{"start count", func(a *all) { a.set.Start = a.b[:1] }, "Start", -1, "1 vectors"},
		{"start short", func(a *all) { a.set.Start = [][]float64{a.b[0], {1}} }, "Start", 1, "length of vector 1"},
		{"start NaN", func(a *all) { a.set.Start = [][]float64{fill(6, nan), a.b[0]} }, "Start", 0, "entry 0"},
		{"iterations", func(a *all) { a.set.MaxIterations = -1 }, "MaxIterations", -1, "positive"},
		{"time", func(a *all) { a.set.MaxTime = -1 }, "MaxTime", -1, "positive"},
		{"memory", func(a *all) { a.set.Memory = -1 }, "Memory", -1, "positive"},
	} {
		for _, m := range methods {
			x, _ := toy.Points(toy.Rand(1), 6, 2, 0)
			a := &all{s: &System{toy.NewGram(x, toy.RBF(1)), fill(6, 0.5)}, b: [][]float64{fill(6, 1), fill(6, 2)}}
			c.damage(a)
			sol, err := Solve(context.Background(), a.s, a.b, m, a.set)
			var bad *solvers.ProblemError
			if sol != nil || !errors.As(err, &bad) {
				t.Errorf("%s, %s: %v", c.name, m.Name(), err)
				continue
			}
			index := c.index
			if c.field == "K" && strings.HasPrefix(c.name, "K ") && bad.Index != index {
				index = bad.Index // pivots ask for rows in another order
				c.says = "row"
			}
			if bad.Field != c.field || bad.Index != index || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %s: %q", c.name, m.Name(), err)
			}
		}
	}
	good := func() (*System, [][]float64) {
		x, _ := toy.Points(toy.Rand(1), 6, 2, 0)
		return &System{toy.NewGram(x, toy.RBF(1)), fill(6, 0.5)}, [][]float64{fill(6, 1)}
	}
	for _, m := range []Method{Cholesky{Jitter: -1}, Cholesky{Jitter: nan}, Cholesky{Jitter: inf}, CG{Rank: -2}, WidrowHoff{Eta: -0.1}, WidrowHoff{Eta: 4. / 3}, WidrowHoff{Eta: nan}} {
		s, b := good()
		var bad *solvers.ProblemError
		if _, err := Solve(context.Background(), s, b, m, Settings{}); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for _, m := range []Method{CG{Rank: 2}, CG{GibbsMacKay: true}} {
		s, b := good()
		s.Noise[3] = 0
		var bad *solvers.ProblemError
		if _, err := Solve(context.Background(), s, b, m, Settings{}); !errors.As(err, &bad) || bad.Field != "Noise" {
			t.Errorf("%s without noise: %v", m.Name(), err)
		}
	}
	s, b := good()
	if _, err := Solve(context.Background(), s, b, nil, Settings{}); !errors.As(err, new(*solvers.ProblemError)) {
		t.Errorf("no method: %v", err)
	}
	b[0][0] = 1e99
	s.Noise[0] = 1e99
	for _, m := range methods {
		sol, err := Solve(context.Background(), s, b, m, Settings{})
		if err == nil && math.IsNaN(norm(sol.X[0])) {
			t.Errorf("%s: huge numbers make NaN", m.Name())
		}
	}
}

// TestSingular: without noise, duplicates with the same target have solutions and
// those with different ones have none; with noise both do.
func TestSingular(t *testing.T) {
	x := [][]float64{{0}, {1}, {1}, {2}, {3}}
	for _, c := range []struct {
		name      string
		noise     float64
		b         []float64
		solutions bool
	}{
		{"same", 0, []float64{1, 2, 2, 0, 1}, true},
		{"different", 0, []float64{1, 2, 3, 0, 1}, false},
		{"different with noise", 1e-3, []float64{1, 2, 3, 0, 1}, true},
	} {
		for _, m := range []Method{Cholesky{}, Mixed{}, LU{}, GaussJordan{}, CG{}, WidrowHoff{}} {
			sol, err := Solve(context.Background(), &System{toy.NewGram(x, toy.RBF(1)), fill(5, c.noise)}, [][]float64{c.b}, m, Settings{MaxIterations: 20_000})
			var bad *IndefiniteError
			iterative := m == Method(CG{}) || m == Method(WidrowHoff{})
			switch {
			case c.noise > 0 || iterative && c.solutions:
				if err != nil || sol.Status != solvers.Converged {
					t.Errorf("%s, %s: %v, %v", c.name, m.Name(), sol, err)
				}
				if c.noise == 0 && (!math.IsInf(sol.Certificates[0].Upper, 1) || !math.IsInf(sol.Certificates[0].ErrorBound(1), 1)) {
					t.Errorf("%s, %s: bounded without noise", c.name, m.Name())
				}
			case errors.As(err, &bad):
				if bad.Need < 0 || bad.Need > 0.1 {
					t.Errorf("%s, %s: %v", c.name, m.Name(), err)
				}
			case err != nil || sol.Status == solvers.Converged && !c.solutions:
				t.Errorf("%s, %s: %v, %v", c.name, m.Name(), sol, err)
			}
		}
	}
	s := &System{toy.NewGram(x, toy.RBF(1)), nil}
	sol := mustSolve(t, s, [][]float64{{1, 2, 2, 0, 1}}, Cholesky{Jitter: 1e-6}, Settings{Stop: Residual{Rel: 1e-3}})
	if j := sol.Factor.Jitter(); !(j > 0 && j <= 1e-6) || sol.Certificates[0].Residual > 1e-3 {
		t.Errorf("jitter %g, %+v", j, sol.Certificates[0])
	}
}

// TestNotAKernel: a matrix that is not positive semi-definite is refused, by the
// iterative methods of Table 7.3 even where the noise outweighs it.
func TestNotAKernel(t *testing.T) {
	s := &System{toy.MatrixOf([][]float64{{1, 2, 0}, {2, 1, 0}, {0, 0, 1}}), fill(3, 0.1)}
	b := [][]float64{{1, -1, 0.5}}
	for _, m := range []Method{Cholesky{}, CG{}, CG{Rank: 3}} {
		var bad *IndefiniteError
		if sol, err := Solve(context.Background(), s, b, m, Settings{}); !errors.As(err, &bad) || sol != nil || bad.Need < 0.5 {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	for _, m := range []Method{LU{}, GaussJordan{}} {
		if sol := mustSolve(t, s, b, m, Settings{Stop: Residual{Rel: 1e-12}}); sol.Status != solvers.Converged || sol.Certificates[0].Residual > 1e-12 {
			t.Errorf("%s: %v, residual %g", m.Name(), sol.Status, sol.Certificates[0].Residual)
		}
	}
	s.Noise = fill(3, 5)
	var bad *IndefiniteError
	if _, err := Solve(context.Background(), s, b, CG{}, Settings{}); !errors.As(err, &bad) || bad.Value > -0.4 {
		t.Errorf("outweighed: %v", err)
	}
}

// TestSystemMemory: direct methods on many points are refused before they take
// anything.
func TestSystemMemory(t *testing.T) {
	const n = 200_000
	s := &System{&rowless{n: n, diag: fill(n, 1)}, fill(n, 1)}
	for _, m := range []Method{Cholesky{}, Mixed{}, LU{}, GaussJordan{}} {
		var bad *MemoryError
		if _, err := Solve(context.Background(), s, [][]float64{fill(n, 1)}, m, Settings{}); !errors.As(err, &bad) || bad.N != n || !strings.Contains(err.Error(), "use CG") {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	if _, err := (Cholesky{}).Factor(context.Background(), s); !errors.As(err, new(*MemoryError)) {
		t.Errorf("Factor: %v", err)
	}
	small, b := randomSystem(1, 100, 1)
	if _, err := Solve(context.Background(), small, b, Cholesky{}, Settings{Memory: 50_000}); !errors.As(err, new(*MemoryError)) {
		t.Errorf("Memory: %v", err)
	}
	mustSolve(t, small, b, CG{}, Settings{Memory: 50_000})
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	s.K, s.Noise = &rowless{n: 20_000, diag: fill(20_000, 1)}, fill(20_000, 1)
	if _, err := Solve(context.Background(), s, [][]float64{fill(20_000, 1)}, LU{}, Settings{}); !errors.As(err, new(*MemoryError)) {
		t.Errorf("GOMEMLIMIT: %v", err)
	}
}

// TestSystemEnds: a context that has ended, and one that ends while the method works,
// leave what there is; limits are no errors.
func TestSystemEnds(t *testing.T) {
	s, b := randomSystem(1, 300, 2)
	cause := errors.New("enough")
	for _, m := range methods {
		k := &watched{Matrix: s.K}
		for _, rows := range []int{0, 1, 450, 900} {
			ctx, cancel := context.WithCancelCause(context.Background())
			k.rows, k.end = 0, func(row int) {
				if row == rows {
					cancel(cause)
				}
			}
			k.end(0)
			sol, err := Solve(ctx, &System{k, s.Noise}, b, m, Settings{Stop: Bounds{Rel: 1e-15}, MaxIterations: 5})
			if ctx.Err() == nil || err == nil && (sol.Status == solvers.Converged || sol.Status == solvers.Exhausted) && k.rows >= 600 {
				continue // done before, or nothing but the last look was to do
			}
			if !errors.Is(err, cause) || sol == nil || sol.Status != solvers.Interrupted {
				t.Errorf("%s, after %d rows: %v", m.Name(), rows, err)
				continue
			}
			if c := sol.Certificates[0]; math.IsNaN(c.Residual) || !(c.Lower <= c.Upper) || len(sol.X[1]) != 300 {
				t.Errorf("%s, after %d rows: %+v", m.Name(), rows, c)
			}
			if k.rows > rows+310 {
				t.Errorf("%s, after %d rows: went on for %d", m.Name(), rows, k.rows)
			}
		}
	}
	if sol := mustSolve(t, s, b, CG{}, Settings{MaxIterations: 2, Stop: Bounds{Rel: 1e-15}}); sol.Status != solvers.IterationLimit || sol.Iterations != 2 {
		t.Errorf("%v after %d iterations", sol.Status, sol.Iterations)
	}
	if sol := mustSolve(t, s, b, WidrowHoff{}, Settings{MaxTime: 1, Stop: Bounds{Rel: 1e-15}}); sol.Status != solvers.TimeLimit {
		t.Errorf("%v", sol.Status)
	}
	if sol := mustSolve(t, s, b, CG{}, Settings{Stop: Residual{Abs: 1e-300}, MaxIterations: 100_000}); sol.Status != solvers.Exhausted {
		t.Errorf("%v after %d iterations", sol.Status, sol.Iterations)
	}
}

// watched calls end with the number of rows that it has been asked for.
type watched struct {
	solvers.Matrix
	rows int
	end  func(row int)
}

func (m *watched) Row(i int) []float64 {
	m.rows++
	m.end(m.rows)
	return m.Matrix.Row(i)
}

// TestMaxTimeInAPass: the time limit does not wait for a pass over the rows to end.
func TestMaxTimeInAPass(t *testing.T) {
	const n = 100_000
	k := &rowless{n: n, diag: fill(n, 1)}
	sol := mustSolve(t, &System{k, fill(n, 1)}, [][]float64{fill(n, 1)}, CG{}, Settings{MaxTime: 20 * time.Millisecond})
	if c := sol.Certificates[0]; sol.Status != solvers.TimeLimit || k.rows > n/2 || !c.Claimed || c.Residual != norm(fill(n, 1)) {
		t.Errorf("%v after %d rows: %+v", sol.Status, k.rows, c)
	}
}
