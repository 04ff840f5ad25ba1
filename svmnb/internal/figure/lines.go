package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
)

//go:embed lines.js
var linesJS source

// LinesData is what [Lines] draws: lines over one pair of axes.
type LinesData struct {
	Title          string
	X, Y           string // names of the axes
	Lines          []Line
	LogX, LogY     bool       // the axis is logarithmic; its numbers must be positive
	XRange, YRange [2]float64 // ends of the axes; NaN for those of the data
	Marks          []Mark     // points that the title speaks of
}

// Line is one line of [Lines].
type Line struct {
	Name string
	X, Y []float64 // a Y that is NaN leaves a gap
}

// Mark is a point with a text in [Lines].
type Mark struct {
	X, Y float64
	Text string
}

// MostLines is the largest number of lines, as there are ten colours.
const MostLines = 10

// lineDashes are the dashes of the lines, so that they differ without colours too.
var lineDashes = []any{"solid", list{8, 4}, list{2, 3}, list{9, 3, 2, 3}, list{14, 4}}

// Lines draws lines over one pair of axes.
func Lines(d LinesData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	var xs, ys [][]float64
	for _, l := range d.Lines {
		xs, ys = append(xs, l.X), append(ys, l.Y)
	}
	x, left, right := lineAxis(d.X, d.LogX, d.XRange, 28, xs)
	if d.XRange[0] != d.XRange[0] && d.XRange[1] != d.XRange[1] && !d.LogX && left < right { // lines begin and end at the frame
		x.set("min", roundTo(left, 6)).set("max", roundTo(right, 6))
	}
	y, bottom, top := lineAxis(d.Y, d.LogY, d.YRange, 48, ys)
	roundX, roundY := lineRounding(d.LogX, left, right, d.XRange), lineRounding(d.LogY, bottom, top, d.YRange)
	p := plot{name: "lines", tip: linesJS.cut("tip"), along: true, grid: object{}, svm: object{"x": d.X}}
	p.panel(x.pointed(), y.set("gridIndex", 0))
	listed := ""
	for k, l := range d.Lines {
		places := make([]float64, len(l.X))
		for i, v := range l.X {
			if places[i] = v; d.LogX {
				places[i] = math.Log(v)
			}
		}
		keep := upTo(len(l.X))
		if len(l.X) > curvePoints && slices.IsSorted(l.X) && places[0] < places[len(places)-1] {
			keep = thin(places, curvePoints, l.Y)
		}
		var data list
		for _, i := range keep {
			var v any
			if finite(l.Y[i]) {
				v = roundY(l.Y[i])
			}
			data = append(data, list{roundX(l.X[i]), v})
		}
		color, look := fmt.Sprintf("@series%d", k+1), k%len(lineDashes)
		p.add(line(data).name(l.Name).id(fmt.Sprint("line", k)).symbols("circle", 6).set("showSymbol", len(keep) == 1 || len(keep) > 2 && len(keep) <= 25).ink(color, 2.4, lineDashes[look]).z(3).
			in("emphasis", object{"focus": "series"}))
		p.key(l.Name)
		listed += ", " + l.Name
	}
	if len(d.Lines) == 1 {
		p.keys = nil
	}
	if len(d.Marks) > 0 {
		p.add(d.marks(x))
	}
	p.about = fmt.Sprintf("Lines of %s over %s: %s.", d.Y, d.X, listed[2:])
	return p.chart(d.Title, ""), nil
}

// marks are rings with texts over the lines. A text is at the right of its ring, or at the left if
// the ring is in the right half of the picture, where there may be no room.
func (d *LinesData) marks(x axis) mark {
	at := func(v float64) float64 {
		if d.LogX {
			return math.Log(v)
		}
		return v
	}
	low, _ := x["min"].(float64)
	high, _ := x["max"].(float64)
	var data list
	for _, m := range d.Marks {
		label := object{"formatter": m.Text}
		if at(m.X)-at(low) > at(high)-at(m.X) {
			label["position"], label["align"] = list{-1, -12}, "right"
		}
		data = append(data, object{"value": list{m.X, m.Y}, "label": label})
	}
	return scatter(data).id("marks").symbols("circle", 13).fill("none").edge("@ink", 2).still().z(8).
		set("label", object{"show": true, "position": list{14, -12}, "color": "@ink", "fontSize": 13, "fontWeight": 600, "textBorderColor": "@page", "textBorderWidth": 3}).
		set("labelLayout", object{"hideOverlap": true})
}

// lineRounding returns the rounding of values on an axis: on a linear one to what the eye can see,
// since smaller digits may be the rounding errors of the reader's calculation.
func lineRounding(log bool, low, high float64, ends [2]float64) func(float64) float64 {
	if log {
		return func(v float64) float64 { return roundTo(v, 6) }
	}
	if finite(ends[0]) {
		low = ends[0]
	}
	if finite(ends[1]) {
		high = ends[1]
	}
	return rounding(low, high)
}

// lineAxis returns the axis of these values, and their ends.
func lineAxis(name string, log bool, ends [2]float64, gap int, values [][]float64) (a axis, low, high float64) {
	low, high = extent(values...)
	if log {
		from, to := low, high
		if finite(ends[0]) {
			from = ends[0]
		}
		if finite(ends[1]) {
			to = ends[1]
		}
		a = logRange(0, from, to)
		if finite(ends[0]) {
			a.set("min", ends[0])
		}
		if finite(ends[1]) {
			a.set("max", ends[1])
		}
		return a.named(name+" (log scale)", gap), low, high
	}
	from, to := widen(low, high, 0.06)
	if low >= 0 && low < 0.3*high { // amounts are seen from 0
		from = 0
	}
	if finite(ends[0]) {
		from = ends[0]
	}
	if finite(ends[1]) {
		to = ends[1]
	}
	return valueAxis(0, roundTo(from, 6), roundTo(to, 6), name, gap).lines().
		label(object{"showMinLabel": from == 0 || from == ends[0], "showMaxLabel": to == ends[1]}), low, high
}

func (d *LinesData) check() error {
	c := checks{figure: "Lines"}
	c.refuse(len(d.Lines) == 0 || len(d.Lines) > MostLines, "Lines", "has %d lines: give 1 to %d, more cannot be told apart", len(d.Lines), MostLines)
	for i, ends := range [][2]float64{d.XRange, d.YRange} {
		field, log := [...]string{"XRange", "YRange"}[i], [...]bool{d.LogX, d.LogY}[i]
		c.refuse(ends[0] >= ends[1] || math.IsInf(ends[0], 0) || math.IsInf(ends[1], 0), field, "is %v: give two increasing numbers, or NaN for an end of the data", ends)
		c.refuse(log && (ends[0] <= 0 || ends[1] <= 0), field, "is %v: a log axis needs positive ends", ends)
	}
	for k, l := range d.Lines {
		field := func(name string) string { return fmt.Sprintf("Lines[%d].%s", k, name) }
		c.refuse(len(l.X) == 0, field("X"), "has no point: give at least one")
		c.refuse(len(l.Y) != len(l.X), field("Y"), "has length %d for %s", len(l.Y), count(len(l.X), "place", "places"))
		if c.err != nil {
			return c.err
		}
		some := false
		for i, x := range l.X {
			y := l.Y[i]
			some = some || finite(y)
			c.refuse(!finite(x), fmt.Sprintf("Lines[%d].X[%d]", k, i), "is %v: give finite numbers", x)
			c.refuse(math.IsInf(y, 0), fmt.Sprintf("Lines[%d].Y[%d]", k, i), "is %v: give finite numbers, or NaN for a gap", y)
			c.refuse(d.LogX && x <= 0, fmt.Sprintf("Lines[%d].X[%d]", k, i), "is %v: a log axis needs positive numbers", x)
			c.refuse(d.LogY && y <= 0, fmt.Sprintf("Lines[%d].Y[%d]", k, i), "is %v: a log axis needs positive numbers", y)
		}
		c.refuse(!some, field("Y"), "has no number: give at least one")
	}
	for k, m := range d.Marks {
		field := fmt.Sprintf("Marks[%d]", k)
		c.refuse(!finite(m.X) || !finite(m.Y), field, "is at %v, %v: give finite numbers", m.X, m.Y)
		c.refuse(d.LogX && m.X <= 0 || d.LogY && m.Y <= 0, field, "is at %v, %v: a log axis needs positive numbers", m.X, m.Y)
	}
	return c.err
}
