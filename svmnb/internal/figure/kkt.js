// The JavaScript of kkt.go.

// Runs of equal shades, [from, row, to, shade, first column, last column].
var cells = (function (s) {
	var out = [];
	s.cells.forEach(function (row, r) {
		for (var i = 0, j; i < row.length; i = j) {
			for (j = i + 1; j < row.length && row[j] === row[i]; j++);
			if (row[i] !== '.') out.push([s.edges[i], r, s.edges[j], row.charCodeAt(i) - 97, i, j - 1]);
		}
	});
	return out;
})(O.svm);

// colour is that of a shade. The faintest colours would vanish on the page.
function colour(shade) { return svm.heat(0.2 + 0.8 * (shade + 0.5) / O.svm.shades); }

// Edges are rounded to whole pixels, so that neighbours meet without seams.
function cell(p, api) {
	var a = api.coord([api.value(0), api.value(1)]).map(Math.round), b = api.coord([api.value(2), api.value(1) + 1]).map(Math.round);
	return { type: 'rect', shape: { x: a[0], y: a[1], width: Math.max(b[0] - a[0], 1), height: Math.max(b[1] - a[1], 1) },
		style: { fill: O.svm.colour(api.value(3)) } };
}

var ends = O.svm.finals.map(function (v, r) { return [v, r]; }).filter(function (d) { return d[0] !== null; });

function bar(p, api) {
	var low = p.coordSys.x, v = api.value(0), a = api.coord([v, api.value(1)]), b = api.coord([v, api.value(1) + 1]);
	var y = Math.round(a[1]), h = Math.round(b[1]) - y;
	return { type: 'rect', shape: { x: low, y: y, width: Math.max(a[0] - low, 1), height: Math.max(h - (h > 2 ? 1 : 0), 1) },
		style: { fill: T(v > O.svm.tol ? '@strong' : '@axis') } };
}

function tip(p) {
	var v = p.value, s = O.svm;
	if (v.length < 6) return 'point ' + s.rows[v[1]] + '<br>violation at the end: ' + svm.num(v[0]);
	var span = s.its[v[4]] === s.its[v[5]] ? 'iteration ' + s.its[v[4]] : 'iterations ' + s.its[v[4]] + ' – ' + s.its[v[5]];
	var at = s.tol * Math.pow(s.most / s.tol, (v[3] + 0.5) / s.shades);
	return '<b>point ' + s.rows[v[1]] + '</b><br>' + span + '<br>violation ≈ ' + svm.num(at, 2);
}

function scale(p, api) {
	var c = p.coordSys, n = O.svm.shades, w = Math.min(260, c.width - 120), x = c.x + (c.width - w) / 2, y = c.y + c.height + 54, out = [], k;
	for (k = 0; k < n; k++) out.push({ type: 'rect', silent: true, shape: { x: x + k * w / n, y: y, width: w / n + 0.5, height: 12 }, style: { fill: O.svm.colour(k) } });
	var text = function (x, align, s, below) { out.push({ type: 'text', silent: true, x: x, y: y + 6 + (below || 0), style: { text: s, fill: T('@soft'), fontSize: 12, align: align, verticalAlign: 'middle' } }); };
	text(x - 8, 'right', 'empty ≤ ' + svm.num(O.svm.tol));
	text(x + w + 8, 'left', svm.num(O.svm.most, 2));
	text(x + w / 2, 'center', 'violation (log scale)', 19);
	return { type: 'group', children: out, silent: true };
}

function layout(w, top) {
	var narrow = w < 520, left = narrow ? 56 : 66, side = narrow ? 54 : Math.round(w * 0.2), right = 24, gap = narrow ? 26 : 22;
	var main = w - left - side - gap - right, high = 84, h = Math.max(180, Math.min(400, O.svm.cells.length * 8)), y = top + high + 18;
	return { height: y + h + 102, option: { xAxis: [{}, {}, narrow ? { axisLabel: { customValues: O.svm.few } } : { name: 'violation at the end' }], grid: [
		{ left: left, top: top + 14, width: main, height: high - 14 },
		{ left: left, top: y, width: main, height: h },
		{ left: left + main + gap, top: y, width: side, height: h }] } };
}
