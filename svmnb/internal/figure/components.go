package figure

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
)

//go:embed components.js
var componentsJS source

// ComponentsData is what [Components] draws: a Gaussian process whose kernel is a sum, and
// the processes of the summands, at m places.
type ComponentsData struct {
	Problem string // what was solved, such as "CO₂ · four kernels"
	Note    string // one more sentence for the subtitle; may be empty
	Feature string // name of the x axis; "x" when empty
	Target  string // name of the y axis; "y" when empty

	X []float64 // n values of the feature
	Y []float64 // n observations

	Xs   []float64 // m ≥ 2 increasing places
	Mean []float64 // m means of the sum
	SD   []float64 // m standard deviations of the sum, ≥ 0

	Parts []Component // in the order of their panels, 1 to 8
}

// Component is the process of one part of a kernel.
type Component struct {
	Name string    // such as "trend"
	Mean []float64 // m means
	SD   []float64 // m standard deviations, ≥ 0; nil leaves the band out
}

// Components draws the observations and the sum and, below it on the same x axis, each
// component, with bands of two standard deviations. A bar beside each panel has the same
// length in units of y, so that panels with different scales can be compared.
func Components(d ComponentsData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n, m := len(d.Y), len(d.Xs)
	xName, target := either(d.Feature, "x"), either(d.Target, "y")
	curves := [][]float64{d.Mean, d.SD}
	for _, c := range d.Parts {
		curves = append(curves, c.Mean, c.SD)
	}
	keep := thin(d.Xs, curvePoints, curves...)
	xLow, xHigh := around(d.X, d.Xs, 0.01)
	roundX := rounding(xLow, xHigh)

	panels := append([]Component{{Name: "sum", Mean: d.Mean, SD: d.SD}}, d.Parts...)
	ranges, lows, highs := make([]float64, len(panels)), make([]float64, len(panels)), make([]float64, len(panels))
	unit := math.Inf(1) // length of the bars: half of the smallest panel
	for k, c := range panels {
		low, high := extent(c.Mean)
		ranges[k] = high - low
		lower, upper := c.Mean, c.Mean
		if c.SD != nil {
			lower, upper = around2(c.Mean, c.SD)
		}
		low, high = extent(lower, upper)
		if k == 0 && n > 0 {
			low, high = extent(lower, upper, d.Y)
		}
		lows[k], highs[k] = widen(low, high, 0.06)
		unit = min(unit, (highs[k]-lows[k])/2)
	}
	unit = nice(unit)
	name, measured := units(target)

	order := make([]int, len(d.Parts))
	for k := range order {
		order[k] = k + 1
	}
	slices.SortStableFunc(order, func(a, b int) int { return sign(ranges[b] - ranges[a]) })
	var spans []string
	for k, p := range order {
		span := fmt.Sprintf("%s by %s", cut(panels[p].Name, 24), numberTo(ranges[p], 2)+measured)
		if k == 0 {
			span = fmt.Sprintf("%s moves %s by %s", cut(panels[p].Name, 24), name, numberTo(ranges[p], 2)+measured)
		}
		spans = append(spans, span)
	}
	if len(spans) > 4 {
		spans = append(spans[:4], "…")
	}
	title := capital(strings.Join(spans, ", "))
	_, doubt := extent(d.SD)
	shown := choose(n, func(int) int { return 0 })
	forecast := ""
	_, last := extent(d.X)
	ahead := n > 0 && d.Xs[m-1]-last > 0.01*(d.Xs[m-1]-d.Xs[0])
	if ahead {
		forecast = fmt.Sprintf("observed until %s", numberTo(last, 6))
	}
	subtitle := sentence(d.Problem, d.Note, count(n, "observation", "observations"), fewer(shown, n, "them"), forecast, d.constant(name, measured),
		fmt.Sprintf("the band of %s is at most ± %s", name, numberTo(2*doubt, 2)+measured), "bars at the right: "+numberTo(unit, 3)+measured)

	p := plot{name: "components", about: fmt.Sprintf("Gaussian process of %s over %s, taken apart into its components.", target, xName), tip: componentsJS.cut("tip"), along: true, links: "all",
		zoom: object{"yAxisIndex": false}, svm: object{"layout": componentsJS.cut("layout"), "x": rounded(d.Xs, keep, roundX), "unit": unit, "measured": measured}}
	const data, mean, wide = "observations", "mean", "± 2 sd"
	var grids, names list
	for k, c := range panels {
		round := rounding(lows[k], highs[k])
		key := func(name string) string { return fmt.Sprintf("%s%d", name, k) }
		p.svm[key("mean")] = rounded(c.Mean, keep, round)
		names = append(names, c.Name)
		if c.SD != nil {
			lower, upper := around2(c.Mean, c.SD)
			p.svm[key("lower")], p.svm[key("upper")], p.svm[key("sd")] = rounded(lower, keep, round), rounded(upper, keep, round), column(pick(c.SD, keep), 3)
			p.add(band(k, wide, "x", key("lower"), key("upper"), "@series1/0.24", ""))
		}
		p.add(curve(k, mean, "x", key("mean"), "@series1").id(key("curve")).pen("@series1", 2))
		if ahead {
			p.add(line(list{list{roundX(last), lows[k]}, list{roundX(last), highs[k]}}).on(k).bare().still().z(2).pen("@soft", 1.2, "dashed"))
		}
		p.add(custom(componentsJS.cut("bar"), corner(xLow, (lows[k]+highs[k])/2)).on(k).still())
		x := valueAxis(k, xLow, xHigh, "", 28).pointed().lines()
		if k == len(panels)-1 {
			x.set("name", xName)
		} else {
			x.label(object{"show": false})
		}
		head := inUnits(c.Name, strings.TrimSpace(measured))
		if k == 0 {
			head = target
		}
		p.panel(x, valueAxis(k, lows[k], highs[k], head, 6).set("nameLocation", "end").set("nameTextStyle", object{"align": "left", "fontSize": 13, "fontWeight": 600, "color": "@ink"}).
			lines().set("splitNumber", 3))
		grids = append(grids, object{})
	}
	p.svm["names"], p.grid = names, grids
	p.key(mean)
	if slices.ContainsFunc(panels, func(c Component) bool { return c.SD != nil }) {
		p.key(wide)
	}
	if n > 0 {
		round := rounding(lows[0], highs[0])
		points := items(shown, nil, func(_, i int) list { return list{roundX(d.X[i]), round(d.Y[i]), i} })
		p.svm["size"] = pointSize(len(shown)) - 3
		p.add(scatter(points).id(data).name(data).symbols("circle", pointSize(len(shown))-3).z(2).fill("@ink").opacity(0.6))
		p.rimmed(data, 0)
	}
	return p.chart(title, subtitle), nil
}

// units splits the name of a column, such as "CO2 (ppm)" or "CO2 [ppm]", into the name and its
// unit with a space before it. The unit may be "".
func units(column string) (name, unit string) {
	for _, around := range []string{"()", "[]"} {
		name, unit, found := strings.Cut(column, " "+around[:1])
		if found && strings.HasSuffix(unit, around[1:]) {
			return name, " " + strings.TrimSuffix(unit, around[1:])
		}
	}
	return column, ""
}

// constant says what the sum has besides the components, if that is a number, as the mean of the
// observations is.
func (d *ComponentsData) constant(target, unit string) string {
	low, high := math.Inf(1), math.Inf(-1)
	least, most := extent(d.Mean)
	for i, rest := range d.Mean {
		for _, part := range d.Parts {
			rest -= part.Mean[i]
		}
		low, high = min(low, rest), max(high, rest)
	}
	size := max(math.Abs(least), math.Abs(most))
	if !(high-low <= 1e-6*size) || math.Abs(low) <= 1e-6*size {
		return ""
	}
	return fmt.Sprintf("%s = %s + components", target, numberTo((low+high)/2, 4)+unit)
}

// cut shortens a name to so many letters.
func cut(name string, letters int) string {
	if r := []rune(name); len(r) > letters {
		return string(r[:letters-1]) + "…"
	}
	return name
}

// nice returns the largest of the numbers 1, 2 and 5 times a power of ten that is at most
// v.
func nice(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if m*power <= v {
			return roundTo(m*power, 3)
		}
	}
	return roundTo(power, 3)
}

func (d *ComponentsData) check() error {
	c := checks{figure: "Components"}
	c.numbers("observation", len(d.Y), given("X", d.X), given("Y", d.Y))
	c.places("Xs", d.Xs)
	c.refuse(len(d.Parts) == 0 || len(d.Parts) > 8, "Parts", "has %d components: give 1 to 8", len(d.Parts))
	c.numbers("place", len(d.Xs), given("Mean", d.Mean), amount("SD", d.SD))
	for k, part := range d.Parts {
		c.part = fmt.Sprintf("Parts[%d].", k)
		c.refuse(part.Name == "", "Name", "is empty: give each component a name")
		c.numbers("place", len(d.Xs), given("Mean", part.Mean), amount("SD", part.SD, optional))
	}
	return c.err
}
