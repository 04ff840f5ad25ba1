package figure

import (
	_ "embed"
	"fmt"

	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

//go:embed margins.js
var marginsJS source

// MarginsData is what [Margins] draws: a decision function f of two features and the n
// training points.
type MarginsData struct {
	Problem  string    // what was solved, such as "RBF(0.5), C = 10"
	Note     string    // one more sentence for the subtitle; may be empty
	Features [2]string // names of the axes; "x₁" and "x₂" when empty
	Classes  [2]string // names of y = −1 and y = +1
	Margin   float64   // 1/‖w‖; NaN if unknown
	OneClass bool      // Margin is ρ/‖w‖
	Ball     bool      // Margin is the radius R of a ball
	Unlike   bool      // the two features need not have one scale, so the panel fills the width

	X          [][]float64  // n × 2
	Y          []float64    // n labels ±1
	Alpha      []float64    // n, ≥ 0
	Upper      []float64    // n upper bounds of Alpha; +Inf for none
	F          []float64    // n values f(X[i])
	Line       float64      // the prediction is y = +1 if f ≥ −Line; 0 except for one class
	Edge       float64      // y·f of a free vector: 1, or 0 for one class
	States     [3][2]string // for a multiplier that is 0, free or at its bound: its state in words, and what the KKT condition requires
	Violations []float64    // n violations of the KKT conditions in units of y·f; nil omits them

	Xs, Ys [2]float64  // first and last node of an even grid, at least two nodes each way
	Z      [][]float64 // Z[i][j] is f at node j of Xs and node i of Ys
	Band   *Band       // where the label could still change; nil omits it
}

// Band has bounds of the decision function at the optimum, at the nodes of a grid. The label
// could still change where 0 is between them.
type Band struct{ Lower, Upper [][]float64 }

// open returns rings around the area where the label could change: those around the places
// where the upper bound is positive and, the other way round, those where the lower one is.
// Both bounds are cut at the largest value of f, since far ones would bend the lines between
// the nodes. An area without a node is thinner than the line f = 0, and left out.
func (b *Band) open(z [][]float64) [][]int {
	if b == nil || !b.anywhere() {
		return [][]int{}
	}
	low, high := extent(z...)
	most := max(-low, high)
	cut := func(of [][]float64) [][]float64 {
		out := make([][]float64, len(of))
		for i, row := range of {
			for _, v := range row {
				out[i] = append(out[i], min(max(v, -most), most))
			}
		}
		return out
	}
	return append(contour.At(cut(b.Upper), 0).Areas(), contour.At(cut(b.Lower), 0).Holes()...)
}

// anywhere reports whether the label could change at any node.
func (b *Band) anywhere() bool {
	for i, row := range b.Lower {
		for j, low := range row {
			if low <= 0 && b.Upper[i][j] >= 0 {
				return true
			}
		}
	}
	return false
}

// openName is the name of this area, and openColour its colour.
const openName, openColour = "label could change", "@ink/0.2"

// Margins draws f as a coloured field with the lines f = 0 and f = ±1, the points of each
// class, the support vectors (free ones and those at their bound) and the errors.
func Margins(d MarginsData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n := len(d.X)
	kinds := make([]int, n) // 0 none, 1 free, 2 at the bound
	wrong := make([]bool, n)
	var counts [3]int
	errors := 0
	for i, a := range d.Alpha {
		kinds[i] = support(a, d.Upper[i])
		counts[kinds[i]]++
		if wrong[i] = mistaken(d.Y[i], d.F[i], d.Line); wrong[i] {
			errors++
		}
	}

	title := fmt.Sprintf("%d of %s carry the boundary: %d free, %d at the bound; %s",
		n-counts[0], count(n, "point", "points"), counts[1], counts[2], count(errors, "error", "errors"))
	if counts[0] == n {
		title = fmt.Sprintf("No support vectors: f is constant on %s; %s", count(n, "point", "points"), count(errors, "error", "errors"))
	}
	shown := d.shown(kinds, wrong)
	subtitle := sentence(d.Problem, d.Note, marginText(d.Margin, d.OneClass, d.Ball), fewer(shown, n, "the points"))
	d.Features, d.Classes = featureNames(d.Features), classNames(d.Classes)

	limit, levels, zero, one := field(d.Z)
	size := pointSize(len(shown))
	sizes := object{} // of symbols, on a wide and on a narrow page
	p := plot{name: "margins", about: fmt.Sprintf("Decision function over %s and %s.", d.Features[0], d.Features[1]), tip: marginsJS.cut("tip"),
		svm: object{"box": box(d.Xs, d.Ys), "levels": levels, "sizes": sizes, "zero": zero, "one": one, "limit": limit, "aspect": planeAspect(d.Xs, d.Ys, d.Unlike), "states": d.States,
			"layout": marginsJS.cut("layout")}}
	p.panel(valueAxis(0, d.Xs[0], d.Xs[1], d.Features[0], 28), valueAxis(0, d.Ys[0], d.Ys[1], d.Features[1], 36))
	at := corner(d.Xs[0], d.Ys[0])
	p.add(areas("levels", at),
		level("zero", at, "@ink", 2.6).name("f = 0").fill("@ink"),
		level("one", at, "@ink", 1.6, 6, 4).name("f = ±1").fill("@ink"),
		custom(marginsJS.cut("scale", "bands", 2/bandStep, "least", faintest, "range", stronger), at).still().z(2))
	if open := d.Band.open(d.Z); len(open) > 0 {
		p.svm["open"] = list{object{"color": openColour, "paths": open}}
		p.add(areas("open", at).name(openName).z(1).fill(openColour))
	}
	points := func(id, name, symbol string, size, z, rim int, tip bool, in func(i int) bool) mark {
		data := items(shown, in, func(_, i int) list {
			x, y := place(d.X[i][0], d.X[i][1], d.Xs, d.Ys)
			if !tip {
				return list{x, y}
			}
			yf, bad := d.Y[i]*d.F[i], 0
			if wrong[i] {
				bad = 1
			}
			item := list{x, y, i, kinds[i], round4(d.Alpha[i]), round4(yf), round4(remainder(max(0, d.Edge-yf), 1)), bad}
			if d.Violations != nil {
				item = append(item, roundTo(d.Violations[i], 2))
			}
			return item
		})
		m := scatter(data).id(id).name(name).symbols(symbol, size).set("symbolKeepAspect", true).z(z).set("silent", !tip).swells(1.4)
		if len(data) > 0 {
			p.add(m)
			p.rimmed(name, rim)
			sizes[id] = list{size, small(size)}
		}
		return m
	}
	points("neg", d.Classes[0], "circle", size, 3, 0, true, func(i int) bool { return d.Y[i] < 0 }).fill("@neg").edge("@page", 1).opacity(0.95)
	points("pos", d.Classes[1], diamond, size+2, 3, 0, true, func(i int) bool { return d.Y[i] > 0 }).fill("@pos").edge("@page", 1).opacity(0.95)
	points("free", "free support vector", "circle", ring(size), 5, 2, false, func(i int) bool { return kinds[i] == 1 }).fill(clear).edge("@ink", 2.2).opacity(1)
	points("bound", "at the bound", "circle", ring(size), 4, 1, false, func(i int) bool { return kinds[i] == 2 }).fill(clear).edge("@ink*0.65", 1.5).opacity(1)
	points("error", "error", openCross, size+13, 6, 0, false, func(i int) bool { return wrong[i] }).fill("@bad").edge("@page", 0.6).opacity(1)
	if len(zero) > 0 {
		p.key("f = 0")
	}
	if len(one) > 0 {
		p.key("f = ±1")
	}
	if p.svm["open"] != nil {
		p.key(openName)
	}
	return p.chart(title, subtitle), nil
}

// ring is the size of a ring around a point. Where points are small since there are many, the
// rings stay close to them.
func ring(size int) int { return size + max(4, size-2) }

// small is the size of a symbol on a narrow page.
func small(size int) int { return max(4, (size*6+5)/10) }

// openCross is a cross that leaves out its middle, so that the point under it can be seen.
const openCross = "path://M0 3.5 3.5 0 9.5 6 6 9.5Z M24 3.5 20.5 0 14.5 6 18 9.5Z M24 20.5 20.5 24 14.5 18 18 14.5Z M0 20.5 3.5 24 9.5 18 6 14.5Z"

// planeAspect returns height over width of the panel of two features. Features that are unlike
// need no common scale.
func planeAspect(xs, ys [2]float64, unlike bool) float64 {
	if unlike {
		return 0.62
	}
	return aspect(xs, ys, 0.62)
}

// clear is the colour of symbols that show their edge only.
const clear = "rgba(0,0,0,0)"

// marginText returns the width of the margin, if it is finite, for a subtitle. For one class it
// is the distance of the boundary from the origin.
func marginText(margin float64, oneClass, ball bool) string {
	if !finite(margin) || margin <= 0 {
		return ""
	}
	switch {
	case ball:
		return "radius R = " + number(margin)
	case oneClass:
		return "distance ρ/‖w‖ = " + number(margin)
	}
	return "margin 1/‖w‖ = " + number(margin)
}

// shown returns the indices of the points to draw, at most drawn, in increasing order.
func (d *MarginsData) shown(kinds []int, wrong []bool) []int {
	return choose(len(d.X), func(i int) int {
		switch {
		case kinds[i] == 1:
			return 0
		case wrong[i]:
			return 1
		case kinds[i] == 2:
			return 2
		}
		return 3
	})
}

func (d *MarginsData) check() error {
	c := checks{figure: "Margins"}
	c.refuse(len(d.X) == 0, "X", "has no points: give the training points")
	c.numbers("point", len(d.X), given("Y", d.Y), given("Alpha", d.Alpha), given("Upper", d.Upper, infinite), given("F", d.F), given("Violations", d.Violations, optional))
	c.plane(d.X, d.Xs, d.Ys, d.Z)
	return c.err
}
