// The JavaScript of weights.go.

// bar is the bar of a feature, with its number beyond the end.
function bar(p, api) {
	var v = api.value(0), a = api.coord([0, api.value(1)]), b = api.coord([v, api.value(1)]), h = api.size([1, 1])[1] * 0.66, left = v < 0;
	return { type: 'group', children: [{ type: 'rect', shape: { x: Math.min(a[0], b[0]), y: a[1] - h / 2, width: v ? Math.max(Math.abs(b[0] - a[0]), 1) : 0, height: h }, style: { fill: T('$color') } },
		{ type: 'text', silent: true, x: b[0] + (left ? -4 : 4), y: a[1], style: { text: svm.num(v, 3), fill: T('@ink'), fontSize: 11, align: left ? 'right' : 'left', verticalAlign: 'middle' } }] };
}

function tip(p) {
	var s = O.svm, name = document.createElement('b');
	name.textContent = s.names[p.value[1]];
	return name.outerHTML + '<br>' + s.measure + ' ' + svm.num(p.value[0], 4);
}

function layout(w, top) {
	var n = O.svm.names.length, left = w < 520 ? 104 : 180, height = n * (n > 16 ? 20 : 26);
	return { height: Math.round(top + height + 56), option: { grid: { left: left, top: top, width: w - left - 24, height: height }, yAxis: { axisLabel: { width: left - 12 } } } };
}
