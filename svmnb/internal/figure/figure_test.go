package figure

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/svmnb/svmnb/solvers"

	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// classification are the figures of classifiers, as examples.
func classification(t *testing.T) []*Chart {
	t.Helper()
	ok := must[*Chart](t)
	small, large := moons(t, 120, 1.2, 2), moons(t, 600, 2, 50)
	logGap := large.gap()
	logGap.Log = true
	return []*Chart{
		ok(Margins(small.margins())), ok(KKT(small.kkt())), ok(Gap(small.gap())),
		ok(Margins(large.margins())), ok(KKT(large.kkt())), ok(Gap(logGap)), ok(Scores(large.scores())),
		ok(Race(small.race(t, nil, everySMO[:4]...))), ok(Race(large.race(t, solvers.UpLow{Tol: 1e-5}, everySMO...))), ok(Race(racers(8))),
	}
}

// TestPictures draws the figures in a browser, light and dark, wide and narrow.
// With SVMNB_PICTURES set to a folder it leaves them there to be looked at.
func TestPictures(t *testing.T) {
	pictures(t, "figures", classification(t), []tip{
		{0, 4, 3, "point 7 · class −1"}, {0, 4, 3, "y·f = "}, {0, 4, 3, "wants y f"}, {0, 4, 3, "KKT violation"},
		{1, 0, 5, "violation ≈"}, {1, 3, 0, "violation at the end: "}, {2, 1, 7, "iteration 7"}, {2, 1, 7, "best primal"}, {6, 0, 1, " points"},
		{7, 0, 5, "kernel values"}, {7, 0, 5, "SMO (worst pair)"}, {7, 6, 4, "iteration "}, {9, 0, 3, "no gap yet"}, {9, 2, 40, "method 1"},
	})
}

// tip is what the pointer must find at a value of a series of a chart.
type tip struct {
	chart, series, data int
	words               string
}

// pictures draws the figures on a page of that name and looks at it in a
// browser, light and dark, wide and narrow, and at the tips.
func pictures(t *testing.T, name string, figures []*Chart, tips []tip) {
	t.Helper()
	dir := os.Getenv("SVMNB_PICTURES")
	if dir == "" {
		dir = t.TempDir()
	}
	file := filepath.Join(dir, name+".html")
	f := must[*os.File](t)(os.Create(file))
	var parts []string
	for _, c := range figures {
		parts = append(parts, must[echarts.Picture](t)(echarts.Draw(c)).HTML)
	}
	if err := echarts.Page(f, name, parts...); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	for _, look := range []browsertest.Options{{Width: 1280}, {Width: 1280, Dark: true}, {Width: 400, Dark: true}, {Width: 400}} {
		scheme := "light"
		if look.Dark {
			scheme = "dark"
		}
		page.Look(look)
		page.Until(fmt.Sprintf(`document.querySelectorAll('[data-drawn=%s]').length === %d`, scheme, len(figures)))
		page.Until(`Array.from(document.querySelectorAll('[data-drawn] > div:first-child')).every(e => e.offsetWidth === e.parentElement.clientWidth)`)
		page.Charts(len(figures))
		page.Picture(filepath.Join(dir, fmt.Sprintf("%s-%s-%d.png", name, scheme, look.Width)))
	}
	// Each figure takes the focus, and a table of its numbers opens below it.
	var numbers struct{ Places, Focus, Tables, Empty, Rows int }
	page.Do(nil, `document.querySelectorAll('details.svm-numbers').forEach(d => { d.open = true })`)
	page.Until(`Array.from(document.querySelectorAll('details.svm-numbers')).every(d => d.querySelector('table, p'))`)
	page.Do(&numbers, `const all = Array.from(document.querySelectorAll('[data-drawn]')), boxes = all.map(e => e.nextElementSibling)
		const out = { places: all.length, focus: all.filter(e => { e.focus(); return document.activeElement === e }).length, tables: boxes.filter(b => b.matches('details.svm-numbers')).length,
			empty: document.querySelectorAll('.svm-numbers td:first-child:empty').length, rows: document.querySelectorAll('.svm-numbers td').length }
		document.querySelectorAll('details.svm-numbers').forEach(d => { d.open = false })
		document.activeElement.blur()
		return out`)
	if numbers.Places != len(figures) || numbers.Focus != len(figures) || numbers.Tables != len(figures) || numbers.Rows < 10*numbers.Empty || numbers.Rows == 0 {
		t.Errorf("focus and tables of numbers: %+v for %d figures", numbers, len(figures))
	}
	for _, tip := range tips {
		var text string
		page.Do(&text, fmt.Sprintf(`
			var el = document.querySelectorAll('[data-drawn]')[%d], c = window.__svmEcharts.echarts.getInstanceByDom(el);
			c.dispatchAction({type: 'showTip', seriesIndex: %d, dataIndex: %d});
			return el.lastElementChild.innerText.replace(/\u00a0/g, ' ');`, tip.chart, tip.series, tip.data))
		if !strings.Contains(text, tip.words) {
			t.Errorf("the tip of chart %d, series %d is %q, want %q in it", tip.chart, tip.series, text, tip.words)
		}
	}
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}

// size draws c and returns the bytes that it brings into a page.
func size(t *testing.T, c *Chart) int {
	t.Helper()
	return len(must[echarts.Picture](t)(echarts.Draw(c)).HTML)
}

// TestFigures is one table of every figure, ordinary and degenerate: each is
// drawn, says something with numbers, and stays in its budget.
func TestFigures(t *testing.T) {
	small, large, huge := moons(t, 120, 1.2, 2), moons(t, 600, 2, 50), moons(t, 2000, 4, 100)
	one := []float64{0.5}
	flat := func(v float64) [][]float64 { return [][]float64{{v, v}, {v, v}} }
	box := [2]float64{0, 1}
	point := func(y, alpha, upper, f float64, z [][]float64) MarginsData {
		return MarginsData{X: [][]float64{{0.5, 0.5}}, Y: []float64{y}, Alpha: []float64{alpha}, Upper: []float64{upper}, F: []float64{f}, Margin: math.NaN(), Xs: box, Ys: box, Z: z}
	}
	equal := point(1, 0, 1, 0, flat(0))
	for range 9 {
		equal.X, equal.Y, equal.Alpha = append(equal.X, equal.X[0]), append(equal.Y, 1), append(equal.Alpha, 0)
		equal.Upper, equal.F = append(equal.Upper, 1), append(equal.F, 0)
	}
	gapPoint := func(it int, primal, dual float64) solvers.Point {
		return solvers.Point{Iteration: it, Primal: primal, Dual: dual}
	}
	racePoint := func(it int, values int64, ms int, gap float64) solvers.Point {
		return solvers.Point{Iteration: it, Evaluations: values, Elapsed: time.Duration(ms) * time.Millisecond, Gap: gap}
	}
	drawAll(t, []drawing{
		{"margins", func() (*Chart, error) { return Margins(small.margins()) }, 60_000, "margin 1/‖w‖ = 0."},
		{"margins, 600 points", func() (*Chart, error) { return Margins(large.margins()) }, 100_000, "of 600 points carry"},
		{"margins, 2000 points", func() (*Chart, error) { return Margins(huge.margins()) }, 100_000, "1\u202f200 of the points drawn"},
		{"margins, one point, no support vector", func() (*Chart, error) { return Margins(point(1, 0, 1, 1, flat(1))) }, 10_000, "No support vectors: f is constant on 1 point; 0 errors"},
		{"margins, one point, an error", func() (*Chart, error) { return Margins(point(1, 1, 1, -1e9, flat(-1e9))) }, 10_000, "1 of 1 point carry the boundary: 0 free, 1 at the bound; 1 error"},
		{"margins, hard", func() (*Chart, error) { return Margins(point(1, 3, math.Inf(1), 1, flat(1e-300))) }, 10_000, "1 free, 0 at the bound"},
		{"margins, all points equal", func() (*Chart, error) { return Margins(equal) }, 10_000, "No support vectors"},
		{"kkt", func() (*Chart, error) { return KKT(small.kkt()) }, 30_000, "All 120 points satisfy the KKT conditions to 0.001"},
		{"kkt, 600 points", func() (*Chart, error) { return KKT(large.kkt()) }, 150_000, "the 150 most often violating points are drawn"},
		{"kkt, one number", func() (*Chart, error) {
			return KKT(KKTData{Iterations: []int{0}, Violations: [][]float64{one}, Tol: 1e-3})
		}, 10_000, "1 of 1 point violate the KKT conditions by more than 0.001 after 0 iterations"},
		{"kkt, nothing ever violated", func() (*Chart, error) {
			return KKT(KKTData{Iterations: []int{0, 1}, Violations: [][]float64{{0}, {0}}, Tol: 1e-3})
		}, 10_000, "The point satisfies its KKT condition"},
		{"gap", func() (*Chart, error) { return Gap(small.gap()) }, 30_000, "The gap is closed to"},
		{"gap, long", func() (*Chart, error) { return Gap(huge.gap()) }, 100_000, "above the picture"},
		{"gap, one point", func() (*Chart, error) { return Gap(GapData{Points: []solvers.Point{gapPoint(0, 12, 0)}, Tol: 1e-3}) }, 10_000, "The gap is still 12: dual 0 ≤ optimum ≤ primal 12"},
		{"gap, none left", func() (*Chart, error) {
			return Gap(GapData{Points: []solvers.Point{gapPoint(0, 2, 2), gapPoint(5, 2, 2)}})
		}, 10_000, "The gap is closed up to rounding: dual 2.000 ≤ optimum ≤ primal 2.000"},
		{"gap, no primal", func() (*Chart, error) {
			return Gap(GapData{Points: []solvers.Point{gapPoint(0, math.NaN(), 0), gapPoint(5, math.NaN(), 2)}})
		}, 10_000, "Dual objective 2; no primal was measured"},
		{"gap, negative objectives", func() (*Chart, error) {
			return Gap(GapData{Points: []solvers.Point{gapPoint(0, -1, -3), gapPoint(5, -1.5, -2)}, Log: true})
		}, 10_000, "dual −2.00 ≤ optimum ≤ primal −1.50"},
		{"rate", func() (*Chart, error) {
			var p []solvers.Point
			for k := range 200 {
				p = append(p, solvers.Point{Iteration: k, Gap: 7 * math.Pow(0.9, float64(k))})
			}
			return Rate(RateData{Points: p, Unit: "epoch"})
		}, 20_000, "The gap falls by a factor of 0.9 per epoch: tenfold in 22 epochs"},
		{"race", func() (*Chart, error) { return Race(small.race(t, nil, everySMO[:4]...)) }, 30_000, "onjugate SMO"},
		{"race, long, one refuses", func() (*Chart, error) { return Race(large.race(t, solvers.UpLow{Tol: 1e-5}, everySMO...)) }, 70_000, "not drawn: dual coordinate descent (refused)"},
		{"race, eight", func() (*Chart, error) { return Race(racers(8)) }, 100_000, "Method 1 wins with 3\u202f920 kernel values and 93 iterations, the fewest of 7"},
		{"race, one", func() (*Chart, error) { return Race(racers(1)) }, 25_000, "Method 1 meets its criterion with 3\u202f920 kernel values and 93 iterations"},
		{"race, single points", func() (*Chart, error) {
			return Race(RaceData{Runs: []RaceRun{{Name: "a", Points: []solvers.Point{racePoint(0, 7, 1, 3)}, Finished: true}, {Name: "b", Points: []solvers.Point{racePoint(0, 7, 1, 3)}}}})
		}, 20_000, "Only a meets its criterion, with 7 kernel values and 0 iterations"},
		{"race, nobody finished", func() (*Chart, error) {
			return Race(RaceData{Tol: 1e-3, Runs: []RaceRun{{Name: "a", Points: []solvers.Point{racePoint(0, 7, 1, 3)}}, {Name: "b", Points: []solvers.Point{racePoint(0, 7, 1, 2), racePoint(4, 9, 2, 5)}}}})
		}, 20_000, "No run met its criterion; b comes nearest, with a gap of 2"},
		{"race, nothing counted, nothing left", func() (*Chart, error) {
			return Race(RaceData{Runs: []RaceRun{{Name: "a", Points: []solvers.Point{racePoint(0, 0, 1, 3), racePoint(5, 0, 0, 0)}, Finished: true},
				{Name: "b", Points: []solvers.Point{racePoint(0, 0, 1, 3), racePoint(7, 0, 0, -1e-16)}, Finished: true}}})
		}, 20_000, "gaps below 1e-6 are drawn there"},
		{"race, down to rounding", func() (*Chart, error) {
			return Race(RaceData{Tol: 1e-3, Runs: []RaceRun{{Name: "a", Points: []solvers.Point{racePoint(0, 1, 1, 3), racePoint(5, 2, 3, 1e-14)}, Finished: true}}})
		}, 20_000, "gaps below 1e-8 are drawn there"},
		{"race, one counts, ties", func() (*Chart, error) {
			ends := []solvers.Point{racePoint(0, 0, 1, 3), racePoint(5, 0, 0, 1e-4)}
			return Race(RaceData{Runs: []RaceRun{{Name: "a", Points: ends, Finished: true}, {Name: "b", Points: ends, Finished: true},
				{Name: "c", Points: []solvers.Point{racePoint(0, 4, 1, 3), racePoint(7, 12, 0, 1e-4)}, Finished: true}}})
		}, 20_000, "Fewest iterations: a and b, 5"},
		{"race, no gap but in one", func() (*Chart, error) {
			return Race(RaceData{Runs: []RaceRun{{Name: "a", Points: []solvers.Point{racePoint(0, 1, 1, math.NaN())}}, {Name: "b", Points: []solvers.Point{racePoint(0, 1, 1, 1e-300)}, Finished: true}}})
		}, 20_000, "not drawn: a (no gap measured)"},
		{"scores", func() (*Chart, error) { return Scores(large.scores()) }, 20_000, "of 600 points carry the boundary"},
		{"scores, far out", func() (*Chart, error) { return Scores(ScoresData{Y: []float64{1, -1}, F: []float64{1e9, -3}}) }, 10_000, "0 of 2 points carry the boundary"},
	})
}

// drawing is a figure, how many bytes it may bring into a page, and what its
// title or subtitle says.
type drawing struct {
	name   string
	draw   func() (*Chart, error)
	budget int
	words  string
}

func drawAll(t *testing.T, drawings []drawing) {
	t.Helper()
	for _, test := range drawings {
		c, err := test.draw()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		filled(t, test.name, c)
		keysAreMarks(t, test.name, c)
		if n := size(t, c); n > test.budget {
			t.Errorf("%s: %d bytes, budget %d", test.name, n, test.budget)
		}
		if !strings.Contains(c.Title.Title+" · "+c.Title.Subtitle, test.words) {
			t.Errorf("%s: %q · %q, want %q in it", test.name, c.Title.Title, c.Title.Subtitle, test.words)
		}
		if !strings.ContainsFunc(c.Title.Title, unicode.IsDigit) {
			t.Errorf("%s: no number in the title %q", test.name, c.Title.Title)
		}
		if !strings.Contains(c.Alt, c.Title.Title) || c.Description() != c.Alt {
			t.Errorf("%s: the alternative text %q leaves out the finding", test.name, c.Alt)
		}
	}
}

func TestWrongInput(t *testing.T) {
	margins := func(change func(*MarginsData)) error {
		d := MarginsData{X: [][]float64{{0, 0}, {1, 1}}, Y: []float64{1, -1}, Alpha: []float64{1, 1}, Upper: []float64{2, 2}, F: []float64{1, -1},
			Xs: [2]float64{0, 1}, Ys: [2]float64{0, 1}, Z: [][]float64{{1, 0}, {0, -1}}}
		change(&d)
		_, err := Margins(d)
		return err
	}
	if err := margins(func(*MarginsData) {}); err != nil {
		t.Fatal(err)
	}
	kkt := func(d KKTData) error { _, err := KKT(d); return err }
	race := func(d RaceData) error { _, err := Race(d); return err }
	gap := func(d GapData) error { _, err := Gap(d); return err }
	nan := math.NaN()
	_, scores := Scores(ScoresData{F: []float64{1, nan}, Y: []float64{1, 1}})
	for _, test := range []struct {
		err   error
		field string
	}{
		{margins(func(d *MarginsData) { d.X = nil }), "X"},
		{margins(func(d *MarginsData) { d.X[1] = []float64{1} }), "X[1]"},
		{margins(func(d *MarginsData) { d.X[1][0] = nan }), "X[1][0]"},
		{margins(func(d *MarginsData) { d.Alpha = d.Alpha[:1] }), "Alpha"},
		{margins(func(d *MarginsData) { d.F[1] = nan }), "F[1]"},
		{margins(func(d *MarginsData) { d.Upper[0] = nan }), "Upper[0]"},
		{margins(func(d *MarginsData) { d.Violations = []float64{0} }), "Violations"},
		{margins(func(d *MarginsData) { d.Z[1][0] = math.Inf(1) }), "Z[1][0]"},
		{margins(func(d *MarginsData) { d.Z[1] = d.Z[1][:1] }), "Z[1]"},
		{margins(func(d *MarginsData) { d.Z = d.Z[:1] }), "Z"},
		{margins(func(d *MarginsData) { d.Ys[1] = 0 }), "Ys"},
		{kkt(KKTData{Tol: 1}), "Violations"},
		{kkt(KKTData{Iterations: []int{0}, Violations: [][]float64{{0}}}), "Tol"},
		{kkt(KKTData{Iterations: []int{0, 0}, Violations: [][]float64{{0}, {0}}, Tol: 1}), "Iterations[1]"},
		{kkt(KKTData{Iterations: []int{0, 1}, Violations: [][]float64{{0}, {0, 1}}, Tol: 1}), "Violations[1]"},
		{kkt(KKTData{Iterations: []int{0}, Violations: [][]float64{{nan}}, Tol: 1}), "Violations[0][0]"},
		{gap(GapData{}), "Points"},
		{gap(GapData{Points: []solvers.Point{{Iteration: 3}, {Iteration: 3}}}), "Points[1].Iteration"},
		{gap(GapData{Points: []solvers.Point{{}}, Tol: -1}), "Tol"},
		{race(RaceData{}), "Runs"},
		{race(RaceData{Runs: make([]RaceRun, 9)}), "Runs"},
		{race(RaceData{Runs: []RaceRun{{Name: "a", Points: []solvers.Point{{Gap: nan}}}}}), "Runs"},
		{race(RaceData{Runs: []RaceRun{{Name: "a"}, {Name: "a"}}}), "Runs[1].Name"},
		{race(RaceData{Runs: []RaceRun{{}}}), "Runs[0].Name"},
		{race(RaceData{Tol: nan, Runs: []RaceRun{{Name: "a"}}}), "Tol"},
		{race(RaceData{Runs: []RaceRun{{Name: "a", Points: []solvers.Point{{Iteration: 2}, {Iteration: 2}}}}}), "Runs[0].Points[1].Iteration"},
		{scores, "F[1]"},
	} {
		var e *InputError
		if !errors.As(test.err, &e) || e.Field != test.field {
			t.Errorf("error %v, want an *InputError about %s", test.err, test.field)
		}
	}
}

// What a user says by go-echarts wins over the figure's own words; the rest of
// the figure stays.
func TestChartCanBeChanged(t *testing.T) {
	c := must[*Chart](t)(Margins(moons(t, 40, 1, 1).margins()))
	own := len(c.Extra["series"].(list))
	c.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: "Mine"}), charts.WithXAxisOpts(opts.XAxis{Name: "length", Max: 7}))
	c.AddSeries("more", []opts.ScatterData{{Value: []float64{1, 2}}})
	data, err := json.Marshal(c.JSON())
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Title struct{ Text, Subtext string }
		XAxis []struct {
			Name, NameLocation string
			Min, Max           float64
		}
		Series []struct{ Name, Type string }
	}
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	if o.Title.Text != "Mine" || o.Title.Subtext != "" {
		t.Errorf("title %+v", o.Title)
	}
	if x := o.XAxis[0]; x.Name != "length" || x.Max != 7 || x.Min != -1.9 || x.NameLocation != "middle" {
		t.Errorf("x axis %+v", x)
	}
	if n := len(o.Series); n != own+1 || o.Series[n-1].Name != "more" || o.Series[0].Type != "custom" {
		t.Errorf("series %+v", o.Series)
	}
	c.AddSeries("bad", []opts.ScatterData{{Value: math.NaN()}})
	var bad *echarts.ChartError
	if _, err := echarts.Draw(c); !errors.As(err, &bad) || bad.Path != fmt.Sprintf("series[%d].data[0].value", own+1) {
		t.Errorf("NaN in an added series: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		v    float64
		want string
	}{{0, "0"}, {1, "1"}, {-0.19214, "−0.1921"}, {1234567, "1.235e6"}, {99999, "1e5"}, {0.00029951, "2.995e-4"}, {-1e-7, "−1e-7"}, {math.NaN(), "–"}, {math.Inf(-1), "−∞"}, {12.30, "12.3"}} {
		if got := number(test.v); got != test.want {
			t.Errorf("number(%v) = %s, want %s", test.v, got, test.want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestSample(t *testing.T) {
	places := make([]float64, 5000)
	for i := range places {
		places[i] = math.Log1p(float64(i))
	}
	for _, limit := range []int{2, 10, 220, 6000} {
		s := sample(places, limit)
		if len(s) > limit || s[0] != 0 || s[len(s)-1] != len(places)-1 {
			t.Errorf("limit %d: %d from %d to %d", limit, len(s), s[0], s[len(s)-1])
		}
		for i := 1; i < len(s); i++ {
			if s[i] <= s[i-1] {
				t.Fatalf("limit %d: %d after %d", limit, s[i], s[i-1])
			}
		}
	}
}

// What is left out of a curve cannot be seen: in each column of pixels the picture of
// the places that stay reaches as high and as low as that of all.
func TestThin(t *testing.T) {
	const pixels = 400
	r := rand.New(rand.NewPCG(1, 2))
	nan := math.NaN()
	for _, test := range []struct {
		name string
		n    int
		at   func(k int) float64 // place
		y    func(k int) float64
		most int // that stay
	}{
		{"a line", 5000, func(k int) float64 { return float64(k) }, func(k int) float64 { return float64(k) }, 2*pixels + 2},
		{"one peak", 5000, func(k int) float64 { return float64(k) }, func(k int) float64 { return map[int]float64{2503: 9}[k] }, 2*pixels + 4},
		{"one notch on a log axis", 5000, func(k int) float64 { return math.Log1p(float64(k)) }, func(k int) float64 { return map[int]float64{4321: -9}[k] }, 2*pixels + 4},
		{"a step", 5000, func(k int) float64 { return float64(k) }, func(k int) float64 { return float64(k / 2500) }, 2*pixels + 2},
		{"steps", 5000, func(k int) float64 { return float64(k) }, func(k int) float64 { return float64(k / 111) }, 2*pixels + 100},
		{"noise", 5000, func(k int) float64 { return float64(k) }, func(k int) float64 { return r.NormFloat64() }, 4*pixels + 4},
		{"places far apart", 1000, func(k int) float64 { return float64(k * k * k) }, func(k int) float64 { return float64(k % 7) }, 1000},
		{"a gap", 5000, func(k int) float64 { return float64(k) }, func(k int) float64 {
			if k > 1001 && k < 1777 {
				return nan
			}
			return math.Sin(float64(k) / 100)
		}, 4*pixels + 8},
		{"few", 50, func(k int) float64 { return float64(k) }, func(k int) float64 { return float64(k % 3) }, 50},
		{"nothing known", 5000, func(k int) float64 { return float64(k) }, func(int) float64 { return nan }, 2*pixels + 2},
		{"one place", 1, func(int) float64 { return 3 }, func(int) float64 { return 4 }, 1},
	} {
		x, y := make([]float64, test.n), make([]float64, test.n)
		all := make([]int, test.n)
		for k := range x {
			x[k], y[k], all[k] = test.at(k), test.y(k), k
		}
		keep := thin(x, pixels, y, nil)
		if len(keep) > test.most || len(keep) < min(test.n, 2) || !slices.IsSorted(keep) || keep[0] != 0 || keep[len(keep)-1] != test.n-1 {
			t.Errorf("%s: %d of %d stay", test.name, len(keep), test.n)
		}
		want, got := silhouette(x, y, all, pixels), silhouette(x, y, keep, pixels)
		for c := range want {
			for e := range 2 {
				if a, b := want[c][e], got[c][e]; math.Abs(a-b) > 1e-9*max(1, math.Abs(a)) || math.IsInf(a, 0) != math.IsInf(b, 0) {
					t.Fatalf("%s: column %d reaches from %v to %v, and to %v and %v when thinned", test.name, c, want[c][0], want[c][1], got[c][0], got[c][1])
				}
			}
		}
	}
}

// silhouette returns the lowest and the highest point of a curve, drawn through the
// places of keep, in each of so many columns; infinite where there is none.
func silhouette(x, y []float64, keep []int, columns int) [][2]float64 {
	out := make([][2]float64, columns+1)
	for c := range out {
		out[c] = [2]float64{math.Inf(1), math.Inf(-1)}
	}
	at := func(v float64) float64 {
		if len(x) < 2 {
			return 0
		}
		return float64(columns) * ((v - x[0]) / (x[len(x)-1] - x[0]))
	}
	mark := func(place, v float64) {
		o := &out[int(place)]
		o[0], o[1] = min(o[0], v), max(o[1], v)
	}
	for k, i := range keep {
		if !finite(y[i]) {
			continue
		}
		mark(at(x[i]), y[i])
		if k == 0 || !finite(y[keep[k-1]]) {
			continue
		}
		before := keep[k-1]
		from, to := at(x[before]), at(x[i])
		for edge := math.Floor(from) + 1; edge <= to; edge++ { // where it crosses from column to column
			v := y[before] + (y[i]-y[before])*(edge-from)/(to-from)
			mark(edge-1, v)
			mark(edge, v)
		}
	}
	return out
}

// A run is drawn by its best so far, and what is off the constraint is no gap.
func TestRaceLine(t *testing.T) {
	nan := math.NaN()
	l := raceLine{RaceRun: &RaceRun{}}
	for k, p := range []solvers.Point{{Gap: nan}, {Gap: 8}, {Gap: 9}, {Gap: 1e-9, Equality: 1, Bias: 2}, {Gap: 5, Equality: 1e-3, Bias: 2}, {Gap: math.Inf(1)}, {Gap: 4.99}, {Gap: 2}, {Gap: 3}} {
		p.Iteration = k
		l.Points = append(l.Points, p)
	}
	check := func(its []int, gaps []float64) {
		t.Helper()
		var got []int
		for _, p := range l.points {
			got = append(got, p.Iteration)
		}
		if !slices.Equal(got, its) || !slices.Equal(l.gap, gaps) {
			t.Errorf("iterations %v, gaps %v; want %v, %v", got, l.gap, its, gaps)
		}
	}
	l.improve()
	check([]int{1, 4, 6, 7, 8}, []float64{8, 5, 4.99, 2, 2})
	l.thin(0.01, 1e-3)
	check([]int{1, 4, 7, 8}, []float64{8, 5, 2, 2})
}

// The ends of the lines and what the panels show are the numbers of the runs.
func TestRaceShowsTheNumbers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "race.html")
	f := must[*os.File](t)(os.Create(file))
	d := racers(3)
	picture := must[echarts.Picture](t)(echarts.Draw(must[*Chart](t)(Race(d))))
	if err := errors.Join(echarts.Page(f, "race", picture.HTML), f.Close()); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	page.Charts(1)
	type panels struct {
		Ends   [][]float64 // log10 of kernel values, iterations + 1, seconds, and of the gap
		Tops   []float64   // of the panels
		Labels []string
		Ticks  [][]string
	}
	look := func(width int) (p panels) {
		page.Look(browsertest.Options{Width: width})
		page.Until(`document.querySelector('[data-drawn] > div:first-child').offsetWidth === document.querySelector('[data-drawn]').clientWidth`)
		page.Do(&p, `
			var c = window.__svmEcharts.echarts.getInstanceByDom(document.querySelector('[data-drawn]')), m = c.getModel(), o = c.getOption();
			var lines = m.getSeriesByType('line').filter(function (s) { return /^method/.test(s.name); });
			return {
				Ends: lines.map(function (s) { var v = s.getRawValue(s.getData().count() - 1); return [v[0], Math.log10(v[1])]; }),
				Tops: o.grid.map(function (g) { return g.top; }),
				Labels: Array.from(document.querySelectorAll('[data-drawn] text'), function (e) { return e.textContent; }),
				Ticks: o.xAxis.map(function (a) { return a.axisLabel.customValues.map(String); })
			};`)
		return p
	}
	wide, narrow := look(1280), look(400)
	if len(wide.Ends) != 9 {
		t.Fatalf("%d lines, want 3 in each of 3 panels", len(wide.Ends))
	}
	for i, end := range wide.Ends {
		last := d.Runs[i%3].Points[len(d.Runs[i%3].Points)-1]
		want := []float64{math.Log10(float64(last.Evaluations)), math.Log10(float64(last.Iteration)), math.Log10(last.Elapsed.Seconds())}[i/3]
		if math.Abs(end[0]-want) > 1e-4 || math.Abs(end[1]-math.Log10(last.Gap)) > 1e-3 {
			t.Errorf("line %d ends at %v, want %v and a gap of %v", i, end, want, last.Gap)
		}
	}
	if wide.Tops[0] != wide.Tops[2] || !(narrow.Tops[0] < narrow.Tops[1] && narrow.Tops[1] < narrow.Tops[2]) {
		t.Errorf("the panels begin at %v when wide and at %v when narrow", wide.Tops, narrow.Tops)
	}
	for _, label := range []string{"method 1", "1M", "10 ms", "tolerance 0.001", "kernel values (log scale)", "iterations (log scale)", "time (log scale)"} {
		if !slices.Contains(wide.Labels, label) {
			t.Errorf("no %q among %q", label, wide.Labels)
		}
	}
	for k, ticks := range append(wide.Ticks, narrow.Ticks...) {
		if len(ticks) < 2 {
			t.Errorf("axis %d has the ticks %v", k, ticks)
		}
	}
	// A method taken out of the legend leaves no label behind.
	names := `Array.from(document.querySelectorAll('[data-drawn] text'), function (e) { return e.textContent; }).filter(function (t) { return t === 'method 3'; }).length`
	page.Until(names + ` > 1`)
	page.Do(nil, `window.__svmEcharts.echarts.getInstanceByDom(document.querySelector('[data-drawn]')).dispatchAction({ type: 'legendUnSelect', name: 'method 3' })`)
	page.Until(names + ` === 1`) // the legend's own
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}
