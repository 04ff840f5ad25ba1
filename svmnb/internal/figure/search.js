// The JavaScript of search.go.

// cell spends most of its range of colour on the best tenth of the scores,
// among which the choice is.
function cell(p, api) {
	var c = api.coord([api.value(0), api.value(1)]), s = api.size([1, 1]), gap = s[0] > 12 ? 1 : 0, share = api.value(3), chosen = api.value(5) === 1;
	var strength = 0.04 + 0.4 * share + 0.5 * Math.pow(share, 12);
	var text = String(api.value(2)), font = Math.min(13, s[1] * 0.6, 1.6 * s[0] / text.length);
	var rect = { type: 'rect', shape: { x: c[0] - s[0] / 2 + gap, y: c[1] - s[1] / 2 + gap, width: s[0] - 2 * gap, height: s[1] - 2 * gap },
		style: { fill: T('@neg*' + strength), stroke: chosen ? T('@ink') : null, lineWidth: chosen ? 3 : 0 }, z2: chosen ? 2 : 1 };
	if (font < 7) return rect;
	return { type: 'group', children: [rect, { type: 'text', silent: true, z2: 3, x: c[0], y: c[1],
		style: { text: text, fill: T(strength > 0.6 ? '@page' : '@ink'), fontSize: font, align: 'center', verticalAlign: 'middle' } }] };
}

function tip(p) {
	var v = p.value, e = document.createElement('b'), at = document.createElement('span');
	e.textContent = O.svm.metric + ' ' + v[2] + O.svm.unit;
	at.textContent = O.svm.names[0] + ' = ' + svm.num(O.svm.xs[v[0]]) + ', ' + O.svm.names[1] + ' = ' + svm.num(O.svm.ys[v[1]]);
	return e.outerHTML + (v[4] === null || v[4] === undefined ? '' : ' ± ' + v[4]) + '<br>' + at.outerHTML;
}

// dot has the colours of cell.
function dot(p, api) {
	var c = api.coord([api.value(0), api.value(1)]), share = api.value(3), chosen = api.value(5) === 1;
	var strength = 0.12 + 0.38 * share + 0.5 * Math.pow(share, 12);
	return { type: 'circle', shape: { cx: c[0], cy: c[1], r: chosen ? 10 : 7 }, z2: chosen ? 3 : 1 + share,
		style: { fill: T('@neg*' + strength), stroke: chosen ? T('@ink') : T('@ink/0.25'), lineWidth: chosen ? 3 : 1 } };
}

function dotTip(p) {
	var v = p.value, e = document.createElement('b'), at = document.createElement('span');
	e.textContent = O.svm.metric + ' ' + v[2] + O.svm.unit;
	at.textContent = 'setting ' + v[6] + ': ' + O.svm.names[0] + ' = ' + svm.num(v[0]) + ', ' + O.svm.names[1] + ' = ' + svm.num(v[1]);
	return e.outerHTML + (v[4] === null || v[4] === undefined ? '' : ' ± ' + v[4]) + '<br>' + at.outerHTML;
}

function layout(w, top) {
	var narrow = w < 520, left = narrow ? 92 : 104, width = Math.min(w - left - 16, Math.max(200, O.svm.columns * 84));
	var height = Math.min(560, Math.max(120, O.svm.rows * (narrow ? 30 : 42)));
	return { height: Math.round(top + height + 56), option: { grid: { left: left, top: top, width: width, height: height },
		xAxis: [{ nameGap: 32 }], yAxis: [{ nameGap: left - 20 }] } };
}
