package figure

import (
	"fmt"
	"math"

	"github.com/go-echarts/go-echarts/v2/types"
)

// A mark is what stands for data in a picture: a series of ECharts. Its methods say how
// it looks, and return it.
type mark object

// line joins places.
func line(data any) mark { return mark{"type": "line", "data": data} }

// scatter has a symbol at each place.
func scatter(data any) mark { return mark{"type": "scatter", "data": data} }

// custom is what a script draws for each item of the data.
func custom(draw types.FuncStr, data any) mark {
	return mark{"type": "custom", "renderItem": draw, "data": data}
}

// set gives the mark a property that has no method of its own.
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

// z says what it covers: marks of lower z.
func (m mark) z(z int) mark { return m.set("z", z) }

// on puts it into panel k.
func (m mark) on(k int) mark { return m.set("xAxisIndex", k).set("yAxisIndex", k) }

// clip cuts off what lies outside of the panel.
func (m mark) clip() mark { return m.set("clip", true) }

// silent keeps it from the pointer, still also from tips of axes.
func (m mark) silent() mark { return m.set("silent", true) }
func (m mark) still() mark  { return m.silent().in("tooltip", object{"show": false}) }

// calm does not change under the pointer.
func (m mark) calm() mark { return m.in("emphasis", object{"disabled": true}) }

// fill is its colour, in the legend too, edge that around it.
func (m mark) fill(color string) mark { return m.in("itemStyle", object{"color": color}) }
func (m mark) edge(color string, width float64) mark {
	return m.in("itemStyle", object{"borderColor": color, "borderWidth": width})
}
func (m mark) opacity(share float64) mark { return m.in("itemStyle", object{"opacity": share}) }

// pen is how lines are drawn: of a colour, a width and, if any, one kind of dashes.
func (m mark) pen(color string, width float64, dash ...any) mark {
	m.in("lineStyle", object{"color": color, "width": width})
	if len(dash) > 0 {
		m.in("lineStyle", object{"type": dash[0]})
	}
	return m
}

// ink is pen with the same colour in the legend.
func (m mark) ink(color string, width float64, dash ...any) mark {
	return m.fill(color).pen(color, width, dash...)
}

// symbols are those at the places, of a size in pixels; bare leaves them out.
func (m mark) symbols(symbol string, size any) mark {
	return m.set("symbol", symbol).set("symbolSize", size)
}
func (m mark) bare() mark { return m.set("symbol", "none") }

// swells makes the symbol larger under the pointer.
func (m mark) swells(scale float64) mark { return m.in("emphasis", object{"scale": scale}) }

// corner is the data of a mark that finds its places itself, where ECharts looks for it.
func corner(x, y any) list { return list{list{x, y}} }

// items returns the data of those of the points shown that are in, all for nil: k is the
// place of point i among those shown.
func items(shown []int, in func(i int) bool, item func(k, i int) list) list {
	data := list{}
	for k, i := range shown {
		if in == nil || in(i) {
			data = append(data, item(k, i))
		}
	}
	return data
}

// curvePoints is in how many strips the places of a curve are drawn.
const curvePoints = 600

// curve is a line through the columns x and y of O.svm in panel k.
func curve(k int, name, x, y, color string) mark {
	return line(marksJS.cut("points", "x", x, "y", y)).name(name).on(k).set("symbol", "circle").set("showSymbol", false).z(3).ink(color, 2.6).calm()
}

// band is the area between the columns lower and upper of O.svm over column x,
// in panel k, with edges of the given style, see [style], or none.
func band(k int, name, x, lower, upper, color, edge string) mark {
	return custom(marksJS.cut("band", "x", x, "lower", lower, "upper", upper, "color", color, "edge", either(edge, "null")), marksJS.cut("start", "x", x, "y", lower)).
		name(name).on(k).still().clip().z(1).fill(color)
}

// areas are filled nested sets over O.svm.box, those of a column of O.svm.
func areas(levels string, at list) mark {
	return custom(marksJS.cut("areas", "levels", levels), at).still().clip().z(0)
}

// level is lines over O.svm.box, those of a column of O.svm.
func level(paths string, at list, color string, width float64, dash ...int) mark {
	return custom(marksJS.cut("lines", "paths", paths, "style", style(color, width, dash...)), at).silent().clip().z(2)
}

// strips lie unseen over the places O.svm.x, so that the pointer finds the
// values there; points lie above them.
func strips(y float64) mark {
	return custom(marksJS.cut("strip"), marksJS.cut("strips", "y", y)).id("strips").clip().z(2)
}

// tolerance is a dashed line in panel k across an axis of iterations, with its
// label where runs begin, far from the curve.
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

// named writes the name beside the axis, gap pixels away.
func (a axis) named(name string, gap int) axis {
	return a.set("name", name).set("nameLocation", "middle").set("nameGap", gap)
}

// lines draws lines across the panel.
func (a axis) lines() axis { return a.set("splitLine", object{"show": true}) }

// pointed follows the pointer, together with other axes.
func (a axis) pointed() axis {
	return a.set("axisPointer", object{"show": true, "snap": true, "label": object{"show": false}})
}

// label is how its labels are written.
func (a axis) label(properties object) axis {
	o, ok := a["axisLabel"].(object)
	if !ok {
		o = object{}
		a["axisLabel"] = o
	}
	merge(o, properties)
	return a
}

// A plot is a figure in the making.
type plot struct {
	name  string        // of its file when it is saved
	about string        // what it shows, for those who cannot see it
	tip   types.FuncStr // what the pointer finds: of a mark, or of a place of an axis where axes are linked
	along bool          // tips are of axes
	links any           // which x axes move together
	zoom  object        // axes that zoom, all as a rule
	more  object        // of the option

	svm          object
	grid         any
	xs, ys       list
	series, keys list // the marks, and what the legend says of them
}

// add puts marks above those that there are.
func (p *plot) add(marks ...mark) {
	for _, m := range marks {
		p.series = append(p.series, object(m))
	}
}

// key is an entry of the legend, without an icon that of the mark.
func (p *plot) key(name, icon string) {
	if icon == "" {
		p.keys = append(p.keys, object{"name": name})
	} else {
		p.keys = append(p.keys, entry(name, icon))
	}
}

// rimmed is an entry of the legend with the mark's icon, in an edge of that width.
func (p *plot) rimmed(name string, width int) {
	p.keys = append(p.keys, object{"name": name, "itemStyle": object{"borderWidth": width}})
}

// panel adds a panel with its axes.
func (p *plot) panel(x, y axis) {
	p.xs, p.ys = append(p.xs, object(x)), append(p.ys, object(y))
}

// chart returns the figure with the finding as its title.
func (p *plot) chart(title, subtitle string) *Chart {
	trigger := "item"
	if p.along {
		trigger = "axis"
	}
	zoom := p.zoom
	if zoom == nil {
		zoom = object{}
	}
	o := object{"legend": object{"data": p.keys}, "toolbox": toolbox(p.name, zoom), "tooltip": object{"trigger": trigger, "formatter": p.tip},
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
	return newChart(title, subtitle, fmt.Sprintf("%s %s. %s.", p.about, title, subtitle), o)
}

// Around returns the range of a feature, a little wider so that no point lies
// at the edge.
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
