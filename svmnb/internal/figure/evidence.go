package figure

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

//go:embed evidence.js
var evidenceJS source

// EvidenceData is what [Evidence] draws: the log marginal likelihood over two
// hyperparameters, on logarithmic axes, and the paths of an optimiser.
type EvidenceData struct {
	Problem string    // what was learnt, such as "motorcycle · RBF, σ² free"
	Note    string    // one more sentence for the subtitle, such as what is fixed; may be empty
	Names   [2]string // of the hyperparameters; "θ₁" and "θ₂" when empty

	Xs, Ys [2]float64  // first and last node of a grid that is even in logarithms, > 0
	Z      [][]float64 // Z[i][j] is the log marginal likelihood at node j of Xs and node i of Ys

	Paths []EvidencePath // of the optimiser and its restarts; may be empty
}

// EvidencePath is the path of the optimiser from one start to its end. A path of one point
// has only the end.
type EvidencePath struct {
	X, Y  []float64 // values of the two hyperparameters, > 0
	Value []float64 // log marginal likelihood at each
}

// sameEnd is the largest difference, in nats, between the values of two ends that count as
// the same optimum.
const sameEnd = 0.1

// Evidence draws the log marginal likelihood as filled contours, labelled by the difference
// from its maximum, the path of the optimiser with the best end, and the paths and ends of
// the others.
func Evidence(d EvidenceData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	names := [2]string{either(d.Names[0], "θ₁"), either(d.Names[1], "θ₂")}
	ny, nx := len(d.Z), len(d.Z[0])
	xs, ys := [2]float64{math.Log10(d.Xs[0]), math.Log10(d.Xs[1])}, [2]float64{math.Log10(d.Ys[0]), math.Log10(d.Ys[1])}
	node := func(ends [2]float64, j, n int) float64 { return ends[0] + (ends[1]-ends[0])*float64(j)/float64(n-1) }

	lowest, _ := extent(d.Z...)
	highest, at := math.Inf(-1), [2]float64{}
	for i, row := range d.Z {
		for j, z := range row {
			if z > highest {
				highest, at = z, [2]float64{math.Pow(10, node(xs, j, nx)), math.Pow(10, node(ys, i, ny))}
			}
		}
	}
	best := -1
	for k, p := range d.Paths {
		if best < 0 || end(p.Value) > end(d.Paths[best].Value) {
			best = k
		}
	}
	place := func(x, y float64) string {
		return fmt.Sprintf("%s = %s and %s = %s", names[0], number(x), names[1], number(y))
	}
	title := fmt.Sprintf("Log marginal likelihood at most %s nats on the grid, at %s", number(highest), place(at[0], at[1]))
	outside, there := 0, 0
	if best >= 0 {
		b := d.Paths[best]
		highest = max(highest, end(b.Value))
		for _, p := range d.Paths {
			if end(b.Value)-end(p.Value) <= sameEnd {
				there++
			}
			if x, y := end(p.X), end(p.Y); x < d.Xs[0] || x > d.Xs[1] || y < d.Ys[0] || y > d.Ys[1] {
				outside++
			}
		}
		title = fmt.Sprintf("Log marginal likelihood %s nats at %s", number(end(b.Value)), place(end(b.X), end(b.Y)))
		if from, to := number(b.Value[0]), number(end(b.Value)); from != to {
			title = fmt.Sprintf("The log marginal likelihood rises from %s to %s nats at %s", from, to, place(end(b.X), end(b.Y)))
		}
		if n := len(d.Paths); n > 1 {
			title += fmt.Sprintf("; %d of %d starts end there", there, n)
		}
	}
	away := ""
	if outside > 0 {
		away = count(outside, "end lies", "ends lie") + " outside the picture"
	}
	subtitle := sentence(d.Problem, d.Note, "contours: nats below the maximum", away)

	drops := ladder(highest - lowest)
	levels := list{object{"color": "@neg*0.040", "paths": contour.At(d.Z, math.Inf(-1)).Areas()}}
	var lines list
	for k := len(drops) - 1; k >= 0; k-- {
		level := contour.At(d.Z, highest-drops[k])
		if paths := level.Areas(); len(paths) > 0 {
			share := 1 - float64(k)/float64(len(drops))
			levels = append(levels, object{"color": fmt.Sprintf("@neg*%.3f", 0.04+0.66*share), "paths": paths})
		}
		if paths := level.Lines(); len(paths) > 0 {
			lines = append(lines, object{"text": "−" + numberTo(drops[k], 3), "paths": paths})
		}
	}
	// Invisible cells for tooltips, as fine as the pointer can resolve.
	var cells list
	columns, rows := spread(nx, 30), spread(ny, 22)
	for _, i := range rows {
		for _, j := range columns {
			cells = append(cells, list{roundTo(node(xs, j, nx), 5), roundTo(node(ys, i, ny), 5), roundTo(d.Z[i][j], 6)})
		}
	}
	origin := corner(xs[0], ys[0])
	p := plot{name: "evidence", about: fmt.Sprintf("Contours of the log marginal likelihood over %s and %s.", names[0], names[1]), tip: evidenceJS.cut("tip"),
		grid: list{object{"show": true, "borderColor": "@axis"}}, keys: list{},
		svm: object{"layout": evidenceJS.cut("layout"), "box": box(xs, ys), "levels": levels, "lines": lines, "names": names, "best": roundTo(highest, 8),
			"cell": list{roundTo((xs[1]-xs[0])/float64(len(columns)-1), 5), roundTo((ys[1]-ys[0])/float64(len(rows)-1), 5)}}}
	across := func(k int, ends [2]float64, gap int) axis {
		return valueAxis(0, ends[0], ends[1], names[k]+" (log scale)", gap).set("axisLabel", object{"hideOverlap": true, "formatter": marksJS.cut("power")})
	}
	p.panel(across(0, xs, 28), across(1, ys, 46))
	p.add(areas("levels", origin),
		custom(evidenceJS.cut("lines"), origin).still().clip().z(1),
		custom(evidenceJS.cut("cell"), cells).id("cells").clip().z(2))
	d.draw(&p, best)
	p.add(custom(evidenceJS.cut("labels"), origin).still().z(10))
	return p.chart(title, subtitle), nil
}

// draw adds the paths and their ends. best is the index of the best path.
func (d *EvidenceData) draw(p *plot, best int) {
	bestPath, bestEnd := "best path", "best end"
	if len(d.Paths) == 1 {
		bestPath, bestEnd = "path", "end"
	}
	const otherPaths = "other paths"
	var starts, others, ends, places list // places is what the labels of contours must not cover
	longer := 0                           // other paths of more than one point
	for k, path := range d.Paths {
		var data list
		for i := range path.X {
			v := list{roundTo(math.Log10(path.X[i]), 5), roundTo(math.Log10(path.Y[i]), 5), k + 1, i, round4(path.X[i]), round4(path.Y[i]), roundTo(path.Value[i], 6)}
			data, places = append(data, v), append(places, list{v[0], v[1]})
		}
		n := len(data)
		if n > 1 {
			starts = append(starts, data[0])
		}
		way := func(name, color string, width, size float64, dash any, z int) mark {
			return line(data).name(name).z(z).symbols("circle", size).set("showSymbol", size > 0).set("showAllSymbol", true).ink(color, width, dash).calm()
		}
		// A rim in the colour of the page separates a path from what is below it, even in
		// print without colours. In the legend the rim has the colour of the path.
		if k == best {
			ends = append(ends, data[n-1])
			p.add(way(bestPath, "@page", 5.5, 0, "solid", 4).still().fill("@pos"), way(bestPath, "@pos", 2.6, 6, "solid", 5))
		} else {
			others = append(others, data[n-1])
			p.add(way(otherPaths, "@page", 4, 0, "solid", 3).still().fill("@ink"), way(otherPaths, "@ink", 1.3, 3, list{5, 3}, 3))
			longer += min(n-1, 1)
		}
	}
	if best >= 0 && len(d.Paths[best].X) > 1 {
		p.key(bestPath)
	}
	if longer > 0 {
		p.key(otherPaths)
	}
	if len(starts) > 0 {
		p.add(scatter(starts).name("start").symbols("circle", 10).z(9).opacity(1).fill("@page").edge("@ink", 2.2).swells(1.3))
		p.key("start")
	}
	if len(others) > 0 {
		p.add(scatter(others).name("other ends").symbols(cross, 12).z(7).opacity(1).fill("@ink").edge("@page", 1.5).swells(1.3))
		p.rimmed("other ends", 0)
	}
	if len(ends) > 0 {
		p.add(scatter(ends).name(bestEnd).symbols(diamond, 17).z(8).opacity(1).fill("@pos").edge("@page", 2).swells(1.3))
		p.rimmed(bestEnd, 0)
	}
	p.svm["places"] = places
}

// ladder returns at most ten levels below the maximum for values in a range of this length:
// 1, 2, 5, … nats, with larger or smaller units for a large or a small range.
func ladder(span float64) (drops []float64) {
	if !(span > 0) {
		return nil
	}
	start := min(nice(span/10), 1)
	for _, steps := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		drops = nil
		for power := start; power < span && len(drops) <= 10; power *= 10 {
			for _, s := range steps {
				if s*power < span {
					drops = append(drops, roundTo(s*power, 3))
				}
			}
		}
		if len(drops) <= 10 {
			return drops
		}
	}
	return drops[:10]
}

// spread returns at most limit of the indices 0 … n−1, evenly spaced, including the first
// and the last.
func spread(n, limit int) []int {
	m := min(n, limit)
	out := make([]int, m)
	for k := range out {
		out[k] = k * (n - 1) / (m - 1)
	}
	return out
}

func end(values []float64) float64 { return values[len(values)-1] }

func (d *EvidenceData) check() error {
	c := checks{figure: "Evidence"}
	c.logSpan("Xs", d.Xs)
	c.logSpan("Ys", d.Ys)
	c.grid(d.Z)
	for k, p := range d.Paths {
		c.part = fmt.Sprintf("Paths[%d].", k)
		c.refuse(len(p.X) == 0, "X", "has no points: give at least the end")
		c.numbers("step", len(p.X), given("X", p.X), given("Y", p.Y), given("Value", p.Value))
		for i := range min(len(p.X), len(p.Y)) {
			c.refuse(p.X[i] <= 0, fmt.Sprintf("X[%d]", i), "is %v: hyperparameters are positive", p.X[i])
			c.refuse(p.Y[i] <= 0, fmt.Sprintf("Y[%d]", i), "is %v: hyperparameters are positive", p.Y[i])
		}
	}
	return c.err
}

func (c *checks) logSpan(name string, ends [2]float64) {
	c.refuse(!(ends[0] > 0) || !finite(ends[1]) || ends[1] <= ends[0], name, "runs from %v to %v: give a finite range of positive numbers, the smaller end first", ends[0], ends[1])
}
