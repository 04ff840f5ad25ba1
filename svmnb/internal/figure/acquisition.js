// The JavaScript of acquisition.go.

function tip(ps) {
	$tables;
	var s = O.svm, p = ps.filter(function (p) { return p.seriesType === 'line'; })[0], q = ps.filter(function (p) { return p.seriesType === 'scatter'; })[0];
	var at = q ? q.value[0] : p.axisValue, i = 0;
	s.x.forEach(function (x, k) { if (Math.abs(x - at) < Math.abs(s.x[i] - at)) i = k; });
	return table('x = ' + svm.num(s.x[i], 5), row('mean', svm.num(s.mean[i], 5) + ' ± ' + svm.num(2 * s.sd[i], 2)) + row('expected improvement', svm.num(s.gain[i], 3)) +
		(q ? row('evaluation ' + (q.value[2] + 1), svm.num(q.value[1], 6)) : ''));
}

function layout(w, top) {
	var narrow = w < 520, left = narrow ? 56 : 68, right = 24, y = top + 18;
	var grids = [narrow ? 210 : 250, 110].map(function (h) {
		var o = { left: left, right: right, top: y, height: h };
		y += h + 34;
		return o;
	});
	return { height: y + 22, option: { grid: grids } };
}
