package figure

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/go-echarts/go-echarts/v2/types"

	"github.com/svmnb/svmnb/solvers"
)

//go:embed workingsets.js
var workingsetsJS source

// WorkingSetsData is what [WorkingSets] draws: which points the steps of a run chose.
type WorkingSetsData struct {
	Problem string
	Unit    string          // what steps choose; "point" when empty
	Sides   [2]string       // names of y = −1 and y = +1
	Up      []bool          // n: y > 0
	Points  []solvers.Point // increasing iterations, each with the working set of its last step
}

// WorkingSets draws one row for each point that was ever chosen, the most often chosen
// first, and one column for each iteration of the trace. A mark means that the point was in
// the working set. To the right is how often each point was chosen.
func WorkingSets(d WorkingSetsData) (*Chart, error) {
	n, c := len(d.Up), checks{figure: "WorkingSets"}
	c.trace(d.Points)
	often := make([]float64, n)
	var points []solvers.Point
	for k, p := range d.Points {
		for _, i := range p.Working {
			if i < 0 || i >= n {
				return nil, wrong("WorkingSets", fmt.Sprintf("Points[%d].Working", k), "has the point %d of %d", i, n)
			}
			often[i]++
		}
		if len(p.Working) > 0 {
			points = append(points, p)
		}
	}
	c.refuse(len(points) == 0, "Points", "name no working set: give the trace of a method that chooses points, such as SMO or decomposition")
	if c.err != nil {
		return nil, c.err
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
	scale := iterations{log: last-first > 500}
	places := make([]float64, len(points))
	for k, p := range points {
		places[k] = scale.place(float64(p.Iteration))
	}
	columns := sample(places, kktColumns)
	var edges []float64
	var numbers []int
	for _, k := range columns {
		edges, numbers = append(edges, roundTo(places[k], 6)), append(numbers, points[k].Iteration)
	}
	edges = append(edges, roundTo(scale.place(last+1), 6))
	cells := make([]string, len(rows))
	counts, up := make([]float64, len(rows)), make([]int, len(rows))
	for r, i := range rows {
		var b strings.Builder
		for c, k := range columns {
			mark := byte('.')
			next := len(points) // iterations between two columns belong to the first
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
	title := fmt.Sprintf("%d of %s were ever in a working set; %s of %s", len(order), count(n, unit, unit+"s"), favourites(order, often, unit), count(len(points), "step", "steps"))
	known, fewer := "", ""
	if seen := points[len(points)-1].Iteration; seen > len(points) {
		known = fmt.Sprintf("%s of %s in the trace", thousands(int64(len(points))), count(seen, "iteration", "iterations"))
	}
	if len(rows) < len(order) {
		fewer = fmt.Sprintf("the %d most often chosen are drawn", len(rows))
	}
	subtitle := sentence(d.Problem, known, fewer)
	most := max(counts[0], 1)
	p := plot{name: "working-sets", about: "Working sets over iterations.", tip: workingsetsJS.cut("tip"), zoom: object{"xAxisIndex": list{0}, "yAxisIndex": list{0, 1}},
		grid: list{object{"show": true, "borderColor": "@axis"}, object{}},
		svm:  object{"layout": workingsetsJS.cut("layout"), "cells": cells, "edges": edges, "its": numbers, "rows": rows, "up": up, "unit": unit, "finals": column(counts, 6)}}
	p.panel(scale.columns(0, first, last, true), rowAxis(0, len(rows), unit+", most often chosen first").set("axisTick", object{"show": false}).label(object{"showMinLabel": true, "formatter": workingsetsJS.cut("number")}))
	p.panel(valueAxis(1, 0, 1.08*most, "times chosen", 28).set("axisTick", object{"customValues": list{0, most}}).set("axisLabel", object{"customValues": list{0, most}}), rowAxis(1, len(rows), ""))
	names := classNames(d.Sides)
	for side, color := range []string{"@neg", "@pos"} {
		own := func(data string) types.FuncStr {
			return workingsetsJS.cut("cells", "cells", kktJS.text(data), "side", side)
		}
		p.add(custom(workingsetsJS.cut("cell", "color", color), own("cells")).name(names[side]).on(0).clip().set("progressive", 0).fill(color),
			custom(workingsetsJS.cut("bar", "color", color), own("ends")).name(names[side]).on(1).clip().fill(color))
		if slices.Contains(up, side) {
			p.key(names[side], "rect")
		}
	}
	return p.chart(title, subtitle), nil
}

// favourites says which were chosen most often, and how often. order begins with them.
func favourites(order []int, often []float64, unit string) string {
	most := often[order[0]]
	switch tied := slices.IndexFunc(order, func(i int) bool { return often[i] < most }); tied {
	case 1:
		return fmt.Sprintf("%s %d the most often, in %d", unit, order[0], int(most))
	case 2:
		return fmt.Sprintf("%ss %d and %d the most often, each in %d", unit, order[0], order[1], int(most))
	case -1:
		if len(order) == 1 {
			return fmt.Sprintf("%s %d in %d", unit, order[0], int(most))
		}
		return fmt.Sprintf("each equally often, in %d", int(most))
	default:
		return fmt.Sprintf("%d of them the most often, each in %d", tied, int(most))
	}
}
