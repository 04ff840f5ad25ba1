package svmnb_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/browsertest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/solvers"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
)

func titled(name string) charts.GlobalOpts {
	return charts.WithTitleOpts(opts.Title{Title: name})
}

func barChart() *charts.Bar {
	b := charts.NewBar()
	b.SetGlobalOptions(titled("bars"), charts.WithYAxisOpts(opts.YAxis{AxisLabel: &opts.AxisLabel{
		Formatter: opts.FuncOpts(`function (v) { var u = "http://x/"; return 'y"' + v + "'" + u.slice(0, 4); }`)}}))
	b.SetXAxis([]string{"p", "q"}).AddSeries("</script><b>name", []opts.BarData{{Value: 1}, {Value: 2}},
		charts.WithItemStyleOpts(opts.ItemStyle{Color: "@pos"}))
	return b
}

func lineChart() *charts.Line {
	l := charts.NewLine()
	l.SetGlobalOptions(titled("lines"))
	l.SetXAxis([]string{"p", "q", "r"}).AddSeries("walk", []opts.LineData{{Value: 1}, {Value: "-"}, {Value: 3}})
	return l
}

func scatterChart() *charts.Scatter {
	s := charts.NewScatter()
	s.SetGlobalOptions(titled("points"), charts.WithXAxisOpts(opts.XAxis{Type: "value"}))
	s.AddSeries("cloud", []opts.ScatterData{{Value: []float64{1, 2}}, {Value: []float64{2, 1}}})
	return s
}

func pieChart() *charts.Pie {
	p := charts.NewPie()
	p.SetGlobalOptions(titled("pie"))
	p.AddSeries("share", []opts.PieData{{Name: "one slice", Value: 1}, {Name: "another", Value: 2}})
	return p
}

func heatMap() *charts.HeatMap {
	h := charts.NewHeatMap()
	h.SetGlobalOptions(titled("heat"), charts.WithXAxisOpts(opts.XAxis{Type: "category"}),
		charts.WithYAxisOpts(opts.YAxis{Type: "category", Data: []string{"r", "s"}}), charts.WithVisualMapOpts(opts.VisualMap{Max: 3, Text: []string{"hot", "cold"}}))
	h.SetXAxis([]string{"p", "q"}).AddSeries("map", []opts.HeatMapData{{Value: []any{0, 0, 1}}, {Value: []any{1, 1, 3}}})
	return h
}

// TestEveryChartInABrowser opens a page with charts of go-echarts, a changed
// figure and a text, with the network off, and looks for their marks.
func TestEveryChartInABrowser(t *testing.T) {
	fit := Moons().MustFit()
	changed, err := svmnb.Margins.Of(fit)
	if err != nil {
		t.Fatal(err)
	}
	changed.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: "My title"}), charts.WithXAxisOpts(opts.XAxis{Name: "my axis"}))
	changed.AddSeries("new points", []opts.ScatterData{{Value: []float64{0.5, 0.25}, Symbol: "triangle", SymbolSize: 30}})
	kkt, err := svmnb.KKT.Of(fit)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(display.HTML(f, barChart(), lineChart(), fit, scatterChart(), pieChart(), "# Heading\n\n**bold** text", heatMap(), changed, kkt), f.Close()); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	texts := page.Charts(7)
	for i, want := range [][]string{
		{"bars", "</script><b>name", `y"2'http`},
		{"lines", "walk", "r"},
		{"points", "cloud"},
		{"pie", "one slice", "another"},
		{"heat", "hot", "cold"},
		{"My title", "my axis", "f = ±1", "free support vector"},
		{"KKT conditions", "tolerance", "at the end", "largest violation"},
	} {
		for _, w := range want {
			if i < len(texts) && !strings.Contains(texts[i], w) {
				t.Errorf("chart %d has no %q: %q", i+1, w, texts[i])
			}
		}
	}
	// Marks, not only text: paths per chart, the bar in its token's colour, the
	// user's triangle above ours.
	var paths []int
	page.Do(&paths, `return Array.from(document.querySelectorAll('[data-drawn]'), e => e.querySelectorAll('path').length)`)
	for i, n := range paths {
		if n < 3 {
			t.Errorf("chart %d has only %d marks", i+1, n)
		}
	}
	for _, look := range []struct {
		browsertest.Options
		drawn, pos string
	}{{browsertest.Options{}, "light", "rgb(221,95,13)"}, {browsertest.Options{Dark: true}, "dark", "rgb(245,152,79)"}} {
		page.Look(look.Options)
		page.Until(`document.querySelectorAll('[data-drawn=` + look.drawn + `]').length === 7`)
		page.Until(`document.querySelector('[data-drawn] path[fill="` + look.pos + `"]')`)
	}
	var bold string
	page.Do(&bold, `return document.querySelector('h1').textContent + document.querySelector('p strong').textContent`)
	if bold != "Headingbold" {
		t.Errorf("the text became %q", bold)
	}
	page.Look(browsertest.Options{Width: 400})
	page.Until(`Array.from(document.querySelectorAll('[data-drawn] svg')).every(s => s.clientWidth <= 400)`)
	if errs := page.Errors(); len(errs) > 0 {
		t.Errorf("errors in the page: %q", errs)
	}
}

// A function that go-echarts has spoilt must not leave an empty place.
func TestBrokenFunctionSaysSo(t *testing.T) {
	b := charts.NewBar()
	b.SetGlobalOptions(titled("broken"), charts.WithTooltipOpts(opts.Tooltip{Formatter: opts.FuncOpts("function (p) { // the name\n return p.name; }")}))
	b.SetXAxis([]string{"p"}).AddSeries("s", []opts.BarData{{Value: 1}})
	var out bytes.Buffer
	if err := display.HTML(&out, b, lineChart()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	page.Until(`document.querySelectorAll('[data-drawn]').length === 1`)
	page.Until(`document.body.textContent.includes('the function at tooltip.formatter fails') && document.body.textContent.includes('/* … */')`)
}

// The same chart in two cells has one id in the page, and two places.
func TestEqualChartsAreDrawnTwice(t *testing.T) {
	var out bytes.Buffer
	if err := display.HTML(&out, pieChart(), pieChart()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	if page.Charts(2); len(page.Errors()) > 0 {
		t.Errorf("errors in the page: %q", page.Errors())
	}
}

// Without the library, as when its cell was deleted, a chart's place has words.
func TestPlaceWithoutLibrary(t *testing.T) {
	var out bytes.Buffer
	if err := display.HTML(&out, pieChart()); err != nil {
		t.Fatal(err)
	}
	html := out.String()
	at := strings.Index(html, "<script>(function svmnb")
	if at < 0 {
		t.Fatal("no library in the page")
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(html[:at]), 0o644); err != nil {
		t.Fatal(err)
	}
	page := browsertest.Open(t, file, browsertest.Options{Offline: true})
	page.Until(`document.querySelector('[role=img]').innerText.includes('run this cell again') && getComputedStyle(document.querySelector('[role=img] p')).opacity === '1'`)
}

func TestHTMLNamesWhatItCannotShow(t *testing.T) {
	bad := charts.NewLine()
	bad.AddSeries("x", []opts.LineData{{Value: 1}, {Value: math.NaN()}})
	var out bytes.Buffer
	err := display.HTML(&out, "good", bad, 42)
	var item *display.ItemError
	if err == nil || !strings.Contains(err.Error(), "item 2: chart: series[0].data[1].value is NaN") || !errors.As(err, &item) || item.Item != 42 {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(out.String(), "good") {
		t.Error("the good item is missing")
	}
}

func TestFigures(t *testing.T) {
	wine := svmnb.Classify(datasets.BreastCancer().Standardised())
	for _, test := range []struct {
		name  string
		fit   *svmnb.Fit
		words [3]string // in the alternative text of Margins, KKT, Gap
	}{
		{"moons", Moons().MustFit(), [3]string{"free", "All 120 points satisfy", "The gap is closed"}},
		{"linear", Moons().Kernel(kernels.Linear()).MustFit(), [3]string{"free", "All 120 points satisfy", "The gap is closed"}},
		{"two-norm", Moons().TwoNorm().MustFit(), [3]string{"free", "All 120 points satisfy", "The gap is closed"}},
		{"hard", Moons().Kernel(kernels.RBF(50)).HardMargin().MustFit(), [3]string{"free", "All 120 points satisfy", "The gap is closed"}},
		{"30 features", wine.MustFit(), [3]string{"Histogram", "satisfy", "The gap is closed"}},
		{"stopped at once", Moons().MaxIterations(1).MustFit(), [3]string{"at the bound", "violate", "The gap is still"}},
		{"relative gap", Moons().Stop(solvers.Gap{Rel: 1e-6}).MustFit(), [3]string{"free", "satisfy", "The gap is closed"}},
	} {
		for i, f := range []display.Figure{svmnb.Margins, svmnb.KKT, svmnb.Gap} {
			c, err := f.Of(test.fit)
			if err != nil {
				t.Errorf("%s: %v: %v", test.name, f, err)
				continue
			}
			if !strings.Contains(c.Alt, test.words[i]) {
				t.Errorf("%s: %v says %q, want %q in it", test.name, f, c.Alt, test.words[i])
			}
		}
	}
	if _, err := (display.Figure{}).Of(nil); err == nil {
		t.Error("an empty figure is drawn")
	}
}

func TestFigureWords(t *testing.T) {
	c, err := svmnb.Margins.Of(svmnb.Classify(datasets.XOR(40, 0.1, 1)).MustFit())
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(c.JSON())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"class −1"`, `"class +1"`, "RBF(0.5008)", "1-norm soft, C = 1"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %s in the figure", want)
		}
	}
}

// A cell must not pay for go-echarts' templates, whose engine stays unlinked, nor for
// the machines and figures of another kind.
func TestNoTemplateEngineIsLinked(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir := t.TempDir()
	main := `package main
import ("github.com/svmnb/svmnb/datasets"; "github.com/svmnb/svmnb/svmnb")
func main() { svmnb.Classify(datasets.Moons(20, 0.1, 1)).MustFit().Show(svmnb.Margins, svmnb.KKT, svmnb.Gap) }`
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "cell")
	if out, err := exec.Command("go", "build", "-o", program, filepath.Join(dir, "main.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	symbols, err := exec.Command("go", "tool", "nm", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"text/template.(*state).walk", "html/template.(*escaper)", "net/http.(*Client)", "svmnb.(*ProcessFit)", "lapack64", "figure.Pairs", "display.Histograms", "figure.Images"} {
		if bytes.Contains(symbols, []byte(s)) {
			t.Errorf("%s is linked into a cell", s)
		}
	}
	if !bytes.Contains(symbols, []byte("figure.Margins")) {
		t.Error("the program lacks what it should show; this test is blind")
	}
}

func TestShowOutsideANotebook(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	stdout := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	display.Show("a text", pieChart())
	os.Stdout = stdout
	w.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "svmnb-*.html"))
	if err != nil || len(files) != 1 || !strings.Contains(out.String(), files[0]) || !strings.Contains(out.String(), "a text") || !strings.Contains(out.String(), "pie") {
		t.Errorf("files %v, printed %q", files, out.String())
	}
}

func Moons() svmnb.Classifier {
	return svmnb.Classify(datasets.Moons(120, 0.2, 42)).Kernel(kernels.RBF(1.2)).C(2)
}
