// The JavaScript of weights.go.

// bar is the bar of a feature, with a line of one standard deviation to each side of its end
// if there is one. Its number stands to the right, where it covers no name.
function bar(p, api) {
	var v = api.value(0), k = api.value(1), sd = api.value(2) || 0, a = api.coord([0, k]), b = api.coord([v, k]), h = api.size([1, 1])[1] * 0.66;
	var low = api.coord([v - sd, k])[0], high = api.coord([v + sd, k])[0];
	return { type: 'group', children: [{ type: 'rect', shape: { x: Math.min(a[0], b[0]), y: a[1] - h / 2, width: v ? Math.max(Math.abs(b[0] - a[0]), 1) : 0, height: h }, style: { fill: T('$color') } },
		{ type: 'line', silent: true, ignore: !sd, shape: { x1: low, y1: a[1], x2: high, y2: a[1] }, style: { stroke: T('@ink'), lineWidth: 1.5 } },
		{ type: 'text', silent: true, x: Math.max(a[0], high) + 4, y: a[1], style: { text: O.svm.texts[k], fill: T('@ink'), fontSize: 11, align: 'left', verticalAlign: 'middle' } }] };
}

// zero is a line at 0, at which the bars begin.
function zero(p, api) {
	var c = p.coordSys, x = api.coord([0, 0])[0];
	return { type: 'line', silent: true, shape: { x1: x, y1: c.y, x2: x, y2: c.y + c.height }, style: { stroke: T('@axis'), lineWidth: 1 } };
}

function tip(p) {
	var s = O.svm, name = document.createElement('b');
	name.textContent = s.names[p.value[1]];
	return name.outerHTML + '<br>' + s.measure + ' ' + svm.num(p.value[0], 4) + (p.value[2] === undefined ? '' : ' ± ' + svm.num(p.value[2], 2));
}

function layout(w, top) {
	var n = O.svm.names.length, narrow = w < 520, letters = O.svm.names.reduce(function (most, name) { return Math.max(most, name.length); }, 0);
	var left = Math.round(Math.max(60, Math.min(7 * letters + 20, 0.42 * w, 260))), height = n * (n > 16 && !narrow ? 20 : 26), name = O.xAxis[0].name;
	return { height: Math.round(top + height + (narrow ? 70 : 56)), option: { grid: { left: left, top: top, width: w - left - 24, height: height },
		xAxis: { name: narrow ? name.replace(' (', '\n(') : name },
		yAxis: { axisLabel: { width: left - 12, overflow: narrow ? 'break' : 'truncate', fontSize: narrow ? 11 : 12, lineHeight: narrow ? 12 : 14 } } } };
}
