package gp

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
)

// The posterior of derivatives is that of differences of f, whose covariances the fit knows, by each
// mean and method; and that of a process with derivatives that was given none.
func TestDerivatives(t *testing.T) {
	d := spatial(40, 2)
	base := Regress(d).Kernel(kernels.Sum(kernels.Scale(2, kernels.Matern52(0.5)), kernels.ARD(1, 2))).NoiseVariance(0.02)
	at := datasets.Rows{{0.4, 0.2}, {1.5, 1}, d.X[3]}
	const h = 1e-3
	for _, p := range []Process{base, base.LinearMean(), base.NormaliseTargets(), base.Using(linear.LU{}), base.CG().Stop(linear.Residual{Rel: 1e-12})} {
		f := testkit.FitOf(t, p)
		got, err := f.Derivatives(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range at {
			for i := range 2 {
				sides := datasets.Rows{{x[0], x[1]}, {x[0], x[1]}}
				sides[0][i] += h
				sides[1][i] -= h
				b, c := must(f.Posterior(ctx, sides)), must(f.Covariance(ctx, sides))
				testkit.Near(t, "mean", got.Mean[k][i], (b.Mean[0]-b.Mean[1])/(2*h), 1e-4)
				testkit.Near(t, "variance", got.Variance[k][i], (c[0][0]+c[1][1]-2*c[0][1])/(4*h*h), 1e-3)
				tol := 1e-4
				if !direct(p.method) {
					tol = 1e-2
				}
				testkit.Near(t, "slope of the variance", got.OfVariance[k][i], (c[0][0]-c[1][1])/(2*h), tol)
			}
		}
	}

	base = base.ZeroMean()
	f := testkit.FitOf(t, base)
	whole, err := WithDerivatives(d, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	joint := testkit.FitOf(t, base.On(whole).Kernel(kernels.WithDerivatives(base.kernel)))
	got := must(f.Derivatives(ctx, at))
	for k, x := range at {
		b := must(joint.Posterior(ctx, datasets.Rows{{x[0], x[1], 1}, {x[0], x[1], 2}}))
		for i := range 2 {
			testkit.Near(t, "mean", b.Mean[i], got.Mean[k][i], 1e-9)
			testkit.Near(t, "variance", b.Variance[i], got.Variance[k][i], 1e-9)
		}
	}
}

// Observed derivatives give the posterior of the dense joint process, whose covariances come from
// differences of the kernel, and a gradient of the evidence that is that by differences.
func TestObservedDerivatives(t *testing.T) {
	f := func(x float64) (v, slope float64) { return math.Sin(3 * x), 3 * math.Cos(3*x) }
	data := datasets.New([][]float64{{0}, {1}, {2}}, make([]float64, 3))
	at := [][]float64{{0.3}, {1.4}}
	var slopes [][]float64
	for i, x := range data.X {
		data.Y[i], _ = f(x[0])
	}
	for _, x := range at {
		_, s := f(x[0])
		slopes = append(slopes, []float64{s})
	}
	all, err := WithDerivatives(data, at, slopes)
	if err != nil {
		t.Fatal(err)
	}
	k := kernels.ScaleKernel{C: 1.5, K: kernels.SquaredExponential(0.6)}
	const noise = 1e-3
	fit := testkit.FitOf(t, Regress(all).ZeroMean().Kernel(kernels.WithDerivatives(k)).NoiseVariance(noise))
	const h = 1e-3
	// covariance of the value or derivative at x with that at z
	covariance := func(x, z []float64) float64 {
		sum := 0.0
		steps := func(a float64) [][2]float64 {
			if a == 0 {
				return [][2]float64{{0, 1}}
			}
			return [][2]float64{{h, 1 / (2 * h)}, {-h, -1 / (2 * h)}}
		}
		for _, p := range steps(x[1]) {
			for _, q := range steps(z[1]) {
				sum += p[1] * q[1] * k.Eval([]float64{x[0] + p[0]}, []float64{z[0] + q[0]})
			}
		}
		return sum
	}
	n := all.N()
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, covariance(all.X[i], all.X[j]))
		}
		a.SetSym(i, i, a.At(i, i)+noise)
	}
	var factor mat.Cholesky
	if !factor.Factorize(a) {
		t.Fatal("the joint covariance is not positive definite")
	}
	test := datasets.Rows{{0.5, 0}, {0.5, 1}, {1.7, 0}, {3, 1}}
	b := must(fit.Posterior(ctx, test))
	for p, x := range test {
		u, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			u.SetVec(i, covariance(x, all.X[i]))
		}
		if err := factor.SolveVecTo(solved, u); err != nil {
			t.Fatal(err)
		}
		testkit.Near(t, "mean", b.Mean[p], mat.Dot(solved, mat.NewVecDense(n, all.Y)), 1e-3)
		testkit.Near(t, "variance", b.Variance[p], covariance(x, x)-mat.Dot(solved, u), 1e-3)
	}
	for i, s := range must(fit.Gradient(ctx)) {
		var side [2]float64
		for j := range side {
			values := []float64{1.5, 0.6, noise}
			values[i] *= math.Exp(h * float64(2*j-1))
			side[j], _, err = fit.task.evaluate(ctx, nil, values)
			if err != nil {
				t.Fatal(err)
			}
		}
		testkit.Near(t, "slope of "+s.Name, s.Gradient.Value, (side[1]-side[0])/(2*h), 1e-4)
	}
}

func TestDerivativesRefuse(t *testing.T) {
	d := spatial(10, 1)
	rough := testkit.FitOf(t, Regress(d).Kernel(kernels.Exponential(1)).NoiseVariance(0.1))
	if _, err := rough.Derivatives(ctx, d); !testkit.IsArgument(err, "Derivatives") {
		t.Errorf("the derivative of a rough function: %v", err)
	}
	smooth := testkit.FitOf(t, Regress(d).Kernel(kernels.RBF(1)).NoiseVariance(0.1))
	if _, err := smooth.Derivatives(ctx, datasets.Rows{{1}}); !testkit.IsArgument(err, "Derivatives") {
		t.Errorf("a short point: %v", err)
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	if _, err := smooth.Derivatives(ended, d); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt: %v", err)
	}
	for _, c := range []struct{ x, slopes [][]float64 }{{[][]float64{{1, 2}}, nil}, {[][]float64{{1}}, [][]float64{{1}}}, {[][]float64{{1, 2}}, [][]float64{{1}}}} {
		if _, err := WithDerivatives(d, c.x, c.slopes); !testkit.IsArgument(err, "WithDerivatives") {
			t.Errorf("%v: %v", c, err)
		}
	}
	all, err := WithDerivatives(d, [][]float64{{1, 2}}, [][]float64{{math.NaN(), 3}})
	if err != nil || all.N() != 11 || all.X[10][2] != 2 {
		t.Errorf("a derivative that was not measured: %v (%v)", all.X, err)
	}
	if _, err := Regress(all).Kernel(kernels.WithDerivatives(kernels.RBF(1))).Fit(ctx); !testkit.IsArgument(err, "Kernel") {
		t.Errorf("a mean of values and derivatives: %v", err)
	}
}
