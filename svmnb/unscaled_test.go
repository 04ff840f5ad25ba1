package svmnb

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
)

// optimal fails unless the run has converged to W within the relative tolerance.
func optimal(t *testing.T, name string, r *solvers.Result, err error, w float64) {
	t.Helper()
	switch {
	case err != nil:
		t.Errorf("%s: %v", name, err)
	case r.Status != solvers.Converged || r.Certificate.RelGap > 1e-4:
		t.Errorf("%s, %s: %v, relative gap %g", name, r.Method, r.Status, r.Certificate.RelGap)
	case math.Abs(r.Certificate.Dual-w) > 1e-4*math.Abs(w):
		t.Errorf("%s, %s: W = %.10g, want %.10g", name, r.Method, r.Certificate.Dual, w)
	}
}

// The library's own sets as they come, with a linear kernel. W is that of SMO on scaled
// features, or of ridge regression solved as a linear system.
func TestOwnSetsUnscaled(t *testing.T) {
	for _, c := range []struct {
		data   *datasets.Dataset
		lambda float64
	}{{datasets.CO2(), 1}, {datasets.Diabetes(), 1}, {datasets.Friedman2(500, 1, 1), 1}} {
		fit, err := Regress(c.data).Kernel(kernels.Linear()).Ridge(c.lambda).Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		optimal(t, c.data.Name, &fit.Result, err, ridgeObjective(c.data, c.lambda))
	}
}

// ridgeObjective is min ½‖w‖² + Σ (y − w·x − b)²/2λ by the normal equations of features
// less their means, by Gauss and Jordan.
func ridgeObjective(d *datasets.Dataset, lambda float64) float64 {
	n, m := float64(d.N()), d.D()
	mean, target := make([]float64, m), 0.0
	for i, row := range d.X {
		for j, v := range row {
			mean[j] += v / n
		}
		target += d.Y[i] / n
	}
	a, w := make([][]float64, m), make([]float64, m)
	for j := range a {
		a[j] = make([]float64, m)
		a[j][j] = lambda
	}
	for i, row := range d.X {
		for j := range row {
			for k := range row {
				a[j][k] += (row[j] - mean[j]) * (row[k] - mean[k])
			}
			w[j] += (row[j] - mean[j]) * (d.Y[i] - target)
		}
	}
	for k := range a {
		for j := range a {
			if j == k {
				continue
			}
			by := a[j][k] / a[k][k]
			for c := k; c < m; c++ {
				a[j][c] -= by * a[k][c]
			}
			w[j] -= by * w[k]
		}
	}
	p := 0.0
	for k := range w {
		w[k] /= a[k][k]
		p += w[k] * w[k] / 2
	}
	for i, row := range d.X {
		r := d.Y[i] - target
		for j := range row {
			r -= w[j] * (row[j] - mean[j])
		}
		p += r * r / (2 * lambda)
	}
	return p
}

// two classes of features with an offset and a scale.
func twoClasses(n, d int, offset, scale float64) *datasets.Dataset {
	r := rand.New(rand.NewPCG(3, 1))
	x, y := make([][]float64, n), make([]float64, n)
	for i := range x {
		y[i] = float64(2*(i%2) - 1)
		for range d {
			x[i] = append(x[i], scale*(r.NormFloat64()+0.7*y[i]+offset))
		}
	}
	return datasets.New(x, y)
}

// A linear machine with a free bias does not depend on the offset of its features, and
// with C in their units not on their scale, whatever solves it.
func TestUnitsOfALinearMachine(t *testing.T) {
	for _, n := range []int{200, 599, 601, 1500} {
		want := map[string]float64{}
		for _, offset := range []float64{0, 500, 1e4, 1e6} {
			for _, scale := range []float64{1, 1e-6, 1e6} {
				base := Classify(twoClasses(n, 3, offset, scale)).Kernel(kernels.Linear()).C(1 / (scale * scale))
				for name, c := range map[string]Classifier{
					"default": base, "SMO": base.SMO(), "Newton": base.Newton(), "decomposition": base.Using(blocks.Decomposition{}),
					"2-norm": base.TwoNorm(), "2-norm, Newton": base.TwoNorm().Newton(),
				} {
					fit, err := c.Fit(context.Background())
					if fit == nil {
						t.Errorf("n = %d, offset %g, scale %g, %s: %v", n, offset, scale, name, err)
						continue
					}
					if offset == 0 && scale == 1 {
						want[name] = fit.Certificate.Dual
					}
					w := want[name]
					optimal(t, fmt.Sprintf("n = %d, offset %g, scale %g, %s", n, offset, scale, name), &fit.Result, err, w/(scale*scale))
				}
			}
		}
	}
}

// Two features of different units.
func TestTwoFeaturesOfDifferentUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y := make([][]float64, 700), make([]float64, 700)
	for i := range x {
		a, b := r.NormFloat64(), r.NormFloat64()
		x[i], y[i] = []float64{2000 + 8*a, 1500 + 300*b}, 1
		if a+b+0.5*r.NormFloat64() < 0 {
			y[i] = -1
		}
	}
	base := Classify(datasets.New(x, y)).Kernel(kernels.Linear())
	newton, err := base.Newton().Stop(solvers.Gap{Rel: 1e-9}).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	fit, err := base.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	optimal(t, "two features", &fit.Result, err, newton.Certificate.Dual)
	if fit.Iterations > 1000 {
		t.Errorf("%d iterations of %s", fit.Iterations, fit.Method)
	}
}

// The default takes a method that can do what was asked for.
func TestDefaultTakesAFixedBias(t *testing.T) {
	few, many := twoClasses(50, 2, 0, 1), twoClasses(610, 2, 0, 1)
	for _, data := range []*datasets.Dataset{few, many} {
		for _, kernel := range []kernels.Kernel{kernels.Linear(), kernels.RBF(0.5), kernels.Polynomial(2, 1, 1)} {
			if data == many && kernel != kernels.Kernel(kernels.Linear()) {
				break
			}
			c, r := Classify(data).Kernel(kernel), Regress(data).Kernel(kernel)
			for _, c := range []Classifier{c.FixedBias(0), c.Augment(1), c.Augment(kernels.Radius), c.TwoNorm().FixedBias(0.5)} {
				fit, err := c.Fit(context.Background())
				if err != nil || fit.Status != solvers.Converged || fit.Certificate.MaxKKT > 1e-3 {
					t.Errorf("%v: %v, %+v", c, err, fit)
				} else if c.tau2 == 0 && fit.Bias != c.b0 {
					t.Errorf("%v: the bias is %g", c, fit.Bias)
				}
			}
			for _, r := range []Regressor{r.FixedBias(0), r.Augment(1), r.Ridge(1).FixedBias(0), r.Ridge(0.1).Augment(1), r.QuadraticLoss().FixedBias(1)} {
				fit, err := r.Fit(context.Background())
				if err != nil || fit.Status != solvers.Converged || fit.Certificate.MaxKKT > 1e-3 {
					t.Errorf("%v: %v, %+v", r, err, fit)
				}
			}
		}
	}
}

// Polynomials of features as they come: the optimum, or a status that says that it is none.
func TestPolynomialsUnscaled(t *testing.T) {
	for _, degree := range []int{2, 3} {
		for _, offset := range []float64{10, 100} {
			data := twoClasses(620, 3, offset, 1)
			c := Classify(data).Kernel(kernels.Polynomial(degree, 1, 1))
			fit, err := c.Fit(context.Background())
			name := fmt.Sprintf("degree %d, offset %g", degree, offset)
			if err != nil {
				if !strings.Contains(err.Error(), "scale") {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			r := fit.Certificate
			if !(r.Dual >= 0) || fit.Status == solvers.Converged && !(r.RelGap < 0.01) {
				t.Errorf("%s: %v, %+v", name, fit.Status, r)
			}
			if degree == 2 && fit.Status != solvers.Converged || degree == 3 && offset <= 10 && fit.Status != solvers.Converged {
				t.Errorf("%s: %v", name, fit.Status)
			}
		}
	}
}

// No fit is called converged at a relative gap of 1, however large C.
func TestHugeCost(t *testing.T) {
	for _, n := range []int{60, 600} {
		for _, c := range []float64{1e6, 1e20, 1e100} {
			fit, err := Classify(twoClasses(n, 2, 0, 1)).C(c).MaxIterations(150_000).Fit(context.Background())
			if err == nil && fit.Status == solvers.Converged && fit.Certificate.RelGap > 0.5 {
				t.Errorf("n = %d, C = %g: %v at a relative gap of %g", n, c, fit.Status, fit.Certificate.RelGap)
			}
		}
	}
}
