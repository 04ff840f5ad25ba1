package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed kkt.js
var kktJS source

// KKTData is what [KKT] draws: the violation of the KKT condition of each of n training
// points at m moments of a run.
type KKTData struct {
	Problem    string      // what was solved and how, such as "RBF(0.5), C = 10, SMO"
	Iterations []int       // m increasing iteration numbers
	Violations [][]float64 // m × n, ≥ 0, in units of y·f
	Tol        float64     // largest violation that counts as satisfied, > 0
}

// The largest numbers of rows and columns of the heat map, and of the shades of violation,
// each of which is encoded as a letter.
const (
	kktRows    = 150
	kktColumns = 220
	kktShades  = 25
)

// KKT draws a heat map of violations: one row for each training point, those that violate
// most often first, and one column for each sampled iteration. The colour is the violation
// on a logarithmic scale; it is missing where the condition holds. Above is the largest
// violation, to the right each point's violation at the end.
func KKT(d KKTData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	m, n := len(d.Iterations), len(d.Violations[0])
	first, last := float64(d.Iterations[0]), float64(d.Iterations[m-1])
	scale := iterations{log: last-first > 500}
	places := make([]float64, m)
	worst := make([]float64, m)
	for k, it := range d.Iterations {
		places[k], worst[k] = scale.place(float64(it)), slices.Max(d.Violations[k])
	}
	final := d.Violations[m-1]
	largest := max(slices.Max(worst), d.Tol*10)

	// Rows are sorted by the number of iterations in violation, then by the sum of
	// violations.
	often, sum := make([]float64, n), make([]float64, n)
	for k, row := range d.Violations {
		span := 1.0
		if k+1 < m {
			span = float64(d.Iterations[k+1] - d.Iterations[k])
		}
		for i, v := range row {
			if v > d.Tol {
				often[i] += span
				sum[i] += v * span
			}
		}
	}
	order := upTo(n)
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case often[a] != often[b]:
			return sign(often[b] - often[a])
		default:
			return sign(sum[b] - sum[a])
		}
	})
	rows := order[:min(n, kktRows)]

	columns := sample(places, kktColumns)
	// A column ends at the next sample; the last one is one iteration wide.
	edges := make([]float64, 0, len(columns)+1)
	numbers := make([]int, 0, len(columns))
	for _, k := range columns {
		edges = append(edges, roundTo(places[k], 6))
		numbers = append(numbers, d.Iterations[k])
	}
	edges = append(edges, roundTo(scale.place(last+1), 6))
	cells := make([]string, len(rows))
	for r, i := range rows {
		var b strings.Builder
		for c, k := range columns {
			next := m // moments between two columns belong to the first
			if c+1 < len(columns) {
				next = columns[c+1]
			}
			v := 0.0
			for _, row := range d.Violations[k:next] {
				v = max(v, row[i])
			}
			b.WriteByte(shade(v, d.Tol, largest))
		}
		cells[r] = b.String()
	}
	finals := make([]float64, len(rows))
	for r, i := range rows {
		finals[r] = final[i]
		if final[i] <= 0 {
			finals[r] = math.NaN()
		}
	}
	for k, v := range worst {
		if v <= 0 {
			worst[k] = math.NaN() // a log axis has no zero
		}
	}

	violating := 0
	for _, v := range final {
		if v > d.Tol {
			violating++
		}
	}
	after := fmt.Sprintf("after %s", count(int(last), "iteration", "iterations"))
	title := fmt.Sprintf("All %s satisfy the KKT conditions to %s %s", count(n, "point", "points"), number(d.Tol), after)
	if n == 1 && violating == 0 {
		title = fmt.Sprintf("The point satisfies its KKT condition to %s %s", number(d.Tol), after)
	}
	if violating > 0 {
		title = fmt.Sprintf("%d of %s violate the KKT conditions by more than %s %s", violating, count(n, "point", "points"), number(d.Tol), after)
	}
	fewer := ""
	if len(rows) < n {
		fewer = fmt.Sprintf("the %d most often violating points are drawn", len(rows))
	}
	subtitle := sentence(d.Problem, fmt.Sprintf("largest violation from %s to %s", numberTo(slices.Max(d.Violations[0]), 2), numberTo(slices.Max(final), 2)), fewer)

	lowest := d.Tol
	for _, v := range finals {
		if finite(v) {
			lowest = min(lowest, max(v, d.Tol/1000))
		}
	}
	from, to := decades(lowest/2, max(slices.Max(final), d.Tol)*1.5)
	lineFrom, lineTo := decades(max(slices.Min(nonNaN(worst, d.Tol)), d.Tol/1000), largest)
	p := plot{name: "kkt", about: "Heat map of KKT violations.", tip: kktJS.cut("tip"), zoom: object{"xAxisIndex": list{0, 1}, "yAxisIndex": list{1, 2}},
		grid: list{object{}, object{"show": true, "borderColor": "@axis"}, object{}}, more: object{"axisPointer": object{"show": false}},
		svm: object{"layout": kktJS.cut("layout"), "cells": cells, "edges": edges, "its": numbers, "rows": rows,
			"colour": kktJS.cut("colour"), "tol": d.Tol, "most": round4(largest), "shades": kktShades, "finals": column(finals, 3)}}
	p.panel(scale.columns(0, first, last, false), logValues(0, lineFrom, lineTo).set("name", "largest violation (log scale)").set("nameLocation", "end").set("nameGap", 8).
		set("nameTextStyle", object{"align": "left"}))
	p.panel(scale.columns(1, first, last, true), rowAxis(1, len(rows), "training points, most often violating first"))
	p.panel(logValues(2, from, to).named("at the end", 28), rowAxis(2, len(rows), ""))
	p.svm["few"] = list{from, to}
	p.add(custom(kktJS.cut("cell"), kktJS.cut("cells")).on(1).clip().set("progressive", 0),
		line(pairs(places, worst)).name("largest").symbols("none", 5).silent().ink("@strong", 2),
		tolerance(0, edges[0], edges[len(edges)-1], d.Tol, ""),
		custom(kktJS.cut("bar"), kktJS.cut("ends")).on(2).clip(),
		line(list{list{d.Tol, 0}, list{d.Tol, len(rows)}}).on(2).bare().silent().pen("@soft", 1.2, "dashed"),
		custom(kktJS.cut("scale"), corner(edges[0], 0)).on(1).silent())
	return p.chart(title, subtitle), nil
}

// rowAxis returns the vertical axis of panel k over rows. It has labels if it has a name.
func rowAxis(k, rows int, name string) axis {
	show := name != ""
	a := axis{"type": "value", "gridIndex": k, "inverse": true, "min": 0, "max": rows, "splitLine": object{"show": false}, "minInterval": 1,
		"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": show}}.label(object{"show": show, "showMinLabel": false})
	if show {
		a.named(name, 42)
	}
	return a
}

// shade encodes a violation: '.' if the condition holds, otherwise a letter from 'a', just
// above the tolerance, to that of the largest violation, evenly on a logarithmic scale.
func shade(v, tol, largest float64) byte {
	if v <= tol {
		return '.'
	}
	s := int(math.Log(v/tol) / math.Log(largest/tol) * kktShades)
	return byte('a' + min(max(s, 0), kktShades-1))
}

func sign(v float64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// nonNaN returns the values without NaN. If none is left, it returns the single value
// otherwise.
func nonNaN(values []float64, otherwise float64) []float64 {
	out := []float64{otherwise}
	for _, v := range values {
		if finite(v) {
			out = append(out, v)
		}
	}
	return out
}

// pairs returns the points (x, y) of a line.
func pairs(xs, ys []float64) list {
	keep := thin(xs, curvePoints, ys)
	x, y := column(pick(xs, keep), 6), column(pick(ys, keep), 3)
	out := make(list, len(keep))
	for k := range keep {
		out[k] = list{x[k], y[k]}
	}
	return out
}

func (d *KKTData) check() error {
	c := checks{figure: "KKT"}
	c.refuse(len(d.Iterations) == 0 || len(d.Violations) != len(d.Iterations), "Violations", "has %d rows for %d iterations: give one row for each, at least one", len(d.Violations), len(d.Iterations))
	c.refuse(!(d.Tol > 0) || !finite(d.Tol), "Tol", "is %v: give a positive tolerance", d.Tol)
	c.rising("Iterations[%d]", d.Iterations)
	for k, row := range d.Violations {
		c.refuse(len(row) == 0, fmt.Sprintf("Violations[%d]", k), "is empty: give one value per training point in every row")
		c.numbers("training point", len(d.Violations[0]), amount(fmt.Sprintf("Violations[%d]", k), row))
	}
	return c.err
}
