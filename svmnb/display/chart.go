package display

import "github.com/svmnb/svmnb/svmnb/internal/figure"

// Chart is a figure as a go-echarts chart: what go-echarts can say may be
// changed before it is shown,
//
//	c, err := svmnb.Margins.Of(fit)
//	c.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: "Mine"}))
//	c.AddSeries("new points", []opts.ScatterData{{Value: []any{0.5, 1.2}}})
//	display.Show(c)
//
// and what it cannot say is in Extra, as an ECharts option.
type Chart = figure.Chart

// NewChart returns a chart of one panel with the look of the figures, for a figure of
// your own: what go-echarts can say is added to it (AddSeries, SetGlobalOptions), what
// it cannot say is in extra, which may be nil. See [FigureOf].
func NewChart(title, subtitle string, extra map[string]any) *Chart {
	return figure.New(title, subtitle, extra)
}
