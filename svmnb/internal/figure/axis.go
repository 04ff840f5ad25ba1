package figure

import (
	"math"
	"strconv"
)

// iterations is an axis of iteration numbers, linear or logarithmic: there,
// places are log₁₀(1 + iteration), so that the start has a place too.
type iterations struct{ log bool }

func (a iterations) place(it float64) float64 {
	if a.log {
		return math.Log10(1 + it)
	}
	return it
}

// option returns the axis from one iteration to another for grid k.
func (a iterations) option(k int, from, to float64, show bool) axis {
	o := axis{"type": "value", "gridIndex": k, "min": a.place(from), "max": a.place(to),
		"splitLine": object{"show": false},
		"axisLine":  object{"show": true, "onZero": false}, "axisTick": object{"show": true},
		"axisLabel": object{"show": show, "hideOverlap": true, "formatter": marksJS.cut("digits", "digits", 7)}}
	if a.log {
		ticks := list{}
		for it := 1.0; it <= to; it *= 10 {
			if it >= from {
				ticks = append(ticks, a.place(it))
			}
		}
		if from == 0 {
			ticks = append(list{0}, ticks...)
		}
		o.label(object{"customValues": ticks, "formatter": marksJS.cut("iteration")})
		o["axisTick"] = object{"show": true, "customValues": ticks}
	} else {
		o["minInterval"] = 1
		o.label(object{"showMaxLabel": false})
	}
	if show {
		o.named("iteration", 28)
		if a.log {
			o.named("iteration (log scale)", 28)
		}
	}
	return o
}

// thin returns which places of curves to draw, so that they look as if all were: the
// axis is cut into so many strips, about as wide as a pixel, and of each strip stay
// the first and the last place, and those where a curve is lowest and highest or
// begins and ends (M4: Jugel, Jerzak, Hackenbroich and Markl 2014). A jump of a curve
// is between two places that stay, and so are its peaks. Where there are fewer
// places than strips, all stay.
func thin(places []float64, strips int, curves ...[]float64) []int {
	n := len(places)
	keep := make([]bool, n)
	strip := func(i int) int {
		return int(float64(strips) * ((places[i] - places[0]) / (places[n-1] - places[0])))
	}
	for from := 0; from < n; {
		to := from + 1
		for to < n && n > strips && strip(to) == strip(from) {
			to++
		}
		keep[from], keep[to-1] = true, true
		for _, c := range curves {
			if c == nil {
				continue
			}
			low, high := -1, -1
			for i := from; i < to; i++ {
				if i > 0 && finite(c[i]) != finite(c[i-1]) {
					keep[i-1], keep[i] = true, true
				}
				if finite(c[i]) && (low < 0 || c[i] < c[low]) {
					low = i
				}
				if finite(c[i]) && (high < 0 || c[i] > c[high]) {
					high = i
				}
			}
			if low >= 0 {
				keep[low], keep[high] = true, true
			}
		}
		from = to
	}
	var kept []int
	for i, k := range keep {
		if k {
			kept = append(kept, i)
		}
	}
	return kept
}

// sample returns at most limit of the n places, evenly over the axis, with the
// first and the last. It is for columns and dots; of curves see thin.
func sample(places []float64, limit int) []int {
	n := len(places)
	var keep []int
	for i := range places {
		if len(places) <= limit || i == 0 || places[i]-places[keep[len(keep)-1]] >= (places[n-1]-places[0])/float64(limit-1) {
			keep = append(keep, i)
		}
	}
	if n > 0 && keep[len(keep)-1] != n-1 {
		if len(keep) == limit {
			keep = keep[:limit-1]
		}
		keep = append(keep, n-1)
	}
	return keep
}

// column returns values for JSON, with null where there is none.
func column(values []float64, digits int) list {
	out := make(list, len(values))
	for i, v := range values {
		if finite(v) {
			out[i] = roundTo(v, digits)
		}
	}
	return out
}

// logValues is a log axis of positive values over whole decades, for grid k,
// with at most four labels.
func logValues(k int, from, to float64) axis {
	labels := list{}
	a, b := math.Round(math.Log10(from)), math.Round(math.Log10(to))
	for e, step := a, math.Ceil((b-a+1)/4); e <= b; e += step {
		labels = append(labels, math.Pow(10, e))
	}
	o := axis{"type": "log", "gridIndex": k, "min": from, "max": to, "splitLine": object{"show": true},
		"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true},
		"axisLabel": object{"customValues": labels, "hideOverlap": true, "formatter": marksJS.cut("number")}}
	if from < 1e-9 { // ECharts rounds its own ticks to ten decimals, and 0 has no logarithm
		o["splitLine"], o["axisTick"] = object{"show": true, "customValues": labels}, object{"show": true, "customValues": labels}
	}
	return o
}

// logBetween is a log axis that begins and ends anywhere.
func logBetween(low, high float64, name string) axis {
	from, to := decades(low, high)
	return logValues(0, low, high).named(name+" (log scale)", 28).set("splitLine", object{"show": false}).set("axisLabel", logValues(0, from, to)["axisLabel"])
}

// logRange is logValues for a range of less than two decades, which need not be whole:
// it ends a little outside low and high, with labels at 1, 2 and 5.
func logRange(k int, low, high float64) axis {
	if high >= 100*low {
		from, to := decades(low, high)
		return logValues(k, from, to)
	}
	low, high = low/1.15, high*1.15
	labels := list{}
	for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := roundTo(m*math.Pow(10, e), 3); v >= low && v <= high {
				labels = append(labels, v)
			}
		}
	}
	if len(labels) < 2 {
		labels = list{roundTo(low*1.05, 3), roundTo(high/1.05, 3)}
	}
	o := logValues(k, roundTo(low, 6), roundTo(high, 6))
	o["splitLine"], o["axisTick"] = object{"show": true, "customValues": labels}, object{"show": true, "customValues": labels}
	return o.label(object{"customValues": labels})
}

// decades returns the powers of ten around [low, high], at least two.
func decades(low, high float64) (from, to float64) {
	a, b := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	if b-a < 2 {
		b = a + 2
	}
	return math.Pow(10, a), math.Pow(10, b)
}

// gapDecades returns the powers of ten around gaps and a tolerance, 0 without one. What is
// far below the greatest of them is the rounding of the objectives.
func gapDecades(smallest, greatest, tol float64) (from, to float64) {
	if tol > 0 {
		smallest, greatest = min(smallest, tol), max(greatest, tol)
	}
	if !finite(smallest) || greatest <= 0 {
		smallest, greatest = 1e-3, 1
	}
	return decades(max(smallest, greatest*1e-15), greatest)
}

// valueAxis is a linear axis from low to high for grid k; its labels have the
// digits that tell them apart.
func valueAxis(k int, low, high float64, name string, gap int) axis {
	return axis{"type": "value", "gridIndex": k, "min": low, "max": high, "name": name, "nameLocation": "middle", "nameGap": gap,
		"nameTextStyle": object{"fontSize": 13}, "splitLine": object{"show": false},
		"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true},
		"axisLabel": object{"showMinLabel": false, "showMaxLabel": false, "hideOverlap": true,
			"formatter": marksJS.cut("digits", "digits", digits(low, high))}}
}

// around returns the ends of an axis of places with room where there are points at the
// edges.
func around(points, places []float64, room float64) (low, high float64) {
	low, high = extent(points, places)
	if a, b := extent(points); a == low || b == high {
		return widen(low, high, room)
	}
	return low, high
}

// digits returns how many significant digits tell values from low to high apart: 4, and
// as many more as these have in common.
func digits(low, high float64) int {
	more := math.Ceil(math.Log10(math.Max(math.Abs(low), math.Abs(high)) / (high - low)))
	if !(more > 0) {
		return 4
	}
	return int(min(4+more, 15))
}

// upright turns the long labels of upright axes, which have no room to their left.
func upright(axes any) {
	list, _ := axes.(list)
	for _, a := range list {
		o, _ := a.(object)
		low, ok := o["min"].(float64)
		high, ok2 := o["max"].(float64)
		if label, ok3 := o["axisLabel"].(object); ok && ok2 && ok3 && o["type"] == "value" && digits(low, high) > 6 {
			label["rotate"] = 90
		}
	}
}

// place rounds the coordinates of a point for a picture from xs[0] to xs[1] and from ys[0] to
// ys[1]. It keeps the digits that tell neighbouring points apart.
func place(x, y float64, xs, ys [2]float64) (float64, float64) {
	return roundTo(x, digits(xs[0], xs[1])), roundTo(y, digits(ys[0], ys[1]))
}

// extent returns the least and the greatest of the finite values; both are
// infinite where there is none.
func extent(series ...[]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, v := range s {
			if finite(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}

// widen adds a share of the range at both ends, and makes a range of what is a
// single value but for rounding.
func widen(low, high, share float64) (float64, float64) {
	room := share * (high - low)
	if high-low <= 1e-12*math.Abs(high) {
		room = max(math.Abs(high), 1) / 2
	}
	low, high = low-room, high+room
	round := rounding(low, high)
	return round(low), round(high)
}

// rounding returns a function that rounds what is drawn on an axis from low to
// high: finer than the eye, short in JSON.
func rounding(low, high float64) func(float64) float64 {
	e := math.Floor(math.Log10(high-low)) - 5
	if !finite(e) {
		return func(v float64) float64 { return v }
	}
	return func(v float64) float64 {
		if e >= 0 {
			return math.Round(v/math.Pow(10, e)) * math.Pow(10, e)
		}
		r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', int(-e), 64), 64)
		return r
	}
}

// rounded returns the values at the places of keep for JSON, with null for what
// is not finite.
func rounded(values []float64, keep []int, round func(float64) float64) list {
	out := make(list, len(keep))
	for k, i := range keep {
		if finite(values[i]) {
			out[k] = round(values[i])
		}
	}
	return out
}

// around2 returns centre ± 2 half.
func around2(centre, half []float64) (lower, upper []float64) {
	for i, c := range centre {
		lower, upper = append(lower, c-2*half[i]), append(upper, c+2*half[i])
	}
	return lower, upper
}
