package figure

import (
	_ "embed"
	"fmt"
	"math"
)

//go:embed search.js
var searchJS source

// SearchData is what [Search] draws: a score at each node of a grid of two parameters.
type SearchData struct {
	Problem      string    // what was searched
	Metric       string    // name of the score
	Names        [2]string // of the parameters along x and y
	Xs, Ys       []float64
	Z            [][]float64 // Z[y][x]; NaN for a missing score
	SE           [][]float64 // standard errors of Z; NaN for a missing one
	Lower        bool        // lower scores are better
	Percent      bool        // scores are shares, shown in %
	Chosen       [2]int      // column and row of the chosen setting
	Reduced      string      // how further parameters were handled, for the subtitle
	ChosenValues string      // the chosen setting in words
}

// mostNodes is the largest number of values of a parameter in the map.
const mostNodes = 60

// Search draws the scores as a map of cells. Better scores have stronger colours, and the
// chosen cell has a frame.
func Search(d SearchData) (*Chart, error) {
	c := checks{figure: "Search"}
	n, m := len(d.Xs), len(d.Ys)
	c.refuse(n < 1 || n > mostNodes || m < 1 || m > mostNodes, "Xs", "and Ys have %d and %d values: the map has room for 1 to %d of each", n, m, mostNodes)
	c.refuse(len(d.Z) != m || len(d.SE) != m, "Z", "and SE have %d and %d rows for %d values of %s", len(d.Z), len(d.SE), m, d.Names[1])
	c.refuse(d.Chosen[0] < 0 || d.Chosen[0] >= n || d.Chosen[1] < 0 || d.Chosen[1] >= m, "Chosen", "is column %d, row %d of %d × %d", d.Chosen[0], d.Chosen[1], n, m)
	for i := range min(len(d.Z), len(d.SE)) {
		c.numbers("column", n, given(fmt.Sprintf("Z[%d]", i), d.Z[i], missing), amount(fmt.Sprintf("SE[%d]", i), d.SE[i], missing))
	}
	low, high := extent(d.Z...)
	c.refuse(low > high, "Z", "has no score: let the search finish a point")
	if c.err != nil {
		return nil, c.err
	}
	scale, unit, _ := percentage(d.Percent, d.Metric)
	var cells list
	for i, row := range d.Z {
		for j, z := range row {
			if !finite(z) {
				continue
			}
			share := 1.0 // all scores are equal
			if high > low {
				share = (z - low) / (high - low)
				if d.Lower {
					share = 1 - share
				}
			}
			item := list{j, i, numberTo(scale*z, 4), round4(share), nil, 0}
			if finite(d.SE[i][j]) {
				item[4] = numberTo(scale*d.SE[i][j], 2)
			}
			if d.Chosen == [2]int{j, i} {
				item[5] = 1
			}
			cells = append(cells, item)
		}
	}
	best := high
	if d.Lower {
		best = low
	}
	title := fmt.Sprintf("%s: best %s%s", d.Metric, numberTo(scale*best, 4), unit)
	if z := d.Z[d.Chosen[1]][d.Chosen[0]]; finite(z) {
		title += fmt.Sprintf("; chosen %s%s at %s", numberTo(scale*z, 4), unit, d.ChosenValues)
	}
	subtitle := sentence(d.Problem, d.Reduced, "the stronger the better, the frame is the chosen point")
	p := plot{name: "search", about: fmt.Sprintf("Map of the %s over %s and %s.", d.Metric, d.Names[0], d.Names[1]), tip: searchJS.cut("tip"), grid: object{},
		svm: object{"columns": len(d.Xs), "rows": len(d.Ys), "names": d.Names, "xs": column(d.Xs, 4), "ys": column(d.Ys, 4), "metric": d.Metric, "unit": unit, "layout": searchJS.cut("layout")}}
	across := func(name string, values []float64) axis {
		var labels []string
		for _, v := range values {
			labels = append(labels, number(v))
		}
		return categories(name, labels).label(object{"hideOverlap": true})
	}
	p.panel(across(d.Names[0], d.Xs), across(d.Names[1], d.Ys))
	p.add(custom(searchJS.cut("cell"), cells).set("encode", object{"x": 0, "y": 1}))
	return p.chart(title, subtitle), nil
}

// nodes returns the indices of the finite values.
func nodes(values []float64) (keep []int) {
	for i, v := range values {
		if !math.IsNaN(v) {
			keep = append(keep, i)
		}
	}
	return keep
}
