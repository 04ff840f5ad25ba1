package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
)

//go:embed matrix.js
var matrixJS source

// MatrixData is what [Matrix] draws: the kernel matrix of m points, sorted by class, and
// its eigenvalues.
type MatrixData struct {
	Problem string
	Classes []string
	Class   []int       // m indices into Classes, in increasing order
	Index   []int       // m indices of the points in the data
	Of      int         // number of points in the data
	K       [][]float64 // m × m
	Eigen   []float64   // m, in decreasing order
}

const (
	matrixShades = 24
	// MostMatrix is the largest number of points of the matrix.
	MostMatrix = 100
)

// Matrix draws the kernel matrix with the classes along both sides, and beside it the
// eigenvalues on a logarithmic axis. A class whose points are similar is a dark square. The
// faster the eigenvalues fall, the fewer dimensions of feature space the points use.
func Matrix(d MatrixData) (*Chart, error) {
	m, c := len(d.K), checks{figure: "Matrix"}
	c.refuse(m < 2 || m > MostMatrix, "K", "has %d rows: the picture has room for 2 to %d", m, MostMatrix)
	c.refuse(len(d.Class) != m || len(d.Index) != m, "Class", "and Index have lengths %d and %d for %d points", len(d.Class), len(d.Index), m)
	var starts []int // index of the first point of each class, and m at the end
	for i, class := range d.Class {
		before := d.Class[max(i-1, 0)]
		c.refuse(class < 0 || class >= len(d.Classes), fmt.Sprintf("Class[%d]", i), "is %d: there are %s", class, count(len(d.Classes), "class", "classes"))
		c.refuse(class < before, fmt.Sprintf("Class[%d]", i), "is %d after %d: give the points in the order of their classes", class, before)
		if i == 0 || class > before {
			starts = append(starts, i)
		}
	}
	starts = append(starts, m)
	for i, row := range d.K {
		c.numbers("point", m, given(fmt.Sprintf("K[%d]", i), row))
	}
	c.numbers("point", m, given("Eigen", d.Eigen))
	if c.err != nil {
		return nil, c.err
	}
	low, high := extent(d.K...)
	span := high - low
	if span == 0 {
		span = 1
	}
	cells := make([]string, m)
	within, between := make([]float64, m), make([]float64, m)
	var sumWithin, sumBetween, pairsWithin, pairsBetween float64
	for i, row := range d.K {
		text := make([]byte, m)
		own, other := 0.0, 0.0
		for j, v := range row {
			text[j] = byte('a' + min(int(matrixShades*((v-low)/span)), matrixShades-1))
			switch {
			case i == j:
			case d.Class[i] == d.Class[j]:
				within[i] += v
				own++
			default:
				between[i] += v
				other++
			}
		}
		cells[i] = string(text)
		sumWithin, sumBetween, pairsWithin, pairsBetween = sumWithin+within[i], sumBetween+between[i], pairsWithin+own, pairsBetween+other
		within[i], between[i] = within[i]/own, between[i]/other
	}
	total, used := 0.0, 0
	for _, v := range d.Eigen {
		total += max(v, 0)
	}
	for sum := 0.0; used < m && sum < 0.99*total; used++ {
		sum += max(d.Eigen[used], 0)
	}
	carry := "carry"
	if used == 1 {
		carry = "carries"
	}
	title := fmt.Sprintf("%d of %s %s 99 %% of the trace", used, count(m, "eigenvalue", "eigenvalues"), carry)
	if pairsWithin > 0 && pairsBetween > 0 {
		title = fmt.Sprintf("k is %s on average within a class, %s between; ", numberTo(sumWithin/pairsWithin, 3), numberTo(sumBetween/pairsBetween, 3)) + title
	}
	fewer := ""
	if d.Of > m {
		fewer = fmt.Sprintf("%d of %s", m, count(d.Of, "point", "points"))
	}
	least := d.Eigen[m-1]
	negative := ""
	if least < -1e-9*math.Abs(d.Eigen[0]) {
		negative = "the least eigenvalue is " + numberTo(least, 2) + ": no Mercer kernel"
	}
	subtitle := sentence(d.Problem, fewer, negative)

	share := make([]float64, m)
	for i, v := range d.Eigen {
		share[i] = positive(v)
		if v < 1e-16*d.Eigen[0] {
			share[i] = math.NaN() // a negative eigenvalue is a rounding error
		}
	}
	_, top := extent(share)
	bottom := top
	for _, v := range share {
		if finite(v) {
			bottom = min(bottom, max(v, 1e-12*top))
		}
	}
	if !(top > 0) {
		bottom, top = 0.1, 1
	}
	from, to := decades(bottom, top)
	var eigen list
	for i, v := range share {
		if finite(v) {
			eigen = append(eigen, list{i + 1, roundTo(v, 4)})
		}
	}
	var names list
	for _, s := range starts[:len(starts)-1] {
		names = append(names, d.Classes[d.Class[s]])
	}
	p := plot{name: "kernel-matrix", about: fmt.Sprintf("Kernel matrix of %s, ordered by class, and its spectrum.", count(m, "point", "points")), tip: matrixJS.cut("tip"),
		grid: list{object{}, object{}},
		svm: object{"layout": matrixJS.cut("layout"), "cells": cells, "shades": matrixShades, "low": round4(low), "high": round4(low + span), "starts": starts, "names": names,
			"index": slices.Clone(d.Index), "class": slices.Clone(d.Class), "classes": d.Classes, "within": column(within, 3), "between": column(between, 3)}}
	side := func(inverse bool) axis {
		return axis{"type": "value", "gridIndex": 0, "min": 0, "max": m, "inverse": inverse, "splitLine": object{"show": false}, "axisLine": object{"show": false},
			"axisTick": object{"show": false}, "axisLabel": object{"show": false}}
	}
	p.panel(side(false), side(true))
	p.panel(valueAxis(1, 0, float64(m+1), "eigenvalues, largest first", 28).set("minInterval", 1), logValues(1, from, to).named("eigenvalue (log scale)", 48))
	label := object{"show": true, "formatter": "99 % of the trace", "color": "@soft", "fontSize": 12, "align": "left", "offset": list{2, 9}}
	if used > m/2 {
		merge(label, object{"align": "right", "offset": list{-10, 9}})
	}
	p.add(custom(matrixJS.cut("cells"), corner(0, 0)).still(),
		custom(matrixJS.cut("row"), matrixJS.cut("rows")),
		line(eigen).name("eigenvalue").on(1).set("showSymbol", true).set("symbolSize", 5).ink("@neg", 1.8),
		line(list{list{used, from}, list{used, to}}).on(1).bare().still().pen("@soft", 1.2, "dashed").in("endLabel", label))
	return p.chart(title, subtitle), nil
}
