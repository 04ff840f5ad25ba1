package gp

import (
	"cmp"
	"math"
	"slices"

	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/sheet"
)

// Comparison returns the row of the fit in a table of several fits.
func (f *Fit) Comparison() sheet.Comparison {
	if f.none() {
		return sheet.Comparison{}
	}
	nan, sum := math.NaN(), 0.0
	for i, v := range f.trained() {
		r := f.task.data.Y[i] - v
		sum += r * r / float64(len(f.Alpha))
	}
	return sheet.Comparison{Name: f.task.data.Name + " · " + say.Brief(f.task.kernel.String()) + " · " + f.Method, Status: f.Status.String(), Measures: [...]float64{float64(f.Iterations), float64(f.Evaluations), sheet.Milliseconds(f.Elapsed),
		nan, f.Certificate.Energy, nan, nan, nan, nan, math.Sqrt(sum)}}
}

// Table lists the training points with posterior means and residuals; see [display.Table].
func (f *Fit) Table() *display.Sheet {
	return display.NewSheet(func(t *sheet.Table) error {
		if f.none() {
			return arguments.NoFit("Table")
		}
		d := f.task.data
		t.Name = d.Name
		t.Numbered("row", d.N())
		for j := range d.D() {
			t.Numbers(d.FeatureName(j), points.Column(d.X, j))
		}
		mean, rest := f.trained(), slices.Clone(d.Y)
		for i, v := range mean {
			rest[i] -= v
		}
		t.Numbers(cmp.Or(d.Target, "target"), d.Y)
		t.Numbers("mean", mean)
		t.Numbers("residual", rest)
		t.Numbers("alpha", f.Alpha)
		return nil
	})
}

// trained returns the posterior means at the n training points.
func (f *Fit) trained() []float64 {
	out := make([]float64, f.task.data.N())
	for i, x := range f.task.data.X {
		out[i] = f.mean(x)
	}
	f.points.Times(out, f.task.data.X, f.Alpha)
	for i, m := range out {
		out[i] = f.task.value(m)
	}
	return out
}
