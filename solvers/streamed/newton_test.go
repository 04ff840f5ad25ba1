package streamed

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"pgregory.net/rapid"
)

// held are points in memory that are given some at a time.
type held struct {
	z    [][]float64
	y    []float64
	some int
	at   func() // called before each part, if not nil
}

func (h held) Columns() int { return len(h.z[0]) }

func (h held) Pass(ctx context.Context, do func(z, y []float64) error) error {
	for from := 0; from < len(h.y); from += h.some {
		if h.at != nil {
			h.at()
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to := min(from+h.some, len(h.y))
		var z []float64
		for _, row := range h.z[from:to] {
			z = append(z, row...)
		}
		if err := do(z, slices.Clone(h.y[from:to])); err != nil {
			return err
		}
	}
	return nil
}

// numbered are held points that can be asked for by their numbers.
type numbered struct{ held }

func (h numbered) Len() int { return len(h.y) }

func (h numbered) Some(ctx context.Context, rows []int, do func(rows []int, z, y []float64) error) error {
	part := held{some: h.some, at: h.at}
	for _, i := range rows {
		part.z, part.y = append(part.z, h.z[i]), append(part.y, h.y[i])
	}
	return part.Pass(ctx, func(z, y []float64) error {
		now := rows[:len(y)]
		rows = rows[len(y):]
		return do(now, z, y)
	})
}

// either returns the points in one of the two ways in which they can be given.
func either(t *rapid.T, h held) Points {
	if rapid.Bool().Draw(t, "numbered") {
		return numbered{h}
	}
	return h
}

// overlapping returns two classes of points of d features that overlap.
func overlapping(seed uint64, n, d int) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		s := float64(2*(i%2) - 1)
		row := make([]float64, d)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		row[0] += 0.7 * s
		x, y = append(x, row), append(y, s)
	}
	return x, y
}

// optimum returns the minimum of P as another solver finds it, from the dual.
func optimum(t interface{ Fatal(...any) }, k solvers.Matrix, y []float64, cost [2]float64, squared bool) float64 {
	c := make([]float64, len(y))
	for i := range c {
		c[i] = cost[side(y[i])]
	}
	p := solvers.SoftMargin(k, y, c)
	if squared {
		p = solvers.SoftMargin2(k, y, c)
	}
	res, err := solvers.Solve(context.Background(), p, solvers.SMO{}, solvers.Settings{Stop: solvers.Gap{Rel: 1e-9}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Certificate.Dual
}

// The bounds hold the optimum that SMO finds, and the gap reaches its tolerance, for linear
// machines and for Nyström's.
func TestBoundsHoldTheOptimum(t *testing.T) {
	most := 0
	defer func() { t.Logf("at most %d passes", most) }()
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(8, 90).Draw(t, "n"), rapid.IntRange(2, 5).Draw(t, "d")
		x, y := overlapping(rapid.Uint64().Draw(t, "seed"), n, d)
		cost := [2]float64{math.Exp(rapid.Float64Range(-3, 4).Draw(t, "log C")), 0}
		cost[1] = cost[0] * rapid.SampledFrom([]float64{1, 1, 3}).Draw(t, "weight")
		p := &Problem{Cost: cost, Squared: rapid.Bool().Draw(t, "squared")}
		var k solvers.Matrix
		if rapid.Bool().Draw(t, "linear") {
			p.Points = either(t, held{z: x, y: y, some: 7})
			k, _ = solvers.NewDenseFeatures(x, 0)
		} else {
			// All points are landmarks, so Nyström's machine is the exact one.
			g, err := kernels.NewGram(kernels.RBF(4), x, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			var z [][]float64
			for i := range x {
				z = append(z, slices.Clone(g.Row(i)))
			}
			p.Points, p.Metric, k = either(t, held{z: z, y: y, some: 50}), z, g
		}
		want := optimum(t, k, y, cost, p.Squared)
		for _, gap := range []float64{1e-2, 1e-4} {
			res, err := Solve(context.Background(), p, Settings{Gap: gap})
			if err != nil {
				t.Fatal(err)
			}
			slack := 1e-7 * want
			most = max(most, res.Passes)
			if res.Status != solvers.Converged || res.RelGap() > gap || res.Dual > want+slack || res.Primal < want-slack {
				t.Fatalf("%v after %d passes: %v … %v, the optimum is %v", res.Status, res.Passes, res.Dual, res.Primal, want)
			}
			checkMultipliers(t, p, res)
		}
	})
}

// checkMultipliers computes D from the rule of the multipliers.
func checkMultipliers(t *rapid.T, p *Problem, res *Result) {
	m := p.Points.Columns()
	sum, balance, ridge, image := 0.0, 0.0, 0.0, make([]float64, m)
	_ = p.Points.Pass(context.Background(), func(z, y []float64) error {
		for i, y := range y {
			row, f := z[i*m:(i+1)*m], res.Alpha.Bias
			for j, v := range row {
				f += v * res.Alpha.Beta[j]
			}
			a, c := res.Alpha.At(y, f), p.Cost[side(y)]
			if a < 0 || !p.Squared && a > c*(1+1e-12) {
				t.Fatalf("α = %v is not in [0, %v]", a, c)
			}
			sum, balance = sum+a, balance+y*a
			if p.Squared {
				ridge += a * a / c
			}
			for j, v := range row {
				image[j] += y * a * v
			}
		}
		return nil
	})
	norm2 := 0.0
	for j, v := range image {
		norm2 += v * res.Alpha.Image[j]
	}
	if math.Abs(balance) > 1e-9*sum {
		t.Fatalf("Σ yα = %v of Σ α = %v", balance, sum)
	}
	if d := sum - norm2/2 - ridge/2; math.Abs(d-res.Dual) > 1e-6*(sum+norm2) || math.Abs(norm2-res.Alpha.Norm2) > 1e-6*(sum+norm2) {
		t.Fatalf("D = %v by the rule, and %v", d, res.Dual)
	}
}

// Targets: the bounds hold the optimum that SMO finds for each loss, and the gap reaches its
// tolerance.
func TestBoundsHoldTheOptimumOfTargets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(8, 90).Draw(t, "n"), rapid.IntRange(2, 5).Draw(t, "d")
		x, y := overlapping(rapid.Uint64().Draw(t, "seed"), n, d)
		unit := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log unit"))
		for i, row := range x {
			y[i] = unit * (10 + math.Sin(2*row[0]) + 0.3*row[1])
		}
		// The optimum scales with the unit if C and K keep their ratio.
		c := unit * math.Exp(rapid.Float64Range(-3, 4).Draw(t, "log C"))
		costs := slices.Repeat([]float64{c}, n)
		g, err := kernels.NewGram(kernels.Sum(kernels.RBF(2), kernels.Linear()), x, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		p := &Problem{Real: true, Unit: unit, Cost: [2]float64{c, c}}
		var q *solvers.Problem
		switch rapid.SampledFrom([]string{"linear", "quadratic", "pinball", "Huber"}).Draw(t, "loss") {
		case "linear":
			p.Epsilon = unit * rapid.Float64Range(0, 0.5).Draw(t, "epsilon")
			q = solvers.Tube(g, y, costs, p.Epsilon)
		case "quadratic":
			p.Epsilon, p.Squared = unit*rapid.Float64Range(0, 0.5).Draw(t, "epsilon"), true
			q = solvers.Tube2(g, y, costs, p.Epsilon)
		case "pinball":
			tau := rapid.Float64Range(0.05, 0.95).Draw(t, "tau")
			p.Cost = [2]float64{(1 - tau) * c, tau * c}
			q = solvers.Pinball(g, y, costs, tau)
		default:
			p.Delta = unit * rapid.Float64Range(0.01, 2).Draw(t, "delta")
			q = solvers.HuberTube(g, y, costs, p.Delta)
		}
		var z [][]float64
		for i := range x {
			z = append(z, slices.Clone(g.Row(i)))
			z[i][i] += 1e-9
		}
		p.Points, p.Metric = either(t, held{z: z, y: y, some: 50}), z
		best, err := solvers.Solve(context.Background(), q, solvers.TubeSMO{}, solvers.Settings{Stop: solvers.Gap{Rel: 1e-8}})
		if err != nil {
			t.Fatal(err)
		}
		for _, gap := range []float64{1e-2, 1e-4} {
			res, err := Solve(context.Background(), p, Settings{Gap: gap, Start: &Result{Bias: 10 * unit}})
			if err != nil {
				t.Fatal(err)
			}
			slack := 1e-6 * best.Certificate.Primal
			if res.Status != solvers.Converged || res.RelGap() > gap || res.Dual > best.Certificate.Primal+slack || res.Primal < best.Certificate.Dual-slack {
				t.Fatalf("%v after %d passes: %v … %v, the optimum is %v … %v", res.Status, res.Passes, res.Dual, res.Primal, best.Certificate.Dual, best.Certificate.Primal)
			}
			balance, sum := 0.0, 0.0
			for i, row := range z {
				f := res.Alpha.Bias
				for j, v := range row {
					f += v * res.Alpha.Beta[j]
				}
				a, k := res.Alpha.At(y[i], f), side(y[i]-f)
				if a < 0 || !p.Squared && a > p.Cost[k]*(1+1e-12) {
					t.Fatalf("α = %v is not in [0, %v]", a, p.Cost[k])
				}
				balance, sum = balance+float64(2*k-1)*a, sum+a
			}
			if math.Abs(balance) > 1e-6*sum { // the rounding error of f is divided by a small r
				t.Fatalf("Σ sα = %v of Σ α = %v", balance, sum)
			}
		}
	})
}

// A result does not depend on the number of goroutines, and the size of the parts changes it by
// rounding only.
func TestSameOnAnyNumberOfGoroutines(t *testing.T) {
	x, y := overlapping(3, 1500, 130)
	for _, by := range []string{"in passes", "by number"} {
		solve := func(some int) *Result {
			var points Points = held{z: x, y: y, some: some}
			if by == "by number" {
				points = numbered{points.(held)}
			}
			res, err := Solve(context.Background(), &Problem{Points: points, Cost: [2]float64{1, 1}}, Settings{Gap: 1e-5})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		a := solve(1000)
		old := runtime.GOMAXPROCS(1)
		b := solve(1000)
		runtime.GOMAXPROCS(old)
		if !slices.Equal(a.Beta, b.Beta) || a.Dual != b.Dual {
			t.Errorf("%s: one goroutine finds another machine", by)
		}
		if c := solve(64); math.Abs(a.Primal-c.Primal) > 2e-5*a.Primal {
			t.Errorf("%s: P is %v and %v", by, a.Primal, c.Primal)
		}
	}
}

// Points that can be asked for by number are made less often: most steps make those near the kink only.
func TestNumbersSavePoints(t *testing.T) {
	x, y := overlapping(5, 20_000, 20)
	made := 0
	points := held{z: x, y: y, some: 100, at: func() { made += 100 }}
	solve := func(p Points) int {
		made = 0
		res, err := Solve(context.Background(), &Problem{Points: p, Cost: [2]float64{1, 1}}, Settings{Gap: 1e-5})
		if err != nil || res.Status != solvers.Converged || res.RelGap() > 1e-5 {
			t.Fatal(res, err)
		}
		return made
	}
	passes, numbers := solve(points), solve(numbered{points})
	t.Logf("%d points made in passes, %d by number", passes, numbers)
	if numbers > passes*2/3 {
		t.Errorf("%d points made by number, %d in passes", numbers, passes)
	}
}

// A start from a sample saves passes.
func TestStartFromASample(t *testing.T) {
	x, y := overlapping(5, 20_000, 20)
	p := &Problem{Points: held{z: x, y: y, some: 1000}, Cost: [2]float64{1, 1}}
	sample, err := Solve(context.Background(), &Problem{Points: held{z: x[:2000], y: y[:2000], some: 1000}, Cost: [2]float64{10, 10}}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	cold, err := Solve(context.Background(), p, Settings{Gap: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	warm, err := Solve(context.Background(), p, Settings{Gap: 1e-4, Start: sample})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d passes from 0, %d from a sample", cold.Passes, warm.Passes)
	if warm.Passes >= cold.Passes || warm.Passes > 16 {
		t.Errorf("%d passes from a sample, %d from 0", warm.Passes, cold.Passes)
	}
}

// An interrupt leaves the best machine so far, with its bounds.
func TestInterrupt(t *testing.T) {
	x, y := overlapping(5, 2000, 20)
	for _, after := range []int{1, 5, 17, 33} {
		ctx, stop := context.WithCancelCause(context.Background())
		calls := 0
		points := held{z: x, y: y, some: 200, at: func() {
			if calls++; calls == after {
				stop(errors.New("enough"))
			}
		}}
		res, err := Solve(ctx, &Problem{Points: points, Cost: [2]float64{1, 1}}, Settings{Gap: 1e-9})
		if err == nil || !strings.Contains(err.Error(), "enough") || res == nil || res.Status != solvers.Interrupted || res.Passes != (after-1)/10 {
			t.Fatalf("after %d parts: %v, %+v", after, err, res)
		}
		if known := !math.IsInf(res.Primal, 1); known != (res.Passes > 0) || res.Dual < 0 || res.Dual > res.Primal {
			t.Errorf("after %d parts the bounds are %v … %v", after, res.Dual, res.Primal)
		}
	}
}

// So it does with points by number.
func TestInterruptByNumber(t *testing.T) {
	x, y := overlapping(5, 2000, 20)
	for after := 1; ; after = 1 + after*5/4 {
		ctx, stop := context.WithCancelCause(context.Background())
		calls := 0
		points := numbered{held{z: x, y: y, some: 200, at: func() {
			if calls++; calls == after {
				stop(errors.New("enough"))
			}
		}}}
		res, err := Solve(ctx, &Problem{Points: points, Cost: [2]float64{1, 1}}, Settings{Gap: 1e-6})
		if err == nil && after > 20 {
			return // it was done before
		}
		if err == nil || !strings.Contains(err.Error(), "enough") || res == nil || res.Status != solvers.Interrupted {
			t.Fatalf("after %d parts: %v, %+v", after, err, res)
		}
		if known := !math.IsInf(res.Primal, 1); known != (after > 10) || res.Dual < 0 || res.Dual > res.Primal {
			t.Errorf("after %d parts the bounds are %v … %v", after, res.Dual, res.Primal)
		}
	}
}

func TestLimitsAndFailures(t *testing.T) {
	x, y := overlapping(5, 500, 5)
	res, err := Solve(context.Background(), &Problem{Points: held{z: x, y: y, some: 200}, Cost: [2]float64{1, 1}}, Settings{Gap: 1e-12, MaxPasses: 3})
	if err != nil || res.Status != solvers.IterationLimit || res.Passes != 3 {
		t.Errorf("%v after %d passes, %v", res.Status, res.Passes, err)
	}
	x[3][2] = math.NaN()
	if _, err := Solve(context.Background(), &Problem{Points: held{z: x, y: y, some: 200}, Cost: [2]float64{1, 1}}, Settings{}); err == nil || !strings.Contains(err.Error(), "point 3") {
		t.Errorf("NaN: %v", err)
	}
	if _, err := Solve(context.Background(), &Problem{Points: held{z: x, y: y, some: 200}, Cost: [2]float64{1, 1}, Metric: make2(5)}, Settings{}); err == nil || !strings.Contains(err.Error(), "positive definite") {
		t.Errorf("a singular metric: %v", err)
	}
	for i := range y { // one class has the machine f = 1, which costs nothing
		y[i] = 1
		x[i][2] = 0
	}
	if res, err := Solve(context.Background(), &Problem{Points: held{z: x, y: y, some: 200}, Cost: [2]float64{1, 1}}, Settings{}); err != nil || res.Status.Err() != nil || res.Errors != 0 {
		t.Errorf("one class: %+v, %v", res, err)
	}
}

func make2(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
	}
	return rows
}
