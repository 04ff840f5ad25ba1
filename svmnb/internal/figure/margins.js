// The JavaScript of margins.go.

function layout(w, top) {
	var s = O.svm, narrow = w < 520, left = narrow ? 48 : 60, scaled = s.limit !== undefined, right = scaled ? narrow ? 58 : 84 : narrow ? 14 : 26;
	var pw = w - left - right, ph = pw * s.aspect, most = narrow ? 420 : 580;
	if (ph > most) { ph = most; if (!narrow) pw = ph / s.aspect; }
	if (narrow) ph = Math.max(ph, 0.8 * pw); // a low panel would be too crowded
	var series = Object.keys(s.sizes).map(function (id) {
		var name = O.series.filter(function (m) { return m.id === id; })[0], rim = (name.itemStyle || {}).borderWidth;
		return { id: id, symbolSize: s.sizes[id][narrow ? 1 : 0], itemStyle: { borderWidth: narrow ? 0.7 * rim : rim } };
	});
	return { height: Math.round(top + ph + 52), option: { grid: { left: left, top: top, width: pw, height: ph }, series: series } };
}

// scale draws the colours of f to the right of the plot, as the field has
// them.
function scale(params, api) {
	var c = params.coordSys, h = Math.min(c.height - 22, 360), x = c.x + c.width + 12, y0 = c.y + 10 + (c.height + h) / 2, most = O.svm.limit, n = $bands * most, k, out = [];
	for (k = 0; k < n; k++) {
		var m = (k + 0.5 - n / 2) / (n / 2);
		out.push({ type: 'rect', silent: true, shape: { x: x, y: y0 - (k + 1) * h / n, width: 12, height: h / n + 0.5 },
			style: { fill: T((m < 0 ? '@neg*' : '@pos*') + ($least + $range * Math.abs(m))) } });
	}
	[-1, 0, 1].concat(most > 1 ? [-most, most] : []).forEach(function (v) {
		var y = y0 - (v / most + 1) / 2 * h;
		out.push({ type: 'line', silent: true, shape: { x1: x, x2: x + 12, y1: y, y2: y },
			style: { stroke: T('@ink'), lineWidth: v === 0 ? 2 : 1, lineDash: Math.abs(v) === 1 ? [3, 2] : null } });
		out.push({ type: 'text', silent: true, x: x + 16, y: y, style: { text: (v > 0 ? '+' : '') + svm.num(v), fill: T('@soft'), fontSize: 12, verticalAlign: 'middle' } });
	});
	out.push({ type: 'text', silent: true, x: x + 6, y: y0 - h - 12, style: { text: 'f', fill: T('@soft'), fontSize: 13, fontStyle: 'italic', align: 'center', verticalAlign: 'middle' } });
	return { type: 'group', children: out, silent: true };
}

function tip(p) {
	var v = p.value, kind = ['no support vector', 'free', 'at the bound'][v[3]], state = O.svm.states[v[3] || 0];
	var name = document.createElement('i');
	name.textContent = p.seriesName;
	if (v.length < 6) return name.innerHTML;
	var s = '<b>point ' + v[2] + '</b> · ' + name.innerHTML + '<br>(' + svm.num(v[0], 15) + ', ' + svm.num(v[1], 15) + ')<br>α = ' + svm.num(v[4]) +
		' &nbsp; y·f = ' + svm.num(v[5]) + ' &nbsp; ξ = ' + svm.num(v[6]) + (v[7] ? ' &nbsp; <b>error</b>' : '') + '<br>' + kind;
	if (state[0]) s += ': ' + state[0].replace('<', '&lt;').replace('<', '&lt;') + ' wants ' + state[1];
	return v.length > 8 ? s + '<br>KKT violation ' + svm.num(v[8], 2) : s;
}
