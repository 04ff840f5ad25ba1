package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/solvers"
)

//go:embed workingsets.js
var workingsetsJS source

// WorkingSetsData is what [WorkingSets] draws: which points the steps of a run chose.
type WorkingSetsData struct {
	Problem string
	Unit    string          // what is chosen: "point" when empty
	Sides   [2]string       // names of y = −1 and y = +1
	Up      []bool          // n: y > 0
	Points  []solvers.Point // increasing iterations, each with the Working set of its last step
}

// WorkingSets draws a row for each point that was ever chosen, the most often chosen
// first, and a column for each iteration of the trace, marked where the point was in
// the working set; to the right is how often each was.
func WorkingSets(d WorkingSetsData) (*Chart, error) {
	bad := func(field, format string, args ...any) error {
		return &InputError{Figure: "WorkingSets", Field: field, Reason: fmt.Sprintf(format, args...)}
	}
	n := len(d.Up)
	often := make([]float64, n)
	var points []solvers.Point
	for k, p := range d.Points {
		if p.Iteration < 0 || k > 0 && p.Iteration <= d.Points[k-1].Iteration {
			return nil, bad(fmt.Sprintf("Points[%d].Iteration", k), "is %d: give increasing numbers from 0", p.Iteration)
		}
		for _, i := range p.Working {
			if i < 0 || i >= n {
				return nil, bad(fmt.Sprintf("Points[%d].Working", k), "has the point %d of %d", i, n)
			}
			often[i]++
		}
		if len(p.Working) > 0 {
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		return nil, bad("Points", "name no working set: give the trace of a method that chooses points, such as SMO or decomposition")
	}
	order := make([]int, 0, n)
	for i, c := range often {
		if c > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return sign(often[b] - often[a]) })
	rows := order[:min(len(order), kktRows)]

	first, last := float64(points[0].Iteration), float64(points[len(points)-1].Iteration)
	axis := iterations{log: last-first > 500}
	places := make([]float64, len(points))
	for k, p := range points {
		places[k] = axis.place(float64(p.Iteration))
	}
	columns := sample(places, kktColumns)
	var edges []float64
	var numbers []int
	for _, k := range columns {
		edges, numbers = append(edges, roundTo(places[k], 6)), append(numbers, points[k].Iteration)
	}
	edges = append(edges, roundTo(axis.place(last+1), 6))
	cells := make([]string, len(rows))
	counts, up := make([]float64, len(rows)), make([]int, len(rows))
	for r, i := range rows {
		var b strings.Builder
		for c, k := range columns {
			mark := byte('.')
			next := len(points) // the iterations that are not drawn belong to the column before
			if c+1 < len(columns) {
				next = columns[c+1]
			}
			for _, p := range points[k:next] {
				if slices.Contains(p.Working, i) {
					mark = 'a'
				}
			}
			b.WriteByte(mark)
		}
		cells[r], counts[r] = b.String(), often[i]
		if d.Up[i] {
			up[r] = 1
		}
	}
	unit := either(d.Unit, "point")
	title := fmt.Sprintf("%d of %s were ever in a working set; %s %d the most often, in %d of %s", len(order), count(n, unit, unit+"s"), unit, order[0], int(often[order[0]]), count(len(points), "step", "steps"))
	parts := []string{d.Problem}
	if seen := points[len(points)-1].Iteration; seen > len(points) {
		parts = append(parts, fmt.Sprintf("%s of %s in the trace", thousands(int64(len(points))), count(seen, "iteration", "iterations")))
	}
	if len(rows) < len(order) {
		parts = append(parts, fmt.Sprintf("the %d most often chosen are drawn", len(rows)))
	}
	subtitle := sentence(parts...)
	most := math.Max(counts[0], 1)
	rowAxis := func(k int, show bool) object {
		o := object{"type": "value", "gridIndex": k, "inverse": true, "min": 0, "max": len(rows), "splitLine": object{"show": false}, "minInterval": 1,
			"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": show}, "axisLabel": object{"show": show, "showMinLabel": false}}
		if show {
			o["name"], o["nameLocation"], o["nameGap"] = unit+"s, most often chosen first", "middle", 42
		}
		return o
	}
	bars := valueAxis(1, 0, 1.08*most, "times chosen", 28)
	bars["axisLabel"] = object{"customValues": list{0, most}, "alignMaxLabel": "right"}
	var series, legend list
	for side, color := range []string{"@neg", "@pos"} {
		name := either(d.Sides[side], [2]string{"class −1", "class +1"}[side])
		series = append(series,
			object{"type": "custom", "name": name, "xAxisIndex": 0, "yAxisIndex": 0, "clip": true, "progressive": 0, "itemStyle": object{"color": color},
				"data": workingsetsJS.cut("cells", "cells", kktJS.text("cells"), "side", side), "renderItem": workingsetsJS.cut("cell", "color", color)},
			object{"type": "custom", "name": name, "xAxisIndex": 1, "yAxisIndex": 1, "clip": true, "itemStyle": object{"color": color},
				"data": workingsetsJS.cut("cells", "cells", kktJS.text("ends"), "side", side), "renderItem": workingsetsJS.cut("bar", "color", color)})
		if slices.Contains(up, side) {
			legend = append(legend, entry(name, "rect"))
		}
	}
	return newChart(title, subtitle, "Working sets over iterations. "+title+". "+subtitle+".", object{
		"legend":  object{"data": legend},
		"toolbox": toolbox("working-sets", object{"xAxisIndex": list{0}, "yAxisIndex": list{0, 1}}),
		"tooltip": object{"trigger": "item", "formatter": workingsetsJS.cut("tip")},
		"grid":    list{object{"show": true, "borderColor": "@axis"}, object{}},
		"xAxis":   list{axis.option(0, first, last+1, true), bars},
		"yAxis":   list{rowAxis(0, true), rowAxis(1, false)},
		"series":  series,
		"svm": object{"layout": workingsetsJS.cut("layout"), "cells": cells, "edges": edges, "its": numbers, "rows": rows, "up": up, "unit": unit,
			"finals": column(counts, 6)},
	}), nil
}
