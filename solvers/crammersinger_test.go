package solvers

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/toy"
)

// jointOf is the Crammer–Singer problem of a data set whose targets are class
// numbers, by its features and by its kernel matrix.
func jointOf(t testing.TB, d *datasets.Dataset, c, bias float64) (linearK, kernelK *CrammerSinger) {
	t.Helper()
	x, err := NewDenseFeatures(d.X, bias)
	if err != nil {
		t.Fatal(err)
	}
	p := CrammerSinger{K: x, C: fill(d.N(), c)}
	for _, y := range d.Y {
		p.Y = append(p.Y, int(y))
		p.Classes = max(p.Classes, int(y)+1)
	}
	q := p
	q.K = toy.NewGram(d.X, func(a, b []float64) float64 { return toy.Dot(a, b) + bias*bias })
	return &p, &q
}

func solveJoint(t testing.TB, p *CrammerSinger, s Settings) *Result {
	t.Helper()
	res, err := p.Solve(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// LIBLINEAR 2.50 prints these objectives for -s 4 -c 1 -e 1e-8, without a bias and
// with -B 1, after 8,644 and 31,599 epochs.
func TestCrammerSingerOnIris(t *testing.T) {
	for _, want := range []struct{ bias, dual, tol float64 }{{0, 22.450058, 1e-7}, {1, 20.018230, 1e-4}} {
		byFeatures, byKernel := jointOf(t, datasets.Iris(), 1, want.bias)
		for _, p := range []*CrammerSinger{byFeatures, byKernel} {
			s := Settings{Stop: UpLow{want.tol}}
			res := solveJoint(t, p, s)
			c := res.Certificate
			if res.Status != Converged || !toy.Near(c.Dual, want.dual, 1e-6) || c.RelGap > want.tol || c.MaxKKT > 1.01*want.tol || c.Equality > 1e-12 || c.Bound != 0 {
				t.Errorf("%v after %d epochs: %+v", res.Status, res.Iterations, c)
			}
			if got := res.Trace.AlphaAt(len(res.Trace.Points) - 1); !slices.Equal(got, res.Alpha) {
				t.Error("the replay does not end at the result")
			}
			if again := solveJoint(t, p, s); !slices.Equal(again.Alpha, res.Alpha) {
				t.Error("a second run differs")
			}
			before := math.Inf(-1)
			for _, pt := range res.Trace.Points {
				if pt.Dual < before-1e-12*math.Abs(before) || pt.Gap < 0 {
					t.Fatalf("dual %v after %v, gap %v at epoch %d", pt.Dual, before, pt.Gap, pt.Iteration)
				}
				before = pt.Dual
			}
		}
	}
}

// TestCrammerSingerLIBLINEAR solves random problems with LIBLINEAR too, where it is installed
// (Debian: liblinear-tools).
func TestCrammerSingerLIBLINEAR(t *testing.T) {
	tool, err := exec.LookPath("liblinear-train")
	if err != nil {
		t.Skip("liblinear-train is not installed (Debian: liblinear-tools)")
	}
	for seed := range uint64(6) {
		rng := toy.Rand(seed)
		n, d, k := 30+rng.IntN(50), 2+rng.IntN(4), 2+rng.IntN(4)
		var lines bytes.Buffer
		x, y := make([][]float64, n), make([]int, n)
		for i := range x {
			y[i] = i % k
			fmt.Fprint(&lines, y[i])
			x[i] = make([]float64, d)
			for j := range x[i] {
				x[i][j] = rng.NormFloat64() + float64((y[i]*(j+2))%k)
				fmt.Fprintf(&lines, " %d:%.17g", j+1, x[i][j])
			}
			fmt.Fprintln(&lines)
		}
		file := filepath.Join(t.TempDir(), "points")
		if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		c := math.Pow(10, 2*rng.Float64()-1)
		if out, err := exec.Command(tool, "-s", "4", "-c", fmt.Sprint(c), "-e", "1e-9", file, file+".model").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		model, err := os.ReadFile(file + ".model")
		if err != nil {
			t.Fatal(err)
		}
		// The model has w by columns: a line for each feature, a column for each class.
		_, text, _ := strings.Cut(string(model), "\nw\n")
		want := matrix(k, d)
		lines2 := bufio.NewScanner(strings.NewReader(text))
		for j := range d {
			lines2.Scan()
			for m, v := range strings.Fields(lines2.Text()) {
				want[m][j] = number(t, v)
			}
		}
		f, _ := NewDenseFeatures(x, 0)
		p := &CrammerSinger{K: f, Y: y, Classes: k, C: fill(n, c)}
		res := solveJoint(t, p, Settings{Stop: UpLow{1e-9}})
		for m := range k {
			w := make([]float64, d)
			for i := range n {
				f.Add(w, i, res.Alpha[i*k+m])
			}
			for j, v := range w {
				if math.Abs(v-want[m][j]) > 1e-5*(1+math.Abs(v)) {
					t.Errorf("seed %d: w[%d][%d] = %.9g, LIBLINEAR has %.9g", seed, m, j, v, want[m][j])
				}
			}
		}
	}
}

// With two classes w_0 = −w_1, and the constraint is 2 y w_1·x ≥ 1 − ξ. With
// v = 2 w_1 the objective is ¼‖v‖² + C Σ ξ, half of ½‖v‖² + 2C Σ ξ: the binary
// machine without a bias and with 2C.
func TestCrammerSingerOfTwoClassesIsTheBinaryMachine(t *testing.T) {
	rng := toy.Rand(3)
	x, y := toy.Points(rng, 60, 3, 0.6)
	k := toy.NewGram(x, toy.RBF(0.7))
	classes := make([]int, len(y))
	for i, v := range y {
		classes[i] = int(v+1) / 2
	}
	c := fill(len(y), 2.0)
	p := &CrammerSinger{K: k, Y: classes, Classes: 2, C: c}
	res := solveJoint(t, p, Settings{Stop: UpLow{1e-9}})
	like := solve(t, SoftMargin(k, y, fill(len(y), 4)).WithFixedBias(0), GradientAscent{}, Settings{Stop: UpLow{1e-9}})
	if !toy.Near(res.Certificate.Dual, like.Certificate.Dual/2, 1e-9) {
		t.Errorf("W = %.12g, the binary machine half of it is %.12g", res.Certificate.Dual, like.Certificate.Dual/2)
	}
}

// The step is the minimum over the k variables of a point: no feasible
// direction e_p − e_q improves it, and projected gradient descent comes nowhere
// better.
func TestCrammerSingerStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 6).Draw(t, "k")
		a := rapid.SampledFrom([]float64{0, 1e-9, 0.5, 3, 1e6}).Draw(t, "a")
		c := rapid.SampledFrom([]float64{1e-3, 1, 50}).Draw(t, "C")
		y := rapid.IntRange(0, k-1).Draw(t, "y")
		r := &joint{CrammerSinger: CrammerSinger{Y: []int{y}, C: []float64{c}, Classes: k}, next: make([]float64, k)}
		for range k {
			r.b = append(r.b, float64(rapid.IntRange(-5, 5).Draw(t, "b"))/2)
		}
		r.best(0, a)
		sum := 0.0
		for m, v := range r.next {
			sum += v
			if v > r.upper(0, m) {
				t.Fatalf("α_%d = %v above %v", m, v, r.upper(0, m))
			}
		}
		if math.Abs(sum) > 1e-12*c {
			t.Fatalf("the α sum to %v", sum)
		}
		for p := range k {
			for q := range k {
				// Moving t from q to p lowers the objective at this rate.
				if rate := (r.b[q] + a*r.next[q]) - (r.b[p] + a*r.next[p]); r.next[p] < r.upper(0, p) && rate > 1e-9*(1+a*c) {
					t.Fatalf("B %v, a %v, C %v, y %d: %v still improves by %v from %d to %d", r.b, a, c, y, r.next, rate, q, p)
				}
			}
		}
	})
}

// Hostile problems end: points at 0, equal points of all classes, one point,
// huge costs, a kernel that is none.
func TestCrammerSingerDegenerate(t *testing.T) {
	zeros, equal := [][]float64{{0, 0}, {0, 0}, {1, 0}}, [][]float64{{1, 2}, {1, 2}, {1, 2}}
	for _, test := range []struct {
		name string
		x    [][]float64
		c    float64
		dual float64 // NaN: whatever
	}{
		{"zeros", zeros, 1, 2 + 1./3}, // ξ = 1 at each 0; α = (−1, −1, 2)/3 of the other point
		{"equal", equal, 1, 3},
		{"equal, large C", equal, 1e3, 3e3},
		{"one point", [][]float64{{2}}, 1, math.NaN()},
		{"one point at 0", [][]float64{{0}}, 1, 1},
	} {
		f, _ := NewDenseFeatures(test.x, 0)
		for _, k := range []Matrix{f, toy.NewGram(test.x, toy.Dot)} {
			p := &CrammerSinger{K: k, Classes: 3, C: fill(len(test.x), test.c)}
			for i := range test.x {
				p.Y = append(p.Y, i)
			}
			res := solveJoint(t, p, Settings{Stop: UpLow{1e-9}})
			if c := res.Certificate; c.RelGap > 1e-8 || !math.IsNaN(test.dual) && !toy.Near(c.Dual, test.dual, 1e-9) {
				t.Errorf("%s, %T: %v, %+v", test.name, k, res.Status, c)
			}
		}
	}
	none := toy.MatrixOf([][]float64{{1, 5, 0}, {5, 1, 0}, {0, 0, 1}})
	res := solveJoint(t, &CrammerSinger{K: none, Y: []int{0, 1, 2}, Classes: 3, C: fill(3, 1)}, Settings{MaxIterations: 500})
	if res.Status != Converged && res.Status != Exhausted && res.Status != IterationLimit {
		t.Errorf("no kernel: %v", res.Status)
	}
	if tight := solveJoint(t, &CrammerSinger{K: toy.NewGram(equal, toy.RBF(1)), Y: []int{0, 1, 2}, Classes: 3, C: fill(3, 1)}, Settings{Stop: Gap{-1}}); tight.Status != Exhausted {
		t.Errorf("a criterion that cannot be met: %v", tight.Status)
	}
}

func TestCrammerSingerErrors(t *testing.T) {
	nan := math.NaN()
	good := func() *CrammerSinger {
		return &CrammerSinger{K: toy.MatrixOf([][]float64{{1, 0}, {0, 1}}), Y: []int{0, 1}, Classes: 2, C: []float64{1, 1}}
	}
	for _, test := range []struct {
		change func(*CrammerSinger)
		field  string
		index  int
	}{
		{func(p *CrammerSinger) { p.K = nil }, "K", -1},
		{func(p *CrammerSinger) { p.K = toy.MatrixOf(nil) }, "K", -1},
		{func(p *CrammerSinger) { p.K = toy.MatrixOf([][]float64{{1, 0}, {0, nan}}) }, "K", 1},
		{func(p *CrammerSinger) { p.K = toy.MatrixOf([][]float64{{1, 0}, {0, -1}}) }, "K", 1},
		{func(p *CrammerSinger) { p.K = toy.MatrixOf([][]float64{{1, nan}, {0, 1}}) }, "K", 0},
		{func(p *CrammerSinger) { p.Classes = 1 }, "Classes", -1},
		{func(p *CrammerSinger) { p.Y = p.Y[:1] }, "Y", -1},
		{func(p *CrammerSinger) { p.Y[1] = 2 }, "Y", 1},
		{func(p *CrammerSinger) { p.Y[1] = -1 }, "Y", 1},
		{func(p *CrammerSinger) { p.C = nil }, "C", -1},
		{func(p *CrammerSinger) { p.C[0] = 0 }, "C", 0},
		{func(p *CrammerSinger) { p.C[0] = math.Inf(1) }, "C", 0},
		{func(p *CrammerSinger) { p.C[1] = nan }, "C", 1},
	} {
		p := good()
		test.change(p)
		_, err := p.Solve(context.Background(), Settings{})
		var e *ProblemError
		if !errors.As(err, &e) || e.Field != test.field || e.Index != test.index {
			t.Errorf("%v, want a *ProblemError about %s[%d]", err, test.field, test.index)
		}
	}
	if _, err := good().Solve(context.Background(), Settings{Start: []float64{0}}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("Start: %v", err)
	}
	var e *ProblemError
	if _, err := good().Solve(context.Background(), Settings{MaxIterations: -1}); !errors.As(err, &e) || e.Field != "MaxIterations" {
		t.Errorf("MaxIterations: %v", err)
	}
}

// Limits and interrupts leave what there is, with a certificate that is true.
func TestCrammerSingerStops(t *testing.T) {
	p, _ := jointOf(t, datasets.Iris(), 100, 0)
	few := solveJoint(t, p, Settings{MaxIterations: 3})
	if few.Status != IterationLimit || few.Iterations != 3 || !(few.Certificate.Gap > 0) {
		t.Errorf("%v after %d epochs, gap %v", few.Status, few.Iterations, few.Certificate.Gap)
	}
	if late := solveJoint(t, p, Settings{Stop: Time{Max: time.Nanosecond}}); late.Status != TimeLimit {
		t.Errorf("%v", late.Status)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	stop(why)
	res, err := p.Solve(ctx, Settings{})
	if res == nil || res.Status != Interrupted || !errors.Is(err, why) {
		t.Fatalf("%v, %v", res, err)
	}
	tiny := &CrammerSinger{K: toy.MatrixOf([][]float64{{1, 1}, {1, 1}}), Y: []int{0, 1}, Classes: 2, C: fill(2, 1e12)}
	if res, err := tiny.Solve(ctx, Settings{}); res == nil || res.Status != Interrupted || !errors.Is(err, why) {
		t.Errorf("two points: %v, %v", res, err)
	}
	// However a run ends, its trace ends at the result and has each iteration once.
	middle, halt := context.WithCancel(context.Background())
	for _, s := range []Settings{{Stop: Gap{-1}, MaxIterations: 7, Every: -1}, {Stop: Gap{-1}, MaxIterations: 7, Every: 2}, {Stop: stopAfter{3, halt}}} {
		res, _ := p.Solve(middle, s)
		points := res.Trace.Points
		for k := 1; k < len(points); k++ {
			if points[k].Iteration <= points[k-1].Iteration {
				t.Errorf("%v: iteration %d after %d", res.Status, points[k].Iteration, points[k-1].Iteration)
			}
		}
		if !slices.Equal(res.Trace.AlphaAt(len(points)-1), res.Alpha) || points[len(points)-1].Iteration != res.Iterations {
			t.Errorf("%v: the trace does not end at the result", res.Status)
		}
	}
	if exact := p.Certify(res.Alpha); exact != res.Certificate || exact.Gap < 0 {
		t.Errorf("%+v, afresh %+v", res.Certificate, exact)
	}
}

// stopAfter ends the context after so many iterations.
type stopAfter struct {
	n    int
	stop func()
}

func (s stopAfter) Met(pt *Point, _ *Trace) Status {
	if pt.Iteration >= s.n {
		s.stop()
	}
	return NotTerminated
}

func (stopAfter) String() string { return "stop" }

// TestCrammerSingerUnsampled: what the trace has does not decide how far a run goes. An
// epoch that moves nothing, since all points violate by less than a tenth of what the
// epoch before had met, is not the end.
func TestCrammerSingerUnsampled(t *testing.T) {
	for seed := range uint64(40) {
		rng := toy.Rand(seed)
		n := 6 + rng.IntN(30)
		x, _ := toy.Points(rng, n, 1+rng.IntN(2), 0.5)
		y, c := make([]int, n), make([]float64, n)
		cost := math.Pow(10, 3*rng.Float64()-2)
		for i := range y {
			y[i], c[i] = i%3, cost
		}
		p := &CrammerSinger{K: toy.NewGram(x, toy.RBF(1)), Y: y, Classes: 3, C: c}
		for _, every := range []int{-1, 0, 7} {
			r, err := p.Solve(context.Background(), Settings{Stop: UpLow{1e-6}, Every: every})
			if err != nil || r.Status != Converged || r.Certificate.MaxKKT > 1e-6 {
				t.Errorf("seed %d, every %d: %v, %v after %d epochs, violation %g", seed, every, err, r.Status, r.Iterations, r.Certificate.MaxKKT)
			}
		}
	}
}
