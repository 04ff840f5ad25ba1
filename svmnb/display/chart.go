package display

import "github.com/svmnb/svmnb/svmnb/internal/figure"

// Chart is a figure as a go-echarts chart. You can change it by the methods of go-echarts
// before you show it:
//
//	c, err := svmnb.Margins.Of(fit)
//	c.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: "Mine"}))
//	c.AddSeries("new points", []opts.ScatterData{{Value: []any{0.5, 1.2}}})
//	display.Show(c)
//
// Its field Extra has ECharts options for which go-echarts has no method.
type Chart = figure.Chart

// NewChart returns an empty chart with the look of svmnb's figures, for a figure of your
// own (see [FigureOf]). Add to it by the methods of go-echarts, such as AddSeries and
// SetGlobalOptions. extra has ECharts options for which go-echarts has no method; it may be
// nil.
func NewChart(title, subtitle string, extra map[string]any) *Chart {
	return figure.New(title, subtitle, extra)
}
