package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/svmnb/svmnb/solvers"
)

// RaceData is what [Race] draws: runs of several methods on one problem.
type RaceData struct {
	Problem string    // what was solved, such as "moons · RBF(0.5), C = 10"
	Runs    []RaceRun // in the order of the legend, each with a name of its own
	Tol     float64   // gap at which an answer is good enough; 0 leaves the line out
	TolName string    // what the line is called; "tolerance" and its value when empty
	Counts  bool      // time is left out
}

// RaceRun is one run of a race.
type RaceRun struct {
	Name     string
	Points   []solvers.Point // increasing iterations, the last one being the result; empty for a run that never was
	Finished bool            // the run met its criterion
	Note     string          // why there are no points, such as "refused"
}

const (
	raceSteps = 240 // heights of a line that the eye can tell apart
	raceMarks = 4   // marks on a line besides the one at its end
	raceMost  = 8   // runs, for so many colours, dashes and marks there are
)

// The marks and dashes of the lines, so that they differ in grey, too.
var (
	raceSymbols = [raceMost]string{"circle", "rect", "triangle", "diamond",
		"path://M0 0L10 0L5 9Z", "path://M5 0L10 4L8 10L2 10L0 4Z", "path://M3 0H7V3H10V7H7V10H3V7H0V3H3Z", "path://M5 0L6.5 3.5L10 5L6.5 6.5L5 10L3.5 6.5L0 5L3.5 3.5Z"}
	raceDashes = [raceMost]any{"solid", list{8, 4}, list{2, 3}, list{9, 3, 2, 3}, list{14, 4}, list{4, 2}, list{9, 3, 2, 3, 2, 3}, list{1, 4}}
)

// racePanel is one of the figure's ways to count effort.
type racePanel struct {
	key, name string
	of        func(*solvers.Point) float64 // NaN where nothing was counted
	place     func(float64) float64
}

var racePanels = []racePanel{
	{"ev", "kernel values", func(p *solvers.Point) float64 { return positive(float64(p.Evaluations)) }, math.Log10},
	{"it", "iterations", func(p *solvers.Point) float64 { return float64(p.Iteration) }, iterations{log: true}.place},
	{"t", "time", func(p *solvers.Point) float64 { return max(p.Elapsed.Seconds(), 1e-7) }, math.Log10},
}

// Race draws the smallest duality gap that each run had reached against the
// kernel values that it had computed, its iterations and its time, all on log
// scales: three panels with one gap axis and one legend; two with Counts.
func Race(d RaceData) (*Chart, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	var runs []raceLine
	var missing []string
	lowest, smallest, greatest := math.Inf(1), math.Inf(1), d.Tol
	for i := range d.Runs {
		l := raceLine{RaceRun: &d.Runs[i], look: i}
		l.improve()
		if len(l.points) == 0 {
			note := l.Note
			if note == "" {
				note = "no gap measured"
			}
			missing = append(missing, l.Name+" ("+note+")")
			continue
		}
		greatest = max(greatest, l.gap[0])
		for _, g := range l.gap {
			lowest = min(lowest, g)
			if g > 0 {
				smallest = min(smallest, g)
			}
		}
		runs = append(runs, l)
	}
	if len(runs) == 0 {
		return nil, &InputError{Figure: "Race", Field: "Runs", Reason: "has no measured gap: give at least one run with a finite gap"}
	}
	if d.Tol > 0 {
		smallest = min(smallest, d.Tol)
	}
	if lowest <= 0 { // closed up to rounding: a deep fall
		smallest = min(smallest, greatest*1e-6)
	}
	if !finite(smallest) || greatest <= 0 {
		smallest, greatest = 1e-3, 1
	}
	// The last digits of an objective are its rounding, not its gap; and what is
	// far below the tolerance leaves no room for the way there.
	from, to := decades(max(smallest, greatest*1e-15, d.Tol*1e-5), greatest)
	drop := (math.Log10(to) - math.Log10(from)) / raceSteps

	panels := slices.DeleteFunc(slices.Clone(racePanels), func(p racePanel) bool {
		return d.Counts && p.key == "t" || !slices.ContainsFunc(runs, func(l raceLine) bool { return finite(p.of(&l.points[len(l.points)-1])) })
	})
	tolName := d.TolName
	if tolName == "" {
		tolName = "tolerance " + numberTo(d.Tol, 2)
	}
	var lines, legend, grids, xs, ys, axes, series list
	for _, l := range runs {
		l.thin(drop, from)
		lines = append(lines, l.data(panels))
		legend = append(legend, l.Name)
	}
	for k, p := range panels {
		low, high := p.span(runs)
		grids = append(grids, object{})
		axes = append(axes, object{"key": p.key, "low": roundTo(low, 5), "high": roundTo(high, 5)})
		xs = append(xs, object{"type": "value", "gridIndex": k, "min": roundTo(low, 5), "max": roundTo(high, 5),
			"name": p.name + " (log scale)", "nameLocation": "middle", "nameGap": 28,
			"splitLine": object{"show": false}, "axisLine": object{"show": true, "onZero": false}, "axisTick": object{"show": true},
			"axisPointer": object{"show": true, "snap": false, "label": object{"show": false}},
			"axisLabel":   object{"hideOverlap": true, "formatter": script(fmt.Sprintf(`function (v) { return O.svm.text(%q, v); }`, p.key))}})
		y := logValues(k, from, to)
		y["axisTick"] = object{"show": true, "customValues": y["axisLabel"].(object)["customValues"]} // lines follow ticks
		y["nameLocation"], y["nameGap"] = "middle", 48
		ys = append(ys, y)
		for i, l := range runs {
			if finite(p.of(&l.points[len(l.points)-1])) {
				series = append(series, l.series(k, i, p.key, roundTo(low, 5)))
			}
		}
		if d.Tol > 0 {
			line := tolerance(k, low, high, d.Tol, tolName)
			delete(line, "endLabel") // raceLabels finds it a place that is free
			series = append(series, line)
		}
		series = append(series, object{"type": "custom", "xAxisIndex": k, "yAxisIndex": k, "silent": true, "z": 5, "tooltip": object{"show": false},
			"data": list{list{low, from}}, "renderItem": script(fmt.Sprintf(`function (p, api) { return O.svm.labels(%d, p.coordSys, api); }`, k))})
	}

	title := d.finding(runs)
	title = strings.ToUpper(title[:1]) + title[1:]
	var sub []string
	if d.Problem != "" {
		sub = append(sub, d.Problem)
	}
	sub = append(sub, "smallest gap so far of "+count(len(runs), "run", "runs"))
	if lowest < from {
		sub = append(sub, "gaps below "+numberTo(from, 2)+" are drawn there")
	}
	if len(missing) > 0 {
		sub = append(sub, "not drawn: "+strings.Join(missing, ", "))
	}
	subtitle := strings.Join(sub, " · ")
	measures := make([]string, len(panels))
	for k, p := range panels {
		measures[k] = p.name
	}
	return newChart(title, subtitle, "Duality gap of several methods against "+inWords(measures)+". "+title+". "+subtitle+".", object{
		"legend":  object{"data": legend, "itemWidth": 40, "itemHeight": 9},
		"toolbox": toolbox("race", object{}),
		"tooltip": object{"trigger": "axis", "formatter": script(raceTip)},
		"grid":    grids, "xAxis": xs, "yAxis": ys,
		"svm": object{"layout": script(raceLayout), "text": script(raceText), "labels": script(raceLabels), "at": script(raceAt),
			"runs": lines, "axes": axes, "floor": from, "tol": d.Tol, "tolName": tolName},
		"series": series,
	}), nil
}

// inWords lists them as prose does.
func inWords(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// raceLine is a run as a falling line: its points of smallest gap so far.
type raceLine struct {
	*RaceRun
	look   int // its colour, dash and mark
	points []solvers.Point
	gap    []float64
}

// improve keeps the points at which the gap was smaller than ever before, and
// the last one. A point that is off the equality constraint, as a method may be
// on its way, has a dual that bounds nothing and counts for none.
func (l *raceLine) improve() {
	best := math.Inf(1)
	for k, p := range l.Points {
		better := finite(p.Gap) && p.Gap < best && !(p.Equality*math.Abs(p.Bias) > 0.01*math.Abs(p.Gap)+1e-12*math.Abs(p.Dual))
		if better {
			best = p.Gap
		}
		if better || k == len(l.Points)-1 && len(l.points) > 0 {
			l.points, l.gap = append(l.points, p), append(l.gap, max(best, 0))
		}
	}
}

// thin leaves out what is less than drop below the point before, in decades.
// Lines go down in steps, so nothing else moves.
func (l *raceLine) thin(drop, floor float64) {
	n, last := 0, math.Inf(1)
	for k, g := range l.gap {
		if h := math.Log10(max(g, floor)); k == 0 || last-h >= drop || k == len(l.gap)-1 {
			l.points[n], l.gap[n], last = l.points[k], g, h
			n++
		}
	}
	l.points, l.gap = l.points[:n], l.gap[:n]
}

// data is the line for the scripts: its gaps, and its places on each axis.
func (l *raceLine) data(panels []racePanel) object {
	o := object{"name": l.Name, "look": l.look, "done": l.Finished, "gap": column(l.gap, 4)}
	for _, p := range panels {
		places := make([]float64, len(l.points))
		for k := range places {
			places[k] = p.place(p.of(&l.points[k]))
		}
		o[p.key] = column(places, 7)
	}
	n, marks := len(l.points), list{}
	for k := 1; k <= raceMarks && n > 2*raceMarks; k++ {
		marks = append(marks, (n-1)*k/(raceMarks+1))
	}
	o["marks"] = marks
	return o
}

// series draws run i in panel k. The end of a run that has not finished is
// hollow.
func (l *raceLine) series(k, i int, key string, low float64) object {
	color := fmt.Sprintf("@series%d", l.look+1)
	data := fmt.Sprintf(`O.svm.runs[%d].gap.map(function (g, k) {
		var r = O.svm.runs[%[1]d], v = [Math.max(r.%s[k], %v), Math.max(g, O.svm.floor)];
		return r.done || k < r.gap.length - 1 ? v : { value: v, itemStyle: { color: T('@page'), borderColor: T('%s'), borderWidth: 2 } };
	})`, i, key, low, color)
	size := fmt.Sprintf(`function (v, p) { var r = O.svm.runs[%d]; return p.dataIndex === r.gap.length - 1 ? 10 : r.marks.indexOf(p.dataIndex) < 0 ? 0 : 6; }`, i)
	return object{"type": "line", "name": l.Name, "xAxisIndex": k, "yAxisIndex": k, "step": "end", "z": 3,
		"data": script(data), "symbol": raceSymbols[l.look], "showSymbol": true, "showAllSymbol": true, "symbolSize": script(size),
		"itemStyle": object{"color": color}, "lineStyle": object{"color": color, "width": 2, "type": raceDashes[l.look]}, "emphasis": object{"disabled": true}}
}

// span returns the places at which the axis begins and ends: from where the
// first run has made its first progress to the end of the longest.
func (p racePanel) span(runs []raceLine) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, l := range runs {
		first, last := p.of(&l.points[min(1, len(l.points)-1)]), p.of(&l.points[len(l.points)-1])
		if finite(last) {
			low, high = min(low, p.place(first)), max(high, p.place(last))
		}
	}
	if p.key == "it" {
		low = 0
	}
	if high < low+1 { // a decade at least, for ticks to be found in it
		if p.key != "it" {
			low = (low + high - 1) / 2
		}
		high = low + 1
	}
	return low, high + 0.03*(high-low)
}

// finding says who won, by the measures that repeat themselves.
func (d *RaceData) finding(runs []raceLine) string {
	var done []raceLine
	for _, l := range runs {
		if l.Finished {
			done = append(done, l)
		}
	}
	end := func(l raceLine) *solvers.Point { return &l.Points[len(l.Points)-1] }
	if len(done) == 0 {
		nearest := slices.MinFunc(runs, func(a, b raceLine) int { return sign(a.gap[len(a.gap)-1] - b.gap[len(b.gap)-1]) })
		return fmt.Sprintf("No run met its criterion; %s comes nearest, with a gap of %s", nearest.Name, numberTo(nearest.gap[len(nearest.gap)-1], 2))
	}
	least := func(of func(*solvers.Point) float64) (winners []string, value float64) {
		value = math.Inf(1)
		for _, l := range done {
			switch v := of(end(l)); {
			case v < value:
				winners, value = []string{l.Name}, v
			case v == value:
				winners = append(winners, l.Name)
			}
		}
		return winners, value
	}
	kernels, evaluations := least(racePanels[0].of)
	if slices.ContainsFunc(done, func(l raceLine) bool { return !finite(racePanels[0].of(end(l))) }) {
		kernels = nil // where one does not count, there is nothing to compare
	}
	its, steps := least(racePanels[1].of)
	values := thousands(int64(evaluations)) + " kernel values"
	iterated := thousands(int64(steps)) + " iterations"
	if steps == 1 {
		iterated = "1 iteration"
	}
	both := slices.DeleteFunc(slices.Clone(kernels), func(name string) bool { return !slices.Contains(its, name) })
	switch of := len(done); {
	case of == 1 && len(kernels) == 0:
		return fmt.Sprintf("%s meets its criterion after %s", done[0].Name, iterated)
	case of == 1 && len(d.Runs) == 1:
		return fmt.Sprintf("%s meets its criterion with %s and %s", done[0].Name, values, iterated)
	case of == 1:
		return fmt.Sprintf("Only %s meets its criterion, with %s and %s", done[0].Name, values, iterated)
	case len(both) == 1:
		return fmt.Sprintf("%s wins with %s and %s, the fewest of %d", both[0], values, iterated, of)
	case len(kernels) == 0:
		return fmt.Sprintf("Fewest iterations: %s, %s", among(its), thousands(int64(steps)))
	}
	return fmt.Sprintf("Fewest kernel values: %s, %s; fewest iterations: %s, %s", among(kernels), thousands(int64(evaluations)), among(its), thousands(int64(steps)))
}

// among names one or two, and counts more.
func among(names []string) string {
	if len(names) > 2 {
		return fmt.Sprintf("%d methods", len(names))
	}
	return strings.Join(names, " and ")
}

func (d *RaceData) check() error {
	bad := func(field, reason string) error { return &InputError{Figure: "Race", Field: field, Reason: reason} }
	if n := len(d.Runs); n == 0 || n > raceMost {
		return bad("Runs", fmt.Sprintf("has %d runs: give 1 to %d, more cannot be told apart", n, raceMost))
	}
	if !finite(d.Tol) || d.Tol < 0 {
		return bad("Tol", fmt.Sprintf("is %v: give a gap ≥ 0", d.Tol))
	}
	for i, r := range d.Runs {
		if r.Name == "" || slices.ContainsFunc(d.Runs[:i], func(o RaceRun) bool { return o.Name == r.Name }) {
			return bad(fmt.Sprintf("Runs[%d].Name", i), fmt.Sprintf("is %q: give each run a name of its own", r.Name))
		}
		for k, p := range r.Points {
			if p.Iteration < 0 || k > 0 && p.Iteration <= r.Points[k-1].Iteration {
				return bad(fmt.Sprintf("Runs[%d].Points[%d].Iteration", i, k), fmt.Sprintf("is %d: give increasing numbers from 0", p.Iteration))
			}
		}
	}
	return nil
}

// raceText is a number at a place of an axis: 20k, 1M, 5 ms.
const raceText = `function (key, v) {
	var cut = function (x) { return String(+x.toPrecision(3)); }, x = key === 'it' ? Math.round(Math.pow(10, v) - 1) : Math.pow(10, v);
	if (key === 't') return x < 0.9995e-3 ? cut(x * 1e6) + ' µs' : x < 0.9995 ? cut(x * 1e3) + ' ms' : cut(x) + ' s';
	return x < 999.5 ? cut(x) : x < 999.5e3 ? cut(x / 1e3) + 'k' : x < 999.5e6 ? cut(x / 1e6) + 'M' : x < 999.5e9 ? cut(x / 1e9) + 'G' : svm.num(x, 3);
}`

// raceAt is where point k of a run is drawn on an axis; null where nothing was
// counted.
const raceAt = `function (axis, run, k) { var v = run[axis.key][k]; return v === null ? null : Math.max(v, axis.low); }`

// raceTip says what gap every run had reached at the place under the pointer,
// and at what effort by the other measures it did so.
const raceTip = `function (ps) {
	var s = O.svm, p = ps[0], axis = s.axes[p.axisIndex], x = p.axisValue, legend = chart().getModel().getComponent('legend'), wide = chart().getWidth() > 520;
	var others = wide ? s.axes.map(function (a) { return a.key; }).filter(function (k) { return k !== axis.key; }) : [];
	var cell = function (t) { return '<td style="text-align:right;padding-left:1em">' + t + '</td>'; };
	var value = function (key, v) { return v === null ? '–' : s.text(key, v); };
	var head = { ev: 'at kernel values', it: 'at iteration', t: 'at time' }, rows = [];
	s.runs.forEach(function (run) {
		if (!legend.isSelected(run.name)) return;
		for (var k = -1; k + 1 < run.gap.length && s.at(axis, run, k + 1) !== null && s.at(axis, run, k + 1) <= x + 1e-4; k++);
		var over = k === run.gap.length - 1;
		rows.push({ gap: k < 0 ? Infinity : run.gap[k], html: '<tr><td style="text-align:left"><span style="color:' + T('@series' + (run.look + 1)) + '">■</span> ' + echarts.format.encodeHTML(run.name) +
			'</td>' + cell(k < 0 ? 'no gap yet' : svm.num(run.gap[k], 3) + (over ? run.done ? ' ✓' : ' ✗' : '')) +
			others.map(function (o) { return cell(k < 0 ? '' : value(o, run[o][k])); }).join('') + '</tr>' });
	});
	rows.sort(function (a, b) { return a.gap - b.gap; });
	return '<b>' + (axis.key === 'it' ? 'iteration ' + s.text('it', x) : axis.key === 't' ? 'after ' + s.text('t', x) : 'after ' + s.text('ev', x) + ' kernel values') +
		'</b><table style="font-size:inherit"><tr><td></td>' + cell('gap') + others.map(function (o) { return cell(head[o]); }).join('') + '</tr>' + rows.map(function (r) { return r.html; }).join('') + '</table>';
}`

// raceLabels writes the name of the tolerance at its line, and that of a run at
// the end of its line where it covers nothing and cannot be meant for another
// end; the legend has them all.
const raceLabels = `function (panel, box, api) {
	var s = O.svm, axis = s.axes[panel], legend = chart().getModel().getComponent('legend'), solid = [], ends = [], out = [];
	var meets = function (a, b) { return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]; };
	var away = function (r, e) { return Math.hypot(Math.max(r[0] - e.x, 0, e.x - r[2]), Math.max(r[1] - e.y, 0, e.y - r[3])); };
	s.runs.forEach(function (run) {
		var before = null;
		if (!legend.isSelected(run.name) || s.at(axis, run, run.gap.length - 1) === null) return;
		run.gap.forEach(function (g, k) {
			var c = api.coord([s.at(axis, run, k), Math.max(g, s.floor)]);
			if (before) solid.push([before[0] - 2, before[1] - 2, c[0] + 2, before[1] + 2], [c[0] - 2, before[1] - 2, c[0] + 2, c[1] + 2]);
			before = c;
		});
		solid.push([before[0] - 7, before[1] - 7, before[0] + 7, before[1] + 7]);
		ends.push({ name: run.name, x: before[0], y: before[1] });
	});
	// Writes text in the first of the places, by its left upper corner, that is free.
	var write = function (text, color, places, otherwise, free) {
		var w = echarts.format.getTextRect(text, '12px sans-serif').width * 1.06, h = 14, at = null;
		places(w).some(function (c) {
			var r = [c[0], c[1], c[0] + w, c[1] + h];
			if (r[0] < box.x + 3 || r[2] > box.x + box.width + 6 || r[1] < box.y || r[3] > box.y + box.height - 1) return false;
			if (solid.some(function (b) { return meets(r, b); }) || !free(r)) return false;
			return at = r;
		});
		if (!at && !otherwise) return;
		at = at || [box.x + 10, places(w)[0][1], 0, 0];
		solid.push(at);
		out.push({ type: 'text', silent: true, x: at[0], y: at[1] + h / 2, style: { text: text, fill: T(color), fontSize: 12, verticalAlign: 'middle', stroke: T('@page'), lineWidth: 3 } });
	};
	if (s.tol > 0) {
		var y = api.coord([axis.low, s.tol])[1];
		if (panel === 0) write(s.tolName, '@soft', function (w) {
			var x = [box.x + 10, box.x + box.width - w - 4, box.x + (box.width - w) / 2];
			return x.map(function (x) { return [x, y - 17]; }).concat(x.map(function (x) { return [x, y + 3]; }));
		}, true, function () { return true; });
		solid.push([box.x, y - 2, box.x + box.width, y + 2]);
	}
	ends.sort(function (a, b) { return b.x - a.x; }).forEach(function (e) {
		write(e.name, '@ink', function (w) {
			return [[9, -7], [-w - 9, -7], [-w / 2, 8], [-w, 8], [0, 8], [6, -20], [-w - 4, 6], [4, 6], [-w / 2, -22]].map(function (o) { return [e.x + o[0], e.y + o[1]]; });
		}, false, function (r) { return ends.every(function (o) {
			var middle = (r[0] + r[2]) / 2; // an end at the text's other side needs more distance
			return o === e || away(r, o) > ((o.x - middle) * (e.x - middle) > 0 ? away(r, e) + 3 : 16);
		}); });
	});
	return { type: 'group', silent: true, $mergeChildren: false, children: out };
}`

// raceLayout puts the panels side by side where there is room and else one
// below the other, and gives each axis ticks that fit: 1, 2, 5 of each decade
// or whole decades, with small ticks between that show the scale.
const raceLayout = `function (w, top) {
	var s = O.svm, n = s.axes.length, wide = w >= 720, narrow = w < 520, left = narrow ? 60 : 76, right = 24, space = 26;
	var each = wide ? (w - left - right - (n - 1) * space) / n : w - left - right, high = wide ? 320 : 200, below = 60;
	var ticks = function (axis) {
		var px = each / (axis.high - axis.low), it = axis.key === 'it', labels = [], marks = [];
		var put = function (to, v) { var p = it ? Math.log(1 + v) / Math.LN10 : Math.log(v) / Math.LN10; if (p >= axis.low - 1e-9 && p <= axis.high + 1e-9) to.push(Math.min(Math.max(p, axis.low), axis.high)); };
		var every = Math.ceil(46 / px), some = px > 150 ? [1, 2, 5] : [1];
		if (it) { put(labels, 0); put(marks, 0); }
		for (var e = Math.floor(axis.low) - 1; e <= axis.high; e++) {
			if (it && e < 0) continue;
			if (e % every === 0) some.forEach(function (m) { put(labels, m * Math.pow(10, e)); });
			for (var m = 1; m < 10; m++) if (m === 1 || px > 50) put(marks, m * Math.pow(10, e));
		}
		return { axisLabel: { customValues: labels }, axisTick: { customValues: marks } };
	};
	return { height: wide ? top + high + below : top + n * (high + below), option: {
		grid: s.axes.map(function (a, k) { return wide ? { left: left + k * (each + space), width: each, top: top, height: high } : { left: left, width: each, top: top + k * (high + below), height: high }; }),
		xAxis: s.axes.map(ticks),
		yAxis: s.axes.map(function (a, k) { return { name: wide && k ? '' : 'gap (log scale)', axisLabel: { show: !wide || k === 0 } }; }) } };
}`
