package static_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/kernels"
	"github.com/svmnb/svmnb/svmnb"
	"github.com/svmnb/svmnb/svmnb/display"
	"github.com/svmnb/svmnb/svmnb/static"
)

func ExampleSVG() {
	fit := svmnb.Classify(datasets.Moons(60, 0.15, 1)).Kernel(kernels.RBF(1)).C(5).MustFit()
	chart, err := svmnb.Margins.Of(fit)
	if err != nil {
		fmt.Println(err)
		return
	}
	svg, err := static.SVG(chart, static.Options{Width: 640}) // os.WriteFile("margins.svg", svg, 0o644)
	if err != nil {
		fmt.Println(err)
		return
	}
	root, _, _ := strings.Cut(string(svg), "\n")
	fmt.Println(strings.Contains(root, `width="640"`), strings.Contains(string(svg), "<script"))
	// Output: true false
}

func ExamplePNG() {
	bar := charts.NewBar()
	bar.SetGlobalOptions(charts.WithInitializationOpts(opts.Initialization{Width: "400px", Height: "300px"}))
	bar.SetXAxis([]string{"SMO", "interior point"}).AddSeries("seconds", []opts.BarData{{Value: 0.2}, {Value: 1.1}})
	image, err := static.PNG(bar, static.Options{Scale: 3}) // for print
	if err != nil {
		fmt.Println(err)
		return
	}
	size, err := png.DecodeConfig(bytes.NewReader(image))
	fmt.Println(size.Width, size.Height, err)
	// Output: 1200 900 <nil>
}

func ExampleFill() {
	bar := charts.NewBar()
	bar.SetXAxis([]string{"a", "b"}).AddSeries("counts", []opts.BarData{{Value: 3}, {Value: 4}})
	var page bytes.Buffer
	if err := display.HTML(&page, bar); err != nil {
		fmt.Println(err)
		return
	}
	filled, n, err := static.Fill(context.Background(), page.String(), static.Options{})
	fmt.Println(n, err, strings.Count(filled, `<img width="860"`))
	// Output: 1 <nil> 1
}
