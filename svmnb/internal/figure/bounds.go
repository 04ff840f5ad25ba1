package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

//go:embed bounds.js
var boundsJS source

// BoundsData is what [Bounds] draws: the bounds of y'A⁻¹y that an iterative solver had at m
// of its iterations. A slice is nil if the solver does not compute this bound; a single
// value is NaN if it was not known at that iteration.
type BoundsData struct {
	Problem    string // what was solved and how, such as "K + 0.01 I, n = 500, CG"
	Iterations []int  // m increasing iteration numbers

	Lower       []float64 // m lower bounds
	Skilling    []float64 // m upper bounds by ‖r‖²/θ
	Radau       []float64 // m upper bounds by Gauss–Radau quadrature
	GibbsMacKay []float64 // m upper bounds by a second run, on AB with B = A − θI (Gibbs and MacKay 1997)
	Residual    []float64 // m relative residuals ‖y − Aα‖/‖y‖, ≥ 0; nil omits their panel

	Exact   float64 // y'A⁻¹y; NaN when unknown
	Tol     float64 // gap at which the answer is good enough; 0 omits the line
	TolName string  // label of this line; "tolerance" and its value when empty

	Name   string           // name of this run, beside Others; "this run" when empty
	Others []ResidualSeries // residuals of other runs, for comparison; at most 7
}

// ResidualSeries is the residual of a run at its iterations.
type ResidualSeries struct {
	Name       string    // such as "rank 20"
	Iterations []int     // increasing
	Residual   []float64 // relative residuals ‖y − Aα‖/‖y‖, ≥ 0; NaN where unknown
}

// boundStyles are the names, colours and dashes of the upper bounds.
var boundStyles = [3]struct {
	key, name, color string
	dash             any
	width            float64
}{
	{"radau", "Gauss–Radau", "@pos", "solid", 2.6},
	{"skilling", "Skilling", "@series3", list{7, 4}, 2},
	{"gibbs", "Gibbs–MacKay", "@series4", list{2, 3}, 2.4},
}

// Bounds draws the lower and upper bounds of y'A⁻¹y as they approach each other. Below, on
// logarithmic axes, it draws the gaps between them and the residual.
func Bounds(d BoundsData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	m := len(d.Iterations)
	x := floats(d.Iterations)
	uppers := [3][]float64{d.Radau, d.Skilling, d.GibbsMacKay}
	var gaps [3][]float64
	least := math.Inf(1)
	reached := [3]int{-1, -1, -1} // index of the iteration at which the gap reached the tolerance
	for b, upper := range uppers {
		for k, u := range upper {
			gap := u - d.Lower[k]
			gaps[b] = append(gaps[b], positive(gap))
			if gap < least {
				least = gap
			}
			if reached[b] < 0 && gap <= d.Tol {
				reached[b] = k
			}
		}
	}
	keep := thin(x, curvePoints, append(slices.Concat(uppers[:], gaps[:]), d.Lower)...)
	// The best gap at the last iteration at which a bound was known.
	known, best, bestGap := m-1, -1, math.Inf(1)
	for k := m - 1; k >= 0 && best < 0; k-- {
		for b, upper := range uppers {
			if upper != nil && upper[k]-d.Lower[k] < bestGap {
				known, best, bestGap = k, b, upper[k]-d.Lower[k]
			}
		}
	}
	for best < 0 && math.IsNaN(d.Lower[known]) {
		known--
	}

	title := d.finding(known, best, bestGap, least, reached)
	end := ""
	if best >= 0 {
		end = sandwich(d.Lower[known], uppers[best][known])
		if finite(d.Exact) {
			end += ", exactly " + fixed(d.Exact, apart(d.Lower[known], uppers[best][known]))
		}
	}

	// Upper bounds begin at very large values. The axis ends where the rise of the lower
	// bound is still visible.
	low, high := extent(d.Lower)
	if finite(d.Exact) {
		low, high = min(low, d.Exact), max(high, d.Exact)
	}
	span := high - low
	if span <= 0 {
		span = max(math.Abs(high), 1) / 10
	}
	_, peak := extent(uppers[:]...)
	ceiling := high
	if peak > ceiling {
		ceiling = min(peak, high+span)
	}
	above := ""
	if peak > ceiling {
		above = "the upper bounds begin above the picture, up to " + number(peak)
	}
	subtitle := sentence(d.Problem, end, above)
	ceiling += 0.06 * span
	bottom := low - 0.03*span
	if low >= 0 { // no value is negative
		bottom = max(bottom, 0)
	}

	svm := object{"layout": boundsJS.cut("layout"), "its": rounded(x, keep, func(v float64) float64 { return v }), "lower": column(pick(d.Lower, keep), 9)}
	p := plot{name: "bounds", about: "Lower and upper bounds of y'A⁻¹y and the gap between them against iterations.", tip: boundsJS.cut("tip"), along: true, links: list{0, 1},
		grid: list{object{}, object{}}, svm: svm}
	if best >= 0 { // the area between the bounds
		var bx, bl, bu list
		for _, k := range keep {
			u := math.Inf(1) // the smallest upper bound at this iteration
			for _, upper := range uppers {
				if upper != nil && finite(upper[k]) {
					u = min(u, upper[k])
				}
			}
			if finite(u) && finite(d.Lower[k]) {
				bx, bl, bu = append(bx, d.Iterations[k]), append(bl, roundTo(d.Lower[k], 6)), append(bu, roundTo(u, 6))
			}
		}
		svm["bx"], svm["bl"], svm["bu"] = bx, bl, bu
		if len(bx) > 0 {
			p.add(band(0, "", "bx", "bl", "bu", "@series4/0.14", ""))
		}
	}
	var names list
	for b, look := range boundStyles {
		if uppers[b] == nil {
			continue
		}
		svm[look.key], svm[look.key+"gap"] = column(pick(uppers[b], keep), 9), column(pick(gaps[b], keep), 4)
		names = append(names, list{look.key, look.name})
		for k, key := range []string{look.key, look.key + "gap"} {
			p.add(curve(k, look.name, "its", key, look.color).pen(look.color, look.width, look.dash).z(4-b).set("showSymbol", lone(pick(uppers[b], keep))))
		}
		p.key(look.name)
	}
	svm["names"] = names
	p.add(curve(0, "lower bound", "its", "lower", "@neg").z(4).set("showSymbol", lone(pick(d.Lower, keep))))
	p.key("lower bound")
	first, last := x[0], max(x[m-1], x[0]+1)
	var errors []float64
	if finite(d.Exact) {
		errors = make([]float64, m)
		for k, l := range d.Lower {
			if errors[k] = positive(d.Exact - l); errors[k] < 1e-13*math.Abs(d.Exact) {
				errors[k] = math.NaN() // a rounding error of the exact value
			}
		}
		svm["error"] = column(pick(errors, keep), 4)
		p.add(line(list{list{first, d.Exact}, list{last, d.Exact}}).name("exact").bare().still().z(5).ink("@ink", 1.2, list{1, 3}),
			curve(1, "true error of the lower bound", "its", "error", "@ink").pen("@ink", 1.4, list{9, 3, 2, 3}))
		p.key("exact")
		p.key("true error of the lower bound")
	}
	// The last digits of a bound are rounding errors.
	smallest, greatest := extent(gaps[0], gaps[1], gaps[2], errors)
	if d.Tol > 0 {
		p.add(tolerance(1, first, last, d.Tol, d.TolName))
	}
	from, to := gapDecades(max(smallest, math.Abs(high)*1e-15), greatest, d.Tol)

	scale := iterations{}
	p.panel(scale.option(0, first, last, false), valueAxis(0, roundTo(bottom, 6), roundTo(ceiling, 6), "y'A⁻¹y", 60).lines().label(object{"showMinLabel": bottom == 0}))
	p.panel(scale.option(1, first, last, d.Residual == nil), logValues(1, from, to).named("upper − lower (log scale)", 60))
	if d.Residual != nil {
		y, end := d.residuals(&p)
		p.grid = append(p.grid.(list), object{})
		p.panel(scale.option(2, first, last, true), y)
		if len(d.Others) > 0 { // other runs have other numbers of iterations
			p.xs[1] = object(scale.option(1, first, last, true).set("name", ""))
			p.xs[2] = object(scale.option(2, 0, max(end, last), true))
		}
	}
	for _, a := range p.xs {
		axis(a.(object)).lines().pointed()
	}
	svm["apart"] = len(d.Others) > 0
	return p.chart(title, subtitle), nil
}

// residuals adds the lines of the third panel. It returns the panel's vertical axis and the
// last iteration of all runs.
func (d *BoundsData) residuals(p *plot) (y axis, end float64) {
	runs := append([]ResidualSeries{{Name: either(d.Name, "this run"), Iterations: d.Iterations, Residual: d.Residual}}, d.Others...)
	least, most := math.Inf(1), 1.0
	for i, run := range runs {
		name := "residual"
		if len(d.Others) > 0 {
			name += ": " + run.Name
		}
		its, values := floats(run.Iterations), make([]float64, len(run.Residual))
		for k, r := range run.Residual {
			values[k] = positive(r)
		}
		if low, high := extent(values); finite(low) {
			least, most = min(least, low), max(most, high)
		}
		_, last := extent(its)
		end = max(end, last)
		points := list{}
		keep := thin(its, curvePoints, values)
		for n, v := range column(pick(values, keep), 4) {
			points = append(points, list{its[keep[n]], v})
		}
		color := fmt.Sprintf("@series%d", [raceMost]int{8, 6, 5, 7, 1, 2, 3, 4}[i]) // first the colours that no bound has
		p.add(line(points).name(name).on(2).set("symbol", "circle").set("showSymbol", lone(values)).z(3-min(i, 1)).ink(color, 2, raceDashes[i]).calm())
		p.key(name)
	}
	if !finite(least) {
		least = 1e-3
	}
	from, to := decades(max(least, 1e-17), most)
	return logValues(2, from, to).named("‖y − Aα‖/‖y‖ (log scale)", 60), end
}

// finding says how small the gap became, and when it reached the tolerance. gap is the last
// that is known, least the smallest.
func (d *BoundsData) finding(known, best int, gap, least float64, reached [3]int) string {
	end := count(d.Iterations[known], "iteration", "iterations")
	if best < 0 {
		return fmt.Sprintf("No upper bound: y'A⁻¹y ≥ %s after %s", number(d.Lower[known]), end)
	}
	if d.Tol <= 0 {
		if gap <= 0 {
			return "The bounds meet up to rounding after " + end
		}
		return fmt.Sprintf("The gap is %s after %s", numberTo(gap, 2), end)
	}
	var when []string
	for b, k := range reached {
		if k >= 0 {
			when = append(when, fmt.Sprintf("%s at iteration %s", boundStyles[b].name, thousands(int64(d.Iterations[k]))))
		}
	}
	if len(when) == 0 {
		return fmt.Sprintf("The gap is still %s after %s; the tolerance is %s", numberTo(gap, 2), end, numberTo(d.Tol, 2))
	}
	falls := "The bounds meet up to rounding"
	if least > 0 {
		falls = "The gap falls to " + numberTo(least, 2)
	}
	return fmt.Sprintf("%s; the tolerance %s is met by %s", falls, numberTo(d.Tol, 2), strings.Join(when, ", "))
}

// sandwich prints two bounds with enough decimals to differ.
func sandwich(lower, upper float64) string {
	decimals := apart(lower, upper)
	return fmt.Sprintf("%s ≤ y'A⁻¹y ≤ %s", fixed(lower, decimals), fixed(upper, decimals))
}

// apart returns how many decimals two numbers need so that two digits of their difference
// are seen. Numbers that are equal get four significant digits.
func apart(a, b float64) int {
	gap := math.Abs(b - a)
	if gap == 0 {
		gap = max(math.Abs(a), math.Abs(b)) / 100
	}
	if gap == 0 {
		return 0
	}
	return min(max(1-int(math.Floor(math.Log10(gap))), 0), 12)
}

// fixed prints v with so many decimals and a minus sign instead of a hyphen.
func fixed(v float64, decimals int) string {
	return strings.Replace(strconv.FormatFloat(v, 'f', decimals, 64), "-", "−", 1)
}

// lone reports whether a value has no neighbour, so that no line but only a symbol can show
// it.
func lone(values []float64) bool {
	for k, v := range values {
		if finite(v) && (k == 0 || !finite(values[k-1])) && (k == len(values)-1 || !finite(values[k+1])) {
			return true
		}
	}
	return false
}

// pick returns the values with the indices keep.
func pick[T any](values []T, keep []int) []T {
	out := make([]T, len(keep))
	for k, i := range keep {
		out[k] = values[i]
	}
	return out
}

func floats(values []int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

func (d *BoundsData) check() error {
	c := checks{figure: "Bounds"}
	c.refuse(len(d.Iterations) == 0, "Iterations", "has length 0: give the trace of a run")
	c.size("Tol", d.Tol)
	c.refuse(math.IsInf(d.Exact, 0), "Exact", "is %v: give the value, or NaN when it is unknown", d.Exact)
	c.rising("Iterations[%d]", d.Iterations)
	c.numbers("iteration", len(d.Iterations), given("Lower", d.Lower, missing), given("Skilling", d.Skilling, optional, missing), given("Radau", d.Radau, optional, missing),
		given("GibbsMacKay", d.GibbsMacKay, optional, missing), amount("Residual", d.Residual, optional, missing))
	low, _ := extent(d.Lower)
	c.refuse(!finite(low), "Lower", "has no number: give the lower bounds of the run")
	c.refuse(len(d.Others) > raceMost-1, "Others", "has %d runs: give at most %d, more cannot be told apart", len(d.Others), raceMost-1)
	c.refuse(d.Others != nil && d.Residual == nil, "Residual", "is nil though there are Others: give the residuals of this run, too")
	names := []string{either(d.Name, "this run")}
	for i, run := range d.Others {
		c.part = fmt.Sprintf("Others[%d].", i)
		c.refuse(run.Name == "" || slices.Contains(names, run.Name), "Name", "is %q: give each run a name of its own", run.Name)
		c.rising("Iterations[%d]", run.Iterations)
		c.numbers("iteration", len(run.Iterations), amount("Residual", run.Residual, missing))
		names = append(names, run.Name)
	}
	return c.err
}
