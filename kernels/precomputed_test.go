package kernels_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
)

// tableOf returns the m × n values of k between x and z.
func tableOf(k kernels.Kernel, x, z [][]float64) [][]float64 {
	rows := make([][]float64, len(x))
	for i := range x {
		rows[i] = make([]float64, len(z))
		for j := range z {
			rows[i][j] = k.Eval(x[i], z[j])
		}
	}
	return rows
}

// A machine trained on the matrix of a kernel is the machine trained with the
// kernel, on all points and on some, for new points and for those left out.
func TestPrecomputedClassifies(t *testing.T) {
	moons := datasets.Moons(80, 0.2, 3)
	fresh := datasets.Moons(30, 0.2, 4)
	rbf, k := kernels.RBF(2), kernels.Precomputed()
	points := k.Points(tableOf(rbf, moons.X, moons.X))
	newPoints := k.NewPoints(tableOf(rbf, fresh.X, moons.X))
	some := func(x [][]float64) (part [][]float64) {
		for i := 79; i >= 0; i-- {
			if i%3 != 0 {
				part = append(part, x[i])
			}
		}
		return part
	}
	var y []float64
	for i := 79; i >= 0; i-- {
		if i%3 != 0 {
			y = append(y, moons.Y[i])
		}
	}
	for _, c := range []struct {
		name        string
		x, p        [][]float64
		y           []float64
		combination func(kernels.Kernel) kernels.Kernel
	}{
		{"all", moons.X, points, moons.Y, func(k kernels.Kernel) kernels.Kernel { return k }},
		{"some", some(moons.X), some(points), y, func(k kernels.Kernel) kernels.Kernel { return k }},
		{"augmented", moons.X, points, moons.Y, func(k kernels.Kernel) kernels.Kernel { return kernels.Augmented(kernels.Scale(2, k), 1) }},
	} {
		want, err := svmnb.Classify(datasets.New(c.x, c.y)).Kernel(c.combination(rbf)).C(10).Tol(1e-9).Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		got, err := svmnb.Classify(datasets.New(c.p, c.y)).Kernel(c.combination(k)).C(10).Tol(1e-9).Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []struct{ x, p [][]float64 }{{moons.X, points}, {fresh.X, newPoints}} {
			a, err := want.Values(datasets.Rows(q.x))
			if err != nil {
				t.Fatal(err)
			}
			b, err := got.Values(datasets.Rows(q.p))
			if err != nil {
				t.Fatal(err)
			}
			for i := range a {
				near(t, c.name+": f", b[i], a[i], 1e-8)
			}
		}
	}
}

func TestPrecomputedErrors(t *testing.T) {
	k := kernels.Precomputed()
	for _, c := range []struct {
		name     string
		x        [][]float64
		row, col int
		word     string
	}{
		{"not square", k.Points([][]float64{{1, 0}, {0, 1}, {0, 0}}), 2, 0, "square"},
		{"ragged", k.Points([][]float64{{1, 0}, {0}}), 1, -1, "features"},
		{"not symmetric", k.Points([][]float64{{1, 2, 3}, {2, 1, 0}, {3, 1e-9, 1}}), 2, 2, "symmetric"},
		{"NaN", k.Points([][]float64{{1, 2}, {math.NaN(), 1}}), 1, 1, "NaN"},
		{"Inf", k.Points([][]float64{{1, math.Inf(1)}, {2, 1}}), 0, 2, "Inf"},
		{"other points", [][]float64{{0.5, 1}, {1, 0}}, 0, 0, "Precomputed().Points"},
		{"an index too far", [][]float64{{2, 1, 0}, {0, 1, 1}}, 0, 0, "index"},
		{"negative", [][]float64{{-2, 1, 0}, {0, 1, 1}}, 0, 0, "index"},
		{"a new point", append(k.Points([][]float64{{1, 0}, {0, 1}}), k.NewPoints([][]float64{{1, 1}})...), 2, -1, "leave the point out"},
	} {
		var e *kernels.DataError
		_, err := kernels.NewGram(k, c.x, 0)
		if !errors.As(err, &e) || e.Row != c.row || e.Col != c.col || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v, want a *DataError with %q at %d, %d", c.name, err, c.word, c.row, c.col)
		}
	}
	// To 1e-12 of the largest entry it is symmetric, and the upper triangle counts.
	g := mustGram(t, k, k.Points([][]float64{{1000, 2}, {2 + 9e-10, 1}}), 0)
	if !slices.Equal(g.Row(0), []float64{1000, 2}) || !slices.Equal(g.Row(1), []float64{2, 1}) {
		t.Errorf("rows %v, %v", g.Row(0), g.Row(1))
	}
	if v := k.Eval(k.NewPoints([][]float64{{1, 1}})[0], k.NewPoints([][]float64{{1, 1}})[0]); !math.IsNaN(v) {
		t.Errorf("the value of two new points is %v, want NaN", v)
	}

	fit, err := svmnb.Classify(datasets.New(k.Points([][]float64{{1, 0}, {0, 1}}), []float64{-1, 1})).Kernel(k).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var e *kernels.DataError
	if _, err := fit.Predict(datasets.Rows{{7, 1, 0}}); !errors.As(err, &e) {
		t.Errorf("Predict of no point of the matrix: %v, want a *DataError", err)
	}
	if _, err := fit.Predict(datasets.Rows(k.NewPoints([][]float64{{1, 0, 0}}))); err == nil {
		t.Error("Predict takes a row that is too long")
	}
}

func TestDomainOfPredictions(t *testing.T) {
	fit, err := svmnb.Classify(datasets.New([][]float64{{1, 2}, {2, 1}}, []float64{-1, 1})).Kernel(kernels.ChiSquared()).Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var e *kernels.DataError
	if _, err := fit.Predict(datasets.Rows{{1, 1}, {2, -1}}); !errors.As(err, &e) || e.Row != 1 || e.Col != 1 {
		t.Errorf("Predict of a negative feature: %v, want a *DataError at 1, 1", err)
	}
}
