package figure

import (
	_ "embed"
	"fmt"
	"math"
)

//go:embed alphas.js
var alphasJS source

// AlphasData is what [Alphas] draws: the multipliers of n points.
type AlphasData struct {
	Problem string
	Name    string    // name of a multiplier; "α" when empty
	Sides   [2]string // names of the classes y = −1 and y = +1, which are drawn below and above the axis
	Up      []bool    // n: whether a multiplier is drawn above the axis
	Alpha   []float64 // n, ≥ 0
	Upper   []float64 // n upper bounds, +Inf without one
}

// Alphas draws the histogram of the multipliers that are not 0, one class upwards and the
// other downwards. Multipliers at their bound have a bar of their own.
func Alphas(d AlphasData) (*Chart, error) {
	n, c := len(d.Alpha), checks{figure: "Alphas"}
	c.refuse(n == 0 || len(d.Up) != n, "Alpha", "has %s and Up %d: give both for each point", count(n, "value", "values"), len(d.Up))
	c.numbers("point", n, amount("Alpha", d.Alpha), amount("Upper", d.Upper, infinite))
	if c.err != nil {
		return nil, c.err
	}
	name := either(d.Name, "α")
	largest, same := 0.0, true
	for i, a := range d.Alpha {
		largest, same = max(largest, a), same && d.Upper[i] == d.Upper[0]
	}
	// The axis ends at the common upper bound. If the bounds differ, α is drawn as a share
	// of its bound and the axis ends at 1. Without bounds it ends at the largest α.
	most, across := d.Upper[0], name
	switch {
	case !same:
		most, across = 1, name+" / C of the point"
	case math.IsInf(most, 1):
		most = largest
	}
	const bars = 20
	var counts [bars][2]int
	var zero, bound [2]int
	free := 0
	for i, a := range d.Alpha {
		side, top := 0, d.Upper[i]
		if d.Up[i] {
			side = 1
		}
		switch support(a, top) {
		case 0:
			zero[side]++
		case 2:
			bound[side]++
		default:
			if !same {
				a /= top
			}
			counts[min(int(bars*(a/most)), bars-1)][side]++
			free++
		}
	}
	if most == 0 {
		most = 1
	}
	width := most / bars
	highest := [2]int{max(1, bound[0]), max(1, bound[1])}
	names := classNames(d.Sides)
	p := plot{name: "alphas", about: fmt.Sprintf("Histogram of %s.", name), tip: alphasJS.cut("tip"), zoom: object{"yAxisIndex": false}, grid: object{},
		svm: object{"name": name, "layout": scoresJS.cut("layout")}}
	for side, color := range []string{"@neg", "@pos"} {
		data, sign := list{}, 2*side-1
		for k, n := range counts {
			if n[side] > 0 {
				data = append(data, list{roundTo(width*float64(k), 6), roundTo(width*float64(k+1), 6), sign * n[side], 0})
			}
			highest[side] = max(highest[side], n[side])
		}
		if bound[side] > 0 {
			data = append(data, list{roundTo(most+0.6*width, 6), roundTo(most+1.8*width, 6), sign * bound[side], 1})
		}
		p.add(custom(alphasJS.cut("bar", "color", color), data).name(names[side]).set("encode", object{"x": list{0, 1}, "y": 2}).fill(color))
		p.key(names[side], "rect")
	}
	zeros, bounds := zero[0]+zero[1], bound[0]+bound[1]
	title := fmt.Sprintf("%d of %d %s %s 0, %d %s free, %d at the bound", zeros, n, name, be(zeros), free, be(free), bounds)
	subtitle := sentence(d.Problem, fmt.Sprintf("above: %s, below: %s", names[1], names[0]), "those that are 0 are not drawn")
	labels, end := list{0, roundTo(most/2, 4), roundTo(most, 4)}, ""
	if bounds > 0 { // the bar beside the axis stands for α = C
		labels[2], end = roundTo(most+1.2*width, 6), "C"
		if same {
			end += " = " + number(most)
		}
	}
	p.panel(
		axis{"type": "value", "min": 0, "max": roundTo(most+2.4*width, 6), "axisLine": object{"show": true, "onZero": true}, "axisTick": object{"show": false}, "splitLine": object{"show": false}}.
			named(across, 28).label(object{"customValues": labels, "formatter": alphasJS.cut("place", "most", roundTo(most, 6), "end", end)}),
		upDown(roundTo(-1.14*float64(highest[0]), 4), roundTo(1.14*float64(highest[1]), 4)).set("splitLine", object{"show": false}))
	return p.chart(title, subtitle), nil
}

// be returns the verb for n things.
func be(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
