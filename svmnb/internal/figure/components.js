// The JavaScript of components.go.

// bar is as high as O.svm.unit, in the middle of the panel's right side, with its number.
function bar(p, api) {
	var c = p.coordSys, h = api.size([0, O.svm.unit])[1], x = c.x + c.width + 10, y = c.y + (c.height - h) / 2;
	var part = function (x1, y1, x2, y2) { return { type: 'line', shape: { x1: x1, y1: y1, x2: x2, y2: y2 }, style: { stroke: T('@ink'), lineWidth: 2 } }; };
	return { type: 'group', silent: true, children: [part(x, y, x, y + h), part(x - 4, y, x + 4, y), part(x - 4, y + h, x + 4, y + h),
		{ type: 'text', x: x + 6, y: y + h / 2, style: { text: svm.num(O.svm.unit, 3), fill: T('@ink'), fontSize: 11, align: 'left', verticalAlign: 'middle' } }] };
}

function tip(ps) {
	$tables;
	var s = O.svm, p = ps.filter(function (p) { return p.seriesType === 'line'; })[0], q = ps.filter(function (p) { return p.seriesType === 'scatter'; })[0];
	var at = q ? q.value[0] : p.axisValue, i = 0;
	s.x.forEach(function (x, k) { if (Math.abs(x - at) < Math.abs(s.x[i] - at)) i = k; });
	return table('x = ' + svm.num(s.x[i], 6), s.names.map(function (name, k) {
		var sd = s['sd' + k];
		return row(echarts.format.encodeHTML(name), svm.num(s['mean' + k][i], 5) + (sd ? ' ± ' + svm.num(2 * sd[i], 2) : '') + s.measured);
	}).join('') + (q ? row('observation ' + q.value[2], svm.num(q.value[1], 6)) : ''));
}

function layout(w, top) {
	var narrow = w < 520, left = narrow ? 56 : 68, right = narrow ? 44 : 52, y = top + 18;
	var grids = O.grid.map(function (g, k) {
		var h = k ? 110 : narrow ? 200 : 230, o = { left: left, right: right, top: y, height: h };
		y += h + 30;
		return o;
	});
	// Where many periods stand close, thick lines would be one block.
	var pens = grids.map(function (g, k) { return { id: 'curve' + k, lineStyle: { width: narrow ? 1 : 2 } }; });
	pens.push({ id: 'observations', symbolSize: O.svm.size * (narrow ? 0.5 : 1) });
	return { height: y + 26, option: { grid: grids, series: pens.filter(function (p) { return O.series.some(function (s) { return s.id === p.id; }); }), yAxis: grids.map(function () { return { nameTruncate: { maxWidth: w - left - right, ellipsis: '…' } }; }) } };
}
