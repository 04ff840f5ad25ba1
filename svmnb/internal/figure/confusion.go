package figure

import (
	_ "embed"
	"fmt"
)

//go:embed confusion.js
var confusionJS source

// ConfusionData is what [Confusion] draws: the number of points of each true class by
// predicted class.
type ConfusionData struct {
	Problem string // what was solved and what was predicted
	Classes []string
	Counts  [][]int // k × k, Counts[truth][predicted]
}

// mostClasses is the largest number of classes that the figure can show.
const mostClasses = 60

// Confusion draws the counts as a square, with correct predictions on the diagonal. Each
// row is a true class; the colour is the share of the row.
func Confusion(d ConfusionData) (*Chart, error) {
	c, k := checks{figure: "Confusion"}, len(d.Classes)
	c.refuse(k < 1 || k > mostClasses, "Classes", "has %d names: the square has room for 1 to %d", k, mostClasses)
	c.refuse(len(d.Counts) != k, "Counts", "has %d rows for %d classes", len(d.Counts), k)
	for i, row := range d.Counts {
		c.refuse(len(row) != k, fmt.Sprintf("Counts[%d]", i), "has length %d for %d classes", len(row), k)
	}
	if c.err != nil {
		return nil, c.err
	}
	all, right, worst := 0, 0, [2]int{-1, -1}
	var cells list
	for i, row := range d.Counts {
		sum := 0
		for j, c := range row {
			if c < 0 {
				return nil, wrong("Confusion", fmt.Sprintf("Counts[%d][%d]", i, j), "is %d: a count is not negative", c)
			}
			sum += c
			if i == j {
				right += c
			} else if c > 0 && (worst[0] < 0 || c > d.Counts[worst[0]][worst[1]]) {
				worst = [2]int{i, j}
			}
		}
		all += sum
		for j, c := range row {
			cells = append(cells, list{j, i, c, round4(float64(c) / float64(max(sum, 1)))})
		}
	}
	if all == 0 {
		return nil, wrong("Confusion", "Counts", "counts no point: give at least one")
	}
	title := fmt.Sprintf("%s of %s right", thousands(int64(right)), count(all, "point", "points"))
	if worst[0] >= 0 {
		title += fmt.Sprintf("; most often wrong: %s taken for %s (%s)", d.Classes[worst[0]], d.Classes[worst[1]], count(d.Counts[worst[0]][worst[1]], "time", "times"))
	}
	subtitle := sentence(d.Problem, "rows: true class; columns: predicted; colour: share of the row")
	p := plot{name: "confusion", about: "Confusion matrix of " + count(k, "class", "classes") + ".", tip: confusionJS.cut("tip"), grid: object{},
		svm: object{"classes": k, "names": d.Classes, "layout": confusionJS.cut("layout", "font", fontFamily)}}
	p.panel(categories("predicted class", d.Classes).set("inverse", false).label(object{"overflow": "truncate"}),
		categories("true class", d.Classes).set("inverse", true).label(object{"overflow": "truncate"}))
	p.add(custom(confusionJS.cut("cell"), cells).set("encode", object{"x": 0, "y": 1}))
	return p.chart(title, subtitle), nil
}

// categories returns an axis of names without a line.
func categories(name string, names []string) axis {
	return axis{"type": "category", "data": names, "name": name, "nameLocation": "middle",
		"axisLine": object{"show": false}, "axisTick": object{"show": false}, "splitLine": object{"show": false}}
}
