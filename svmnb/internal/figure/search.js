// The JavaScript of search.go.

// strength spends most of the range of colour on the best tenth of the scores,
// among which the choice is.
function strength(share) { return $least + (0.44 - $least) * share + 0.5 * Math.pow(share, 12); }

// scale stands at the right of the panel and says which colours are which scores.
function scale(p, api) {
	var c = p.coordSys, x = c.x + c.width + 14, h = Math.min(c.height, 220), n = 44, out = [];
	for (var k = 0; k < n; k++) out.push({ type: 'rect', shape: { x: x, y: c.y + h * (n - 1 - k) / n, width: 12, height: h / n + 0.5 }, style: { fill: T('@neg*' + O.svm.strength((k + 0.5) / n)) } });
	O.svm.scale.forEach(function (t, k) {
		out.push({ type: 'text', x: x + 17, y: c.y + h * (1 - k / 2), style: { text: t, fill: T('@soft'), fontSize: 11, align: 'left', verticalAlign: ['bottom', 'middle', 'top'][k] } });
	});
	return { type: 'group', silent: true, children: out };
}

function cell(p, api) {
	var c = api.coord([api.value(0), api.value(1)]), s = api.size([1, 1]), gap = s[0] > 12 ? 1 : 0, share = api.value(3), chosen = api.value(5) === 1;
	var strength = O.svm.strength(share);
	// All cells have the same size of text. Where it could not be read, shares are rounded, and other numbers are left out.
	var text = O.svm.texts[p.dataIndex], size = function (longest) { return Math.min(13, s[1] * 0.6, 1.6 * s[0] / longest); }, font = size(O.svm.longest);
	if (font < 8.5 && O.svm.whole) {
		text = String(Math.round(text));
		font = Math.min(11, size(O.svm.whole));
	}
	var rect = { type: 'rect', shape: { x: c[0] - s[0] / 2 + gap, y: c[1] - s[1] / 2 + gap, width: s[0] - 2 * gap, height: s[1] - 2 * gap },
		style: { fill: T('@neg*' + strength), stroke: chosen ? T('@ink') : null, lineWidth: chosen ? 3 : 0 }, z2: chosen ? 2 : 1 };
	if (font < 8.5) return rect;
	return { type: 'group', children: [rect, { type: 'text', silent: true, z2: 3, x: c[0], y: c[1],
		style: { text: text, fill: svm.on('@neg*' + strength), fontSize: font, align: 'center', verticalAlign: 'middle' } }] };
}

function tip(p) {
	var v = p.value, e = document.createElement('b'), at = document.createElement('span');
	e.textContent = O.svm.metric + ' ' + v[2] + O.svm.unit;
	at.textContent = O.svm.names[0] + ' = ' + svm.num(O.svm.xs[v[0]]) + ', ' + O.svm.names[1] + ' = ' + svm.num(O.svm.ys[v[1]]);
	return e.outerHTML + (v[4] === null || v[4] === undefined ? '' : ' ± ' + v[4]) + '<br>' + at.outerHTML;
}

// dot has the colours of the scale.
function dot(p, api) {
	var c = api.coord([api.value(0), api.value(1)]), share = api.value(3), chosen = api.value(5) === 1;
	var strength = O.svm.strength(share);
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
	var narrow = w < 520, left = narrow ? 92 : 104, width = Math.min(w - left - 70, Math.max(200, O.svm.columns * 84));
	var height = Math.min(560, Math.max(120, O.svm.rows * (narrow ? 30 : 42)));
	return { height: Math.round(top + height + 56), option: { grid: { left: left, top: top, width: width, height: height },
		xAxis: [{ nameGap: 32 }], yAxis: [{ nameGap: left - 20 }] } };
}

function dotLayout(w, top) {
	var narrow = w < 520, height = narrow ? 280 : 430;
	return { height: top + height + 52, option: { grid: { left: narrow ? 76 : 84, right: 70, top: top, height: height } } };
}
