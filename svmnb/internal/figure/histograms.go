package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed histograms.js
var histogramsJS source

const (
	mostHistograms = 24 // panels
	histogramBins  = 24
	mostLevels     = 7 // bars of a category; the last may be of all other levels
)

// Histograms draws a panel for each column: numbers and times in bins, categories as bars
// of their levels. The classes stand on top of each other. If there are more than 24
// columns, it draws those whose bars tell most of the classes, or else the first.
func Histograms(d ColumnsData) (*Chart, error) {
	if err := d.check("Histograms", 1, false); err != nil {
		return nil, err
	}
	n, looks := d.Columns[0].n(), d.looks()
	panels := make([]histogram, len(d.Columns))
	for j, c := range d.Columns {
		panels[j] = d.histogram(c, len(looks))
	}
	best := func(of func(h histogram) float64) int {
		best := 0
		for j := range panels {
			if of(panels[j]) > of(panels[best]) {
				best = j
			}
		}
		return best
	}
	var title string
	classes := len(d.Classes) > 1
	if classes {
		sizes := make([]int, len(d.Classes))
		for _, k := range d.Class {
			sizes[k]++
		}
		j := best(func(h histogram) float64 { return float64(h.right) })
		of := "classes"
		if d.Target != "" {
			of = "ranges of " + named(d.Target)
		}
		title = fmt.Sprintf("%s tells most about the %d %s: guesses by its bars are right for %s %% of the rows, without it for %s %%",
			named(d.Columns[j].Name), len(d.Classes), of, percent(panels[j].right, n), percent(slices.Max(sizes), n))
	} else if j := best(func(h histogram) float64 { return math.Abs(h.skew) }); panels[j].skew != 0 {
		title = fmt.Sprintf("%s is the most lopsided of %s: skewness %s", named(d.Columns[j].Name), count(d.numeric(), "column of numbers", "columns of numbers"), numberTo(panels[j].skew, 2))
	} else {
		j := best(func(h histogram) float64 { return float64(h.top) })
		title = fmt.Sprintf("%s is the most uneven of %s: its highest bar has %s of %s", named(d.Columns[j].Name), count(len(panels), "column", "columns"), thousands(int64(panels[j].top)), count(n, "row", "rows"))
	}
	fewerPanels := ""
	chosen := upTo(len(panels))
	if len(panels) > mostHistograms {
		how := "the first"
		if classes {
			how = "those that tell most"
			slices.SortStableFunc(chosen, func(a, b int) int { return panels[b].right - panels[a].right })
		}
		chosen = chosen[:mostHistograms]
		slices.Sort(chosen)
		fewerPanels = fmt.Sprintf("%d of %d columns, %s", mostHistograms, len(panels), how)
	}
	colour := ""
	if d.Target != "" {
		colour = "colour: ranges of " + d.Target
	}
	right := ""
	if classes {
		right = "right: rows of the most frequent class of their bar"
	}
	subtitle := sentence(d.Problem, d.Note, fewerPanels, colour, "a bar is as long as its number of rows", right)

	svm := object{"layout": histogramsJS.cut("layout")}
	p := plot{name: "histograms", tip: histogramsJS.cut("tip"), svm: svm, more: object{"useUTC": true},
		about: fmt.Sprintf("Histograms of the columns %s.", strings.Join(names(pick(d.Columns, chosen)), ", "))}
	var grids, about, kinds, heads list
	for panel, j := range chosen {
		h, c := panels[j], d.Columns[j]
		note := ""
		if classes {
			note = percent(h.right, n) + " % right"
		}
		if h.missing > 0 {
			note = sentence(note, percent(h.missing, n)+" % missing")
		}
		about, heads = append(about, note), append(heads, object{"name": c.Name})
		top := 1.06 * float64(max(h.top, 1))
		counts := valueAxis(panel, 0, top, "", 0).set("splitNumber", 3).set("minInterval", 1).label(object{"showMinLabel": true, "showMaxLabel": false, "formatter": histogramsJS.cut("short")})
		at := corner(c.place(h.low), 0)
		switch {
		case c.Values == nil:
			kinds = append(kinds, "category")
			p.panel(counts, categories("", h.levels).set("gridIndex", panel).set("inverse", true).label(object{"overflow": "truncate", "interval": 0, "fontSize": 11}))
			at = corner(0, 0)
		case c.Time:
			kinds = append(kinds, "time")
			p.panel(pairAxis(panel, [2]float64{h.low, h.high}, c, true).set("name", "").set("splitNumber", 3), counts)
		default:
			kinds = append(kinds, "number")
			x := valueAxis(panel, h.low, h.high, "", 0).set("splitNumber", 4)
			if integers(c.Values) {
				x.set("minInterval", 1)
			}
			p.panel(x, counts)
		}
		for k, look := range looks {
			if len(h.bars[k]) == 0 {
				continue
			}
			m := custom(columnsJS.cut("bar", "color", look.color), h.bars[k]).set("encode", object{"x": list{0, 1}, "y": list{2, 3}})
			if c.Values == nil {
				m = custom(histogramsJS.cut("level", "color", look.color), h.bars[k]).set("encode", object{"x": list{1, 2}, "y": 0})
			}
			p.add(m.id(fmt.Sprintf("bars%d_%d", panel, k)).name(look.name).on(panel).clip().z(2).fill(look.color))
		}
		p.add(custom(histogramsJS.cut("head", "panel", panel), at).id(fmt.Sprint("head", panel)).on(panel).still().z(5))
		grids = append(grids, object{})
	}
	p.grid = grids
	svm["notes"], svm["kinds"], svm["heads"] = about, kinds, heads
	if d.Classes != nil {
		for _, look := range looks {
			p.key(look.name, "rect")
		}
	}
	return p.chart(title, subtitle), nil
}

// numeric returns the number of columns of numbers, which have a skewness.
func (d *ColumnsData) numeric() int {
	n := 0
	for _, c := range d.Columns {
		if c.Values != nil && !c.Time {
			n++
		}
	}
	return n
}

// percent writes a share of n in %, with two digits.
func percent(k, n int) string {
	share := 100 * float64(k) / float64(max(n, 1))
	switch {
	case k == n:
		return "100"
	case share > 99:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Floor(10*share)/10), ".0")
	case share >= 10:
		return fmt.Sprintf("%.0f", share)
	}
	return numberTo(share, 1)
}

// histogram is what a panel shows of a column.
type histogram struct {
	bars      []list   // for each class: from, to, below, above and count of a bin, or level, below, above and count
	levels    []string // those of a category that have bars
	low, high float64  // ends of the axis of values
	top       int      // height of the highest stack
	right     int      // rows whose class is the most frequent one of their bar, or of the missing values
	missing   int
	skew      float64 // third standardised moment of numbers; 0 for other kinds
}

func (d *ColumnsData) histogram(c DataColumn, classes int) (h histogram) {
	var counts [][]int
	var b bins
	var place func(i int) int
	if c.Values == nil {
		var shown []int
		h.levels, shown = frequent(c)
		counts = make([][]int, len(h.levels))
		place = func(i int) int {
			if c.Codes[i] < 0 {
				return -1
			}
			return shown[c.Codes[i]]
		}
	} else {
		b = binsOf(c, histogramBins)
		h.low, h.high = b.edge(0), b.edge(b.n)
		counts = make([][]int, b.n)
		place = func(i int) int {
			if !finite(c.Values[i]) {
				return -1
			}
			return b.of(c.Values[i])
		}
		if !c.Time {
			h.skew = skewness(c.Values)
		}
	}
	absent := make([]int, classes)
	for k := range counts {
		counts[k] = make([]int, classes)
	}
	for i := range c.n() {
		if k := place(i); k >= 0 {
			counts[k][d.class(i)]++
		} else {
			absent[d.class(i)]++
			h.missing++
		}
	}
	h.bars = make([]list, classes)
	h.right = slices.Max(absent)
	for k, of := range counts {
		below := 0
		for class, n := range of {
			if n > 0 {
				bar := list{c.place(b.edge(k)), c.place(b.edge(k + 1)), below, below + n, n}
				if c.Values == nil {
					bar = list{k, below, below + n, n}
				}
				h.bars[class] = append(h.bars[class], bar)
			}
			below += n
		}
		h.top = max(h.top, below)
		h.right += slices.Max(of)
	}
	return h
}

// frequent returns the names of the bars of a category, and the bar of each level. Levels
// that have no bar of their own, since they are rare, are in the last one.
func frequent(c DataColumn) (levels []string, bar []int) {
	counts := make([]int, len(c.Levels))
	for _, k := range c.Codes {
		if k >= 0 {
			counts[k]++
		}
	}
	bar = make([]int, len(c.Levels))
	own := upTo(len(c.Levels))
	if len(own) > mostLevels {
		slices.SortStableFunc(own, func(a, b int) int { return counts[b] - counts[a] })
		own = own[:mostLevels-1]
		for k := range bar {
			bar[k] = len(own)
		}
	}
	for k, level := range own {
		levels = append(levels, c.Levels[level])
		bar[level] = k
	}
	if len(own) < len(c.Levels) {
		levels = append(levels, fmt.Sprintf("%s others", thousands(int64(len(c.Levels)-len(own)))))
	}
	return levels, bar
}

// skewness returns the third standardised moment, or 0 for equal values.
func skewness(values []float64) float64 {
	var n, mean, largest float64
	for _, v := range values {
		if finite(v) {
			n, mean = n+1, mean+v
		}
	}
	mean /= n
	for _, v := range values {
		if finite(v) {
			largest = max(largest, math.Abs(v-mean))
		}
	}
	if largest <= 1e-12*math.Abs(mean) || largest == 0 {
		return 0
	}
	var second, third float64
	for _, v := range values {
		if finite(v) {
			u := (v - mean) / largest
			second, third = second+u*u, third+u*u*u
		}
	}
	return round4(remainder(third/n/math.Pow(second/n, 1.5), 1))
}
