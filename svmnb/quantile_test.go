package svmnb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/solvers/blocks"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"github.com/svmnb/svmnb/svmnb/metrics"
	"github.com/svmnb/svmnb/svmnb/model"
)

// uneven is a line with noise that grows with x, so that quantiles are not parallel.
func uneven(n int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 9))
	var x [][]float64
	var y []float64
	for range n {
		t := 4 * rng.Float64()
		x, y = append(x, []float64{t}), append(y, 1+t+0.5*t*rng.NormFloat64())
	}
	d := datasets.New(x, y)
	d.Name = "uneven"
	return d
}

// At most τ n points lie below the τ-quantile and at most (1 − τ) n above.
func TestQuantileShares(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, tau := 5+rng.IntN(60), 0.02+0.96*rng.Float64()
		fit := testkit.FitOf(t, Regress(uneven(n, seed)).Kernel(kernels.RBF(rng.Float64())).C(math.Pow(10, 4*rng.Float64()-2)).Quantile(tau).Tol(1e-9))
		below, above := 0.0, 0.0
		for _, r := range fit.Residuals() {
			if r < -1e-6 {
				below++
			} else if r > 1e-6 {
				above++
			}
		}
		if below > tau*float64(n)+1e-9 || above > (1-tau)*float64(n)+1e-9 {
			t.Errorf("seed %d: τ = %.3g: %v of %d points below, %v above", seed, tau, below, n, above)
		}
		if b, on, a := fit.sided(); float64(b) > tau*float64(n)+1e-9 || float64(a) > (1-tau)*float64(n)+1e-9 || b+on+a != n {
			t.Errorf("seed %d: τ = %.3g: %d, %d, %d by the multipliers", seed, tau, b, on, a)
		}
	}
}

// The median is ε-SVR with ε = 0 and half the cost, and Huber's loss is ridge regression when δ
// is large and the median when it is small.
func TestLossesThatAreTheSame(t *testing.T) {
	base := Regress(uneven(60, 3)).Kernel(kernels.RBF(1)).C(2).Tol(1e-9)
	for _, c := range []struct {
		name    string
		a, b    Regressor
		scale   float64 // of the objective of b
		largest float64
	}{
		{"median", base.Quantile(0.5), base.Epsilon(0).C(1), 1, 1e-6},
		{"wide Huber", base.Huber(50), base.Ridge(25), 1, 1e-6},
		{"narrow Huber", base.Huber(1e-7), base.Epsilon(0), 1, 1e-4},
		{"primal–dual", base.Quantile(0.8).PrimalDual(), base.Quantile(0.8), 1, 1e-4},
		{"blocks", base.Quantile(0.8).Using(blocks.Decomposition{}), base.Quantile(0.8), 1, 1e-4},
		{"blocks, Huber", base.Huber(0.3).Using(blocks.Decomposition{}), base.Huber(0.3).PrimalDual(), 1, 1e-5},
		{"linear, Newton", base.Kernel(kernels.Linear()).Huber(0.3).Newton(), base.Kernel(kernels.Linear()).Huber(0.3), 1, 1e-5},
		{"linear, descent", base.Kernel(kernels.Linear()).Quantile(0.1).CoordinateDescent(), base.Kernel(kernels.Linear()).Quantile(0.1).Augment(1).Using(solvers.GradientAscent{}), 1, 1e-3},
	} {
		a, b := testkit.FitOf(t, c.a), testkit.FitOf(t, c.b)
		testkit.Near(t, c.name+": W", a.Certificate.Dual, b.Certificate.Dual, 1e-6)
		x := datasets.Rows{{0.3}, {2}, {3.9}}
		va, _ := a.Predict(x)
		vb, _ := b.Predict(x)
		for i := range va {
			if math.Abs(va[i]-vb[i]) > c.largest {
				t.Errorf("%s: f = %v and %v", c.name, va, vb)
				break
			}
		}
	}
}

// Audit, bounds, model file, cache and text of the two losses.
func TestQuantileAndHuberFits(t *testing.T) {
	t.Setenv("SVMNB_CACHE", t.TempDir())
	data := uneven(50, 4)
	for _, r := range []Regressor{Regress(data).Kernel(kernels.RBF(1)).C(2).Quantile(0.9), Regress(data).Kernel(kernels.RBF(1)).C(2).Huber(0.3), Regress(data).Quantile(0.9).C(2).FixedBias(1)} {
		fit, exact := testkit.FitOf(t, r), testkit.FitOf(t, r.Tol(1e-10))
		audit, err := fit.Audit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		testkit.Near(t, "audited W", audit.Dual, fit.Certificate.Dual, 1e-10)
		if math.Abs(audit.Gap-fit.Certificate.Gap) > 1e-9*fit.Certificate.Primal || audit.Box > 0 {
			t.Errorf("%v: audit %+v, certificate %+v", r, audit, fit.Certificate)
		}
		lower, upper, err := fit.Bounds(data)
		if err != nil {
			t.Fatal(err)
		}
		best, _ := exact.Predict(data)
		for i, v := range best {
			if v < lower[i]-1e-7 || v > upper[i]+1e-7 {
				t.Fatalf("%v: f* = %g at point %d is outside [%g, %g]", r, v, i, lower[i], upper[i])
			}
		}
		file := filepath.Join(t.TempDir(), "model")
		if err := model.Save(file, fit); err != nil {
			t.Fatal(err)
		}
		read, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := read.Values(data)
		if want, _ := fit.Predict(data); !slices.Equal(got, want) {
			t.Errorf("%v: the model predicts %v, the fit %v", r, got[:3], want[:3])
		}
		kept := r.Keep()
		if again := r.Keep(); !slices.Equal(kept.Alpha, again.Alpha) || again.Elapsed != kept.Elapsed {
			t.Errorf("%v: Keep did not load", r)
		}
		if _, err := Tube.Of(fit); err != nil {
			t.Error(err)
		}
		for _, c := range exact.Conditions() {
			if c.Violation > 1e-6 || c.Requires == "" {
				t.Errorf("%v: %+v", r, c)
			}
		}
	}
	a, b := Regress(data).Quantile(0.9).Keep(), Regress(data).Quantile(0.8).Keep()
	if slices.Equal(a.Alpha, b.Alpha) {
		t.Error("Keep does not tell quantiles apart")
	}
	if text := a.Markdown(); !strings.Contains(text, "pinball, τ = 0.9") || !strings.Contains(text, "points below f") || strings.Contains(text, "RMSE") {
		t.Error(text)
	}
	if got, want := Regress(data).Quantile(0.9).C(2).String(), "Regress(uneven).Quantile(0.9).C(2)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := Regress(data).Huber(0.3).String(), "Regress(uneven).Huber(0.3).C(1)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestQuantileErrors(t *testing.T) {
	base := Regress(uneven(20, 1))
	for _, c := range []struct {
		of   Regressor
		call string
	}{
		{base.Quantile(0), "Quantile"}, {base.Quantile(1), "Quantile"}, {base.Quantile(-0.1), "Quantile"}, {base.Quantile(90), "Quantile"}, {base.Quantile(math.NaN()), "Quantile"},
		{base.Huber(0), "Huber"}, {base.Huber(-1), "Huber"}, {base.Huber(math.Inf(1)), "Huber"}, {base.Huber(math.NaN()), "Huber"},
	} {
		fit, err := c.of.Fit(context.Background())
		var bad *ArgumentError
		if fit != nil || !errors.As(err, &bad) || bad.Call != c.call {
			t.Errorf("%v: %v", c.of, err)
		}
	}
	if err := base.Quantile(7).Ridge(1).faults.Err(); err != nil {
		t.Errorf("the error of a loss that was replaced: %v", err)
	}
}

// scikit-learn minimises the pinball loss of a linear function by a linear programme. A large C
// leaves no penalty.
func TestQuantileAgainstScikitLearn(t *testing.T) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "from sklearn.linear_model import QuantileRegressor").Run() != nil {
		t.Skip("no scikit-learn for /usr/bin/python3 (Debian: python3-sklearn)")
	}
	data := uneven(80, 5)
	script := &strings.Builder{}
	fmt.Fprint(script, "import numpy as np\nfrom sklearn.linear_model import QuantileRegressor\nx=np.array([")
	for _, row := range data.X {
		fmt.Fprintf(script, "[%v],", row[0])
	}
	fmt.Fprint(script, "])\ny=np.array([")
	for _, y := range data.Y {
		fmt.Fprintf(script, "%v,", y)
	}
	fmt.Fprint(script, "])\nfor q in (0.05,0.5,0.8):\n  m=QuantileRegressor(quantile=q,alpha=0,solver='highs').fit(x,y)\n  r=y-m.predict(x)\n  print(np.mean(np.maximum(q*r,(q-1)*r)), m.coef_[0], m.intercept_)\n")
	out, err := exec.Command(python, "-c", script.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(out))
	for k, tau := range []float64{0.05, 0.5, 0.8} {
		fit := testkit.FitOf(t, Regress(data).Kernel(kernels.Linear()).C(1e5).Quantile(tau).Newton().Tol(1e-8))
		f, _ := fit.Predict(data)
		loss, _ := metrics.Pinball(data.Y, f, tau)
		theirs, _ := strconv.ParseFloat(words[3*k], 64)
		if math.Abs(loss-theirs) > 1e-5*theirs {
			w, _ := fit.Weights()
			t.Errorf("τ = %g: loss %.10g, w = %v, b = %g; scikit-learn %s", tau, loss, w, fit.Bias, words[3*k:3*k+3])
		}
	}
}
