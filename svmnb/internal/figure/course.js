// The JavaScript of course.go.

function tip(ps) {
	$tables;
	var s = O.svm, i = ps[0].dataIndex;
	return table('iteration ' + svm.num(s.its[i], 9), s.names.map(function (name, k) { var v = s['y' + k][i]; return v === null ? '' : row(name, svm.num(v, 6)); }).join(''));
}

function layout(w, top) {
	var narrow = w < 520, n = O.grid.length, y = top, grids = [];
	for (var k = 0; k < n; k++) {
		var h = n === 1 ? (narrow ? 220 : 300) : k ? (narrow ? 130 : 170) : (narrow ? 180 : 230);
		grids.push({ left: narrow ? 60 : 76, right: narrow ? 14 : 26, top: y, height: h });
		y += h + 24;
	}
	return { height: y + 28, option: { grid: grids } };
}
