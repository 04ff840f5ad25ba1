// Package figure turns results into charts. Its functions take plain numbers and return a
// [Chart]; other packages collect the numbers and show the chart.
package figure

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
	"github.com/svmnb/svmnb/svmnb/internal/echarts"
)

// Chart is a figure as a go-echarts chart. You can change it by the methods of go-echarts
// (SetGlobalOptions, AddSeries, Overlap) before you show it. Extra has ECharts options for
// which go-echarts has no method.
type Chart struct {
	*charts.Scatter

	// Alt describes the figure in a sentence, for readers who cannot see it.
	Alt string

	// Extra is an ECharts option. Where both set the same property, the go-echarts chart
	// wins; the series of Extra come first. Colours may be tokens that suit light and dark
	// pages: @ink, @soft, @axis, @grid, @page, @pos, @neg, @bad, @strong, @series1 …
	// @series10. A token can be transparent ("@pos/0.4") or mixed with the colour of the
	// page ("@pos*0.4").
	Extra map[string]any
}

// object is a part of an ECharts option.
type object = map[string]any

// list is an array in an ECharts option.
type list = []any

// newChart returns a chart with title, subtitle and the options that all figures share.
func newChart(title, subtitle, alt string, extra object) *Chart {
	c := &Chart{Scatter: charts.NewScatter(), Alt: alt, Extra: object{
		"animation": false,
		"title": object{
			"left": 4, "top": 4, "itemGap": 6,
			"textStyle":    object{"fontSize": 17, "fontWeight": 600, "overflow": "break", "lineHeight": 22},
			"subtextStyle": object{"fontSize": 13, "overflow": "break", "lineHeight": 18},
		},
		"legend":  object{"left": 4, "itemGap": 14, "itemWidth": keyWidth, "itemHeight": 12, "textStyle": object{"fontSize": 13}},
		"tooltip": object{"confine": true, "textStyle": object{"fontSize": 13}},
	}}
	merge(c.Extra, extra)
	upright(c.Extra["yAxis"])
	c.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: title, Subtitle: subtitle}))
	return c
}

// New returns a chart of one panel with the look of svmnb's figures: room for a long title
// and legend, a toolbox that zooms and saves, margins for wide and narrow pages. extra is
// as in [Chart].
func New(title, subtitle string, extra map[string]any) *Chart {
	c := newChart(title, subtitle, strings.TrimSuffix(title+". "+subtitle, ". ")+".", object{
		"toolbox": toolbox("figure", object{}), "grid": object{}, "svm": object{"layout": oneGrid(nil)},
	})
	merge(c.Extra, extra)
	return c
}

// JSON returns the option for ECharts: that of the go-echarts chart, completed by Extra.
func (c *Chart) JSON() map[string]any {
	option := c.Scatter.JSON()
	if own, ok := c.Extra["series"].(list); ok {
		series := append(list{}, own...)
		for i := range c.MultiSeries {
			series = append(series, c.MultiSeries[i])
		}
		option["series"] = series
	}
	for k, extra := range c.Extra {
		base, ok := option[k]
		if !ok {
			option[k] = extra
			continue
		}
		if k != "series" {
			option[k] = fill(plain(base), extra)
		}
	}
	return option
}

// Description returns Alt.
func (c *Chart) Description() string { return c.Alt }

// Size returns the largest width and the height; the layout of a figure may change the
// height.
func (c *Chart) Size() (width, height string) { return "1000px", "560px" }

// plain converts v to maps and slices as JSON has them, or returns v if it has no JSON.
// JavaScript functions keep their own type, so that they differ from other texts.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var p any
	if json.Unmarshal(data, &p) != nil {
		return v
	}
	return typed(p, echarts.Functions(v))
}

// typed gives the texts in v that are JavaScript functions their own type.
func typed(v any, functions map[string]bool) any {
	switch v := v.(type) {
	case string:
		if functions[v] {
			return types.FuncStr(v)
		}
	case object:
		for k := range v {
			v[k] = typed(v[k], functions)
		}
	case list:
		for i := range v {
			v[i] = typed(v[i], functions)
		}
	}
	return v
}

// fill returns base with the properties that only extra has, by keys of objects and indices
// of arrays.
func fill(base, extra any) any {
	switch b := base.(type) {
	case nil:
		return extra
	case object:
		if e, ok := extra.(object); ok {
			for k, v := range e {
				b[k] = fill(b[k], v)
			}
		}
	case list:
		e, ok := extra.(list)
		if !ok {
			e = list{extra}
		}
		for i, v := range e {
			if i < len(b) {
				b[i] = fill(b[i], v)
			} else {
				b = append(b, v)
			}
		}
		return b
	}
	return base
}

// merge copies from into into and overwrites equal keys, also within objects.
func merge(into, from object) {
	for k, v := range from {
		a, ok := into[k].(object)
		b, also := v.(object)
		if ok && also {
			merge(a, b)
		} else {
			into[k] = v
		}
	}
}

// toolbox returns buttons for zooming (unless axes is nil), undoing, and saving as SVG and
// PNG. The save button of ECharts would offer only the form in which the page draws.
func toolbox(name string, axes object) object {
	save := func(kind, icon string) object {
		return object{"title": "save as " + strings.ToUpper(kind), "icon": "path://" + icon, "onclick": marksJS.cut("save", "kind", kind, "name", name)}
	}
	f := object{
		"mySVG": save("svg", "M3 12C3 6 7 3 12 3M1 12H5V16H1ZM12 1H16V5H12Z"),
		"myPNG": save("png", "M1 2H16V15H1ZM1 13L6 7L9 11L12 8L16 12M10 5H12V7H10Z"),
	}
	if axes != nil {
		zoom := object{"filterMode": "none", "title": object{"zoom": "zoom: drag a rectangle", "back": "zoom out"}}
		merge(zoom, axes)
		f["dataZoom"] = zoom
		f["restore"] = object{"title": "reset"}
	}
	return object{"right": 4, "top": 2, "itemSize": 14, "itemGap": 6, "feature": f}
}

// mistaken reports whether a point of label y = ±1 is predicted as the other class. The
// prediction is +1 if f ≥ −line.
func mistaken(y, f, line float64) bool { return (f >= -line) != (y > 0) }

// support returns 0 for a multiplier a = 0, 1 for a free one, 2 for one at its upper bound.
func support(a, upper float64) int {
	switch {
	case a == 0:
		return 0
	case a >= upper:
		return 2
	}
	return 1
}

// drawn is the largest number of points in a figure. More would hide each other and make
// the notebook large.
const drawn = 1200

// choose returns the indices of the points to draw, at most drawn of n, in increasing
// order. Points of lower rank are preferred.
func choose(n int, rank func(i int) int) []int {
	order := upTo(n)
	if n <= drawn {
		return order
	}
	// Multiples of the golden ratio spread the choice evenly among points of equal rank.
	spread := func(i int) float64 { _, f := math.Modf(float64(i) * math.Phi); return f }
	slices.SortFunc(order, func(i, j int) int {
		if r := rank(i) - rank(j); r != 0 {
			return r
		}
		return sign(spread(i) - spread(j))
	})
	order = order[:drawn]
	slices.Sort(order)
	return order
}

// fewer says, for a subtitle, how many of n things are drawn if not all are.
func fewer(shown []int, n int, of string) string {
	if len(shown) == n {
		return ""
	}
	return thousands(int64(len(shown))) + " of " + of + " drawn"
}

// pointSize returns the width of a point in pixels if there are n.
func pointSize(n int) int {
	switch {
	case n > 500:
		return 6
	case n > 150:
		return 8
	}
	return 10
}

// Symbols for points and for the legend.
const (
	diamond = "path://M8 0 16 8 8 16 0 8Z"
	cross   = "path://M0 2 2 0 8 6 14 0 16 2 10 8 16 14 14 16 8 10 2 16 0 14 6 8Z"
)

// sentence joins the parts of a subtitle that are not empty.
func sentence(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// percentage returns how a metric is shown: its factor, its unit and its name on an axis.
// percent is set for shares, which are shown in %.
func percentage(percent bool, metric string) (scale float64, unit, name string) {
	if percent {
		return 100, " %", metric + " (%)"
	}
	return 1, "", metric
}

// shortScore prints a score: a share in % to one decimal, which is finer than its error.
func shortScore(v float64, percent bool) string {
	if percent {
		return numberTo(math.Round(10*v)/10, 4)
	}
	return numberTo(v, 4)
}

// scoreEnds returns the ends of an axis of scores, with some room, but not beyond 0 and 100 %.
func scoreEnds(low, high float64, percent bool) (from, to float64) {
	from, to = widen(low, high, 0.08)
	if low >= 0 {
		from = max(from, 0)
	}
	if percent {
		to = min(to, 100)
	}
	return from, to
}

// either returns name, or the text otherwise if name is empty.
func either(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// featureNames returns the names of two features, with defaults for empty ones.
func featureNames(names [2]string) [2]string {
	return [2]string{either(names[0], "x₁"), either(names[1], "x₂")}
}

// classNames returns the names of y = −1 and y = +1, with defaults for empty ones.
func classNames(names [2]string) [2]string {
	return [2]string{either(names[0], "class −1"), either(names[1], "class +1")}
}

// number prints v with 4 significant digits, as the scripts of figures do.
func number(v float64) string { return numberTo(v, 4) }

// numberTo prints v with so many significant digits and a minus sign instead of a hyphen.
func numberTo(v float64, digits int) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v < 0:
		return "−" + numberTo(-v, digits)
	case math.IsInf(v, 1):
		return "∞"
	}
	r := roundTo(v, digits)
	if r == 0 || r >= 1e-3 && r < 1e5 {
		return strconv.FormatFloat(r, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(r, 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	return mantissa + "e" + strconv.Itoa(e)
}

// thousands prints n with narrow spaces, as 12 345. ECharts would break a title at commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// count prints a number with its noun in the singular or plural.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + many
}

// round4 rounds v to 4 significant digits: enough for the eye, short in JSON.
func round4(v float64) float64 { return roundTo(v, 4) }

// capital returns s with a capital first letter, for a title.
func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// roundTo rounds v to so many significant digits.
func roundTo(v float64, digits int) float64 {
	if v == 0 || v-v != 0 {
		return v
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	return r
}

// remainder returns v, which is the difference of two numbers of the size of whole. If v is
// so small that it may be a rounding error of α, which depends on the processor, remainder
// returns 0.
func remainder(v, whole float64) float64 {
	if math.Abs(v) < 1e-6*math.Abs(whole) {
		return 0
	}
	return v
}

func finite(v float64) bool { return v-v == 0 }
