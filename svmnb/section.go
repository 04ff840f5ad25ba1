package svmnb

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/internal/arguments"
	"github.com/svmnb/svmnb/svmnb/internal/points"
	"github.com/svmnb/svmnb/svmnb/internal/say"
	"github.com/svmnb/svmnb/svmnb/internal/steps"
	"github.com/svmnb/svmnb/svmnb/transform"
)

// section is a plane through the space of the features: the points origin + a·u + b·v,
// where u and v are orthogonal and have length 1.
type section struct {
	origin, u, v []float64
	names        [2]string // names of the axes
	note         string    // what happens to the other dimensions, for a subtitle
	unlike       bool      // the axes are two features, which need not have one scale
}

// at returns the point with coordinates a and b.
func (p *section) at(a, b float64) []float64 {
	x := slices.Clone(p.origin)
	for j := range x {
		x[j] += a*p.u[j] + b*p.v[j]
	}
	return x
}

// shadow returns the coordinates of the points' projections onto the plane.
func (p *section) shadow(x [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		out[i] = make([]float64, 2)
		for j, v := range row {
			out[i][0] += (v - p.origin[j]) * p.u[j]
			out[i][1] += (v - p.origin[j]) * p.v[j]
		}
	}
	return out
}

// wholePlane returns the plane of data with two features.
func wholePlane(data *datasets.Dataset) *section {
	return &section{origin: []float64{0, 0}, u: []float64{1, 0}, v: []float64{0, 1}, names: scaledNames(data, 0, 1)}
}

// slice returns the plane of features j and k through the point at, or through the medians
// if at is nil.
func slice(call string, data *datasets.Dataset, j, k int, at []float64) (*section, error) {
	d := data.D()
	if j == k || j < 0 || k < 0 || j >= d || k >= d {
		return nil, arguments.Wrong(call, float64(k), "features %d and %d of %d; give two different ones from 0 to %d", j, k, d, d-1)
	}
	if at != nil && len(at) != d {
		return nil, arguments.Wrong(call, float64(len(at)), "the point has %d values and the data %d features; give one for each, those of the two that are drawn do not matter", len(at), d)
	}
	p := &section{origin: make([]float64, d), u: make([]float64, d), v: make([]float64, d), names: scaledNames(data, j, k), unlike: d > 2}
	p.u[j], p.v[k] = 1, 1
	var held []string
	for f := range d {
		switch {
		case f == j || f == k:
			continue
		case at == nil:
			p.origin[f] = median(points.Column(data.X, f))
		case at[f]-at[f] != 0:
			return nil, arguments.At(call, -1, f, at[f], "the point has a value that is not a finite number")
		default:
			p.origin[f] = at[f]
		}
		held = append(held, data.FeatureName(f)+" = "+say.Number(p.origin[f]))
	}
	switch {
	case len(held) == 0:
		return p, nil
	case at == nil && len(held) > 3:
		p.note = fmt.Sprintf("the other %d features at their medians", len(held))
	case at == nil:
		p.note = "at the medians " + strings.Join(held, ", ")
	case len(held) > 3:
		p.note = fmt.Sprintf("the other %d features as given", len(held))
	default:
		p.note = "at " + strings.Join(held, ", ")
	}
	p.note = "a slice: colours are for points with " + p.note + "; the training points lie off the slice"
	return p, nil
}

// scaledNames returns the names of two features for axes. Features that were standardised have
// the unit of one standard deviation.
func scaledNames(data *datasets.Dataset, j, k int) [2]string {
	names := [2]string{data.FeatureName(j), data.FeatureName(k)}
	for i, f := range []int{j, k} {
		if standardised(data, f) {
			name, _, _ := strings.Cut(names[i], " (") // its old unit
			names[i] = name + " (sd)"
		}
	}
	return names
}

// standardised reports whether the feature has mean 0 and standard deviation 1, as behind
// transform.Standardise, where only constant features have 0. A feature that is only 1 and −1, as in
// [datasets.XOR], has them by nature.
func standardised(data *datasets.Dataset, feature int) bool {
	if data.Sparse != nil {
		return false
	}
	n, sum, square, signs := float64(data.N()), 0.0, 0.0, true
	for _, row := range data.X {
		v := row[feature]
		sum, square, signs = sum+v, square+v*v, signs && math.Abs(v) == 1
	}
	return !signs && math.Abs(sum) < 1e-6*n && (math.Abs(square-n) < 1e-6*n || square == 0)
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return s[(n-1)/2]/2 + s[n/2]/2
}

// principal returns the plane of the first two principal components.
func principal(call string, data *datasets.Dataset) (*section, error) {
	if data.D() < 2 || data.N() < 2 {
		return nil, arguments.Wrong(call, float64(data.D()), "there are %d points of %d features; a plane needs two of each", data.N(), data.D())
	}
	t, err := transform.PCA(2).Fit(data)
	if err != nil {
		return nil, err
	}
	pc := t.(steps.Projected)
	p := &section{origin: pc.Mean, u: pc.Rows[0], v: pc.Rows[1], names: [2]string{"component 1", "component 2"}}
	along, all := [2]float64{}, 0.0
	for i, s := range p.shadow(data.X) {
		along[0], along[1] = along[0]+s[0]*s[0], along[1]+s[1]*s[1]
		for j, v := range data.X[i] {
			all += (v - p.origin[j]) * (v - p.origin[j])
		}
	}
	share := 1.0
	if all > 0 {
		share = math.Min((along[0]+along[1])/all, 1)
	}
	p.note = fmt.Sprintf("a projection: the plane has %.3g %% of the variance, colours are for points of the plane, and the training points lie off it", 100*share)
	return p, nil
}

// MarginsOver is [Margins] of a [*Fit], or [Regions] of a [*MultiFit], over features j and
// k, counted from 0. The other features are held at their medians, or at those of the point
// at, which has one value for each feature. Each training point is drawn at its own
// features j and k. Whether it is marked as an error depends on all its features, so a
// point on the wrong side of the drawn line need not be an error.
func MarginsOver(j, k int, at ...float64) display.Figure {
	return planar("MarginsOver", func(data *datasets.Dataset) (*section, error) {
		return slice("MarginsOver", data, j, k, at)
	})
}

// MarginsPCA is [Margins] of a [*Fit], or [Regions] of a [*MultiFit], over the plane of the
// first two principal components, with the points projected onto it.
func MarginsPCA() display.Figure {
	return planar("MarginsPCA", func(data *datasets.Dataset) (*section, error) { return principal("MarginsPCA", data) })
}

// planed is a fit that can be drawn over a section.
type planed interface {
	drawOver(*section) (*display.Chart, error)
	dataset() *datasets.Dataset
}

func planar(name string, of func(data *datasets.Dataset) (*section, error)) display.Figure {
	return display.FigureOf(name, func(f planed) (*display.Chart, error) {
		if err := points.NeedsDense(name, f.dataset()); err != nil {
			return nil, err
		}
		p, err := of(f.dataset())
		if err != nil {
			return nil, err
		}
		return f.drawOver(p)
	})
}

func (f *Fit) dataset() *datasets.Dataset      { return f.task.data }
func (f *MultiFit) dataset() *datasets.Dataset { return f.task.base.data }
