package figure

import (
	_ "embed"
	"math"
	"slices"

	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

//go:embed live.js
var liveJS source

// LiveData is what [Live] draws: a run at one moment.
type LiveData struct {
	Title    string // how far the run is, such as "SMO is running: about 4 s left"
	Problem  string // what is solved, such as "RBF(0.5), C = 10"
	Progress string // one more sentence for the subtitle, such as "12 300 iterations in 2.3 s"

	Points  []solvers.Point // increasing iterations; NaN for what was not measured
	Tol     float64         // gap or violation at which the run stops; 0 omits the line
	TolName string          // label of this line; "tolerance" and its value when empty

	Boundary *Boundary // nil omits the third panel
}

// Boundary is the decision function of a classifier of two features at one moment.
type Boundary struct {
	Features [2]string   // names of the axes; "x₁" and "x₂" when empty
	Classes  [2]string   // names of y = −1 and y = +1; "class −1" and "class +1" when empty
	X        [][]float64 // n × 2
	Y        []float64   // n labels ±1
	Alpha    []float64   // n, ≥ 0
	Xs, Ys   [2]float64  // first and last node of an even grid
	Z        [][]float64 // Z[i][j] is f at node j of Xs and node i of Ys
	Band     *Band       // where the label could still change; nil omits it
	Unscaled bool        // f is known only up to a positive factor, so only f = 0 is drawn
}

// livePoints is the number of strips of the axis (see thin), and liveDots the largest
// number of points.
const (
	livePoints = 240
	liveDots   = 400
)

// Live draws a run while it lasts: the objectives, below them the gap and the KKT violation
// on a logarithmic axis, and beside them the boundary. The chart is small, since it is sent
// several times a second. It always has the same series, so that each picture can replace
// the one before.
func Live(d LiveData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	axis := iterations{log: d.Points[len(d.Points)-1].Iteration > 2000}
	var x, its, primal, dual, gap, kkt []float64
	best := math.Inf(1)
	for _, p := range d.Points {
		if finite(p.Primal) {
			best = min(best, p.Primal)
		}
		x, its = append(x, axis.place(float64(p.Iteration))), append(its, float64(p.Iteration))
		primal, dual = append(primal, best), append(dual, p.Dual)
		gap, kkt = append(gap, positive(best-p.Dual)), append(kkt, positive(p.KKT))
	}
	keep := thin(x, livePoints, primal, dual, gap, kkt)
	for _, c := range []*[]float64{&x, &its, &primal, &dual, &gap, &kkt} {
		*c = pick(*c, keep)
	}
	low, high, _ := objectives(dual, primal)
	first := float64(d.Points[0].Iteration)
	last := max(float64(d.Points[len(d.Points)-1].Iteration), first+1)
	smallest, greatest := extent(gap, kkt)
	from, to := gapDecades(smallest, greatest, d.Tol)

	p := plot{name: "live", about: "A solver at work: objectives, gap and KKT violation against iterations.", tip: liveJS.cut("tip"), along: true, links: list{0, 1},
		grid: list{object{}, object{}}, svm: object{"layout": liveJS.cut("layout"), "x": column(x, 6), "its": its, "primal": column(primal, 6), "dual": column(dual, 6),
			"gap": column(gap, 4), "kkt": column(kkt, 4), "aspect": 0}}
	p.panel(axis.option(0, first, last, false).lines().pointed(), valueAxis(0, low, high, "objective", 48).lines())
	p.panel(axis.option(1, first, last, true).lines().pointed(), logValues(1, from, to).named("gap, violation (log)", 48))
	add := func(k int, id, name, color string, values []float64) mark {
		m := curve(k, name, "x", id, color).id(id).set("showSymbol", lone(values))
		p.add(m)
		p.key(name)
		return m
	}
	add(0, "primal", "primal, best so far", "@pos", primal)
	add(0, "dual", "dual", "@neg", dual)
	add(1, "gap", "gap to the best primal", "@series4", gap)
	add(1, "kkt", "largest KKT violation", "@series3", kkt).pen("@series3", 2, list{7, 3})
	if d.Tol > 0 {
		p.add(tolerance(1, axis.place(first), axis.place(last), d.Tol, d.TolName).id("tolerance"))
	}
	if d.Boundary != nil {
		d.Boundary.draw(&p)
	}
	return p.chart(d.Title, sentence(d.Problem, d.Progress)), nil
}

// draw adds the third panel, with the boundary.
func (b *Boundary) draw(p *plot) {
	line := func(t float64) [][]int { return contour.At(b.Z, t).Lines() }
	p.svm["box"], p.svm["zero"], p.svm["one"] = box(b.Xs, b.Ys), line(0), [][]int{}
	if !b.Unscaled {
		p.svm["one"] = append(line(-1), line(1)...)
	}
	p.svm["aspect"] = aspect(b.Xs, b.Ys, 0.8)
	at, features, classes := corner(b.Xs[0], b.Ys[0]), featureNames(b.Features), classNames(b.Classes)
	p.grid = append(p.grid.(list), object{})
	p.panel(valueAxis(2, b.Xs[0], b.Xs[1], features[0], 28), valueAxis(2, b.Ys[0], b.Ys[1], features[1], 36))
	p.svm["open"] = list{object{"color": openColour, "paths": b.Band.open(b.Z)}}
	p.add(areas("open", at).id("open").name(openName).on(2).z(1).fill(openColour),
		level("zero", at, "@ink", 2.6).id("zero").name("f = 0").on(2).still().z(3).fill("@ink"),
		level("one", at, "@ink", 1.4, 6, 4).id("one").name("f = ±1").on(2).still().z(3).fill("@ink"))
	shown := sample(floats(upTo(len(b.X))), liveDots)
	dots := func(id, name, symbol string, size, z int, in func(i int) bool) mark {
		data := items(shown, in, func(_, i int) list {
			x, y := place(b.X[i][0], b.X[i][1], b.Xs, b.Ys)
			return list{x, y}
		})
		m := scatter(data).id(id).name(name).on(2).still().symbols(symbol, size).z(z)
		p.add(m)
		p.key(name)
		return m
	}
	dots("neg", classes[0], "circle", 7, 2, func(i int) bool { return b.Y[i] < 0 }).fill("@neg").opacity(0.8)
	dots("pos", classes[1], diamond, 8, 2, func(i int) bool { return b.Y[i] > 0 }).fill("@pos").opacity(0.8)
	dots("support", "support vector so far", "circle", 13, 4, func(i int) bool { return b.Alpha[i] > 0 }).fill(clear).edge("@ink/0.6", 1.6)
	p.key("f = 0")
	if !b.Unscaled {
		p.key("f = ±1")
	}
	if b.Band != nil {
		p.key(openName)
	}
}

// upTo returns 0 … n−1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (d *LiveData) check() error {
	c := checks{figure: "Live"}
	c.trace(d.Points)
	c.refuse(!measured(d.Points), "Points", "has no measured dual objective: give the trace of a run")
	c.size("Tol", d.Tol)
	if b := d.Boundary; b != nil {
		c.part = "Boundary."
		c.refuse(len(b.X) == 0, "X", "has no points: give the training points")
		c.numbers("point", len(b.X), given("Y", b.Y), given("Alpha", b.Alpha))
		c.plane(b.X, b.Xs, b.Ys, b.Z)
	}
	return c.err
}

// measured reports whether a dual objective was measured at any point.
func measured(points []solvers.Point) bool {
	return slices.ContainsFunc(points, func(p solvers.Point) bool { return finite(p.Dual) })
}
