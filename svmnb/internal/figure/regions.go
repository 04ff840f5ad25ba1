package figure

import (
	_ "embed"
	"fmt"

	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

//go:embed regions.js
var regionsJS source

// MostRegions is the largest number of classes, for which [Regions] has colours and
// symbols.
const MostRegions = 8

// RegionsData is what [Regions] draws: the class that a classifier predicts at each place
// of two features, and the n training points.
type RegionsData struct {
	Problem  string
	Unlike   bool // the two features need not have one scale, so the panel fills the width
	Features [2]string
	Classes  []string // k names, at most MostRegions

	X         [][]float64 // n × 2
	Class     []int       // n indices of true classes
	Predicted []int       // n indices of predicted classes
	Support   []bool      // n: whether the point is a support vector

	Xs, Ys [2]float64    // first and last node of an even grid, at least two nodes each way
	Z      [][][]float64 // Z[k][i][j] at node j of Xs and node i of Ys: by how much class k wins there; negative if it does not
	Margin float64       // the value of Z at the margin; 0 draws no margin
}

// Regions draws the region of each class with its boundary and, inside, the line where the
// class wins by the margin.
func Regions(d RegionsData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n, k := len(d.X), len(d.Classes)
	wrong := make([]bool, n)
	vectors, errors := 0, 0
	for i := range d.X {
		if d.Support[i] {
			vectors++
		}
		if wrong[i] = d.Class[i] != d.Predicted[i]; wrong[i] {
			errors++
		}
	}
	title := fmt.Sprintf("%s: %d of %s carry the boundaries; %s", count(k, "class", "classes"), vectors, count(n, "point", "points"), count(errors, "error", "errors"))
	shown := choose(n, func(i int) int {
		switch {
		case wrong[i]:
			return 0
		case d.Support[i]:
			return 1
		}
		return 2
	})
	subtitle := sentence(d.Problem, fewer(shown, n, "the points"))
	var levels list
	var edges, margins [][]int
	for c, z := range d.Z {
		level := contour.At(z, 0)
		levels = append(levels, object{"color": fmt.Sprintf("@series%d*0.22", c+1), "paths": level.Areas()})
		edges = append(edges, level.Lines()...)
		if d.Margin > 0 {
			margins = append(margins, contour.At(z, d.Margin).Lines()...)
		}
	}
	sizes := object{}
	p := plot{name: "regions", about: fmt.Sprintf("Regions of the classes over %s and %s.", d.Features[0], d.Features[1]), tip: regionsJS.cut("tip"), grid: object{},
		svm: object{"box": box(d.Xs, d.Ys), "levels": levels, "edges": edges, "margins": margins,
			"sizes": sizes, "names": d.Classes, "aspect": planeAspect(d.Xs, d.Ys, d.Unlike), "layout": marginsJS.cut("layout")}}
	p.panel(valueAxis(0, d.Xs[0], d.Xs[1], d.Features[0], 28), valueAxis(0, d.Ys[0], d.Ys[1], d.Features[1], 36))
	at := corner(d.Xs[0], d.Ys[0])
	p.add(areas("levels", at), level("edges", at, "@ink", 2).name("boundary").fill("@ink"))
	p.key("boundary")
	if len(margins) > 0 {
		p.add(level("margins", at, "@ink", 1.2, 6, 4).name("margin").fill("@ink"))
		p.key("margin")
	}
	size := pointSize(len(shown))
	points := func(id, name, symbol string, size, z, rim int, tip bool, in func(i int) bool) mark {
		data := items(shown, in, func(_, i int) list {
			x, y := place(d.X[i][0], d.X[i][1], d.Xs, d.Ys)
			return list{x, y, i, d.Predicted[i]}
		})
		m := scatter(data).id(id).name(name).symbols(symbol, size).set("symbolKeepAspect", true).z(z).set("silent", !tip)
		if len(data) > 0 {
			p.add(m)
			p.rimmed(name, rim)
			sizes[id] = list{size, small(size)}
		}
		return m
	}
	for c, name := range d.Classes {
		points(fmt.Sprint("class", c), name, regionSymbols[c], size+c%2, 3, 0, true, func(i int) bool { return d.Class[i] == c }).fill(fmt.Sprintf("@series%d", c+1)).edge("@page", 1).opacity(0.95)
	}
	points("support", "support vector", "circle", ring(size), 4, 2, false, func(i int) bool { return d.Support[i] }).fill(clear).edge("@ink*0.7", 1.6).opacity(1)
	points("error", "error", openCross, size+13, 5, 0, false, func(i int) bool { return wrong[i] }).fill("@bad").edge("@page", 0.6).opacity(1)
	return p.chart(title, subtitle), nil
}

var regionSymbols = [MostRegions]string{"circle", diamond, "triangle", "rect",
	"path://M0 2H16L8 16Z", "path://M4 0H12L16 8 12 16H4L0 8Z", "roundRect", "path://M5 0H11V5H16V11H11V16H5V11H0V5H5Z"}

func (d *RegionsData) check() error {
	c := checks{figure: "Regions"}
	n, k := len(d.X), len(d.Classes)
	c.refuse(n == 0, "X", "has no points: give the training points")
	c.refuse(k < 2 || k > MostRegions, "Classes", "has %d names: there are colours for 2 to %d", k, MostRegions)
	c.refuse(len(d.Z) != k, "Z", "has %d fields for %d classes", len(d.Z), k)
	c.refuse(len(d.Class) != n || len(d.Predicted) != n || len(d.Support) != n, "Class", "Predicted and Support have lengths %d, %d and %d for %d points", len(d.Class), len(d.Predicted), len(d.Support), n)
	for i := range min(n, len(d.Class), len(d.Predicted)) {
		low, high := min(d.Class[i], d.Predicted[i]), max(d.Class[i], d.Predicted[i])
		if low < 0 || high >= k {
			c.refuse(true, fmt.Sprintf("Class[%d]", i), "is %d, predicted %d: the classes are 0 … %d", d.Class[i], d.Predicted[i], k-1)
		}
	}
	for _, z := range d.Z {
		c.plane(d.X, d.Xs, d.Ys, z)
	}
	return c.err
}
