package figure

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
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
	longest := 1 // number of characters of the longest text in a cell
	var cells list
	for i, row := range d.Z {
		for j, z := range row {
			if !finite(z) {
				continue
			}
			item := list{j, i, shortScore(scale*z, d.Percent), round4(better(z, low, high, d.Lower)), nil, 0}
			if finite(d.SE[i][j]) {
				item[4] = numberTo(scale*d.SE[i][j], 2)
			}
			if d.Chosen == [2]int{j, i} {
				item[5] = 1
			}
			cells = append(cells, item)
		}
	}
	texts := evenly(cells, 2) // in the cells, ECharts would read them as numbers
	for _, text := range texts {
		longest = max(longest, len([]rune(text)))
	}
	whole := 0 // longest of shares without decimals, for narrow cells
	if d.Percent {
		whole = len(fmt.Sprintf("%.0f", 100*high))
	}
	best := high
	if d.Lower {
		best = low
	}
	title := fmt.Sprintf("%s: best %s%s", capital(d.Metric), numberTo(scale*best, 4), unit)
	if z := d.Z[d.Chosen[1]][d.Chosen[0]]; z == best {
		title = fmt.Sprintf("%s: best and chosen %s%s at %s", capital(d.Metric), numberTo(scale*z, 4), unit, d.ChosenValues)
	} else if finite(z) {
		title += fmt.Sprintf("; chosen %s%s at %s", numberTo(scale*z, 4), unit, d.ChosenValues)
	}
	subtitle := sentence(d.Problem, d.Reduced, "the stronger the better, the frame is the chosen point")
	p := plot{name: "search", about: fmt.Sprintf("Map of the %s over %s and %s.", d.Metric, d.Names[0], d.Names[1]), tip: searchJS.cut("tip"), grid: object{},
		svm: object{"columns": len(d.Xs), "rows": len(d.Ys), "names": d.Names, "xs": column(d.Xs, 4), "ys": column(d.Ys, 4), "longest": longest, "whole": whole, "texts": texts, "metric": d.Metric, "unit": unit, "layout": searchJS.cut("layout"),
			"strength": searchJS.cut("strength", "least", 0.04), "scale": ends(scale, low, high, d.Lower)}}
	across := func(name string, values []float64) axis {
		var labels []string
		for _, v := range values {
			labels = append(labels, number(v))
		}
		return categories(name, labels).label(object{"hideOverlap": true})
	}
	p.panel(across(d.Names[0], d.Xs), across(d.Names[1], d.Ys))
	p.add(custom(searchJS.cut("cell"), cells).set("encode", object{"x": 0, "y": 1}), custom(searchJS.cut("scale"), corner(0, 0)).still())
	return p.chart(title, subtitle), nil
}

// evenly returns the texts in a column of rows with as many decimals as each other, if all are
// plain numbers.
func evenly(rows list, column int) []string {
	var texts []string
	for _, row := range rows {
		texts = append(texts, row.(list)[column].(string))
	}
	return evenDecimals(texts)
}

// evenDecimals returns numbers with as many decimals as each other, if all are plain ones.
func evenDecimals(numbers []string) []string {
	most := 0
	for _, text := range numbers {
		if strings.ContainsAny(text, "e∞") {
			return numbers
		}
		_, decimals, _ := strings.Cut(text, ".")
		most = max(most, len(decimals))
	}
	even := make([]string, len(numbers))
	for k, text := range numbers {
		whole, decimals, _ := strings.Cut(text, ".")
		if even[k] = whole; most > 0 {
			even[k] += "." + decimals + strings.Repeat("0", most-len(decimals))
		}
	}
	return even
}

// ends returns the scores at the ends and in the middle of the scale of colours, the worst first.
func ends(scale, low, high float64, lower bool) []string {
	if lower {
		low, high = high, low
	}
	var texts []string
	for _, v := range []float64{low, (low + high) / 2, high} {
		texts = append(texts, numberTo(scale*v, 3))
	}
	return evenDecimals(texts)
}

// SettingsData is what [Settings] draws: the scores of single settings of two parameters.
type SettingsData struct {
	Problem      string    // what was searched
	Metric       string    // name of the score
	Names        [2]string // of the parameters along x and y
	X, Y         []float64 // one for each setting, in the order in which they were tried
	Z            []float64 // scores; NaN for a missing one
	SE           []float64 // standard errors of Z; NaN for a missing one
	Log          [2]bool   // the axes are logarithmic; their values must be positive
	Lower        bool      // lower scores are better
	Percent      bool      // scores are shares, shown in %
	Chosen       int       // index of the chosen setting
	Reduced      string    // how further parameters were handled, for the subtitle
	ChosenValues string    // the chosen setting in words
}

// Settings draws a dot for each setting of a search that has no grid. Better scores have
// stronger colours, and the chosen setting has a ring.
func Settings(d SettingsData) (*Chart, error) {
	c := checks{figure: "Settings"}
	c.numbers("setting", len(d.X), given("X", d.X), given("Y", d.Y), given("Z", d.Z, missing), amount("SE", d.SE, missing))
	c.refuse(d.Chosen < 0 || d.Chosen >= len(d.X), "Chosen", "is setting %d of %d", d.Chosen, len(d.X))
	low, high := extent(d.Z)
	c.refuse(low > high, "Z", "has no score: let the search finish a point")
	for k, values := range [][]float64{d.X, d.Y} {
		from, _ := extent(values)
		c.refuse(d.Log[k] && !(from > 0), [...]string{"X", "Y"}[k], "has %v: a log axis needs positive places", from)
	}
	if c.err != nil {
		return nil, c.err
	}
	scale, unit, _ := percentage(d.Percent, d.Metric)
	var dots list
	for i, z := range d.Z {
		if !finite(z) {
			continue
		}
		item := list{round4(d.X[i]), round4(d.Y[i]), numberTo(scale*z, 4), round4(better(z, low, high, d.Lower)), nil, 0, i + 1}
		if finite(d.SE[i]) {
			item[4] = numberTo(scale*d.SE[i], 2)
		}
		if i == d.Chosen {
			item[5] = 1
		}
		dots = append(dots, item)
	}
	best := high
	if d.Lower {
		best = low
	}
	title := fmt.Sprintf("%s: best %s%s of %d settings", capital(d.Metric), numberTo(scale*best, 4), unit, len(d.X))
	if z := d.Z[d.Chosen]; finite(z) {
		title += fmt.Sprintf("; chosen %s%s at %s", numberTo(scale*z, 4), unit, d.ChosenValues)
	}
	p := plot{name: "search", about: fmt.Sprintf("The %s of settings of %s and %s.", d.Metric, d.Names[0], d.Names[1]), tip: searchJS.cut("dotTip"), grid: object{},
		svm: object{"names": d.Names, "metric": d.Metric, "unit": unit, "layout": searchJS.cut("dotLayout"),
			"strength": searchJS.cut("strength", "least", 0.12), "scale": ends(scale, low, high, d.Lower)}}
	along := func(k int, values []float64, gap int) axis {
		low, high := extent(values)
		if d.Log[k] {
			room := math.Pow(high/low, 0.04)
			if room == 1 {
				room = 2
			}
			return axis{"type": "log", "logBase": 10, "min": round4(low / room), "max": round4(high * room), "splitLine": object{"show": false},
				"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true}}.
				named(d.Names[k], gap).label(object{"hideOverlap": true, "showMinLabel": false, "showMaxLabel": false, "formatter": marksJS.cut("number")})
		}
		low, high = widen(low, high, 0.04)
		return valueAxis(0, low, high, d.Names[k], gap)
	}
	p.panel(along(0, d.X, 28), along(1, d.Y, 52))
	p.add(custom(searchJS.cut("dot"), dots).set("encode", object{"x": 0, "y": 1}),
		custom(searchJS.cut("scale"), corner(round4(d.X[0]), round4(d.Y[0]))).still())
	return p.chart(title, sentence(d.Problem, d.Reduced, "the stronger the better, the ring is the chosen setting")), nil
}

// better returns the share of the range of scores by which z is better than the worst: 1 if
// all are equal.
func better(z, low, high float64, lower bool) float64 {
	if !(high > low) {
		return 1
	}
	share := (z - low) / (high - low)
	if lower {
		return 1 - share
	}
	return share
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
