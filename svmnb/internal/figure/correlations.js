// The JavaScript of correlations.go.

function cell(p, api) {
	var c = api.coord([api.value(0), api.value(1)]), s = api.size([1, 1]), r = api.value(2), gap = s[0] > 12 ? 1 : 0, none = isNaN(r) || r === null, size = Math.min(1, Math.abs(r));
	var colour = none ? '@axis*0.16' : (r < 0 ? '@neg*' : '@pos*') + (0.03 + 0.92 * size);
	var rect = { type: 'rect', shape: { x: c[0] - s[0] / 2 + gap, y: c[1] - s[1] / 2 + gap, width: s[0] - 2 * gap, height: s[1] - 2 * gap },
		style: { fill: T(colour) } };
	var text = none ? '–' : api.value(0) === api.value(1) ? '1' : r.toFixed(2).replace('-', '\u2212'), font = Math.min(13, s[1] * 0.6, 1.5 * s[0] / 5);
	if (font < 10 && !none) { // a small cell has no room for the 0 before the point
		text = text.replace('0.', '.');
		font = Math.min(10, s[1] * 0.6, 1.5 * s[0] / 4);
	}
	if (font < 8.5) return rect;
	return { type: 'group', children: [rect, { type: 'text', silent: true, x: c[0], y: c[1],
		style: { text: text, fill: svm.on(colour), fontSize: font, align: 'center', verticalAlign: 'middle' } }] };
}

// scale is below the names of the columns.
function scale(p) {
	var c = p.coordSys, n = 40, w = Math.min(c.width * 0.7, 260), x = c.x + (c.width - w) / 2, y = c.y - 20, out = [], k, t;
	for (k = 0; k < n; k++) {
		t = (k + 0.5) / n * 2 - 1;
		out.push({ type: 'rect', silent: true, shape: { x: x + k * w / n, y: y, width: w / n + 0.5, height: 10 }, style: { fill: T((t < 0 ? '@neg*' : '@pos*') + (0.03 + 0.92 * Math.abs(t))) } });
	}
	[['r = −1', x - 6, 'right'], ['+1', x + w + 6, 'left']].forEach(function (t) {
		out.push({ type: 'text', silent: true, x: t[1], y: y + 5, style: { text: t[0], fill: T('@soft'), fontSize: 12, align: t[2], verticalAlign: 'middle' } });
	});
	return { type: 'group', silent: true, children: out };
}

function tip(p) {
	var s = O.svm, v = p.value, a = document.createElement('b'), b = document.createElement('b');
	a.textContent = s.names[v[1]];
	b.textContent = s.names[v[0]];
	if (v[0] === v[1]) return a.outerHTML;
	return a.outerHTML + ' and ' + b.outerHTML + '<br>' + (v[2] === null ? 'r is not defined: one of the two is constant' : 'r = ' + svm.num(v[2], 3)) + '<br>' + v[3] + (v[3] === 1 ? ' row' : ' rows');
}

function layout(w, top) {
	var n = O.svm.names.length, narrow = w < 520, left = narrow ? 92 : 140, side = Math.min(w - left - 14, Math.max(200, Math.min(820, n * 72))), cell = side / n;
	var longest = Math.max.apply(null, O.svm.names.map(function (s) { return s.length; })), turn = 7.4 * longest > cell, foot = turn ? Math.min(120, 16 + 7 * longest) : 24, height = Math.max(side * (narrow ? 1 : 0.64), 16 * n);
	return { height: Math.round(top + 26 + height + foot + 10), option: { grid: { left: left, top: top + 26, width: side, height: height },
		xAxis: [{ axisLabel: { rotate: turn ? 90 : 0, width: turn ? foot - 12 : cell } }], yAxis: [{ axisLabel: { width: left - 12 } }] } };
}
