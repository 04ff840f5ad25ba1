package figure

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

//go:embed pairs.js
var pairsJS source

const (
	mostPairs   = 6    // columns in the square
	pairPoints  = 500  // points in a panel
	pairDots    = 4500 // points in all panels
	pairBins    = 14
	pairsAcross = 8 // pixels between panels; pairs.js places texts by it
)

// Pairs draws the points of each pair of columns, a histogram of each column on the
// diagonal, and Pearson's r above it. All columns are numbers or times. If there are more
// than six, it draws those that tell most of the classes or the target, or else the first.
func Pairs(d ColumnsData) (*Chart, error) {
	if err := d.check("Pairs", 2, true); err != nil {
		return nil, err
	}
	n, of := d.Columns[0].n(), len(d.Columns)
	chosen, how := d.telling()
	columns := pick(d.Columns, chosen)
	m := len(columns)
	rows, drawn := upTo(n), ""
	if most := min(pairPoints, 2*pairDots/(m*(m-1))); n > most {
		rows = rand.New(rand.NewPCG(1, 0)).Perm(n)[:most]
		slices.Sort(rows)
		drawn = fmt.Sprintf("%d points drawn, chosen at random (seed 1)", most)
	}
	r := make([][]float64, m)
	best := [2]int{-1, -1}
	for i := range m {
		r[i] = make([]float64, m)
		for j := range i {
			r[i][j], _ = pearson(columns[i].Values, columns[j].Values)
			r[j][i] = r[i][j]
			counts := d.Target == "" || columns[i].Name == d.Target
			if counts && finite(r[i][j]) && (best[0] < 0 || math.Abs(r[i][j]) > math.Abs(r[best[0]][best[1]])) {
				best = [2]int{i, j}
			}
		}
	}
	title := fmt.Sprintf("%s of %s: no two of them vary together", count(m, "column", "columns"), count(n, "row", "rows"))
	if best[0] >= 0 {
		title = fmt.Sprintf("%s and %s go together most closely: r = %s", named(columns[best[1]].Name), named(columns[best[0]].Name), correlation(r[best[0]][best[1]]))
	}
	if len(d.Classes) > 1 && d.Target == "" {
		best, most := 0, -1.0
		for j, c := range columns {
			if share := d.between(c.Values); share > most {
				best, most = j, share
			}
		}
		title = fmt.Sprintf("%s tells the %d classes apart best: %s %% of its variance lies between them", named(columns[best].Name), len(d.Classes), numberTo(100*most, 2))
	}
	fewerColumns := ""
	if m < of {
		fewerColumns = fmt.Sprintf("%d of %d columns, %s", m, of, how)
	}
	colour := ""
	if d.Target != "" {
		colour = "colour: ranges of " + d.Target
	}
	gone := 0
	for _, i := range rows {
		if slices.ContainsFunc(columns, func(c DataColumn) bool { return !finite(c.Values[i]) }) {
			gone++
		}
	}
	absent := ""
	if gone > 0 {
		absent = count(gone, "point lacks a value and is", "points lack a value and are") + " left out of its panels"
	}
	subtitle := sentence(d.Problem, d.Note, fewerColumns, drawn, absent, colour, "numbers above the diagonal: Pearson's r of the column below and the row beside it")

	looks := d.looks()
	svm := object{"layout": pairsJS.cut("layout"), "columns": m, "names": names(columns), "r": list{}}
	p := plot{name: "pairs", tip: pairsJS.cut("tip"), svm: svm, zoom: object{}, more: object{"useUTC": true},
		about: fmt.Sprintf("Scatter plots of each pair of the columns %s.", strings.Join(names(columns), ", "))}
	ranges := make([][2]float64, m)
	for j, c := range columns {
		low, high := extent(c.Values)
		low, high = widen(low, high, 0.06)
		all := binsOf(c, pairBins)
		low, high = min(low, all.edge(0)), max(high, all.edge(all.n))
		ranges[j] = [2]float64{low, high}
		svm["time"+fmt.Sprint(j)] = c.Time
	}
	for k := range looks {
		var index list
		for _, i := range rows {
			if d.class(i) == k {
				index = append(index, i)
			}
		}
		svm[fmt.Sprint("rows", k)] = index
		for j, c := range columns {
			round := rounding(ranges[j][0], ranges[j][1])
			var values list
			for _, i := range rows {
				if d.class(i) != k {
					continue
				}
				if finite(c.Values[i]) {
					values = append(values, round(c.Values[i]))
				} else {
					values = append(values, nil)
				}
			}
			svm[fmt.Sprintf("c%d_%d", k, j)] = values
		}
	}
	size := 4
	if len(rows) <= 200 {
		size = 5
	}
	var grids list
	panel := 0
	for i, row := range columns {
		for j := range i + 1 {
			x := pairAxis(panel, ranges[j], columns[j], i == m-1)
			y := pairAxis(panel, ranges[i], row, j == 0)
			if i == j {
				svm["r"] = append(svm["r"].(list), r2(r[i]))
				b := binsOf(row, pairBins)
				bars, top := d.stacked(row, b, len(looks))
				y["min"], y["max"] = 0, 1.08*float64(max(top, 1))
				y.label(object{"show": false}).set("axisTick", object{"show": false}).set("type", "value")
				for k, look := range looks {
					if len(bars[k]) > 0 {
						p.add(custom(columnsJS.cut("bar", "color", look.color), bars[k]).id(fmt.Sprintf("bars%d_%d", i, k)).name(look.name).on(panel).clip().z(2).fill(look.color).
							set("encode", object{"x": list{0, 1}, "y": list{2, 3}}))
					}
				}
				if i < m-1 {
					p.add(custom(pairsJS.cut("correlations", "row", i, "across", pairsAcross), corner(ranges[j][0], 0)).on(panel).still().z(5))
				}
			} else {
				for k, look := range looks {
					p.add(scatter(pairsJS.cut("pair", "class", k, "x", j, "y", i)).id(fmt.Sprintf("points%d_%d_%d", i, j, k)).name(look.name).on(panel).symbols(look.symbol, size).set("symbolKeepAspect", true).
						z(3).fill(look.color).opacity(0.75).clip())
				}
			}
			p.panel(x, y)
			grids = append(grids, object{"show": true, "borderColor": "@axis"})
			panel++
		}
	}
	p.grid = grids
	if d.Classes != nil {
		for _, look := range looks {
			p.key(look.name, either(wholeSymbols[look.symbol], look.symbol))
		}
	}
	return p.chart(title, subtitle), nil
}

// telling returns the indices of at most mostPairs columns, in their order, and how they
// were chosen. The target is always among them.
func (d *ColumnsData) telling() (chosen []int, how string) {
	score := make([]float64, len(d.Columns))
	how = "the first"
	target := slices.IndexFunc(d.Columns, func(c DataColumn) bool { return d.Target != "" && c.Name == d.Target })
	if len(d.Columns) > mostPairs {
		for j, c := range d.Columns {
			switch {
			case j == target:
				score[j] = 2
			case target >= 0:
				how = "those most correlated with " + named(d.Target)
				r, _ := pearson(c.Values, d.Columns[target].Values)
				if finite(r) {
					score[j] = math.Abs(r)
				}
			case len(d.Classes) > 1:
				how = "those that tell the classes apart best"
				score[j] = d.between(c.Values)
			}
		}
	}
	chosen = upTo(len(d.Columns))
	slices.SortStableFunc(chosen, func(a, b int) int { return sign(score[b] - score[a]) })
	chosen = chosen[:min(len(chosen), mostPairs)]
	slices.Sort(chosen)
	return chosen, how
}

// stacked returns the bars of a histogram for each class, above those of the classes before
// it, and the height of the highest stack.
func (d *ColumnsData) stacked(c DataColumn, b bins, classes int) (bars []list, top int) {
	counts := make([][]int, b.n)
	for k := range counts {
		counts[k] = make([]int, classes)
	}
	for i, v := range c.Values {
		if finite(v) {
			counts[b.of(v)][d.class(i)]++
		}
	}
	bars = make([]list, classes)
	for k, of := range counts {
		below := 0
		for class, n := range of {
			if n > 0 {
				bars[class] = append(bars[class], list{c.place(b.edge(k)), c.place(b.edge(k + 1)), below, below + n, n})
			}
			below += n
		}
		top = max(top, below)
	}
	return bars, top
}

// place returns where an axis has a value: axes of times count milliseconds.
func (c DataColumn) place(v float64) float64 {
	if c.Time {
		return math.Round(1000 * v)
	}
	return v
}

func pairAxis(k int, ends [2]float64, c DataColumn, outer bool) axis {
	a := valueAxis(k, ends[0], ends[1], "", 0)
	if c.Time {
		a = axis{"type": "time", "gridIndex": k, "min": c.place(ends[0]), "max": c.place(ends[1]), "nameLocation": "middle", "splitLine": object{"show": false},
			"axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true}, "axisLabel": object{"hideOverlap": true, "showMinLabel": false, "showMaxLabel": false}}
	}
	a.set("nameTextStyle", object{"fontSize": 13, "color": "@ink"}).set("axisTick", object{"show": outer})
	if !outer {
		return a.label(object{"show": false})
	}
	return a.set("name", c.Name)
}

// r2 rounds correlations to two decimals, with null for those that are not defined.
func r2(values []float64) list {
	out := make(list, len(values))
	for k, v := range values {
		if finite(v) {
			out[k] = math.Round(100*v) / 100
		}
	}
	return out
}

func names(columns []DataColumn) []string {
	list := make([]string, len(columns))
	for j, c := range columns {
		list[j] = c.Name
	}
	return list
}
