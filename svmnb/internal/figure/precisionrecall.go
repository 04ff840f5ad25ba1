package figure

import (
	_ "embed"
	"fmt"
)

//go:embed precisionrecall.js
var precisionRecallJS source

// PrecisionRecallData is what [PrecisionRecall] draws: how many of the points predicted as
// positive are positive, and how many of the positive ones are found, as the threshold
// falls.
type PrecisionRecallData struct {
	Problem           string // what was solved and what was scored
	Positive          string // name of the positive class
	Precision, Recall []float64
	Threshold         []float64 // threshold of each point of the curve; the first may be +Inf
	AP                float64   // average precision
	Share             float64   // share of the positive points, the precision of random scores
}

// PrecisionRecall draws precision over recall, as steps: on the way from one recall to the
// next, the curve has the precision of the next. The area below the steps is the average
// precision.
func PrecisionRecall(d PrecisionRecallData) (*Chart, error) {
	n, c := len(d.Recall), checks{figure: "PrecisionRecall"}
	c.refuse(n < 2, "Recall", "has fewer than two points: give a curve from recall 0 to 1")
	c.numbers("threshold", n, amount("Recall", d.Recall), amount("Precision", d.Precision), given("Threshold", d.Threshold, infinite))
	for k := 1; k < n && c.err == nil; k++ {
		c.refuse(d.Recall[k] < d.Recall[k-1], fmt.Sprintf("Recall[%d]", k), "falls: recall increases along the curve")
	}
	c.refuse(c.err == nil && !(d.Recall[n-1] > d.Recall[0]), "Recall", "is the same along the curve: give a curve from recall 0 to 1")
	if c.err != nil {
		return nil, c.err
	}
	title := fmt.Sprintf("Precision averages %s over recall; random scores have %s", numberTo(d.AP, 4), numberTo(d.Share, 4))
	subtitle := sentence(d.Problem, "average precision is the area below the steps; positive: "+d.Positive)
	var curve list
	for _, k := range thin(d.Recall, rocStrips/2, d.Precision) {
		item := list{round4(d.Recall[k]), round4(d.Precision[k]), nil}
		if finite(d.Threshold[k]) {
			item[2] = round4(d.Threshold[k])
		}
		curve = append(curve, item)
	}
	p := plot{name: "precision-recall", about: "Precision–recall curve.", tip: precisionRecallJS.cut("tip"), grid: object{}, svm: object{"layout": rocJS.cut("layout")}}
	p.panel(shareAxis("recall: share of the positive points found", 28), shareAxis("precision", 40))
	p.add(line(curve).name("curve").set("step", "start").symbols("circle", 5).set("showSymbol", len(curve) < 60).set("showAllSymbol", true).set("encode", object{"x": 0, "y": 1}).
		ink("@neg", 2.6).in("areaStyle", object{"color": "@neg/0.12"}).set("triggerLineEvent", true),
		line(list{list{0, round4(d.Share)}, list{1, round4(d.Share)}}).name("chance").bare().still().ink("@soft", 1.2, "dashed"))
	p.key("curve")
	p.key("chance")
	return p.chart(title, subtitle), nil
}
