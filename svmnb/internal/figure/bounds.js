// The JavaScript of bounds.go.

function tip(ps) {
	$tables;
	var s = O.svm, p = ps[0], rows = '';
	if (p.axisIndex === 2) return table('iteration ' + p.axisValue, ps.map(function (q) { return row(echarts.format.encodeHTML(q.seriesName), svm.num(q.value[1], 3)); }).join(''));
	var i = p.dataIndex, some = function (name, v, digits) { if (v !== null && v !== undefined) rows += row(name, svm.num(v, digits)); };
	some('lower bound', s.lower[i], 8);
	s.names.forEach(function (n) { some(n[1], s[n[0]][i], 8); });
	s.names.forEach(function (n) { some(n[1] + ': gap', s[n[0] + 'gap'][i], 3); });
	if (s.error) some('true error', s.error[i], 3);
	return table('iteration ' + s.its[i], rows);
}

function layout(w, top) {
	var narrow = w < 520, left = narrow ? 78 : 88, right = narrow ? 14 : 26, heights = narrow ? [180, 150, 150] : [230, 180, 180];
	var y = top, grids = O.grid.map(function (g, k) {
		var o = { left: left, right: right, top: y, height: heights[k] };
		y += heights[k] + (k === 1 && O.svm.apart ? 44 : 26);
		return o;
	});
	return { height: y + 26, option: { grid: grids } };
}
