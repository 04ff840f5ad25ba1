// The JavaScript of pairs.go.

// pair is the points of a class in a panel.
var pair = O.svm.rows$class.map(function (row, i) {
	var s = O.svm, x = s.c$class_$x[i], y = s.c$class_$y[i], at = function (v, time) { return v === null ? '-' : time ? 1000 * v : v; };
	return [at(x, s.time$x), at(y, s.time$y), row, $x, $y];
});

// correlations are written where the panels above the diagonal would be.
function correlations(p) {
	var c = p.coordSys, out = [];
	O.svm.r[$row].forEach(function (r, j) {
		if (j <= $row) return;
		var weight = r === null ? 0 : Math.abs(r);
		out.push({ type: 'text', silent: true, x: c.x + (j - $row) * (c.width + $across) + c.width / 2, y: c.y + c.height / 2,
			style: { text: r === null ? '–' : (c.width > 90 ? 'r = ' : '') + r.toFixed(2).replace('-', '\u2212'), fill: T(weight >= 0.3 ? '@ink' : '@soft'), fontSize: Math.min(c.width / 4, 12 + 6 * weight), align: 'center', verticalAlign: 'middle' } });
	});
	return { type: 'group', silent: true, children: out };
}

function tip(p) {
	var v = p.value, s = O.svm, name = document.createElement('i'), value = function (j, x) {
		var e = document.createElement('span');
		e.textContent = s.names[j] + ' ' + (s['time' + j] ? new Date(x).toISOString().slice(0, 16).replace('T00:00', '').replace('T', ' ') : svm.num(x, 6));
		return e.outerHTML;
	};
	name.textContent = p.seriesName;
	if (/^bars/.test(p.seriesId)) {
		var j = +p.seriesId.slice(4).split('_')[0];
		return name.outerHTML + '<br>' + value(j, v[0]) + ' to ' + (s['time' + j] ? value(j, v[1]) : svm.num(v[1], 6)) + '<br>' + v[4] + (v[4] === 1 ? ' row' : ' rows');
	}
	return '<b>row ' + v[2] + '</b> · ' + name.outerHTML + '<br>' + value(v[3], v[0]) + '<br>' + value(v[4], v[1]);
}

function layout(w, top) {
	var s = O.svm, m = s.columns, narrow = w < 520, left = narrow ? 68 : 84, gap = 8, side = (w - left - (narrow ? 12 : 24) - gap * (m - 1)) / m;
	var height = Math.max(narrow ? 44 : 60, Math.min(side * (narrow ? 1 : 0.8), 220)), grids = [], i, j;
	for (i = 0; i < m; i++) for (j = 0; j <= i; j++) grids.push({ left: left + j * (side + gap), top: top + 4 + i * (height + gap), width: side, height: height });
	// Names that are too long have two lines.
	var broken = function (name, length) {
		var most = Math.floor((length + gap) / (narrow ? 5.8 : 6.9)), words = String(name || '').split(' '), first = words.shift();
		while (words.length && (first + ' ' + words[0]).length <= most) first += ' ' + words.shift();
		return [first, words.join(' ')].filter(String).map(function (line) { return line.length > most ? line.slice(0, most - 1) + '…' : line; }).join('\n');
	};
	var axes = function (own, length, away) {
		return own.map(function (axis) {
			var o = { nameGap: away, splitNumber: length < 80 ? 2 : 3, axisLabel: { fontSize: narrow ? 10 : 12 }, nameTextStyle: { fontSize: narrow ? 11 : 13, lineHeight: 13 } };
			o.name = broken(axis.name, length);
			return o;
		});
	};
	return { height: Math.round(top + m * (height + gap) + 52), option: { grid: grids, xAxis: axes(O.xAxis, side, 26), yAxis: axes(O.yAxis, height, narrow ? 27 : 54),
		series: O.series.filter(function (s) { return s.type === 'scatter'; }).map(function (s) { return { id: s.id, symbolSize: side < 100 ? 2.5 : s.symbolSize }; }) } };
}
