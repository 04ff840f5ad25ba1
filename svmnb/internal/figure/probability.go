package figure

import (
	_ "embed"
	"fmt"

	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

//go:embed probability.js
var probabilityJS source

// ProbabilityData is what [Probability] draws: the probabilities of k classes at each place of
// two features, and the n training points.
type ProbabilityData struct {
	Problem  string    // what was solved, such as "moons · RBF(0.5) · Laplace"
	Evidence float64   // the log marginal likelihood; NaN when unknown
	Unlike   bool      // the two features need not have one scale, so the panel fills the width
	Features [2]string // names of the axes; "x₁" and "x₂" when empty
	Classes  []string  // k names, at most MostRegions; of two, the positive one is last

	X     [][]float64 // n × 2
	Class []int       // n indices of true classes
	Of    [][]float64 // n × k probabilities

	Xs, Ys [2]float64    // first and last node of an even grid, at least two nodes each way
	P      [][][]float64 // P[c][i][j] is the probability of class c at node j of Xs and node i of Ys
}

// probabilitySteps are the leads of the most probable class over the next, at which its colour
// becomes stronger: of two classes, probabilities of 0.5, 0.6, …, 0.9.
var probabilitySteps = []float64{0, 0.2, 0.4, 0.6, 0.8}

// Probability draws where each class is the most probable, the stronger in colour the surer,
// with the boundary and the lines at which the lead is 0.8, the points, and the errors.
func Probability(d ProbabilityData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n, k := len(d.X), len(d.Classes)
	if k == 2 {
		names := classNames([2]string{d.Classes[0], d.Classes[1]})
		d.Classes = names[:]
	}
	d.Features = featureNames(d.Features)
	predicted, wrong, errors := make([]int, n), make([]bool, n), 0
	for i, p := range d.Of {
		for c, v := range p {
			if v > p[predicted[i]] {
				predicted[i] = c
			}
		}
		if wrong[i] = predicted[i] != d.Class[i]; wrong[i] {
			errors++
		}
	}
	title := fmt.Sprintf("Probabilities of %d classes: %s among %s", k, count(errors, "error", "errors"), count(n, "point", "points"))
	evidence := ""
	if finite(d.Evidence) {
		evidence = "ln p(y) ≈ " + number(d.Evidence)
	}
	shown := choose(n, func(i int) int {
		if wrong[i] {
			return 0
		}
		return 1
	})
	colour := func(c int) string {
		if k == 2 {
			return [2]string{"@neg", "@pos"}[c]
		}
		return fmt.Sprintf("@series%d", c+1)
	}
	var levels list
	var edges, sure [][]int
	for c := range k {
		lead := leadOf(d.P, c)
		for s, t := range probabilitySteps {
			if paths := contour.At(lead, t).Areas(); len(paths) > 0 {
				levels = append(levels, object{"color": fmt.Sprintf("%s*%.3f", colour(c), 0.08+0.1*float64(s)), "paths": paths})
			}
		}
		if c > 0 || k > 2 { // of two classes, both have the same boundary
			edges = append(edges, contour.At(lead, 0).Lines()...)
		}
		sure = append(sure, contour.At(lead, 0.8).Lines()...)
	}
	sizes := object{}
	p := plot{name: "probability", about: fmt.Sprintf("Probabilities of the classes over %s and %s.", d.Features[0], d.Features[1]), tip: probabilityJS.cut("tip"),
		svm: object{"box": box(d.Xs, d.Ys), "levels": levels, "edges": edges, "sure": sure, "sizes": sizes, "names": d.Classes,
			"aspect": planeAspect(d.Xs, d.Ys, d.Unlike), "layout": marginsJS.cut("layout")}}
	p.panel(valueAxis(0, d.Xs[0], d.Xs[1], d.Features[0], 28), valueAxis(0, d.Ys[0], d.Ys[1], d.Features[1], 36))
	at := corner(d.Xs[0], d.Ys[0])
	equal, near := "equally probable", "ahead by 0.8"
	if k == 2 {
		equal, near = "p = 0.5", "p = 0.1 and 0.9"
	}
	p.add(areas("levels", at), level("edges", at, "@ink", 2.2).name(equal).fill("@ink"), level("sure", at, "@ink", 1.3, 6, 4).name(near).fill("@ink"))
	size := pointSize(len(shown))
	points := func(id, name, symbol string, size, z int, tip bool, in func(i int) bool) mark {
		data := items(shown, in, func(_, i int) list {
			x, y := place(d.X[i][0], d.X[i][1], d.Xs, d.Ys)
			item := list{x, y, i, predicted[i]}
			for _, v := range d.Of[i] {
				item = append(item, roundTo(v, 3))
			}
			return item
		})
		m := scatter(data).id(id).name(name).symbols(symbol, size).set("symbolKeepAspect", true).z(z).set("silent", !tip)
		if len(data) > 0 {
			p.add(m)
			p.rimmed(name, 0)
			sizes[id] = list{size, small(size)}
		}
		return m
	}
	for c, name := range d.Classes {
		points(fmt.Sprint("class", c), name, regionSymbols[c], size+c%2, 3, true, func(i int) bool { return d.Class[i] == c }).fill(colour(c)).edge("@page", 1).opacity(0.95)
	}
	points("error", "error", openCross, size+13, 5, false, func(i int) bool { return wrong[i] }).fill("@bad").edge("@page", 0.6).opacity(1)
	if len(edges) > 0 {
		p.key(equal)
	}
	if len(sure) > 0 {
		p.key(near)
	}
	return p.chart(title, sentence(d.Problem, evidence, fewer(shown, n, "the points"))), nil
}

// leadOf returns by how much class c leads over the next one.
func leadOf(p [][][]float64, c int) [][]float64 {
	lead := make([][]float64, len(p[c]))
	for i, row := range p[c] {
		lead[i] = make([]float64, len(row))
		for j, v := range row {
			next := 0.0
			for o := range p {
				if o != c {
					next = max(next, p[o][i][j])
				}
			}
			lead[i][j] = v - next
		}
	}
	return lead
}

func (d *ProbabilityData) check() error {
	c := checks{figure: "Probability"}
	n, k := len(d.X), len(d.Classes)
	c.refuse(n == 0, "X", "has no points: give the training points")
	c.refuse(k < 2 || k > MostRegions, "Classes", "has %d names: there are colours for 2 to %d", k, MostRegions)
	c.refuse(len(d.P) != k, "P", "has %d fields for %d classes", len(d.P), k)
	c.refuse(len(d.Class) != n || len(d.Of) != n, "Class", "and Of have lengths %d and %d for %d points", len(d.Class), len(d.Of), n)
	for i := range min(n, len(d.Class), len(d.Of)) {
		if d.Class[i] < 0 || d.Class[i] >= k {
			c.refuse(true, fmt.Sprintf("Class[%d]", i), "is %d: the classes are 0 … %d", d.Class[i], k-1)
		}
		c.numbers("class", k, given(fmt.Sprintf("Of[%d]", i), d.Of[i]))
	}
	for _, p := range d.P {
		c.plane(d.X, d.Xs, d.Ys, p)
		if c.err == nil {
			c.refuse(len(p) != len(d.P[0]) || len(p[0]) != len(d.P[0][0]), "P", "has fields of different sizes")
		}
	}
	return c.err
}
