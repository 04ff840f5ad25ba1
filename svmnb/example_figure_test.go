package svmnb_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/internal/doctest"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/static"
)

// Residuals shows what a regression leaves over, y − f(x), against f(x).
var Residuals = display.FigureOf("Residuals", func(f *svmnb.RegressionFit) (*display.Chart, error) {
	outside := 0
	var points []opts.ScatterData
	for _, c := range f.Conditions() {
		points = append(points, opts.ScatterData{Value: []float64{c.Y - c.Residual, c.Residual}})
		if c.Slack > 1e-3 { // the tolerance of the solver
			outside++
		}
	}
	chart := display.NewChart(
		fmt.Sprintf("%d of %d points lie outside the tube", outside, len(points)),
		fmt.Sprintf("%v · ε = %.3g", f.Description, f.Epsilon),
		map[string]any{
			"xAxis":  []any{map[string]any{"name": "f(x)", "nameLocation": "middle", "nameGap": 28, "axisLine": map[string]any{"onZero": false}}},
			"yAxis":  []any{map[string]any{"name": "y − f(x)", "nameLocation": "middle", "nameGap": 48, "axisLine": map[string]any{"onZero": false}}},
			"legend": map[string]any{"data": []any{"residual"}},
		})
	chart.AddSeries("residual", points, charts.WithItemStyleOpts(opts.ItemStyle{Color: "@neg"}),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"}}),
		charts.WithMarkLineNameYAxisItemOpts(opts.MarkLineNameYAxisItem{Name: "ε", YAxis: f.Epsilon}, opts.MarkLineNameYAxisItem{Name: "−ε", YAxis: -f.Epsilon}))
	return chart, nil
})

func ExampleFigureOf() {
	fit := svmnb.Regress(datasets.Sinc(100, 0.1, 1)).Kernel(kernels.RBF(0.3)).C(10).Epsilon(0.1).MustFit()
	chart, err := Residuals.Of(fit) // in a notebook: fit.Show(Residuals)
	if err != nil {
		panic(err)
	}
	fmt.Println(chart.Title.Title)
	// Output:
	// 19 of 100 points lie outside the tube
}

// The page that says how is held to this example, whose figure is drawn.
func TestAddingAFigure(t *testing.T) {
	doctest.Same(t, "../docs/adding-a-figure.md", "example_figure_test.go", 2)
	chart, err := Residuals.Of(svmnb.Regress(datasets.Sinc(100, 0.1, 1)).Kernel(kernels.RBF(0.3)).C(10).Epsilon(0.1).MustFit())
	if err != nil {
		t.Fatal(err)
	}
	svg, err := static.SVG(chart, static.Options{})
	if err != nil || !bytes.Contains(svg, []byte("outside the tube")) || bytes.Count(svg, []byte("<path")) < 100 {
		t.Errorf("%v, %d bytes", err, len(svg))
	}
	if _, err := Residuals.Of(Moons().MustFit()); err == nil || err.Error() != "svmnb: Figure.Of: Residuals is no picture of a *svmnb.Fit" {
		t.Errorf("of a classifier: %v", err)
	}
}
