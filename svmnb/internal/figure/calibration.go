package figure

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
)

//go:embed calibration.js
var calibrationJS source

// CalibrationData is what [Calibration] draws: n probabilities and whether what
// they are of came true.
type CalibrationData struct {
	Problem string // what was solved, how it was calibrated, and of which points
	Event   string // what the probabilities are of
	P       []float64
	Happens []bool
}

// Calibration draws how often what was said to have probability p came true, in
// ten groups of equal size, against p, each with its 95 % interval (Wilson 1927).
// On the diagonal a probability means what it says.
func Calibration(d CalibrationData) (*Chart, error) {
	n := len(d.P)
	if n == 0 {
		return nil, &InputError{Figure: "Calibration", Field: "P", Reason: "has no points: give the probabilities of some"}
	}
	if err := check("Calibration", "point", n, argument{name: "P", values: d.P, positive: true}); err != nil {
		return nil, err
	}
	if len(d.Happens) != n {
		return nil, &InputError{Figure: "Calibration", Field: "Happens", Reason: fmt.Sprintf("has length %d for %d points", len(d.Happens), n)}
	}
	order := make([]int, n)
	for i, p := range d.P {
		if order[i] = i; p > 1 {
			return nil, &InputError{Figure: "Calibration", Field: fmt.Sprintf("P[%d]", i), Reason: fmt.Sprintf("is %v: a probability lies in [0, 1]", p)}
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(d.P[i], d.P[j]) })
	groups := min(10, n)
	var dots, bars list
	outside, gap := 0, 0.0 // groups whose interval misses the diagonal; the expected calibration error
	for g := range groups {
		part := order[g*n/groups : (g+1)*n/groups]
		m, p, happened := float64(len(part)), 0.0, 0.0
		for _, i := range part {
			p += d.P[i] / m
			if d.Happens[i] {
				happened++
			}
		}
		share := happened / m
		low, high := wilson(share, m)
		if p < low || p > high {
			outside++
		}
		gap += m / float64(n) * math.Abs(share-p)
		dots = append(dots, list{round4(p), round4(share), len(part), round4(low), round4(high)})
		bars = append(bars, list{round4(p), round4(low), round4(high)})
	}
	title := fmt.Sprintf("Said and seen differ by %s on average; %d of %s outside their 95 %% intervals", numberTo(gap, 3), outside, count(groups, "group", "groups"))
	subtitle := fmt.Sprintf("%s in groups of equal size; probability of %s", count(n, "point", "points"), d.Event)
	if d.Problem != "" {
		subtitle = d.Problem + " · " + subtitle
	}
	axis := func(name string, gap int) object {
		return object{"type": "value", "min": 0, "max": 1, "interval": 0.2, "name": name, "nameLocation": "middle", "nameGap": gap, "splitLine": object{"show": true},
			"axisLabel": object{"formatter": marksJS.cut("digits", "digits", 2)}}
	}
	return newChart(title, subtitle, "Reliability diagram. "+title+". "+subtitle+".", object{
		"legend":  object{"data": list{object{"name": "seen"}, object{"name": "95 % interval"}, object{"name": "as said"}}},
		"toolbox": toolbox("calibration", object{}),
		"tooltip": object{"trigger": "item", "formatter": calibrationJS.cut("tip")},
		"grid":    object{},
		"xAxis":   list{axis("probability said", 28)},
		"yAxis":   list{axis("share seen", 40)},
		"svm":     object{"layout": rocJS.cut("layout")},
		"series": list{
			object{"type": "line", "name": "as said", "data": list{list{0, 0}, list{1, 1}}, "symbol": "none", "silent": true, "tooltip": object{"show": false},
				"itemStyle": object{"color": "@soft"}, "lineStyle": object{"color": "@soft", "width": 1.2, "type": "dashed"}},
			object{"type": "custom", "name": "95 % interval", "data": bars, "silent": true, "clip": true, "z": 2, "itemStyle": object{"color": "@neg/0.5"},
				"encode": object{"x": 0, "y": list{1, 2}}, "tooltip": object{"show": false}, "renderItem": calibrationJS.cut("bar")},
			object{"type": "line", "name": "seen", "data": dots, "symbol": "circle", "symbolSize": 9, "z": 3, "encode": object{"x": 0, "y": 1},
				"itemStyle": object{"color": "@neg"}, "lineStyle": object{"color": "@neg", "width": 2}},
		},
	}), nil
}

// wilson is the 95 % interval of a share of n.
func wilson(p, n float64) (low, high float64) {
	const z = 1.959964
	centre, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (centre-half)/(1+z*z/n)), min(1, (centre+half)/(1+z*z/n))
}
