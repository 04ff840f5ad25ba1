package figure

import (
	_ "embed"
	"fmt"
	"math"
)

//go:embed course.js
var courseJS source

// course is a figure of quantities over iterations, in panels one below the other.
type course struct {
	figure     string
	iterations []int
	panels     []coursePanel
}

type coursePanel struct {
	name  string
	log   bool // the axis is logarithmic
	whole bool // the values are counts, so the axis begins at 0
	lines []courseLine
}

type courseLine struct {
	name, color string
	values      []float64 // NaN if there is no value
	dash        any       // of a line; nil for a solid one
	step        bool      // the value stays the same until the next iteration
}

// check returns an error unless the iterations increase and each line has one value, or
// NaN, for each of them, at least one of which can be drawn.
func (c *course) check() error {
	ok := checks{figure: c.figure}
	ok.refuse(len(c.iterations) == 0, "Points", "has no point: give the trace of a run")
	ok.rising("Points[%d].Iteration", c.iterations)
	for _, p := range c.panels {
		for _, l := range p.lines {
			ok.numbers("point", len(c.iterations), given(l.name+" at Points", l.values, missing))
		}
	}
	return ok.err
}

// chart draws the panels; alt says what they show.
func (c *course) chart(name, title, subtitle, alt string) *Chart {
	its := floats(c.iterations)
	first, last := its[0], its[len(its)-1]
	if last == first {
		last++
	}
	axis := iterations{log: last-first > 500}
	places := make([]float64, len(its))
	for k, it := range its {
		places[k] = axis.place(it)
	}
	var curves [][]float64
	for _, p := range c.panels {
		for _, l := range p.lines {
			curves = append(curves, l.values)
		}
	}
	keep := thin(places, curvePoints, curves...)
	var names, grids list
	p := plot{name: name, about: alt, tip: courseJS.cut("tip"), along: true, links: "all",
		svm: object{"layout": courseJS.cut("layout"), "x": column(pick(places, keep), 6), "its": column(pick(its, keep), 9)}}
	for k, panel := range c.panels {
		low, high := math.Inf(1), math.Inf(-1)
		for _, l := range panel.lines {
			a, b := extent(l.values)
			low, high = min(low, a), max(high, b)
			key := fmt.Sprintf("y%d", len(names))
			p.svm[key] = column(pick(l.values, keep), 6)
			names = append(names, l.name)
			m := curve(k, l.name, "x", key, l.color).in("lineStyle", object{"width": 2.2}).set("showSymbol", lone(pick(l.values, keep)))
			if l.dash != nil {
				m.in("lineStyle", object{"type": l.dash})
			}
			if l.step {
				m.set("step", "end")
			}
			p.add(m)
			p.key(l.name)
		}
		if low > high { // there are no values
			low, high = 0.1, 1
		}
		x := axis.option(k, first, last, k == len(c.panels)-1).lines().pointed()
		switch {
		case panel.log:
			p.panel(x, logRange(k, low, high).named(panel.name+" (log scale)", 48))
		case panel.whole:
			p.panel(x, valueAxis(k, 0, max(1.06*high, 1), panel.name, 48).set("minInterval", 1).lines().label(object{"showMinLabel": true}))
		default:
			low, high = widen(low, high, 0.06)
			p.panel(x, valueAxis(k, low, high, panel.name, 48).lines())
		}
		grids = append(grids, object{})
	}
	p.svm["names"], p.grid = names, grids
	return p.chart(title, subtitle)
}
