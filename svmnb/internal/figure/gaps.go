package figure

import (
	_ "embed"
	"fmt"
	"math"
)

//go:embed gaps.js
var gapsJS source

// GapsData is what [Gaps] draws: machines for one problem and how far they are from its
// optimum.
type GapsData struct {
	Problem string
	Points  int       // n
	Names   []string  // of the machines
	Gaps    []float64 // relative gaps, from 0 to 1; NaN for a machine without one
	Open    []int     // labels of the training points that are not proven to be those of the optimum
	Whole   int       // the title is about the first so many; 0 means all
	Texts   []string  // what a tooltip says of each machine in place of Open; nil means Open
}

// Gaps draws the relative gap of each machine as a dot on a logarithmic axis. Gaps below 1e-12,
// which rounding decides, are drawn at 1e-12.
func Gaps(d GapsData) (*Chart, error) {
	c, k := checks{figure: "Gaps"}, len(d.Names)
	c.refuse(k == 0 || k > 40, "Names", "has %s: give 1 to 40", count(k, "machine", "machines"))
	c.refuse(len(d.Open) != k, "Open", "has length %d for %s: give one value per machine", len(d.Open), count(k, "machine", "machines"))
	c.refuse(d.Texts != nil && len(d.Texts) != k, "Texts", "has length %d for %s: give one text per machine", len(d.Texts), count(k, "machine", "machines"))
	c.numbers("machine", k, given("Gaps", d.Gaps, missing))
	c.refuse(d.Points < 1, "Points", "is %d: give the number of points", d.Points)
	if c.err != nil {
		return nil, c.err
	}
	const least = 1e-12
	best, low, high := -1, math.Inf(1), 0.0
	var data list
	for i, v := range d.Gaps {
		if !finite(v) {
			continue
		}
		if whole := d.Whole == 0 || i < d.Whole; whole && (best < 0 || v < d.Gaps[best]) {
			best = i
		}
		v = max(v, least)
		low, high = min(low, v), max(high, v)
		data = append(data, list{roundTo(v, 6), i, d.Open[i]})
	}
	title := "No machine has a gap"
	if best >= 0 {
		title = fmt.Sprintf("%s is nearest, within %s of the optimum", d.Names[best], gapWords(d.Gaps[best]))
	}
	if len(data) == 0 {
		low, high = 1e-3, 1
	}
	from, to := decades(low/1.5, high*1.5)
	p := plot{name: "gaps", about: "Distance from the optimum of each machine, as dots on a logarithmic axis.", tip: gapsJS.cut("tip"), grid: object{},
		svm: object{"names": d.Names, "points": d.Points, "layout": gapsJS.cut("layout", "font", fontFamily)}}
	if d.Texts != nil {
		p.tip, p.svm["texts"] = gapsJS.cut("tipTexts"), d.Texts
	}
	p.panel(logValues(0, from, to).named("relative gap (log scale)", 30),
		axis{"type": "category", "data": d.Names, "inverse": true, "axisTick": object{"show": false}, "splitLine": object{"show": true}}.label(object{"overflow": "truncate"}))
	p.add(scatter(data).name("gap").set("encode", object{"x": 0, "y": 1}).symbols("circle", 12).fill("@neg").edge("@page", 1).z(3))
	return p.chart(title, sentence(d.Problem, fmt.Sprintf("n = %s", thousands(int64(d.Points))))), nil
}

// gapWords writes a relative gap as a percentage, or as a power of ten if it is tiny.
func gapWords(v float64) string {
	if v < 1e-6 {
		return fmt.Sprintf("%.0e", max(v, 0))
	}
	return numberTo(100*v, 3) + " %"
}
