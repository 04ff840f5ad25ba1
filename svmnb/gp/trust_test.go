package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/model"
)

// unevenProcess draws n observations in units from 1e-6 to 1e6, with noise from a
// millionth of the kernel's variance to ten times as much, some of them repeated.
func unevenProcess(seed uint64) Process {
	rng := rand.New(rand.NewPCG(seed, 11))
	n := 2 + rng.IntN(40)
	unit := math.Pow(10, 12*rng.Float64()-6)
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		x[i] = []float64{4 * rng.Float64(), rng.NormFloat64()}
		if i > 0 && seed%3 == 0 && rng.IntN(3) == 0 {
			x[i] = x[rng.IntN(i)]
		}
		y[i] = unit * (math.Sin(2*x[i][0]) + 0.3*rng.NormFloat64())
	}
	k := []kernels.Kernel{kernels.SquaredExponential(0.7), kernels.Matern32(2), kernels.Sum(kernels.SquaredExponential(1), kernels.Linear())}[rng.IntN(3)]
	return Regress(datasets.New(x, y)).Kernel(kernels.Scale(unit*unit, k)).NoiseVariance(unit * unit * math.Pow(10, 7*rng.Float64()-6))
}

// TestEstimatesContainTheTruth: wherever an iterative method is stopped, the log marginal
// likelihood of Cholesky's factor is within the bounds and some standard errors of what it
// prints, and the gradients are. Standard errors of 16 probes are themselves uncertain, so
// a few of the truths are further off.
func TestEstimatesContainTheTruth(t *testing.T) {
	asked, far := 0, 0
	for seed := range uint64(30) {
		p := unevenProcess(seed)
		exact := testkit.FitOf(t, p)
		truth := certain(exact.LogMarginalLikelihood(ctx))
		if truth.Error != 0 || truth.Width != 0 {
			t.Errorf("seed %d: the exact one is %v", seed, truth)
		}
		slopes := certain(exact.Gradient(ctx))
		n := len(exact.Alpha)
		for _, m := range []linear.Method{linear.CG{}, linear.CG{Rank: 3}, linear.CG{GibbsMacKay: true}, linear.WidrowHoff{}} {
			for _, limit := range []int{1, 2, 4, 1 + int(seed)%n, 2 * n} {
				name := fmt.Sprintf("seed %d, %s, %d iterations", seed, m.Name(), limit)
				fit := testkit.FitOf(t, p.Using(m).MaxIterations(limit))
				got, err := fit.LogMarginalLikelihood(ctx)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				asked++
				off := math.Abs(got.Value - truth.Value)
				if off > got.Width+4*got.Error {
					far++
				}
				if !(off <= got.Width+10*got.Error+1e-9*math.Abs(truth.Value)) {
					t.Errorf("%s: %v, want %.9g", name, got, truth.Value)
				}
				if limit != 4 {
					continue
				}
				partials, err := fit.Gradient(ctx)
				if err != nil {
					if !testkit.IsArgument(err, "Gradient") {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				for i, q := range partials {
					want := slopes[i].Gradient.Value
					if off := math.Abs(q.Gradient.Value - want); !(off <= 10*q.Gradient.Error+1e-3*(1+math.Abs(want))) {
						t.Errorf("%s: %s has %v, want %.6g", name, q.Name, q.Gradient, want)
					}
				}
			}
		}
	}
	if asked < 500 || far > asked/20 {
		t.Errorf("%d of %d are far off", far, asked)
	}
}

// TestEstimateSays: each ± says what it is, and an early stop has one that covers what
// it leaves open.
func TestEstimateSays(t *testing.T) {
	for want, e := range map[string]Estimate{
		"−621.365409":                                     {Value: -621.3654087},
		"−601.163 ± 21 (bounds)":                          {Value: -601.163, Width: 21},
		"−601.163 ± 1.5 (standard error)":                 {Value: -601.163, Error: 1.5},
		"−601.163 ± 1.5 (standard error) ":                {Value: -601.163, Error: 1.5, Width: 1e-3},
		"−601.163 ± 21 (bounds) ± 1.5 (standard error)":   {Value: -601.163, Error: 1.5, Width: 21},
		"−601.163 ± 21 (bounds) ± 1.5 (standard error)  ": {Value: -601.163, Error: 1.5, Width: 20.99},
	} {
		if got := e.String(); got != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, p := range []Process{motorcycle().CG().MaxIterations(4), motorcycle().WidrowHoff().MaxIterations(4)} {
		fit := testkit.FitOf(t, p)
		e := certain(fit.LogMarginalLikelihood(ctx))
		if !(math.Abs(e.Value+621.36540875) <= e.Width) || !strings.Contains(fit.Markdown(), "(bounds)") {
			t.Errorf("%v: %v does not cover −621.365", p, e)
		}
	}
}

// TestProcessTable: every column of the table of a process and its line among others,
// against the definitions.
func TestProcessTable(t *testing.T) {
	data := datasets.Motorcycle().Select([]int{0, 12, 30, 44, 51, 60, 72, 85, 99, 110, 132})
	k := kernels.Scale(900, kernels.SquaredExponential(6))
	noise := slices.Repeat([]float64{400}, data.N())
	average := 0.0
	for _, v := range data.Y {
		average += v / float64(data.N())
	}
	base := Regress(data).Kernel(k).NoiseVariance(400)
	for _, c := range []struct {
		p      Process
		offset float64
	}{{base, average}, {base.ZeroMean(), 0}, {base.Using(linear.LU{}), average}, {base.CG().Tol(1e-13), average}} {
		y := slices.Clone(data.Y)
		for i := range y {
			y[i] -= c.offset
		}
		d := newDense(k, data.X, y, noise)
		fit := testkit.FitOf(t, c.p)
		table := fit.Table().Inside()
		columns := map[string][]float64{}
		var names []string
		for _, col := range table.Columns {
			columns[col.Name] = col.Values
			names = append(names, col.Name)
		}
		if want := []string{"row", "time (ms)", "acceleration (g)", "mean", "residual", "alpha"}; !slices.Equal(names, want) {
			t.Fatalf("columns %q, want %q", names, want)
		}
		sum := 0.0
		for i, x := range data.X {
			mean, _ := d.posterior(k, x)
			mean += c.offset
			alpha := 0.0
			for j := range y {
				alpha += d.inverse.At(i, j) * y[j]
			}
			sum += (data.Y[i] - mean) * (data.Y[i] - mean) / float64(data.N())
			for name, want := range map[string]float64{"time (ms)": x[0], "acceleration (g)": data.Y[i], "mean": mean, "residual": data.Y[i] - mean, "alpha": alpha} {
				if got := columns[name][i]; math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("%v, row %d: %s = %g, want %g", c.p, i, name, got, want)
				}
			}
		}
		line := fit.Comparison()
		for i, name := range sheet.Measures {
			if v := line.Measures[i]; strings.Contains(strings.ToLower(name), "rmse") || strings.Contains(name, "square") {
				if math.Abs(v-math.Sqrt(sum)) > 1e-6*math.Sqrt(sum) {
					t.Errorf("%v: %s = %g, want %g", c.p, name, v, math.Sqrt(sum))
				}
				sum = -1
			}
		}
		if sum != -1 {
			t.Errorf("no measure among %q is the root mean square error", sheet.Measures)
		}
	}
}

// TestConvergedOptimise: an ascent that says that it has converged has no derivative above
// 1e-3 at its end, but for those that would lead over a bound; the slope that it reports is
// that of the fit; and no end is below a point of its way.
func TestConvergedOptimise(t *testing.T) {
	converged := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 8 + rng.IntN(40)
		var x [][]float64
		var y []float64
		for i := range n {
			x = append(x, []float64{4 * rng.Float64(), rng.NormFloat64()})
			v := math.Sin(2*x[i][0]) + []float64{0, 0.1, 1}[seed%3]*rng.NormFloat64()
			if seed%4 == 0 {
				v = 1 + x[i][0]
			}
			y = append(y, v)
		}
		k := []kernels.Kernel{
			kernels.ARD(1, 1), kernels.Scale(1, kernels.ARD(1, 1)), kernels.Scale(1, kernels.SquaredExponential(1)),
			kernels.Sum(kernels.Scale(1, kernels.RationalQuadratic(1, 1)), kernels.Linear()),
		}[rng.IntN(4)]
		fit := testkit.FitOf(t, Regress(datasets.New(x, y)).Kernel(k).NoiseVariance(0.1).Optimise())
		o := fit.Optimisation
		end, slope := o.End(), 0.0
		for i, q := range certain(fit.Gradient(ctx)) {
			way := math.Log(q.Value / o.Start[i])
			if over := math.Log(1e5)-math.Abs(way) < 0.021 && way*q.Gradient.Value > 0; !over {
				slope = max(slope, math.Abs(q.Gradient.Value))
			}
		}
		status := o.Ascents[o.Best].Status
		if math.Abs(slope-end.Slope) > 1e-4+1e-3*slope {
			t.Errorf("seed %d: the slope is %.4g, said to be %.4g", seed, slope, end.Slope)
		}
		if status == solvers.Converged {
			converged++
			if slope > 1.1e-3 {
				t.Errorf("seed %d: converged with a slope of %.3g at %v", seed, slope, end.Values)
			}
		}
		for _, a := range o.Ascents {
			for _, pt := range a.Path {
				if pt.Evidence > end.Evidence {
					t.Errorf("seed %d: ends at %.9g, below %.9g on its way", seed, end.Evidence, pt.Evidence)
				}
			}
		}
	}
	if converged < 30 {
		t.Errorf("only %d of 40 ascents converged", converged)
	}
}

// TestProcessWithoutMemory: of more points than a factor has room for, the method that
// nobody asked for is conjugate gradients, and the way out that Optimise names works.
func TestProcessWithoutMemory(t *testing.T) {
	data := datasets.Motorcycle()
	base := motorcycle().Memory(60_000)
	fit := testkit.FitOf(t, base)
	if fit.Method != "CG" || fit.Status != solvers.Converged || fit.Certificate.Lower > 138.52726051 || fit.Certificate.Upper < 138.52726050 {
		t.Errorf("%s: %+v", fit.Method, fit.Certificate)
	}
	if e := certain(fit.LogMarginalLikelihood(ctx)); math.Abs(e.Value+621.36540875) > e.Width+6*e.Error {
		t.Errorf("%v", e)
	}
	_, err := base.Optimise().Fit(ctx)
	if err == nil {
		t.Fatal("climbed without memory")
	}
	said, _, _ := strings.Cut(strings.SplitN(err.Error(), "learn from ", 2)[1], " points")
	most := certain(strconv.Atoi(said))
	if most < 15 || most >= 133 {
		t.Fatalf("%d points: %v", most, err)
	}
	rows := make([]int, most)
	for i := range rows {
		rows[i] = i * 133 / most
	}
	part := testkit.FitOf(t, base.On(data.Select(rows)).Optimise())
	all := testkit.FitOf(t, part.Description.On(data).CG())
	if all.Status != solvers.Converged || len(all.Alpha) != 133 || all.Description.kernel != part.Description.kernel || all.Description.noise != part.Description.noise {
		t.Errorf("%v after %v", all.Description, part.Description)
	}
	if all := testkit.FitOf(t, part.Description.On(data)); all.Method != "CG" {
		t.Errorf("solved by %s", all.Method)
	}
	if _, err := base.On(data.Select(append(rows, 1, 2, 4))).Optimise().Fit(ctx); !testkit.IsArgument(err, "Optimise") {
		t.Errorf("three more points: %v", err)
	}
}

// TestProcessCounts: a count that no memory has room for is refused before anything is
// allocated, and names what there is room for.
func TestProcessCounts(t *testing.T) {
	x := [][]float64{{1}, {2}, {3}}
	direct, iterative := testkit.FitOf(t, motorcycle()), testkit.FitOf(t, motorcycle().CG())
	for name, ask := range map[string]func(count int) error{
		"Prior":        func(c int) error { _, err := motorcycle().Prior(ctx, datasets.Rows(x), c, 1); return err },
		"Sample":       func(c int) error { _, err := direct.Sample(ctx, datasets.Rows(x), c, 1); return err },
		"Sample of CG": func(c int) error { _, err := iterative.Sample(ctx, datasets.Rows(x), c, 1); return err },
		"Prior, little room": func(c int) error {
			_, err := motorcycle().Memory(1_000_000).Prior(ctx, datasets.Rows(x), c, 1)
			return err
		},
		"PosteriorSamples": func(c int) error { _, err := PosteriorSamples(c, 1).Of(direct); return err },
	} {
		for _, count := range []int{1_000_000_000, 1_000_000_000_000, math.MaxInt} {
			var bad *svmnb.ArgumentError
			if err := ask(count); !errors.As(err, &bad) || !strings.Contains(err.Error(), "at a time") {
				t.Errorf("%s of %d: %v", name, count, err)
			}
		}
	}
	if s := certain(motorcycle().Memory(100_000).Prior(ctx, datasets.Rows(x), 4000, 1)); len(s.Values) != 4000 {
		t.Errorf("%d functions", len(s.Values))
	}
	for _, rank := range []int{1_000_000_000_000, math.MaxInt} {
		if fit, err := motorcycle().Using(linear.CG{Rank: rank}).Fit(ctx); err != nil || fit.Status != solvers.Converged {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if _, err := motorcycle().Restarts(math.MaxInt, 1).Fit(ctx); !testkit.IsArgument(err, "Restarts") {
		t.Error(err)
	}
}

// cutter is a context that is cancelled when it is asked for the k-th time, and counts how
// often it is asked afterwards.
type cutter struct {
	context.Context
	mu           sync.Mutex
	asked, after int
	at           int
	cancel       context.CancelCauseFunc
}

var errCut = errors.New("cut")

func cutAt(k int) *cutter {
	c := &cutter{at: k}
	c.Context, c.cancel = context.WithCancelCause(context.Background())
	return c
}

func (c *cutter) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked++; c.asked == c.at {
		c.cancel(errCut)
	}
	if c.asked > c.at {
		c.after++
	}
	return c.Context.Err()
}

// TestProcessCut: cancelled at any moment, every long call of a process ends after a few
// more looks at its context, with the cause, and with all that was known by then.
func TestProcessCut(t *testing.T) {
	data := datasets.Motorcycle().Select([]int{0, 8, 16, 24, 30, 36, 40, 48, 51, 56, 60, 66, 72, 80, 85, 92, 99, 105, 110, 120, 132})
	base := Regress(data).Kernel(kernels.Scale(1000, kernels.SquaredExponential(5))).NoiseVariance(400)
	at := make([][]float64, 200)
	for i := range at {
		at[i] = []float64{float64(i) / 5}
	}
	type answer struct {
		there bool // something has come back
		err   error
	}
	optimise := func(p Process) func(ctx context.Context) answer {
		return func(ctx context.Context) answer {
			fit, err := p.Fit(ctx)
			if fit == nil {
				return answer{false, err}
			}
			// What comes back is a fit of what it says, and the best point of its ways.
			if o := fit.Optimisation; o != nil {
				end := o.End()
				if v := certain(testkit.FitOf(t, fit.Description.Cholesky()).LogMarginalLikelihood(t.Context())).Value; math.Abs(v-end.Evidence) > 1e-9*math.Abs(v) {
					t.Errorf("%v: the fit has an evidence of %.12g, its best point %.12g", p, v, end.Evidence)
				}
				if err != nil && o.Ascents[o.Best].Path[0].Evidence > end.Evidence {
					t.Errorf("%v: the best point is below the start", p)
				}
			}
			if b := certain(fit.Posterior(t.Context(), datasets.Rows(at[:3]))); slices.ContainsFunc(b.Mean, math.IsNaN) || !(fit.Certificate.Residual < 1e-3) {
				t.Errorf("%v: %+v, %+v", p, b, fit.Certificate)
			}
			return answer{true, err}
		}
	}
	direct, lu, cg := testkit.FitOf(t, base), testkit.FitOf(t, base.Using(linear.LU{})), testkit.FitOf(t, base.CG())
	fresh := func(p Process) *Fit { return testkit.FitOf(t, p) }
	for _, c := range []struct {
		name  string
		keeps bool // something comes back whenever it ends
		ask   func(ctx context.Context) answer
	}{
		{"Optimise", true, optimise(base.Optimise())},
		{"Restarts", true, optimise(base.Restarts(3, 1))},
		{"Optimise, then CG", true, optimise(base.CG().Tol(1e-12).Optimise())},
		{"Optimise, linear mean", true, optimise(base.LinearMean().Optimise())},
		{"Fit by CG", true, func(ctx context.Context) answer {
			fit, err := base.CG().Tol(1e-10).Fit(ctx)
			return answer{fit != nil && fit.Certificate.Lower <= fit.Certificate.Upper, err}
		}},
		{"Posterior", true, func(ctx context.Context) answer {
			b, err := direct.Posterior(ctx, datasets.Rows(at))
			return answer{b != nil && len(b.Variance) == 200 && !slices.ContainsFunc(b.Variance, math.IsNaN), err}
		}},
		{"Posterior by LU", true, func(ctx context.Context) answer {
			b, err := fresh(base.Using(linear.LU{})).Posterior(ctx, datasets.Rows(at))
			return answer{b != nil && len(b.Variance) == 200, err}
		}},
		{"Posterior by CG", true, func(ctx context.Context) answer {
			b, err := cg.Posterior(ctx, datasets.Rows(at))
			for i := range at {
				if b != nil && !(b.VarianceLower[i] <= b.Variance[i]) {
					t.Errorf("the variance is between %g and %g", b.VarianceLower[i], b.Variance[i])
				}
			}
			return answer{b != nil && len(b.Variance) == 200, err}
		}},
		{"Components", true, func(ctx context.Context) answer {
			parts, err := direct.Components(ctx, datasets.Rows(at))
			return answer{len(parts) == 1, err}
		}},
		{"Prior", false, func(ctx context.Context) answer {
			s, err := base.Prior(ctx, datasets.Rows(at[:50]), 100, 1)
			return answer{s != nil, err}
		}},
		{"Sample", false, func(ctx context.Context) answer {
			s, err := direct.Sample(ctx, datasets.Rows(at[:50]), 100, 1)
			return answer{s != nil, err}
		}},
		{"Covariance", false, func(ctx context.Context) answer {
			c, err := lu.Covariance(ctx, datasets.Rows(at))
			return answer{c != nil, err}
		}},
		{"Gradient", false, func(ctx context.Context) answer { g, err := lu.Gradient(ctx); return answer{g != nil, err} }},
		{"Gradient by CG", false, func(ctx context.Context) answer { g, err := cg.Gradient(ctx); return answer{g != nil, err} }},
		{"LeaveOneOut", false, func(ctx context.Context) answer { l, err := direct.LeaveOneOut(ctx); return answer{l != nil, err} }},
		{"evidence by CG", false, func(ctx context.Context) answer {
			_, err := cg.LogMarginalLikelihood(ctx)
			return answer{err == nil, err}
		}},
	} {
		whole := cutAt(math.MaxInt)
		if a := c.ask(whole); a.err != nil || !a.there {
			t.Fatalf("%s: %v", c.name, a.err)
		}
		rng := rand.New(rand.NewPCG(5, uint64(len(c.name))))
		for range 15 {
			ctx := cutAt(1 + rng.IntN(whole.asked))
			a := c.ask(ctx)
			if a.err == nil && a.there && ctx.after <= 3 {
				continue // it was done
			}
			if !errors.Is(a.err, errCut) {
				t.Errorf("%s, cut at look %d of %d: %v", c.name, ctx.at, whole.asked, a.err)
			}
			if c.keeps && !a.there {
				t.Errorf("%s, cut at look %d of %d: nothing came back", c.name, ctx.at, whole.asked)
			}
			if ctx.after > 60 {
				t.Errorf("%s, cut at look %d of %d: %d more looks", c.name, ctx.at, whole.asked, ctx.after)
			}
		}
	}
	// Functions that were drawn are not lost.
	count := cutAt(math.MaxInt)
	certain(base.Prior(count, datasets.Rows(at[:5]), 1000, 1))
	ctx := cutAt(count.asked - 500)
	if s, err := base.Prior(ctx, datasets.Rows(at[:5]), 1000, 1); !errors.Is(err, errCut) || s == nil || len(s.Values) < 400 {
		t.Errorf("%v", err)
	}
}

// TestRaceProcess: every method of one fit from several goroutines at once, each with the
// answer that it has alone. Under -race this finds what they share.
func TestRaceProcess(t *testing.T) {
	data := datasets.Motorcycle().Select([]int{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120})
	base := Regress(data).Kernel(kernels.Sum(kernels.Scale(900, kernels.SquaredExponential(5)), kernels.Scale(10, kernels.Linear()))).NoiseVariance(400)
	at := [][]float64{{3}, {20}, {31}}
	for _, p := range []Process{base, base.Using(linear.LU{}), base.Using(linear.Mixed{}), base.LinearMean().Using(linear.GaussJordan{}), base.CG(), base.Using(linear.CG{Rank: 3}), base.Using(linear.CG{GibbsMacKay: true}), base.WidrowHoff(), base.CG().Memory(10_000), base.Optimise()} {
		fit := testkit.FitOf(t, p)
		model := fit.Model()
		all := map[string]func() any{
			"Predict":               func() any { v, _ := fit.Predict(datasets.Rows(at)); return v },
			"Posterior":             func() any { v, _ := fit.Posterior(ctx, datasets.Rows(at)); return *v },
			"Covariance":            func() any { v, _ := fit.Covariance(ctx, datasets.Rows(at)); return v },
			"Components":            func() any { v, _ := fit.Components(ctx, datasets.Rows(at)); return v },
			"LogMarginalLikelihood": func() any { v, _ := fit.LogMarginalLikelihood(ctx); return v },
			"Gradient":              func() any { v, _ := fit.Gradient(ctx); return v },
			"LeaveOneOut":           func() any { v, _ := fit.LeaveOneOut(ctx); return v != nil },
			"Sample":                func() any { v, _ := fit.Sample(ctx, datasets.Rows(at), 2, 1); return v.Values },
			"Markdown":              func() any { return fit.Markdown() },
			"Hints":                 func() any { return fit.Hints() },
			"Model":                 func() any { v, _ := fit.Model().Values(datasets.Rows(at)); return v },
			"model's Posterior":     func() any { v, _ := PosteriorOf(ctx, model, datasets.Rows(at)); return v == nil },
			"Evaluate":              func() any { v, _ := fit.Evaluate(data); return v.Predicted },
			"table":                 func() any { return len(fit.Table().Inside().Columns) },
			"comparison":            func() any { return fit.Comparison().Name },
			"figure Posterior":      func() any { _, err := PosteriorSamples(2, 1).Of(fit); return err },
			"figure Bounds":         func() any { _, err := Bounds.Of(fit); return err != nil },
			"figure Components":     func() any { _, err := Components.Of(fit); return err },
			"description":           func() any { return fit.Description.String() },
		}
		alone := map[string]string{}
		for name, ask := range all {
			alone[name] = fmt.Sprint(ask())
		}
		fit = testkit.FitOf(t, p) // nothing is computed yet
		model = fit.Model()
		elapsed := func(s string) bool { return strings.Contains(s, "status") } // has times in it
		var wait sync.WaitGroup
		for name, ask := range all {
			for range 2 {
				wait.Go(func() {
					if got := fmt.Sprint(ask()); got != alone[name] && !elapsed(got) {
						t.Errorf("%v: %s is %s among others and %s alone", p, name, got, alone[name])
					}
				})
			}
		}
		wait.Wait()
	}
}

// TestProcessZeroValues: no context, no fit and zero values of what is exported are
// errors that name the call, and no panic.
func TestProcessZeroValues(t *testing.T) {
	var none context.Context
	x := [][]float64{{1}}
	whole := testkit.FitOf(t, motorcycle())
	refused := func(what, call string, err error) {
		if !testkit.IsArgument(err, call) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ask := func(what string, f *Fit, ctx context.Context) {
		_, err := f.Posterior(ctx, datasets.Rows(x))
		refused(what, "Posterior", err)
		_, err = f.Components(ctx, datasets.Rows(x))
		refused(what, "Components", err)
		_, err = f.LogMarginalLikelihood(ctx)
		refused(what, "LogMarginalLikelihood", err)
		_, err = f.Gradient(ctx)
		refused(what, "Gradient", err)
		_, err = f.LeaveOneOut(ctx)
		refused(what, "LeaveOneOut", err)
		_, err = f.Sample(ctx, datasets.Rows(x), 1, 1)
		refused(what, "Sample", err)
	}
	ask("no context", whole, none)
	for what, f := range map[string]*Fit{"no fit": nil, "empty fit": {}} {
		ask(what, f, ctx)
		_, err := f.Predict(datasets.Rows(x))
		refused(what, "Predict", err)
		if f.Model() != nil || f.Hints() != nil || !strings.Contains(f.Markdown(), "there is no fit") {
			t.Errorf("%s: %v, %q, %q", what, f.Model(), f.Hints(), f.Markdown())
		}
		for _, figure := range []display.Figure{Posterior, Bounds, Evidence, Components} {
			if _, err := figure.Of(f); err == nil {
				t.Errorf("%s has a figure", what)
			}
		}
	}
	var p Process
	_, err := p.Fit(ctx)
	refused("zero Process", "Regress", err)
	_, err = p.Prior(ctx, datasets.Rows(x), 1, 1)
	refused("zero Process", "Regress", err)
	_, err = p.NoiseVariances(nil).LinearMean().Optimise().Fit(ctx)
	refused("zero Process", "Regress", err)
	if s := p.String(); !strings.HasPrefix(s, "gp.Regress(nil)") {
		t.Errorf("%q", s)
	}
	_, err = motorcycle().Fit(none)
	refused("no context", "Fit", err)
	_, err = motorcycle().Optimise().Fit(none)
	refused("no context", "Fit", err)
	_, err = motorcycle().Prior(none, datasets.Rows(x), 1, 1)
	refused("no context", "Prior", err)
	_, err = PosteriorOf(none, whole.Model(), datasets.Rows(x))
	refused("no context", "Posterior", err)
	var m *model.Model
	_, err = PosteriorOf(ctx, m, datasets.Rows(x))
	refused("no model", "Posterior", err)
	var o *Optimisation
	if end := o.End(); end.Values != nil {
		t.Errorf("%v", end)
	}
	if end := (&Optimisation{}).End(); end.Values != nil {
		t.Errorf("%v", end)
	}
	var l *LeaveOneOut
	if !math.IsNaN(l.RMSE(nil)) || !math.IsNaN(certain(whole.LeaveOneOut(ctx)).RMSE([]float64{1})) {
		t.Error("a root mean square error of nothing")
	}
}
