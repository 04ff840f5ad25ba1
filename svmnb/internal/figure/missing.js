// The JavaScript of missing.go.

// share is the bar of a column, with its number.
function share(p, api) {
	var v = api.value(0), a = api.coord([0, api.value(1)]), b = api.coord([v, api.value(1)]), h = api.size([1, 1])[1] * 0.72, c = p.coordSys;
	var text = O.svm.shares[api.value(1)], inside = b[0] + 7 * text.length > c.x + c.width;
	return { type: 'group', children: [{ type: 'rect', shape: { x: a[0], y: a[1] - h / 2, width: v ? Math.max(b[0] - a[0], 1) : 0, height: h }, style: { fill: T('@pos') } },
		{ type: 'rect', shape: { x: a[0], y: a[1] - h / 2, width: c.width, height: h }, style: { fill: T('@ink/0') } },
		{ type: 'text', silent: true, x: b[0] + (inside ? -4 : 4), y: a[1], style: { text: text, fill: inside ? svm.on('@pos') : T('@ink'), fontSize: 11, align: inside ? 'right' : 'left', verticalAlign: 'middle' } }] };
}

// cell is filled where the column is missing in the rows of the pattern.
function cell(p, api) {
	var c = api.coord([api.value(0), api.value(1)]), s = api.size([1, 1]), w = Math.max(s[0] - 2, 1), h = Math.max(s[1] - 2, 1);
	return { type: 'rect', shape: { x: c[0] - w / 2, y: c[1] - h / 2, width: w, height: h }, style: { fill: T(api.value(2) ? '@pos' : '@axis*0.16') } };
}

function tip(p) {
	var s = O.svm, v = p.value, name = document.createElement('b'), rows = function (n) { return n + (n === 1 || n === '1' ? ' row' : ' rows'); };
	name.textContent = s.names[v[1]];
	if (p.seriesId === 'shares') return name.outerHTML + ' is missing in ' + rows(v[2]) + ' of ' + s.rows + '<br>' + svm.num(v[0], 3) + ' %';
	var n = O.xAxis[1].data[v[0]];
	return rows(n) + ' with this pattern<br>' + name.outerHTML + (v[2] ? ' is missing' : ' is there');
}

function layout(w, top) {
	var s = O.svm, n = s.names.length, narrow = w < 520, letters = s.names.reduce(function (most, name) { return Math.max(most, name.length); }, 0);
	var left = Math.round(Math.max(60, Math.min((narrow ? 6 : 6.6) * letters + 14, narrow ? 0.34 * w : 260))), row = narrow ? 26 : n > 16 ? 18 : 24, height = n * row, bars = narrow ? 80 : Math.min(300, 0.32 * w);
	var from = left + bars + (narrow ? 16 : 30), width = Math.min(w - from - 10, s.patterns * (narrow ? 24 : 48));
	var crowded = width / s.patterns < (narrow ? 2 + 6 * s.longest : 4 + 7.2 * s.longest), foot = crowded ? 50 : 28;
	return { height: Math.round(top + height + foot + 34), option: { grid: [{ left: left, top: top, width: bars, height: height }, { left: from, top: top, width: width, height: height }],
		xAxis: [{}, { nameGap: foot, axisLabel: { rotate: crowded ? 90 : 0, fontSize: narrow ? 10 : 12 }, name: width < 150 ? 'rows' : 'rows with the pattern' }], yAxis: [{ axisLabel: { width: left - 12, overflow: narrow ? 'break' : 'truncate', fontSize: narrow ? 11 : 12, lineHeight: 12 } }, {}] } };
}
