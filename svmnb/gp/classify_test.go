package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

// twelve are the points for which scikit-learn 1.9.1 computed the numbers of
// TestLaplaceAgainstScikitLearn.
func twelve() *datasets.Dataset {
	var x [][]float64
	var y []float64
	for i := range 12 {
		v := float64(i)
		p := []float64{2 * math.Sin(3*v+1), 1.5 * math.Cos(5*v)}
		x = append(x, p)
		if p[0]+0.7*p[1]*p[1]+0.5*math.Sin(7*v) > 0.4 {
			y = append(y, 1)
		} else {
			y = append(y, -1)
		}
	}
	return datasets.New(x, y)
}

func classified(t *testing.T, c Classifier) *ClassifierFit {
	t.Helper()
	f, err := c.Fit(ctx)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	if f.Status != solvers.Converged {
		t.Errorf("%v: %v after %d iterations, gap %g, mismatch %g", c, f.Status, f.Iterations, f.Gap, f.Mismatch)
	}
	return f
}

// TestLaplaceAgainstScikitLearn: evidence, gradient and probabilities of
// GaussianProcessClassifier of scikit-learn 1.9.1, whose probabilities are averages by five
// error functions, and its learned evidence.
func TestLaplaceAgainstScikitLearn(t *testing.T) {
	base := Classify(twelve()).Kernel(kernels.Scale(2.25, kernels.SquaredExponential(0.8)))
	f := classified(t, base)
	testkit.Near(t, "evidence", f.LogMarginalLikelihood(), -8.231775924905318, 1e-9)
	partials, err := f.Gradient(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-0.06505871915502548, 0.46443891424065575} {
		testkit.Near(t, partials[i].Name, partials[i].Gradient.Value, want, 1e-7)
	}
	p, err := f.Probability(ctx, datasets.Rows{{0, 0}, {1, -1}, {-2, 0.5}, {5, 5}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.42545971896066703, 0.6627686425702564, 0.39829771992128826, 0.4999999964044603} {
		testkit.Near(t, fmt.Sprintf("probability %d", i), p[i][1], want, 1e-3)
		testkit.Near(t, "sum", p[i][0]+p[i][1], 1, 1e-15)
	}
	learned := classified(t, base.Optimise())
	testkit.Near(t, "learned evidence", learned.LogMarginalLikelihood(), -8.052834842577827, 1e-6)
	if o := learned.Optimisation; o.Ascents[o.Best].Status != solvers.Converged || o.End().Slope > flat {
		t.Errorf("%+v", o.End())
	}
}

// exactly integrates over f of two points: the evidence and the probability of the positive
// class at a third point, by a grid in the coordinates in which the prior is a product.
func exactly(k func(i, j int) float64, y []float64, sigma func(f float64) float64) (logZ, p float64) {
	l11 := math.Sqrt(k(0, 0))
	l21 := k(1, 0) / l11
	l22 := math.Sqrt(k(1, 1) - l21*l21)
	l31 := k(2, 0) / l11
	l32 := (k(2, 1) - l31*l21) / l22
	l33 := math.Sqrt(max(0, k(2, 2)-l31*l31-l32*l32))
	const h = 0.1
	z, pz := 0.0, 0.0
	for a := -8.0; a <= 8; a += h {
		for b := -8.0; b <= 8; b += h {
			w := math.Exp(-(a*a+b*b)/2) / (2 * math.Pi) * h * h
			w *= sigma(y[0]*l11*a) * sigma(y[1]*(l21*a+l22*b))
			z += w
			mean := 0.0
			for c := -8.0; c <= 8; c += h {
				mean += sigma(l31*a+l32*b+l33*c) * math.Exp(-c*c/2) / math.Sqrt(2*math.Pi) * h
			}
			pz += w * mean
		}
	}
	return math.Log(z), pz / z
}

// TestClassifyAgainstIntegration: of two points, EP is nearly exact, and Laplace's approximation
// near.
func TestClassifyAgainstIntegration(t *testing.T) {
	for _, scale := range []float64{0.3, 2, 9} {
		for _, y := range [][]float64{{1, -1}, {-1, 1}} {
			kernel := kernels.Scale(scale, kernels.SquaredExponential(1))
			x := [][]float64{{0}, {0.9}, {0.3}}
			k := func(i, j int) float64 { return kernel.Eval(x[i], x[j]) }
			base := Classify(datasets.New(x[:2], y)).Kernel(kernel)
			for _, c := range []struct {
				c      Classifier
				sigma  func(float64) float64
				within float64
			}{{base.EP(), normal, 1e-2}, {base, logistic, 6e-2}} {
				f := classified(t, c.c)
				logZ, want := exactly(k, y, c.sigma)
				testkit.Near(t, c.c.String()+": evidence", f.LogMarginalLikelihood(), logZ, 4*c.within)
				p, err := f.Probability(ctx, datasets.Rows(x[2:]))
				if err != nil {
					t.Fatal(err)
				}
				testkit.Near(t, c.c.String()+": probability", p[0][1], want, c.within)
			}
		}
	}
}

// randomClasses draws a problem of the given number of classes.
func randomClasses(t *rapid.T, classes int) Classifier {
	n := rapid.IntRange(classes+1, 25).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	var x [][]float64
	var y []float64
	for i := range n {
		x = append(x, []float64{rng.NormFloat64(), rng.NormFloat64()})
		y = append(y, float64(rng.IntN(classes)))
		if i < classes {
			y[i] = float64(i)
		}
	}
	scale := math.Exp(rapid.Float64Range(-3, 5).Draw(t, "ln scale"))
	length := math.Exp(rapid.Float64Range(-2, 2).Draw(t, "ln length"))
	return Classify(datasets.New(x, y)).Kernel(kernels.ScaleKernel{C: scale, K: kernels.Matern52(length)}) // Scale would leave a factor of 1 out
}

// TestClassifyGradient: the derivatives are those of the evidence by finite differences, for
// every approximation, and the run converges on every problem.
func TestClassifyGradient(t *testing.T) {
	for name, problem := range map[string]func(t *rapid.T) Classifier{
		"Laplace": func(t *rapid.T) Classifier { return randomClasses(t, 2) },
		"EP":      func(t *rapid.T) Classifier { return randomClasses(t, 2).EP() },
		"softmax": func(t *rapid.T) Classifier { return randomClasses(t, rapid.IntRange(3, 5).Draw(t, "classes")) },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := problem(t)
				f, err := c.Fit(ctx)
				if err != nil || f.Status != solvers.Converged {
					t.Fatalf("%v, %+v", err, f)
				}
				partials, err := f.Gradient(ctx)
				if err != nil {
					t.Fatal(err)
				}
				for i := range partials {
					const h = 1e-4
					var side [2]float64
					for s := range side {
						values := []float64{partials[0].Value, partials[1].Value}
						values[i] *= math.Exp(h * float64(2*s-1))
						k, err := kernels.WithHyperparameters(c.kernel, values)
						if err != nil {
							t.Fatal(err)
						}
						g, err := c.Kernel(k).Fit(ctx)
						if err != nil {
							t.Fatal(err)
						}
						side[s] = g.LogMarginalLikelihood()
					}
					got, want := partials[i].Gradient.Value, (side[1]-side[0])/(2*h)
					if !(math.Abs(got-want) <= 1e-5*(1+math.Abs(want))) {
						t.Fatalf("∂/∂ ln %s is %v, by differences %v", partials[i].Name, got, want)
					}
				}
			})
		})
	}
}

// oneByOne is EP as in the textbook: one site after the other, and the posterior computed anew
// by inversion after each (Rasmussen and Williams 2006, Algorithm 3.5). It returns the means
// and variances of f.
func oneByOne(k *matrix, y []float64) (mean, variance []float64) {
	n := len(y)
	tau, nu := make([]float64, n), make([]float64, n)
	posterior := func() {
		// Σ = (K⁻¹ + T)⁻¹ by solving (I + KT)Σ = K, with Gauss's elimination
		a := several(n, 2*n)
		for i := range n {
			for j := range n {
				a[i][j] = k.rows[i][j] * tau[j]
				a[i][n+j] = k.rows[i][j]
			}
			a[i][i]++
		}
		for c := range n {
			p := c
			for r := c; r < n; r++ {
				if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
					p = r
				}
			}
			a[c], a[p] = a[p], a[c]
			for r := range n {
				if r != c {
					m := a[r][c] / a[c][c]
					for j := c; j < 2*n; j++ {
						a[r][j] -= m * a[c][j]
					}
				}
			}
		}
		mean, variance = make([]float64, n), make([]float64, n)
		for i := range n {
			variance[i] = a[i][n+i] / a[i][i]
			for j := range n {
				mean[i] += a[i][n+j] / a[i][i] * nu[j]
			}
		}
	}
	posterior()
	for range 60 {
		for i := range n {
			t, v := 1/variance[i]-tau[i], mean[i]/variance[i]-nu[i]
			m, s2 := v/t, 1/t
			z := y[i] * m / math.Sqrt(1+s2)
			r := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / normal(z)
			hat := m + y[i]*s2*r/math.Sqrt(1+s2)
			hat2 := s2 - s2*s2*r/(1+s2)*(z+r)
			tau[i], nu[i] = 1/hat2-t, hat/hat2-v
			posterior()
		}
	}
	return mean, variance
}

// TestEPAgainstTextbook: the fixed point is that of the algorithm with one site at a time.
func TestEPAgainstTextbook(t *testing.T) {
	for _, scale := range []float64{0.5, 5, 50} {
		data := twelve()
		c := Classify(data).Kernel(kernels.Scale(scale, kernels.SquaredExponential(1))).EP()
		f := classified(t, c)
		k, err := gramOf(ctx, f.task.kernel, f.task.data.X)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := oneByOne(k, data.Y)
		b, err := f.Latent(ctx, data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range mean {
			testkit.Near(t, "mean", b.Mean[i], mean[i], 1e-6)
			testkit.Near(t, "variance", b.Variance[i], variance[i], 1e-6)
		}
	}
}

// TestSoftmaxDirectly: the determinant and the posterior of the classes' latent functions are
// those of the matrices written out.
func TestSoftmaxDirectly(t *testing.T) {
	data := twelve()
	for i := range data.Y {
		data.Y[i] = float64(i % 3)
	}
	f := classified(t, Classify(data).Kernel(kernels.Scale(3, kernels.SquaredExponential(1))))
	q := f.approximation.(*softmaxPosterior)
	n, classes := 12, 3
	pi := several(classes, n)
	softmax(pi, q.f)
	// I + K W, eliminated with its determinant, and Σ = (I + K W)⁻¹ K
	m := classes * n
	a := several(m, 2*m)
	for c := range classes {
		for i := range n {
			for d := range classes {
				for j := range n {
					w := -pi[c][j] * pi[d][j]
					if c == d {
						w += pi[c][j]
						a[c*n+i][m+d*n+j] = q.k.rows[i][j]
					}
					// row (c, i), column (d, j): Σ over the class e of K_(c,i),(e,j) W_(e,j),(d,j)
					a[c*n+i][d*n+j] += q.k.rows[i][j] * w
				}
			}
			a[c*n+i][c*n+i]++
		}
	}
	logDet := 0.0
	for c := range m {
		p := c
		for r := c; r < m; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		a[c], a[p] = a[p], a[c]
		logDet += math.Log(math.Abs(a[c][c]))
		for r := range m {
			if r != c {
				v := a[r][c] / a[c][c]
				for j := c; j < 2*m; j++ {
					a[r][j] -= v * a[c][j]
				}
			}
		}
	}
	testkit.Near(t, "ln|I + KW|", q.logDet, logDet, 1e-9)
	for i, x := range data.X {
		_, cov := q.latent(f.task.kernel.Eval(x, x), q.k.rows[i])
		for c := range cov {
			for d := range cov {
				testkit.Near(t, "covariance", cov[c][d], a[c*n+i][m+d*n+i]/a[c*n+i][c*n+i], 1e-9)
			}
		}
	}
}

// TestSoftmaxOfTwo: two classes by softmax are two classes by the logistic function with twice
// the covariance, but for the evidence of nothing.
func TestSoftmaxOfTwo(t *testing.T) {
	data := twelve()
	base := Classify(data).Kernel(kernels.Scale(2, kernels.SquaredExponential(1)))
	one := classified(t, Classify(data).Kernel(kernels.Scale(4, kernels.SquaredExponential(1))))
	task, err := base.prepare()
	if err != nil {
		t.Fatal(err)
	}
	k, err := gramOf(ctx, task.kernel, task.data.X)
	if err != nil {
		t.Fatal(err)
	}
	q, err := softmaxLaplace(ctx, k, task.class, 2)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Near(t, "evidence", q.evidence(), one.LogMarginalLikelihood(), 1e-9)
	b, err := one.Latent(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := one.Probability(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data.X {
		mean, cov := q.latent(2, k.rows[i])
		testkit.Near(t, "mean", mean[1]-mean[0], b.Mean[i], 1e-7)
		testkit.Near(t, "variance", cov[0][0]+cov[1][1]-2*cov[0][1], b.Variance[i], 1e-7)
		testkit.Near(t, "probability", q.probability(mean, cov)[1], p[i][1], 0.02)
	}
}

func TestMeanLogistic(t *testing.T) {
	for _, mean := range []float64{-30, -2, 0, 0.5, 7} {
		for _, variance := range []float64{0, 1e-6, 0.3, 4, 100, 1e6, 1e12} {
			// Simpson's rule over the derivative of the logistic function: E σ(f) = ∫ σ'(t) Φ((mean − t)/s) dt
			want, h := 0.0, 0.01
			for t := -40.0; t <= 40; t += h {
				want += logistic(t) * logistic(-t) * normal((mean-t)/math.Sqrt(variance+1e-300)) * h
			}
			tol := 1e-9
			if variance < 1e-3 { // the sum has a step
				tol = 3e-3
			}
			testkit.Near(t, fmt.Sprintf("%v, %v", mean, variance), meanLogistic(mean, variance), want, tol)
		}
	}
}

func TestLogNormal(t *testing.T) {
	for _, z := range []float64{8, 1, 0, -3, -19.99, -20.01} {
		value, slope := logNormal(z)
		const h = 1e-4
		up, _ := logNormal(z + h)
		down, _ := logNormal(z - h)
		testkit.Near(t, "slope", slope, (up-down)/(2*h), 1e-5)
		// the next value of ln Φ by its asymptotic series and by erfc
		if z < -3 {
			testkit.Near(t, "value", value, math.Log(math.Erfc(-z/math.Sqrt2)/2), 1e-9*math.Abs(value))
		}
	}
}

// TestClassifyTells: classes that are far apart, by each way, from names.
func TestClassifyTells(t *testing.T) {
	data := datasets.Iris()
	f := classified(t, Classify(data).Kernel(kernels.Scale(10, kernels.SquaredExponential(1.5))))
	e, err := f.Evaluate(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	if e.Accuracy < 0.95 || e.NLPD > 0.25 || e.NLPD <= 0 || !slices.Equal(f.Classes, data.Classes) {
		t.Errorf("%+v of %v", e, f.Classes)
	}
	classes, err := f.Predict(ctx, data)
	if err != nil || classes[0] != data.ClassName(data.Y[0]) {
		t.Errorf("%v, %v", classes, err)
	}
	moons := datasets.Moons(120, 0.15, 3)
	laplace, ep := classified(t, Classify(moons).Optimise()), classified(t, Classify(moons).EP().Optimise())
	for _, f := range []*ClassifierFit{laplace, ep} {
		if e, err := f.Evaluate(ctx, datasets.Moons(200, 0.15, 4)); err != nil || e.Accuracy < 0.97 {
			t.Errorf("%+v, %v", e, err)
		}
		if md := f.Markdown(); !strings.Contains(md, "log marginal likelihood") || !strings.Contains(md, "hyperparameters") {
			t.Errorf("%s", md)
		}
	}
	if laplace.Gap > 1e-6 || !math.IsNaN(ep.Gap) || ep.Mismatch > matched || ep.Mismatch == 0 {
		t.Errorf("gaps %v, %v, mismatch %v", laplace.Gap, ep.Gap, ep.Mismatch)
	}
}

func TestClassifyRefuses(t *testing.T) {
	data := twelve()
	base := Classify(data).Kernel(kernels.RBF(1))
	three := datasets.Iris()
	var argument *arguments.Error
	var class *datasets.ClassError
	var data1 *datasets.Error
	one := datasets.New([][]float64{{1}, {2}}, []float64{1, 1})
	many := datasets.New(make([][]float64, 0), nil)
	for i := range 100 {
		many.X, many.Y = append(many.X, []float64{1}), append(many.Y, float64(i)/7)
	}
	for _, c := range []struct {
		name string
		c    Classifier
		as   any
		says string
	}{
		{"no data", Classify(nil), &argument, "nil"},
		{"zero value", Classifier{}, &argument, "nil"},
		{"no kernel", base.Kernel(nil), &argument, "kernel is nil"},
		{"bad kernel", base.Kernel(kernels.RBF(-1)), new(*kernels.ParamError), "gamma"},
		{"one class", Classify(one), &class, "two classes"},
		{"three classes for EP", Classify(three).EP(), &class, "Pair"},
		{"real targets", Classify(many), &argument, "gp.Regress"},
		{"few real targets", Classify(datasets.Sinc(30, 0.1, 1)), &argument, "30 different targets"},
		{"restarts", base.Restarts(-1, 1), &argument, "Restarts"},
		{"memory", base.Memory(0), &argument, "Memory"},
		{"too little memory", base.Memory(1000), &argument, "data.Select"},
		{"a hole", Classify(datasets.New([][]float64{{1}, {math.NaN()}}, []float64{1, 2})), &data1, "row 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := c.c.Fit(ctx)
			if f != nil || err == nil || !errors.As(err, c.as) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v, %v", f, err)
			}
		})
	}
	f := classified(t, base)
	if _, err := f.Probability(ctx, datasets.Rows{{1, 2}, {3}}); !errors.As(err, &argument) || argument.Row != 1 {
		t.Errorf("%v", err)
	}
	if _, err := classified(t, Classify(three)).Latent(ctx, three); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	if _, err := f.Evaluate(ctx, three); !errors.As(err, &argument) {
		t.Errorf("%v", err)
	}
	var none *ClassifierFit
	if _, err := none.Probability(ctx, three); err == nil || !math.IsNaN(none.LogMarginalLikelihood()) {
		t.Error("a fit that is nil")
	}
	ended, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	for _, c := range []Classifier{base, base.EP(), base.Optimise(), Classify(three)} {
		if f, err := c.Fit(ended); f != nil || !errors.Is(err, why) {
			t.Errorf("%v: %v, %v", c, f, err)
		}
	}
	if _, err := f.Gradient(ended); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if _, err := f.Probability(ended, data); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func TestProbabilityFigure(t *testing.T) {
	moons := datasets.Moons(60, 0.15, 3)
	iris := datasets.Iris()
	for _, c := range []struct {
		of    Classifier
		says  string // in the chart, or in the error
		fails bool
	}{
		{Classify(moons), "Probabilities of 2 classes: ", false},
		{Classify(moons).EP(), "EP · ln p(y) ≈ −", false},
		{Classify(iris.Columns(2, 3)), "Probabilities of 3 classes: ", false},
		{Classify(iris), "4 features", true},
		{Classify(datasets.New([][]float64{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {9, 1}}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})), "9 classes", true},
	} {
		chart, err := Probability.Of(classified(t, c.of))
		if c.fails != (err != nil) {
			t.Fatal(err)
		}
		text := ""
		if c.fails {
			text = err.Error()
		} else {
			text = chart.Title.Title + " · " + chart.Title.Subtitle
		}
		if !strings.Contains(text, c.says) {
			t.Errorf("%v: %q, want %q", c.of, text, c.says)
		}
	}
}

// TestClassifySaysItself: the description is written as it was said.
func TestClassifySaysItself(t *testing.T) {
	data := datasets.Moons(20, 0.1, 1)
	for want, c := range map[string]Classifier{
		"gp.Classify(moons).Kernel(RBF(2)).EP().Optimise()": Classify(data).Kernel(kernels.RBF(2)).EP().Optimise(),
		"gp.Classify(moons).Memory(1000000).Restarts(3, 4)": Classify(data).EP().Laplace().Memory(1_000_000).Restarts(3, 4),
	} {
		if c.String() != want {
			t.Errorf("%s, want %s", c, want)
		}
	}
}
