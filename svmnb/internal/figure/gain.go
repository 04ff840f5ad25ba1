package figure

import (
	_ "embed"
	"fmt"
)

//go:embed gain.js
var gainJS source

// theseScores is the name of the curve, beside those of perfect and of random scores.
const theseScores = "these scores"

// GainData is what [Gain] and [Lift] draw: how many of the positive points are among those
// with the largest scores, as more and more points are taken.
type GainData struct {
	Problem  string    // what was solved and what was scored
	Positive string    // name of the positive class
	Share    float64   // share of the positive points among all, in (0, 1]
	Taken    []float64 // share of the points that are taken, increasing from 0 to 1
	Found    []float64 // share of the positive points among the taken ones, increasing from 0 to 1
}

// Gain draws the share of the positive points that are found over the share of the points
// that are taken, with the diagonal, which random scores reach, and the curve of perfect
// scores.
func Gain(d GainData) (*Chart, error) {
	if err := d.check("Gain"); err != nil {
		return nil, err
	}
	const first = 0.2
	title := fmt.Sprintf("The first %s %% of the points have %s %% of class %s", number(100*first), numberTo(100*d.at(first), 3), d.Positive)
	var curve list
	for _, k := range thin(d.Taken, rocStrips, d.Found) {
		curve = append(curve, list{round4(d.Taken[k]), round4(d.Found[k])})
	}
	p := d.plot("gain", "Cumulative gain.", "share of the positive points found", nil)
	p.add(line(curve).name(theseScores).symbols("circle", 5).set("showSymbol", len(curve) < 60).set("showAllSymbol", true).
		ink("@neg", 2.6).set("triggerLineEvent", true).z(3),
		line(list{list{0, 0}, list{round4(d.Share), 1}, list{1, 1}}).name("perfect scores").bare().still().ink("@soft", 1.2),
		diagonal("chance"))
	p.key(theseScores)
	p.key("perfect scores")
	p.key("chance")
	return p.chart(title, d.subtitle()), nil
}

// Lift draws the share of the positive points that are found, divided by the share of the
// points that are taken. Random scores have a lift of 1.
func Lift(d GainData) (*Chart, error) {
	if err := d.check("Lift"); err != nil {
		return nil, err
	}
	const first = 0.1
	title := fmt.Sprintf("Class %s is %s times as frequent among the first %s %% of the points as among all", d.Positive, numberTo(d.at(first)/first, 3), number(100*first))
	var taken, lift []float64
	for k, t := range d.Taken {
		if t > 0 {
			taken, lift = append(taken, t), append(lift, d.Found[k]/t)
		}
	}
	_, high := extent(lift, []float64{1})
	var curve list
	for _, k := range thin(taken, rocStrips, lift) {
		curve = append(curve, list{round4(taken[k]), round4(lift[k])})
	}
	p := d.plot("lift", "Lift.", "lift", object{"min": 0, "max": roundTo(1.05*high, 3), "interval": nil, "axisLabel": object{"showMaxLabel": false}})
	p.add(line(curve).name(theseScores).symbols("circle", 5).set("showSymbol", len(curve) < 60).set("showAllSymbol", true).
		ink("@neg", 2.6).set("triggerLineEvent", true),
		line(list{list{0, 1}, list{1, 1}}).name("chance").bare().still().ink("@soft", 1.2, "dashed"))
	p.key(theseScores)
	p.key("chance")
	return p.chart(title, d.subtitle()), nil
}

func (d *GainData) check(figure string) error {
	n, c := len(d.Taken), checks{figure: figure}
	c.places("Taken", d.Taken)
	c.numbers("place", n, amount("Taken", d.Taken), amount("Found", d.Found))
	c.refuse(!(d.Share > 0 && d.Share <= 1), "Share", "is %v: the share of the positive points lies in (0, 1]", d.Share)
	for k := 1; k < n && c.err == nil; k++ {
		c.refuse(d.Found[k] < d.Found[k-1], fmt.Sprintf("Found[%d]", k), "falls: more points taken are more points found")
	}
	return c.err
}

// at returns the share of the positive points that are found among a share of the points,
// between two places of the curve by a straight line.
func (d *GainData) at(taken float64) float64 {
	for k := 1; k < len(d.Taken); k++ {
		if d.Taken[k] >= taken {
			return d.Found[k-1] + (d.Found[k]-d.Found[k-1])*(taken-d.Taken[k-1])/(d.Taken[k]-d.Taken[k-1])
		}
	}
	return d.Found[len(d.Found)-1]
}

func (d *GainData) subtitle() string {
	return sentence(d.Problem, fmt.Sprintf("points in the order of their scores, the largest first; %s %% of all are of class %s", numberTo(100*d.Share, 3), d.Positive))
}

// plot returns the figure with its axes. y has further properties of the vertical one.
func (d *GainData) plot(name, about, vertical string, y object) plot {
	p := plot{name: name, about: about, tip: gainJS.cut("tip"), grid: object{}, svm: object{"layout": rocJS.cut("layout"), "vertical": vertical}}
	axis := shareAxis(vertical, 40)
	if y == nil {
		axis = percentAxis(vertical, 40)
	}
	merge(axis, y)
	p.panel(percentAxis("share of the points taken", 28), axis)
	return p
}
