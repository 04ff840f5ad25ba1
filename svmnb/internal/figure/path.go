package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
)

//go:embed path.js
var pathJS source

// PathData is what [Path] draws: the multipliers of n points over C.
type PathData struct {
	Problem string
	Classes [2]string   // names of y = −1 and y = +1
	Breaks  int         // number of breakpoints between the ends of the path
	Y       []float64   // n labels ±1
	C       []float64   // increasing places, among them the breakpoints
	A       [][]float64 // n × places: α divided by its upper bound, in [0, 1]
}

// mostLines is the largest number of lines: those of the points that change most.
const mostLines = 40

// Path draws αᵢ/C over C on a logarithmic axis, one line for each point in the colour of
// its class.
func Path(d PathData) (*Chart, error) {
	n, c := len(d.Y), checks{figure: "Path"}
	c.refuse(n == 0 || len(d.A) != n, "A", "has %d rows for %s: give a row per point", len(d.A), count(n, "label", "labels"))
	c.places("C", d.C)
	c.refuse(c.err == nil && !(d.C[0] > 0), "C[0]", "is not above 0: a log axis needs positive places")
	for i, a := range d.A {
		c.numbers("place", len(d.C), amount(fmt.Sprintf("A[%d]", i), a))
	}
	if c.err != nil {
		return nil, c.err
	}
	travel := make([]float64, n) // sum of the changes of each line
	order := upTo(n)
	for i, a := range d.A {
		for k := 1; k < len(a); k++ {
			travel[i] += max(a[k]-a[k-1], a[k-1]-a[k])
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return sign(travel[b] - travel[a]) })
	order = order[:min(n, mostLines)]
	end := len(d.C) - 1
	var first, last int // number of support vectors at both ends
	for _, a := range d.A {
		if a[0] > 0 {
			first++
		}
		if a[end] > 0 {
			last++
		}
	}
	title := fmt.Sprintf("Of %s, %d are support vectors at C = %s and %d at C = %s; %s between", count(n, "point", "points"),
		first, number(d.C[0]), last, number(d.C[end]), count(d.Breaks, "breakpoint", "breakpoints"))
	drawnText := ""
	if n > mostLines {
		drawnText = fmt.Sprintf("the %d points that change most", mostLines)
	}
	subtitle := sentence(d.Problem, drawnText, "αᵢ/C over C: linear in 1/C between breakpoints")
	p := plot{name: "path", about: "Regularisation path.", tip: pathJS.cut("tip"), grid: object{}, svm: object{"points": order}}
	p.panel(logBetween(d.C[0], d.C[end], "C"),
		axis{"type": "value", "min": -0.03, "max": 1.03, "splitLine": object{"show": false}, "axisLine": object{"show": true, "onZero": false},
			"axisTick": object{"show": true, "customValues": list{0, 0.25, 0.5, 0.75, 1}}}.named("αᵢ/C", 40).
			label(object{"customValues": list{0, 0.25, 0.5, 0.75, 1}, "formatter": marksJS.cut("digits", "digits", 2)}))
	names, colors := classNames(d.Classes), [2]string{"@neg", "@pos"}
	places := make([]float64, len(d.C))
	for k, v := range d.C {
		places[k] = math.Log(v)
	}
	for _, i := range order {
		class := 0
		if d.Y[i] > 0 {
			class = 1
		}
		var data list
		for _, k := range bends(places, d.A[i]) {
			data = append(data, list{roundTo(d.C[k], 5), round4(d.A[i][k])})
		}
		p.add(line(data).name(names[class]).symbols("circle", 8).set("showSymbol", true).set("showAllSymbol", true).pen(colors[class]+"/0.6", 1.3).
			fill(colors[class]).opacity(0). // invisible, for the tooltip
			in("emphasis", object{"focus": "series", "lineStyle": object{"width": 3.5, "opacity": 1}, "itemStyle": object{"opacity": 1}}).
			in("blur", object{"lineStyle": object{"opacity": 0.15}}))
	}
	for _, name := range names {
		p.key(name)
	}
	return p.chart(title, subtitle), nil
}

// bendTol is the largest distance between a line of the picture and the line that it stands
// for: less than half a pixel.
const bendTol = 5e-4

// bends returns the indices of the places at which the line through all places bends,
// including the first and the last. A straight line between two of them passes within
// bendTol of those that are left out.
func bends(x, y []float64) []int {
	keep, steepest, flattest := []int{0}, math.Inf(1), math.Inf(-1)
	for k := 1; k < len(x); k++ {
		from := keep[len(keep)-1]
		if slope := (y[k] - y[from]) / (x[k] - x[from]); slope > steepest || slope < flattest {
			from, steepest, flattest = k-1, math.Inf(1), math.Inf(-1)
			keep = append(keep, from)
		}
		steepest = min(steepest, (y[k]+bendTol-y[from])/(x[k]-x[from]))
		flattest = max(flattest, (y[k]-bendTol-y[from])/(x[k]-x[from]))
	}
	return append(keep, len(x)-1)
}
