package gp

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers/linear"
	"github.com/svmnb/svmnb/svmnb/internal/testkit"
	"pgregory.net/rapid"
)

// plain is a Gaussian process of mean zero by a Cholesky factor in three loops.
type plain struct {
	k kernels.Kernel
	x [][]float64
	l [][]float64 // LL' = K + noise
}

func newPlain(k kernels.Kernel, x [][]float64, noise []float64) *plain {
	p := &plain{k, x, make([][]float64, len(x))}
	for i := range x {
		p.l[i] = make([]float64, len(x))
		for j := range i + 1 {
			v := k.Eval(x[i], x[j])
			if i == j {
				v += noise[i]
			}
			for c := range j {
				v -= p.l[i][c] * p.l[j][c]
			}
			if i == j {
				p.l[i][i] = math.Sqrt(v)
			} else {
				p.l[i][j] = v / p.l[j][j]
			}
		}
	}
	return p
}

// half solves Lv = u.
func (p *plain) half(u []float64) []float64 {
	v := slices.Clone(u)
	for i := range v {
		for c := range i {
			v[i] -= p.l[i][c] * v[c]
		}
		v[i] /= p.l[i][i]
	}
	return v
}

// cross returns the covariances of f at x with f at the observations.
func (p *plain) cross(x []float64) []float64 {
	u := make([]float64, len(p.x))
	for i, z := range p.x {
		u[i] = p.k.Eval(x, z)
	}
	return u
}

func dot(u, v []float64) (sum float64) {
	for i := range u {
		sum += u[i] * v[i]
	}
	return sum
}

func (p *plain) covariance(x, z []float64) float64 {
	return p.k.Eval(x, z) - dot(p.half(p.cross(x)), p.half(p.cross(z)))
}

func (p *plain) mean(x, y []float64) float64 { return dot(p.half(p.cross(x)), p.half(y)) }

// The covariance is that of a plain Cholesky factor, whatever method the fit has; its
// diagonal has the variances of Posterior.
func TestCovarianceIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, noise, k := drawProcess(t)
		want := newPlain(k, x, noise)
		at := [][]float64{x[0], slices.Repeat([]float64{0.3}, len(x[0])), slices.Repeat([]float64{-4}, len(x[0])), x[len(x)-1]}
		p := Regress(datasets.New(x, y)).Kernel(k).NoiseVariances(noise)
		for _, p := range []Process{p, p.ZeroMean().Using(linear.LU{}), p.CG()} {
			fit := testkit.FitOf(t, p)
			c := certain(fit.Covariance(ctx, datasets.Rows(at)))
			for i := range at {
				for j := range at {
					if w := want.covariance(at[i], at[j]); !(math.Abs(c[i][j]-w) <= 1e-8*(1+math.Abs(w))) {
						t.Fatalf("%v: the covariance of %d and %d is %.12g, want %.12g", p, i, j, c[i][j], w)
					}
					if c[i][j] != c[j][i] {
						t.Fatalf("%v: %g and %g are not symmetric", p, c[i][j], c[j][i])
					}
				}
			}
		}
	})
	fit := testkit.FitOf(t, motorcycle().LinearMean())
	at := datasets.Rows{{-20}, {3}, {25}, {90}, {91}, {92}, {93}}
	c, b := certain(fit.Covariance(ctx, at)), certain(fit.Posterior(ctx, at))
	for i, v := range b.Variance {
		testkit.Near(t, "variance under a linear mean", c[i][i], v, 1e-11)
	}
	if c := certain(fit.Covariance(ctx, datasets.Rows{})); len(c) != 0 {
		t.Errorf("%d rows for no points", len(c))
	}
}

func TestCovarianceRefuses(t *testing.T) {
	fit := testkit.FitOf(t, motorcycle())
	many := make(datasets.Rows, 100_000)
	for i := range many {
		many[i] = []float64{float64(i)}
	}
	if _, err := fit.Covariance(ctx, many); !testkit.IsArgument(err, "Covariance") || !strings.Contains(err.Error(), "100000 points takes 80.1 GB") {
		t.Errorf("a hundred thousand points: %v", err)
	}
	for name, x := range map[string]datasets.Rows{"another width": {{1}, {1, 2}}, "infinity": {{math.Inf(1)}}} {
		if _, err := fit.Covariance(ctx, x); !testkit.IsArgument(err, "Covariance") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var none context.Context
	if _, err := fit.Covariance(none, many[:1]); !testkit.IsArgument(err, "Covariance") {
		t.Errorf("no context: %v", err)
	}
	for _, empty := range []*Fit{nil, {}} {
		if _, err := empty.Covariance(ctx, many[:1]); !testkit.IsArgument(err, "Covariance") {
			t.Errorf("no fit: %v", err)
		}
	}
}

// An interval is as wide as the quantiles of a normal distribution say: the share of it
// that lies within is the one asked for.
func TestIntervalHasItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &Belief{Mean: []float64{rapid.Float64Range(-1e3, 1e3).Draw(t, "mean"), 0}, Variance: []float64{rapid.Float64Range(0, 100).Draw(t, "variance"), 0}, Noise: rapid.Float64Range(1e-3, 10).Draw(t, "noise")}
		share := rapid.Float64Range(0.01, 0.9999).Draw(t, "share")
		low, high := b.Interval(share)
		for i, mean := range b.Mean {
			sd := math.Sqrt(b.Variance[i] + b.Noise)
			within := (math.Erf((high[i]-mean)/sd/math.Sqrt2) - math.Erf((low[i]-mean)/sd/math.Sqrt2)) / 2
			if !(math.Abs(within-share) < 1e-6) {
				t.Fatalf("%g … %g around %g has %g, want %g", low[i], high[i], mean, within, share)
			}
		}
	})
	b := Belief{Mean: []float64{1, 2}, Variance: []float64{3, 4}, Noise: 5}
	low, high := b.Interval(0.95)
	testkit.Near(t, "low", low[0], 1-1.959963984540054*math.Sqrt(8), 1e-14)
	testkit.Near(t, "high", high[1], 2+1.959963984540054*3, 1e-14)
	function := b
	function.Noise = 0
	low, _ = function.Interval(0.5)
	testkit.Near(t, "low end of f", low[1], 2-0.6744897501960817*2, 1e-14)
	unknown := b
	unknown.Noise = math.NaN()
	for what, ask := range map[string]func() (low, high []float64){
		"0": func() (low, high []float64) { return b.Interval(0) }, "1": func() (low, high []float64) { return b.Interval(1) },
		"−1": func() (low, high []float64) { return b.Interval(-1) }, "2": func() (low, high []float64) { return b.Interval(2) },
		"NaN": func() (low, high []float64) { return b.Interval(math.NaN()) }, "unknown noise": func() (low, high []float64) { return unknown.Interval(0.9) },
		"no variances": func() (low, high []float64) { return (Belief{Mean: b.Mean}).Interval(0.9) },
	} {
		low, high := ask()
		if len(low) != 2 || len(high) != 2 || !math.IsNaN(low[0]+low[1]) || !math.IsNaN(high[0]+high[1]) || !math.IsNaN(low[1]) {
			t.Errorf("%s: %v … %v, want NaN", what, low, high)
		}
	}
	if low, high := (Belief{}).Interval(0.9); low != nil || high != nil {
		t.Errorf("of nothing: %v, %v", low, high)
	}
	// A component is sure of its own.
	part := certain(testkit.FitOf(t, motorcycle()).Components(ctx, datasets.Rows{{20}}))[0]
	low, high = part.Interval(0.95)
	testkit.Near(t, "width of a component", high[0]-low[0], 2*1.959963984540054*math.Sqrt(part.Variance[0]), 1e-12)
}
