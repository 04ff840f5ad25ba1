// The JavaScript of race.go.

// text is a number at a place of an axis: 20k, 1M, 5 ms.
function text(key, v) {
	var cut = function (x) { return String(+x.toPrecision(3)); }, x = key === 'it' ? Math.round(Math.pow(10, v)) : Math.pow(10, v);
	if (key === 't') return x < 0.9995e-3 ? cut(x * 1e6) + ' µs' : x < 0.9995 ? cut(x * 1e3) + ' ms' : cut(x) + ' s';
	return x < 999.5 ? cut(x) : x < 999.5e3 ? cut(x / 1e3) + 'k' : x < 999.5e6 ? cut(x / 1e6) + 'M' : x < 999.5e9 ? cut(x / 1e9) + 'G' : svm.num(x, 3);
}

// at is where point k of a run is drawn on an axis; null where nothing was
// counted.
function at(axis, run, k) { var v = run[axis.key][k]; return v === null ? null : Math.max(v, axis.low); }

// tip says what gap every run had reached at the place under the pointer,
// and at what effort by the other measures it did so.
function tip(ps) {
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
}

// labels writes the name of the tolerance at its line, and that of a run at
// the end of its line where it covers nothing and cannot be meant for another
// end; the legend has them all.
function labels(panel, box, api) {
	var s = O.svm, axis = s.axes[panel], legend = chart().getModel().getComponent('legend'), solid = [], texts = [], ends = [], out = [];
	var meets = function (a, b) { return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]; };
	var away = function (r, e) { return Math.hypot(Math.max(r[0] - e.x, 0, e.x - r[2]), Math.max(r[1] - e.y, 0, e.y - r[3])); };
	s.runs.forEach(function (run) {
		var before = null, line = [];
		if (!legend.isSelected(run.name) || s.at(axis, run, run.gap.length - 1) === null) return;
		run.gap.forEach(function (g, k) {
			var c = api.coord([s.at(axis, run, k), Math.max(g, s.floor)]);
			if (before) [[before[0] - 2, before[1] - 2, c[0] + 2, before[1] + 2], [c[0] - 2, before[1] - 2, c[0] + 2, c[1] + 2]].forEach(function (b) { b.of = run.name; solid.push(b); });
			before = c;
			line.push(c);
		});
		solid.push([before[0] - 7, before[1] - 7, before[0] + 7, before[1] + 7]);
		ends.push({ name: run.name, look: run.look, line: line, x: before[0], y: before[1] });
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
		texts.push(at);
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
		var before = out.length;
		write(e.name, '@series' + (e.look + 1), function (w) {
			return [[9, -7], [-w - 9, -7], [-w / 2, 8], [-w, 8], [0, 8], [6, -20], [-w - 4, 6], [4, 6], [-w / 2, -22]].map(function (o) { return [e.x + o[0], e.y + o[1]]; });
		}, false, function (r) { return ends.every(function (o) {
			var middle = (r[0] + r[2]) / 2; // an end at the text's other side needs more distance
			return o === e || away(r, o) > ((o.x - middle) * (e.x - middle) > 0 ? away(r, e) + 3 : 16);
		}); });
		e.named = out.length > before;
	});
	// A run whose end has no room is named along its line, in its colour. There the name may
	// cover this line, but no other line, name, end or axis. If there is no such place, only
	// the legend has the name.
	ends.forEach(function (e) {
		if (e.named || box.width < 180) return;
		var w = echarts.format.getTextRect(e.name, '12px sans-serif').width * 1.06, best = null;
		e.line.reverse().forEach(function (c) {
			[[8, -16], [8, 2], [-w - 8, 2], [-w - 8, -16]].forEach(function (o) {
				var r = [c[0] + o[0], c[1] + o[1], c[0] + o[0] + w, c[1] + o[1] + 14];
				if (r[0] < box.x + 3 || r[2] > box.x + box.width + 6 || r[1] < box.y || r[3] > box.y + box.height - 1) return;
				if (texts.some(function (b) { return meets(r, b); }) || ends.some(function (o) { return away(r, o) < 9; })) return;
				var over = solid.filter(function (b) { return meets(r, b); });
				if (over.some(function (b) { return b.of !== e.name; })) return;
				if (!best || over.length < best.cost) best = { cost: over.length, r: r };
			});
		});
		if (!best) return;
		texts.push(best.r);
		out.push({ type: 'text', silent: true, x: best.r[0], y: best.r[1] + 7, style: { text: e.name, fill: T('@series' + (e.look + 1)), fontSize: 12, verticalAlign: 'middle', stroke: T('@page'), lineWidth: 3 } });
	});
	return { type: 'group', silent: true, $mergeChildren: false, children: out };
}

// layout puts the panels side by side where there is room and else one
// below the other, and gives each axis ticks that fit: 1, 2, 5 of each decade
// or whole decades, with small ticks between that show the scale.
function layout(w, top) {
	var s = O.svm, n = s.axes.length, wide = w >= 720, narrow = w < 520, left = narrow ? 60 : 76, right = 24, space = 26;
	var each = wide ? (w - left - right - (n - 1) * space) / n : w - left - right, high = wide ? 320 : 200, below = 60;
	var ticks = function (axis) {
		var px = each / (axis.high - axis.low), labels = [], marks = [];
		var put = function (to, v) { var p = Math.log(v) / Math.LN10; if (p >= axis.low - 1e-9 && p <= axis.high + 1e-9) to.push(Math.min(Math.max(p, axis.low), axis.high)); };
		var every = Math.ceil(46 / px), some = px > (axis.key === 'it' ? 110 : 150) ? [1, 2, 5] : [1];
		for (var e = Math.floor(axis.low) - 1; e <= axis.high; e++) {
			if (e % every === 0) some.forEach(function (m) { put(labels, m * Math.pow(10, e)); });
			for (var m = 1; m < 10; m++) if (m === 1 || px > 50) put(marks, m * Math.pow(10, e));
		}
		return { axisLabel: { customValues: labels }, axisTick: { customValues: marks } };
	};
	return { height: wide ? top + high + below : top + n * (high + below), option: {
		grid: s.axes.map(function (a, k) { return wide ? { left: left + k * (each + space), width: each, top: top, height: high } : { left: left, width: each, top: top + k * (high + below), height: high }; }),
		xAxis: s.axes.map(ticks),
		yAxis: s.axes.map(function (a, k) { return { name: wide && k ? '' : 'gap (log scale)', axisLabel: { show: !wide || k === 0 } }; }) } };
}

// points of a run; the end of one that has not finished is hollow.
var points = O.svm.runs[$run].gap.map(function (g, k) {
	var r = O.svm.runs[$run], v = [Math.max(r.$key[k], $low), Math.max(g, O.svm.floor)];
	return r.done || k < r.gap.length - 1 ? v : { value: v, itemStyle: { color: T('@page'), borderColor: T('$color'), borderWidth: 2 } };
});

// size is that of a mark: 0 but for a few and the end.
function size(v, p) { var r = O.svm.runs[$run]; return p.dataIndex === r.gap.length - 1 ? 10 : r.marks.indexOf(p.dataIndex) < 0 ? 0 : 6; }

function label(v) { return O.svm.text("$key", v); }

function panelLabels(p, api) { return O.svm.labels($panel, p.coordSys, api); }
