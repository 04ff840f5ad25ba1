package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"pgregory.net/rapid"
)

// question is one about a data set, with the grid of a figure at rest.
func question(task Task, ds *datasets.Dataset, k kernels.Kernel, c float64) Question {
	q := Question{Task: task, X: ds.X, Y: ds.Y, Kernel: k, C: c, Moment: -1, Xs: [2]float64{-2, 3}, Ys: [2]float64{-2, 2}, Nx: 30, Ny: 20}
	if ds.D() == 1 {
		q.Ny = 1
	}
	return q
}

func answer(t *testing.T, m *Machine, q Question) *Answer {
	t.Helper()
	a, err := m.Answer(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// At rest, the engine's run is that of the plain library, to the bit.
func TestEqualsTheLibrary(t *testing.T) {
	moons, sinc := datasets.Moons(150, 0.2, 42), datasets.Sinc(60, 0.1, 1)
	for _, test := range []struct {
		q      Question
		method solvers.Method
		c      []float64
	}{
		{q: question(Classify, moons, kernels.RBF(2), 10), method: solvers.SMO{}},
		{q: question(Classify, moons, kernels.Linear(), 1), method: solvers.SMO{}},
		{q: question(Classify, moons, kernels.Polynomial(3, 1, 1), 1), method: solvers.SMO{}},
		{q: question(Regress, sinc, kernels.RBF(0.5), 10), method: solvers.TubeSMO{}},
		{q: question(OneClass, moons, kernels.RBF(2), 0.1), method: solvers.SMO{}},
		{q: question(TwoNorm, moons, kernels.RBF(2), 10), method: solvers.SMO{}},
		{q: question(Nu, moons, kernels.RBF(2), 0.2), method: solvers.SMO{}},
	} {
		q := test.q
		q.Epsilon = 0.1
		k, err := kernels.NewGram(q.Kernel, q.X, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := slices.Repeat([]float64{q.C}, len(q.X))
		p := solvers.SoftMargin(k, q.Y, c)
		switch q.Task {
		case Regress:
			p = solvers.Tube(k, q.Y, c, q.Epsilon)
		case OneClass:
			p, err = solvers.OneClass(k, q.C)
		case TwoNorm:
			p = solvers.SoftMargin2(k, q.Y, c)
		case Nu:
			p, err = solvers.NuSoftMargin(k, q.Y, q.C)
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := solvers.Solve(t.Context(), p, test.method, solvers.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		alpha := want.Alpha
		if q.Task == Regress {
			alpha = solvers.Signed(alpha)
		}
		if q.Task == Nu { // free support vectors lie on the margin
			want.Bias *= 1 / want.Certificate.Rho
		}
		m := &Machine{}
		drag := q
		drag.Warm, drag.Kernel = true, kernels.RBF(7) // what went before does not matter
		answer(t, m, drag)
		got := answer(t, m, q)
		if !slices.Equal(got.Alpha, alpha) || got.Certificate != want.Certificate || got.Bias != want.Bias || got.Iterations != want.Iterations {
			t.Errorf("task %d, %v: %+v after %d iterations, the library has %+v after %d", q.Task, q.Kernel, got.Certificate, got.Iterations, want.Certificate, want.Iterations)
		}
		for i, f := range got.F { // the conditions that readers see
			if a := got.Alpha[i]; q.Task == Nu && a > 0 && a < 1 && math.Abs(q.Y[i]*f-1) > 0.05 || q.Task == TwoNorm && a > 0 && math.Abs(q.Y[i]*f-1+a/q.C) > 0.05 {
				t.Errorf("task %d: point %d with α = %g has y·f = %g", q.Task, i, a, q.Y[i]*f)
			}
		}
	}
}

// While points move, the matrix that is kept is that of the points, and each answer has the
// gap that its α has in a problem made anew.
func TestMovedPoints(t *testing.T) {
	for _, k := range []kernels.Kernel{kernels.RBF(2), kernels.Laplacian(1), kernels.Polynomial(3, 1, 1), kernels.Sum(kernels.Linear(), kernels.RBF(1))} {
		q := question(Classify, datasets.Moons(120, 0.2, 42), k, 10)
		q.Warm = true
		m, r := &Machine{}, rand.New(rand.NewPCG(1, 2))
		for range 30 {
			i := r.IntN(len(q.X))
			q.X[i] = []float64{q.X[i][0] + 0.2*r.NormFloat64(), q.X[i][1] + 0.2*r.NormFloat64()}
			a := answer(t, m, q)
			g, err := kernels.NewGram(k, q.X, 0)
			if err != nil {
				t.Fatal(err)
			}
			p := solvers.SoftMargin(g, q.Y, slices.Repeat([]float64{q.C}, len(q.X)))
			c := solvers.Certify(p, a.Alpha)
			if math.Abs(c.Gap-a.Certificate.Gap) > 1e-9*(1+math.Abs(c.Primal)) || c.Bound > 0 || c.Equality > 1e-9 {
				t.Fatalf("%v: gap %g, made anew %+v", k, a.Certificate.Gap, c)
			}
		}
		for i := range q.X {
			for j, v := range m.held.Row(i) {
				if want := k.Eval(q.X[i], q.X[j]); math.Abs(v-want) > 1e-12*(1+math.Abs(want)) {
					t.Fatalf("%v: K[%d][%d] is %g, want %g", k, i, j, v, want)
				}
			}
		}
	}
}

// A new C or label needs an α that is feasible for it.
func TestWarmStartsAreFeasible(t *testing.T) {
	q := question(Classify, datasets.Moons(80, 0.3, 1), kernels.RBF(1), 100)
	q.Warm = true
	m := &Machine{}
	for step := range 12 {
		q.C = []float64{100, 0.01, 3}[step%3]
		q.Y = slices.Clone(q.Y)
		if step%4 == 3 {
			q.Y[step] = -q.Y[step]
		}
		if a := answer(t, m, q); a.Certificate.Bound > 0 || a.Certificate.Equality > 1e-8 || a.Certificate.MaxKKT > 2e-3 {
			t.Errorf("C = %g: %+v", q.C, a.Certificate)
		}
	}
}

// The field for a Gaussian kernel, by one factor for each feature, is the sum.
func TestGaussianField(t *testing.T) {
	q := question(Classify, datasets.Moons(100, 0.2, 3), kernels.RBF(3), 10)
	a := answer(t, &Machine{}, q)
	coef := slices.Clone(a.Alpha)
	for i := range coef {
		coef[i] *= q.Y[i]
	}
	e := newExpansion(q.Kernel, q.X, coef, a.Bias)
	for i, want := range e.at(make([]float64, q.Nx*q.Ny), grid(&q)) {
		if math.Abs(a.Field[i]-want) > 1e-7 {
			t.Fatalf("node %d: %g, want %g", i, a.Field[i], want)
		}
	}
}

// The moments of a run begin at α = 0, end at the answer, and their dual objective rises.
func TestMoments(t *testing.T) {
	q := question(Classify, datasets.Moons(60, 0.2, 4), kernels.RBF(2), 10)
	q.Trace = true
	m := &Machine{}
	end := answer(t, m, q)
	if len(end.Trace) < 10 {
		t.Fatalf("%d samples", len(end.Trace))
	}
	dual := math.Inf(-1)
	for k := range end.Trace {
		q.Moment = k
		a := answer(t, m, q)
		sum, objective := 0.0, 0.0
		for i, v := range a.Alpha {
			sum += q.Y[i] * v
			objective += v - 0.5*v*q.Y[i]*(a.F[i]-a.Bias)
		}
		if math.Abs(sum) > 1e-9 || objective < dual-1e-9 {
			t.Fatalf("moment %d: y'α = %g, W = %g after %g", k, sum, objective, dual)
		}
		dual = objective
		if k == 0 && slices.Max(a.Alpha) > 0 {
			t.Errorf("the run begins at %v", a.Alpha)
		}
		if k == len(end.Trace)-1 && !slices.Equal(a.Alpha, end.Alpha) {
			t.Error("the last moment is not the answer")
		}
	}
	// A moment of a question that was not asked before is computed.
	q.C, q.Moment = 3, 5
	want := answer(t, &Machine{}, q)
	if got := answer(t, m, q); !slices.Equal(got.Alpha, want.Alpha) {
		t.Error("a moment of another run")
	}
}

// Where |f| exceeds the slack, a run that was stopped early has the label of the optimum.
func TestSlackHoldsTheOptimum(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ds := datasets.Moons(rapid.IntRange(10, 60).Draw(r, "n"), rapid.Float64Range(0.05, 0.6).Draw(r, "noise"), rapid.Uint64Range(0, 1000).Draw(r, "seed"))
		k := rapid.SampledFrom([]kernels.Kernel{kernels.RBF(0.3), kernels.RBF(4), kernels.Linear(), kernels.Polynomial(2, 1, 1)}).Draw(r, "kernel")
		q := question(Classify, ds, k, math.Pow(10, rapid.Float64Range(-2, 2).Draw(r, "log C")))
		q.Certain, q.Tol = true, math.Pow(10, rapid.Float64Range(-3, 0).Draw(r, "log tol"))
		loose, err := (&Machine{}).Answer(t.Context(), q)
		if err != nil {
			r.Fatal(err)
		}
		q.Tol = 1e-9
		best, err := (&Machine{}).Answer(t.Context(), q)
		if err != nil {
			r.Fatal(err)
		}
		// The optimum may have several biases; the run's is in their interval, which is near when it is narrow.
		low, high := biases(q.Y, best.F, best.Bias)
		for i, s := range loose.Slack {
			if d := math.Abs(loose.Field[i] - best.Field[i]); d > s+(high-low)+1e-4 {
				r.Fatalf("node %d: off by %g, bound %g", i, d, s)
			}
		}
	})
}

// A Gaussian process interpolates within its noise, and is unsure where there are no points.
func TestProcess(t *testing.T) {
	q := Question{Task: Process, X: [][]float64{{-1}, {0}, {1}}, Y: []float64{1, 2, 0.5}, Kernel: kernels.RBF(1), C: 1e-6, Moment: -1, Xs: [2]float64{-1, 99}, Nx: 101, Ny: 1}
	a := answer(t, &Machine{}, q)
	for i, want := range []float64{1, 2, 0.5} {
		if math.Abs(a.Field[i]-want) > 1e-4 || a.SD[i] > 2e-3 {
			t.Errorf("at point %d: %g ± %g, want %g", i, a.Field[i], a.SD[i], want)
		}
	}
	if math.Abs(a.SD[100]-1) > 1e-12 || math.Abs(a.Field[100]-3.5/3) > 1e-12 {
		t.Errorf("far away: %g ± %g, want the mean of the targets ± 1", a.Field[100], a.SD[100])
	}
	// Two points far from each other: twice ln N(±1; 0, k + noise).
	q.X, q.Y, q.C = [][]float64{{-500}, {500}}, []float64{4, 2}, 0.5
	if got, want := answer(t, &Machine{}, q).Evidence, -(1/1.5 + math.Log(1.5) + math.Log(2*math.Pi)); math.Abs(got-want) > 1e-12 {
		t.Errorf("evidence %g, want %g", got, want)
	}
}

func TestRefused(t *testing.T) {
	good := question(Classify, datasets.Moons(20, 0.1, 1), kernels.RBF(1), 1)
	for name, change := range map[string]func(q *Question){
		"no points":  func(q *Question) { q.X, q.Y = nil, nil },
		"labels":     func(q *Question) { q.Y = q.Y[1:] },
		"one class":  func(q *Question) { q.Y = slices.Repeat([]float64{1}, 20) },
		"label 3":    func(q *Question) { q.Y = slices.Clone(q.Y); q.Y[3] = 3 },
		"kernel":     func(q *Question) { q.Kernel = nil },
		"parameter":  func(q *Question) { q.Kernel = kernels.RBF(-1) },
		"C":          func(q *Question) { q.C = 0 },
		"nu":         func(q *Question) { q.Task, q.C = OneClass, 1.5 },
		"features":   func(q *Question) { q.X = [][]float64{{1, 2, 3}, {1, 2, 3}}; q.Y = []float64{1, -1} },
		"ragged":     func(q *Question) { q.X = slices.Clone(q.X); q.X[2] = []float64{1} },
		"NaN":        func(q *Question) { q.X = slices.Clone(q.X); q.X[2] = []float64{1, math.NaN()} },
		"NaN warm":   func(q *Question) { q.X = slices.Clone(q.X); q.X[2] = []float64{1, math.NaN()}; q.Warm = true },
		"solver":     func(q *Question) { q.Method = "magic" },
		"task":       func(q *Question) { q.Task = 9 },
		"costs":      func(q *Question) { q.Cost = []float64{1} },
		"cost 0":     func(q *Question) { q.Cost = make([]float64, 20) },
		"classes":    func(q *Question) { q.Classes = 9 },
		"class 2":    func(q *Question) { q.Classes = 2; q.Y = slices.Repeat([]float64{2}, 20) },
		"empty":      func(q *Question) { q.Classes = 3; q.Y = slices.Repeat([]float64{0, 1}, 10) },
		"criterion":  func(q *Question) { q.Stop = 7 },
		"apart":      func(q *Question) { q.Task, q.Kernel = Hard, kernels.Linear() },
		"tau2":       func(q *Question) { q.Tau2 = -2 },
		"ν fixed":    func(q *Question) { q.Task, q.C, q.Fixed = Nu, 0.2, true },
		"large grid": func(q *Question) { q.Nx = 1e6 },
	} {
		q := good
		change(&q)
		if _, err := (&Machine{}).Answer(t.Context(), q); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A hard problem ends at its limit, with the gap that is left.
func TestLimit(t *testing.T) {
	q := question(Classify, datasets.Moons(400, 0.4, 1), kernels.RBF(0.5), 1e7)
	q.Tol, q.Limit = 1e-10, time.Millisecond
	a := answer(t, &Machine{}, q)
	if v := a.numbers(&q, 0); !a.Status.Early() || !(a.Certificate.Gap > 0) || v[aConverged] != 0 {
		t.Errorf("%v, gap %g", a.Status, a.Certificate.Gap)
	}
}

func numbersOf(q *Question) []float64 {
	v := make([]float64, qHead)
	flag := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	v[qTask], v[qN], v[qD], v[qC], v[qEpsilon], v[qTol] = float64(q.Task), float64(len(q.X)), float64(len(q.X[0])), q.C, q.Epsilon, q.Tol
	v[qWarm], v[qLimit], v[qTrace], v[qMoment], v[qCertain] = flag(q.Warm), float64(q.Limit/time.Millisecond), flag(q.Trace), float64(q.Moment), flag(q.Certain)
	v[qX0], v[qX1], v[qY0], v[qY1], v[qNx], v[qNy] = q.Xs[0], q.Xs[1], q.Ys[0], q.Ys[1], float64(q.Nx), float64(q.Ny)
	v[qCosts], v[qStop], v[qFixed], v[qBias], v[qTau2] = flag(q.Cost != nil), float64(q.Stop), flag(q.Fixed), q.Bias, q.Tau2
	v[qClasses], v[qScheme], v[qZeroMean], v[qScaled] = float64(q.Classes), float64(q.Scheme), flag(q.ZeroMean), flag(q.Scaled)
	for _, x := range q.X {
		v = append(v, x...)
	}
	return append(append(v, q.Y...), q.Cost...)
}

func TestNamesOfPlaces(t *testing.T) {
	if len(Asked) != qHead || len(Answered) != aHead || Asked[qMoment] != "moment" || Asked[qCertain] != "certain" || Asked[qScaled] != "scaled" || Answered[aEpsilon] != "epsilon" || Answered[aConverged] != "converged" || Answered[aGap] != "gap" || Answered[aMillis] != "millis" {
		t.Errorf("%q, %q", Asked, Answered)
	}
}

func TestAsk(t *testing.T) {
	q := question(Classify, datasets.Moons(50, 0.2, 1), kernels.RBF(1), 5)
	q.Trace, q.Certain, q.Epsilon, q.Limit = true, true, 0.25, 3*time.Second
	want := answer(t, &Machine{}, q)
	v, err := (&Machine{}).Ask(t.Context(), q.Kernel.String(), "SMO", FromBytes(Bytes(numbersOf(&q))))
	if err != nil {
		t.Fatal(err)
	}
	n, s := len(q.X), len(want.Trace)
	rest := v[aHead+5*s:]
	if int(v[aN]) != n || int(v[aTrace]) != s || v[aConverged] != 1 || v[aGap] != want.Certificate.Gap || v[aSD] != 0 || v[aSlack] != 1 || len(rest) != 2*n+2*q.Nx*q.Ny ||
		!slices.Equal(rest[:n], want.Alpha) || !slices.Equal(rest[n:2*n], want.F) || !slices.Equal(rest[2*n:2*n+q.Nx*q.Ny], want.Field) || !slices.Equal(rest[2*n+q.Nx*q.Ny:], want.Slack) {
		t.Errorf("%v", v[:aHead])
	}
}

// No numbers, whatever they are, make the engine panic or run for long.
func FuzzAsk(f *testing.F) {
	q := question(Classify, datasets.Moons(6, 0.2, 1), kernels.RBF(1), 5)
	f.Add("RBF(1)", "SMO", Bytes(numbersOf(&q)))
	q.Task, q.Trace, q.Warm = Regress, true, true
	f.Add("Sum(Linear(), RBF(2))", "chunking", Bytes(numbersOf(&q)))
	q.Task = Process
	f.Add("Matern52(1)", "", Bytes(numbersOf(&q)))
	q.Task, q.Classes, q.Y, q.Cost = Classify, 3, []float64{0, 1, 2, 0, 1, 2}, []float64{1, 2, 3, 1, 2, 3}
	f.Add("Linear()", "SMO", Bytes(numbersOf(&q)))
	q.Scheme, q.Tau2 = 2, kernels.Radius
	f.Add("RBF(1)", "", Bytes(numbersOf(&q)))
	f.Add("RBF(", "none", []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, kernel, method string, b []byte) {
		v := FromBytes(b)
		if len(v) >= qHead {
			v[qNx], v[qNy] = min(v[qNx], 20), min(v[qNy], 20)
			v[qLimit] = 50
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := new(Machine).Ask(ctx, kernel, method, v); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// The module is small enough to be fetched by a page.
func TestModuleIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the engine")
	}
	file := filepath.Join(t.TempDir(), "engine.wasm")
	cmd := exec.Command("go", append(append([]string{"build"}, BuildFlags...), "-o", file, "./wasm")...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(data) // writing to memory never fails
	_ = w.Close()
	t.Logf("%d bytes, %d compressed", len(data), b.Len())
	if b.Len() > 1_600_000 {
		t.Errorf("the module has %d bytes compressed; a page may fetch 1.6 MB", b.Len())
	}
}
