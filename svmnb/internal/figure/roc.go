package figure

import (
	_ "embed"
	"fmt"
)

//go:embed roc.js
var rocJS source

// ROCData is what [ROC] draws: the share of each class that is predicted as positive, as
// the threshold falls.
type ROCData struct {
	Problem   string // what was solved and what was scored
	Positive  string // name of the positive class
	FPR, TPR  []float64
	Threshold []float64 // threshold of each point of the curve; the first may be +Inf
	AUC       float64
}

// ROC draws the receiver operating characteristic, and the diagonal, which random scores
// reach.
func ROC(d ROCData) (*Chart, error) {
	n, c := len(d.FPR), checks{figure: "ROC"}
	c.refuse(n < 2, "FPR", "has fewer than two points: give a curve from (0, 0) to (1, 1)")
	c.numbers("threshold", n, amount("FPR", d.FPR), amount("TPR", d.TPR), given("Threshold", d.Threshold, infinite))
	if c.err != nil {
		return nil, c.err
	}
	for k := 1; k < n; k++ {
		if d.FPR[k] < d.FPR[k-1] || d.TPR[k] < d.TPR[k-1] {
			return nil, wrong("ROC", fmt.Sprintf("FPR[%d]", k), "falls: both rates increase along the curve")
		}
	}
	title := fmt.Sprintf("A positive point scores higher than a negative one with probability %s", numberTo(d.AUC, 4))
	subtitle := sentence(d.Problem, "area under the curve, ties counting half; positive: "+d.Positive)
	var curve list
	for _, k := range d.corners() {
		item := list{round4(d.FPR[k]), round4(d.TPR[k]), nil}
		if finite(d.Threshold[k]) {
			item[2] = round4(d.Threshold[k])
		}
		curve = append(curve, item)
	}
	p := plot{name: "roc", about: "Receiver operating characteristic.", tip: rocJS.cut("tip"), grid: object{}, svm: object{"layout": rocJS.cut("layout")}}
	p.panel(shareAxis("false positive rate", 28), shareAxis("true positive rate", 40))
	p.add(line(curve).name("curve").symbols("circle", 5).set("showSymbol", len(curve) < 60).set("showAllSymbol", true).set("encode", object{"x": 0, "y": 1}).
		ink("@neg", 2.6).in("areaStyle", object{"color": "@neg/0.12"}).set("triggerLineEvent", true),
		diagonal("chance"))
	p.key("curve")
	p.key("chance")
	return p.chart(title, subtitle), nil
}

// rocStrips is the number of strips across the curve in which corners are drawn.
const rocStrips = 500

// corners returns the points of the curve to draw: all points of a short curve, otherwise
// those where its direction changes. If these are too many, at most two remain in each of
// the strips across the curve, which are narrower than two pixels.
func (d *ROCData) corners() []int {
	n := len(d.FPR)
	var kept []int
	places := make([]float64, 0, n) // distance along the curve
	for k := range n {
		inside := n > rocStrips && k > 0 && k < n-1 && (d.FPR[k-1] == d.FPR[k+1] || d.TPR[k-1] == d.TPR[k+1])
		if !inside {
			kept, places = append(kept, k), append(places, d.FPR[k]+d.TPR[k])
		}
	}
	if len(kept) <= 2*rocStrips {
		return kept
	}
	corners := thin(places, rocStrips)
	for i, k := range corners {
		corners[i] = kept[k]
	}
	return corners
}
