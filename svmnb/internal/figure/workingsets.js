// The JavaScript of workingsets.go.

function cell(p, api) {
	var a = api.coord([api.value(0), api.value(1)]).map(Math.round), b = api.coord([api.value(2), api.value(1) + 1]).map(Math.round);
	return { type: 'rect', shape: { x: a[0], y: a[1], width: Math.max(b[0] - a[0], 1), height: Math.max(b[1] - a[1], 1) }, style: { fill: T('$color') } };
}

function bar(p, api) {
	var low = p.coordSys.x, a = api.coord([api.value(0), api.value(1)]), b = api.coord([api.value(0), api.value(1) + 1]), y = Math.round(a[1]), h = Math.round(b[1]) - y;
	return { type: 'rect', shape: { x: low, y: y, width: Math.max(a[0] - low, 1), height: Math.max(h - (h > 2 ? 1 : 0), 1) }, style: { fill: T('$color') } };
}

function tip(p) {
	var v = p.value, s = O.svm, name = document.createElement('span');
	name.textContent = p.seriesName;
	var head = '<b>' + s.unit + ' ' + s.rows[v[1]] + '</b> · ' + name.innerHTML + '<br>';
	if (v.length < 6) return head + 'chosen ' + v[0] + (v[0] === 1 ? ' time' : ' times');
	return head + (s.its[v[4]] === s.its[v[5]] ? 'iteration ' + s.its[v[4]] : 'iterations ' + s.its[v[4]] + ' – ' + s.its[v[5]]);
}

function layout(w, top) {
	var narrow = w < 520, left = narrow ? 56 : 66, side = narrow ? 72 : Math.round(w * 0.2), right = narrow ? 16 : 24, gap = 18;
	var main = w - left - side - gap - right, h = Math.max(160, Math.min(400, O.svm.cells.length * 14));
	// The rows have the numbers of their points, as many as there is room for.
	var rows = O.svm.cells.map(function (c, r) { return r + 0.5; }), every = Math.ceil(14 / (h / rows.length));
	rows = rows.filter(function (v, r) { return r % every === 0; });
	return { height: top + h + 52, option: { yAxis: [{ axisLabel: { customValues: rows } }, {}], grid: [{ left: left, top: top, width: main, height: h }, { left: left + main + gap, top: top, width: side, height: h }],
		xAxis: [{}, { name: narrow ? 'times' : 'times chosen' }] } };
}

// cells are those of one class.
var cells = ($cells).filter(function (v) { return O.svm.up[v[1]] === $side; });

// number is that of the point in a row.
function number(v) { return O.svm.rows[Math.floor(v)]; }
