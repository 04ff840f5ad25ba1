package figure

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/go-echarts/go-echarts/v2/types"

	"github.com/svmnb/svmnb/svmnb/internal/contour"
)

//go:embed step.js
var stepJS source

// StepData is what [Step] draws: a step on two variables, from one place in their box to
// another, along the line on which s'α is constant.
type StepData struct {
	Problem   string // what was solved, such as "RBF(0.5), C = 10"
	Note      string // one more sentence for the subtitle; may be empty
	Iteration int
	Points    [2]int     // indices of the two points
	S         [2]float64 // their labels, ±1
	Upper     [2]float64 // their upper bounds; +Inf for none

	Before, After [2]float64 // α before and after the step
	Unclipped     [2]float64 // maximum of the dual objective on the line; NaN if it has none

	// The dual objective for a change d of α from Before is Gradient'd − ½ d'Qd.
	Gradient [2]float64
	Q        [2][2]float64
}

// Step draws the box of a step on two variables: the line of the equality constraint, the
// contours of the dual objective, its maximum on the line, and where the box has clipped
// the step. Beside it are the four cases of line and box; that of this step is marked.
func Step(d StepData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	side := 0.0 // side length of the picture of the box
	for k, u := range d.Upper {
		if math.IsInf(u, 1) {
			u = 1.5 * max(d.Before[k], d.After[k])
			if finite(d.Unclipped[k]) {
				u = max(u, 1.5*d.Unclipped[k])
			}
		}
		side = max(side, u)
	}
	if side == 0 {
		side = 1
	}
	ends := func(k int) [2]float64 {
		low, high := -0.2*side, 1.2*side
		if u := d.Unclipped[k]; finite(u) { // the picture includes the maximum if it is not too far away
			low, high = min(low, max(u-0.1*side, -side)), max(high, min(u+0.1*side, 2*side))
		}
		return [2]float64{roundTo(low, 4), roundTo(high, 4)}
	}
	xs, ys := ends(0), ends(1)
	lines := contours(xs, ys, d.Gradient, d.Q, d.Before)
	same := d.S[0]*d.S[1] > 0
	delta := d.Before[0] + d.S[0]*d.S[1]*d.Before[1]
	gain := d.rise(d.After)
	state := "inside the box"
	clipped := false
	for k := range d.After {
		if math.Abs(d.After[k]-d.Unclipped[k]) > 1e-9*side {
			clipped = true
		}
	}
	if clipped {
		state = "cut off by the box"
		for k, a := range d.After {
			if a == 0 || a == d.Upper[k] {
				state += fmt.Sprintf(" at α%s = %s", index(d.Points[k]), number(a))
				break
			}
		}
	}
	title := fmt.Sprintf("Step %s on points %d and %d: %s; the dual rises by %s", thousands(int64(d.Iteration)), d.Points[0], d.Points[1], state, numberTo(gain, 3))
	which, labels := 2, "different labels"
	if same {
		which, labels = 0, "equal labels"
		if delta > side {
			which = 1
		}
	} else if delta < 0 {
		which = 3
	}
	far := ""
	if finite(d.Unclipped[0]) {
		far = fmt.Sprintf("unclipped at α%s = %s", index(d.Points[0]), number(d.Unclipped[0]))
	} else {
		far = "no maximum on the line: κ is not positive"
	}
	subtitle := sentence(d.Problem, d.Note, labels, fmt.Sprintf("α%s %s α%s = %s", index(d.Points[0]), map[bool]string{true: "+", false: "−"}[same], index(d.Points[1]), number(delta)), far)

	svm := object{"layout": stepJS.cut("layout"), "box": box(xs, ys), "lines": lines, "upper": list{nullable(d.Upper[0], 6), nullable(d.Upper[1], 6)},
		"before": list{roundTo(d.Before[0], 6), roundTo(d.Before[1], 6)}, "after": list{roundTo(d.After[0], 6), roundTo(d.After[1], 6)}, "free": list{nullable(d.Unclipped[0], 6), nullable(d.Unclipped[1], 6)},
		"s": d.S[0] * d.S[1], "which": which, "delta": roundTo(delta/side, 4), "aspect": round4((ys[1] - ys[0]) / (xs[1] - xs[0])), "names": list{"α" + index(d.Points[0]), "α" + index(d.Points[1])},
		"words": fmt.Sprintf("s = y%[1]sy%[2]s, δ = α%[1]s + s α%[2]s, and C is the upper bound; on the line, α%[2]s is at least L and at most H", index(d.Points[0]), index(d.Points[1]))}
	p := plot{name: "step", about: "A step of two variables in their box.", tip: stepJS.cut("tip"), grid: list{object{}, object{}}, svm: svm}
	p.panel(valueAxis(0, xs[0], xs[1], "α"+index(d.Points[0]), 28), valueAxis(0, ys[0], ys[1], "α"+index(d.Points[1]), 44))
	hidden := func() axis { return axis{"type": "value", "gridIndex": 1, "show": false, "min": 0, "max": 1} }
	p.panel(hidden(), hidden())
	at := corner(xs[0], ys[0])
	scene := func(id, name string, draw types.FuncStr, z int, color string) mark {
		m := custom(draw, at).id(id).name(name).still().clip().z(z).fill(color)
		p.add(m)
		return m
	}
	scene("contours", "contours of the dual", marksJS.cut("lines", "paths", "lines", "style", style("@axis/0.55", 1)), 1, "@axis").pen("@axis/0.55", 1)
	scene("box", "box", stepJS.cut("box"), 2, "@neg")
	scene("line", "equality constraint", stepJS.cut("line"), 3, "@ink")
	scene("step", "step", stepJS.cut("arrow"), 4, "@strong")
	dot := func(id, name, symbol string, size int, at [2]float64) mark {
		m := scatter(list{list{roundTo(at[0], 6), roundTo(at[1], 6)}}).id(id).name(name).symbols(symbol, size).z(6)
		p.add(m)
		return m
	}
	hollow := func(m mark, color string) {
		p.keys = append(p.keys, object{"name": m["name"], "itemStyle": m.fill("@page").edge(color, 2.4)["itemStyle"]})
	}
	hollow(dot("before", "before", "circle", 13, d.Before), "@ink")
	dot("after", "after", "circle", 13, d.After).fill("@strong").opacity(1)
	p.key("after", "")
	if finite(d.Unclipped[0]) {
		hollow(dot("free", "unclipped", diamond, 14, d.Unclipped), "@series4")
	}
	p.add(custom(stepJS.cut("cases"), corner(0, 0)).id("cases").on(1).still().z(2))
	p.key("equality constraint", "path://M0 1H4V2.2H0Z M6 0H20V3.2H6Z M22 1H26V2.2H22Z") // it is thin outside the box
	p.key("box", "path://M0 0H14V12H0Z M2 2V10H12V2Z")
	p.key("contours of the dual")
	return p.chart(title, subtitle), nil
}

// rise returns how much the dual objective at α is above that at Before.
func (d *StepData) rise(alpha [2]float64) float64 { return rise(d.Gradient, d.Q, d.Before, alpha) }

func rise(gradient [2]float64, q [2][2]float64, from, to [2]float64) float64 {
	a, b := to[0]-from[0], to[1]-from[1]
	return gradient[0]*a + gradient[1]*b - (q[0][0]*a*a+2*q[0][1]*a*b+q[1][1]*b*b)/2
}

// contours returns the level lines of gradient'd − ½ d'Qd around a place. The levels are
// denser near the top, so that the ellipses are evenly spaced.
func contours(xs, ys [2]float64, gradient [2]float64, q [2][2]float64, about [2]float64) [][]int {
	const nodes, levels = 181, 12 // so many nodes that the smallest ellipse has no corners
	z := make([][]float64, nodes)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range z {
		z[i] = make([]float64, nodes)
		for j := range z[i] {
			at := [2]float64{xs[0] + (xs[1]-xs[0])*float64(j)/(nodes-1), ys[0] + (ys[1]-ys[0])*float64(i)/(nodes-1)}
			z[i][j] = rise(gradient, q, about, at)
			low, high = min(low, z[i][j]), max(high, z[i][j])
		}
	}
	var lines [][]int
	for k := 1; k < levels; k++ {
		share := float64(k) / levels
		lines = append(lines, contour.At(z, high-(high-low)*share*share).Lines()...)
	}
	return lines
}

// index writes i in subscript digits.
func index(i int) string {
	s := []rune(fmt.Sprint(i))
	for k, r := range s {
		s[k] = r - '0' + '₀'
	}
	return string(s)
}

func (d *StepData) check() error {
	c := checks{figure: "Step"}
	c.refuse(d.Iteration < 1, "Iteration", "is %d: give one from 1", d.Iteration)
	for k := range 2 {
		c.refuse(d.Points[k] < 0, fmt.Sprintf("Points[%d]", k), "is %d: give an index", d.Points[k])
		c.refuse(d.S[k] != 1 && d.S[k] != -1, fmt.Sprintf("S[%d]", k), "is %v: labels are ±1", d.S[k])
		c.refuse(!(d.Upper[k] > 0), fmt.Sprintf("Upper[%d]", k), "is %v: give a positive bound, or +Inf", d.Upper[k])
	}
	c.numbers("variable", 2, given("Before", d.Before[:]), given("After", d.After[:]), given("Unclipped", d.Unclipped[:], missing),
		given("Gradient", d.Gradient[:]), given("Q[0]", d.Q[0][:]), given("Q[1]", d.Q[1][:]))
	return c.err
}

// AscentData is what [Ascent] draws: coordinate ascent on Gradient'α − ½ α'Qα.
type AscentData struct {
	Q        [2][2]float64 // symmetric and positive definite
	Gradient [2]float64
	Path     [][2]float64 // the start and the place after each step
}

// Ascent draws the contours of a quadratic function of two variables and the path of
// coordinate ascent to its maximum. Each step is parallel to an axis.
func Ascent(d AscentData) (*Chart, error) {
	c := checks{figure: "Ascent"}
	c.refuse(len(d.Path) < 1, "Path", "is empty: give at least the start")
	det := d.Q[0][0]*d.Q[1][1] - d.Q[0][1]*d.Q[1][0]
	c.refuse(!(d.Q[0][0] > 0 && det > 0) || d.Q[0][1] != d.Q[1][0] || !finite(det), "Q", "is %v: give a symmetric positive definite matrix, whose function has a top", d.Q)
	for i, p := range d.Path {
		c.numbers("variable", 2, given(fmt.Sprintf("Path[%d]", i), p[:]))
	}
	if c.err != nil {
		return nil, c.err
	}
	top := [2]float64{(d.Gradient[0]*d.Q[1][1] - d.Gradient[1]*d.Q[0][1]) / det, (d.Gradient[1]*d.Q[0][0] - d.Gradient[0]*d.Q[1][0]) / det}
	reach := 0.0 // distance from the maximum
	path := list{}
	for i, p := range d.Path {
		reach = max(reach, math.Abs(p[0]-top[0]), math.Abs(p[1]-top[1]))
		path = append(path, list{roundTo(p[0], 6), roundTo(p[1], 6), i})
	}
	if reach *= 1.25; reach == 0 {
		reach = 1
	}
	xs, ys := [2]float64{roundTo(top[0]-reach, 4), roundTo(top[0]+reach, 4)}, [2]float64{roundTo(top[1]-reach, 4), roundTo(top[1]+reach, 4)}
	rate := d.Q[0][1] * d.Q[1][0] / (d.Q[0][0] * d.Q[1][1])
	title := fmt.Sprintf("Coordinate ascent from (%s, %s): after the first, each sweep leaves %s %% of the way", number(d.Path[0][0]), number(d.Path[0][1]), numberTo(100*rate, 3))
	subtitle := fmt.Sprintf("%s, each parallel to an axis · top at α₁ = %s, α₂ = %s · what is left after a sweep is Q₁₂²/(Q₁₁Q₂₂)", count(len(d.Path)-1, "step", "steps"), number(top[0]), number(top[1]))
	p := plot{name: "ascent", about: "Contours of a quadratic function and the path of coordinate ascent.", tip: stepJS.cut("ascentTip"), grid: list{object{}},
		svm: object{"layout": tubeJS.cut("square"), "sizes": list{}, "box": box(xs, ys), "lines": contours(xs, ys, d.Gradient, d.Q, [2]float64{})}}
	p.panel(valueAxis(0, xs[0], xs[1], "α₁", 28), valueAxis(0, ys[0], ys[1], "α₂", 42))
	p.add(level("lines", corner(xs[0], ys[0]), "@neg/0.6", 1.2).name("contours").still().z(1).fill("@neg"),
		line(path).name("path").symbols("circle", 6).z(3).ink("@pos", 2.4),
		scatter(path[:1]).name("start").symbols("circle", 11).z(4).fill("@page").edge("@pos", 2.4).opacity(1),
		scatter(list{list{roundTo(top[0], 6), roundTo(top[1], 6)}}).name("top").symbols(cross, 13).z(4).fill("@ink"))
	p.key("path")
	p.key("start")
	p.key("top")
	p.key("contours")
	return p.chart(title, subtitle), nil
}
