package gp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

func shown(t *testing.T, p LatentProcess) *LatentFit {
	t.Helper()
	f, err := p.Fit(ctx)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	if f.Status != solvers.Converged {
		t.Errorf("%v: %v after %d steps, gap %g, mismatch %g", p, f.Status, f.Iterations, f.Gap, f.Mismatch)
	}
	return f
}

// integrated integrates over f at two points: the evidence, mean and variance of f at a third one,
// and the cumulative probability of a new target there.
func integrated(k func(i, j int) float64, y []float64, p func(y, f float64) float64, below func(f float64) float64) (logZ, mean, variance, share float64) {
	l11 := math.Sqrt(k(0, 0))
	l21 := k(1, 0) / l11
	l22 := math.Sqrt(k(1, 1) - l21*l21)
	l31 := k(2, 0) / l11
	l32 := (k(2, 1) - l31*l21) / l22
	l33 := math.Sqrt(max(0, k(2, 2)-l31*l31-l32*l32))
	const h = 0.2
	z, m, s := 0.0, 0.0, 0.0
	for a := -8.0; a <= 8; a += h {
		for b := -8.0; b <= 8; b += h {
			w := math.Exp(-(a*a+b*b)/2) / (2 * math.Pi) * h * h * p(y[0], l11*a) * p(y[1], l21*a+l22*b)
			if w < 1e-14 {
				continue
			}
			at := l31*a + l32*b
			z, m, s = z+w, m+w*at, s+w*(at*at+l33*l33)
			for c := -8.0; c <= 8; c += h {
				share += w * below(at+l33*c) * math.Exp(-c*c/2) / math.Sqrt(2*math.Pi) * h
			}
		}
	}
	m /= z
	return math.Log(z), m, s/z - m*m, share / z
}

// TestLatentAgainstIntegration: of two points, Laplace's approximation is near the posterior by
// numerical integration, and the distribution of a new target is that of its own f.
func TestLatentAgainstIntegration(t *testing.T) {
	x := [][]float64{{0}, {0.9}, {0.4}}
	for _, scale := range []float64{0.3, 1} {
		kernel := kernels.ScaleKernel{C: scale, K: kernels.SquaredExponential(1)}
		k := func(i, j int) float64 { return kernel.Eval(x[i], x[j]) }
		for _, c := range []struct {
			of     Likelihood
			y      []float64
			at     float64 // a new target
			within float64
		}{
			{Poisson(), []float64{4, 7}, 3, 0.04},
			{Poisson(), []float64{0, 12}, 8, 0.06},
			{StudentT(4), []float64{0.5, 0.9}, 1, 0.13},
			{StudentT(2), []float64{-0.2, 0.3}, 0.1, 0.21},
		} {
			p := Regress(datasets.New(x[:2], c.y)).ZeroMean().Kernel(kernel)
			density := func(y, f float64) float64 {
				gamma, _ := math.Lgamma(y + 1)
				return math.Exp(y*f - math.Exp(f) - gamma)
			}
			below := func(f float64) float64 { return poissonBelow(c.at, math.Exp(f)) }
			if l, ok := c.of.(studentT); ok {
				p = p.NoiseVariance(0.1)
				density = func(y, f float64) float64 { return math.Exp(l.at(y-f, 0.1).value) }
				below = func(f float64) float64 {
					x := (c.at - f) / math.Sqrt(0.1)
					if l.nu == 2 {
						return 0.5 + x/(2*math.Sqrt(2+x*x))
					}
					w := 1 + x*x/4
					return 0.5 + 3*x/(8*math.Sqrt(w))*(1-x*x/(12*w))
				}
			}
			f := shown(t, p.Likelihood(c.of))
			logZ, mean, variance, share := integrated(k, c.y, density, below)
			b := must(f.Latent(ctx, datasets.Rows(x[2:])))
			testkit.Near(t, f.Description.String()+": evidence", f.LogMarginalLikelihood(), logZ, 2*c.within)
			testkit.Near(t, f.Description.String()+": mean", b.Mean[0], mean, 2*c.within)
			testkit.Near(t, f.Description.String()+": variance", b.Variance[0], variance, c.within)
			at := f.posterior.ahead(f.task, x[2], mean, variance) // with the exact moments, to compare the distribution alone
			if c.of == Poisson() {
				share -= 0.01
			}
			if q := at.quantile(share); c.of == Poisson() && q != c.at || c.of != Poisson() && math.Abs(q-c.at) > 0.06 {
				t.Errorf("%v: the quantile of %v is %v, want %v", f.Description, share, q, c.at)
			}
		}
	}
}

// TestPredictives: densities have the sum 1 and their mean, and quantiles are where the sums say.
func TestPredictives(t *testing.T) {
	for _, c := range []counts{{0, 0}, {1, 0.3}, {3, 1e-3}, {-2, 2}} {
		sum, mean, below := 0.0, 0.0, 0.0
		q := c.quantile(0.8)
		for y := 0.0; y < 20000 && (y < 50 || sum < 1-1e-10); y++ {
			p := math.Exp(c.logDensity(y))
			sum, mean = sum+p, mean+y*p
			if y < q {
				below += p
			}
		}
		testkit.Near(t, "sum", sum, 1, 1e-7)
		testkit.Near(t, "mean", mean, c.mean(), 1e-4*c.mean())
		if at := below + math.Exp(c.logDensity(q)); below >= 0.8 || at < 0.8-1e-9 {
			t.Errorf("%+v: quantile %v, %v below it and %v with it", c, q, below, at)
		}
	}
	for _, nu := range []float64{1, 4, 300} {
		l := studentT{nu}
		for _, v := range []float64{0, 0.5} { // of f
			p := l.spread(2, v, 0.25)
			if v == 0 {
				for _, y := range []float64{2, 2.7, 12} {
					testkit.Near(t, "density", p.logDensity(y), l.at(y-2, 0.25).value, 1e-8)
				}
			}
			q := p.quantile(0.9)
			testkit.Near(t, "symmetric", p.quantile(0.1), 4-q, 1e-12)
			sum, h := 0.0, 0.001
			for y := 2.0; y < q; y += h {
				sum += math.Exp(p.logDensity(y+h/2)) * min(h, q-y)
			}
			testkit.Near(t, "half", sum, 0.4, 1e-5)
		}
	}
	for _, c := range [][3]float64{{0, 1, math.Exp(-1)}, {3, 0.5, 0.998248}, {3, 9, 0.0212265}, {1000, 1000, 0.508409}, {5, 0, 1}} {
		testkit.Near(t, "Poisson", poissonBelow(c[0], c[1]), c[2], 1e-6)
	}
}

// randomLatent draws a problem for one of the likelihoods.
func randomLatent(t *rapid.T, of string) LatentProcess {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var x [][]float64
	var y []float64
	for range rapid.IntRange(3, 12).Draw(t, "n") {
		p := []float64{rng.NormFloat64(), rng.NormFloat64()}
		v := math.Sin(2*p[0]) + 0.2*rng.NormFloat64()
		switch {
		case of == "Poisson":
			v = math.Floor(math.Exp(1+v) * 2 * rng.Float64())
		case rng.IntN(5) == 0:
			v += 5 * rng.NormFloat64()
		}
		x, y = append(x, p), append(y, v)
	}
	length := math.Exp(rapid.Float64Range(-1, 1).Draw(t, "ln length"))
	scale := math.Exp(rapid.Float64Range(-1, 2).Draw(t, "ln scale"))
	p := Regress(datasets.New(x, y)).Kernel(kernels.ScaleKernel{C: scale, K: kernels.Matern52(length)})
	if of == "Poisson" {
		return p.Likelihood(Poisson())
	}
	p = p.NoiseVariance(math.Exp(rapid.Float64Range(-4, 1).Draw(t, "ln noise")))
	if of == "Student" {
		return p.Likelihood(StudentT(rapid.Float64Range(1, 10).Draw(t, "nu")))
	}
	return p.Likelihood(Heteroscedastic(kernels.ScaleKernel{C: math.Exp(rapid.Float64Range(-2, 1).Draw(t, "ln scale of noise")), K: kernels.SquaredExponential(1.5)}))
}

// TestLatentGradient: the derivatives are those of the evidence by finite differences.
func TestLatentGradient(t *testing.T) {
	for _, of := range []string{"Poisson", "Student", "heteroscedastic"} {
		t.Run(of, func(t *testing.T) {
			ended, limited := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				p := randomLatent(t, of)
				f, err := p.Fit(ctx)
				switch {
				case err == nil && f.Status == solvers.IterationLimit && of == "heteroscedastic":
					limited++ // a flat bound may take longer, and the fit says so
					return
				case err != nil || f.Status != solvers.Converged:
					t.Fatalf("%v, %+v", err, f)
				}
				ended++
				partials, err := f.Gradient(ctx)
				if err != nil {
					t.Fatal(err)
				}
				for i := range partials {
					at := func(h float64) float64 {
						var values []float64
						for _, p := range partials {
							values = append(values, p.Value)
						}
						values[i] *= math.Exp(h)
						other, err := f.task.with(values)
						if err != nil {
							t.Fatal(err)
						}
						g, err := other.solve(ctx)
						if err != nil {
							t.Fatal(err)
						}
						return g.LogMarginalLikelihood()
					}
					const h = 1e-3
					got, want := partials[i].Gradient.Value, (8*(at(h)-at(-h))-(at(2*h)-at(-2*h)))/(12*h)
					if rough := (at(h) - at(-h)) / (2 * h); math.Abs(rough-want) > 1e-3*(1+math.Abs(want)) {
						continue // a maximum ends here, and another one is found beside it
					}
					tol := 1e-4
					if of == "heteroscedastic" {
						tol = 1e-3 // its process of the noise is stationary up to 1e-6, so a flat direction is off by more
					}
					if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
						t.Fatalf("∂/∂ ln %s is %v, by differences %v", partials[i].Name, got, want)
					}
				}
			})
			if limited > ended/10 {
				t.Errorf("%d of %d fits reach the limit of iterations", limited, limited+ended)
			}
		})
	}
}

// TestStudentOfMany: with many degrees of freedom, Student's distribution is the normal one.
func TestStudentOfMany(t *testing.T) {
	p := motorcycle()
	exact := testkit.FitOf(t, p.ZeroMean())
	f := shown(t, p.ZeroMean().Likelihood(StudentT(1e7)))
	testkit.Near(t, "evidence", f.LogMarginalLikelihood(), certain(exact.LogMarginalLikelihood(ctx)).Value, 1e-3)
	at := datasets.Rows{{12}, {40}}
	b, e := must(f.Latent(ctx, at)), must(exact.Posterior(ctx, at))
	low, high, err := f.Interval(ctx, at, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	wantLow, wantHigh := e.Interval(0.95)
	for i := range at {
		testkit.Near(t, "mean", b.Mean[i], e.Mean[i], 1e-3)
		testkit.Near(t, "variance", b.Variance[i], e.Variance[i], 1e-3)
		testkit.Near(t, "low", low[i], wantLow[i], 1e-3)
		testkit.Near(t, "high", high[i], wantHigh[i], 1e-3)
	}
}

// TestStudentOutliers: outliers move the learned normal process and not the robust one, whose
// curvatures are negative at the outliers.
func TestStudentOutliers(t *testing.T) {
	data := datasets.Sinc(60, 0.05, 1)
	for _, i := range []int{5, 22, 40} {
		data.Y[i] += 3
	}
	truth := datasets.Sinc(100, 0, 2)
	off := func(mean []float64) (sum float64) {
		for i, m := range mean {
			sum += (m - truth.Y[i]) * (m - truth.Y[i]) / 100
		}
		return math.Sqrt(sum)
	}
	p := Regress(data).Kernel(kernels.SquaredExponential(1)).NoiseVariance(0.01).Optimise()
	normal := testkit.FitOf(t, p)
	robust := shown(t, p.Likelihood(StudentT(4)))
	a, b := off(must(normal.Predict(truth))), off(must(robust.Predict(ctx, truth)))
	if b > 0.05 || b > a/2 {
		t.Errorf("errors %v of the normal one, %v of the robust one", a, b)
	}
	if q := robust.posterior.(laplacePosterior); len(q.h) == 0 || len(q.h[0]) < 3 {
		t.Errorf("no negative curvature at the outliers")
	}
	if o := robust.Optimisation; o == nil || o.End().Slope > flat {
		t.Errorf("%+v", o.End())
	}
	if e := must(robust.LogDensity(ctx, truth)); len(e) != 100 || math.IsNaN(e[3]) {
		t.Errorf("%v", e)
	}
	if md := robust.Markdown(); !strings.Contains(md, "gp.StudentT(4)") || !strings.Contains(md, "higher ones") {
		t.Error(md)
	}
}

// TestLatentHessian: E with H is (K + W⁻¹)⁻¹ of the matrices written out, where W has both signs.
func TestLatentHessian(t *testing.T) {
	data := datasets.Sinc(9, 0, 1)
	k := must(gramOf(ctx, kernels.SquaredExponential(1), data.X))
	w := []float64{2, -0.1, 0.5, 3, -0.2, 1, 0, 4, 0.1}
	q := &gaussian{k: k, root: make([]float64, 9), a: make([]float64, 9)}
	if err := q.curve(ctx, w); err != nil {
		t.Fatal(err)
	}
	v := must(q.variances(ctx))
	for i := range w { // (I + KW) Σ = K, so Σ_ii + Σ_j K_ij W_j Σ_ji = K_ii
		e := make([]float64, 9)
		e[i] = 1
		s := k.times(q.less(e)) // Σ e_i = K e_i − K E K e_i
		testkit.Near(t, "variance", v[i], s[i], 1e-10)
		testkit.Near(t, "variance", q.variance(k.diag[i], k.rows[i]), s[i], 1e-10)
		for j := range w {
			ws := make([]float64, 9)
			for l := range w {
				ws[l] = w[l] * s[l]
			}
			testkit.Near(t, "(I + KW)Σ", s[j]+k.times(ws)[j], k.rows[i][j], 1e-10)
		}
	}
	if err := q.curve(ctx, []float64{-9, -9, -9, 1, 1, 1, 1, 1, 1}); err == nil {
		t.Error("a curvature that is not positive definite")
	}
}

// TestHeteroscedastic: with a noise that cannot vary, the process is the exact one; where it
// varies, the intervals follow it.
func TestHeteroscedastic(t *testing.T) {
	p := motorcycle()
	exact := testkit.FitOf(t, p)
	still := shown(t, p.Likelihood(Heteroscedastic(kernels.Scale(1e-9, kernels.SquaredExponential(5)))))
	testkit.Near(t, "evidence", still.LogMarginalLikelihood(), certain(exact.LogMarginalLikelihood(ctx)).Value, 1e-4)
	testkit.Near(t, "mean", must(still.Predict(ctx, datasets.Rows{{20}}))[0], must(exact.Predict(datasets.Rows{{20}}))[0], 1e-4)
	f := shown(t, p.Optimise().Likelihood(Heteroscedastic(kernels.SquaredExponential(5))))
	if f.LogMarginalLikelihood() < -600 { // the learned normal process has −621.2
		t.Errorf("evidence %v", f.LogMarginalLikelihood())
	}
	v := must(f.NoiseVariance(ctx, datasets.Rows{{5}, {30}}))
	if v[0] > 20 || v[1] < 300 {
		t.Errorf("noise %v", v)
	}
	low, high, err := f.Interval(ctx, p.data, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	inside := 0
	for i, y := range p.data.Y {
		if low[i] <= y && y <= high[i] {
			inside++
		}
	}
	if share := float64(inside) / 133; share < 0.82 || share > 0.97 {
		t.Errorf("%v of the targets lie in their intervals of 90 %%", share)
	}
}

// TestHeteroscedasticBound: of two points, the bound is below the evidence by integration over the
// noise, and near.
func TestHeteroscedasticBound(t *testing.T) {
	x := [][]float64{{0}, {0.9}}
	kf, kg := kernels.SquaredExponential(1), kernels.Scale(0.5, kernels.SquaredExponential(1))
	for _, y := range [][]float64{{1, -0.5}, {0.1, 0.2}, {4, 1}} {
		f := shown(t, Regress(datasets.New(x, y)).ZeroMean().Kernel(kf).NoiseVariance(0.2).Likelihood(Heteroscedastic(kg)))
		l11 := math.Sqrt(0.5)
		l21 := kg.Eval(x[0], x[1]) / l11
		l22 := math.Sqrt(0.5 - l21*l21)
		sum, h := 0.0, 0.05
		for a := -8.0; a <= 8; a += h {
			for b := -8.0; b <= 8; b += h {
				a11, a22, a12 := 1+0.2*math.Exp(l11*a), 1+0.2*math.Exp(l21*a+l22*b), kf.Eval(x[0], x[1])
				det := a11*a22 - a12*a12
				form := (y[0]*y[0]*a22 - 2*y[0]*y[1]*a12 + y[1]*y[1]*a11) / det
				sum += math.Exp(-(a*a+b*b)/2-form/2) / (2 * math.Pi) * h * h / (2 * math.Pi * math.Sqrt(det))
			}
		}
		if got, want := f.LogMarginalLikelihood(), math.Log(sum); got > want+1e-9 || got < want-0.6 {
			t.Errorf("%v: bound %v, by integration %v", y, got, want)
		}
	}
}

func TestLatentRefuses(t *testing.T) {
	var argument *arguments.Error
	sinc := Regress(datasets.Sinc(10, 0.1, 1)).Kernel(kernels.SquaredExponential(1))
	counts := Regress(datasets.New([][]float64{{1}, {2}, {3}}, []float64{0, 2, 7}))
	for name, p := range map[string]LatentProcess{
		"zero value":      {},
		"nil":             sinc.Likelihood(nil),
		"freedom":         sinc.Likelihood(StudentT(0.5)),
		"linear mean":     sinc.LinearMean().Likelihood(StudentT(4)),
		"scaled":          sinc.NormaliseTargets().Likelihood(StudentT(4)),
		"no noise":        sinc.NoiseVariance(0).Likelihood(StudentT(4)),
		"no counts":       sinc.Likelihood(Poisson()),
		"noise of counts": counts.NoiseVariance(1).Likelihood(Poisson()),
		"noise's kernel":  sinc.Likelihood(Heteroscedastic(nil)),
		"memory":          sinc.Memory(10).Likelihood(StudentT(4)),
		"bound":           sinc.Optimise().Bound("nonsense", 1, 2).Likelihood(StudentT(4)),
	} {
		if f, err := p.Fit(ctx); f != nil || !errors.As(err, &argument) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	f := shown(t, counts.Likelihood(Poisson()))
	if _, err := f.Predict(ctx, datasets.Rows{{1, 2}}); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	if _, _, err := f.Interval(ctx, datasets.Rows{{1}}, 1); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	for _, p := range []LatentProcess{counts.Likelihood(Poisson()), sinc.Optimise().Likelihood(StudentT(4)), sinc.Likelihood(Heteroscedastic(kernels.SquaredExponential(1)))} {
		if f, err := p.Fit(ended); f != nil || !errors.Is(err, why) {
			t.Errorf("%v: %v, %v", p, f, err)
		}
	}
	if _, err := f.Latent(ended, datasets.Rows{{1}}); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	learned := shown(t, sinc.Optimise().Bound("noise.length", 1, 2).LogNormalPrior("noise", 0.01, 1).Likelihood(Heteroscedastic(kernels.SquaredExponential(1.5))))
	if v := learned.Optimisation.End().Values[1]; v < 1 || v > 2 {
		t.Errorf("%+v", learned.Optimisation.End())
	}
	if want := "gp.Regress(sinc).Kernel(SquaredExponential(1)).Optimise().Likelihood(gp.StudentT(4))"; sinc.Optimise().Likelihood(StudentT(4)).String() != want {
		t.Error(sinc.Optimise().Likelihood(StudentT(4)))
	}
}

// TestApproximateFigures: the figures say what they show.
func TestApproximateFigures(t *testing.T) {
	sinc := datasets.Sinc(30, 0.1, 1)
	counts := datasets.New([][]float64{{1}, {2}, {3}, {4}}, []float64{0, 2, 7, 3})
	base := Regress(sinc).Kernel(kernels.SquaredExponential(1)).NoiseVariance(0.01)
	p, y := outputs(8, 2)
	y[3][1] = math.NaN()
	for says, draw := range map[string]func() (*display.Chart, error){
		"observations lie in the interval of 95 %": func() (*display.Chart, error) {
			return Posterior.Of(shown(t, base.Likelihood(StudentT(4))))
		},
		"4 of 4 observations lie in the interval": func() (*display.Chart, error) {
			return PosteriorOver(0, 5).Of(shown(t, Regress(counts).Likelihood(Poisson())))
		},
		"6 inducing points leave ":            func() (*display.Chart, error) { return EvidenceBounds.Of(thinned(t, base.Inducing(6))) },
		"2 outputs, 15 values observed: the ": func() (*display.Chart, error) { return Posterior.Of(several2(t, p.Outputs(y).Coregionalise())) },
	} {
		chart, err := draw()
		if err != nil {
			t.Fatal(says, err)
		}
		if !strings.Contains(chart.Title.Title, says) {
			t.Errorf("%q, want %q", chart.Title.Title, says)
		}
	}
	if _, err := PosteriorSamples(2, 1).Of(shown(t, base.Likelihood(StudentT(4)))); err == nil {
		t.Error("samples of an approximation")
	}
}
