package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/svmnb/svmnb/solvers"
)

//go:embed rate.js
var rateJS source

// RateData is what [Rate] draws: the trace of a run.
type RateData struct {
	Problem string          // what was solved and how
	Points  []solvers.Point // increasing iterations; NaN for what was not measured
	Unit    string          // name of an iteration; "iteration" when empty
}

// Fall is how fast a gap falls from iteration From on: gap ≈ Start · Factor^k at iteration
// k. A method that converges linearly has a factor below 1 (Cristianini and Shawe-Taylor
// 2000, §7.2: ‖α^t − α*‖ ≤ μδ^t). If the convergence is faster than linear, there is no
// such factor; First and Last are the factors of the first and the last third of the
// iterations.
type Fall struct {
	Factor, Start float64
	From          int
	Bends         bool // convergence is faster than linear: each iteration reduces the gap by a larger factor
	First, Last   float64
}

// FitRate fits a straight line to the logarithm of the smallest gap so far, over the second
// half of the iterations in which it fell. Gaps below 1e-12 of the objective are rounding
// errors and are ignored. With fewer than three gaps, Factor is NaN.
//
// Bends is set if the logarithms lie above the straight line between their ends by a tenth
// of the whole fall at some place, and nowhere clearly below it. In a long run this must be
// so for both halves: a linearly convergent method often gets another factor when it has
// found the support vectors, and its fall then consists of two straight lines.
func FitRate(points []solvers.Point) Fall {
	var x, y []float64
	best := math.Inf(1)
	for _, p := range points {
		if finite(p.Gap) && p.Gap > lastDigits(p) && p.Gap < best {
			best = p.Gap
			x, y = append(x, float64(p.Iteration)), append(y, math.Log(p.Gap))
		}
	}
	for len(x) > 3 && x[0] < x[len(x)-1]/2 {
		x, y = x[1:], y[1:]
	}
	if len(x) < 3 {
		return Fall{Factor: math.NaN(), Start: math.NaN()}
	}
	n, mx, my := float64(len(x)), 0.0, 0.0
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	sxx, sxy := 0.0, 0.0
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	slope := sxy / sxx
	f := Fall{Factor: math.Exp(slope), Start: math.Exp(my - slope*mx), From: int(x[0])}
	end := len(x) - 1
	half, _ := slices.BinarySearch(x, (x[0]+x[end])/2)
	early, _ := bow(x[:half+1], y[:half+1])
	late, _ := bow(x[half:], y[half:])
	above, below := bow(x, y)
	f.Bends = above > 0.1 && below < 0.02 && (len(x) <= fewSteps || early > 0.03 && late > 0.03)
	third := (x[end] - x[0]) / 3
	a, b := 1, end-1
	for a < end && x[a] < x[0]+third {
		a++
	}
	for b > 0 && x[b] > x[end]-third {
		b--
	}
	f.First, f.Last = math.Exp((y[a]-y[0])/(x[a]-x[0])), math.Exp((y[end]-y[b])/(x[end]-x[b]))
	return f
}

// fewSteps is the largest number of iterations of a short run, such as that of Newton's
// method or an interior-point method.
const fewSteps = 20

// bow returns how far the points lie above and below the straight line from the first to
// the last, as shares of the whole fall.
func bow(x, y []float64) (above, below float64) {
	end := len(x) - 1
	if end < 2 {
		return 0, 0
	}
	chord := (y[end] - y[0]) / (x[end] - x[0])
	for i := range x {
		off := (y[i] - y[0] - chord*(x[i]-x[0])) / (y[0] - y[end])
		above, below = max(above, off), max(below, -off)
	}
	return above, below
}

// lastDigits returns the gap below which only rounding errors remain. Smaller gaps are
// drawn there.
func lastDigits(p solvers.Point) float64 {
	if !finite(p.Dual) {
		return 0
	}
	return 1e-12 * (1 + math.Abs(p.Dual))
}

// factor prints a factor by which a gap changes, with two digits of it and of its distance
// from 1: a line that is fitted to steps has no more.
func factor(f float64) string {
	if off := math.Abs(1 - f); off > 0 && off < 0.1 {
		return strconv.FormatFloat(f, 'f', min(1-int(math.Floor(math.Log10(off))), 12), 64)
	}
	return numberTo(f, 2)
}

// Rate draws the smallest gap so far over the iterations, on a logarithmic axis, where
// linear convergence is a straight line, and the line fitted to it. If the convergence is
// faster than linear, the line shows how the gap would have fallen with its first factor.
func Rate(d RateData) (*Chart, error) {
	fall := FitRate(d.Points)
	if math.IsNaN(fall.Factor) {
		return nil, wrong("Rate", "Points", "has fewer than three iterations after which the gap is smaller and above 0: give a longer run, for example one with a smaller tolerance")
	}
	var x, gap []float64
	best := math.Inf(1)
	for _, p := range d.Points {
		if finite(p.Gap) && p.Gap > 0 {
			best = min(best, max(p.Gap, lastDigits(p)))
			x, gap = append(x, float64(p.Iteration)), append(gap, best)
		}
	}
	unit := either(d.Unit, "iteration")
	title := fmt.Sprintf("The gap falls by a factor of %s per %s: tenfold in %s %ss", factor(fall.Factor), unit, numberTo(math.Ln10/-math.Log(fall.Factor), 2), unit)
	fitted, lineName := "fitted", "fitted line"
	switch {
	case fall.Factor >= 1:
		title = fmt.Sprintf("The gap does not fall: a factor of %s per %s", factor(fall.Factor), unit)
	case fall.Bends:
		title = fmt.Sprintf("The gap falls faster than linearly: by a factor of %s per %s at first, %s at the end", factor(fall.First), unit, factor(fall.Last))
		fitted, lineName = "looked at", "as at first"
	}
	end := x[len(x)-1]
	subtitle := sentence(d.Problem, fmt.Sprintf("%s from %s %s on", fitted, unit, thousands(int64(fall.From))))

	p := plot{name: "rate", about: "The smallest gap so far against iterations, on a log scale.", tip: rateJS.cut("tip"), along: true, zoom: object{"xAxisIndex": list{0}},
		grid: list{object{}}, svm: object{"layout": rateJS.cut("layout"), "unit": unit}}
	low, high := decades(gap[len(gap)-1], gap[0])
	p.panel(iterations{}.option(0, x[0], max(end, x[0]+1), true).set("name", unit).lines(), logValues(0, low, high).named("gap (log scale)", 48))
	var gaps list
	for _, k := range thin(x, gapPoints, gap) {
		gaps = append(gaps, list{x[k], roundTo(gap[k], 4)})
	}
	// The fitted line or, if convergence is faster than linear, the line with the first
	// factor.
	fit := list{}
	for _, k := range []float64{float64(fall.From), end} {
		fit = append(fit, list{k, roundTo(fall.Start*math.Pow(fall.Factor, k), 6)})
	}
	if fall.Bends {
		before, _ := slices.BinarySearch(x, float64(fall.From))
		fit = list{list{x[before], roundTo(gap[before], 6)}, list{end, roundTo(gap[before]*math.Pow(fall.First, end-x[before]), 6)}}
	}
	p.add(line(gaps).name("gap, smallest so far").set("showSymbol", false).ink("@series4", 2.6).calm(),
		line(fit).name(lineName).set("showSymbol", false).clip().ink("@ink", 1.6, "dashed").calm())
	p.key("gap, smallest so far")
	p.key(lineName)
	return p.chart(title, subtitle), nil
}
