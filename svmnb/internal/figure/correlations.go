package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed correlations.js
var correlationsJS source

// mostCorrelations is the largest number of columns of the square.
const mostCorrelations = 30

// Correlations draws Pearson's r of each pair of columns, over the rows in which both have a
// value. All columns are numbers. If there are more than thirty, it draws those with the
// largest |r|.
func Correlations(d ColumnsData) (*Chart, error) {
	if err := d.check("Correlations", 2, true); err != nil {
		return nil, err
	}
	n, m := d.Columns[0].n(), len(d.Columns)
	r, rows := make([][]float64, m), make([][]int, m)
	for i := range m {
		r[i], rows[i] = make([]float64, m), make([]int, m)
		r[i][i] = 1
		for j := range i {
			r[i][j], rows[i][j] = pearson(d.Columns[i].Values, d.Columns[j].Values)
			r[j][i], rows[j][i] = r[i][j], rows[i][j]
		}
	}
	shown, how := upTo(m), ""
	if m > mostCorrelations {
		strongest := make([]float64, m)
		for i := range m {
			for j := range m {
				if i != j && finite(r[i][j]) {
					strongest[i] = max(strongest[i], math.Abs(r[i][j]))
				}
			}
		}
		slices.SortStableFunc(shown, func(a, b int) int { return sign(strongest[b] - strongest[a]) })
		shown = shown[:mostCorrelations]
		slices.Sort(shown)
		how = fmt.Sprintf("%d of %d columns, those with the largest |r|", mostCorrelations, m)
	}
	best, fewest, strong, pairs := [2]int{-1, -1}, n, 0, 0
	var cells list
	for y, i := range shown {
		for x, j := range shown {
			if i == j {
				rows[i][i] = n
				cells = append(cells, list{x, y, 1, nil})
				continue
			}
			item := list{x, y, nil, rows[i][j]}
			if finite(r[i][j]) {
				item[2] = roundTo(remainder(r[i][j], 1), 3)
			}
			cells = append(cells, item)
			if i > j {
				continue
			}
			fewest = min(fewest, rows[i][j])
			pairs++
			if finite(r[i][j]) {
				if math.Abs(r[i][j]) >= 0.5 {
					strong++
				}
				if best[0] < 0 || math.Abs(r[i][j]) > math.Abs(r[best[0]][best[1]]) {
					best = [2]int{i, j}
				}
			}
		}
	}
	title := fmt.Sprintf("None of %s varies together", count(pairs, "pair", "pairs"))
	if best[0] >= 0 {
		title = fmt.Sprintf("%s and %s go together most closely: r = %s; |r| ≥ 0.5 in %s of %s", named(d.Columns[best[0]].Name), named(d.Columns[best[1]].Name),
			correlation(r[best[0]][best[1]]), thousands(int64(strong)), count(pairs, "pair", "pairs"))
	}
	complete := "Pearson correlation"
	if fewest < n {
		complete = fmt.Sprintf("Pearson correlation over the rows in which both columns have a value, at least %s", thousands(int64(fewest)))
	}
	subtitle := sentence(d.Problem, d.Note, how, complete)
	columns := names(pick(d.Columns, shown))
	p := plot{name: "correlations", about: fmt.Sprintf("Correlations of the columns %s.", strings.Join(columns, ", ")), tip: correlationsJS.cut("tip"), grid: object{},
		svm: object{"layout": correlationsJS.cut("layout"), "names": columns}}
	p.panel(categories("", columns).set("inverse", false).label(object{"overflow": "truncate", "interval": 0}),
		categories("", columns).set("inverse", true).label(object{"overflow": "truncate", "interval": 0}))
	p.add(custom(correlationsJS.cut("cell", "inkOn", marksJS.text("inkOn")), cells).id("cells").set("encode", object{"x": 0, "y": 1}),
		custom(correlationsJS.cut("scale"), corner(0, 0)).id("scale").still())
	return p.chart(title, subtitle), nil
}
