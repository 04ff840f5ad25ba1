package mercer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/toy"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/kernels/mercer"
	"github.com/svmnb/svmnb/svmnb"
)

func ExampleCheck() {
	x := [][]float64{{0, 0}, {1, 0}, {0, 1}, {2, 2}}
	for _, k := range []kernels.Kernel{kernels.RBF(0.5), kernels.Sigmoid(1, -1)} {
		report, err := mercer.Check(k, x)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(report)
	}
	// Output:
	// RBF(0.5) passes for a kernel on these 4 points. Eigenvalues 0.302 … 2.07, rank 4, condition 6.86.
	// Sigmoid(1, -1) is no kernel: z'Kz = -1.86 for a unit vector z on these 4 points. Eigenvalues -1.86 … 2.01, rank 4, condition 3.
}

func ExampleClip() {
	data := datasets.Moons(60, 0.1, 1)
	repaired, err := mercer.Clip(kernels.Sigmoid(1, -1), data.X)
	if err != nil {
		fmt.Println(err)
		return
	}
	fit := svmnb.Classify(datasets.New(repaired.Points(), data.Y)).Kernel(kernels.Precomputed()).C(10).MustFit()
	report, _ := mercer.Check(kernels.Precomputed(), repaired.Points())
	p, err := repaired.NewPoints([][]float64{{0, 1}, {1, -0.5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	classes, err := fit.Predict(datasets.Rows(p))
	fmt.Println(report.OK(), fit.Status, classes, err)
	// Output: true converged [1 -1] <nil>
}

// function is any function of two points.
type function func(x, z []float64) float64

func (f function) Eval(x, z []float64) float64 { return f(x, z) }
func (function) Check() error                  { return nil }
func (function) String() string                { return "function()" }

func TestCheck(t *testing.T) {
	x := toy.Normal(1, 30, 3)
	twice := append(toy.Normal(2, 10, 2), toy.Normal(2, 10, 2)...)
	for _, c := range []struct {
		name                    string
		k                       kernels.Kernel
		x                       [][]float64
		symmetric, semidefinite bool
		rank                    int
		word                    string
	}{
		{"RBF", kernels.RBF(0.5), x, true, true, 30, "passes"},
		{"linear", kernels.Linear(), x, true, true, 3, "passes"},
		{"quadratic", kernels.Polynomial(2, 1, 0), x, true, true, 6, "passes"},
		{"all points twice", kernels.RBF(0.5), twice, true, true, 10, "passes"},
		{"zero", kernels.Constant(0), x, true, true, 0, "passes"},
		{"one point", kernels.RBF(1), x[:1], true, true, 1, "passes"},
		{"sigmoid", kernels.Sigmoid(1, -1), x, true, false, 30, "z'Kz"},
		{"minus", function(func(x, z []float64) float64 { return -kernels.Linear().Eval(x, z) }), x, true, false, 3, "z'Kz"},
		{"distance", function(func(x, z []float64) float64 { return math.Abs(x[0] - z[0]) }), x, true, false, 30, "z'Kz"},
		{"periodic in the distance of the plane", function(func(x, z []float64) float64 {
			s := math.Sin(math.Pi * math.Hypot(x[0]-z[0], x[1]-z[1]))
			return math.Exp(-2 * s * s)
		}), toy.Normal(5, 60, 2), true, false, 60, "z'Kz"},
		{"lopsided", function(func(x, z []float64) float64 { return kernels.RBF(1).Eval(x, z) + 1e-9*x[0] }), x, false, true, 30, "differ"},
		{"lopsided by rounding", function(func(x, z []float64) float64 { return kernels.RBF(1).Eval(x, z) + 1e-15*x[0] }), x, true, true, 30, "passes"},
	} {
		r, err := mercer.Check(c.k, c.x)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Symmetric() != c.symmetric || r.SemiDefinite() != c.semidefinite || r.OK() != (c.symmetric && c.semidefinite) || r.Rank != c.rank || r.N != len(c.x) {
			t.Errorf("%s: symmetric %t, semi-definite %t, rank %d; want %t, %t, %d", c.name, r.Symmetric(), r.SemiDefinite(), r.Rank, c.symmetric, c.semidefinite, c.rank)
		}
		if !strings.Contains(r.String(), c.word) || !strings.Contains(r.String(), c.k.String()) {
			t.Errorf("%s: %q does not say %q", c.name, r, c.word)
		}
		if (r.Rank == r.N) == math.IsInf(r.Condition, 1) || !(r.Condition >= 1) {
			t.Errorf("%s: condition %v at rank %d of %d", c.name, r.Condition, r.Rank, r.N)
		}
		if !c.semidefinite {
			var norm, form float64
			for i, a := range r.Witness {
				norm += a * a
				for j, b := range r.Witness {
					form += a * b * c.k.Eval(c.x[i], c.x[j])
				}
			}
			if math.Abs(norm-1) > 1e-12 || !(form < 0) || math.Abs(form-r.Eigenvalues[0]) > 1e-12*r.Size*float64(r.N) {
				t.Errorf("%s: ‖z‖² = %v, z'Kz = %v, smallest eigenvalue %v", c.name, norm, form, r.Eigenvalues[0])
			}
		}
	}
}

func TestCheckErrors(t *testing.T) {
	var data *kernels.DataError
	var param *kernels.ParamError
	for _, k := range []kernels.Kernel{
		function(func(x, z []float64) float64 { return x[0] / (x[0] - z[0]) }),                        // NaN of a point with itself
		function(func(x, z []float64) float64 { return 1 / math.Max(0, 1-math.Abs(x[0]-z[0])) }),      // +Inf of two
		function(func(x, z []float64) float64 { return math.Sqrt(0.01-(x[0]-z[0])*(x[0]-z[0])) - 1 }), // NaN of two
	} {
		if _, err := mercer.Check(k, toy.Normal(1, 5, 1)); !errors.As(err, &data) {
			t.Errorf("Check = %v, want a *DataError", err)
		}
	}
	for _, f := range []func(kernels.Kernel, [][]float64) (*mercer.Repaired, error){mercer.Clip, mercer.Flip, mercer.Shift} {
		if _, err := f(kernels.RBF(-1), toy.Normal(1, 5, 1)); !errors.As(err, &param) {
			t.Errorf("a bad kernel: %v, want a *ParamError", err)
		}
		if _, err := f(kernels.RBF(1), nil); !errors.As(err, &data) {
			t.Errorf("no points: %v, want a *DataError", err)
		}
		r, err := f(kernels.Sigmoid(1, -1), toy.Normal(1, 5, 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.NewPoints([][]float64{{1}, {2, 3}}); !errors.As(err, &data) || data.Row != 1 {
			t.Errorf("a new point of another width: %v, want a *DataError for row 1", err)
		}
		if p, err := r.NewPoints(nil); len(p) != 0 || err != nil {
			t.Errorf("no new points: %v, %v", p, err)
		}
	}
	near, err := mercer.Clip(function(func(x, z []float64) float64 { return 1 / (1 - x[0]*z[0]) }), [][]float64{{0}, {0.5}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := near.NewPoints([][]float64{{1}, {2}}); !errors.As(err, &data) || data.Row != 1 {
		t.Errorf("a new point at infinity: %v, want a *DataError for row 1", err)
	}
}

func TestRepair(t *testing.T) {
	x := toy.Normal(3, 25, 2)
	k := kernels.Sigmoid(1, -1)
	before, err := mercer.Check(k, x)
	if err != nil {
		t.Fatal(err)
	}
	norm := func(f func(v float64) float64) (sum float64) {
		for _, v := range before.Eigenvalues {
			sum += math.Pow(f(v)-v, 2)
		}
		return math.Sqrt(sum)
	}
	for _, c := range []struct {
		name   string
		repair func(kernels.Kernel, [][]float64) (*mercer.Repaired, error)
		of     func(v float64) float64
	}{
		{"clip", mercer.Clip, func(v float64) float64 { return math.Max(v, 0) }},
		{"flip", mercer.Flip, math.Abs},
		{"shift", mercer.Shift, func(v float64) float64 { return v - before.Eigenvalues[0] }},
	} {
		r, err := c.repair(k, x)
		if err != nil {
			t.Fatal(err)
		}
		after, err := mercer.Check(kernels.Precomputed(), r.Points())
		if err != nil {
			t.Fatal(err)
		}
		if !after.OK() {
			t.Errorf("%s: %v", c.name, after)
		}
		var got, want, distance float64
		for i, v := range before.Eigenvalues {
			want += math.Pow(c.of(v), 3)
			got += math.Pow(after.Eigenvalues[i], 3)
		}
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: the eigenvalues are %v, of %v", c.name, after.Eigenvalues, before.Eigenvalues)
		}
		for i, row := range r.Matrix() {
			for j, v := range row {
				distance += math.Pow(v-k.Eval(x[i], x[j]), 2)
			}
		}
		if math.Abs(math.Sqrt(distance)-norm(c.of)) > 1e-9 {
			t.Errorf("%s moves the matrix by %v, want %v", c.name, math.Sqrt(distance), norm(c.of))
		}

		// The rows of the training points, as if they were new, are their rows,
		// but for the diagonal that a shift adds.
		rows, err := r.NewPoints(x)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range r.Matrix() {
			for j, v := range row {
				if c.name == "shift" && i == j {
					v += before.Eigenvalues[0]
				}
				if math.Abs(rows[i][1+j]-v) > 1e-12 {
					t.Fatalf("%s: new row %d is %v, the matrix has %v", c.name, i, rows[i][1:], row)
				}
			}
		}

		// A kernel is left as it is, to the last bit, on the diagonal and off.
		good, err := c.repair(kernels.RBF(0.5), x)
		if err != nil {
			t.Fatal(err)
		}
		fresh := toy.Normal(4, 3, 2)
		p, err := good.NewPoints(fresh)
		if err != nil {
			t.Fatal(err)
		}
		for j := range x {
			if got, want := good.Matrix()[3][j], kernels.RBF(0.5).Eval(x[3], x[j]); got != want {
				t.Errorf("%s changes an entry of RBF(0.5) from %v to %v", c.name, want, got)
			}
			if got, want := p[1][1+j], kernels.RBF(0.5).Eval(fresh[1], x[j]); got != want {
				t.Errorf("%s changes a new entry of RBF(0.5) from %v to %v", c.name, want, got)
			}
		}
	}
}

// A machine on a shifted matrix is one with 2-norm slacks of C = 1/|λ_min| on the
// matrix as it was: y_i f(x_i) = 1 − |λ_min| α_i at the support vectors.
func TestShiftIsSlack(t *testing.T) {
	moons := datasets.Moons(60, 0.1, 1)
	k := kernels.Sigmoid(0.5, -0.1)
	report, err := mercer.Check(k, moons.X)
	if err != nil {
		t.Fatal(err)
	}
	r, err := mercer.Shift(k, moons.X)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := svmnb.Classify(datasets.New(r.Points(), moons.Y)).Kernel(kernels.Precomputed()).HardMargin().Tol(1e-9).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.NewPoints(moons.X)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Values(datasets.Rows(p))
	if err != nil {
		t.Fatal(err)
	}
	for _, sv := range fit.SupportVectors() {
		if want := 1 + report.Eigenvalues[0]*sv.Alpha; math.Abs(sv.Y*f[sv.Index]-want) > 1e-6 {
			t.Errorf("point %d: y f = %v, want %v", sv.Index, sv.Y*f[sv.Index], want)
		}
	}
}
