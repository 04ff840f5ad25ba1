package figure

import (
	"math"
	"strconv"
)

// iterations is an axis of iteration numbers, linear or logarithmic. On the logarithmic
// axis, the place of an iteration is log₁₀(1 + iteration), so iteration 0 has a place too.
type iterations struct{ log bool }

func (a iterations) place(it float64) float64 {
	if a.log {
		return math.Log10(1 + it)
	}
	return it
}

// option returns the axis between two iterations for panel k. show says whether it has
// labels.
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
			ticks = append(list{0.0}, ticks...)
		}
		if n := len(ticks); n > 0 && a.place(to)-ticks[n-1].(float64) > 0.3 { // the end has a label if there is room
			ticks = append(ticks, a.place(to))
		}
		o.label(object{"customValues": ticks, "formatter": marksJS.cut("iteration")})
		o["axisTick"] = object{"show": true, "customValues": ticks}
	} else {
		o["minInterval"] = 1
		o.label(object{"showMaxLabel": true}) // ECharts hides the label before it if they overlap
	}
	if show {
		o.named("iteration", 28)
		if a.log {
			o.named("iteration (log scale)", 28)
		}
	}
	return o
}

// columns is option for columns that are one iteration wide, so it ends one iteration after
// the last.
func (a iterations) columns(k int, from, last float64, show bool) axis {
	o := a.option(k, from, last, show).set("max", a.place(last+1))
	if !a.log {
		o.label(object{"showMaxLabel": false}) // it would be that of the iteration after the last
	}
	return o
}

// thin returns the places of curves to draw, so few that drawing is fast and so many that
// the picture looks the same. It divides the axis into strips about as wide as a pixel. In
// each strip it keeps the first and the last place, and those where a curve is lowest,
// highest, begins or ends (M4: Jugel, Jerzak, Hackenbroich and Markl 2014). If there are at
// most as many places as strips, it keeps all.
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

// sample returns at most limit of the n places, evenly spaced along the axis, including the
// first and the last. It is for columns and dots; for curves see thin.
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

// column returns rounded values for JSON, with null for values that are not finite.
func column(values []float64, digits int) list {
	out := make(list, len(values))
	for i, v := range values {
		if finite(v) {
			out[i] = roundTo(v, digits)
		}
	}
	return out
}

// logValues returns a logarithmic axis of positive values over whole decades for panel k,
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
	if from < 1e-3 || to >= 1e5 { // all labels in one style
		o.label(object{"formatter": marksJS.cut("decade")})
	}
	if from < 1e-9 { // ECharts rounds its own ticks to ten decimals, which gives 0
		o["splitLine"], o["axisTick"] = object{"show": true, "customValues": labels}, object{"show": true, "customValues": labels}
	}
	return o
}

// logBetween returns a logarithmic axis that need not begin and end at a power of ten.
func logBetween(low, high float64, name string) axis {
	labels := list{}
	for e := math.Ceil(math.Log10(low) - 1e-9); e <= math.Log10(high)+1e-9; e++ {
		labels = append(labels, math.Pow(10, e))
	}
	if len(labels) < 2 { // less than two decades
		labels = logRange(0, low*1.15, high/1.15)["axisLabel"].(object)["customValues"].(list)
	}
	return logValues(0, low, high).named(name+" (log scale)", 28).set("splitLine", object{"show": false}).
		set("axisTick", object{"show": true, "customValues": labels}).label(object{"customValues": labels})
}

// logRange is logValues for a range that may be less than two decades. Such an axis ends a
// little outside low and high and has labels at 1, 2 and 5.
func logRange(k int, low, high float64) axis {
	if high >= 100*low {
		from, to := decades(low, high)
		return logValues(k, from, to)
	}
	low, high = low/1.15, high*1.15
	labels := list{}
	for _, steps := range [][]float64{{1, 2, 5}, {1, 1.5, 2, 3, 5, 7}} {
		if len(labels) > 2 {
			break
		}
		labels = list{}
		for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
			for _, m := range steps {
				if v := roundTo(m*math.Pow(10, e), 3); v >= low && v <= high {
					labels = append(labels, v)
				}
			}
		}
	}
	if len(labels) < 2 {
		labels = list{roundTo(low*1.05, 3), roundTo(high/1.05, 3)}
	}
	o := logValues(k, roundTo(low, 6), roundTo(high, 6))
	o["splitLine"], o["axisTick"] = object{"show": true, "customValues": labels}, object{"show": true, "customValues": labels}
	return o.label(object{"customValues": labels, "formatter": marksJS.cut("number")})
}

// decades returns the powers of ten that enclose [low, high], at least two decades apart.
func decades(low, high float64) (from, to float64) {
	a, b := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	if b-a < 2 {
		b = a + 2
	}
	return math.Pow(10, a), math.Pow(10, b)
}

// gapDecades returns the powers of ten that enclose the gaps and a tolerance, if tol > 0.
// Gaps below 1e-15 of the greatest one are rounding errors and do not count.
func gapDecades(smallest, greatest, tol float64) (from, to float64) {
	if tol > 0 {
		smallest, greatest = min(smallest, tol), max(greatest, tol)
	}
	if !finite(smallest) || greatest <= 0 {
		smallest, greatest = 1e-3, 1
	}
	return decades(max(smallest, greatest*1e-15), greatest)
}

// valueAxis returns a linear axis from low to high for panel k. Its labels have enough
// digits to differ.
func valueAxis(k int, low, high float64, name string, gap int) axis {
	return axis{"type": "value", "gridIndex": k, "min": low, "max": high, "name": name, "nameLocation": "middle", "nameGap": gap,
		"nameTextStyle": object{"fontSize": 13}, "splitLine": object{"show": false},
		"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true},
		"axisLabel": object{"showMinLabel": false, "showMaxLabel": false, "hideOverlap": true,
			"formatter": marksJS.cut("digits", "digits", digits(low, high))}}
}

// around returns the ends of an axis for points and places. It adds room if a point lies at
// an end.
func around(points, places []float64, room float64) (low, high float64) {
	low, high = extent(points, places)
	if a, b := extent(points); a == low || b == high {
		return widen(low, high, room)
	}
	return low, high
}

// digits returns how many significant digits a number between low and high needs: 4, plus
// the number of leading digits that low and high have in common.
func digits(low, high float64) int {
	more := math.Ceil(math.Log10(math.Max(math.Abs(low), math.Abs(high)) / (high - low)))
	if !(more > 0) {
		return 4
	}
	return int(min(4+more, 15))
}

// upright rotates the labels of vertical axes if they are too long.
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

// place rounds the coordinates of a point to the digits that a picture over the ranges xs
// and ys can show.
func place(x, y float64, xs, ys [2]float64) (float64, float64) {
	return roundTo(x, digits(xs[0], xs[1])), roundTo(y, digits(ys[0], ys[1]))
}

// extent returns the smallest and the largest finite value; without finite values these are
// +Inf and −Inf.
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

// widen extends a range at both ends by a share of its length. A range that is a single
// value, up to rounding, gets a length.
func widen(low, high, share float64) (float64, float64) {
	room := share * (high - low)
	if high-low <= 1e-12*math.Abs(high) {
		room = max(math.Abs(high), 1) / 2
	}
	low, high = low-room, high+room
	round := rounding(low, high)
	return round(low), round(high)
}

// rounding returns a function that rounds values on an axis from low to high to about 10⁻⁵
// of its length. This is finer than the eye can see and short in JSON.
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

// rounded returns the rounded values with the indices keep for JSON, with null for values
// that are not finite.
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
