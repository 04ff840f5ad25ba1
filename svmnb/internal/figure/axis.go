package figure

import "math"

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
func (a iterations) option(k int, from, to float64, show bool) object {
	o := object{"type": "value", "gridIndex": k, "min": a.place(from), "max": a.place(to),
		"splitLine": object{"show": false},
		"axisLine":  object{"show": true, "onZero": false}, "axisTick": object{"show": true},
		"axisLabel": object{"show": show, "hideOverlap": true, "formatter": script(`function (v) { return svm.num(v, 7); }`)}}
	label := o["axisLabel"].(object)
	if a.log {
		ticks, texts := list{}, `function (v) { return svm.num(Math.round(Math.pow(10, v) - 1), 7); }`
		for it := 1.0; it <= to; it *= 10 {
			if it >= from {
				ticks = append(ticks, a.place(it))
			}
		}
		if from == 0 {
			ticks = append(list{0}, ticks...)
		}
		label["customValues"], label["formatter"] = ticks, script(texts)
		o["axisTick"] = object{"show": true, "customValues": ticks}
	} else {
		o["minInterval"] = 1
		label["showMaxLabel"] = false
	}
	if show {
		o["name"], o["nameLocation"], o["nameGap"] = "iteration", "middle", 28
		if a.log {
			o["name"] = "iteration (log scale)"
		}
	}
	return o
}

// sample returns at most limit of the n places, evenly over the axis, with the
// first and the last.
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
func logValues(k int, from, to float64) object {
	labels := list{}
	a, b := math.Round(math.Log10(from)), math.Round(math.Log10(to))
	for e, step := a, math.Ceil((b-a+1)/4); e <= b; e += step {
		labels = append(labels, math.Pow(10, e))
	}
	return object{"type": "log", "gridIndex": k, "min": from, "max": to, "splitLine": object{"show": true},
		"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true},
		"axisLabel": object{"customValues": labels, "hideOverlap": true, "formatter": script(`function (v) { return svm.num(v); }`)}}
}

// tolerance is a dashed line in grid k across an axis of iterations, with its
// label where runs begin, far from the curve.
func tolerance(k int, from, to, tol float64, name string) object {
	if name == "" {
		name = "tolerance " + numberTo(tol, 2)
	}
	return object{"type": "line", "xAxisIndex": k, "yAxisIndex": k, "symbol": "none", "silent": true, "tooltip": object{"show": false},
		"data": list{list{to, tol}, list{from, tol}}, "lineStyle": object{"type": "dashed", "color": "@soft", "width": 1.2},
		"endLabel": object{"show": true, "formatter": name, "color": "@soft", "fontSize": 12, "offset": list{2, -9}, "align": "left"}}
}

// decades returns the powers of ten around [low, high], at least two.
func decades(low, high float64) (from, to float64) {
	a, b := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	if b-a < 2 {
		b = a + 2
	}
	return math.Pow(10, a), math.Pow(10, b)
}
