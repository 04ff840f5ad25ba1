// Package figure turns results into charts. Its functions are pure: numbers
// in, a [Chart] out; drawing and sending are others' work.
package figure

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

// Chart is a figure as a go-echarts chart. What go-echarts can say may be
// changed before it is shown (SetGlobalOptions, AddSeries, Overlap); what it
// cannot say is in Extra, an ECharts option of its own.
type Chart struct {
	*charts.Scatter

	// Alt says in a sentence what the figure shows, for those who cannot see it.
	Alt string

	// Extra fills in wherever the go-echarts chart says nothing. Its series
	// come before the chart's. Colours may be tokens that suit light and dark
	// pages: @ink, @soft, @axis, @grid, @page, @pos, @neg, @bad, @strong,
	// @series1 … @series8, each as it is, transparent ("@pos/0.4") or mixed
	// with the page ("@pos*0.4").
	Extra map[string]any
}

// object is a part of an ECharts option.
type object = map[string]any

// list is an array in an ECharts option.
type list = []any

// newChart returns a chart with the title and subtitle and the options that
// all figures share.
func newChart(title, subtitle, alt string, extra object) *Chart {
	c := &Chart{Scatter: charts.NewScatter(), Alt: alt, Extra: object{
		"animation": false,
		"title": object{
			"left": 4, "top": 4, "itemGap": 6,
			"textStyle":    object{"fontSize": 17, "fontWeight": 600, "overflow": "break", "lineHeight": 22},
			"subtextStyle": object{"fontSize": 13, "overflow": "break", "lineHeight": 18},
		},
		"legend":  object{"left": 0, "itemGap": 14, "itemWidth": 22, "itemHeight": 12, "textStyle": object{"fontSize": 13}},
		"tooltip": object{"confine": true, "textStyle": object{"fontSize": 13}},
	}}
	merge(c.Extra, extra)
	c.SetGlobalOptions(charts.WithTitleOpts(opts.Title{Title: title, Subtitle: subtitle}))
	return c
}

// JSON returns the option for ECharts: the go-echarts chart's, filled up with
// Extra.
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

// Size leaves the width to the page and the height to the figure's layout.
func (c *Chart) Size() (width, height string) { return "1000px", "560px" }

// plain returns v as maps and slices, the way JSON has it, or v itself where
// JSON has no word for it.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var p any
	if json.Unmarshal(data, &p) != nil {
		return v
	}
	return p
}

// fill returns base with what only extra has; objects by key, arrays by index.
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

// merge overwrites into with from, objects by key.
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

// script marks JavaScript for the option; in scope are svm (runtime.js's
// tools), T (colour token to colour) and O (the whole option).
func script(js string) string { return "__f__" + strings.TrimSpace(js) + "__f__" }

// toolbox offers zooming (unless axes is nil), going back and saving.
func toolbox(name string, axes object) object {
	f := object{"saveAsImage": object{"title": "save", "name": name, "backgroundColor": "@page", "pixelRatio": 2}}
	if axes != nil {
		zoom := object{"filterMode": "none", "title": object{"zoom": "zoom: drag a rectangle", "back": "zoom out"}}
		merge(zoom, axes)
		f["dataZoom"] = zoom
		f["restore"] = object{"title": "reset"}
	}
	return object{"right": 4, "top": 2, "itemSize": 14, "itemGap": 9, "feature": f}
}

// InputError says which argument of a figure is wrong and what to do.
type InputError struct {
	Figure string // such as "Margins"
	Field  string // such as "Z[3][7]"
	Reason string
}

func (e *InputError) Error() string {
	return fmt.Sprintf("figure %s: %s %s", e.Figure, e.Field, e.Reason)
}

// number prints v to 4 significant digits, as the figures' scripts do.
func number(v float64) string { return numberTo(v, 4) }

// numberTo prints v to so many significant digits, with a real minus sign.
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

// thousands prints n with narrow spaces, 12 345: ECharts breaks titles at commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// count prints n things, in the singular where it is one.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(int64(n)) + " " + many
}

// round4 keeps 4 significant digits: enough for the eye, short in JSON.
func round4(v float64) float64 { return roundTo(v, 4) }

// roundTo keeps so many significant digits.
func roundTo(v float64, digits int) float64 {
	if v == 0 || v-v != 0 {
		return v
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	return r
}

func finite(v float64) bool { return v-v == 0 }
