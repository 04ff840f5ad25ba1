package figure

import (
	_ "embed"
	"fmt"
	"slices"
	"unicode/utf8"
)

//go:embed missing.js
var missingJS source

// MissingData is what [Missing] draws: how many values each column lacks, and which columns
// lack them in the same rows.
type MissingData struct {
	Problem  string // name and size of the data
	Rows     int
	Columns  []string
	Counts   []int            // missing values of each column
	Patterns []MissingPattern // all that occur, in any order
}

// MissingPattern is a set of columns that are missing together.
type MissingPattern struct {
	Columns []int // indices into MissingData.Columns, in increasing order; none for rows with all values
	Rows    int   // rows in which these columns are missing and no others
}

const (
	mostMissing  = 30 // columns in the picture
	mostPatterns = 12
)

// Missing draws the share of missing values of each column and, beside it, the most
// frequent patterns: columns that are missing in the same rows.
func Missing(d MissingData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	order, incomplete, values := upTo(len(d.Columns)), 0, 0
	for _, n := range d.Counts {
		if values += n; n > 0 {
			incomplete++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return d.Counts[b] - d.Counts[a] })
	if incomplete > 0 {
		order = order[:incomplete]
	}
	shown := order[:min(len(order), mostMissing)]
	patterns := slices.Clone(d.Patterns)
	slices.SortStableFunc(patterns, func(a, b MissingPattern) int { return b.Rows - a.Rows })
	whole, several := 0, -1
	for k, p := range patterns {
		if len(p.Columns) == 0 {
			whole = p.Rows
		} else if several < 0 && len(p.Columns) > 1 {
			several = k
		}
	}
	title := fmt.Sprintf("No value is missing in %s of %s", count(len(d.Columns), "column", "columns"), count(d.Rows, "row", "rows"))
	together := ""
	if incomplete > 0 {
		first := order[0]
		title = fmt.Sprintf("%s is missing in %s %% of the rows; %s of %s have all values", named(d.Columns[first]), percent(d.Counts[first], d.Rows), thousands(int64(whole)), count(d.Rows, "row", "rows"))
		together = "no two columns are missing in the same row"
	}
	if several >= 0 {
		p := patterns[several]
		together = fmt.Sprintf("most often together: %s and %s", named(d.Columns[p.Columns[0]]), named(d.Columns[p.Columns[1]]))
		if len(p.Columns) > 2 {
			together = fmt.Sprintf("most often together: %s, %s and %d more", named(d.Columns[p.Columns[0]]), named(d.Columns[p.Columns[1]]), len(p.Columns)-2)
		}
		together += ", in " + count(p.Rows, "row", "rows")
	}
	fewer := ""
	switch {
	case incomplete > 0 && len(shown) < incomplete:
		fewer = fmt.Sprintf("the %d of %d incomplete columns that lack most", len(shown), incomplete)
	case incomplete > 0 && incomplete < len(d.Columns):
		fewer = count(len(d.Columns)-incomplete, "column is", "columns are") + " complete and not drawn"
	case len(shown) < len(d.Columns):
		fewer = fmt.Sprintf("%d of %d columns are drawn", len(shown), len(d.Columns))
	}
	rest := ""
	if len(patterns) > mostPatterns {
		rows := 0
		for _, p := range patterns[mostPatterns:] {
			rows += p.Rows
		}
		rest = fmt.Sprintf("the %d most frequent of %s, without %s", mostPatterns, count(len(patterns), "pattern", "patterns"), count(rows, "row", "rows"))
		patterns = patterns[:mostPatterns]
	}
	subtitle := sentence(d.Problem, together, fewer, rest)

	var bars, cells, labels list
	var namesOf, shares []string
	longest := 1
	for k, j := range shown {
		namesOf = append(namesOf, d.Columns[j])
		shares = append(shares, shareOf(d.Counts[j], d.Rows))
		bars = append(bars, list{round4(100 * float64(d.Counts[j]) / float64(d.Rows)), k, d.Counts[j]})
	}
	for k, p := range patterns {
		for i, j := range shown {
			lacks := 0
			if slices.Contains(p.Columns, j) {
				lacks = 1
			}
			cells = append(cells, list{k, i, lacks})
		}
		rows := thousands(int64(p.Rows))
		labels, longest = append(labels, rows), max(longest, utf8.RuneCountInString(rows))
	}
	p := plot{name: "missing", about: fmt.Sprintf("Missing values of %s, and which are missing together.", count(len(d.Columns), "column", "columns")), tip: missingJS.cut("tip"),
		grid: list{object{}, object{}}, zoom: nil, svm: object{"layout": missingJS.cut("layout"), "names": namesOf, "rows": d.Rows, "patterns": len(patterns), "shares": shares, "longest": longest}}
	most := 0
	for _, j := range shown {
		most = max(most, d.Counts[j])
	}
	end := shareEnd(100 * float64(most) / float64(d.Rows))
	p.panel(valueAxis(0, 0, end, "% missing", 28).label(object{"showMinLabel": true, "showMaxLabel": true}).set("interval", end/2).lines(),
		categories("", namesOf).set("gridIndex", 0).set("inverse", true).label(object{"overflow": "truncate", "interval": 0, "color": "@ink"}))
	p.panel(categories("rows with the pattern", nil).set("data", labels).set("gridIndex", 1).set("inverse", false).label(object{"interval": 0}),
		categories("", namesOf).set("gridIndex", 1).set("inverse", true).label(object{"show": false}))
	p.add(custom(missingJS.cut("share"), bars).id("shares").name("missing").set("encode", object{"x": 0, "y": 1}).fill("@pos"),
		custom(missingJS.cut("cell"), cells).id("cells").name("missing").on(1).set("encode", object{"x": 0, "y": 1}).fill("@pos"))
	p.key("missing", "rect")
	return p.chart(title, subtitle), nil
}

// shareOf prints n of all in % with one decimal. It says 0.0 or 100.0 of nothing else than none
// and all.
func shareOf(n, all int) string {
	share := 100 * float64(n) / float64(all)
	switch {
	case n > 0 && share < 0.1:
		return "< 0.1 %"
	case n < all:
		share = min(share, 99.9)
	}
	return fixed(share, 1) + " %"
}

// shareEnd returns the end of an axis of shares in %, the largest of which is most. Half of it is
// a round number too.
func shareEnd(most float64) float64 {
	for _, end := range []float64{1, 2, 5, 10, 20, 30, 40, 50, 60, 80} {
		if most <= end {
			return end
		}
	}
	return 100
}

func (d *MissingData) check() error {
	c := checks{figure: "Missing"}
	c.refuse(len(d.Columns) == 0, "Columns", "has no columns: give at least one")
	c.refuse(d.Rows < 1, "Rows", "is %d: give at least one", d.Rows)
	c.refuse(len(d.Counts) != len(d.Columns), "Counts", "has length %d for %s", len(d.Counts), count(len(d.Columns), "column", "columns"))
	for j, n := range d.Counts {
		c.refuse(n < 0 || n > d.Rows, fmt.Sprintf("Counts[%d]", j), "is %d: give 0 to %d rows", n, d.Rows)
	}
	rows := 0
	for k, p := range d.Patterns {
		rows += p.Rows
		for i, j := range p.Columns {
			c.refuse(j < 0 || j >= len(d.Columns) || i > 0 && j <= p.Columns[i-1], fmt.Sprintf("Patterns[%d].Columns[%d]", k, i), "is %d: give increasing indices of columns", j)
		}
		c.refuse(p.Rows < 1, fmt.Sprintf("Patterns[%d].Rows", k), "is %d: give at least one", p.Rows)
	}
	c.refuse(rows != d.Rows, "Patterns", "have %d rows together, and there are %d", rows, d.Rows)
	return c.err
}
