package figure

import (
	_ "embed"
	"fmt"
)

//go:embed outputs.js
var outputsJS source

// OutputsData is what [Outputs] draws: the posteriors of several outputs of one feature, at m
// places.
type OutputsData struct {
	Problem  string
	Feature  string   // name of the x axis; "x" when empty
	Names    []string // of the outputs, at most MostLines
	Evidence float64  // log marginal likelihood; NaN when unknown

	X [][]float64 // for each output, the places of its observations
	Y [][]float64 // and their values

	Xs   []float64   // m ≥ 2 increasing places
	Mean [][]float64 // for each output, m means of f
	SD   [][]float64 // and m standard deviations of f, ≥ 0
}

// Outputs draws the mean of each output with a band of two standard deviations of f, and the
// observations, in one panel.
func Outputs(d OutputsData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	facts := ""
	if finite(d.Evidence) {
		facts = "log marginal likelihood " + number(d.Evidence)
	}
	widest, at, where := -1.0, 0, 0.0
	var all, columns [][]float64
	total := 0
	for o := range d.Names {
		lower, upper := around2(d.Mean[o], d.SD[o])
		all = append(all, d.Y[o], lower, upper)
		columns = append(columns, d.Mean[o], lower, upper)
		total += len(d.Y[o])
		for i, s := range d.SD[o] {
			if s > widest {
				widest, at, where = s, o, d.Xs[i]
			}
		}
	}
	keep := thin(d.Xs, curvePoints, columns...)
	yLow, yHigh := extent(all...)
	yLow, yHigh = widen(yLow, yHigh, 0.05)
	xLow, xHigh := around(flat(d.X), d.Xs, 0.02)
	roundX, roundY := rounding(xLow, xHigh), rounding(yLow, yHigh)
	xName := either(d.Feature, "x")
	svm := object{"x": rounded(d.Xs, keep, roundX), "names": d.Names}
	p := plot{name: "outputs", about: fmt.Sprintf("Gaussian processes of %s over %s.", count(len(d.Names), "output", "outputs"), xName), tip: outputsJS.cut("tip"), grid: list{object{}}, svm: svm}
	p.panel(valueAxis(0, xLow, xHigh, xName, 28), valueAxis(0, yLow, yHigh, "outputs", 42).lines())
	for o, name := range d.Names {
		colour, look := fmt.Sprintf("@series%d", o+1), lineDashes[o%len(lineDashes)]
		m, l, u := fmt.Sprint("mean", o), fmt.Sprint("lower", o), fmt.Sprint("upper", o)
		svm[m], svm[l], svm[u] = rounded(d.Mean[o], keep, roundY), rounded(columns[3*o+1], keep, roundY), rounded(columns[3*o+2], keep, roundY)
		p.add(band(0, name, "x", l, u, colour+"/0.2", ""))
		shown := choose(len(d.Y[o]), func(int) int { return 0 })
		p.add(curve(0, name, "x", m, colour).silent().z(4).pen(colour, 2.6, look))
		data := items(shown, nil, func(_, i int) list { return list{roundX(d.X[o][i]), roundY(d.Y[o][i]), o} })
		p.add(scatter(data).id(fmt.Sprint("data", o)).name(name).symbols(outputSymbols[o%len(outputSymbols)], pointSize(total)).z(5).fill(colour).edge("@page", 1).opacity(0.95))
		p.key(name)
	}
	p.add(strips(yLow))
	title := fmt.Sprintf("%s, %s observed: the widest band is ± %s of %s at %s", count(len(d.Names), "output", "outputs"), count(total, "value", "values"), numberTo(2*widest, 3), d.Names[at], numberTo(where, 3))
	return p.chart(title, sentence(d.Problem, "bands of f ± 2 sd", facts)), nil
}

// outputSymbols tell outputs apart without colours.
var outputSymbols = []string{"circle", "rect", "triangle", diamond}

// flat puts all numbers into one list.
func flat(v [][]float64) (all []float64) {
	for _, row := range v {
		all = append(all, row...)
	}
	return all
}

func (d *OutputsData) check() error {
	c := checks{figure: "Outputs"}
	m := len(d.Names)
	c.refuse(m == 0 || m > MostLines, "Names", "has %d outputs: there are colours for 1 to %d", m, MostLines)
	c.refuse(len(d.X) != m || len(d.Y) != m || len(d.Mean) != m || len(d.SD) != m, "X", "Y, Mean and SD need a list for each of %d outputs", m)
	c.places("Xs", d.Xs)
	for o := range min(m, len(d.X), len(d.Y), len(d.Mean), len(d.SD)) {
		c.numbers("observation", len(d.Y[o]), given(fmt.Sprintf("X[%d]", o), d.X[o]), given(fmt.Sprintf("Y[%d]", o), d.Y[o]))
		c.numbers("place", len(d.Xs), given(fmt.Sprintf("Mean[%d]", o), d.Mean[o]), amount(fmt.Sprintf("SD[%d]", o), d.SD[o]))
	}
	return c.err
}
