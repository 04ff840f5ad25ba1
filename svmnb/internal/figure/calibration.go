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

// CalibrationData is what [Calibration] draws: n predicted probabilities of an event, and
// whether it happened.
type CalibrationData struct {
	Problem string // what was solved, how it was calibrated, and for which points
	Event   string // the event, such as a class
	P       []float64
	Happens []bool
}

// Calibration draws the observed frequency of the event over its predicted probability, for
// ten groups of equal size, each with a 95 % interval (Wilson 1927). For a calibrated
// predictor, the groups lie on the diagonal.
func Calibration(d CalibrationData) (*Chart, error) {
	n, c := len(d.P), checks{figure: "Calibration"}
	c.refuse(n == 0, "P", "has no points: give the probabilities of some")
	c.numbers("point", n, amount("P", d.P))
	c.refuse(len(d.Happens) != n, "Happens", "has length %d for %d points", len(d.Happens), n)
	for i, p := range d.P {
		if p > 1 {
			c.refuse(true, fmt.Sprintf("P[%d]", i), "is %v: a probability lies in [0, 1]", p)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	order := upTo(n)
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(d.P[i], d.P[j]) })
	groups := min(10, n)
	var dots, bars list
	outside, gap := 0, 0.0 // groups whose interval does not contain the diagonal; the expected calibration error
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
	subtitle := sentence(d.Problem, fmt.Sprintf("%s in groups of equal size; probability of %s", count(n, "point", "points"), d.Event))
	p := plot{name: "calibration", about: "Reliability diagram.", tip: calibrationJS.cut("tip"), grid: object{}, svm: object{"layout": rocJS.cut("layout")}}
	p.panel(shareAxis("probability said", 28), shareAxis("share seen", 40))
	p.add(diagonal("as said"),
		custom(calibrationJS.cut("bar"), bars).name("95 % interval").still().clip().z(2).fill("@neg/0.5").set("encode", object{"x": 0, "y": list{1, 2}}),
		line(dots).name("seen").symbols("circle", 9).z(3).ink("@neg", 2).set("encode", object{"x": 0, "y": 1}))
	p.key("seen")
	p.key("95 % interval", whisker)
	p.key("as said")
	return p.chart(title, subtitle), nil
}

// shareAxis returns an axis from 0 to 1.
func shareAxis(name string, gap int) axis {
	return axis{"type": "value", "min": 0, "max": 1, "interval": 0.2}.named(name, gap).lines().label(object{"formatter": marksJS.cut("digits", "digits", 2)})
}

// diagonal returns the line from (0, 0) to (1, 1).
func diagonal(name string) mark {
	return line(list{list{0, 0}, list{1, 1}}).name(name).bare().still().ink("@soft", 1.2, "dashed")
}

// wilson returns the 95 % interval of a share p of n.
func wilson(p, n float64) (low, high float64) {
	const z = 1.959964
	centre, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (centre-half)/(1+z*z/n)), min(1, (centre+half)/(1+z*z/n))
}
