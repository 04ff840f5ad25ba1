package figure

import (
	_ "embed"
	"fmt"
)

//go:embed roc.js
var rocJS source

// ROCData is what [ROC] draws: how many of each class are taken for positive as
// the threshold falls.
type ROCData struct {
	Problem   string // what was solved and what was scored
	Positive  string // name of the positive class
	FPR, TPR  []float64
	Threshold []float64 // of each point; the first may be +Inf
	AUC       float64
}

// ROC draws the receiver operating characteristic over the diagonal, which
// chance reaches.
func ROC(d ROCData) (*Chart, error) {
	n := len(d.FPR)
	if n < 2 {
		return nil, &InputError{Figure: "ROC", Field: "FPR", Reason: "has fewer than two points: give a curve from (0, 0) to (1, 1)"}
	}
	if err := check("ROC", "threshold", n, argument{name: "FPR", values: d.FPR, positive: true}, argument{name: "TPR", values: d.TPR, positive: true},
		argument{name: "Threshold", values: d.Threshold, infinite: true}); err != nil {
		return nil, err
	}
	for k := 1; k < n; k++ {
		if d.FPR[k] < d.FPR[k-1] || d.TPR[k] < d.TPR[k-1] {
			return nil, &InputError{Figure: "ROC", Field: fmt.Sprintf("FPR[%d]", k), Reason: "falls: both rates increase along the curve"}
		}
	}
	title := fmt.Sprintf("A positive point scores higher than a negative one with probability %s", numberTo(d.AUC, 4))
	subtitle := "area under the curve, ties counting half; positive: " + d.Positive
	if d.Problem != "" {
		subtitle = d.Problem + " · " + subtitle
	}
	var curve list
	for _, k := range d.corners() {
		item := list{round4(d.FPR[k]), round4(d.TPR[k]), nil}
		if finite(d.Threshold[k]) {
			item[2] = round4(d.Threshold[k])
		}
		curve = append(curve, item)
	}
	axis := func(name string, gap int) object {
		return object{"type": "value", "min": 0, "max": 1, "interval": 0.2, "name": name, "nameLocation": "middle", "nameGap": gap, "splitLine": object{"show": true},
			"axisLabel": object{"formatter": marksJS.cut("digits", "digits", 2)}}
	}
	return newChart(title, subtitle, "Receiver operating characteristic. "+title+". "+subtitle+".", object{
		"legend":  object{"data": list{object{"name": "curve"}, object{"name": "chance"}}},
		"toolbox": toolbox("roc", object{}),
		"tooltip": object{"trigger": "item", "formatter": rocJS.cut("tip")},
		"grid":    object{},
		"xAxis":   list{axis("false positive rate", 28)},
		"yAxis":   list{axis("true positive rate", 40)},
		"svm":     object{"layout": rocJS.cut("layout")},
		"series": list{
			object{"type": "line", "name": "curve", "data": curve, "symbol": "circle", "symbolSize": 5, "showSymbol": len(curve) < 60, "showAllSymbol": true, "encode": object{"x": 0, "y": 1},
				"itemStyle": object{"color": "@neg"}, "lineStyle": object{"color": "@neg", "width": 2.6}, "areaStyle": object{"color": "@neg/0.12"}, "triggerLineEvent": true},
			object{"type": "line", "name": "chance", "data": list{list{0, 0}, list{1, 1}}, "symbol": "none", "silent": true, "tooltip": object{"show": false},
				"itemStyle": object{"color": "@soft"}, "lineStyle": object{"color": "@soft", "width": 1.2, "type": "dashed"}},
		},
	}), nil
}

// rocStrips is in how many strips across the curve its corners are drawn.
const rocStrips = 500

// corners returns the points of the curve to draw: all of a short one, else those
// between which it goes on in another direction. Where there are still more, those in
// a strip across the curve that is narrower than two pixels become two.
func (d *ROCData) corners() []int {
	n := len(d.FPR)
	var kept []int
	places := make([]float64, 0, n) // along the curve
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
