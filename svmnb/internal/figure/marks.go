package figure

import (
	"math"
	"unicode/utf8"

	"github.com/go-echarts/go-echarts/v2/types"
)

// mark is a series of an ECharts chart: lines, symbols or areas that show data. Each method
// sets a property and returns the mark, so that calls can be chained.
type mark object

// line is a line through places.
func line(data any) mark { return mark{"type": "line", "data": data} }

// scatter is a symbol at each place.
func scatter(data any) mark { return mark{"type": "scatter", "data": data} }

// custom is drawn by a script, once for each item of the data.
func custom(draw types.FuncStr, data any) mark {
	return mark{"type": "custom", "renderItem": draw, "data": data}
}

// set sets a property for which there is no method.
func (m mark) set(key string, value any) mark {
	m[key] = value
	return m
}

// in sets properties of a part of the mark, such as itemStyle.
func (m mark) in(part string, properties object) mark {
	o, ok := m[part].(object)
	if !ok {
		o = object{}
		m[part] = o
	}
	merge(o, properties)
	return m
}

func (m mark) id(id string) mark     { return m.set("id", id) }
func (m mark) name(name string) mark { return m.set("name", name) }

// z sets the layer: a mark covers those of lower z.
func (m mark) z(z int) mark { return m.set("z", z) }

// on puts the mark into panel k.
func (m mark) on(k int) mark { return m.set("xAxisIndex", k).set("yAxisIndex", k) }

// clip hides what is outside the panel.
func (m mark) clip() mark { return m.set("clip", true) }

// silent makes the mark ignore the pointer. still also excludes it from the tooltips of
// axes.
func (m mark) silent() mark { return m.set("silent", true) }
func (m mark) still() mark  { return m.silent().in("tooltip", object{"show": false}) }

// calm keeps the mark from changing under the pointer.
func (m mark) calm() mark { return m.in("emphasis", object{"disabled": true}) }

// fill sets the colour, in the legend too. edge sets colour and width of the outline.
func (m mark) fill(color string) mark { return m.in("itemStyle", object{"color": color}) }
func (m mark) edge(color string, width float64) mark {
	return m.in("itemStyle", object{"borderColor": color, "borderWidth": width})
}
func (m mark) opacity(share float64) mark { return m.in("itemStyle", object{"opacity": share}) }

// pen sets the colour, the width and the dashes, if any, of lines.
func (m mark) pen(color string, width float64, dash ...any) mark {
	m.in("lineStyle", object{"color": color, "width": width})
	if len(dash) > 0 {
		m.in("lineStyle", object{"type": dash[0]})
	}
	return m
}

// ink is pen that also sets the colour in the legend.
func (m mark) ink(color string, width float64, dash ...any) mark {
	return m.fill(color).pen(color, width, dash...)
}

// symbols sets the symbols at the places and their size in pixels; bare removes them.
func (m mark) symbols(symbol string, size any) mark {
	return m.set("symbol", symbol).set("symbolSize", size)
}
func (m mark) bare() mark { return m.set("symbol", "none") }

// swells enlarges the symbol under the pointer.
func (m mark) swells(scale float64) mark { return m.in("emphasis", object{"scale": scale}) }

// corner is the data of a mark whose script knows its places. ECharts needs one place
// inside the panel.
func corner(x, y any) list { return list{list{x, y}} }

// items returns the data of the shown points for which in is true; a nil in means all. item
// gets the index k among the shown points and the index i of the point.
func items(shown []int, in func(i int) bool, item func(k, i int) list) list {
	data := list{}
	for k, i := range shown {
		if in == nil || in(i) {
			data = append(data, item(k, i))
		}
	}
	return data
}

// curvePoints is the number of strips of the axis of a curve; see thin.
const curvePoints = 600

// curve is a line in panel k through the points of the columns x and y of O.svm.
func curve(k int, name, x, y, color string) mark {
	return line(marksJS.cut("points", "x", x, "y", y)).name(name).on(k).set("symbol", "circle").set("showSymbol", false).z(3).ink(color, 2.6).calm()
}

// band is the area in panel k between the columns lower and upper of O.svm, over column x.
// edge is the style of its edges (see style), or "".
func band(k int, name, x, lower, upper, color, edge string) mark {
	return custom(marksJS.cut("band", "x", x, "lower", lower, "upper", upper, "color", color, "edge", either(edge, "null")), marksJS.cut("start", "x", x, "y", lower)).
		name(name).on(k).still().clip().z(1).fill(color)
}

// areas are the filled nested sets of a field, one column of O.svm. They lie over
// O.svm.box.
func areas(levels string, at list) mark {
	return custom(marksJS.cut("areas", "levels", levels), at).still().clip().z(0)
}

// level is the lines of a field, one column of O.svm. They lie over O.svm.box. The script draws
// them; their pen is for the legend.
func level(paths string, at list, color string, width float64, dash ...int) mark {
	m := custom(marksJS.cut("lines", "paths", paths, "style", style(color, width, dash...)), at).silent().clip().z(2)
	if len(dash) > 0 {
		return m.pen(color, width, dash)
	}
	return m.pen(color, width)
}

// strips are invisible areas over the places O.svm.x, so that the pointer finds the values
// there. Points lie above them.
func strips(y float64) mark {
	return custom(marksJS.cut("strip"), marksJS.cut("strips", "y", y)).id("strips").clip().z(2)
}

// tolerance is a dashed line in panel k across an axis of iterations. Its label is at the
// left, far from the end of the curve.
func tolerance(k int, from, to, tol float64, name string) mark {
	return line(list{list{to, tol}, list{from, tol}}).on(k).bare().still().pen("@soft", 1.2, "dashed").
		in("endLabel", object{"show": true, "formatter": either(name, "tolerance "+numberTo(tol, 2)), "color": "@soft", "fontSize": 12, "offset": list{2, -9}, "align": "left"})
}

// axis is an axis of a chart, as an option of ECharts. Each method sets one property and
// returns the axis, so that calls can be chained.
type axis object

func (a axis) set(key string, value any) axis {
	a[key] = value
	return a
}

// named sets the name of the axis, gap pixels away.
func (a axis) named(name string, gap int) axis {
	return a.set("name", name).set("nameLocation", "middle").set("nameGap", gap)
}

// lines draws grid lines across the panel.
func (a axis) lines() axis { return a.set("splitLine", object{"show": true}) }

// pointed shows a line at the pointer. Linked axes show it too.
func (a axis) pointed() axis {
	return a.set("axisPointer", object{"show": true, "snap": true, "label": object{"show": false}})
}

// label sets properties of the labels.
func (a axis) label(properties object) axis {
	o, ok := a["axisLabel"].(object)
	if !ok {
		o = object{}
		a["axisLabel"] = o
	}
	merge(o, properties)
	return a
}

// plot is a figure while it is composed.
type plot struct {
	name  string        // name of the file in which the reader saves the figure
	about string        // what the figure shows, for readers who cannot see it
	tip   types.FuncStr // tooltip of a mark or, with along, of a place of an axis
	along bool          // tooltips belong to an axis
	links any           // x axes whose pointers move together
	zoom  object        // axes that zoom; nil means all
	more  object        // further properties of the option

	svm          object
	grid         any
	xs, ys       list
	series, keys list // the marks, and the entries of the legend
}

// add draws marks above the existing ones.
func (p *plot) add(marks ...mark) {
	for _, m := range marks {
		p.series = append(p.series, object(m))
	}
}

// key adds the mark of that name to the legend. Its key looks like the mark. icon is for a mark
// that is neither a line, an area nor symbols.
func (p *plot) key(name string, icon ...string) {
	key := object{"name": name}
	if len(icon) > 0 && icon[0] != "" {
		key["icon"] = icon[0]
	}
	p.keys = append(p.keys, key)
}

// rimmed adds an entry to the legend with the mark's icon and an outline of this width.
func (p *plot) rimmed(name string, width int) {
	p.keys = append(p.keys, object{"name": name, "itemStyle": object{"borderWidth": width}})
}

// panel adds a panel with its axes.
func (p *plot) panel(x, y axis) {
	p.xs, p.ys = append(p.xs, object(x)), append(p.ys, object(y))
}

// chart returns the figure. The title states its result.
func (p *plot) chart(title, subtitle string) *Chart {
	trigger := "item"
	if p.along {
		trigger = "axis"
	}
	zoom := p.zoom
	if zoom == nil {
		zoom = object{}
	}
	if p.svm == nil {
		p.svm = object{}
	}
	if p.svm["layout"] == nil {
		p.svm["layout"] = oneGrid(p.xs[0].(object))
	}
	o := object{"legend": object{"data": p.legend()}, "toolbox": toolbox(p.name, zoom), "tooltip": object{"trigger": trigger, "formatter": p.tip},
		"xAxis": p.xs, "yAxis": p.ys, "series": p.series, "svm": p.svm}
	if p.keys == nil {
		o["legend"] = object{"show": false}
	}
	if p.grid != nil {
		o["grid"] = p.grid
	}
	if p.links != nil {
		o["axisPointer"] = object{"link": list{object{"xAxisIndex": p.links}}}
	}
	merge(o, p.more)
	alt := p.about + " " + title + "."
	if subtitle != "" {
		alt += " " + subtitle + "."
	}
	return newChart(title, subtitle, alt, o)
}

// oneGrid is the layout of a figure of one panel with this x axis, or with one that is not known.
// On a narrow page, a long number at the end of the axis needs more room at the right.
func oneGrid(x object) types.FuncStr {
	room := 14
	if end, known := x["max"].(float64); known && labelled(x, end) {
		room = max(room, int(math.Ceil(3.7*float64(utf8.RuneCountInString(number(end)))))+1)
	}
	return marksJS.cut("oneGrid", "right", room)
}

// labelled reports whether an axis may have a number at its end.
func labelled(x object, end float64) bool {
	label, _ := x["axisLabel"].(object)
	if chosen, _ := label["customValues"].(list); len(chosen) > 0 {
		last, _ := chosen[len(chosen)-1].(float64)
		return last == end && label["formatter"] != marksJS.cut("decade") // powers of ten are short
	}
	return x["type"] == "value" && roundTo(end, 2) == end // others are at round numbers
}

// Around returns the range of feature j, widened so that no point lies at its ends.
func Around(x [][]float64, j int) [2]float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range x {
		low, high = min(low, p[j]), max(high, p[j])
	}
	room := 0.12 * (high - low)
	if room == 0 {
		room = max(math.Abs(high), 1) / 2
	}
	return [2]float64{low - room, high + room}
}
