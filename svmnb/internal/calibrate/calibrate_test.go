package calibrate

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type tester interface {
	Helper()
	Errorf(format string, args ...any)
}

func near(t tester, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// scores are made-up decision values whose class follows a sigmoid.
func scores(seed uint64, n int) (f []float64, positive []bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		v := 3 * rng.NormFloat64()
		f = append(f, v)
		positive = append(positive, rng.Float64() < Sigmoid{-1.3, 0.4}.At(v))
	}
	return f, positive
}

func TestPlattDerivatives(t *testing.T) {
	f, positive := scores(1, 30)
	target := make([]float64, len(f))
	for i, p := range positive {
		if target[i] = 0.1; p {
			target[i] = 0.9
		}
	}
	const h = 1e-5
	for _, s := range []Sigmoid{{0, 0}, {-1.3, 0.4}, {2, -3}} {
		g, hess := derivatives(s, f, target)
		at := func(a, b float64) float64 { return crossEntropy(Sigmoid{s.A + a, s.B + b}, f, target) }
		near(t, "by A", g[0], (at(h, 0)-at(-h, 0))/(2*h), 1e-7)
		near(t, "by B", g[1], (at(0, h)-at(0, -h))/(2*h), 1e-7)
		ga, _ := derivatives(Sigmoid{s.A + h, s.B}, f, target)
		gb, _ := derivatives(Sigmoid{s.A - h, s.B}, f, target)
		near(t, "by A and A", hess[0], (ga[0]-gb[0])/(2*h), 1e-6)
		near(t, "by A and B", hess[1], (ga[1]-gb[1])/(2*h), 1e-6)
		ga, _ = derivatives(Sigmoid{s.A, s.B + h}, f, target)
		gb, _ = derivatives(Sigmoid{s.A, s.B - h}, f, target)
		near(t, "by B and B", hess[2], (ga[1]-gb[1])/(2*h), 1e-6)
	}
}

func TestPlattDoesNotOverflow(t *testing.T) {
	for _, v := range []float64{1000, -1000, 1e308, -1e308} {
		s := Sigmoid{A: 1}
		p, loss := s.At(v), crossEntropy(s, []float64{v}, []float64{0.25})
		g, h := derivatives(s, []float64{v}, []float64{0.25})
		for _, x := range []float64{p, loss, g[0], g[1], h[1], h[2]} {
			if math.IsNaN(x) || math.IsInf(x, 0) && math.Abs(v) == 1000 {
				t.Errorf("f' = %v: p %v, loss %v, gradient %v, Hessian %v", v, p, loss, g, h)
			}
		}
		near(t, "p", p, map[bool]float64{true: 0, false: 1}[v > 0], 1e-300)
	}
	near(t, "loss at 1000", crossEntropy(Sigmoid{1, 0}, []float64{1000}, []float64{0.25}), 250, 1e-15)
	near(t, "loss at −1000", crossEntropy(Sigmoid{1, 0}, []float64{-1000}, []float64{0.25}), 750, 1e-15)
}

// Separable values, one class, one value and equal values stay finite, and the
// smoothed targets are what they end at where the two values allow.
func TestPlattDegenerate(t *testing.T) {
	for _, test := range []struct {
		name     string
		f        []float64
		positive []bool
		at       float64 // a decision value, and
		want     float64 // its probability
	}{
		{"separable", []float64{-2, -1, 1, 2}, []bool{false, false, true, true}, 0, 0.5},
		{"two values", []float64{-1, -1, 1, 1}, []bool{false, false, true, true}, 1, 3. / 4},
		{"only positive", []float64{1, 2, 3}, []bool{true, true, true}, 2, 4. / 5},
		{"only negative", []float64{1, 2, 3}, []bool{false, false, false}, 2, 1. / 5},
		{"one value", []float64{3}, []bool{true}, 3, 2. / 3},
		{"equal values", []float64{5, 5, 5, 5}, []bool{true, false, false, false}, 5, (2./3 + 3./5) / 4},
		{"far apart", []float64{-1e8, 1e8}, []bool{false, true}, 1e8, 2. / 3},
		{"all 0", []float64{0, 0}, []bool{false, true}, 0, 0.5},
	} {
		s, steps := Platt(test.f, test.positive)
		if p := s.At(test.at); steps >= 99 || math.IsNaN(s.A+s.B) || math.IsInf(s.A+s.B, 0) || math.Abs(p-test.want) > 1e-4 {
			t.Errorf("%s: %+v after %d steps, P(%v) = %v, want %v", test.name, s, steps, test.at, p, test.want)
		}
	}
}

// The step function is increasing, has the mean of the classes, and no other
// increasing function is nearer: moving a block, or a part of one, makes it worse.
func TestIsotonic(t *testing.T) {
	s := Isotonic([]float64{1, 2, 3, 4, 5, 5}, []bool{false, true, false, true, true, false})
	if want := (Steps{[]float64{1, 2, 3, 4, 5}, []float64{0, 0.5, 0.5, 2. / 3, 2. / 3}}); !slices.Equal(s.X, want.X) || !slices.Equal(s.P, want.P) {
		t.Errorf("%+v, want %+v", s, want)
	}
	near(t, "between", s.At(1.5), 0.25, 1e-15)
	near(t, "below", s.At(-7), 0, 0)
	near(t, "above", s.At(70), 2./3, 0)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		f, y, positive := make([]float64, n), make([]float64, n), make([]bool, n)
		for i := range f {
			f[i] = float64(rapid.IntRange(-5, 5).Draw(t, "f"))
			if positive[i] = rapid.Bool().Draw(t, "positive"); positive[i] {
				y[i] = 1
			}
		}
		s := Isotonic(f, positive)
		if !slices.IsSorted(s.P) || !slices.IsSorted(s.X) {
			t.Fatalf("not increasing: %+v", s)
		}
		// max-min formula: P(x) = max over a ≤ x of min over b ≥ x of the mean of y in [a, b].
		for _, x := range f {
			best := math.Inf(-1)
			for _, a := range f {
				if a > x {
					continue
				}
				least := math.Inf(1)
				for _, b := range f {
					if b < x {
						continue
					}
					sum, count := 0.0, 0.0
					for i, v := range f {
						if v >= a && v <= b {
							sum, count = sum+y[i], count+1
						}
					}
					least = min(least, sum/count)
				}
				best = max(best, least)
			}
			near(t, "P", s.At(x), best, 1e-12)
		}
	})
}

// The coupled probabilities lie in the simplex and satisfy the conditions of the
// minimum (Theorem 2 of the paper has them positive, so there are no others).
func TestCouple(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 8).Draw(t, "k")
		r := make([][]float64, k)
		for i := range r {
			r[i] = make([]float64, k)
		}
		for i := range k {
			for j := i + 1; j < k; j++ {
				r[i][j] = rapid.SampledFrom([]float64{1e-7, 0.1, 0.3, 0.5, 0.8, 1 - 1e-7}).Draw(t, "r")
				r[j][i] = 1 - r[i][j]
			}
		}
		p := Couple(r)
		value := func(p []float64) float64 {
			sum := 0.0
			for i := range p {
				for j := range p {
					if i != j {
						sum += (r[j][i]*p[i] - r[i][j]*p[j]) * (r[j][i]*p[i] - r[i][j]*p[j])
					}
				}
			}
			return sum
		}
		sum, best := 0.0, value(p)
		for _, v := range p {
			if !(v >= 0) {
				t.Fatalf("%v", p)
			}
			sum += v
		}
		near(t, "Σp", sum, 1, 1e-12)
		for i := range p {
			for j := range p {
				for _, h := range []float64{1e-3, 1e-5} {
					moved := slices.Clone(p)
					moved[i], moved[j] = moved[i]+h, moved[j]-h
					if i != j && moved[j] >= 0 && value(moved) < best-1e-9 {
						t.Fatalf("r = %v: %v gives %v, %v gives less", r, p, best, moved)
					}
				}
			}
		}
	})
	// Consistent pairs r_ij = p_i/(p_i + p_j) give p back.
	want := []float64{0.5, 0.3, 0.15, 0.05}
	r := make([][]float64, 4)
	for i := range r {
		for j := range want {
			r[i] = append(r[i], want[i]/(want[i]+want[j]))
		}
	}
	for i, p := range Couple(r) {
		near(t, "p", p, want[i], 1e-9)
	}
}

// TestScikitLearn compares with scikit-learn on the same scores where it is
// installed (Debian: python3-sklearn): its sigmoid calibration, which minimises
// the same function by BFGS, and its isotonic regression.
func TestScikitLearn(t *testing.T) {
	const program = `
import json, sys
import numpy as np
import sklearn.calibration as c
from sklearn.isotonic import IsotonicRegression
out = []
for d in json.load(sys.stdin):
    f, y, at = np.array(d["F"]), np.array(d["Positive"]).astype(int), d["At"]
    a, b = c._sigmoid_calibration(f, y)
    out.append({"A": a, "B": b, "P": IsotonicRegression(out_of_bounds="clip").fit(f, y).predict(at).tolist()})
json.dump(out, sys.stdout)`
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "from sklearn.calibration import _sigmoid_calibration").Run() != nil {
		t.Skip("no scikit-learn with a sigmoid calibration for /usr/bin/python3 (Debian: python3-sklearn)")
	}
	type problem struct {
		F        []float64
		Positive []bool
		At       []float64
	}
	var problems []problem
	for seed := range uint64(8) {
		f, positive := scores(seed, 60+40*int(seed))
		if seed%2 == 1 { // unbalanced, and with ties
			for i := range f {
				f[i] = math.Round(2*f[i]) / 2
				positive[i] = positive[i] && i%3 == 0
			}
		}
		problems = append(problems, problem{f, positive, []float64{-20, -3.3, -1, 0, 0.25, 1, 2.7, 30}})
	}
	in, _ := json.Marshal(problems)
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		A, B float64
		P    []float64
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	for k, p := range problems {
		s, _ := Platt(p.F, p.Positive)
		near(t, "A", s.A, want[k].A, 1e-4)
		near(t, "B", s.B, want[k].B, 1e-4)
		steps := Isotonic(p.F, p.Positive)
		for i, at := range p.At {
			near(t, "isotonic", steps.At(at), want[k].P[i], 1e-9)
		}
	}
}
